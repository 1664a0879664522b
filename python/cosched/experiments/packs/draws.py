"""Workloads of the studies of packs: a campaign's tasks, each one's instance, their picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from cosched import plot
from cosched.experiments.study import Task
from cosched.lazy import pd, plt
from cosched.packs import Instance
from cosched.workloads import WORKLOADS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The paper's three measures and what an axis calls them.
MEASURES = {
    "relative_cost": "relative cost",
    "packing_ratio": "packing ratio",
    "relative_response_time": "relative response time",
}
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
    drawn_tasks = _draw(task["workload"], task["tasks"], task["draw"])
    return drawn_tasks.with_max_tasks(task["max_tasks"])


@lru_cache(maxsize=4)
def _draw(workload: str, tasks: int, seed: int) -> Instance:
    return WORKLOADS[workload](tasks=tasks, seed=seed)


def pack_quality(frame: pd.DataFrame, title: str) -> Figure:
    """Figures 2 (or 5a), 3 and 4: a panel a measure, a line a heuristic, the mean over draws."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 3.8), layout="constrained")
    for ax, (column, label) in zip(axes, MEASURES.items(), strict=True):
        plot.lines(frame, "max_tasks", column, ax=ax).legend().set_visible(False)
        ax.set_xlabel("pack size k")
        ax.set_ylabel(label)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.suptitle(title)
    return figure
