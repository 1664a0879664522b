"""Parts of a machine: what its nodes and partitions have, and which of them jobs may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.machine.host_lists import first_host
from cosched.errors import InvalidInstance
from cosched.lazy import pd

if TYPE_CHECKING:
    from cosched.cluster.machine.machine import Machine

#: As many parts as the core can tell apart.
MOST_CELLS = 64


def of_nodes(machine: Machine, name: str) -> np.ndarray:
    """What each node has, by a name of :class:`NodeType`, in the order of their numbers."""
    kinds = machine.nodes
    return np.repeat([getattr(kind, name) for kind in kinds], [kind.count for kind in kinds])


def by_name(partitions: Iterable[Any], value: Callable[[list[str]], float]) -> np.ndarray:
    """`value` of each text's list of partitions, as ``"gpu,main"``; a log repeats few."""
    codes, texts = pd.factorize(np.asarray(partitions, dtype=object), use_na_sentinel=False)
    return np.array([value(str(text).split(",")) for text in texts], dtype=float)[codes]


def limits(machine: Machine, partitions: Iterable[Any]) -> np.ndarray:
    """Time limits (s, or infinity) by partition, of a list the greatest; others than the machine's
    have none."""
    known = {part.name: part.max_time for part in machine.partitions}
    return by_name(partitions, lambda own: max(known.get(one, np.inf) for one in own))


def room(machine: Machine, partitions: Iterable[Any]) -> np.ndarray:
    """Cores of partitions, as many as a job there can have; of others than the machine's all."""
    sizes, _ = cells(machine)
    masks, place = np.unique(allowed(machine, partitions), return_inverse=True)
    cores = [sum(int(n) for bit, n in enumerate(sizes) if int(m) >> bit & 1) for m in masks]
    return np.array(cores, dtype=np.int64)[place.reshape(-1)]


def lacks(machine: Machine, partitions: Iterable[Any]) -> np.ndarray:
    """Whether the machine has no such partition."""
    known = {part.name for part in machine.partitions}
    if not known or (machine.slurm is not None and len(known) == 1):
        known = set()  # all jobs are in one queue
    return by_name(
        partitions, lambda own: bool(known) and own != [""] and not set(own) <= known
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
    each = of_nodes(machine, "cpus_per_core")
    by_part = {p.name: _most(np.concatenate([each[a:b] for a, b in p.nodes])) for p in
               machine.partitions if p.nodes}  # fmt: skip
    found = np.full(rows, _most(each))
    if partitions is not None:
        usual = float(found[0]) if rows else 1.0
        found = by_name(partitions, lambda own: by_part.get(own[0], usual))
    if node_lists is not None and machine.slurm is not None:
        of_node = dict(zip(machine.slurm.names, each.tolist(), strict=True))
        own = by_name(node_lists, lambda own: of_node.get(first_host(own[0]), np.nan))
        found = np.where(np.isnan(own), found, own)
    return found


def _most(ratios: np.ndarray) -> float:
    values, counts = np.unique(ratios, return_counts=True)
    return float(values[np.argmax(counts)])


def cells(machine: Machine) -> tuple[np.ndarray, dict[str, int]]:
    """Cores of each part that every partition has either all or none of, and for each partition
    the set of its parts as bits."""
    number, masks = cells_of_nodes(machine)
    cores = np.bincount(number, weights=of_nodes(machine, "cores"))
    return cores.astype(np.int64), masks


def cells_of_nodes(machine: Machine) -> tuple[np.ndarray, dict[str, int]]:
    """The part of each node, numbered from 0, and each partition's parts as bits."""
    member = np.zeros((machine.node_count, len(machine.partitions)), dtype=bool)
    for column, part in enumerate(machine.partitions):
        for first, last in part.nodes:
            member[first:last, column] = True
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


def allowed(machine: Machine, partitions: Iterable[Any]) -> np.ndarray:
    """Parts of the machine that jobs of these partitions may use, as bits (uint64); of others than
    the machine's all."""
    numbers, masks = cells_of_nodes(machine)
    every = (1 << (int(numbers.max()) + 1)) - 1
    if machine.slurm is not None and len(masks) == 1:
        (every,), masks = masks.values(), {}  # it has the jobs of all queues
    codes, texts = pd.factorize(np.asarray(partitions, dtype=object), use_na_sentinel=False)
    own = [[masks.get(one, every) for one in str(text).split(",")] for text in texts]
    return np.array([reduce(or_, given) for given in own], dtype=np.uint64)[codes]
