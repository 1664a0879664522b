"""Nodes, partitions and reservations of slurmrestd, as scontrol shows them.

The fields are those of ``_dump_node``, ``_dump_part`` and ``_dump_res`` (0.0.37, 0.0.38), and of
the parsers NODE, PARTITION_INFO and RESERVATION_INFO of data_parser (0.0.39 to 0.0.43) in Slurm's
sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cosched.slurm.live.job_records import as_text
from cosched.slurm.live.rest.fields import (
    UNLIMITED,
    count_text,
    date_text,
    first_value,
    texts_of,
    value_at,
)

#: Bit of Slurm's raw numbers that says "of a CPU" (MEM_PER_CPU); no memory is larger.
_PER_CPU = 1 << 63
_NO_MEMORY = 0xFFFFFFFF
#: Bit of ``maximums/shares`` (SHARED_FORCE).
_FORCE = 0x8000

Record = Mapping[str, Any]


def nodes_text(nodes: Iterable[Record]) -> str:
    """The text of ``scontrol show node``.

    Examples
    --------
    >>> print(nodes_text([{"name": "n1", "cpus": 4, "state": ["IDLE", "DRAIN"], "weight": 1}]))
    NodeName=n1 CPUTot=4 State=IDLE+DRAIN Weight=1
    """
    return "\n".join(_line(_node_fields(node)) for node in nodes)


def _node_fields(node: Record) -> dict[str, str]:
    state = node.get("state")
    states = [state] if isinstance(state, str) else texts_of(state)
    return {
        "NodeName": as_text(node.get("name")),
        "CPUAlloc": count_text(node.get("alloc_cpus")),
        "CPUTot": count_text(node.get("cpus")),
        "CoresPerSocket": count_text(node.get("cores")),
        "AvailableFeatures": ",".join(texts_of(node.get("features"))),
        "Gres": as_text(node.get("gres")),
        "RealMemory": count_text(node.get("real_memory")),
        "AllocMem": count_text(node.get("alloc_memory")),
        "Sockets": count_text(node.get("sockets")),
        "Boards": count_text(node.get("boards")),
        "CoreSpecCount": _unless_zero(count_text(node.get("specialized_cores"))),
        "CPUSpecList": as_text(node.get("specialized_cpus")),
        "MemSpecLimit": _unless_zero(count_text(node.get("specialized_memory"))),
        "State": "+".join([*states, *texts_of(node.get("state_flags"))]).upper(),
        "ThreadsPerCore": count_text(node.get("threads")),
        "Weight": count_text(node.get("weight")),
        "Partitions": ",".join(texts_of(node.get("partitions"))),
    }


def partitions_text(partitions: Iterable[Record], preempt_mode: str = "") -> str:
    """The text of ``scontrol show partition``.

    Parameters
    ----------
    preempt_mode : str
        Of the whole configuration: that of partitions for which none is told.

    Examples
    --------
    >>> print(partitions_text([{"name": "a", "nodes": {"configured": "n[1-2]"},
    ...                         "maximums": {"time": {"set": True, "number": 60}}}]))
    PartitionName=a DefaultTime=NONE MaxTime=60 Nodes=n[1-2] DefMemPerNode=UNLIMITED ...
    """
    return "\n".join(_line(_partition_fields(part, preempt_mode)) for part in partitions)


def _partition_fields(part: Record, preempt_mode: str) -> dict[str, str]:
    flags = set(texts_of(part.get("flags")))

    def text(*paths: str) -> str:
        value = first_value(part, paths)
        return as_text(value) if isinstance(value, (str, list)) else ""

    def count(*paths: str) -> str:
        return count_text(first_value(part, paths))

    state = text("state") or "+".join(texts_of(value_at(part, "partition/state")))
    over_time = count("over_time_limit", "maximums/over_time_limit")
    fields = {
        "PartitionName": as_text(part.get("name")),
        "AllowGroups": text("allowed_groups", "groups/allowed"),
        "AllowAccounts": text("allowed_accounts", "accounts/allowed"),
        "DenyAccounts": text("denied_accounts", "accounts/deny"),
        "AllowQos": text("allowed_qos", "qos/allowed"),
        "DenyQos": text("denied_qos", "qos/deny"),
        "Alternate": text("alternative", "alternate"),
        "QoS": text("assigned_qos", "qos/assigned"),
        "Default": _yes("default" in flags),
        "LLN": _yes("least_loaded_nodes" in flags),
        "ExclusiveUser": _yes("exclusive_user" in flags),
        "ReqResv": _yes("reservation_required" in flags),
        "RootOnly": _yes("root_only" in flags),
        "DisableRootJobs": _yes("no_root" in flags),
        "Hidden": _yes("hidden" in flags),
        "DefaultTime": _default_time(part) or "NONE",
        "GraceTime": count("preemption_grace_time", "grace_time"),
        "MaxNodes": count("maximum_nodes_per_job", "maximums/nodes"),
        "MaxTime": count("max_time_limit", "maximums/time"),
        "MinNodes": count("min nodes per job", "minimums/nodes"),
        "MaxCPUsPerNode": count("maximum_cpus_per_node", "maximums/cpus_per_node"),
        "MaxCPUsPerSocket": count("maximums/cpus_per_socket"),
        "Nodes": _nodes_of_partition(part),
        "PriorityJobFactor": count("priority_job_factor", "priority/job_factor"),
        "PriorityTier": count("priority_tier", "priority/tier"),
        "OverSubscribe": _oversubscribe(part),
        "OverTimeLimit": over_time,
        "PreemptMode": _preempt_mode(part) or preempt_mode,
        "State": state.upper(),
        "JobDefaults": text("defaults/job"),
        "TRESBillingWeights": text("billing_weights", "tres/billing_weights"),
        **_memory_limits(part, "DefMem", "default", "defaults"),
        **_memory_limits(part, "MaxMem", "maximum", "maximums"),
    }
    # In 0.0.37 and 0.0.38, the QOS of a partition is a text, since 0.0.39 an object.
    if isinstance(part.get("qos"), str):
        fields["QoS"] = as_text(part["qos"])
    return fields


def _nodes_of_partition(part: Record) -> str:
    nodes = part.get("nodes")
    return as_text(nodes if isinstance(nodes, str) else value_at(part, "nodes/configured"))


def _yes(is_set: bool) -> str:
    return "YES" if is_set else ""


def _unless_zero(text: str) -> str:
    return "" if text == "0" else text


def _default_time(part: Record) -> str:
    """Minutes. Slurm 21.08 and 22.05 write the memory into this field of 0.0.37."""
    if _is_0_0_37(part):
        return ""
    return count_text(first_value(part, ("default_time_limit", "defaults/time")))


def _is_0_0_37(part: Record) -> bool:
    """By its memory limits, which are one field."""
    return "default_memory_per_cpu" in part and "default_memory_per_node" not in part


def _preempt_mode(part: Record) -> str:
    """``SUSPEND,GANG``; empty where the partition has no mode of its own.

    0.0.37 takes the bits of "no value" for modes.
    """
    modes = [] if _is_0_0_37(part) else texts_of(part.get("preemption_mode"))
    names = {
        "suspend": "SUSPEND",
        "requeue": "REQUEUE",
        "gang_schedule": "GANG",
        "within": "WITHIN",
    }
    return ",".join(names[mode] for mode in modes if mode in names)


def _oversubscribe(part: Record) -> str:
    """``EXCLUSIVE``, ``NO``, ``YES:4`` or ``FORCE:4``; empty where the version has no such field.

    Slurm holds 0, 1 and the number of jobs that share a core, with a bit for FORCE.
    """
    jobs = value_at(part, "maximums/oversubscribe/jobs")
    is_forced = "force" in texts_of(value_at(part, "maximums/oversubscribe/flags"))
    if jobs is None:
        jobs = value_at(part, "maximums/shares")
        if isinstance(jobs, int) and not isinstance(jobs, bool) and jobs & _FORCE:
            jobs, is_forced = jobs - _FORCE, True
    text = count_text(jobs)
    if not text or text == UNLIMITED:
        return ""
    if is_forced:
        return f"FORCE:{text}"
    return {"0": "EXCLUSIVE", "1": "NO"}.get(text, f"YES:{text}")


def _memory_limits(part: Record, key: str, old_name: str, name: str) -> dict[str, str]:
    """Memory of each CPU, or of each node (MB); ``UNLIMITED`` where there is no limit.

    0.0.38 and versions since 0.0.40 have two fields, the others Slurm's raw number.
    """
    old_names = (f"{old_name}_memory_per_cpu", f"{old_name}_memory_per_node")
    new_names = (f"{name}/partition_memory_per_cpu", f"{name}/partition_memory_per_node")
    if all(field in part for field in old_names):
        per_cpu, per_node = (part[field] for field in old_names)
    elif value_at(part, new_names[0]) is not None:
        per_cpu, per_node = (value_at(part, field) for field in new_names)
    else:
        per_cpu, per_node = _split_memory(first_value(part, (*old_names, f"{name}/memory_per_cpu")))
    amounts = {f"{key}PerCPU": count_text(per_cpu), f"{key}PerNode": count_text(per_node)}
    limits = {name: text for name, text in amounts.items() if text not in ("", "0", UNLIMITED)}
    return limits or {f"{key}PerNode": UNLIMITED}


def _split_memory(raw_amount: object) -> tuple[int | None, int | None]:
    """MB of each CPU, and of each node, of Slurm's raw number, which may have lost its sign bit.

    Examples
    --------
    >>> _split_memory((1 << 63) + 100), _split_memory(100 - (1 << 63)), _split_memory(7000)
    ((100, None), (100, None), (None, 7000))
    """
    if not isinstance(raw_amount, int) or isinstance(raw_amount, bool):
        return None, None
    amount = raw_amount & (_PER_CPU - 1)
    if not 0 < amount < _NO_MEMORY:
        return None, None
    return (amount, None) if raw_amount & _PER_CPU else (None, amount)


def reservations_text(reservations: Iterable[Record], offset: float) -> str:
    """The text of ``scontrol show reservation``; `offset`: as of :func:`date_text`."""
    return "\n".join(_line(_reservation_fields(each, offset)) for each in reservations)


def _reservation_fields(reservation: Record, offset: float) -> dict[str, str]:
    return {
        "ReservationName": as_text(reservation.get("name")),
        "StartTime": date_text(reservation.get("start_time"), offset),
        "EndTime": date_text(reservation.get("end_time"), offset),
        "Nodes": as_text(reservation.get("node_list")) or "(null)",
        "NodeCnt": count_text(reservation.get("node_count")),
        "CoreCnt": count_text(reservation.get("core_count")),
        "Features": as_text(reservation.get("features")),
        "PartitionName": as_text(reservation.get("partition")),
        "Flags": ",".join(texts_of(reservation.get("flags"))),
        "TRES": as_text(reservation.get("tres")),
        "Users": as_text(reservation.get("users")),
        "Groups": as_text(reservation.get("groups")),
        "Accounts": as_text(reservation.get("accounts")),
        "Licenses": as_text(reservation.get("licenses")),
    }


def _line(fields: Mapping[str, str]) -> str:
    """One record of scontrol in a line; fields without a value are left out."""
    return " ".join(
        f"{key}={''.join(text.split())}" for key, text in fields.items() if text.strip()
    )
