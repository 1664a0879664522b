"""Jobs of a file of any kind: a log of the archive, sacct's output, submissions, CSV, JSON."""

from collections.abc import Mapping
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosched import io
from cosched.cluster.files.batch_systems.accounting_jobs import read_batch_log
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
from cosched.cluster.files.log_options import JobFileOptions, LogOptions
from cosched.cluster.files.sacct import read_sacct
from cosched.cluster.files.swf import read_swf
from cosched.cluster.files.task_logs import read_task_log
from cosched.cluster.files.unmet_constraints import without_unmet_constraints
from cosched.cluster.machine import Machine
from cosched.core.text import not_read
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind
from cosched.profiles.task_logs.recognition import TaskLogFormat, recognize_task_log

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
    unread_titles = [
        title.strip()
        for place, title in enumerate(table.header)
        if title.strip().lower() not in _READ_COLUMNS and not _counts_jobs(table, place)
    ]
    return jobs, [line for line, _ in table.rows], not_read("columns", unread_titles)


def _counts_jobs(table: io.CsvTable, place: int) -> bool:
    """Return whether a column is ``job`` with 1, 2, ..., as generated logs have it."""
    if table.header[place].strip().lower() != "job":
        return False
    return all(cells[place].strip() == str(k) for k, (_, cells) in enumerate(table.rows, 1))


def _seconds_or_nan(name: str, text: str, where: str) -> float:
    """Return a number; of columns that are not known of every job, nan where it is not, and
    infinity for a job without a time limit."""
    if name in _MAYBE and text.lower() in ("", "nan"):
        return np.nan
    if name == "estimate" and text.lower() in UNLIMITED:
        return np.inf
    return io.parse_number(text, where)


def _fact(path: object, name: str, cells: list[tuple[int, str]]) -> list[Any]:
    """Return integers where all cells are, else texts; numbers (unknown where empty) of
    measures."""
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


def read_jobs(path: str | PathLike[str], options: JobFileOptions) -> LogTable:
    """Return the jobs of a log (.swf, .events, sacct), where ``drop`` has been heeded, or of a
    table (.csv, .json).

    Raises
    ------
    InvalidInstance
        A damaged file, no usable job, or an option that is not for files of its kind.
    """
    log_format = recognize_log(path)
    task_log_format = recognize_task_log(path) if log_format is None else None
    if log_format is not None:
        log_table = _read_batch_log(path, log_format, options)
    elif task_log_format is not None:
        log_table = _read_task_log(path, task_log_format, options)
    else:
        io.refuse_foreign_file(path)
        log_table = _read_by_name(path, options)
    nodes_note = _note_on_nodes(options.nodes, options.machine)
    jobs, constraint_notes = without_unmet_constraints(log_table.jobs, options.machine)
    return log_table._replace(jobs=jobs, notes=(*log_table.notes, *nodes_note, *constraint_notes))


def _note_on_nodes(nodes: int | None, machine: Machine | None) -> tuple[Note, ...]:
    """Return the note that a number of nodes is not used where a machine is given."""
    if machine is None or nodes is None or nodes == machine.cores:
        return ()
    argument = f"nodes = {shorten(nodes)}"
    text = f"assumed: {argument} is not used: the machine has {machine.cores} cores"
    return (Note(NoteKind.ASSUMED, text, subject=argument),)


def _read_batch_log(
    path: str | PathLike[str], log_format: LogFormat, options: JobFileOptions
) -> LogTable:
    """Return the jobs of a log that a batch system wrote in a format of its own."""
    machine = options.machine
    if machine is None:
        raise InvalidInstance(f"{path}: this is {log_format.value}: expected a machine (--machine)")
    for argument in ("convention", "delimiter"):
        value = getattr(options, argument)
        if value:
            raise InvalidInstance(
                f"{path}: {argument} = {shorten(value)} is not for {log_format.value}"
            )
    jobs, notes, begins = read_batch_log(path, log_format, _log_options(path, options, machine))
    return LogTable(jobs, machine.cores, notes, Path(path).name, begins=begins)


def _read_task_log(
    path: str | PathLike[str], log_format: TaskLogFormat, options: JobFileOptions
) -> LogTable:
    """Return the jobs of a log that a workflow system or a task runner wrote."""
    for argument in ("convention", "delimiter", "include_running"):
        value = getattr(options, argument)
        if value:
            raise InvalidInstance(
                f"{path}: {argument} = {shorten(value)} is not for {log_format.value}"
            )
    _refuse_node_size(path, options)
    task_log = read_task_log(path, log_format, options)
    jobs, notes, begins = task_log.jobs
    return LogTable(jobs, task_log.processors, notes, Path(path).name, begins=begins)


def _read_by_name(path: str | PathLike[str], options: JobFileOptions) -> LogTable:
    """Return the jobs of a file whose kind its name or its first line tells."""
    if options.machine is not None and options.convention not in (None, "rigid"):
        raise InvalidInstance(f"{path}: with a machine expected the convention rigid")
    has_submissions = io.bare_name(path).endswith(".events")
    if not has_submissions and _is_sacct_output(path, options.delimiter):
        return _read_sacct_output(path, options)
    for argument in ("timezone", "include_running", "delimiter"):
        _refuse_argument(path, argument, getattr(options, argument) or None, "sacct output")
    if has_submissions:
        return _read_submissions(path, options)
    if io.bare_name(path).endswith(".swf"):
        return _read_archive_log(path, options)
    return _read_table(path, options)


