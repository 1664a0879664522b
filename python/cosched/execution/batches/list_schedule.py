"""Fill one allocation with tasks by a list schedule: those of the highest rank start first."""

import heapq
from collections.abc import Collection, Iterator, Sequence

from cosched.execution.batches.problem import BatchProblem, Placed, same_or_less
from cosched.execution.batches.runner import Room


class _ReadyTasks:
    """The tasks that may start, by what they need; of equal needs the highest rank comes first.

    Tasks of equal needs (a kind) fit or do not fit together, so one look for each kind is enough.
    """

    def __init__(self, problem: BatchProblem, ranks: Sequence[float]) -> None:
        self._problem = problem
        self._ranks = ranks
        #: (-rank, task) of each kind, as a heap. A kind: needs of the node, shared needs.
        self._heaps: dict[tuple[tuple[float, ...], tuple[float, ...]], list[tuple[float, int]]] = {}

    def add(self, task: int) -> None:
        """Add a task that may start."""
        kind = (self._problem.needs[task], self._problem.shared_needs[task])
        heapq.heappush(self._heaps.setdefault(kind, []), (-self._ranks[task], task))

    def start(self, capacity: Room, now: float, deadline: float) -> Iterator[tuple[int, int]]:
        """Yield the tasks that start now, with their nodes, and reserve what they need.

        A task that would end after the deadline is removed: it is in no later start either.
        """
        # Cores come first in the needs: a kind that needs more than any node has free cannot start.
        largest_node = max(capacity.free)
        first_of_kinds = [
            (heap[0], kind)
            for kind, heap in self._heaps.items()
            if heap and kind[0][0] <= largest_node[0]
        ]
        heapq.heapify(first_of_kinds)
        while first_of_kinds:
            (_, task), kind = heapq.heappop(first_of_kinds)
            heap = self._heaps[kind]
            if same_or_less(now + self._problem.seconds[task], deadline):
                needs, shared_needs = kind
                node = capacity.place(needs, shared_needs)
                if node is None:
                    continue  # no other task of its kind fits now
                capacity.change(node, needs, shared_needs, -1)
                yield task, node
            heapq.heappop(heap)
            if heap:
                heapq.heappush(first_of_kinds, (heap[0], kind))


def list_schedule(
    problem: BatchProblem, tasks: Collection[int], ranks: Sequence[float], deadline: float
) -> list[Placed]:
    """Schedule tasks in one allocation by falling rank, as far as they end by a deadline.

    Parameters
    ----------
    tasks : collection of int
        The tasks that are in no allocation yet; all others have completed.
    ranks : sequence of float
        By task of the problem.
    deadline : float
        Seconds after the begin of the allocation.

    Returns
    -------
    list of Placed
        In the order of starts; tasks that would end late are not among them. O(n log n) for few
        different needs.
    """
    open_tasks = tasks if isinstance(tasks, (set, frozenset)) else set(tasks)
    open_edges = {
        task: sum(first in open_tasks for first in problem.before[task]) for task in open_tasks
    }
    ready_tasks = _ReadyTasks(problem, ranks)
    for task in sorted(open_tasks):
        if not open_edges[task]:
            ready_tasks.add(task)
    capacity, now = problem.free_capacity(), 0.0
    running: list[tuple[float, int, int]] = []  # a heap of (end, task, node)
    placed: list[Placed] = []
    while True:
        for task, node in ready_tasks.start(capacity, now, deadline):
            end = now + problem.seconds[task]
            placed.append(Placed(task, now, end, node))
            heapq.heappush(running, (end, task, node))
        if not running:
            return placed
        now = running[0][0]
        while running and running[0][0] <= now:  # several may end together
            _, task, node = heapq.heappop(running)
            capacity.change(node, problem.needs[task], problem.shared_needs[task], 1)
            for follower in problem.after[task]:
                if follower in open_edges:
                    open_edges[follower] -= 1
                    if not open_edges[follower]:
                        ready_tasks.add(follower)
