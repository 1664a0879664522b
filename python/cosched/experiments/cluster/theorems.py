"""Section 3.2 of Casanova, Stillwell, Vivien 2011: EquiPartition on the families of the proofs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cosched import cluster
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
    result = cluster.solve(inst, "FCFS") if fcfs else equipartition(inst)
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


def equipartition(inst: Instance) -> Result:
    """Each of the m(t) jobs in the system has 1/m(t) of the platform (Section 3.2): of jobs that
    can use all of it, with a task of CPU need 1 on each node, that is ``Greedy *``."""
    return cluster.dfrs(inst, "Greedy *", penalty=0.0)


def unknown_times_worst(jobs: int, factor: float = 1000.0) -> dict[str, np.ndarray]:
    """Jobs of lengths 1, f, f^2, ... at once, on one node (Theorem 3): whatever does not know run
    times can be made to serve the shortest as late as EquiPartition does, at n times its length; by
    increasing length the stretch is at most f / (f - 1)."""
    return _columns(np.zeros(jobs), factor ** np.arange(jobs))


def equal_shares_worst(jobs: int) -> dict[str, np.ndarray]:
    """Jobs that EquiPartition ends all at once, on one node (Theorem 4): 1 and 2 are n - 1 long and
    come at 0; job i >= 3 is (n - 1) / (i - 1) long and comes as many after job i - 1 as that is
    long. One after the other, only the first waits."""
    length = (jobs - 1) / np.maximum(np.arange(jobs), 1)
    return _columns(np.concatenate([[0.0], np.cumsum(length[1:]) - length[1:]]), length)


def _columns(submit: np.ndarray, length: np.ndarray) -> dict[str, np.ndarray]:
    """The shortest is 100 s long, above the threshold of the bounded stretch."""
    one = np.ones(len(submit))
    times = {"submit": 100.0 * submit, "runtime": 100.0 * length}
    return times | {"tasks": one.astype(int), "cpu": one, "memory": one / (2 * len(one))}


def _jobs(family: str, jobs: int, draw: int) -> Any:
    if family == "theorem 3":
        return unknown_times_worst(jobs)
    if family == "theorem 4":
        return equal_shares_worst(jobs)
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
