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
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf import settings as known
from cosched.slurm.conf.lines import Line, seconds_of_minutes
from cosched.slurm.conf.reader import Reader

#: Of what a node has (its memory in MB): more is no number of a node.
_MOST = 2**40
#: As the core holds it; Slurm has 65,533.
_MOST_TIER = 2**31 - 1
#: States of nodes that do not run jobs.
_OUT = ("DOWN", "DRAIN", "FAIL", "FUTURE")
#: Keys of a partition that change who starts when and are not covered.
_NOT_COVERED = (
    "overtimelimit", "selecttypeparameters", "lln", "exclusiveuser", "exclusivetopo", "reqresv",
)  # fmt: skip
#: Who may use a partition.
_ALLOWED = ("allowaccounts", "denyaccounts", "allowqos", "denyqos")
#: The same where jobs share nodes.
_NOT_SHARED = ("maxcpuspernode", "maxcpuspersocket")
_HARMLESS = ("", "NO", "0", "UNLIMITED", "N/A", "OFF", "NONE")


class PlainNode(NamedTuple):
    """A node: its name, the line it comes from, and what it has, as one of a type."""

    name: str
    line: int
    kind: node_types.NodeType


def machine_of_lines(
    path: str | PathLike[str],
    lines: list[Line],
    version: str | None = None,
    gpu_types: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[PlainNode], list[node_types.Partition], known.SlurmSettings]:
    """Nodes in the order in which Slurm numbers them, partitions, and the settings."""
    reader = Reader(version)
    reader.read(line for line in lines if not line.record)
    named = _with_defaults(line for line in lines if line.record == "nodename")
    nodes, absent = _nodes(path, named, reader, gpu_types)
    given = _with_defaults(line for line in lines if line.record == "partitionname")
    if not given:
        raise InvalidInstance(f"{path}: no PartitionName: expected one at least")
    _require_one_line_per_partition(given)
    numbers = {node.name: k for k, node in enumerate(nodes)}
    sets = _sets([line for line in lines if line.record == "nodeset"], nodes)
    parts = [_partition(line, keys, numbers, absent, sets, reader) for line, keys in given]
    reader.assumed += [
        f"partition {part.name} has no nodes: jobs there never start"
        for part in parts
        if not part.nodes
    ]
    down = _down(named, lines, numbers, reader)
    for line in lines:
        if line.record not in ("", "nodename", "nodeset", "partitionname", "downnodes"):
            reader.unknown.append(line.spelled[line.record])
    reader.preemption(given, [part.nodes for part in parts])
    settings = _settings(nodes, given, parts, down, reader)
    return nodes, parts, settings


def _down(
    named: list[tuple[Line, dict[str, str]]],
    lines: list[Line],
    numbers: Mapping[str, int],
    reader: Reader,
) -> node_types.Spans:
    """Nodes that take no jobs: by State of their own line, or by a DownNodes line."""
    states: dict[tuple[str, str], int] = {}
    down: set[int] = set()
    given = [(keys["nodename"], keys.get("state", ""), line.place) for line, keys in named]
    given += [
        (line.keys["downnodes"], line.keys.get("state", "DOWN"), line.place)
        for line in lines
        if line.record == "downnodes"
    ]
    for text, spelled, place in given:
        state = spelled.upper()
        words_of = re.split(r"[+*~#!%$@^-]+", state)
        if not any(word.startswith((*_OUT, "CLOUD")) for word in words_of):
            continue
        own = node_types.hosts(text, place)
        out = any(word.startswith(_OUT) for word in words_of)
        if out:
            down |= {numbers[name] for name in own if name in numbers}
        key = (state, "no jobs there" if out else "there at once")
        states[key] = states.get(key, 0) + len(own)
    for (state, said), count in states.items():
        reader.assumed.append(f"State={state} ({count} node{'s' * (count > 1)}): {said}")
    return node_types.spans_of(down)


def _with_defaults(lines: Iterable[Line]) -> list[tuple[Line, dict[str, str]]]:
    """Records, each with what the DEFAULT lines before it say."""
    found: list[tuple[Line, dict[str, str]]] = []
    usual: dict[str, str] = {}
    for line in lines:
        if line.keys[line.record].upper() == "DEFAULT":
            usual = {**usual, **{k: v for k, v in line.keys.items() if k != line.record}}
        else:
            found.append((line, {**usual, **line.keys}))
    return found


