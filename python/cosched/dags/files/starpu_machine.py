"""What StarPU knows of a machine: workers, their types, and times of its performance models.

Read from what ``starpu_perfmodel_recdump tasks.rec`` writes; without it the memory nodes of the
tasks say which workers are CPUs (node 0), and ``EstimatedTime`` of ``starpu_tasks_rec_complete``
holds the times.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TypeAlias

import numpy as np

from cosched import io
from cosched.dags.files import rec
from cosched.errors import InvalidInstance, shorten

#: Kernel, performance model and footprint of a task: what has the same time on a worker.
Key: TypeAlias = tuple[str, str, int]
#: Memory nodes of CPUs, by the first word of their names.
_HOST = ("numa", "ram")
_CPU = "cpu"
_MICROSECONDS = 1e-6


@dataclass(frozen=True)
class Machine:
    """Workers by id: ``places`` = (type, unit within it), ``architectures`` as the models say."""

    source: str
    units: tuple[int, ...]
    places: dict[int, tuple[int, int]]
    architectures: dict[int, str] = field(default_factory=dict)
    #: (model, footprint) -> architecture -> seconds.
    means: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict)

    def modelled(self, key: Key, estimates: Sequence[float], kind: int) -> float | None:
        """Mean over the workers of a type of what StarPU expects there; None: it knows nothing."""
        by_architecture = self.means.get(key[1:], {})
        workers = [worker for worker, (own, _) in self.places.items() if own == kind]
        known = [
            by_architecture[self.architectures[worker]]
            for worker in workers
            if self.architectures.get(worker) in by_architecture
        ] or [estimates[worker] for worker in workers if worker < len(estimates)]
        finite = [seconds for seconds in known if seconds < math.inf]
        return float(np.mean(finite)) if finite else None


def machine_of_tasks(ran: Iterable[tuple[int, int | None]], notes: list[str]) -> Machine:
    """Workers with the memory nodes of their tasks: node 0 is the CPUs', others are GPUs'."""
    node: dict[int, int | None] = {}
    for worker, memory in ran:
        node[worker] = memory
    if None in node.values():
        notes.append("no MemoryNode: all workers are taken to be of one type (or pass perfmodels)")
        labels = dict.fromkeys(node, _CPU)
    else:
        labels = {worker: "gpu" if memory else _CPU for worker, memory in node.items()}
    notes.append("machine: the workers that ran a task (perfmodels says which there are besides)")
    return _machine("the workers of the trace", labels, {}, {})


def read_machine(path: str | PathLike[str]) -> Machine:
    """The file of ``starpu_perfmodel_recdump tasks.rec -o FILE``."""
    labels: dict[int, str] = {}
    architectures: dict[int, str] = {}
    means: dict[tuple[str, int], dict[str, float]] = {}
    for block in rec.blocks(io.read_text(path), str(path)):
        where = f"{path}: line {block.line}"
        if block.kind == "memory_workers":
            label, number = _node(block.fields.get("Name", ""), where)
            for text in block.fields.get("Workers", "").split():
                worker = io.parse_integer(text, f"{where}: Workers", 0, 2**31 - 1)
                labels[worker] = label
                # StarPU has one model for all CPUs, and one for each device.
                architectures[worker] = f"{label}{0 if label == _CPU else number}"
        elif block.kind == "timing":
            model, architecture, print_of_data, seconds = _timing(block, where)
            means.setdefault((model, print_of_data), {})[architecture] = seconds
    if not labels:
        raise InvalidInstance(
            f"{path}: no workers: expected what starpu_perfmodel_recdump writes for a tasks.rec"
        )
    return _machine(f"the workers of {path}", labels, architectures, means)


def _machine(
    source: str,
    labels: dict[int, str],
    architectures: dict[int, str],
    means: dict[tuple[str, int], dict[str, float]],
) -> Machine:
    """CPUs are type 0, the others follow in the order of their workers."""
    in_order = sorted(labels)
    types = sorted(dict.fromkeys(labels[worker] for worker in in_order), key=lambda l: l != _CPU)
    members = {label: [w for w in in_order if labels[w] == label] for label in types}
    places = {
        worker: (kind, unit)
        for kind, label in enumerate(types)
        for unit, worker in enumerate(members[label])
    }
    return Machine(
        source, tuple(len(members[label]) for label in types), places, architectures, means
    )


def _node(name: str, where: str) -> tuple[str, int]:
    """``"CUDA 1"`` as ("cuda", 1); where CPUs compute: ("cpu", ...)."""
    found = re.fullmatch(r"([A-Za-z]+)\s*([0-9]{0,9})", name.strip())
    if not found:
        raise InvalidInstance(f"{where}: Name {shorten(name)}: expected a memory node, as CUDA 0")
    label = found[1].lower()
    return (_CPU if label in _HOST else label), int(found[2] or 0)


def _timing(block: rec.Block, where: str) -> tuple[str, str, int, float]:
    said = block.fields
    for key in ("Model", "Architecture", "Footprint", "Mean"):
        if key not in said:
            raise InvalidInstance(f"{where}: no {key}: expected a record of a performance model")
    mean = io.parse_nonnegative(said["Mean"], f"{where}: Mean", "microseconds >= 0")
    return (
        said["Model"].strip(),
        said["Architecture"].strip(),
        rec.hexadecimal(said["Footprint"], f"{where}: Footprint"),
        mean * _MICROSECONDS,
    )
