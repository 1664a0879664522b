"""A trace as text, in the words of slurmctld.log with DebugFlags=Backfill,BackfillMap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from cosched.cluster.machine.node_types import host_list
from cosched.slurm.trace.trace_records import Cycle, JobTest, MainPass, Trace, TracedJob

#: What a verdict without nodes means.
VERDICTS = {
    "started_elsewhere": "has started in another of its partitions",
    "preempting": "waits until the nodes of the jobs that it preempts are free",
    "array_rejected": "not tried: a task of its array before it has neither start nor reservation",
    "array_full": "not tried: as many tasks of its array run as %n allows",
    "licenses": "not runnable now due to licenses",
    "max_job_limit": (
        "not tried: bf_max_job_user, bf_max_job_part or bf_max_job_user_part is reached"
    ),
    "no_begin": "no reservation: advance reservations or bf_window leave no time to begin",
    "no_nodes": "no reservation: too few nodes at any time",
    "starts_now_or_never": (
        "no reservation: bf_min_age_reserve, bf_min_prio_reserve or bf_one_resv_per_job"
    ),
    "after_window": "no reservation: it would begin after bf_window",
    "no_reserve": "no reservation: its QOS has the flag NoReserve",
    "resources": "pending with reason Resources",
    "priority": "pending with reason Priority: a job before it waits for nodes of the partition",
    "advance_reservation": "pending with reason Reservation",
    "reserved_nodes": "pending: an advance reservation has nodes on which it could start now",
}
#: Why a cycle ended.
CYCLE_ENDS = {
    "end_of_queue": "reached end of job queue",
    "max_job_test": "bf_max_job_test is reached",
    "max_time": "bf_max_time is reached",
    "max_job_start": "bf_max_job_start is reached",
    "node_space_size": "bf_node_space_size is reached",
    "gave_up": "system state changed while the locks were released, and bf_continue is not set",
}
#: Above and below the table of the node space.
_RULE = "=" * 41
_NO_NODES = "(none)"


def lines_of_trace(
    trace: Trace, *, in_seconds: bool = False, shows_context: bool = True
) -> Iterator[str]:
    """Lines of all passes and cycles, by time.

    Parameters
    ----------
    in_seconds : bool
        Times are seconds on the time base of the jobs; else dates (UTC) where the Unix time of
        second 0 is known.
    shows_context : bool
        With the queue at the begin and the node space at the end. False, for the trace of a single
        job: without, and without the cycles and passes whose queue does not have the job.
    """
    clock = _clock_of(math.nan if in_seconds else trace.epoch)
    events: list[tuple[float, int, MainPass | Cycle]] = [
        *((main_pass.time, 0, main_pass) for main_pass in trace.passes),
        *((cycle.begin_time, 1, cycle) for cycle in trace.cycles),
    ]
    events.sort(key=lambda event: event[:2])
    for _, _, traced in events:
        if not shows_context and not traced.queue and not traced.jobs:
            continue
        if isinstance(traced, Cycle):
            yield from _lines_of_cycle(traced, clock, shows_context)
        else:
            yield from _lines_of_pass(traced, clock, shows_context)


def _clock_of(epoch: float) -> Callable[[float], str]:
    """Return how times are written: as Slurm writes them, or as seconds."""

    def date(time: float) -> str:
        if not math.isfinite(time):
            return "NO"
        moment = datetime.fromtimestamp(math.floor(epoch + time), UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S")

    def seconds(time: float) -> str:
        return f"{math.floor(time)}" if math.isfinite(time) else "NO"

    return seconds if math.isnan(epoch) else date


def _lines_of_queue(traced: Cycle | MainPass) -> Iterator[str]:
    for entry in traced.queue:
        yield f"  JobId={entry.job} Prio={entry.priority:.0f} Partition={entry.partition}"


def _lines_of_pass(
    main_pass: MainPass, clock: Callable[[float], str], shows_context: bool
) -> Iterator[str]:
    depth = "all jobs" if main_pass.is_full else "default_queue_depth jobs"
    header = f"sched: main pass at {clock(main_pass.time)} ({main_pass.time:.3f} s) over {depth}"
    if shows_context:
        yield f"{header}, {len(main_pass.queue)} in the queue"
        yield from _lines_of_queue(main_pass)
    else:
        yield header
    for job in main_pass.jobs:
        yield f"sched: {_verdict(job, clock)}"


def _lines_of_cycle(
    cycle: Cycle, clock: Callable[[float], str], shows_context: bool
) -> Iterator[str]:
    header = (
        f"backfill: beginning of cycle {cycle.number} at {clock(cycle.begin_time)} "
        f"({cycle.begin_time:.3f} s)"
    )
    if shows_context:
        yield f"{header}, {len(cycle.queue)} in the queue"
        yield from _lines_of_queue(cycle)
    else:
        yield header
    for job in cycle.jobs:
        yield (
            f"backfill: test for JobId={job.job} Prio={job.priority:.0f} Partition={job.partition}"
        )
        for test in job.tests:
            yield from _lines_of_test(job, test, clock)
        yield f"backfill: {_verdict(job, clock)}"
    for each in cycle.yields:
        yield (
            f"backfill: yielded locks at {each.time:.3f} s after {each.jobs_examined} jobs, "
            f"resumed at {each.resume_time:.3f} s"
        )
    end = f"backfill: {CYCLE_ENDS[cycle.end]}: tested {cycle.job_test_count} jobs"
    if shows_context and cycle.node_space:
        yield _RULE
        for record in cycle.node_space:
            yield (
                f"Begin:{clock(record.begin)} End:{clock(record.end)} Nodes:{_hosts(record.nodes)}"
            )
        yield _RULE
    if shows_context:
        end += f", started {len(cycle.starts)}, reserved {len(cycle.reservations)}"
    yield end


def _lines_of_test(job: TracedJob, test: JobTest, clock: Callable[[float], str]) -> Iterator[str]:
    from_time = "NOW" if test.from_time <= job.now else clock(test.from_time)
    yield (
        f"backfill: Test JobId={job.job} at {from_time} (later_start: {clock(test.later_start)}) "
        f"on {_hosts(test.avail_nodes)}"
    )
    if test.next == "none":
        return
    if not math.isfinite(test.begin):
        begin = "too few nodes"
    else:
        begin = f"it would begin at {clock(test.begin)} on {_hosts(test.select_nodes)}"
    cause = "after later_start" if test.next == "at_later_start" else "and overlaps a reservation"
    suffix = "" if begin == "too few nodes" else f", {cause}"
    yield f"backfill: JobId={job.job} try later: {begin}{suffix}"


def _verdict(job: TracedJob, clock: Callable[[float], str]) -> str:
    place = f"on nodes {_hosts(job.nodes)} in partition {job.partition}"
    if job.verdict == "started":
        return f"Started JobId={job.started_job}, end at {clock(job.end)} {place}"
    if job.verdict in ("reserved", "node_space_full"):
        line = f"JobId={job.job} to start at {clock(job.begin)}, end at {clock(job.end)} {place}"
        full = " (not reserved: bf_node_space_size is reached)"
        return line if job.verdict == "reserved" else line + full
    if job.verdict == "limit":
        return f"JobId={job.job} is over the limit {job.limit}"
    return f"JobId={job.job} {VERDICTS[job.verdict]}"


def _hosts(names: Sequence[str]) -> str:
    return host_list(names) or _NO_NODES
