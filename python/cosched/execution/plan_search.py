"""The best plan over packs and moldable jobs, and a bound on any schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosched import core, moldable, packs
from cosched.core import Bound
from cosched.execution.adaptive import any_schedule_bound
from cosched.execution.plan_input import Tables

#: More tasks are not searched exactly.
_MOST_EXACT = 12
#: More tasks are not searched with every algorithm.
_MANY = 200
#: The algorithms for so many; `sequential` is longest-first on one processor each.
_QUICK = ("list-shelf", "dual-approximation", "list-lptf", "sequential")
#: Ends that differ by no more are the same.
_SAME = 1 + 1e-9


@dataclass(frozen=True)
class Search:
    """The same tasks as an instance of both families, and for how long each algorithm searches."""

    packs: packs.Instance
    moldable: moldable.Instance
    time_limit: float | None
    seed: int | None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        tables: Tables,
        weights: Sequence[float],
        edges: Sequence[tuple[int, int]],
        shared: Mapping[str, Any],
        time_limit: float | None,
        seed: int | None,
    ) -> Search:
        given = {"names": names, "origin": tables.origin, "spread": tables.spread, **shared}
        return cls(
            packs.Instance(tables.times, **given),
            moldable.Instance(tables.times, weights, edges=edges, **given),
            time_limit,
            seed,
        )

    def best(self) -> tuple[core.Result, Bound]:
        """The earliest end that was found, and what no schedule ends before.

        Where tasks come after others, plans of packs are not compared: packs know no order.
        """
        if len(self.moldable.edges):
            return self._best_in_order()
        return _best(self.packs, self.moldable, self.time_limit, self.seed), self._bound()

    def without_slowdowns(self) -> tuple[core.Result, core.Result]:
        """The best plan if nobody slowed another, and that plan with the slow-downs."""
        alone = (self.packs.without_slowdowns(), self.moldable.without_slowdowns())
        plain = _best(*alone, self.time_limit, self.seed)
        if isinstance(plain, packs.Result):
            return plain, packs.co_schedule(self.packs, plain.pack_of, plain.procs)
        assert isinstance(plain, moldable.Result)
        return plain, moldable.replay(self.moldable, plain)

    def one_after_the_other(self) -> float:
        """The end of all tasks one after the other, each on its best count."""
        return packs.sequential(self.packs).value

    def _best_in_order(self) -> tuple[core.Result, Bound]:
        """By the simplest algorithm that has the earliest end; the best bound that one proves."""
        rows = moldable.FAMILY.compare_rows(self.moldable, None, self.seed, self.time_limit)
        found = [result for _, result in rows if result is not None]
        least = min(result.value for result in found)
        best = next(result for result in found if result.value <= least * _SAME)
        return best, max((r.own_bound for r in found if r.own_bound is not None), key=float)

    def _bound(self) -> Bound:
        """Bounds that do not know what is shared are valid, too."""
        plain = moldable.Instance(self.moldable.times, self.moldable.weights)
        limit = self.time_limit
        found = [any_schedule_bound(plain), moldable.bound(plain, "slots", time_limit=limit)]
        if self.moldable.sharing:
            found.append(moldable.bound(self.moldable, "configurations", time_limit=limit))
        return max(found, key=float)


def _best(
    of_packs: packs.Instance,
    of_moldable: moldable.Instance,
    time_limit: float | None,
    seed: int | None,
) -> core.Result:
    """The earliest end; packs where both families have it: they are simpler to run."""
    names = ["sequential", "pack-by-pack-9", "local-search"]
    names += ["optimal"] if of_packs.tasks <= _MOST_EXACT else []
    rows = packs.FAMILY.compare_rows(of_packs, names, seed, time_limit)
    in_packs = [result for _, result in rows if result is not None]
    # A plan of packs is a schedule of moldable tasks, so the search never ends above it.
    start = min(in_packs, key=lambda result: result.value, default=None)
    few = of_packs.tasks <= _MANY
    options: dict[str, dict[str, Any]] = {"local-search": {"start": start}} if few else {}
    every = None if few else list(_QUICK)
    rows = moldable.FAMILY.compare_rows(of_moldable, every, seed, time_limit, options)
    found = [*in_packs, *(result for _, result in rows if result is not None)]
    least = min(result.value for result in found)
    close = [result for result in found if result.value <= least * _SAME]
    first = [result for result in close if result.family == "packs"]
    return (first or close)[-1]
