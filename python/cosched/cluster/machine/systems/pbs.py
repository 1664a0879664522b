"""What ``pbsnodes -av`` of PBS Pro, OpenPBS and Torque prints, as text or as JSON.

The forms are those of pbsnodes.c of OpenPBS 18 to 23 (``-F json`` and the text) and of Torque 2 to
6.1; the attributes are described in pbs_node_attributes(7B), the states in its entry ``state``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cosched.cluster.machine.systems.node_records import (
    NodeRecord,
    NodeTable,
    gigabytes,
    note_of_unread,
    note_of_unread_lines,
    numbered_lines,
    whole_number,
)
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

#: States in which a node takes no job, in small letters. A node that sleeps to save power wakes up.
_OUT_STATES = (
    "offline", "down", "state-unknown", "stale", "unresolvable", "maintenance", "unknown",
)  # fmt: skip
_RESOURCE = "resources_available."
#: Resources that are read, and those of which nothing is said: PBS has them on every node.
_READ_RESOURCES = {"ncpus", "mem", "ngpus", "naccelerators", "accelerator_model", "host", "Qlist"}
_USUAL_RESOURCES = {"arch", "vnode", "vmem", "accelerator_memory", "hbmem", "vntype", "accelerator"}
_TRUE = ("true", "yes")
#: A name in the first column; a status that a screen has folded has other characters, too.
_NODE_LINE = re.compile(r"[^\s=,]+")
_PHYSICAL_MEMORY = re.compile(r"(?:^|,)physmem=([0-9]+[a-z]*)(?:,|$)", re.IGNORECASE)
_CPUS_OF_STATUS = re.compile(r"(?:^|,)ncpus=([0-9]+)(?:,|$)")


class Vnode(NamedTuple):
    """A node, or a part of one, with its attributes; `where`: for messages."""

    name: str
    where: str
    #: Texts by name, of resources ``resources_available.ncpus``.
    attributes: dict[str, str]


def read_pbsnodes_json(data: Mapping[str, Any], path: object) -> NodeTable:
    """The nodes of ``pbsnodes -av -F json``.

    Raises
    ------
    InvalidInstance
        A value is not what PBS prints: names node, attribute, value, and what was expected.

    Examples
    --------
    >>> nodes = {"n1": {"state": "free", "resources_available": {"ncpus": 4, "mem": "8gb"}}}
    >>> read_pbsnodes_json({"nodes": nodes}, "nodes.json").records
    [NodeRecord(name='n1', cores=4, memory_gb=8.0, ...)]
    """
    nodes = data.get("nodes")
    if not isinstance(nodes, Mapping):
        raise InvalidInstance(f"{path}: nodes: expected an object by the names of nodes")
    vnodes = []
    for name, attributes in nodes.items():
        where = f"{path}: node {shorten(name)}"
        if not isinstance(attributes, Mapping):
            raise InvalidInstance(f"{where}: expected an object of attributes")
        vnodes.append(Vnode(name, where, _flat_texts(attributes, where)))
    return _table_of(vnodes, [])


def _flat_texts(attributes: Mapping[str, Any], where: str) -> dict[str, str]:
    """Return the attributes as the text form has them; lists and further objects are passed
    over."""
    texts: dict[str, str] = {}
    for key, value in attributes.items():
        if key == "resources_available":
            if not isinstance(value, Mapping):
                raise InvalidInstance(f"{where}: resources_available: expected an object")
            texts |= {f"{_RESOURCE}{name}": _text(resource) for name, resource in value.items()}
        elif not isinstance(value, (Mapping, list)):
            texts[key] = _text(value)
    return texts


def _text(value: object) -> str:
    return "" if value is None else str(value)


def read_pbsnodes_text(text: str, path: object) -> NodeTable:
    """The nodes of ``pbsnodes -av``, or of ``pbsnodes -a`` of Torque.

    Raises
    ------
    InvalidInstance
        As :func:`read_pbsnodes_json`, with the line.

    Examples
    --------
    >>> text = "n1\\n     state = free\\n     np = 8\\n     gpus = 2\\n\\nn2\\n     state = down\\n"
    >>> table = read_pbsnodes_text(text, "nodes.txt")
    >>> [(record.name, record.cores, record.out_of_service) for record in table.records]
    [('n1', 8, ''), ('n2', 0, 'down')]
    """
    vnodes: list[Vnode] = []
    unread_lines: list[int] = []
    for number, line in numbered_lines(text):
        key, equals, value = (part.strip() for part in line.partition(" = "))
        if _NODE_LINE.fullmatch(line.rstrip()):
            vnodes.append(Vnode(line.strip(), f"{path}: line {number}", {}))
        elif line.rstrip().endswith(" =") and line[0].isspace() and vnodes:
            vnodes[-1].attributes[line.strip().removesuffix("=").strip()] = ""
        elif equals and vnodes and line[0].isspace():
            vnodes[-1].attributes[key] = value
        else:
            unread_lines.append(number)
    nodes = [vnode for vnode in vnodes if vnode.attributes]
    unread_lines += [int(v.where.rpartition(" ")[2]) for v in vnodes if not v.attributes]
    notes = note_of_unread_lines(unread_lines, "that are no node and no attribute")
    return _table_of(nodes, notes)


def _table_of(vnodes: Sequence[Vnode], notes: list[Note]) -> NodeTable:
    is_torque = any(
        {"np", "ntype"} & vnode.attributes.keys()
        and f"{_RESOURCE}ncpus" not in vnode.attributes
        and vnode.attributes.get("ntype", "cluster") == "cluster"
        for vnode in vnodes
    )
    if is_torque:
        return NodeTable(
            [_torque_node(vnode) for vnode in vnodes], [*notes, *_torque_notes(vnodes)]
        )
    return _pbs_table(vnodes, notes)


# --- PBS Pro and OpenPBS --------------------------------------------------------------------------


def _pbs_table(vnodes: Sequence[Vnode], notes: list[Note]) -> NodeTable:
    """Return the nodes: vnodes of one host make one, since chunks of a job may lie on several of
    them."""
    by_host: dict[str, list[NodeRecord]] = {}
    unread_resources: set[str] = set()
    cpu_differences = 0
    queue_lists = 0
    for vnode in vnodes:
        attributes = vnode.attributes
        host = attributes.get(f"{_RESOURCE}host") or vnode.name
        record = _pbs_vnode(vnode)
        by_host.setdefault(host, []).append(record)
        unread_resources |= _unread_resources(attributes)
        cpus_of_host = attributes.get("pcpus", "")
        is_whole_host = record.cores and cpus_of_host.isdigit() and not record.out_of_service
        cpu_differences += bool(is_whole_host and int(cpus_of_host) != record.cores)
        queue_lists += bool(attributes.get(f"{_RESOURCE}Qlist"))
    records = [_merged(host, parts) for host, parts in by_host.items()]
    merged_parts = sum(len(parts) for parts in by_host.values() if len(parts) > 1)
    if merged_parts:
        host_count = sum(len(parts) > 1 for parts in by_host.values())
        text = (
            f"assumed: {merged_parts} vnodes of {count_of(host_count, 'host')}: "
            "the vnodes of a host are one node"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="vnodes", count=merged_parts))
    if cpu_differences:
        text = (
            f"assumed: {count_of(cpu_differences, 'node')} with ncpus other than pcpus: "
            "ncpus, which PBS allocates, is its number of cores"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="pcpus", count=cpu_differences))
    if queue_lists:
        text = f"assumed: Qlist of {count_of(queue_lists, 'node')} names the queues it serves"
        notes.append(Note(NoteKind.ASSUMED, text, subject="Qlist", count=queue_lists))
    notes += note_of_unread("resources", unread_resources, "pbsnodes")
    return NodeTable(records, notes)


def _pbs_vnode(vnode: Vnode) -> NodeRecord:
    attributes = vnode.attributes

    def resource(name: str) -> str:
        return attributes.get(f"{_RESOURCE}{name}", "")

    def number(*names: str) -> int:
        for name in names:
            if resource(name):
                return whole_number(resource(name), f"{vnode.where}: {_RESOURCE}{name}")
        return 0

    memory = resource("mem")
    queues = [attributes.get("queue", ""), *resource("Qlist").split(",")]
    flags = (
        key.removeprefix(_RESOURCE)
        for key, value in attributes.items()
        if key.startswith(_RESOURCE) and value.lower() in _TRUE
    )
    gpus = number("ngpus", "naccelerators")
    return NodeRecord(
        vnode.name,
        number("ncpus"),
        gigabytes(memory, f"{vnode.where}: {_RESOURCE}mem") if memory else 0.0,
        gpus,
        resource("accelerator_model") if gpus else "",
        tuple(sorted(flags)),
        tuple(dict.fromkeys(queue.strip() for queue in queues if queue.strip())),
        out_state(attributes.get("state", "")),
    )


def out_state(state: str) -> str:
    """The first of the states of a node in which it takes no job; empty: it takes jobs.

    Examples
    --------
    >>> out_state("job-busy,offline"), out_state("free"), out_state("state-unknown,down")
    ('offline', '', 'down')
    """
    states = [part.strip().lower() for part in state.split(",")]
    return next((name for name in _OUT_STATES if name in states), "")


def _unread_resources(attributes: Mapping[str, str]) -> set[str]:
    """Return the names of custom resources that are not read: no switches that are on or off."""
    names = {
        key.removeprefix(_RESOURCE)
        for key, value in attributes.items()
        if key.startswith(_RESOURCE) and value.lower() not in (*_TRUE, "false", "no")
    }
    return names - _READ_RESOURCES - _USUAL_RESOURCES


def _merged(host: str, parts: Sequence[NodeRecord]) -> NodeRecord:
    """Return one node of the vnodes of a host that are in service; of none, a node out of
    service."""
    good_parts = [part for part in parts if not part.out_of_service]
    if not good_parts:
        return NodeRecord(host, 0, out_of_service=parts[0].out_of_service)
    return NodeRecord(
        host,
        sum(part.cores for part in good_parts),
        sum(part.memory_gb for part in good_parts),
        sum(part.gpus for part in good_parts),
        next((part.gpu_type for part in good_parts if part.gpu_type), ""),
        tuple(sorted({feature for part in good_parts for feature in part.features})),
        tuple(dict.fromkeys(queue for part in good_parts for queue in part.queues)),
    )


# --- Torque ---------------------------------------------------------------------------------------


def _torque_node(vnode: Vnode) -> NodeRecord:
    """Return a node: np is the number of slots that Torque allocates."""
    attributes = vnode.attributes
    status = attributes.get("status", "")
    memory = _PHYSICAL_MEMORY.search(status)
    gpus = attributes.get("gpus", "")
    return NodeRecord(
        vnode.name,
        whole_number(attributes.get("np", "0") or "0", f"{vnode.where}: np"),
        gigabytes(memory[1], f"{vnode.where}: physmem") if memory else 0.0,
        whole_number(gpus, f"{vnode.where}: gpus") if gpus else 0,
        "",
        tuple(part.strip() for part in attributes.get("properties", "").split(",") if part.strip()),
        (),
        out_state(attributes.get("state", "")),
    )


def _torque_notes(vnodes: Sequence[Vnode]) -> list[Note]:
    """Return notes that slots are cores where the host has another number of CPUs, and of nodes
    without memory."""
    differences = 0
    for vnode in vnodes:
        slots = vnode.attributes.get("np", "")
        cpus = vnode.attributes.get("total_cores", "")
        if not cpus:
            match = _CPUS_OF_STATUS.search(vnode.attributes.get("status", ""))
            cpus = match[1] if match else ""
        differences += bool(cpus and slots and cpus != slots)
    if not differences:
        return []
    text = (
        f"assumed: {count_of(differences, 'node')} with np other than its number of CPUs: np, the "
        "slots that Torque allocates, is its number of cores"
    )
    return [Note(NoteKind.ASSUMED, text, subject="np", count=differences)]
