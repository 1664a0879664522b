"""Rigid tasks in allocations of one shape: the packing problem, and a lower bound."""

import graphlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cosched import moldable
from cosched.execution.batches.runner import Room
from cosched.execution.batches.task_list import BatchTask

#: What a node has.
OF_NODE = ("cores", "memory", "gpus")
#: The memory of more tasks than this is rounded up, as few different sizes are packed fast ...
_MAX_EXACT_MEMORY_TASKS = 100
#: ... to multiples of a node's memory divided by this.
_MEMORY_STEPS = 64


class Placed(NamedTuple):
    """A task in an allocation."""

    #: Place of the task in the list of tasks.
    task: int
    #: Planned start (s after the begin of the allocation).
    start: float
    #: Planned end (s after the begin of the allocation).
    end: float
    #: Number of its node in the allocation.
    node: int


@dataclass
class BatchProblem:
    """Tasks with one core count each, and the shape of allocations.

    Attributes
    ----------
    nodes : int
        Nodes of an allocation.
    node : tuple of float
        What a node has of each of `OF_NODE`.
    shared : tuple of float
        What an allocation has of each licence.
    seconds : list of float
        Planned duration of each task.
    needs : list of tuple of float
        What each task needs of its node.
    shared_needs : list of tuple of float
        What each task needs of what an allocation shares.
    before : list of list of int
        Tasks that have to complete before each starts.
    after : list of list of int
        Tasks that wait for each.
    """

    nodes: int
    node: tuple[float, ...]
    shared: tuple[float, ...]
    seconds: list[float]
    needs: list[tuple[float, ...]]
    shared_needs: list[tuple[float, ...]]
    before: list[list[int]]
    after: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.after = [[] for _ in self.seconds]
        for task, predecessors in enumerate(self.before):
            for first in predecessors:
                self.after[first].append(task)

    def free_capacity(self) -> Room:
        """Return the capacity of an allocation, all of it free."""
        return Room(self.nodes, self.node, self.shared)

    def paths(self, seconds: Sequence[float] | None = None) -> np.ndarray:
        """Return the seconds of the longest path from the start of each task."""
        return longest_paths(self.after, self.seconds if seconds is None else seconds)


def longest_paths(after: Sequence[Sequence[int]], seconds: Sequence[float]) -> np.ndarray:
    """Return the seconds of the longest path from the start of each task; `after`: the tasks that
    wait for it."""
    paths = np.array(seconds, dtype=float)
    if any(after):
        for task in graphlib.TopologicalSorter(dict(enumerate(after))).static_order():
            paths[task] += max((paths[k] for k in after[task]), default=0.0)
    return paths


def problem_of(
    tasks: Sequence[BatchTask],
    counts: Sequence[int],
    nodes: int,
    node: tuple[float, ...],
    licences: dict[str, float],
) -> BatchProblem:
    """Tasks on the counts that were chosen for them."""
    place = {task.name: k for k, task in enumerate(tasks)}
    memory = [task.memory.get(q, 0.0) for task, q in zip(tasks, counts, strict=True)]
    if len(tasks) > _MAX_EXACT_MEMORY_TASKS and 0 < node[1] < math.inf:
        step = node[1] / _MEMORY_STEPS
        memory = [min(math.ceil(need / step - 1e-9) * step, node[1]) for need in memory]
    return BatchProblem(
        nodes=nodes,
        node=node,
        shared=tuple(licences.values()),
        seconds=[task.seconds[q] for task, q in zip(tasks, counts, strict=True)],
        needs=[
            (float(q), need, float(task.gpus))
            for task, q, need in zip(tasks, counts, memory, strict=True)
        ],
        shared_needs=[
            tuple(float(task.licences.get(name, 0.0)) for name in licences) for task in tasks
        ],
        before=[[place[name] for name in task.after] for task in tasks],
    )


def choose_counts(
    tasks: Sequence[BatchTask], nodes: int, cores: int, allowed: Sequence[Iterable[int]]
) -> list[list[int]]:
    """Core counts to try: least work first, then shorter paths for a little more work.

    The second choice gives a task of the longest path another count as long as all nodes wait for
    that path longer than for the work (critical path and area).

    Radulescu, van Gemund, A low-cost approach towards mixed task and data parallel scheduling,
    International Conference on Parallel Processing (2001), 69-76.
    """
    least = [
        min(counts_of_task, key=lambda q, task=task: (q * task.seconds[q], q))  # type: ignore[misc]
        for task, counts_of_task in zip(tasks, allowed, strict=True)
    ]
    counts = list(least)
    place = {task.name: k for k, task in enumerate(tasks)}
    after: list[list[int]] = [[] for _ in tasks]
    for k, task in enumerate(tasks):
        for name in task.after:
            after[place[name]].append(k)
    while True:
        seconds = [task.seconds[q] for task, q in zip(tasks, counts, strict=True)]
        longest = longest_paths(after, seconds)
        if nodes * cores * longest.max() <= float(np.dot(seconds, counts)):
            break
        best, gain = None, 0.0
        for k in _on_path(after, longest, seconds):
            for q in allowed[k]:
                less = seconds[k] - tasks[k].seconds[q]
                more = q * tasks[k].seconds[q] - counts[k] * seconds[k]
                if less > 0 and (worth := less / max(more, 1e-9)) > gain:
                    best, gain = (k, q), worth
        if best is None:
            break
        counts[best[0]] = best[1]
    return [least] if counts == least else [least, counts]


