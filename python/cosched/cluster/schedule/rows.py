"""Rows of a schedule of the cluster family: what is checked of them, what a table of them says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cosched import core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import recorded_starts
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import cells_of_nodes, node_attribute
from cosched.core.arrays import integer_array, real_array
from cosched.errors import InvalidSchedule
from cosched.lazy import pd


def refuse(wrong: np.ndarray, message_of: Callable[[int], str]) -> None:
    """InvalidSchedule about the first that is wrong."""
    if wrong.any():
        raise InvalidSchedule(message_of(int(np.argmax(wrong))))


CAUSES = ("start", "resume", "move", "go on")


class ScheduleRows(core.Schedule):
    """A row a (job, constant mapping and yield): placements with ``yield_, progress, cause``.

    ``task`` is the job; ``progress`` is the yield, or 0 while the job pays a rescheduling
    penalty; ``cause`` is a position in ``CAUSES``.
    """

    def __init__(self, instance: Instance, columns: tuple) -> None:
        job, unit_begin, unit, start, end, yield_, progress, cause = columns
        super().__init__(instance, job, np.zeros(len(job)), unit_begin, unit, start, end)
        self.yield_ = real_array(yield_, "yield_", 1)
        self.progress = real_array(progress, "progress", 1)
        self.cause = integer_array(cause, "cause", 1, 0, len(CAUSES) - 1)
        for column in (self.yield_, self.progress, self.cause):
            if len(column) != len(self.task):
                raise InvalidSchedule("the schedule's columns have different lengths")
            column.flags.writeable = False

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """What the constructor takes: job, unit_begin, unit, start, end, yield, progress, cause."""
        return (
            self.task,
            self.unit_begin,
            self.unit,
            self.start,
            self.end,
            self.yield_,
            self.progress,
            self.cause,
        )


def check_partitions(instance: Instance, rows: ScheduleRows) -> None:
    """Each job on nodes of its partition: numbered on from part to part of the machine."""
    sizes, allowed, _ = instance.partition_layout
    if not len(sizes):
        return
    part = np.repeat(np.arange(len(sizes)), sizes)
    is_named_unit = rows.unit < len(part)  # others are named below
    job = np.repeat(rows.task, np.diff(rows.unit_begin))[is_named_unit]
    bit = np.left_shift(np.uint64(1), part[rows.unit[is_named_unit]].astype(np.uint64))
    refuse(
        (allowed[job] & bit) == 0,
        lambda row_number: (
            f"job {instance.ids[job[row_number]]} is on node "
            f"{rows.unit[is_named_unit][row_number]}, which its partition does not have"
        ),
    )


def check_recorded(
    instance: Instance, totals: Mapping[str, np.ndarray], rows: ScheduleRows | None
) -> None:
    """Each job when its log has it, on as many nodes; see :func:`check_partitions`.

    Without rows the times are checked: nobody has said on which nodes jobs ran.
    """
    start = recorded_starts(instance)
    expected_columns = {"start": start, "end": start + instance.column("runtime")}
    for name, times in expected_columns.items():
        wrong = ~np.isclose(totals[name], times, rtol=1e-9, atol=1e-6)
        for row in np.flatnonzero(wrong)[:1].tolist():
            other = f"{totals[name][row]:g} s: the log has {times[row]:g} s"
            raise InvalidSchedule(f"job {instance.ids[row]} has {name} {other}")
    if rows is None:
        return
    count = np.bincount(rows.task, np.diff(rows.unit_begin), minlength=len(instance))
    tasks = instance.column("tasks")
    refuse(
        count != tasks,
        lambda row: f"job {instance.ids[row]} has {count[row]:g} nodes for {tasks[row]} tasks",
    )
    check_partitions(instance, rows)


def cut_at_limits(
    instance: Instance, outcome: Mapping[str, np.ndarray], elapsed: np.ndarray
) -> Instance:
    """The instance with the times that killed jobs ran, which end at their limits or later."""
    run_times = instance.column("runtime")
    limit = (
        instance.column("estimate")
        if "estimate" in instance.column_names
        else np.zeros(len(run_times))
    )
    limit = np.where(outcome["preempted"], 0.0, limit)
    # Slurm's clock has whole seconds.
    wrong = outcome["at_limit"] & ~(
        (elapsed >= limit - 1) & (elapsed <= run_times * (1 + 1e-9)) & (elapsed >= 0)
    )
    refuse(
        wrong,
        lambda row: (
            f"job {instance.ids[row]} is ended at its limit after {elapsed[row]:g} s: expected "
            f"{limit[row]:g} to {run_times[row]:g} s"
        ),
    )
    return instance.replace(runtime=np.where(outcome["at_limit"], elapsed, run_times))


def hosts_of(
    instance: Instance, machine: Machine | None, rows: core.Schedule
) -> list[tuple[str, ...]] | None:
    """Of each row the names of its nodes as slurm.conf has them; None where nobody knows them."""
    machine = instance.machine if machine is None else machine
    if machine is None or machine.slurm is None:
        return None
    names, cores_of_nodes = np.array(machine.slurm.names), node_attribute(machine, "cores")
    cores_of_nodes = (
        np.ones_like(cores_of_nodes) if instance.nodes == len(cores_of_nodes) else cores_of_nodes
    )
    if len(names) != len(cores_of_nodes) or instance.nodes != cores_of_nodes.sum():
        return None
    order = np.arange(len(cores_of_nodes))
    if instance.machine is not None:  # which numbers its units part by part
        order = np.argsort(cells_of_nodes(machine)[0], kind="stable")
    of_unit = np.repeat(order, cores_of_nodes[order])
    # A schedule may hold any number: whether it is right is validate()'s question.
    is_named_unit = (rows.unit >= 0) & (rows.unit < len(of_unit))
    node = np.where(is_named_unit, of_unit[np.where(is_named_unit, rows.unit, 0)], -1)
    nodes_of_rows = (np.unique(part) for part in np.split(node, rows.unit_begin[1:-1]))
    return [tuple(names[part[part >= 0]].tolist()) for part in nodes_of_rows]


def unwrap_single(frame: pd.DataFrame) -> Any:
    """What the column ``exclusive`` says; False without it, or without a row."""
    values = frame["exclusive"].unique().tolist() if "exclusive" in frame else []
    if len(values) > 1:
        raise InvalidSchedule(f"exclusive: {values[0]} and {values[1]}: expected one for all rows")
    return values[0] if values else False


def penalty_paid(frame: pd.DataFrame) -> float:
    """Seconds from the last resumption or move of some job to its next progress; else 0.

    Only after the last one is it sure that no other cut the penalty short.
    """
    paying = frame[frame["cause"].isin(("resume", "move"))]
    if not len(paying):
        return 0.0
    job = paying["task"].iloc[0]
    rows = frame[frame["task"] == job].sort_values("start", kind="stable")
    begin = rows.loc[rows["cause"].isin(("resume", "move")), "start"].iloc[-1]
    going = rows[(rows["start"] >= begin) & (rows["progress"] > 0)]
    return float(going["start"].iloc[0] - begin) if len(going) else 0.0
