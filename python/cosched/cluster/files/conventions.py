"""How the jobs of a log become tasks on nodes; its clock, its parts, and when jobs can start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from cosched import io
from cosched.core.arrays import fraction, integer, nonnegative, positive
from cosched.core.text import require_columns
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

WEEK = 604800.0
_NEEDED = (
    "job",
    "submit",
    "run",
    "requested_time",
    "used_memory",
    "requested_memory",
    "processors",
)


def dfrs_jobs(
    table: pd.DataFrame,
    memory_kb: float = 2097152,
    *,
    cores: int = 2,
    least_memory: float | None = None,
) -> pd.DataFrame:
    """Jobs of a log on nodes of several cores, as paper 3 reads HPC2N (two).

    The memory need of a processor is max(requested, used) / `memory_kb`, at least
    `least_memory` (also where the log knows neither). A job that fills whole nodes (its processors
    are a multiple of `cores`, its need is below 1 / `cores`) becomes a task a node: CPU need 100%,
    memory need x `cores`. Any other job becomes a task a processor, CPU need 1 / `cores`. With two
    cores this is the paper's rule: even processors and a need below 50%.

    A need above 100% cannot be met by any node: it is cut to 100%. How often that and the
    default for unknown memory were applied is in ``jobs.attrs["repaired"]`` (reason -> count).

    Parameters
    ----------
    table : DataFrame
        From :func:`read_swf`.
    memory_kb : float
        Memory of a node, > 0. The default is the 2 GB of HPC2N.
    cores : int
        Processors of a node, >= 1.
    least_memory : float, optional
        Least need of a processor, in (0, 1]; by default 10%, and not more than 20% of a node for
        a job that fills it.

    Returns
    -------
    DataFrame
        Columns ``job, submit, tasks, cpu, memory, runtime, estimate`` in the order of `table`;
        ``estimate`` is the requested time, NaN where it is unknown (or not positive).

    Raises
    ------
    InvalidInstance
        A column is missing, or a memory outside its range.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 5 (real-world workload).

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "job": [1.0, 2.0], "submit": [0.0, 5.0], "run": [60.0, 70.0],
    ...     "requested_time": [100.0, np.nan], "used_memory": [419430.4, np.nan],
    ...     "requested_memory": np.nan, "processors": [4, 3]})
    >>> dfrs_jobs(table)[["tasks", "cpu", "memory"]].to_numpy().tolist()
    [[2.0, 1.0, 0.4], [3.0, 0.5, 0.1]]
    """
    require_columns(table, _NEEDED, "table")
    node = positive(memory_kb, "memory_kb", "a positive number of KB")
    width = integer(cores, "cores", 1)
    usual = min(0.1, 0.2 / width)
    least = usual if least_memory is None else fraction(least_memory, "least_memory")

    known = table[["requested_memory", "used_memory"]].max(axis=1).to_numpy(dtype=float) / node
    unknown = np.isnan(known)
    share = np.clip(np.where(unknown, least, known), least, 1.0)
    processors = table["processors"].to_numpy(dtype=np.int64)
    filling = (processors % width == 0) & (share < 1 / width)
    jobs = _jobs(
        table,
        np.where(filling, processors // width, processors),
        np.where(filling, 1.0, 1 / width),
        np.where(filling, width * share, share),
    )
    jobs.attrs["repaired"] = {
        f"memory unknown: {least:g} taken": int(unknown.sum()),
        "memory above that of a node: 1 taken": int((known > 1).sum()),
    }
    return jobs


def rigid_jobs(table: pd.DataFrame) -> pd.DataFrame:
    """Jobs of a log on single-processor nodes: a task a processor, CPU and memory need 100%.

    Parameters
    ----------
    table : DataFrame
        From :func:`read_swf`; a node is a processor.

    Returns
    -------
    DataFrame
        Columns ``job, submit, tasks, cpu, memory, runtime, estimate`` as :func:`dfrs_jobs`.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "job": [1.0], "submit": [0.0], "run": [60.0], "requested_time": [100.0],
    ...     "processors": [4]})
    >>> rigid_jobs(table).iloc[0].tolist()
    [1.0, 0.0, 4.0, 1.0, 1.0, 60.0, 100.0]
    """
    require_columns(table, ("job", "submit", "run", "requested_time", "processors"), "table")
    return _jobs(table, table["processors"].to_numpy(dtype=np.int64), 1.0, 1.0)


def week_of(jobs: pd.DataFrame, week: int) -> pd.DataFrame:
    """The jobs with floor(submit / 604800) = `week`; submissions count from its begin.

    Parameters
    ----------
    jobs : DataFrame
        With ``submit`` (s); other columns are kept.
    week : int
        From 0.

    Returns
    -------
    DataFrame
        Empty for a week without jobs.

    Raises
    ------
    InvalidInstance
        No column ``submit``, or a week that is no integer >= 0.

    Examples
    --------
    >>> jobs = pd.DataFrame({"submit": [5.0, 604800.0, 604807.0]})
    >>> week_of(jobs, 1)["submit"].tolist()
    [0.0, 7.0]
    """
    require_columns(jobs, ("submit",), "jobs")
    number = integer(week, "week", 0)
    mine = jobs[np.floor(jobs["submit"] / WEEK) == number].reset_index(drop=True)
    mine.attrs = {}  # counts of the whole log, not of this week
    times = [name for name in ("submit", "eligible") if name in mine]
    return mine.assign(**{name: mine[name] - number * WEEK for name in times})


def _jobs(table: pd.DataFrame, tasks, cpu, memory) -> pd.DataFrame:
    requested = table["requested_time"].to_numpy(dtype=float)

    return pd.DataFrame(
        {
            "job": table["job"].to_numpy(),
            "submit": table["submit"].to_numpy(dtype=float),
            "tasks": tasks,
            "cpu": cpu,
            "memory": memory,
            "runtime": table["run"].to_numpy(dtype=float),
            "estimate": np.where(requested > 0, requested, np.nan),
        }
    )


def date_of(seconds: float, zone: tzinfo | None = None) -> datetime | None:
    """Seconds since 1970 (in UTC where there is a `zone`) as its date; None: no clock says that."""
    try:
        date = datetime(1970, 1, 1, tzinfo=zone and timezone.utc) + timedelta(seconds=seconds)
        return date.astimezone(zone) if zone else date
    except (OverflowError, ValueError):
        return None


def date_of_header(header: Mapping[str, str]) -> datetime | None:
    """When a log in Standard Workload Format begins, where its header says it."""
    text = header.get("UnixStartTime", "").strip()
    if not io.is_number(text) or not float(text) > 0:
        return None
    return date_of(float(text), _zone_of_header(header))


def _zone_of_header(header: Mapping[str, str]) -> tzinfo:
    zone = zone_of(header.get("TimeZoneString", "").strip())
    if zone is not None:
        return zone
    offset = header.get("TimeZone", "").strip()
    known = io.is_number(offset) and abs(float(offset)) < 86400
    return timezone(timedelta(seconds=float(offset))) if known else timezone.utc


def zone_of(name: str | None) -> tzinfo | None:
    """A zone by its name; None: no such zone here."""
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, KeyError):  # a folder, an odd name, no such zone
        return None


def begin_of_part(whole: datetime | None, week: int | None, begin: float | None) -> datetime | None:
    """When a part of a log begins."""
    return None if whole is None else later(whole, (week or 0) * WEEK + (begin or 0.0))


def later(date: datetime, seconds: float) -> datetime:
    """So many seconds later, across changes of clocks."""
    if date.tzinfo is None:
        return date + timedelta(seconds=seconds)
    return (date.astimezone(timezone.utc) + timedelta(seconds=seconds)).astimezone(date.tzinfo)


def part_of(
    path: Any, jobs: pd.DataFrame, week: int | None, begin: float | None, until: float | None
) -> tuple[pd.DataFrame, list[str]]:
    """The jobs of a week, of a part of a log, or all; and what to say of it."""
    said = []
    if week is not None:
        last = int(jobs["submit"].max() // WEEK)
        jobs = week_of(jobs, integer(week, "week", 0))
        if not len(jobs):
            raise InvalidInstance(f"{path}: week {week} has no job: the last week is {last}")
        said.append(f"  week {week}: {len(jobs)} jobs")
    if begin is not None or until is not None:
        jobs, note = jobs_between(path, jobs, begin, until)
        said.append(f"  {note}")
    return jobs, said


def jobs_between(
    path: Any, jobs: pd.DataFrame, begin: float | None, until: float | None
) -> tuple[pd.DataFrame, str]:
    """The jobs submitted in [begin, until), and those that the log has in the system at `begin`.

    Times count from `begin`. A job that runs then comes at 0, before all others, with the rest of
    its run time: every policy starts it at once. A job that waits then is submitted at 0.
    """
    first = 0.0 if begin is None else nonnegative(begin, "from", "seconds >= 0")
    last = np.inf if until is None else nonnegative(until, "until", "seconds >= 0")
    if not first < last:
        raise InvalidInstance(f"from = {first:g}, until = {last:g}: expected from < until")
    submit = jobs["submit"].to_numpy()
    early = submit < first
    if early.any() and "wait" not in jobs:
        raise InvalidInstance(f"{path}: from = {first:g}: the log has no waits: who runs then?")
    wait = jobs["wait"].to_numpy() if "wait" in jobs else np.zeros(len(jobs))
    start = submit + wait
    end = start + jobs["runtime"].to_numpy()
    running = early & (start < first) & (end > first)
    waiting = early & (start >= first)
    inside = (submit >= first) & (submit < last)
    chosen = np.concatenate([np.flatnonzero(k) for k in (running, waiting, inside)])
    if not len(chosen):
        raise InvalidInstance(f"{path}: no job from {first:g} s until {last:g} s")
    part = jobs.iloc[chosen].reset_index(drop=True)
    ran = np.where(running, first - start, 0.0)[chosen]
    came = np.maximum(submit[chosen], first)
    part["submit"] = came - first
    if "eligible" in part:
        eligible = np.maximum(part["eligible"], came) - first
        part["eligible"] = np.where(running[chosen], 0.0, eligible)
    part["runtime"] -= ran
    if "estimate" in part:
        part["estimate"] = np.maximum(part["estimate"] - ran, 0.0)
    if running.any():
        part["running"] = running[chosen]
    if "wait" in part:
        part["wait"] = np.maximum(start[chosen] - came, 0.0)
    until_last = f"until {last:g} s" if np.isfinite(last) else "on"
    return part, (
        f"from {first:g} s {until_last}: {len(part)} jobs, {int(running.sum())} of them running"
        f" and {int(waiting.sum())} waiting at the begin (their waits count from then)"
    )


_BLOCKS = "dependency, begin time, hold, array limit"


def after_preceding(table: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Of a log in SWF: submissions, or the ends of the preceding jobs + think times; and notes."""
    submit = table["submit"].to_numpy()
    chained = (table["preceding_job"] > 0).to_numpy()
    if not chained.any():
        return submit, []
    ends = (table["submit"] + table["wait"] + table["run"]).to_numpy()
    first = table["job"].drop_duplicates()
    numbers, row = np.unique(first.to_numpy(), return_index=True)
    wanted = table["preceding_job"].to_numpy()
    at = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    end = np.where(numbers[at] == wanted, ends[first.index.to_numpy()[row[at]]], np.nan)
    free = end + np.nan_to_num(table["think_time"].to_numpy())
    eligible = np.where(chained, np.fmax(submit, free), submit)
    start = submit + table["wait"].to_numpy()
    early = eligible > start  # never where the log has no wait
    known = int((chained & ~np.isnan(free)).sum())
    notes = [
        f"  eligible when the preceding_job of the log has ended, and its think_time: {known} "
        f"job{'s' * (known != 1)} of {int(chained.sum())} that name one"
    ]
    if early.any():
        notes.append(f"  repaired {int(early.sum())}: eligible after the start: the start taken")
    return np.fmin(eligible, np.where(np.isnan(start), np.inf, start)), notes


def counted_from(jobs: Any, wait_from: str, *, of_log: bool) -> tuple[Any, list[str]]:
    """The jobs with waits that count from `wait_from`, and what to say of it."""
    if wait_from not in ("eligible", "submit"):
        raise InvalidInstance(f"wait_from = {shorten(wait_from)}: expected eligible or submit")
    known = "eligible" in jobs
    if wait_from == "submit" and known:
        jobs = {name: jobs[name] for name in jobs if name not in ("eligible", "wait_blocked")}
        return jobs, ["assumed: waits count from submission, also while a job was blocked"]
    if not known or not of_log:
        return jobs, []
    blocked = np.asarray(jobs["eligible"] - jobs["submit"], dtype=float)
    held = blocked[blocked > 0]
    if not len(held):
        return jobs, ["assumed: waits count from submission: the log has no job blocked before"]
    return jobs, [
        f"assumed: waits count from when jobs were eligible; blocked before ({_BLOCKS}: no "
        f"scheduler's wait): {len(held):,} of {len(blocked):,} jobs, on average "
        f"{_hours(held.mean())}, at most {_hours(held.max())} (wait_blocked)"
    ]


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds:,.0f} s"
