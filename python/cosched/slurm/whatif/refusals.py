"""Jobs of a log that Slurm would refuse, or keep for ever, under another value of a key."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import limits
from cosched.core.text import count_of
from cosched.slurm.conf.settings import SlurmSettings, settings_of
from cosched.slurm.conf.values import unsigned
from cosched.slurm.requests.access import accounts_of_jobs, lets_in, rules_by_partition
from cosched.slurm.whatif.differences import current_value

#: MaxArraySize of Slurm where no line gives one.
DEFAULT_MAX_ARRAY_SIZE = 1001


#: Why a change that keeps all jobs out has no row: some values refuse jobs at submission, others
#: (State=DOWN) queue them for ever.
NO_JOB_STARTS = "Slurm would let no job of the log start: it refuses them, or keeps them waiting"


@dataclass(frozen=True)
class ChangeRefusals:
    """What a key does to the jobs of a log.

    Attributes
    ----------
    rows : numpy.ndarray of int
        Rows of jobs that Slurm refuses or keeps for ever with the new value, and not today.
    why_none : str
        Why there is no such job; empty where there are some.
    why_unknown : str
        Why the log cannot tell which jobs these are; then `rows` is empty.
    loses_partitions : bool
        Some jobs may run in fewer of their partitions.
    """

    rows: NDArray[np.int64]
    why_none: str = ""
    why_unknown: str = ""
    loses_partitions: bool = False


@dataclass(frozen=True)
class KeyChange:
    """A key with its new value, and the machine before and after the change."""

    #: The key in lower case.
    key: str
    #: The partition that it is of; empty: of the cluster.
    partition: str
    #: Its new value, and the current one.
    value: str
    #: The current value of the key.
    current: str
    #: The machine before and after the change.
    before: Machine
    #: The machine after the change.
    after: Machine


_NO_ROWS = np.zeros(0, dtype=np.int64)


def refusals_of(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the jobs that a change of one key keeps out."""
    refusals = _refusals_by_rule(instance, change)
    if len(refusals.rows) == len(instance):
        return _unknown(NO_JOB_STARTS)
    return refusals


def keeps_all_jobs_out(instance: Instance, changes: Iterable[KeyChange]) -> bool:
    """Whether the keys of one row together keep out every job of the log."""
    is_refused = np.zeros(len(instance), dtype=bool)
    for change in changes:
        is_refused[_refusals_by_rule(instance, change).rows] = True
    return bool(is_refused.all())


def _refusals_by_rule(instance: Instance, change: KeyChange) -> ChangeRefusals:
    if change.partition.upper() == "DEFAULT":
        return _unknown("it is a line for several partitions: name one of them")
    return _RULES[change.key.lower()](instance, change)


def _of_rows(refused: np.ndarray, why_none: str) -> ChangeRefusals:
    rows = np.flatnonzero(refused)
    return ChangeRefusals(rows, "" if len(rows) else why_none)


def _unknown(why: str) -> ChangeRefusals:
    return ChangeRefusals(_NO_ROWS, why_unknown=why)


def partitions_of(instance: Instance, settings: SlurmSettings) -> list[list[str]]:
    """Return names of the partitions that each job may run in; of one that names none the
    default."""
    names = texts_of(instance, "partition").tolist()
    default = settings.default_partition
    return [[part or default for part in name.split(",")] for name in names]


