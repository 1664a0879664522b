"""The result of dags: where and when each task runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosched import core
from cosched.core import Bound, Schedule
from cosched.dags.bounds import transfers_bound, windows_bound
from cosched.dags.instance import Instance, without_limits


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(core.Result):
    """A schedule of a task graph. ``value`` is its makespan (s).

    Attributes
    ----------
    instance : Instance
    kind : numpy.ndarray of int, shape (n,)
        Resource type of each task (0 = CPU).
    unit : numpy.ndarray of int, shape (n,)
        Unit of each task, from 0 within its type.
    start, end : numpy.ndarray of float, shape (n,)
        Seconds.
    ratio : float or None
        The makespan is at most so many times the optimum, by a theorem; None where the algorithm
        has none, or where transfers take time, of which the theorems know nothing.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> result = cs.dags.solve(inst, "heft")
    >>> result
    <Result of dags heft: value 5, bound 5 (windows), gap 0.00%>
    >>> result.kind.tolist(), result.start.tolist(), result.end.tolist()
    ([1, 1, 0, 1], [0.0, 1.0, 1.0, 3.0], [1.0, 3.0, 3.0, 5.0])
    """

    family: ClassVar[str] = "dags"
    deprecated_metrics: ClassVar[Mapping[str, str]] = {"utilisation": "utilization"}

    instance: Instance
    kind: NDArray[np.int64]
    unit: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    ratio: float | None = None

    @classmethod
    def _bound_of(cls, instance: Instance) -> Bound:
        return windows_bound(instance) if instance.data is None else transfers_bound(instance)

    @property
    def makespan(self) -> float:
        """Latest end (s)."""
        return self.value

    @property
    def utilisation(self) -> float:
        """Older spelling of :attr:`utilization`."""
        return self.utilization

    @property
    def utilization(self) -> float:
        """Busy unit-seconds / (units x makespan), 0..1."""
        total = sum(self.instance.units) * self.value
        return float((self.end - self.start).sum() / total) if total > 0 else 0.0

    @property
    def accelerated(self) -> float:
        """Share of the tasks that run on another type than 0 (the CPU)."""
        return float((self.kind != 0).mean())

    def metrics(self) -> dict[str, Any]:
        """Utilization of all units, share of tasks on accelerators.

        ``utilization`` (``utilisation`` is its older spelling), ``accelerated``, both in 0..1.
        """
        return {
            "utilization": self.utilization,
            "utilisation": self.utilization,
            "accelerated": self.accelerated,
            **self._end_of_search(),
        }


def result_of_plan(
    instance: Instance,
    algorithm: str,
    kind: NDArray[np.int64],
    unit: NDArray[np.int64],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    *,
    own_bound: Bound | None = None,
    seed: int = 0,
    status: str = "ok",
    stopped_by: str | None = None,
    ratio: float | None = None,
) -> Result:
    """A result of what the C++ side returns; `ratio` as if data moved for free."""
    tasks = np.arange(instance.tasks)
    schedule = Schedule(instance, tasks, kind, np.arange(len(tasks) + 1), unit, start, end)
    return _result(
        instance,
        algorithm,
        schedule,
        own_bound=own_bound,
        seed=seed,
        status=status,
        stopped_by=stopped_by,
        ratio=ratio if instance._core.moves_free and not instance._core.limited else None,
    )


def scheduled(
    instance: Instance, name: str, scheduler: Callable[..., Any], *options: object, **more: Any
) -> Result:
    """What a scheduler of the C++ side makes of an instance whose memories are not limited."""
    without_limits(instance, name)
    return result_of_plan(instance, name, *scheduler(instance._core, *options), **more)


def result_of_schedule(instance: Instance, schedule: Schedule) -> Result:
    """A result of a schedule from elsewhere; InvalidSchedule where it breaks a rule."""
    schedule.validate()
    return _result(instance, "", schedule)


def columns_of(schedule: Schedule) -> dict[str, Any]:
    """``kind, unit, start, end`` of each task of a valid schedule."""
    rows = np.argsort(schedule.task, kind="stable")
    return {
        "kind": schedule.kind[rows],
        "unit": schedule.unit[schedule.unit_begin[:-1][rows]],
        "start": schedule.start[rows],
        "end": schedule.end[rows],
    }


def _result(instance: Instance, algorithm: str, schedule: Schedule, **more: Any) -> Result:
    columns = columns_of(schedule)
    for column in columns.values():
        column.flags.writeable = False
    return Result(
        algorithm=algorithm,
        instance=instance,
        schedule=schedule,
        value=schedule.makespan,
        **columns,
        **more,
    )
