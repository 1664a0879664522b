"""Parts of a machine: what its nodes and partitions have, who may use them, what jobs need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cosched import _core
from cosched.cluster.machine.constraints import constraint_nodes
from cosched.cluster.machine.node_types import first_host
from cosched.errors import InvalidInstance
from cosched.lazy import pd

if TYPE_CHECKING:
    from cosched.cluster.machine.machine import Machine

#: As many parts as the core can tell apart.
MOST_CELLS = 64


def node_attribute(machine: Machine, name: str) -> np.ndarray:
    """What each node has, by a name of :class:`NodeType`, in the order of their numbers."""
    kinds = machine.nodes
    return np.repeat([getattr(kind, name) for kind in kinds], [kind.count for kind in kinds])


def map_partitions(partitions: Iterable[object], value: Callable[[list[str]], float]) -> np.ndarray:
    """`value` of each text's list of partitions, as ``"gpu,main"``; a log repeats few."""
    codes, texts = pd.factorize(np.asarray(partitions, dtype=object), use_na_sentinel=False)
    return np.array([value(str(text).split(",")) for text in texts], dtype=float)[codes]


def limits(machine: Machine, partitions: Iterable[object]) -> np.ndarray:
    """Time limits (s, or infinity) by partition, of a list the greatest; others than the machine's
    have none.

    On a Slurm, jobs without a partition are in the default one, and where it has but one partition
    all are in that.
    """
    max_times = {part.name: part.max_time for part in machine.partitions}
    return map_partitions(partitions, lambda names: _greatest_limit(machine, names, max_times))


def usual_limits(machine: Machine, partitions: Iterable[object]) -> np.ndarray:
    """The same of jobs that ask for no time: the partition's DefaultTime, else its MaxTime."""
    usual = {part.name: part.max_time for part in machine.partitions}
    if machine.slurm is not None:
        usual |= {
            name: min(time, usual.get(name, np.inf))
            for name, time in machine.slurm.default_times.items()
        }
    return map_partitions(partitions, lambda names: _greatest_limit(machine, names, usual))


def _greatest_limit(machine: Machine, names: list[str], limits: Mapping[str, float]) -> float:
    """Return the greatest limit of the partitions with these names."""
    slurm = machine.slurm
    if slurm is not None:
        is_only_one = len(machine.partitions) == 1
        names = [slurm.default_partition if is_only_one or not name else name for name in names]
    return max(limits.get(name, np.inf) for name in names)


def room(machine: Machine, partitions: Iterable[object]) -> np.ndarray:
    """Cores of partitions, as many as a job there can have; of others than the machine's all."""
    sizes, _ = cells(machine)
    masks, place = np.unique(allowed(machine, partitions), return_inverse=True)
    cores = [sum(int(n) for bit, n in enumerate(sizes) if int(m) >> bit & 1) for m in masks]
    return np.array(cores, dtype=np.int64)[place.reshape(-1)]


def wider_than_nodes(machine: Machine, jobs: Any) -> np.ndarray:
    """Jobs that want more nodes than their partition has, or more cores than so many of its nodes:
    where the log says their nodes, and Slurm hands out the cores of nodes."""
    tasks = np.asarray(jobs["tasks"], dtype=np.int64)
    is_wide = np.zeros(len(tasks), dtype=bool)
    if machine.slurm is None or machine.slurm.exclusive_nodes or "nodes" not in jobs:
        return is_wide
    nodes = np.nan_to_num(np.asarray(jobs["nodes"], dtype=float)).astype(np.int64)
    cores, cell = node_attribute(machine, "cores"), cells_of_nodes(machine)[0]
    partitions = jobs["partition"] if "partition" in jobs else [""] * len(tasks)
    masks = allowed(machine, partitions)
    for mask in np.unique(masks):
        is_inside = (int(mask) >> cell) & 1 == 1
        max_cores_of_count = np.concatenate([[0], np.cumsum(np.sort(cores[is_inside])[::-1])])
        most_tasks = max_cores_of_count[np.minimum(nodes, len(max_cores_of_count) - 1)]
        is_of_partition = (masks == mask) & (nodes > 0)
        is_wide |= is_of_partition & ((nodes >= len(max_cores_of_count)) | (tasks > most_tasks))
    return is_wide


def lacks(machine: Machine, partitions: Iterable[object]) -> np.ndarray:
    """Whether the machine has no such partition."""
    partition_names = {part.name for part in machine.partitions}
    if not partition_names or (machine.slurm is not None and len(partition_names) == 1):
        partition_names = set()  # all jobs are in one queue
    return map_partitions(
        partitions,
        lambda names: bool(partition_names) and names != [""] and not set(names) <= partition_names,
    ).astype(bool)


