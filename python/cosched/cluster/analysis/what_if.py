"""What if: the same jobs on a changed machine, one change in one line of text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cosched import io
from cosched.cluster.analysis.scenario import ChangedKey, Scenario, ScenarioClass
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.machine import node_ranges
from cosched.cluster.machine.node_types import Partition, host_list, hosts, seconds
from cosched.cluster.machine.parts import limits
from cosched.core.arrays import ranges
from cosched.core.installed import WHAT_IF_CHANGES, package_offers
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten

_FORMS = (
    "nodes=+20, nodes.TYPE=-4, nodes.g[1-4]=+4, partition.NAME.max_time=12:00:00, "
    "partition.NAME.priority=5 or partition.NAME.nodes=64, several with commas"
)
#: Nodes of a machine, as files of hosts have them at most.
_MAX_NODES = 1_000_000
#: Between two changes; lists of nodes have commas too.
_BETWEEN_CHANGES = re.compile(
    r",(?=\s*(?:nodes(?:\.(?:[^=,\[]|\[[^\]]*\])+)?"
    r"|partition\.[^=]+\.(?:max_time|priority|nodes))=)"
)


class ChangeProvider(NamedTuple):
    """Changes that another package provides, such as those of a slurm.conf.

    They are looked up before the changes of this file; one row may have both.
    """

    #: Where the text of a change begins, as a part of a regular expression.
    key_pattern: str
    #: Whether the provider knows a key.
    has_key: Callable[[Instance, str], bool]
    #: ``apply(instance, key, value)``: the changed instance, and a remark about its jobs.
    apply: Callable[[Instance, str, str], tuple[Instance, str]]
    #: ``judge(today, changed, pairs)``: the class of each (key, value) of a row; `today` has no
    #: change of the row, `changed` has all of them.
    judge: Callable[[Instance, Instance, Sequence[tuple[str, str]]], list[ChangedKey]]
    #: How its changes are written, for messages.
    forms: str


def _providers() -> Sequence[ChangeProvider]:
    """Return the changes that other layers offer, which are looked up before those of this file."""
    return package_offers(WHAT_IF_CHANGES)


def what_if(instance: Instance, change: str) -> tuple[Instance, str]:
    """The same jobs on a changed machine.

    Parameters
    ----------
    change : str
        ``nodes=+N``, ``-N`` or ``N`` (of the type with the most nodes; ``nodes.TYPE=`` of another,
        ``nodes.g[1-4]=`` of these hosts; new ones are in the partitions of the last of its nodes),
        or of a partition ``partition.NAME.max_time=``, ``.priority=`` or ``.nodes=``, as
        ``machine.toml`` has them (``.nodes=`` also as Slurm has them, ``n[1-16],g1``); several with
        commas between them.

    Returns
    -------
    (Instance, str)
        And how many jobs a new limit concerns: those that are longer than it (they end there, as
        under Slurm), or that asked for more than the old one; and why a key has no effect.

    Raises
    ------
    InvalidInstance
        Another text, a value that Slurm would not take, a type or partition that the machine does
        not have, or no nodes left.
    """
    scenario = scenario_of(instance, change)
    verdict = scenario.verdict("", is_scheduler=True)
    return scenario.instance, "; ".join(filter(None, [verdict.reason, *verdict.remarks]))


def scenario_of(instance: Instance, change: str) -> Scenario:
    """The same as :func:`what_if`, with the class of each key.

    Raises
    ------
    InvalidInstance
        As :func:`what_if`.
    """
    if not isinstance(change, str):
        raise InvalidInstance(f"what-if {shorten(change)}: expected a text such as {_FORMS}")
    changed, remarks = instance, list[str]()
    keys: list[ChangedKey] = []
    #: Keys and values of the changes of each provider, by its number.
    pairs_by_number: dict[int, list[tuple[str, str]]] = {}
    try:
        for part in sorted(parts_of(change), key=lambda text: not _provider_of(instance, text)):
            key, equals, value = part.partition("=")
            provider = _provider_of(instance, part)
            instance_before = changed
            if provider is None:
                changed, remark = _change_machine(instance_before, key, equals, value)
                keys.append(_class_of_change(instance_before, changed, key, value))
            elif not (key and equals and value):
                raise InvalidInstance(f"{shorten(part)}: expected KEY=VALUE: {_all_forms()}")
            else:
                changed, remark = provider.apply(instance_before, key, value)
                number = _providers().index(provider)
                pairs_by_number.setdefault(number, []).append((key, value))
            remarks.append(remark)
        for number, pairs in pairs_by_number.items():
            keys += _providers()[number].judge(instance, changed, pairs)
    except InvalidInstance as error:
        raise InvalidInstance(f"what-if {shorten(change)}: {error}") from None
    return Scenario(change, changed, tuple(keys), tuple(filter(None, remarks)))


def _class_of_change(before: Instance, after: Instance, key: str, value: str) -> ChangedKey:
    """Return the class of a change of nodes and partitions."""
    if has_same_machine(before, after):
        is_relative = value.strip()[:1] in ("+", "-")
        reason = f"{key}={value} changes nothing" if is_relative else f"{key} is {value} today"
        return ChangedKey(key, value, ScenarioClass.UNCHANGED, reason)
    return ChangedKey(key, value, ScenarioClass.SIMULATED)


def has_same_machine(instance: Instance, other: Instance) -> bool:
    """Whether two instances have the same jobs, and nodes and partitions that are equal."""
    machines = instance.machine, other.machine
    if instance.nodes != other.nodes or (machines[0] is None) != (machines[1] is None):
        return False
    if machines[0] is not None and machines[1] is not None:
        has_same_nodes = machines[0].nodes == machines[1].nodes
        if not (has_same_nodes and machines[0].partitions == machines[1].partitions):
            return False
    return len(instance) == len(other) and all(
        np.array_equal(instance.column(name), other.column(name)) for name in ("runtime", "submit")
    )


def parts_of(change: str) -> list[str]:
    """Single changes of one row."""
    key_patterns = "|".join(provider.key_pattern for provider in _providers())
    between = re.compile(rf",(?=\s*(?:{key_patterns})=)") if key_patterns else _BETWEEN_CHANGES
    parts = (part for text in _BETWEEN_CHANGES.split(change) for part in between.split(text))
    return [part.strip() for part in parts]


def _all_forms() -> str:
    """Return the forms of all changes, for messages."""
    return "; ".join([_FORMS, *(provider.forms for provider in _providers())])


def _provider_of(instance: Instance, part: str) -> ChangeProvider | None:
    key = part.partition("=")[0]
    return next((provider for provider in _providers() if provider.has_key(instance, key)), None)


def _change_machine(instance: Instance, key: str, equals: str, value: str) -> tuple[Instance, str]:
    nodes = re.fullmatch(r"nodes(?:\.(.+))?", key)
    part = re.fullmatch(r"partition\.(.+)\.(max_time|priority|nodes)", key)
    if not equals or not value or not (nodes or part):
        raise InvalidInstance(f"expected {_all_forms()}")
    machine = instance.machine
    if machine is None:
        if key != "nodes":
            raise InvalidInstance("types and partitions need a machine (--machine)")
        return _instance_on(instance, None, _node_count(value, instance.nodes)), ""
    remark = ""
    if nodes:
        machine = with_nodes(machine, nodes[1], value)
    elif part:
        machine = with_partition(machine, part[1], part[2], value)
        remark = _about_units(machine, part[1], value) if part[2] == "max_time" else ""
    changed, cut = on_machine(instance, machine)
    return changed, "; ".join(filter(None, [remark, cut]))


def _about_units(machine: Machine, partition: str, value: str) -> str:
    """Return what a bare number of ``max_time`` means, and where Slurm keeps another time; else
    empty."""
    limit = next(part.max_time for part in machine.partitions if part.name == partition)
    is_bare = re.fullmatch(r"[0-9.]+", value.strip()) is not None
    if machine.slurm is None:
        return f"max_time={value} is {limit:,.15g} seconds" if is_bare else ""
    is_rounded = limit != seconds(value, "max_time")
    texts = []
    if is_bare:
        texts.append(f"max_time={value} is in seconds (MaxTime={value} in minutes)")
    if is_rounded:
        texts.append(f"Slurm rounds max_time={value} up to {count_of(int(limit / 60), 'minute')}")
    return "; ".join(texts)


def on_machine(instance: Instance, machine: Machine) -> tuple[Instance, str]:
    """The same jobs on another machine, and a remark on those that its limits concern."""
    return _with_new_limits(_instance_on(instance, machine, machine.cores), instance)


def _instance_on(instance: Instance, machine: Machine | None, nodes: int) -> Instance:
    arguments = instance._keyword_arguments | {"machine": machine, "notes": ()}  # noqa: SLF001
    instance_on_machine = Instance(instance.raw_columns, nodes, **arguments)
    return instance_on_machine._with_rows_of_log(instance.rows_of_log)  # noqa: SLF001


def _with_new_limits(instance: Instance, before: Instance) -> tuple[Instance, str]:
    """Return jobs that a new limit ends, and what is known of those that the old one did."""
    if not (before.machine and instance.machine):
        return instance, ""
    runtime, slurm = instance.column("runtime"), instance.machine.slurm
    run_times_before = runtime
    has_partitions = "partition" in instance.column_names
    names = instance.column("partition") if has_partitions else np.full(len(instance), "")
    if slurm is not None:  # who names none is in the default one, all are where there is but one
        elsewhere = (names == "") | (len(instance.machine.partitions) == 1)
        names = np.where(elsewhere, slurm.default_partition, names)
        if "estimate" in before.column_names:  # what is longer ended there already
            run_times_before = np.fmin(runtime, before.column("estimate"))
    suspended = numbers_of(instance, "suspended")  # no limit counts this time
    new_limits, old_limits = (
        limits(machine, names) + suspended for machine in (instance.machine, before.machine)
    )
    remarks: list[str] = []
    if (new_limits > old_limits).any():
        remarks.append(_about_raised_limit(instance, old_limits, new_limits))
    ends_at_limit = (new_limits < old_limits) & (run_times_before > new_limits)
    changed = instance
    if ends_at_limit.any():
        changed = instance.replace(runtime=np.where(ends_at_limit, new_limits, runtime))
        count = int(ends_at_limit.sum())
        remarks.append(f"jobs that ran longer and end at the new limit: {count:,}")
    return changed, "; ".join(remarks)


def _about_raised_limit(instance: Instance, old_limits: np.ndarray, new_limits: np.ndarray) -> str:
    requested = instance.raw_columns.get("estimate", np.zeros(len(instance)))
    requests_more = int(((requested > old_limits) & (new_limits > old_limits)).sum())
    was_ended = (new_limits > old_limits) & (instance.column("runtime") >= old_limits)
    remark = f"jobs that had asked for more than the old limit: {requests_more:,}"
    if was_ended.any():
        count = int(was_ended.sum())
        remark += f"; that the old limit ended, and would run on for a time unknown: {count:,}"
    return remark


def _node_count(text: str, current_nodes: int, min_nodes: int = 1) -> int:
    """Return ``+20``, ``-4`` or ``64``; `least` nodes remain."""
    if not re.fullmatch(r"[+-]?[0-9]{1,8}", text.strip()):
        raise InvalidInstance(f"{shorten(text)}: expected a number of nodes: +20, -4 or 64")
    number = int(text)
    count = current_nodes + number if text.strip()[0] in "+-" else number
    if count < min_nodes:
        expected = (
            "that at least one is left" if min_nodes else f"to remove at most {current_nodes} nodes"
        )
        raise InvalidInstance(f"there are {current_nodes}: expected {expected}")
    if count > max(_MAX_NODES, current_nodes):
        raise InvalidInstance(f"{count:,} nodes: expected at most {_MAX_NODES:,}")
    return count


def with_nodes(machine: Machine, kind: str | None, count: str) -> Machine:
    """The machine with more or fewer nodes.

    Parameters
    ----------
    kind : str or None
        Name of a type of nodes, or hosts of a slurm.conf that are of one type (``g[1-4]``); None:
        the type with the most nodes. New nodes come behind the last of these, and the last of these
        go first.
    count : str
        ``+20``, ``-4`` or ``64``.

    Raises
    ------
    InvalidInstance
        No such type or hosts, hosts of several types, no node left of the machine, of the type or
        of a partition.
    """
    group = _group_of(machine, kind)
    is_whole_type = group.size == machine.nodes[group.type_number].count
    new_count = _node_count(count, group.size, 1 if is_whole_type else 0)
    added_nodes = new_count - group.size
    move_range = _range_mover(group.end, added_nodes)
    parts = []
    for part in machine.partitions:
        ranges = _moved_ranges(part.nodes, move_range)
        if not ranges:
            raise InvalidInstance(f"partition {part.name} has no node left")
        parts.append(replace(part, nodes=ranges))
    settings = machine.slurm
    if settings is not None:
        added = _names_of_new_nodes(settings.names, added_nodes)
        settings = replace(
            settings,
            names=settings.names[: group.end + min(added_nodes, 0)]
            + added
            + settings.names[group.end :],
            lines=tuple(_moved_ranges(line, move_range) for line in settings.lines),
            down=_moved_ranges(settings.down, move_range),
        )
    types = list(machine.nodes)
    types[group.type_number] = replace(
        types[group.type_number], count=types[group.type_number].count + added_nodes
    )
    return Machine(tuple(types), tuple(parts), settings)


#: How the names of nodes that a what-if adds begin; a number follows.
_NEW_NODE = "what-if-"


def _names_of_new_nodes(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Return names of `count` further nodes, which no node has."""
    numbers = [
        int(name.removeprefix(_NEW_NODE))
        for name in names
        if re.fullmatch(rf"{_NEW_NODE}[0-9]{{1,9}}", name)
    ]
    next_number = max(numbers, default=0) + 1
    return tuple(f"{_NEW_NODE}{number}" for number in range(next_number, next_number + count))


