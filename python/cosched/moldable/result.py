"""What a moldable scheduler returns."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosched import _core, core
from cosched.core import Bound, Schedule
from cosched.core.resampling import awaited_rows, resource_needs, value_range
from cosched.core.result import relative_gap
from cosched.moldable.bounds import (
    area_bound,
    best_bound,
    dual_approximation_bound,
    minsum_bound_beside,
)
from cosched.moldable.instance import Instance


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(core.Result):
    """A schedule of moldable jobs. ``value`` is its makespan (s).

    Attributes
    ----------
    instance : Instance
    procs : numpy.ndarray of int, shape (n,)
        Processors of each job.
    start, end : numpy.ndarray, shape (n,)
        Seconds.
    ratio : float or None
        Proven: the makespan is at most this times the optimal one. None: nothing is proved.
    pareto_front : numpy.ndarray, shape (k, 2), or None
        Of ``demt-best``: (makespan, sum w_i C_i) of every schedule it saw that no other one
        beats in both, by increasing makespan.
    own_minsum_bound : Bound or None
        Of ``optimal`` for the minsum: what it proved.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> result = cs.moldable.solve(inst, "sequential")
    >>> result.start.tolist(), result.makespan, result.weighted_completion
    ([0.0, 0.0, 0.0], 8.0, 28.0)
    """

    family: ClassVar[str] = "moldable"
    instance: Instance

    procs: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    ratio: float | None = None
    pareto_front: NDArray[np.float64] | None = None
    own_minsum_bound: Bound | None = None

    weaker_bounds = (dual_approximation_bound, area_bound)

    @classmethod
    def _bound_of(cls, instance: Instance) -> Bound:
        return best_bound(instance)

    @classmethod
    def prepare(cls, instance: Instance) -> None:
        Instance.require(instance)
        if not len(instance.edges):
            instance.once("minsum", lambda: minsum_bound_beside(instance))

    @property
    def makespan(self) -> float:
        """max C_i (s)."""
        return self.value

    @property
    def weighted_completion(self) -> float:
        """sum w_i C_i, the minsum."""
        return float(self.instance.weights @ self.end)

    @property
    def minsum_bound(self) -> Bound:
        """A lower bound on every schedule's sum w_i C_i; computed once an instance.

        What ``optimal`` proved, where this is its result, and the best of
        ``time_indexed_bound``, the paper's ``bound(instance, "minsum")`` on a grid up to eight
        times finer than the paper's, and for few jobs what :func:`cosched.moldable.optimal`
        proves with a tenth of its work. Under a time limit (that of ``compare``) it is what was
        proved until then.
        """
        own_bound = self.own_minsum_bound
        if own_bound is not None and self.stopped_by == "proved":
            return own_bound
        minsum_bound = self.instance.once("minsum", lambda: minsum_bound_beside(self.instance))
        return minsum_bound if own_bound is None else max(own_bound, minsum_bound, key=float)

    @property
    def minsum_gap(self) -> float:
        """weighted_completion / minsum_bound - 1: how far from the best possible at most."""
        return relative_gap(self.weighted_completion, self.minsum_bound, False)

    def metrics(self) -> dict[str, Any]:
        """The second criterion, and how far from the best possible it is at most.

        Returns
        -------
        dict of str to float
            ``weighted_completion``, ``minsum_bound`` (both weight x s), ``minsum_gap``; where jobs
            slow each other, ``value_if_constant``: the makespan if each job, from its start, kept
            the greatest factor that it meets, which is never less; where times
            were measured more than once, ``value_p5`` and ``value_p95``: 5% and 95% of the makespan
            (s) over 200 seeded draws of times that vary by their spread. With edges the first
            alone.

        Examples
        --------
        >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
        >>> metrics = cs.moldable.solve(inst, "sequential").metrics()
        >>> metrics["weighted_completion"], metrics["minsum_gap"] >= 0
        (28.0, True)
        """
        if len(self.instance.edges):
            return {"weighted_completion": self.weighted_completion, **self._end_of_search()}
        return {
            "weighted_completion": self.weighted_completion,
            "minsum_bound": float(self.minsum_bound),
            "minsum_gap": self.minsum_gap,
            **self._if_constant(),
            **self._spread_metrics(),
            **self._end_of_search(),
        }

    def _if_constant(self) -> dict[str, float]:
        if not self.instance.sharing.slows:
            return {}
        placement = (self.procs, self.start, self.end)
        value = _core.moldable.makespan_if_constant(self.instance._core, placement)
        return {"value_if_constant": value}

    def _spread_metrics(self) -> dict[str, float]:
        if self.instance.downey is not None or self.instance.has_releases:
            return {}
        sharing = self.instance.sharing
        return value_range(
            self.schedule,
            self.instance.spread,
            barriers=False,
            needs=resource_needs(self.schedule, sharing.arguments()),
            awaited=awaited_rows(self.schedule) if sharing.slows else None,
        )


Placement = tuple[np.ndarray, np.ndarray, np.ndarray]


def make_result(instance: Instance, algorithm: str, placement: Placement, **more: object) -> Result:
    schedule = Schedule(instance, *_core.moldable.schedule(instance._core, placement))
    return _result(instance, algorithm, schedule, placement, **more)


def result_of_schedule(instance: Instance, schedule: Schedule) -> Result:
    schedule.validate()
    order = np.argsort(schedule.task)
    counts = np.diff(schedule.unit_begin)[order]
    return _result(instance, "", schedule, (counts, schedule.start[order], schedule.end[order]))


def _result(
    instance: Instance, algorithm: str, schedule: Schedule, placement: Placement, **more: Any
) -> Result:
    for array in placement:
        array.flags.writeable = False
    procs, start, end = placement
    return Result(
        algorithm=algorithm,
        instance=instance,
        schedule=schedule,
        value=float(end.max()),
        procs=procs,
        start=start,
        end=end,
        **more,
    )
