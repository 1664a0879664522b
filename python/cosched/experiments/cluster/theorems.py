"""Section 3.2 of Casanova, Stillwell, Vivien 2011: EquiPartition on the families of the proofs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cosched import cluster, workloads
from cosched.cluster import Instance, Result
from cosched.experiments.study import Task
from cosched.lazy import pd

#: Family -> numbers of jobs.
SIZES = {
    "theorem 3": (4, 8, 16),
    "theorem 4": (8, 32, 128),
    "random": (5, 10, 20),
    "fcfs": (2,),
    "fcfs, random": (5, 10, 20),
}
#: Times of the jobs of the family of FCFS: 10 s, and so many times more.
_DELTA = 100_000
_DRAWS = 20


def plan(quick: bool) -> list[Task]:
    """Families x sizes; random jobs for the guarantee."""
    return [
        {"family": family, "jobs": jobs, "draw": draw}
        for family, sizes in SIZES.items()
        for jobs in (sizes[:2] if quick else sizes)
        for draw in range(_DRAWS if "random" in family else 1)
    ]


def run(task: Task) -> dict[str, Any]:
    """EquiPartition's or FCFS's maximum stretch, Theorem 1's bound, the ratio of lengths."""
    inst = Instance(_jobs(task["family"], task["jobs"], task["draw"]), nodes=1)
    fcfs = task["family"].startswith("fcfs")
    result = cluster.solve(inst, "FCFS") if fcfs else cluster.equipartition(inst)
    assert isinstance(result, Result)
    result.schedule.validate()
    bound, length = float(cluster.bound(inst)), inst.column("runtime")
    delta = float(length.max() / length.min())
    return {
        "value": result.max_stretch,
        "bound": bound,
        "ratio": result.max_stretch / bound,
        "delta": delta,
        "of_delta": (delta + 1) / (2 + math.log(delta)),
    }


def _jobs(family: str, jobs: int, draw: int) -> Any:
    if family == "theorem 3":
        return workloads.unknown_times_worst(jobs)
    if family == "theorem 4":
        return workloads.equal_shares_worst(jobs)
    if family == "fcfs":
        short = {"submit": [0.0, 1e-3], "runtime": [10.0 * _DELTA, 10.0]}
        return short | {"tasks": [1, 1], "cpu": [1.0, 1.0], "memory": [0.1, 0.1]}
    random = np.random.default_rng([jobs, draw])
    return {
        "submit": np.sort(random.uniform(0, 1000, jobs)),
        "tasks": np.ones(jobs, dtype=int),
        "cpu": np.ones(jobs),
        "memory": np.full(jobs, 0.5 / jobs),
        "runtime": np.exp(random.uniform(np.log(20), np.log(5000), jobs)),
    }


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Greatest value and ratio a family and size."""
    columns = ["value", "bound", "ratio", "delta", "of_delta"]
    groups = frame.groupby(["family", "jobs"], sort=False)[columns]
    return {"theorems": groups.max().round(4).reset_index()}
