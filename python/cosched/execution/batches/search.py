"""As few node-seconds as possible: an allocation filled, and which tasks share one."""

import heapq
import itertools
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from cosched.execution.batches.chance import Chance
from cosched.execution.batches.problem import BatchProblem, Placed, end_of, same_or_less


class _Kinds:
    """Ready tasks by what they need, in each kind those of the highest rank first."""

    def __init__(self, problem: BatchProblem, ranks: Sequence[float]) -> None:
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
    problem: BatchProblem, todo: Collection[int], ranks: Sequence[float], deadline: float
) -> list[Placed]:
    """A list schedule of what ends by a deadline, by falling rank. O(n log n) for few kinds.

    `todo` are in no allocation yet, the others have completed; the list is by start.
    """
    open_tasks = todo if isinstance(todo, (set, frozenset)) else set(todo)
    open_edges = {k: sum(first in open_tasks for first in problem.before[k]) for k in open_tasks}
    ready = _Kinds(problem, ranks)
    for task in sorted(open_tasks):
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


def shortest(problem: BatchProblem, todo: frozenset[int], least: float) -> list[Placed]:
    """A schedule of few tasks that ends first: all orders of starts, on all nodes.

    Some order of starts, each as early as the ones before it allow, is optimal on the nodes that
    an optimal schedule uses. `least`: no schedule ends before, so the search stops there.
    """
    first_schedule = fill(problem, todo, problem.paths().tolist(), float("inf"))
    best_schedule: list[list[Placed]] = [first_schedule]
    best_end = [max(placement.end for placement in best_schedule[0])]

    def extend(placed: list[Placed], open_tasks: frozenset[int], now: float, end: float) -> None:
        if not open_tasks:
            best_end[0], best_schedule[0] = end, placed
            return
        ended = {other.task for other in placed}
        for task in open_tasks:
            if any(k in todo and k not in ended for k in problem.before[task]):
                continue
            for node in range(problem.nodes):
                start = _earliest(problem, placed, task, node, now)
                candidate = Placed(task, start, start + problem.seconds[task], node)
                new_end = max(end, candidate.end)
                is_optimal = best_end[0] <= least * (1 + 1e-12)
                if new_end < best_end[0] * (1 - 1e-12) and not is_optimal:
                    extend([*placed, candidate], open_tasks - {task}, start, new_end)
                if all(other.node != node for other in placed):
                    break  # the other empty nodes are the same

    extend([], todo, 0.0, 0.0)
    return sorted(best_schedule[0], key=lambda placement: (placement.start, placement.task))


