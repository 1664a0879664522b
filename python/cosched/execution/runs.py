"""``runs.csv``: a row a run, on the disk as soon as it has ended; beside it, executions."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, fields, replace
from os import PathLike
from pathlib import Path

import numpy as np

from cosched import io
from cosched.core.arrays import real
from cosched.core.text import first_repeated, listed
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import fingerprint, output_names, values_of_sweep
from cosched.execution.codes import Codes
from cosched.execution.record import Execution, TaskRun
from cosched.io.append_only import AppendOnlyTable
from cosched.lazy import pd
from cosched.notes import Note, NoteKind
from cosched.profiles import MOST_PROCESSORS
from cosched.profiles.files import RUN_COLUMNS, read_task_log, with_usual_names

STATES = ("completed", "failed", "timeout")
#: A code that has no more processors at work than this, and takes no less than this share of its
#: time on fewer, ignores its count.
_MAX_SERIAL_CORES, _MIN_TIME_SHARE = 1.2, 0.9


@dataclass(frozen=True)
class MeasuredRun:
    """One run of one code on one count."""

    #: The name of the code.
    task: str
    #: How many processors it had.
    processors: int
    seconds: float  # nan where it did not complete
    #: ``completed``, or why it did not complete.
    status: str
    started: str  # ISO 8601, UTC
    #: The name of the machine.
    host: str
    #: Number of the attempt, from 1.
    attempt: int
    #: Processor seconds of all its processes; nan: not known.
    cpu_seconds: float = math.nan
    memory: float = math.nan  # GB: peak of all its processes together
    memory_by: str = ""  # "pss", "rss": how that was found
    load: float = math.nan  # of the machine when it began
    starved: bool = False  # others had its processors
    beside: str = ""  # JSON: profile -> for which share of its time that ran beside it
    command: str = ""  # a hash of what started it
    parameters: str = ""  # JSON: of its sweep, name -> value

    def cells(self) -> list[str]:
        return [_cell(value) for value in astuple(self)]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6f}"
    return str(int(value)) if isinstance(value, bool) else str(value)


COLUMNS = tuple(field.name for field in fields(MeasuredRun))
_NEEDED = ("task", "processors", "seconds")
#: Files of earlier versions have the columns up to `attempt`, or some more.
_MIN_COLUMNS = COLUMNS.index("attempt") + 1


class RunsFile(AppendOnlyTable):
    """A file of runs, open for appending by one process."""

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(path, COLUMNS, _MIN_COLUMNS)
        try:
            self.runs = [] if self.is_empty else read_runs(self.path)
            if self.is_older_format:
                self.replace(run.cells() for run in self.runs)
        except BaseException:
            self.close()
            raise

    def add(self, runs: Iterable[MeasuredRun]) -> None:
        """Append rows, which are on the disk when this returns."""
        new_runs = list(runs)
        self.append(run.cells() for run in new_runs)
        self.runs += new_runs


def header_of(table: io.CsvTable, needed: Sequence[str], expected: str) -> list[str]:
    """Names of the columns in small letters: what is needed is there, and none twice."""
    header = [name.strip().lower() for name in table.header]
    if not set(needed) <= set(header):
        raise InvalidInstance(
            f"{table.path}: line 1: header {shorten(','.join(table.header))}: expected {expected}"
        )
    if (twice := first_repeated(name for name in header if name)) is not None:
        raise InvalidInstance(
            f"{table.path}: line 1: column {shorten(twice)} is there twice: expected it once"
        )
    return header


@dataclass(frozen=True)
class Measurements:
    """The runs of a file, and what its reader did.

    Attributes
    ----------
    runs : list of MeasuredRun
    notes : tuple of Note
        Empty for a CSV file.
    names : list of str
        What the log of a workflow system calls the task of each run, where the run is called after
        its code; empty for a CSV file.
    """

    runs: list[MeasuredRun]
    notes: tuple[Note, ...] = ()
    names: tuple[str, ...] = ()


def read_runs(path: str | PathLike[str]) -> list[MeasuredRun]:
    """The runs of a CSV file, or of a log of a workflow system or a task runner."""
    return read_measurements(path).runs


def read_measurements(path: str | PathLike[str]) -> Measurements:
    """The runs of a file, with notes.

    Of a CSV file only ``task, processors, seconds`` have to be there.
    """
    log = read_task_log(path)
    if log is not None:
        return Measurements(_runs_of_table(log.table), tuple(log.notes), tuple(log.names))
    return Measurements(_runs_of_table(with_usual_names(io.read_csv(path))[0]))


def _runs_of_table(table: io.CsvTable) -> list[MeasuredRun]:
    path = table.path
    header = header_of(table, _NEEDED, ",".join(_NEEDED))
    place = {name: header.index(name) for name in COLUMNS if name in header}
    if not set(header) >= RUN_COLUMNS:  # a file of somebody's own: a command is a text there
        place.pop("command", None)
    return [_run(cells, place, f"{path}: line {line}") for line, cells in table.rows]


def _run(cells: Sequence[str], place: dict[str, int], where: str) -> MeasuredRun:
    def cell(name: str, default: str = "") -> str:
        return cells[place[name]].strip() if name in place else default

    def number(name: str) -> float:
        text = cell(name)
        return io.parse_nonnegative(text, f"{where}, column '{name}'") if text else math.nan

    if not cell("task"):
        raise InvalidInstance(f"{where}, column 'task': empty cell: expected a name")
    seconds = cell("seconds")
    status = cell("status", "completed" if seconds else "failed")
    if status.partition(" ")[0] not in STATES:
        raise InvalidInstance(
            f"{where}, column 'status': {shorten(status)}: expected one of {', '.join(STATES)}"
        )
    time = io.parse_positive(seconds, f"{where}, column 'seconds'") if seconds else math.nan
    return MeasuredRun(
        task=cell("task"),
        processors=io.parse_integer(
            cell("processors"), f"{where}, column 'processors'", 1, MOST_PROCESSORS
        ),
        seconds=time if status == "completed" else math.nan,
        status=status,
        started=cell("started"),
        host=cell("host"),
        attempt=io.parse_integer(cell("attempt", "1"), f"{where}, column 'attempt'", 1, 10**9),
        cpu_seconds=number("cpu_seconds"),
        memory=number("memory"),
        memory_by=cell("memory_by"),
        load=number("load"),
        starved=_flag(cell("starved"), f"{where}, column 'starved'"),
        beside=_company(cell("beside"), f"{where}, column 'beside'"),
        command=cell("command"),
        parameters=cell("parameters"),
    )


def company_of(run: MeasuredRun) -> dict[str, float]:
    """Profile -> for which share of a run's time that ran beside it."""
    return json.loads(run.beside) if run.beside else {}


