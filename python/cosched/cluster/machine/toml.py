"""A machine out of ``machine.toml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.machine.node_types import NodeType, Partition, check_sums, seconds
from cosched.core.arrays import integer, nonnegative
from cosched.errors import InvalidInstance, shorten

#: No core has more threads than that: more are those of the node.
_MOST_THREADS = 8
_OPTIONAL = {"name", "memory_gb", "gpus", "sockets", "threads", "gpu_type", "weight", "features"}


def read_toml(path: str | PathLike[str]) -> tuple[tuple[NodeType, ...], tuple[Partition, ...]]:
    """Node types and partitions; see :meth:`cosched.cluster.Machine.read`."""
    data = io.parse_toml(io.read_text(path), str(path))
    kinds = tuple(_node_type(path, k, table) for k, table in _tables(path, data, "nodes"))
    if not kinds:
        raise InvalidInstance(f"{path}: no [[nodes]]: expected count and cores of each type")
    check_sums(path, kinds)
    unknown = set(data) - {"nodes", "partitions"}
    if unknown:
        raise InvalidInstance(
            f"{path}: unknown entry {shorten(min(unknown))}: expected nodes, partitions"
        )
    parts = tuple(
        _partition(path, k, table, kinds) for k, table in _tables(path, data, "partitions")
    )
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise InvalidInstance(f"{path}: partitions: two of the same name: expected different")
    if len({kind.name for kind in kinds}) < len(kinds):
        raise InvalidInstance(f"{path}: nodes: two of the same name: expected different")
    return kinds, parts


def _tables(path: Any, data: Mapping[str, Any], name: str) -> list[tuple[int, dict[str, Any]]]:
    tables = data.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidInstance(f"{path}: {name}: expected tables [[{name}]]")
    return list(enumerate(tables, 1))


def _checked(where: str, table: Mapping[str, Any], needed: set[str], known: set[str]) -> None:
    missing, unknown = needed - set(table), set(table) - needed - known
    if missing:
        raise InvalidInstance(f"{where}: no {min(missing)!r}")
    if unknown:
        expected = ", ".join(sorted(needed | known))
        raise InvalidInstance(f"{where}: unknown {shorten(min(unknown))}: expected {expected}")


def _node_type(path: Any, number: int, table: dict[str, Any]) -> NodeType:
    where = f"{path}: nodes {number}"
    _checked(where, table, {"count", "cores"}, _OPTIONAL)
    return NodeType(
        str(table.get("name", f"nodes-{number}")),
        integer(table["count"], f"{where}: count", 1, 10_000_000),
        integer(table["cores"], f"{where}: cores", 1, 1_000_000),
        nonnegative(table.get("memory_gb", 0.0), f"{where}: memory_gb"),
        integer(table.get("gpus", 0), f"{where}: gpus", 0),
        integer(table.get("sockets", 1), f"{where}: sockets", 1, 1_000_000),
        integer(table.get("threads", 1), f"{where}: threads (of a core)", 1, _MOST_THREADS),
        str(table.get("gpu_type", "")),
        integer(table.get("weight", 1), f"{where}: weight", 0),
        _features(table.get("features", []), where),
    )


def _features(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidInstance(f"{where}: features = {shorten(value)}: expected texts")
    return tuple(one.strip() for one in value)


def _partition(
    path: Any, number: int, table: dict[str, Any], kinds: tuple[NodeType, ...]
) -> Partition:
    where = f"{path}: partitions {number}"
    _checked(where, table, {"name"}, {"nodes", "max_time", "priority"})
    priority = table.get("priority", 0)
    is_number = isinstance(priority, (int, float)) and not isinstance(priority, bool)
    if not is_number or not np.isfinite(priority):
        raise InvalidInstance(f"{where}: priority = {shorten(priority)}: expected a number")
    limit = seconds(table.get("max_time", "UNLIMITED"), f"{where}: max_time")
    nodes = node_ranges(table.get("nodes", "all"), where, kinds)
    return Partition(str(table["name"]), nodes, limit, float(priority))


def node_ranges(value: Any, where: str, kinds: tuple[NodeType, ...]) -> tuple[tuple[int, int], ...]:
    """Ranges of node numbers of a number, ``"0-63,70"``, a list of types, or ``"all"``."""
    total = sum(kind.count for kind in kinds)
    if value == "all":
        return ((0, total),)
    if value == []:
        raise InvalidInstance(f"{where}: nodes = []: expected at least one type")
    if isinstance(value, list):
        begin, places = 0, {}
        for kind in kinds:
            places[kind.name] = (begin, begin + kind.count)
            begin += kind.count
        for name in value:
            if name not in places:
                known = ", ".join(places)
                raise InvalidInstance(f"{where}: nodes: no type {shorten(name)}: expected {known}")
        return tuple(places[name] for name in value)
    if isinstance(value, str):
        ranges = []
        for text in value.split(","):
            found = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", text)
            if not found:
                raise InvalidInstance(
                    f"{where}: nodes = {shorten(value)}: expected a number, types, or 0-63,70"
                )
            first, last = int(found[1]), int(found[2] or found[1])
            if not first <= last < total:
                raise InvalidInstance(
                    f"{where}: nodes {shorten(text)}: expected numbers from 0 to {total - 1}"
                )
            ranges.append((first, last + 1))
        return tuple(ranges)
    return ((0, integer(value, f"{where}: nodes", 1, total)),)
