"""What an instance of cluster is made of: columns of jobs, and the parts of its machine."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from cosched.cluster.files import COLUMNS, FACTS, MEASURES, whole
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import cells, limits
from cosched.core.arrays import integer_array, real_array
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

_MEASURED = "assumed: measured are"


def columns_of(
    jobs: Any, machine: Machine | None
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Columns that policies know, facts beside them, and columns as they were given that a limit
    of the machine changed; of equal length.

    Where a job has no estimate its run time is taken; a partition's limit cuts estimates.
    """
    uncut = {}
    columns = {name: _column(jobs, name) for name in COLUMNS}
    rows = len(columns["submit"])
    for name, column in columns.items():
        if len(column) != rows:
            raise InvalidInstance(f"jobs: {name} has {len(column)} rows, submit has {rows}")
    columns["tasks"] = integer_array(columns["tasks"], "jobs['tasks']", 1, 1)
    if "eligible" in jobs:
        columns["eligible"] = _eligible(jobs, columns["submit"])
    if "estimate" in jobs:
        estimate = _column(jobs, "estimate")
        if len(estimate) != rows:
            raise InvalidInstance(f"jobs: estimate has {len(estimate)} rows, submit has {rows}")
        estimate = np.where(np.isnan(estimate), columns["runtime"], estimate)
        if machine is not None and "partition" in jobs and len(estimate):
            most = limits(machine, jobs["partition"])
            if (estimate > most).any():
                uncut["estimate"] = estimate
                estimate = np.minimum(estimate, most)
        if len(estimate):
            columns["estimate"] = estimate
    facts = {name: _fact(jobs, name, rows) for name in ("id", *FACTS) if name in jobs}
    return columns, facts, uncut


def parts_of(
    machine: Machine, partition: np.ndarray | None, ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of each part of the machine; by job the parts as bits, and its partition's priority."""
    sizes, masks = cells(machine)
    everywhere = (1 << len(sizes)) - 1
    tiers = {part.name: part.priority for part in machine.partitions}
    if partition is None:
        return sizes, np.full(len(ids), everywhere, np.uint64), np.zeros(len(ids))

    codes, names = pd.factorize(np.asarray(partition, dtype=object), use_na_sentinel=False)
    allowed, priority = [], []
    for code, name in enumerate(map(str, names)):
        own = name.split(",") if name else []  # "gpu,main": in either
        if machine.slurm is not None and len(masks) == 1:
            own = list(masks)  # a log's own queues, on a Slurm with one partition
        lacking = next((one for one in own if one not in masks), None)
        if lacking is not None:
            raise InvalidInstance(
                f"job {ids[np.argmax(codes == code)]}: partition {shorten(lacking)}: "
                f"the machine has {', '.join(masks)}; drop its jobs with --drop unknown-partition"
            )
        allowed.append(reduce(or_, (masks[one] for one in own)) if own else everywhere)
        priority.append(max((tiers[one] for one in own), default=0.0))
    return sizes, np.array(allowed, dtype=np.uint64)[codes], np.array(priority)[codes]


def notes_of(given: Iterable[str], runtime: np.ndarray, least: float) -> list[str]:
    """What was texts of the jobs, and which of them are measured."""
    notes = []
    if not isinstance(given, Iterable):
        raise InvalidInstance(f"notes = {shorten(given)}: expected texts")
    for note in given:
        if not isinstance(note, str):  # before what may have no end is read
            raise InvalidInstance(f"notes: {shorten(note)}: expected texts")
        if not note.startswith(_MEASURED):
            notes.append(note)
    if least > 0:
        of = f"{int((runtime >= least).sum()):,} of {len(runtime):,} jobs"
        notes.append(f"{_MEASURED} {of}: those that run {least:g} s or more")
    return notes


def _column(jobs: Any, name: str) -> np.ndarray:
    try:
        values = jobs[name]
    except (KeyError, TypeError, IndexError):
        raise InvalidInstance(
            f"jobs: no column {name!r}: expected {', '.join(COLUMNS)}[, estimate]"
        ) from None
    return real_array(values, f"jobs[{name!r}]", 1)


def _eligible(jobs: Any, submit: np.ndarray) -> np.ndarray:
    """When each job could start at the earliest: its submission where it is not known."""
    given = _column(jobs, "eligible")
    if len(given) != len(submit):
        raise InvalidInstance(f"jobs: eligible has {len(given)} rows, submit has {len(submit)}")
    eligible = np.where(np.isnan(given), submit, given)
    wrong = (eligible < submit) | np.isinf(eligible)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInstance(
            f"jobs['eligible'][{row}] = {eligible[row]:g}: expected seconds from its submission "
            f"on, {submit[row]:g}"
        )
    return eligible


def _fact(jobs: Any, name: str, rows: int) -> np.ndarray:
    if name in MEASURES:
        values = real_array(jobs[name], f"jobs[{name!r}]", 1)
        wrong = (values < 0) | (values > MEASURES[name])
        if wrong.any():
            row = int(np.argmax(wrong))
            unit = "seconds >= 0" if name in ("wait", "ran") else "a number >= 0"
            most = "" if values[row] < 0 else f" and at most {MEASURES[name]:g}"
            error = InvalidInstance(
                f"jobs[{name!r}][{row}] = {values[row]:g}: expected {unit}{most}, or nan"
            )
            error.row = row
            raise error
        values = whole(values) if name in ("gpus", "threads", "nodes") else values
    elif name == "running":  # from a text file these are words
        values = np.isin(np.array(jobs[name]).astype(str), ("True", "true", "1"))
    elif name == "line":
        values = integer_array(jobs[name], "jobs['line']", 1, 0)
    else:
        values = np.array(jobs[name])
    if values.ndim != 1 or len(values) != rows:
        raise InvalidInstance(f"jobs: {name} has shape {values.shape}, submit has {rows} rows")
    return values