class _NodeGroup(NamedTuple):
    """Neighbouring nodes of one type: `size` of them, the last one before number `end`."""

    type_number: int
    size: int
    end: int


def _group_of(machine: Machine, name: str | None) -> _NodeGroup:
    """Return the nodes that a change names: a whole type, or hosts of it."""
    types = machine.nodes
    names = [kind.name for kind in types]
    ends = np.cumsum([kind.count for kind in types]).tolist()
    if name is None or name in names:
        number = names.index(name) if name else int(np.argmax([kind.count for kind in types]))
        return _NodeGroup(number, types[number].count, ends[number])
    numbers = _numbers_of_hosts(machine, name)
    if numbers is None:
        raise InvalidInstance(
            f"no type {shorten(name)}: the machine has {', '.join(_names_of_types(machine))}"
        )
    first_partition, last = min(numbers), max(numbers)
    number = int(np.searchsorted(ends, first_partition, side="right"))
    if last >= ends[number] or last - first_partition + 1 != len(set(numbers)):
        raise InvalidInstance(
            f"{shorten(name)}: expected neighbouring nodes of one type: the machine has "
            f"{', '.join(_names_of_types(machine))}"
        )
    return _NodeGroup(number, last - first_partition + 1, last + 1)


def _numbers_of_hosts(machine: Machine, name: str) -> list[int] | None:
    """Return numbers of the hosts of a list; None: the machine does not have them, or no names at
    all."""
    if machine.slurm is None:
        return None
    numbers = {host: number for number, host in enumerate(machine.slurm.names)}
    try:
        listed = hosts(name, "nodes")
    except InvalidInstance:
        return None
    if any(host not in numbers for host in listed):
        return None
    return [numbers[host] for host in listed]


