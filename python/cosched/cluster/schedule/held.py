"""The check of where jobs are, and of the memory and GPUs that they hold there, at every start.

It shares no code with the policies, nor with what tells them the needs of jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import cells_of_nodes, node_attribute
from cosched.cluster.schedule.rows import ScheduleRows, refuse
from cosched.errors import InvalidSchedule


def check_counts(instance: Instance, job: np.ndarray, parts: np.ndarray, first: np.ndarray) -> None:
    """As many nodes as the log says, but for what runs from the beginning."""
    requested_nodes = numbers_of(instance, "nodes")[job]
    refuse(
        (requested_nodes > 0) & (requested_nodes != parts) & ~first,
        lambda k: (
            f"job {instance.ids[job[k]]} is on {parts[k]} nodes: expected {requested_nodes[k]:g}"
        ),
    )


def check_features(
    instance: Instance,
    features: list[frozenset[str]],
    job: np.ndarray,
    row: np.ndarray,
    node: np.ndarray,
    first: np.ndarray,
    roomy: Callable[[int], np.ndarray] | None = None,
) -> None:
    """Nodes have what ``a&b``, ``a|b`` or ``[a|b]`` (one of them for all nodes) says, where some of
    those that are `roomy` for a job do."""
    texts = texts_of(instance, "constraint")[job]
    for text in np.unique(texts[texts != ""]).tolist():
        having = with_features(features, text)
        for k in np.flatnonzero((texts == text) & ~first).tolist():
            features_of_nodes = having[:, node[row == k]]
            if features_of_nodes.all(axis=1).any() or (
                roomy and not (having & roomy(job[k])).any()
            ):
                continue
            raise InvalidSchedule(
                f"job {instance.ids[job[k]]} is on a node without its features, {text}"
            )


def with_features(features: list[frozenset[str]], text: str) -> np.ndarray:
    """Which nodes have what a constraint asks for: a row for each of ``[a|b]``, else one; all nodes
    where none has it, and where it counts nodes."""
    text = text.replace(",", "&")
    head, _, tail = text.partition("[")
    bracketed, _, tail = tail.partition("]")
    choices = re.findall(r"(?:\([^()]*\)|[^()|])+", bracketed) or [""]
    if len(choices) == 1:  # brackets around one feature mean nothing
        expressions = [f"{head}{bracketed}{tail}"]
    else:
        expressions = [f"{head}{tail}&{choice}" for choice in choices]
    having = np.array(
        [
            [_has_features(node_features, expression) for node_features in features]
            for expression in expressions
        ]
    )
    is_followed = text and "*" not in text and having.any()
    return having if is_followed else np.ones((1, len(features)), dtype=bool)


def _has_features(node_features: frozenset[str], text: str) -> bool:
    """Return whether a node has what an expression says, which is read from left to right."""
    value, operator = True, "&"
    for token in re.findall(r"\([^()]*\)|[&|]|[^&|()]+", text):
        if token in "&|":
            operator = token
            continue
        is_group = token.startswith("(")
        has_token = (
            _has_features(node_features, token[1:-1]) if is_group else token in node_features
        )
        value = value and has_token if operator == "&" else value or has_token
    return value


def check_alone(instance: Instance, rows: ScheduleRows, row: np.ndarray, node: np.ndarray) -> None:
    """Nobody else is on the nodes of a job that wants them for itself."""
    is_exclusive = (texts_of(instance, "exclusive") != "")[rows.task]
    for k in np.flatnonzero(is_exclusive).tolist():
        during = (
            (rows.start < rows.end[k]) & (rows.end > rows.start[k]) & (rows.task != rows.task[k])
        )
        is_shared_with_others = during[row] & np.isin(node, node[row == k])
        if is_shared_with_others.any():
            other = instance.ids[rows.task[row[int(np.argmax(is_shared_with_others))]]]
            raise InvalidSchedule(
                f"job {instance.ids[rows.task[k]]} is not alone on its nodes: job {other} is there"
            )


def running(instance: Instance) -> np.ndarray:
    """Which jobs run at the begin: where they are is not the policy's choice."""
    return numbers_of(instance, "running").astype(bool)


_UNITS = {"memory_gb": "KB of memory", "gpus": "GPUs"}


