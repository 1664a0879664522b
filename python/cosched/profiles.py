"""Times of parallel codes from measurements: reading, completing, writing.

Few codes are measured on every processor count. :func:`complete` fills the rest:

* ``"interpolation"`` (the default): between two measured counts, log t is linear in log q,
  that is, a power law through both. It keeps every measurement, cannot over- or undershoot
  its neighbours, and assumes nothing about the code as a whole.
* ``"amdahl"``: a + b / q + c log2 q with a, b, c >= 0 (a serial part, a parallel part, and
  an overhead that grows with processors), least squares of the relative errors.
* ``"power-law"``: a q^-alpha + c (q - 1) with a, c >= 0 and 0 <= alpha <= 1, likewise.

Measured counts always keep their measured time. Outside the measured counts nothing is
assumed unless ``extrapolate=True``; then the model (for ``"interpolation"``, the Amdahl fit,
scaled to meet the nearest measurement) goes on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.core import Argument
from cosched.core.arrays import INT_MAX, integer, real_array
from cosched.errors import InvalidInstance, shorten

MEASURED, INTERPOLATED, EXTRAPOLATED = 0, 1, 2
#: Largest processor count that a file may name: a wider table would not fit in memory.
MOST_PROCESSORS = 1_000_000

#: What the command line takes for families that read such files.
ARGUMENTS = (
    Argument(
        "--fit", "fit", "Between measured counts: interpolation, amdahl or power-law.", parse=str
    ),
    Argument(
        "--extrapolate",
        "extrapolate",
        "Use the fitted model outside measured counts.",
        parse=bool,
    ),
    Argument(
        "--repair", "repair", "Make the times monotone (measured ones are anyway).", parse=bool
    ),
)


@dataclass(frozen=True)
class Profiles:
    """A complete table: what :func:`read` and :func:`complete` return."""

    times: np.ndarray  # (n, p) seconds
    names: tuple[str, ...]
    origin: np.ndarray  # (n, p) MEASURED, INTERPOLATED or EXTRAPOLATED
    notes: tuple[str, ...] = ()
    max_tasks: int | None = None


# --- completing -----------------------------------------------------------------------------


def complete(
    measured: Mapping[str, Mapping[int, float]],
    procs: int | None = None,
    *,
    fit: str = "interpolation",
    extrapolate: bool = False,
    repair: bool = True,
) -> Profiles:
    """Fill the counts 1..procs that were not measured.

    Parameters
    ----------
    measured : mapping
        Task name -> {processor count: seconds}.
    procs : int, optional
        p; None: the largest measured count.
    fit : {"interpolation", "amdahl", "power-law"}
        See the module's text.
    extrapolate : bool
        Allow counts outside the measured ones.
    repair : bool
        Make the table monotone (:func:`cosched.packs.monotone`); the change is in the notes.

    Returns
    -------
    Profiles

    Raises
    ------
    InvalidInstance
        A task lacks a count outside its measured ones and `extrapolate` is False; a model
        is needed and only one count was measured; unknown `fit`.

    Examples
    --------
    >>> table = complete({"solver": {1: 8.0, 4: 2.0}})
    >>> table.times.round(3).tolist()
    [[8.0, 4.0, 2.667, 2.0]]
    >>> table.origin.tolist()
    [[0, 1, 1, 0]]
    """
    if not measured:
        raise InvalidInstance("no measurements: expected at least one task")
    if fit not in _MODELS:
        raise InvalidInstance(f"fit = {shorten(fit)}: expected one of {', '.join(_MODELS)}")
    largest = max(max(counts) for counts in measured.values())
    p = largest if procs is None else integer(procs, "procs", 1, MOST_PROCESSORS)
    names = tuple(measured)
    times = np.empty((len(names), p))
    origin = np.empty((len(names), p), dtype=np.int8)
    for row, name in enumerate(names):
        times[row], origin[row] = _profile(name, dict(measured[name]), p, fit, extrapolate)
    notes = [_summary(origin, fit)]
    if repair:
        times, changes = _repaired(times, names)
        notes += changes
    return Profiles(times, names, origin, tuple(notes))


def _profile(
    name: str, counts: dict[int, float], p: int, fit: str, extrapolate: bool
) -> tuple[np.ndarray, np.ndarray]:
    q = np.array(sorted(counts))
    t = np.array([counts[count] for count in q])
    wanted = np.arange(1, p + 1)
    is_measured = np.isin(wanted, q)
    outside = (wanted < q[0]) | (wanted > q[-1])
    if outside.any() and not extrapolate:
        raise InvalidInstance(
            f"task {shorten(name)} was measured on {_list(q)} processors, "
            f"and {_list(wanted[outside])} of 1..{p} are outside: pass extrapolate=True "
            f"(--extrapolate) to use a fitted model there, or a smaller procs"
        )
    times = np.empty(p)
    times[is_measured] = t[np.isin(q, wanted)]
    rest = ~is_measured
    if rest.any():
        if len(q) < 2:
            raise InvalidInstance(
                f"task {shorten(name)} was measured on {_list(q)} processors only: "
                "a model needs at least two counts"
            )
        times[rest] = _MODELS[fit](q, t)(wanted[rest])
    origin = np.where(is_measured, MEASURED, np.where(outside, EXTRAPOLATED, INTERPOLATED))
    return times, origin.astype(np.int8)


Model = Callable[[np.ndarray], np.ndarray]


def _amdahl(q: np.ndarray, t: np.ndarray) -> Model:
    # With two counts the overhead cannot be told from the serial part: leave it out.
    terms = 2 if len(q) == 2 else 3
    weights = _least_squares(_amdahl_basis(q)[:, :terms], t)
    return lambda wanted: _amdahl_basis(wanted)[:, :terms] @ weights


def _amdahl_basis(q: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(q)), 1 / q, np.log2(q)])


def _power_law(q: np.ndarray, t: np.ndarray) -> Model:
    from scipy.optimize import minimize_scalar

    def basis(alpha: float, counts: np.ndarray) -> np.ndarray:
        columns = [counts**-alpha] if len(q) == 2 else [counts**-alpha, counts - 1.0]
        return np.column_stack(columns)

    def misfit(alpha: float) -> float:
        columns = basis(alpha, q)
        return float(np.sum((columns @ _least_squares(columns, t) / t - 1) ** 2))

    # The misfit may have several minima in alpha: a grid first, then a refinement.
    grid = np.linspace(0, 1, 101)
    best = grid[np.argmin([misfit(alpha) for alpha in grid])]
    bracket = (max(best - 0.01, 0.0), min(best + 0.01, 1.0))
    refined = minimize_scalar(misfit, bounds=bracket, method="bounded").x
    alpha = min((best, refined), key=misfit)
    weights = _least_squares(basis(alpha, q), t)
    return lambda wanted: basis(alpha, wanted) @ weights


def _interpolation(q: np.ndarray, t: np.ndarray) -> Model:
    def model(wanted: np.ndarray) -> np.ndarray:
        inside = np.exp(np.interp(np.log(wanted), np.log(q), np.log(t)))
        outside = (wanted < q[0]) | (wanted > q[-1])
        if not outside.any():
            return inside
        fitted = _amdahl(q, t)
        ends = np.where(wanted < q[0], q[0], q[-1])
        at_ends = np.where(wanted < q[0], t[0], t[-1])
        return np.where(outside, fitted(wanted) * at_ends / fitted(ends), inside)

    return model


_MODELS: dict[str, Callable[[np.ndarray, np.ndarray], Model]] = {
    "interpolation": _interpolation,
    "amdahl": _amdahl,
    "power-law": _power_law,
}


def _least_squares(columns: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Weights >= 0 that minimise the squared relative errors of columns @ weights."""
    from scipy.optimize import nnls

    return nnls(columns / t[:, None], np.ones(len(t)))[0]


