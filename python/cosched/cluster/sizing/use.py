"""The requests and usage of the jobs of a log, and groups of similar jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.job_names import JobKinds, kinds_of_comments, kinds_of_jobs
from cosched.cluster.instance.usage import has_waits, limits_of, logged_starts, ran_of, texts_of
from cosched.cluster.machine.parts import limits, map_partitions, node_attribute
from cosched.core.text import texts
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note

#: Columns that group jobs by default, the most important first: larger groups lack the last ones.
BY = ("user", "name", "account", "partition", "cores")
#: Other columns by which jobs may be grouped.
OTHER_GROUPS = ("group", "qos", "comment")
#: Columns of an instance for the grouping columns that have another name there.
_COLUMNS = {"name": "job_name", "cores": "tasks"}


class Measure(NamedTuple):
    """Requests and usage of time (s) or memory (GB), one element per job; nan: not known."""

    #: What the job used.
    usage: np.ndarray
    #: True where the job ended by itself: it wanted no more than it used.
    is_uncensored: np.ndarray
    #: What the job asked for.
    request: np.ndarray
    #: True where the job's own request ended it.
    is_cut_off: np.ndarray

    @property
    def is_reported(self) -> np.ndarray:
        """True for jobs whose usage the log reports."""
        return ~np.isnan(self.usage)


class UsageTable(NamedTuple):
    """Requests, usage and groups of the jobs of one or several logs, one element per job."""

    #: Limits and run times (s).
    time: Measure
    #: Requested and used memory (GB).
    memory: Measure
    #: Submit times (s).
    submit: np.ndarray
    #: End times (s): from then on the usage is known.
    end: np.ndarray
    #: Numbers of nodes.
    nodes: np.ndarray
    #: Numbers of tasks.
    tasks: np.ndarray
    #: The longest limit of the job's partition (s).
    time_cap: np.ndarray
    #: The memory of the job's nodes if they were the largest of its partition (GB).
    memory_cap: np.ndarray
    group_columns: tuple[str, ...]  # of the columns that make jobs alike
    group_values: tuple[np.ndarray, ...]  # these columns
    levels: tuple[tuple[str, np.ndarray], ...]  # groups: its own, then ever larger ones
    notes: tuple[Note, ...] = ()  # how jobs are called that no name tells apart
    #: Whether the log has a column of requests at all, of time and of memory.
    has_request_columns: tuple[bool, bool] = (True, True)

    @property
    def group_ids(self) -> np.ndarray:
        """The group of each job, by all columns."""
        return self.levels[0][1]

    @property
    def n_measures(self) -> int:
        """The number of measures (time, memory) for which the log has usage, and requests unless
        it has no column of them, as logs of workflows and task lists."""
        measures = zip((self.time, self.memory), self.has_request_columns, strict=True)
        return sum(
            _has_requests_and_usage(measure) if has_column else bool(measure.is_reported.any())
            for measure, has_column in measures
        )

    @property
    def unused(self) -> tuple[np.ndarray, np.ndarray]:
        """GB hours and core hours that each job asked for and did not use; 0 if unknown."""
        with np.errstate(over="ignore"):  # the largest numbers that a log may have
            memory = (self.memory.request - self.memory.usage) * self.time.usage
            time = (self.time.request - self.time.usage) * self.tasks
        return np.nan_to_num(memory) / 3600, np.nan_to_num(time) / 3600


def _has_requests_and_usage(measure: Measure) -> bool:
    """True where the log has both numbers for at least one job."""
    return bool((measure.is_reported & ~np.isnan(measure.request)).any())


def usage_of(instances: Sequence[Instance], by: Sequence[str] | None) -> UsageTable:
    """Return the usage of the jobs of all instances, one after another."""
    names, *_ = [columns_of(instance, by) for instance in instances]
    parts = [_measures(instance) for instance in instances]
    joined: dict[str, Any] = {
        name: _concatenate([part[name] for part in parts]) for name in parts[0]
    }
    job_kinds = _job_kinds(instances) if "name" in names else None
    keys = tuple(
        job_kinds.kinds
        if name == "name" and job_kinds is not None
        else np.concatenate([_key(instance, name) for instance in instances])
        for name in names
    )
    levels = _levels(names, keys, len(joined["submit"]))
    notes = () if job_kinds is None else job_kinds.notes
    has_limits, has_memory_requests = (
        any(column in instance.column_names for instance in instances)
        for column in ("estimate", "memory_gb")
    )
    return UsageTable(
        **joined,
        group_columns=names,
        group_values=keys,
        levels=levels,
        notes=notes,
        has_request_columns=(has_limits, has_memory_requests),
    )


def _concatenate(parts: list[Any]) -> Any:
    if isinstance(parts[0], Measure):
        return Measure(*map(np.concatenate, zip(*parts, strict=True)))
    return np.concatenate(parts)


def columns_of(instance: Instance, by: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that group jobs, by default those of `BY` that the log has; checked."""
    available = [
        name for name in (*BY, *OTHER_GROUPS) if _COLUMNS.get(name, name) in instance.column_names
    ]
    if by is None:
        return tuple(name for name in BY if name in available)
    names = [name.strip() for name in texts(by.split(",") if isinstance(by, str) else by, "by")]
    for name in names:
        if name not in available:
            choices = ", ".join(available) or f"none of {', '.join((*BY, *OTHER_GROUPS))}"
            raise InvalidInstance(f"by = {shorten(name)}: the log has {choices}")
    return tuple(dict.fromkeys(names))