def _company(text: str, where: str) -> str:
    """Return the cell, if it is what :func:`company_of` reads."""
    if not text:
        return ""
    try:
        shares = io.parse_json(text, where)
        is_company = isinstance(shares, dict) and all(real(x, "") >= 0 for x in shares.values())
    except (ValueError, InvalidInstance):
        is_company = False
    if not is_company:
        raise InvalidInstance(f'{where}: {shorten(text)}: expected {{"fem": 0.8}}, or nothing')
    return text


def _flag(text: str, where: str) -> bool:
    flags = {"": False, "0": False, "false": False, "1": True, "true": True}
    if text.lower() not in flags:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected 1, 0 or nothing")
    return flags[text.lower()]


def neighbours(tasks: Sequence[TaskRun]) -> Iterator[tuple[TaskRun, list[tuple[TaskRun, float]]]]:
    """Each task that ran, with those that ran beside it, and for how many seconds.

    O(n log n + pairs that overlap).
    """
    neighbours_of: dict[int, list[tuple[TaskRun, float]]] = {}
    started_tasks = sorted((run for run in tasks if run.start < run.end), key=lambda run: run.start)
    running: list[TaskRun] = []
    for task in started_tasks:
        running = [other for other in running if other.end > task.start]
        for other in running:
            seconds = min(task.end, other.end) - task.start
            neighbours_of.setdefault(task.task, []).append((other, seconds))
            neighbours_of.setdefault(other.task, []).append((task, seconds))
        running.append(task)
    yield from ((task, neighbours_of.get(task.task, [])) for task in started_tasks)


