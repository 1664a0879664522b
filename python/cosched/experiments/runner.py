"""Run a study to its end: plan, campaign, tables, figures, report."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core.arrays import integer, positive
from cosched.errors import StudyError
from cosched.experiments import dask_engine, engines
from cosched.experiments.campaign import run_campaign, write_results
from cosched.experiments.catalogue import claims_of, find
from cosched.experiments.design import Design, make_design
from cosched.experiments.outputs import StudyResult, write_outputs, written
from cosched.experiments.state import State
from cosched.experiments.study import missing_line
from cosched.experiments.worker import Context

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
        and so do those whose rows are found damaged (a note says which).
    task_timeout : float, optional
        Seconds that a task may take. One that takes longer has an error row, its process is
        killed, and the others go on. None: no limit.

    Returns
    -------
    StudyResult
        ``frame``, ``tables``, ``errors`` and ``out``.

    Raises
    ------
    StudyError
        Real data is missing; `out` holds a state and `resume` is false, or a state of another
        plan or version; no scheduler answers.
    MissingExtra
        ``cosched-hpc[dask]`` is not installed where `dask` is given.
    KeyboardInterrupt
        Ctrl-C: the rows so far are kept, `resume` takes them up.

    Notes
    -----
    ``results.parquet`` is the same, bit for bit, whatever the engine and the number of workers.
    Its metadata ``cosched.sha256`` is a digest of the file, see :func:`verify`.
    Workers are spawned: a script calls this below ``if __name__ == "__main__":``.

    Examples
    --------
    >>> from cosched import experiments
    >>> result = experiments.run("packs-fig2-5", quick=True, out="packs")  # doctest: +SKIP
    """
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
def _at_work(folder: Path, design: Design, version: str, resume: bool) -> Iterator[State]:
    """The state in a folder; what ends the work early says what is kept and how to go on."""
    kept = "no row is kept"
    try:
        state = State.open(folder, design, version, resume)
        try:
            yield state
        finally:
            try:
                state.close()
            finally:
                kept = f"{state.kept} of {len(design.tasks)} rows are kept in {folder}"
    except KeyboardInterrupt as stop:
        raise type(stop)(f"interrupted: {kept}; the same command with --resume goes on") from None
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise StudyError(
            f"{folder}: {error.strerror}: free some space and run the same command again with "
            f"--resume; {kept}"
        ) from None


def _engine(workers: int | None, dask: str | None) -> Any:
    if dask is not None:
        if workers is not None:
            raise StudyError("give workers or the address of a Dask scheduler, not both")
        return partial(dask_engine.dask, address=dask)
    if workers is None:
        return partial(engines.local, workers=len(os.sched_getaffinity(0)))
    count = integer(workers, "workers", 0, 4096)
    return partial(engines.local, workers=count) if count else engines.in_process


def _write_errors(outcomes: Any, path: Path) -> None:
    """The tracebacks of what went wrong, or no file."""
    texts = [
        f"task {number}: {outcomes[number].row}\n{outcomes[number].detail}"
        for number in sorted(outcomes)
        if outcomes[number].status == "error"
    ]
    if texts:
        io.write_text("\n".join(texts) + "\n", path)
    else:
        path.unlink(missing_ok=True)