def check_held(instance: Instance, rows: ScheduleRows) -> None:
    """InvalidSchedule where jobs hold more memory or GPUs than there are.

    A job is on as many nodes as its log says, with equal parts but for a core, holds equal amounts
    on each, and each node is checked, its features too. Of a job whose log does not say it, or
    whose equal parts the empty machine does not hold, nothing says where its memory and GPUs are:
    all nodes that it may use are checked together.
    """
    machine = instance.machine
    if machine is None:
        return
    count = np.diff(rows.unit_begin)
    place = _Nodes(machine)
    row, node, cores = _pieces(rows, place)
    job = rows.task
    # Where no job asks for any of it, cores of the machine as a whole are handed out.
    counting = [name for name in _counting(instance, machine) if _amount(instance, name).any()]
    check_features(instance, place.features, job, row, node, running(instance)[job])
    if not counting:
        return
    equal = _in_parts(instance, place)[job]
    parts = np.bincount(row, minlength=len(count))
    _check_parts(instance, job, equal, parts, row, cores)
    for name in counting:
        amount = _amount(instance, name)
        amount_of_part = np.floor(amount[job] / parts)
        is_equal_part = equal[row]
        held_amounts = _Holdings(
            row[is_equal_part],
            node[is_equal_part],
            amount_of_part[row[is_equal_part]],
            rows.start,
            rows.end,
        )
        if name == "gpus":
            _check_types(instance, place, job, held_amounts)
        held_amounts.check(name, place.capacity[name])
        _check_rooms(instance, place, job, name, amount[job] * ~equal, held_amounts)


def check_held_by_cores(instance: Instance, rows: ScheduleRows, machine: Machine) -> None:
    """InvalidSchedule where jobs of a Slurm are on other nodes than their log says, or hold more
    memory or GPUs of a node than it has.

    A job is on as many nodes as its log says, an equal part of its memory on each; where the log
    does not say how many, each core holds an equal part; of a job whose memory the log does not
    say, what slurm.conf gives it. Its nodes have its features, where any node has them. All GPUs of
    a job on one node are there; a job on several has one of each (if it has so many), and where the
    others are nobody says: all nodes that such jobs may use are checked together. A job that is
    suspended keeps what it has. How many nodes are whole is the business of who checks cores; each
    has a job's part of its GPUs.
    """
    if machine.slurm is None or instance.nodes != machine.cores:
        return
    count = np.diff(rows.unit_begin)
    place = _Nodes(machine, by_parts=instance.machine is not None)
    row, node, cores = _pieces(rows, place)
    job, counting = rows.task, _counting(instance, machine)
    first = running(instance)[job]
    amount = (
        _amount(instance, "memory_gb") if machine.slurm.memory_counts else np.zeros(len(instance))
    )
    parts = numbers_of(instance, "nodes")
    min_amount = amount / np.where(parts > 0, parts, instance.column("tasks"))

    def roomy(k: int) -> np.ndarray:
        return place.capacity["memory_gb"] >= np.floor(min_amount[k])

    check_features(instance, place.features, job, row, node, first, roomy)
    if machine.slurm.exclusive_nodes:
        _check_whole(instance, place, job, row, node, first)
        return
    check_alone(instance, rows, row, node)
    check_counts(instance, job, np.bincount(row, minlength=len(job)), first)
    end_of_rows = _ends_of_holding(rows)

    def check(name: str, amounts: np.ndarray) -> None:
        capacities = place.capacity[name].copy()
        # What runs from the beginning is where it is.
        np.maximum(
            capacities, np.bincount(node, amounts * first[row], len(capacities)), out=capacities
        )
        _Holdings(row, node, amounts, rows.start, end_of_rows).check(name, capacities)

    if "memory_gb" in counting and np.isfinite(place.capacity["memory_gb"]).all():
        check("memory_gb", _memory_by_cores(instance, machine.slurm, place, job[row], node, cores))
    if "gpus" in counting:
        amount = _amount(instance, "gpus")[job]
        parts = np.bincount(row, minlength=len(count))
        by_node = (texts_of(instance, "gpus_per")[job] == "node") & (parts > 0)
        amount_of_node = np.where(by_node, amount / np.maximum(parts, 1), amount >= parts)
        amount_of_row = np.where(parts == 1, amount, amount_of_node)[row].astype(float)
        _check_types(
            instance, place, job, _Holdings(row, node, amount_of_row, rows.start, end_of_rows)
        )
        check("gpus", amount_of_row)
        amount = amount * ~first
        gpus_of_nodes = np.bincount(row, place.capacity["gpus"][node], len(job))
        if (amount > gpus_of_nodes).any():
            k = int(np.argmax(amount > gpus_of_nodes))
            whose = f"nodes of job {instance.ids[job[k]]}"
            _refuse(whose, "gpus", rows.start[k], amount[k], gpus_of_nodes[k])
        no_holdings = _Holdings(row[:0], node[:0], amount_of_row[:0], rows.start, end_of_rows)
        _check_rooms(instance, place, job, "gpus", amount, no_holdings)


