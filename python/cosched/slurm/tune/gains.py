"""The gain of a setting in weeks that did not choose it, with a confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cosched.cluster.page.runs import GroupChange, groups_between
from cosched.slurm.tune.space import Measure
from cosched.slurm.tune.trials import Simulated
from cosched.slurm.tune.weeks import Block

#: Parts of a week, whose differences are compared: at most 14, half a day where a week has seven.
_MIN_PARTS, _MAX_PARTS = 2, 14
#: Confidence of an interval; with several objectives the doubt is divided among them (Bonferroni).
CONFIDENCE = 0.9


@dataclass(frozen=True)
class JudgedBlock:
    """A test block as the machine is today, and under the setting that is judged."""

    block: Block
    today: Simulated
    then: Simulated


@dataclass(frozen=True)
class HeldOutGain:
    """A measure today and under another setting (s, or a ratio), and the share that is saved.

    `low` and `high` bound the gain that the setting has in weeks like these. They are -inf and 1
    where the weeks do not bound it.
    """

    measure: Measure
    today: float
    then: float
    gain: float
    low: float
    high: float

    @property
    def is_proven(self) -> bool:
        """Whether the measure falls beyond chance."""
        return self.low > 0

    @property
    def is_loss(self) -> bool:
        """Whether the measure rises beyond chance."""
        return self.high < 0


def held_out_gain(
    measure: Measure, judged: Sequence[JudgedBlock], confidence: float = CONFIDENCE
) -> HeldOutGain:
    """The gain of a setting over test blocks, and its confidence interval.

    Parameters
    ----------
    measure : Measure
    judged : sequence of JudgedBlock
        In the order of time; each has the same number of draws.
    confidence : float
        Of the interval; its lower end alone is above the truth with half the doubt.

    Notes
    -----
    Each week is cut into 14 parts, or fewer: no part is shorter than the mean time from submission
    to end of a job today, while a week has two parts at least. Both settings have the same jobs and
    the same random scheduler timing, so that parts are compared in pairs.

    The jackknife gives the pseudo-values :math:`a_i` (today) and :math:`b_i` (then) of part
    :math:`i`. The interval is Fieller's: all ratios :math:`r` of then to today for which a t test
    does not reject that :math:`r a_i - b_i` has mean 0. At :math:`r = 1` that is the paired t test
    of the differences. A queue outlasts a part, so the variance has the covariance of neighbouring
    parts where it is positive (Hansen and Hodrick 1980, lag 1). Of ``max_wait`` the maxima of the
    parts take the place of pseudo-values.
    ``tests_py/bench/bench_tune_power.py`` compares this test with others.

    References
    ----------
    Miller 1974, *The jackknife*; Fieller 1954, *Some problems in interval estimation*; Hansen
    and Hodrick 1980, *Forward exchange rates as optimal predictors of future spot rates*.
    """
    count = parts_of_week(judged)
    before = _PartedValues.of(measure, [(each.block, each.today) for each in judged], count)
    after = _PartedValues.of(measure, [(each.block, each.then) for each in judged], count)
    today, then = before.statistic(measure), after.statistic(measure)
    gain = 1 - then / today if today > 0 else 0.0
    # A part that has jobs under one setting alone (another number of jobs) is no pair.
    parts = np.intersect1d(before.part, after.part)
    if measure.statistic == "max_wait":
        return _gain_of_maxima(measure, before, after, parts, confidence)
    left_out = [(before.without(part), after.without(part)) for part in parts.tolist()]
    if any(not rest.values.size for pair in left_out for rest in pair):
        # All jobs of the group are in one part: nothing tells chance from gain.
        return HeldOutGain(measure, today, then, gain, -np.inf, 1.0)
    rest_of = np.array([[rest.statistic(measure) for rest in pair] for pair in left_out])
    pseudo_values = len(parts) * np.array([today, then]) - (len(parts) - 1) * rest_of
    low_ratio, high_ratio = ratio_interval(pseudo_values[:, 0], pseudo_values[:, 1], confidence)
    return HeldOutGain(measure, today, then, gain, 1 - high_ratio, 1 - low_ratio)


def _gain_of_maxima(
    measure: Measure,
    before: _PartedValues,
    after: _PartedValues,
    parts: np.ndarray,
    confidence: float,
) -> HeldOutGain:
    """The gain of a maximum, with an interval from the maxima of the parts.

    A maximum is the wait of one job: the jackknife, which is no use there, would call the
    difference of two jobs proven.
    """
    today, then = before.statistic(measure), after.statistic(measure)
    gain = 1 - then / today if today > 0 else 0.0
    maxima = np.array(
        [[each.within(part).statistic(measure) for each in (before, after)] for part in parts]
    ).reshape(-1, 2)
    low_ratio, high_ratio = ratio_interval(maxima[:, 0], maxima[:, 1], confidence)
    # The gain of the largest maximum is stated, and is never outside of its own interval.
    low, high = float(min(1 - high_ratio, gain)), float(max(1 - low_ratio, gain))
    return HeldOutGain(measure, today, then, gain, low, high)


@dataclass(frozen=True)
class _PartedValues:
    """Values of jobs (a row per draw), and the part of the test weeks that each came in."""

    values: np.ndarray
    part: np.ndarray

    @classmethod
    def of(
        cls, measure: Measure, blocks: Sequence[tuple[Block, Simulated]], count: int
    ) -> _PartedValues:
        values, parts, first = [], [], 0
        for block, simulated in blocks:
            edges = part_edges(block, count)
            submit = simulated.jobs.column("submit")[measure.rows(simulated.jobs)]
            values.append(measure.values(simulated.jobs, simulated.start, simulated.end))
            parts.append(first + np.searchsorted(edges, submit, side="right"))
            first += len(edges) + 1
        return cls(np.concatenate(values, axis=1), np.concatenate(parts))

    def statistic(self, measure: Measure) -> float:
        """The measure, on average over the draws."""
        return float(measure.of_values(self.values).mean())

    def within(self, part: int) -> _PartedValues:
        """One part alone."""
        inside = self.part == part
        return _PartedValues(self.values[:, inside], self.part[inside])

    def without(self, part: int) -> _PartedValues:
        """All parts but one."""
        rest = self.part != part
        return _PartedValues(self.values[:, rest], self.part[rest])


def parts_of_week(judged: Sequence[JudgedBlock]) -> int:
    """Parts of a week, none shorter than a job spends in the system today, on average.

    The queue remembers what happened for about that time: shorter parts would not be independent.
    """
    response_times = np.concatenate(
        [(each.today.end - each.today.jobs.column("eligible")).ravel() for each in judged]
    )
    begin, end = judged[0].block.spans[0]
    count = (end - begin) / max(float(response_times.mean()), 1.0)
    return int(np.clip(count, _MIN_PARTS, _MAX_PARTS))


def part_edges(block: Block, count: int) -> np.ndarray:
    """The instants at which the parts of a block begin and end (s), `count` parts each week."""
    cuts = [np.linspace(begin, end, count + 1) for begin, end in block.spans]
    return np.unique(np.concatenate(cuts))


def ratio_interval(
    before: np.ndarray, after: np.ndarray, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Fieller's interval of mean(after) / mean(before), for pairs that follow each other in time.

    Returns
    -------
    (float, float)
        From 0 on; infinite above where the data do not bound it.
    """
    count = len(before)
    if np.array_equal(before, after):
        return 1.0, 1.0
    if count < 2 or not before.mean() > 0:
        return 0.0, np.inf
    from scipy.stats import t

    quantile = float(t.ppf((1 + confidence) / 2, count - 1))
    means = before.mean(), after.mean()
    x, y = before - means[0], after - means[1]
    scale = quantile**2 / (count * (count - 1))
    # Coefficients of the variance of r before - after: of the parts, and of neighbouring parts.
    parts = np.array([x @ x, -2 * (x @ y), y @ y])
    neighbours = np.array([x[1:] @ x[:-1], -(x[1:] @ y[:-1] + y[1:] @ x[:-1]), y[1:] @ y[:-1]])
    squared_mean = np.array([means[0] ** 2, -2 * means[0] * means[1], means[1] ** 2])
    # The variance is the larger of the two: the interval has what either of them lets in.
    intervals = [
        _where_not_positive(squared_mean - scale * variance, means[1] / means[0])
        for variance in (parts, parts + 2 * neighbours)
    ]
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _where_not_positive(quadratic: np.ndarray, inside: float) -> tuple[float, float]:
    """The ratios from 0 on around one `inside` at which a quadratic polynomial is at most 0."""
    square, linear, constant = quadratic.tolist()
    discriminant = linear**2 - 4 * square * constant
    if not square > 0 or not np.isfinite(square):
        # The mean of today's parts is no larger than its own error: the ratio has no upper bound.
        return 0.0, np.inf
    half_width = np.sqrt(max(discriminant, 0.0)) / (2 * square)
    centre = -linear / (2 * square)
    low, high = min(centre - half_width, inside), max(centre + half_width, inside)
    return max(low, 0.0), high


def who_pays(today: Simulated, then: Simulated) -> Sequence[GroupChange]:
    """The groups that gain or lose most."""
    return groups_between((today.jobs, today.waits), (then.jobs, then.waits))
