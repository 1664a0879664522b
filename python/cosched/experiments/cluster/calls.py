"""Section 6.2: how long MCB8 takes for what a simulation of MCB8 * asks of it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from cosched import cluster
from cosched.cluster import Instance
from cosched.experiments.cluster import traces
from cosched.experiments.study import Task
from cosched.lazy import pd

POLICY = "MCB8 */opt=min"
#: Jobs up to which the paper calls an allocation small.
SMALL = 10


def plan(quick: bool) -> list[Task]:
    """The unscaled traces."""
    return traces.unscaled(2, 200) if quick else traces.unscaled(100)


def run(task: Task) -> dict[str, Any]:
    """Simulate, then ask MCB8 at each submission and completion for the jobs that are there."""
    instance = traces.instance(task["traces"], task["trace"], task["size"], task["load"])
    result = cluster.solve(instance, POLICY)
    assert isinstance(result, cluster.Result)
    end = result.jobs["end"].to_numpy(dtype=float)
    submit = instance.column("submit")
    sizes, seconds = [], []
    for now in np.sort(np.concatenate([submit, end])):
        there = np.flatnonzero((submit <= now) & (end > now))
        if len(there):
            sizes.append(len(there))
            seconds.append(_ask(instance, there))
    count, taken = np.array(sizes), np.array(seconds)
    small = count <= SMALL
    return {
        "calls": len(count),
        "small": int(small.sum()),
        "most_jobs": int(count.max()),
        "seconds_small_slow": float((taken[small] >= 1e-3).sum()),
        "seconds_large": float(taken[~small].sum()),
        "seconds_longest": float(taken.max()),
        "seconds": float(taken.sum()),
    }


def _ask(instance: Instance, there: Any) -> float:
    """Seconds of MCB8 for these jobs; while their memory does not fit, the last is left out."""
    tasks, cpu, memory = (instance.column(name)[there] for name in ("tasks", "cpu", "memory"))
    begin = time.perf_counter()
    last = len(tasks)
    while cluster.mcb8_search(tasks[:last], cpu[:last], memory[:last], instance.nodes) is None:
        last -= 1
    return time.perf_counter() - begin


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
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
