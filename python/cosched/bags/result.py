"""The result of bags: counts, loads, makespan, energy, profit."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosched import core
from cosched.bags.bounds import cut_bound, profit_rate_bound
from cosched.bags.instance import Instance
from cosched.bags.schedule import Schedule
from cosched.core import Bound
from cosched.core.result import Overview
from cosched.lazy import pd


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(core.Result):
    """A plan for a bag. ``value`` is its profit rate (money a second), to maximise.

    Attributes
    ----------
    instance : Instance
    schedule : Schedule
    counts : numpy.ndarray of int, shape (T, M)
        Tasks of each type on each machine type.
    loads : tuple of M arrays
        Seconds of work of each machine of a type.
    makespan : float
        When the bag ends (s): the longest load, or later where the power cap makes it wait.
    energy : float
        Joules of all machines until then, idle ones included.

    Examples
    --------
    >>> inst = cs.bags.Instance([4, 3], [2, 1], [[10, 5], [8, 12]], [[90, 200], [80, 100]], 9000)
    >>> result = cs.bags.solve(inst, "ttb")
    >>> [loads.tolist() for loads in result.loads], result.makespan
    ([[18.0, 16.0], [15.0]], 18.0)
    """

    family: ClassVar[str] = "bags"
    maximise: ClassVar[bool] = True

    instance: Instance
    schedule: Schedule
    counts: NDArray[np.int64]
    loads: tuple[NDArray[np.float64], ...]
    makespan: float
    energy: float

    weaker_bounds = (partial(profit_rate_bound, method="glpk"),)

    @classmethod
    def _bound_of(cls, instance: Instance) -> Bound:
        return cut_bound(instance)

    def _overview(self, most: int) -> Overview:
        schedule, instance = self.schedule, self.instance
        # A reader follows one machine after the other.
        chosen = np.lexsort((schedule.start, schedule.machine, schedule.machine_type))[:most]
        columns = {
            "machine type": [instance.machine_names[j] for j in schedule.machine_type[chosen]],
            "machine": schedule.machine[chosen],
            "task type": [instance.names[i] for i in schedule.task_type[chosen]],
            "tasks": schedule.count[chosen],
            "start": schedule.start[chosen],
            "end": schedule.end[chosen],
        }
        return Overview("runs of tasks", pd.DataFrame(columns), len(schedule))

    @property
    def profit_rate(self) -> float:
        """(p - c E) / makespan."""
        return self.value

    @property
    def profit(self) -> float:
        """p - c E: what the bag earns."""
        return self.instance.price - self.instance.energy_cost * self.energy

    def metrics(self) -> dict[str, Any]:
        """What the plan costs and earns.

        ``makespan`` (s), ``energy`` (J), ``profit``, mean ``power`` (W), ``machines_used``.
        """
        return {
            "makespan": self.makespan,
            "energy": self.energy,
            "profit": self.profit,
            "power": self.energy / self.makespan,
            "machines_used": sum(int((loads > 0).sum()) for loads in self.loads),
            **self._end_of_search(),
        }


def result_of_plan(instance: Instance, algorithm: str, plan: dict[str, Any], **more: Any) -> Result:
    for array in (plan["counts"], *plan["loads"]):
        array.flags.writeable = False
    return Result(
        algorithm=algorithm,
        instance=instance,
        schedule=Schedule(instance, *plan["rows"]),
        value=plan["profit_rate"],
        counts=plan["counts"],
        loads=tuple(plan["loads"]),
        makespan=plan["makespan"],
        energy=plan["energy"],
        **more,
    )


def result_of_schedule(instance: Instance, schedule: Schedule) -> Result:
    """Counts, loads and money read off a schedule that someone else made."""
    schedule.validate()
    where = (schedule.task_type, schedule.machine_type)
    counts = np.zeros(instance.etc.shape, dtype=np.int64)
    np.add.at(counts, where, schedule.count)
    seconds = schedule.count * instance.etc[where]
    loads = []
    for j, machines in enumerate(instance.machines):
        rows = schedule.machine_type == j
        loads.append(np.bincount(schedule.machine[rows], weights=seconds[rows], minlength=machines))
    makespan = schedule.makespan
    joules = float((schedule.count * instance.joules[where]).sum())
    plan = {
        "counts": counts,
        "loads": loads,
        "rows": (*where, schedule.machine, schedule.count, schedule.start, schedule.end),
        "makespan": makespan,
        "energy": joules + instance._core.idle_power * makespan,
        "profit_rate": instance._core.profit_rate(joules, makespan),
    }
    return result_of_plan(instance, "", plan)
