"""Results: of what the simulator returned, and of a schedule from a file."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.bounds import THRESHOLD, max_stretch_bound
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.result import Result
from cosched.cluster.schedule import Schedule
from cosched.core import Bound
from cosched.core.arrays import positive
from cosched.errors import SolverError
from cosched.lazy import pd

#: Events of one instant are handled one after the other, and a policy does not know the next.
_AT_ONCE = "; paused at this instant by the event before, which counts and costs the penalty"


def algorithm_of(
    simulate: Callable[..., Result], policy: Callable[[], Any], doc: str
) -> Callable[..., Result]:
    """``simulate(instance, policy(), **options)`` as a function of the instance and the options."""

    def algorithm(instance: Instance, **options: Any) -> Result:
        return simulate(instance, policy(), **options)

    given = inspect.signature(simulate)
    first, _, *options = given.parameters.values()
    algorithm.__signature__ = given.replace(parameters=[first, *options])  # type: ignore[attr-defined]
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
            kept = sum(min(last[job].count(node), nodes.count(node)) for node in set(last[job]))
            total += memory[job] * (len(nodes) - kept)
        last[job] = nodes
    return float(total)
