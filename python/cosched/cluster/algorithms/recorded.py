"""What the log itself records: every job starts when it did."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cosched.cluster.algorithms.simulation import demand_area, result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import recorded_starts
from cosched.cluster.result import Result


def as_logged(instance: Instance, *, threshold: float = THRESHOLD) -> Result:
    """The schedule of the log: each job starts at its submission + the wait that the log has.

    How good was what the cluster did? Its value and gap stand beside those of policies. A log may
    have more processors in use than the machine has (its clocks are rough, nodes are shared, the
    machine was another one), or jobs of some partitions more than these partitions have: such
    moments are counted (``metrics()["overcommitted_hours"]``), no error. Logs do not say on which
    nodes a job ran, so nothing finer can be checked.

    Parameters
    ----------
    instance : Instance
        With the column ``wait``; where single jobs have none, 0 s are taken
        (``metrics()["unknown_waits"]``).

    Returns
    -------
    Result
        Its metrics have ``overcommitted_hours`` and ``most_nodes_in_use`` too.

    Raises
    ------
    InvalidInstance
        The log has no waits.

    Notes
    -----
    O(n log n) for each set of nodes that partitions have. Rows of the schedule are on the
    lowest-numbered free nodes of the job's partition, and on nodes in use where there are no more:
    O(nodes) a job.

    Examples
    --------
    >>> jobs = {"submit": [0, 5], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [60.0, 30.0], "wait": [10.0, 45.0]}
    >>> res = cs.cluster.as_logged(cs.cluster.Instance(jobs, nodes=2))
    >>> res.jobs.start.tolist(), round(res.metrics()["overcommitted_hours"] * 3600)
    ([10.0, 50.0], 20)
    """
    Instance.require(instance)
    start = recorded_starts(instance)
    unknown = int(np.isnan(instance.column("wait")).sum())
    end = start + instance.column("runtime")
    over = sum(b - a for a, b in _overcommitted(instance, start, end))
    nothing = np.zeros(len(instance), dtype=np.int64)
    outcome: dict[str, Any] = {
        "start": start, "end": end, "preemptions": nothing, "migrations": nothing,
        "demand_area": demand_area(instance, end), "preempted_memory": 0.0,
        "migrated_memory": 0.0, "events": 2 * len(instance), "overcommitted_hours": over / 3600,
        "most_nodes_in_use": _in_use(instance, start, end)[1].max(), "unknown_waits": unknown,
    }  # fmt: skip
    return result_of_simulation(
        instance, "as-logged", outcome, None, threshold, _rows, 0.0, True, recorded=True
    )


def _in_use(
    instance: Instance, start: np.ndarray, end: np.ndarray, which: Any = slice(None)
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes that some jobs use from each of these times on."""
    used = (instance.column("tasks") * instance.column("cpu"))[which]
    times = np.concatenate([end[which], start[which]])  # at one time, ends come first
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(np.concatenate([-used, used])[order])


def _overcommitted(
    instance: Instance, start: np.ndarray, end: np.ndarray
) -> list[tuple[float, float]]:
    """Spans in which jobs use more nodes than all the partitions have that they may use."""
    cells, allowed, _ = instance.layout
    spans = []
    for room, which in _rooms(instance.nodes, cells, allowed):
        times, load = _in_use(instance, start, end, which)
        over = np.flatnonzero(load[:-1] > room * (1 + 1e-9))
        spans += list(zip(times[over].tolist(), times[over + 1].tolist(), strict=True))
    merged: list[tuple[float, float]] = []
    for begin, stop in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((begin, stop))
    return merged


def _rooms(nodes: int, cells: np.ndarray, allowed: np.ndarray) -> Iterator[tuple[int, Any]]:
    """The machine and all jobs; a partition's nodes and the jobs that have no others."""
    yield nodes, slice(None)
    for mask in np.unique(allowed):
        mine = (int(mask) >> np.arange(len(cells))) & 1
        yield int(cells @ mine), (allowed | mask) == mask


def _rows(instance: Instance) -> tuple:
    start = recorded_starts(instance)
    end = start + instance.column("runtime")
    tasks, open_to = instance.column("tasks"), _nodes_of(instance)
    load = np.zeros(instance.nodes, dtype=np.int64)  # by node: tasks on it
    running: list[tuple[float, int]] = []
    where: dict[int, np.ndarray] = {}
    order = np.lexsort((end, start))
    for job in order.tolist():
        while running and running[0][0] <= start[job]:
            np.subtract.at(load, where[heapq.heappop(running)[1]], 1)
        mine = open_to(job)
        count = int(tasks[job])
        free = mine[load[mine] == 0]
        if len(free) < count:  # again and again over the nodes, the least loaded first
            mine = mine[np.argsort(load[mine], kind="stable")]
            free = np.resize(mine, count)
        where[job] = np.sort(free[:count])
        np.add.at(load, where[job], 1)
        heapq.heappush(running, (float(end[job]), job))
    begin = np.concatenate([[0], np.cumsum(tasks[order])])
    unit = np.concatenate([where[job] for job in order.tolist()])
    one = np.ones(len(order))
    return order, begin, unit, start[order], end[order], one, one, np.zeros(len(order), dtype=int)


def _nodes_of(instance: Instance) -> Callable[[int], np.ndarray]:
    """By job: the nodes that it may use."""
    cells, allowed, _ = instance.layout
    if not len(cells):
        every = np.arange(instance.nodes)
        return lambda _: every
    cell = np.repeat(np.arange(len(cells)), cells)
    nodes = {int(mask): np.flatnonzero((int(mask) >> cell) & 1) for mask in np.unique(allowed)}
    return lambda job: nodes[int(allowed[job])]