def _refuse_argument(path: object, argument: str, value: object, kind: str) -> None:
    """Refuse an argument that is given, and is for files of another kind."""
    if value is not None:
        raise InvalidInstance(f"{path}: {argument} = {shorten(value)} is for {kind} only")


def _read_sacct_output(path: str | PathLike[str], options: JobFileOptions) -> LogTable:
    machine = options.machine
    if machine is None:
        raise InvalidInstance(
            f"{path}: sacct output: expected a machine (--machine): slurm.conf, machine.toml "
            "or a folder of scontrol outputs"
        )
    jobs, notes, begins = read_sacct(path, _log_options(path, options, machine))
    return LogTable(jobs, machine.cores, notes, Path(path).name, begins=begins)


def _log_options(path: object, options: JobFileOptions, machine: Machine) -> LogOptions:
    """Return the options of a log on a machine."""
    _refuse_node_size(path, options)
    return LogOptions(
        machine=machine,
        timezone=options.timezone or None,
        drop=options.drop,
        part=options.part,
        include_running=bool(options.include_running),
        delimiter=options.delimiter or "|",
    )


def _refuse_node_size(path: object, options: JobFileOptions) -> None:
    """Refuse the size of nodes where the machine says how large they are."""
    for argument in ("cores_per_node", "memory_per_node"):
        if getattr(options, argument) is not None:
            raise InvalidInstance(f"{path}: {argument}: the machine says it")


def _read_submissions(path: str | PathLike[str], options: JobFileOptions) -> LogTable:
    machine = options.machine
    if machine is None:
        raise InvalidInstance(f"{path}: submissions: expected a machine (--machine)")
    _refuse_node_size(path, options)
    jobs, notes = read_events(path, machine, drop=options.drop, **options.part._asdict())
    return LogTable(jobs, machine.cores, notes, Path(path).name)


def _is_sacct_output(path: str | PathLike[str], delimiter: str | None) -> bool:
    """Return whether sacct printed it: by the name, else by marks between the fields of its first
    line."""
    name = io.bare_name(path)
    if name.endswith((".txt", ".sacct", ".swf", ".json")) or not Path(path).is_file():
        return name.endswith((".txt", ".sacct"))
    first_line = io.read_bytes(path, renamed=True).partition(b"\n")[0].decode("utf-8", "replace")
    return "|" in first_line or "jobid" in first_line.lower().split(delimiter or "|")


def _read_table(path: str | PathLike[str], options: JobFileOptions) -> LogTable:
    """Return the jobs of a table in JSON or CSV."""
    if options.machine is None:
        _refuse_argument(path, "convention", options.convention, ".swf logs")
    for argument in ("cores_per_node", "memory_per_node"):
        _refuse_argument(path, argument, getattr(options, argument), ".swf logs")
    for argument, value in options.part._asdict().items():
        _refuse_argument(path, argument, value, ".swf logs")
    lines: list[int] = []
    nodes_of_file = None
    if io.bare_name(path).endswith(".json"):
        jobs, nodes_of_file, notes = read_json(path)
    else:
        jobs, lines, notes = read_csv(path)
    nodes = _node_count(options)
    if nodes is None:
        nodes = nodes_of_file
    if nodes is None:
        raise InvalidInstance(f"{path}: nodes are missing: expected the cluster size (--nodes)")
    return LogTable(jobs, nodes, tuple(notes), lines=tuple(lines))


def _node_count(options: JobFileOptions) -> int | None:
    """Return the number of processors of the machine, else of nodes as the caller says it."""
    return options.nodes if options.machine is None else options.machine.cores


def _read_archive_log(path: str | PathLike[str], options: JobFileOptions) -> LogTable:
    """Return the jobs of a log in SWF; the partitions of a machine say which are too wide."""
    convention = "rigid" if options.machine is not None else options.convention or "dfrs"
    if convention not in ("dfrs", "rigid"):
        raise InvalidInstance(f"convention = {shorten(convention)}: expected dfrs or rigid")
    table, report = read_swf(path)
    if not report.kept:
        reasons = "; ".join(line.strip() for line in str(report).splitlines()[1:])
        raise InvalidInstance(f"{path}: no usable job: {reasons}")
    if convention == "rigid":
        machine = rigid_machine(path, report.header, _node_count(options))
        jobs = rigid_jobs(table)
    else:
        machine = shared_machine(
            path,
            report.header,
            _node_count(options),
            cores_per_node=options.cores_per_node,
            memory_per_node=options.memory_per_node,
        )
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
    if convention == "rigid":
        notes += _notes_on_node_size(options)
    cause = "it ran on more nodes than are given, or the header is of other months"
    notes += overuse(jobs, machine.nodes, lambda: cause)
    jobs, part_notes = part_of(path, jobs, *options.part)
    notes += part_notes
    jobs, left_out = dropped(jobs, machine.nodes, options.drop, options.machine)
    notes += [note_of_columns(jobs), note_of_dropped(left_out)]
    begins = begin_of_part(date_of_header(report.header), options.part.week, options.part.begin)
    return LogTable(jobs, machine.nodes, tuple(notes), Path(path).name, begins=begins)


def _notes_on_node_size(options: JobFileOptions) -> list[Note]:
    """Return notes that the size of nodes is not used where a log counts processors."""
    notes = []
    for name in ("cores_per_node", "memory_per_node"):
        value = getattr(options, name)
        if value is not None:
            argument = f"{name} = {shorten(value)}"
            text = f"assumed: {argument} is not used: the convention rigid counts processors"
            notes.append(Note(NoteKind.ASSUMED, text, subject=argument))
    return notes
