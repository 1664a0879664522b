"""What an instance is made of: columns of jobs, parts of a machine, jobs that run already."""

import re
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from cosched.cluster.files import COLUMNS, FACTS, MEASURES, whole_numbers_as_text
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import (
    cells,
    cells_of_nodes,
    limits,
    node_attribute,
    parts_for_all,
)
from cosched.core.arrays import INT_MAX, integer, integer_array, nonnegative, real, real_array
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind, as_notes


def columns_of(
    jobs: Any, machine: Machine | None
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Columns that policies know, facts beside them, and columns as they were given where policies
    know others; of equal length.

    Where a job has no estimate its run time is taken; a partition's limit cuts estimates, to which
    the time that a job was suspended does not count.
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
        if len(estimate):
            columns["estimate"] = _planned(jobs, columns["runtime"], estimate, machine)
        if len(estimate) and not np.array_equal(columns["estimate"], estimate):
            uncut["estimate"] = estimate
    facts = {name: _fact(jobs, name, rows) for name in ("id", *FACTS) if name in jobs}
    return columns, facts, uncut


def _planned(
    jobs: Any, runtime: np.ndarray, estimate: np.ndarray, machine: Machine | None
) -> np.ndarray:
    """Return estimates that policies plan with."""
    planned = np.where(np.isnan(estimate), runtime, estimate)
    if machine is None:
        return planned
    max_times = limits(machine, jobs["partition"] if "partition" in jobs else [""] * len(estimate))
    if "suspended" in jobs:
        max_times = max_times + np.nan_to_num(_fact(jobs, "suspended", len(estimate)))
    return np.minimum(planned, max_times)


def parts_of(
    machine: Machine | None, partition: np.ndarray | None, ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of each part of the machine; by job the parts as bits, and its partition's priority;
    nothing where there are no partitions."""
    if machine is None or not machine.partitions:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0)
    sizes, masks = cells(machine)
    everywhere = parts_for_all(machine, len(sizes), masks)
    tiers = {part.name: part.priority for part in machine.partitions}
    if partition is None:
        return sizes, np.full(len(ids), everywhere, np.uint64), np.zeros(len(ids))

    codes, names = pd.factorize(np.asarray(partition, dtype=object), use_na_sentinel=False)
    allowed, priority = [], []
    for code, name in enumerate(map(str, names)):
        partitions = name.split(",") if name else []  # "gpu,main": in either
        if machine.slurm is not None and len(masks) == 1:
            partitions = list(masks)  # a log's own queues, on a Slurm with one partition
        lacking = next(
            (
                name_of_partition
                for name_of_partition in partitions
                if name_of_partition not in masks
            ),
            None,
        )
        if lacking is not None:
            raise InvalidInstance(
                f"job {ids[np.argmax(codes == code)]}: partition {shorten(lacking)}: "
                f"the machine has {', '.join(masks)}; drop its jobs with --drop unknown-partition"
            )
        allowed.append(
            reduce(or_, (masks[name_of_partition] for name_of_partition in partitions))
            if partitions
            else everywhere
        )
        priority.append(
            max((tiers[name_of_partition] for name_of_partition in partitions), default=0.0)
        )
    return sizes, np.array(allowed, dtype=np.uint64)[codes], np.array(priority)[codes]


def with_measured_jobs(notes: Iterable[str], runtime: np.ndarray, min_runtime: float) -> list[Note]:
    """The notes of the jobs, the last of which tells which jobs are measured."""
    all_notes = [note for note in as_notes(notes) if note.kind is not NoteKind.MEASURED_JOBS]
    if min_runtime > 0:
        measured = int((runtime >= min_runtime).sum())
        text = (
            f"assumed: measured are {measured:,} of {len(runtime):,} jobs: those that run "
            f"{min_runtime:g} s or more"
        )
        all_notes.append(Note(NoteKind.MEASURED_JOBS, text, subject="min_runtime", count=measured))
    return all_notes


def _column(jobs: Any, name: str) -> np.ndarray:
    try:
        values = jobs[name]
    except (KeyError, TypeError, IndexError):
        raise InvalidInstance(
            f"jobs: no column {name!r}: expected {', '.join(COLUMNS)}[, estimate]"
        ) from None
    return real_array(values, f"jobs[{name!r}]", 1)


def _eligible(jobs: object, submit: np.ndarray) -> np.ndarray:
    """Return when each job could start at the earliest: its submission where it is not known."""
    eligible_column = _column(jobs, "eligible")
    if len(eligible_column) != len(submit):
        raise InvalidInstance(
            f"jobs: eligible has {len(eligible_column)} rows, submit has {len(submit)}"
        )
    eligible = np.where(np.isnan(eligible_column), submit, eligible_column)
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
        values: np.ndarray = real_array(jobs[name], f"jobs[{name!r}]", 1)
        wrong = (values < 0) | (values > MEASURES[name])
        if wrong.any():
            row = int(np.argmax(wrong))
            unit = "seconds >= 0" if name in ("wait", "ran") else "a number >= 0"
            upper_limit = "" if values[row] < 0 else f" and at most {MEASURES[name]:g}"
            error = InvalidInstance(
                f"jobs[{name!r}][{row}] = {values[row]:g}: expected {unit}{upper_limit}, or nan"
            )
            error.row = row
            raise error
        values = whole_numbers_as_text(values) if name in ("gpus", "threads", "nodes") else values
    elif name == "running":  # from a text file these are words
        values = np.isin(np.array(jobs[name]).astype(str), ("True", "true", "1"))
    elif name == "line":
        values = integer_array(jobs[name], "jobs['line']", 1, 0)
    elif name == "constraint":  # a job that asks for none may have nan or None
        texts = pd.Series(np.array(jobs[name], dtype=object).ravel())
        values = texts.where(texts.notna(), "").astype(str).to_numpy(dtype=str)
    else:
        values = np.array(jobs[name])
        if values.dtype == object and values.ndim == 1 and name != "id":
            values = _with_shared_texts(values)
    if values.ndim != 1 or len(values) != rows:
        raise InvalidInstance(f"jobs: {name} has shape {values.shape}, submit has {rows} rows")
    return values


def _with_shared_texts(values: np.ndarray) -> np.ndarray:
    """The same values, of which equal texts are one object: a log has few users and partitions."""
    if not all(type(value) is str for value in values.tolist()):
        return values
    codes, texts = pd.factorize(values)
    return np.asarray(texts, dtype=object)[codes]


_COLUMNS = ("job", "nodes", "start", "limit")


def with_running(
    jobs: object, running: Any, count: int, names: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Columns of the jobs in which those of the table ``job, nodes, start, limit`` run at second 0,
    on some of `count` nodes.

    They have ``running``, ``ran`` (s so far) and ``held`` (cores by node, as ``0:4;2:1``); their
    ``runtime`` and ``estimate`` are what is left of them, as of a part of a log.
    """
    columns = _columns_of(jobs)
    rows = len(columns["submit"])
    ids = columns.get("id", np.arange(rows))
    row_of_id = {str(job_id): row for row, job_id in enumerate(ids.tolist())}
    if not isinstance(running, Mapping) and not hasattr(running, "columns"):
        raise InvalidInstance(f"running = {shorten(running)}: expected a table of columns")
    lacking = next((name for name in _COLUMNS if name not in running), None)
    if lacking is not None:
        raise InvalidInstance(f"running: no column {lacking!r}: expected {', '.join(_COLUMNS)}")
    columns["running"] = np.zeros(rows, dtype=bool)
    columns["ran"] = np.zeros(rows)
    held_texts = [""] * rows
    for number, (job, nodes, start, limit) in enumerate(_rows_of(running)):
        place = f"running[{number}]"
        row = row_of_id.get(str(job))
        if row is None:
            raise InvalidInstance(f"{place}: job {shorten(job)}: expected one of the jobs")
        if columns["running"][row]:
            raise InvalidInstance(f"{place}: job {shorten(job)} is there twice")
        elapsed = -real(start, f"{place}: start")
        if elapsed < 0:
            raise InvalidInstance(f"{place}: start = {-elapsed:g}: expected seconds <= 0")
        columns["running"][row], columns["ran"][row] = True, elapsed
        columns["submit"][row] = 0.0
        columns["runtime"][row] = max(columns["runtime"][row] - elapsed, 0.0)
        columns["estimate"][row] = max(_limit_of(limit, f"{place}: limit") - elapsed, 0.0)
        held_cores = _cores_by_node(nodes, names, f"{place}: nodes", count)
        tasks = columns.get("tasks", np.zeros(0))
        has_valid_tasks = tasks.dtype.kind in "iuf" and tasks.shape == (
            rows,
        )  # else refused as a column
        if has_valid_tasks and len(held_cores) > tasks[row]:
            raise InvalidInstance(
                f"{place}: nodes = {shorten(nodes)}: job {shorten(job)} has {tasks[row]:g} "
                "tasks: expected at most as many nodes"
            )
        held_texts[row] = ";".join(f"{node}:{cores}" for node, cores in held_cores)
    columns["held"] = np.array(held_texts)
    if "eligible" in columns:
        columns["eligible"] = np.where(columns["running"], 0.0, columns["eligible"])
    return columns


def _limit_of(value: object, name: str) -> float:
    """Return seconds, or infinity where the job has no limit."""
    if isinstance(value, float) and np.isposinf(value):
        return np.inf
    return nonnegative(value, name)


def _columns_of(jobs: Any) -> dict[str, np.ndarray]:
    """Return columns of the jobs, with ``estimate``; those that are changed here are numbers, as
    many as there are jobs."""
    for name in ("submit", "runtime"):
        _column(jobs, name)
    columns = {name: _array(jobs[name], f"jobs[{name!r}]") for name in jobs}
    columns.setdefault("estimate", columns["runtime"])
    for name in ("submit", "runtime", "estimate"):
        columns[name] = real_array(columns[name], f"jobs[{name!r}]", 1)
    rows = len(columns["submit"])
    for name in ("id", "runtime", "estimate", "eligible"):
        if name in columns and len(columns[name]) != rows:
            raise InvalidInstance(f"jobs: {name} has {len(columns[name])} rows, submit has {rows}")
    return columns


def _array(values: object, name: str) -> np.ndarray:
    try:
        return np.array(values)
    except ValueError:
        raise InvalidInstance(f"{name}: expected one value per row") from None


def _rows_of(running: Any) -> Iterable[tuple]:
    """Return rows of the table, whose columns are of one length."""
    columns = []
    for name in _COLUMNS:
        values = running[name]
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidInstance(
                f"running[{name!r}] = {shorten(values)}: expected one value per row"
            )
        columns.append(list(values))
        if len(columns[-1]) != len(columns[0]):
            raise InvalidInstance(
                f"running: {name} has {len(columns[-1])} rows, job has {len(columns[0])}"
            )
    return zip(*columns, strict=True)


def _cores_by_node(
    nodes: object, names: tuple[str, ...], place: str, count: int
) -> list[tuple[int, int]]:
    """Return (node, cores) in the order of nodes; one without a number of cores is held whole:
    0."""
    numbers = {name: k for k, name in enumerate(names)}
    if isinstance(nodes, str):
        nodes = hosts(nodes, place)
    elif isinstance(nodes, (int, np.integer)):  # a plain number: that node
        nodes = [nodes]
    if not isinstance(nodes, Iterable):
        raise InvalidInstance(
            f"{place} = {shorten(nodes)}: expected a host list, numbers of nodes, or cores by node"
        )
    pairs = nodes.items() if isinstance(nodes, Mapping) else ((node, 0) for node in nodes)
    cores_of_node: dict[int, int] = {}
    for node, cores in pairs:
        number = numbers.get(node, node) if isinstance(node, str) else node
        if isinstance(number, str):
            if not re.fullmatch("[0-9]{1,9}", number):
                raise InvalidInstance(f"{place}: {shorten(node)}: the machine has no such node")
            number = int(number)
        number = integer(number, f"{place}: node", 0, INT_MAX)
        if number >= count:
            raise InvalidInstance(f"{place}: node {shorten(node)}: the machine has {count}")
        if number in cores_of_node:
            raise InvalidInstance(f"{place}: node {shorten(node)} is there twice")
        cores_of_node[number] = integer(cores, f"{place}: cores of node {shorten(node)}")
    return sorted(cores_of_node.items())


def parse_held_cores(text: str) -> list[tuple[int, int]]:
    """(node, cores) of what :func:`with_running` wrote; 0 cores: all."""
    pairs = (part.split(":") for part in text.split(";") if part)
    return [(int(node), int(cores)) for node, cores in pairs]


def held_units(columns: Mapping[str, Any], units: int, machine: Machine | None) -> list[list[int]]:
    """Of each job that runs, the units that it has: its tasks', the first of each of its nodes that
    nobody has; empty: nobody runs, or it takes what is free."""
    if "held" not in columns:
        return []
    cores = unit_counts(units, machine)
    number = np.zeros(len(cores)) if machine is None else cells_of_nodes(machine)[0]
    order = np.argsort(number, kind="stable")  # units are numbered on from part to part
    first_units = np.empty_like(cores)
    first_units[order] = np.cumsum(cores[order]) - cores[order]
    free = [
        list(range(begin, begin + count)) for begin, count in zip(first_units, cores, strict=True)
    ]
    units_of_jobs: list[list[int]] = []
    for row, text in enumerate(columns["held"].tolist()):
        held_units_of_job: list[int] = []
        for node, cores_held in parse_held_cores(text):
            if not 0 <= node < len(free):
                raise InvalidInstance(f"running: node {node}: the machine has {len(free)}")
            count = cores_held or int(cores[node])
            if count > len(free[node]):
                raise InvalidInstance(
                    f"running: node {node} has {cores[node]} cores: job {_job_name(columns, row)} "
                    "and "
                    "others hold more"
                )
            held_units_of_job += free[node][:count]
            del free[node][:count]
        tasks = int(columns["tasks"][row])
        if held_units_of_job and len(held_units_of_job) < tasks:
            raise InvalidInstance(
                f"running: job {_job_name(columns, row)}: {len(held_units_of_job)} cores for "
                f"{tasks} tasks"
            )
        units_of_jobs.append(sorted(held_units_of_job[:tasks]))
    return units_of_jobs


def with_parts_of_running(
    masks: np.ndarray, columns: Mapping[str, Any], machine: Machine | None
) -> np.ndarray:
    """Parts by job as bits, where jobs that run at the begin also have the parts of their nodes.

    A node that drains takes no job any more, but the job that runs there goes on.
    """
    if machine is None or "held" not in columns or not len(masks):
        return masks
    part_of_node = cells_of_nodes(machine)[0]
    masks = masks.copy()
    for row, text in enumerate(columns["held"].tolist()):
        for node, _ in parse_held_cores(text):
            if 0 <= node < len(part_of_node):
                masks[row] |= np.uint64(1 << int(part_of_node[node]))
    return masks


def check_held_resources(
    columns: Mapping[str, Any], names: Iterable[str], machine: Machine | None
) -> None:
    """InvalidInstance where jobs that run hold more memory or GPUs of a node than it has, a job in
    equal parts on each of its nodes; `names`: what of ``memory_gb`` and ``gpus`` counts."""
    if "held" not in columns or machine is None:
        return
    for name, unit in (("memory_gb", "GB of memory"), ("gpus", "GPUs")):
        if name not in names:
            continue
        free_amounts = node_attribute(machine, name).astype(float)
        if name == "memory_gb":
            free_amounts[free_amounts == 0] = np.inf  # nobody said
        capacities = free_amounts.copy()
        for row, text in enumerate(columns["held"].tolist()):
            nodes = [node for node, _ in parse_held_cores(text)]
            amount = np.nan_to_num(float(columns[name][row])) / max(len(nodes), 1)
            for node in nodes:
                free_amounts[node] -= amount
                if free_amounts[node] < -1e-6 * capacities[node]:
                    raise InvalidInstance(
                        f"running: node {node} has {capacities[node]:g} {unit}: job "
                        f"{_job_name(columns, row)} "
                        f"and others hold {capacities[node] - free_amounts[node]:g}"
                    )


def _job_name(columns: Mapping[str, Any], row: int) -> Any:
    return columns["id"][row] if "id" in columns else row


def refuse_running(column_names: Iterable[str], policy: str) -> None:
    """For policies that begin with an empty machine."""
    if "held" in column_names:
        raise InvalidInstance(
            f"{policy} cannot begin with jobs that run: expected fcfs, easy, conservative or "
            "slurm-backfill"
        )


def unit_counts(units: int, machine: Machine | None) -> np.ndarray:
    """Units of each node: cores, or the node itself."""
    if machine is None or units == machine.node_count:
        return np.ones(units, dtype=np.int64)
    return node_attribute(machine, "cores")