def _check_whole(
    instance: Instance,
    place: _Nodes,
    job: np.ndarray,
    row: np.ndarray,
    node: np.ndarray,
    first: np.ndarray,
) -> None:
    """Check that whole nodes have the GPUs of their jobs, an equal part each, where any node has so
    many."""
    amount = _amount(instance, "gpus")[job]
    parts = np.maximum(np.bincount(row, minlength=len(job)), 1)
    gpus_of_node = np.where(amount > 0, np.maximum(amount // parts, 1), 0)
    placed = [texts_of(instance, name)[job] != "" for name in ("constraint", "nodelist", "exclude")]
    gpus_of_node[np.any(placed, axis=0) | first] = 0  # there may be none with both
    kinds = _masks_and_types(instance, "gpus")[1][job]
    for kind, min_gpus in sorted({*zip(kinds.tolist(), gpus_of_node.tolist(), strict=True)}):
        having = (place.capacity["gpus"] >= min_gpus) & place.has_type(kind)
        is_of_kind = (kinds == kind) & (gpus_of_node == min_gpus)
        wrong = is_of_kind[row] & ~having[node]
        if min_gpus and having.any() and wrong.any():
            k = int(np.argmax(wrong))
            raise InvalidSchedule(
                f"job {instance.ids[job[row[k]]]} is on node {node[k]} with "
                f"{place.capacity['gpus'][node[k]]:g} GPUs: expected {min_gpus:g}"
            )


def _ends_of_holding(rows: ScheduleRows) -> np.ndarray:
    """Return when each row's job has given back what it held: where it goes on later, not
    before."""
    end_of_holding = rows.end.copy()
    order = np.lexsort((rows.start, rows.task))
    is_same_task = rows.task[order[1:]] == rows.task[order[:-1]]
    end_of_holding[order[:-1][is_same_task]] = rows.start[order[1:][is_same_task]]
    return end_of_holding


def _memory_by_cores(
    instance: Instance,
    slurm: Any,
    place: _Nodes,
    job: np.ndarray,
    node: np.ndarray,
    cores: np.ndarray,
) -> np.ndarray:
    """Return KB that jobs hold on nodes where they have so many cores."""
    amount, tasks = _amount(instance, "memory_gb"), instance.column("tasks")
    nodes = numbers_of(instance, "nodes")
    per = texts_of(instance, "memory_per")[job]
    by_node = (nodes[job] > 0) & (per != "core")
    memory_per_node = np.where(
        by_node, amount[job] / np.maximum(nodes[job], 1), amount[job] / tasks[job] * cores
    )
    queue = texts_of(instance, "partition")
    for k in np.flatnonzero(amount[job] == 0).tolist():
        name = queue[job[k]] or slurm.default_partition
        if "," in name:
            continue  # where it started nobody says
        usual, by_core = slurm.default_memory(name) if per[k] != "all" else (0, False)
        memory_per_node[k] = usual * 1024 * (cores[k] if by_core else 1)
        if not usual:  # all of the node
            memory_per_node[k] = place.capacity["memory_gb"][node[k]]
    return memory_per_node


def _check_rooms(
    instance: Instance,
    place: _Nodes,
    job: np.ndarray,
    name: str,
    amount: np.ndarray,
    holdings: _Holdings,
) -> None:
    """Check what rows hold on nodes that the schedule does not name: on all nodes that they may use
    together, beside what is `held` there."""
    for is_node_inside, which in _rooms(instance, place, job, np.flatnonzero(amount > 0), name):
        is_held_inside = is_node_inside[holdings.node]
        row = np.concatenate([holdings.row[is_held_inside], which])
        amounts = np.concatenate([holdings.each[is_held_inside], amount[which]])
        all_holdings = _Holdings(
            row, np.zeros(len(row), dtype=int), amounts, holdings.start, holdings.end
        )
        capacity = place.capacity[name][is_node_inside].sum(keepdims=True)
        all_holdings.check(name, capacity, f"{int(is_node_inside.sum())} nodes")


def _counting(instance: Instance, machine: Machine) -> list[str]:
    return [name for name in machine.counts if name in instance.column_names]


class _Nodes:
    """Nodes as the units of a schedule number them: part by part, or as the machine does."""

    def __init__(self, machine: Machine, by_parts: bool = True) -> None:
        cell = cells_of_nodes(machine)[0] if by_parts else np.zeros(machine.node_count, dtype=int)
        self.order = np.argsort(cell, kind="stable")
        self.count, self.cell = len(cell), cell[self.order]
        names = ("cores", "gpu_type", "memory_gb", "gpus")
        self.cores, types, memory, gpus = (
            node_attribute(machine, name)[self.order] for name in names
        )
        self.of_core = np.repeat(np.arange(self.count), self.cores)
        self.types = types.tolist()
        features = [frozenset(kind.features) for kind in machine.nodes for _ in range(kind.count)]
        self.features = [features[k] for k in self.order]
        self.capacity = {
            "memory_gb": np.where(memory > 0, np.floor(memory * 2**20), np.inf),
            "gpus": gpus.astype(float),
        }

    def inside(self, mask: int) -> np.ndarray:
        """Nodes of the parts with these bits."""
        return (int(mask) >> self.cell) & 1 == 1

    def has_type(self, name: str) -> np.ndarray:
        """Nodes with such GPUs, or of which nobody said; all where no node has them."""
        is_of_type = np.array([name in text.split(",") for text in self.types])
        unsaid = np.array([not text for text in self.types])
        return is_of_type | unsaid if name and is_of_type.any() else np.ones(self.count, dtype=bool)


class _Holdings:
    """What rows hold on nodes while they last."""

    def __init__(
        self,
        row: np.ndarray,
        node: np.ndarray,
        amounts: np.ndarray,
        start: np.ndarray,
        end: np.ndarray,
    ) -> None:
        self.row, self.node, self.each = row, node, amounts
        self.start, self.end = start, end

    def check(self, name: str, capacity: np.ndarray, where: str = "") -> None:
        """InvalidSchedule about the first node and time with more than its capacity; `where`: what
        is said in place of the node."""
        nodes_of_changes = np.concatenate([self.node, self.node])
        # At one time, ends come first.
        time = np.concatenate([self.end[self.row], self.start[self.row]])
        change = np.concatenate([-self.each, self.each])
        begins = np.repeat([False, True], len(self.node))
        order = np.lexsort((begins, time, nodes_of_changes))
        level = np.cumsum(change[order])  # each node ends at 0, where the next one begins
        bad = (level > capacity[nodes_of_changes[order]] + 0.5) & begins[order]
        if bad.any():
            first = int(np.argmax(bad))
            k = order[first]
            _refuse(
                where or f"node {nodes_of_changes[k]}",
                name,
                time[k],
                level[first],
                capacity[nodes_of_changes[k]],
            )


#: ScheduleRows that are taken apart at a time: each has a number for each of its cores.
_ROWS_AT_A_TIME = 1 << 16


def _pieces(rows: ScheduleRows, place: _Nodes) -> tuple[np.ndarray, ...]:
    """Of each row, in their order, each node once: row, node, and cores that it has there."""
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for first in range(0, len(rows.task), _ROWS_AT_A_TIME):
        begins = rows.unit_begin[first : first + _ROWS_AT_A_TIME + 1]
        numbers = np.arange(first, first + len(begins) - 1)
        row = np.repeat(numbers, np.diff(begins))
        node = place.of_core[rows.unit[begins[0] : begins[-1]]]
        parts.append(np.unique(row * place.count + node, return_counts=True))
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none
    key, cores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return key // place.count, key % place.count, cores


def _amount(instance: Instance, name: str) -> np.ndarray:
    """Return whole KB, or GPUs, of each job."""
    amount = numbers_of(instance, name)
    return np.floor(amount * 2**20) if name == "memory_gb" else amount


def _in_parts(instance: Instance, place: _Nodes) -> np.ndarray:
    """Return jobs with equal parts on as many nodes as the log says."""
    n = len(instance)
    nodes, tasks = numbers_of(instance, "nodes").astype(int), instance.column("tasks")
    counting = instance.machine.counts if instance.machine else ()
    memory, gpus = (_amount(instance, name) if name in counting else np.zeros(n) for name in _UNITS)
    equal = (nodes > 0) & (nodes <= tasks) & (gpus % np.maximum(nodes, 1) == 0)
    fits: dict[tuple, bool] = {}
    masks, kinds = _masks_and_types(instance, "gpus")
    texts = texts_of(instance, "constraint")
    for j in np.flatnonzero(equal & (nodes > 1)).tolist():
        key = (masks[j], kinds[j], nodes[j], tasks[j], memory[j], gpus[j], texts[j])
        if key not in fits:
            node_count = int(nodes[j])
            low, remainder = divmod(int(tasks[j]), node_count)
            open_ = place.inside(masks[j])
            open_ &= (place.capacity["gpus"] >= gpus[j] // node_count) | ("gpus" not in counting)
            if gpus[j]:
                open_ &= place.has_type(kinds[j])
            if "memory_gb" in counting:
                open_ &= place.capacity["memory_gb"] >= memory[j] // node_count
            fits[key] = False
            for having in with_features(place.features, texts[j]):
                cores = place.cores[open_ & having]
                fits[key] |= (cores >= low).sum() >= node_count and (cores > low).sum() >= remainder
        equal[j] = fits[key]
    return equal


def _check_parts(
    instance: Instance,
    job: np.ndarray,
    equal: np.ndarray,
    parts: np.ndarray,
    row: np.ndarray,
    cores: np.ndarray,
) -> None:
    """Check that parts are equal, but for a core, on as many nodes as the log says."""
    if not equal.any():
        return
    max_held, min_free = np.zeros(len(job)), np.full(len(job), np.inf)
    np.maximum.at(max_held, row, cores)
    np.minimum.at(min_free, row, cores)
    nodes = numbers_of(instance, "nodes")[job]
    refuse(
        equal & ((nodes != parts) | (max_held - min_free > 1)),
        lambda k: (
            f"job {instance.ids[job[k]]} is on {parts[k]} nodes, {min_free[k]:g} to "
            f"{max_held[k]:g} cores of each: expected equal parts on {nodes[k]:g}"
        ),
    )


def _check_types(instance: Instance, place: _Nodes, job: np.ndarray, holdings: _Holdings) -> None:
    gpu_types = texts_of(instance, "gpu_type")[job[holdings.row]]
    for name in np.unique(gpu_types[holdings.each > 0]):
        wrong = (gpu_types == name) & (holdings.each > 0) & ~place.has_type(name)[holdings.node]
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InvalidSchedule(
                f"job {instance.ids[job[holdings.row[k]]]} is on node {holdings.node[k]}, which "
                "has no "
                f"GPUs {name}"
            )


def _rooms(
    instance: Instance, place: _Nodes, job: np.ndarray, rows: np.ndarray, name: str
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield nodes that some of these rows may use, and the rows that may use no others."""
    if not len(rows):
        return
    masks, kind = _masks_and_types(instance, name)
    keys_of_rows = list(zip(masks[job[rows]].tolist(), kind[job[rows]].tolist(), strict=True))
    sets = {
        (mask, text): place.inside(mask) & place.has_type(text) for mask, text in set(keys_of_rows)
    }
    for nodes in sets.values():
        keys_inside = [
            key for key, nodes_of_key in sets.items() if not (nodes_of_key & ~nodes).any()
        ]
        yield nodes, rows[np.array([key_of_row in keys_inside for key_of_row in keys_of_rows])]


def _masks_and_types(instance: Instance, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each job, the parts of the machine that it may use, as bits, and the type of
    GPUs."""
    cells, n = instance.partition_layout[1], len(instance)  # none: all nodes are one part
    kind = texts_of(instance, "gpu_type") if name == "gpus" else np.full(n, "")
    return cells if len(cells) else np.ones(n, dtype=np.uint64), kind


def _refuse(where: str, name: str, time: float, amount: float, capacity: float) -> None:
    raise InvalidSchedule(
        f"{where} at {time:g} s: jobs hold {amount:,.0f} {_UNITS[name]}, there are {capacity:,.0f}"
    )
