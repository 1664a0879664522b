"""Results: of what the simulator returned, of the log itself, and of a schedule from a file."""

import heapq
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.bounds import THRESHOLD, max_stretch_bound
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import recorded_starts
from cosched.cluster.machine import Machine
from cosched.cluster.result import Result
from cosched.cluster.schedule import Schedule
from cosched.core import Bound
from cosched.core.arrays import positive, shared_zeros
from cosched.errors import SolverError
from cosched.lazy import pd

#: Events of one instant are handled one after the other, and a policy does not know the next.
_AT_ONCE = "; paused at this instant by the event before, which counts and costs the penalty"


def algorithm_of(
    simulate: Callable[..., Result], policy: Callable[[], object], doc: str
) -> Callable[..., Result]:
    """``simulate(instance, policy(), **options)`` as a function of the instance and the options."""

    def algorithm(instance: Instance, **options: object) -> Result:
        return simulate(instance, policy(), **options)

    signature = inspect.signature(simulate)
    first, _, *options = signature.parameters.values()
    algorithm.__signature__ = signature.replace(parameters=[first, *options])  # type: ignore[attr-defined]
    algorithm.__doc__ = doc
    return algorithm


def result_of_simulation(
    instance: Instance,
    name: str,
    outcome: dict[str, Any],
    decisions: tuple | None,
    threshold: float,
    replay: Callable[[Instance], tuple] | None,
    penalty: float,
    exclusive: bool,
    rows: tuple | None = None,
    recorded: bool = False,
    at_limit: np.ndarray | None = None,
    by_cores: Machine | None = None,
) -> Result:
    """`at_limit`: the jobs that were ended at their limit; the instance has the times they ran."""
    early = outcome["start"] < instance.column("eligible") - 1e-6
    if early.any():
        row = int(np.argmax(early))
        raise SolverError(
            f"{name} does not heed when jobs are eligible: job {instance.ids[row]} starts at "
            f"{outcome['start'][row]:g} s; expected wait_from = submit (--wait-from submit)"
        )
    if at_limit is not None:
        outcome |= {"at_limit": at_limit, "killed": int(at_limit.sum())}
    threshold = positive(threshold, "threshold", "seconds > 0")
    stretches = _core.cluster.stretches(instance._core, outcome["end"], threshold)
    stretches.flags.writeable = False
    schedule = Schedule(
        instance,
        outcome,
        rows=rows,
        replay=replay,
        penalty=penalty,
        exclusive=exclusive,
        checked=not exclusive,  # batch simulations tell the validator nothing
        threshold=threshold,
        recorded=recorded,
        by_cores=by_cores,
    )
    return Result(
        algorithm=name,
        instance=instance,
        schedule=schedule,
        value=float(stretches[instance.measured].max()),
        outcome=outcome,
        stretches=stretches,
        own_bound=_own_bound(instance, threshold),
        log=None if decisions is None else _log_frame(instance, decisions, at_limit),
    )


def _own_bound(instance: Instance, threshold: float) -> Bound | None:
    """The bound for another threshold than the family's; computed once for an instance."""
    if threshold == THRESHOLD or instance.cached("no bound"):
        return None
    return instance.once(
        f"bound, threshold {threshold}", lambda: max_stretch_bound(instance, threshold=threshold)
    )


def _log_frame(instance: Instance, decisions: tuple, at_limit: np.ndarray | None) -> Any:
    time, job, action, reason = decisions
    columns = {"time": time, "job": job, "id": instance.ids[job], "action": action}
    log = pd.DataFrame({**columns, "reason": reason})
    before = log.groupby("job")[["time", "action"]].shift()
    at_once = (log.action == "resume") & (before.action == "pause") & (before.time == log.time)
    log.loc[at_once, "reason"] += _AT_ONCE
    if at_limit is not None:
        log.loc[(log.action == "finish") & at_limit[log.job], "reason"] = "ended at its limit"
    return log


def result_of_schedule(instance: Instance, schedule: Schedule) -> Result:
    """The result that a schedule (from a file) stands for; counts come from its rows."""
    schedule.validate()
    instance = schedule.instance  # with the run times of those that it ends at their limit
    memory, tasks = instance.column("memory"), instance.column("tasks")
    outcome: dict[str, Any] = dict(schedule.totals)
    demand = demand_area(instance, outcome["end"])
    pauses = float(np.sum(outcome["preemptions"] * memory * tasks))
    outcome.update(
        demand_area=demand, preempted_memory=pauses, migrated_memory=_moved(schedule), events=0
    )
    if "at_limit" in outcome:
        outcome["killed"] = int(outcome["at_limit"].sum())
    stretches = _core.cluster.stretches(instance._core, outcome["end"], schedule.threshold)
    return Result(
        algorithm="",
        instance=instance,
        schedule=schedule,
        value=float(stretches[instance.measured].max()),
        outcome=outcome,
        stretches=stretches,
        own_bound=_own_bound(instance, schedule.threshold),
    )


