"""Tasks of a batch: a list of command lines, or codes with their measurements."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType

import numpy as np

from cosched import io
from cosched.core.precedence import before_of, require_order
from cosched.core.text import first_repeated
from cosched.errors import InvalidInstance, shorten
from cosched.execution.batches.command_rows import (
    Names,
    Times,
    is_plain_list,
    rows_of_list,
    rows_of_table,
    rows_of_task_log,
)
from cosched.execution.batches.runner import CPUS
from cosched.execution.code import Code
from cosched.execution.codes import Codes
from cosched.execution.measured_times import by_member, runs_of_current_codes, seconds_of
from cosched.execution.plan_input import shared_of, tables_of, tasks_of
from cosched.execution.runs_file import MeasuredRun, Measurements, read_measurements
from cosched.execution.slurm_words import amount_of
from cosched.notes import Note


@dataclass(frozen=True, kw_only=True)
class BatchTask:
    """A command that runs on one node.

    Attributes
    ----------
    name : str
    seconds : mapping of int to float
        Core count -> seconds, of each count that it may run on.
    commands : mapping of int to tuple of str
        Core count -> program and arguments.
    memory : mapping of int to float
        Core count -> GB; none: 0.
    gpus : int
    licences : mapping
        Name -> how many.
    after : tuple of str
        Tasks that have to complete before it starts.
    directory : str
        Where it is started.
    environment : mapping
        Added to the environment.

    Examples
    --------
    >>> BatchTask(name="fem", seconds={1: 60.0}, commands={1: ("./fem",)}).memory.get(1, 0.0)
    0.0
    """

    name: str
    seconds: Mapping[int, float]
    commands: Mapping[int, tuple[str, ...]]
    memory: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))
    gpus: int = 0
    licences: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    after: tuple[str, ...] = ()
    directory: str = "."
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class TaskList:
    """Tasks, the runs that say how their times vary, and what is to be said of both.

    Attributes
    ----------
    tasks : tuple of BatchTask
    runs : tuple of MeasuredRun
    notes : tuple of Note

    Examples
    --------
    >>> task = cs.execution.BatchTask(name="a", seconds={1: 60.0}, commands={1: ("./fem", "a")})
    >>> len(TaskList((task,)).tasks)
    1
    """

    tasks: tuple[BatchTask, ...]
    runs: tuple[MeasuredRun, ...] = ()
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        names = [task.name for task in self.tasks]
        if (twice := first_repeated(names)) is not None:
            raise InvalidInstance(f"task {shorten(twice)} is there twice: expected other names")
        require_order({task.name: task.after for task in self.tasks})

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        seconds: Sequence[float] = (),
        runs: str | PathLike[str] | None = None,
    ) -> TaskList:
        r"""Read a CSV file of command lines, or a list of commands; ``-`` is standard input.

        Columns ``command`` and ``seconds`` (several with blanks between: runs that were
        measured), and where wanted ``cores`` (1), ``memory`` (GB), ``after`` (names, with blanks
        between) and ``name`` (``task 1``, ``task 2``, ...). With `seconds` or `runs` the column
        ``seconds`` may be missing or empty, and a file without a header is a list: each line is a
        command, but for empty ones and those that begin with ``#``. Of a job log of GNU parallel,
        and of what hyperfine exported, each command is a task with the seconds of its runs.

        Parameters
        ----------
        seconds : sequence of float
            Of each task that has none of its own; several: runs that were measured.
        runs : path-like, optional
            Measurements: those of a task's name, else of its command, on its cores.

        Raises
        ------
        InvalidInstance
            A bad cell, by its line and column.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "list.csv"
        >>> _ = path.write_text("command,seconds\n./fem a,60 62\n")
        >>> TaskList.read(path).tasks[0].seconds[1]
        61.0
        >>> _ = path.write_text("./fem a\n./fem b\n")
        >>> [task.name for task in TaskList.read(path, seconds=[60.0]).tasks]
        ['task 1', 'task 2']
        """
        where = "standard input" if str(path) == "-" else str(path)
        measurements = None if runs is None else read_measurements(runs)
        measured_seconds = None if measurements is None else _seconds_by_name(measurements)
        times = Times(tuple(seconds), measured_seconds, runs)
        notes: tuple[Note, ...] = () if measurements is None else measurements.notes
        log_rows = None if str(path) == "-" else rows_of_task_log(path, times.are_given)
        text = "" if log_rows else sys.stdin.read() if str(path) == "-" else io.read_text(path)
        if log_rows is not None:
            rows, log_notes = log_rows
            notes += log_notes
        elif times.are_given and is_plain_list(text):
            rows, list_notes = rows_of_list(text, where)
            notes += list_notes
        else:
            rows = _rows_of_table(text, where, times.are_given)
        tasks = tasks_of_rows(rows, where, times)
        runs_of_tasks = [_runs_of(task, runs_of_task) for task, runs_of_task in tasks]
        rounds = max(map(len, runs_of_tasks))
        in_rounds = [
            runs_of_task[k]
            for k in range(rounds)
            for runs_of_task in runs_of_tasks
            if k < len(runs_of_task)
        ]
        return cls(tuple(task for task, _ in tasks), tuple(in_rounds), notes)

    @classmethod
    def of_codes(cls, codes: Codes, runs: str | PathLike[str], cores: int) -> TaskList:
        """Codes with the times that were measured of them, on up to so many cores of a node.

        Parameters
        ----------
        codes : Codes
        runs : path-like
            What ``cosched profile`` wrote.
        cores : int
            Of a node.

        Raises
        ------
        InvalidInstance
            A code that was not measured, that failed on all counts, or whose ranks srun starts.
        """
        measurements = read_measurements(runs)
        every, changed = runs_of_current_codes(measurements.runs, codes)
        tasks = tasks_of(every, codes, runs, True)
        tables = tables_of(tasks, cores, codes, "all", str(runs))
        shared, resource_notes = shared_of(tasks, tables, every, codes)
        behind = before_of(codes.edges(tasks.names))
        memory = shared.get("resources", {}).get("memory")
        batch_tasks = [
            _of_code(
                codes[name],
                times,
                None if memory is None else memory[row],
                [tasks.names[before] for before in behind.get(row, ())],
            )
            for row, (name, times) in enumerate(zip(tasks.names, tables.times, strict=True))
        ]
        task_runs = [run for run in by_member(every, codes) if run.task in tasks.seconds]
        return cls(
            tuple(batch_tasks),
            tuple(task_runs),
            (*measurements.notes, *changed, *tasks.notes, *resource_notes),
        )


def _seconds_by_name(measurements: Measurements) -> dict[str, dict[int, list[float]]]:
    """Seconds by count under the name of each code, and under that of each task of a log."""
    seconds = seconds_of(measurements.runs)
    if not measurements.names:
        return seconds
    of_tasks = [
        replace(run, task=name)
        for run, name in zip(measurements.runs, measurements.names, strict=True)
    ]
    return {**seconds_of(of_tasks), **seconds}


def _rows_of_table(
    text: str, where: str, are_times_given: bool
) -> list[tuple[int, dict[str, str]]]:
    try:
        return rows_of_table(text, where, are_times_given)
    except InvalidInstance as error:
        if is_plain_list(text):
            raise InvalidInstance(f"{error}; of a list of commands: expected --seconds") from None
        raise


def _runs_of(task: BatchTask, times: Sequence[float]) -> list[MeasuredRun]:
    (cores,) = task.seconds
    return [MeasuredRun(task.name, cores, t, "completed", "", "", 1) for t in times]


def tasks_of_rows(
    rows: Sequence[tuple[int, Mapping[str, str]]], where: str, times: Times
) -> list[tuple[BatchTask, Sequence[float]]]:
    """A task of each row, and its seconds, of which the task has the median."""
    names = [row.get("name") or f"task {number}" for number, (_, row) in enumerate(rows, start=1)]
    task_names = Names(names)
    return [
        _task(row, name, f"{where}: line {line}", task_names, times)
        for (line, row), name in zip(rows, names, strict=True)
    ]


def _task(
    row: Mapping[str, str], name: str, where: str, task_names: Names, times: Times
) -> tuple[BatchTask, Sequence[float]]:
    command = row["command"]
    if not command:
        raise InvalidInstance(f"{where}, column 'command': empty cell: expected a command line")
    cores = io.parse_integer(row.get("cores") or "1", f"{where}, column 'cores'", 1, 10**6)
    place = f"{where}, column 'seconds'"
    measured_seconds: Sequence[float] = [
        io.parse_positive(t, place) for t in row.get("seconds", "").split()
    ]
    measured_seconds = measured_seconds or times.of((name, command), cores, where)
    gigabytes = io.parse_nonnegative(row.get("memory") or "0", f"{where}, column 'memory'")
    memory = amount_of(gigabytes, f"{where}, column 'memory'")
    task = BatchTask(
        name=name,
        seconds={cores: float(np.median(measured_seconds))},
        commands={cores: ("/bin/sh", "-c", command)},
        memory={cores: memory},
        after=task_names.read(row.get("after", ""), where),
        directory=str(Path.cwd()),
    )
    return task, measured_seconds


def _of_code(
    code: Code, times: np.ndarray, memory: np.ndarray | None, after: Sequence[str]
) -> BatchTask:
    if code.launch[:1] == ("srun",) or code.ranks == "procs":
        raise InvalidInstance(
            f"task {shorten(code.name)}: srun starts its ranks: expected one process, or launch = "
            "'mpirun': a batch starts no steps"
        )
    counts = [int(q) + 1 for q in np.flatnonzero(np.isfinite(times))]
    gb = np.zeros(len(times)) if memory is None else np.broadcast_to(memory, times.shape)
    marked = (CPUS,)  # the runner knows them
    return BatchTask(
        name=code.name,
        seconds={q: float(times[q - 1]) for q in counts},
        commands={q: tuple(code.filled(q, marked)) for q in counts},  # type: ignore[arg-type]
        memory={q: float(gb[q - 1]) for q in counts},
        gpus=code.gpus,
        licences=dict(code.licences),
        after=tuple(after),
        directory=str(code.filled_directory(counts[0], ()).absolute()),
        environment=code.filled_environment(counts[0], marked),  # type: ignore[arg-type]
    )
