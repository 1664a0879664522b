"""Nodes as a batch system shows them, and the machine that they make."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cosched.cluster.machine.node_types import (
    NodeType,
    Partition,
    check_sums,
    host_list,
    natural,
    spans_of,
)
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, printable, shorten
from cosched.io.line_numbers import shown_lines
from cosched.notes import Note, NoteKind
from cosched.units import parse_gigabytes

#: No node has more cores or GPUs than that.
MAX_CORES = 1_000_000
#: A type of nodes is called after its hosts where their list is not longer.
_MAX_NAME_LENGTH = 60
#: So many hosts are named in a note.
_MAX_NAMED_HOSTS = 8


@dataclass(frozen=True)
class NodeRecord:
    """A node as its batch system shows it.

    Attributes
    ----------
    name : str
        Of its host.
    cores : int
        What the batch system allocates: ncpus, slots, or cores.
    memory_gb : float
        0: not shown.
    gpus : int
    gpu_type : str
    features : tuple of str
    queues : tuple of str
        Whose jobs it takes; empty: not shown.
    out_of_service : str
        The state in which it takes no job; empty: it is in service.
    """

    name: str
    cores: int
    memory_gb: float = 0.0
    gpus: int = 0
    gpu_type: str = ""
    features: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    out_of_service: str = ""


class NodeTable(NamedTuple):
    """What a reader understood."""

    records: list[NodeRecord]
    notes: list[Note]


class MachineParts(NamedTuple):
    """Types of nodes, partitions, and notes of how they were read."""

    nodes: tuple[NodeType, ...]
    partitions: tuple[Partition, ...]
    notes: tuple[Note, ...]


def machine_of_records(path: object, table: NodeTable) -> MachineParts:
    """The machine of the nodes that are in service and have cores.

    Nodes that are alike make one type. Types are in the order in which their first node comes, by
    names in natural order.

    Raises
    ------
    InvalidInstance
        No such node, or two of the same name.

    Examples
    --------
    >>> records = [NodeRecord("n2", 8), NodeRecord("g1", 16, gpus=4), NodeRecord("n1", 8),
    ...            NodeRecord("n3", 8, out_of_service="down")]
    >>> parts = machine_of_records("nodes.txt", NodeTable(records, []))
    >>> [(kind.name, kind.count, kind.cores, kind.gpus) for kind in parts.nodes]
    [('g1', 1, 16, 4), ('n[1-2]', 2, 8, 0)]
    >>> print(parts.notes[0])
    1 node is out of service (1 down): left out: n3
    """
    counts = Counter(record.name for record in table.records)
    repeated_name = next((name for name, count in counts.items() if count > 1), None)
    if repeated_name is not None:
        raise InvalidInstance(
            f"{path}: node {shorten(repeated_name)} is there {counts[repeated_name]} times: "
            "expected each node once"
        )
    notes = [*table.notes, *_notes_of_dropped_nodes(table.records)]
    records = [record for record in table.records if record.cores and not record.out_of_service]
    if not records:
        raise InvalidInstance(
            f"{path}: no node in service with cores: expected at least one of "
            f"{count_of(len(table.records), 'node')}"
        )
    records.sort(key=lambda record: natural(record.name))
    names_by_kind: dict[NodeRecord, list[str]] = {}
    for record in records:
        names_by_kind.setdefault(replace(record, name=""), []).append(record.name)
    kinds = tuple(
        _node_type(number, kind, names)
        for number, (kind, names) in enumerate(names_by_kind.items(), 1)
    )
    check_sums(path, kinds)
    partitions = _partitions_of({kind: len(names) for kind, names in names_by_kind.items()})
    notes += _notes_of_queues(records, partitions)
    return MachineParts(kinds, partitions, tuple(notes))


def _node_type(number: int, kind: NodeRecord, names: Sequence[str]) -> NodeType:
    hosts = host_list(names)
    return NodeType(
        hosts if len(hosts) <= _MAX_NAME_LENGTH else f"nodes-{number}",
        len(names),
        kind.cores,
        kind.memory_gb,
        kind.gpus,
        gpu_type=kind.gpu_type,
        features=kind.features,
    )


def _partitions_of(counts: dict[NodeRecord, int]) -> tuple[Partition, ...]:
    """Return a partition for each queue, in the order in which they come."""
    numbers_by_queue: dict[str, list[int]] = {}
    first_node = 0
    for kind, count in counts.items():
        for queue in kind.queues:
            numbers_by_queue.setdefault(queue, []).extend(range(first_node, first_node + count))
        first_node += count
    return tuple(
        Partition(queue, spans_of(numbers), math.inf, 0.0)
        for queue, numbers in numbers_by_queue.items()
    )


def _notes_of_dropped_nodes(records: Sequence[NodeRecord]) -> list[Note]:
    """Return notes of the nodes out of service, and of those without cores."""
    notes = []
    dropped_records = [record for record in records if record.out_of_service]
    if dropped_records:
        states = Counter(record.out_of_service for record in dropped_records)
        state_counts = ", ".join(f"{count} {state}" for state, count in states.most_common())
        notes.append(_note_of_nodes(dropped_records, f"out of service ({state_counts}): left out"))
    empty_records = [record for record in records if not record.cores and not record.out_of_service]
    if empty_records:
        notes.append(_note_of_nodes(empty_records, "without cores or slots: left out"))
    return notes


def _note_of_nodes(records: Sequence[NodeRecord], statement: str) -> Note:
    count = len(records)
    verb = "is" if count == 1 else "are"
    subject = statement.partition(" (")[0].partition(":")[0]
    return Note(
        NoteKind.DROPPED,
        f"{count_of(count, 'node')} {verb} {statement}: {short_host_list(records)}",
        subject=subject,
        count=count,
    )


def short_host_list(records: Iterable[NodeRecord]) -> str:
    """The hosts of some records as a list for a note, which may be cut."""
    names = sorted((record.name for record in records), key=natural)
    hosts = host_list(names)
    if len(hosts) <= _MAX_NAME_LENGTH:
        return printable(hosts)
    return printable(f"{host_list(names[:_MAX_NAMED_HOSTS])}, ...")


def _notes_of_queues(records: Sequence[NodeRecord], partitions: Sequence[Partition]) -> list[Note]:
    """Return notes that queues are partitions without time limits, and of what nodes without a
    queue are."""
    if not partitions:
        return []
    count = len(partitions)
    notes = [
        Note(
            NoteKind.ASSUMED,
            f"assumed: {count_of(count, 'queue')} as partitions without time limits and "
            "priorities, which the file does not have",
            subject="queues",
            count=count,
        )
    ]
    open_nodes = sum(not record.queues for record in records)
    if open_nodes:
        text = (
            f"assumed: {count_of(open_nodes, 'node')} of no queue: jobs of queues that the file "
            "does not name may use all nodes"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="nodes of no queue", count=open_nodes))
    return notes


def whole_number(text: str, where: str) -> int:
    """A number of cores, slots or GPUs; ``4.000000`` is one, too.

    Raises
    ------
    InvalidInstance
        It is none, or too large.

    Examples
    --------
    >>> whole_number("4.000000", "n1: num_proc")
    4
    """
    match = re.fullmatch(r"([0-9]{1,9})(?:\.0*)?", text.strip())
    if match is None or int(match[1]) > MAX_CORES:
        raise InvalidInstance(
            f"{where} = {shorten(text)}: expected a whole number from 0 to {MAX_CORES}"
        )
    return int(match[1])


def gigabytes(text: str, where: str, bare_unit: str = "") -> float:
    """An amount of memory in GB; see :func:`cosched.units.parse_gigabytes`.

    Raises
    ------
    InvalidInstance
        It is none.
    """
    amount = parse_gigabytes(text, bare_unit)
    if not 0 <= amount < math.inf:
        raise InvalidInstance(f"{where} = {shorten(text)}: expected memory such as 8gb")
    return amount


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that are not blank, with their numbers from 1; only ``\\n`` ends one."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")


def note_of_unread_lines(lines: Sequence[int], what: str) -> list[Note]:
    """A note of the lines that are left out; `what` says which, behind their number."""
    if not lines:
        return []
    places = shown_lines(sorted(lines))
    statement = f"{count_of(len(lines), 'line')} {what}: left out ({places})"
    return [Note(NoteKind.DROPPED, statement, subject="lines", count=len(lines), where=places)]


def note_of_unread(what: str, names: Iterable[str], system: str) -> list[Note]:
    """A note of the fields that nothing reads, in the order of their names."""
    unread_names = sorted(set(names))
    if not unread_names:
        return []
    listed = ", ".join(shorten(name) for name in unread_names[:_MAX_NAMED_HOSTS])
    more = ", ..." if len(unread_names) > _MAX_NAMED_HOSTS else ""
    text = f"{what} of {system} that are not read: {listed}{more}"
    return [Note(NoteKind.NOT_READ, text, subject=what, count=len(unread_names))]
