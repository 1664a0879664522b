"""``runs.csv``: one row per measured run, on the disk as soon as the run has ended."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from os import PathLike

from cosched import io
from cosched.core.arrays import real
from cosched.core.text import first_repeated
from cosched.errors import InvalidInstance, shorten
from cosched.io.append_only import AppendOnlyTable
from cosched.notes import Note
from cosched.profiles import MOST_PROCESSORS
from cosched.profiles.measured_files import RUN_COLUMNS, read_task_log, with_usual_names

STATES = ("completed", "failed", "timeout")


@dataclass(frozen=True)
class MeasuredRun:
    """One run of one code on one processor count: a row of ``runs.csv``."""

    #: Name of the code's profile.
    task: str
    #: Processor count.
    processors: int
    #: Duration (s); nan where the run did not complete.
    seconds: float
    #: One of `STATES`, with details behind a space.
    status: str
    #: Start, ISO 8601, UTC.
    started: str
    #: Host on which it ran.
    host: str
    #: Number of the attempt, from 1.
    attempt: int
    #: Processor time (s).
    cpu_seconds: float = math.nan
    #: Peak memory of all its processes together (GB).
    memory: float = math.nan
    #: How the memory was measured: ``pss`` or ``rss``.
    memory_by: str = ""
    #: Load of the host at its start.
    load: float = math.nan
    #: Whether other processes had its processors.
    starved: bool = False
    #: What ran beside it, as JSON: profile -> share of the run's time. The column is ``beside``.
    corunners: str = ""
    #: Fingerprint of the command that started it.
    command: str = ""
    #: Values of its sweep, as JSON: name -> value.
    parameters: str = ""

    def cells(self) -> list[str]:
        """Return the cells of its row."""
        return [_cell(value) for value in astuple(self)]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6f}"
    return str(int(value)) if isinstance(value, bool) else str(value)


#: Columns of fields whose name in the file is another one.
_COLUMN_OF_FIELD = {"corunners": "beside"}
#: Columns of the file, in the order of the fields of :class:`MeasuredRun`.
COLUMNS = tuple(_COLUMN_OF_FIELD.get(field.name, field.name) for field in fields(MeasuredRun))
#: Columns without which no run is known.
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
    """Return the runs of a CSV file, or of a log of a workflow system or a task runner."""
    return read_measurements(path).runs


def read_measurements(path: str | PathLike[str]) -> Measurements:
    """Return the runs of a file, with notes.

    Of a CSV file only ``task, processors, seconds`` have to be there.
    """
    log = read_task_log(path)
    if log is not None:
        return Measurements(_runs_of_table(log.table), tuple(log.notes), tuple(log.names))
    return Measurements(_runs_of_table(with_usual_names(io.read_csv(path))[0]))


def _runs_of_table(table: io.CsvTable) -> list[MeasuredRun]:
    """Return the runs of the rows of a table."""
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
        corunners=_corunners_cell(cell("beside"), f"{where}, column 'beside'"),
        command=cell("command"),
        parameters=cell("parameters"),
    )


def corunners_of(run: MeasuredRun) -> dict[str, float]:
    """Return what ran beside a run: profile -> share of the run's time."""
    return json.loads(run.corunners) if run.corunners else {}


def _corunners_cell(text: str, where: str) -> str:
    """Return the cell, if :func:`corunners_of` can read it."""
    if not text:
        return ""
    try:
        shares = io.parse_json(text, where)
        is_valid = isinstance(shares, dict) and all(real(x, "") >= 0 for x in shares.values())
    except (ValueError, InvalidInstance):
        is_valid = False
    if not is_valid:
        raise InvalidInstance(f'{where}: {shorten(text)}: expected {{"fem": 0.8}}, or nothing')
    return text


def _flag(text: str, where: str) -> bool:
    flags = {"": False, "0": False, "false": False, "1": True, "true": True}
    if text.lower() not in flags:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected 1, 0 or nothing")
    return flags[text.lower()]
