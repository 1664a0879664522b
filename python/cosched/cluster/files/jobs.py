"""Jobs of a file of any kind: a log of the archive, sacct's output, submissions, CSV, JSON."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosched import io
from cosched.cluster.files.batch_systems.jobs import read_batch_log
from cosched.cluster.files.batch_systems.recognition import LogFormat, recognize_log
from cosched.cluster.files.conventions import (
    after_preceding,
    begin_of_part,
    date_of_header,
    dfrs_jobs,
    part_of,
    rigid_jobs,
)
from cosched.cluster.files.events import read_events
from cosched.cluster.files.facts import (
    FACTS,
    MEASURES,
    dropped,
    note_of_columns,
    note_of_dropped,
    overuse,
    rigid_machine,
    shared_machine,
    swf_facts,
)
from cosched.cluster.files.sacct import read_sacct
from cosched.cluster.files.sacct.jobs import PartOfLog
from cosched.cluster.files.swf import read_swf
from cosched.cluster.files.unmet_constraints import without_unmet_constraints
from cosched.cluster.machine import Machine
from cosched.core.text import not_read
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

COLUMNS = ("submit", "tasks", "cpu", "memory", "runtime")
#: Seconds that are not known of every job.
_MAYBE = ("estimate", "eligible")
#: How files write that a job has no time limit.
UNLIMITED = ("inf", "infinity", "unlimited", "infinite")
_READ_COLUMNS = {*COLUMNS, "estimate", "eligible", "wait_blocked", "id", *FACTS}


def read_json(path: str | PathLike[str]) -> tuple[dict[str, Any], Any, list[Note]]:
    """Columns of jobs, the number of nodes (None where the file does not say it), and notes."""
    tables = io.read_json(path)
    if not isinstance(tables, dict) or not isinstance(tables.get("jobs"), dict):
        raise InvalidInstance(f"{path}: expected an object with 'jobs' (lists by column)")
    jobs = dict(tables["jobs"])
    for name in (*MEASURES, *_MAYBE):
        if isinstance(jobs.get(name), list):  # null = the log does not say
            jobs[name] = [np.nan if value is None else value for value in jobs[name]]
    if isinstance(jobs.get("estimate"), list):
        jobs["estimate"] = [
            np.inf if isinstance(value, str) and value.lower() in UNLIMITED else value
            for value in jobs["estimate"]
        ]
    unread = [f"jobs.{name}" for name in jobs if name not in _READ_COLUMNS]
    notes = not_read("fields", [*unread, *(key for key in tables if key not in ("jobs", "nodes"))])
    return jobs, tables.get("nodes"), notes


def json_columns(columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Columns of jobs as :func:`read_json` takes them: JSON has no infinity."""
    if "estimate" not in columns or not np.isinf(columns["estimate"]).any():
        return dict(columns)
    limits = columns["estimate"].tolist()
    texts = ["UNLIMITED" if limit == np.inf else limit for limit in limits]
    return {**columns, "estimate": texts}


def read_csv(path: str | PathLike[str]) -> tuple[dict[str, list[Any]], list[int], list[Note]]:
    """Columns of jobs, what is known of them beside, the line of each job, and notes."""
    table = io.read_csv(path)
    header = [text.strip().lower() for text in table.header]
    column_names = [name for name in (*COLUMNS, *_MAYBE) if name in header]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InvalidInstance(f"{path}: line 1: no column {missing[0]!r}")
    for name in column_names:
        if header.count(name) > 1:
            raise InvalidInstance(f"{path}: line 1: {header.count(name)} columns {name!r}")
    jobs: dict[str, list[Any]] = {name: [] for name in column_names}
    for name in ("id", *FACTS):
        if name != "line" and header.count(name) == 1:
            place = header.index(name)
            cells_of_column = [(line, cells[place].strip()) for line, cells in table.rows]
            jobs[name] = _fact(path, name, cells_of_column)
    for line, cells in io.polled(table.rows):
        for name in column_names:
            text = cells[header.index(name)].strip()
            where = f"{path}: line {line}, column '{name}'"
            jobs[name].append(_seconds_or_nan(name, text, where))
    titles = map(str.strip, table.header)
    notes = not_read("columns", [name for name in titles if name.lower() not in _READ_COLUMNS])
    return jobs, [line for line, _ in table.rows], notes