def runs_of(
    execution: Execution,
    started: datetime.datetime,
    codes: Codes | None = None,
    started_tasks: Container[int] | None = None,
) -> list[MeasuredRun]:
    """The tasks of an execution that completed, as measurements of their profiles.

    Of a resumed run only the tasks that its last driver started (`started_tasks`); the others are
    measurements already.
    """

    def profile(task: TaskRun) -> str:
        return task.name if codes is None else codes[task.name].profile_name

    company = {
        task.task: neighbour_seconds for task, neighbour_seconds in neighbours(execution.tasks)
    }
    return [
        MeasuredRun(
            task=profile(task),
            processors=len(task.units),
            seconds=task.end - task.start,
            status="completed",
            started=(started + datetime.timedelta(seconds=task.start)).isoformat(
                timespec="seconds"
            ),
            host=execution.host,
            attempt=max(task.attempt, 1),
            cpu_seconds=math.nan if task.cpu_seconds is None else task.cpu_seconds,
            beside=_shares(task, company.get(task.task, ()), profile),
            command="" if codes is None else fingerprint(codes[task.name]),
            parameters="" if codes is None else values_of_sweep(codes[task.name]),
        )
        for task in execution.tasks
        if task.state == "completed" and (started_tasks is None or task.task in started_tasks)
    ]


def _shares(
    task: TaskRun,
    neighbour_seconds: Iterable[tuple[TaskRun, float]],
    profile: Callable[[TaskRun], str],
) -> str:
    shares: dict[str, float] = {}
    for other, seconds in neighbour_seconds:
        name = profile(other)
        shares[name] = shares.get(name, 0.0) + seconds / (task.end - task.start)
    return json.dumps({name: round(share, 4) for name, share in shares.items()}) if shares else ""


def append_execution(
    execution: Execution,
    path: str | PathLike[str],
    started: datetime.datetime,
    codes: Codes | None = None,
    started_tasks: Container[int] | None = None,
) -> int:
    """Append the real times of an execution to a file of runs; how many."""
    new = runs_of(execution, started, codes, started_tasks)
    with closing(RunsFile(path)) as file:
        file.add(new)
    return len(new)


def frame_of(runs: Sequence[MeasuredRun]) -> pd.DataFrame:
    """Runs as a table, with the columns of the file."""
    return pd.DataFrame([astuple(run) for run in runs], columns=list(COLUMNS))


def completed(runs: Iterable[MeasuredRun]) -> dict[str, dict[int, list[MeasuredRun]]]:
    """Task -> count -> runs that completed, starved ones where there is no other."""
    runs_of_counts: dict[str, dict[int, list[MeasuredRun]]] = {}
    for run in runs:
        completed_runs = runs_of_counts.setdefault(run.task, {}).setdefault(run.processors, [])
        if not math.isnan(run.seconds):
            completed_runs.append(run)
    return {
        task: {
            q: [run for run in completed_runs if not run.starved] or completed_runs
            for q, completed_runs in of_counts.items()
        }
        for task, of_counts in runs_of_counts.items()
    }


def seconds_of(runs: Iterable[MeasuredRun]) -> dict[str, dict[int, list[float]]]:
    """Task -> count -> seconds of the runs that completed; an empty list: none did."""
    return {
        task: {
            q: [run.seconds for run in completed_runs] for q, completed_runs in of_counts.items()
        }
        for task, of_counts in completed(runs).items()
    }


def last_words(runs: Sequence[MeasuredRun], path: str | PathLike[str]) -> str:
    """Status and last line of output of the last of some runs, which :func:`by_member` names."""
    last = runs[-1]
    name = output_names([last.task])[last.task]
    file = Path(path).with_suffix(".outputs") / f"{name}-{last.processors}.out"
    try:
        lines = io.read_bytes(file).decode(errors="replace").split("\n")
    except (OSError, InvalidInstance):
        lines = []
    last_line = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
    return f"{last.status} on {last.processors}: {shorten(last_line, 120)}"


