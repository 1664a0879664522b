"""The report of a run: a plan or a workflow, as it was planned and as it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from cosched import io, plot
from cosched.execution import Execution
from cosched.reports.charts import drawing, svg_of
from cosched.reports.document import Column, Figure, KeyFigure, Report, Section, Table
from cosched.reports.sentences import notes_of_report
from cosched.workflows.run_report import by_rule

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

#: Suffixes of the files that a report is written to.
SUFFIXES = (".html", ".json", ".png", ".svg", ".pdf")
_MAX_TASK_ROWS = 200


def write_execution(
    execution: Execution,
    path: str | PathLike[str],
    sentence: str = "",
    notes: Sequence[str] = (),
    *,
    is_workflow: bool = False,
) -> None:
    """Write a page (.html), the figure (.png, .svg, .pdf) or the record (.json).

    Parameters
    ----------
    sentence : str
        The answer, without a full stop.
    is_workflow : bool
        Whether tasks are named after the rule that they are of.

    Raises
    ------
    InvalidInstance
        Another suffix.
    """
    suffix = io.check_suffix(path, SUFFIXES)
    if suffix == ".json":
        execution.write(path)
    elif suffix == ".html":
        report = execution_report(execution, sentence, notes, is_workflow=is_workflow)
        io.write_text(report.to_html(), path)
    else:
        plot.save(_drawing(execution), path)


def execution_report(
    execution: Execution,
    sentence: str = "",
    notes: Sequence[str] = (),
    *,
    is_workflow: bool = False,
) -> Report:
    """Return the report of a run; the parameters are those of :func:`write_execution`."""
    figures = []
    if execution.tasks:
        figures = [Figure(svg_of(_drawing(execution)), "Planned and measured schedule")]
    table = _rule_table(execution) if is_workflow else _task_table(execution)
    heading = "By rule" if is_workflow else "Tasks"
    return Report(
        kind="run",
        title="Run of a workflow" if is_workflow else "Run of a plan",
        subtitle=f"on {execution.host}" if execution.host else "",
        lead=f"{sentence}." if sentence else "",
        key_figures=_key_figures(execution),
        sections=(
            Section("Planned and measured", tuple(figures)),
            Section(heading, (table,)),
        ),
        notes=notes_of_report((*notes, *execution.notes)),
        notes_heading="Notes",
    )


def _key_figures(execution: Execution) -> tuple[KeyFigure, ...]:
    completed = sum(task.state == "completed" for task in execution.tasks)
    figures = [
        KeyFigure("tasks completed", f"{completed:,} of {len(execution.tasks):,}", "text"),
        KeyFigure("measured makespan", execution.makespan, "seconds"),
    ]
    if execution.planned_makespan > 0:
        figures.append(KeyFigure("planned makespan", execution.planned_makespan, "seconds"))
    if execution.bound is not None:
        figures.append(
            KeyFigure("lower bound", execution.bound, "seconds", "with the measured times")
        )
    return tuple(figures)


def _drawing(execution: Execution) -> Drawing:
    with drawing(5.0) as (figure, ax):
        plot.execution(execution, ax=ax)
    return figure


def _rule_table(execution: Execution) -> Table:
    columns = (
        Column("rule", "name", "rule"),
        Column("jobs", "count", "jobs"),
        Column("run time of all (s)", "number", "seconds"),
        Column("longest (s)", "number", "longest"),
        Column("share of core time", "share", "share"),
    )
    rows = tuple(
        tuple(record[column.name] for column in columns)
        for record in by_rule(execution).to_dict("records")
    )
    return Table(columns, rows)


def _task_table(execution: Execution) -> Table:
    columns = (
        Column("task", "name"),
        Column("units", "count"),
        Column("planned start (s)", "number", "planned_start"),
        Column("planned end (s)", "number", "planned_end"),
        Column("measured start (s)", "number", "start"),
        Column("measured end (s)", "number", "end"),
        Column("state", "text"),
        Column("attempts", "count"),
    )
    shown_tasks = execution.tasks[:_MAX_TASK_ROWS]
    rows = tuple(
        (
            task.name,
            len(task.units),
            task.planned_start,
            task.planned_end,
            task.start,
            task.end,
            task.state,
            task.attempt,
        )
        for task in shown_tasks
    )
    n_hidden = len(execution.tasks) - len(shown_tasks)
    note = f"The first {_MAX_TASK_ROWS} tasks; {n_hidden:,} more." if n_hidden else ""
    return Table(columns, rows, note=note)
