"""Search the best plan of measured codes over both families: packs and moldable jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosched import core, moldable, packs
from cosched.core import Bound
from cosched.execution.adaptive import any_schedule_bound
from cosched.execution.plan_input import Tables

#: Up to so many tasks the exact algorithm of packs is tried, too.
_MAX_EXACT_TASKS = 12
#: Up to so many tasks all algorithms for moldable jobs are tried.
_MAX_THOROUGH_TASKS = 200
#: The algorithms for more moldable jobs; `sequential` is longest-first on one processor each.
_FAST_ALGORITHMS = ("list-shelf", "dual-approximation", "list-lptf", "sequential")
#: Ends of which one is at most so many times the other are equal: they differ by rounding.
_EQUAL_ENDS_RATIO = 1 + 1e-9


@dataclass(frozen=True)
class PlanSearch:
    """The same tasks as an instance of packs and of moldable jobs, and how long to search."""

    #: The tasks as applications of packs.
    packs_instance: packs.Instance
    #: The tasks as moldable jobs, with weights and precedence edges.
    moldable_instance: moldable.Instance
    #: Seconds for each algorithm; None: until it ends.
    time_limit: float | None
    #: Of the random algorithms.
    seed: int | None

    @classmethod
    def of_tables(
        cls,
        names: Sequence[str],
        tables: Tables,
        weights: Sequence[float],
        edges: Sequence[tuple[int, int]],
        shared: Mapping[str, Any],
        time_limit: float | None,
        seed: int | None,
    ) -> PlanSearch:
        """Return the search for tasks with these time tables.

        Parameters
        ----------
        names : sequence of str
            Of the tasks, in the order of the rows of the tables.
        tables : Tables
            Times by task and processor count, and which of them were filled in.
        weights : sequence of float
            Of the tasks.
        edges : sequence of (int, int)
            The second task waits for the first.
        shared : mapping
            What tasks share, by the names of the instances' arguments: memory, GPUs, licences,
            slow-downs.
        time_limit : float or None
            Seconds for each algorithm.
        seed : int or None
            Of the random algorithms.
        """
        shared_arguments = {
            "names": names,
            "origin": tables.origin,
            "spread": tables.spread,
            **shared,
        }
        return cls(
            packs.Instance(tables.times, **shared_arguments),
            moldable.Instance(tables.times, weights, edges=edges, **shared_arguments),
            time_limit,
            seed,
        )

    def best_plan_and_bound(self) -> tuple[core.Result, Bound]:
        """Return the plan with the earliest end that was found, and a lower bound of all ends (s).

        Where tasks wait for others, plans of packs are not compared: packs know no order.
        """
        if len(self.moldable_instance.edges):
            return self._best_ordered_plan()
        return self._best_of_families(
            self.packs_instance, self.moldable_instance
        ), self._best_bound()

    def plan_without_slowdowns(self) -> tuple[core.Result, core.Result]:
        """Return the best plan if no task slowed another, and that plan with the slow-downs."""
        isolated = self._best_of_families(
            self.packs_instance.without_slowdowns(), self.moldable_instance.without_slowdowns()
        )
        if isinstance(isolated, packs.Result):
            return isolated, packs.co_schedule(
                self.packs_instance, isolated.pack_of, isolated.procs
            )
        assert isinstance(isolated, moldable.Result)
        return isolated, moldable.replay(self.moldable_instance, isolated)

    def sequential_makespan(self) -> float:
        """Return the end (s) of all tasks one after the other, each on its best count."""
        return packs.sequential(self.packs_instance).value

    def _best_ordered_plan(self) -> tuple[core.Result, Bound]:
        """Return the plan of the simplest algorithm with the earliest end, and the best bound that
        some algorithm proves."""
        results = _results_of(
            moldable.FAMILY.compare_rows(self.moldable_instance, None, self.seed, self.time_limit)
        )
        best = _results_with_earliest_end(results)[0]
        bounds = [result.own_bound for result in results if result.own_bound is not None]
        return best, max(bounds, key=float)

    def _best_bound(self) -> Bound:
        """Return the largest of several lower bounds.

        A bound for tasks that share nothing is a bound for tasks that share something, too.
        """
        unshared = moldable.Instance(self.moldable_instance.times, self.moldable_instance.weights)
        bounds = [
            any_schedule_bound(unshared),
            moldable.bound(unshared, "slots", time_limit=self.time_limit),
        ]
        if self.moldable_instance.sharing:
            bounds.append(
                moldable.bound(self.moldable_instance, "configurations", time_limit=self.time_limit)
            )
        return max(bounds, key=float)

    def _best_of_families(
        self, of_packs: packs.Instance, of_moldable: moldable.Instance
    ) -> core.Result:
        """Return the result with the earliest end; of packs where both families have that end,
        since packs are simpler to run."""
        pack_results = self._solve_packs(of_packs)
        results = [*pack_results, *self._solve_moldable(of_moldable, pack_results)]
        earliest = _results_with_earliest_end(results)
        earliest_packs = [result for result in earliest if result.family == "packs"]
        return (earliest_packs or earliest)[-1]

    def _solve_packs(self, instance: packs.Instance) -> list[core.Result]:
        """Return the results of the algorithms for packs."""
        algorithms = ["sequential", "pack-by-pack-9", "local-search"]
        if instance.tasks <= _MAX_EXACT_TASKS:
            algorithms.append("optimal")
        return _results_of(
            packs.FAMILY.compare_rows(instance, algorithms, self.seed, self.time_limit)
        )

    def _solve_moldable(
        self, instance: moldable.Instance, pack_results: Sequence[core.Result]
    ) -> list[core.Result]:
        """Return the results of the algorithms for moldable jobs.

        A plan of packs is a schedule of moldable jobs: the local search starts from the best one,
        so it never ends later than that.
        """
        if instance.jobs > _MAX_THOROUGH_TASKS:
            algorithms, options = list(_FAST_ALGORITHMS), {}
        else:
            start = min(pack_results, key=lambda result: result.value, default=None)
            algorithms, options = None, {"local-search": {"start": start}}
        return _results_of(
            moldable.FAMILY.compare_rows(instance, algorithms, self.seed, self.time_limit, options)
        )


def _results_of(rows: Iterable[tuple[Any, core.Result | None]]) -> list[core.Result]:
    """Return the results of a comparison, without the algorithms that have none."""
    return [result for _, result in rows if result is not None]


def _results_with_earliest_end(results: Sequence[core.Result]) -> list[core.Result]:
    """Return the results whose end is the earliest, up to rounding."""
    earliest_end = min(result.value for result in results)
    return [result for result in results if result.value <= earliest_end * _EQUAL_ENDS_RATIO]
