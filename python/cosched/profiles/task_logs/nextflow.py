"""Nextflow: ``trace.txt`` of its trace reports, and ``.nextflow/history``.

A trace has the fields that the user chose (``trace.fields``), with texts for people or, with
``trace.raw``, milliseconds and bytes; ``trace.sep`` is any separator. Sources: Nextflow's
documentation of reports, and its classes TraceRecord, TraceFileObserver and HistoryFile.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import NamedTuple

from cosched.errors import InvalidInstance, shorten
from cosched.profiles.task_logs.task import LoggedTask, SkippedLine, TaskRow, Tasks

#: Slurm's words for the states of Nextflow.
_STATES = {
    "COMPLETED": "COMPLETED", "CACHED": "COMPLETED", "FAILED": "FAILED", "ABORTED": "CANCELLED",
}  # fmt: skip
_NOT_ENDED = ("NEW", "SUBMITTED", "RUNNING")
#: Fields whose texts may hold separators and line ends.
_LONG_FIELDS = ("script", "env")
_FIRST_FIELDS = {"task_id": re.compile(r"\d+"), "hash": re.compile(r"[0-9a-f]{2}/[0-9a-f]{4,}")}
_HEADER_PART = re.compile(r"%?\w+")
#: Exits of a task that Slurm and other systems end at its limit: SIGTERM, SIGUSR2.
_EXITS_AT_LIMIT = ("140", "143")
_NO_FIELDS = "its fields are not those of the header"


class _Record(NamedTuple):
    """The cells of one record, and the line on which it begins."""

    line: int
    cells: list[str]


def read_nextflow_trace(lines: Iterable[tuple[int, str]], path: object, zone: tzinfo) -> Tasks:
    r"""The tasks of a trace.

    Parameters
    ----------
    lines : iterable of (int, str)
        Numbers from 1, and texts.
    path : path-like
        For messages.
    zone : tzinfo
        Of times, which are those of the clock where the workflow ran.

    Raises
    ------
    InvalidInstance
        A cell of another form than Nextflow's, or a trace without run times.

    Examples
    --------
    >>> import datetime
    >>> rows = ["name\tstatus\trealtime\tpeak_rss\n", "ALIGN (s1)\tCOMPLETED\t1m 2s\t1.5 GB\n"]
    >>> (task,) = read_nextflow_trace(enumerate(rows, 1), "trace.txt", datetime.timezone.utc)
    >>> task.code, task.seconds, task.used_memory / 2**30
    ('ALIGN', 62.0, 1.5)
    """
    numbered_lines = iter(lines)
    _, header = next((number, text) for number, text in numbered_lines if text.strip())
    fields, separator = _fields_of_header(header)
    _require_fields(path, fields)
    for record in _records(numbered_lines, fields, separator):
        if isinstance(record, SkippedLine):
            yield record
            continue
        row = TaskRow(f"{path}: line {record.line}", dict(zip(fields, record.cells, strict=True)))
        yield _task_of(row, record.line, zone)


def _fields_of_header(header: str) -> tuple[list[str], str]:
    """Names of the fields, and what stands between them."""
    text = header.rstrip("\r\n")
    first = _HEADER_PART.match(text)
    second = _HEADER_PART.search(text, first.end()) if first else None
    separator = text[first.end() : second.start()] if first and second else "\t"
    return [name.strip().lower() for name in text.split(separator)], separator


def _require_fields(path: object, fields: Sequence[str]) -> None:
    for name in fields:
        if fields.count(name) > 1:
            raise InvalidInstance(f"{path}: line 1: 2 fields {shorten(name)}: expected one")
    if not {"name", "process", "hash", "task_id"} & set(fields):
        raise InvalidInstance(f"{path}: line 1: no field 'name': expected name or process")
    if not {"realtime", "duration"} & set(fields) and not {"start", "complete"} <= set(fields):
        raise InvalidInstance(
            f"{path}: line 1: no field 'realtime': expected realtime, duration, or start and "
            "complete"
        )


def _records(
    lines: Iterator[tuple[int, str]], fields: Sequence[str], separator: str
) -> Iterator[_Record | SkippedLine]:
    """Records, of which a script may span several lines."""
    begin, parts = 0, list[str]()
    may_span_lines = bool(set(_LONG_FIELDS) & set(fields))
    for number, text in lines:
        line = text.rstrip("\r\n") if not may_span_lines else text.rstrip("\n")
        if may_span_lines and parts and not _begins_record(line, fields, separator):
            parts.append(line)
            continue
        if parts:
            yield _record_of(begin, "\n".join(parts), fields, separator)
        begin, parts = number, [line] if line.strip() else []
    if parts:
        yield _record_of(begin, "\n".join(parts), fields, separator)


def _begins_record(line: str, fields: Sequence[str], separator: str) -> bool:
    """Whether a line is no further line of a script."""
    first_cell, separator_read, _ = line.partition(separator)
    pattern = _FIRST_FIELDS.get(fields[0])
    if pattern is not None:
        return bool(separator_read) and pattern.fullmatch(first_cell.strip()) is not None
    return line.count(separator) >= len(fields) - 1


def _record_of(
    line: int, text: str, fields: Sequence[str], separator: str
) -> _Record | SkippedLine:
    cells = text.split(separator)
    surplus = len(cells) - len(fields)
    if surplus > 0:  # a script with separators in it
        long_fields = [place for place, name in enumerate(fields) if name in _LONG_FIELDS]
        if len(long_fields) != 1:
            return SkippedLine(line, _NO_FIELDS)
        place = long_fields[0]
        joined = separator.join(cells[place : place + surplus + 1])
        cells = [*cells[:place], joined, *cells[place + surplus + 1 :]]
    if len(cells) != len(fields):
        return SkippedLine(line, _NO_FIELDS)
    return _Record(line, cells)


def _task_of(row: TaskRow, line: int, zone: tzinfo) -> LoggedTask | SkippedLine:
    status = row.text("status").upper()
    if status in _NOT_ENDED:
        return SkippedLine(line, "not ended yet")
    if status and status not in _STATES:
        raise row.refusal("status", f"one of {', '.join((*_NOT_ENDED, *_STATES))}")
    submit, start, complete = (row.time(name, zone) for name in ("submit", "start", "complete"))
    seconds, duration = row.duration("realtime"), row.duration("duration")
    if math.isnan(seconds):
        seconds = complete - start
    if math.isnan(seconds):
        seconds = duration
    if math.isnan(start):
        start = _start_of(submit, complete, seconds, duration)
    process = row.text("process")
    name = row.text("name") or process or row.text("hash") or row.text("task_id")
    limit, exit_status = row.duration("time"), row.text("exit")
    return LoggedTask(
        line=line,
        name=name,
        code=process or name.partition(" (")[0],
        state=_state_of(status, exit_status, seconds, limit),
        seconds=max(seconds, 0.0),
        number=row.text("task_id"),
        command=row.text("script"),
        cores=row.count("cpus"),
        submit=submit,
        start=start,
        limit=limit,
        memory=row.size("memory"),
        used_memory=row.size("peak_rss"),
        cpu_seconds=row.percent("%cpu") * seconds,
        queue=row.text("queue"),
        host=row.text("hostname"),
        attempt=max(row.count("attempt"), 1),
        is_cached=status == "CACHED",
    )


def _start_of(submit: float, complete: float, seconds: float, duration: float) -> float:
    """When a task started, of what the fields of the trace say."""
    if not math.isnan(complete):
        return complete - seconds
    if not math.isnan(duration):
        return submit + max(duration - seconds, 0.0)
    return submit


def _state_of(status: str, exit_status: str, seconds: float, limit: float) -> str:
    if status:
        state = _STATES[status]
    elif exit_status:
        state = "COMPLETED" if exit_status == "0" else "FAILED"
    else:
        return "UNKNOWN"
    if state == "FAILED" and exit_status in _EXITS_AT_LIMIT and seconds >= limit - 1:
        return "TIMEOUT"
    return state


_HISTORY_FIELDS = (
    "timestamp", "duration", "run name", "status", "revision id", "session id", "command",
)  # fmt: skip
_HISTORY_STATES = {"OK": "COMPLETED", "ERR": "FAILED"}


def read_nextflow_history(lines: Iterable[tuple[int, str]], path: object, zone: tzinfo) -> Tasks:
    """The runs of pipelines of ``.nextflow/history``; parameters as of `read_nextflow_trace`."""
    for line, text in lines:
        cells = text.rstrip("\r\n").split("\t", len(_HISTORY_FIELDS) - 1)
        if not text.strip():
            continue
        if len(cells) == 2:
            yield SkippedLine(line, "without a time, as of Nextflow before 0.17")
            continue
        if len(cells) != len(_HISTORY_FIELDS):
            yield SkippedLine(line, _NO_FIELDS)
            continue
        row = TaskRow(f"{path}: line {line}", dict(zip(_HISTORY_FIELDS, cells, strict=True)))
        status = row.text("status")
        if status and status not in _HISTORY_STATES:
            raise row.refusal("status", "OK, ERR or -")
        seconds = row.duration("duration")
        if math.isnan(seconds):
            yield SkippedLine(line, "not ended yet")
            continue
        submit = row.time("timestamp", zone)
        if math.isnan(submit):
            raise row.refusal("timestamp", "a time such as 2024-12-05 09:08:23")
        yield LoggedTask(
            line=line,
            name=row.text("run name"),
            code=row.text("command"),
            state=_HISTORY_STATES.get(status, "UNKNOWN"),
            seconds=seconds,
            number=row.text("run name"),
            command=row.text("command"),
            submit=submit,
            start=submit,
        )