def _require_one_line_per_partition(given: Iterable[tuple[Line, dict[str, str]]]) -> None:
    """Raise InvalidInstance where two lines name one partition: slurmctld does not start then
    (``duplicate entry for partition``)."""
    places: dict[str, str] = {}
    for line, keys in given:
        name = keys["partitionname"]
        if name in places:
            raise InvalidInstance(
                f"{line.place}: partition {shorten(name)} is there twice ({places[name]} has it, "
                "too): expected one line of each partition"
            )
        places[name] = line.place


def _nodes(
    path: Any,
    lines: list[tuple[Line, dict[str, str]]],
    reader: Reader,
    gpu_types: Mapping[str, str],
) -> tuple[list[PlainNode], frozenset[str]]:
    """The nodes that are there, and the names of those for the future."""
    nodes: dict[str, PlainNode] = {}
    absent: list[str] = []
    for number_of_line, (line, keys) in enumerate(lines):
        for key in set(keys) - known.NODE_KEYS:
            reader.unknown.append(f"{line.spelled.get(key, key)} of NodeName")
        names = node_types.hosts(keys["nodename"], line.place)
        if "FUTURE" in keys.get("state", "").upper():
            absent += names
            continue
        reader.assumed += [
            f"Gres={one} of NodeName: not handed out" for one in _others(keys.get("gres", ""))
        ]
        for key in () if reader.linear else ("corespeccount", "cpuspeclist"):
            if keys.get(key, "") not in (("", "0") if key == "corespeccount" else ("",)):
                reader.refused.append(f"{line.spelled.get(key, key)}={keys[key]} of NodeName")
        for name in names:
            if name in nodes:
                raise InvalidInstance(f"{line.place}: node {shorten(name)} is there twice")
            nodes[name] = _node(name, number_of_line, line, keys, gpu_types)
    if not nodes:
        raise InvalidInstance(f"{path}: no NodeName: expected one at least")
    return sorted(nodes.values(), key=lambda node: node_types.natural(node.name)), frozenset(absent)


def _node(
    name: str, line: int, where: Line, keys: Mapping[str, str], gpu_types: Mapping[str, str]
) -> PlainNode:
    def whole(key: str, usual: int) -> int:
        if key not in keys:
            return usual
        found = known.number(keys[key], where.place, key)
        if found > _MOST:
            raise InvalidInstance(
                f"{where.place}: {where.spelled.get(key, key)}={shorten(keys[key])}: expected at "
                f"most {_MOST}"
            )
        return int(found)

    cores, sockets, threads, cpus = _processors(whole, keys)
    gpus, gpu_type = _gpus(keys.get("gres", ""), where.place)
    if gpus and not gpu_type:
        gpu_type = gpu_types.get(name, gpu_types.get("", ""))
    memory = max(whole("realmemory", 0) - whole("memspeclimit", 0), 0) / 1024
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
            whole("weight", 1),
            tuple(filter(None, features)),
            0 if cpus == cores * threads else cpus,
        ),
    )


