"""Other readings of the paper that the ledger tries, other counts, and facts of the traces."""

from __future__ import annotations

import bisect
import heapq
from collections import deque
from itertools import pairwise
from typing import Any

import numpy as np

from cosched import cluster
from cosched.cluster import Instance, Result, files as cluster_files
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.schedule import Schedule
from cosched.experiments.cluster import table_cells, traces
from cosched.experiments.study import Task, data_path
from cosched.lazy import pd

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
    cost_by_name = {name: float(metrics[name]) for name in table_cells.COSTS}
    cost_by_name["preemption_bandwidth"] = (
        cost_by_name["preemption_bandwidth"] / 2 - _GB * saved / span
    )
    cost_by_name["migration_bandwidth"] = (
        cost_by_name["migration_bandwidth"] / 2 + _GB * carried / span
    )
    for unit, amount in (("hour", span / 3600), ("job", jobs)):
        cost_by_name[f"preemptions_per_{unit}"] -= moved / amount
        cost_by_name[f"migrations_per_{unit}"] += moved / amount
    return cost_by_name


def _short_pauses(rows: Any, instance: Instance) -> tuple[int, float, float]:
    """Return pauses shorter than a period that end elsewhere: how many, memory saved, memory
    moved."""
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
    """Return nodes in both, as often as they are in both."""
    size = int(max(first.max(), second.max())) + 1
    both = (np.bincount(nodes, minlength=size) for nodes in (first, second))
    return int(np.minimum(*both).sum())


#: EASY that backfills less, the textbook's, and FCFS, by an event loop of their own.
LESS, EASY = "jobs just submitted", ("FCFS", "textbook", "jobs just submitted")
#: Policies of Table 3 that start paused jobs between two periods.
COUNTED = tuple(name for name in table_cells.paper_table(3) if "*" in name and "per" in name)


def plan(quick: bool) -> list[Task]:
    """Bounds and EASY on the traces of Table 2, counts on those of Table 3, facts."""
    weeks = traces.real(quick, 2)
    synthetic = traces.unscaled(2, 300) if quick else traces.unscaled(100)
    scaled = traces.scaled(1, 300, (0.3, 0.8)) if quick else traces.scaled(100)
    log = [] if quick else traces.whole_log()
    return [
        *_reading("bound", weeks + synthetic + scaled, [""]),
        *_reading("easy", weeks + synthetic, EASY),
        *_reading("easy", scaled, [LESS]),
        *_reading("counts", [t for t in scaled if t["load"] > 0.65], COUNTED),
        *_reading("facts", weeks + synthetic + log, [""]),
    ]


def _reading(reading: str, tasks: list[Task], variants: Any) -> list[Task]:
    return [{**t, "reading": reading, "variant": variant} for t in tasks for variant in variants]


def run(task: Task) -> dict[str, Any]:
    """One reading of one trace."""
    instance = traces.instance(task["traces"], task["trace"], task["size"], task["load"])
    if task["reading"] == "facts":
        return _facts(instance) | ({"no_memory": _no_memory()} if task["traces"] == "log" else {})
    if task["reading"] == "counts":
        return costs(instance, task["variant"])
    bound, pooled = float(cluster.bound(instance)), pooled_bound(instance)
    if task["reading"] == "bound":
        return {"bound": bound, "pooled": pooled}
    return {"bound": bound, "pooled": pooled, "stretch": max_stretch(instance, task["variant"])}


def pooled_bound(instance: Instance) -> float:
    """The bound of Theorem 1 without (1d): a job may do any share of its work at any instant.

    All nodes are one processor then, on which the earliest deadline first meets deadlines if
    anything does. To 0.1% from below.
    """
    submit, tasks, cpu, run = (instance.column(n) for n in ("submit", "tasks", "cpu", "runtime"))
    order = np.argsort(submit, kind="stable")
    release, length = submit[order], np.maximum(run, THRESHOLD)[order]
    work = (run * tasks * cpu)[order] / instance.nodes
    low, high = 1.0, 2.0
    while not _in_time(release, work, release + high * length):
        low, high = high, 2 * high
    if low == 1.0 and _in_time(release, work, release + length):
        return low
    while high > low * 1.001:
        middle = (low + high) / 2
        fits = _in_time(release, work, release + middle * length)
        low, high = (low, middle) if fits else (middle, high)
    return low


def _in_time(release: Any, work: Any, deadline: Any) -> bool:
    """Return whether every job ends in time by earliest deadline first on one processor."""
    waiting: list[list[float]] = []
    now = 0.0
    for start, remaining_work, due in zip(
        release.tolist(), work.tolist(), deadline.tolist(), strict=True
    ):
        if not _serve(waiting, now, start):
            return False
        now = start
        heapq.heappush(waiting, [due, remaining_work])
    return _serve(waiting, now, float("inf"))


def _serve(waiting: list[list[float]], now: float, until: float) -> bool:
    """Work on what waits up to an instant; False if a job ends late."""
    while waiting and now < until:
        due, remaining_work = waiting[0]
        done = min(remaining_work, until - now)
        now += done
        if now > due + 1e-6:
            return False
        if done < remaining_work:
            waiting[0][1] -= done
        else:
            heapq.heappop(waiting)
    return True


def _facts(instance: Instance) -> dict[str, Any]:
    submit, memory = instance.column("submit"), instance.column("memory")
    return {
        "jobs": len(instance),
        "days": float(submit.max() - submit.min()) / 86400,
        "least_memory": float((memory <= 0.1 + 1e-9).mean()),
    }


def _no_memory() -> int:
    """Return jobs of the log that say neither the memory that they asked for nor what they used."""
    table = cluster_files.read_swf(data_path(*traces.LOG.split("/")))[0]
    is_reported = [table[name] > 0 for name in ("requested_memory", "used_memory")]
    return int((~(is_reported[0] | is_reported[1])).sum())


def max_stretch(instance: Instance, variant: str) -> float:
    """The maximum bounded stretch under FCFS, or EASY with less backfilling: a plain event loop."""
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
        behind = list(queue)[1:]
        if variant == LESS:
            behind = [job for job in behind if job in new]
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


def _reservation(
    free: int, needed_nodes: int, released: list[tuple[float, int]]
) -> tuple[float, int]:
    """Return when the first job of the queue can start, and the nodes that it leaves then."""
    idle = free + np.cumsum([count for _, count in released])
    shadow = released[int(np.argmax(idle >= needed_nodes))][0]
    extra = idle[bisect.bisect_right(released, (shadow, np.inf)) - 1] - needed_nodes
    return shadow, int(extra)


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean bounds, mean degradations a variant of EASY, counts, facts of the traces."""
    bounds, easy, counts, facts = (
        frame[frame.reading == name] for name in ("bound", "easy", "counts", "facts")
    )
    ratios = easy.assign(**{name: easy.stretch / easy[name] for name in ("bound", "pooled")})
    table = ratios.groupby(["traces", "variant"], sort=False)[["bound", "pooled"]].mean()
    columns = ["jobs", "days", "least_memory"]
    return {
        "bounds": bounds.groupby("traces", sort=False)[["bound", "pooled"]].mean().reset_index(),
        "easy": table.round(1).reset_index(),
        "counts": counts.groupby("variant", sort=False)[list(table_cells.COSTS)]
        .mean()
        .reset_index(),
        "facts": facts.groupby("traces", sort=False)[columns].mean().reset_index().round(3),
    }
