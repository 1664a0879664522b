"""How far a schedule's value moves when times vary as the repeated measurements did."""

from __future__ import annotations

import numpy as np

from cosched.core.schedule import Schedule

#: Draws behind the two percentiles.
DRAWS = 200
#: Larger schedules are not replayed.
_MOST_UNITS = 500_000
_LEAST_FACTOR = 0.01


def value_range(
    schedule: Schedule, spread: np.ndarray, *, barriers: bool, seed: int = 0
) -> dict[str, float]:
    """5% and 95% of the makespan over resampled times, as metrics; nothing without a spread.

    The time of a placement is drawn evenly from t (1 - s/2) .. t (1 + s/2), s = the spread
    ((largest - smallest) / median of the runs) of its task on its count; where that count was
    measured once, the task's median spread. The order on each unit, and the packs where
    `barriers`, stay as they are.

    Examples
    --------
    >>> import cosched as cs
    >>> inst = cs.packs.Instance([[4.0, 2.0]], spread=[[0.1, 0.2]])
    >>> found = cs.packs.solve(inst, "sequential").metrics()
    >>> 1.8 < found["value_p5"] < 2.0 < found["value_p95"] < 2.2
    True
    """
    counts = np.diff(schedule.unit_begin)
    if not len(schedule) or len(schedule.unit) > _MOST_UNITS or np.isnan(spread).all():
        return {}
    share = _spreads(schedule.task, counts, spread)
    if not share.any():
        return {}
    draws = np.random.default_rng(seed).uniform(-0.5, 0.5, (len(schedule), DRAWS))
    factors = np.maximum(1 + share[:, None] * draws, _LEAST_FACTOR)
    times = (schedule.end - schedule.start)[:, None] * factors
    ends = replayed(schedule, times, barriers)
    low, high = np.percentile(ends, [5, 95])
    return {"value_p5": float(low), "value_p95": float(high)}


def _spreads(task: np.ndarray, counts: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The spread of each placement; none where its task was never measured twice."""
    column = np.minimum(counts, spread.shape[1]) - 1
    mine = spread[task, column]
    for row in np.flatnonzero(np.isnan(mine)):
        known = spread[task[row]]
        known = known[~np.isnan(known)]
        mine[row] = np.median(known) if len(known) else 0.0
    return mine


def replayed(schedule: Schedule, times: np.ndarray, barriers: bool) -> np.ndarray:
    """Ends of a schedule, (draws,), whose placements take `times`, (placements, draws).

    The order on each unit, and the packs where `barriers`, stay as they are.
    """
    return _packs(schedule, times) if barriers else _in_order(schedule, times)


def _packs(schedule: Schedule, times: np.ndarray) -> np.ndarray:
    _, pack = np.unique(schedule.start, return_inverse=True)
    longest = np.zeros((pack.max() + 1, times.shape[1]))
    np.maximum.at(longest, pack, times)
    return longest.sum(axis=0)


def _in_order(schedule: Schedule, times: np.ndarray) -> np.ndarray:
    order = np.lexsort((schedule.end, schedule.start))
    _, lane = np.unique(schedule.unit, return_inverse=True)
    free = np.zeros((lane.max() + 1, times.shape[1]))
    for row in order:
        mine = lane[schedule.unit_begin[row] : schedule.unit_begin[row + 1]]
        free[mine] = free[mine].max(axis=0) + times[row]
    return free.max(axis=0)