def _on_path(after: list[list[int]], longest: np.ndarray, seconds: Sequence[float]) -> list[int]:
    """Return the tasks of a longest path."""
    task = int(longest.argmax())
    path = [task]
    while after[task] and longest[task] > seconds[task] * (1 + 1e-12):
        task = max(after[task], key=lambda k: longest[k])
        path.append(task)
    return path


def end_of(placed: Sequence[Placed]) -> float:
    """Seconds until an allocation is over."""
    return max((placement.end for placement in placed), default=0.0)


def same_or_less(a: float, b: float) -> bool:
    """Whether one time is no later than another, but for rounding."""
    return a <= b * (1 + 1e-9) or math.isclose(a, b)


#: More tasks are not in the programmes over what fits together.
_MAX_CONFIGURATION_TASKS = 40
#: Seconds for it: a ceiling.
_PATIENCE = 1.0


def node_seconds_bound(
    problem: BatchProblem, tasks: Sequence[BatchTask], counts: Sequence[Sequence[int]]
) -> float:
    """The best of several bounds on nodes x seconds over all allocations.

    Allocations one after the other are one schedule on as many nodes, so whatever no schedule
    beats without a limit holds with one: the longest path, licences, and bounds on moldable tasks
    whose nodes share all their cores and memory. At each moment a node holds tasks that fit on it,
    so the least mix of such sets (a linear programme) and dual feasible functions of a node hold
    as well.

    Of `problem` the shape, needs of GPUs and licences, and edges; `counts`: of each task, those
    that it may run on.
    """
    table = np.full((len(counts), int(problem.node[0])), np.inf)
    gigabytes = np.zeros(table.shape)
    for row, (task, counts_of_task) in enumerate(zip(tasks, counts, strict=True)):
        for q in counts_of_task:
            table[row, q - 1], gigabytes[row, q - 1] = task.seconds[q], task.memory.get(q, 0.0)
    least = table.min(axis=1)
    bounds = [problem.nodes * float(problem.paths(least.tolist()).max())]
    for k, have in enumerate(problem.shared):
        if have > 0:
            use_seconds = sum(
                t * hold[k] for t, hold in zip(least, problem.shared_needs, strict=True)
            )
            bounds.append(problem.nodes * float(use_seconds) / have)
    gpus = np.array([need[2] for need in problem.needs])
    cores = np.arange(1, table.shape[1] + 1) / problem.node[0]
    share = [np.broadcast_to(cores, table.shape)]
    share += [gigabytes / problem.node[1]] if problem.node[1] > 0 else []
    share += (
        [np.broadcast_to(gpus[:, None] / problem.node[2], table.shape)] if problem.node[2] else []
    )
    for resource_share in share:
        for small in (0.0, *_dual_thresholds(resource_share)):
            with np.errstate(invalid="ignore"):  # no share of a count that is not allowed
                area = np.where(np.isfinite(table), _dual(resource_share, small) * table, np.inf)
            bounds.append(float(area.min(axis=1).sum()))
    bounds += _programmes(problem, table, gigabytes, gpus)
    return max(bounds)


def _dual(share: np.ndarray, small: float) -> np.ndarray:
    """Return Fekete and Schepers' dual feasible function: whoever leaves less than `small` takes
    all.

    Sizes that fit on a node have images that do. *New classes of fast lower bounds for bin packing
    problems*, Mathematical Programming 91 (2001), 11-31.
    """
    rounded = np.where(share > 1 - small + 1e-12, 1.0, share)
    return np.where(share < small - 1e-12, 0.0, np.minimum(rounded, 1.0))


def _dual_thresholds(share: np.ndarray) -> list[float]:
    """Return where that function changes: at sizes up to a half."""
    steps = np.unique(np.concatenate([share, 1 - share + 1e-9], axis=None).round(9))
    steps = steps[(steps > 0) & (steps <= 0.5)]
    return steps[:: max(len(steps) // 50, 1)].tolist()


def _programmes(
    problem: BatchProblem, table: np.ndarray, gigabytes: np.ndarray, gpus: np.ndarray
) -> list[float]:
    finite = {"memory": (gigabytes, problem.node[1]), "gpus": (gpus, problem.node[2])}
    limiting_resources = {k: v for k, v in finite.items() if np.isfinite(v[1]) and v[0].any()}

    def instance(nodes: int, edges: Sequence[tuple[int, int]] = ()) -> moldable.Instance:
        shared: dict[str, Any] = {}
        if limiting_resources:
            shared["resources"] = {name: need for name, (need, _) in limiting_resources.items()}
            shared["capacity"] = {
                name: nodes * have for name, (_, have) in limiting_resources.items()
            }
        return moldable.Instance(table, machines=nodes * table.shape[1], edges=edges, **shared)

    edges = [(a, b) for b, predecessors in enumerate(problem.before) for a in predecessors]
    pooled = instance(problem.nodes, edges)
    names = ["work-and-path"] if edges else ["area", "slots"]
    bounds = [problem.nodes * moldable.bound(pooled, name).value for name in names]
    if len(table) <= _MAX_CONFIGURATION_TASKS and limiting_resources:
        mixes = moldable.bound(instance(1), "configurations", time_limit=_PATIENCE)
        bounds.append(mixes.value)
    return bounds
