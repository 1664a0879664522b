"""``execution.batch``: tasks packed into as few node-hours as possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cosched.core.arrays import integer, positive
from cosched.core.text import percent
from cosched.errors import InvalidInstance, shorten
from cosched.execution.batches.chance import Chance
from cosched.execution.batches.limits import time_of
from cosched.execution.batches.problem import (
    OF_NODE,
    Placed,
    Problem,
    choose_counts,
    end_of,
    node_seconds_bound,
    problem_of,
)
from cosched.execution.batches.search import cost_of, pack
from cosched.execution.batches.task_list import BatchTask, TaskList
from cosched.execution.slurm_words import amount_of, require_slurm_name
from cosched.lazy import pd

#: Largest spread: times that are off by a factor of thousands are not known at all.
_WIDEST = 10


@dataclass(frozen=True)
class Allocation:
    """One job of the cluster.

    Attributes
    ----------
    tasks : tuple of Placed
        By planned start: place of the task, start, end (s), node.
    after : tuple of int
        Allocations that have to complete before.
    end, late : float
        Planned end, and the one that is kept with the chance (s).
    """

    tasks: tuple[Placed, ...]
    after: tuple[int, ...]
    end: float
    late: float


@dataclass(frozen=True, kw_only=True)
class Batches:
    """Tasks in allocations of one shape.

    Attributes
    ----------
    tasks : tuple of BatchTask
    problem : Problem
        Their core counts, seconds and needs as planned, and the shape.
    licences : tuple of str
        Names of what an allocation shares.
    limit : float
        Seconds that tasks may take in an allocation.
    chance : Chance
    allocations : tuple of Allocation
    bound : float
        No plan on these nodes takes fewer node-seconds.
    notes : tuple of str
        What is to be said beside it.

    Examples
    --------
    >>> task = cs.execution.BatchTask(name="a", seconds={1: 60.0}, commands={1: ("./fem", "a")})
    >>> made = cs.execution.batch([task], limit=120.0, cores=2, spread=0.0)
    >>> made.to_frame()[["name", "start", "cores"]].to_numpy().tolist()
    [['a', 0.0, 1]]
    >>> made.cores_of(made.allocations[0].tasks[0])
    1
    >>> made.lines()[0]
    '1 tasks in 1 allocation of 1 node for 0.05 h: 0.01667 node-hours, 0.00% above a bound on \
all plans'
    """

    tasks: tuple[BatchTask, ...]
    problem: Problem
    licences: tuple[str, ...]
    limit: float
    chance: Chance
    allocations: tuple[Allocation, ...]
    bound: float
    notes: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Seconds that Slurm is asked for: `limit`, 30 s to begin and to end, whole minutes."""
        return time_of(self.limit)

    @property
    def node_seconds(self) -> float:
        """Nodes x planned seconds of all allocations."""
        return self.problem.nodes * sum(one.end for one in self.allocations)

    @property
    def gap(self) -> float:
        """How far `node_seconds` can be above the least possible: a share of the bound."""
        return self.node_seconds / self.bound - 1

    def to_frame(self) -> pd.DataFrame:
        """A row a task: ``allocation, name, start, end, node, cores``."""
        rows = [
            (k, self.tasks[one.task].name, one.start, one.end, one.node, self.cores_of(one))
            for k, allocation in enumerate(self.allocations)
            for one in allocation.tasks
        ]
        return pd.DataFrame(rows, columns=["allocation", "name", "start", "end", "node", "cores"])

    def cores_of(self, placed: Placed) -> int:
        """Cores that a task gets.

        Parameters
        ----------
        placed : Placed
            Of one of the allocations.
        """
        return int(self.problem.needs[placed.task][0])

    def lines(self) -> list[str]:
        """What was planned, in words."""
        count, nodes = len(self.allocations), self.problem.nodes
        late = max(one.late for one in self.allocations)
        return [
            *(f"note: {note}" for note in self.notes),
            f"{len(self.tasks)} tasks in {count} allocation{'s' * (count > 1)} of {nodes} "
            f"node{'s' * (nodes > 1)} for {self.time / 3600:.4g} h: "
            f"{self.node_seconds / 3600:.4g} node-hours, {percent(self.gap)} above a bound on "
            "all plans",
            f"each ends within {late / 60:.1f} min with a chance of {self.chance.level:.0%}",
        ]


