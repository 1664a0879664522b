"""Jobs that come after a snapshot: as many as in the same hour of the week, drawn from the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_HOUR, _WEEK = 3600.0, 7 * 24
#: So many hours of the mean are added to what was seen of an hour of the week.
_PRIOR = 2.0


class Arrivals:
    """Submissions of the past, by hour of the week."""

    def __init__(self, history: Sequence[Mapping[str, Any]], until: float) -> None:
        self._jobs = list(history)
        self._until = until
        times = np.array([job["submit"] for job in history if job["submit"] < until])
        self._rate = np.zeros(_WEEK)  # an hour
        self._by_hour: list[list[int]] = [[] for _ in range(_WEEK)]
        if not len(times):
            return
        first = times.min()
        span = max(until - first, _HOUR)
        mean = len(times) / span * _HOUR
        seen, exposed = np.zeros(_WEEK), np.zeros(_WEEK)
        for k, job in enumerate(history):
            if job["submit"] < until:
                seen[hour_of_week(job["submit"])] += 1
                self._by_hour[hour_of_week(job["submit"])].append(k)
        # How often each hour of the week has come.
        whole = np.arange(first, until, _HOUR / 4)
        for moment in whole:
            exposed[hour_of_week(float(moment))] += 0.25
        self._rate = (seen + _PRIOR * mean) / (exposed + _PRIOR)

    @property
    def mean_rate(self) -> float:
        """Submissions an hour."""
        return float(self._rate.mean())

    def draw(
        self, begin: float, length: float, rng: np.random.Generator, most: int
    ) -> list[tuple[float, Mapping[str, Any]]]:
        """(time, job of the past) of those that come in so many seconds, at most so many."""
        found: list[tuple[float, Mapping[str, Any]]] = []
        at = begin
        while at < begin + length and len(found) < most and self._rate.any():
            end = min((np.floor(at / _HOUR) + 1) * _HOUR, begin + length)
            hour = hour_of_week(at)
            count = int(rng.poisson(self._rate[hour] * (end - at) / _HOUR))
            pool = self._by_hour[hour] or range(len(self._jobs))
            for time in np.sort(rng.uniform(at, end, count)):
                found.append((float(time), self._jobs[pool[int(rng.integers(len(pool)))]]))
            at = end
        return found[:most]


def hour_of_week(seconds: float) -> int:
    """0 = the hour after midnight of a Thursday, in UTC (as 1970 began)."""
    return int(seconds // _HOUR) % _WEEK