def _processors(
    whole: Callable[[str, int], int], keys: Mapping[str, str]
) -> tuple[int, int, int, int]:
    """Cores, sockets, threads of a core, and CPUs of a node as Slurm counts them: its threads, or
    its cores (or sockets) where the file says so many."""
    threads, per_socket = max(whole("threadspercore", 1), 1), max(whole("corespersocket", 1), 1)
    given = whole("cpus", whole("procs", 0))
    if "sockets" in keys or "socketsperboard" in keys:
        sockets = whole("sockets", whole("socketsperboard", 1) * whole("boards", 1))
        if given and "corespersocket" not in keys:
            per_socket = max(given // (max(sockets, 1) * threads), 1)
    else:
        sockets = given // (per_socket * threads)
    sockets = max(sockets, 1)
    cores = sockets * per_socket
    counted = given if given in (sockets, cores) else cores * threads
    return cores, sockets, threads, counted


def _gpus(gres: str, place: str) -> tuple[int, str]:
    """GPUs of ``gpu:a100:4(S:0-1),gpu:2`` and their types."""
    count, types = 0, []
    for part in re.sub(r"\([^()]*\)", "", gres).split(","):
        name, *rest = part.strip().split(":")
        if name.lower() != "gpu":
            continue
        rest = [one for one in rest if one.lower() != "no_consume"]
        last = rest.pop() if rest and rest[-1].isdigit() else "1"
        count += int(known.number(last, place, "Gres"))
        types += rest[:1]
    return count, ",".join(dict.fromkeys(types))


def _others(gres: str) -> list[str]:
    """What is no GPU of ``gpu:a100:4(S:0-1),mps:100``."""
    parts = [part.strip() for part in re.sub(r"\([^()]*\)", "", gres).split(",")]
    return [one for one in parts if one and one.split(":")[0].lower() not in ("gpu", "none")]


def _sets(lines: list[Line], nodes: list[PlainNode]) -> dict[str, list[str]]:
    """Names of nodes by NodeSet: its Nodes, and those with its Feature."""
    sets: dict[str, list[str]] = {}
    for line in lines:
        text, feature = line.keys.get("nodes", ""), line.keys.get("feature", "")
        every = [node.name for node in nodes]
        own = every if text.upper() == "ALL" else node_types.hosts(text, line.place) if text else []
        own += [node.name for node in nodes if feature and feature in node.kind.features]
        sets[line.keys["nodeset"]] = own
    return sets


def _partition(
    line: Line,
    keys: Mapping[str, str],
    numbers: Mapping[str, int],
    absent: frozenset[str],
    sets: Mapping[str, list[str]],
    reader: Reader,
) -> node_types.Partition:
    name = keys["partitionname"]
    for key in set(keys) - known.PARTITION_KEYS:
        reader.unknown.append(f"{line.spelled.get(key, key)} of PartitionName")
    for key in sorted(set(keys) & set(known.NOTED)):
        if said := known.noted(line.spelled.get(key, key), keys[key]):
            reader.assumed.append(f"{said} (partition {name})")
    shared = not (reader.linear or _exclusive(keys))
    if reader.database:  # without one there is neither a QOS nor usage
        reader.of_accounts += [
            f"{line.spelled.get(key, key)}={keys[key]} (partition {name})"
            for key in ("qos",)
            if keys.get(key, "").upper() not in _HARMLESS
        ]
    for key in (*_NOT_COVERED, *(_NOT_SHARED if shared else ())):
        if keys.get(key, "").upper() not in _HARMLESS:
            reader.refused.append(f"{line.spelled.get(key, key)}={keys[key]} (partition {name})")
    sharing = known.sharing(keys)
    if sharing.startswith("FORCE") and sharing != "FORCE:1":
        reader.refused.append(f"OverSubscribe={sharing} (partition {name})")
    text = keys.get("nodes", "")
    text = "" if text == "(null)" else text  # as scontrol shows a partition without nodes
    if text.upper() == "ALL":
        own = list(range(len(numbers)))
    else:
        own = []
        named = node_types.hosts(text, line.place) if text else []
        for host in [host for name in named for host in sets.get(name, [name])]:
            if host in absent:
                continue
            if host not in numbers:
                raise InvalidInstance(f"{line.place}: node {shorten(host)} has no NodeName line")
            own.append(numbers[host])
    given = keys.get("prioritytier", keys.get("priority", "1"))
    tier = known.number(given, line.place, "PriorityTier")
    if tier > _MOST_TIER:
        said = f"PriorityTier={shorten(given)}: expected at most {_MOST_TIER}"
        raise InvalidInstance(f"{line.place}: {said}")
    limit = seconds_of_minutes(keys.get("maxtime", "UNLIMITED"), line.place)
    return node_types.Partition(name, node_types.spans_of(own), limit, float(tier))


def _bounds(given: list[tuple[Line, dict[str, str]]]) -> dict[str, tuple[int, int]]:
    """MinNodes and MaxNodes of partitions that have one, or that let no job start."""
    found = {}
    for line, keys in given:
        least, most = (
            known.number(
                "0" if keys.get(key, "").upper() in _HARMLESS else keys[key], line.place, key
            )
            for key in ("minnodes", "maxnodes")
        )
        if keys.get("state", "UP").upper() not in ("UP", "YES", "DRAIN"):  # DRAIN: none comes
            found[keys["partitionname"]] = (0, 0)
        elif least > 1 or most > 0:
            least, most = (int(min(each, node_types.MOST_HOSTS)) for each in (least, most))
            found[keys["partitionname"]] = (least, most or node_types.MOST_HOSTS)
    return found


def _settings(
    nodes: list[PlainNode],
    given: list[tuple[Line, dict[str, str]]],
    parts: list[node_types.Partition],
    down: node_types.Spans,
    reader: Reader,
) -> known.SlurmSettings:
    lines: dict[int, list[int]] = {}
    weight: dict[int, int] = {}
    for k, node in enumerate(nodes):
        lines.setdefault(node.line, []).append(k)
        weight[node.line] = node.kind.weight
    by_weight = sorted(lines, key=lambda line: (weight[line], line))
    whole = reader.linear or all(_exclusive(keys) for _, keys in given)
    defaults = [k["partitionname"] for _, k in given if k.get("default", "NO").upper() == "YES"]
    return known.SlurmSettings(
        parameters=reader.parameters,
        lines=tuple(
            tuple((a, b + 1) for a, b in ranges(np.array(lines[line], dtype=np.int64)))
            for line in by_weight
        ),
        names=tuple(node.name for node in nodes),
        factors=_of(given, "priorityjobfactor", partial(known.number, name="factor")),
        default_times=_of(given, "defaulttime", seconds_of_minutes),
        default_partition=defaults[-1] if defaults else parts[0].name,
        whole=whole,
        exclusive=frozenset(keys["partitionname"] for _, keys in given if _exclusive(keys)),
        one_task_per_core="cr_one_task_per_core" in reader.select,
        memory_counts=any("memory" in one for one in reader.select)
        or not (reader.linear or reader.select),
        default_memories=reader.default_memories
        | _of(given, "defmempernode", partial(known.default_memory, "defmempernode"))
        | _of(given, "defmempercpu", partial(known.default_memory, "defmempercpu")),
        licences=reader.licences,
        preempt_modes=_preempt_modes(given),
        bounds=_bounds(given),
        down=down,
        limits_count=reader.limits_count,
        partition_qos=_said(given, "qos"),
        billing=_said(given, "tresbillingweights"),
        priority_tres=reader.priority_tres,
        allowed={
            keys["partitionname"]: {
                key: frozenset(keys[key].lower().split(","))
                for key in _ALLOWED
                if keys.get(key, "ALL").upper() not in ("ALL", "")
            }
            for _, keys in given
        },
        version=reader.version or "",
        refused=tuple(dict.fromkeys(reader.refused)),
        of_accounts=tuple(dict.fromkeys(reader.of_accounts)),
        notes=(*reader.assumed, *dict.fromkeys(f"not understood: {one}" for one in reader.unknown)),
    )


def _preempt_modes(given: list[tuple[Line, dict[str, str]]]) -> dict[str, tuple[int, float]]:
    """Of partitions that have their own, or a GraceTime."""
    found = {}
    for line, keys in given:
        own = known.preempt_mode(keys["preemptmode"]) if "preemptmode" in keys else -1
        grace = known.number(keys.get("gracetime", "0"), line.place, "GraceTime")
        if own != -1 or grace:
            found[keys["partitionname"]] = (-1 if own is None else own, grace)
    return found


def _said(given: list[tuple[Line, dict[str, str]]], key: str) -> dict[str, str]:
    """A key of partitions that have it."""
    return {
        keys["partitionname"]: keys[key]
        for _, keys in given
        if keys.get(key, "").upper() not in _HARMLESS
    }


def _of(
    given: list[tuple[Line, dict[str, str]]], key: str, read: Callable[[str, str], Any]
) -> dict[str, Any]:
    """What a key says of the partitions that have it; `read`: of its text and its place."""
    return {own["partitionname"]: read(own[key], line.place) for line, own in given if key in own}


def _exclusive(keys: Mapping[str, str]) -> bool:
    return known.sharing(keys) == "EXCLUSIVE"
