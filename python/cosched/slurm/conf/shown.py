"""A Slurm as ``scontrol show`` prints it: config, nodes, partitions."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.errors import InvalidInstance
from cosched.slurm.conf.lines import Line
from cosched.slurm.conf.machine import NODE_KEYS, PARTITION_KEYS
from cosched.slurm.conf.settings import HEARD

_FILES = ("scontrol_config.txt", "scontrol_node.txt", "scontrol_partition.txt")
#: What scontrol calls otherwise than slurm.conf.
_NAMES = {"cputot": "cpus", "availablefeatures": "features"}
_EMPTY = ("(null)", "n/a", "")
#: Places and lines of an output.
Lines = list[tuple[str, str]]


def read_shown(folder: str | PathLike[str]) -> tuple[list[Line], str | None]:
    """Lines as of a slurm.conf, and the version."""
    return lines_shown(*(_lines(Path(folder), name) for name in _FILES))


def lines_shown(config: Lines, nodes: Lines, parts: Lines) -> tuple[list[Line], str | None]:
    """The same of what the three commands printed."""
    settings, version = [], None
    for place, text in config:
        key, found, value = (part.strip() for part in text.partition("="))
        if key == "SLURM_VERSION":
            version = value
        value = re.sub(r"(?<=[0-9]) (sec|min)$", "", value)
        if found and key.lower() in HEARD and value.lower() not in _EMPTY:
            settings.append(Line(place, {key.lower(): value}, {key.lower(): key}))
    records = _records(nodes, "NodeName", NODE_KEYS) + _records(
        parts, "PartitionName", PARTITION_KEYS
    )
    return [*settings, *records], version


def _lines(folder: Path, name: str) -> Lines:
    path = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
    if path is None:
        raise InvalidInstance(f"{folder}: no {name}: expected {', '.join(_FILES)}")
    return placed(io.read_text(path), path.name)


def placed(text: str, name: str) -> Lines:
    """Lines of a text, each with its place."""
    return [(f"{name}:{k}", line) for k, line in enumerate(text.splitlines(), 1)]


def _records(lines: Lines, first: str, known: frozenset[str]) -> list[Line]:
    """One line for each thing that is shown, over several lines of the text."""
    records: list[Line] = []
    for place, text in lines:
        if text.startswith(f"{first}="):
            records.append(Line(place, {}, {}))
        for word in text.split() if records else ():
            key, _, value = word.partition("=")
            name = _NAMES.get(key.lower(), key.lower())
            if name in known and value.lower() not in _EMPTY:
                records[-1].keys[name], records[-1].spelled[name] = value, key
    for record in records:
        if first.lower() not in record.keys:
            raise InvalidInstance(f"{record.place}: {first}: expected a name")
    return records
