"""The theorems of Amaris et al. 2017 on their own worst cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cosched import dags, workloads
from cosched.dags import Instance
from cosched.dags.workloads.theorems import theorem5_shares
from cosched.experiments.study import Task
from cosched.lazy import pd

#: Theorem -> (m, k, Q) of its families; for list scheduling how many times the CPU is slower.
SIZES = {
    "section 1": [(factor, 1, 2) for factor in (10, 100, 1000)],
    "theorem 1": [(m, k, 2) for m, k in ((4, 2), (9, 3), (16, 4), (64, 8), (100, 1))],
    "theorem 2": [(m, m, 2) for m in (4, 8, 16, 32)],
    "theorem 4": [(m, k, 2) for m, k in ((16, 1), (16, 4), (64, 4), (100, 25))],
    "theorem 5": [(m, m, q) for q, sizes in ((3, (4, 8, 16, 32)), (4, (4, 8, 16))) for m in sizes],
}


def plan(quick: bool) -> list[Task]:
    """Theorems x sizes of their families."""
    return [
        {"theorem": name, "m": m, "k": k, "types": types}
        for name, sizes in SIZES.items()
        for m, k, types in (sizes[:2] if quick else sizes)
    ]


def run(task: Task) -> dict[str, Any]:
    """The makespan that the theorem speaks of, over the optimum or a bound of it, and its ratio."""
    m, k, types = task["m"], task["k"], task["types"]
    if task["theorem"] == "section 1":
        inst = Instance([[float(m), 1.0]] * 2, [], units=(1, 1))
        return _row(dags.solve(inst, "etf").value, 2.0, m / 2)  # the best: both on the GPU
    if task["theorem"] == "theorem 1":
        value = dags.heft(workloads.theorem1(m, k)).value
        return _row(value, k * m / (m + k), (m + k) / k**2 * (1 - math.exp(-k)))
    if task["theorem"] == "theorem 2":
        inst = workloads.theorem2(m)
        allocation = [0] + [0] * (2 * m + 1) + [1] * (2 * m + 1)
        return _rounded(inst, allocation, 6.0)
    if task["theorem"] == "theorem 4":
        value = dags.er_ls(workloads.theorem4(m, k)).value
        return _row(value, m * math.sqrt(k), math.sqrt(m / k))
    allocation = np.argmax(theorem5_shares(m, types), axis=1)
    return _rounded(workloads.theorem5(m, types), allocation, types * (types + 1.0))


def _rounded(inst: Instance, allocation: Any, ratio: float) -> dict[str, Any]:
    both = [scheduler(inst, allocation).value for scheduler in (dags.est, dags.ols)]
    assert both[0] == both[1], "any schedule of this allocation takes as long"
    return _row(both[0], float(inst.times[0, 0]), ratio)


def _row(value: float, optimum: float, ratio: float) -> dict[str, Any]:
    return {"value": value, "optimum": optimum, "ratio": value / optimum, "paper_ratio": ratio}


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Ratios reached, the paper's beside them."""
    return {"theorems": frame.drop(columns=["task", "status", "seconds"], errors="ignore").round(4)}
