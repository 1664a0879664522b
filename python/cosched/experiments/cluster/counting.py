"""Preemptions and migrations of Table 3, counted another way."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from cosched import cluster
from cosched.cluster import Instance, Result
from cosched.cluster.schedule import Schedule

#: Measure of a simulation -> its words, in the order of the columns of Table 3.
COSTS = {
    "preemption_bandwidth": "GB/s of preemptions",
    "migration_bandwidth": "GB/s of migrations",
    "preemptions_per_hour": "preemptions an hour",
    "migrations_per_hour": "migrations an hour",
    "preemptions_per_job": "preemptions a job",
    "migrations_per_job": "migrations a job",
}
_PERIOD, _GB = 600.0, 8.0
_RESUME = 1


def costs(instance: Instance, policy: str) -> dict[str, float]:
    """The costs of a simulation, counted as the paper's may be.

    A job that is paused and goes on elsewhere before a period has passed is moved (the paper
    carries out all migrations by pause and resume); what is moved is counted once.
    """
    result = cluster.solve(instance, policy)
    assert isinstance(result, Result)
    assert isinstance(result.schedule, Schedule)
    metrics, span, jobs = result.metrics(), result.span, len(instance)
    moved, saved, carried = _short_pauses(result.schedule.rows, instance)
    kept = {name: float(metrics[name]) for name in COSTS}
    kept["preemption_bandwidth"] = kept["preemption_bandwidth"] / 2 - _GB * saved / span
    kept["migration_bandwidth"] = kept["migration_bandwidth"] / 2 + _GB * carried / span
    for unit, amount in (("hour", span / 3600), ("job", jobs)):
        kept[f"preemptions_per_{unit}"] -= moved / amount
        kept[f"migrations_per_{unit}"] += moved / amount
    return kept


def _short_pauses(rows: Any, instance: Instance) -> tuple[int, float, float]:
    """Pauses shorter than a period that end elsewhere: how many, memory saved, memory moved."""
    memory, tasks = instance.column("memory"), instance.column("tasks")
    order = np.lexsort((rows.start, rows.task))
    moved, saved, carried = 0, 0.0, 0.0
    for before, row in pairwise(order):
        short = rows.start[row] - rows.end[before] < _PERIOD - 1e-6
        if rows.cause[row] != _RESUME or not short:
            continue
        nodes = [rows.unit[rows.unit_begin[i] : rows.unit_begin[i + 1]] for i in (before, row)]
        stays = _common(*nodes)
        job = rows.task[row]
        if stays < len(nodes[1]):
            moved += 1
            saved += memory[job] * tasks[job]
            carried += memory[job] * (len(nodes[1]) - stays)
    return moved, saved, carried


def _common(first: np.ndarray, second: np.ndarray) -> int:
    """Nodes in both, as often as they are in both."""
    size = int(max(first.max(), second.max())) + 1
    both = (np.bincount(nodes, minlength=size) for nodes in (first, second))
    return int(np.minimum(*both).sum())
