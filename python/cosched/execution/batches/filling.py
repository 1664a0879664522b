"""One allocation filled to its limit, and the best one of a few tasks."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence

from cosched.execution.batches.problem import Placed, Problem, same_or_less


class _Kinds:
    """Ready tasks by what they need, in each kind those of the highest rank first."""

    def __init__(self, problem: Problem, ranks: Sequence[float]) -> None:
        self._problem, self._ranks = problem, ranks
        self._heaps: dict[tuple, list[tuple[float, int]]] = {}

    def add(self, task: int) -> None:
        kind = (self._problem.needs[task], self._problem.holds[task])
        heapq.heappush(self._heaps.setdefault(kind, []), (-self._ranks[task], task))

    def take(self, room, now: float, deadline: float) -> Iterator[tuple[int, int]]:
        """(task, node) of those that start now; what would end too late is left out for good."""
        most = max(room.free)  # cores first: a kind that needs more has no room anywhere
        front = [
            (heap[0], kind) for kind, heap in self._heaps.items() if heap and kind[0][0] <= most[0]
        ]
        heapq.heapify(front)
        while front:
            (_, task), kind = heapq.heappop(front)
            heap = self._heaps[kind]
            if same_or_less(now + self._problem.seconds[task], deadline):
                node = room.place(*kind)
                if node is None:
                    continue  # nor has any other of its kind room now
                room.change(node, *kind, -1)
                yield task, node
            heapq.heappop(heap)
            if heap:
                heapq.heappush(front, (heap[0], kind))


def fill(
    problem: Problem, todo: Collection[int], ranks: Sequence[float], deadline: float
) -> list[Placed]:
    """A list schedule of what ends by a deadline, by falling rank. O(n log n) for few kinds.

    Parameters
    ----------
    problem : Problem
    todo : collection of int
        Those that are in no allocation yet; the others have completed.
    ranks : sequence of float
        Of each task.
    deadline : float
        Seconds.

    Returns
    -------
    list of Placed
        By start.
    """
    left = todo if isinstance(todo, (set, frozenset)) else set(todo)
    open_edges = {k: sum(first in left for first in problem.before[k]) for k in left}
    ready = _Kinds(problem, ranks)
    for task in sorted(left):
        if not open_edges[task]:
            ready.add(task)
    room, now = problem.room(), 0.0
    running: list[tuple[float, int, int]] = []
    placed: list[Placed] = []
    while True:
        for task, node in ready.take(room, now, deadline):
            end = now + problem.seconds[task]
            placed.append(Placed(task, now, end, node))
            heapq.heappush(running, (end, task, node))
        if not running:
            return placed
        now = running[0][0]
        while running and running[0][0] <= now:  # several may end together
            _, task, node = heapq.heappop(running)
            room.change(node, problem.needs[task], problem.holds[task], 1)
            for k in problem.after[task]:
                if k in open_edges:
                    open_edges[k] -= 1
                    if not open_edges[k]:
                        ready.add(k)


def shortest(problem: Problem, todo: frozenset[int], least: float) -> list[Placed]:
    """A schedule of few tasks that ends first: all orders of starts, on all nodes.

    Some order of starts, each as early as the ones before it allow, is optimal on the nodes that
    an optimal schedule uses. `least`: no schedule ends before, so the search stops there.
    """
    found: list[list[Placed]] = [fill(problem, todo, problem.paths().tolist(), float("inf"))]
    best = [max(one.end for one in found[0])]

    def extend(placed: list[Placed], left: frozenset[int], now: float, end: float) -> None:
        if not left:
            best[0], found[0] = end, placed
            return
        ended = {one.task for one in placed}
        for task in left:
            if any(k in todo and k not in ended for k in problem.before[task]):
                continue
            for node in range(problem.nodes):
                start = _earliest(problem, placed, task, node, now)
                mine = Placed(task, start, start + problem.seconds[task], node)
                if max(end, mine.end) < best[0] * (1 - 1e-12) and best[0] > least * (1 + 1e-12):
                    extend([*placed, mine], left - {task}, start, max(end, mine.end))
                if all(one.node != node for one in placed):
                    break  # the other empty nodes are the same

    extend([], todo, 0.0, 0.0)
    return sorted(found[0], key=lambda one: (one.start, one.task))


def _earliest(
    problem: Problem, placed: Sequence[Placed], task: int, node: int, now: float
) -> float:
    """When a task may start on a node, not before the last start: what runs then only ends."""
    start = max([now, *(one.end for one in placed if one.task in problem.before[task])])
    for time in sorted({start, *(one.end for one in placed if one.end > start)}):
        running = [one for one in placed if one.end > time]
        here = [problem.needs[one.task] for one in running if one.node == node]
        held = [problem.holds[one.task] for one in running]
        if _fits(problem.node, here, problem.needs[task]) and _fits(
            problem.shared, held, problem.holds[task]
        ):
            return time
    raise AssertionError("a task that fits an empty node")


def _fits(
    capacity: Sequence[float], used: Sequence[Sequence[float]], need: Sequence[float]
) -> bool:
    return all(
        sum(row[k] for row in used) + need[k] <= have * (1 + 1e-12) + 1e-12
        for k, have in enumerate(capacity)
    )
