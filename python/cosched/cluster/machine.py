"""The machine as it is: types of nodes, and partitions with limits and priorities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.slurm_conf import Line, parse_lines, read_lines
from cosched.cluster.slurm_machine import PlainNode, machine_of_lines
from cosched.cluster.slurm_settings import SlurmSettings
from cosched.core.arrays import integer, nonnegative
from cosched.errors import InvalidInstance, shorten

#: As many parts as the core can tell apart.
_MOST_CELLS = 64


@dataclass(frozen=True)
class NodeType:
    """So many nodes of one kind.

    Attributes
    ----------
    name : str
    count, cores : int
        Nodes, and cores of each.
    memory_gb : float
        Memory of a node; 0 = not said.
    gpus : int
        GPUs of a node.

    Examples
    --------
    >>> NodeType("thin", 100, 16, 64.0, 0).cores
    16
    """

    name: str
    count: int
    cores: int
    memory_gb: float
    gpus: int


@dataclass(frozen=True)
class Partition:
    """A queue: which nodes its jobs may use, for how long, before whom.

    Attributes
    ----------
    name : str
    nodes : tuple of (int, int)
        Ranges [first, last) of node numbers, from 0 in the order of the node types.
    max_time : float
        Limit of a job (s), or infinity.
    priority : float
        Jobs of a greater one come first.

    Examples
    --------
    >>> Partition("short", ((0, 4),), 3600.0, 10.0).max_time
    3600.0
    """

    name: str
    nodes: tuple[tuple[int, int], ...]
    max_time: float
    priority: float


@dataclass(frozen=True)
class Machine:
    """Types of nodes, and partitions. What a batch policy hands out is cores.

    Attributes
    ----------
    nodes : tuple of NodeType
    partitions : tuple of Partition
        None: one queue for all nodes.
    slurm : SlurmSettings, optional
        What a slurm.conf says beyond that: for ``slurm-backfill``.

    Examples
    --------
    >>> machine = Machine((NodeType("thin", 4, 2, 8.0, 0),), ())
    >>> machine.cores, machine.node_count
    (8, 4)
    """

    nodes: tuple[NodeType, ...]
    partitions: tuple[Partition, ...] = ()
    slurm: SlurmSettings | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What its file has that was not understood."""
        return self.slurm.notes if self.slurm is not None else ()

    @property
    def cores(self) -> int:
        """Cores of all nodes."""
        return sum(kind.count * kind.cores for kind in self.nodes)

    @property
    def node_count(self) -> int:
        """Nodes of all types."""
        return sum(kind.count for kind in self.nodes)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Machine:
        r"""Read a ``machine.toml``, or a ``slurm.conf`` (any name that ends in ``.conf``).

        ``[[nodes]]`` has ``count``, ``cores`` and optionally ``name, memory_gb, gpus``.
        ``[[partitions]]`` has ``name`` and optionally ``nodes`` (a number: the first ones; a list
        of node types; ranges such as ``"0-63,70"``; default all), ``max_time`` (seconds, or
        ``"2-00:00:00"``) and ``priority`` (greater comes first; default 0).

        Of a slurm.conf: ``NodeName`` (host lists ``n[1-16,20]``, CPUs, RealMemory, Gres, Weight),
        ``PartitionName``, ``SchedulerParameters, SelectType, Priority*, KillWait, OverTimeLimit,
        CompleteWait`` and ``Include``; nodes are numbered in the natural order of their names, as
        Slurm does. What is not understood is in :attr:`notes`, once.

        Raises
        ------
        InvalidInstance
            Not such a file; names the entry, its value and what was expected.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "machine.toml"
        >>> _ = path.write_text(
        ...     '[[nodes]]\nname = "thin"\ncount = 8\ncores = 16\nmemory_gb = 64\n'
        ...     '[[partitions]]\nname = "short"\nnodes = 2\nmax_time = "1:00:00"\npriority = 1\n'
        ... )
        >>> machine = Machine.read(path)
        >>> machine.cores, machine.partitions[0].nodes, machine.partitions[0].max_time
        (128, ((0, 2),), 3600.0)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
        >>> _ = path.write_text(
        ...     "SchedulerParameters=bf_resolution=300,bf_window=2880\nNodeName=n[1-8] CPUs=16\n"
        ...     "PartitionName=main Nodes=n[1-4,8] MaxTime=60 PriorityTier=2\n"
        ... )
        >>> machine = Machine.read(path)
        >>> machine.cores, machine.partitions[0].nodes, machine.partitions[0].max_time
        (128, ((0, 4), (7, 8)), 3600.0)
        >>> machine.slurm.parameters
        {'bf_resolution': 300.0, 'bf_window': 172800.0}
        """
        if io.bare_name(path).endswith(".conf"):
            return _of_slurm(path, read_lines(path))
        data = io.parse_toml(io.read_text(path), str(path))
        kinds = tuple(_node_type(path, k, table) for k, table in _tables(path, data, "nodes"))
        if not kinds:
            raise InvalidInstance(f"{path}: no [[nodes]]: expected count and cores of each type")
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
        return cls(kinds, parts)

    def limits(self, partitions: Iterable[Any]) -> np.ndarray:
        """Time limits by the name of a partition.

        Parameters
        ----------
        partitions : iterable
            Names; others than the machine's have no limit.

        Returns
        -------
        numpy.ndarray
            Seconds, or infinity.
        """
        known = {part.name: part.max_time for part in self.partitions}
        return np.array([known.get(str(name), np.inf) for name in partitions])

    def room(self, partitions: Iterable[Any]) -> np.ndarray:
        """Cores of partitions by name: as many as a job there can have.

        Parameters
        ----------
        partitions : iterable
            Names; others than the machine's have all cores.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        InvalidInstance
            More than 64 parts.
        """
        sizes, masks = self.cells()
        cores = {
            name: int(sum(size for bit, size in enumerate(sizes.tolist()) if mask >> bit & 1))
            for name, mask in masks.items()
        }
        every = self.cores
        if self.slurm is not None and len(masks) == 1:
            cores, every = {}, next(iter(cores.values()))  # it has the jobs of all queues
        return np.array([cores.get(str(name), every) for name in partitions], dtype=np.int64)

    def cells(self) -> tuple[np.ndarray, dict[str, int]]:
        """Parts of the machine that every partition has either all or none of.

        Returns
        -------
        (numpy.ndarray, dict of str to int)
            Cores of each part, and for each partition the set of its parts as bits.

        Raises
        ------
        InvalidInstance
            More than 64 parts.
        """
        cores = np.repeat([k.cores for k in self.nodes], [k.count for k in self.nodes])
        member = np.zeros((len(cores), len(self.partitions)), dtype=bool)
        for column, part in enumerate(self.partitions):
            for first, last in part.nodes:
                member[first:last, column] = True
        kinds, first_of, place = np.unique(member, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first_of)  # parts in the order of the nodes
        number = np.empty(len(order), dtype=int)
        number[order] = np.arange(len(order))
        if len(kinds) > _MOST_CELLS:
            raise InvalidInstance(
                f"partitions divide the nodes into {len(kinds)} parts: expected at most 64"
            )
        sizes = np.bincount(number[place.reshape(-1)], weights=cores).astype(np.int64)
        masks = {
            part.name: sum(1 << int(number[k]) for k in range(len(kinds)) if kinds[k, column])
            for column, part in enumerate(self.partitions)
        }
        return sizes, masks


