"""Node-seconds that no batch of the same tasks beats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosched import moldable
from cosched.execution.batches.problem import Problem
from cosched.execution.batches.task_list import BatchTask

#: More tasks are not in the programmes over what fits together.
_MOST = 40
#: Seconds for it: a ceiling.
_PATIENCE = 1.0


def node_seconds_bound(
    problem: Problem, tasks: Sequence[BatchTask], counts: Sequence[Sequence[int]]
) -> float:
    """The best of several bounds on nodes x seconds over all allocations.

    Allocations one after the other are one schedule on as many nodes, so whatever no schedule
    beats without a limit holds with one: the longest path, licences, and bounds on moldable tasks
    whose nodes share all their cores and memory. At each moment a node holds tasks that fit on it,
    so the least mix of such sets (a linear programme) and dual feasible functions of a node hold
    as well.

    Parameters
    ----------
    problem : Problem
        The shape; needs of GPUs and licences; edges.
    tasks : sequence of BatchTask
    counts : sequence of sequence of int
        Of each task, those that it may run on.
    """
    table = np.full((len(counts), int(problem.node[0])), np.inf)
    gigabytes = np.zeros(table.shape)
    for row, (task, mine) in enumerate(zip(tasks, counts, strict=True)):
        for q in mine:
            table[row, q - 1], gigabytes[row, q - 1] = task.seconds[q], task.memory.get(q, 0.0)
    least = table.min(axis=1)
    found = [problem.nodes * float(problem.paths(least.tolist()).max())]
    for k, have in enumerate(problem.shared):
        if have > 0:
            held = sum(t * hold[k] for t, hold in zip(least, problem.holds, strict=True))
            found.append(problem.nodes * float(held) / have)
    gpus = np.array([need[2] for need in problem.needs])
    cores = np.arange(1, table.shape[1] + 1) / problem.node[0]
    share = [np.broadcast_to(cores, table.shape)]
    share += [gigabytes / problem.node[1]] if problem.node[1] > 0 else []
    share += (
        [np.broadcast_to(gpus[:, None] / problem.node[2], table.shape)] if problem.node[2] else []
    )
    for one in share:
        for small in (0.0, *_steps(one)):
            with np.errstate(invalid="ignore"):  # no share of a count that is not allowed
                area = np.where(np.isfinite(table), _dual(one, small) * table, np.inf)
            found.append(float(area.min(axis=1).sum()))
    found += _programmes(problem, table, gigabytes, gpus)
    return max(found)


def _dual(share: np.ndarray, small: float) -> np.ndarray:
    """Fekete and Schepers' dual feasible function: whoever leaves less than `small` takes all.

    Sizes that fit on a node have images that do. *New classes of fast lower bounds for bin packing
    problems*, Mathematical Programming 91 (2001), 11-31.
    """
    rounded = np.where(share > 1 - small + 1e-12, 1.0, share)
    return np.where(share < small - 1e-12, 0.0, np.minimum(rounded, 1.0))


def _steps(share: np.ndarray) -> list[float]:
    """Where that function changes: at sizes up to a half."""
    known = np.unique(np.concatenate([share, 1 - share + 1e-9], axis=None).round(9))
    known = known[(known > 0) & (known <= 0.5)]
    return known[:: max(len(known) // 50, 1)].tolist()


def _programmes(
    problem: Problem, table: np.ndarray, gigabytes: np.ndarray, gpus: np.ndarray
) -> list[float]:
    finite = {"memory": (gigabytes, problem.node[1]), "gpus": (gpus, problem.node[2])}
    kept = {k: v for k, v in finite.items() if np.isfinite(v[1]) and v[0].any()}

    def instance(nodes: int, edges: Sequence[tuple[int, int]] = ()) -> moldable.Instance:
        shared: dict[str, Any] = {}
        if kept:
            shared["resources"] = {name: need for name, (need, _) in kept.items()}
            shared["capacity"] = {name: nodes * have for name, (_, have) in kept.items()}
        return moldable.Instance(table, machines=nodes * table.shape[1], edges=edges, **shared)

    edges = [(a, b) for b, mine in enumerate(problem.before) for a in mine]
    pooled = instance(problem.nodes, edges)
    names = ["work-and-path"] if edges else ["area", "slots"]
    found = [problem.nodes * moldable.bound(pooled, name).value for name in names]
    if len(table) <= _MOST and kept:
        mixes = moldable.bound(instance(1), "configurations", time_limit=_PATIENCE)
        found.append(mixes.value)
    return found
