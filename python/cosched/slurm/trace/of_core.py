"""The records of the core's simulator with the names of jobs, partitions and nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cosched import _core
from cosched.slurm.trace.trace_records import (
    Cycle,
    JobTest,
    LockYield,
    MainPass,
    NodeSpaceRecord,
    QueuedJob,
    Trace,
    TracedJob,
)

#: Verdicts of jobs that have a begin, an end and nodes.
_PLACED = frozenset(["started", "reserved", "node_space_full"])


@dataclass(frozen=True)
class TraceNames:
    """What the numbers of a simulation are called."""

    #: The name of the job of a row.
    name_of_job: Callable[[int], str]
    #: By number.
    partitions: Sequence[str]
    #: Names of the nodes, by number.
    nodes: Sequence[str]

    def trace(self, recorder: _core.slurm.TraceRecorder, cycle_count: int, epoch: float) -> Trace:
        """What the recorder has of a simulation with so many cycles."""
        return Trace(
            cycles=tuple(self._cycle(cycle) for cycle in recorder.cycles),
            passes=tuple(self._main_pass(main_pass) for main_pass in recorder.passes),
            cycle_count=cycle_count,
            epoch=epoch,
        )

    def _cycle(self, cycle: _core.slurm.CycleTrace) -> Cycle:
        return Cycle(
            number=cycle.number,
            begin_time=cycle.begin_time,
            end_time=cycle.end_time,
            window_end=float(cycle.window_end),
            job_test_count=cycle.job_test_count,
            end=cycle.end.name,
            queue=tuple(self._queued_job(entry) for entry in cycle.queue),
            jobs=tuple(self._traced_job(job) for job in cycle.jobs),
            yields=tuple(
                LockYield(each.time, each.resume_time, each.jobs_examined) for each in cycle.yields
            ),
            node_space=tuple(
                NodeSpaceRecord(float(each.begin), float(each.end), self._nodes(each.nodes))
                for each in cycle.node_space
            ),
        )

    def _main_pass(self, main_pass: _core.slurm.PassTrace) -> MainPass:
        return MainPass(
            time=main_pass.time,
            is_full=main_pass.is_full,
            queue=tuple(self._queued_job(entry) for entry in main_pass.queue),
            jobs=tuple(self._traced_job(job) for job in main_pass.jobs),
        )

    def _queued_job(self, entry: _core.slurm.QueuedJob) -> QueuedJob:
        return QueuedJob(
            self.name_of_job(entry.job), self.partitions[entry.partition], entry.priority
        )

    def _traced_job(self, job: _core.slurm.TracedJob) -> TracedJob:
        entry = self._queued_job(job.entry)
        verdict = job.verdict.name
        is_placed = verdict in _PLACED
        return TracedJob(
            job=entry.job,
            partition=entry.partition,
            priority=entry.priority,
            now=float(job.now),
            tests=tuple(self._test(test) for test in job.tests),
            verdict=verdict,
            limit=job.limit,
            started_job=self.name_of_job(job.started_job) if is_placed else "",
            begin=job.begin if is_placed else math.nan,
            end=job.end if is_placed else math.nan,
            nodes=self._nodes(job.nodes) if is_placed else (),
        )

    def _test(self, test: _core.slurm.JobTest) -> JobTest:
        return JobTest(
            from_time=test.from_time,
            later_start=test.later_start,
            avail_nodes=self._nodes(test.avail_nodes),
            begin=test.begin,
            select_nodes=self._nodes(test.select_nodes),
            next=test.next.name,
        )

    def _nodes(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.nodes[number] for number in numbers)
