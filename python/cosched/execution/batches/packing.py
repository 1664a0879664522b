"""``execution.batch``: tasks packed into as few node-hours as possible."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cosched.core.arrays import integer, positive
from cosched.core.text import count_of, percent
from cosched.errors import InvalidInstance, shorten
from cosched.execution.batches.chance import Chance
from cosched.execution.batches.limits import time_of
from cosched.execution.batches.problem import (
    OF_NODE,
    BatchProblem,
    Placed,
    choose_counts,
    end_of,
    node_seconds_bound,
    problem_of,
)
from cosched.execution.batches.search import cost_of, pack
from cosched.execution.batches.task_list import BatchTask, TaskList
from cosched.execution.slurm_words import amount_of, require_slurm_name
from cosched.lazy import pd
from cosched.notes import Note

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
    end, end_quantile : float
        Planned end, and the one that is kept with the chance (s).
    """

    tasks: tuple[Placed, ...]
    after: tuple[int, ...]
    end: float
    end_quantile: float

    @property
    def late(self) -> float:
        """Deprecated name of `end_quantile`."""
        warnings.warn(
            "Allocation.late is now Allocation.end_quantile", DeprecationWarning, stacklevel=2
        )
        return self.end_quantile


@dataclass(frozen=True, kw_only=True)
class Batches:
    """Tasks in allocations of one shape.

    Attributes
    ----------
    tasks : tuple of BatchTask
    problem : BatchProblem
        Their core counts, seconds and needs as planned, and the shape.
    licences : tuple of str
        Names of what an allocation shares.
    limit : float
        Seconds that tasks may take in an allocation.
    chance : Chance
    allocations : tuple of Allocation
    bound : float
        No plan on these nodes takes fewer node-seconds.
    notes : tuple of Note
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
    '1 task in 1 allocation of 1 node for 0.05 h: 0.01667 node-hours, 0.00% above a bound on \
all plans'
    """

    tasks: tuple[BatchTask, ...]
    problem: BatchProblem
    licences: tuple[str, ...]
    limit: float
    chance: Chance
    allocations: tuple[Allocation, ...]
    bound: float
    notes: tuple[Note, ...] = ()

    @property
    def time(self) -> float:
        """Seconds that Slurm is asked for: `limit`, 30 s to begin and to end, whole minutes."""
        return time_of(self.limit)

    @property
    def node_seconds(self) -> float:
        """Nodes x planned seconds of all allocations."""
        return self.problem.nodes * sum(allocation.end for allocation in self.allocations)

    @property
    def gap(self) -> float:
        """How far `node_seconds` can be above the least possible: a share of the bound."""
        return self.node_seconds / self.bound - 1

    def to_frame(self) -> pd.DataFrame:
        """A row a task: ``allocation, name, start, end, node, cores``."""
        rows = [
            (
                k,
                self.tasks[placed.task].name,
                placed.start,
                placed.end,
                placed.node,
                self.cores_of(placed),
            )
            for k, allocation in enumerate(self.allocations)
            for placed in allocation.tasks
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
        latest_end = max(allocation.end_quantile for allocation in self.allocations)
        return [
            *(f"note: {note}" for note in self.notes),
            f"{count_of(len(self.tasks), 'task')} in {count_of(count, 'allocation')} of "
            f"{count_of(nodes, 'node')} for {self.time / 3600:.4g} h: "
            f"{self.node_seconds / 3600:.4g} node-hours, {percent(self.gap)} above a bound on "
            "all plans",
            f"each ends within {latest_end / 60:.1f} min with a chance of "
            f"{_percent(self.chance.level)}",
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
    task_list = tasks if isinstance(tasks, TaskList) else TaskList(tuple(tasks))
    if not task_list.tasks:
        raise InvalidInstance("no tasks: expected one")
    if not 0 < chance < 1:
        raise InvalidInstance(f"chance = {shorten(chance)}: expected a number between 0 and 1")
    if not 0 <= spread <= _WIDEST:
        raise InvalidInstance(f"spread = {shorten(spread)}: expected a number in 0..{_WIDEST}")
    integer(nodes, "nodes", 1)
    limit_seconds = positive(limit, "limit")
    end_chance = Chance.of(task_list.runs, limit_seconds, spread, chance, seed)
    gigabytes = math.inf if memory == math.inf else amount_of(memory, "memory")
    node = (float(integer(cores, "cores", 1)), gigabytes, float(integer(gpus, "gpus")))
    for name, count in (licences or {}).items():
        require_slurm_name(name, "licence")
        amount_of(count, f"licences.{name}")
    allowed = [
        _allowed(task, node, licences or {}, limit_seconds, end_chance) for task in task_list.tasks
    ]
    best_packing: tuple[tuple[float, int], BatchProblem, list[list[Placed]]] | None = None
    for counts in choose_counts(task_list.tasks, nodes, cores, allowed):
        problem = problem_of(task_list.tasks, counts, nodes, node, dict(licences or {}))
        if best_packing is None:
            bound = node_seconds_bound(problem, task_list.tasks, allowed)
        packed_allocations = pack(problem, limit_seconds, end_chance, bound)
        if best_packing is None or cost_of(packed_allocations) < best_packing[0]:
            best_packing = cost_of(packed_allocations), problem, packed_allocations
    assert best_packing is not None
    _, problem, allocations = best_packing
    return Batches(
        tasks=task_list.tasks,
        problem=problem,
        licences=tuple(licences or {}),
        limit=limit_seconds,
        chance=end_chance,
        allocations=_in_order(problem, allocations, end_chance),
        bound=min(bound, nodes * best_packing[0][0]),
        notes=task_list.notes,
    )


def _percent(chance: float) -> str:
    """Return a chance as it was asked for: 99.9% is not 100%."""
    return f"{100 * chance:.12g}%"


def _allowed(
    task: BatchTask,
    node: tuple[float, ...],
    licences: Mapping[str, float],
    limit: float,
    chance: Chance,
) -> list[int]:
    """Return counts on which a task fits a node and ends in time with its chance."""
    least_memory = min(task.memory.get(q, 0.0) for q in task.seconds)
    needs = (float(min(task.seconds)), least_memory, float(task.gpus))
    for resource, need, capacity in zip(OF_NODE, needs, node, strict=True):
        if need > capacity * (1 + 1e-9):
            unit = " GB" if resource == "memory" else ""
            raise InvalidInstance(
                f"task {shorten(task.name)} needs {need:g}{unit} {resource}, a node has "
                f"{capacity:g}{unit}: expected a larger node, or a smaller task"
            )
    for name, need in task.licences.items():
        if need > licences.get(name, math.inf):
            raise InvalidInstance(
                f"task {shorten(task.name)} needs {need:g} licences {name}: expected at most "
                f"{licences[name]:g}"
            )
    fitting_counts = [
        q for q in sorted(task.seconds) if q <= node[0] and task.memory.get(q, 0) <= node[1]
    ]
    if not fitting_counts:
        raise InvalidInstance(f"task {shorten(task.name)} fits a node on none of its core counts")
    allowed_counts = [
        q for q in fitting_counts if task.seconds[q] * chance.alone() <= limit * (1 + 1e-9)
    ]
    if not allowed_counts:
        least = min(task.seconds[q] for q in fitting_counts)
        raise InvalidInstance(
            f"task {shorten(task.name)} takes {least:g} s, {least * chance.alone():.4g} s with a "
            f"chance of {_percent(chance.level)}: longer than the {limit:g} s that tasks may take "
            f"in an allocation of {time_of(limit) / 60:g} min: expected a longer limit"
        )
    return allowed_counts


def _in_order(
    problem: BatchProblem, packed_allocations: Sequence[Sequence[Placed]], chance: Chance
) -> tuple[Allocation, ...]:
    """Return allocations after those that they wait for."""
    allocation_of_task = {
        placed_task.task: place
        for place, placed in enumerate(packed_allocations)
        for placed_task in placed
    }
    allocations = []
    for place, placed in enumerate(packed_allocations):
        awaited_allocations = {
            allocation_of_task[first]
            for placed_task in placed
            for first in problem.before[placed_task.task]
        } - {place}
        allocations.append(
            Allocation(
                tuple(placed),
                tuple(sorted(awaited_allocations)),
                end_of(placed),
                chance.end(problem, placed),
            )
        )
    return tuple(allocations)
