"""Which batch system shows a machine in a text, by its content, and what it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from textwrap import dedent
from typing import Any

from cosched import io
from cosched.cluster.machine.systems.flux import read_flux_resources
from cosched.cluster.machine.systems.grid_engine import read_qhost_json, read_qhost_text
from cosched.cluster.machine.systems.lsf import read_lsf
from cosched.cluster.machine.systems.node_records import (
    MachineParts,
    NodeTable,
    machine_of_records,
)
from cosched.cluster.machine.systems.pbs import read_pbsnodes_json, read_pbsnodes_text
from cosched.errors import InvalidInstance
from cosched.io.foreign_formats import is_lsf_hosts, is_pbsnodes, is_qhost
from cosched.notes import Note, NoteKind


class MachineFormat(Enum):
    """An output that shows nodes. The value is what a file of it is called."""

    PBS_JSON = "what pbsnodes -av -F json printed"
    PBS_TEXT = "what pbsnodes -av printed"
    QHOST_JSON = "what qhost -F -fmt json printed"
    QHOST_TEXT = "what qhost -F printed"
    LSF = "what bhosts -w or lshosts -w printed"
    FLUX = "Flux's R (JSON)"


#: Readers of texts, and of the values of JSON texts.
_TEXT_READERS: dict[MachineFormat, Callable[[str, object], NodeTable]] = {
    MachineFormat.PBS_TEXT: read_pbsnodes_text,
    MachineFormat.QHOST_TEXT: read_qhost_text,
    MachineFormat.LSF: read_lsf,
}
_JSON_READERS: dict[MachineFormat, Callable[[Mapping[str, Any], object], NodeTable]] = {
    MachineFormat.PBS_JSON: read_pbsnodes_json,
    MachineFormat.QHOST_JSON: read_qhost_json,
    MachineFormat.FLUX: read_flux_resources,
}
_HEAD_LINES = 20


def machine_format(text: str) -> MachineFormat | None:
    """The format of a text by its first lines; None: none of these.

    Examples
    --------
    >>> machine_format("n1\\n     Mom = n1\\n     state = free\\n").name
    'PBS_TEXT'
    >>> machine_format("[[nodes]]\\ncount = 4\\n") is None
    True
    """
    if text.lstrip("\ufeff \t\r\n")[:1] == "{":
        return _format_of_json(text)
    lines = [line for line in text[:65536].splitlines() if line.strip()][:_HEAD_LINES]
    return next((name for name, matches in _TEXT_FORMATS if matches(lines)), None)


_TEXT_FORMATS: tuple[tuple[MachineFormat, Callable[[Sequence[str]], bool]], ...] = (
    (MachineFormat.QHOST_TEXT, is_qhost),
    (MachineFormat.LSF, is_lsf_hosts),
    (MachineFormat.PBS_TEXT, is_pbsnodes),
)


def _format_of_json(text: str) -> MachineFormat | None:
    """Return the format that the names in the text tell, which may be damaged."""
    names = set(re.findall(r'"([A-Za-z_]{4,40})"\s*:', text[:65536]))
    if "execution" in names and "R_lite" in names:
        return MachineFormat.FLUX
    if "nodes" in names and {"resources_available", "pbs_version", "pbs_server"} & names:
        return MachineFormat.PBS_JSON
    if "hosts" in names and {"num_proc", "arch_string"} & names:
        return MachineFormat.QHOST_JSON
    return None


def read_machine_parts(text: str, path: object) -> MachineParts | None:
    """The machine that a text shows; None where it is in none of these formats.

    Raises
    ------
    InvalidInstance
        It is damaged, or has no node in service: names the place.

    Examples
    --------
    >>> parts = read_machine_parts("n1\\n     state = free\\n     np = 8\\n", "nodes.txt")
    >>> parts.nodes[0].cores, str(parts.notes[0])
    (8, 'read as what pbsnodes -av printed')
    """
    text = dedent(text.removeprefix("\ufeff"))  # pages indent what they show
    file_format = machine_format(text)
    if file_format is None:
        return None
    if file_format in _JSON_READERS:
        value = io.parse_json(text, str(path))
        if not isinstance(value, Mapping):
            raise InvalidInstance(f"{path}: expected an object")
        table = _JSON_READERS[file_format](value, path)
    else:
        table = _TEXT_READERS[file_format](text, path)
    parts = machine_of_records(path, table)
    reading = Note(NoteKind.READING, f"read as {file_format.value}", subject="format")
    return parts._replace(notes=(reading, *parts.notes))


#: What typical words a description of a machine has, by what it is called in a message.
_TYPICAL_WORDS: dict[str, tuple[str, ...]] = {
    "machine.toml": ("[[nodes]]", "[[partitions]]", "count", "cores", "memory_gb", "gpus"),
    "a slurm.conf (its name ends in .conf)": (
        "nodename=", "partitionname=", "clustername", "realmemory", "selecttype",
    ),
    "a folder of outputs of scontrol show": (
        "nodename=", "cputot=", "availablefeatures=", "cfgtres=", "configuration data",
    ),
    MachineFormat.PBS_TEXT.value: ("state = ", "ntype = ", "resources_available", "np = ", "mom"),
    MachineFormat.PBS_JSON.value: (
        '"nodes"', '"pbs_version"', '"resources_available"', '"ncpus"', '"mom"',
    ),
    MachineFormat.QHOST_TEXT.value: ("hostname", "arch", "ncpu", "memtot", "hl:", "hc:"),
    MachineFormat.QHOST_JSON.value: (
        '"hosts"', '"num_proc"', '"arch_string"', '"mem_total"', '"m_core"',
    ),
    MachineFormat.LSF.value: ("host_name", "status", "jl/u", "max", "ncpus", "maxmem"),
    MachineFormat.FLUX.value: ('"execution"', '"r_lite"', '"children"', '"nodelist"', '"rank"'),
}  # fmt: skip


def nearest_formats(text: str, count: int = 3) -> list[str]:
    """Which formats of machines a text of none of them is most like.

    Examples
    --------
    >>> nearest_formats("NodeName=n[1-4] CPUs=8\\nPartitionName=main Nodes=ALL")[0]
    'a slurm.conf (its name ends in .conf)'
    """
    head = text[:65536].lower()
    scores = {
        name: sum(word in head for word in words) / len(words)
        for name, words in _TYPICAL_WORDS.items()
    }
    return sorted(scores, key=lambda name: -scores[name])[:count]
