"""Nodes with cores, memory and GPUs, and what each job needs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import _core
from cosched.cluster.machine.parts import MOST_CELLS, allowed, cells_of_nodes, of_nodes
from cosched.errors import InvalidInstance
from cosched.lazy import pd

if TYPE_CHECKING:
    from cosched.cluster.machine.machine import Machine

#: KB of a GB. Memory is counted in whole ones.
_KB = 2.0**20
#: Of a node whose memory nobody said: more than any job asks for.
_UNSAID = 2.0**38


def counted(jobs: Any, machine: Machine | None) -> tuple[str, ...]:
    """What of ``memory_gb`` and ``gpus`` policies hand out beside cores: what both the jobs and the
    machine say."""
    names = () if machine is None else machine.counts
    return tuple(
        name for name in names if name in jobs and (np.nan_to_num(np.asarray(jobs[name])) > 0).any()
    )


def site_of(jobs: Any, machine: Machine | None, held: Sequence[list[int]] = ()) -> Any:
    """The machine's nodes and the needs of these jobs (a table of columns) for the core; None where
    cores are all that counts, and neither memory, GPUs nor features. `held`: cores of jobs that run
    at the begin."""
    names = counted(jobs, machine)
    features = [] if machine is None else _features(jobs, machine)
    if machine is None or not (names or features):
        return None
    bits = {name: k for k, name in enumerate(dict.fromkeys(one.gpu_type for one in machine.nodes))}
    cores, cell = of_nodes(machine, "cores"), cells_of_nodes(machine)[0]
    by_cell = np.argsort(cell, kind="stable")  # cores are numbered on from part to part
    first_core = np.empty_like(cores)
    first_core[by_cell] = np.cumsum(cores[by_cell]) - cores[by_cell]
    memory = np.floor(of_nodes(machine, "memory_gb") * _KB)
    memory = np.where(memory > 0, memory, _UNSAID)
    needs = _needs(jobs, machine, names, bits)
    if features:
        cell, needs["cells"] = _divided(jobs, cell, needs["cells"], features)
    nodes = {
        "cores": cores,
        "memory": memory if "memory_gb" in names else np.zeros(len(cores)),
        "gpus": of_nodes(machine, "gpus"),
        "cell": cell,
        "gpu_type": np.array([bits[name] for name in of_nodes(machine, "gpu_type").tolist()]),
        "first_core": first_core,
    }
    # Filled as operators have it: what has less to offer first, and Slurm's weights before all.
    order = np.lexsort((nodes["memory"], nodes["gpus"], of_nodes(machine, "weight")))
    return _core.cluster.Site(
        **{name: column[order] for name, column in nodes.items()},
        **needs,
        held=list(held),
    )


def _features(jobs: Any, machine: Machine) -> list[tuple[str, np.ndarray]]:
    """Constraints of jobs, and which nodes have what each asks for: ``a&b``, ``a|b``, and of
    ``[a|b]`` the one with the most cores; not those that all nodes have, or none, or that are of
    another form."""
    if "constraint" not in jobs:
        return []
    kinds = machine.nodes
    count = np.array([kind.count for kind in kinds])
    cores = count * [kind.cores for kind in kinds]
    found = []
    for text in np.unique(np.asarray(jobs["constraint"]).astype(str)).tolist():
        one = text.startswith("[") and text.endswith("]")
        parts = [set(part.split("&")) for part in (text[1:-1] if one else text).split("|")]
        having = np.array([[part <= set(kind.features) for kind in kinds] for part in parts])
        inside = having[np.argmax(having @ cores)] if one else having.any(axis=0)
        if inside.any() and not inside.all():
            found.append((text, np.repeat(inside, count)))
    return found


def _divided(
    jobs: Any, cell: np.ndarray, may: np.ndarray, features: list[tuple[str, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Parts of the machine of which every constraint has all or none, by node; and by job those
    that it may use, as bits."""
    having = np.array([inside for _, inside in features]).T
    parts, place = np.unique(np.column_stack([cell, having]), axis=0, return_inverse=True)
    if len(parts) > MOST_CELLS:
        raise InvalidInstance(
            f"partitions and features divide the nodes into {len(parts)} parts: expected at most "
            f"{MOST_CELLS}"
        )
    texts = np.asarray(jobs["constraint"]).astype(str)
    known = {text: k for k, (text, _) in enumerate(features, 1)}
    codes = np.array([known.get(text, 0) for text in texts.tolist()])
    found = np.zeros(len(texts), dtype=np.uint64)
    for k, part in enumerate(parts):
        mine = (may >> np.uint64(part[0]) & np.uint64(1)) == 1
        mine &= np.concatenate([[True], part[1:] == 1])[codes]
        found[mine] |= np.uint64(1 << k)
    return place.reshape(-1), found


def resources_of(jobs: Any, machine: Machine | None) -> list[tuple[np.ndarray, float]]:
    """What each job holds, and how much there is on all nodes: KB, GPUs, GPUs of each type that
    jobs ask for."""
    names = counted(jobs, machine)
    if machine is None or not names:
        return []
    kinds = machine.nodes
    bits = {name: k for k, name in enumerate(dict.fromkeys(kind.gpu_type for kind in kinds))}
    needs = _needs(jobs, machine, names, bits)
    found = []
    if "memory_gb" in names and all(kind.memory_gb > 0 for kind in kinds):
        parts = np.maximum(needs["parts"], 1)
        held = needs["job_memory"] // parts * parts
        found.append((held, float(sum(k.count * np.floor(k.memory_gb * _KB) for k in kinds))))
    if "gpus" in names:
        for types in np.unique(np.append(needs["gpu_types"], np.uint64((1 << len(bits)) - 1))):
            inside = (needs["gpu_types"] & ~types) == 0
            held = np.where(inside, needs["job_gpus"], 0).astype(float)
            most = sum(k.count * k.gpus for k in kinds if int(types) >> bits[k.gpu_type] & 1)
            if most and held.any():
                found.append((held, float(most)))
    return found


def _needs(
    jobs: Any, machine: Machine, names: tuple[str, ...], bits: Mapping[str, int]
) -> dict[str, np.ndarray]:
    tasks = np.asarray(jobs["tasks"], dtype=np.int64)

    def column(name: str, there: bool) -> np.ndarray:
        known = there and name in jobs
        return np.nan_to_num(np.asarray(jobs[name], dtype=float)) if known else np.zeros(len(tasks))

    every = np.uint64((1 << (int(cells_of_nodes(machine)[0].max()) + 1)) - 1)
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


def _types(asked: np.ndarray, bits: Mapping[str, int]) -> np.ndarray:
    """Types of nodes that have the GPUs that each job asks for, as bits; all for a job that asks
    for none, or for one that no node is said to have."""
    every = (1 << len(bits)) - 1
    codes, names = pd.factorize(asked.astype(object), use_na_sentinel=False)
    found = []
    for name in map(str, names):
        like = sum(1 << k for kind, k in bits.items() if name and name in kind.split(","))
        unsaid = sum(1 << k for kind, k in bits.items() if not kind)
        found.append(like | unsaid if like else every)
    return np.array(found, dtype=np.uint64)[codes]
