"""Requests that sbatch refuses: what no node of the partition can hold, in sbatch's words.

The checks and their words are those of Slurm 22.05.8 (``slurm_strerror``), tried on a real Slurm
with EnforcePartLimits=NO, ANY and ALL. With NO, Slurm accepts jobs that are larger than their
partition and leaves them pending for ever: they are refused here as well, and the message says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import structs

from cosched.cluster.machine.node_types import node_mask
from cosched.cluster.machine.parts import node_attribute
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.live.command_outputs import records
from cosched.slurm.live.model import SnapshotJob
from cosched.slurm.live.snapshot import Snapshot

UNAVAILABLE = "Requested node configuration is not available"
_INVALID_NODES = "Node count specification invalid"
_INVALID_CPUS = "More processors requested than permitted"
_INVALID_TIME = "Requested time limit is invalid (missing or exceeds some limit)"
_INVALID_FEATURE = "Invalid feature specification"
_INVALID_LICENCE = "Invalid license specification"
_INVALID_GRES = "Invalid generic resource (gres) specification"
_PARTITION_CLOSED = "Required partition not available (inactive or drain)"
_ACCEPTED_HINT = "Slurm with EnforcePartLimits=NO accepts such a job and never starts it"


def accepted_job(snapshot: Snapshot, job: SnapshotJob, place: str) -> SnapshotJob:
    """Return a request with those of its partitions that can hold it.

    Refuses a request that sbatch refuses, or that Slurm accepts and can never start.

    Parameters
    ----------
    snapshot : Snapshot
        The cluster.
    job : SnapshotJob
        The request as a job: of each node `memory` (MB) and ``gres`` (GPUs), and `cpus` in all.
    place : str
        For the message: ``requests[0]``.

    Raises
    ------
    InvalidInstance
        In sbatch's words, with the value and what the partition has.
    """
    refusal = refusal_of(snapshot, job)
    if refusal:
        raise InvalidInstance(f"{place}: {refusal}")
    names = [
        name
        for name in job.partition.split(",")
        if not _refuse_in_partition(snapshot, job, _partition_limits(snapshot, name))
    ]
    return structs.replace(job, partition=",".join(names))


def refusal_of(snapshot: Snapshot, job: SnapshotJob) -> str:
    """Return why sbatch refuses a job; empty: it does not."""
    for check in (_refuse_features, _refuse_licences, _refuse_gres):
        if refusal := check(snapshot, job):
            return refusal
    limits = [_partition_limits(snapshot, name) for name in job.partition.split(",") if name]
    refusals = [_refuse_in_partition(snapshot, job, part) for part in limits]
    if refusals and all(refusals):
        return refusals[0]
    return _refuse_times(snapshot, job, limits)


def why_no_node_holds(snapshot: Snapshot, job: SnapshotJob) -> str:
    """Return why no single node of its partitions has the features, memory and GPUs that a waiting
    job asks for of each node; empty: one has, or the snapshot does not show its nodes.

    Numbers of nodes and CPUs are not tested: of a job that waits, Slurm shows estimates of them.
    """
    if not snapshot.scontrol_texts.get("nodes"):
        return ""
    if refusal := _refuse_features(snapshot, job):
        return refusal
    is_gpu_request = re.fullmatch("gpu(:[^:,]+){0,2}", job.gres) is not None
    of_one_node = structs.replace(
        job, nodes=1, cpus=1, memory_per_cpu=None, gres=job.gres if is_gpu_request else ""
    )
    refusals = [
        _refuse_on_nodes(snapshot, of_one_node, _partition_limits(snapshot, name), enforced=True)
        for name in job.partition.split(",")
        if name
    ]
    return refusals[0] if refusals and all(refusals) else ""


@dataclass(frozen=True)
class _PartitionLimits:
    """What a partition lets a job have."""

    name: str
    #: Numbers of its nodes.
    nodes: np.ndarray
    #: Seconds.
    max_time: float
    max_nodes: float
    #: State, such as UP; empty where it is not shown.
    state: str


def _partition_limits(snapshot: Snapshot, name: str) -> _PartitionLimits:
    machine = snapshot.machine
    part = next((part for part in machine.partitions if part.name == name), None)
    if part is None:
        nodes, max_time = np.arange(machine.node_count), np.inf
    else:
        nodes = np.flatnonzero(node_mask(tuple(part.nodes), machine.node_count))
        max_time = part.max_time
    fields = next(
        (
            fields
            for fields in map(
                dict, records(snapshot.scontrol_texts.get("partitions", ""), "PartitionName")
            )
            if fields["PartitionName"] == name
        ),
        {},
    )
    limit = fields.get("MaxNodes", "")
    max_nodes = float(limit) if re.fullmatch("[0-9]{1,9}", limit) else np.inf
    return _PartitionLimits(name, nodes, max_time, max_nodes, fields.get("State", "").upper())


def enforced_limits(snapshot: Snapshot) -> str:
    """EnforcePartLimits of a snapshot: ``NO``, ``ANY`` or ``ALL``."""
    text = _setting(snapshot, "EnforcePartLimits").upper()
    return {"ALL": "ALL", "YES": "ALL", "ANY": "ANY"}.get(text, "NO")


def _setting(snapshot: Snapshot, name: str) -> str:
    """Return a line of ``scontrol show config``; empty: it is not there."""
    line = re.search(
        rf"(?mi)^{name}[ \t]*=[ \t]*(.*?)[ \t]*$", snapshot.scontrol_texts.get("config", "")
    )
    return line[1] if line else ""


def _features_of(snapshot: Snapshot) -> list[frozenset[str]]:
    """Return features of each node, in the order of their numbers."""
    return [frozenset(kind.features) for kind in snapshot.machine.nodes for _ in range(kind.count)]


def _refuse_features(snapshot: Snapshot, job: SnapshotJob) -> str:
    names = re.findall(r"[^][&|*(),\s]+", re.sub(r"\*[0-9]+", "", job.features))
    features = frozenset().union(*(kind.features for kind in snapshot.machine.nodes))
    for name in names:
        if name not in features:
            listed = ", ".join(sorted(features)) or "none"
            return f"{_INVALID_FEATURE}: --constraint {shorten(name)}: the nodes have {listed}"
    return ""


def _refuse_licences(snapshot: Snapshot, job: SnapshotJob) -> str:
    settings = snapshot.machine.slurm
    licences = dict(settings.licences) if settings is not None else {}
    for part in job.licences.split(",") if job.licences else ():
        name, _, count = part.partition(":")
        if re.fullmatch("[0-9]{0,9}", count) and int(count or 1) <= licences.get(name, 0):
            continue
        amounts = ", ".join(f"{key}:{number}" for key, number in licences.items()) or "none"
        return f"{_INVALID_LICENCE}: --licenses {shorten(part)}: the cluster has {amounts}"
    return ""


def _gpus_wanted(job: SnapshotJob) -> tuple[str, int]:
    """Return the type (empty: any) and number of the GPUs that a job wants of each node."""
    words = [word for word in job.gres.split(":") if word != "gpu"]
    if not job.gres:
        return "", 0
    count = int(words.pop()) if words and words[-1].isdecimal() else 1
    return words[0] if words else "", count


def _refuse_gres(snapshot: Snapshot, job: SnapshotJob) -> str:
    wanted_gpus = _gpus_wanted(job)[1]
    types = _setting(snapshot, "GresTypes").lower()
    if wanted_gpus and not snapshot.machine.gpus and types in ("(null)", "none"):
        return (
            f"{_INVALID_GRES}: --gpus {wanted_gpus}: the cluster has no GPUs (GresTypes = {types})"
        )
    return ""


def _refuse_in_partition(snapshot: Snapshot, job: SnapshotJob, part: _PartitionLimits) -> str:
    """Return why a job can never run in one partition; empty: it can."""
    if part.state in ("INACTIVE", "DRAIN"):
        return f"{_PARTITION_CLOSED}: partition {part.name}: State={part.state}"
    enforced = enforced_limits(snapshot) != "NO"
    count = max(int(job.nodes or 1), 1)
    words = _INVALID_NODES if enforced else UNAVAILABLE
    nodes = count_of(count, "node")
    if count > len(part.nodes):
        number = len(part.nodes) or "no nodes"
        message = f"{words}: {nodes}: partition {part.name} has {number}"
        return _with_hint(message, enforced)
    if count > part.max_nodes:
        message = f"{words}: {nodes}: partition {part.name} has MaxNodes={part.max_nodes:g}"
        return _with_hint(message, enforced)
    return _refuse_on_nodes(snapshot, job, part, enforced)


def _refuse_on_nodes(
    snapshot: Snapshot, job: SnapshotJob, part: _PartitionLimits, enforced: bool
) -> str:
    """Return which amount no node, or not enough nodes, of a partition can hold."""
    if not len(part.nodes):
        return f"{UNAVAILABLE}: partition {part.name} has no nodes"
    machine, count = snapshot.machine, max(int(job.nodes or 1), 1)
    wanted_cpus = -(-max(int(job.cpus or 1), 1) // count)
    gpu_type, wanted_gpus = _gpus_wanted(job)
    wanted_memory = float(job.memory or (job.memory_per_cpu or 0.0) * wanted_cpus)
    cpus = np.repeat(
        [kind.cpus or kind.cores * kind.threads for kind in machine.nodes],
        [kind.count for kind in machine.nodes],
    )
    memory = np.rint(node_attribute(machine, "memory_gb") * 1024)
    is_of_type = np.array(
        [
            not gpu_type or gpu_type in name.split(",")
            for name in node_attribute(machine, "gpu_type")
        ]
    )
    gpus = np.where(is_of_type, node_attribute(machine, "gpus"), 0)
    kind_of_gpus = f"GPUs of type {gpu_type}" if gpu_type else "GPUs"
    amounts = [
        (f"{wanted_cpus} CPUs", cpus, wanted_cpus, "CPUs"),
        # A node of unknown memory counts as 1 MB in Slurm; here it is not tested.
        (f"{wanted_memory:g} MB", np.where(memory > 1, memory, np.inf), wanted_memory, "MB"),
        (f"{wanted_gpus} {kind_of_gpus}", gpus, wanted_gpus, kind_of_gpus),
    ]
    suitable = np.ones(machine.node_count, dtype=bool)
    for text, amount, wanted_amount, unit in amounts:
        enough = amount >= wanted_amount
        if enough[part.nodes].sum() < count:
            greatest = np.sort(amount[part.nodes])[-count]
            node = "the largest node" if count == 1 else f"node number {count} by size"
            words = _INVALID_CPUS if enforced and unit == "CPUs" else UNAVAILABLE
            message = (
                f"{words}: {text} of each node: {node} of partition {part.name} has "
                f"{greatest:g} {unit}"
            )
            return _with_hint(message, enforced or unit != "CPUs")
        suitable &= enough
    suitable &= _has_features(snapshot, job.features)
    number = int(suitable[part.nodes].sum())
    if number < count:
        nodes = count_of(count, "node")
        return (
            f"{UNAVAILABLE}: {nodes} with all that the job asks for: partition {part.name} has "
            f"{number}"
        )
    return ""


def _has_features(snapshot: Snapshot, constraint: str) -> np.ndarray:
    """Return nodes that meet ``a``, ``a&b`` or ``a|b``; of other forms the simulator decides
    later."""
    nodes = _features_of(snapshot)
    if not constraint or re.search(r"[][*()]", constraint):
        return np.ones(len(nodes), dtype=bool)
    terms = [set(term.split("&")) for term in constraint.split("|")]
    return np.array([any(term <= features for term in terms) for features in nodes])


def _with_hint(text: str, enforced: bool) -> str:
    """Return a message, and what Slurm does where it does not enforce limits of partitions."""
    return text if enforced else f"{text} ({_ACCEPTED_HINT})"


def _refuse_times(snapshot: Snapshot, job: SnapshotJob, limits: Sequence[_PartitionLimits]) -> str:
    """Return why partitions refuse a time limit (EnforcePartLimits=ALL: no partition's MaxTime may
    be exceeded; ANY: not all of them)."""
    mode, requested_limit = enforced_limits(snapshot), job.limit or 0.0
    short = [part for part in limits if requested_limit > part.max_time]
    if not short or mode == "NO" or (mode == "ANY" and len(short) < len(limits)):
        return ""
    limit = "UNLIMITED" if np.isinf(requested_limit) else f"{requested_limit / 60:g} min"
    return (
        f"{_INVALID_TIME}: --time {limit}: partition {short[0].name} has "
        f"MaxTime={short[0].max_time / 60:g} min"
    )
