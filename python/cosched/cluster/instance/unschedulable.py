"""Jobs that batch policies can never start on a machine, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine.constraints import constraint_nodes
from cosched.cluster.machine.node_types import node_mask
from cosched.cluster.machine.parts import allowed, cells_of_nodes, node_attribute
from cosched.cluster.machine.shortage import Wish, nodes_after, shortage
from cosched.core.text import count_of
from cosched.errors import InfeasibleError, InvalidInstance, shorten

if TYPE_CHECKING:
    from cosched.cluster.instance.instance import Instance
    from cosched.cluster.machine import Machine
    from cosched.cluster.machine.node_types import Partition


class RunningJobsError(InvalidInstance):
    """The jobs that run at the begin of a simulation do not fit on the machine together."""


#: Jobs that a message names.
_MAX_NAMED_JOBS = 5


def require_schedulable(instance: Instance) -> None:
    """Check that the empty machine holds each job.

    Raises
    ------
    InfeasibleError
        The first job that it does not hold, why, and which others there are.
    """
    rows = unschedulable_rows(instance)
    if len(rows):
        row = int(rows[0])
        others_clause = also_of([str(instance.ids[k]) for k in rows[1:].tolist()])
        raise InfeasibleError(
            f"{place_of_job(instance, row)}: {_reason_of(instance, row)}{others_clause}; "
            f"drop {'them' if len(rows) > 1 else 'it'} with --drop too-wide"
        )


def also_of(names: list[str]) -> str:
    """Further jobs of a message about one, in brackets; empty where there are none."""
    if not names:
        return ""
    named_jobs = ", ".join(names[:_MAX_NAMED_JOBS]) + (", ..." if names[_MAX_NAMED_JOBS:] else "")
    return f" (and {count_of(len(names), 'other job')} that cannot start: {named_jobs})"


def partition_place(name: str) -> str:
    """What a message calls a partition, or the machine where there is none."""
    return f"partition {name}" if name else "the machine"


def unschedulable_rows(instance: Instance) -> np.ndarray:
    """Rows of jobs that the empty machine does not hold, increasing."""
    if instance.core_nodes is not None:
        return np.array(instance.core_nodes.unfit, dtype=np.int64)
    return np.flatnonzero(instance.column("tasks") > _rooms(instance))


def _rooms(instance: Instance) -> np.ndarray:
    """Return nodes, or cores, that each job may use."""
    sizes, masks, _ = instance.partition_layout
    if not len(sizes):
        return np.full(len(instance), instance.nodes)
    distinct, place = np.unique(masks, return_inverse=True)
    rooms = [sum(int(n) for k, n in enumerate(sizes) if int(m) >> k & 1) for m in distinct]
    return np.array(rooms, dtype=np.int64)[place.reshape(-1)]


def place_of_job(instance: Instance, row: int) -> str:
    """How messages name a job: ``log.swf: job 4711 (line 5203)``."""
    source = f"{instance.source}: " if instance.source else ""
    line = f" (line {instance.column('line')[row]})" if "line" in instance.column_names else ""
    return f"{source}job {instance.ids[row]}{line}"


def _reason_of(instance: Instance, row: int) -> str:
    machine = instance.machine
    if machine is None or instance.core_nodes is None:
        return _reason_of_size(instance, row)
    text = str(texts_of(instance, "constraint")[row])
    if reason := constraint_nodes(text, machine.nodes).reason:
        return f"wants constraint {shorten(text)}: {reason}"
    return _reason_of_needs(instance, machine, row)


def _reason_of_size(instance: Instance, row: int) -> str:
    """Return why a job cannot start that has more tasks than there are nodes, or cores, for it."""
    machine, tasks = instance.machine, int(instance.column("tasks")[row])
    unit = "node" if machine is None or machine.cores == machine.node_count else "core"
    room = int(_rooms(instance)[row])
    if room == 0:
        return f"needs {count_of(tasks, unit)}: {_partition_words(instance, row)} has no nodes"
    whose = "the machine" if room == instance.nodes else "its partition"
    return f"needs {count_of(tasks, unit)}, {whose} has {room}"


def _partitions_for(instance: Instance, machine: Machine, row: int) -> list[Partition] | None:
    """Return partitions whose nodes the policies let a job use, as :func:`allowed` has it.

    None: all nodes, or on a Slurm those of all partitions, of a job that names no partition, or one
    that the machine does not have.
    """
    if machine.slurm is not None and len(machine.partitions) == 1:
        return list(machine.partitions)  # It has the jobs of all queues.
    names = str(texts_of(instance, "partition")[row]).split(",")
    partitions = [part for part in machine.partitions if part.name in names]
    return partitions if set(names) <= {part.name for part in partitions} else None


def _partition_words(instance: Instance, row: int) -> str:
    machine = instance.machine
    partitions = None if machine is None else _partitions_for(instance, machine, row)
    if partitions is not None:
        return partition_place(",".join(part.name for part in partitions))
    if machine is not None and machine.slurm is not None and machine.partitions:
        return "the machine (all partitions)"
    return partition_place("")


def _reason_of_needs(instance: Instance, machine: Machine, row: int) -> str:
    """Return why a job cannot start that wants memory, GPUs or features beside its cores."""
    needs = _needs_of(instance, machine, row)
    place = _partition_words(instance, row)
    open_nodes = _open_nodes(instance, machine, row)
    partition_nodes = open_nodes | _closed_nodes(instance, machine, row)
    wishes = [Wish(open_nodes, "neither DOWN nor DRAIN")]
    wishes += _feature_wishes(instance, machine, row)
    gpu_type = str(texts_of(instance, "gpu_type")[row])
    if needs.gpus and gpu_type:
        wishes.append(Wish(_nodes_with_type(machine, gpu_type), f"with {gpu_type} GPUs"))
    if needs.nodes:
        wishes += _wishes_of_each_node(machine, needs)
    if reason := shortage(place, partition_nodes, wishes, max(needs.nodes, 1)):
        return f"{needs}: {reason}"
    return f"{needs}: {_totals(machine, nodes_after(partition_nodes, wishes), needs)} together"


class _Needs(NamedTuple):
    """What a job wants in all; 0: nothing, or as many nodes as it takes."""

    cores: int
    nodes: int
    memory_gb: float
    gpus: int

    def __str__(self) -> str:
        amounts = [count_of(self.cores, "core")]
        amounts += [f"{self.memory_gb:g} GB of memory"] if self.memory_gb else []
        amounts += [count_of(self.gpus, "GPU")] if self.gpus else []
        where = f" on {count_of(self.nodes, 'node')}" if self.nodes else ""
        return f"needs {', '.join(amounts)}{where}"


def _needs_of(instance: Instance, machine: Machine, row: int) -> _Needs:
    """Return what of it counts on the machine. Where equal parts are none, as with 3 GPUs on 2
    nodes, the job may have its amounts anywhere."""
    cores = int(instance.column("tasks")[row])
    nodes = int(numbers_of(instance, "nodes")[row])
    memory = float(numbers_of(instance, "memory_gb")[row]) if "memory_gb" in machine.counts else 0.0
    gpus = int(numbers_of(instance, "gpus")[row]) if "gpus" in machine.counts else 0
    has_parts = 1 <= nodes <= cores and gpus % nodes == 0
    return _Needs(cores, nodes if has_parts else 0, memory, gpus)


def _wishes_of_each_node(machine: Machine, needs: _Needs) -> list[Wish]:
    """Return what a job wants of each of its nodes, in equal parts."""
    wishes = [_at_least(machine, "cores", needs.cores // needs.nodes, "core")]
    if needs.memory_gb:
        memory = needs.memory_gb / needs.nodes
        nodes_memory = node_attribute(machine, "memory_gb")
        has_memory = (nodes_memory == 0) | (nodes_memory >= memory)
        wishes.append(Wish(has_memory, f"with {memory:g} GB of memory"))
    if needs.gpus:
        wishes.append(_at_least(machine, "gpus", needs.gpus // needs.nodes, "GPU"))
    return wishes


def _at_least(machine: Machine, name: str, minimum: float, unit: str) -> Wish:
    """Return nodes with so many cores or GPUs."""
    return Wish(node_attribute(machine, name) >= minimum, f"with {count_of(int(minimum), unit)}")


def _totals(machine: Machine, nodes: np.ndarray, needs: _Needs) -> str:
    """Return what these nodes have of what the job needs."""
    amounts = [count_of(int(node_attribute(machine, "cores")[nodes].sum()), "core")]
    if needs.memory_gb:
        amounts.append(f"{node_attribute(machine, 'memory_gb')[nodes].sum():g} GB of memory")
    if needs.gpus:
        amounts.append(count_of(int(node_attribute(machine, "gpus")[nodes].sum()), "GPU"))
    return f"the {count_of(int(nodes.sum()), 'node')} that it may use have {', '.join(amounts)}"


def _open_nodes(instance: Instance, machine: Machine, row: int) -> np.ndarray:
    """Return nodes of the job's partitions that are in service."""
    if not machine.partitions:
        return np.ones(machine.node_count, dtype=bool)
    mask = int(allowed(machine, [texts_of(instance, "partition")[row]])[0])
    return (mask >> cells_of_nodes(machine)[0]) & 1 == 1