def _repaired(times: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    from cosched.packs import monotone

    repaired = monotone(times)
    change = repaired / times - 1
    changed = np.abs(change) > 1e-9
    if not changed.any():
        return repaired, []
    row, column = map(int, np.unravel_index(np.argmax(np.abs(change)), change.shape))
    return repaired, [
        f"the monotone repair changed {int(changed.sum())} of {times.size} times, at most by "
        f"{100 * change[row, column]:+.1f}% ({names[row]} on {column + 1})"
    ]


def _summary(origin: np.ndarray, fit: str) -> str:
    measured, inside, outside = (int((origin == kind).sum()) for kind in range(3))
    text = f"{origin.shape[0]} tasks x {origin.shape[1]} counts: {measured} times measured"
    if inside:
        text += f", {inside} {'interpolated' if fit == 'interpolation' else 'fitted'}"
    if outside:
        text += f", {outside} extrapolated"
    return text + (f" ({fit}; hatched in the picture)" if inside or outside else "")


def _list(counts: Iterable[int]) -> str:
    texts = [str(int(count)) for count in counts]
    return ",".join(texts[:6]) + (",..." if len(texts) > 6 else "")


# --- reading --------------------------------------------------------------------------------


def read(
    path: str | PathLike[str],
    *,
    procs: int | None = None,
    fit: str = "interpolation",
    extrapolate: bool = False,
    repair: bool | None = None,
) -> Profiles:
    """Read profiles; see :meth:`cosched.packs.Instance.read` for formats and arguments."""
    if procs is not None:
        procs = integer(procs, "procs", 1, MOST_PROCESSORS)
    if Path(path).suffix == ".json":
        return _read_json(path, procs, repair)
    return from_csv(io.read_csv(path), procs=procs, fit=fit, extrapolate=extrapolate, repair=repair)


def from_csv(
    table: io.CsvTable,
    *,
    procs: int | None = None,
    fit: str = "interpolation",
    extrapolate: bool = False,
    repair: bool | None = None,
) -> Profiles:
    """Profiles from a CSV table in one of the formats of :func:`read`."""
    path = table.path
    if fit not in _MODELS:
        raise InvalidInstance(f"fit = {shorten(fit)}: expected one of {', '.join(_MODELS)}")
    header = [name.strip().lower() for name in table.header]
    options: dict[str, Any] = {"fit": fit, "extrapolate": extrapolate}
    if {"app", "benchmark", "system", "nodes", "time_s"} <= set(header):
        measured, notes = _benchmark_runs(table, procs)
    elif {"task", "processors", "seconds"} <= set(header):
        measured, notes = _measurements(table), []
    elif header[:1] == ["task"] and len(header) > 1:
        measured, notes = _wide(table), []
        counts = [int(name) for name in table.header[1:]]
        p = counts[-1] if procs is None else procs
        if set(range(1, p + 1)) <= set(counts):  # complete: nothing was measured or modelled
            return _dense(measured, p, bool(repair))
    else:
        raise InvalidInstance(
            f"{path}: line 1: header {shorten(','.join(table.header))}: expected "
            "'task,1,2,3,...' or 'task,processors,seconds'"
        )
    try:
        full = complete(measured, procs, repair=repair is not False, **options)
    except InvalidInstance as error:
        raise InvalidInstance(f"{path}: {error}") from None
    return Profiles(full.times, full.names, full.origin, (*notes, *full.notes))


def _dense(measured: Mapping[str, Mapping[int, float]], p: int, repair: bool) -> Profiles:
    names = tuple(measured)
    times = np.array([[measured[name][q] for q in range(1, p + 1)] for name in names])
    notes: list[str] = []
    if repair:
        times, notes = _repaired(times, names)
    return Profiles(times, names, np.zeros(times.shape, dtype=np.int8), tuple(notes))


def _wide(table: io.CsvTable) -> dict[str, dict[int, float]]:
    counts: list[int] = []
    for column, text in enumerate(table.header[1:], start=1):
        count = io.parse_integer(
            text, f"{table.path}: line 1, column {column + 1}", 1, MOST_PROCESSORS
        )
        if counts and count <= counts[-1]:
            raise InvalidInstance(
                f"{table.path}: line 1, column {column + 1}: processor count {count} after "
                f"{counts[-1]}: expected increasing counts"
            )
        counts.append(count)
    measured: dict[str, dict[int, float]] = {}
    for line, cells in table.rows:
        name = _task_name(cells[0], f"{table.path}: line {line}")
        if name in measured:
            raise InvalidInstance(f"{table.path}: line {line}: task {shorten(name)} is there twice")
        measured[name] = {
            count: io.parse_positive(cell, f"{table.path}: line {line}, column '{count}'")
            for count, cell in zip(counts, cells[1:], strict=True)
        }
    return measured


def _measurements(table: io.CsvTable) -> dict[str, dict[int, float]]:
    task, processors, seconds = table.columns("task", "processors", "seconds")
    best: dict[str, dict[int, float]] = {}
    for line, cells in table.rows:
        where = f"{table.path}: line {line}"
        name = _task_name(cells[task], where)
        q = io.parse_integer(cells[processors], f"{where}, column 'processors'", 1, MOST_PROCESSORS)
        t = io.parse_positive(cells[seconds], f"{where}, column 'seconds'")
        runs = best.setdefault(name, {})
        runs[q] = min(t, runs.get(q, math.inf))
    return best


def _task_name(text: str, where: str) -> str:
    if not text.strip():
        raise InvalidInstance(f"{where}, column 'task': empty cell: expected a name")
    return text.strip()


def _benchmark_runs(
    table: io.CsvTable, procs: int | None
) -> tuple[dict[str, dict[int, float]], list[str]]:
    """One task per (app, benchmark), from the system with the most node counts in 1..procs.

    Runs of one system that report different metrics (other iteration counts, say) are not
    comparable: they are told apart. Ties go to the first name.
    """
    app, benchmark, system, nodes, time = table.columns(
        "app", "benchmark", "system", "nodes", "time_s"
    )
    metric = table.header.index("metric") if "metric" in table.header else None
    most = procs if procs is not None else INT_MAX
    runs: dict[str, dict[tuple[str, str], dict[int, float]]] = defaultdict(dict)
    incomplete = []
    for line, cells in table.rows:
        where = f"{table.path}: line {line}"
        if not cells[nodes].strip() or not cells[time].strip():
            incomplete.append(line)  # logs of aborted or unlabelled runs
            continue
        q = io.parse_integer(cells[nodes], f"{where}, column 'nodes'", 1, INT_MAX)
        t = io.parse_positive(cells[time], f"{where}, column 'time_s'")
        series = (cells[system], "" if metric is None else cells[metric])
        found = runs[f"{cells[app]}/{cells[benchmark]}"].setdefault(series, {})
        if q <= most:
            found[q] = min(t, found.get(q, math.inf))
    measured, skipped, taken = {}, [], []
    for name in sorted(runs):
        series = min(runs[name], key=lambda key: (-len(runs[name][key]), key))
        counts = runs[name][series]
        if len(counts) < 2:
            skipped.append(f"{name} ({len(counts)} count{'s' * (len(counts) != 1)})")
        else:
            measured[name] = counts
            taken.append(f"{name} on {series[0]}")
    notes = [f"measured: {'; '.join(taken)}"]
    if incomplete:
        notes.append(
            f"skipped {len(incomplete)} runs without nodes or time (lines {_list(incomplete)})"
        )
    if skipped:
        within = f"1..{procs}" if procs is not None else "the file"
        notes.append(f"skipped, fewer than two measured counts in {within}: {', '.join(skipped)}")
    if not measured:
        raise InvalidInstance(f"{table.path}: no application has two measured counts")
    return measured, notes


def _read_json(path: str | PathLike[str], procs: int | None, repair: bool | None) -> Profiles:
    data = io.read_json(path)
    if not isinstance(data, dict) or "times" not in data:
        raise InvalidInstance(f"{path}: expected an object with 'times' (a row a task)")
    try:
        times = real_array(data["times"], "times", 2)
        max_tasks = data.get("max_tasks")
        if max_tasks is not None:
            max_tasks = integer(max_tasks, "max_tasks", 1)
        if procs is not None:
            if procs > times.shape[1]:
                raise InvalidInstance(f"procs = {procs}: times has {times.shape[1]} columns")
            times = times[:, :procs]
        names = data.get("names") or [f"task {i}" for i in range(len(times))]
        if not isinstance(names, list):
            raise InvalidInstance(f"names = {shorten(names)}: expected a list")
        changes: list[str] = []
        if repair:
            times, changes = _repaired(times, names)
    except InvalidInstance as error:
        raise InvalidInstance(f"{path}: {error}") from None
    origin = np.zeros(times.shape, dtype=np.int8)
    return Profiles(times, tuple(map(str, names)), origin, tuple(changes), max_tasks)


def write(
    path: str | PathLike[str], times: np.ndarray, names: Sequence[str], max_tasks: int
) -> None:
    """Write a table as .csv (``task,1,2,...``) or .json; see :func:`read`."""
    if Path(path).suffix == ".json":
        io.write_json({"times": times.tolist(), "names": list(names), "max_tasks": max_tasks}, path)
        return
    import pandas as pd

    frame = pd.DataFrame(times, columns=[str(q) for q in range(1, times.shape[1] + 1)])
    frame.insert(0, "task", list(names))
    io.write_frame(frame, path, suffixes=(".csv", ".json"))