def _seconds_or_nan(name: str, text: str, where: str) -> float:
    """A number; of columns that are not known of every job, nan where it is not, and infinity for
    a job without a time limit."""
    if name in _MAYBE and text.lower() in ("", "nan"):
        return np.nan
    if name == "estimate" and text.lower() in UNLIMITED:
        return np.inf
    return io.parse_number(text, where)


def _fact(path: object, name: str, cells: list[tuple[int, str]]) -> list[Any]:
    """Integers where all cells are, else texts; numbers (unknown where empty) of measures."""
    if name in MEASURES:
        return [
            io.parse_nonnegative(text, f"{path}: line {line}, column '{name}'") if text else np.nan
            for line, text in cells
        ]
    if cells and all(text.isascii() and text.isdigit() and len(text) < 16 for _, text in cells):
        return [int(text) for _, text in cells]
    return [text for _, text in cells]


class LogTable(NamedTuple):
    """What a file says, before anything is checked."""

    jobs: Any
    nodes: int
    notes: tuple[Note, ...] = ()
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
) -> LogTable:
    """Jobs of a log (.swf, .events, sacct), where `drop` has been heeded, or of a table (.csv,
    .json); `of_sacct`: timezone, delimiter, include_running."""
    log_format = recognize_log(path)
    if log_format is None:
        io.refuse_foreign_file(path)
    else:
        return _read_batch_log(
            path, log_format, nodes, convention, of_logs, drop, machine, of_sacct
        )
    file_jobs = _read_jobs(path, nodes, convention, of_logs, drop, machine, of_sacct)
    jobs, notes = without_unmet_constraints(file_jobs.jobs, machine)
    return file_jobs._replace(jobs=jobs, notes=(*file_jobs.notes, *notes))


def _read_batch_log(
    path: str | PathLike[str],
    log_format: LogFormat,
    nodes: int | None,
    convention: str | None,
    of_logs: dict[str, Any],
    drop: str | Iterable[str] | None,
    machine: Machine | None,
    of_sacct: dict[str, Any],
) -> LogTable:
    """The jobs of a log that a batch system wrote in a format of its own."""
    if machine is None:
        raise InvalidInstance(f"{path}: this is {log_format.value}: expected a machine (--machine)")
    for argument, value in {"convention": convention, "delimiter": of_sacct["delimiter"]}.items():
        if value:
            raise InvalidInstance(
                f"{path}: {argument} = {shorten(value)} is not for {log_format.value}"
            )
    jobs, notes, begins = read_batch_log(
        path, log_format, machine, of_sacct["timezone"], drop, PartOfLog(**_part(path, of_logs)),
        bool(of_sacct["include_running"]),
    )  # fmt: skip
    jobs, constraint_notes = without_unmet_constraints(jobs, machine)
    notes = (*notes, *_note_on_nodes(nodes, machine), *constraint_notes)
    return LogTable(jobs, machine.cores, notes, Path(path).name, begins=begins)


def _note_on_nodes(nodes: int | None, machine: Machine) -> tuple[Note, ...]:
    """That a number of nodes is not used where a machine is given."""
    if nodes is None or nodes == machine.cores:
        return ()
    argument = f"nodes = {shorten(nodes)}"
    text = f"assumed: {argument} is not used: the machine has {machine.cores} cores"
    return (Note(NoteKind.ASSUMED, text, subject=argument),)


def _read_jobs(
    path: str | PathLike[str],
    nodes: int | None,
    convention: str | None,
    of_logs: dict[str, Any],
    drop: str | Iterable[str] | None,
    machine: Machine | None,
    of_sacct: dict[str, Any],
) -> LogTable:
    """The same, as the file says it."""
    machine_notes: tuple[Note, ...] = ()
    if machine is not None:
        machine_notes = _note_on_nodes(nodes, machine)
        nodes = machine.cores
        if convention not in (None, "rigid"):
            raise InvalidInstance(f"{path}: with a machine expected the convention rigid")
        convention = "rigid" if io.bare_name(path).endswith(".swf") else None
    name = Path(path).name
    events = io.bare_name(path).endswith(".events")
    if not events and _of_sacct(path, of_sacct["delimiter"]):
        if machine is None:
            raise InvalidInstance(
                f"{path}: sacct output: expected a machine (--machine): slurm.conf, machine.toml "
                "or a folder of scontrol outputs"
            )
        part = _part(path, of_logs)
        sacct_options = {name: value for name, value in of_sacct.items() if value}
        jobs, notes, begins = read_sacct(path, machine, drop=drop, **part, **sacct_options)
        return LogTable(jobs, machine.cores, (*notes, *machine_notes), name, begins=begins)
    for argument, value in of_sacct.items():
        if value:
            option = f"{argument} = {shorten(value)}"
            raise InvalidInstance(f"{path}: {option} is for sacct output only")
    if events:
        if machine is None:
            raise InvalidInstance(f"{path}: submissions: expected a machine (--machine)")
        jobs, notes = read_events(path, machine, drop=drop, **_part(path, of_logs))
        return LogTable(jobs, machine.cores, (*notes, *machine_notes), name)
    if io.bare_name(path).endswith(".swf"):
        log = _of_archive(path, nodes, convention or "dfrs", of_logs, drop, machine)
        return log._replace(notes=(*log.notes, *machine_notes))
    for argument, value in {"convention": convention, **of_logs}.items():
        if value is not None:
            ignored = f"{argument} = {shorten(value)}"
            raise InvalidInstance(f"{path}: {ignored} is for .swf logs only")
    tables = _table(path, nodes)
    return tables._replace(notes=(*tables.notes, *machine_notes))