def _closed_nodes(instance: Instance, machine: Machine, row: int) -> np.ndarray:
    """Return nodes of the job's partitions that are out of service in a slurm.conf."""
    if machine.slurm is None:
        return np.zeros(machine.node_count, dtype=bool)
    partitions = _partitions_for(instance, machine, row)
    if partitions is None:
        partitions = list(machine.partitions)
    spans = [span for partition in partitions for span in partition.nodes]
    partition_nodes = node_mask(tuple(spans), machine.node_count)
    return partition_nodes & node_mask(machine.slurm.down, machine.node_count)


def _feature_wishes(instance: Instance, machine: Machine, row: int) -> list[Wish]:
    text = str(texts_of(instance, "constraint")[row])
    if not text:
        return []
    nodes = constraint_nodes(text, machine.nodes)
    counts = [kind.count for kind in machine.nodes]
    return [Wish(np.repeat(nodes.allowed, counts), f"with {text}")]


def _nodes_with_type(machine: Machine, gpu_type: str) -> np.ndarray:
    """Return nodes with such GPUs, or of which nobody said; all where none has them."""
    types = node_attribute(machine, "gpu_type").tolist()
    has_gpu_type = np.array([gpu_type in text.split(",") for text in types])
    return (
        has_gpu_type | np.array([not text for text in types])
        if has_gpu_type.any()
        else np.ones_like(has_gpu_type)
    )
