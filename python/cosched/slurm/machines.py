"""The machine of a Slurm: of its slurm.conf, or of what scontrol shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import check_sums
from cosched.slurm.accounts.shown import accounts_there, read_accounts
from cosched.slurm.conf.lines import (
    Line,
    Source,
    beside,
    parse_lines,
    read_lines,
    version_of,
)
from cosched.slurm.conf.machine import machine_of_lines
from cosched.slurm.conf.shown import lines_shown, placed, read_shown


def read_machine(
    path: str | PathLike[str],
    version: str | None = None,
    accounts: str | PathLike[str] | None = None,
) -> Machine | None:
    """What :meth:`Machine.read` reads of a Slurm; None where the file is none of it."""
    name = io.bare_name(path)
    if Path(path).is_dir():
        shown, known = read_shown(path)
        own = path if accounts is None and accounts_there(path) else accounts
        return _with_accounts(_of_slurm(path, shown, version or known), own)
    if not name.endswith(".conf"):
        return None
    types, left = beside(path)
    read = _of_slurm(path, read_lines(path), version or version_of(path), types)
    read = replace(read, slurm=replace(read.slurm, notes=read.slurm.notes + left))
    return _with_accounts(read, accounts)


def _with_accounts(machine: Machine, path: str | PathLike[str] | None) -> Machine:
    if path is None:
        return machine
    return replace(machine, slurm=replace(machine.slurm, accounts=read_accounts(path)))


def slurm_machine(content: str, name: str, version: str | None = None) -> Machine:
    """The machine of a slurm.conf that is given as text, under this name in messages."""
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
    nodes, parts, settings = machine_of_lines(path, lines, version, types or {})
    source = Source(str(path), tuple(lines), version, types or {})
    kinds = tuple(
        replace(kind, name=f"nodes-{k}", count=len(list(same)))
        for k, (kind, same) in enumerate(groupby(node.kind for node in nodes), 1)
    )
    check_sums(path, kinds)
    return Machine(kinds, tuple(parts), replace(settings, source=source))


def with_lines(machine: Machine, lines: Sequence[Line]) -> Machine:
    """The machine read again from other lines, with the same accounts."""
    old = machine.slurm
    read = _of_slurm(old.source.path, [*lines], old.source.version, old.source.gpu_types)
    kept = {"accounts": old.accounts, "approximate": old.approximate, "reserved": old.reserved}
    return replace(read, slurm=replace(read.slurm, **kept))
