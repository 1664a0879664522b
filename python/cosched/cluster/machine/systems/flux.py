"""Flux's description of resources: R version 1 as JSON (RFC 20).

``flux resource R`` and ``flux kvs get resource.R`` print that of an instance, ``flux job info ID
R`` that of a job, ``flux R encode`` any. R has neither memory nor the state of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cosched.cluster.machine.node_types import MOST_HOSTS, hosts
from cosched.cluster.machine.systems.node_records import MAX_CORES, NodeRecord, NodeTable
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

#: A property of an instance that says to which queue its nodes belong (RFC 20, RFC 33).
_QUEUE_MARK = "+"


def read_flux_resources(data: Mapping[str, Any], path: object) -> NodeTable:
    """The nodes of R.

    Raises
    ------
    InvalidInstance
        Another version, or a value that RFC 20 does not allow: names it and what was expected.

    Examples
    --------
    >>> data = {"version": 1, "execution": {
    ...     "R_lite": [{"rank": "0-1", "children": {"core": "0-15", "gpu": "0"}}],
    ...     "nodelist": ["n[1-2]"], "properties": {"amd": "1"}}}
    >>> [(node.name, node.cores, node.gpus, node.features)
    ...  for node in read_flux_resources(data, "R").records]
    [('n1', 16, 1, ()), ('n2', 16, 1, ('amd',))]
    """
    if data.get("version") != 1 or isinstance(data.get("version"), bool):
        raise InvalidInstance(
            f"{path}: version = {shorten(data.get('version'))}: expected 1 (RFC 20)"
        )
    execution = _object(data.get("execution"), f"{path}: execution")
    sizes = _sizes_by_rank(execution, path)
    ranks = sorted(sizes)
    names = _names_of(execution, ranks, path)
    features: dict[int, list[str]] = {}
    queues: dict[int, list[str]] = {}
    properties = _object(execution.get("properties", {}), f"{path}: execution: properties")
    for name, ranks_text in properties.items():
        target = queues if name.startswith(_QUEUE_MARK) else features
        where = f"{path}: execution: properties: {shorten(name)}"
        for rank in idset(ranks_text, where, MOST_HOSTS):
            if rank not in sizes:
                raise InvalidInstance(f"{where}: rank {rank}: expected one of R_lite")
            target.setdefault(rank, []).append(name.removeprefix(_QUEUE_MARK))
    records = [
        NodeRecord(
            name,
            sizes[rank][0],
            gpus=sizes[rank][1],
            features=tuple(sorted(features.get(rank, ()))),
            queues=tuple(queues.get(rank, ())),
        )
        for rank, name in zip(ranks, names, strict=True)
    ]
    notes = [
        Note(
            NoteKind.ASSUMED,
            "assumed: all nodes are in service: R does not tell their states, nor their memory",
            subject="states",
            count=len(records),
        )
    ]
    if "scheduling" in data:
        text = "scheduling (the scheduler's own graph) is not read: execution has the nodes"
        notes.append(Note(NoteKind.NOT_READ, text, subject="scheduling"))
    if "nodelist" not in execution:
        text = f"assumed: {count_of(len(records), 'node')} without names (nodelist): rank0, ..."
        notes.append(Note(NoteKind.ASSUMED, text, subject="nodelist", count=len(records)))
    return NodeTable(records, notes)


def _object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInstance(f"{where}: expected an object, as RFC 20 has it")
    return value


def _sizes_by_rank(execution: Mapping[str, Any], path: object) -> dict[int, tuple[int, int]]:
    """Return the cores and GPUs of each rank."""
    entries = execution.get("R_lite")
    if not isinstance(entries, list) or not entries:
        raise InvalidInstance(f"{path}: execution: R_lite: expected a list of ranks")
    sizes: dict[int, tuple[int, int]] = {}
    for number, entry in enumerate(entries):
        where = f"{path}: execution: R_lite[{number}]"
        children = _object(_object(entry, where).get("children"), f"{where}: children")
        cores = len_of_idset(children.get("core"), f"{where}: core")
        gpus = len_of_idset(children.get("gpu", ""), f"{where}: gpu")
        for rank in idset(entry.get("rank"), f"{where}: rank", MOST_HOSTS):
            if rank in sizes:
                raise InvalidInstance(f"{where}: rank {rank} is there twice: expected it once")
            sizes[rank] = (cores, gpus)
    return sizes


def _names_of(execution: Mapping[str, Any], ranks: list[int], path: object) -> list[str]:
    """Return the names of the ranks in their order."""
    if "nodelist" not in execution:
        return [f"rank{rank}" for rank in ranks]
    where = f"{path}: execution: nodelist"
    texts = execution["nodelist"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InvalidInstance(f"{where}: expected a list of hosts")
    names = [name for text in texts for name in hosts(text, where)]
    if len(names) != len(ranks):
        raise InvalidInstance(
            f"{where}: {count_of(len(names), 'host')}: expected {len(ranks)}, one for each rank"
        )
    return names


def _ranges_of_idset(value: object, where: str) -> list[range]:
    """Return the ranges of an idset (RFC 22): ``0-3,7`` or ``[0-3,7]``."""
    text = value.strip() if isinstance(value, str) else None
    if text is not None and text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if text == "":
        return []
    ranges = []
    for part in text.split(",") if text is not None else [""]:
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise InvalidInstance(f"{where} = {shorten(value)}: expected numbers such as 0-3,7")
        ranges.append(range(first, last + 1))
    return ranges


def idset(value: object, where: str, max_count: int) -> list[int]:
    """The numbers of an idset.

    Raises
    ------
    InvalidInstance
        It is none, or has more numbers than `max_count`.

    Examples
    --------
    >>> idset("0-2,7", "rank", 10)
    [0, 1, 2, 7]
    """
    ranges = _ranges_of_idset(value, where)
    if sum(map(len, ranges)) > max_count:
        raise InvalidInstance(f"{where} = {shorten(value)}: more than {max_count} numbers")
    return [number for span in ranges for number in span]


def len_of_idset(value: object, where: str) -> int:
    """How many numbers an idset of cores or GPUs has."""
    count = sum(map(len, _ranges_of_idset(value, where)))
    if count > MAX_CORES:
        raise InvalidInstance(f"{where} = {shorten(value)}: more than {MAX_CORES} numbers")
    return count
