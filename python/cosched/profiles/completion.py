"""From runs on some processor counts, or a labelled table, to a table of all counts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import INT_MAX, integer, real_array
from cosched.core.options import one_of
from cosched.core.text import count_of, rows_named
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind, as_notes

MEASURED, INTERPOLATED, EXTRAPOLATED = 0, 1, 2
#: Which counts a task may be given: those that a model fills, too, or only those of the file.
COUNTS = ("all", "measured")
#: Largest processor count that a file may name: a wider table would not fit in memory.
MOST_PROCESSORS = 1_000_000

#: Processor count -> seconds, the seconds of several runs, or infinity: it cannot run there.
Runs = Mapping[int, "float | Sequence[float]"]


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """A complete table: what reading and :func:`complete` return.

    Attributes
    ----------
    times : numpy.ndarray, shape (n, p)
        Seconds, infinite where a task cannot run.
    names : tuple of str
    origin : numpy.ndarray of int, shape (n, p)
        ``MEASURED`` (also what is infinite), ``INTERPOLATED`` or ``EXTRAPOLATED``.
    spread : numpy.ndarray, shape (n, p), or None
        (largest - smallest) / median of several runs, nan for one; None: no count was measured
        twice.
    notes : tuple of Note
        What was read, filled in, or not read.
    max_tasks : int or None
        Where the file says it.
    weights, release : numpy.ndarray, shape (n,), or None
        Where the file has them.
    edges : tuple of (int, int)
        The first of two tasks ends before the second starts, where the file says it.
    shared : dict
        What the tasks share, as arguments of an instance, where the file has it.

    Examples
    --------
    >>> table = complete({"solver": {1: 8.0, 2: [4.0, 5.0]}})
    >>> table.times.tolist(), table.spread.round(3).tolist()
    ([[8.0, 4.5]], [[nan, 0.222]])
    """

    times: np.ndarray  # (n, p) seconds, infinite where a task cannot run
    names: tuple[str, ...]
    origin: np.ndarray  # (n, p) MEASURED (also what is infinite), INTERPOLATED or EXTRAPOLATED
    spread: np.ndarray | None = None  # (n, p), None: no count was measured twice
    notes: tuple[Note, ...] = ()
    max_tasks: int | None = None
    weights: np.ndarray | None = None  # (n,), where the file has them
    release: np.ndarray | None = None
    edges: tuple[tuple[int, int], ...] = ()  # by the column `after`
    shared: dict[str, Any] = field(default_factory=dict)  # arguments of instances


def complete(
    measured: Mapping[str, Runs],
    procs: int | None = None,
    *,
    fit: str = "interpolation",
    extrapolate: bool = False,
    counts: str = "all",
    most: int | None = None,
) -> Profiles:
    """Fill the counts 1..procs that were not measured.

    A measured count keeps its time: that of its run, or the median of several, whose spread,
    (largest - smallest) / median, is kept. A count between two others is filled where the task
    can run on both of them.

    Parameters
    ----------
    measured : mapping
        Task name -> {processor count: seconds}; a list for several runs, infinity where the
        task cannot run.

    Raises
    ------
    InvalidInstance
        A task lacks a count outside its measured ones and `extrapolate` is False; a model
        is needed and only one count was measured; a task was measured on none of 1..p;
        unknown `fit` or `counts`.

    Examples
    --------
    >>> table = complete({"solver": {1: 8.0, 4: 2.0}})
    >>> table.times.round(3).tolist()
    [[8.0, 4.0, 2.667, 2.0]]
    >>> table.origin.tolist()
    [[0, 1, 1, 0]]
    >>> complete({"solver": {1: 8.0, 3: [2.0, 2.5]}}, counts="measured").times.tolist()
    [[8.0, inf, 2.25]]
    """
    if not isinstance(measured, Mapping) or not all(
        isinstance(runs, Mapping) and runs for runs in measured.values()
    ):
        raise InvalidInstance("measured: expected a mapping from task to {processors: seconds}")
    if not measured:
        raise InvalidInstance("no measurements: expected at least one task")
    check_options(fit, extrapolate, counts)
    largest = max(max(runs) for runs in measured.values())
    if procs is None:
        p = largest if most is None else min(largest, integer(most, "most", 1))
    else:
        p = integer(procs, "procs", 1, MOST_PROCESSORS)
    names = tuple(measured)
    times = np.full((len(names), p), np.inf)
    origin = np.full((len(names), p), MEASURED, dtype=np.int8)
    spread = np.full((len(names), p), np.nan)
    for row, name in enumerate(names):
        q = np.array(sorted(measured[name]))
        runs = [np.atleast_1d(np.asarray(measured[name][count], dtype=float)) for count in q]
        # The median of one run is that run: numpy needs 80 us to say so, of each count.
        t = np.array([of[0] if len(of) == 1 else np.median(of) for of in runs])
        if not np.isfinite(t).any():
            raise InvalidInstance(f"task {shorten(name)} has no time on any count: expected one")
        times[row, q[q <= p] - 1] = t[q <= p]
        if counts == "all":
            _fill(name, q, t, times[row], origin[row], fit, extrapolate)
        if not np.isfinite(times[row]).any():
            raise InvalidInstance(
                f"task {shorten(name)} was measured on {list_of(q[np.isfinite(t)])} processors, "
                f"on none of 1..{p}"
            )
        for count, of_count in zip(q, runs, strict=True):
            if len(of_count) > 1 and count <= p:
                spread[row, count - 1] = np.ptp(of_count) / np.median(of_count)
    repeated = None if np.isnan(spread).all() else spread
    return Profiles(
        times=times,
        names=names,
        origin=origin,
        spread=repeated,
        notes=(*_summary(times, origin, fit), *_spread_note(repeated, names)),
    )


def check_options(fit: str, extrapolate: bool, counts: str) -> None:
    """Refuse options of :func:`complete` that are unknown or exclude each other.

    Parameters
    ----------
    counts : str
        As in :func:`complete`.

    Raises
    ------
    InvalidInstance
        An unknown `fit` or `counts`, or ``counts="measured"`` with `extrapolate`.

    Examples
    --------
    >>> check_options("interpolation", False, "all")
    >>> check_options("spline", False, "all")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: fit = 'spline': expected one of interpolation, amdahl, power-law
    """
    one_of(fit, "fit", MODELS)
    one_of(counts, "counts", COUNTS)
    if counts == "measured" and extrapolate:
        raise InvalidInstance("counts = 'measured' and extrapolation exclude each other")


def _fill(
    name: str,
    q: np.ndarray,
    t: np.ndarray,
    times: np.ndarray,
    origin: np.ndarray,
    fit: str,
    extrapolate: bool,
) -> None:
    """Fill the row `times` and its `origin` from the times t (maybe infinite) on the counts q."""
    p = len(times)
    open_counts = np.setdiff1d(np.arange(1, p + 1), q)
    after = np.searchsorted(q, open_counts)
    # Infinite neighbours are no neighbours to go by: nothing says that the task can run here.
    runs_below = np.isfinite(t)[np.maximum(after - 1, 0)]
    runs_above = np.isfinite(t)[np.minimum(after, len(q) - 1)]
    counts_between = open_counts[runs_below & runs_above]
    if not len(counts_between):
        return
    outside = (counts_between < q[0]) | (counts_between > q[-1])
    finite = np.isfinite(t)
    q, t = q[finite], t[finite]
    if outside.any() and not extrapolate:
        above = counts_between[outside].min() > q[-1]
        ways = ["pass extrapolate=True (--extrapolate) to use a fitted model there"]
        if len(counts_between) == p:  # nothing would be left
            ways.append("or more processors")
        else:
            ways.append("counts='measured' (--counts measured) to use none")
        if above:
            ways.append("or fewer processors")
        raise InvalidInstance(
            f"task {shorten(name)} was measured on {list_of(q)} processors, and "
            f"{list_of(counts_between[outside])} of 1..{p} are outside: {', '.join(ways)}"
        )
    if len(q) < 2:
        raise InvalidInstance(
            f"task {shorten(name)} was measured on {list_of(q)} processors only: "
            "a model needs at least two counts"
        )
    times[counts_between - 1] = MODELS[fit](q, t)(counts_between)
    origin[counts_between - 1] = np.where(outside, EXTRAPOLATED, INTERPOLATED)


def _summary(times: np.ndarray, origin: np.ndarray, fit: str) -> list[Note]:
    finite = np.isfinite(times)
    measured, inside, outside = (int((finite & (origin == kind)).sum()) for kind in range(3))
    if not inside and not outside:
        return []
    text = f"{origin.shape[0]} tasks x {origin.shape[1]} counts: {measured} times measured"
    if inside:
        text += f", {inside} {'interpolated' if fit == 'interpolation' else 'fitted'}"
    if outside:
        text += f", {outside} extrapolated"
    text += f" ({fit}; hatched in the picture)"
    return [Note(NoteKind.ASSUMED, text, subject="times", count=inside + outside)]


def _spread_note(spread: np.ndarray | None, names: Sequence[str]) -> list[Note]:
    if spread is None:
        return []
    row, column = map(int, np.unravel_index(np.nanargmax(spread), spread.shape))
    repeated_times = int(np.isfinite(spread).sum())
    text = (
        f"{repeated_times} times are medians of several runs; their spread, "
        f"(largest - smallest) / median, is at most {100 * spread[row, column]:.1f}% "
        f"({names[row]} on {column + 1})"
    )
    return [Note(NoteKind.PRECISION, text, subject="repeated runs", count=repeated_times)]


def list_of(counts: Iterable[int]) -> str:
    texts = [str(int(count)) for count in counts]
    return ",".join(texts[:6]) + (",..." if len(texts) > 6 else "")


Model = Callable[[np.ndarray], np.ndarray]


def _amdahl(q: np.ndarray, t: np.ndarray) -> Model:
    # With two counts the overhead cannot be told from the serial part: leave it out.
    terms = 2 if len(q) == 2 else 3
    weights = _least_squares(_amdahl_basis(q)[:, :terms], t)
    return lambda counts: _amdahl_basis(counts)[:, :terms] @ weights


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
    return lambda counts: basis(alpha, counts) @ weights


def _interpolation(q: np.ndarray, t: np.ndarray) -> Model:
    def model(counts: np.ndarray) -> np.ndarray:
        inside: np.ndarray = np.exp(np.interp(np.log(counts), np.log(q), np.log(t)))
        # Between its neighbours also in the last digit.
        after = np.clip(np.searchsorted(q, counts), 1, len(q) - 1)
        low, high = np.minimum(t[after - 1], t[after]), np.maximum(t[after - 1], t[after])
        inside = np.clip(inside, low, high)
        outside = (counts < q[0]) | (counts > q[-1])
        if not outside.any():
            return inside
        fitted = _amdahl(q, t)
        ends = np.where(counts < q[0], q[0], q[-1])
        at_ends = np.where(counts < q[0], t[0], t[-1])
        times: np.ndarray = np.where(outside, fitted(counts) * at_ends / fitted(ends), inside)
        return times

    return model


MODELS: dict[str, Callable[[np.ndarray, np.ndarray], Model]] = {
    "interpolation": _interpolation,
    "amdahl": _amdahl,
    "power-law": _power_law,
}


def _least_squares(columns: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return weights >= 0 that minimise the squared relative errors of columns @ weights."""
    from scipy.optimize import nnls

    weights: np.ndarray = nnls(columns / t[:, None], np.ones(len(t)))[0]
    return weights


