"""Ready jobs in the order in which they should start, and which of them fit."""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import NamedTuple

import numpy as np

_BLOCK = 4096


class Ready(NamedTuple):
    """What starting a job depends on.

    Attributes
    ----------
    needs : dict of str to int
        Of each resource; 0 of what is not named.
    priority : float
        A higher one goes before everything else.
    temporary, input : float
        Bytes of temporary files that the job reads, of all that it reads: more goes first among
        equally long paths.
    members : tuple
        The jobs that start together, of a group.
    """

    needs: dict[str, int]
    priority: float = 0.0
    temporary: float = 0.0
    input: float = 0.0
    members: tuple[Hashable, ...] = ()


class ReadyList:
    """Jobs that wait for resources only.

    Notes
    -----
    A selection costs O(n) in array operations, and sorting where something is new: 100,000 jobs
    take some hundredths of a second.
    """

    def __init__(self, resources: Sequence[str]) -> None:
        self.resources = tuple(resources)
        self._keys: dict[Hashable, None] = {}  # of the rows below, in their order
        self._job = np.zeros(0, dtype=np.int64)
        self._needs = np.zeros((0, len(self.resources)), dtype=np.int64)
        self._first = np.zeros((0, 3))  # priority, temporary, input
        self._order = np.zeros(0, dtype=np.int64)

    def keys(self):
        """The jobs, as a set-like view."""
        return self._keys.keys()

    def add(self, entries: Sequence[tuple[Hashable, int, Ready]]) -> None:
        """Take in jobs: key, number, what starting depends on."""
        needs = [[ready.needs.get(name, 0) for name in self.resources] for _, _, ready in entries]
        first = [(ready.priority, ready.temporary, ready.input) for _, _, ready in entries]
        self._keys.update((key, None) for key, _, _ in entries)
        self._job = np.concatenate([self._job, [job for _, job, _ in entries]])
        self._needs = np.concatenate([self._needs, np.array(needs, dtype=np.int64)])
        self._first = np.concatenate([self._first, np.array(first, dtype=float)])

    def sort(self, paths: np.ndarray) -> None:
        """Order the jobs by priority, longest path, sizes, number."""
        priority, temporary, size = self._first.T
        descending = [size, temporary, paths[self._job], priority]
        varied = [-key for key in descending if key.size and key.min() != key.max()]
        self._order = np.lexsort([self._job, *varied])

    def select(self, available: Sequence[int], allowed: Container[Hashable]) -> list[Hashable]:
        """Take out, in order, each job that still fits beside those before it.

        Parameters
        ----------
        available : sequence of int
            Of each resource.
        allowed : container
            Those that may start now.
        """
        rows, keys = self._order, list(self._keys)
        if len(keys) != len(allowed):  # type: ignore[arg-type]
            rows = rows[[keys[row] in allowed for row in rows]]
        chosen = rows[fitting(self._needs[rows], np.array(available, dtype=np.int64))]
        selected = [keys[row] for row in chosen]
        for key in selected:
            del self._keys[key]
        kept = np.ones(len(keys), dtype=bool)
        kept[chosen] = False
        self._job, self._needs = self._job[kept], self._needs[kept]
        self._first = self._first[kept]
        self._order = (np.cumsum(kept) - 1)[self._order[kept[self._order]]]
        return selected


def fitting(needs: np.ndarray, available: np.ndarray) -> np.ndarray:
    """Rows that a list schedule starts: in order, each that fits beside those before it.

    Parameters
    ----------
    needs : (n, r) array of int
        At least 0.
    available : (r,) array of int

    Examples
    --------
    >>> fitting(np.array([[2], [3], [1], [1], [1]]), np.array([4])).tolist()
    [0, 2, 3]
    """
    left = available.copy()
    chosen = []
    for begin in range(0, len(needs), _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, len(needs)))
        while rows.size:
            rows = rows[(needs[rows] <= left).all(axis=1)]
            used = np.cumsum(needs[rows], axis=0)
            over = ~(used <= left).all(axis=1)
            count = int(over.argmax()) if over.any() else rows.size
            if count:
                chosen.append(rows[:count])
                left -= used[count - 1]
            rows = rows[count:]
    return np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