def _job_kinds(instances: Sequence[Instance]) -> JobKinds:
    """Return the kinds of the jobs of all instances: names without what differs in every run."""
    names = [instance.column("job_name") for instance in instances]
    if not any("comment" in instance.column_names for instance in instances):
        return kinds_of_jobs(np.concatenate([column.astype(object) for column in names]))
    comments = [texts_of(instance, "comment") for instance in instances]
    return kinds_of_jobs(
        *(np.concatenate([part.astype(object) for part in parts]) for parts in (names, comments))
    )


def _key(instance: Instance, name: str) -> np.ndarray:
    """Return the values of a grouping column; comments without what differs in every run."""
    if name == "comment":
        return kinds_of_comments(instance.column("comment"))
    return instance.column(_COLUMNS.get(name, name))


def _levels(
    names: Sequence[str], keys: Sequence[np.ndarray], rows: int
) -> tuple[tuple[str, np.ndarray], ...]:
    """Return (columns, group of each job) for all columns, all but the last, ..., none.

    A column that splits no group makes no level of its own.
    """
    group = np.zeros(rows, dtype=np.int64)
    levels = [("", group)]
    counts = [1]
    for number, key in enumerate(keys, 1):
        column_codes, values = pd.factorize(np.asarray(key), use_na_sentinel=False)
        group, distinct = pd.factorize(group * len(values) + column_codes)
        if len(distinct) == counts[-1] and number > 1:
            levels.pop()
        else:
            counts.append(len(distinct))
        levels.append((", ".join(names[:number]), group))
    return tuple(levels[::-1])


def _measures(instance: Instance) -> dict[str, Any]:
    """Return the fields of a `UsageTable` that do not depend on the groups."""
    run_times, limit = ran_of(instance), limits_of(instance)
    status = instance.column("status").astype(str) if "status" in instance.column_names else None
    has_timeouts = bool((status == "timeout").any()) if status is not None else False
    is_at_limit = run_times >= limit
    ended = ~is_at_limit
    if status is not None:
        is_silent = np.isin(status, ("unknown", ""))
        # A log without timeouts calls jobs completed that their limits ended.
        has_known_end = has_timeouts | ended
        ended = np.where(is_silent, ended, (status == "completed") & has_known_end)
    begin = instance.column("eligible")
    if has_waits(instance):
        start = logged_starts(instance)
        begin = np.where(np.isnan(start), begin, start)
    nodes = np.ones(len(instance))
    if "nodes" in instance.column_names:
        nodes = np.fmax(instance.column("nodes").astype(float), 1.0)
    return {
        "time": Measure(np.maximum(run_times, 1.0), ended, limit, is_at_limit & ~ended),
        "memory": _memory(instance, ended, status),
        "submit": instance.column("submit"),
        "end": begin + instance.column("runtime"),
        "nodes": nodes,
        "tasks": instance.column("tasks").astype(float),
        "time_cap": _partition_time_caps(instance),
        "memory_cap": nodes * _memory_caps(instance),
    }


def _memory(instance: Instance, ended: np.ndarray, status: np.ndarray | None) -> Measure:
    def column(name: str) -> np.ndarray:
        has_column = name in instance.column_names
        values = instance.column(name) if has_column else np.full(len(instance), np.nan)
        return np.where(values > 0, values, np.nan)

    memory_usage, memory_requests = column("used_memory_gb"), column("memory_gb")
    if status is not None:  # it had all that it was given, and wanted more
        memory_usage = np.where(
            status == "out_of_memory", np.fmax(memory_usage, memory_requests), memory_usage
        )
    return Measure(memory_usage, ended, memory_requests, ~ended & (memory_usage >= memory_requests))


def _partition_time_caps(instance: Instance) -> np.ndarray:
    """Return the longest limit of each job's partition (s)."""
    if instance.machine is None or "partition" not in instance.column_names:
        return np.full(len(instance), np.inf)
    return limits(instance.machine, instance.column("partition"))


def _memory_caps(instance: Instance) -> np.ndarray:
    """Return the memory (GB) of the largest node that each job may have: with more it would never
    start."""
    machine = instance.machine
    if machine is None or not machine.memory_gb:
        return np.full(len(instance), np.inf)
    node_memory = node_attribute(machine, "memory_gb")
    node_memory = np.where(node_memory > 0, node_memory, np.inf)
    if not machine.partitions or "partition" not in instance.column_names:
        return np.full(len(instance), node_memory.max())
    largest_of_partition = {
        part.name: max(node_memory[begin:end].max() for begin, end in part.nodes)
        for part in machine.partitions
    }

    def largest_node(partitions: Sequence[str]) -> float:
        return max(largest_of_partition.get(name, node_memory.max()) for name in partitions)

    return map_partitions(instance.column("partition"), largest_node)
