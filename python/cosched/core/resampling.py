"""Draws: how far a schedule's value moves when times vary as the repeated measurements did; and
rejection sampling, for workloads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched.core.schedule import Schedule
from cosched.errors import InvalidInstance

#: Draws of a value before its range counts as out of reach.
_MOST_ROUNDS = 10_000


def sampled_inside(
    draw: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    count: int,
    inside: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
) -> NDArray[np.float64]:
    """Values with ``inside(values)`` true everywhere: those outside are drawn again and again.

    ``draw(positions)`` gives a value for each of the positions, numbers in 0..count-1.  A range
    that the draws do not reach is refused.
    """
    values = draw(np.arange(count, dtype=np.int64))
    outside = np.flatnonzero(~inside(values))
    for _ in range(_MOST_ROUNDS):
        if not len(outside):
            return values
        values[outside] = draw(outside)
        outside = outside[~inside(values[outside])]
    raise InvalidInstance(
        f"{_MOST_ROUNDS} random draws like {values[outside[0]]:.3g} are all outside the range that "
        "is asked for: expected means and deviations that reach it"
    )


#: Draws behind the two percentiles.
DRAWS = 200
#: Larger schedules are not replayed.
_MOST_UNITS = 500_000
_LEAST_FACTOR = 0.01
#: Placements that may still hold something when another starts.
_WINDOW = 64

#: What each placement needs of a resource, and how much of it there is.
ResourceNeeds = Sequence[tuple[np.ndarray, float]]


def value_range(
    schedule: Schedule,
    spread: NDArray[np.float64],
    *,
    barriers: bool,
    needs: ResourceNeeds = (),
    awaited: Mapping[int, Sequence[int]] | None = None,
    seed: int = 0,
) -> dict[str, float]:
    """5% and 95% of the makespan over resampled times, as metrics; nothing without a spread.

    The time of a placement is drawn evenly from t (1 - s/2) .. t (1 + s/2), s = the spread
    ((largest - smallest) / median of the runs) of its task on its count; where that count was
    measured once, the task's median spread. Tasks that slow each other do so as planned. The order
    on each unit, what is `awaited` and `held`, and the packs where `barriers`, stay as they are.

    Examples
    --------
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
    ends = replayed(schedule, times, barriers, needs, awaited)
    low, high = np.percentile(ends, [5, 95])
    return {"value_p5": float(low), "value_p95": float(high)}


def _spreads(task: np.ndarray, counts: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the spread of each placement; none where its task was never measured twice."""
    column = np.minimum(counts, spread.shape[1]) - 1
    spread_of_rows: np.ndarray = spread[task, column]
    for row in np.flatnonzero(np.isnan(spread_of_rows)):
        measured = spread[task[row]]
        measured = measured[~np.isnan(measured)]
        spread_of_rows[row] = np.median(measured) if len(measured) else 0.0
    return spread_of_rows


def resource_needs(schedule: Schedule, shared: Mapping[str, Any]) -> ResourceNeeds:
    """What the placements need of the `resources`, and the `capacity` of each, where it has one."""
    column = np.diff(schedule.unit_begin) - 1
    capacity = shared.get("capacity", {})
    return [
        (table[schedule.task] if table.ndim == 1 else table[schedule.task, column], capacity[what])
        for what, table in shared.get("resources", {}).items()
        if what in capacity
    ]


def awaited_rows(schedule: Schedule) -> dict[int, Sequence[int]]:
    """Rows that wait beside idle units -> the rows with whose ends they start.

    A plan of tasks that slow each other lets some wait for the end of those that they would slow.
    """
    order = np.argsort(schedule.end, kind="stable")
    ends = schedule.end[order]
    last: dict[int, float] = {}
    rows_by_row: dict[int, Sequence[int]] = {}
    for row in np.lexsort((schedule.end, schedule.start)).tolist():
        start, tolerance = schedule.start[row], 1e-9 * schedule.start[row]
        units = schedule.units(row)
        if max(last.get(unit, 0.0) for unit in units) < start - tolerance:
            near = np.searchsorted(ends, [start - tolerance, start + tolerance], "right")
            rows_by_row[row] = order[near[0] : near[1]].tolist()
        last.update(dict.fromkeys(units, float(schedule.end[row])))
    return {row: rows for row, rows in rows_by_row.items() if rows}


def replayed(
    schedule: Schedule,
    times: NDArray[np.float64],
    barriers: bool,
    needs: ResourceNeeds = (),
    awaited: Mapping[int, Sequence[int]] | None = None,
) -> NDArray[np.float64]:
    """Ends of a schedule, (draws,), whose placements take `times`, (placements, draws).

    The order on each unit, and the packs where `barriers`, stay as they are; a row waits for those
    that are `awaited`, and for what it needs of what is `held`.
    """
    if barriers:
        return _packs(schedule, times)
    if needs or awaited:
        return _with_tokens(schedule, times, needs, awaited or {})
    return _in_order(schedule, times)


def _packs(schedule: Schedule, times: np.ndarray) -> np.ndarray:
    _, pack = np.unique(schedule.start, return_inverse=True)
    longest = np.zeros((pack.max() + 1, times.shape[1]))
    np.maximum.at(longest, pack, times)
    ends: np.ndarray = longest.sum(axis=0)
    return ends


def _in_order(schedule: Schedule, times: np.ndarray) -> np.ndarray:
    order = np.lexsort((schedule.end, schedule.start))
    _, lane = np.unique(schedule.unit, return_inverse=True)
    free = np.zeros((lane.max() + 1, times.shape[1]))
    for row in order:
        lanes = lane[schedule.unit_begin[row] : schedule.unit_begin[row + 1]]
        free[lanes] = free[lanes].max(axis=0) + times[row]
    ends: np.ndarray = free.max(axis=0)
    return ends


def _with_tokens(
    schedule: Schedule,
    times: np.ndarray,
    resource_needs: ResourceNeeds,
    awaited: Mapping[int, Sequence[int]],
) -> np.ndarray:
    """Return ends where a placement also waits for others and for what it needs, in the plan's
    order.

    The ones before it hold theirs until they end; of many only the last ones still may.
    """
    order = np.lexsort((schedule.end, schedule.start))
    _, lane = np.unique(schedule.unit, return_inverse=True)
    free = np.zeros((lane.max() + 1, times.shape[1]))
    ends = np.zeros(times.shape)
    window = max(_WINDOW, 2 * len(free))
    for place, row in enumerate(order):
        lanes = lane[schedule.unit_begin[row] : schedule.unit_begin[row + 1]]
        start = free[lanes].max(axis=0)
        if row in awaited:
            start = np.maximum(start, ends[awaited[row]].max(axis=0))
        before = order[max(0, place - window) : place]
        for needs, most in resource_needs:
            holders = before[needs[before] > 0]
            if needs[row] <= 0 or not len(holders):
                continue
            # The latest to end may stay as long as there is room; the next has to be over.
            latest = np.argsort(-ends[holders], axis=0)
            full = np.cumsum(needs[holders][latest], axis=0) + needs[row] > most * (1 + 1e-9)
            first = np.take_along_axis(ends[holders], latest, 0)[
                full.argmax(axis=0), np.arange(times.shape[1])
            ]
            start = np.maximum(start, np.where(full.any(axis=0), first, 0.0))
        ends[row] = start + times[row]
        free[lanes] = ends[row]
    last_ends: np.ndarray = ends.max(axis=0)
    return last_ends
