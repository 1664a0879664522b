"""Executions as measurements: their tasks as runs, and their planned and real ends."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import fingerprint, values_of_sweep
from cosched.execution.codes import Codes
from cosched.execution.record import Execution, TaskRun
from cosched.execution.runs_file import MeasuredRun, RunsFile
from cosched.io.append_only import AppendOnlyTable


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

    corunners = {
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
            corunners=_corunner_shares(task, corunners.get(task.task, ()), profile),
            command="" if codes is None else fingerprint(codes[task.name]),
            parameters="" if codes is None else values_of_sweep(codes[task.name]),
        )
        for task in execution.tasks
        if task.state == "completed" and (started_tasks is None or task.task in started_tasks)
    ]


def _corunner_shares(
    task: TaskRun,
    neighbour_seconds: Iterable[tuple[TaskRun, float]],
    profile: Callable[[TaskRun], str],
) -> str:
    """Return what ran beside a task, as :attr:`MeasuredRun.corunners`."""
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
