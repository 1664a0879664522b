"""Divide tasks among allocations of one shape, with as few node-seconds as possible."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cosched.execution.batches.duration_model import DurationModel
from cosched.execution.batches.list_schedule import list_schedule
from cosched.execution.batches.problem import BatchProblem, Placed, end_of, same_or_less
from cosched.execution.batches.shortest_schedule import shortest_schedule

#: Up to so many tasks are packed exactly.
_MAX_EXACT_TASKS = 6
#: The search places so many tasks in all: its work is fixed, so that results can be repeated.
_SEARCH_WORK = 25_000
#: The search tries at most so many orders: of few tasks all are soon tried.
_MAX_ORDERS = 120
#: While the deadline is adjusted to the durations' variation, a search does so much less work.
_ROUGH_WORK_DIVISOR = 10
#: The deadline is adjusted at most so often.
_MAX_ADJUSTMENTS = 12
#: An adjusted deadline is shorter than computed by this factor: else it may be late by rounding.
_ADJUSTMENT_MARGIN = 1.002
#: The search ends at a plan that is at most so many times the lower bound.
_NEAR_OPTIMAL_RATIO = 1.002
#: An allocation is filled to deadlines of these shares of the limit; the best used one is taken.
_DEADLINE_SHARES = (1.0, 0.97, 0.93, 0.88, 0.8, 0.7, 0.6)
#: Added to the use of an allocation with all tasks that are left: it comes before all others.
_COMPLETE_BONUS = 1e9

#: The tasks of each allocation.
Allocations = list[list[Placed]]


class _Attempt(NamedTuple):
    """How one plan is made."""

    #: By task: a task of higher rank starts first.
    ranks: list[float]
    #: Each allocation is filled to this deadline (s); None: to the one that leaves least idle.
    deadline: float | None


def pack_tasks(
    problem: BatchProblem, limit: float, durations: DurationModel, bound: float
) -> Allocations:
    """Divide tasks among allocations that end by a limit, with the probability of the durations.

    Up to six tasks exactly; more by list schedules of several orders to several deadlines, and by
    random variations of these.

    Parameters
    ----------
    limit : float
        Seconds that tasks may take in an allocation.
    durations : DurationModel
        How durations vary.
    bound : float
        Node-seconds that no plan goes below.
    """
    if len(problem.seconds) <= _MAX_EXACT_TASKS:
        return _pack_exactly(problem, limit, durations)
    # Planned ends are as much below the limit as durations may be longer than planned.
    stretch = float(np.quantile(durations.common_factors, durations.probability))
    work = _SEARCH_WORK if durations.is_exact else _SEARCH_WORK // _ROUGH_WORK_DIVISOR
    for _ in range(_MAX_ADJUSTMENTS):
        best = _search(problem, limit / stretch, bound, work)
        latest_end = max(durations.end_quantile(problem, placed) for placed in best)
        if not same_or_less(latest_end, limit):
            stretch = min(
                stretch * _ADJUSTMENT_MARGIN * latest_end / limit, durations.single_task_factor()
            )
        elif work < _SEARCH_WORK:
            work = _SEARCH_WORK
        else:
            break
    return _split_late_allocations(problem, best, limit, durations)


def cost_of(allocations: Allocations) -> tuple[float, int]:
    """Return the cost of a plan: the seconds of all allocations, then their number."""
    return sum(map(end_of, allocations)), len(allocations)


def _split_late_allocations(
    problem: BatchProblem, allocations: Allocations, limit: float, durations: DurationModel
) -> Allocations:
    """Return allocations that all end in time: while one may be late, its last task to end, with
    the tasks that need it, goes into an allocation of its own."""
    remaining = list(allocations)
    punctual_allocations: Allocations = []
    while remaining:
        placed = remaining.pop(0)
        is_in_time = same_or_less(durations.end_quantile(problem, placed), limit)
        if is_in_time or len(placed) == 1:
            punctual_allocations.append(placed)
            continue
        last = max(placed, key=lambda placement: (placement.end, placement.start))
        last_tasks = {last.task}
        for placement in placed:
            if last_tasks & set(problem.before[placement.task]):
                last_tasks.add(placement.task)
        first_tasks = {placement.task for placement in placed} - last_tasks
        ranks = problem.paths().tolist()
        halves = [
            list_schedule(problem, tasks, ranks, limit) for tasks in (first_tasks, last_tasks)
        ]
        remaining[:0] = [half for half in halves if half]
    return punctual_allocations


def _search(problem: BatchProblem, limit: float, bound: float, max_work: int) -> Allocations:
    """Return the best plan of several attempts, whose allocations end by the limit as planned.

    `bound`: node-seconds that no plan goes below; `max_work`: so many tasks are placed in all.
    """
    least_seconds = bound / problem.nodes
    best: Allocations | None = None
    work = 0
    for attempt in itertools.islice(_attempts(problem, limit, least_seconds), _MAX_ORDERS):
        allocations = _fill_allocations(problem, attempt, limit)
        fillings = 1 if attempt.deadline is not None else len(_DEADLINE_SHARES)
        work += len(problem.seconds) * fillings
        if best is None or cost_of(allocations) < cost_of(best):
            best = allocations
        if cost_of(best)[0] <= least_seconds * _NEAR_OPTIMAL_RATIO or work > max_work:
            break
    assert best is not None
    return best


def _attempts(problem: BatchProblem, limit: float, least_seconds: float) -> Iterator[_Attempt]:
    """Yield attempts: first each of three orders to each of several deadlines, then random
    variations of these without end.

    The orders are the longest path, the longest path times the largest share of a node, and the
    longest path after all tasks of more than half of a node's cores. `least_seconds`: seconds of
    all allocations that no plan goes below.
    """
    paths = problem.paths()
    cores = np.array([need[0] for need in problem.needs])
    share = np.max([np.array(problem.needs) / np.maximum(problem.node, 1e-12)], axis=(0, 2))
    is_wide = cores > problem.node[0] / 2
    orders = [paths, paths * share, paths + 2 * paths.max() * is_wide]
    min_allocations = max(int(np.ceil(least_seconds / limit - 1e-9)), 1)
    shorter_deadlines = np.linspace(least_seconds / min_allocations, limit, 6)[:-1].tolist()
    deadlines = [limit, None, *shorter_deadlines]
    for ranks, deadline in itertools.product(orders, deadlines):
        yield _Attempt(ranks.tolist(), deadline)
    random = np.random.default_rng(0)
    while True:
        ranks = orders[random.integers(len(orders))]
        deadline = deadlines[random.integers(len(deadlines))]
        noise = np.exp(random.uniform(0.02, 0.5) * random.standard_normal(len(ranks)))
        yield _Attempt((ranks * noise).tolist(), deadline)


def _fill_allocations(problem: BatchProblem, attempt: _Attempt, limit: float) -> Allocations:
    """Fill one allocation after the other until all tasks are placed."""
    if attempt.deadline is not None:
        deadlines = [attempt.deadline]
    else:
        deadlines = [share * limit for share in _DEADLINE_SHARES]
    open_tasks = set(range(len(problem.seconds)))
    allocations: Allocations = []
    while open_tasks:
        placed = max(
            (list_schedule(problem, open_tasks, attempt.ranks, deadline) for deadline in deadlines),
            key=lambda placed: _use(problem, placed, len(open_tasks)),
        )
        if not placed:  # the deadline is shorter than each task
            placed = list_schedule(problem, open_tasks, attempt.ranks, limit)
        allocations.append(placed)
        open_tasks -= {placement.task for placement in placed}
    return allocations


def _use(problem: BatchProblem, placed: Sequence[Placed], open_count: int) -> float:
    """Return how well an allocation is used: its mean number of busy cores.

    Of allocations with all open tasks (`open_count`) the shortest is the best: its use is above
    that of all others.
    """
    if not placed:
        return 0.0
    core_seconds = sum(
        problem.seconds[placement.task] * problem.needs[placement.task][0] for placement in placed
    )
    use = core_seconds / end_of(placed)
    return use + _COMPLETE_BONUS if len(placed) == open_count else use


def _pack_exactly(problem: BatchProblem, limit: float, durations: DurationModel) -> Allocations:
    """Return an optimal plan of few tasks, by dynamic programming over the sets of open tasks: the
    first allocation is some subset of them, and the others are a best plan of the rest."""
    schedules: dict[frozenset[int], list[Placed]] = {}
    best_plans: dict[frozenset[int], Allocations] = {frozenset(): []}

    def punctual_allocation(tasks: frozenset[int]) -> list[Placed] | None:
        if tasks not in schedules:
            schedules[tasks] = shortest_schedule(problem, tasks)
        is_in_time = same_or_less(durations.end_quantile(problem, schedules[tasks]), limit)
        return schedules[tasks] if is_in_time else None

    def best_plan(open_tasks: frozenset[int]) -> Allocations:
        if open_tasks not in best_plans:
            candidates: list[Allocations] = []
            for first_tasks in _subsets(open_tasks):
                later_tasks = open_tasks - first_tasks
                if any(k in later_tasks for task in first_tasks for k in problem.before[task]):
                    continue
                allocation = punctual_allocation(first_tasks)
                if allocation is not None:
                    candidates.append([allocation, *best_plan(later_tasks)])
            best_plans[open_tasks] = min(candidates, key=_rounded_cost)
        return best_plans[open_tasks]

    return best_plan(frozenset(range(len(problem.seconds))))


def _subsets(tasks: frozenset[int]) -> Iterator[frozenset[int]]:
    """Yield the subsets of some tasks, the largest first; not the empty one."""
    for size in range(len(tasks), 0, -1):
        for chosen in itertools.combinations(sorted(tasks), size):
            yield frozenset(chosen)


def _rounded_cost(allocations: Allocations) -> tuple[float, int]:
    """Return the cost of a plan without rounding errors."""
    seconds, count = cost_of(allocations)
    return round(seconds, 9), count