def cpus_per_core(
    machine: Machine, partitions: Any, node_lists: Any, rows: int
) -> np.ndarray | float:
    """CPUs that the batch system counts for a core of each job's nodes.

    `partitions`, `node_lists`: by job, as sacct prints them; None: not known. Where nodes differ,
    the first node of a job says it, else the most common nodes of its partition.
    """
    ratios = {kind.cpus_per_core for kind in machine.nodes}
    if len(ratios) == 1:
        return ratios.pop()
    threads_per_core = node_attribute(machine, "cpus_per_core")
    by_part = {
        part.name: _most_frequent(
            np.concatenate([threads_per_core[begin:end] for begin, end in part.nodes])
        )
        for part in machine.partitions
        if part.nodes
    }
    threads = np.full(rows, _most_frequent(threads_per_core))
    if partitions is not None:
        usual = float(threads[0]) if rows else 1.0
        threads = map_partitions(partitions, lambda names: by_part.get(names[0], usual))
    if node_lists is not None and machine.slurm is not None:
        of_node = dict(zip(machine.slurm.names, threads_per_core.tolist(), strict=True))
        hosts = map_partitions(node_lists, lambda hosts: of_node.get(first_host(hosts[0]), np.nan))
        threads = np.where(np.isnan(hosts), threads, hosts)
    return threads


def _most_frequent(ratios: np.ndarray) -> float:
    values, counts = np.unique(ratios, return_counts=True)
    return float(values[np.argmax(counts)])


def cells(machine: Machine) -> tuple[np.ndarray, dict[str, int]]:
    """Cores of each part that every partition has either all or none of, and for each partition
    the set of its parts as bits."""
    number, masks = cells_of_nodes(machine)
    cores = np.bincount(number, weights=node_attribute(machine, "cores"))
    return cores.astype(np.int64), masks


def cells_of_nodes(machine: Machine) -> tuple[np.ndarray, dict[str, int]]:
    """The part of each node, numbered from 0, and each partition's parts as bits.

    Nodes that are out of service in a slurm.conf (State=DOWN, DRAIN) are in parts of no partition.
    """
    member = np.zeros((machine.node_count, len(machine.partitions)), dtype=bool)
    for column, part in enumerate(machine.partitions):
        for first_node, last_node in part.nodes:
            member[first_node:last_node, column] = True
    if machine.slurm is not None:
        for first_node, last_node in machine.slurm.down:
            member[first_node:last_node] = False
    kinds, first_of, place = np.unique(member, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first_of)  # parts in the order of the nodes
    number = np.empty(len(order), dtype=int)
    number[order] = np.arange(len(order))
    if len(kinds) > MOST_CELLS:
        raise InvalidInstance(
            f"partitions divide the nodes into {len(kinds)} parts: expected at most {MOST_CELLS}"
        )
    masks = {
        part.name: sum(1 << int(number[k]) for k in range(len(kinds)) if kinds[k, column])
        for column, part in enumerate(machine.partitions)
    }
    return number[place.reshape(-1)], masks


def parts_for_all(machine: Machine, count: int, masks: Mapping[str, int]) -> int:
    """Parts that a job without a known partition may use, as bits: all of `count`, and on a Slurm
    those of all partitions. `masks`: the parts of each partition."""
    if machine.slurm is not None and masks:
        return reduce(or_, masks.values())
    return (1 << count) - 1


def allowed(machine: Machine, partitions: Iterable[object]) -> np.ndarray:
    """Parts of the machine that jobs of these partitions may use, as bits (uint64); of others than
    the machine's all."""
    numbers, masks = cells_of_nodes(machine)
    every = parts_for_all(machine, int(numbers.max()) + 1, masks)
    if machine.slurm is not None and len(masks) == 1:
        (every,), masks = masks.values(), {}  # it has the jobs of all queues
    codes, texts = pd.factorize(np.asarray(partitions, dtype=object), use_na_sentinel=False)
    masks_of_names = [[masks.get(name, every) for name in str(text).split(",")] for text in texts]
    return np.array(
        [reduce(or_, masks_of_text) for masks_of_text in masks_of_names], dtype=np.uint64
    )[codes]


#: KB of a GB. Memory is counted in whole ones.
_KB = 2.0**20
#: Of a node whose memory nobody said: more than any job asks for.
_UNSAID = 2.0**38


