"""Nodes with cores, memory and GPUs, and what each job needs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import _core

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
    cores are all that counts. `held`: cores of jobs that run at the begin."""
    names = counted(jobs, machine)
    if machine is None or not names:
        return None
    kinds, times = machine.nodes, [kind.count for kind in machine.nodes]

    def of_nodes(values: list[Any]) -> np.ndarray:
        return np.repeat(np.array(values), times)

    types = [kind.gpu_type for kind in kinds]
    bits = {name: k for k, name in enumerate(dict.fromkeys(types))}
    cores, cell = of_nodes([kind.cores for kind in kinds]), machine.cells_of_nodes()[0]
    by_cell = np.argsort(cell, kind="stable")  # cores are numbered on from part to part
    first_core = np.empty_like(cores)
    first_core[by_cell] = np.cumsum(cores[by_cell]) - cores[by_cell]
    memory = np.array([np.floor(kind.memory_gb * _KB) or _UNSAID for kind in kinds])
    nodes = {
        "cores": cores,
        "memory": np.repeat(memory if "memory_gb" in names else np.zeros(len(kinds)), times),
        "gpus": of_nodes([kind.gpus for kind in kinds]),
        "cell": cell,
        "gpu_type": of_nodes([bits[name] for name in types]),
        "first_core": first_core,
    }
    # Filled as operators have it: what has less to offer first, and Slurm's weights before all.
    weight = of_nodes([kind.weight for kind in kinds])
    order = np.lexsort((nodes["memory"], nodes["gpus"], weight))
    return _core.cluster.Site(
        **{name: column[order] for name, column in nodes.items()},
        **_needs(jobs, machine, names, bits),
        held=list(held),
    )


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

    every = np.uint64((1 << (int(machine.cells_of_nodes()[0].max()) + 1)) - 1)
    queued = machine.partitions and "partition" in jobs
    types = np.asarray(jobs["gpu_type"]) if "gpu_type" in jobs else np.zeros(len(tasks), dtype=str)
    return {
        "tasks": tasks,
        "parts": column("nodes", True).astype(np.int64),
        "job_memory": np.floor(column("memory_gb", "memory_gb" in names) * _KB),
        "job_gpus": column("gpus", "gpus" in names).astype(np.int64),
        "cells": machine.allowed(jobs["partition"]) if queued else np.full(len(tasks), every),
        "gpu_types": _types(types, bits),
    }


def _types(asked: np.ndarray, bits: Mapping[str, int]) -> np.ndarray:
    """Types of nodes that have the GPUs that each job asks for, as bits; all for a job that asks
    for none, or for one that no node is said to have."""
    import pandas as pd

    every = (1 << len(bits)) - 1
    codes, names = pd.factorize(asked.astype(object), use_na_sentinel=False)
    found = []
    for name in map(str, names):
        like = sum(1 << k for kind, k in bits.items() if name and name in kind.split(","))
        unsaid = sum(1 << k for kind, k in bits.items() if not kind)
        found.append(like | unsaid if like else every)
    return np.array(found, dtype=np.uint64)[codes]
