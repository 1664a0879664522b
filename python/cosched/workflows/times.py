"""How long a job will take: known before, or as others took in this run."""

from __future__ import annotations

from bisect import insort
from math import nan

import numpy as np


class ExpectedTimes:
    """Expected seconds of jobs 0, 1, ...: what is known of the job, else the median of its rule's
    finished jobs, else the median of all finished jobs, else 1.

    Examples
    --------
    >>> times = ExpectedTimes()
    >>> times.add("align"), times.add("align"), times.add("sort", 3.0), times.add("plot")
    (0, 1, 2, 3)
    >>> times.learn(0, 8.0)
    >>> times.seconds().tolist()
    [8.0, 8.0, 3.0, 8.0]
    """

    def __init__(self) -> None:
        self._known: list[float] = []
        self._rule: list[int] = []
        self._rules: dict[str, int] = {}
        self._taken: list[list[float]] = []  # a sorted list a rule
        self._all_taken: list[float] = []

    def add(self, rule: str, seconds: float | None = None) -> int:
        """The number of a new job."""
        number = self._rules.setdefault(rule, len(self._rules))
        if number == len(self._taken):
            self._taken.append([])
        self._rule.append(number)
        self._known.append(nan if seconds is None else seconds)
        return len(self._rule) - 1

    def learn(self, job: int, seconds: float) -> None:
        """What a job took."""
        self._known[job] = seconds
        insort(self._taken[self._rule[job]], seconds)
        insort(self._all_taken, seconds)

    def seconds(self) -> np.ndarray:
        """Expected seconds of every job, as an array."""
        overall = _median(self._all_taken) if self._all_taken else 1.0
        rules = np.array([_median(taken) if taken else overall for taken in self._taken])
        known = np.array(self._known, dtype=float)
        return np.where(np.isnan(known), rules[np.array(self._rule, dtype=int)], known)


def _median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
