"""The gain of a setting in weeks that did not choose it, with a confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosched.cluster.analysis.group_changes import GroupChange, JobWaits, largest_changes
from cosched.slurm.tuning.setting_simulation import BlockSimulation
from cosched.slurm.tuning.space import TuningMeasure
from cosched.slurm.tuning.weeks import Block

#: Parts of a week, whose differences are compared: at most 14, half a day where a week has seven.
_MIN_PARTS, _MAX_PARTS = 2, 14
#: Confidence of an interval; with several objectives the doubt is divided among them (Bonferroni).
CONFIDENCE = 0.9


@dataclass(frozen=True)
class JudgedBlock:
    """A test block, simulated under two settings."""

    #: The weeks and their jobs.
    block: Block
    #: As the machine is today.
    today: BlockSimulation
    #: Under the setting that is judged.
    then: BlockSimulation


@dataclass(frozen=True)
class HeldOutGain:
    """A measure today and under another setting (s, or a ratio), and the share that is saved."""

    #: What is compared.
    measure: TuningMeasure
    #: The measure today, and under the other setting.
    today: float
    #: The measure under the other setting.
    then: float
    #: The share of today's that the setting saves.
    gain: float
    #: Bounds of the gain in weeks like these; -inf and 1 where the weeks do not bound it.
    low: float
    #: The upper bound of the gain.
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
    measure: TuningMeasure, judged_blocks: Sequence[JudgedBlock], confidence: float = CONFIDENCE
) -> HeldOutGain:
    """Return the gain of a setting over test blocks, and its confidence interval.

    Parameters
    ----------
    measure : TuningMeasure
    judged_blocks : sequence of JudgedBlock
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
    count = parts_of_week(judged_blocks)
    before = _PartedValues.from_blocks(
        measure, [(judged_block.block, judged_block.today) for judged_block in judged_blocks], count
    )
    after = _PartedValues.from_blocks(
        measure, [(judged_block.block, judged_block.then) for judged_block in judged_blocks], count
    )
    today, then = before.statistic(measure), after.statistic(measure)
    gain = 1 - then / today if today > 0 else 0.0
    # A part that has jobs under one setting alone (another number of jobs) is no pair.
    parts = np.intersect1d(before.part, after.part)
    if measure.statistic == "max_wait":
        return _gain_of_maxima(measure, before, after, parts, confidence)
    values_without_part = [(before.without(part), after.without(part)) for part in parts.tolist()]
    if any(
        not remaining_values.values.size
        for pair in values_without_part
        for remaining_values in pair
    ):
        # All jobs of the group are in one part: nothing tells chance from gain.
        return HeldOutGain(measure, today, then, gain, -np.inf, 1.0)
    statistics_without_part = np.array(
        [
            [remaining_values.statistic(measure) for remaining_values in pair]
            for pair in values_without_part
        ]
    )
    pseudo_values = (
        len(parts) * np.array([today, then]) - (len(parts) - 1) * statistics_without_part
    )
    low_ratio, high_ratio = ratio_interval(pseudo_values[:, 0], pseudo_values[:, 1], confidence)
    return HeldOutGain(measure, today, then, gain, 1 - high_ratio, 1 - low_ratio)


def _gain_of_maxima(
    measure: TuningMeasure,
    before: _PartedValues,
    after: _PartedValues,
    parts: np.ndarray,
    confidence: float,
) -> HeldOutGain:
    """Return the gain of a maximum, with an interval from the maxima of the parts.

    A maximum is the wait of one job: the jackknife, which is no use there, would call the
    difference of two jobs proven.
    """
    today, then = before.statistic(measure), after.statistic(measure)
    gain = 1 - then / today if today > 0 else 0.0
    maxima = np.array(
        [
            [parted_values.within(part).statistic(measure) for parted_values in (before, after)]
            for part in parts
        ]
    ).reshape(-1, 2)
    low_ratio, high_ratio = ratio_interval(maxima[:, 0], maxima[:, 1], confidence)
    # The gain of the largest maximum is stated, and is never outside of its own interval.
    low, high = float(min(1 - high_ratio, gain)), float(max(1 - low_ratio, gain))
    return HeldOutGain(measure, today, then, gain, low, high)


@dataclass(frozen=True)
class _PartedValues:
    """Values of jobs, and the part of the test weeks that each came in."""

    #: Of each job that counts, a row per draw.
    values: np.ndarray
    #: Number of the part in which each job came.
    part: np.ndarray

    @classmethod
    def from_blocks(
        cls, measure: TuningMeasure, blocks: Sequence[tuple[Block, BlockSimulation]], count: int
    ) -> _PartedValues:
        """Return the values of blocks that are cut into `count` parts a week."""
        values, parts, first = [], [], 0
        for block, simulated in blocks:
            edges = part_edges(block, count)
            submit = simulated.jobs.column("submit")[measure.rows(simulated.jobs)]
            values.append(measure.values(simulated.jobs, simulated.start, simulated.end))
            parts.append(first + np.searchsorted(edges, submit, side="right"))
            first += len(edges) + 1
        return cls(np.concatenate(values, axis=1), np.concatenate(parts))

    def statistic(self, measure: TuningMeasure) -> float:
        """Return the measure, on average over the draws."""
        return float(measure.evaluate_values(self.values).mean())

    def within(self, part: int) -> _PartedValues:
        """Return the values of one part alone."""
        is_inside = self.part == part
        return _PartedValues(self.values[:, is_inside], self.part[is_inside])

    def without(self, part: int) -> _PartedValues:
        """Return the values of all parts but one."""
        is_outside = self.part != part
        return _PartedValues(self.values[:, is_outside], self.part[is_outside])


def parts_of_week(judged_blocks: Sequence[JudgedBlock]) -> int:
    """Parts of a week, none shorter than a job spends in the system today, on average.

    The queue remembers what happened for about that time: shorter parts would not be independent.
    """
    response_times = np.concatenate(
        [
            (judged_block.today.end - judged_block.today.jobs.column("eligible")).ravel()
            for judged_block in judged_blocks
        ]
    )
    begin, end = judged_blocks[0].block.spans[0]
    count = (end - begin) / max(float(response_times.mean()), 1.0)
    return int(np.clip(count, _MIN_PARTS, _MAX_PARTS))


def part_edges(block: Block, count: int) -> NDArray[np.float64]:
    """Return the instants at which the parts of a block begin and end (s), `count` parts each
    week."""
    cuts = [np.linspace(begin, end, count + 1) for begin, end in block.spans]
    return np.unique(np.concatenate(cuts))


def ratio_interval(
    before: NDArray[np.float64], after: NDArray[np.float64], confidence: float = CONFIDENCE
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
    """Return the ratios from 0 on around one `inside` at which a quadratic polynomial is at most
    0."""
    square, linear, constant = quadratic.tolist()
    discriminant = linear**2 - 4 * square * constant
    if not square > 0 or not np.isfinite(square):
        # The mean of today's parts is no larger than its own error: the ratio has no upper bound.
        return 0.0, np.inf
    half_width = np.sqrt(max(discriminant, 0.0)) / (2 * square)
    centre = -linear / (2 * square)
    low, high = min(centre - half_width, inside), max(centre + half_width, inside)
    return max(low, 0.0), high


def largest_group_changes(today: BlockSimulation, then: BlockSimulation) -> Sequence[GroupChange]:
    """Return the groups that gain or lose most."""
    return largest_changes(JobWaits(today.jobs, today.waits), JobWaits(then.jobs, then.waits))