def batch(
    tasks: TaskList | Sequence[BatchTask],
    *,
    nodes: int = 1,
    limit: float,
    cores: int,
    memory: float = math.inf,
    gpus: int = 0,
    licences: Mapping[str, float] | None = None,
    chance: float = 0.95,
    spread: float = 0.1,
    seed: int = 0,
) -> Batches:
    """Tasks in allocations of one shape, of the fewest node-seconds found.

    Each allocation ends within its limit with a chance, by what repeated measurements say of the
    times; a task that has no room goes into the next. In an allocation tasks start in the order
    planned as soon as there is room, longest paths first.

    Up to 6 tasks exactly: subsets of tasks, and all orders of starts. More by list schedules to
    several deadlines, and a search of fixed work over their orders.

    Parameters
    ----------
    tasks : TaskList or sequence of BatchTask
    nodes : int
        Of an allocation.
    limit : float
        Seconds that tasks may take in an allocation. Its script asks for 30 s more, in which it
        begins and ends, and for whole minutes.
    cores, memory, gpus : int, float, int
        Of a node; memory in GB.
    licences : mapping, optional
        What an allocation has of each; of others there are enough.
    chance : float
        That an allocation ends in time, below 1.
    spread : float
        Standard deviation of the logarithm of all times together, where no task was measured
        twice; 0: they are exact.
    seed : int
        Of the futures.

    Raises
    ------
    InvalidInstance
        A task longer than the limit, or larger than a node.

    Examples
    --------
    >>> from cosched.execution import BatchTask, batch
    >>> tasks = [BatchTask(name=name, seconds={1: 60.0}, commands={1: ("./fem", name)})
    ...          for name in "abc"]
    >>> made = batch(tasks, limit=120.0, cores=2, spread=0.0)
    >>> len(made.allocations), made.node_seconds, made.gap < 0.01
    (1, 120.0, True)
    """
    given = tasks if isinstance(tasks, TaskList) else TaskList(tuple(tasks))
    if not given.tasks:
        raise InvalidInstance("no tasks: expected one")
    if not 0 < chance < 1:
        raise InvalidInstance(f"chance = {shorten(chance)}: expected a number between 0 and 1")
    if not 0 <= spread <= _WIDEST:
        raise InvalidInstance(f"spread = {shorten(spread)}: expected a number in 0..{_WIDEST}")
    integer(nodes, "nodes", 1)
    longest = positive(limit, "limit")
    known = Chance.of(given.runs, longest, spread, chance, seed)
    gigabytes = math.inf if memory == math.inf else amount_of(memory, "memory")
    node = (float(integer(cores, "cores", 1)), gigabytes, float(integer(gpus, "gpus")))
    for name, count in (licences or {}).items():
        require_slurm_name(name, "licence")
        amount_of(count, f"licences.{name}")
    allowed = [_allowed(task, node, licences or {}, longest, known) for task in given.tasks]
    best: tuple[tuple[float, int], Problem, list[list[Placed]]] | None = None
    for counts in choose_counts(given.tasks, nodes, cores, allowed):
        problem = problem_of(given.tasks, counts, nodes, node, dict(licences or {}))
        if best is None:
            bound = node_seconds_bound(problem, given.tasks, allowed)
        found = pack(problem, longest, known, bound)
        if best is None or cost_of(found) < best[0]:
            best = cost_of(found), problem, found
    assert best is not None
    _, problem, allocations = best
    return Batches(
        tasks=given.tasks,
        problem=problem,
        licences=tuple(licences or {}),
        limit=longest,
        chance=known,
        allocations=_in_order(problem, allocations, known),
        bound=min(bound, nodes * best[0][0]),
        notes=given.notes,
    )


def _allowed(
    task: BatchTask,
    node: tuple[float, ...],
    licences: Mapping[str, float],
    limit: float,
    chance: Chance,
) -> list[int]:
    """Counts on which a task fits a node and ends in time with its chance."""
    least_memory = min(task.memory.get(q, 0.0) for q in task.seconds)
    needs = (float(min(task.seconds)), least_memory, float(task.gpus))
    for what, need, have in zip(OF_NODE, needs, node, strict=True):
        if need > have * (1 + 1e-9):
            unit = " GB" if what == "memory" else ""
            raise InvalidInstance(
                f"task {shorten(task.name)} needs {need:g}{unit} {what}, a node has "
                f"{have:g}{unit}: expected a larger node, or a smaller task"
            )
    for name, need in task.licences.items():
        if need > licences.get(name, math.inf):
            raise InvalidInstance(
                f"task {shorten(task.name)} needs {need:g} licences {name}: expected at most "
                f"{licences[name]:g}"
            )
    fits = [q for q in sorted(task.seconds) if q <= node[0] and task.memory.get(q, 0) <= node[1]]
    if not fits:
        raise InvalidInstance(f"task {shorten(task.name)} fits a node on none of its core counts")
    kept = [q for q in fits if task.seconds[q] * chance.alone() <= limit * (1 + 1e-9)]
    if not kept:
        least = min(task.seconds[q] for q in fits)
        raise InvalidInstance(
            f"task {shorten(task.name)} takes {least:g} s, {least * chance.alone():.4g} s with a "
            f"chance of {chance.level:.0%}: longer than the {limit:g} s that tasks may take in an "
            f"allocation of {time_of(limit) / 60:g} min: expected a longer limit"
        )
    return kept


def _in_order(
    problem: Problem, found: Sequence[Sequence[Placed]], chance: Chance
) -> tuple[Allocation, ...]:
    """Allocations after those that they wait for."""
    of = {one.task: k for k, placed in enumerate(found) for one in placed}
    made = []
    for k, placed in enumerate(found):
        waits = {of[first] for one in placed for first in problem.before[one.task]} - {k}
        made.append(
            Allocation(
                tuple(placed), tuple(sorted(waits)), end_of(placed), chance.end(problem, placed)
            )
        )
    return tuple(made)
