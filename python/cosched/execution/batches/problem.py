"""Rigid tasks in allocations of one shape: what is packed."""

from __future__ import annotations

import graphlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cosched.execution.batches.runner import Room
from cosched.execution.batches.task_list import BatchTask

#: What a node has.
OF_NODE = ("cores", "memory", "gpus")
#: Memory of more tasks than this is rounded up to such parts of a node: few kinds are packed fast.
_MANY, _STEPS = 100, 64


class Placed(NamedTuple):
    """A task in an allocation."""

    task: int
    start: float
    end: float
    node: int


@dataclass
class Problem:
    """Tasks with one core count each, and the shape of allocations.

    Attributes
    ----------
    nodes : int
        Of an allocation.
    node, shared : tuple of float
        What a node has of `OF_NODE`, and an allocation of each licence.
    seconds : list of float
    needs, holds : list of tuple of float
        Of each task, of what a node and what an allocation has.
    before : list of list of int
        Tasks that complete before each starts.
    """

    nodes: int
    node: tuple[float, ...]
    shared: tuple[float, ...]
    seconds: list[float]
    needs: list[tuple[float, ...]]
    holds: list[tuple[float, ...]]
    before: list[list[int]]
    after: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.after = [[] for _ in self.seconds]
        for task, mine in enumerate(self.before):
            for first in mine:
                self.after[first].append(task)

    def room(self) -> Room:
        """All of an allocation, free."""
        return Room(self.nodes, self.node, self.shared)

    def paths(self, seconds: Sequence[float] | None = None) -> np.ndarray:
        """Seconds of the longest path from the start of each task."""
        return longest_paths(self.after, self.seconds if seconds is None else seconds)


def longest_paths(after: Sequence[Sequence[int]], seconds: Sequence[float]) -> np.ndarray:
    """Seconds of the longest path from the start of each task; `after`: those that wait for it."""
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
) -> Problem:
    """Tasks on the counts that were chosen for them."""
    place = {task.name: k for k, task in enumerate(tasks)}
    memory = [task.memory.get(q, 0.0) for task, q in zip(tasks, counts, strict=True)]
    if len(tasks) > _MANY and 0 < node[1] < math.inf:
        step = node[1] / _STEPS
        memory = [min(math.ceil(need / step - 1e-9) * step, node[1]) for need in memory]
    return Problem(
        nodes=nodes,
        node=node,
        shared=tuple(licences.values()),
        seconds=[task.seconds[q] for task, q in zip(tasks, counts, strict=True)],
        needs=[
            (float(q), need, float(task.gpus))
            for task, q, need in zip(tasks, counts, memory, strict=True)
        ],
        holds=[tuple(float(task.licences.get(name, 0.0)) for name in licences) for task in tasks],
        before=[[place[name] for name in task.after] for task in tasks],
    )


def choose_counts(
    tasks: Sequence[BatchTask], nodes: int, cores: int, allowed: Sequence[Iterable[int]]
) -> list[list[int]]:
    """Core counts to try: least work first, then shorter paths for a little more work.

    The second choice gives a task of the longest path another count as long as all nodes wait for
    that path longer than for the work (critical path and area).

    References
    ----------
    Radulescu, van Gemund, A low-cost approach towards mixed task and data parallel scheduling,
    International Conference on Parallel Processing (2001), 69-76.
    """
    least = [
        min(mine, key=lambda q, task=task: (q * task.seconds[q], q))  # type: ignore[misc]
        for task, mine in zip(tasks, allowed, strict=True)
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
    """The tasks of a longest path."""
    task = int(longest.argmax())
    found = [task]
    while after[task] and longest[task] > seconds[task] * (1 + 1e-12):
        task = max(after[task], key=lambda k: longest[k])
        found.append(task)
    return found


def end_of(placed: Sequence[Placed]) -> float:
    """Seconds until an allocation is over."""
    return max((one.end for one in placed), default=0.0)


def same_or_less(a: float, b: float) -> bool:
    """Whether one time is no later than another, but for rounding."""
    return a <= b * (1 + 1e-9) or math.isclose(a, b)
