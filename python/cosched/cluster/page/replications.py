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

from cosched.cluster.result import Result
from cosched.cluster.result.groups import keys_of, starts_of
from cosched.cluster.result.replications import (
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
class Comparison:
    """The mean waits of two configurations over the same replications (s).

    Attributes
    ----------
    replications : int
    base_mean_wait, mean_wait : float
        Means over all jobs and replications.
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
    """Two results with as many replications each; `is_random`: the policy has replications."""
    base_means, other_means = mean_waits(base), mean_waits(other)
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
    if not np.array_equal(base.instance.ids, other.instance.ids):
        return False
    if not np.array_equal(base.instance.column("runtime"), other.instance.column("runtime")):
        return False
    return bool(np.array_equal(starts_of(base), starts_of(other)))


def waits(result: Result) -> np.ndarray:
    """Waits of the measured jobs (s): one row per replication; one row of a policy without any."""
    instance = result.instance
    waited = starts_of(result) - instance.column("eligible")
    return waited[:, instance.measured]


def mean_waits(result: Result) -> np.ndarray:
    """The mean wait in each replication (s)."""
    return waits(result).mean(axis=1)


def waits_of_jobs(result: Result) -> np.ndarray:
    """The wait of each job, measured or not: the mean over the replications (s)."""
    return np.asarray((starts_of(result) - result.instance.column("eligible")).mean(axis=0))


def waits_by(result: Result, what: str) -> pd.DataFrame:
    """:meth:`Result.by` with ``mean_wait`` and ``p95_wait`` as means over the replications.

    Components of heterogeneous jobs stand for one job there, in the first replication alone.
    """
    table = result.by(what)
    keys = keys_of(result.instance, what)
    counted = result.instance.measured
    if result.draws is None or keys is None or table["jobs"].sum() != counted.sum():
        return table
    groups = pd.DataFrame(waits(result).T).groupby(np.asarray(keys)[counted], dropna=False)
    return table.assign(
        mean_wait=groups.mean().mean(axis=1).to_numpy(),
        p95_wait=groups.quantile(0.95).mean(axis=1).to_numpy(),
    )


def measures_of(result: Result) -> dict[str, float]:
    """Means over the replications of each replication's mean, median and 95th-percentile wait (s),
    and of its largest stretch."""
    waited = waits(result)
    values = result.value if result.draws is None else result.draws.values.mean()
    return {
        "mean_wait": float(waited.mean(axis=1).mean()),
        "median_wait": float(np.median(waited, axis=1).mean()),
        "p95_wait": float(np.percentile(waited, 95, axis=1).mean()),
        "value": float(values),
    }


#: The numbers of a row as JSON has them; None where a row has no result.
COMPARISON_NUMBERS = (
    "jobs", "mean_wait", "p95_wait", "mean_wait_p05", "mean_wait_p95", "difference",
    "difference_p05", "difference_p95", "difference_low", "difference_high", "clear", "noise",
    "draws",
)  # fmt: skip


def numbers_of_comparison(base: Result, other: Result, *, is_random: bool) -> dict[str, Any]:
    """The numbers of a scenario as JSON has them (s)."""
    comparison = compare(base, other, is_random=is_random)
    paired = mean_waits(other) - mean_waits(base)
    low, high = np.percentile(paired, [5, 95]).tolist()
    mean_low, mean_high = np.percentile(mean_waits(other), [5, 95]).tolist()
    numbers = (
        int(other.instance.measured.sum()),
        comparison.mean_wait,
        measures_of(other)["p95_wait"],
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
