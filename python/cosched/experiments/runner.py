"""Run a study to its end: plan, campaign, tables, figures, report."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched import io
from cosched.core.arrays import integer, positive
from cosched.errors import StudyError, optional, require
from cosched.experiments import engines
from cosched.experiments.catalogue import claims_of, find
from cosched.experiments.engines import Context, Engine
from cosched.experiments.state import StudyState
from cosched.experiments.study import Design, is_timing, make_design, missing_line
from cosched.experiments.study_outputs import RESULTS, StudyResult, write_outputs, written

if TYPE_CHECKING:
    import pyarrow as pa

#: What a file system says that has no room for a file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run(
    name: str,
    *,
    quick: bool = False,
    out: str | PathLike[str] | None = None,
    workers: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    task_timeout: float | None = None,
) -> StudyResult:
    """Run a study to its end, or go on with one that was interrupted.

    ``results.parquet`` is the same, bit for bit, whatever the engine and the number of workers.
    Workers are spawned: a script calls this below ``if __name__ == "__main__":``.
    The result has ``frame``, ``tables``, ``errors`` and ``out``.

    Parameters
    ----------
    name : str
        A key of ``STUDIES``, or ``"module:NAME"`` for a :class:`Study` of one's own.
    quick : bool
        At reduced size, on generated data where possible.
    out : str or path-like, optional
        Folder for ``results.parquet``, ``timings.parquet``, ``tables/``, ``figures/``,
        ``report.html`` and ``state/``. None: ``out/<name>``.
    workers : int, optional
        Processes on this machine; by default one a processor. 0 runs all in this process (with
        `task_timeout`: in one worker process, which can be ended).
    dask : str, optional
        Address of a Dask scheduler (or its scheduler file, .json) whose workers run the tasks.
    resume : bool
        Go on with the state in `out`, if there is one; tasks that ended in an error run again,
        and so do those whose rows are found damaged.
    task_timeout : float, optional
        Seconds that a task may take. One that takes longer has an error row, its process is
        killed, and the others go on. None: no limit.

    Raises
    ------
    StudyError
        Real data is missing; `out` holds a state and `resume` is false, or a state of another
        plan or version; no scheduler answers.
    MissingExtra
        ``cosched-hpc[dask]`` is not installed where `dask` is given.
    KeyboardInterrupt
        Ctrl-C: the rows so far are kept, `resume` takes them up.

    Examples
    --------
    >>> from cosched import experiments
    >>> result = experiments.run("packs-fig2-5", quick=True, out="packs")  # doctest: +SKIP
    """
    require("cloudpickle", "pyarrow", extra="studies")
    study = find(name)
    if task_timeout is not None:
        task_timeout = positive(task_timeout, "task_timeout", "a positive number of seconds")
        workers = 1 if workers == 0 else workers  # nothing in this process could end a task
    engine = _engine(workers, dask)
    missing = study.missing(quick)
    if missing:
        raise StudyError(missing_line(name, missing))
    folder = Path("out", study.name) if out is None else Path(out)
    design = make_design(study, name, quick)
    context = Context.here(name) if workers == 0 else Context.shipped(name, task_timeout)
    with _at_work(folder, design, context.version, resume) as state:
        run_campaign(design, state, engine, context)
        write_results(design, state)
        _write_errors(state.outcomes, folder / "errors.txt")
        result = write_outputs(study, design, folder, claims_of(study.name))
        state.record(written(folder))
        return result


@contextmanager
def _at_work(folder: Path, design: Design, version: str, resume: bool) -> Iterator[StudyState]:
    """Yield the state in a folder; what ends the work early says what is kept and how to go on."""
    kept_rows_text = "no row is kept"
    try:
        state = StudyState.open(folder, design, version, resume)
        try:
            yield state
        finally:
            try:
                state.close()
            finally:
                kept_rows_text = (
                    f"{state.saved_rows} of {len(design.tasks)} rows are kept in {folder}"
                )
    except KeyboardInterrupt as stop:
        raise type(stop)(
            f"interrupted: {kept_rows_text}; the same command with --resume goes on"
        ) from None
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise StudyError(
            f"{folder}: {error.strerror}: free some space and run the same command again with "
            f"--resume; {kept_rows_text}"
        ) from None


def _engine(workers: int | None, dask: str | None) -> Any:
    if dask is not None:
        if workers is not None:
            raise StudyError("give workers or the address of a Dask scheduler, not both")
        return partial(engines.dask, address=dask)
    if workers is None:
        return partial(engines.local, workers=len(os.sched_getaffinity(0)))
    count = integer(workers, "workers", 0, 4096)
    return partial(engines.local, workers=count) if count else engines.in_process


def _write_errors(outcomes: Any, path: Path) -> None:
    """Write the tracebacks of what went wrong, or no file."""
    texts = [
        f"task {number}: {outcomes[number].row}\n{outcomes[number].detail}"
        for number in sorted(outcomes)
        if outcomes[number].status == "error"
    ]
    if texts:
        io.write_text("\n".join(texts) + "\n", path)
    else:
        path.unlink(missing_ok=True)


#: Seconds between the lines that stand for the progress bar where there is no terminal.
_LINE_EVERY = 60.0


def run_campaign(design: Design, state: StudyState, engine: Engine, context: Context) -> None:
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


def write_results(design: Design, state: StudyState) -> None:
    """``results.parquet`` (the same bytes for the same rows) and ``timings.parquet``."""
    state.record(())  # a run that ends in the middle leaves no digest of a file that is gone
    results, timings = [], []
    for number, task in enumerate(design.tasks):
        outcome = state.outcomes[number]
        row = json.loads(outcome.row)
        measured = {key: row.pop(key) for key in list(row) if is_timing(key)}
        status, message = row.pop("status"), row.pop("message", "")
        results.append({"task": number, **task, "status": status, **row, "message": message})
        timings.append({"task": number, "seconds": outcome.seconds, **measured})
    parquet = optional("pyarrow.parquet", extra="studies")
    for name, rows in zip(RESULTS, (results, timings), strict=True):
        with io.replacing(state.folder / name) as temporary:
            parquet.write_table(_table(rows), temporary)


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    """Return rows as columns whose types depend on the values only, not on how they came
    together."""
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
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(title, total, done)
        return
    with rich.Progress(
        *(rich.TextColumn("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn()),
        *(rich.TimeElapsedColumn(), rich.TextColumn("left"), rich.TimeRemainingColumn()),
        console=console,
        transient=True,
        speed_estimate_period=600,  # tasks may take minutes
    ) as progress:
        bar = progress.add_task(title, total=total, completed=done)
        yield lambda now: progress.update(bar, completed=now)


def _lines(title: str, total: int, first: int) -> Callable[[int], None]:
    """Return a function that prints progress for log files: a line a minute."""
    begun = last = time.monotonic()

    def show(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY and done > first:
            last = now
            remaining_minutes = (now - begun) / (done - first) * (total - done) / 60
            print(
                f"{title}: {done} of {total} rows, about {remaining_minutes:.0f} min left",
                file=sys.stderr,
            )

    return show
