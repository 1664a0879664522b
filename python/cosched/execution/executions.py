"""``runs.executions.csv``, beside ``runs.csv``: what executions promised, and what they took."""

from __future__ import annotations

from contextlib import closing
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.execution.appended import AppendedTable
from cosched.execution.codes import Codes
from cosched.execution.record import Execution, TaskRun

COLUMNS = ("execution", "task", "processors", "planned", "planned_end", "end")

#: (task, processors, planned seconds, planned end, real end)
Row = tuple[str, int, float, float, float]


def beside(runs: str | PathLike[str]) -> Path:
    """The file that belongs to a file of runs."""
    return Path(runs).with_suffix(".executions.csv")


def append_executions(
    execution: Execution, runs: str | PathLike[str], name: str, codes: Codes
) -> None:
    """Keep an execution of which every task completed; of others the end says nothing."""
    if not execution.good:
        return
    with closing(AppendedTable(beside(runs), COLUMNS)) as file:
        file.append(_row(task, name, codes) for task in execution.tasks)


def _row(task: TaskRun, name: str, codes: Codes) -> tuple[object, ...]:
    planned = task.planned_end - task.planned_start
    ends = (f"{x:.6f}" for x in (planned, task.planned_end, task.end))
    return (name, codes[task.name].profile_name, len(task.units), *ends)


def read_executions(runs: str | PathLike[str]) -> dict[str, list[Row]]:
    """Execution -> its tasks; nothing where no such file is."""
    path = beside(runs)
    if not path.exists():
        return {}
    table = io.read_csv(path)
    if tuple(name.strip() for name in table.header) != COLUMNS:
        raise InvalidInstance(
            f"{path}: line 1: header {shorten(','.join(table.header))}: expected "
            f"{','.join(COLUMNS)}"
        )
    found: dict[str, list[Row]] = {}
    for line, cells in table.rows:
        where = f"{path}: line {line}"
        count = io.parse_integer(cells[2], f"{where}, column 'processors'", 1, 10**6)
        planned, planned_end, end = (
            io.parse_nonnegative(cells[k], f"{where}, column '{COLUMNS[k]}'") for k in (3, 4, 5)
        )
        found.setdefault(cells[0], []).append((cells[1], count, planned, planned_end, end))
    return found
