"""Files of measured or complete times: CSV in three formats, JSON."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import INT_MAX, integer, real_array
from cosched.errors import InvalidInstance, shorten
from cosched.profiles.completion import MOST_PROCESSORS, Profiles, complete, list_of
from cosched.profiles.models import MODELS
from cosched.profiles.monotony import repaired


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
    if fit not in MODELS:
        raise InvalidInstance(f"fit = {shorten(fit)}: expected one of {', '.join(MODELS)}")
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
    with io.naming(path):
        full = complete(measured, procs, repair=repair is not False, **options)
    return Profiles(full.times, full.names, full.origin, (*notes, *full.notes))


def _dense(measured: Mapping[str, Mapping[int, float]], p: int, repair: bool) -> Profiles:
    names = tuple(measured)
    times = np.array([[measured[name][q] for q in range(1, p + 1)] for name in names])
    notes: list[str] = []
    if repair:
        times, notes = repaired(times, names)
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
            f"skipped {len(incomplete)} runs without nodes or time (lines {list_of(incomplete)})"
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
    with io.naming(path):
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
            times, changes = repaired(times, names)
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
