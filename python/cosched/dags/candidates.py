"""What an adversary looks at: small random instances, their neighbours, smaller ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cosched.dags.instance import Instance

#: Times are within (s); data likewise, in bytes at 1 byte/s.
LEAST, MOST = 0.01, 1.0
#: Standard deviation of the logarithm of a time that changes a little.
_STEP = 0.5


@dataclass(frozen=True, eq=False)
class Candidate:
    """Times (n, Q); ``edge[i, j]``: i before j, for i < j alone; data in bytes along edges."""

    times: np.ndarray
    edge: np.ndarray
    units: tuple[int, ...]
    data: np.ndarray | None

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
            rest = tasks[tasks != task]
            both = np.ix_(rest, rest)
            data = None if self.data is None else self.data[both]
            yield replace(self, times=self.times[rest], edge=self.edge[both], data=data)
        for before, after in np.argwhere(self.edge):
            yield replace(self, edge=_flipped(self.edge, before, after))


@dataclass(frozen=True)
class Space:
    """Instances of so many tasks on these units."""

    tasks: int
    units: tuple[int, ...]
    transfers: bool

    def drawn(self, rng: np.random.Generator) -> Candidate:
        """At random: times of any magnitude, any density of edges."""
        n = self.tasks
        edge = np.triu(rng.random((n, n)) < rng.uniform(0, 0.5), 1)
        data = _amounts(rng, (n, n)) if self.transfers else None
        return Candidate(_amounts(rng, (n, len(self.units))), edge, self.units, data)

    def moved(self, here: Candidate, rng: np.random.Generator) -> Candidate:
        """A neighbour: mostly one change."""
        for _ in range(rng.geometric(0.6)):
            here = self._changed(here, rng)
        return here

    def _changed(self, here: Candidate, rng: np.random.Generator) -> Candidate:
        what = rng.random()
        task, other = rng.integers(self.tasks, size=2)
        if what < 0.45:
            times = here.times.copy()
            kind = rng.integers(len(self.units))
            times[task, kind] = _near(rng, times[task, kind])
            return replace(here, times=times)
        if what < 0.6:  # like tasks are what lists stumble over
            times = here.times.copy()
            times[task] = times[other]
            return replace(here, times=times)
        if task == other:
            return here
        pair = min(task, other), max(task, other)
        if here.data is not None and what < 0.8:
            data = here.data.copy()
            data[pair] = _near(rng, data[pair])
            return replace(here, data=data)
        return replace(here, edge=_flipped(here.edge, *pair))


def _amounts(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return _short(np.exp(rng.uniform(np.log(LEAST), np.log(MOST), shape)))


def _short(amounts: np.ndarray) -> np.ndarray:
    """A few digits: a person can read them, and they are the same on every processor."""
    return np.round(amounts, 4)


def _near(rng: np.random.Generator, amount: float) -> float:
    """Another amount: one in three anew, else some way off."""
    if rng.random() < 1 / 3:
        return float(_amounts(rng, ()))
    return float(_short(np.clip(amount * np.exp(rng.normal(0, _STEP)), LEAST, MOST)))


def _flipped(edge: np.ndarray, before: int, after: int) -> np.ndarray:
    changed = edge.copy()
    changed[before, after] = not changed[before, after]
    return changed
