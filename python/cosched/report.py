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

from cosched import io
from cosched.core.compare import compare_rows, in_order, names_of
from cosched.core.family import Family
from cosched.core.result import Result

if TYPE_CHECKING:
    import pandas as pd

#: (title, result): what :func:`draw` takes.
Titled = tuple[str, Result]


def _progress() -> Progress:
    """Progress on the terminal only; removed when the work is done."""
    console = Console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner with the elapsed time while a computation runs."""
    with _progress() as progress:
        progress.add_task(what)
        yield


def show_notes(instance: Any) -> None:
    """Print what a reader did to the data, a line each."""
    for note in instance.notes:
        print(f"note: {note}")


def show_result(of: Family, result: Result, found: dict[str, Any]) -> None:
    """One result as a small table of names and numbers."""
    bound, gap = result.bound, result.gap
    table = Table(title=f"{of.name}: {result.algorithm}", show_header=False)
    table.add_row(of.objective, f"{result.value:.9g}")
    if bound is not None:
        table.add_row(f"bound ({bound.method})", f"{bound.value:.9g}")
        table.add_row("gap", _percent(gap))
    for name, value in found["metrics"].items():
        table.add_row(name.replace("_", " "), f"{value:.6g}")
    table.add_row("status", result.status)
    console().print(table)


def compare_all(
    of: Family,
    instances: list[tuple[dict[str, Any], Any]],
    names: list[str] | None,
    seed: int,
    time_limit: float | None,
) -> tuple[pd.DataFrame, list[Titled]]:
    """``compare`` over several instances: one table, and the best result of each instance."""
    rows: list[dict[str, Any]] = []
    best: list[Titled] = []
    with _progress() as progress:
        for varied, instance in instances:
            chosen = names_of(of, instance, names)
            which = ", ".join(f"{key} = {value}" for key, value in varied.items())
            label = f"{of.name} {which}".rstrip()
            task = progress.add_task(f"{label}: bound", total=len(chosen))
            results = []
            for row, result in compare_rows(of, instance, chosen, seed, time_limit):
                progress.update(task, advance=1, description=f"{label}: {row['algorithm']}")
                rows.append({**varied, **row})
                if result is not None:
                    results.append(result)
            if results:
                pick = max if of.maximise else min
                winner = pick(results, key=lambda result: result.value)
                title = f"{label}: {winner.algorithm}, {of.objective} {winner.value:.6g}"
                best.append((title, winner))
    keys = [key for varied, _ in instances for key in varied]
    return in_order(rows, keys), best


def show_table(of: Family, frame: pd.DataFrame) -> None:
    """Print a table of ``compare``; what did not run says why below it."""
    table = Table(title=f"{of.name}: value = {of.objective}")
    shown = [column for column in frame.columns if column != "message"]
    for column in shown:
        numeric = frame[column].dtype.kind in "fi"
        table.add_column(column.replace("_", " "), justify="right" if numeric else "left")
    for _, row in frame.iterrows():
        table.add_row(*(_cell(column, row[column]) for column in shown))
    console().print(table)
    reasons = frame.loc[frame.message != "", ["algorithm", "status", "message"]]
    for name, status, message in reasons.drop_duplicates().itertuples(index=False):
        print(f"{name}: {status}: {message}")


def show_frame(title: str, frame: pd.DataFrame) -> None:
    """Print a small table as it is."""
    table = Table(title=title)
    for column in frame.columns:
        numeric = frame[column].dtype.kind in "fi"
        table.add_column(str(column), justify="right" if numeric else "left")
    for cells in frame.itertuples(index=False):
        table.add_row(*(_cell("", cell) for cell in cells))
    console().print(table)


def write_result(result: Result, found: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write a result: .json everything, .csv and .md the placements."""
    if Path(path).suffix == ".json":
        io.write_json(found, path)
    else:
        io.write_frame(result.schedule.to_frame(), path)


def draw(results: list[Titled], of: Family, path: str | PathLike[str]) -> None:
    """A Gantt chart a result, one above the other."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from cosched import plot

    if not results:
        return
    figure, axes = plt.subplots(
        len(results), 1, figsize=(11, 1 + 2.8 * len(results)), layout="constrained", squeeze=False
    )
    for ax, (title, result) in zip(axes[:, 0], results, strict=True):
        plot.gantt(result.schedule, ax)
        ax.set_title(title, fontsize=10)
    plot.save(figure, path)
    plt.close(figure)


def console() -> Console:
    """Where tables go."""
    screen = Console()
    # In a pipe or a file there is no screen to fit: do not cut columns.
    return screen if screen.is_terminal else Console(width=200)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.2f}%"


def _cell(column: str, value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    if column == "gap":
        return _percent(value)
    return f"{value:.3g}" if column == "seconds" else f"{value:.6g}"
