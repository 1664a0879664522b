"""The longest waits, and what the log says about why."""

from __future__ import annotations

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import resources
from cosched.cluster.page.runs import Runs
from cosched.cluster.page.text import clock, paragraph, share, shown, span, table, units
from cosched.cluster.result import Result
from cosched.cluster.result.waited import Capacity
from cosched.core.arrays import levels

LONGEST = 10
_ABOUT = (
    "Ahead: jobs that could start earlier, or are of a partition with a greater priority, and had "
    "not started. Room: share of the wait in which enough was free; a job that waited with "
    "room waited for something else: a limit of its user, a reservation, enough of it on one node."
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
             *(["blocked before"] if before else []), *([f"under {runs.counts}"] if under else []),
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
    cells, allowed, tier = instance.layout
    rank = -tier if len(tier) else np.zeros(len(instance))
    now, start = came[job], starts[job]
    earlier = (came < now) | ((came == now) & (row < job))
    before = (rank < rank[job]) | ((rank == rank[job]) & earlier)
    ahead = int(((came <= now) & (starts > now) & before).sum())
    passed = int((~earlier & (row != job) & (starts < start) & (rank == rank[job])).sum())
    said = [f"{ahead:,} ahead" if ahead else "nobody ahead", *_room(result, job, cells, allowed)]
    return "; ".join([*said, *([f"overtaken by {passed:,}"] if passed else [])])


def _room(result: Result, job: int, cells: np.ndarray, allowed: np.ndarray) -> list[str]:
    """How much of the job's part of the machine was free when it came, and during its wait, and
    what else lacked."""
    instance = result.instance
    starts, ends = (np.asarray(result.outcome[name]) for name in ("start", "end"))
    now, mask = instance.column("eligible")[job], int(allowed[job]) if len(cells) else 1
    inside, sure = np.ones(len(instance), dtype=bool), True
    if len(cells):
        inside = (allowed & ~allowed[job]) == 0  # others may have been on these nodes too
        sure = bool((inside | ((allowed & allowed[job]) == 0)).all())
    during = inside & (starts < starts[job]) & (ends > now)
    begin, end = np.maximum(starts[during], now), np.minimum(ends[during], starts[job])
    most, there = "" if sure else "at most ", Capacity(instance)
    lacking: dict[str, np.ndarray] = {}
    free = capacity = 0.0
    for name, _, amount in resources(instance):
        if amount[job] == 0 or there.of(name, mask) == 0:
            continue
        if name.startswith("gpus:"):
            del lacking["gpus"]  # the type says it
        used = np.append(amount[during], 0)
        times, level = levels(np.append(begin, now), np.append(end, starts[job]), used)
        lacking[name] = level[:-1] + amount[job] > there.of(name, mask) * (1 + 1e-9)
        if not capacity:  # the first: nodes, or cores
            capacity = there.of(name, mask)
            free = max(0.0, capacity - float(used[:-1][begin <= now].sum()))
    span_of, wait = np.diff(times), starts[job] - now
    enough = span_of[~np.any(list(lacking.values()), axis=0)].sum() / wait
    said = [f"{most}{free:,.0f} of {capacity:,.0f} free then",
            f"room {most}{share(enough)} of the wait"]  # fmt: skip
    beside = {shown(name): span_of[lack].sum() / wait for name, lack in [*lacking.items()][1:]}
    return said + [f"{name} lacked {share(part)}" for name, part in beside.items() if part >= 0.005]
