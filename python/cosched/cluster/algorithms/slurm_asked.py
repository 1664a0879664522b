"""What the jobs of a log ask for: partitions, nodes, memory, GPUs; what those that run have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.running import held_of
from cosched.cluster.slurm_requests import Requests, gpu_types_of
from cosched.cluster.slurm_settings import SlurmSettings
from cosched.errors import InfeasibleError, InvalidInstance, shorten


def partitions_of_jobs(
    instance: Instance, names: Sequence[str], usual: str
) -> tuple[np.ndarray, dict[int, list[int]]]:
    """The partition of each job, the first of several; and of those in several, all."""
    several: dict[int, list[int]] = {}
    if "partition" not in instance.known or len(names) == 1:
        return np.full(len(instance), names.index(usual)), several
    places = {name: k for k, name in enumerate(names)}
    found = np.empty(len(instance), dtype=np.int64)
    for row, text in enumerate(map(str, instance.column("partition").tolist())):
        own = text.split(",")
        name = next((one for one in own if one and one not in places), own[0])
        if len(own) > 1 and name in places:
            several[row] = [places[one] for one in own]
        if name and name not in places:
            raise InvalidInstance(
                f"job {instance.ids[row]}: partition {shorten(name)}: the machine has "
                f"{', '.join(names)}"
            )
        found[row] = places[name or usual]
    return found, several


@dataclass(frozen=True, eq=False)
class Room:
    """Where the jobs of an instance may run."""

    instance: Instance
    #: Units by node.
    node_cores: np.ndarray
    #: Ranges of nodes by partition.
    parts: Mapping[str, tuple[tuple[int, int], ...]]
    #: The partition of each job.
    part: np.ndarray
    #: Jobs have cores of their own, several on a node; else whole nodes.
    shared: bool

    def nodes_of_jobs(self) -> np.ndarray:
        """Whole nodes that hold each job's tasks."""
        tasks, ids = self.instance.column("tasks"), self.instance.ids
        wanted = np.ones(len(tasks), dtype=np.int64)
        for k, (name, ranges) in enumerate(self.parts.items()):
            cores = np.concatenate([self.node_cores[a:b] for a, b in ranges])
            mine = self.part == k
            if not mine.any():
                continue
            if self.shared:
                large = mine & (tasks > cores.sum())
                if large.any():
                    row = int(np.argmax(large))
                    raise InfeasibleError(
                        f"job {ids[row]} wants {tasks[row]} cores: partition {name} has "
                        f"{cores.sum()}"
                    )
                continue
            if len(set(cores.tolist())) > 1:
                raise InvalidInstance(
                    f"slurm-backfill: partition {name} has nodes of {min(cores)} to {max(cores)} "
                    "cores: expected nodes of one kind"
                )
            wanted[mine] = -(-tasks[mine] // int(cores[0]))
            large = mine & (wanted > len(cores))
            if large.any():
                row = int(np.argmax(large))
                raise InfeasibleError(
                    f"job {ids[row]} wants {wanted[row]} nodes: partition {name} has {len(cores)}"
                )
        return wanted

    def first_free(self, row: int, free: np.ndarray) -> list[tuple[int, int]]:
        """(node, cores) of a job on the first that are free."""
        name = list(self.parts)[self.part[row]]
        left = int(self.instance.column("tasks")[row])
        held = []
        for node in (k for a, b in self.parts[name] for k in range(a, b)):
            room = int(free[node])
            if not self.shared and room < self.node_cores[node]:
                continue
            if left > 0 and room > 0:
                held.append((node, min(room, left) if self.shared else room))
                left -= room
        if left > 0:
            raise InvalidInstance(
                f"running: job {self.instance.ids[row]}: no room beside the others that run"
            )
        return held


def asked_of_nodes(
    room: Room, settings: SlurmSettings, machine: Machine | None
) -> tuple[Requests, list[str]]:
    """What jobs say about memory and GPUs of nodes that they share; what is to be said of it."""
    instance = room.instance
    notes: list[str] = []
    known = instance.known
    if not room.shared or machine is None:
        if machine is not None and machine.gpus and "gpus" in known:
            notes.append("gpus: nodes are whole here, so that they are not handed out")
        return Requests(), notes
    tasks = instance.column("tasks").astype(np.int64)
    more: dict[int, dict[str, Any]] = {row: {} for row in range(len(tasks))}
    if settings.memory_counts and "memory_gb" not in known:
        notes.append("memory: the log does not say it, so that it is not handed out")
    elif settings.memory_counts:
        _ask_for_memory(more, room, settings)
    if "gpus" in known:
        types = gpu_types_of(machine)
        if not types and (instance.column("gpus") > 0).any():
            notes.append("gpus: the machine has none, so that they are not handed out")
        names = (
            instance.column("gpu_type").astype(str).tolist()
            if "gpu_type" in known else [""] * len(tasks)
        )  # fmt: skip
        for row, count in enumerate(np.nan_to_num(instance.column("gpus")).tolist()):
            if count > 0 and types:
                kind = types.index(names[row]) if names[row] in types else -1
                more[row] |= {"gpus": int(count), "gpu_type": kind}
    rows = {row: {"tasks": int(tasks[row]), **own} for row, own in more.items() if own}
    return Requests(rows), notes


def _ask_for_memory(more: dict[int, dict[str, Any]], room: Room, settings: SlurmSettings) -> None:
    names, tasks = list(room.parts), room.instance.column("tasks").astype(np.int64)
    per_core = np.ceil(room.instance.column("memory_gb") * 1024 / tasks)
    for row, amount in enumerate(per_core.tolist()):
        if amount > 0:
            more[row] = {"memory": int(amount), "memory_by_core": True}
            continue
        usual, by_cpu = settings.default_memory(names[room.part[row]])
        more[row] = {"memory": usual, "memory_by_core": by_cpu} if usual else {"memory_all": True}


def gpus_of_nodes(machine: Machine) -> list[list[int]]:
    """Of each type, those of each node."""
    kinds = [kind for kind in machine.nodes for _ in range(kind.count)]
    return [
        [kind.gpus if kind.gpu_type == name else 0 for kind in kinds]
        for name in gpu_types_of(machine)
    ]


def with_running(
    asked: Requests, room: Room, ran: np.ndarray, gpus: list[list[int]], suspends: bool
) -> Requests:
    """Jobs that run at second 0, `ran` seconds until then, hold what they have; where nobody says
    which nodes, the first that are free. `suspends`: of jobs on one core one may stand still."""
    instance = room.instance
    texts = instance.column("held").astype(str) if "held" in instance.known else None
    free = room.node_cores.copy()
    more = {row: dict(values) for row, values in asked.more.items()}
    rows = np.flatnonzero(instance.column("running")).tolist()
    for row in sorted(rows, key=lambda row: texts is None or not texts[row]):
        held = held_of(texts[row]) if texts is not None else []
        held = [(n, c or int(room.node_cores[n])) for n, c in held if n < len(free)]
        held = held or room.first_free(row, free)
        for node, cores in held:
            free[node] -= cores
            if free[node] < 0 and not suspends:
                raise InvalidInstance(
                    f"running: node {node} has {room.node_cores[node]} cores: job "
                    f"{instance.ids[row]} and others hold more"
                )
        memory = more.get(row, {}).get("memory", 0)
        shares = [(node, cores, int(memory) * cores) for node, cores in sorted(held)]
        own = more.setdefault(row, {})
        taken = _taken_gpus(gpus, int(own.get("gpus", 0)), [node for node, *_ in shares])
        own["running"] = (-float(ran[row]), shares, taken)
        own["nodes"] = len(shares)
    return replace(asked, more=more)


def _taken_gpus(free: list[list[int]], count: int, nodes: list[int]) -> list[tuple]:
    """(node, type, GPUs) of so many on these nodes, in equal parts; they are not free any more."""
    found = []
    for place, node in enumerate(nodes):
        left = -(-count // (len(nodes) - place))
        count -= left
        for kind, of_nodes in enumerate(free):
            own = min(left, of_nodes[node])
            if own > 0:
                found.append((node, kind, own))
                of_nodes[node] -= own
                left -= own
    return found