def managed_resources(jobs: Any, machine: Machine | None) -> tuple[str, ...]:
    """What of ``memory_gb`` and ``gpus`` policies hand out beside cores: what both the jobs and the
    machine say."""
    names = () if machine is None else machine.counts
    return tuple(
        name for name in names if name in jobs and (np.nan_to_num(np.asarray(jobs[name])) > 0).any()
    )


def site_of(jobs: object, machine: Machine | None, held_units: Sequence[list[int]] = ()) -> Any:
    """The machine's nodes and the needs of these jobs (a table of columns) for the core; None where
    cores are all that counts, and neither memory, GPUs nor features. `held`: cores of jobs that run
    at the begin."""
    names = managed_resources(jobs, machine)
    choices = [] if machine is None else _choices(jobs, machine)
    if machine is None or not (names or choices):
        return None
    bits = {
        name: k
        for k, name in enumerate(dict.fromkeys(node_type.gpu_type for node_type in machine.nodes))
    }
    cores, cell = node_attribute(machine, "cores"), cells_of_nodes(machine)[0]
    by_cell = np.argsort(cell, kind="stable")  # cores are numbered on from part to part
    first_core = np.empty_like(cores)
    first_core[by_cell] = np.cumsum(cores[by_cell]) - cores[by_cell]
    memory = np.floor(node_attribute(machine, "memory_gb") * _KB)
    memory = np.where(memory > 0, memory, _UNSAID)
    needs = _needs(jobs, machine, names, bits)
    if choices:
        cell, needs["cells"] = _divided(jobs, cell, needs["cells"], choices, cores)
    nodes = {
        "cores": cores,
        "memory": memory if "memory_gb" in names else np.zeros(len(cores)),
        "gpus": node_attribute(machine, "gpus"),
        "cell": cell,
        "gpu_type": np.array([bits[name] for name in node_attribute(machine, "gpu_type").tolist()]),
        "first_core": first_core,
    }
    # Filled as operators have it: what has less to offer first, and Slurm's weights before all.
    order = np.lexsort((nodes["memory"], nodes["gpus"], node_attribute(machine, "weight")))
    return _core.cluster.Site(
        **{name: column[order] for name, column in nodes.items()}, **needs, held=list(held_units)
    )


class _Choice(NamedTuple):
    """Nodes that one constraint allows: of the first alternative, of the second, ..."""

    text: str
    alternatives: tuple[np.ndarray, ...]


def _choices(jobs: Any, machine: Machine) -> list[_Choice]:
    """Return, for each constraint that does not allow all nodes, those that it allows: none where
    no nodes can satisfy it."""
    if "constraint" not in jobs:
        return []
    counts = [kind.count for kind in machine.nodes]
    choices = []
    for text in np.unique(_constraint_texts(jobs)).tolist():
        nodes = constraint_nodes(text, machine.nodes)
        alternatives = nodes.alternatives or (nodes.allowed,)
        if nodes.reason:
            alternatives = (np.zeros(len(counts), dtype=bool),)
        if not (len(alternatives) == 1 and alternatives[0].all()):
            by_node = tuple(np.repeat(of_types, counts) for of_types in alternatives)
            choices.append(_Choice(text, by_node))
    return choices


def _constraint_texts(jobs: Any) -> np.ndarray:
    """Return the constraint of each job; empty where it has none."""
    return pd.Series(np.asarray(jobs["constraint"], dtype=object)).fillna("").astype(str).to_numpy()