def _by_access(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the jobs that no partition of theirs lets in any more (AllowAccounts and its
    likes)."""
    column = "account" if "account" in change.key.lower() else "qos"
    knows_defaults = column == "account" and settings_of(change.before).accounts is not None
    if column not in instance.column_names and not (
        knows_defaults and "user" in instance.column_names
    ):
        return _unknown(f"the log does not say the {column} of its jobs")
    before, after = (
        _open_partitions(instance, machine) for machine in (change.before, change.after)
    )
    noun = {"account": "account", "qos": "QOS"}[column]
    why_none = (
        f"no job of partition {change.partition} has another {noun} than those that it lets in"
    )
    refused = np.array([bool(old and not new) for old, new in zip(before, after, strict=True)])
    return replace(_of_rows(refused, why_none), loses_partitions=before != after)


def _open_partitions(instance: Instance, machine: Machine) -> list[list[str]]:
    """Return the partitions that let each job in."""
    settings = settings_of(machine)
    accounts, qos = accounts_of_jobs(instance, settings), texts_of(instance, "qos").tolist()
    partitions = partitions_of(instance, settings)
    rules = rules_by_partition(settings)
    rows = zip(partitions, accounts, qos, strict=True)
    return [
        [name for name in names if lets_in(rules.get(name, {}), *names_of_job)]
        for names, *names_of_job in rows
    ]


def _by_state(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the state of a partition: DOWN and INACTIVE let no job start, DRAIN and INACTIVE let
    none in."""
    if change.value.upper() in ("", "UP"):  # without a State a partition is UP
        return _unknown("jobs of a partition whose State is not UP run here")
    partitions = partitions_of(instance, settings_of(change.before))
    alone = np.array([names == [change.partition] for names in partitions])
    several = sum(change.partition in names and len(names) > 1 for names in partitions)
    if several:
        return _unknown(f"{count_of(several, 'job')} may run in other partitions, too")
    return _of_rows(alone, f"no job of the log is in partition {change.partition}")


def _by_array_size(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the arrays that MaxArraySize refuses as a whole: their largest index is not below
    it."""
    arrays: dict[str, int] = {}
    array_of: list[str] = []
    for name in map(str, instance.ids.tolist()):
        task = re.fullmatch(r"([0-9]+)_([0-9]+)", name)
        array_of.append(task[1] if task else "")
        if task:
            arrays[task[1]] = max(arrays.get(task[1], 0), int(task[2]))
    new, old = (_array_size(text) for text in (change.value, change.current))
    largest = max(arrays.values(), default=-1)
    indices = np.array([arrays.get(name, -1) for name in array_of])
    refused = (indices >= new) & (indices < old)
    if not arrays:
        return _of_rows(refused, "no job of the log is a task of an array")
    return _of_rows(refused, f"the largest index of a task in the log is {largest}")


def _array_size(text: str) -> int:
    """Return MaxArraySize of a line; of a missing line Slurm's default."""
    size = unsigned(text, 32) if text else None
    return DEFAULT_MAX_ARRAY_SIZE if size is None else size


def _by_memory_of_node(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the jobs that MaxMemPerNode refuses: they ask for more of a node."""
    return _by_memory(instance, change, "MB of a node")


def _by_memory_of_cpu(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the jobs that MaxMemPerCPU keeps out: Slurm gives a job that asks for more of a CPU
    further CPUs."""
    return _by_memory(instance, change, "MB of a core")


def _by_memory(instance: Instance, change: KeyChange, unit: str) -> ChangeRefusals:
    """Return the jobs that both limits of memory keep out, of which one counts in each
    partition."""
    if "memory_gb" not in instance.column_names:
        return _unknown("the log does not say the memory that jobs ask for")
    before, after = (
        _memory_limits_of_jobs(instance, machine) for machine in (change.before, change.after)
    )
    is_concerned = _in_reach(instance, change)
    is_concerned &= (before.per_node != after.per_node) | (before.per_core != after.per_core)
    if not is_concerned.any():
        return ChangeRefusals(_NO_ROWS, _why_no_limit_changes(instance, change))
    amounts = instance.column("memory_gb").astype(float) * 1024
    per_node = _memory_per_node(instance)
    per_core = np.nan_to_num(amounts) / instance.column("tasks")
    is_whole_node = texts_of(instance, "memory_per") == "all"
    has_no_amount = is_concerned & (np.isnan(amounts) | is_whole_node)
    if (has_no_amount & (after.per_core < np.inf)).any():
        jobs = count_of(int((has_no_amount & (after.per_core < np.inf)).sum()), "job")
        return _unknown(f"the log does not say how much memory {jobs} would have")
    is_unknown = is_concerned & np.isnan(per_node) & (after.per_node < np.inf)
    if is_unknown.any():
        jobs = count_of(int(is_unknown.sum()), "job")
        return _unknown(f"the log does not say how much memory of a node {jobs} would have")
    gets_cores = is_concerned & (per_core > after.per_core)
    if gets_cores.any():
        jobs = count_of(int(gets_cores.sum()), "job")
        return _unknown(f"Slurm would give {jobs} more CPUs than the log says")
    refused = is_concerned & (per_node > after.per_node) & (per_node <= before.per_node)
    requested = per_core if unit == "MB of a core" else per_node
    max_memory = np.nanmax(requested[is_concerned], initial=0.0)
    return _of_rows(refused, f"no job asks for more: {max_memory:,.0f} {unit} at most")


class _MemoryLimits(NamedTuple):
    """Limits of memory (MB, or infinity), of a partition or of each job."""

    #: MB of a node, and of a CPU.
    per_node: Any
    per_core: Any


def _memory_limits(machine: Machine, partition: str) -> _MemoryLimits:
    """Return the limit that counts in a partition: its own one, else that of the cluster.

    Slurm keeps one number for both kinds: where a line has both, that of the node counts; 0 is none
    (``_parse_partitionname`` and ``_valid_pn_min_mem``).
    """
    for name in (partition, "") if partition else ("",):
        for key in ("MaxMemPerNode", "MaxMemPerCPU"):
            text = current_value(machine, name, key)
            if text is None:
                continue
            if unsigned(text, 64) == 0:
                break  # this line has no limit
            limit = _megabytes(text)
            if key == "MaxMemPerNode":
                return _MemoryLimits(limit, np.inf)
            return _MemoryLimits(np.inf, limit)
    return _MemoryLimits(np.inf, np.inf)


def _memory_limits_of_jobs(instance: Instance, machine: Machine) -> _MemoryLimits:
    """Return the limits of each job; of one that may run in several partitions the smallest
    ones."""
    names_of_jobs = partitions_of(instance, settings_of(machine))
    known_names = {name for names in names_of_jobs for name in names}
    limits_by_name = {name: _memory_limits(machine, name) for name in known_names}
    per_node, per_core = (
        np.array([min(limits_by_name[name][kind] for name in names) for names in names_of_jobs])
        for kind in (0, 1)
    )
    return _MemoryLimits(per_node, per_core)


def _in_reach(instance: Instance, change: KeyChange) -> np.ndarray:
    """Return jobs of the partition of a key; of a key of the whole cluster those in a partition
    without a limit of its own."""
    if change.partition:
        return _in_partition(instance, change)
    names_of_jobs = partitions_of(instance, settings_of(change.before))
    known_names = {name for names in names_of_jobs for name in names}
    has_own_limit = {
        name: any(
            unsigned(current_value(change.after, name, key) or "0", 64) != 0
            for key in ("MaxMemPerNode", "MaxMemPerCPU")
        )
        for name in known_names
    }
    return np.array([not all(has_own_limit[name] for name in names) for names in names_of_jobs])


def _why_no_limit_changes(instance: Instance, change: KeyChange) -> str:
    """Return why a limit of memory is the same for all jobs of the log."""
    if change.partition and not _in_partition(instance, change).any():
        return f"no job of the log is in partition {change.partition}"
    return "another limit of memory counts in the partitions of all jobs that it concerns"


def _in_partition(instance: Instance, change: KeyChange) -> np.ndarray:
    if not change.partition:
        return np.ones(len(instance), dtype=bool)
    partitions = partitions_of(instance, settings_of(change.before))
    return np.array([change.partition in names for names in partitions])


def _megabytes(text: str) -> float:
    number = unsigned(text, 64) if text else 0
    return float(number) if number else np.inf


def _memory_per_node(instance: Instance) -> np.ndarray:
    """Return MB of each node that a job asks for; nan: the log does not say how much, or on how
    many nodes."""
    amounts = instance.column("memory_gb").astype(float) * 1024
    nodes = numbers_of(instance, "nodes")
    tasks = instance.column("tasks")
    per = texts_of(instance, "memory_per")
    whole_node = per == "all"
    per_node = np.divide(amounts, nodes, out=np.full(len(amounts), np.nan), where=nodes > 0)
    of_core = amounts / tasks * np.ceil(np.divide(tasks, nodes, out=tasks * 1.0, where=nodes > 0))
    per_node = np.where((per == "core") & (nodes > 0), of_core, per_node)
    per_node = np.where((nodes == 0) & (tasks == 1), amounts, per_node)
    asks_for_none = amounts == 0
    return np.where(whole_node, np.nan, np.where(asks_for_none, 0.0, per_node))


def _by_enforcement(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the jobs beyond a limit of their partition, which EnforcePartLimits refuses, or leaves
    pending."""
    requested_limits = instance.raw_columns.get("estimate")
    if requested_limits is None:
        return ChangeRefusals(_NO_ROWS, "no job of the log asks for more than its partition allows")
    names = [",".join(names) for names in partitions_of(instance, settings_of(change.before))]
    beyond = np.asarray(requested_limits) > limits(change.before, np.array(names))
    if not beyond.any():
        return ChangeRefusals(_NO_ROWS, "no job of the log asks for more than its partition allows")
    jobs = count_of(int(beyond.sum()), "job")
    return _unknown(f"{jobs} with a limit beyond MaxTime of their partition run here, cut to it")


def _by_root(instance: Instance, change: KeyChange) -> ChangeRefusals:
    """Return the jobs of root that DisableRootJobs of a partition keeps out."""
    if change.value.lower() not in ("yes", "up", "true", "1"):
        return ChangeRefusals(_NO_ROWS, "no job of root is refused")
    if "user" not in instance.column_names:
        return _unknown("the log does not say the users of its jobs")
    is_root = texts_of(instance, "user") == "root"
    return _of_rows(is_root & _in_partition(instance, change), "no job of the log is of root")


_RULES: Mapping[str, Callable[[Instance, KeyChange], ChangeRefusals]] = {
    **dict.fromkeys(("allowaccounts", "denyaccounts", "allowqos", "denyqos"), _by_access),
    "state": _by_state,
    "maxarraysize": _by_array_size,
    "maxmempernode": _by_memory_of_node,
    "maxmempercpu": _by_memory_of_cpu,
    "enforcepartlimits": _by_enforcement,
    "disablerootjobs": _by_root,
}
