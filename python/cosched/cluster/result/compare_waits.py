"""How alike two schedules of the same jobs are, and a log among many simulations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: A job that starts within so many seconds starts at once: on an idle machine Slurm takes up to a
#: minute as well, since its main scheduler looks at the whole queue once a minute
#: (``sched_interval``). Such a job tells nothing of the configuration.
AT_ONCE = 60.0
#: Two starts of a job are near each other within so many seconds. It is the resolution that a
#: what-if needs; 60 s is shown beside it.
NEAR_SECONDS = 300.0
#: The chance that a further simulation lies outside of the interval of prediction.
OUTSIDE_SHARE = 0.001


@dataclass(frozen=True)
class WaitComparison:
    """Two schedules of the same jobs, over the jobs that wait in at least one of them.

    Where this is the mean of several comparisons, so are all its numbers.
    """

    #: Jobs that wait longer than :data:`AT_ONCE` in at least one of the two.
    jobs: float
    #: Shares of these jobs whose starts are within 60 s, and within :data:`NEAR`.
    near_60: float
    #: The share of these jobs whose starts are within :data:`NEAR`.
    near_300: float
    #: Mean waits of these jobs (s), in the first and in the second schedule.
    mean: float
    #: The mean wait of these jobs in the second schedule (s).
    other_mean: float
    #: 95th percentiles of their waits (s).
    p95: float
    #: The 95th percentile of their waits in the second schedule (s).
    other_p95: float

    @property
    def mean_difference(self) -> float:
        """Mean wait of the first less that of the second (s)."""
        return self.mean - self.other_mean

    @property
    def p95_difference(self) -> float:
        """95th percentile of the first less that of the second (s)."""
        return self.p95 - self.other_p95


def compare_waits(waits: np.ndarray, other_waits: np.ndarray) -> WaitComparison:
    """Compare two schedules of the same jobs.

    Parameters
    ----------
    waits, other_waits : numpy.ndarray, shape (n,)
        Seconds from when a job could start until it started.

    Returns
    -------
    WaitComparison
        Where no job waits in either, shares of 1 and waits of 0.
    """
    waiting = (waits > AT_ONCE) | (other_waits > AT_ONCE)
    count = int(waiting.sum())
    if not count:
        return WaitComparison(0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    first, second = waits[waiting], other_waits[waiting]
    differences = np.abs(first - second)
    p95, other_p95 = np.percentile([first, second], 95, axis=1).tolist()
    return WaitComparison(
        float(count),
        float((differences <= AT_ONCE).mean()),
        float((differences <= NEAR_SECONDS).mean()),
        float(first.mean()),
        float(second.mean()),
        p95,
        other_p95,
    )


def swapped(comparison: WaitComparison) -> WaitComparison:
    """The same of the second schedule with the first."""
    field_name = comparison
    return WaitComparison(
        field_name.jobs,
        field_name.near_60,
        field_name.near_300,
        field_name.other_mean,
        field_name.mean,
        field_name.other_p95,
        field_name.p95,
    )


def mean_of(comparisons: list[WaitComparison]) -> WaitComparison:
    """The mean of each number."""
    rows = [list(vars(waits_comparison).values()) for waits_comparison in comparisons]
    return WaitComparison(*np.mean(rows, axis=0).tolist())


@dataclass(frozen=True)
class LogAmongSimulations:
    """A log compared with each of K simulations, and each simulation with the K - 1 others.

    If the simulator explains the log, the log is one more simulation: what its comparisons give is
    then distributed as what those of any one simulation with the others give.
    """

    #: The mean over the K comparisons of the log (first) with a simulation (second).
    log: WaitComparison
    #: For each simulation: the mean over its K - 1 comparisons with the others.
    simulations: tuple[WaitComparison, ...]

    @property
    def two_simulations(self) -> WaitComparison:
        """The mean over all pairs of simulations."""
        return mean_of(list(self.simulations))

    @property
    def mean_spread(self) -> float:
        """How far the mean wait of a further simulation lies from those of the others (s)."""
        return _spread([simulation.mean_difference for simulation in self.simulations])

    @property
    def p95_spread(self) -> float:
        """The same of the 95th percentile of the waits (s)."""
        return _spread([simulation.p95_difference for simulation in self.simulations])

    @property
    def least_near_300(self) -> float:
        """The smallest share of starts that a simulation has near those of the others."""
        return min(simulation.near_300 for simulation in self.simulations)


def compare_log(log_waits: np.ndarray, simulated_waits: np.ndarray) -> LogAmongSimulations:
    """Compare a log with simulations of it, and these with each other.

    Parameters
    ----------
    log_waits : numpy.ndarray, shape (n,)
        Seconds.
    simulated_waits : numpy.ndarray, shape (K, n)
        Seconds; K >= 2.

    Returns
    -------
    LogAmongSimulations
        O(K^2 n).
    """
    count = len(simulated_waits)
    log = mean_of([compare_waits(log_waits, waits) for waits in simulated_waits])
    rows: list[list[WaitComparison]] = [[] for _ in range(count)]
    for first in range(count):
        for second in range(first):
            pair = compare_waits(simulated_waits[first], simulated_waits[second])
            rows[first].append(pair)
            rows[second].append(swapped(pair))
    return LogAmongSimulations(log, tuple(mean_of(row) for row in rows))


def _spread(differences: list[float]) -> float:
    """Return how far from zero a further difference may lie (s): but for a chance of
    :data:`OUTSIDE` by Student's quantile, and at least as far as the farthest, since few schedules
    of a small cluster may lie far from all others."""
    from scipy.stats import t

    count = len(differences)
    quantile = float(t.ppf(1 - OUTSIDE_SHARE / 2, count - 1))
    half_width = quantile * float(np.std(differences, ddof=1)) * float(np.sqrt(1 + 1 / count))
    return max(half_width, float(np.abs(differences).max()))
