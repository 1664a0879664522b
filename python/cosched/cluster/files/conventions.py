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
from cosched.notes import Note, NoteKind
from cosched.units import WEEK, format_hours

_NEEDED_COLUMNS = (
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
    require_columns(table, _NEEDED_COLUMNS, "table")
    node = positive(memory_kb, "memory_kb", "a positive number of KB")
    width = integer(cores, "cores", 1)
    usual = min(0.1, 0.2 / width)
    minimum_memory = usual if least_memory is None else fraction(least_memory, "least_memory")

    memory_shares = (
        table[["requested_memory", "used_memory"]].max(axis=1).to_numpy(dtype=float) / node
    )
    unknown = np.isnan(memory_shares)
    share = np.clip(np.where(unknown, minimum_memory, memory_shares), minimum_memory, 1.0)
    processors = table["processors"].to_numpy(dtype=np.int64)
    filling = (processors % width == 0) & (share < 1 / width)
    jobs = _jobs(
        table,
        np.where(filling, processors // width, processors),
        np.where(filling, 1.0, 1 / width),
        np.where(filling, width * share, share),
    )
    jobs.attrs["repaired"] = {
        f"memory unknown: {minimum_memory:g} taken": int(unknown.sum()),
        "memory above that of a node: 1 taken": int((memory_shares > 1).sum()),
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
    jobs_of_week = jobs[np.floor(jobs["submit"] / WEEK) == number].reset_index(drop=True)
    jobs_of_week.attrs = {}  # counts of the whole log, not of this week
    times = [name for name in ("submit", "eligible") if name in jobs_of_week]
    return jobs_of_week.assign(**{name: jobs_of_week[name] - number * WEEK for name in times})


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
    is_valid_offset = io.is_number(offset) and abs(float(offset)) < 86400
    return timezone(timedelta(seconds=float(offset))) if is_valid_offset else timezone.utc


def zone_of(name: str | None) -> tzinfo | None:
    """A zone by its name; None: no such zone here."""
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, KeyError):  # a folder, an odd name, no such zone
        return None


def begin_of_part(
    begin_of_log: datetime | None, week: int | None, begin: float | None
) -> datetime | None:
    """When a part of a log begins."""
    return (
        None if begin_of_log is None else later(begin_of_log, (week or 0) * WEEK + (begin or 0.0))
    )


def later(date: datetime, seconds: float) -> datetime:
    """So many seconds later, across changes of clocks."""
    if date.tzinfo is None:
        return date + timedelta(seconds=seconds)
    return (date.astimezone(timezone.utc) + timedelta(seconds=seconds)).astimezone(date.tzinfo)


def part_of(
    path: object, jobs: pd.DataFrame, week: int | None, begin: float | None, until: float | None
) -> tuple[pd.DataFrame, list[Note]]:
    """The jobs of a week, of a part of a log, or all; and what to say of it."""
    notes = []
    if week is not None:
        last_week = int(jobs["submit"].max() // WEEK)
        jobs = week_of(jobs, integer(week, "week", 0))
        if not len(jobs):
            raise InvalidInstance(f"{path}: week {week} has no job: the last week is {last_week}")
        text = f"  week {week}: {len(jobs)} jobs"
        notes.append(Note(NoteKind.KEPT, text, subject=f"week {week}", count=len(jobs)))
    if begin is not None or until is not None:
        jobs, note = jobs_between(path, jobs, begin, until)
        notes.append(note.with_prefix("  "))
    return jobs, notes


def jobs_between(
    path: object, jobs: pd.DataFrame, begin: float | None, until: float | None
) -> tuple[pd.DataFrame, Note]:
    """The jobs submitted in [begin, until), and those that the log has in the system at `begin`.

    Times count from `begin`. A job that runs then comes at 0, before all others, with the rest of
    its run time: every policy starts it at once. A job that waits then is submitted at 0.
    """
    begin_second = 0.0 if begin is None else nonnegative(begin, "from", "seconds >= 0")
    end_second = np.inf if until is None else nonnegative(until, "until", "seconds >= 0")
    if not begin_second < end_second:
        raise InvalidInstance(
            f"from = {begin_second:g}, until = {end_second:g}: expected from < until"
        )
    submit = jobs["submit"].to_numpy()
    early = submit < begin_second
    if early.any() and "wait" not in jobs:
        raise InvalidInstance(
            f"{path}: from = {begin_second:g}: the log has no waits: who runs then?"
        )
    wait = jobs["wait"].to_numpy() if "wait" in jobs else np.zeros(len(jobs))
    start = submit + wait
    end = start + jobs["runtime"].to_numpy()
    running = early & (start < begin_second) & (end > begin_second)
    waiting = early & (start >= begin_second)
    is_inside = (submit >= begin_second) & (submit < end_second)
    chosen = np.concatenate([np.flatnonzero(k) for k in (running, waiting, is_inside)])
    if not len(chosen):
        raise InvalidInstance(f"{path}: no job from {begin_second:g} s until {end_second:g} s")
    part = jobs.iloc[chosen].reset_index(drop=True)
    elapsed_times = np.where(running, begin_second - start, 0.0)[chosen]
    submit_times = np.maximum(submit[chosen], begin_second)
    part["submit"] = submit_times - begin_second
    if "eligible" in part:
        eligible = np.maximum(part["eligible"], submit_times) - begin_second
        part["eligible"] = np.where(running[chosen], 0.0, eligible)
    part["runtime"] -= elapsed_times
    if "estimate" in part:
        part["estimate"] = np.maximum(part["estimate"] - elapsed_times, 0.0)
    if running.any():
        part["running"] = running[chosen]
    if "wait" in part:
        part["wait"] = np.maximum(start[chosen] - submit_times, 0.0)
    until_last = f"until {end_second:g} s" if np.isfinite(end_second) else "on"
    text = (
        f"from {begin_second:g} s {until_last}: {len(part)} jobs, {int(running.sum())} of them "
        f"running and {int(waiting.sum())} waiting at the begin (their waits count from then)"
    )
    return part, Note(NoteKind.KEPT, text, subject="part of the log", count=len(part))


_BLOCKS = "dependency, begin time, hold, array limit"


def after_preceding(table: pd.DataFrame) -> tuple[np.ndarray, list[Note]]:
    """Of a log in SWF: submissions, or the ends of the preceding jobs + think times; and notes."""
    submit = table["submit"].to_numpy()
    chained = (table["preceding_job"] > 0).to_numpy()
    if not chained.any():
        return submit, []
    end_times = (table["submit"] + table["wait"] + table["run"]).to_numpy()
    first_ids = table["job"].drop_duplicates()
    numbers, row = np.unique(first_ids.to_numpy(), return_index=True)
    preceding_ids = table["preceding_job"].to_numpy()
    positions = np.minimum(np.searchsorted(numbers, preceding_ids), len(numbers) - 1)
    end = np.where(
        numbers[positions] == preceding_ids,
        end_times[first_ids.index.to_numpy()[row[positions]]],
        np.nan,
    )
    free = end + np.nan_to_num(table["think_time"].to_numpy())
    eligible = np.where(chained, np.fmax(submit, free), submit)
    start = submit + table["wait"].to_numpy()
    early = eligible > start  # never where the log has no wait
    n_followed = int((chained & ~np.isnan(free)).sum())
    noun = "job" if n_followed == 1 else "jobs"
    text = (
        f"  eligible when the preceding_job of the log has ended, and its think_time: "
        f"{n_followed} {noun} of {int(chained.sum())} that name one"
    )
    notes = [Note(NoteKind.READING, text, subject="preceding_job", count=n_followed)]
    if early.any():
        repaired = int(early.sum())
        reason = "eligible after the start: the start taken"
        text = f"  repaired {repaired}: {reason}"
        notes.append(Note(NoteKind.REPAIRED, text, subject=reason, count=repaired))
    return np.fmin(eligible, np.where(np.isnan(start), np.inf, start)), notes


#: A job that is eligible so many seconds after its submission was not blocked: accounting tables
#: have whole seconds, and the two times are rounded each.
ROUNDING_SECONDS = 1.0


def apply_wait_origin(jobs: Any, wait_from: str, *, of_log: bool) -> tuple[Any, list[Note]]:
    """Return the jobs with waits that count from `wait_from`, and notes."""
    if wait_from not in ("eligible", "submit"):
        raise InvalidInstance(f"wait_from = {shorten(wait_from)}: expected eligible or submit")
    has_eligible = "eligible" in jobs
    if wait_from == "submit" and has_eligible:
        jobs = {name: jobs[name] for name in jobs if name not in ("eligible", "wait_blocked")}
        text = "assumed: waits count from submission, also while a job was blocked"
        return jobs, [Note(NoteKind.ASSUMED, text, subject="waits")]
    if not has_eligible or not of_log:
        return jobs, []
    blocked = np.asarray(jobs["eligible"] - jobs["submit"], dtype=float)
    blocked_times = blocked[blocked > ROUNDING_SECONDS]
    if not len(blocked_times):
        text = "assumed: waits count from submission: the log has no job blocked before"
        return jobs, [Note(NoteKind.ASSUMED, text, subject="waits", count=0)]
    text = (
        f"assumed: waits count from when jobs were eligible; blocked before ({_BLOCKS}: no "
        f"scheduler's wait): {len(blocked_times):,} of {len(blocked):,} jobs, on average "
        f"{format_hours(blocked_times.mean())}, at most {format_hours(blocked_times.max())} "
        "(wait_blocked)"
    )
    return jobs, [Note(NoteKind.ASSUMED, text, subject="waits", count=len(blocked_times))]
