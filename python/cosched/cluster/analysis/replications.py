"""Numbers over replications: their mean, and where one more replication would lie.

A replication is one simulated schedule of the same jobs. The hidden clocks of the scheduler (when
slurmctld started, how long it takes to launch a job) differ from one to the next. Two settings are
compared replication by replication, on the same clocks.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.result import Result
from cosched.cluster.result.groups import keys_of, starts_of
from cosched.cluster.result.replication_subset import (
    replications_of as replications_of,
    with_first_replications as with_first_replications,
)
from cosched.lazy import pd

#: Probability that one more replication lies inside the interval of a :class:`Spread`.
COVERAGE = 0.95


@dataclass(frozen=True)
class Spread:
    """A number over replications: its mean, and the 95% prediction interval of one more of them.

    The prediction interval judges whether a difference is clear, not the confidence interval of the
    mean. A log is one sample of jobs, and a schedule amplifies small changes: two neutral settings
    have schedules as different as two replications. More replications do not average that
    difference out: at 20 replications a confidence interval of the mean calls 13.6% of 221 neutral
    changes significant, the prediction interval none, and 2.7% at 2 replications
    (``tests_py/bench/bench_neutral_changes.py``).

    Attributes
    ----------
    mean, low, high : float
        Seconds. Without a second replication the interval is the mean alone.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> Spread:
        """Of one value per replication, with Student's quantile."""
        mean = float(values.mean())
        if len(values) < 2:
            return cls(mean, mean, mean)
        from scipy.stats import t

        count = len(values)
        quantile = float(t.ppf((1 + COVERAGE) / 2, count - 1))
        half_width = quantile * float(values.std(ddof=1)) * np.sqrt(1 + 1 / count)
        return cls(mean, mean - half_width, mean + half_width)

    @property
    def includes_zero(self) -> bool:
        """Whether zero lies inside: one more replication may well have the other sign."""
        return self.low <= 0 <= self.high

    @property
    def noise(self) -> bool:
        """The old name of :attr:`includes_zero`."""
        warnings.warn("Spread.noise is now Spread.includes_zero", DeprecationWarning, stacklevel=2)
        return self.includes_zero


@dataclass(frozen=True)
class CommonJobs:
    """The jobs that two results have in common, and that are measured in both.

    Two results of one log may have different jobs: a change leaves jobs out, a limit refuses some,
    or lets others in. Waits are compared over the jobs of both alone.

    Attributes
    ----------
    in_base, in_other : numpy.ndarray of bool, shape (n,)
        Which jobs of each result these are, in the order of its jobs.
    only_in_base, only_in_other : int
        How many further measured jobs each result has.
    """

    in_base: np.ndarray
    in_other: np.ndarray
    only_in_base: int
    only_in_other: int

    @classmethod
    def of(cls, base: Instance, other: Instance) -> CommonJobs:
        """Of two instances that were made from the same log; jobs are the same by their row."""
        base_rows, other_rows = base.rows_of_log, other.rows_of_log
        in_base = base.measured & np.isin(base_rows, other_rows[other.measured])
        in_other = other.measured & np.isin(other_rows, base_rows[base.measured])
        return cls(
            in_base,
            in_other,
            int(base.measured.sum() - in_base.sum()),
            int(other.measured.sum() - in_other.sum()),
        )

    @property
    def count(self) -> int:
        """How many jobs both have."""
        return int(self.in_other.sum())

    @property
    def are_all(self) -> bool:
        """Whether neither of the two has other jobs."""
        return self.only_in_base == 0 and self.only_in_other == 0


@dataclass(frozen=True)
class Comparison:
    """The mean waits of two configurations over the same jobs and replications (s).

    Attributes
    ----------
    replications : int
    base_mean_wait, mean_wait : float
        Means over the replications, and over the jobs that both configurations have.
    difference : Spread
        Its mean is ``mean_wait - base_mean_wait``.
    is_clear : bool or None
        Whether the sign of the difference is more than run-to-run variability; with a single
        replication it never is. None: a policy without chance has one schedule of a log, which
        tells nothing of variability.
    has_same_starts : bool
        Every job starts at the same second in every replication, and has the same run time.
    """

    replications: int
    base_mean_wait: float
    mean_wait: float
    difference: Spread
    is_clear: bool | None
    has_same_starts: bool