def _names_of_types(machine: Machine) -> list[str]:
    """Return types as a user can name them: by their hosts, where these have names."""
    if machine.slurm is None:
        return [kind.name for kind in machine.nodes]
    host_lists, begin = [], 0
    for kind in machine.nodes:
        host_lists.append(host_list(machine.slurm.names[begin : begin + kind.count]))
        begin += kind.count
    return host_lists


def _range_mover(end: int, added_nodes: int) -> Callable[[int, int], tuple[int, int]]:
    """Return where a range [first, last) is when `more` nodes come, or go, before number `end`."""

    def move_range(first: int, last: int) -> tuple[int, int]:
        last_end = end + min(added_nodes, 0)
        return (
            first + added_nodes if first >= end else min(first, last_end),
            last + added_nodes if last >= end else min(last, last_end),
        )

    return move_range


def _moved_ranges(
    ranges: tuple[tuple[int, int], ...], move_range: Callable[[int, int], tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    moved_ranges = (move_range(first, last) for first, last in ranges)
    return tuple((first, last) for first, last in moved_ranges if first < last)


def with_partition(machine: Machine, name: str, key: str, value: str) -> Machine:
    """The machine with another limit, priority or nodes of a partition."""
    names = [part.name for part in machine.partitions]
    if name not in names:
        has = ", ".join(names) or "none"
        raise InvalidInstance(f"no partition {shorten(name)}: the machine has {has}")
    parts = [
        _changed_partition(machine, part, key, value) if part.name == name else part
        for part in machine.partitions
    ]
    return Machine(machine.nodes, tuple(parts), machine.slurm)


#: PriorityTier of Slurm at most.
_MAX_PRIORITY_TIER = 65_533


def _changed_partition(machine: Machine, part: Partition, key: str, value: str) -> Partition:
    if key == "max_time":
        max_time = seconds(value, key)
        if not max_time > 0:
            raise InvalidInstance(f"max_time={shorten(value)}: expected more than 0 seconds")
        if machine.slurm is not None and np.isfinite(max_time):  # Slurm keeps minutes, rounded up
            max_time = 60.0 * float(np.ceil(max_time / 60))
        return replace(part, max_time=max_time)
    if key == "priority":
        priority = io.parse_number(value, key)
        if machine.slurm is not None and not 0 <= priority <= _MAX_PRIORITY_TIER:
            raise InvalidInstance(
                f"priority={shorten(value)}: Slurm takes a number from 0 to {_MAX_PRIORITY_TIER} "
                "(PriorityTier)"
            )
        return replace(part, priority=priority)
    nodes: Any = "all" if value.lower() == "all" else value
    if value.isdecimal():
        nodes = int(value)
    elif nodes != "all" and not re.fullmatch(r"[0-9, -]+", value):
        nodes = value.split(",")
        types = {kind.name for kind in machine.nodes}
        if machine.slurm is not None and not set(nodes) <= types:
            return replace(part, nodes=_ranges_of_hosts(machine.slurm.names, value))
    return replace(part, nodes=node_ranges(nodes, part.name, machine.nodes))


def _ranges_of_hosts(names: tuple[str, ...], value: str) -> tuple[tuple[int, int], ...]:
    """Return ranges of node numbers of a host list as Slurm writes it."""
    numbers = {name: number for number, name in enumerate(names)}
    names_of_hosts = hosts(value, "nodes")
    lacking = next((name for name in names_of_hosts if name not in numbers), None)
    if lacking is not None:
        raise InvalidInstance(f"no node {shorten(lacking)}: expected a list such as n[1-16],g1")
    return tuple((a, b + 1) for a, b in ranges(np.sort([numbers[name] for name in names_of_hosts])))
