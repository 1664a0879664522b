"""``runs.csv``: a row a run, appended and synced as soon as the run has ended."""

from __future__ import annotations

import csv
import datetime
import io as text_io
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.execution.appended import AppendedFile
from cosched.execution.record import Execution
from cosched.profiles import MOST_PROCESSORS

if TYPE_CHECKING:
    import pandas as pd

STATES = ("completed", "failed", "timeout")


@dataclass(frozen=True)
class Run:
    """One run of one code on one count."""

    task: str
    processors: int
    seconds: float  # nan where it did not complete
    status: str
    started: str  # ISO 8601, UTC
    host: str
    attempt: int

    def cells(self) -> list[str]:
        seconds = "" if math.isnan(self.seconds) else f"{self.seconds:.6f}"
        return [str(self.task), str(self.processors), seconds, *map(str, astuple(self)[3:])]


COLUMNS = tuple(field.name for field in fields(Run))
_HEADER = ",".join(COLUMNS)


class RunsFile:
    """A file of runs, open for appending by one process."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._file = AppendedFile(path)
        self.path = self._file.path
        try:
            self.runs = self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> list[Run]:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        header = (content.splitlines() or [b""])[0].decode(errors="replace")
        if header != _HEADER and (whole or not _HEADER.startswith(header)):
            raise InvalidInstance(
                f"{self.path}: line 1: header {shorten(header)}: expected {_HEADER}"
            )
        self._file.cut(whole)  # a crash while a row was written
        if not whole:
            self._write([COLUMNS])
        return [] if content.count(b"\n") <= 1 else read_runs(self.path)

    def append(self, runs: Iterable[Run]) -> None:
        """Rows that are on the disk when this returns."""
        new = list(runs)
        self._write([run.cells() for run in new])
        self.runs += new

    def _write(self, rows: Iterable[Sequence[str]]) -> None:
        text = text_io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        self._file.append(text.getvalue().encode())

    def close(self) -> None:
        self._file.close()


def read_runs(path: str | PathLike[str]) -> list[Run]:
    """The runs of a CSV file; only ``task, processors, seconds`` have to be there."""
    table = io.read_csv(path)
    header = [name.strip().lower() for name in table.header]
    missing = {"task", "processors", "seconds"} - set(header)
    if missing:
        raise InvalidInstance(
            f"{path}: line 1: header {shorten(','.join(table.header))}: expected "
            "task,processors,seconds"
        )
    place = {name: header.index(name) for name in COLUMNS if name in header}
    return [_run(cells, place, f"{path}: line {line}") for line, cells in table.rows]


def _run(cells: Sequence[str], place: dict[str, int], where: str) -> Run:
    def cell(name: str, default: str = "") -> str:
        return cells[place[name]].strip() if name in place else default

    if not cell("task"):
        raise InvalidInstance(f"{where}, column 'task': empty cell: expected a name")
    seconds = cell("seconds")
    status = cell("status", "completed" if seconds else "failed")
    if status.partition(" ")[0] not in STATES:
        raise InvalidInstance(
            f"{where}, column 'status': {shorten(status)}: expected one of {', '.join(STATES)}"
        )
    time = io.parse_positive(seconds, f"{where}, column 'seconds'") if seconds else math.nan
    return Run(
        task=cell("task"),
        processors=io.parse_integer(
            cell("processors"), f"{where}, column 'processors'", 1, MOST_PROCESSORS
        ),
        seconds=time if status == "completed" else math.nan,
        status=status,
        started=cell("started"),
        host=cell("host"),
        attempt=io.parse_integer(cell("attempt", "1"), f"{where}, column 'attempt'", 1, 10**9),
    )


def runs_of(execution: Execution, started: datetime.datetime) -> list[Run]:
    """The tasks of an execution that completed, as measurements."""
    return [
        Run(
            task=task.name,
            processors=len(task.units),
            seconds=task.end - task.start,
            status="completed",
            started=(started + datetime.timedelta(seconds=task.start)).isoformat(
                timespec="seconds"
            ),
            host=execution.host,
            attempt=task.attempt,
        )
        for task in execution.tasks
        if task.state == "completed"
    ]


def append_execution(
    execution: Execution, path: str | PathLike[str], started: datetime.datetime
) -> int:
    """Append the real times of an execution to a file of runs; how many."""
    file = RunsFile(path)
    try:
        new = runs_of(execution, started)
        file.append(new)
    finally:
        file.close()
    return len(new)


def frame_of(runs: Sequence[Run]) -> pd.DataFrame:
    """Runs as a table, with the columns of the file."""
    import pandas as pd

    return pd.DataFrame([astuple(run) for run in runs], columns=list(COLUMNS))


def seconds_of(runs: Iterable[Run]) -> dict[str, dict[int, list[float]]]:
    """Task -> count -> seconds of the runs that completed; an empty list: none did."""
    found: dict[str, dict[int, list[float]]] = {}
    for run in runs:
        mine = found.setdefault(run.task, {}).setdefault(run.processors, [])
        if not math.isnan(run.seconds):
            mine.append(run.seconds)
    return found


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
