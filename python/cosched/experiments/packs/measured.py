"""Figures 2a to 4a on a stand-in for Workload-I: measured codes, with their optimum."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from cosched import packs
from cosched.experiments.packs.draws import MEASURES, pack_quality
from cosched.experiments.study import Task, data_path, with_registered
from cosched.lazy import pd, plt
from cosched.packs import Instance, Result

#: Runs of scientific codes, among them VASP as in the paper, below ``COSCHED_DATA``.
RUNS = "speedup/archer_benchmarks_runs.csv"
OPTIMAL = "optimal"
_PROCS = 16


def plan(names: tuple[str, ...], quick: bool) -> list[Task]:
    """Pack sizes x (the optimum and the heuristics)."""
    sizes = (2, 16) if quick else (2, 4, 6, 8, 10, 12, 14, 16)
    return [
        {"max_tasks": k, "algorithm": name}
        for k in sizes
        for name in (OPTIMAL, *with_registered("packs", names))
    ]


def run(solved: Callable[[Instance, str, int], Result], task: Task) -> dict[str, Any]:
    """The paper's measures of one algorithm at one pack size; `solved` runs the heuristics."""
    instance = _measured().with_max_tasks(task["max_tasks"])
    name = task["algorithm"]
    result = packs.optimal(instance) if name == OPTIMAL else solved(instance, name, 0)
    result.schedule.validate()
    return {
        "tasks": instance.tasks,
        "status": result.status,
        "value": result.value,
        "gap": result.gap,
        **result.metrics(),
    }


@lru_cache(maxsize=1)
def _measured() -> Instance:
    return Instance.read(data_path(*RUNS.split("/")), procs=_PROCS, fit="amdahl", extrapolate=True)


def over_optimal(frame: pd.DataFrame) -> pd.DataFrame:
    """Cost over the optimum, a row a pack size, a column an algorithm."""
    wide = frame.pivot(index="max_tasks", columns="algorithm", values="value")
    names = [name for name in dict.fromkeys(frame.algorithm) if name != OPTIMAL]
    return wide[names].div(wide[OPTIMAL], axis=0)


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Costs over the optimum, and the three measures."""
    columns = ["max_tasks", "algorithm", *MEASURES]
    return {
        "over-optimal": over_optimal(frame).round(4).reset_index().rename_axis(columns=None),
        "measures": frame[columns].round(4).reset_index(drop=True),
    }


def figures(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    """The three measures against the pack size, the optimum among the lines."""
    return {"fig2a-4a": pack_quality(frame, "measured codes, 16 nodes")}
