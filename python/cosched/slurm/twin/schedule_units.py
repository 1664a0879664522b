"""Nodes, cores and units: the core's simulator numbers nodes, a schedule has units; decisions in
Slurm's words.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.arguments import unit_counts
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import cells_of_nodes
from cosched.errors import InvalidInstance


class ScheduleColumns(NamedTuple):
    """The columns of a schedule, in the order in which `ScheduleRows` takes them."""

    #: Row of the job in its instance.
    job: np.ndarray
    #: First entry of each row in `unit`, and the length of `unit`.
    unit_begin: np.ndarray
    #: Units of all rows, one row after the other.
    unit: np.ndarray
    #: Begin of each row (s).
    start: np.ndarray
    #: End of each row (s).
    end: np.ndarray
    #: Share of its CPU need that the job gets: 1.
    yield_: np.ndarray
    #: Work per second: 1.
    progress: np.ndarray
    #: Why the row began, a position in ``CAUSES``: 0, the job starts; 1, it resumes.
    cause: np.ndarray


@dataclass(frozen=True, eq=False)
class Units:
    """What an instance calls the cores that its jobs get on a machine."""

    #: Units of each job.
    tasks: np.ndarray
    #: Units by node of the machine.
    node_cores: np.ndarray
    #: The instance's unit of each core of the machine.
    unit_of_core: np.ndarray
    #: Jobs have cores of their own, several on a node; else whole nodes.
    shares_nodes: bool

    @cached_property
    def first_core_of_node(self) -> np.ndarray:
        """The first core of each node, and the number of all cores behind the last."""
        return np.concatenate([[0], np.cumsum(self.node_cores)])

    def schedule_columns(
        self, outcome: _core.slurm.Outcome, start: np.ndarray, end: np.ndarray
    ) -> ScheduleColumns:
        """Return the columns of the schedule: a row per job, a unit per task, on its nodes in
        order."""
        if self.shares_nodes and len(outcome.core_ids):
            counts = np.add.reduceat(outcome.cores, outcome.node_begin[:-1])
            of_jobs = self._units_in_use(np.split(outcome.core_ids, np.cumsum(counts)[:-1]))
            return self._piece_columns(outcome, np.concatenate(of_jobs), start, end)
        if self.shares_nodes:
            units = self._assign_cores(outcome)
            return self._columns(units, start, end)
        first_node, node = outcome.node_begin, outcome.node
        cores = self.node_cores[node]
        place = np.cumsum(cores) - cores  # of a node's first unit among all that are held
        held_units = np.repeat(self.first_core_of_node[node] - place, cores) + np.arange(
            cores.sum()
        )
        counts = np.add.reduceat(cores, first_node[:-1])
        rank = np.arange(len(held_units)) - np.repeat(np.cumsum(counts) - counts, counts)
        # A job is on all its nodes: the first core of each, then the others in order.
        job = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((~np.isin(held_units, self.first_core_of_node), job))
        units = held_units[order][rank < np.repeat(self.tasks, counts)]
        return self._columns(units, start, end)

    def _columns(self, units: np.ndarray, start: np.ndarray, end: np.ndarray) -> ScheduleColumns:
        """Return the columns of a schedule in which each job runs once, on these units."""
        jobs = np.arange(len(self.tasks))
        begin = np.concatenate([[0], np.cumsum(self.tasks)])
        full_share = np.ones(len(jobs))
        no_cause = np.zeros(len(jobs), dtype=np.int64)
        # The numbers are in another order than the machine's cores, where partitions overlap.
        unit_numbers = self.unit_of_core[units]
        unit_numbers = unit_numbers[np.lexsort((unit_numbers, np.repeat(jobs, self.tasks)))]
        return ScheduleColumns(
            jobs, begin, unit_numbers, start, end, full_share, full_share, no_cause
        )

    def _piece_columns(
        self, outcome: _core.slurm.Outcome, units: np.ndarray, start: np.ndarray, end: np.ndarray
    ) -> ScheduleColumns:
        """Return the columns of a schedule with a row per piece: suspensions part a job into
        pieces."""
        jobs, begin, units, start, end, *_ = self._columns(units, start, end)
        paused, resumptions = outcome.pause_job, outcome.pause_end
        job = np.concatenate([jobs, paused])
        since, until = np.concatenate([start, resumptions]), np.concatenate([end, end[paused]])
        order = np.lexsort((since, job))
        job, since, until = job[order], since[order], until[order]
        # A resumed piece comes behind the piece that it continues.
        resumed_rows = np.flatnonzero(order >= len(jobs))
        until[resumed_rows - 1] = outcome.pause_begin[order[resumed_rows] - len(jobs)]
        cause = (order >= len(jobs)).astype(np.int64)
        # A job that was restarted from its beginning may have been suspended before that.
        empty_rows = (resumed_rows - 1)[until[resumed_rows - 1] <= since[resumed_rows - 1]]
        cause[empty_rows + 1] = cause[empty_rows]
        job, since, until, cause = (
            np.delete(column, empty_rows) for column in (job, since, until, cause)
        )
        units_of_pieces = [units[begin[j] : begin[j + 1]] for j in job.tolist()]
        lengths = [len(units_of_piece) for units_of_piece in units_of_pieces]
        first_unit = np.concatenate([[0], np.cumsum(lengths)])
        full_share = np.ones(len(job))
        all_units = np.concatenate(units_of_pieces)
        return ScheduleColumns(
            job, first_unit, all_units, since, until, full_share, full_share, cause
        )

    def _assign_cores(self, outcome: _core.slurm.Outcome) -> np.ndarray:
        """Return the units of each job: the lowest free cores of its nodes at its start."""
        begin, node = outcome.node_begin.tolist(), outcome.node.tolist()
        counts = outcome.cores.tolist()
        free = [
            list(range(a, b))
            for a, b in zip(self.first_core_of_node, self.first_core_of_node[1:], strict=False)
        ]
        #: A place is a job on one of its nodes.
        units_of_places: list[list[int]] = [[]] * len(node)
        starts, ends = outcome.start_exact.tolist(), outcome.end_exact.tolist()
        moments = [(time, 1, job) for job, time in enumerate(starts)]
        # Ends come first, but for a job that ends as it starts.
        moments += [(time, 0 if time > starts[job] else 2, job) for job, time in enumerate(ends)]
        for _, event, job in sorted(moments):
            for k in range(begin[job], begin[job + 1]):
                free_cores = free[node[k]]
                if event == 1:
                    units_of_places[k] = free_cores[: counts[k]]
                    del free_cores[: counts[k]]
                else:
                    free_cores += units_of_places[k]
                    free_cores.sort()
        units = np.fromiter(chain.from_iterable(units_of_places), dtype=np.int64)
        held_counts = np.add.reduceat(
            [len(units_of_place) for units_of_place in units_of_places], begin[:-1]
        )
        if np.array_equal(held_counts, self.tasks):
            return units
        return np.concatenate(self._units_in_use(np.split(units, np.cumsum(held_counts)[:-1])))

    def _units_in_use(self, units_of_jobs: list[np.ndarray]) -> list[np.ndarray]:
        """Return the units of each job among those that it holds, one per task: the first of each
        node, then others in order."""
        tasks = self.tasks.tolist()
        for job, (units, n) in enumerate(zip(units_of_jobs, tasks, strict=True)):
            if len(units) > n:
                node = np.searchsorted(self.first_core_of_node, units, side="right")
                is_further_core = np.concatenate([[False], node[1:] == node[:-1]])
                units_of_jobs[job] = units[np.argsort(is_further_core, kind="stable")[:n]]
        return units_of_jobs


def select_jobs(outcome: _core.slurm.Outcome, rows: np.ndarray) -> _core.slurm.Outcome:
    """Return the outcome of these jobs alone (rows, increasing), which are numbered anew."""
    counts = np.diff(outcome.node_begin)
    new_row = np.full(len(counts), -1)
    new_row[rows] = np.arange(len(rows))
    is_selected = np.repeat(new_row >= 0, counts)
    cores, core_ids = outcome.cores, outcome.core_ids
    is_selected_pause = new_row[outcome.pause_job] >= 0
    return outcome.replace(
        start=outcome.start[rows],
        end=outcome.end[rows],
        start_exact=outcome.start_exact[rows],
        end_exact=outcome.end_exact[rows],
        scheduler=outcome.scheduler[rows],
        restarts=outcome.restarts[rows],
        partition=outcome.partition[rows],
        is_killed=outcome.is_killed[rows],
        node_begin=np.concatenate([[0], np.cumsum(counts[rows])]),
        node=outcome.node[is_selected],
        cores=cores[is_selected] if len(cores) else cores,
        core_ids=core_ids[np.repeat(is_selected, cores)] if len(core_ids) else core_ids,
        pause_job=new_row[outcome.pause_job[is_selected_pause]],
        pause_begin=outcome.pause_begin[is_selected_pause],
        pause_end=outcome.pause_end[is_selected_pause],
        notes=[
            note.replace(job=int(new_row[note.job]))
            for note in outcome.notes
            if new_row[note.job] >= 0
        ],
    )


def node_cores_of(instance: Instance, machine: Machine | None) -> np.ndarray:
    """Return the units of the instance by node of the machine."""
    if machine is not None and instance.nodes not in (machine.node_count, machine.cores):
        raise InvalidInstance(
            f"the machine has {machine.node_count} nodes of {machine.cores} cores, the instance "
            f"{instance.nodes}: expected one of the two numbers"
        )
    return unit_counts(instance.nodes, machine)


def units_of(instance: Instance, machine: Machine | None, node_cores: np.ndarray) -> np.ndarray:
    """Return the instance's number of each core of the machine: it numbers them part by part."""
    units = np.arange(node_cores.sum())
    if instance.machine is None or machine is None:
        return units
    numbers = np.empty_like(units)
    numbers[np.argsort(np.repeat(cells_of_nodes(machine)[0], node_cores), kind="stable")] = units
    return numbers


