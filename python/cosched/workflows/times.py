"""How long a job will take: known before, or as others took in this run."""

from __future__ import annotations

from bisect import insort
from math import nan

import numpy as np


class ExpectedTimes:
    """Expected seconds of jobs 0, 1, ...

    What others of the rule took in this run comes first: over what was known of them before, times
    what is known of the job. Else what earlier runs say; else its time limit, times the share of
    their limits that jobs used so far; else the median of all that ended, or of all of which
    something is known; 1 where nothing is known of any job.

    Examples
    --------
    >>> times = ExpectedTimes()
    >>> times.add("align"), times.add("align"), times.add("sort", 3.0), times.add("plot")
    (0, 1, 2, 3)
    >>> times.seconds().tolist()
    [3.0, 3.0, 3.0, 3.0]
    >>> times.learn(0, 8.0)
    >>> times.seconds().tolist()
    [8.0, 8.0, 3.0, 8.0]
    """

    def __init__(self) -> None:
        self._taken: list[float] = []  # of jobs: nan until they end
        self._known: list[float] = []
        self._is_limit: list[bool] = []
        self._rule: list[int] = []
        self._rules: dict[str, int] = {}
        self._of_rule: list[tuple[list[float], list[float]]] = []  # sorted seconds, ratios
        self._all: list[float] = []
        self._shares: list[float] = []  # of limits

    def add(self, rule: str, seconds: float | None = None, *, limit: bool = False) -> int:
        """The number of a new job; what is known of it is a time, or a limit that it has."""
        number = self._rules.setdefault(rule, len(self._rules))
        if number == len(self._of_rule):
            self._of_rule.append(([], []))
        self._rule.append(number)
        self._known.append(nan if seconds is None else seconds)
        self._is_limit.append(limit)
        self._taken.append(nan)
        return len(self._rule) - 1

    @property
    def learned(self) -> bool:
        """Whether a job has ended."""
        return bool(self._all)

    def learn(self, job: int, seconds: float) -> None:
        """What a job took."""
        self._taken[job] = seconds
        taken, ratios = self._of_rule[self._rule[job]]
        insort(taken, seconds)
        insort(self._all, seconds)
        if self._known[job] > 0:
            insort(ratios, seconds / self._known[job])
            if self._is_limit[job]:
                insort(self._shares, seconds / self._known[job])

    def seconds(self) -> np.ndarray:
        """Expected seconds of every job, as an array."""
        known, taken = np.array(self._known, dtype=float), np.array(self._taken, dtype=float)
        rule = np.array(self._rule, dtype=int)
        limits = np.array(self._is_limit, dtype=bool)
        share = _median(self._shares) if self._shares else 1.0
        before = np.where(limits, share * known, known)  # without this run's own
        said = before[~np.isnan(before)]
        other = 1.0 if not len(said) else float(np.median(said))
        other = _median(self._all) if self._all else other
        medians = np.array([_median(t) if t else nan for t, _ in self._of_rule])[rule]
        ratios = np.array([_median(r) if r else nan for _, r in self._of_rule])[rule]
        found = np.full(len(rule), other)
        for better in (before, medians, ratios * known, taken):
            found = np.where(np.isnan(better), found, better)
        return found


def _median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
