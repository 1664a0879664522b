"""What if: the same jobs on a changed machine, one change in one line of text."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.machine.machine import node_ranges
from cosched.cluster.machine.node_types import Partition, hosts, seconds
from cosched.cluster.machine.parts import limits
from cosched.core.arrays import ranges
from cosched.errors import InvalidInstance, shorten

_FORMS = (
    "nodes=+20, nodes.TYPE=-4, partition.NAME.max_time=12:00:00, partition.NAME.priority=5 "
    "or partition.NAME.nodes=64, several with commas"
)
#: Nodes of a machine, as files of hosts have them at most.
_MOST = 1_000_000
#: Between two changes; lists of nodes have commas too.
_AND = re.compile(r",(?=\s*(?:nodes(?:\.[^=,]+)?|partition\.[^=]+\.(?:max_time|priority|nodes))=)")


class Changes(NamedTuple):
    """Changes that a storey above adds: before those of this file, in one row with them.

    `begins` says where one begins, as a part of a regular expression; `applies` whether a key is
    one of them; `change(instance, key, value)` gives the changed instance, and what is to be said;
    `idle(instance, key)`, of the instance with all changes of a row, why one has no effect.
    """

    begins: str
    applies: Callable[[Instance, str], bool]
    change: Callable[[Instance, str, str], tuple[Instance, str]]
    idle: Callable[[Instance, str], str]
    forms: str


_MORE: list[Changes] = []


def add_changes(more: Changes) -> None:
    """Of a storey above; asked before those here."""
    _MORE.append(more)


def what_if(instance: Instance, change: str) -> tuple[Instance, str]:
    """The same jobs on a changed machine.

    Parameters
    ----------
    change : str
        ``nodes=+N``, ``-N`` or ``N`` (of the type with the most nodes; ``nodes.TYPE=`` of another;
        new ones are in the partitions of the last of its nodes), or of a partition
        ``partition.NAME.max_time=``, ``.priority=`` or ``.nodes=``, as ``machine.toml`` has them
        (``.nodes=`` also as Slurm has them, ``n[1-16],g1``); several with commas between them.

    Returns
    -------
    (Instance, str)
        And what became of jobs longer than a new limit (they end there, as under Slurm), or of
        those that asked for more than the old one.

    Raises
    ------
    InvalidInstance
        Another text, a type or partition that the machine does not have, or no nodes left.
    """
    if not isinstance(change, str):
        raise InvalidInstance(f"what-if {shorten(change)}: expected a text such as {_FORMS}")
    found, said, added = instance, list[str](), list[tuple[Changes, str]]()
    try:
        for one in sorted(parts_of(change), key=lambda part: not _added(instance, part)):
            key, equals, value = one.partition("=")
            more = _added(instance, one)
            if more is None:
                found, remark = _what_if(found, key, equals, value)
            elif not equals or not value:
                raise InvalidInstance(f"{shorten(one)}: expected KEY=VALUE")
            else:
                found, remark = more.change(found, key, value)
                added.append((more, key))
            said.append(remark)
    except InvalidInstance as error:
        raise InvalidInstance(f"what-if {shorten(change)}: {error}") from None
    said += [more.idle(found, key) for more, key in added]
    return found, "; ".join(filter(None, said))


def parts_of(change: str) -> list[str]:
    """Single changes of one row."""
    begins = "|".join(more.begins for more in _MORE)
    further = re.compile(rf",(?=\s*(?:{begins})=)") if begins else _AND
    parts = (part for one in _AND.split(change) for part in further.split(one))
    return [part.strip() for part in parts]


def _added(instance: Instance, part: str) -> Changes | None:
    key = part.partition("=")[0]
    return next((more for more in _MORE if more.applies(instance, key)), None)


def _what_if(instance: Instance, key: str, equals: str, value: str) -> tuple[Instance, str]:
    nodes = re.fullmatch(r"nodes(?:\.(.+))?", key)
    part = re.fullmatch(r"partition\.(.+)\.(max_time|priority|nodes)", key)
    if not equals or not value or not (nodes or part):
        raise InvalidInstance("; ".join([f"expected {_FORMS}", *(more.forms for more in _MORE)]))
    machine = instance.machine
    if machine is None:
        if key != "nodes":
            raise InvalidInstance("types and partitions need a machine (--machine)")
        return _on(instance, None, _count(value, instance.nodes)), ""
    if nodes:
        machine = with_nodes(machine, nodes[1], value)
    elif part:
        machine = with_partition(machine, part[1], part[2], value)
    return on_machine(instance, machine)


def on_machine(instance: Instance, machine: Machine) -> tuple[Instance, str]:
    """The same jobs on another machine, and what became of those longer than its limits."""
    return _cut(_on(instance, machine, machine.cores), instance)


def _on(instance: Instance, machine: Machine | None, nodes: int) -> Instance:
    own = instance._said | {"machine": machine, "notes": ()}
    return Instance(instance.given, nodes, **own)


def _cut(instance: Instance, before: Instance) -> tuple[Instance, str]:
    """Jobs that a new limit ends, and what is known of those that the old one did."""
    if not (before.machine and instance.machine):
        return instance, ""
    runtime, slurm = instance.column("runtime"), instance.machine.slurm
    ran, said = runtime, "partition" in instance.known
    names = instance.column("partition") if said else np.full(len(instance), "")
    if slurm is not None:  # who names none is in the default one, all are where there is but one
        elsewhere = (names == "") | (len(instance.machine.partitions) == 1)
        names = np.where(elsewhere, slurm.default_partition, names)
        if "estimate" in before.known:  # what is longer ended there already
            ran = np.fmin(runtime, before.column("estimate"))
    new, old = limits(instance.machine, names), limits(before.machine, names)
    if (new > old).any():
        return instance, _raised(instance, old, new)
    late = (new < old) & (ran > new)
    if not late.any():
        return instance, ""
    cut = instance.replace(runtime=np.where(late, new, runtime))
    return cut, f"jobs that ran longer and end at the new limit: {int(late.sum()):,}"


def _raised(instance: Instance, old: np.ndarray, new: np.ndarray) -> str:
    asked = instance.given.get("estimate", np.zeros(len(instance)))
    more = int(((asked > old) & (new > old)).sum())
    ended = (new > old) & (instance.column("runtime") >= old)
    said = f"jobs that had asked for more than the old limit: {more:,}"
    if ended.any():
        said += f"; that the old limit ended, and would run on for a time unknown: {ended.sum():,}"
    return said


def _count(text: str, now: int) -> int:
    """``+20``, ``-4`` or ``64``."""
    if not re.fullmatch(r"[+-]?[0-9]{1,8}", text.strip()):
        raise InvalidInstance(f"{shorten(text)}: expected a number of nodes: +20, -4 or 64")
    number = int(text)
    count = now + number if text.strip()[0] in "+-" else number
    if count < 1:
        raise InvalidInstance(f"there are {now}: expected that at least one is left")
    if count > max(_MOST, now):
        raise InvalidInstance(f"{count:,} nodes: expected at most {_MOST:,}")
    return count


def with_nodes(machine: Machine, kind: str | None, count: str) -> Machine:
    """The machine with more or fewer nodes of a type, by default of that with the most."""
    kinds = machine.nodes
    names = [one.name for one in kinds]
    if kind is not None and kind not in names:
        raise InvalidInstance(f"no type {shorten(kind)}: the machine has {', '.join(names)}")
    place = names.index(kind) if kind else int(np.argmax([one.count for one in kinds]))
    new, old = _count(count, kinds[place].count), kinds[place].count
    end = sum(one.count for one in kinds[: place + 1])
    moved = _moved(end, new - old)
    parts = []
    for part in machine.partitions:
        ranges = _ranges(part.nodes, moved)
        if not ranges:
            raise InvalidInstance(f"partition {part.name} has no node left")
        parts.append(replace(part, nodes=ranges))
    settings = machine.slurm
    if settings is not None:
        added = tuple(f"what-if-{k}" for k in range(1, new - old + 1))
        settings = replace(
            settings,
            names=settings.names[: end + min(new - old, 0)] + added + settings.names[end:],
            lines=tuple(_ranges(line, moved) for line in settings.lines),
        )
    changed = replace(kinds[place], count=new)
    return Machine((*kinds[:place], changed, *kinds[place + 1 :]), tuple(parts), settings)


def _moved(end: int, more: int) -> Callable[[int, int], tuple[int, int]]:
    """Where a range [first, last) is when `more` nodes come, or go, before number `end`."""

    def moved(first: int, last: int) -> tuple[int, int]:
        kept = end + min(more, 0)
        return (
            first + more if first >= end else min(first, kept),
            last + more if last >= end else min(last, kept),
        )

    return moved


def _ranges(
    ranges: tuple[tuple[int, int], ...], moved: Callable[[int, int], tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    found = (moved(first, last) for first, last in ranges)
    return tuple((first, last) for first, last in found if first < last)


def with_partition(machine: Machine, name: str, key: str, value: str) -> Machine:
    """The machine with another limit, priority or nodes of a partition."""
    names = [part.name for part in machine.partitions]
    if name not in names:
        has = ", ".join(names) or "none"
        raise InvalidInstance(f"no partition {shorten(name)}: the machine has {has}")
    parts = [
        _with(machine, part, key, value) if part.name == name else part
        for part in machine.partitions
    ]
    return Machine(machine.nodes, tuple(parts), machine.slurm)


def _with(machine: Machine, part: Partition, key: str, value: str) -> Partition:
    if key == "max_time":
        return replace(part, max_time=seconds(value, key))
    if key == "priority":
        return replace(part, priority=io.parse_number(value, key))
    given: Any = value
    if value.isdecimal():
        given = int(value)
    elif value != "all" and not re.fullmatch(r"[0-9, -]+", value):
        given = value.split(",")
        types = {kind.name for kind in machine.nodes}
        if machine.slurm is not None and not set(given) <= types:
            return replace(part, nodes=_of_hosts(machine.slurm.names, value))
    return replace(part, nodes=node_ranges(given, part.name, machine.nodes))


def _of_hosts(names: tuple[str, ...], value: str) -> tuple[tuple[int, int], ...]:
    """Ranges of node numbers of a host list as Slurm writes it."""
    numbers = {name: number for number, name in enumerate(names)}
    own = hosts(value, "nodes")
    lacking = next((name for name in own if name not in numbers), None)
    if lacking is not None:
        raise InvalidInstance(f"no node {shorten(lacking)}: expected a list such as n[1-16],g1")
    return tuple((a, b + 1) for a, b in ranges(np.sort([numbers[name] for name in own])))
