"""What ``bhosts -w`` and ``lshosts -w`` of LSF (and OpenLava) print, alone or one after the other.

``bhosts`` has the job slots and the state of each host, ``lshosts`` its CPUs, memory and resources,
``lshosts -gpu`` (or ``bhosts -gpu``) its GPUs. The columns are those of the command reference of
LSF 7 to 10.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cosched.cluster.machine.systems.node_records import (
    NodeRecord,
    NodeTable,
    gigabytes,
    note_of_unread_lines,
    numbered_lines,
    whole_number,
)
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

#: States in which a host takes no job until somebody, or it, comes back. A host that is full,
#: busy, exclusive, or closed by a dispatch window is in service.
_OUT_STATES = frozenset(
    ("unavail", "unreach", "closed_adm", "closed_lock", "closed_lim", "closed_cu_adm")
)
_NOT_SHOWN = "-"
#: A command in what was copied off a screen.
_PROMPT = re.compile(r"[$%>#]\s*(bhosts|lshosts)\b")


class _Table(NamedTuple):
    """Rows of a table: the number of the line, and texts by the column's name in small letters."""

    kind: str
    rows: list[tuple[int, dict[str, str]]]


def read_lsf(text: str, path: object) -> NodeTable:
    """The hosts of these tables; those of bhosts where it is there.

    Raises
    ------
    InvalidInstance
        A row has too few fields, or a number is none: names line, host, and what was expected.

    Examples
    --------
    >>> text = (
    ...     "HOST_NAME          STATUS       JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV\\n"
    ...     "n1                 closed_Full     -     16     16     16      0      0      0\\n"
    ...     "n2                 unavail         -     16      0      0      0      0      0\\n"
    ...     "HOST_NAME      type    model  cpuf ncpus maxmem maxswp server RESOURCES\\n"
    ...     "n1           X86_64 Intel_E5  12.5    16  31.5G   4.0G    Yes (mg bigmem)\\n"
    ... )
    >>> [(node.name, node.cores, node.memory_gb, node.out_of_service)
    ...  for node in read_lsf(text, "hosts.txt").records]
    [('n1', 16, 31.5, ''), ('n2', 16, 0.0, 'unavail')]
    """
    tables, unread_lines = _tables_of(text, path)
    batch_hosts = _by_host(tables, "bhosts", path)
    static_hosts = _by_host(tables, "lshosts", path)
    gpu_counts, gpu_models = _gpus_of(tables)
    records: list[NodeRecord] = []
    notes: list[Note] = []
    names = list(batch_hosts) if batch_hosts else list(static_hosts)
    clients = [name for name in names if static_hosts.get(name, (0, {}))[1].get("server") == "No"]
    for name in names:
        if name in clients:
            continue
        gpus = (gpu_counts.get(name, 0), gpu_models.get(name, ""))
        static_row = static_hosts.get(name, (0, {}))
        records.append(_record_of(name, batch_hosts.get(name), static_row, gpus, path))
    if clients:
        text_of_note = (
            f"{count_of(len(clients), 'host')} that only submits jobs (server: No): left out"
        )
        notes.append(
            Note(NoteKind.DROPPED, text_of_note, subject="client hosts", count=len(clients))
        )
    notes += _notes_of(batch_hosts, static_hosts, records)
    notes += note_of_unread_lines(unread_lines, "outside of the tables")
    return NodeTable(records, notes)


def kind_of_header(line: str) -> str:
    """Which command prints a table with this header; empty: none of them.

    Examples
    --------
    >>> kind_of_header("HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV")
    'bhosts'
    """
    words = [word.lower() for word in line.split()]
    if words[:1] != ["host_name"]:
        return ""
    if {"status", "max"} <= set(words):
        return "bhosts"
    if {"ncpus", "maxmem"} <= set(words):
        return "lshosts"
    if "gpu_id" in words or ("model" in words and "id" in words):
        return "gpus"
    return ""


def _tables_of(text: str, path: object) -> tuple[list[_Table], list[int]]:
    """Return the tables, and the numbers of lines that are in none."""
    tables: list[_Table] = []
    unread_lines: list[int] = []
    titles: list[str] = []
    last_host = ""
    for number, line in numbered_lines(text):
        words = line.split()
        kind = kind_of_header(line)
        if words[0].lower() == "host_name":
            titles = [word.lower() for word in words] if kind else []
            last_host = ""
            if kind:
                tables.append(_Table(kind, []))
            else:
                unread_lines.append(number)
            continue
        if not titles or _PROMPT.search(line):
            titles = []
            unread_lines.append(number)
            continue
        if tables[-1].kind == "gpus" and line[0].isspace() and last_host:
            words.insert(0, last_host)
        last_host = words[0]
        tables[-1].rows.append((number, _row_of(words, titles, tables[-1].kind, path, number)))
    return tables, unread_lines


