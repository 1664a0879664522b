"""The longest waits, and what the log says about why."""

from __future__ import annotations

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.levels import levels
from cosched.cluster.page.runs import Runs
from cosched.cluster.page.text import clock, paragraph, share, span, table, units
from cosched.cluster.result import Result

LONGEST = 10
_ABOUT = (
    "Ahead: jobs that could start earlier, or are of a partition with a greater priority, and had "
    "not started. Room: share of the wait in which enough was free; a job that waited with "
    "room waited for something else: a limit of its user, a reservation, memory, GPUs, a plan."
)


def blocked(instance: Instance) -> str:
    """The line of what no scheduler answers for."""
    held = instance.column("eligible") - instance.column("submit")
    late = held > 0
    if not late.any():
        return ""
    return (
        f"Blocked before they could start, which is in no wait here (dependency, begin time, hold, "
        f"array limit): {int(late.sum()):,} jobs, on average {span(held[late].mean())}, at most "
        f"{span(held.max())}."
    )


def longest(runs: Runs) -> str:
    """A row for each of the jobs that waited longest in the log (under EASY where it has none)."""
    result = runs.logged or runs.attainable
    if result is None:
        return paragraph("Neither the log nor EASY has a result.")
    instance, under = runs.instance, runs.attainable if runs.logged else None
    waits = np.where(instance.measured, result.waits, 0.0)
    jobs = np.argsort(-waits, kind="stable")[:LONGEST]
    jobs = jobs[waits[jobs] > 0]
    held = paragraph(blocked(instance), "small")
    if not len(jobs):
        return held + paragraph("No job waited.")
    who = [name for name in ("user", "partition") if name in instance.known]
    before = bool((instance.column("eligible") > instance.column("submit")).any())
    heads = ["job", *who, units(instance), "could start", "waited",
             *(["blocked before"] if before else []), *(["under EASY"] if under else []),
             "(why)"]  # fmt: skip
    rows = []
    for job in jobs.tolist():
        could = float(instance.column("eligible")[job])
        row = [instance.ids[job], *(instance.column(name)[job] for name in who)]
        row += [instance.column("tasks")[job], clock(instance, could), span(waits[job])]
        if before:
            row.append(span(could - float(instance.column("submit")[job])))
        if under:
            row.append(span(float(under.waits[job])))
        rows.append([*row, why(result, job)])
    return held + table(heads, rows) + paragraph(_ABOUT, "small")


def why(result: Result, job: int) -> str:
    """Who was ahead of a job, how much was free, who overtook it."""
    instance, starts = result.instance, np.asarray(result.outcome["start"])
    came, row = instance.column("eligible"), np.arange(len(instance))
    cells, allowed, tier = instance.layout()
    rank = -tier if len(tier) else np.zeros(len(instance))
    now, start = came[job], starts[job]
    earlier = (came < now) | ((came == now) & (row < job))
    before = (rank < rank[job]) | ((rank == rank[job]) & earlier)
    ahead = int(((came <= now) & (starts > now) & before).sum())
    passed = int((~earlier & (row != job) & (starts < start) & (rank == rank[job])).sum())
    said = [f"{ahead:,} ahead" if ahead else "nobody ahead", *_room(result, job, cells, allowed)]
    return "; ".join([*said, *([f"overtaken by {passed:,}"] if passed else [])])


def _room(result: Result, job: int, cells: np.ndarray, allowed: np.ndarray) -> list[str]:
    """How much of the job's part of the machine was free when it came, and during its wait."""
    instance = result.instance
    starts, ends = (np.asarray(result.outcome[name]) for name in ("start", "end"))
    tasks, now = instance.column("tasks"), instance.column("eligible")[job]
    capacity, inside, sure = instance.nodes, np.ones(len(instance), dtype=bool), True
    if len(cells):
        mask = int(allowed[job])
        capacity = sum(int(size) for bit, size in enumerate(cells) if mask >> bit & 1)
        inside = (allowed & ~allowed[job]) == 0  # others may have been on these nodes too
        sure = bool((inside | ((allowed & allowed[job]) == 0)).all())
    during = inside & (starts < starts[job]) & (ends > now)
    begin, end = np.maximum(starts[during], now), np.minimum(ends[during], starts[job])
    used = tasks[during]
    most = "" if sure else "at most "
    free = max(0, capacity - int(used[begin <= now].sum()))
    times, level = levels(np.append(begin, now), np.append(end, starts[job]), np.append(used, 0))
    enough = np.diff(times)[capacity - level[:-1] >= tasks[job]].sum() / (starts[job] - now)
    return [f"{most}{free:,} of {capacity:,} free then", f"room {most}{share(enough)} of the wait"]
