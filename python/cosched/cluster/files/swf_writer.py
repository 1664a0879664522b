"""Jobs as a log in the Standard Workload Format, and without names of people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np

from cosched.lazy import pd
from cosched.notes import Note, NoteKind

_KB_OF_GB = 2.0**20
#: Numbers of the format for how a job ended; a job at its limit was killed: it failed.
_STATUS = {"completed": 1, "cancelled": 5, "preempted": 5, "partial": 2}
_FAILED, _UNKNOWN = 0, -1
#: Columns with names of people, projects and programs, and what their numbers begin with.
_NAMES = {"user": "u", "group": "g", "account": "a", "partition": "q", "qos": "s"}
#: Columns with texts that users wrote, or names of computers.
_TEXTS = ("job_name", "comment", "hosts", "nodelist", "exclude", "dependency", "licenses", "name")


class SwfLog(NamedTuple):
    """A log as text, and notes on what the format cannot say."""

    text: str
    notes: list[Note]


def swf_log(
    jobs: pd.DataFrame, nodes: int, source: str, begins: datetime | None, version: str
) -> SwfLog:
    """The 18 fields of each job behind header comments, as the archive's standard asks.

    Users, groups, programs and partitions become numbers, in the order in which they come first;
    the header has the names of the partitions. A time limit of infinity is not known (-1).

    Parameters
    ----------
    jobs : pandas.DataFrame
        Columns of an instance; times in seconds, memory in GB of the whole job.
    nodes : int
        Processors of the machine.
    source : str
        Name of the log that the jobs are from.
    begins : datetime.datetime, optional
        When second 0 is.
    version : str
        Of this program.
    """
    notes = []
    numbers, is_renumbered = _job_numbers(jobs)
    if is_renumbered:
        text = "assumed: jobs are numbered from 1: their ids are no different integers"
        notes.append(Note(NoteKind.ASSUMED, text, subject="job numbers", count=len(jobs)))
    tasks = jobs["tasks"].to_numpy(dtype=float)
    partitions, partition_names = _numbered(jobs, "partition")
    infinite = int(np.isinf(_column(jobs, "estimate")).sum())
    if infinite:
        text = f"assumed: {infinite} jobs without a time limit: not known (-1) in the format"
        notes.append(Note(NoteKind.ASSUMED, text, subject="time limits", count=infinite))
    fields = {
        "job": numbers,
        "submit": jobs["submit"].to_numpy(dtype=float),
        "wait": _column(jobs, "wait"),
        "run": jobs["runtime"].to_numpy(dtype=float),
        "allocated_procs": tasks,
        "average_cpu": _column(jobs, "cpu_seconds") / tasks,
        "used_memory": _column(jobs, "used_memory_gb") * _KB_OF_GB / tasks,
        "requested_procs": tasks,
        "requested_time": _column(jobs, "estimate"),
        "requested_memory": _column(jobs, "memory_gb") * _KB_OF_GB / tasks,
        "status": _statuses(jobs),
        "user": _numbered(jobs, "user")[0],
        "group": _numbered(jobs, "group")[0],
        "executable": _numbered(jobs, "job_name")[0],
        "queue": np.full(len(jobs), -1.0),
        "partition": partitions,
        "preceding_job": np.full(len(jobs), -1.0),
        "think_time": np.full(len(jobs), -1.0),
    }
    columns = [_texts_of_numbers(column) for column in fields.values()]
    lines = _header(jobs, nodes, source, begins, version, partition_names)
    lines += [" ".join(cells) for cells in zip(*columns, strict=True)]
    return SwfLog("\n".join(lines) + "\n", notes)


def _header(
    jobs: pd.DataFrame,
    nodes: int,
    source: str,
    begins: datetime | None,
    version: str,
    partition_names: Mapping[str, int],
) -> list[str]:
    lines = ["Version: 2.2", f"Conversion: cosched {version}, from {source or 'a table of jobs'}"]
    if begins is not None:
        lines.append(f"UnixStartTime: {int(begins.timestamp())}")
        lines.append(f"TimeZoneString: {getattr(begins.tzinfo, 'key', None) or 'UTC'}")
        lines.append(f"StartTime: {begins:%a %b %d %H:%M:%S %Z %Y}")
    lines += [f"MaxJobs: {len(jobs)}", f"MaxRecords: {len(jobs)}"]
    lines += [f"MaxNodes: {nodes}", f"MaxProcs: {nodes}"]
    if partition_names:
        lines.append(f"MaxPartitions: {len(partition_names)}")
        lines += [f"Partition: {number} {name}" for name, number in partition_names.items()]
    return [f"; {line}" for line in lines]


def _column(jobs: pd.DataFrame, name: str) -> np.ndarray:
    """Return numbers, nan where they are not known."""
    if name not in jobs:
        return np.full(len(jobs), np.nan)
    return jobs[name].to_numpy(dtype=float)


def _job_numbers(jobs: pd.DataFrame) -> tuple[np.ndarray, bool]:
    """Return the ids where they are different positive integers, else numbers from 1 (True)."""
    ids = jobs.get("id")
    if ids is not None and ids.dtype.kind in "iu" and ids.is_unique and (ids > 0).all():
        return ids.to_numpy(dtype=float), False
    numbers = np.arange(1, len(jobs) + 1, dtype=float)
    has_own_ids = ids is not None and ids.tolist() != list(range(len(jobs)))
    return numbers, has_own_ids


def _numbered(jobs: pd.DataFrame, name: str) -> tuple[np.ndarray, dict[str, int]]:
    """Return numbers of names, from 1 in the order in which they come first; numbers stay as they
    are."""
    if name not in jobs:
        return np.full(len(jobs), -1.0), {}
    column = jobs[name]
    if column.dtype.kind in "iuf":
        return column.to_numpy(dtype=float), {}
    texts = column.astype(str)
    names = [text for text in pd.unique(texts) if text]
    if all(text.isdecimal() and len(text) < 10 for text in names):
        numbers = {text: int(text) for text in names}
        return texts.map(numbers).fillna(-1).to_numpy(dtype=float), {}
    numbers = {text: number for number, text in enumerate(names, 1)}
    return texts.map(numbers).fillna(-1).to_numpy(dtype=float), numbers


def _statuses(jobs: pd.DataFrame) -> np.ndarray:
    if "status" not in jobs:
        return np.full(len(jobs), float(_UNKNOWN))
    texts = jobs["status"].astype(str)
    status_numbers = texts.map(_STATUS).fillna(_FAILED)
    return status_numbers.where(~texts.isin(["", "unknown"]), _UNKNOWN).to_numpy(dtype=float)


def _texts_of_numbers(column: np.ndarray) -> list[str]:
    """Return whole numbers without a point, others exactly; -1 of what is not known."""
    finite = np.where(np.isfinite(column), column, -1.0)
    return [str(int(value)) if value == int(value) else repr(value) for value in finite.tolist()]


def without_names(jobs: pd.DataFrame) -> pd.DataFrame:
    """The jobs with stable numbers for names of users, groups, accounts, partitions and QOS.

    A name becomes a letter and the number of its first appearance, such as ``u1``. Names of jobs
    and nodes, comments and other texts that people wrote are left out.

    Examples
    --------
    >>> jobs = pd.DataFrame({"user": ["ann", "bob", "ann"], "comment": ["a", "b", "c"]})
    >>> without_names(jobs)
      user
    0   u1
    1   u2
    2   u1
    """
    hidden = jobs.drop(columns=[name for name in _TEXTS if name in jobs])
    for name, letter in _NAMES.items():
        if name in hidden:
            texts = hidden[name].astype(str)
            names = [text for text in pd.unique(texts) if text]
            numbers = {text: f"{letter}{number}" for number, text in enumerate(names, 1)}
            hidden[name] = texts.map(numbers).fillna("")
    return hidden
