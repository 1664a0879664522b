"""What the jobs of a log ask for: partitions, nodes, memory, GPUs; what those that run have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.running import held_of
from cosched.cluster.machine import Machine
from cosched.errors import InfeasibleError, InvalidInstance, shorten
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests.wishes import Requests, Wishes, gpu_types_of


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

    def counts(self) -> np.ndarray:
        """Nodes of each job, as the log says; 0: it does not."""
        if "nodes" not in self.instance.known:
            return np.zeros(len(self.instance), dtype=np.int64)
        return np.nan_to_num(self.instance.column("nodes")).astype(np.int64)

    def nodes_of_jobs(self) -> np.ndarray:
        """Whole nodes that hold each job's tasks, as many at least as the log says."""
        tasks, ids = self.instance.column("tasks"), self.instance.ids
        wanted = np.ones(len(tasks), dtype=np.int64)
        for k, (name, ranges) in enumerate(self.parts.items()):
            mine = self.part == k
            if not mine.any():
                continue
            cores = np.concatenate([self.node_cores[a:b] for a, b in ranges or [(0, 0)]])
            if self.shared or not len(cores):
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
            wanted[mine] = np.maximum(-(-tasks[mine] // int(cores[0])), self.counts()[mine])
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
    """What jobs say of the nodes that they want: how many, their memory, GPUs and features; what
    is to be said of it."""
    instance = room.instance
    notes: list[str] = []
    if machine is None or machine.slurm is None:
        return Requests(), notes
    more: list[dict[str, Any]] = [{} for _ in range(len(instance))]
    if room.shared:
        notes += _ask_for_memory(more, room, settings)
        notes += _ask_for_gpus(more, instance, machine)
        tasks = instance.column("tasks").astype(np.int64).tolist()
        nodes = room.counts().tolist()
        for own, cores, count in zip(more, tasks, nodes, strict=True):
            if count:
                own |= {"nodes": count, "max_nodes": count}
            if own:
                own["tasks"] = cores
    elif machine.gpus and "gpus" in instance.known:
        notes.append("gpus: nodes are whole here, so that they are not handed out")
    wishes = Wishes(machine)
    notes += _ask_for_places(more, instance, wishes)
    rows = {row: own for row, own in enumerate(more) if own}
    return Requests(rows, sets=tuple(wishes.sets)), notes


def _ask_for_memory(more: list[dict[str, Any]], room: Room, settings: SlurmSettings) -> list[str]:
    """Of each node where the log says how many a job has, else of each core."""
    if not settings.memory_counts:
        return []
    if "memory_gb" not in room.instance.known:
        return ["memory: the log does not say it, so that it is not handed out"]
    names, nodes = list(room.parts), room.counts()
    tasks = room.instance.column("tasks").astype(np.int64)
    amounts = np.nan_to_num(room.instance.column("memory_gb")) * 1024
    parts = np.ceil(amounts / np.where(nodes > 0, nodes, tasks)).astype(np.int64)
    for row, known in enumerate(zip(parts.tolist(), (nodes == 0).tolist(), strict=True)):
        amount, by_core = known if known[0] else settings.default_memory(names[room.part[row]])
        more[row] |= (
            {"memory": amount, "memory_by_core": by_core} if amount else {"memory_all": True}
        )
    return []


def _ask_for_gpus(more: list[dict[str, Any]], instance: Instance, machine: Machine) -> list[str]:
    if "gpus" not in instance.known:
        return []
    counts = np.nan_to_num(instance.column("gpus")).astype(np.int64)
    types = gpu_types_of(machine)
    if not types:
        some = (counts > 0).any()
        return ["gpus: the machine has none, so that they are not handed out"] if some else []
    named = "gpu_type" in instance.known
    names = instance.column("gpu_type").astype(str) if named else np.full(len(counts), "")
    for row in np.flatnonzero(counts > 0).tolist():
        kind = types.index(names[row]) if names[row] in types else -1
        more[row] |= {"gpus": int(counts[row]), "gpu_type": kind}
    return []


def _ask_for_places(more: list[dict[str, Any]], instance: Instance, wishes: Wishes) -> list[str]:
    """Nodes with the features and the memory that jobs want, where not all have them."""
    known = "constraint" in instance.known
    texts = (instance.column("constraint") if known else np.full(len(more), "")).astype(str)
    left: dict[str, int] = {}
    places: dict[tuple[str, int], dict[str, Any]] = {}
    for own, text in zip(more, texts.tolist(), strict=True):
        asked = (text, int(own.get("memory", 0)))
        if asked not in places:
            try:
                places[asked] = wishes.places({"constraint": text}, own)
            except InvalidInstance:  # a form that is not followed
                places[asked] = wishes.places({}, own)
                left[text] = 0
            if wishes.empty(places[asked]) and not wishes.empty(wishes.places({}, own)):
                places[asked] = wishes.places({}, own)  # features that the machine had once
                left[text] = 0
        own.update(places[asked])
        if text in left:
            left[text] += 1
    return [
        f"not followed: constraint {shorten(text)} of {count} jobs: they take any nodes"
        for text, count in left.items()
    ]


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
