"""A part of a log, with the jobs that run at its begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched.cluster.files.conventions import WEEK, week_of
from cosched.core.arrays import integer, nonnegative
from cosched.errors import InvalidInstance
from cosched.lazy import pd


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
