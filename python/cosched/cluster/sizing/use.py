"""What jobs of a log asked for and used, and which of them are alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.job_names import JobKinds, kinds_of_comments, kinds_of_jobs
from cosched.cluster.instance.usage import has_waits, limits_of, logged_starts, ran_of, texts_of
from cosched.cluster.machine.parts import by_name, limits, of_nodes
from cosched.core.text import texts
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

#: What makes jobs alike by default, the most important first: larger groups lack the last ones.
BY = ("user", "name", "account", "partition", "cores")
#: What else may be named as making jobs alike.
OTHER_GROUPS = ("group", "qos", "comment")
#: Names of groups whose column of an instance is called otherwise.
_COLUMNS = {"name": "job_name", "cores": "tasks"}


class Measure(NamedTuple):
    """Seconds or GB by job; nan: not known."""

    used: np.ndarray
    ended: np.ndarray  # whether the job ended by itself: it wanted no more than it used
    asked: np.ndarray
    is_cut_off: np.ndarray  # whether what it had asked for ended the job

    @property
    def known(self) -> np.ndarray:
        """Which jobs say something of it."""
        return ~np.isnan(self.used)


class Use(NamedTuple):
    """Of each job: what it asked for and used, when that was known, and its groups."""

    time: Measure
    memory: Measure
    submit: np.ndarray
    end: np.ndarray
    nodes: np.ndarray
    tasks: np.ndarray
    longest: np.ndarray  # s, GB: what its partition has room for
    largest: np.ndarray
    names: tuple[str, ...]  # of the columns that make jobs alike
    keys: tuple[np.ndarray, ...]  # these columns
    levels: tuple[tuple[str, np.ndarray], ...]  # groups: its own, then ever larger ones
    notes: tuple[str, ...] = ()  # how jobs are called that no name tells apart

    @property
    def own(self) -> np.ndarray:
        """The group of each job."""
        return self.levels[0][1]

    @property
    def judged(self) -> int:
        """Of how many things (time, memory) the log says what jobs asked for and used."""
        return int(_says(self.time)) + int(_says(self.memory))

    @property
    def unused(self) -> tuple[np.ndarray, np.ndarray]:
        """GB hours and core hours that each job asked for and did not use; 0: not known."""
        with np.errstate(over="ignore"):  # the largest numbers that a log may have
            memory = (self.memory.asked - self.memory.used) * self.time.used
            time = (self.time.asked - self.time.used) * self.tasks
        return np.nan_to_num(memory) / 3600, np.nan_to_num(time) / 3600


def _says(measure: Measure) -> bool:
    return bool((measure.known & ~np.isnan(measure.asked)).any())


def use_of(instances: Sequence[Instance], by: Sequence[str] | None) -> Use:
    """The use of the jobs of all instances, one after another."""
    names, *_ = [columns_of(instance, by) for instance in instances]
    parts = [_measures(instance) for instance in instances]
    joined: dict[str, Any] = {name: _joined([part[name] for part in parts]) for name in parts[0]}
    job_kinds = _job_kinds(instances) if "name" in names else None
    keys = tuple(
        job_kinds.kinds
        if name == "name" and job_kinds is not None
        else np.concatenate([_key(instance, name) for instance in instances])
        for name in names
    )
    levels = _levels(names, keys, len(joined["submit"]))
    notes = () if job_kinds is None else job_kinds.notes
    return Use(**joined, names=names, keys=keys, levels=levels, notes=notes)


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], Measure):
        return Measure(*map(np.concatenate, zip(*parts, strict=True)))
    return np.concatenate(parts)


def columns_of(instance: Instance, by: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that make jobs alike: by default those of `BY` that the log has; checked."""
    available = [
        name for name in (*BY, *OTHER_GROUPS) if _COLUMNS.get(name, name) in instance.known
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
    """What the jobs of all instances are called, without the parts that differ in every run."""
    names = [instance.column("job_name") for instance in instances]
    if not any("comment" in instance.known for instance in instances):
        return kinds_of_jobs(np.concatenate([column.astype(object) for column in names]))
    comments = [texts_of(instance, "comment") for instance in instances]
    return kinds_of_jobs(
        *(np.concatenate([part.astype(object) for part in parts]) for parts in (names, comments))
    )


def _key(instance: Instance, name: str) -> np.ndarray:
    """The group of each job in one column; of comments without what differs in every run."""
    if name == "comment":
        return kinds_of_comments(instance.column("comment"))
    return instance.column(_COLUMNS.get(name, name))


def _levels(
    names: Sequence[str], keys: Sequence[np.ndarray], rows: int
) -> tuple[tuple[str, np.ndarray], ...]:
    """By which columns jobs are alike, and the number of each one's group: by all columns, by all
    but the last, ..., by none; where a column divides nothing it is one level."""
    group = np.zeros(rows, dtype=np.int64)
    levels = [("", group)]
    counts = [1]
    for number, key in enumerate(keys, 1):
        own, values = pd.factorize(np.asarray(key), use_na_sentinel=False)
        group, distinct = pd.factorize(group * len(values) + own)
        if len(distinct) == counts[-1] and number > 1:
            levels.pop()
        else:
            counts.append(len(distinct))
        levels.append((", ".join(names[:number]), group))
    return tuple(levels[::-1])


def _measures(instance: Instance) -> dict[str, Any]:
    """The fields of a `Use` before its groups."""
    ran, limit = ran_of(instance), limits_of(instance)
    status = instance.column("status").astype(str) if "status" in instance.known else None
    late = bool((status == "timeout").any()) if status is not None else False
    is_at_limit = ran >= limit
    ended = ~is_at_limit
    if status is not None:
        silent = np.isin(status, ("unknown", ""))
        # A log that knows of no timeout calls so what its limits ended, too.
        sure = late | ended
        ended = np.where(silent, ended, (status == "completed") & sure)
    begin = instance.column("eligible")
    if has_waits(instance):
        start = logged_starts(instance)
        begin = np.where(np.isnan(start), begin, start)
    nodes = np.ones(len(instance))
    if "nodes" in instance.known:
        nodes = np.fmax(instance.column("nodes").astype(float), 1.0)
    return {
        "time": Measure(np.maximum(ran, 1.0), ended, limit, is_at_limit & ~ended),
        "memory": _memory(instance, ended, status),
        "submit": instance.column("submit"),
        "end": begin + instance.column("runtime"),
        "nodes": nodes,
        "tasks": instance.column("tasks").astype(float),
        "longest": _longest(instance),
        "largest": nodes * _largest(instance),
    }


def _memory(instance: Instance, ended: np.ndarray, status: np.ndarray | None) -> Measure:
    def column(name: str) -> np.ndarray:
        known = name in instance.known
        values = instance.column(name) if known else np.full(len(instance), np.nan)
        return np.where(values > 0, values, np.nan)

    used, asked = column("used_memory_gb"), column("memory_gb")
    if status is not None:  # it had all that it was given, and wanted more
        used = np.where(status == "out_of_memory", np.fmax(used, asked), used)
    return Measure(used, ended, asked, ~ended & (used >= asked))


def _longest(instance: Instance) -> np.ndarray:
    """Limits of partitions (s)."""
    if instance.machine is None or "partition" not in instance.known:
        return np.full(len(instance), np.inf)
    return limits(instance.machine, instance.column("partition"))


def _largest(instance: Instance) -> np.ndarray:
    """GB of the largest node that a job may have: with more it would never start."""
    machine = instance.machine
    if machine is None or not machine.memory_gb:
        return np.full(len(instance), np.inf)
    each = of_nodes(machine, "memory_gb")
    each = np.where(each > 0, each, np.inf)
    if not machine.partitions or "partition" not in instance.known:
        return np.full(len(instance), each.max())
    of = {part.name: max(each[a:b].max() for a, b in part.nodes) for part in machine.partitions}
    return by_name(
        instance.column("partition"), lambda own: max(of.get(one, each.max()) for one in own)
    )