def _row_of(
    words: list[str], titles: list[str], kind: str, path: object, number: int
) -> dict[str, str]:
    """Return the fields by title; the last one has what is left, such as ``(mg bigmem)``."""
    required = {"bhosts": "max", "lshosts": "maxmem", "gpus": titles[1]}[kind]
    if len(words) <= titles.index(required):
        raise InvalidInstance(
            f"{path}: line {number}: {count_of(len(words), 'field')}: expected {len(titles)}, as "
            "the header has"
        )
    last = " ".join(words[len(titles) - 1 :])
    return dict(zip(titles, [*words[: len(titles) - 1], last], strict=False))


def _by_host(
    tables: Sequence[_Table], kind: str, path: object
) -> dict[str, tuple[int, dict[str, str]]]:
    """Return line and row by the host's name."""
    rows: dict[str, tuple[int, dict[str, str]]] = {}
    for table in tables:
        for number, row in table.rows if table.kind == kind else ():
            name = row["host_name"]
            if name in rows:
                raise InvalidInstance(
                    f"{path}: line {number}: host {shorten(name)} is in {kind} twice: expected "
                    "each host once"
                )
            rows[name] = (number, row)
    return rows


def _gpus_of(tables: Sequence[_Table]) -> tuple[dict[str, int], dict[str, str]]:
    """Number of GPUs, and their model, by host."""
    counts: dict[str, int] = {}
    models: dict[str, str] = {}
    for table in tables:
        for _, row in table.rows if table.kind == "gpus" else ():
            name = row["host_name"]
            index = row.get("gpu_id", row.get("id", _NOT_SHOWN))
            if index.isdigit():
                counts[name] = counts.get(name, 0) + 1
                models.setdefault(name, row.get("gpu_model", row.get("model", "")))
    return counts, models


def _record_of(
    name: str,
    batch_row: tuple[int, dict[str, str]] | None,
    static_row: tuple[int, dict[str, str]],
    gpus: tuple[int, str],
    path: object,
) -> NodeRecord:
    """Return slots of bhosts, else CPUs of lshosts; memory and resources of lshosts; `gpus`: number
    and model."""
    line, static = static_row
    state, slots = "", _NOT_SHOWN
    if batch_row is not None:
        number, row = batch_row
        state, slots = row["status"], row["max"]
        if slots != _NOT_SHOWN:
            whole_number(slots, f"{path}: line {number}: MAX")
    if slots == _NOT_SHOWN:
        slots = static.get("ncpus", _NOT_SHOWN)
    memory = static.get("maxmem", _NOT_SHOWN)
    place = f"{path}: line {line}"
    features = re.findall(r"[^\s()]+", static.get("resources", ""))
    return NodeRecord(
        name,
        0 if slots == _NOT_SHOWN else whole_number(slots, f"{place}: ncpus"),
        0.0 if memory == _NOT_SHOWN else gigabytes(memory, f"{place}: maxmem", "m"),
        *gpus,
        features=tuple(dict.fromkeys(features)),
        out_of_service=state if state.lower() in _OUT_STATES else "",
    )


def _notes_of(
    batch_hosts: dict[str, tuple[int, dict[str, str]]],
    static_hosts: dict[str, tuple[int, dict[str, str]]],
    records: Sequence[NodeRecord],
) -> list[Note]:
    notes = []
    if not batch_hosts:
        text = (
            "assumed: all hosts are open, and have as many slots as CPUs (ncpus): lshosts does "
            "not show it, bhosts -w does"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="slots", count=len(static_hosts)))
    closed_hosts = sum(row["status"] == "closed" for _, row in batch_hosts.values())
    if closed_hosts:
        text = (
            f"assumed: {count_of(closed_hosts, 'host')} closed for a reason that only bhosts -w "
            "shows: in service"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="closed", count=closed_hosts))
    differences = sum(
        name in batch_hosts
        and batch_hosts[name][1]["max"] not in (_NOT_SHOWN, "0")
        and row.get("ncpus", _NOT_SHOWN) != _NOT_SHOWN
        and batch_hosts[name][1]["max"] != row.get("ncpus")
        for name, (_, row) in static_hosts.items()
    )
    if differences:
        text = (
            f"assumed: {count_of(differences, 'host')} with slots (MAX) other than its CPUs "
            "(ncpus): a slot is a core"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="ncpus", count=differences))
    names = {record.name for record in records if not record.out_of_service}
    factors = {
        row.get("cpuf", _NOT_SHOWN) for name, (_, row) in static_hosts.items() if name in names
    }
    if len(factors - {_NOT_SHOWN}) > 1:
        text = f"CPU factors (cpuf) of {len(factors)} values: cores of all hosts count alike"
        notes.append(Note(NoteKind.NOT_USED, text, subject="cpuf", count=len(factors)))
    unknown_hosts = len(set(static_hosts) - set(batch_hosts)) if batch_hosts else 0
    if unknown_hosts:
        text = f"{count_of(unknown_hosts, 'host')} of lshosts that bhosts does not have: left out"
        notes.append(
            Note(NoteKind.DROPPED, text, subject="hosts of lshosts alone", count=unknown_hosts)
        )
    return notes