def slurm_machine(content: str, name: str) -> Machine:
    """The machine of a slurm.conf that is given as text, under this name in messages."""
    return _of_slurm(name, parse_lines(content, name))


def _of_slurm(path: str | PathLike[str], lines: list[Line]) -> Machine:
    nodes, parts, settings = machine_of_lines(path, lines)

    def what(node: PlainNode) -> tuple[int, float, int]:
        return node.cores, node.memory_gb, node.gpus

    kinds = tuple(
        NodeType(f"nodes-{k}", len(list(same)), *key)
        for k, (key, same) in enumerate(groupby(nodes, what), 1)
    )
    partitions = tuple(Partition(p.name, p.nodes, p.max_time, float(p.tier)) for p in parts)
    return Machine(kinds, partitions, settings)


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
    _checked(where, table, {"count", "cores"}, {"name", "memory_gb", "gpus"})
    return NodeType(
        str(table.get("name", f"nodes-{number}")),
        integer(table["count"], f"{where}: count", 1, 10_000_000),
        integer(table["cores"], f"{where}: cores", 1, 1_000_000),
        nonnegative(table.get("memory_gb", 0.0), f"{where}: memory_gb"),
        integer(table.get("gpus", 0), f"{where}: gpus", 0),
    )


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
    nodes = _node_ranges(table.get("nodes", "all"), where, kinds)
    return Partition(str(table["name"]), nodes, limit, float(priority))


def _node_ranges(
    value: Any, where: str, kinds: tuple[NodeType, ...]
) -> tuple[tuple[int, int], ...]:
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


_TIME = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,6})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?(\.[0-9]+)?")


def seconds(value: Any, name: str) -> float:
    """Seconds of a number, or of ``[days-]hours:minutes:seconds`` as Slurm writes it."""
    if isinstance(value, str):
        if value.upper() in ("UNLIMITED", "INFINITE"):
            return float("inf")
        found = _TIME.fullmatch(value.strip())
        if not found:
            raise InvalidInstance(f"{name} = {shorten(value)}: expected seconds or 2-00:00:00")
        days, a, b, c, rest = found.groups()
        parts = [int(part) for part in (a, b, c) if part is not None]
        if days is None and len(parts) == 1:
            return float(parts[0])
        if days is None and len(parts) == 2:
            parts = [0, *parts]  # minutes:seconds
        hours, minutes, rest_s = (*parts, 0, 0)[:3]
        return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest_s + float(rest or 0)
    return nonnegative(value, name, "seconds >= 0, or 2-00:00:00")
