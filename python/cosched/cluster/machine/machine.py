"""The machine as it is: types of nodes, and partitions with limits and priorities."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import io
from cosched.cluster.machine.node_types import (
    NodeType,
    Partition,
    check_sums,
    node_mask,
    seconds,
    spans_of,
)
from cosched.cluster.machine.systems.reader import nearest_formats, read_machine_parts
from cosched.cluster.machine.toml_writer import toml_of_machine
from cosched.core.arrays import integer, nonnegative
from cosched.core.installed import MACHINE_READERS, package_offers
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:  # The class is of a higher layer: only type checkers import it here.
    from cosched.slurm.conf.settings import SlurmSettings

#: No core has more threads than that: more are those of the node.
_MOST_THREADS = 8
_OPTIONAL = {
    "name", "memory_gb", "gpus", "sockets", "threads", "cpus", "gpu_type", "weight", "features",
}  # fmt: skip


def parse_machine_toml(
    text: str, path: str | PathLike[str]
) -> tuple[tuple[NodeType, ...], tuple[Partition, ...]]:
    """Node types and partitions; see :meth:`cosched.cluster.Machine.read`."""
    data = _tables_of_toml(text, path)
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


def _tables_of_toml(text: str, path: str | PathLike[str]) -> dict[str, Any]:
    """Return the tables of the text. Where neither text nor name are TOML, the error names the
    formats that the text is most like."""
    try:
        return io.parse_toml(text, str(path))
    except InvalidInstance:
        if io.bare_name(path).endswith(".toml"):
            raise
        first, second, third = nearest_formats(text)
        raise InvalidInstance(
            f"{path}: no description of a machine that cosched reads: expected one such as "
            f"{first}, {second}, or {third}"
        ) from None


def _tables(
    path: object, data: Mapping[str, object], name: str
) -> list[tuple[int, dict[str, Any]]]:
    tables = data.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidInstance(f"{path}: {name}: expected tables [[{name}]]")
    return list(enumerate(tables, 1))


def _checked(
    where: str, table: Mapping[str, object], required_keys: set[str], allowed_keys: set[str]
) -> None:
    missing, unknown = required_keys - set(table), set(table) - required_keys - allowed_keys
    if missing:
        raise InvalidInstance(f"{where}: no {min(missing)!r}")
    if unknown:
        expected = ", ".join(sorted(required_keys | allowed_keys))
        raise InvalidInstance(f"{where}: unknown {shorten(min(unknown))}: expected {expected}")


def _node_type(path: object, number: int, table: dict[str, Any]) -> NodeType:
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
        integer(table.get("cpus", 0), f"{where}: cpus", 0, 1_000_000),
    )


def _features(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(feature, str) for feature in value):
        raise InvalidInstance(f"{where}: features = {shorten(value)}: expected texts")
    return tuple(feature.strip() for feature in value)


def _partition(
    path: object, number: int, table: dict[str, Any], kinds: tuple[NodeType, ...]
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


def node_ranges(
    value: object, where: str, kinds: tuple[NodeType, ...]
) -> tuple[tuple[int, int], ...]:
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
                partition_names = ", ".join(places)
                raise InvalidInstance(
                    f"{where}: nodes: no type {shorten(name)}: expected {partition_names}"
                )
        return tuple(places[name] for name in value)
    if isinstance(value, str):
        ranges = []
        for text in value.split(","):
            range_match = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", text)
            if not range_match:
                raise InvalidInstance(
                    f"{where}: nodes = {shorten(value)}: expected a number, types, or 0-63,70"
                )
            first, last = int(range_match[1]), int(range_match[2] or range_match[1])
            if not first <= last < total:
                raise InvalidInstance(
                    f"{where}: nodes {shorten(text)}: expected numbers from 0 to {total - 1}"
                )
            ranges.append((first, last + 1))
        return tuple(ranges)
    return ((0, integer(value, f"{where}: nodes", 1, total)),)


@dataclass(frozen=True)
class Machine:
    """Types of nodes, and partitions. What a batch policy hands out is cores.

    Attributes
    ----------
    nodes : tuple of NodeType
    partitions : tuple of Partition
        None: one queue for all nodes.
    slurm : SlurmSettings, optional
        What a slurm.conf says beyond that: for ``slurm-backfill``, in ``cosched.slurm``.
    reading_notes : tuple of Note
        How a file of another batch system was read; no part of the machine where two are compared.

    Examples
    --------
    >>> machine = Machine((NodeType("thin", 4, 2, 8.0, 0),), ())
    >>> machine.cores, machine.node_count
    (8, 4)
    """

    nodes: tuple[NodeType, ...]
    partitions: tuple[Partition, ...] = ()
    slurm: SlurmSettings | None = None
    reading_notes: tuple[Note, ...] = field(default=(), compare=False, repr=False)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What its file has that was not understood, or is not used here."""
        if self.slurm is None:
            return self.reading_notes
        if self.slurm.approximate:
            return (*self.slurm.notes, *self.slurm.left_out)
        # That memory is handed out all other policies see to.
        heard = re.compile("selecttypeparameters=.*_memory", re.IGNORECASE)
        unused = ", ".join(
            setting for setting in self.slurm.not_covered if not heard.fullmatch(setting)
        )
        if not unused:
            return self.slurm.notes
        return (*self.slurm.notes, Note(NoteKind.NOT_USED, f"not used: {unused}", subject=unused))

    def approximated(self) -> Machine:
        """The machine on which ``slurm-backfill`` leaves out the settings that it has no rule for,
        instead of refusing them; :attr:`notes` has each, and what that may do.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
        >>> lines = ["TopologyPlugin=topology/tree", "NodeName=n[1-4]", "PartitionName=a Nodes=ALL"]
        >>> _ = path.write_text("\\n".join(lines))
        >>> notes = Machine.read(path, slurm_version="22.05").approximated().notes
        >>> [note.subject for note in notes if note.kind is cs.NoteKind.NOT_FOLLOWED]
        ['TopologyPlugin=topology/tree']
        """
        if self.slurm is None:
            return self
        return replace(self, slurm=replace(self.slurm, approximate=True))

    @property
    def cores(self) -> int:
        """Cores of all nodes."""
        return sum(kind.count * kind.cores for kind in self.nodes)

    @property
    def memory_gb(self) -> float:
        """Memory of all nodes; 0 where it is not said."""
        return float(sum(kind.count * kind.memory_gb for kind in self.nodes))

    @property
    def gpus(self) -> int:
        """GPUs of all nodes."""
        return sum(kind.count * kind.gpus for kind in self.nodes)

    @property
    def counts(self) -> tuple[str, ...]:
        """What of ``memory_gb`` and ``gpus`` it hands out beside cores: what is said of its nodes,
        and memory only where a slurm.conf's ``SelectTypeParameters`` has it."""
        memory = self.memory_gb > 0 and (self.slurm is None or self.slurm.memory_counts)
        return ("memory_gb",) * memory + ("gpus",) * (self.gpus > 0)

    @property
    def one_task_per_core(self) -> bool:
        """Whether a CPU that a job asks for becomes a core."""
        return self.slurm is not None and self.slurm.one_task_per_core

    @property
    def node_count(self) -> int:
        """Nodes of all types."""
        return sum(kind.count for kind in self.nodes)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        slurm_version: str | None = None,
        accounts: str | PathLike[str] | None = None,
    ) -> Machine:
        r"""Read a ``machine.toml``, a ``slurm.conf`` (any name that ends in ``.conf``), what
        scontrol shows, or what pbsnodes, qhost, bhosts or Flux show.

        ``[[nodes]]`` has ``count``, ``cores`` (of a node) and optionally ``name, memory_gb, gpus,
        gpu_type, sockets, threads`` (of a core), ``cpus`` (of a node, as its batch system counts
        them), ``weight, features``. ``[[partitions]]`` has
        ``name`` and optionally ``nodes`` (a number: the first ones; a list of node types; ranges
        such as ``"0-63,70"``; default all), ``max_time`` (seconds, or ``"2-00:00:00"``) and
        ``priority`` (greater comes first; default 0).

        Of a slurm.conf: ``NodeName`` (host lists ``n[1-16,20]``, CPUs, Sockets, CoresPerSocket,
        ThreadsPerCore, RealMemory, Gres, Weight, Feature), ``NodeSet``, ``PartitionName``,
        ``SchedulerParameters, SelectType, Priority*, KillWait, OverTimeLimit, CompleteWait`` and
        ``Include``, and a ``gres.conf`` beside it; nodes are numbered in the natural order of their
        names, as Slurm does. What is not understood or not used is in :attr:`notes`, once.

        Of a folder: ``scontrol_config.txt``, ``scontrol_node.txt``, ``scontrol_partition.txt``
        (also ``.gz``), as ``scontrol show config``, ``show node``, ``show partition`` print them.

        Of other batch systems, by the content of the file: ``pbsnodes -av`` (text or ``-F json``)
        of PBS and Torque, ``qhost -F -q`` (text or ``-fmt json``) of Grid Engine, ``bhosts -w`` and
        ``lshosts -w`` of LSF, one after the other, and R of Flux as JSON. What they allocate, ncpus
        or slots, are cores; nodes out of service are left out, with a note in :attr:`notes`.

        Parameters
        ----------
        slurm_version : str, optional
            Such as ``"22.05"``: what Slurm takes where SelectType is not set. Default: what
            scontrol or the comments at the begin of a slurm.conf say, else 24.11.
        accounts : path-like, optional
            Users, accounts and QOS of a Slurm with shares and limits: what ``sacctmgr -P show
            assoc``, ``sacctmgr -P show qos``, ``sacctmgr dump``, ``sshare -a -l -P`` or ``scontrol
            show assoc_mgr`` printed, one after another in a file, a script of sacctmgr, or files of
            a folder (``sacctmgr_assoc.txt, sacctmgr_qos.txt, sacctmgr_dump.txt,
            scontrol_assoc_mgr.txt, sshare.txt``). Default: those files of a folder of scontrol's
            outputs.

        Raises
        ------
        InvalidInstance
            Not such a file; names the entry, its value and what was expected.

        Examples
        --------
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
        >>> machine.slurm.parameters["bf_window"], machine.slurm.parameters["cons_tres"]
        (172800.0, 1.0)
        """
        for reader in package_offers(MACHINE_READERS):
            machine = reader(path, slurm_version, accounts)
            if machine is not None:
                return machine
        for what, value in (("slurm_version", slurm_version), ("accounts", accounts)):
            if value is not None:
                raise InvalidInstance(f"{path}: {what} is for a slurm.conf only")
        text = io.read_text(path)
        parts = read_machine_parts(text, path)
        if parts is not None:
            return cls(parts.nodes, parts.partitions, reading_notes=parts.notes)
        if not io.bare_name(path).endswith(".toml"):
            io.refuse_foreign_text(text, path)
        return cls(*parse_machine_toml(text, path))

    def write(self, path: str | PathLike[str]) -> tuple[Note, ...]:
        r"""Write a ``machine.toml``, from which :meth:`read` reads the same machine.

        Parameters
        ----------
        path : str or path-like
            Ends in ``.toml``. Replaced as a whole or not at all.

        Returns
        -------
        tuple of Note
            What the file does not have: of a Slurm its settings, and nodes out of service.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "machine.toml"
        >>> machine = Machine((NodeType("thin", 4, 2, 8.0, 0),))
        >>> machine.write(path)
        ()
        >>> Machine.read(path) == machine
        True
        """
        io.check_suffix(path, (".toml",))
        plain_machine, notes = machine_without_slurm(self)
        io.write_text(toml_of_machine(plain_machine.nodes, plain_machine.partitions), path)
        return notes


