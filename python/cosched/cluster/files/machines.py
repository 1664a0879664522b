"""The machine that a log ran on: its nodes, cores and memory, and whether these are enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.cluster.files.swf import KNOWN
from cosched.core.arrays import MOST, OFTEN, integer, levels, positive, share_above
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

_KB = {"KB": 1, "MB": 1024, "GB": 1024**2, "TB": 1024**3}


@dataclass(frozen=True)
class LogMachine:
    """Nodes of a log's machine; cores and memory where the convention needs them."""

    nodes: int
    cores: int
    memory_kb: float
    said: tuple[str, ...]  # a line a number: what, and where it comes from


def rigid_machine(path: Any, header: Mapping[str, str], nodes: int | None) -> LogMachine:
    """Nodes = processors: as asked, else the header's MaxProcs (MaxNodes)."""
    if nodes is not None:
        return LogMachine(nodes, 1, 1, (f"{nodes} processors (option)",))
    for key in ("MaxProcs", "MaxNodes"):
        found = _number(header, key)
        if found:
            return LogMachine(found, 1, 1, (f"{found} processors (header: {key})",))
    raise InvalidInstance(
        f"{path}: nodes are missing: expected the number of processors (no MaxProcs in the header)"
    )


def shared_machine(
    path: Any,
    header: Mapping[str, str],
    nodes: int | None,
    cores_per_node: int | None,
    memory_per_node: float | str | None,
) -> LogMachine:
    """Nodes with cores and memory: options, the header, known machines; else a refusal."""
    known = _known(header)
    count, from_nodes = _nodes(path, header, nodes, known)
    cores, from_cores = _cores(path, header, count, cores_per_node)
    memory, from_memory = _memory(path, header, memory_per_node, known)
    said = (
        f"{count} nodes ({from_nodes})",
        f"{cores} core{'s' * (cores != 1)} a node ({from_cores})",
        f"{memory / 1024**2:.6g} GB a node ({from_memory})",
    )
    return LogMachine(count, cores, memory, said)


def memory_kb(value: Any, name: str = "memory_per_node") -> float:
    """KB of a number (KB, as in logs) or of a text with a unit, such as ``"2GB"``."""
    if not isinstance(value, str):
        return positive(value, name, "a positive number of KB, or a text as 2GB")
    found = re.fullmatch(r"\s*([0-9]+\.?[0-9]*)\s*([KMGT]B)?\s*", value, flags=re.IGNORECASE)
    if not found or float(found[1]) <= 0:
        raise InvalidInstance(f"{name} = {shorten(value)}: expected KB, or a size as 2GB")
    return float(found[1]) * _KB[(found[2] or "KB").upper()]


def _nodes(path: Any, header: Mapping[str, str], nodes: Any, known: dict[str, Any] | None):
    if nodes is not None:
        return integer(nodes, "nodes", 1), "option"
    if known is not None:
        return known["nodes"], f"known machine: {known['source']}"
    found = _number(header, "MaxNodes")
    if found:
        return found, "header: MaxNodes"
    raise InvalidInstance(
        f"{path}: nodes are missing: expected their number (the log's header has no MaxNodes)"
    )


def _cores(path: Any, header: Mapping[str, str], nodes: int, cores: Any) -> tuple[int, str]:
    if cores is not None:
        return integer(cores, "cores_per_node", 1), "option"
    processors = _number(header, "MaxProcs")
    if not processors:
        raise InvalidInstance(
            f"{path}: cores a node are unknown (no MaxProcs in the header): expected "
            "cores_per_node (--cores-per-node), or the convention rigid"
        )
    if processors % nodes:
        raise InvalidInstance(
            f"{path}: cores a node are unknown: the header's MaxProcs {processors} is no multiple "
            f"of {nodes} nodes: expected cores_per_node (--cores-per-node)"
        )
    return processors // nodes, f"header: MaxProcs {processors} / {nodes} nodes"


def _memory(path: Any, header: Mapping[str, str], memory: Any, known: dict[str, Any] | None):
    if memory is not None:
        return memory_kb(memory), "option"
    found = _number(header, "MaxMemory")
    if found:
        return float(found), "header: MaxMemory"
    if known is not None:
        return known["memory_kb"], f"known machine: {known['source']}"
    raise InvalidInstance(
        f"{path}: the memory of a node is unknown (no MaxMemory in the header): expected "
        "memory_per_node (--memory-per-node, KB or as 2GB), or the convention rigid"
    )


def _known(header: Mapping[str, str]) -> dict[str, Any] | None:
    computer, place = header.get("Computer", ""), header.get("Installation", "")
    known = (one for one in KNOWN["machines"] if one["computer"] in computer)
    return next((one for one in known if one["installation"] in place), None)


def _number(header: Mapping[str, str], key: str) -> int | None:
    found = re.match(r"[0-9]{1,18}(?!\S)", str(header.get(key, "")))
    return int(found[0]) if found and int(found[0]) > 0 else None


def overuse(jobs: pd.DataFrame, nodes: int, cause: Callable[[], str]) -> list[str]:
    """A line where jobs hold 1% more nodes (cores) than there are for more than 1% of the time."""
    if "wait" not in jobs:
        return []
    start = (jobs["submit"] + jobs["wait"]).to_numpy()
    known = ~np.isnan(start)
    if not known.any():
        return []
    end = start + jobs["runtime"].to_numpy()
    held = (jobs["tasks"] * jobs["cpu"]).to_numpy(dtype=float)
    times, level = levels(start[known], end[known], held[known])
    if share_above(times, level, MOST * nodes) <= OFTEN:
        return []
    mean = float((level[:-1] * np.diff(times)).sum() / (times[-1] - times[0])) / nodes
    return [
        f"  the log uses more than the machine has, {mean:.0%} of it on average and up to "
        f"{level.max() / nodes:.0%}: likely {cause()}"
    ]
