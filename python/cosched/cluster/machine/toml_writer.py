"""A machine as the text of a machine.toml."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from cosched.cluster.machine.node_types import NodeType, Partition, Spans

#: What a node type has where its table has no such key.
_DEFAULTS: dict[str, object] = {
    "memory_gb": 0.0, "gpus": 0, "gpu_type": "", "sockets": 1, "threads": 1, "cpus": 0,
    "weight": 1, "features": (),
}  # fmt: skip


def toml_of_machine(nodes: Sequence[NodeType], partitions: Sequence[Partition]) -> str:
    """The text of a machine.toml with these node types and partitions.

    Examples
    --------
    >>> print(toml_of_machine([NodeType("thin", 4, 16, 64.0, 0)], []), end="")
    [[nodes]]
    name = "thin"
    count = 4
    cores = 16
    memory_gb = 64.0
    """
    node_count = sum(kind.count for kind in nodes)
    tables = [_table("nodes", _node_keys(kind)) for kind in nodes]
    tables += [_table("partitions", _partition_keys(part, node_count)) for part in partitions]
    return "\n".join(tables)


def _node_keys(kind: NodeType) -> dict[str, object]:
    keys: dict[str, object] = {"name": kind.name, "count": kind.count, "cores": kind.cores}
    for key, default in _DEFAULTS.items():
        value = getattr(kind, key)
        if value != default:
            keys[key] = list(value) if isinstance(value, tuple) else value
    return keys


def _partition_keys(part: Partition, node_count: int) -> dict[str, object]:
    keys: dict[str, object] = {"name": part.name}
    if part.nodes != ((0, node_count),):
        keys["nodes"] = _numbers_of(part.nodes)
    if part.max_time < math.inf:
        keys["max_time"] = part.max_time
    if part.priority:
        keys["priority"] = part.priority
    return keys


def _numbers_of(spans: Spans) -> str:
    """Return ``0-63,70`` of the ranges [first, last)."""
    return ",".join(
        str(first) if last == first + 1 else f"{first}-{last - 1}" for first, last in spans
    )


def _table(name: str, keys: dict[str, object]) -> str:
    lines = [f"[[{name}]]", *(f"{key} = {_value(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    """Return a number, text or list as TOML writes it, whose texts are written as those of JSON."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
