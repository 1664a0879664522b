"""How much the next job needs at most, but for a stated risk: order statistics of the past."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosched.core.arrays import fraction
from cosched.errors import InvalidInstance

#: What sums of logarithms may lose to rounding.
_SLACK = 1e-9
#: Share of the pasts whose tolerance limit may be too low: one-sided confidence is 90%.
_TOLERANCE_ERROR = 0.1
#: No log has so many jobs as a smaller risk needs.
_MIN_RISK = 1e-9


def risk_of(value: float) -> float:
    """A risk that a past can promise, checked: from 1e-9 on, below 1."""
    risk = fraction(value, "risk")
    if not _MIN_RISK <= risk < 1:
        raise InvalidInstance(f"risk = {risk:g}: expected a number from {_MIN_RISK:g} to below 1")
    return risk


def conformal_quantiles(
    group: NDArray[np.int64],
    value: NDArray[np.float64],
    ended: NDArray[np.bool_],
    groups: int,
    risk: float | NDArray[np.float64],
) -> NDArray[np.float64]:
    """What the next job of each group exceeds with a chance of `risk` at most, whatever the
    distribution is; nan where the past is too short to say, or censored where it matters.

    `risk` is one number, or one per group; a group with risk 0 has no answer.

    Without censoring it is the k-th smallest of n, k = ceil((n + 1) (1 - risk)): the next job is
    as likely in each of the n + 1 places between them (split conformal prediction). A job that was
    ended before its time (`ended` false) wanted more than it got: the places are then weighted by
    Kaplan and Meier's estimator, with the next job as one more that outlives all others.

    `group` (0..groups - 1), `value` (what it used) and `ended` of each job are in order of group,
    value, and at one value those that ended by themselves first (see :func:`order_by_value`). O(n).
    """
    count = np.bincount(group, minlength=groups)
    first = np.cumsum(count) - count
    at_risk = (first + count)[group] - np.arange(len(group)) + 1.0  # with the next job
    log_survival = np.cumsum(np.where(ended, np.log1p(-1.0 / at_risk), 0.0))
    log_survival -= np.concatenate([[0.0], log_survival])[first][group]
    with np.errstate(divide="ignore"):
        log_risk = np.broadcast_to(np.log(risk), groups)
    below = np.bincount(group, log_survival > log_risk[group] + _SLACK, groups).astype(np.int64)
    has_answer = below < count
    quantiles = np.full(groups, np.nan)
    quantiles[has_answer] = value[(first + below)[has_answer]]
    return quantiles


def tolerance_risks(counts: NDArray[np.int64], risk: float) -> NDArray[np.float64]:
    """The risk to ask of :func:`conformal_quantiles` so that its answer is a tolerance limit: it
    holds for 90% of all pasts.

    With `risk` itself the next job exceeds the answer with that chance on average over all pasts.
    Where limits cut off some pasts, those that have an answer are the ones in which few jobs met
    their limit, and the chance is higher after them. With the smaller risk, at most a tenth of the
    pasts has an answer that the next job exceeds with a higher chance than `risk`: of n jobs m may
    exceed it, the largest m that a binomial count with chance `risk` does not exceed with a chance
    of at most a tenth (the tolerance limit of Wilks, *Annals of Mathematical Statistics* 12, 1941).

    Parameters
    ----------
    counts : numpy.ndarray
        Jobs of each group's past, shape (g,).
    risk : float

    Returns
    -------
    numpy.ndarray
        Shape (g,); 0 where the past is too short (:func:`min_tolerance_count`).
    """
    from scipy.stats import binom

    counts = np.asarray(counts, dtype=np.int64)
    exceeding = binom.ppf(_TOLERANCE_ERROR, counts, risk)
    exceeding -= binom.cdf(exceeding, counts, risk) > _TOLERANCE_ERROR
    return np.where(counts > 0, (exceeding + 1.0) / (counts + 1.0), 0.0)


def min_tolerance_count(risk: float) -> int:
    """Number of jobs from which on a tolerance limit exists: :func:`tolerance_risks` is above 0."""
    return math.ceil(math.log(_TOLERANCE_ERROR) / math.log1p(-risk))


def order_by_value(value: NDArray[np.float64], ended: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The order of rows that :func:`conformal_quantiles` expects in each group."""
    return np.lexsort((~ended, value))


def conformal_quantile(values: NDArray[np.float64], risk: float) -> float:
    """Of one group, in which all ended by themselves."""
    values = np.sort(np.asarray(values, dtype=float))
    alike = np.zeros(len(values), dtype=np.int64)
    return float(conformal_quantiles(alike, values, alike == 0, 1, risk)[0])


def min_sample_count(risk: float) -> int:
    """The number of values that :func:`conformal_quantile` needs."""
    return math.ceil(1.0 / risk - 1e-9) - 1


def conformal_limit(values: Sequence[float], risk: float, margin: float) -> float:
    """:func:`conformal_quantile`; of too few values the largest, times `margin`."""
    quantile = conformal_quantile(np.asarray(values), risk)
    return margin * max(values) if math.isnan(quantile) else quantile


def first_allocations(
    group: NDArray[np.int64],
    value: NDArray[np.float64],
    ended: NDArray[np.bool_],
    seconds: NDArray[np.float64],
    full_amount: NDArray[np.float64],
) -> NDArray[np.float64]:
    """What to ask for first in each group so that least memory-time is held, if a job that is
    killed runs again with `full_amount`.

    A job that fits holds the first allocation for its time; one that does not holds it as long (it
    reaches its peak at its end), and then `full_amount` once more. The best is one of the values of
    the past. A job that was ended before its time needs `full_amount`, which is the group's.

    `group`, `value` and `ended` are as for :func:`conformal_quantiles`, in any order; `value`
    as it would be asked for. `seconds`: how long each ran.

    Tovar, da Silva, Juve, Deelman, Allcock, Thain, Livny: *A Job Sizing Strategy for
    High-Throughput Scientific Workflows*, IEEE TPDS 29(2), 2018: "minimum waste", slow peaks.
    """
    need = np.where(ended, np.minimum(value, full_amount[group]), full_amount[group])
    order = np.lexsort((need, group))
    group, need, seconds = group[order], need[order], seconds[order]
    total = np.bincount(group, seconds, len(full_amount))
    count = np.bincount(group, minlength=len(full_amount))
    first = np.cumsum(count) - count
    until = np.cumsum(seconds)
    until -= np.concatenate([[0.0], until])[first][group]
    memory_time = need * total[group] + full_amount[group] * np.maximum(total[group] - until, 0.0)
    best = np.lexsort((need, memory_time, group))
    allocations = np.full(len(full_amount), np.nan)
    is_filled = count > 0
    allocations[is_filled] = need[best[first[is_filled]]]
    return allocations
