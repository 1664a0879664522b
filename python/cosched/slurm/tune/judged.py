"""What a setting gives on weeks that no search has seen, with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cosched.cluster.page.differences import GroupChange, groups_between
from cosched.errors import InvalidInstance
from cosched.slurm.tune.measures import Block, Measure
from cosched.slurm.tune.trials import Simulated

#: Weeks to judge by are in so many parts at least, whose luck is told apart.
_PARTS = 8
#: Of the interval.
_SHARE = 0.9


@dataclass(frozen=True)
class Judged:
    """A measure today and under another setting (s, or times), and the share that is gained.

    `low`, `high`: what the gain lies between, with 90% confidence, in as many weeks to come.
    """

    measure: Measure
    today: float
    then: float
    gain: float
    low: float
    high: float


def judged(measure: Measure, block: Block, today: Simulated, then: Simulated) -> Judged:
    """Paired over parts of the weeks: a jackknife that leaves out a part after the other.

    Queues last: parts that are neighbours are alike. The interval, with Student's quantile, is the
    wider of the one over parts and the one over pairs of neighbours. It is one of prediction: weeks
    to come have luck of their own, as much as those that judge.

    References
    ----------
    Miller 1974, *The jackknife*; Law and Kelton, *Simulation modeling and analysis*, on batch
    means.
    """
    before, after = (
        float(measure.of(one.jobs, one.start, one.end).mean()) for one in (today, then)
    )
    gain = _gain(before, after)
    left_out = []
    for low, high in parts(block):
        kept = [_outside(one, low, high) for one in (today, then)]
        if all(rows.any() and not rows.all() for rows in kept):
            try:
                values = [_value(measure, *one) for one in zip((today, then), kept, strict=True)]
            except InvalidInstance:  # all jobs of the group are in this part: one piece of luck
                return Judged(measure, before, after, gain, -np.inf, np.inf)
            left_out.append(_gain(*values))
    low, high = _interval(gain, np.array(left_out))
    # None can save more than all there is.
    return Judged(measure, before, after, gain, low, min(high, 1.0) if np.isfinite(high) else high)


def _interval(gain: float, left_out: np.ndarray) -> tuple[float, float]:
    count = len(left_out)
    if count < 2:
        return -np.inf, np.inf
    pseudo = count * gain - (count - 1) * left_out
    half = _half_width(pseudo)
    if count >= 4:
        pairs = np.array([pair.mean() for pair in np.array_split(pseudo, count // 2)])
        half = max(half, _half_width(pairs))
    half *= np.sqrt(2)
    return gain - half, gain + half


def _half_width(values: np.ndarray) -> float:
    from scipy.stats import t

    quantile = t.ppf((1 + _SHARE) / 2, len(values) - 1)
    return float(quantile * values.std(ddof=1) / np.sqrt(len(values)))


def parts(block: Block) -> list[tuple[float, float]]:
    """The weeks, or equal parts of them where they are few."""
    each = -(-_PARTS // len(block.spans))
    cut = [np.linspace(begin, end, each + 1) for begin, end in block.spans]
    return [(a, b) for edges in cut for a, b in pairwise(edges.tolist())]


def _outside(one: Simulated, low: float, high: float) -> np.ndarray:
    submit = one.jobs.column("submit")
    return (submit < low) | (submit >= high)


def _value(measure: Measure, one: Simulated, rows: np.ndarray) -> float:
    """The mean over the draws, of some jobs."""
    jobs = one.jobs.take(rows)
    return float(measure.of(jobs, one.start[:, rows], one.end[:, rows]).mean())


def _gain(before: float, after: float) -> float:
    return 1 - after / before if before > 0 else 0.0


def who_pays(today: Simulated, then: Simulated) -> Sequence[GroupChange]:
    """The groups that gain or lose most."""
    return groups_between((today.jobs, today.waits), (then.jobs, then.waits))
