"""The machine of a Slurm: of its slurm.conf, or of what scontrol shows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import check_sums
from cosched.errors import InvalidInstance
from cosched.slurm.accounts.accounting_dump import has_accounts, read_accounts
from cosched.slurm.conf.lines import (
    Line,
    Source,
    parse_lines,
    read_gres_conf,
    read_lines,
    version_of,
)
from cosched.slurm.conf.machine import machine_of_lines
from cosched.slurm.conf.settings import (
    NODE_KEYS,
    PARTITION_KEYS,
    READ_KEYS,
    months_of,
    settings_of,
    source_of,
)

_FILES = ("scontrol_config.txt", "scontrol_node.txt", "scontrol_partition.txt")
#: What scontrol calls otherwise than slurm.conf.
_NAMES = {"cputot": "cpus", "availablefeatures": "features"}
_EMPTY = ("(null)", "n/a", "")
#: Places and lines of an output.
Lines = list[tuple[str, str]]


def lines_shown(config: Lines, nodes: Lines, parts: Lines) -> tuple[list[Line], str | None]:
    """Return lines as of a slurm.conf, and the version, of what the three commands printed."""
    settings, version = [], None
    for place, text in config:
        key, equals, value = (part.strip() for part in text.partition("="))
        if key == "SLURM_VERSION":
            version = value
        value = re.sub(r"(?<=[0-9]) (sec|min)$", "", value)
        if equals and key.lower() in READ_KEYS and value.lower() not in _EMPTY:
            settings.append(Line(place, {key.lower(): value}, {key.lower(): key}))
    records = _records(nodes, "NodeName", NODE_KEYS) + _records(
        parts, "PartitionName", PARTITION_KEYS
    )
    return [*settings, *records], version


def _lines(folder: Path, name: str) -> Lines:
    """Return the lines of a file of the folder, with their places; it may be packed."""
    path = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
    if path is None:
        raise InvalidInstance(f"{folder}: no {name}: expected {', '.join(_FILES)}")
    return placed(io.read_text(path), path.name)


def placed(text: str, name: str) -> Lines:
    """Return lines of a text, each with its place."""
    return [(f"{name}:{k}", line) for k, line in enumerate(text.splitlines(), 1)]


def _records(lines: Lines, first: str, known_keys: frozenset[str]) -> list[Line]:
    """Return one line for each thing that is shown, over several lines of the text."""
    records: list[Line] = []
    for place, text in lines:
        if text.startswith(f"{first}="):
            records.append(Line(place, {}, {}))
        for word in text.split() if records else ():
            key, _, value = word.partition("=")
            name = _NAMES.get(key.lower(), key.lower())
            if name in known_keys and value.lower() not in _EMPTY:
                records[-1].keys[name], records[-1].spellings[name] = value, key
    for record in records:
        if first.lower() not in record.keys:
            raise InvalidInstance(f"{record.place}: {first}: expected a name")
    return records


def read_machine(
    path: str | PathLike[str],
    version: str | None = None,
    accounts: str | PathLike[str] | None = None,
) -> Machine | None:
    """Return what :meth:`Machine.read` reads of a Slurm; None where the file is none of it."""
    name = io.bare_name(path)
    if version:
        months_of(version)  # refuses what is no version
    if Path(path).is_dir():
        lines, shown_version = lines_shown(*(_lines(Path(path), name) for name in _FILES))
        accounts_path = path if accounts is None and has_accounts(path) else accounts
        return _with_accounts(_of_slurm(path, lines, version or shown_version), accounts_path)
    if not name.endswith(".conf"):
        return None
    gpu_types, gres_notes = read_gres_conf(path)
    machine = _of_slurm(path, read_lines(path), version or version_of(path), gpu_types)
    machine = replace(
        machine,
        slurm=replace(settings_of(machine), notes=settings_of(machine).notes + gres_notes),
    )
    return _with_accounts(machine, accounts)


def _with_accounts(machine: Machine, path: str | PathLike[str] | None) -> Machine:
    """Return the machine with the accounts of a file or folder."""
    if path is None:
        return machine
    settings = settings_of(machine)
    lines = source_of(machine).lines
    names = [line.keys.get("clustername", "") for line in lines if not line.record]
    dump = read_accounts(path, next(filter(None, names), ""))
    return replace(
        machine, slurm=replace(settings, accounts=dump, notes=settings.notes + dump.notes)
    )


def slurm_machine(content: str, name: str, version: str | None = None) -> Machine:
    """Return the machine of a slurm.conf that is given as text, under this name in messages."""
    return _of_slurm(name, parse_lines(content, name), version)


def machine_shown(config: str, nodes: str, partitions: str) -> Machine:
    """Machine of what ``scontrol show config``, ``show node``, ``show partition`` printed."""
    names = ("scontrol_config.txt", "scontrol_node.txt", "scontrol_partition.txt")
    texts = (placed(t, name) for t, name in zip((config, nodes, partitions), names, strict=True))
    lines, version = lines_shown(*texts)
    return _of_slurm("snapshot", lines, version)


def _of_slurm(
    path: str | PathLike[str],
    lines: list[Line],
    version: str | None,
    types: Mapping[str, str] | None = None,
) -> Machine:
    """Return the machine of these lines of a slurm.conf."""
    nodes, parts, settings = machine_of_lines(path, lines, version, types or {})
    source = Source(str(path), tuple(lines), version, types or {})
    kinds = tuple(
        replace(kind, name=f"nodes-{k}", count=len(list(same)))
        for k, (kind, same) in enumerate(groupby(node.kind for node in nodes), 1)
    )
    check_sums(path, kinds)
    return Machine(kinds, tuple(parts), replace(settings, source=source))


def with_lines(machine: Machine, lines: Sequence[Line]) -> Machine:
    """Return the machine read again from other lines, with the same accounts."""
    settings, source = settings_of(machine), source_of(machine)
    machine_read_again = _of_slurm(source.path, [*lines], source.version, source.gpu_types)
    settings_read_again = replace(
        settings_of(machine_read_again),
        accounts=settings.accounts,
        approximate=settings.approximate,
        reserved=settings.reserved,
    )
    return replace(machine_read_again, slurm=settings_read_again)
