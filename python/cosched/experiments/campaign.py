"""A campaign: a plan's tasks run by an engine, every row kept as it comes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from cosched.errors import optional
from cosched.experiments.design import Design, is_timing
from cosched.experiments.engines import Engine
from cosched.experiments.sealed_tables import write_table
from cosched.experiments.state import State
from cosched.experiments.stored import RESULTS
from cosched.experiments.worker import Context

if TYPE_CHECKING:
    import pyarrow as pa

#: Seconds between the lines that stand for the progress bar where there is no terminal.
_LINE_EVERY = 60.0


def run_campaign(design: Design, state: State, engine: Engine, context: Context) -> None:
    """Run the tasks that `state` lacks. Whatever ends this early, `state` has all rows so far."""
    pending = state.pending()
    remaining = set(pending)
    total = len(design.tasks)
    tasks = [(number, design.tasks[number]) for number in pending]
    with _progress(design.study, total, total - len(pending)) as show:
        if tasks:
            with closing(engine(context, tasks)) as batches:
                for batch in batches:
                    state.add(batch)
                    remaining.difference_update(outcome.number for outcome in batch)
                    show(total - len(remaining))
    state.flush()


def write_results(design: Design, state: State) -> None:
    """``results.parquet`` (the same bytes for the same rows) and ``timings.parquet``."""
    results, timings = [], []
    for number, task in enumerate(design.tasks):
        outcome = state.outcomes[number]
        row = json.loads(outcome.row)
        measured = {key: row.pop(key) for key in list(row) if is_timing(key)}
        status, message = row.pop("status"), row.pop("message", "")
        results.append({"task": number, **task, "status": status, **row, "message": message})
        timings.append({"task": number, "seconds": outcome.seconds, **measured})
    state.record(())  # a run that ends in the middle leaves no digest of a file that is gone
    for name, rows in zip(RESULTS, (results, timings), strict=True):
        write_table(_table(rows), state.folder / name)
    state.record(RESULTS)


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as columns whose types depend on the values only, not on how they came together."""
    pa = optional("pyarrow", extra="studies")
    names = list(dict.fromkeys(key for row in rows for key in row))
    if "message" in names:
        names.remove("message")
        names.append("message")
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> pa.Array:
    pa = optional("pyarrow", extra="studies")
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {bool}:
        return pa.array(values, pa.bool_() if kinds else pa.float64())
    if kinds <= {int} and all(abs(value) < 2**63 for value in values if value is not None):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    # Lists, dictionaries and mixtures as JSON, texts as they are.
    return pa.array(
        [v if v is None or isinstance(v, str) else json.dumps(v) for v in values], pa.string()
    )


@contextmanager
def _progress(title: str, total: int, done: int) -> Iterator[Callable[[int], None]]:
    """Show how many tasks are done and how long the others will take; gives f(done)."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(title, total, done)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        speed_estimate_period=600,  # tasks may take minutes
    ) as progress:
        bar = progress.add_task(title, total=total, completed=done)
        yield lambda now: progress.update(bar, completed=now)


def _lines(title: str, total: int, first: int) -> Callable[[int], None]:
    """A line a minute, for log files."""
    begun = last = time.monotonic()

    def show(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY and done > first:
            last = now
            left = (now - begun) / (done - first) * (total - done) / 60
            print(f"{title}: {done} of {total} rows, about {left:.0f} min left", file=sys.stderr)

    return show
