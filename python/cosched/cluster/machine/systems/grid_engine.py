"""What ``qhost -F`` of Grid Engine prints, also with ``-q``, and ``qhost -F -fmt json``.

The columns are those of SGE 6.2, Son of Grid Engine 8, Univa 8 and Open Cluster Scheduler 9; the
lines below a host are described in qhost(1), the JSON in the schema ocs-qhost-root (9.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosched.cluster.machine.systems.node_records import (
    MAX_CORES,
    NodeRecord,
    NodeTable,
    gigabytes,
    note_of_unread_lines,
    numbered_lines,
    whole_number,
)
from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind

#: ``hl:mem_total=15.617G``: g or h for whose value it is, then where it is from, then the name.
_RESOURCE_LINE = re.compile(r"\s+([gh])([lLcf]):([^=\s]+)=(.*)$")
#: ``all.q  BIP  0/12/64  au``: reserved (since 6.2), used and all slots, and states.
_QUEUE_LINE = re.compile(r"\s+(\S+)\s+([A-Z]+|-)\s+(?:(\d+)/)?(\d+)/(\d+)(?:\s+([A-Za-z]+))?\s*$")
#: States of a queue instance in which it starts no job until somebody enables it.
_OUT_QUEUE_STATES = frozenset("udDEoc")
#: Complexes of GPUs, in small letters.
_GPU_NAMES = re.compile(r"(n?gpus?|nvidia_gpus?|cuda|cuda_devices)", re.IGNORECASE)
_HEADER = ("HOSTNAME", "NCPU")
_NOT_SHOWN = "-"


@dataclass
class _Queue:
    """A queue on a host."""

    name: str
    used_slots: int
    slots: int
    states: str


@dataclass
class _Host:
    """A host, as text or as JSON has it."""

    name: str
    where: str
    #: Texts by the column's name, in small letters.
    columns: dict[str, str]
    #: Source (``hc``) and text by the name of the resource.
    resources: dict[str, tuple[str, str]] = field(default_factory=dict)
    queues: list[_Queue] = field(default_factory=list)


def read_qhost_text(text: str, path: object) -> NodeTable:
    """The hosts of ``qhost -F``, with or without ``-q``.

    Raises
    ------
    InvalidInstance
        A line is not what qhost prints: names the line, and what was expected.

    Examples
    --------
    >>> text = (
    ...     "HOSTNAME   ARCH       NCPU NSOC NCOR NTHR  LOAD  MEMTOT  MEMUSE  SWAPTO  SWAPUS\\n"
    ...     "-------------------------------------------------------------------------\\n"
    ...     "global     -             -    -    -    -     -       -       -       -       -\\n"
    ...     "n1         lx-amd64      8    1    4    8  0.10   16.0G    1.0G    2.0G     0.0\\n"
    ... )
    >>> [(node.name, node.cores, node.memory_gb) for node in read_qhost_text(text, "q").records]
    [('n1', 8, 16.0)]
    """
    titles: list[str] = []
    hosts: list[_Host] = []
    unread_lines: list[int] = []
    for number, line in numbered_lines(text):
        words = line.split()
        if set(line.strip()) == {"-"}:
            continue
        if words[0] == _HEADER[0]:
            titles = [word.lower() for word in words]
        elif not titles:
            unread_lines.append(number)
        elif not line[0].isspace():
            where = f"{path}: line {number}"
            if len(words) != len(titles):
                raise InvalidInstance(
                    f"{where}: {count_of(len(words), 'field')}: expected {len(titles)}, as the "
                    "header has"
                )
            host = _Host(words[0], where, dict(zip(titles, words, strict=True)))
            hosts.append(host)
        elif not hosts or not _add_line(hosts[-1], line, f"{path}: line {number}"):
            unread_lines.append(number)
    what = "that are no host, resource or queue, such as jobs"
    return _table_of(hosts, note_of_unread_lines(unread_lines, what))


def _add_line(host: _Host, line: str, where: str) -> bool:
    """Add a resource or a queue to its host; False where the line is none of them."""
    resource = _RESOURCE_LINE.match(line)
    if resource is not None:
        owner, source, name, value = resource.groups()
        host.resources[name] = (owner + source, value.partition(" (")[0].strip())
        return True
    queue = _QUEUE_LINE.match(line)
    if queue is None:
        return False
    name, _, _, used, slots, states = queue.groups()
    host.queues.append(
        _Queue(
            name,
            whole_number(used, f"{where}: used slots"),
            whole_number(slots, f"{where}: slots"),
            states or "",
        )
    )
    return True


def read_qhost_json(data: Mapping[str, Any], path: object) -> NodeTable:
    """The hosts of ``qhost -F -q -fmt json``.

    Raises
    ------
    InvalidInstance
        A value is not what qhost prints: names host, field and what was expected.

    Examples
    --------
    >>> host = {"name": "n1", "num_proc": 8, "mem_total": 17179869184, "load_avg": 0.1}
    >>> read_qhost_json({"hosts": [host]}, "qhost.json").records
    [NodeRecord(name='n1', cores=8, memory_gb=16.0, ...)]
    """
    entries = data.get("hosts")
    if not isinstance(entries, list):
        raise InvalidInstance(f"{path}: hosts: expected a list")
    hosts = []
    for number, entry in enumerate(entries):
        where = f"{path}: hosts[{number}]"
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise InvalidInstance(f"{where}: expected an object with a name")
        hosts.append(_host_of_json(entry, where))
    return _table_of(hosts, [])


def _host_of_json(entry: Mapping[str, Any], where: str) -> _Host:
    memory = entry.get("mem_total")
    columns = {
        "ncpu": _text(entry.get("num_proc")),
        "nsoc": _text(entry.get("m_socket")),
        "ncor": _text(entry.get("m_core")),
        "nthr": _text(entry.get("m_thread")),
        "load": _text(entry.get("load_avg")),
        "memtot": _text(memory),
    }
    host = _Host(entry["name"], where, columns)
    for resource in _objects(entry, "resources", where):
        host.resources[_text(resource.get("name"))] = (
            _text(resource.get("dominance")),
            _text(resource.get("value")),
        )
    for queue in _objects(entry, "queues", where):
        host.queues.append(
            _Queue(
                _text(queue.get("name")),
                whole_number(_text(queue.get("slots_used")), f"{where}: queues: slots_used"),
                whole_number(_text(queue.get("slots")), f"{where}: queues: slots"),
                _text(queue.get("state_string")).strip("-"),
            )
        )
    return host


def _text(value: object) -> str:
    return _NOT_SHOWN if value is None or isinstance(value, (bool, list, dict)) else str(value)


def _objects(entry: Mapping[str, Any], name: str, where: str) -> list[Mapping[str, Any]]:
    values = entry.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
        raise InvalidInstance(f"{where}: {name}: expected a list of objects")
    return values


def _table_of(hosts: Sequence[_Host], notes: list[Note]) -> NodeTable:
    """Return nodes, and notes of how their slots, cores and GPUs were counted."""
    hosts = [host for host in hosts if host.name != "global"]
    records = [_record_of(host) for host in hosts]
    good_pairs = [
        (host, record)
        for host, record in zip(hosts, records, strict=True)
        if not record.out_of_service
    ]
    differences = sum(_column(host, "ncor") not in (0, record.cores) for host, record in good_pairs)
    if differences:
        text = (
            f"assumed: {count_of(differences, 'host')} with slots other than its physical cores: "
            "a slot is a core"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="slots", count=differences))
    without_slots = sum(not _has_slots(host) for host, _ in good_pairs)
    if without_slots:
        text = (
            f"assumed: {count_of(without_slots, 'host')} without slots (qhost -F -q shows them): "
            "NCPU is its number of slots"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="NCPU", count=without_slots))
    consumed = sum(
        record.gpus > 0 and (_gpu_resource(host) or ("", ""))[0][1:] == "c"
        for host, record in good_pairs
    )
    if consumed:
        text = (
            f"assumed: GPUs of {count_of(consumed, 'host')} are those that were free when qhost "
            "was asked: it does not show how many there are"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="GPUs", count=consumed))
    return NodeTable(records, notes)


def _record_of(host: _Host) -> NodeRecord:
    state = _out_state(host)
    if state:
        return NodeRecord(host.name, 0, out_of_service=state)
    gpu_resource = _gpu_resource(host)
    queues = (queue.name for queue in host.queues if not _is_out(queue))
    return NodeRecord(
        host.name,
        _slots_of(host),
        _memory_of(host),
        whole_number(gpu_resource[1], f"{host.where}: GPUs") if gpu_resource else 0,
        queues=tuple(dict.fromkeys(queues)),
    )


def _out_state(host: _Host) -> str:
    """Return why a host takes no job; empty: it takes jobs."""
    if host.columns.get("load", "0") == _NOT_SHOWN or not _column(host, "ncpu"):
        return "without an answer of its execution daemon"
    if host.queues and all(_is_out(queue) for queue in host.queues):
        return "with all queues disabled"
    return ""


def _is_out(queue: _Queue) -> bool:
    return bool(_OUT_QUEUE_STATES & set(queue.states))


def _column(host: _Host, name: str) -> int:
    """Return the number in a column; 0 where the host does not show it."""
    text = host.columns.get(name, _NOT_SHOWN)
    return 0 if text == _NOT_SHOWN else whole_number(text, f"{host.where}: {name.upper()}")


def _has_slots(host: _Host) -> bool:
    return bool(host.queues)


def _slots_of(host: _Host) -> int:
    """Return the slots of a host: its own number, where it has one, else those of its largest
    queue.

    ``hc:slots`` is what is free of the host's own number, so that used ones are added; queues
    share the slots of a host, so that only a host's own number lets them add up.
    """
    if not host.queues:
        return _column(host, "ncpu")
    slots = sum(queue.slots for queue in host.queues if not _is_out(queue))
    source, free_slots = host.resources.get("slots", ("", ""))
    if source == "hc" and re.fullmatch(r"[0-9]{1,9}(\.0*)?", free_slots):
        used_slots = sum(queue.used_slots for queue in host.queues)
        return min(slots, int(float(free_slots)) + used_slots, MAX_CORES)
    return max(queue.slots for queue in host.queues if not _is_out(queue))


def _memory_of(host: _Host) -> float:
    """Return GB: ``hl:mem_total`` has more digits than the column."""
    source, text = host.resources.get("mem_total", ("", ""))
    if source[1:] not in ("l", "L", "f"):
        text = host.columns.get("memtot", _NOT_SHOWN)
    if text == _NOT_SHOWN:
        return 0.0
    return gigabytes(text, f"{host.where}: mem_total")


def _gpu_resource(host: _Host) -> tuple[str, str] | None:
    """Return the source and number of the first complex that counts GPUs; None: there is none."""
    for name, (source, text) in host.resources.items():
        is_number = re.fullmatch(r"[0-9]{1,9}(\.0*)?", text)
        if _GPU_NAMES.fullmatch(name) and is_number and source[:1] != "g":
            return source, text
    return None
