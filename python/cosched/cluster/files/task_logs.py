"""Jobs of an instance out of the logs of workflow systems and task runners."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import timezone as fixed_zone
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cosched.cluster.files.batch_systems.accounting_jobs import jobs_of_records
from cosched.cluster.files.batch_systems.job_record import JobRecord, LeftOut, Records
from cosched.cluster.files.batch_systems.record_table import table_of_records
from cosched.cluster.files.conventions import zone_of
from cosched.cluster.files.log_options import JobFileOptions, LogOptions
from cosched.cluster.files.sacct.finished_jobs import JobsOfLog, ParsedJobs, finish_jobs
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import NodeType
from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind
from cosched.profiles.task_logs.reading import TaskLogSummary, tasks_of_log
from cosched.profiles.task_logs.recognition import TaskLogFormat
from cosched.profiles.task_logs.task import LoggedTask
from cosched.units import GIGABYTE

if TYPE_CHECKING:
    import pandas

_TIMEZONE = "UTC"
_CAUSE_OF_OVERUSE = "tasks had fewer processors than they asked for, or the machine is another one"


class TaskLogJobs(NamedTuple):
    """The jobs of a log of tasks.

    Attributes
    ----------
    jobs : JobsOfLog
        Jobs, notes, and when they begin.
    processors : int
        Of the machine, else as many as the tasks had at one time.
    """

    jobs: JobsOfLog
    processors: int


def read_task_log(
    path: str | PathLike[str], log_format: TaskLogFormat, options: JobFileOptions
) -> TaskLogJobs:
    """Return the jobs (rigid, a task a core) of a log of tasks.

    They run on the machine of `options`, else on its `nodes` processors, else on as many as the
    tasks had at one time.

    Raises
    ------
    InvalidInstance
        A damaged file, or no usable task.
    """
    summary, counts = TaskLogSummary(), Counter[str]()
    zone = zone_of(options.timezone) or fixed_zone.utc
    tasks = tasks_of_log(path, log_format, summary, zone)
    table = table_of_records(_records_of(tasks, counts), [])
    if not len(table.jobs):
        reasons = "; ".join(
            f"{count_of(len(lines), 'line')}: {reason}" for reason, lines in table.left_out.items()
        )
        raise InvalidInstance(f"{path}: no task with a run time: {reasons}")
    for reason, lines in summary.skipped.items():
        table.left_out[reason] = lines
    jobs, lines_by_reason = jobs_of_records(table)
    jobs = jobs.assign(nodes=np.nan)
    if counts["no submission"] == len(table.jobs):
        jobs = _one_after_the_other(jobs)
    assumptions = _notes_of_counts(counts, len(table.jobs))
    machine = options.machine
    if machine is None:
        processors = _peak_cores(jobs) if options.nodes is None else options.nodes
        if options.nodes is None:
            text = (
                f"assumed: {count_of(processors, 'processor')}: the most that the tasks had at one "
                "time (--nodes, or a machine with --machine)"
            )
            assumptions.append(Note(NoteKind.ASSUMED, text, subject="processors"))
        machine = Machine((NodeType("host", 1, processors, 0.0, 0),))
    parsed = ParsedJobs(
        jobs=jobs,
        left_out_lines=lines_by_reason,
        notes_before=[
            Note(NoteKind.READING, f"read as {log_format.value}", subject="format"),
            *summary.notes(),
        ],
        notes_behind=assumptions,
        cause_of_overuse=lambda kept_jobs: _CAUSE_OF_OVERUSE,
    )
    log_options = LogOptions(
        machine=machine,
        timezone=options.timezone or _TIMEZONE,
        drop=options.drop,
        part=options.part,
    )
    jobs_of_log = finish_jobs(path, parsed, log_options)
    if jobs_of_log.jobs["estimate"].isna().all():
        jobs_of_log = jobs_of_log._replace(jobs=jobs_of_log.jobs.drop(columns="estimate"))
    return TaskLogJobs(jobs_of_log, machine.cores)


def _records_of(tasks: Iterator[LoggedTask], counts: Counter[str]) -> Records:
    """Tasks as jobs; `counts` tells what the log does not say of how many."""
    for task in tasks:
        if math.isnan(task.seconds):
            yield LeftOut(task.line, "no run time")
            continue
        start = task.submit if math.isnan(task.start) else task.start
        submit = start if math.isnan(task.submit) else task.submit
        counts["no submission"] += math.isnan(task.submit) and math.isnan(task.start)
        counts["start as submission"] += math.isnan(task.submit) and not math.isnan(task.start)
        counts["no cores"] += task.cores < 1
        counts["cached"] += task.is_cached
        if math.isnan(submit):
            submit = start = 0.0
        yield JobRecord(
            line=task.line,
            number=task.number or str(task.line),
            state=task.state,
            submit=submit,
            start=start,
            end=start + task.seconds,
            cores=max(task.cores, 1),
            limit=task.limit,
            memory_gb=task.memory / GIGABYTE,
            used_memory_gb=task.used_memory / GIGABYTE,
            cpu_seconds=task.cpu_seconds,
            partition=task.queue,
            name=task.code,
            hosts=task.host,
        )


def _one_after_the_other(jobs: pandas.DataFrame) -> pandas.DataFrame:
    """Jobs of a log without times: each is submitted when the one before it has ended."""
    ends = np.cumsum(jobs["runtime"].to_numpy())
    begins = np.concatenate([[0.0], ends[:-1]])
    return jobs.assign(submit=begins, start=begins)


def _peak_cores(jobs: pandas.DataFrame) -> int:
    """The most processors that jobs had at one time; jobs that end free theirs first."""
    begins, seconds = jobs["start"].to_numpy(), jobs["runtime"].to_numpy()
    cores = jobs["tasks"].to_numpy()
    times = np.concatenate([begins, begins + seconds])
    changes = np.concatenate([cores, -cores])
    order = np.lexsort((changes, times))
    peak_cores = float(np.cumsum(changes[order]).max(initial=0.0))
    return int(max(peak_cores, cores.max(initial=1.0)))


def _notes_of_counts(counts: Counter[str], tasks: int) -> list[Note]:
    """What is assumed of tasks where the log does not say it."""
    notes = []
    if counts["no submission"]:
        text = (
            "assumed: the log has no times: tasks are submitted in its order, each when the one "
            "before it has ended"
            if counts["no submission"] == tasks
            else f"assumed: {count_of(counts['no submission'], 'task')} without a time: submitted "
            "at the begin of 1970"
        )
        notes.append(
            Note(NoteKind.ASSUMED, text, subject="submission", count=counts["no submission"])
        )
    if counts["start as submission"]:
        text = "assumed: tasks were submitted when they started: the log has no submissions"
        count = counts["start as submission"]
        notes.append(Note(NoteKind.ASSUMED, text, subject="submission", count=count))
    if counts["no cores"]:
        text = (
            f"assumed: {count_of(counts['no cores'], 'task')} on 1 processor: the log does not say "
            "how many"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="cores", count=counts["no cores"]))
    if counts["cached"]:
        text = f"{count_of(counts['cached'], 'task')} cached: of an earlier run of the workflow"
        notes.append(Note(NoteKind.READING, text, subject="cached tasks", count=counts["cached"]))
    return notes
