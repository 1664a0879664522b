"""What the log itself records: every job starts when it did."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from cosched.cluster.algorithms.simulation import demand_area, result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.result import Result
from cosched.errors import InvalidInstance


def as_logged(instance: Instance, *, threshold: float = THRESHOLD) -> Result:
    """The schedule of the log: each job starts at its submission + the wait that the log has.

    How good was what the cluster did? Its value and gap stand beside those of policies. A log may
    have more processors in use than the machine has (its clocks are rough, nodes are shared, the
    machine was another one): these moments are counted (``metrics()["overcommitted_hours"]``), no
    error.

    Parameters
    ----------
    instance : Instance
        With the column ``wait``; where single jobs have none, 0 s are taken
        (``metrics()["unknown_waits"]``).
    threshold : float
        Shortest time of the bounded stretch (s), > 0.

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
    O(n log n). Rows of the schedule are on the lowest-numbered free nodes, and on nodes in use
    where there are no more.

    Examples
    --------
    >>> import cosched as cs
    >>> jobs = {"submit": [0, 5], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [60.0, 30.0], "wait": [10.0, 45.0]}
    >>> res = cs.cluster.as_logged(cs.cluster.Instance(jobs, nodes=2))
    >>> res.jobs.start.tolist(), round(res.metrics()["overcommitted_hours"] * 3600)
    ([10.0, 50.0], 20)
    """
    Instance.require(instance)
    start = logged_starts(instance)
    unknown = int(np.isnan(start).sum())
    start = np.where(np.isnan(start), instance.column("submit"), start)
    end = start + instance.column("runtime")
    over, most = _overcommitted(instance, start, end)
    nothing = np.zeros(len(instance), dtype=np.int64)
    outcome: dict[str, Any] = {
        "start": start, "end": end, "preemptions": nothing, "migrations": nothing,
        "demand_area": demand_area(instance, end), "preempted_memory": 0.0,
        "migrated_memory": 0.0, "events": 2 * len(instance), "overcommitted_hours": over / 3600,
        "most_nodes_in_use": most, "unknown_waits": unknown,
    }  # fmt: skip
    return result_of_simulation(
        instance, "as-logged", outcome, None, threshold, _rows, 0.0, True, recorded=True
    )


def has_waits(instance: Instance) -> bool:
    """Whether the log says how long jobs waited."""
    return "wait" in instance.known and not np.isnan(instance.column("wait")).all()


def logged_starts(instance: Instance) -> np.ndarray:
    """Starts (s) by the log, nan where it does not say; InvalidInstance where it never does."""
    if not has_waits(instance):
        raise InvalidInstance("the log has no waits: nothing says when its jobs started")
    return instance.column("submit") + instance.column("wait")


def _overcommitted(instance: Instance, start: np.ndarray, end: np.ndarray) -> tuple[float, float]:
    """Seconds with more nodes in use than there are, and the most in use at a time."""
    used = instance.column("tasks") * instance.column("cpu")
    times = np.concatenate([end, start])  # at one time, ends come first
    order = np.argsort(times, kind="stable")
    load = np.cumsum(np.concatenate([-used, used])[order])
    over = load[:-1] > instance.nodes * (1 + 1e-9)
    return float(np.sum(np.diff(times[order])[over])), float(load.max())


def _rows(instance: Instance) -> tuple:
    start = logged_starts(instance)
    start = np.where(np.isnan(start), instance.column("submit"), start)
    end = start + instance.column("runtime")
    tasks, nodes = instance.column("tasks"), instance.nodes
    load = [0] * nodes  # by node: jobs on it
    free = list(range(nodes))
    running: list[tuple[float, int]] = []
    where: dict[int, list[int]] = {}
    order = np.lexsort((end, start))
    for job in order.tolist():
        while running and running[0][0] <= start[job]:
            for node in where[heapq.heappop(running)[1]]:
                load[node] -= 1
                if not load[node]:
                    heapq.heappush(free, node)
        mine = [heapq.heappop(free) for _ in range(min(int(tasks[job]), len(free)))]
        busy = sorted(range(nodes), key=lambda k: load[k]) if len(mine) < tasks[job] else []
        mine += [busy[k % nodes] for k in range(int(tasks[job]) - len(mine))]
        for node in mine:
            load[node] += 1
        where[job] = sorted(mine)
        heapq.heappush(running, (float(end[job]), job))
    begin = np.concatenate([[0], np.cumsum(tasks[order])])
    unit = np.concatenate([where[job] for job in order.tolist()])
    one = np.ones(len(order))
    return order, begin, unit, start[order], end[order], one, one, np.zeros(len(order), dtype=int)
