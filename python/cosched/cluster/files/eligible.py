"""From when on a scheduler answers for a job: no dependency, hold or begin time keeps it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

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
