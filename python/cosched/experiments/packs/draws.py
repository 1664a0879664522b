"""Workloads of the studies of packs: the tasks of a campaign, and each one's instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from cosched.experiments.study import Task
from cosched.packs import Instance
from cosched.workloads import WORKLOADS

#: Workload -> tasks, draws, pack sizes.
Sizes = Mapping[str, tuple[int, int, Iterable[int]]]


def plan_of(sizes: Sizes, names: Iterable[str]) -> list[Task]:
    """Draws x pack sizes x names, for all workloads."""
    chosen = tuple(names)
    return [
        {"workload": workload, "tasks": tasks, "draw": draw, "max_tasks": k, "algorithm": name}
        for workload, (tasks, draws, pack_sizes) in sizes.items()
        for draw in range(draws)
        for k in pack_sizes
        for name in chosen
    ]


def instance_of(task: Task) -> Instance:
    """The draw of a task, with its pack size."""
    drawn = _draw(task["workload"], task["tasks"], task["draw"])
    return drawn.with_max_tasks(task["max_tasks"])


@lru_cache(maxsize=4)
def _draw(workload: str, tasks: int, seed: int) -> Instance:
    return WORKLOADS[workload](tasks=tasks, seed=seed)
