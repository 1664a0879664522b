"""Instances that the search for worst cases looks at: tasks with a time on each type of units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cosched.dags.instance import Instance


class SearchedInstance(Protocol):
    """What the search judges, and makes smaller at the end."""

    def instance(self) -> Instance:
        """The task graph on its machine."""
        ...

    def smaller(self: Searched) -> Iterator[Searched]:
        """Each without one of its parts."""
        ...


Searched = TypeVar("Searched", bound=SearchedInstance)


class SearchSpace(Protocol[Searched]):
    """Instances among which the search looks for the worst."""

    @property
    def tasks(self) -> int:
        """Tasks of an instance, at most."""
        ...

    def drawn(self, rng: np.random.Generator) -> Searched:
        """An instance at random."""
        ...

    def moved(self, candidate: Searched, rng: np.random.Generator) -> Searched:
        """A neighbour of an instance: mostly one change."""
        ...


#: Times are within (s); data likewise, in bytes at 1 byte/s.
LEAST, MOST = 0.01, 1.0
#: Standard deviation of the logarithm of a time that changes a little.
_STEP = 0.5


@dataclass(frozen=True, eq=False)
class Candidate:
    """A task graph on resource types, each task with a time on each type."""

    #: Seconds of each task on each resource type, (n, Q).
    times: NDArray[np.float64]
    #: Whether task i precedes task j, (n, n); true for i < j alone.
    edge: NDArray[np.bool_]
    #: Units of each resource type.
    units: tuple[int, ...]
    #: Bytes along each edge, (n, n); None: edges carry no data.
    data: NDArray[np.float64] | None

    def instance(self) -> Instance:
        pairs = np.argwhere(self.edge)
        if self.data is None:
            return Instance(self.times, pairs, self.units)
        moving = self.data[pairs[:, 0], pairs[:, 1]]
        return Instance(self.times, pairs, self.units, data=moving, bandwidth=1.0)

    def smaller(self) -> Iterator[Candidate]:
        """Each without one of its tasks, then each without one of its edges."""
        tasks = np.arange(len(self.times))
        for task in tasks if len(tasks) > 1 else ():
            other_tasks = tasks[tasks != task]
            both = np.ix_(other_tasks, other_tasks)
            data = None if self.data is None else self.data[both]
            yield replace(self, times=self.times[other_tasks], edge=self.edge[both], data=data)
        for before, after in np.argwhere(self.edge):
            yield replace(self, edge=flipped(self.edge, before, after))


@dataclass(frozen=True)
class Space:
    """Instances of so many tasks on these units."""

    #: How many tasks.
    tasks: int
    #: Units of each resource type.
    units: tuple[int, ...]
    #: Whether edges carry data.
    transfers: bool

    def drawn(self, rng: np.random.Generator) -> Candidate:
        """At random: times of any magnitude, any density of edges."""
        n = self.tasks
        edge = np.triu(rng.random((n, n)) < rng.uniform(0, 0.5), 1)
        data = amounts(rng, (n, n)) if self.transfers else None
        return Candidate(amounts(rng, (n, len(self.units))), edge, self.units, data)

    def moved(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """A neighbour: mostly one change."""
        for _ in range(rng.geometric(0.6)):
            candidate = self._changed(candidate, rng)
        return candidate

    def _changed(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        what = rng.random()
        task, other = rng.integers(self.tasks, size=2)
        if what < 0.45:
            times = candidate.times.copy()
            kind = rng.integers(len(self.units))
            times[task, kind] = near(rng, times[task, kind])
            return replace(candidate, times=times)
        if what < 0.6:  # like tasks are what lists stumble over
            times = candidate.times.copy()
            times[task] = times[other]
            return replace(candidate, times=times)
        if task == other:
            return candidate
        pair = min(task, other), max(task, other)
        if candidate.data is not None and what < 0.8:
            data = candidate.data.copy()
            data[pair] = near(rng, data[pair])
            return replace(candidate, data=data)
        return replace(candidate, edge=flipped(candidate.edge, *pair))


def amounts(
    rng: np.random.Generator, shape: tuple[int, ...], least: float = LEAST
) -> NDArray[np.float64]:
    """Amounts between `least` and 1, as likely in each order of magnitude."""
    return _with_few_digits(np.exp(rng.uniform(np.log(least), np.log(MOST), shape)))


def _with_few_digits(exact_amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a few digits: a person can read them, and they are the same on every processor."""
    rounded: np.ndarray = np.round(exact_amounts, 4)
    return rounded


def near(rng: np.random.Generator, amount: float, least: float = LEAST) -> float:
    """Return another amount: one in three anew, else some way off."""
    if rng.random() < 1 / 3:
        return float(amounts(rng, (), least))
    factor = np.exp(rng.normal(0, _STEP))
    return float(_with_few_digits(np.clip(amount * factor, least, MOST)))


def flipped(edge: NDArray[np.bool_], before: int, after: int) -> NDArray[np.bool_]:
    """Return the edges with one more, or one less."""
    changed = edge.copy()
    changed[before, after] = not changed[before, after]
    return changed
