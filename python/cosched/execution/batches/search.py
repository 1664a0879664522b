"""As few node-seconds as possible: an allocation filled, and which tasks share one."""

import heapq
import itertools
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from cosched.execution.batches.chance import Chance
from cosched.execution.batches.problem import Placed, Problem, end_of, same_or_less


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

    `todo` are in no allocation yet, the others have completed; the list is by start.
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


def pack(problem: Problem, limit: float, chance: Chance, bound: float) -> Allocations:
    """Allocations that end by a limit with their chance, of the least node-seconds found.

    Few tasks exactly, else list schedules to several deadlines by several orders, then by orders
    that are drawn. `bound`: node-seconds that no plan beats.
    """
    if len(problem.seconds) <= EXACT:
        return _exact(problem, limit, chance)
    stretch = float(np.quantile(chance.common, chance.level))
    work = _WORK if chance.certain else _WORK // _ROUGHLY
    for _ in range(_CORRECTIONS):
        best = _search(problem, limit / stretch, bound, work)
        late = max(chance.end(problem, placed) for placed in best)
        if same_or_less(late, limit):
            if work == _WORK:
                break
            work = _WORK
        else:
            stretch = min(stretch * 1.002 * late / limit, chance.alone())
    return _no_longer(problem, best, limit, chance)


def _no_longer(problem: Problem, found: Allocations, limit: float, chance: Chance) -> Allocations:
    """Where one still promises too much, its last tasks to end go into allocations of their own."""
    kept: Allocations = []
    while found:
        placed = found.pop(0)
        if len(placed) > 1 and not same_or_less(chance.end(problem, placed), limit):
            last = max(placed, key=lambda one: (one.end, one.start))
            behind = {last.task}
            for one in placed:
                if behind & set(problem.before[one.task]):
                    behind.add(one.task)
            ranks = problem.paths().tolist()
            mine = {one.task for one in placed} - behind
            found[:0] = [
                p
                for p in (fill(problem, mine, ranks, limit), fill(problem, behind, ranks, limit))
                if p
            ]
            continue
        kept.append(placed)
    return kept


def cost_of(allocations: Allocations) -> tuple[float, int]:
    """Seconds of all allocations, and how many they are."""
    return sum(map(end_of, allocations)), len(allocations)


def _search(problem: Problem, deadline: float, bound: float, most: int) -> Allocations:
    least = bound / problem.nodes
    best: Allocations | None = None
    work = 0
    for ranks, goal in itertools.islice(_tries(problem, deadline, least), _TRIES):
        found = _filled(problem, ranks, goal, deadline)
        work += len(problem.seconds) * (1 if goal is not None else len(_SHARES))
        if best is None or cost_of(found) < cost_of(best):
            best = found
        if cost_of(best)[0] <= least * _CLOSE or work > most:
            break
    assert best is not None
    return best


def _tries(
    problem: Problem, deadline: float, least: float
) -> Iterator[tuple[list[float], float | None]]:
    """Ranks and deadlines: None is the one of each allocation that leaves the least idle."""
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
    problem: Problem, ranks: Sequence[float], goal: float | None, deadline: float
) -> Allocations:
    todo = set(range(len(problem.seconds)))
    made: Allocations = []
    while todo:
        goals = [goal] if goal is not None else [share * deadline for share in _SHARES]
        found = max(
            (fill(problem, todo, ranks, one) for one in goals),
            key=lambda placed: _use(problem, placed, len(todo)),
        )
        if not found:  # the goal is shorter than a task
            found = fill(problem, todo, ranks, deadline)
        made.append(found)
        todo -= {one.task for one in found}
    return made


def _use(problem: Problem, placed: Sequence[Placed], todo: int) -> float:
    """How well an allocation is used; of those that leave nothing over, the shortest."""
    if not placed:
        return 0.0
    used = sum(problem.seconds[one.task] * problem.needs[one.task][0] for one in placed)
    return used / end_of(placed) + (len(placed) == todo) * 1e9


def _exact(problem: Problem, limit: float, chance: Chance) -> Allocations:
    """By subsets: the allocation that comes first, then the best of the rest."""
    everyone = frozenset(range(len(problem.seconds)))
    known: dict[frozenset[int], list[Placed]] = {}

    def allocation(tasks: frozenset[int]) -> list[Placed] | None:
        if tasks not in known:
            known[tasks] = shortest(problem, tasks, _least(problem, tasks))
        return known[tasks] if same_or_less(chance.end(problem, known[tasks]), limit) else None

    best: dict[frozenset[int], Allocations] = {frozenset(): []}

    def of(left: frozenset[int]) -> Allocations:
        if left not in best:
            found: list[Allocations] = []
            for size in range(len(left), 0, -1):
                for chosen in itertools.combinations(sorted(left), size):
                    mine = frozenset(chosen)
                    if any(k in left - mine for task in mine for k in problem.before[task]):
                        continue
                    if (first := allocation(mine)) is not None:
                        found.append([first, *of(left - mine)])
            best[left] = min(found, key=lambda made: (round(cost_of(made)[0], 9), len(made)))
        return best[left]

    return of(everyone)


def _least(problem: Problem, tasks: frozenset[int]) -> float:
    """Seconds that no schedule of some tasks beats: the longest, and their share of the nodes."""
    uses = [0.0]
    for k, have in enumerate(problem.node):
        if have > 0:
            uses.append(sum(problem.seconds[t] * problem.needs[t][k] for t in tasks) / have)
    return max(max(uses) / problem.nodes, max(problem.seconds[t] for t in tasks))
