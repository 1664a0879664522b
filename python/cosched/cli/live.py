"""A run on the screen: what runs where, elapsed against planned, and what it was in the end."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from cosched.cli import report
from cosched.cli.wrapped_tables import ScreenColumn, column, show
from cosched.core.result import spans
from cosched.errors import InvalidSchedule, printable
from cosched.lazy import pd

if TYPE_CHECKING:
    from rich.console import Group

    from cosched.execution import Execution, TaskRun
    from cosched.execution.run_state import RunState
    from cosched.execution.runs_file import MeasuredRun

#: Longer lists of running tasks are cut.
_MOST_ROWS = 20
#: So are tables of what ran.
_MAX_ENDS = 60


@contextmanager
def watching() -> Iterator[Callable[[RunState], None] | None]:
    """What ``execution.run`` is to call; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        yield lambda run: live.update(picture(run), refresh=True)


def picture(run: RunState) -> Group:
    """A run as it is now: what runs where, elapsed against planned, and the expected end."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    now = run.now()
    running = [step for step in run.plan.steps if run.is_running(step)]
    table = Table("task", "units", "elapsed", "planned")
    for step in running[:_MOST_ROWS]:
        elapsed, planned = now - run.attempt(step).start, step.end - step.start
        style = "red" if elapsed > planned else ""
        name, units = Text(printable(step.name)), spans(np.array(step.units))
        table.add_row(name, units, Text(f"{elapsed:.1f} s", style=style), f"{planned:.1f} s")
    ended_count = sum(map(run.has_ended, run.plan.steps))
    line = f"{ended_count} of {len(run.plan.steps)} tasks ended, {len(running)} run, {now:.1f} s"
    line += f"; expected end {run.expected_end():.1f} s, planned {run.original.makespan:.1f} s"
    return Group(table, Text(line))


@contextmanager
def measuring() -> Iterator[Callable[[int, int | None, MeasuredRun, float], None]]:
    """What ``execution.profile`` is to call: progress with the time left, on a terminal."""
    with report.progress(counted=True) as progress:
        bar = progress.add_task("measuring", total=None)

        def watch(done: int, total: int | None, run: MeasuredRun, seconds_left: float) -> None:
            text = f"{run.task} on {run.processors}"
            text += f": {run.status}" if math.isnan(run.seconds) else f": {run.seconds:.3g} s"
            text += "" if math.isnan(seconds_left) else f", {seconds_left:.0f} s left"
            progress.update(bar, completed=done, total=total, description=printable(text))

        yield watch


def show_runs(frame: pd.DataFrame) -> None:
    """Median, spread and failures of each code on each count."""
    rows = []
    frame = frame.assign(task=frame.attrs["units"])
    for (task, count), runs in frame.groupby(["task", "processors"], sort=False):
        ended = runs[runs.seconds.notna()]
        good = ended[~ended.starved]
        times = (good if len(good) else ended).seconds
        median = float(times.median()) if len(times) else math.nan
        spread = float((times.max() - times.min()) / median) if len(times) > 1 else math.nan
        n_remaining = len(ended) - len(times)
        rows.append((task, count, median, spread, len(times), n_remaining, len(runs) - len(ended)))
    names = ["task", "processors", "median s", "spread", "runs", "left out", "failed"]

    table = pd.DataFrame(rows, columns=names).sort_values(["task", "processors"], kind="stable")
    report.show_frame(
        "measured: spread = (largest - smallest) / median; left out: starved runs", table
    )
    wanted_runs = set(frame.attrs["wanted"])
    done = len(wanted_runs.intersection(zip(frame["task"], frame["processors"], strict=True)))
    report.say(f"{done} of {len(wanted_runs)} pairs of code and count were measured")
    for note in frame.attrs["notes"]:
        report.note(note)


def show_end(execution: Execution) -> None:
    """Planned against real: each task, each pack, the whole."""
    for note in execution.notes:
        report.note(note)
    listed_tasks = _worth_a_row(execution.tasks)
    rows = [_cells(task) for task in listed_tasks]
    titles = ("task", "units", "planned", "measured", "error", "start", "end", "state")
    columns = [
        ScreenColumn(title, [row[k] for row in rows], 2 <= k < 7) for k, title in enumerate(titles)
    ]
    show("tasks (s)", columns)
    if len(listed_tasks) < len(execution.tasks):
        n_unlisted = len(execution.tasks) - len(listed_tasks)
        report.say(f"... and {n_unlisted:,} more that completed; -o FILE has them all")
    packs = execution.packs()
    if 0 < len(packs) <= _MAX_ENDS:
        columns = [
            column(name, of_name)
            for name, of_name in zip(packs[0]._fields, zip(*packs, strict=True), strict=True)
        ]
        show("packs (s): overhead = from the end of the pack before", columns)
    report.say(
        f"planned end {execution.planned_makespan:.3f} s, measured {_number(execution.makespan)} s "
        f"({_error(execution.makespan, execution.planned_makespan)})"
    )
    try:
        execution.validate()
    except InvalidSchedule as error:
        report.say(f"note: the run as it happened was more than there is: {error}")


def _worth_a_row(tasks: Sequence[TaskRun]) -> list[TaskRun]:
    """Return all tasks; of many those that did not complete, and those that were latest."""
    if len(tasks) <= _MAX_ENDS:
        return list(tasks)
    latest_tasks = sorted(tasks, key=lambda t: (t.state == "completed", t.planned_end - t.end))
    listed_names = {t.task for t in latest_tasks[:_MAX_ENDS]}
    return [t for t in tasks if t.task in listed_names]


def _cells(task: TaskRun) -> list[str]:
    planned, real = task.planned_end - task.planned_start, task.end - task.start
    state = task.state if task.exit_code in (0, None) else f"{task.state} ({task.exit_code})"
    return [
        printable(task.name),
        spans(np.array(task.units)),
        f"{planned:.3f}",
        _number(real),
        _error(real, planned),
        _number(task.start),
        _number(task.end),
        state if task.attempt < 2 else f"{state}, attempt {task.attempt}",
    ]


def _number(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{seconds:.3f}"


def _error(real: float, planned: float) -> str:
    if math.isnan(real) or planned <= 0:
        return "-"
    return f"{100 * (real / planned - 1):+.1f}%"