def labelled(times: Any, names: object, origin: object, notes: object) -> tuple[Any, Any, Any, Any]:
    """The arguments of an instance, completed by the labels of `times` where it is a DataFrame.

    Column labels are processor counts, integers or such text; those between them are filled as in
    files, by interpolation. The index names the rows. pandas' own numbering from 0 says nothing.

    Examples
    --------
    >>> times, names, _, notes = labelled(
    ...     pd.DataFrame([[8.0, 2.0]], index=["solver"], columns=[1, 4]), None, None, ()
    ... )
    >>> times.round(3).tolist(), names, len(notes)
    ([[8.0, 4.0, 2.667, 2.0]], ('solver',), 1)
    """
    names = rows_named(times, names)
    if (
        not hasattr(times, "iloc")
        or times.ndim != 2
        or [*times.columns] == [*range(times.shape[1])]
    ):
        return times, names, origin, notes
    counts = [_count(label) for label in times.columns]
    if twice := {count for count in counts if counts.count(count) > 1}:
        raise InvalidInstance(f"times: two columns of {min(twice)} processors")
    table = real_array(times, "times", 2)[:, np.argsort(counts)]
    counts.sort()
    if counts == [*range(1, len(counts) + 1)]:
        return table, names, origin, notes
    if origin is not None:
        raise InvalidInstance("origin: expected times on all counts 1, 2, 3, ...")
    if np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        raise InvalidInstance(
            f"times[{row}, {column}] = nan: expected seconds, or inf where it cannot run"
        )
    if counts[0] > 1:
        raise InvalidInstance(
            f"times: columns {', '.join(map(str, counts[:5]))}: expected one of 1 processor as well"
        )
    runs: dict[str, Runs] = {
        str(row): dict(zip(counts, of_row, strict=True))
        for row, of_row in enumerate(table.tolist())
    }
    full = complete(runs)
    return full.times, names, full.origin, (*as_notes(notes), *full.notes)