def _part(path: object, of_logs: dict[str, Any]) -> dict[str, Any]:
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
    first_line = io.read_bytes(path, renamed=True).partition(b"\n")[0].decode("utf-8", "replace")
    return "|" in first_line or "jobid" in first_line.lower().split(delimiter or "|")


def _table(path: str | PathLike[str], nodes: int | None) -> LogTable:
    lines: list[int] = []
    if io.bare_name(path).endswith(".json"):
        jobs, part_notes, notes = read_json(path)
        nodes = part_notes if nodes is None else nodes
    else:
        jobs, lines, notes = read_csv(path)
    if nodes is None:
        raise InvalidInstance(f"{path}: nodes are missing: expected the cluster size (--nodes)")
    return LogTable(jobs, nodes, tuple(notes), lines=tuple(lines))


def _of_archive(
    path: str | PathLike[str], nodes: int | None, convention: str, of_logs: dict[str, Any],
    drop: Any, of_machine: Machine | None,
) -> LogTable:  # fmt: skip
    """Of a log in SWF; `of_machine`: whose partitions say which jobs are too wide."""
    week, begin, until = (of_logs[name] for name in ("week", "begin", "until"))
    sized = {name: of_logs[name] for name in ("cores_per_node", "memory_per_node")}
    if convention not in ("dfrs", "rigid"):
        raise InvalidInstance(f"convention = {shorten(convention)}: expected dfrs or rigid")
    table, report = read_swf(path)
    if not report.kept:
        reasons = "; ".join(line.strip() for line in str(report).splitlines()[1:])
        raise InvalidInstance(f"{path}: no usable job: {reasons}")
    if convention == "rigid":
        machine = rigid_machine(path, report.header, nodes)
        jobs = rigid_jobs(table)
    else:
        machine = shared_machine(path, report.header, nodes, **sized)
        jobs = dfrs_jobs(table, machine.memory_kb, cores=machine.cores)
    repaired = jobs.attrs.get("repaired", {})
    eligible, chained = after_preceding(table)
    jobs = jobs.drop(columns="job").assign(eligible=eligible, **swf_facts(table, report.header))
    notes = [*report.all_notes(), *chained]
    notes += [
        Note(NoteKind.REPAIRED, f"  {count} jobs: {what}", subject=what, count=count)
        for what, count in repaired.items()
        if count
    ]
    text = f"assumed: {', '.join(machine.notes)}; convention {convention}"
    notes.append(Note(NoteKind.ASSUMED, text, subject="machine"))
    for name, value in sized.items():
        if convention == "rigid" and value is not None:
            argument = f"{name} = {shorten(value)}"
            text = f"assumed: {argument} is not used: the convention rigid counts processors"
            notes.append(Note(NoteKind.ASSUMED, text, subject=argument))
    other = "it ran on more nodes than are given, or the header is of other months"
    notes += overuse(jobs, machine.nodes, lambda: other)
    jobs, part_notes = part_of(path, jobs, week, begin, until)
    notes += part_notes
    jobs, left_out = dropped(jobs, machine.nodes, drop, of_machine)
    notes += [note_of_columns(jobs), note_of_dropped(left_out)]
    begins = begin_of_part(date_of_header(report.header), week, begin)
    return LogTable(jobs, machine.nodes, tuple(notes), Path(path).name, begins=begins)
