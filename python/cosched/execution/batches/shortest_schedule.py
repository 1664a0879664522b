"""The shortest schedule of few tasks in one allocation, by branch and bound."""

from collections.abc import Sequence

from cosched.execution.batches.list_schedule import list_schedule
from cosched.execution.batches.problem import BatchProblem, Placed, end_of

#: Ends and amounts that differ by no more than this share are equal: they differ by rounding.
_ROUNDING = 1e-12


def shortest_schedule(problem: BatchProblem, tasks: frozenset[int]) -> list[Placed]:
    """Return a schedule of few tasks with the earliest end, in the order of starts.

    Guarantee: optimal. Some order of starts, each as early as the starts before it allow, is
    optimal on the nodes that an optimal schedule uses: all orders and nodes are tried, but for
    those that cannot end before the best schedule so far. O(n! nodes^n) at worst.
    """
    return _BranchAndBound(problem, tasks).best_schedule()


def shortest_end_bound(problem: BatchProblem, tasks: frozenset[int]) -> float:
    """Return seconds before which no schedule of these tasks ends: the longest task, and the work
    of all over what the nodes have."""
    work_over_capacity = [0.0]
    for resource, capacity in enumerate(problem.node):
        if capacity > 0:
            work = sum(problem.seconds[task] * problem.needs[task][resource] for task in tasks)
            work_over_capacity.append(work / capacity)
    return max(
        max(work_over_capacity) / problem.nodes, max(problem.seconds[task] for task in tasks)
    )


class _BranchAndBound:
    """The search of :func:`shortest_schedule`; a branch is the next task to start, and its node."""

    def __init__(self, problem: BatchProblem, tasks: frozenset[int]) -> None:
        self._problem = problem
        self._tasks = tasks
        self._bound = shortest_end_bound(problem, tasks)
        #: The incumbent.
        self._best = list_schedule(problem, tasks, problem.paths().tolist(), float("inf"))

    def best_schedule(self) -> list[Placed]:
        """Return the optimal schedule, in the order of starts."""
        self._extend([], self._tasks, 0.0)
        return sorted(self._best, key=lambda placement: (placement.start, placement.task))

    def _extend(self, placed: list[Placed], open_tasks: frozenset[int], last_start: float) -> None:
        """Try all ways to start the open tasks after the placed ones."""
        if not open_tasks:
            self._best = placed
            return
        placed_tasks = {placement.task for placement in placed}
        used_nodes = {placement.node for placement in placed}
        for task in open_tasks:
            if any(
                first in self._tasks and first not in placed_tasks
                for first in self._problem.before[task]
            ):
                continue
            for node in range(self._problem.nodes):
                candidate = self._place(placed, task, node, last_start)
                if self._may_improve([*placed, candidate]):
                    self._extend([*placed, candidate], open_tasks - {task}, candidate.start)
                if node not in used_nodes:
                    break  # the other empty nodes give the same schedules

    def _may_improve(self, placed: Sequence[Placed]) -> bool:
        """Whether a schedule that begins so may end before the best one."""
        best_end = end_of(self._best)
        is_proven_optimal = best_end <= self._bound * (1 + _ROUNDING)
        return not is_proven_optimal and end_of(placed) < best_end * (1 - _ROUNDING)

    def _place(self, placed: Sequence[Placed], task: int, node: int, last_start: float) -> Placed:
        """Return a task on a node, as early as the placed tasks allow, not before the last start.

        From the last start on placed tasks only end, so that its capacity only grows.
        """
        problem = self._problem
        ends_before = [other.end for other in placed if other.task in problem.before[task]]
        earliest = max([last_start, *ends_before])
        later_ends = {other.end for other in placed if other.end > earliest}
        for start in sorted({earliest, *later_ends}):
            running = [other for other in placed if other.end > start]
            used_of_node = [problem.needs[other.task] for other in running if other.node == node]
            used_of_shared = [problem.shared_needs[other.task] for other in running]
            if _fits(problem.node, used_of_node, problem.needs[task]) and _fits(
                problem.shared, used_of_shared, problem.shared_needs[task]
            ):
                return Placed(task, start, start + problem.seconds[task], node)
        raise AssertionError("a task that fits an empty node")


def _fits(
    capacity: Sequence[float], used: Sequence[Sequence[float]], need: Sequence[float]
) -> bool:
    """Whether a capacity holds the used amounts and a further need, of each resource."""
    return all(
        sum(amounts[resource] for amounts in used) + need[resource]
        <= available * (1 + _ROUNDING) + _ROUNDING
        for resource, available in enumerate(capacity)
    )