def _earliest(
    problem: BatchProblem, placed: Sequence[Placed], task: int, node: int, now: float
) -> float:
    """Return when a task may start on a node, not before the last start: what runs then only
    ends."""
    start = max([now, *(other.end for other in placed if other.task in problem.before[task])])
    for time in sorted({start, *(other.end for other in placed if other.end > start)}):
        running = [other for other in placed if other.end > time]
        node_in_use = [problem.needs[other.task] for other in running if other.node == node]
        shared_in_use = [problem.holds[other.task] for other in running]
        if _fits(problem.node, node_in_use, problem.needs[task]) and _fits(
            problem.shared, shared_in_use, problem.holds[task]
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


#: So many tasks are packed exactly.
EXACT = 6
#: Tasks that the search places in all, and how often the room for chance is corrected.
_WORK, _CORRECTIONS = 25_000, 12
#: Orders of few tasks are soon all tried.
_TRIES = 120
#: The room for chance is found with so much less.
_ROUGHLY = 10
#: A plan so close to the bound is not searched on.
_CLOSE = 1.002
_SHARES = (1.0, 0.97, 0.93, 0.88, 0.8, 0.7, 0.6)

Allocations = list[list[Placed]]


def pack(problem: BatchProblem, limit: float, chance: Chance, bound: float) -> Allocations:
    """Allocations that end by a limit with their chance, of the least node-seconds found.

    Few tasks exactly, else list schedules to several deadlines by several orders, then by orders
    that are drawn. `bound`: node-seconds that no plan beats.
    """
    if len(problem.seconds) <= EXACT:
        return _exact(problem, limit, chance)
    stretch = float(np.quantile(chance.common_factors, chance.level))
    work = _WORK if chance.certain else _WORK // _ROUGHLY
    for _ in range(_CORRECTIONS):
        best = _search(problem, limit / stretch, bound, work)
        latest_end = max(chance.end(problem, placed) for placed in best)
        if same_or_less(latest_end, limit):
            if work == _WORK:
                break
            work = _WORK
        else:
            stretch = min(stretch * 1.002 * latest_end / limit, chance.alone())
    return _no_longer(problem, best, limit, chance)


def _no_longer(
    problem: BatchProblem, allocations: Allocations, limit: float, chance: Chance
) -> Allocations:
    """Return where one still promises too much, its last tasks to end go into allocations of their
    own."""
    short_allocations: Allocations = []
    while allocations:
        placed = allocations.pop(0)
        if len(placed) > 1 and not same_or_less(chance.end(problem, placed), limit):
            last = max(placed, key=lambda placement: (placement.end, placement.start))
            last_tasks = {last.task}
            for placement in placed:
                if last_tasks & set(problem.before[placement.task]):
                    last_tasks.add(placement.task)
            ranks = problem.paths().tolist()
            first_tasks = {placement.task for placement in placed} - last_tasks
            halves = [fill(problem, tasks, ranks, limit) for tasks in (first_tasks, last_tasks)]
            allocations[:0] = [half for half in halves if half]
            continue
        short_allocations.append(placed)
    return short_allocations


def cost_of(allocations: Allocations) -> tuple[float, int]:
    """Seconds of all allocations, and how many they are."""
    return sum(map(end_of, allocations)), len(allocations)


def _search(problem: BatchProblem, deadline: float, bound: float, most: int) -> Allocations:
    least = bound / problem.nodes
    best: Allocations | None = None
    work = 0
    for ranks, goal in itertools.islice(_tries(problem, deadline, least), _TRIES):
        allocations = _filled(problem, ranks, goal, deadline)
        work += len(problem.seconds) * (1 if goal is not None else len(_SHARES))
        if best is None or cost_of(allocations) < cost_of(best):
            best = allocations
        if cost_of(best)[0] <= least * _CLOSE or work > most:
            break
    assert best is not None
    return best


def _tries(
    problem: BatchProblem, deadline: float, least: float
) -> Iterator[tuple[list[float], float | None]]:
    """Yield ranks and deadlines: None is the one of each allocation that leaves the least idle."""
    paths = problem.paths()
    cores = np.array([need[0] for need in problem.needs])
    share = np.max([np.array(problem.needs) / np.maximum(problem.node, 1e-12)], axis=(0, 2))
    orders = [paths, paths * share, paths + 2 * paths.max() * (cores > problem.node[0] / 2)]
    allocations = max(int(np.ceil(least / deadline - 1e-9)), 1)
    goals = [deadline, None, *np.linspace(least / allocations, deadline, 6)[:-1].tolist()]
    for ranks, goal in itertools.product(orders, goals):
        yield ranks.tolist(), goal
    random = np.random.default_rng(0)
    while True:
        ranks = orders[random.integers(len(orders))]
        goal = goals[random.integers(len(goals))]
        noise = np.exp(random.uniform(0.02, 0.5) * random.standard_normal(len(ranks)))
        yield (ranks * noise).tolist(), goal


def _filled(
    problem: BatchProblem, ranks: Sequence[float], goal: float | None, deadline: float
) -> Allocations:
    todo = set(range(len(problem.seconds)))
    allocations: Allocations = []
    while todo:
        goals = [goal] if goal is not None else [share * deadline for share in _SHARES]
        placed = max(
            (fill(problem, todo, ranks, end) for end in goals),
            key=lambda placed: _use(problem, placed, len(todo)),
        )
        if not placed:  # the goal is shorter than a task
            placed = fill(problem, todo, ranks, deadline)
        allocations.append(placed)
        todo -= {placement.task for placement in placed}
    return allocations


def _use(problem: BatchProblem, placed: Sequence[Placed], todo: int) -> float:
    """Return how well an allocation is used; of those that leave nothing over, the shortest."""
    if not placed:
        return 0.0
    used = sum(
        problem.seconds[placement.task] * problem.needs[placement.task][0] for placement in placed
    )
    return used / end_of(placed) + (len(placed) == todo) * 1e9


def _exact(problem: BatchProblem, limit: float, chance: Chance) -> Allocations:
    """Search by subsets: the allocation that comes first, then the best of the rest."""
    everyone = frozenset(range(len(problem.seconds)))
    schedules: dict[frozenset[int], list[Placed]] = {}

    def allocation(tasks: frozenset[int]) -> list[Placed] | None:
        if tasks not in schedules:
            schedules[tasks] = shortest(problem, tasks, _least(problem, tasks))
        is_in_time = same_or_less(chance.end(problem, schedules[tasks]), limit)
        return schedules[tasks] if is_in_time else None

    best: dict[frozenset[int], Allocations] = {frozenset(): []}

    def best_allocations(open_tasks: frozenset[int]) -> Allocations:
        if open_tasks not in best:
            candidates: list[Allocations] = []
            for size in range(len(open_tasks), 0, -1):
                for chosen in itertools.combinations(sorted(open_tasks), size):
                    tasks_of_first = frozenset(chosen)
                    later_tasks = open_tasks - tasks_of_first
                    if any(k in later_tasks for task in chosen for k in problem.before[task]):
                        continue
                    if (first := allocation(tasks_of_first)) is not None:
                        candidates.append([first, *best_allocations(later_tasks)])
            best[open_tasks] = min(candidates, key=_rounded_cost)
        return best[open_tasks]

    return best_allocations(everyone)


def _rounded_cost(allocations: Allocations) -> tuple[float, int]:
    """Return seconds without rounding errors, then how many allocations there are."""
    return round(cost_of(allocations)[0], 9), len(allocations)


def _least(problem: BatchProblem, tasks: frozenset[int]) -> float:
    """Return seconds that no schedule of some tasks beats: the longest, and their share of the
    nodes."""
    uses = [0.0]
    for k, have in enumerate(problem.node):
        if have > 0:
            uses.append(sum(problem.seconds[t] * problem.needs[t][k] for t in tasks) / have)
    return max(max(uses) / problem.nodes, max(problem.seconds[t] for t in tasks))
