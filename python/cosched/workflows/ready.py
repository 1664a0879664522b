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
        self._row: dict[Hashable, int] = {}
        self._keys: list[Hashable] = []
        self._job: list[int] = []
        self._waiting = np.zeros(0, dtype=bool)
        self._needs = np.zeros((0, len(self.resources)), dtype=np.int64)
        self._first = np.zeros((0, 3))  # priority, temporary, input
        self._order = np.zeros(0, dtype=np.int64)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._row

    def __len__(self) -> int:
        return len(self._row)

    def keys(self):
        """The jobs, as a set-like view."""
        return self._row.keys()

    def add(self, entries: Sequence[tuple[Hashable, int, Ready]]) -> None:
        """Take in jobs: key, number, what starting depends on."""
        for row, (key, job, _) in enumerate(entries, len(self._keys)):
            self._row[key] = row
            self._keys.append(key)
            self._job.append(job)
        needs = [[ready.needs.get(name, 0) for name in self.resources] for _, _, ready in entries]
        first = [(ready.priority, ready.temporary, ready.input) for _, _, ready in entries]
        self._needs = np.concatenate([self._needs, np.array(needs, dtype=np.int64)])
        self._first = np.concatenate([self._first, np.array(first, dtype=float)])
        self._waiting = np.concatenate([self._waiting, np.ones(len(entries), dtype=bool)])

    def sort(self, paths: np.ndarray) -> None:
        """Order the jobs by priority, longest path, sizes, number."""
        rows = np.flatnonzero(self._waiting)
        job = np.array(self._job, dtype=np.int64)[rows]
        priority, temporary, size = self._first[rows].T
        descending = [size, temporary, paths[job], priority]
        keys = [job] + [-key for key in descending if key.size and key.min() != key.max()]
        self._order = rows[np.lexsort(keys)]

    def select(self, available: Sequence[int], allowed: Container[Hashable]) -> list[Hashable]:
        """Take out, in order, each job that still fits beside those before it.

        Parameters
        ----------
        available : sequence of int
            Of each resource.
        allowed : container
            Those that may start now.
        """
        rows = self._order
        if len(self._row) != len(allowed):  # type: ignore[arg-type]
            rows = rows[[self._keys[row] in allowed for row in rows]]
        chosen = rows[fitting(self._needs[rows], np.array(available, dtype=np.int64))]
        selected = [self._keys[row] for row in chosen]
        self._waiting[chosen] = False
        self._order = self._order[self._waiting[self._order]]
        for key in selected:
            del self._row[key]
        if 2 * len(self._row) < len(self._keys):
            self._compress()
        return selected

    def _compress(self) -> None:
        rows = np.flatnonzero(self._waiting)
        place = np.zeros(len(self._keys), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        self._order = place[self._order]
        self._keys = [self._keys[row] for row in rows]
        self._job = [self._job[row] for row in rows]
        self._row = {key: row for row, key in enumerate(self._keys)}
        self._needs, self._first = self._needs[rows], self._first[rows]
        self._waiting = np.ones(len(rows), dtype=bool)


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
