"""Later submissions: a Markov-modulated Poisson process, fitted to the submissions of the past.

The expected rate follows the hour of the week. The real rate is that rate times a level. A level
lasts for an exponentially distributed time; then the next one is drawn from a gamma distribution
with mean 1. Bursts, campaigns and quiet times are levels. The mean holding time and the shape of
the gamma distribution are not known: each future draws them from their posterior distribution,
and the present level from its filtered distribution. A cluster at which nobody has submitted
anything for an hour is thus expected to stay quiet for a while (Fischer and Meier-Hellstern 1993,
"The Markov-modulated Poisson process (MMPP) cookbook").

Users submit several jobs at a time. Events of the process are batches; their mean size is the ratio
of variance to mean of the submissions in a minute, and a batch resembles consecutive submissions of
the past. 24 jobs in three batches say as much about the rate as three jobs do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HOUR, DAY = 3600.0, 86400.0
_HOURS_OF_WEEK = 7 * 24
#: Seconds of one step of the level.
_STEP = 900.0
#: Submissions within so many seconds are a batch.
_BATCH_SECONDS = 60.0
#: Steps of the past that the posterior distribution uses at most: four weeks.
_MAX_STEPS = 28 * 96
#: Seconds of the past that count: a year.
_MAX_PAST = 366 * DAY
#: Hours of the overall mean rate that are added to what was seen of one hour of the week.
_PRIOR_HOURS = 2.0
#: Days that the mean rate was observed for before the past begins: it makes short pasts uncertain.
_PRIOR_DAYS = 0.5
#: Levels, as multiples of the expected rate.
_LEVELS = 2.0 ** np.linspace(-9.0, 6.0, 46)
#: Mean holding times of a level (s), and shapes of the distribution of levels. A priori the
#: probability of a holding time is proportional to its inverse; all shapes are equally likely.
_HOLDING_TIMES = HOUR * 2.0 ** np.arange(-2.0, 7.0)
_SHAPES = 2.0 ** np.arange(-2.0, 5.0)


class Submissions(NamedTuple):
    """Submissions of all futures, by future and time."""

    #: Number of the future, from 0.
    future: NDArray[np.int64]
    #: Seconds since 1970.
    time: NDArray[np.float64]
    #: Row of the job of the past that the submitted job resembles.
    template: NDArray[np.int64]


def hour_of_week(seconds: float) -> int:
    """Hour 0 is the one after midnight of a Thursday in UTC, as 1970 began."""
    return int(seconds // HOUR) % _HOURS_OF_WEEK


class ArrivalModel:
    """Submissions that are expected after those of the past.

    Parameters
    ----------
    times : numpy.ndarray
        When each job of the past was submitted (seconds since 1970).
    begin, end : float
        All submissions from `begin` to `end` are among `times`; those before `begin` are not
        counted.
    sustainable_rate : float
        Submissions per second that keep the machine busy. No more can come in the long run.
    draws, seed : int
        Number of futures, and what makes them the same ones again.
    """

    def __init__(
        self,
        times: NDArray[np.float64],
        begin: float,
        end: float,
        *,
        sustainable_rate: float,
        draws: int,
        seed: int,
    ) -> None:
        self._seed, self._draws = seed, draws
        begin = max(begin, end - _MAX_PAST)
        rows = np.flatnonzero((times >= begin) & (times < end))
        #: Rows of the past by time of submission.
        self._rows = rows[np.argsort(times[rows], kind="stable")]
        observed = times[self._rows]
        #: Mean number of jobs of a batch.
        self._batch_size = batch_size_of(observed, begin, end)
        span = max(end - begin, HOUR)
        mean_rate = (len(rows) + _PRIOR_DAYS * DAY * sustainable_rate) / (span + _PRIOR_DAYS * DAY)
        hours = (observed // HOUR).astype(int) % _HOURS_OF_WEEK
        #: Places in `_rows` of what came in each hour of the week; of hours without any, all.
        self._places = [np.arange(len(rows))] * _HOURS_OF_WEEK
        for hour in np.unique(hours):
            self._places[hour] = np.flatnonzero(hours == hour)
        self._rates = self._hourly_rates(hours, begin, end, mean_rate)
        rng = np.random.default_rng([seed, 5])
        days = _PRIOR_DAYS + span / DAY
        #: Mean level of each future, as a factor of the hourly rates: as uncertain as these are.
        self._mean_level = rng.gamma(days, 1 / days, draws)
        self._fit(observed, begin, end, rng)

    @staticmethod
    def _hourly_rates(hours: np.ndarray, begin: float, end: float, mean_rate: float) -> np.ndarray:
        """Return submissions per second, by hour of the week."""
        quarters = np.arange(begin, end, HOUR / 4)
        exposure = (
            np.bincount((quarters // HOUR).astype(int) % _HOURS_OF_WEEK, minlength=_HOURS_OF_WEEK)
            / 4
        )
        counts = np.bincount(hours, minlength=_HOURS_OF_WEEK)
        rates = (counts + _PRIOR_HOURS * mean_rate * HOUR) / (exposure + _PRIOR_HOURS) / HOUR
        return np.asarray(rates)

    def _fit(
        self, observed: np.ndarray, begin: float, end: float, rng: np.random.Generator
    ) -> None:
        """Draw each future's holding time, distribution of levels, and level at `end`."""
        holding, shapes = (axis.ravel() for axis in np.meshgrid(_HOLDING_TIMES, _SHAPES))
        stationary = _gamma_weights(shapes)
        belief, likelihood = stationary.copy(), -np.log(holding)
        first = max(begin, end - _MAX_STEPS * _STEP)
        edges = np.append(np.arange(first, end, _STEP), end)
        counts = np.histogram(observed, edges)[0]
        for count, since, until in zip(counts, edges[:-1], edges[1:], strict=True):
            stay = np.exp(-(until - since) / holding)[:, None]
            expected = self._rates[hour_of_week((since + until) / 2)] * (until - since) * _LEVELS
            predicted = stay * belief + (1 - stay) * stationary
            logs = (count * np.log(np.maximum(expected, 1e-300)) - expected) / self._batch_size
            weights = predicted * np.exp(logs - logs.max())
            total = weights.sum(axis=1)
            likelihood += np.log(total) + logs.max()
            belief = weights / total[:, None]
        posterior = np.exp(likelihood - likelihood.max())
        chosen = rng.choice(len(holding), self._draws, p=posterior / posterior.sum())
        self._holding = holding[chosen]
        self._stationary = np.cumsum(stationary[chosen], axis=1)
        self._level = _draw_levels(np.cumsum(belief[chosen], axis=1), rng.uniform(size=self._draws))

    def draw(self, begin: float, length: float, max_expected_count: int) -> Submissions:
        """Draw the submissions of `length` seconds from `begin` on.

        Drawing ends early, at a whole quarter of an hour, once the hourly rates let
        `max_expected_count` submissions or more be expected since `begin`. This bounds the mean
        over futures and not the single future: one with high levels has more submissions, one with
        low levels has fewer. A greater length begins with the same submissions.
        """
        end, now, expected = begin + length, begin, 0.0
        level, chunks = self._level.copy(), []
        while now < end and expected < max_expected_count and self._rates.any():
            turn = (np.floor(now / _STEP) + 1) * _STEP
            rng = np.random.default_rng([self._seed, 1, int(now // _STEP)])
            hour = hour_of_week(now)
            ends = rng.uniform(size=self._draws) > np.exp(-(turn - now) / self._holding)
            fresh = _draw_levels(self._stationary, rng.uniform(size=self._draws))
            level = np.where(ends, fresh * self._mean_level, level)
            step_count = self._rates[hour] * (turn - now)
            expected += step_count
            batches = rng.poisson(level * step_count / self._batch_size)
            chunks.append(self._draw_batches(batches, now, turn, self._places[hour], rng))
            now = turn
        if not chunks:
            return Submissions(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0, dtype=int))
        future, time, template = (np.concatenate(column) for column in zip(*chunks, strict=True))
        order = np.lexsort((time, future))
        order = order[time[order] < end]
        return Submissions(future[order], time[order], template[order])

    def _draw_batches(
        self,
        batches: np.ndarray,
        begin: float,
        end: float,
        places: np.ndarray,
        rng: np.random.Generator,
    ) -> Submissions:
        """Return jobs of so many batches by future, each like consecutive submissions of the
        past."""
        total = int(batches.sum())
        size = np.floor(self._batch_size + rng.uniform(size=total)).astype(int)
        future = np.repeat(np.repeat(np.arange(self._draws), batches), size)
        start = rng.uniform(begin, end, total)
        first = rng.choice(places, total)
        # 0, 1, 2, ... within each batch.
        member = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        place = (np.repeat(first, size) + member) % len(self._rows)
        # One after another, as in the past.
        part = (member + rng.uniform(size=len(member))) / np.repeat(size, size)
        time = (
            np.repeat(start, size) + np.where(np.repeat(size, size) > 1, part, 0.0) * _BATCH_SECONDS
        )
        return Submissions(future, np.minimum(time, end), self._rows[place])


def batch_size_of(times: NDArray[np.float64], begin: float, end: float) -> float:
    """Mean number of submissions at a time: the ratio of variance to mean of counts by minute.

    The variance is that within windows of a quarter of an hour, so that busy hours are no batches.
    At least 1, as of a Poisson process.
    """
    minutes = int((end - begin) // _BATCH_SECONDS)
    window = min(int(_STEP / _BATCH_SECONDS), minutes)
    if window < 2:
        return 1.0
    windows = minutes // window
    edges = begin + _BATCH_SECONDS * np.arange(windows * window + 1)
    counts = np.histogram(times, edges)[0].reshape(windows, window)
    mean = counts.mean()
    if not mean:
        return 1.0
    return float(max(counts.var(axis=1, ddof=1).mean() / mean, 1.0))


def _gamma_weights(shapes: np.ndarray) -> np.ndarray:
    """Return the probability of each of the levels under gamma distributions with mean 1, one row a
    shape."""
    logs = shapes[:, None] * (np.log(_LEVELS) - _LEVELS)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _draw_levels(cumulative: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return one level for each row of cumulative probabilities."""
    place = (cumulative < uniform[:, None] * cumulative[:, -1:]).sum(axis=1)
    return np.asarray(_LEVELS[np.minimum(place, len(_LEVELS) - 1)])
