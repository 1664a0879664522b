"""``execution.batch``: plan allocations for many tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cosched.core.arrays import integer, positive
from cosched.errors import InvalidInstance, shorten
from cosched.execution.batches.allocation_limits import time_of
from cosched.execution.batches.duration_model import DurationModel
from cosched.execution.batches.pack_tasks import cost_of, pack_tasks
from cosched.execution.batches.planned_batches import Allocation, Batches, percent_text
from cosched.execution.batches.problem import (
    OF_NODE,
    BatchProblem,
    Placed,
    choose_counts,
    end_of,
    node_seconds_bound,
    problem_of,
)
from cosched.execution.batches.task_list import BatchTask, TaskList
from cosched.execution.slurm_words import amount_of, require_slurm_name

#: Largest spread: durations that are off by a factor of thousands are not known at all.
_MAX_SPREAD = 10
#: An amount that is above another by no more than this factor fits it: they differ by rounding.
_ROUNDING_FACTOR = 1 + 1e-9


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
    """Divide tasks among allocations of one shape, with as few node-seconds as possible.

    Each allocation ends within its limit with a given probability, by the variation of repeated
    measurements. In an allocation tasks start in the planned order as soon as there is capacity,
    those with the longest paths first.

    Up to 6 tasks the plan is optimal (dynamic programming over subsets, branch and bound over
    orders of starts). More tasks are placed by list schedules to several deadlines, and by a search
    of fixed work over their orders.

    Parameters
    ----------
    tasks : TaskList or sequence of BatchTask
        What to run.
    nodes : int
        Nodes of an allocation.
    limit : float
        Seconds that tasks may take in an allocation. Its script asks for 30 s more, in which it
        begins and ends, and for whole minutes.
    cores : int
        Cores of a node.
    memory : float
        Memory of a node (GB).
    gpus : int
        GPUs of a node.
    licences : mapping, optional
        How many licences an allocation has, by name; of others there are enough.
    chance : float
        Probability that an allocation ends in time, in (0, 1).
    spread : float
        Standard deviation of the logarithm of all durations together, where no task was measured
        twice; 0: durations are exact.
    seed : int
        Of the simulated futures.

    Returns
    -------
    Batches
        The allocations, and a lower bound on their node-seconds.

    Raises
    ------
    InvalidInstance
        A task longer than the limit, or larger than a node.

    Examples
    --------
    >>> from cosched.execution import BatchTask, batch
    >>> tasks = [BatchTask(name=name, seconds={1: 60.0}, commands={1: ("./fem", name)})
    ...          for name in "abc"]
    >>> batches = batch(tasks, limit=120.0, cores=2, spread=0.0)
    >>> len(batches.allocations), batches.node_seconds, batches.gap < 0.01
    (1, 120.0, True)
    """
    task_list = tasks if isinstance(tasks, TaskList) else TaskList(tuple(tasks))
    if not task_list.tasks:
        raise InvalidInstance("no tasks: expected one")
    if not 0 < chance < 1:
        raise InvalidInstance(f"chance = {shorten(chance)}: expected a number between 0 and 1")
    if not 0 <= spread <= _MAX_SPREAD:
        raise InvalidInstance(f"spread = {shorten(spread)}: expected a number in 0..{_MAX_SPREAD}")
    integer(nodes, "nodes", 1)
    limit_seconds = positive(limit, "limit")
    durations = DurationModel.of_runs(task_list.runs, limit_seconds, spread, chance, seed)
    gigabytes = math.inf if memory == math.inf else amount_of(memory, "memory")
    node = (float(integer(cores, "cores", 1)), gigabytes, float(integer(gpus, "gpus")))
    licence_counts = dict(licences or {})
    for name, count in licence_counts.items():
        require_slurm_name(name, "licence")
        amount_of(count, f"licences.{name}")
    allowed_counts = [
        _allowed_core_counts(task, node, licence_counts, limit_seconds, durations)
        for task in task_list.tasks
    ]
    # Each choice of core counts is a problem of its own; the first has the least work, so that its
    # bound holds for all.
    problems = [
        problem_of(task_list.tasks, counts, nodes, node, licence_counts)
        for counts in choose_counts(task_list.tasks, nodes, cores, allowed_counts)
    ]
    bound = node_seconds_bound(problems[0], task_list.tasks, allowed_counts)
    plans = [
        (problem, pack_tasks(problem, limit_seconds, durations, bound)) for problem in problems
    ]
    problem, allocations = min(plans, key=lambda plan: cost_of(plan[1]))
    seconds, _ = cost_of(allocations)
    return Batches(
        tasks=task_list.tasks,
        problem=problem,
        licences=tuple(licence_counts),
        limit=limit_seconds,
        durations=durations,
        allocations=_allocations_with_order(problem, allocations, durations),
        bound=min(bound, nodes * seconds),
        notes=task_list.notes,
    )


def _allowed_core_counts(
    task: BatchTask,
    node: tuple[float, ...],
    licences: Mapping[str, float],
    limit: float,
    durations: DurationModel,
) -> list[int]:
    """Return the core counts on which a task fits a node and ends in time, with the probability of
    the durations.

    Raises
    ------
    InvalidInstance
        There is no such count.
    """
    min_memory = min(task.memory.get(q, 0.0) for q in task.seconds)
    needs = (float(min(task.seconds)), min_memory, float(task.gpus))
    for resource, need, capacity in zip(OF_NODE, needs, node, strict=True):
        if need > capacity * _ROUNDING_FACTOR:
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
    factor = durations.single_task_factor()
    allowed_counts = [
        q for q in fitting_counts if task.seconds[q] * factor <= limit * _ROUNDING_FACTOR
    ]
    if not allowed_counts:
        min_seconds = min(task.seconds[q] for q in fitting_counts)
        raise InvalidInstance(
            f"task {shorten(task.name)} takes {min_seconds:g} s, {min_seconds * factor:.4g} s with "
            f"a chance of {percent_text(durations.probability)}: longer than the {limit:g} s that "
            f"tasks may take in an allocation of {time_of(limit) / 60:g} min: expected a longer "
            "limit"
        )
    return allowed_counts


def _allocations_with_order(
    problem: BatchProblem, packed_allocations: Sequence[Sequence[Placed]], durations: DurationModel
) -> tuple[Allocation, ...]:
    """Return the allocations, each with those that have to complete before it: they have a task for
    which one of its tasks waits."""
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
                durations.end_quantile(problem, placed),
            )
        )
    return tuple(allocations)