def compare(base: Result, other: Result, *, is_random: bool) -> Comparison:
    """Two results with as many replications each, over the jobs that both have; `is_random`: the
    policy has replications."""
    common = CommonJobs.of(base.instance, other.instance)
    base_means, other_means = mean_waits(base, common.in_base), mean_waits(other, common.in_other)
    difference = Spread.of(other_means - base_means)
    is_clear = len(base_means) > 1 and not difference.includes_zero
    return Comparison(
        replications=len(base_means),
        base_mean_wait=float(base_means.mean()),
        mean_wait=float(other_means.mean()),
        difference=difference,
        is_clear=is_clear if is_random else None,
        has_same_starts=_has_same_starts(base, other),
    )


def _has_same_starts(base: Result, other: Result) -> bool:
    if not np.array_equal(base.instance.rows_of_log, other.instance.rows_of_log):
        return False
    if not np.array_equal(base.instance.column("runtime"), other.instance.column("runtime")):
        return False
    return bool(np.array_equal(starts_of(base), starts_of(other)))


def waits(result: Result, jobs: np.ndarray | None = None) -> np.ndarray:
    """Waits (s): one row per replication; one row of a policy without any.

    Parameters
    ----------
    jobs : numpy.ndarray of bool, shape (n,), optional
        Whose waits; default: the measured jobs.
    """
    instance = result.instance
    waited = starts_of(result) - instance.column("eligible")
    return waited[:, instance.measured if jobs is None else jobs]


def mean_waits(result: Result, jobs: np.ndarray | None = None) -> np.ndarray:
    """The mean wait of these jobs (default: the measured jobs) in each replication (s)."""
    return waits(result, jobs).mean(axis=1)


def waits_of_jobs(result: Result) -> np.ndarray:
    """The wait of each job, measured or not: the mean over the replications (s)."""
    return np.asarray((starts_of(result) - result.instance.column("eligible")).mean(axis=0))


def waits_by(result: Result, what: str) -> pd.DataFrame:
    """:meth:`Result.by` with ``mean_wait`` and ``p95_wait`` as means over the replications.

    Components of heterogeneous jobs stand for one job there, in the first replication alone.
    """
    table = result.by(what)
    keys = keys_of(result.instance, what)
    is_measured = result.instance.measured
    if result.draws is None or keys is None or table["jobs"].sum() != is_measured.sum():
        return table
    groups = pd.DataFrame(waits(result).T).groupby(np.asarray(keys)[is_measured], dropna=False)
    return table.assign(
        mean_wait=groups.mean().mean(axis=1).to_numpy(),
        p95_wait=groups.quantile(0.95).mean(axis=1).to_numpy(),
    )


def measures_of(result: Result, jobs: np.ndarray | None = None) -> dict[str, float]:
    """Means over the replications of each replication's mean, median and 95th-percentile wait (s)
    of these jobs (default: the measured jobs), and of its largest stretch, of all measured jobs."""
    waited = waits(result, jobs)
    values = result.value if result.draws is None else result.draws.values.mean()
    return {
        "mean_wait": float(waited.mean(axis=1).mean()),
        "median_wait": float(np.median(waited, axis=1).mean()),
        "p95_wait": float(np.percentile(waited, 95, axis=1).mean()),
        "value": float(values),
    }


#: The numbers of a row as JSON has them; None where a row has no result.
COMPARISON_NUMBERS = (
    "jobs", "mean_wait", "base_mean_wait", "p95_wait", "mean_wait_p05", "mean_wait_p95",
    "difference", "difference_p05", "difference_p95", "difference_low", "difference_high",
    "clear", "noise", "draws",
)  # fmt: skip


def numbers_of_comparison(base: Result, other: Result, *, is_random: bool) -> dict[str, Any]:
    """The numbers of a scenario as JSON has them (s), of the jobs that both results have."""
    comparison = compare(base, other, is_random=is_random)
    common = CommonJobs.of(base.instance, other.instance)
    means = mean_waits(other, common.in_other)
    low, high = np.percentile(means - mean_waits(base, common.in_base), [5, 95]).tolist()
    mean_low, mean_high = np.percentile(means, [5, 95]).tolist()
    numbers = (
        common.count,
        comparison.mean_wait,
        comparison.base_mean_wait,
        measures_of(other, common.in_other)["p95_wait"],
        mean_low,
        mean_high,
        comparison.difference.mean,
        low,
        high,
        comparison.difference.low,
        comparison.difference.high,
        comparison.is_clear,
        None if comparison.is_clear is None else not comparison.is_clear,
        comparison.replications,
    )
    return dict(zip(COMPARISON_NUMBERS, numbers, strict=True))
