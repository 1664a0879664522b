"""Jobs that come after a snapshot: as many as in the same hour of the week, drawn from the past."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cosched.slurm.live.model import Ended, Job

_HOUR, _WEEK = 3600.0, 7 * 24
#: So many hours of the mean are added to what was seen of an hour of the week.
_PRIOR = 2.0
#: A day of the past is as one observation of how busy times are, and so is half a day before it.
_DAY, _BEFORE = 86400.0, 0.5


class Arrivals:
    """Submissions of the past, by hour of the week."""

    def __init__(self, history: Sequence[Job | Ended], until: float) -> None:
        came = [job.submit or 0.0 for job in history]
        times = np.array([time for time in came if time < until])
        self._rate = np.zeros(_WEEK)  # an hour
        self._days = _BEFORE
        self._pool: list[np.ndarray] = [np.arange(len(history))] * _WEEK
        if not len(times):
            return
        first = times.min()
        span = max(until - first, _HOUR)
        self._days += span / _DAY
        mean = len(times) / span * _HOUR
        hours = np.array([hour_of_week(time) for time in came])
        known = np.array([time < until for time in came])
        for hour in np.unique(hours[known]):
            self._pool[hour] = np.flatnonzero(known & (hours == hour))
        seen = np.bincount(hours[known], minlength=_WEEK)
        # How often each hour of the week has come.
        quarters = np.arange(first, until, _HOUR / 4)
        exposed = np.bincount((quarters // _HOUR).astype(int) % _WEEK, minlength=_WEEK) / 4
        self._rate = (seen + _PRIOR * mean) / (exposed + _PRIOR)

    def draw(
        self, begin: float, length: float, most: int, *, draws: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(draw, time, number of the job of the past) of those that come in so many seconds, by
        draw and time; at most about so many in each. A longer time begins with the same ones.

        Some futures are busier than the past, and some less, by a factor that has mean 1: the
        shorter the past is, the more so."""
        found = []
        busy = np.random.default_rng([seed, 5]).gamma(self._days, 1 / self._days, draws)
        end, at, left = begin + length, begin, float(most)
        while at < end and left > 0 and self._rate.any():
            turn = (np.floor(at / _HOUR) + 1) * _HOUR
            rng = np.random.default_rng([seed, 1, int(at // _HOUR)])
            hour = hour_of_week(at)
            left -= self._rate[hour] * (turn - at) / _HOUR
            counts = rng.poisson(busy * self._rate[hour] * (turn - at) / _HOUR)
            times = rng.uniform(at, turn, counts.sum())
            jobs = rng.choice(self._pool[hour], counts.sum())
            found.append((np.repeat(np.arange(draws), counts), times, jobs))
            at = turn
        if not found:
            return np.zeros(0, dtype=int), np.zeros(0), np.zeros(0, dtype=int)
        number, time, job = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((time, number))
        order = order[time[order] < end]
        return number[order], time[order], job[order]


def hour_of_week(seconds: float) -> int:
    """0 = the hour after midnight of a Thursday, in UTC (as 1970 began)."""
    return int(seconds // _HOUR) % _WEEK
