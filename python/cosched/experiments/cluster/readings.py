"""Other readings: bounds of larger machines, EASY that backfills less, facts of traces.

They run what the ledger gives as explanations of differences.
"""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from typing import TYPE_CHECKING, Any

from cosched import cluster
from cosched.cluster import Instance
from cosched.cluster import files as cluster_files
from cosched.experiments.cluster import traces
from cosched.experiments.study import Task, data_path

if TYPE_CHECKING:
    import pandas as pd

#: Bounds of machines of these sizes for the weeks of 120 nodes.
NODES = (120, 140, 150, 160)
#: EASY that backfills less; None is FCFS.
EASY = ("FCFS", "textbook", "no extra nodes", "jobs just submitted", "next in the queue")


def plan(quick: bool) -> list[Task]:
    """Bounds and EASY's variants for each week, EASY's variants and facts for each trace."""
    weeks = traces.real(quick, 2)
    synthetic = traces.unscaled(2, 300) if quick else traces.unscaled(100)
    larger = [{**t, "reading": "bound", "nodes": n, "variant": ""} for t in weeks for n in NODES]
    easy = [
        {**t, "reading": "easy", "nodes": None, "variant": variant}
        for t in weeks + synthetic
        for variant in EASY
    ]
    log = [] if quick else traces.whole_log()
    facts = [
        {**t, "reading": "facts", "nodes": None, "variant": ""} for t in weeks + synthetic + log
    ]
    return larger + easy + facts


def run(task: Task) -> dict[str, Any]:
    """One reading of one trace."""
    instance = traces.instance(task["traces"], task["trace"], task["size"], task["load"])
    if task["reading"] == "bound":
        return {"bound": float(cluster.bound(Instance(instance.jobs, task["nodes"])))}
    if task["reading"] == "facts":
        return _facts(instance) | ({"no_memory": _no_memory()} if task["traces"] == "log" else {})
    bound = float(cluster.bound(instance))
    return {"bound": bound, "degradation": max_stretch(instance, task["variant"]) / bound}


def _facts(instance: Instance) -> dict[str, Any]:
    submit, memory = instance.column("submit"), instance.column("memory")
    return {
        "jobs": len(instance),
        "days": float(submit.max() - submit.min()) / 86400,
        "least_memory": float((memory <= 0.1 + 1e-9).mean()),
    }


def _no_memory() -> int:
    """Jobs of the log that say neither the memory that they asked for nor what they used."""
    table = cluster_files.read_swf(data_path(*traces.LOG.split("/")))[0]
    said = [table[name] > 0 for name in ("requested_memory", "used_memory")]
    return int((~(said[0] | said[1])).sum())


def max_stretch(instance: Instance, variant: str) -> float:
    """The maximum bounded stretch under FCFS, or EASY with less backfilling: a plain event loop."""
    import numpy as np

    submit, tasks, run = (instance.column(name).tolist() for name in ("submit", "tasks", "runtime"))
    arrivals = deque(sorted(range(len(submit)), key=lambda j: (submit[j], j)))
    start = [0.0] * len(submit)
    ends: list[tuple[float, int]] = []
    queue: deque[int] = deque()
    running: set[int] = set()
    free = instance.nodes

    def begin(job: int, now: float) -> None:
        nonlocal free
        start[job] = now
        free -= tasks[job]
        heapq.heappush(ends, (now + run[job], job))
        running.add(job)

    while arrivals or ends:
        now = min(submit[arrivals[0]] if arrivals else np.inf, ends[0][0] if ends else np.inf)
        while ends and ends[0][0] <= now:
            job = heapq.heappop(ends)[1]
            running.discard(job)
            free += tasks[job]
        new = set()
        while arrivals and submit[arrivals[0]] <= now:
            new.add(arrivals[0])
            queue.append(arrivals.popleft())
        while queue and tasks[queue[0]] <= free:
            begin(queue.popleft(), now)
        if not queue or not free or variant == "FCFS":
            continue
        shadow, extra = _reservation(
            free, tasks[queue[0]], sorted((start[j] + run[j], tasks[j]) for j in running)
        )
        if variant == "no extra nodes":
            extra = 0
        behind = list(queue)[1:]
        if variant == "jobs just submitted":
            behind = [job for job in behind if job in new]
        if variant == "next in the queue":
            behind = behind[:1]
        for job in behind:
            in_time = now + run[job] <= shadow
            if tasks[job] > free or not (in_time or tasks[job] <= extra):
                continue
            extra -= 0 if in_time else tasks[job]
            queue.remove(job)
            begin(job, now)
    runtime = np.array(run)
    turnaround = np.array(start) + runtime - np.array(submit)
    return float((np.maximum(turnaround, 10) / np.maximum(runtime, 10)).max())


def _reservation(free: int, wanted: int, released: list[tuple[float, int]]) -> tuple[float, int]:
    """When the first job of the queue can start, and the nodes that it leaves then."""
    import numpy as np

    idle = free + np.cumsum([count for _, count in released])
    shadow = released[int(np.argmax(idle >= wanted))][0]
    extra = idle[bisect.bisect_right(released, (shadow, np.inf)) - 1] - wanted
    return shadow, int(extra)


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean bounds a size of machine, mean degradations a variant of EASY, facts of the traces."""
    bounds, easy, facts = (frame[frame.reading == name] for name in ("bound", "easy", "facts"))
    means = easy.groupby(["traces", "variant"], sort=False).degradation.mean().reset_index()
    batch = means[means.variant == "FCFS"].set_index("traces").degradation
    columns = ["jobs", "days", "least_memory"]
    return {
        "bounds": bounds.groupby(["traces", "nodes"], sort=False).bound.mean().reset_index(),
        "easy": means.assign(over_fcfs=means.degradation / means.traces.map(batch)).round(3),
        "facts": facts.groupby("traces", sort=False)[columns].mean().reset_index().round(3),
    }


def figures(frame: pd.DataFrame) -> dict[str, Any]:
    """No picture."""
    return {}
