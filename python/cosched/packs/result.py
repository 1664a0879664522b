"""The result of packs: packs, processor counts, and the paper's measures."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosched import _core, core
from cosched.core import Bound, Schedule
from cosched.core.resampling import value_range
from cosched.core.result import IN_A_CELL, Overview
from cosched.core.text import listed
from cosched.lazy import pd
from cosched.packs.bounds import bound_beside, simple_bound
from cosched.packs.instance import Instance


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(core.Result):
    """A co-schedule. ``value`` is its cost (s).

    Attributes
    ----------
    instance : Instance
    pack_of, procs : numpy.ndarray of int, shape (n,)
        Pack and number of processors of each task. Packs run in increasing cost, equal
        costs in increasing number, as the mean response time has them.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> result = cs.packs.solve(inst, "pack-by-pack-9")
    >>> result.pack_of.tolist(), result.procs.tolist(), result.cost
    ([1, 0, 2], [3, 3, 3], 6.5)
    """

    family: ClassVar[str] = "packs"
    instance: Instance

    pack_of: NDArray[np.int64]
    procs: NDArray[np.int64]

    @property
    def cost(self) -> float:
        """Sum over packs of the longest time in it (s)."""
        return self.value

    @property
    def packing_ratio(self) -> float:
        """Work / (p x cost), 0..1: 1 means no idle processor."""
        return _core.packs.packing_ratio(self.instance._core, self.pack_of, self.procs)

    @property
    def relative_cost(self) -> float:
        """Cost / cost of running each task alone on all processors."""
        return _core.packs.relative_cost(self.instance._core, self.pack_of, self.procs)

    @property
    def relative_response_time(self) -> float:
        """Mean response time / that of each task alone on all processors, shortest first."""
        return _core.packs.relative_response_time(self.instance._core, self.pack_of, self.procs)

    weaker_bounds = (simple_bound,)

    @classmethod
    def _bound_of(cls, instance: Instance) -> Bound:
        return bound_beside(instance)

    def _overview(self, most: int) -> Overview:
        start, end = np.zeros(self.pack_of.max() + 1), np.zeros(self.pack_of.max() + 1)
        pack = self.pack_of[self.schedule.task]
        start[pack] = self.schedule.start
        np.maximum.at(end, pack, self.schedule.end)
        chosen = np.argsort(start, kind="stable")[:most]
        tasks = [
            [f"{self.instance.names[i]} on {self.procs[i]}" for i in np.flatnonzero(at).tolist()]
            for at in (self.pack_of == k for k in chosen)
        ]
        columns = {
            "pack": chosen,
            "start": start[chosen],
            "end": end[chosen],
            "tasks on processors": [listed(of_pack, IN_A_CELL) for of_pack in tasks],
        }
        return Overview("packs", pd.DataFrame(columns), len(start))

    def metrics(self) -> dict[str, Any]:
        """The paper's measures.

        ``packing_ratio`` (0..1), ``relative_cost`` and ``relative_response_time`` (against each
        task alone on all processors), ``packs`` (their number); where tasks slow each other,
        ``value_if_constant``: the cost if each kept its first factor to its end, which is never
        less; where times were measured more than once, ``value_p5`` and ``value_p95``: 5% and 95%
        of the cost (s) over 200 seeded draws of times that vary by their spread.
        """
        return {
            "packing_ratio": self.packing_ratio,
            "relative_cost": self.relative_cost,
            "relative_response_time": self.relative_response_time,
            "packs": int(self.pack_of.max()) + 1,
            **self._if_constant(),
            **value_range(self.schedule, self.instance.spread, barriers=True),
            **self._end_of_search(),
        }

    def _if_constant(self) -> dict[str, float]:
        if not self.instance.sharing.slows:
            return {}
        packs = (self.instance._core, self.pack_of, self.procs)
        return {"value_if_constant": _core.packs.cost_if_constant(*packs)}


def result_of_packs(
    instance: Instance,
    algorithm: str,
    pack_of: NDArray[np.int64],
    procs: NDArray[np.int64],
    **more: Any,
) -> Result:
    columns = _core.packs.schedule(instance._core, pack_of, procs)
    value = _core.packs.cost(instance._core, pack_of, procs)
    for array in (pack_of, procs):
        array.flags.writeable = False
    if more.get("stopped_by") == "proved":  # none costs less
        more["own_bound"] = Bound(value, algorithm)
    return Result(
        algorithm=algorithm,
        instance=instance,
        schedule=Schedule(instance, *columns),
        value=value,
        pack_of=pack_of,
        procs=procs,
        **more,
    )


def result_of_schedule(instance: Instance, schedule: Schedule) -> Result:
    """Packs are read off the starts: tasks that start together are a pack."""
    schedule.validate()
    order = np.argsort(schedule.task)
    _, pack_of = np.unique(schedule.start[order], return_inverse=True)
    procs = np.diff(schedule.unit_begin)[order]
    packs_result = result_of_packs(instance, "", pack_of.astype(np.int64), procs)
    return replace(packs_result, schedule=schedule)
