"""What few measurements prove: a plan's guaranteed end, and a bound, whatever the others are.

Where time does not grow with processors and work (processors x time) does not shrink, a measured
time bounds those on all other counts. A plan for the upper bounds ends no later than it says, and
no schedule at all ends before the lower bound of the lower bounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched import core, moldable
from cosched.core.arrays import any_array, positive, real_array
from cosched.errors import InvalidInstance

#: Planned for the upper bounds; the best is taken.
_ALGORITHMS = ("list-shelf", "dual-approximation", "list-lptf")
#: Stands for a time of which nothing is known from below, as a share of the shortest known.
_NOTHING = 1e-6


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is proved by the measurements so far.

    Attributes
    ----------
    lower, upper : numpy.ndarray, shape (n, p)
        Bounds on each time (s); infinite where a task may not or cannot run.
    plan : cosched.moldable.Result
        Its value is the guaranteed end: the plan, run with the true times, ends no later.
    bound : float
        No schedule ends earlier, whatever the missing times are (s).
    next : (int, int) or None
        Task and count whose run is worth most; None where none would change the gap.

    Examples
    --------
    >>> found = guarantee([[8.0, np.nan, np.nan, 2.0], [6.0, np.nan, np.nan, 3.0]])
    >>> found.upper.round(2).tolist()
    [[8.0, 4.0, 2.67, 2.0], [6.0, 6.0, 4.0, 3.0]]
    >>> round(found.gap, 3)
    0.5
    """

    lower: np.ndarray
    upper: np.ndarray
    plan: core.Result
    bound: float
    next: tuple[int, int] | None

    @property
    def gap(self) -> float:
        """Guaranteed end / bound - 1, >= 0."""
        return max(self.plan.value / self.bound - 1, 0.0)


