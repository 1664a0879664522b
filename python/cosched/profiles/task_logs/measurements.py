"""Logs of tasks as measurements: the table ``task,processors,seconds`` that plans are made of."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from os import PathLike
from typing import NamedTuple

from cosched import io
from cosched.core.text import count_of
from cosched.notes import Note, NoteKind
from cosched.profiles.task_logs.reading import TaskLogSummary, tasks_of_log
from cosched.profiles.task_logs.recognition import TaskLogFormat
from cosched.profiles.task_logs.task import LAST_TIME, LoggedTask

#: Of a log, by the names of runs.csv.
_HEADER = [
    "task",
    "processors",
    "seconds",
    "status",
    "started",
    "host",
    "attempt",
    "cpu_seconds",
    "memory",
    "memory_by",
]
#: A run of 0 s, as GNU parallel logs it, took less than what logs resolve.
_MIN_SECONDS = 0.001
_BYTES_OF_GB = 1e9
_STATUS_OF_STATE = {"COMPLETED": "completed", "UNKNOWN": "completed", "TIMEOUT": "timeout"}


class TaskMeasurements(NamedTuple):
    """The runs of a log of tasks.

    Attributes
    ----------
    table : io.CsvTable
        A row for each run, with the columns of ``runs.csv``; a task is a code.
    notes : list of Note
        How the log was read.
    names : list of str
        What the task of each row is called in the log, with its sample or wildcards.
    """

    table: io.CsvTable
    notes: list[Note]
    names: list[str]


def measurements_of_log(path: str | PathLike[str], log_format: TaskLogFormat) -> TaskMeasurements:
    """The runs of a log; parameters as of ``tasks_of_log``."""
    summary = TaskLogSummary()
    rows: list[tuple[int, list[str]]] = []
    names: list[str] = []
    counts = dict.fromkeys(("cores", "instant", "failed", "cached", "unknown", "timeless"), 0)
    for task in tasks_of_log(path, log_format, summary):
        if math.isnan(task.seconds):
            counts["timeless"] += 1
            continue
        status = _STATUS_OF_STATE.get(task.state, "failed")
        counts["cores"] += task.cores < 1
        counts["instant"] += task.seconds < _MIN_SECONDS and status == "completed"
        counts["failed"] += status != "completed"
        counts["cached"] += task.is_cached
        counts["unknown"] += task.state == "UNKNOWN"
        names.append(task.name)
        rows.append((task.line, _cells(task, status)))
    notes = [Note(NoteKind.READING, f"read as {log_format.value}", subject="format")]
    notes += [*summary.notes(), *_notes_of_skipped(summary), *_notes_of_counts(counts)]
    return TaskMeasurements(io.CsvTable(str(path), list(_HEADER), rows), notes, names)


def _cells(task: LoggedTask, status: str) -> list[str]:
    seconds = repr(max(task.seconds, _MIN_SECONDS)) if status == "completed" else ""
    started = ""
    if 0 <= task.start <= LAST_TIME:  # a damaged duration may lead beyond
        moment = datetime.fromtimestamp(task.start, timezone.utc)
        started = moment.isoformat(timespec="seconds")
    memory = task.used_memory / _BYTES_OF_GB
    return [
        _one_line(task.code),
        str(max(task.cores, 1)),
        seconds,
        status,
        started,
        task.host,
        str(task.attempt),
        _number(task.cpu_seconds),
        _number(memory),
        "" if math.isnan(memory) else "rss",
    ]


def _one_line(name: str) -> str:
    """A name that a table can hold: blanks and line ends at its ends are none of it."""
    return name.strip() or "-"


def _number(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _notes_of_skipped(summary: TaskLogSummary) -> list[Note]:
    notes = []
    for reason, lines in summary.skipped.items():
        where = io.shown_lines(lines)
        text = f"dropped {count_of(len(lines), 'line')}: {reason} ({where})"
        notes.append(Note(NoteKind.DROPPED, text, subject=reason, count=len(lines), where=where))
    return notes


def _notes_of_counts(counts: dict[str, int]) -> list[Note]:
    """Notes of runs of which the log does not say all that a measurement has."""
    texts = (
        (
            "cores",
            NoteKind.ASSUMED,
            "processors",
            "assumed: {} on 1 processor: the log does not say how many",
        ),
        (
            "instant",
            NoteKind.REPAIRED,
            "run time 0",
            f"{{}} of less than {_MIN_SECONDS:g} s: taken as {_MIN_SECONDS:g} s",
        ),
        ("failed", NoteKind.DROPPED, "failed runs", "{} failed or were ended: no run time"),
        (
            "cached",
            NoteKind.READING,
            "cached tasks",
            "{} cached: measured in an earlier run of the workflow",
        ),
        (
            "unknown",
            NoteKind.ASSUMED,
            "status",
            "assumed: {} completed: the log does not say how they ended",
        ),
        ("timeless", NoteKind.DROPPED, "run time", "dropped {}: no run time"),
    )
    return [
        Note(kind, text.format(count_of(counts[name], "run")), subject=subject, count=counts[name])
        for name, kind, subject, text in texts
        if counts[name]
    ]
