"""Files of measured or complete times: CSV in three formats, JSON."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import integer, real_array
from cosched.core.precedence import cycle_of, waits_for_itself
from cosched.core.text import labels, not_read
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind
from cosched.profiles.completion import (
    COLUMNS as BENCHMARK,
    MOST_PROCESSORS,
    WAYS,
    Profiles,
    Runs,
    benchmark_runs,
    check_options,
    complete,
)
from cosched.profiles.sharing import SHARED_FIELDS, Sharing, sharing_of_json
from cosched.profiles.task_logs.measurements import TaskMeasurements, measurements_of_log
from cosched.profiles.task_logs.recognition import recognize_task_log

#: Columns of a value a task, and that value where the file has no such column.
TASK_COLUMNS = {"weight": 1.0, "release": 0.0}
#: Names of the tasks that a task waits for.
AFTER = "after"
JSON_FIELDS = ("times", "names", "max_tasks", *SHARED_FIELDS)
#: What ``cosched profile`` writes beside a run, and nobody needs here.
RUN_COLUMNS = {"status", "started", "host", "attempt"}
MEASURED_COLUMNS = {
    "cpu_seconds", "memory", "memory_by", "load", "starved", "beside", "command", "parameters",
}  # fmt: skip
#: What other programs call the columns of measurements.
OTHER_NAMES = {"processors": ("procs", "cores", "threads", "count"), "seconds": ("time", "runtime")}


def read(
    path: str | PathLike[str],
    *,
    procs: int | None = None,
    fit: str = "interpolation",
    extrapolate: bool = False,
    counts: str = "all",
) -> Profiles:
    r"""Read profiles from a CSV or JSON file; see :meth:`cosched.packs.Instance.read` for formats.

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = path.write_text("task,processors,seconds\nsolver,1,8\nsolver,4,2\n")
    >>> read(path, counts="measured").times.tolist()
    [[8.0, inf, inf, 2.0]]
    """
    if procs is not None:
        procs = integer(procs, "procs", 1, MOST_PROCESSORS)
    log = read_task_log(path)
    if log is None and io.bare_name(path).endswith(".json"):
        check_options(fit, extrapolate, counts)
        return _read_json(path, procs)
    table = io.read_csv(path) if log is None else log.table
    times = from_csv(table, procs=procs, fit=fit, extrapolate=extrapolate, counts=counts)
    return times if log is None else replace(times, notes=(*log.notes, *times.notes))


def read_task_log(path: str | PathLike[str]) -> TaskMeasurements | None:
    """The runs of a log of a workflow system or a task runner; None: the file is none of these."""
    log_format = recognize_task_log(path)
    return None if log_format is None else measurements_of_log(path, log_format)


def from_csv(
    table: io.CsvTable,
    *,
    procs: int | None = None,
    fit: str = "interpolation",
    extrapolate: bool = False,
    counts: str = "all",
    most: int | None = None,
) -> Profiles:
    """Profiles from a CSV table in one of the formats of :func:`read`.

    Examples
    --------
    >>> rows = [(2, ["solver", "8.0", "", "3.0"])]
    >>> from_csv(io.CsvTable("times.csv", ["task", "1", "2", "3"], rows)).times.tolist()
    [[8.0, inf, 3.0]]
    """
    check_options(fit, extrapolate, counts)
    if not isinstance(table, io.CsvTable):
        raise InvalidInstance(f"expected a table of io.read_csv, got {type(table).__name__}")
    table, renamed = with_usual_names(_without_index(table))
    header = [name.strip().lower() for name in table.header]
    notes: list[Note] = []
    if set(BENCHMARK) <= set(header):
        measured, notes = benchmark_runs(table, procs)
        read_columns = {*BENCHMARK, "metric", *WAYS}
    elif {"task", "processors", "seconds"} <= set(header):
        measured = _measurements(table)
        read_columns = {"task", "processors", "seconds", AFTER, *TASK_COLUMNS}
        read_columns |= RUN_COLUMNS | MEASURED_COLUMNS if set(header) >= RUN_COLUMNS else set()
    elif header[:1] == ["task"] and any(name.isdecimal() for name in header):
        measured = _wide(table)
        read_columns = set(header)
    else:
        raise InvalidInstance(
            f"{table.path}: line 1: header {shorten(','.join(table.header))}: expected "
            "'task,1,2,3,...' or 'task,processors,seconds'"
        )
    notes += renamed
    titles = map(str.strip, table.header)
    notes += not_read("columns", [name for name in titles if name.lower() not in read_columns])
    weights, release = (_task_column(table, header, name) for name in TASK_COLUMNS)
    with io.naming(table.path):
        full = complete(measured, procs, fit=fit, extrapolate=extrapolate, counts=counts, most=most)
    edges = _edges(table, header)
    return replace(full, notes=(*notes, *full.notes), weights=weights, release=release, edges=edges)


def with_usual_names(table: io.CsvTable) -> tuple[io.CsvTable, list[Note]]:
    """A table of measurements with the names that columns have here, and notes about others.

    Examples
    --------
    >>> table, notes = with_usual_names(io.CsvTable("t.csv", ["task", "cores", "time"], []))
    >>> table.header, notes[0]
    (['task', 'processors', 'seconds'], "column 'cores' is read as processors")
    """
    header = [name.strip().lower() for name in table.header]
    titles, notes = list(table.header), list[Note]()
    for name, others in OTHER_NAMES.items():
        columns = [k for k, title in enumerate(header) if title in others]
        if name not in header and len(columns) == 1:
            titles[columns[0]] = name
            text = f"column {shorten(header[columns[0]])} is read as {name}"
            notes.append(Note(NoteKind.READING, text, subject=name))
    has_task_columns = {title.strip().lower() for title in titles} >= {"task", *OTHER_NAMES}
    return (replace(table, header=titles), notes) if has_task_columns else (table, [])


def _without_index(table: io.CsvTable) -> io.CsvTable:
    """Return the first column of pandas' ``to_csv``, which has no title: the tasks' names, or
    numbers."""
    if table.header[0].strip():
        return table
    if "task" not in [name.strip().lower() for name in table.header]:
        return replace(table, header=["task", *table.header[1:]])
    rows = [(line, cells[1:]) for line, cells in table.rows]
    return replace(table, header=table.header[1:], rows=rows)


def _task_column(table: io.CsvTable, header: list[str], name: str) -> np.ndarray | None:
    """Return what the column ``weight`` or ``release`` says of each task, in the order of the
    tasks.

    A task of several rows may have it in any of them, the same in all that are not empty.
    """
    if name not in header or "task" not in header:
        return None
    task, column = table.columns("task", name)
    several_rows = "processors" in header
    values: dict[str, float | None] = {}
    for line, cells in io.polled(table.rows):
        key = cells[task].strip()
        before = values.setdefault(key, None)
        if several_rows and not cells[column].strip():
            continue
        where = f"{table.path}: line {line}, column '{name}'"
        value = io.parse_nonnegative(cells[column], where)
        if before is not None and before != value:
            raise InvalidInstance(
                f"{where}: {value:g} after {before:g}: expected one {name} a task"
            )
        values[key] = value
    return np.array([TASK_COLUMNS[name] if v is None else v for v in values.values()])


def _edges(table: io.CsvTable, header: list[str]) -> tuple[tuple[int, int], ...]:
    """Return pairs of the column ``after``: names separated by ``;``, or by blanks where there is
    none."""
    if AFTER not in header or "task" not in header:
        return ()
    task, column = table.columns("task", AFTER)
    number: dict[str, int] = {}
    for _, cells in table.rows:
        number.setdefault(cells[task].strip(), len(number))
    waits: dict[str, list[str]] = {name: [] for name in number}
    line_of: dict[str, int] = {}
    edges: dict[tuple[int, int], None] = {}
    for line, cells in io.polled(table.rows):
        text = cells[column]
        for name in map(str.strip, text.split(";") if ";" in text else text.split()):
            if name and name not in number:
                raise InvalidInstance(
                    f"{table.path}: line {line}, column {column + 1}: {shorten(name)}: expected "
                    "the name of a task"
                )
            if name:
                names_of_task = cells[task].strip()
                edges[number[name], number[names_of_task]] = None
                waits[names_of_task].append(name)
                line_of.setdefault(names_of_task, line)
    if cycle := cycle_of(waits):
        raise InvalidInstance(
            f"{table.path}: line {line_of[cycle[0]]}, column {column + 1}: "
            f"{waits_for_itself(cycle)}"
        )
    return tuple(edges)


def _wide(table: io.CsvTable) -> dict[str, Runs]:
    columns: list[tuple[int, int]] = []  # (position, processor count)
    for position, text in enumerate(table.header[1:], start=1):
        if text.strip().lower() in {AFTER, *TASK_COLUMNS}:
            continue
        where = f"{table.path}: line 1, column {position + 1}"
        count = io.parse_integer(text, where, 1, MOST_PROCESSORS)
        if columns and count <= columns[-1][1]:
            raise InvalidInstance(
                f"{where}: processor count {count} after {columns[-1][1]}: expected increasing "
                "counts"
            )
        columns.append((position, count))
    measured: dict[str, Runs] = {}
    for line, cells in io.polled(table.rows):
        name = _task_name(cells[0], f"{table.path}: line {line}")
        if name in measured:
            raise InvalidInstance(f"{table.path}: line {line}: task {shorten(name)} is there twice")
        measured[name] = {
            count: _time(cells[position], f"{table.path}: line {line}, column '{count}'")
            for position, count in columns
        }
        if all(t == math.inf for t in measured[name].values()):
            raise InvalidInstance(
                f"{table.path}: line {line}: task {shorten(name)} has no time: expected at least "
                "one"
            )
    return measured


def _time(cell: str, where: str) -> float:
    """Return seconds; an empty cell is a count on which the task cannot run."""
    return io.parse_positive(cell, where) if cell.strip() else math.inf


def _measurements(table: io.CsvTable) -> dict[str, Runs]:
    task, processors, seconds = table.columns("task", "processors", "seconds")
    starved = table.header.index("starved") if "starved" in table.header else None
    ours = set(table.header) >= {*RUN_COLUMNS, "command"}  # else it is a text of somebody's own
    command = table.header.index("command") if ours else 0
    # Of a command that has changed the newest runs count.
    last = {cells[task]: cells[command] for _, cells in table.rows if ours and cells[command]}
    runs: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    under_load: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line, cells in io.polled(table.rows):
        where = f"{table.path}: line {line}"
        name = _task_name(cells[task], where)
        q = io.parse_integer(cells[processors], f"{where}, column 'processors'", 1, MOST_PROCESSORS)
        t = _time(cells[seconds], f"{where}, column 'seconds'")
        if ours and cells[command] not in ("", last.get(cells[task])):
            continue
        of_load = starved is not None and cells[starved].strip() == "1"
        (under_load if of_load else runs)[name][q].append(t)
        runs[name][q] += []  # in the order of the file
    return {
        name: {
            q: [t for t in of_count if t < math.inf]
            or [t for t in under_load[name][q] if t < math.inf]
            or math.inf
            for q, of_count in of.items()
        }
        for name, of in runs.items()
    }


def _task_name(text: str, where: str) -> str:
    if not text.strip():
        raise InvalidInstance(f"{where}, column 'task': empty cell: expected a name")
    return text.strip()


# --- JSON -----------------------------------------------------------------------------------


def times_of_json(values: object, name: str, ndim: int) -> np.ndarray:
    """Times as JSON has them: ``null`` is a count on which the task cannot run.

    Parameters
    ----------
    values : list
        Numbers and None, nested.
    name : str
        For messages.
    ndim : int
        Dimensions expected.

    Returns
    -------
    numpy.ndarray
        Seconds.

    Examples
    --------
    >>> times_of_json([[8.0, None]], "times", 2).tolist()
    [[8.0, inf]]
    """

    def finite(value: object) -> Any:
        if isinstance(value, list):
            return [finite(entry) for entry in value]
        return math.inf if value is None else value

    return real_array(finite(values), name, integer(ndim, "ndim", 0, 9))


def _read_json(path: str | PathLike[str], procs: int | None) -> Profiles:
    data = io.read_json(path)
    if not isinstance(data, dict) or "times" not in data:
        raise InvalidInstance(f"{path}: expected an object with 'times' (one row per task)")
    with io.naming(path):
        times = times_of_json(data["times"], "times", 2)
        max_tasks = data.get("max_tasks")
        if max_tasks is not None:
            max_tasks = integer(max_tasks, "max_tasks", 1)
        if procs is not None:
            if procs > times.shape[1]:
                raise InvalidInstance(f"procs = {procs}: times has {times.shape[1]} columns")
            times = times[:, :procs]
        shared = sharing_of_json(data)
        if procs is not None:
            shared = Sharing(**shared).cut(procs).arguments()
        names = data.get("names") or [f"task {i}" for i in range(len(times))]
        if not isinstance(names, list):
            raise InvalidInstance(f"names = {shorten(names)}: expected a list")
    return Profiles(
        times=times,
        names=tuple(map(str, names)),
        origin=np.zeros(times.shape, dtype=np.int8),
        max_tasks=max_tasks,
        shared=shared,
        notes=tuple(not_read("fields", [key for key in data if key not in JSON_FIELDS])),
    )


# --- writing --------------------------------------------------------------------------------


def require_plain(path: str | PathLike[str], shared: Mapping[str, object] | None) -> None:
    """Refuse a CSV for tasks that share something: it has no place for that.

    Parameters
    ----------
    shared : mapping or None
        Fields of a JSON file.

    Examples
    --------
    >>> require_plain("times.csv", {})
    """
    if shared is not None and not isinstance(shared, Mapping):
        raise InvalidInstance(f"shared = {shorten(shared)}: expected fields of a JSON file")
    if shared:
        raise InvalidInstance(
            f"{path}: a CSV file cannot hold {', '.join(shared)}: expected a name ending in .json"
        )


def write(
    path: str | PathLike[str],
    times: np.ndarray,
    names: Sequence[str],
    max_tasks: int,
    shared: Mapping[str, object] | None = None,
) -> None:
    """Write a table as .csv (``task,1,2,...``) or .json; see :func:`read`.

    Parameters
    ----------
    path : str or path-like
        Ends in .csv or .json.
    times : numpy.ndarray, shape (n, p)
        Seconds; infinity becomes an empty cell or null.
    names : sequence of str, n
    max_tasks : int
        Only JSON holds it.
    shared : mapping, optional
        Further fields, which only JSON holds: what the tasks share.

    Raises
    ------
    InvalidInstance
        A .csv for tasks that share something.

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "times.json"
    >>> write(path, np.array([[8.0, np.inf]]), ["solver"], 1)
    >>> read(path).times.tolist()
    [[8.0, inf]]
    """
    times = real_array(times, "times", 2)
    names = labels(names, len(times), "task")
    if io.bare_name(path).endswith(".json"):
        table = {"times": times.tolist(), "names": list(names), "max_tasks": max_tasks}
        io.write_json({**table, **(shared or {})}, path)
        return
    require_plain(path, shared)

    frame = pd.DataFrame(
        np.where(np.isinf(times), np.nan, times),
        columns=[str(q) for q in range(1, times.shape[1] + 1)],
    )
    frame.insert(0, "task", list(names))
    io.write_frame(frame, path, suffixes=(".csv", ".json"), exact=True)