def bounds_of_times(
    measured: object,
    allowed: Sequence[object] | np.ndarray | None = None,
    *,
    monotone_time: bool = True,
    monotone_work: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of all times from some of them. O(n p).

    Parameters
    ----------
    measured : array_like, shape (n, p)
        Seconds; nan where nothing was measured, infinity where the task cannot run.
    allowed : array_like of bool, shape (n, p), optional
        Counts that a task may run on; None: all.
    monotone_time : bool
        Assume that time does not grow with processors.
    monotone_work : bool
        Assume that work, processors x time, does not shrink.

    Returns
    -------
    lower, upper : numpy.ndarray, shape (n, p)
        Seconds; 0 and infinity where nothing is known.

    Examples
    --------
    >>> low, high = bounds_of_times([[8.0, np.nan, np.nan, 3.0]])
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([[8.0, 4.0, 3.0, 3.0]], [[8.0, 6.0, 4.0, 3.0]])
    """
    table = real_array(measured, "measured", 2)
    counts = np.arange(1, table.shape[1] + 1)
    is_measured = np.isfinite(table)
    finite_or_lowest = np.where(is_measured, table, -np.inf)  # for maxima
    finite_or_highest = np.where(is_measured, table, np.inf)  # for minima
    lower, upper = np.zeros(table.shape), np.full(table.shape, np.inf)
    if monotone_time:
        lower = np.maximum(lower, _from_right(np.maximum, finite_or_lowest))
        upper = np.minimum(upper, np.minimum.accumulate(finite_or_highest, axis=1))
    if monotone_work:
        lower = np.maximum(lower, np.maximum.accumulate(finite_or_lowest * counts, axis=1) / counts)
        upper = np.minimum(upper, _from_right(np.minimum, finite_or_highest * counts) / counts)
    lower = np.minimum(lower, upper)  # measurements that contradict the assumptions
    lower, upper = np.where(is_measured, table, lower), np.where(is_measured, table, upper)
    closed = np.isposinf(table)
    if allowed is not None:
        closed |= ~_allowed_counts(allowed, closed.shape)
    return np.where(closed, np.inf, lower), np.where(closed, np.inf, upper)


def _from_right(function: Any, table: np.ndarray) -> np.ndarray:
    return function.accumulate(table[:, ::-1], axis=1)[:, ::-1]


def guarantee(
    measured: object,
    allowed: Sequence[object] | np.ndarray | None = None,
    *,
    names: Any = None,
    monotone_time: bool = True,
    monotone_work: bool = True,
) -> Guarantee:
    """A plan with a guaranteed end and a bound for any schedule, from some of the times.

    The plan is one of moldable jobs, the bound is below any schedule. Milliseconds for hundreds
    of tasks. The worth of a run is processors x (upper - lower), of those counts that the plan or
    the bound rests on: what it may take away from the gap, times the machine.

    Parameters
    ----------
    measured, allowed, monotone_time, monotone_work
        As for :func:`bounds_of_times`; of each task at least one time is known.
    names : sequence of str, optional
        Of the tasks.

    Raises
    ------
    InvalidInstance
        A task without any time.

    Examples
    --------
    >>> guarantee([[8.0, np.nan], [6.0, np.nan]]).next
    (0, 2)
    """
    table = real_array(measured, "measured", 2)
    lower, upper = bounds_of_times(
        table, allowed, monotone_time=monotone_time, monotone_work=monotone_work
    )
    without = np.flatnonzero(~np.isfinite(upper).any(axis=1))
    if len(without):
        raise InvalidInstance(f"task {int(without[0])} has no time: expected at least one")
    weights = np.ones(len(table))
    safe = moldable.Instance(upper, weights, names=names)
    plan = min(
        (moldable.solve(safe, name) for name in _ALGORITHMS), key=lambda result: result.value
    )
    floor = _NOTHING * upper[np.isfinite(upper)].min()
    hopeful = moldable.Instance(np.maximum(lower, floor), weights)
    bound = min(
        float(any_schedule_bound(hopeful)), plan.value
    )  # the last digits of two tables that are the same
    return Guarantee(
        lower=lower,
        upper=upper,
        plan=plan,
        bound=bound,
        next=_most_valuable_run(table, lower, upper, plan, bound),
    )


def any_schedule_bound(instance: moldable.Instance) -> core.Bound:
    """The best quick bound on the end of any schedule, of packs or not."""
    return max(
        moldable.bound(instance, "dual-approximation", tolerance=1e-6),
        moldable.bound(instance, "area"),
        moldable.bound(instance, "longest"),
        key=float,
    )


def _most_valuable_run(
    table: np.ndarray, lower: np.ndarray, upper: np.ndarray, plan: Any, bound: float
) -> tuple[int, int] | None:
    """Return, among the counts that plan and bound rest on, the one with most work between its
    bounds."""
    counts = np.arange(1, table.shape[1] + 1)
    tasks = np.arange(len(table))
    with np.errstate(invalid="ignore"):
        uncertain_work = np.where(
            np.isnan(table) & np.isfinite(lower), counts * (upper - lower), -1.0
        )
    # The bound counts each task's least work in time; the plan, what it was given.
    cheap = np.where(lower <= bound * (1 + 1e-12), counts * lower, np.inf)
    rests_on = [
        cheap.argmin(axis=1),
        plan.procs - 1,
        _first(upper <= bound),
        _first(lower <= bound),
    ]
    best: tuple[float, int, int] = (0.0, -1, -1)
    for columns in rests_on:
        worth = uncertain_work[tasks, columns]
        task = int(worth.argmax())
        if worth[task] > best[0]:
            best = (float(worth[task]), task, int(columns[task]) + 1)
    return None if best[1] < 0 else (best[1], best[2])


def _first(mask: np.ndarray) -> np.ndarray:
    """Return the first true column of each row; the last column where there is none."""
    return np.where(mask.any(axis=1), mask.argmax(axis=1), mask.shape[1] - 1)


#: Measures a task on a count: seconds, or infinity where it cannot run there.
Measure = Callable[[int, int], float]


def measure_adaptively(
    measure: Measure,
    measured: object,
    allowed: Sequence[object] | np.ndarray | None = None,
    *,
    tolerance: float = 0.05,
    monotone_time: bool = True,
    monotone_work: bool = True,
    watch: Callable[[Guarantee], None] | None = None,
) -> tuple[np.ndarray, Guarantee]:
    """Measure as little as is needed for a plan that is proved to be good.

    Every task once, on about the root of the largest count; then the run of most worth, until
    the guaranteed end is within `tolerance` of the bound or no run would change the gap.

    Parameters
    ----------
    measure : callable
        ``measure(task, count) -> seconds``, infinity where the task cannot run there.
    measured : array_like, shape (n, p)
        What is known already; nan elsewhere.
    allowed, monotone_time, monotone_work
        As for :func:`bounds_of_times`.
    tolerance : float
        > 0.
    watch : callable, optional
        Called with each :class:`Guarantee`.

    Returns
    -------
    table : numpy.ndarray, shape (n, p)
        `measured` with what was added.
    guarantee : Guarantee

    Raises
    ------
    InvalidInstance
        A tolerance that is not positive, or a task that can run on none of its counts.

    Examples
    --------
    >>> true = 8.0 / np.arange(1, 9) ** 0.9 * np.ones((4, 1))
    >>> table, found = measure_adaptively(lambda i, q: true[i, q - 1], np.full((4, 8), np.nan))
    >>> found.gap <= 0.05, int(np.isfinite(table).sum()) < 16
    (True, True)
    """
    most = positive(tolerance, "tolerance")
    table = real_array(measured, "measured", 2)
    may = _allowed_counts(allowed, table.shape)
    for task in range(len(table)):
        if not measure_first(measure, table, may, task):
            raise InvalidInstance(
                f"task {task} can run on none of its counts: expected at least one"
            )
    options = {"monotone_time": monotone_time, "monotone_work": monotone_work}
    while True:
        current_guarantee = guarantee(table, may, **options)
        if watch is not None:
            watch(current_guarantee)
        if current_guarantee.gap <= most or current_guarantee.next is None:
            return table, current_guarantee
        task, count = current_guarantee.next
        table[task, count - 1] = measure(task, count)


def _allowed_counts(allowed: object, shape: tuple[int, ...]) -> np.ndarray:
    """Return which counts each task may run on: all, where the codes do not say."""
    if allowed is None:
        return np.ones(shape, dtype=bool)
    table = any_array(allowed, "allowed", 2)
    if table.shape != shape or table.dtype.kind not in "biuf":
        raise InvalidInstance(
            f"allowed: expected true or false in shape {shape}, got {table.shape}"
        )
    return table.astype(bool)


def measure_first(measure: Measure, table: np.ndarray, allowed: np.ndarray, task: int) -> bool:
    """Whether one time of a task is known, once it was measured until there is one.

    On the root of the largest count, then beside it; `table` has what was measured.
    """
    counts = np.flatnonzero(allowed[task]) + 1
    middle = np.sqrt(counts.max(initial=1))
    for count in sorted(counts.tolist(), key=lambda q: abs(np.log(q / middle))):
        if np.isfinite(table[task]).any():
            return True
        if np.isnan(table[task, count - 1]):
            table[task, count - 1] = measure(task, count)
    return bool(np.isfinite(table[task]).any())
