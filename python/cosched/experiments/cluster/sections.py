"""What Section 3.2 of Casanova, Stillwell, Vivien 2011 proves of EquiPartition and FCFS, on the
families of the proofs; and Section 6.2: how long MCB8 takes for what a simulation asks of it."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from cosched import cluster
from cosched.cluster import Instance, Result
from cosched.experiments.cluster import traces
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


def plan_theorems(quick: bool) -> list[Task]:
    """Families x sizes; random jobs for the guarantee."""
    return [
        {"family": family, "jobs": jobs, "draw": draw}
        for family, sizes in SIZES.items()
        for jobs in (sizes[:2] if quick else sizes)
        for draw in range(_DRAWS if "random" in family else 1)
    ]


def run_theorem(task: Task) -> dict[str, Any]:
    """EquiPartition's or FCFS's maximum stretch, Theorem 1's bound, the ratio of lengths."""
    inst = Instance(jobs_of_family(task["family"], task["jobs"], task["draw"]), nodes=1)
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
    """Return the columns of jobs on one node: the shortest is 100 s long, above the threshold of
    the bounded stretch."""
    ones = np.ones(len(submit))
    times = {"submit": 100.0 * submit, "runtime": 100.0 * length}
    return times | {"tasks": ones.astype(int), "cpu": ones, "memory": ones / (2 * len(ones))}


def jobs_of_family(family: str, jobs: int, draw: int) -> Any:
    """The jobs of a family of :data:`SIZES`, as columns; random ones by the number of a draw."""
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


def tables_of_theorems(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Greatest value and ratio a family and size."""
    columns = ["value", "bound", "ratio", "delta", "of_delta"]
    groups = frame.groupby(["family", "jobs"], sort=False)[columns]
    return {"theorems": groups.max().round(4).reset_index()}


POLICY = "MCB8 */opt=min"
#: Jobs up to which the paper calls an allocation small.
SMALL = 10


def plan_calls(quick: bool) -> list[Task]:
    """The unscaled traces."""
    return traces.unscaled(2, 200) if quick else traces.unscaled(100)


def run_calls(task: Task) -> dict[str, Any]:
    """Simulate, then ask MCB8 at each submission and completion for the jobs that are there."""
    instance = traces.instance(task["traces"], task["trace"], task["size"], task["load"])
    result = cluster.solve(instance, POLICY)
    assert isinstance(result, cluster.Result)
    end = result.jobs["end"].to_numpy(dtype=float)
    submit = instance.column("submit")
    sizes, seconds = [], []
    for now in np.sort(np.concatenate([submit, end])):
        present_rows = np.flatnonzero((submit <= now) & (end > now))
        if len(present_rows):
            sizes.append(len(present_rows))
            seconds.append(_ask(instance, present_rows))
    count, call_seconds = np.array(sizes), np.array(seconds)
    small = count <= SMALL
    return {
        "calls": len(count),
        "small": int(small.sum()),
        "most_jobs": int(count.max()),
        "seconds_small_slow": float((call_seconds[small] >= 1e-3).sum()),
        "seconds_large": float(call_seconds[~small].sum()),
        "seconds_longest": float(call_seconds.max()),
        "seconds": float(call_seconds.sum()),
    }


def _ask(instance: Instance, present_rows: Any) -> float:
    """Return seconds of MCB8 for these jobs; while their memory does not fit, the last is left
    out."""
    tasks, cpu, memory = (
        instance.column(name)[present_rows] for name in ("tasks", "cpu", "memory")
    )
    begin = time.perf_counter()
    last = len(tasks)
    while cluster.mcb8_search(tasks[:last], cpu[:last], memory[:last], instance.nodes) is None:
        last -= 1
    return time.perf_counter() - begin


def tables_of_calls(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """What Section 6.2 reports."""
    calls, small = int(frame.calls.sum()), int(frame.small.sum())
    rows = [
        ("observations", 197_808, calls),
        ("percent with 10 jobs or fewer", 67.25, round(100 * small / calls, 2)),
        ("of these, percent in less than 1 ms", 100.0, round(100 * fast(frame), 2)),
        ("most jobs", 102, int(frame.most_jobs.max())),
        ("seconds of the others, mean", 0.25, round(mean_of_large(frame), 6)),
        ("seconds, greatest", 4.5, round(float(frame.seconds_longest.max()), 6)),
    ]
    return {"calls": pd.DataFrame(rows, columns=["what", "paper", "here"])}


def fast(frame: pd.DataFrame) -> float:
    """Share of the small calls that take less than a millisecond."""
    return 1 - float(frame.seconds_small_slow.sum() / frame.small.sum())


def mean_of_large(frame: pd.DataFrame) -> float:
    """Mean seconds of the calls with more than ten jobs."""
    return float(frame.seconds_large.sum() / (frame.calls - frame.small).sum())