def machine_without_slurm(machine: Machine) -> tuple[Machine, tuple[Note, ...]]:
    """The machine without the settings of a slurm.conf and its nodes out of service, and notes of
    what is left out."""
    settings = machine.slurm
    if settings is None:
        return machine, ()
    notes = [
        Note(
            NoteKind.NOT_USED,
            "a machine.toml has no settings of Slurm: slurm-backfill needs the slurm.conf",
            subject="settings of Slurm",
        )
    ]
    if machine.memory_gb > 0 and not settings.memory_counts:
        text = "assumed: memory is allocated, which this Slurm does not do (SelectTypeParameters)"
        notes.append(Note(NoteKind.ASSUMED, text, subject="memory"))
    is_kept = ~node_mask(settings.down, machine.node_count)
    dropped_count = int((~is_kept).sum())
    if dropped_count:
        text = f"{count_of(dropped_count, 'node')} out of service: left out"
        notes.append(Note(NoteKind.DROPPED, text, subject="out of service", count=dropped_count))
    if not is_kept.any():
        raise InvalidInstance("no node in service: expected at least one")
    new_numbers = np.cumsum(is_kept) - 1
    kinds, first_node = [], 0
    for kind in machine.nodes:
        count = int(is_kept[first_node : first_node + kind.count].sum())
        first_node += kind.count
        if count:
            kinds.append(replace(kind, count=count))
    partitions = []
    for part in machine.partitions:
        has_node = node_mask(part.nodes, machine.node_count) & is_kept
        if has_node.any():
            partitions.append(replace(part, nodes=spans_of(new_numbers[has_node].tolist())))
        else:
            text = f"partition {shorten(part.name)} without nodes in service: left out"
            notes.append(Note(NoteKind.DROPPED, text, subject="partition", count=1))
    return Machine(tuple(kinds), tuple(partitions)), tuple(notes)


def machine_of(machine: Machine | str | PathLike[str], **how: Any) -> Machine:
    """A machine, or that of a path; `how`: see :meth:`Machine.read`."""
    return machine if isinstance(machine, Machine) else Machine.read(machine, **how)