def by_member(runs: Iterable[MeasuredRun], codes: Codes) -> list[MeasuredRun]:
    """Runs of a combination of a sweep under the name of its task, the others as they are."""
    members = {
        (code.profile_name, values_of_sweep(code)): code.name
        for code in codes.values()
        if code.parameters
    }
    named_runs = ((run, members.get((run.task, run.parameters))) for run in runs)
    return [run if name is None else replace(run, task=name) for run, name in named_runs]


def starved_note(runs: Sequence[MeasuredRun]) -> tuple[Note, ...]:
    """How many were measured under load, and how many of them are left out of medians."""
    starved = [run for run in runs if run.starved]
    if not starved:
        return ()
    completed_runs = completed(runs)
    starved_pairs = [
        f"{task} on {q}"
        for task, of_counts in completed_runs.items()
        for q, runs_of_count in of_counts.items()
        if runs_of_count and runs_of_count[0].starved
    ]
    left_out = sum(not math.isnan(run.seconds) for run in starved)
    left_out -= sum(
        run.starved
        for of_counts in completed_runs.values()
        for runs_of_count in of_counts.values()
        for run in runs_of_count
    )
    text = f"{len(starved)} of {len(runs)} runs were starved: others had more than a tenth of "
    text += f"their processors; {left_out} of them are left out of all times"
    if starved_pairs:
        text += (
            f"; nothing else is known of {listed(starved_pairs)}: measure again when it is quieter"
        )
    return (Note(NoteKind.UNUSUAL, text, subject="runs under load", count=len(starved)),)


def note_of_unlimited(resources: Sequence[str]) -> Note:
    """A note of resources that codes need, and of which the codes file has no capacity."""
    text = f"no [capacity] for {listed(resources)}: no limit"
    return Note(NoteKind.ASSUMED, text, subject=", ".join(resources), count=len(resources))


def notes_of(runs: Sequence[MeasuredRun], codes: Codes | None = None) -> tuple[Note, ...]:
    """What is to be said of measurements: those under load, and codes that ignore their count."""
    profiles = {} if codes is None else codes.profiles()
    asked_names = {name for name, (code, *_) in profiles.items() if code.fills("procs")}
    return (*starved_note(runs), *_notes_of_ignored_counts(runs, asked_names))


def _notes_of_ignored_counts(
    runs: Sequence[MeasuredRun], asked_names: Container[str]
) -> list[Note]:
    """Return codes that use one processor, and take one time, whatever their count.

    The commands of `asked_names` hold {procs} already.
    """
    notes = []
    for task, of_counts in completed(runs).items():
        undisturbed_runs = {
            q: runs_of_count
            for q, runs_of_count in of_counts.items()
            if runs_of_count
            and not runs_of_count[0].starved
            and not math.isnan(runs_of_count[0].cpu_seconds)
        }
        if len(undisturbed_runs) < 2:
            continue
        least, largest = min(undisturbed_runs), max(undisturbed_runs)
        cores_used = max(
            np.median([run.cpu_seconds / run.seconds for run in undisturbed_runs[q]])
            for q in (least, largest)
        )
        seconds_on_least, seconds_on_largest = (
            float(np.median([run.seconds for run in undisturbed_runs[q]])) for q in (least, largest)
        )
        is_faster = seconds_on_largest <= _MIN_TIME_SHARE * seconds_on_least
        if cores_used > _MAX_SERIAL_CORES or is_faster:
            continue
        change = "{procs} in its command"
        if task in asked_names:
            change = "a code that heeds the {procs} of its command"
        text = (
            f"{task} ignores its count: {seconds_on_least:.3g} s on {least}, "
            f"{seconds_on_largest:.3g} s on {largest}, with {cores_used:.1f} processors at work: "
            f"expected {change}, or counts = [{least}]"
        )
        notes.append(Note(NoteKind.UNUSUAL, text, subject=task))
    return notes


