"""Why a job never starts in the simulator: its dependency, or the first wish that too few nodes of
its partition meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import partition_place
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.constraints import constraint_nodes
from cosched.cluster.machine.node_types import hosts, node_mask
from cosched.cluster.machine.parts import node_attribute
from cosched.cluster.machine.shortage import Wish, nodes_after, shortage
from cosched.core.text import count_of
from cosched.errors import shorten
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests.core_job_builder import Requests
from cosched.slurm.requests.node_sets import gpu_types_of


class SimulatedJobs(Protocol):
    """What a simulator knows of its jobs and nodes."""

    instance: Instance
    machine: Machine | None
    settings: SlurmSettings
    requests: Requests
    #: Units by node.
    node_cores: np.ndarray
    #: By job: its partition, and how many whole nodes it wants at least.
    partition_of_job: np.ndarray
    node_counts: np.ndarray
    #: Jobs share nodes.
    shares_nodes: bool
    #: What has no rule is left out.
    approximate: bool

    @property
    def partition_ranges(self) -> Mapping[str, tuple[tuple[int, int], ...]]:
        """Ranges of nodes by partition."""

    @property
    def multi_partition_jobs(self) -> Mapping[int, Sequence[int]]:
        """Partitions of jobs that are in more than one."""


#: What Slurm says of a job that waits for one whose end cannot be what it waits for.
NEVER_SATISFIED = "DependencyNeverSatisfied"


#: A job that asks for nothing beyond the columns of the instance.
_NO_REQUEST = _core.slurm.Job()


def _node_count_of(twin: SimulatedJobs, row: int) -> int:
    """Return how many nodes a job asks for."""
    requested_count = twin.requests.jobs.get(row, _NO_REQUEST).nodes
    return int(twin.node_counts[row]) if requested_count is None else requested_count


def why_no_nodes(twin: SimulatedJobs, row: int) -> str:
    """Return why no nodes of its partitions ever hold the job, as a sentence without its
    subject; empty: the machine when empty would hold it."""
    reasons = [_why_not_in(twin, row, partition) for partition in _partitions_of_job(twin, row)]
    return "" if "" in reasons else reasons[0]


def why_out_of_bounds(twin: SimulatedJobs, row: int) -> str:
    """Return why State, MinNodes or MaxNodes of the first partition let the job have no node;
    empty: they let it."""
    partition = _partitions_of_job(twin, row)[0]
    place = partition_place(partition)
    job = twin.requests.jobs.get(row, _NO_REQUEST)
    needed = _node_count_of(twin, row)
    min_nodes, max_nodes = twin.settings.bounds.get(partition, (0, needed))
    if max_nodes == 0 and not twin.approximate:
        return f"wants {count_of(needed, 'node')}: the State of {place} lets no job start"
    if needed > max_nodes > 0:
        return f"wants {count_of(needed, 'node')}: {place} has MaxNodes={max_nodes}"
    allowed_nodes = min_nodes if job.max_nodes is None else job.max_nodes
    if allowed_nodes < min_nodes:
        return f"wants {count_of(allowed_nodes, 'node')}: {place} has MinNodes={min_nodes}"
    return ""


def _partitions_of_job(twin: SimulatedJobs, row: int) -> list[str]:
    """Return the names of the partitions of a job, the first one first."""
    names = list(twin.partition_ranges)
    numbers = twin.multi_partition_jobs.get(row) or [int(twin.partition_of_job[row])]
    return [names[number] for number in numbers]


def waits_for_ever(twin: SimulatedJobs, row: int) -> bool:
    """Whether a job that never starts has a dependency, which then is never satisfied."""
    job = twin.requests.jobs.get(row, _NO_REQUEST)
    return bool(job.dependencies) or job.singleton >= 0


def _why_not_in(twin: SimulatedJobs, row: int, partition: str) -> str:
    """Return why no nodes of one partition ever hold the job; empty: some do."""
    if twin.machine is None:
        needed = _node_count_of(twin, row)
        nodes = node_mask(twin.partition_ranges[partition], len(twin.node_cores))
        reason = shortage(partition_place(partition), nodes, [], needed)
        return f"wants {count_of(needed, 'node')}: {reason}" if reason else ""
    text = str(texts_of(twin.instance, "constraint")[row])
    constraint = constraint_nodes(text, twin.machine.nodes)
    if constraint.reason:
        return f"wants constraint {shorten(text)}: {constraint.reason}"
    reasons = [
        _why_not_on(twin, twin.machine, row, partition, of_types)
        for of_types in constraint.alternatives or (constraint.allowed,)
    ]
    return "" if "" in reasons else reasons[0]


def _why_not_on(
    twin: SimulatedJobs, machine: Machine, row: int, partition: str, of_types: np.ndarray
) -> str:
    """Return why the types of nodes that its constraint allows never hold the job: of one
    alternative of ``[a|b]``."""
    job = twin.requests.jobs.get(row, _NO_REQUEST)
    min_nodes, max_nodes = twin.settings.bounds.get(partition, (0, len(twin.node_cores)))
    needed = max(_node_count_of(twin, row), min_nodes)
    tasks = int(twin.instance.column("tasks")[row])
    wishes = _host_wishes(twin, machine, row, of_types)
    if twin.shares_nodes:
        wish = f"wants {count_of(tasks, 'core')} on {count_of(needed, 'node')}"
        wishes += _amount_wishes(machine, job, tasks)
    else:
        wish = f"wants {count_of(needed, 'node')}"
        if gpus := int(numbers_of(twin.instance, "gpus")[row]):
            of_each = max(gpus // needed, 1)
            has_gpus = node_attribute(machine, "gpus") >= of_each
            wishes.append(Wish(has_gpus, f"with {count_of(of_each, 'GPU')}"))
    nodes = node_mask(twin.partition_ranges[partition], len(twin.node_cores))
    if reason := shortage(partition_place(partition), nodes, wishes, needed):
        return f"{wish}: {reason}"
    return _why_too_small(machine, twin, row, nodes_after(nodes, wishes), max_nodes)


def _host_wishes(
    twin: SimulatedJobs, machine: Machine, row: int, of_types: np.ndarray
) -> list[Wish]:
    """Return what it wants of nodes by their state, features and names."""
    count = len(twin.node_cores)
    wishes = [Wish(~node_mask(twin.settings.down, count), "neither DOWN nor DRAIN")]
    if constraint := str(texts_of(twin.instance, "constraint")[row]):
        counts = [kind.count for kind in machine.nodes]
        wishes.append(Wish(np.repeat(of_types, counts), f"with {constraint}"))
    numbers = {name: k for k, name in enumerate(twin.settings.names)}
    for column, is_inside, words in (
        ("nodelist", True, "of its nodelist"),
        ("exclude", False, "that it does not exclude"),
    ):
        if text := str(texts_of(twin.instance, column)[row]):
            listed = [numbers[name] for name in hosts(text, column) if name in numbers]
            is_listed = np.isin(np.arange(count), listed)
            wishes.append(Wish(is_listed == is_inside, words))
    return wishes


def _amount_wishes(machine: Machine, job: _core.slurm.Job, tasks: int) -> list[Wish]:
    """Return what it wants of each node where jobs share nodes."""
    wishes = []
    is_one_node = job.max_nodes == 1
    if is_one_node:
        wishes.append(
            Wish(node_attribute(machine, "cores") >= tasks, f"with {count_of(tasks, 'core')}")
        )
    if memory := job.memory:
        of_each = memory * (tasks if is_one_node and job.is_memory_by_core else 1)
        megabytes = np.rint(node_attribute(machine, "memory_gb") * 1024)
        has_memory = (megabytes == 0) | (megabytes >= of_each)
        wishes.append(Wish(has_memory, f"with {of_each / 1024:g} GB of memory"))
    if gpus := job.gpus:
        of_each = gpus if job.are_gpus_by_node or is_one_node else 1
        has_gpus = _gpus_by_node(machine, job) >= of_each
        wishes.append(Wish(has_gpus, f"with {count_of(of_each, _gpu_words(machine, job))}"))
    return wishes


def _gpus_by_node(machine: Machine, job: _core.slurm.Job) -> np.ndarray:
    """GPUs of the type that the job wants, of all types where it names none."""
    gpus = node_attribute(machine, "gpus")
    kind = job.gpu_type
    if kind < 0:
        return gpus
    return np.where(node_attribute(machine, "gpu_type") == gpu_types_of(machine)[kind], gpus, 0)


def _gpu_words(machine: Machine, job: _core.slurm.Job) -> str:
    """Return what GPUs of a job are called in a message."""
    kind = job.gpu_type
    name = gpu_types_of(machine)[kind] if kind >= 0 else ""
    return f"{name} GPU".lstrip()


def _why_too_small(
    machine: Machine, twin: SimulatedJobs, row: int, nodes: np.ndarray, max_nodes: int
) -> str:
    """Return what nodes lack together for a job each of whose wishes enough nodes meet, of which
    the first is the least."""
    if not twin.shares_nodes:
        return ""
    job = twin.requests.jobs.get(row, _NO_REQUEST)
    tasks = int(twin.instance.column("tasks")[row])
    usable_cores = np.where(nodes, node_attribute(machine, "cores"), 0)
    by_memory = ""
    if (memory := job.memory) and job.is_memory_by_core:
        megabytes = np.rint(node_attribute(machine, "memory_gb") * 1024)
        fitting = np.where(megabytes > 0, megabytes // memory, usable_cores)
        usable_cores = np.minimum(usable_cores, fitting).astype(int)
        by_memory = f" with {memory / 1024:g} GB of memory each"
    job_max_nodes = len(usable_cores) if job.max_nodes is None else job.max_nodes
    node_limit = min(job_max_nodes, max_nodes or len(usable_cores))
    cores = int(np.sort(usable_cores)[::-1][:node_limit].sum())
    node_words = f"the {count_of(min(node_limit, int(nodes.sum())), 'node')} that it may have"
    if cores < tasks:
        return (
            f"wants {count_of(tasks, 'core')}{by_memory}: {node_words} have "
            f"{count_of(cores, 'core')}{by_memory}"
        )
    gpus = job.gpus
    available_gpus = int(
        np.sort(np.where(nodes, _gpus_by_node(machine, job), 0))[::-1][:node_limit].sum()
    )
    if gpus and not job.are_gpus_by_node and available_gpus < gpus:
        words = _gpu_words(machine, job)
        return f"wants {count_of(gpus, words)}: {node_words} have {count_of(available_gpus, words)}"
    return ""
