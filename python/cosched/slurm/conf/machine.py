"""Nodes and partitions of a slurm.conf."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.machine import node_types
from cosched.core.arrays import ranges
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind
from cosched.slurm.conf import settings as conf
from cosched.slurm.conf.conf_lines import Reader
from cosched.slurm.conf.lines import Line, seconds_of_minutes

#: Of what a node has (its memory in MB): more is no number of a node.
_MAX_NODE_AMOUNT = 2**40
#: As the core holds it; Slurm has 65,533.
_MAX_TIER = 2**31 - 1
#: States of nodes that do not run jobs.
_OUT_STATES = ("DOWN", "DRAIN", "FAIL", "FUTURE")
#: Keys of a partition that change who starts when and are not covered.
_UNSUPPORTED_KEYS = (
    "overtimelimit", "selecttypeparameters", "lln", "exclusiveuser", "exclusivetopo", "reqresv",
)  # fmt: skip
#: Who may use a partition.
_ACCESS_KEYS = ("allowaccounts", "denyaccounts", "allowqos", "denyqos")
#: The same where jobs share nodes.
_UNSUPPORTED_SHARED_KEYS = ("maxcpuspernode", "maxcpuspersocket")
_UNSET_VALUES = ("", "NO", "0", "UNLIMITED", "N/A", "OFF", "NONE")


class PlainNode(NamedTuple):
    """A node: its name, the line it comes from, and what it has, as one of a type."""

    #: Name of the host.
    name: str
    #: Number of its NodeName line.
    line: int
    #: What it has.
    kind: node_types.NodeType


def machine_of_lines(
    path: str | PathLike[str],
    lines: list[Line],
    version: str | None = None,
    gpu_types: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[PlainNode], list[node_types.Partition], conf.SlurmSettings]:
    """Return nodes in the order in which Slurm numbers them, partitions, and the settings."""
    reader = Reader(version)
    reader.read(line for line in lines if not line.record)
    node_lines = _with_defaults(line for line in lines if line.record == "nodename")
    nodes, absent = _nodes(path, node_lines, reader, gpu_types)
    partition_lines = _with_defaults(line for line in lines if line.record == "partitionname")
    if not partition_lines:
        raise InvalidInstance(f"{path}: no PartitionName: expected one at least")
    _require_one_line_per_partition(partition_lines)
    numbers = {node.name: k for k, node in enumerate(nodes)}
    sets = _node_sets([line for line in lines if line.record == "nodeset"], nodes)
    parts = [
        _partition(line, keys, numbers, absent, sets, reader) for line, keys in partition_lines
    ]
    reader.notes += [
        Note(
            NoteKind.ASSUMED,
            f"partition {part.name} has no nodes: jobs there never start",
            subject=f"partition {part.name}",
        )
        for part in parts
        if not part.nodes
    ]
    down = _down_nodes(node_lines, lines, numbers, reader)
    for line in lines:
        if line.record not in ("", "nodename", "nodeset", "partitionname", "downnodes"):
            reader.unknown.append(line.spellings[line.record])
    reader.read_preemption(partition_lines, [part.nodes for part in parts])
    settings = _settings(nodes, partition_lines, parts, down, reader)
    return nodes, parts, settings


def _down_nodes(
    node_lines: list[tuple[Line, dict[str, str]]],
    lines: list[Line],
    numbers: Mapping[str, int],
    reader: Reader,
) -> node_types.Spans:
    """Return nodes that take no jobs: by State of their own line, or by a DownNodes line."""
    states: dict[tuple[str, str], int] = {}
    down: set[int] = set()
    hosts_and_states = [
        (keys["nodename"], keys.get("state", ""), line.place) for line, keys in node_lines
    ]
    hosts_and_states += [
        (line.keys["downnodes"], line.keys.get("state", "DOWN"), line.place)
        for line in lines
        if line.record == "downnodes"
    ]
    for text, state_text, place in hosts_and_states:
        state = state_text.upper()
        words_of = re.split(r"[+*~#!%$@^-]+", state)
        if not any(word.startswith((*_OUT_STATES, "CLOUD")) for word in words_of):
            continue
        names = node_types.hosts(text, place)
        is_down = any(word.startswith(_OUT_STATES) for word in words_of)
        if is_down:
            down |= {numbers[name] for name in names if name in numbers}
        key = (state, "no jobs there" if is_down else "there at once")
        states[key] = states.get(key, 0) + len(names)
    for (state, effect), count in states.items():
        text = f"State={state} ({count_of(count, 'node')}): {effect}"
        reader.notes.append(Note(NoteKind.ASSUMED, text, subject=f"State={state}", count=count))
    return node_types.spans_of(down)


def _with_defaults(lines: Iterable[Line]) -> list[tuple[Line, dict[str, str]]]:
    """Return records, each with what the DEFAULT lines before it say."""
    lines_and_keys: list[tuple[Line, dict[str, str]]] = []
    defaults: dict[str, str] = {}
    for line in lines:
        if line.keys[line.record].upper() == "DEFAULT":
            defaults = {**defaults, **{k: v for k, v in line.keys.items() if k != line.record}}
        else:
            lines_and_keys.append((line, {**defaults, **line.keys}))
    return lines_and_keys


def _require_one_line_per_partition(partition_lines: Iterable[tuple[Line, dict[str, str]]]) -> None:
    """Raise InvalidInstance where two lines name one partition: slurmctld does not start then
    (``duplicate entry for partition``)."""
    places: dict[str, str] = {}
    for line, keys in partition_lines:
        name = keys["partitionname"]
        if name in places:
            raise InvalidInstance(
                f"{line.place}: partition {shorten(name)} is there twice ({places[name]} has it, "
                "too): expected one line of each partition"
            )
        places[name] = line.place


def _nodes(
    path: object,
    lines: list[tuple[Line, dict[str, str]]],
    reader: Reader,
    gpu_types: Mapping[str, str],
) -> tuple[list[PlainNode], frozenset[str]]:
    """Return the nodes that are there, and the names of those for the future."""
    nodes: dict[str, PlainNode] = {}
    absent: list[str] = []
    for number_of_line, (line, keys) in enumerate(lines):
        for key in set(keys) - conf.NODE_KEYS:
            reader.unknown.append(f"{line.spellings.get(key, key)} of NodeName")
        names = node_types.hosts(keys["nodename"], line.place)
        if "FUTURE" in keys.get("state", "").upper():
            absent += names
            continue
        reader.notes += [
            Note(
                NoteKind.NOT_USED,
                f"Gres={gres} of NodeName: not handed out",
                subject=f"Gres={gres}",
            )
            for gres in _other_gres(keys.get("gres", ""))
        ]
        for key in () if reader.linear else ("corespeccount", "cpuspeclist"):
            if keys.get(key, "") not in (("", "0") if key == "corespeccount" else ("",)):
                reader.refused.append(f"{line.spellings.get(key, key)}={keys[key]} of NodeName")
        for name in names:
            if name in nodes:
                raise InvalidInstance(f"{line.place}: node {shorten(name)} is there twice")
            nodes[name] = _node(name, number_of_line, line, keys, gpu_types)
    if not nodes:
        raise InvalidInstance(f"{path}: no NodeName: expected one at least")
    return sorted(nodes.values(), key=lambda node: node_types.natural(node.name)), frozenset(absent)


def _node(
    name: str, line: int, conf_line: Line, keys: Mapping[str, str], gpu_types: Mapping[str, str]
) -> PlainNode:
    """Return a node of a NodeName line."""

    def integer(key: str, usual: int) -> int:
        if key not in keys:
            return usual
        amount = conf.number(keys[key], conf_line.place, key)
        if amount > _MAX_NODE_AMOUNT:
            raise InvalidInstance(
                f"{conf_line.place}: {conf_line.spellings.get(key, key)}={shorten(keys[key])}: "
                f"expected at most {_MAX_NODE_AMOUNT}"
            )
        return int(amount)

    cores, sockets, threads, cpus = _processors(integer, keys)
    gpus, gpu_type = _gpus_of_gres(keys.get("gres", ""), conf_line.place)
    if gpus and not gpu_type:
        gpu_type = gpu_types.get(name, gpu_types.get("", ""))
    memory = max(integer("realmemory", 0) - integer("memspeclimit", 0), 0) / 1024
    features = (keys.get("features") or keys.get("feature", "")).split(",")
    return PlainNode(
        name,
        line,
        node_types.NodeType(
            "",
            1,
            cores,
            memory,
            gpus,
            sockets,
            threads,
            gpu_type,
            integer("weight", 1),
            tuple(filter(None, features)),
            0 if cpus == cores * threads else cpus,
        ),
    )


def _processors(
    integer: Callable[[str, int], int], keys: Mapping[str, str]
) -> tuple[int, int, int, int]:
    """Return cores, sockets, threads of a core, and CPUs of a node as Slurm counts them: its
    threads, or its cores (or sockets) where the file says so many."""
    threads, per_socket = max(integer("threadspercore", 1), 1), max(integer("corespersocket", 1), 1)
    cpu_text = integer("cpus", integer("procs", 0))
    if "sockets" in keys or "socketsperboard" in keys:
        sockets = integer("sockets", integer("socketsperboard", 1) * integer("boards", 1))
        if cpu_text and "corespersocket" not in keys:
            per_socket = max(cpu_text // (max(sockets, 1) * threads), 1)
    else:
        sockets = cpu_text // (per_socket * threads)
    sockets = max(sockets, 1)
    cores = sockets * per_socket
    cpus = cpu_text if cpu_text in (sockets, cores) else cores * threads
    return cores, sockets, threads, cpus


def _gpus_of_gres(gres: str, place: str) -> tuple[int, str]:
    """Return GPUs of ``gpu:a100:4(S:0-1),gpu:2`` and their types."""
    count, types = 0, []
    for part in re.sub(r"\([^()]*\)", "", gres).split(","):
        name, *further_parts = part.strip().split(":")
        if name.lower() != "gpu":
            continue
        further_parts = [
            part_of_name for part_of_name in further_parts if part_of_name.lower() != "no_consume"
        ]
        last = further_parts.pop() if further_parts and further_parts[-1].isdigit() else "1"
        count += int(conf.number(last, place, "Gres"))
        types += further_parts[:1]
    return count, ",".join(dict.fromkeys(types))


def _other_gres(gres: str) -> list[str]:
    """Return the Gres of ``gpu:a100:4(S:0-1),mps:100`` that are no GPUs."""
    parts = [part.strip() for part in re.sub(r"\([^()]*\)", "", gres).split(",")]
    return [part for part in parts if part and part.split(":")[0].lower() not in ("gpu", "none")]


def _node_sets(lines: list[Line], nodes: list[PlainNode]) -> dict[str, list[str]]:
    """Return names of nodes by NodeSet: its Nodes, and those with its Feature."""
    sets: dict[str, list[str]] = {}
    for line in lines:
        text, feature = line.keys.get("nodes", ""), line.keys.get("feature", "")
        all_names = [node.name for node in nodes]
        names = (
            all_names
            if text.upper() == "ALL"
            else node_types.hosts(text, line.place)
            if text
            else []
        )
        names += [node.name for node in nodes if feature and feature in node.kind.features]
        sets[line.keys["nodeset"]] = names
    return sets


def _partition(
    line: Line,
    keys: Mapping[str, str],
    numbers: Mapping[str, int],
    absent: frozenset[str],
    sets: Mapping[str, list[str]],
    reader: Reader,
) -> node_types.Partition:
    """Return the partition of a PartitionName line."""
    name = keys["partitionname"]
    for key in set(keys) - conf.PARTITION_KEYS:
        reader.unknown.append(f"{line.spellings.get(key, key)} of PartitionName")
    for key in sorted(set(keys) & set(conf.REPORTED_KEYS)):
        spelling, place = line.spellings.get(key, key), f" (partition {name})"
        reported = conf.reported_note(spelling, keys[key], place)
        if reported is not None:
            reader.notes.append(reported)
    shared = not (reader.linear or _is_exclusive(keys))
    if reader.database:  # without one there is neither a QOS nor usage
        reader.needs_accounting += [
            f"{line.spellings.get(key, key)}={keys[key]} (partition {name})"
            for key in ("qos",)
            if keys.get(key, "").upper() not in _UNSET_VALUES
        ]
    for key in (*_UNSUPPORTED_KEYS, *(_UNSUPPORTED_SHARED_KEYS if shared else ())):
        if keys.get(key, "").upper() not in _UNSET_VALUES:
            reader.refused.append(f"{line.spellings.get(key, key)}={keys[key]} (partition {name})")
    oversubscribe = conf.oversubscribe(keys)
    if oversubscribe.startswith("FORCE") and oversubscribe != "FORCE:1":
        reader.refused.append(f"OverSubscribe={oversubscribe} (partition {name})")
    text = keys.get("nodes", "")
    text = "" if text == "(null)" else text  # as scontrol shows a partition without nodes
    if text.upper() == "ALL":
        node_numbers = list(range(len(numbers)))
    else:
        node_numbers = []
        names = node_types.hosts(text, line.place) if text else []
        for host in [host for name in names for host in sets.get(name, [name])]:
            if host in absent:
                continue
            if host not in numbers:
                raise InvalidInstance(f"{line.place}: node {shorten(host)} has no NodeName line")
            node_numbers.append(numbers[host])
    tier_text = keys.get("prioritytier", keys.get("priority", "1"))
    tier = conf.number(tier_text, line.place, "PriorityTier")
    if tier > _MAX_TIER:
        message = f"PriorityTier={shorten(tier_text)}: expected at most {_MAX_TIER}"
        raise InvalidInstance(f"{line.place}: {message}")
    limit = seconds_of_minutes(keys.get("maxtime", "UNLIMITED"), line.place)
    return node_types.Partition(name, node_types.spans_of(node_numbers), limit, float(tier))


def _bounds(partition_lines: list[tuple[Line, dict[str, str]]]) -> dict[str, tuple[int, int]]:
    """Return MinNodes and MaxNodes of partitions that have one, or that let no job start."""
    bounds = {}
    for line, keys in partition_lines:
        min_nodes, max_nodes = (
            conf.number(
                "0" if keys.get(key, "").upper() in _UNSET_VALUES else keys[key], line.place, key
            )
            for key in ("minnodes", "maxnodes")
        )
        if keys.get("state", "UP").upper() not in ("UP", "YES", "DRAIN"):  # DRAIN: none comes
            bounds[keys["partitionname"]] = (0, 0)
        elif min_nodes > 1 or max_nodes > 0:
            min_nodes, max_nodes = (
                int(min(bound, node_types.MOST_HOSTS)) for bound in (min_nodes, max_nodes)
            )
            bounds[keys["partitionname"]] = (min_nodes, max_nodes or node_types.MOST_HOSTS)
    return bounds


def _settings(
    nodes: list[PlainNode],
    partition_lines: list[tuple[Line, dict[str, str]]],
    parts: list[node_types.Partition],
    down: node_types.Spans,
    reader: Reader,
) -> conf.SlurmSettings:
    """Return the settings of the whole file: those of single lines, of nodes and of partitions."""
    lines: dict[int, list[int]] = {}
    weight: dict[int, int] = {}
    for k, node in enumerate(nodes):
        lines.setdefault(node.line, []).append(k)
        weight[node.line] = node.kind.weight
    by_weight = sorted(lines, key=lambda line: (weight[line], line))
    exclusive_nodes = reader.linear or all(_is_exclusive(keys) for _, keys in partition_lines)
    defaults = [
        k["partitionname"] for _, k in partition_lines if k.get("default", "NO").upper() == "YES"
    ]
    return conf.SlurmSettings(
        parameters=reader.parameters,
        lines=tuple(
            tuple((a, b + 1) for a, b in ranges(np.array(lines[line], dtype=np.int64)))
            for line in by_weight
        ),
        names=tuple(node.name for node in nodes),
        factors=_partition_values(
            partition_lines, "priorityjobfactor", partial(conf.number, name="factor")
        ),
        default_times=_partition_values(partition_lines, "defaulttime", seconds_of_minutes),
        default_partition=defaults[-1] if defaults else parts[0].name,
        exclusive_nodes=exclusive_nodes,
        exclusive=frozenset(
            keys["partitionname"] for _, keys in partition_lines if _is_exclusive(keys)
        ),
        one_task_per_core="cr_one_task_per_core" in reader.select,
        memory_counts=any("memory" in parameter for parameter in reader.select)
        or not (reader.linear or reader.select),
        default_memories=reader.default_memories
        | _partition_values(
            partition_lines, "defmempernode", partial(conf.default_memory, "defmempernode")
        )
        | _partition_values(
            partition_lines, "defmempercpu", partial(conf.default_memory, "defmempercpu")
        ),
        licences=reader.licences,
        preempt_modes=_preempt_modes(partition_lines),
        bounds=_bounds(partition_lines),
        down=down,
        limits_count=reader.limits_count,
        partition_qos=_partition_texts(partition_lines, "qos"),
        billing=_partition_texts(partition_lines, "tresbillingweights"),
        priority_tres=reader.priority_tres,
        allowed={
            keys["partitionname"]: {
                key: frozenset(keys[key].lower().split(","))
                for key in _ACCESS_KEYS
                if keys.get(key, "ALL").upper() not in ("ALL", "")
            }
            for _, keys in partition_lines
        },
        version=reader.version or "",
        refused=tuple(dict.fromkeys(reader.refused)),
        needs_accounting=tuple(dict.fromkeys(reader.needs_accounting)),
        notes=(
            *reader.notes,
            *(
                Note(NoteKind.NOT_READ, f"not understood: {parameter}", subject=parameter)
                for parameter in dict.fromkeys(reader.unknown)
            ),
        ),
    )


def _preempt_modes(
    partition_lines: list[tuple[Line, dict[str, str]]],
) -> dict[str, tuple[int, float]]:
    """Return PreemptMode and GraceTime of the partitions that have one of their own."""
    mode_and_grace = {}
    for line, keys in partition_lines:
        mode = conf.preempt_mode(keys["preemptmode"]) if "preemptmode" in keys else -1
        grace = conf.number(keys.get("gracetime", "0"), line.place, "GraceTime")
        if mode != -1 or grace:
            mode_and_grace[keys["partitionname"]] = (-1 if mode is None else mode, grace)
    return mode_and_grace


def _partition_texts(
    partition_lines: list[tuple[Line, dict[str, str]]], key: str
) -> dict[str, str]:
    """Return the text of a key by partition, of those that have it."""
    return {
        keys["partitionname"]: keys[key]
        for _, keys in partition_lines
        if keys.get(key, "").upper() not in _UNSET_VALUES
    }


def _partition_values(
    partition_lines: list[tuple[Line, dict[str, str]]], key: str, read: Callable[[str, str], object]
) -> dict[str, Any]:
    """Return the value of a key by partition, of those that have it; `read` gets its text and
    place."""
    return {
        keys["partitionname"]: read(keys[key], line.place)
        for line, keys in partition_lines
        if key in keys
    }


def _is_exclusive(keys: Mapping[str, str]) -> bool:
    return conf.oversubscribe(keys) == "EXCLUSIVE"