def partition_ranges_of(
    machine: Machine | None, nodes: int
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return ranges of nodes by partition."""
    if machine is None or not machine.partitions:
        return {"": ((0, nodes),)}
    return {part.name: part.nodes for part in machine.partitions}


_Action = _core.slurm.Action
#: By action: its word in a log of decisions, and its reason in Slurm's words.
_WORDS: dict[_core.slurm.Action, tuple[str, str]] = {
    _Action.start_main: ("start", "started by the main scheduler"),
    _Action.start_backfill: ("start", "started by the backfill scheduler"),
    _Action.wait_resources: (
        "wait",
        "Resources: the first of its partition, too few idle nodes",
    ),
    _Action.wait_priority: (
        "wait",
        "Priority: a job before it in its partition waits for nodes",
    ),
    _Action.plan: ("plan", "planned start {start} s by the backfill scheduler"),
    _Action.finish: ("finish", "COMPLETED"),
    _Action.timeout: ("finish", "TIMEOUT: past its limit at the controller's check"),
    _Action.wait_licences: ("wait", "Licenses: too few are free"),
    _Action.wait_limit: ("wait", "a limit of its QOS or association"),
    _Action.preempt: (
        "preempt",
        "PREEMPTED: its nodes are for a job that comes before it",
    ),
    _Action.suspend: ("preempt", "SUSPENDED: a job of a higher tier has its cores"),
    _Action.resume: ("start", "RUNNING again"),
    _Action.wait_reservation: (
        "wait",
        "Reservation: its own has not begun, or one has all nodes of its partition",
    ),
    _Action.wait_reserved_nodes: (
        "wait",
        "ReqNodeNotAvail, May be reserved for other job: a reservation has nodes that it needs",
    ),
}


def log_of(
    outcome: _core.slurm.Outcome,
) -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """Return columns (time, job, action, reason) of the decisions, in Slurm's words."""
    time, job, action, reason = [], [], [], []
    for note in outcome.notes:
        word, reason_of_action = _WORDS[note.action]
        time.append(note.time)
        job.append(note.job)
        action.append(word)
        reason.append(note.limit or reason_of_action.format(start=note.start))
    return np.array(time), np.array(job, dtype=np.int64), action, reason
