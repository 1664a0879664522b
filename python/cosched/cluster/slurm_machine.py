"""Nodes and partitions of a slurm.conf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.slurm_conf import Line, hosts, natural, seconds_of_limit, words
from cosched.cluster.slurm_settings import Reader, SlurmSettings, number
from cosched.core.arrays import ranges
from cosched.errors import InvalidInstance, shorten

_NODE_KEYS = words(
    """
    nodename nodehostname nodeaddr port state cpus sockets socketsperboard boards corespersocket
    threadspercore realmemory tmpdisk weight feature features gres reason procs bcastaddr
    corespeccount cpuspeclist memspeclimit
    """
)
_PARTITION_KEYS = words(
    """
    partitionname nodes default maxtime defaulttime state prioritytier priorityjobfactor
    priority oversubscribe shared hidden rootonly allowgroups allowaccounts allowqos
    denyaccounts denyqos defmempercpu defmempernode maxmempercpu maxmempernode gracetime
    minnodes maxnodes disablerootjobs reqresv lln allocnodes alternate exclusiveuser
    exclusivetopo tresbillingweights cpubind resumetimeout suspendtimeout suspendtime
    powerdownonidle qos preemptmode overtimelimit selecttypeparameters maxcpuspernode
    maxcpuspersocket defcpupergpu defmempergpu jobdefaults
    """
)
#: Keys of a partition that change who starts when and are not covered.
_NOT_COVERED = ("overtimelimit", "selecttypeparameters", "lln", "minnodes", "maxnodes", "qos",
                "exclusiveuser", "reqresv", "preemptmode")  # fmt: skip
#: The same where jobs share nodes.
_NOT_SHARED = ("maxcpuspernode", "maxcpuspersocket")
_HARMLESS = ("", "NO", "0", "UNLIMITED", "N/A", "OFF")


class PlainNode(NamedTuple):
    """A node: its name, the line it comes from, and what it has."""

    name: str
    line: int
    cores: int
    memory_gb: float
    gpus: int
    weight: int


class PlainPartition(NamedTuple):
    """A partition: ranges of node numbers, its limit (s) and its tier."""

    name: str
    nodes: tuple[tuple[int, int], ...]
    max_time: float
    tier: int


def machine_of_lines(
    path: str | PathLike[str], lines: list[Line]
) -> tuple[list[PlainNode], list[PlainPartition], SlurmSettings]:
    """Nodes in the order in which Slurm numbers them, partitions, and the settings."""
    reader = Reader()
    reader.read(line for line in lines if not line.record)
    nodes = _nodes(path, [line for line in lines if line.record == "nodename"], reader)
    given = _with_defaults(line for line in lines if line.record == "partitionname")
    if not given:
        raise InvalidInstance(f"{path}: no PartitionName: expected one at least")
    numbers = {node.name: k for k, node in enumerate(nodes)}
    parts = [_partition(line, keys, numbers, reader) for line, keys in given]
    for line in lines:
        if line.record not in ("", "nodename", "partitionname"):
            (reader.refused if line.record == "downnodes" else reader.unknown).append(
                line.spelled[line.record]
            )
    settings = _settings(nodes, given, parts, reader)
    return nodes, parts, settings


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


def _nodes(path: Any, lines: list[Line], reader: Reader) -> list[PlainNode]:
    nodes: dict[str, PlainNode] = {}
    for number_of_line, (line, keys) in enumerate(_with_defaults(lines)):
        for key in set(keys) - _NODE_KEYS:
            reader.unknown.append(f"{line.spelled.get(key, key)} of NodeName")
        if any(
            word in keys.get("state", "").upper() for word in ("DOWN", "DRAIN", "FUTURE", "FAIL")
        ):
            reader.refused.append(f"State={keys['state']} (NodeName {keys['nodename']})")
        for key in () if reader.linear else ("corespeccount", "cpuspeclist"):
            if keys.get(key, "0") not in ("", "0"):
                reader.refused.append(f"{line.spelled.get(key, key)}={keys[key]} of NodeName")
        for name in hosts(keys["nodename"], line.place):
            if name in nodes:
                raise InvalidInstance(f"{line.place}: node {shorten(name)} is there twice")
            nodes[name] = _node(name, number_of_line, line, keys)
    if not nodes:
        raise InvalidInstance(f"{path}: no NodeName: expected one at least")
    return sorted(nodes.values(), key=lambda node: natural(node.name))


def _node(name: str, line: int, where: Line, keys: Mapping[str, str]) -> PlainNode:
    def whole(key: str, usual: int) -> int:
        return int(number(keys[key], where.place, key)) if key in keys else usual

    sockets = whole("sockets", whole("socketsperboard", 1) * whole("boards", 1))
    made = sockets * whole("corespersocket", 1)
    cores = made if "corespersocket" in keys else whole("cpus", whole("procs", made))
    gpus = sum(
        int(part.rsplit(":", 1)[-1]) if part.rsplit(":", 1)[-1].isdigit() else 1
        for part in keys.get("gres", "").lower().split(",")
        if part.startswith("gpu")
    )
    memory = whole("realmemory", 0) / 1024
    return PlainNode(name, line, max(cores, 1), memory, gpus, whole("weight", 1))


def _partition(
    line: Line, keys: Mapping[str, str], numbers: Mapping[str, int], reader: Reader
) -> PlainPartition:
    name = keys["partitionname"]
    for key in set(keys) - _PARTITION_KEYS:
        reader.unknown.append(f"{line.spelled.get(key, key)} of PartitionName")
    shared = not (reader.linear or _exclusive(keys))
    for key in _NOT_COVERED + (_NOT_SHARED if shared else ()):
        value = keys.get(key, "").upper()
        if value not in _HARMLESS and (key, value) != ("minnodes", "1"):
            reader.refused.append(f"{line.spelled.get(key, key)}={keys[key]} (partition {name})")
    sharing = _sharing(keys)
    if sharing.startswith("FORCE") and sharing != "FORCE:1":
        reader.refused.append(f"OverSubscribe={sharing} (partition {name})")
    if keys.get("state", "UP").upper() not in ("UP", "YES"):
        reader.refused.append(f"State={keys['state']} (partition {name})")
    text = keys.get("nodes", "")
    if text.upper() == "ALL":
        own = list(range(len(numbers)))
    else:
        own = []
        for host in hosts(text, line.place):
            if host not in numbers:
                raise InvalidInstance(f"{line.place}: node {shorten(host)} has no NodeName line")
            own.append(numbers[host])
    tier = keys.get("prioritytier", keys.get("priority", "1"))
    limit = seconds_of_limit(keys.get("maxtime", "UNLIMITED"), line.place)
    spans = tuple(ranges(np.array(sorted(set(own)), dtype=np.int64)))
    nodes = tuple((first, last + 1) for first, last in spans)
    return PlainPartition(name, nodes, limit, int(number(tier, line.place, "PriorityTier")))


def _settings(
    nodes: list[PlainNode],
    given: list[tuple[Line, dict[str, str]]],
    parts: list[PlainPartition],
    reader: Reader,
) -> SlurmSettings:
    lines: dict[int, list[int]] = {}
    weight: dict[int, int] = {}
    for k, node in enumerate(nodes):
        lines.setdefault(node.line, []).append(k)
        weight[node.line] = node.weight
    by_weight = sorted(lines, key=lambda line: (weight[line], line))
    if not reader.linear and len(set(weight.values())) > 1:
        reader.refused.append("Weight of NodeName with select/cons_tres")
    whole = reader.linear or all(_exclusive(keys) for _, keys in given)
    if not (whole or reader.selects):
        reader.refused.append("no SelectTypeParameters: Slurm shares memory then, CR_Core_Memory")
    defaults = [k["partitionname"] for _, k in given if k.get("default", "NO").upper() == "YES"]
    return SlurmSettings(
        parameters=reader.parameters,
        lines=tuple(
            tuple((a, b + 1) for a, b in ranges(np.array(lines[line], dtype=np.int64)))
            for line in by_weight
        ),
        names=tuple(node.name for node in nodes),
        factors={
            keys["partitionname"]: number(keys.get("priorityjobfactor", "1"), line.place, "factor")
            for line, keys in given
        },
        default_times={
            keys["partitionname"]: seconds_of_limit(keys["defaulttime"], line.place)
            for line, keys in given
            if "defaulttime" in keys
        },
        default_partition=defaults[-1] if defaults else parts[0].name,
        whole=whole,
        refused=tuple(dict.fromkeys(reader.refused)),
        notes=tuple(dict.fromkeys(f"not understood: {one}" for one in reader.unknown)),
    )


def _exclusive(keys: Mapping[str, str]) -> bool:
    return _sharing(keys) == "EXCLUSIVE"


def _sharing(keys: Mapping[str, str]) -> str:
    return keys.get("oversubscribe", keys.get("shared", "NO")).upper()