def _divided(
    jobs: Any, cell: np.ndarray, may: np.ndarray, choices: list[_Choice], cores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return parts of the machine of which every constraint has all or none, by node; and by job
    those that it may use, as bits. Of ``[a|b]`` a job on one node may have any, others the
    alternative with the most cores of its partition."""
    having = [nodes for choice in choices for nodes in choice.alternatives]
    table = np.column_stack([cell, *having])
    parts, place = np.unique(table, axis=0, return_inverse=True)
    place = place.reshape(-1)
    if len(parts) > MOST_CELLS:
        raise InvalidInstance(
            f"partitions and features divide the nodes into {len(parts)} parts: expected at most "
            f"{MOST_CELLS}"
        )
    part_cores = np.bincount(place, weights=cores, minlength=len(parts))
    first_column = {}
    column = 1
    for choice in choices:
        first_column[choice.text] = (column, len(choice.alternatives))
        column += len(choice.alternatives)

    def bits_of(text: str, mask: int, is_on_one_node: bool) -> int:
        open_parts = np.array([mask >> int(part[0]) & 1 for part in parts], dtype=bool)
        first_node, number = first_column.get(text, (0, 0))
        if number:
            masks = [open_parts & (parts[:, first_node + k] == 1) for k in range(number)]
            if is_on_one_node:
                open_parts = np.logical_or.reduce(masks)
            else:
                open_parts = max(masks, key=lambda mask: float(part_cores[mask].sum()))
        return sum(1 << int(k) for k in np.flatnonzero(open_parts))

    texts = _constraint_texts(jobs)
    is_on_one_node = np.asarray(jobs["tasks"]) == 1
    if "nodes" in jobs:
        is_on_one_node |= np.asarray(jobs["nodes"], dtype=float) == 1
    text_codes, distinct_texts = pd.factorize(texts)
    distinct_masks, mask_codes = np.unique(may, return_inverse=True)
    keys = (text_codes * len(distinct_masks) + mask_codes.reshape(-1)) * 2 + is_on_one_node
    distinct_keys, codes = np.unique(keys, return_inverse=True)
    bits = []
    for key in distinct_keys.tolist():
        text_code, mask_code = divmod(key // 2, len(distinct_masks))
        bits.append(
            bits_of(distinct_texts[text_code], int(distinct_masks[mask_code]), key % 2 == 1)
        )
    return place, np.array(bits, dtype=np.uint64)[codes.reshape(-1)]


def resources_of(jobs: object, machine: Machine | None) -> list[tuple[np.ndarray, float]]:
    """What each job holds, and how much there is on all nodes: KB, GPUs, GPUs of each type that
    jobs ask for."""
    names = managed_resources(jobs, machine)
    if machine is None or not names:
        return []
    kinds = machine.nodes
    bits = {name: k for k, name in enumerate(dict.fromkeys(kind.gpu_type for kind in kinds))}
    needs = _needs(jobs, machine, names, bits)
    parts_of_needs = []
    if "memory_gb" in names and all(kind.memory_gb > 0 for kind in kinds):
        parts = np.maximum(needs["parts"], 1)
        node_memory = needs["job_memory"] // parts * parts
        parts_of_needs.append(
            (node_memory, float(sum(k.count * np.floor(k.memory_gb * _KB) for k in kinds)))
        )
    if "gpus" in names:
        for types in np.unique(np.append(needs["gpu_types"], np.uint64((1 << len(bits)) - 1))):
            has_types = (needs["gpu_types"] & ~types) == 0
            node_memory = np.where(has_types, needs["job_gpus"], 0).astype(float)
            gpu_count = sum(k.count * k.gpus for k in kinds if int(types) >> bits[k.gpu_type] & 1)
            if gpu_count and node_memory.any():
                parts_of_needs.append((node_memory, float(gpu_count)))
    return parts_of_needs


def _needs(
    jobs: Any, machine: Machine, names: tuple[str, ...], bits: Mapping[str, int]
) -> dict[str, np.ndarray]:
    tasks = np.asarray(jobs["tasks"], dtype=np.int64)

    def column(name: str, is_managed: bool) -> np.ndarray:
        has_column = is_managed and name in jobs
        return (
            np.nan_to_num(np.asarray(jobs[name], dtype=float))
            if has_column
            else np.zeros(len(tasks))
        )

    numbers, masks = cells_of_nodes(machine)
    every = np.uint64(parts_for_all(machine, int(numbers.max()) + 1, masks))
    queued = machine.partitions and "partition" in jobs
    types = np.asarray(jobs["gpu_type"]) if "gpu_type" in jobs else np.zeros(len(tasks), dtype=str)
    return {
        "tasks": tasks,
        "parts": column("nodes", True).astype(np.int64),
        "job_memory": np.floor(column("memory_gb", "memory_gb" in names) * _KB),
        "job_gpus": column("gpus", "gpus" in names).astype(np.int64),
        "cells": allowed(machine, jobs["partition"]) if queued else np.full(len(tasks), every),
        "gpu_types": _types(types, bits),
    }


def _types(type_texts: np.ndarray, bits: Mapping[str, int]) -> np.ndarray:
    """Return types of nodes that have the GPUs that each job asks for, as bits; all for a job that
    asks for none, or for one that no node is said to have."""
    every = (1 << len(bits)) - 1
    codes, names = pd.factorize(type_texts.astype(object), use_na_sentinel=False)
    type_masks = []
    for name in map(str, names):
        type_mask = sum(1 << k for kind, k in bits.items() if name and name in kind.split(","))
        unsaid = sum(1 << k for kind, k in bits.items() if not kind)
        type_masks.append(type_mask | unsaid if type_mask else every)
    return np.array(type_masks, dtype=np.uint64)[codes]
