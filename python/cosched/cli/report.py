"""What the command line shows: tables with rich, progress on a terminal, pictures, files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from cosched import io, plot
from cosched.core import Family, Result
from cosched.core.comparison import in_order, settled
from cosched.core.drawing import literal
from cosched.core.text import printable

if TYPE_CHECKING:
    import pandas as pd

#: (title, result): what :func:`draw` takes.
Titled = tuple[str, Result]


def _progress() -> Progress:
    """Progress on the terminal only; removed when the work is done."""
    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner with the elapsed time while a computation runs."""
    with _progress() as progress:
        progress.add_task(printable(what))
        yield


def show_notes(instance: Any) -> None:
    """Print what a reader did to the data, a line each."""
    for note in instance.notes:
        say(f"note: {note}")


def show_result(of: Family, result: Result) -> None:
    """One result as a small table of names and numbers."""
    bound, gap = result.bound, result.gap
    table = Table(title=_title(f"{of.name}: {result.algorithm}"), show_header=False)
    table.add_row(of.objective, f"{result.value:.9g}")
    if bound is not None:
        table.add_row(as_is(f"bound ({bound.method})"), f"{bound.value:.9g}")
        table.add_row("gap", percent(gap))
    for name, value in result.metrics().items():
        table.add_row(as_is(name.replace("_", " ")), f"{value:.6g}")
    table.add_row("status", as_is(result.status))
    console().print(table)


def compare_all(
    of: Family,
    instances: list[tuple[dict[str, Any], Any]],
    names: list[str] | None,
    seed: int,
    time_limit: float | None,
) -> tuple[pd.DataFrame, list[Titled], list[str]]:
    """``compare`` over several instances: one table, and the best result of each instance.

    Ctrl-C after the first row ends it early; the third value says what did not run.
    """
    chosen = [of.names_of(instance, names) for _, instance in instances]
    plan = [name for of_one in chosen for name in of_one]
    done: list[tuple[dict[str, Any], list[tuple[dict[str, Any], Result | None]]]] = []
    best: dict[str, Result] = {}
    pick = max if of.maximise else min
    ended = 0
    with _progress() as progress:
        task = progress.add_task("")
        try:
            for (varied, instance), mine in zip(instances, chosen, strict=True):
                which = ", ".join(f"{key} = {value}" for key, value in varied.items())
                label = f"{of.name} {which}".rstrip()
                progress.update(task, description=printable(f"{label}: bound, {mine[0]}"))
                done.append((varied, rows := []))
                for row, result in of.compare_rows(instance, mine, seed, time_limit):
                    rows.append((row, result))
                    ended += 1
                    if result is not None:
                        known = [best[label]] if label in best else []
                        best[label] = pick([*known, result], key=lambda result: result.value)
                    now = f"{ended} of {len(plan)} done, {(*plan, '')[ended]}"
                    progress.update(task, description=printable(f"{label}: {now}"))
        except KeyboardInterrupt:
            if not ended:
                raise
    titled = [
        (f"{label}: {winner.algorithm}, {of.objective} {winner.value:.6g}", winner)
        for label, winner in best.items()
    ]
    keys = [key for varied, _ in instances for key in varied]
    table = [{**varied, **row} for varied, rows in done for row in settled(rows)]
    return in_order(table, keys), titled, plan[ended:]


def show_table(of: Family, frame: pd.DataFrame) -> None:
    """Print a table of ``compare``; what did not run says why below it."""
    table = Table(title=f"{of.name}: value = {of.objective}")
    metrics = frame.columns[list(frame.columns).index("seconds") + 1 :]
    hidden = {"message", *(c for c in metrics if of.screen and c not in of.screen)}
    shown = [column for column in frame.columns if column not in hidden]
    for column in shown:
        numeric = frame[column].dtype.kind in "fi"
        name = as_is(column.replace("_", " "))
        table.add_column(name, justify="right" if numeric else "left")
    for _, row in frame.iterrows():
        table.add_row(*(_cell(column, row[column]) for column in shown))
    console().print(table)
    reasons = frame.loc[frame.message != "", ["algorithm", "status", "message"]]
    for name, status, message in reasons.drop_duplicates().itertuples(index=False):
        say(f"{name}: {status}: {message}")


def show_frame(title: str, frame: pd.DataFrame) -> None:
    """Print a small table as it is."""
    table = Table(title=_title(title))
    for column in frame.columns:
        numeric = frame[column].dtype.kind in "fi"
        table.add_column(as_is(column), justify="right" if numeric else "left")
    for cells in frame.itertuples(index=False):
        table.add_row(*(_cell("", cell) for cell in cells))
    console().print(table)


def write_result(result: Result, path: str | PathLike[str]) -> None:
    """Write a result: .json everything, .csv and .md the placements."""
    if Path(path).suffix == ".json":
        io.write_json(result.to_dict(), path)
    else:
        io.write_frame(result.schedule.to_frame(), path)


def draw(results: list[Titled], of: Family, path: str | PathLike[str]) -> None:
    """The family's pictures of each result, one below the other."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    if not results:
        return
    panels = of.panels or (lambda result, ax: plot.gantt(result.schedule, ax),)
    rows = len(results) * len(panels)
    figure, axes = plt.subplots(
        rows, 1, figsize=(11, 1 + 2.8 * rows), layout="constrained", squeeze=False
    )
    for place, (title, result) in enumerate(results):
        mine = axes[place * len(panels) : (place + 1) * len(panels), 0]
        for panel, ax in zip(panels, mine, strict=True):
            panel(result, ax)
        mine[0].set_title(literal(title), fontsize=10)
    plot.save(figure, path)
    plt.close(figure)


def say(line: str) -> None:
    """Print a line that may hold names of the user's."""
    print(printable(line))


def as_is(text: object) -> Text:
    """A text for a table: a name is no markup (``v1[/a]``), and steers no terminal."""
    return Text(printable(text))


def _title(text: str) -> Text:
    return Text(printable(text), style="table.title")


def console() -> Console:
    """Where tables go."""
    screen = Console()
    # In a pipe or a file there is no screen to fit: do not cut columns.
    return screen if screen.is_terminal else Console(width=200)


def percent(share: float) -> str:
    """A gap: percent above the bound, or how many times the bound where it is far."""
    if math.isnan(share):
        return "-"
    return f"{100 * share:.2f}%" if share < 1 else f"{share + 1:,.1f} x"


def _cell(column: str, value: Any) -> str | Text:
    if not isinstance(value, float):
        return as_is(value)
    if math.isnan(value):
        return "-"
    if column == "gap":
        return percent(value)
    return f"{value:.3g}" if column == "seconds" else f"{value:.6g}"
