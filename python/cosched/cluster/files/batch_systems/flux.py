"""What ``flux jobs --json`` prints, and the job archive of Flux, an SQLite database."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from cosched.cluster.files.batch_systems.job_record import JobRecord, LeftOut, Records
from cosched.cluster.files.batch_systems.json_stream import Member, object_at
from cosched.cluster.files.facts import NOT_ENDED
from cosched.errors import InvalidInstance

_STATE_OF_RESULT = {
    "COMPLETED": "COMPLETED",
    "FAILED": "FAILED",
    "CANCELED": "CANCELLED",
    "TIMEOUT": "TIMEOUT",
}
#: Columns of the archive's table that are looked at, where they are there.
_ARCHIVE_COLUMNS = (
    "id", "userid", "ranks", "t_submit", "t_depend", "t_sched", "t_run", "t_cleanup", "t_inactive",
    "jobspec", "R", "eventlog",
)  # fmt: skip


def read_flux(members: Iterable[Member]) -> Records:
    """The ended jobs of ``flux jobs --json``.

    Parameters
    ----------
    members : iterable of Member
        Of the list ``jobs``.

    Yields
    ------
    JobRecord or LeftOut

    Examples
    --------
    >>> job = {"id": 7, "t_submit": 1.0, "t_run": 2.0, "t_cleanup": 60.0, "t_inactive": 60.5,
    ...        "ncores": 8, "nnodes": 1, "duration": 120.0, "result": "COMPLETED"}
    >>> (record,) = read_flux([Member(1, "", job)])
    >>> record.number, record.cores, record.limit, record.end - record.start
    ('7', 8, 120.0, 58.0)
    """
    for member in members:
        if member.key:
            continue
        job = member.value
        if not isinstance(job, Mapping) or "t_submit" not in job:
            yield LeftOut(member.line, "no job of Flux")
        elif not _time_of(job.get("t_inactive")) > 0 and not _time_of(job.get("t_cleanup")) > 0:
            yield LeftOut(member.line, NOT_ENDED)
        else:
            yield _job_of(member.line, job)


def _job_of(line: int, job: Mapping[str, object]) -> JobRecord:
    end = _time_of(job.get("t_cleanup"))
    cores, nodes = _count_of(job.get("ncores")), _count_of(job.get("nnodes"))
    tasks = _count_of(job.get("ntasks"))
    duration = _time_of(job.get("duration"))
    annotations = job.get("annotations")
    user = annotations.get("user", {}) if isinstance(annotations, Mapping) else {}
    return JobRecord(
        line=line,
        number=str(job.get("id", "")),
        state=_STATE_OF_RESULT.get(str(job.get("result", "")).upper(), "UNKNOWN"),
        submit=_time_of(job.get("t_submit")),
        eligible=_time_of(job.get("t_depend")),
        start=_time_of(job.get("t_run")),
        end=end if end > 0 else _time_of(job.get("t_inactive")),
        cores=cores or max(tasks, nodes),
        nodes=float(nodes) if nodes else math.nan,
        limit=duration if duration > 0 else math.inf,
        gpus=_count_of(job.get("ngpus")),
        user=_text_of(job.get("username")) or _text_of(job.get("userid")),
        account=_text_of(job.get("bank")) or _text_of(user.get("bank") if user else ""),
        partition=_text_of(job.get("queue")),
        name=_text_of(job.get("name")),
        hosts=_text_of(job.get("nodelist")),
    )


def _time_of(value: Any) -> float:
    """Return seconds; nan where there is none (0 in Flux)."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < math.inf else math.nan


def _count_of(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text_of(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def read_flux_archive(path: str) -> Records:
    """The ended jobs of a job archive (module ``job-archive``); lines are numbers of rows.

    Raises
    ------
    InvalidInstance
        No database of that form.
    """
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            names = [row[1] for row in database.execute("PRAGMA table_info(jobs)")]
            columns = [name for name in _ARCHIVE_COLUMNS if name in names]
            if not {"id", "t_submit", "t_inactive"} <= set(columns):
                raise InvalidInstance(
                    f"{path}: an SQLite database without the table jobs of Flux's job archive"
                )
            rows = database.execute(f"SELECT {', '.join(columns)} FROM jobs ORDER BY t_submit")
            for number, row in enumerate(rows, 1):
                yield _archived_job(number, dict(zip(columns, row, strict=True)))
    except sqlite3.Error as error:
        raise InvalidInstance(f"{path}: no complete SQLite database ({error})") from None


def _archived_job(number: int, row: Mapping[str, object]) -> JobRecord | LeftOut:
    """Return a row, whose resources and limit stand in the JSON texts ``R`` and ``jobspec``."""
    resources, jobspec = _object_of(row.get("R")), _object_of(row.get("jobspec"))
    system = object_at(jobspec, "attributes", "system")
    cores, gpus, nodes = _counts_of_resources(resources)
    job = {
        **row,
        "ncores": cores,
        "ngpus": gpus,
        "nnodes": nodes,
        "duration": system.get("duration"),
        "queue": system.get("queue"),
        "bank": system.get("bank"),
        "name": object_at(system, "job").get("name"),
        "nodelist": ",".join(map(str, object_at(resources, "execution").get("nodelist", []))),
    }
    (record,) = read_flux([Member(number, "", job)])
    return record


def _object_of(text: Any) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _counts_of_resources(resources: Mapping[str, object]) -> tuple[int, int, int]:
    """Return cores, GPUs and nodes of R version 1 (RFC 20)."""
    cores = gpus = nodes = 0
    parts = object_at(resources, "execution").get("R_lite", [])
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, Mapping):
            continue
        ranks = _size_of_idset(str(part.get("rank", "")))
        children = object_at(part, "children")
        nodes += ranks
        cores += ranks * _size_of_idset(str(children.get("core", "")))
        gpus += ranks * _size_of_idset(str(children.get("gpu", "")))
    return cores, gpus, nodes


def _size_of_idset(text: str) -> int:
    """Return 6 of ``0-3,7,9``."""
    total = 0
    for part in filter(None, text.strip("[]").split(",")):
        first, _, last = part.partition("-")
        if first.isdigit() and (last.isdigit() or not last):
            total += max(int(last or first) - int(first) + 1, 0)
    return total
