"""Nodes, cores and units: the core's simulator numbers nodes, a schedule has units; decisions in
Slurm's words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.arguments import unit_counts
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import cells_of_nodes
from cosched.errors import InvalidInstance


@dataclass(frozen=True, eq=False)
class Units:
    """What an instance calls the cores that its jobs get on a machine."""

    #: Units of each job.
    tasks: np.ndarray
    #: Units by node of the machine.
    node_cores: np.ndarray
    #: Of the instance, by core of the machine.
    numbers: np.ndarray
    #: Jobs have cores of their own, several on a node; else whole nodes.
    shared: bool

    @cached_property
    def first(self) -> np.ndarray:
        """First core of each node, and behind the last."""
        return np.concatenate([[0], np.cumsum(self.node_cores)])

    def rows(self, outcome: Mapping[str, Any], start: np.ndarray, end: np.ndarray) -> tuple:
        """Columns of the schedule: a row a job, a unit a task, on its nodes in order."""
        if self.shared and len(outcome["units"]):
            counts = np.add.reduceat(outcome["cores"], outcome["nodes"][0][:-1])
            of_jobs = self._used(np.split(outcome["units"], np.cumsum(counts)[:-1]))
            return self._pieces(outcome, np.concatenate(of_jobs), start, end)
        if self.shared:
            units = self._own_cores(outcome)
            return self._columns(units, start, end)
        first_node, node = outcome["nodes"]
        cores = self.node_cores[node]
        place = np.cumsum(cores) - cores  # of a node's first unit among all that are held
        held = np.repeat(self.first[node] - place, cores) + np.arange(cores.sum())
        counts = np.add.reduceat(cores, first_node[:-1])
        rank = np.arange(len(held)) - np.repeat(np.cumsum(counts) - counts, counts)
        # A job is on all its nodes: the first core of each, then the others in order.
        job = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((~np.isin(held, self.first), job))
        units = held[order][rank < np.repeat(self.tasks, counts)]
        return self._columns(units, start, end)

    def _columns(self, units: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple:
        jobs = np.arange(len(self.tasks))
        begin = np.concatenate([[0], np.cumsum(self.tasks)])
        one = np.ones(len(jobs))
        none = np.zeros(len(jobs), dtype=np.int64)
        own = self.numbers[units]  # in another order than the machine's, where partitions overlap
        own = own[np.lexsort((own, np.repeat(jobs, self.tasks)))]
        return jobs, begin, own, start, end, one, one, none

    def _pieces(
        self, outcome: Mapping[str, Any], units: np.ndarray, start: np.ndarray, end: np.ndarray
    ) -> tuple:
        """A row for each time that a job goes on after it was suspended, too."""
        jobs, begin, units, start, end, *_ = self._columns(units, start, end)
        paused, stops, goes = outcome["pauses"]
        job = np.concatenate([jobs, paused])
        since, until = np.concatenate([start, goes]), np.concatenate([end, end[paused]])
        order = np.lexsort((since, job))
        job, since, until = job[order], since[order], until[order]
        again = np.flatnonzero(order >= len(jobs))  # behind the piece that it goes on from
        until[again - 1] = stops[order[again] - len(jobs)]
        cause = (order >= len(jobs)).astype(np.int64)
        # One that runs from the beginning may have stopped before it.
        none = (again - 1)[until[again - 1] <= since[again - 1]]
        cause[none + 1] = cause[none]
        job, since, until, cause = (np.delete(one, none) for one in (job, since, until, cause))
        own = [units[begin[j] : begin[j + 1]] for j in job.tolist()]
        first = np.concatenate([[0], np.cumsum([len(one) for one in own])])
        one = np.ones(len(job))
        return job, first, np.concatenate(own), since, until, one, one, cause

    def _own_cores(self, outcome: Mapping[str, Any]) -> np.ndarray:
        """Units of each job: the lowest free cores of its nodes at its start."""
        begin, node = (one.tolist() for one in outcome["nodes"])
        counts = outcome["cores"].tolist()
        free = [list(range(a, b)) for a, b in zip(self.first, self.first[1:], strict=False)]
        mine: list[list[int]] = [[]] * len(node)  # of a job on a node
        begun, ended = outcome["start_exact"].tolist(), outcome["end_exact"].tolist()
        moments = [(time, 1, job) for job, time in enumerate(begun)]
        # Ends come first, but for a job that ends as it starts.
        moments += [(time, 0 if time > begun[job] else 2, job) for job, time in enumerate(ended)]
        for _, what, job in sorted(moments):
            for k in range(begin[job], begin[job + 1]):
                own = free[node[k]]
                if what == 1:
                    mine[k], own[:] = own[: counts[k]], own[counts[k] :]
                else:
                    own += mine[k]
                    own.sort()
        units = np.fromiter(chain.from_iterable(mine), dtype=np.int64)
        held = np.add.reduceat([len(one) for one in mine], begin[:-1])
        if np.array_equal(held, self.tasks):
            return units
        return np.concatenate(self._used(np.split(units, np.cumsum(held)[:-1])))

    def _used(self, held: list[np.ndarray]) -> list[np.ndarray]:
        """Units of each job among those that it holds: of whole nodes, the first of each, and of
        the others the first."""
        tasks = self.tasks.tolist()
        for job, (units, n) in enumerate(zip(held, tasks, strict=True)):
            if len(units) > n:
                node = np.searchsorted(self.first, units, side="right")
                again = np.concatenate([[False], node[1:] == node[:-1]])
                held[job] = units[np.argsort(again, kind="stable")[:n]]
        return held


_BY_JOB = ("start", "end", "start_exact", "end_exact", "by", "restarts", "part", "killed")


def taken(outcome: Mapping[str, Any], kept: np.ndarray) -> dict[str, Any]:
    """What became of these jobs (rows, increasing), which are numbered anew."""
    begin, node = outcome["nodes"]
    counts = np.diff(begin)
    place = np.full(len(counts), -1)
    place[kept] = np.arange(len(kept))
    own = np.repeat(place >= 0, counts)
    cores, units = outcome["cores"], outcome["units"]
    paused, stops, goes = outcome["pauses"]
    still = place[paused] >= 0
    return {
        **outcome,
        **{name: outcome[name][kept] for name in _BY_JOB},
        "nodes": (np.concatenate([[0], np.cumsum(counts[kept])]), node[own]),
        "cores": cores[own] if len(cores) else cores,
        "units": units[np.repeat(own, cores)] if len(units) else units,
        "pauses": (place[paused[still]], stops[still], goes[still]),
        "notes": [(t, int(place[j]), *more) for t, j, *more in outcome["notes"] if place[j] >= 0],
    }


def node_cores_of(instance: Instance, machine: Machine | None) -> np.ndarray:
    """Units of the instance by node of the machine."""
    if machine is not None and instance.nodes not in (machine.node_count, machine.cores):
        raise InvalidInstance(
            f"the machine has {machine.node_count} nodes of {machine.cores} cores, the instance "
            f"{instance.nodes}: expected one of the two numbers"
        )
    return unit_counts(instance.nodes, machine)


def units_of(instance: Instance, machine: Machine | None, node_cores: np.ndarray) -> np.ndarray:
    """What an instance with a machine calls each core: it numbers them part by part."""
    units = np.arange(node_cores.sum())
    if instance.machine is None or machine is None:
        return units
    numbers = np.empty_like(units)
    numbers[np.argsort(np.repeat(cells_of_nodes(machine)[0], node_cores), kind="stable")] = units
    return numbers


def parts_of(machine: Machine | None, nodes: int) -> dict[str, tuple[tuple[int, int], ...]]:
    """Ranges of nodes by partition."""
    if machine is None or not machine.partitions:
        return {"": ((0, nodes),)}
    return {part.name: part.nodes for part in machine.partitions}


ACTIONS = ("start", "start", "wait", "wait", "plan", "finish", "finish", "wait", "wait", "preempt",
           "preempt", "start", "wait", "wait")  # fmt: skip
_REASONS = (
    "started by the main scheduler",
    "started by the backfill scheduler",
    "Resources: the first of its partition, too few idle nodes",
    "Priority: a job before it in its partition waits for nodes",
    "planned start {start} s by the backfill scheduler",
    "COMPLETED",
    "TIMEOUT: past its limit at the controller's check",
    "Licenses: too few are free",
    "a limit of its QOS or association",
    "PREEMPTED: its nodes are for a job that comes before it",
    "SUSPENDED: a job of a higher tier has its cores",
    "RUNNING again",
    "Reservation: its own has not begun, or one has all nodes of its partition",
    "ReqNodeNotAvail, May be reserved for other job: a reservation has nodes that it needs",
)


def log_of(outcome: Mapping[str, Any]) -> tuple:
    """(time, job, action, reason) of each decision, in Slurm's words."""
    time, job, action, reason = [], [], [], []
    for when, who, what, start, *_, limit in outcome["notes"]:
        time.append(when)
        job.append(who)
        action.append(ACTIONS[what])
        reason.append(limit or _REASONS[what].format(start=start))
    return np.array(time), np.array(job, dtype=np.int64), action, reason