def demand_area(instance: Instance, end: np.ndarray) -> float:
    """Integral of min(P, D(t))."""
    size = instance.column("cpu") * instance.column("tasks")
    times = np.concatenate([instance.column("eligible"), end])
    order = np.argsort(times, kind="stable")
    demand = np.cumsum(np.concatenate([size, -size])[order])
    spans = np.diff(times[order])
    return float(np.sum(np.clip(demand[:-1], 0, instance.nodes) * spans))


def _moved(schedule: Schedule) -> float:
    """Sum over migrations of memory x moved tasks."""
    memory = schedule.instance.column("memory")
    total = 0.0
    last: dict[int, tuple[int, ...]] = {}
    for row in np.lexsort([schedule.start, schedule.task]):
        job, nodes = int(schedule.task[row]), schedule.units(row)
        if schedule.cause[row] == 2:  # move
            tasks_not_moved = sum(
                min(last[job].count(node), nodes.count(node)) for node in set(last[job])
            )
            total += memory[job] * (len(nodes) - tasks_not_moved)
        last[job] = nodes
    return float(total)


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
    overcommitted_seconds = sum(b - a for a, b in _overcommitted(instance, start, end))
    outcome: dict[str, Any] = {
        "start": start,
        "end": end,
        "preemptions": shared_zeros(len(instance)),
        "migrations": shared_zeros(len(instance)),
        "demand_area": demand_area(instance, end),
        "preempted_memory": 0.0,
        "migrated_memory": 0.0,
        "events": 2 * len(instance),
        "overcommitted_hours": overcommitted_seconds / 3600,
        "most_nodes_in_use": _in_use(instance, start, end)[1].max(),
        "unknown_waits": unknown,
    }
    return result_of_simulation(
        instance, "as-logged", outcome, None, threshold, _rows, 0.0, True, recorded=True
    )


def _in_use(
    instance: Instance, start: np.ndarray, end: np.ndarray, which: Any = slice(None)
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes that some jobs use from each of these times on."""
    core_demand = (instance.column("tasks") * instance.column("cpu"))[which]
    times = np.concatenate([end[which], start[which]])  # at one time, ends come first
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(np.concatenate([-core_demand, core_demand])[order])


def _overcommitted(
    instance: Instance, start: np.ndarray, end: np.ndarray
) -> list[tuple[float, float]]:
    """Spans in which jobs use more nodes than all the partitions have that they may use."""
    cells, allowed, _ = instance.partition_layout
    spans = []
    for room, which in _rooms(instance.nodes, cells, allowed):
        times, load = _in_use(instance, start, end, which)
        overloaded_steps = np.flatnonzero(load[:-1] > room * (1 + 1e-9))
        spans += list(
            zip(times[overloaded_steps].tolist(), times[overloaded_steps + 1].tolist(), strict=True)
        )
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
        is_open_cell = (int(mask) >> np.arange(len(cells))) & 1
        yield int(cells @ is_open_cell), (allowed | mask) == mask


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
        is_open_cell = open_to(job)
        count = int(tasks[job])
        free = is_open_cell[load[is_open_cell] == 0]
        if len(free) < count:  # again and again over the nodes, the least loaded first
            is_open_cell = is_open_cell[np.argsort(load[is_open_cell], kind="stable")]
            free = np.resize(is_open_cell, count)
        where[job] = np.sort(free[:count])
        np.add.at(load, where[job], 1)
        heapq.heappush(running, (float(end[job]), job))
    begin = np.concatenate([[0], np.cumsum(tasks[order])])
    unit = np.concatenate([where[job] for job in order.tolist()])
    unit_steps = np.ones(len(order))
    return (
        order,
        begin,
        unit,
        start[order],
        end[order],
        unit_steps,
        unit_steps,
        np.zeros(len(order), dtype=int),
    )


def _nodes_of(instance: Instance) -> Callable[[int], np.ndarray]:
    """By job: the nodes that it may use."""
    cells, allowed, _ = instance.partition_layout
    if not len(cells):
        every = np.arange(instance.nodes)
        return lambda _: every
    cell = np.repeat(np.arange(len(cells)), cells)
    nodes = {int(mask): np.flatnonzero((int(mask) >> cell) & 1) for mask in np.unique(allowed)}
    return lambda job: nodes[int(allowed[job])]