def _count(label: Any) -> int:
    is_whole_number = (
        isinstance(label, float) and label.is_integer()
    )  # as pandas reads them beside a gap
    text = str(int(label) if is_whole_number else label).strip()
    if isinstance(label, (bool, np.bool_)) or not text.isascii() or not text.isdigit():
        raise InvalidInstance(
            f"times: column {shorten(label)}: expected a processor count, or no labels"
        )
    count = int(text)
    if not 1 <= count <= MOST_PROCESSORS:
        raise InvalidInstance(
            f"times: column {shorten(label)}: expected a processor count in 1..{MOST_PROCESSORS}"
        )
    return count


COLUMNS = ("app", "benchmark", "system", "nodes", "time_s")
#: Columns that tell how a benchmark run divided its nodes.
WAYS = ("cores_or_ranks", "threads")


def benchmark_runs(table: io.CsvTable, procs: int | None) -> tuple[Mapping[str, Runs], list[Note]]:
    """One task per (app, benchmark), from the system with the most node counts in 1..procs.

    Runs of one system that report different metrics (other iteration counts, say) are not
    comparable: they are told apart. Ties go to the first name. Runs that divide their nodes in
    different ways (``cores_or_ranks``, ``threads``) are no repetitions of each other: on each
    count those of the way with the least median are taken.
    """
    app, benchmark, system, nodes, time = table.columns(*COLUMNS)
    metric = table.header.index("metric") if "metric" in table.header else None
    ways = [table.header.index(name) for name in WAYS if name in table.header]
    most = procs if procs is not None else INT_MAX
    runs: dict[str, dict[tuple[str, str], dict[int, dict[tuple[str, ...], list[float]]]]]
    runs = defaultdict(dict)
    incomplete = []
    for line, cells in io.polled(table.rows):
        where = f"{table.path}: line {line}"
        if not cells[nodes].strip() or not cells[time].strip():
            incomplete.append(line)  # logs of aborted or unlabelled runs
            continue
        q = io.parse_integer(cells[nodes], f"{where}, column 'nodes'", 1, INT_MAX)
        t = io.parse_positive(cells[time], f"{where}, column 'time_s'")
        series = (cells[system], "" if metric is None else cells[metric])
        seconds_by_count = runs[f"{cells[app]}/{cells[benchmark]}"].setdefault(series, {})
        if q <= most:
            way = tuple(cells[column] for column in ways)
            seconds_by_count.setdefault(q, {}).setdefault(way, []).append(t)
    measured, skipped, read_names = {}, [], []
    for name in sorted(runs):
        series = min(runs[name], key=lambda key: (-len(runs[name][key]), key))
        counts = runs[name][series]
        if len(counts) < 2:
            skipped.append(f"{name} ({count_of(len(counts), 'count')})")
        else:
            measured[name] = {q: min(of.values(), key=np.median) for q, of in counts.items()}
            read_names.append(f"{name} on {series[0]}")
    text = f"measured: {'; '.join(read_names)}"
    notes = [Note(NoteKind.KEPT, text, subject="applications", count=len(read_names))]
    if incomplete:
        text = f"skipped {len(incomplete)} runs without nodes or time (lines {list_of(incomplete)})"
        subject = "runs without nodes or time"
        notes.append(Note(NoteKind.DROPPED, text, subject=subject, count=len(incomplete)))
    if skipped:
        within = f"1..{procs}" if procs is not None else "the file"
        text = f"skipped, fewer than two measured counts in {within}: {', '.join(skipped)}"
        subject = "applications with fewer than two measured counts"
        notes.append(Note(NoteKind.DROPPED, text, subject=subject, count=len(skipped)))
    if not measured:
        raise InvalidInstance(f"{table.path}: no application has two measured counts")
    return measured, notes