def table_of(
    seconds: dict[str, dict[int, list[float]]], names: Sequence[str], procs: int
) -> np.ndarray:
    """Medians, (n, p): nan where nothing was tried, infinity where no run completed."""
    table = np.full((len(names), procs), np.nan)
    for row, name in enumerate(names):
        for count, times in seconds.get(name, {}).items():
            if count <= procs:
                table[row, count - 1] = np.median(times) if times else np.inf
    return table


def current(
    runs: Sequence[MeasuredRun], codes: Codes | None
) -> tuple[list[MeasuredRun], tuple[Note, ...]]:
    """The runs of the commands as they are now, and a note about the others.

    A run that does not say its command counts. Without codes the last run of a name says it.
    """
    profiles = {} if codes is None else codes.profiles()
    current_commands = {run.task: run.command for run in runs if run.command}
    current_commands |= {
        name: fingerprint(codes_of_profile[0]) for name, codes_of_profile in profiles.items()
    }
    current_values = {
        name: {"", *map(values_of_sweep, codes_of_profile)}
        for name, codes_of_profile in profiles.items()
    }

    def is_current(run: MeasuredRun) -> bool:
        values = current_values.get(run.task, {run.parameters})
        return run.command in ("", current_commands.get(run.task)) and run.parameters in values

    current_runs = [run for run in runs if is_current(run)]
    if len(current_runs) == len(runs):
        return current_runs, ()
    changed_names = list(dict.fromkeys(run.task for run in runs if not is_current(run)))
    count = len(runs) - len(current_runs)
    text = (
        f"{count} runs do not count: the command of {listed(changed_names)}, or the values of its "
        "sweep, have changed since"
    )
    note = Note(NoteKind.DROPPED, text, subject="runs of changed commands", count=count)
    return current_runs, (note,)


EXECUTION_COLUMNS = ("execution", "task", "processors", "planned", "planned_end", "end")

#: (task, processors, planned seconds, planned end, real end)
Row = tuple[str, int, float, float, float]


def executions_path(runs: str | PathLike[str]) -> Path:
    """The file that belongs to a file of runs."""
    return Path(runs).with_suffix(".executions.csv")


def append_executions(
    execution: Execution, runs: str | PathLike[str], name: str, codes: Codes
) -> None:
    """Keep an execution of which every task completed; of others the end says nothing."""
    if not execution.good:
        return
    with closing(AppendOnlyTable(executions_path(runs), EXECUTION_COLUMNS)) as file:
        file.append(_row(task, name, codes) for task in execution.tasks)


def _row(task: TaskRun, name: str, codes: Codes) -> tuple[object, ...]:
    planned = task.planned_end - task.planned_start
    ends = (f"{x:.6f}" for x in (planned, task.planned_end, task.end))
    return (name, codes[task.name].profile_name, len(task.units), *ends)


def read_executions(runs: str | PathLike[str]) -> dict[str, list[Row]]:
    """Execution -> its tasks; nothing where no such file is."""
    path = executions_path(runs)
    if not path.exists():
        return {}
    table = io.read_csv(path)
    if tuple(name.strip() for name in table.header) != EXECUTION_COLUMNS:
        raise InvalidInstance(
            f"{path}: line 1: header {shorten(','.join(table.header))}: expected "
            f"{','.join(EXECUTION_COLUMNS)}"
        )
    rows_of_executions: dict[str, list[Row]] = {}
    for line, cells in table.rows:
        where = f"{path}: line {line}"
        count = io.parse_integer(cells[2], f"{where}, column 'processors'", 1, 10**6)
        planned, planned_end, end = (
            io.parse_nonnegative(cells[k], f"{where}, column '{EXECUTION_COLUMNS[k]}'")
            for k in (3, 4, 5)
        )
        rows_of_executions.setdefault(cells[0], []).append(
            (cells[1], count, planned, planned_end, end)
        )
    return rows_of_executions
