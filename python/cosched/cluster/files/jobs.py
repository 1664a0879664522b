"""Jobs of a file of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from cosched import io
from cosched.cluster.files.events import read_events
from cosched.cluster.files.logs import read_log
from cosched.cluster.files.sacct import read_sacct
from cosched.cluster.files.tables import read_csv, read_json
from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance, shorten


class Given(NamedTuple):
    """What a file says, before anything is checked."""

    jobs: Any
    nodes: int
    notes: tuple[str, ...] = ()
    source: str = ""  # name of the log; empty: a table, whose jobs are none of a log's
    lines: tuple[int, ...] = ()  # by job, of a .csv file
    begins: datetime | None = None  # when the clock of a log is 0


def read_jobs(
    path: str | PathLike[str],
    nodes: int | None,
    convention: str | None,
    of_logs: dict[str, Any],
    drop: str | Iterable[str] | None,
    machine: Machine | None,
    of_sacct: dict[str, Any],
) -> Given:
    """Jobs of a log (.swf, .events, sacct), where `drop` has been heeded, or of a table (.csv,
    .json); `of_sacct`: timezone, delimiter, include_running."""
    said: tuple[str, ...] = ()
    if machine is not None:
        if nodes is not None and nodes != machine.cores:
            ignored = f"nodes = {shorten(nodes)}"
            said = (f"assumed: {ignored} is not used: the machine has {machine.cores} cores",)
        nodes = machine.cores
        if convention not in (None, "rigid"):
            raise InvalidInstance(f"{path}: with a machine expected the convention rigid")
        convention = "rigid" if io.bare_name(path).endswith(".swf") else None
    name = Path(path).name
    events = io.bare_name(path).endswith(".events")
    if not events and _of_sacct(path, of_sacct["delimiter"]):
        if machine is None:
            raise InvalidInstance(f"{path}: sacct output: expected a machine (--machine)")
        part = _part(path, of_logs)
        given = {name: value for name, value in of_sacct.items() if value}
        jobs, notes, begins = read_sacct(path, machine, drop=drop, **part, **given)
        return Given(jobs, machine.cores, (*notes, *said), name, begins=begins)
    for argument, value in of_sacct.items():
        if value:
            said_of = f"{argument} = {shorten(value)}"
            raise InvalidInstance(f"{path}: {said_of} is for sacct output only")
    if events:
        if machine is None:
            raise InvalidInstance(f"{path}: submissions: expected a machine (--machine)")
        jobs, notes = read_events(path, machine, drop=drop, **_part(path, of_logs))
        return Given(jobs, machine.cores, (*notes, *said), name)
    if io.bare_name(path).endswith(".swf"):
        log = read_log(path, nodes, convention or "dfrs", drop=drop, of_machine=machine, **of_logs)
        return Given(log.jobs, log.nodes, (*log.notes, *said), name, begins=log.begins)
    for argument, value in {"convention": convention, **of_logs}.items():
        if value is not None:
            ignored = f"{argument} = {shorten(value)}"
            raise InvalidInstance(f"{path}: {ignored} is for .swf logs only")
    found = _table(path, nodes)
    return found._replace(notes=(*found.notes, *said))


def _part(path: Any, of_logs: dict[str, Any]) -> dict[str, Any]:
    """What of a log is wanted; how large nodes are is the machine's to say."""
    for argument in ("cores_per_node", "memory_per_node"):
        if of_logs[argument] is not None:
            raise InvalidInstance(f"{path}: {argument}: the machine says it")
    return {name: of_logs[name] for name in ("week", "begin", "until")}


def _of_sacct(path: str | PathLike[str], delimiter: str | None) -> bool:
    """Whether sacct printed it: by the name, else by marks between the fields of its first line."""
    name = io.bare_name(path)
    if name.endswith((".txt", ".sacct", ".swf", ".json")) or not Path(path).is_file():
        return name.endswith((".txt", ".sacct"))
    first = io.read_bytes(path, renamed=True).partition(b"\n")[0].decode("utf-8", "replace")
    return "|" in first or "jobid" in first.lower().split(delimiter or "|")


def _table(path: str | PathLike[str], nodes: int | None) -> Given:
    lines: list[int] = []
    if io.bare_name(path).endswith(".json"):
        jobs, said, notes = read_json(path)
        nodes = said if nodes is None else nodes
    else:
        jobs, lines, notes = read_csv(path)
    if nodes is None:
        raise InvalidInstance(f"{path}: nodes are missing: expected their number")
    return Given(jobs, nodes, tuple(notes), lines=tuple(lines))
