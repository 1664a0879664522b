"""Files of moldable jobs; see :meth:`cosched.moldable.Instance.read`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cosched import io, profiles
from cosched.core.arrays import integer, real, real_array
from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    from cosched.moldable.instance import Instance

    Made = TypeVar("Made", bound=Instance)


def read(
    kind: type[Made],
    path: str | PathLike[str],
    machines: int | None,
    *,
    fit: str,
    extrapolate: bool,
    repair: bool | None,
) -> Made:
    """An instance from .json or .csv; InvalidInstance names file, line and column."""
    most = None if machines is None else integer(machines, "machines", 1)
    if Path(path).suffix == ".json":
        return _read_json(kind, path, most, bool(repair))
    table = io.read_csv(path)
    weights, release, rest = _split(table)
    procs = most if extrapolate else None
    found = profiles.from_csv(rest, procs=procs, fit=fit, extrapolate=extrapolate, repair=repair)
    jobs, counts = found.times.shape
    notes = list(found.notes)
    if most is not None and most > counts:
        notes.append(
            f"on more than {counts} processors the jobs are taken to be as fast as on {counts}"
        )
    return kind(
        found.times,
        [1.0] * jobs if weights is None else weights,
        release,
        machines=most,
        names=found.names,
        origin=found.origin,
        notes=notes,
    )


def _split(table: io.CsvTable) -> tuple[list[float] | None, list[float] | None, io.CsvTable]:
    """Columns ``weight`` and ``release`` (second and third), and the table without them."""
    header = [name.strip().lower() for name in table.header]
    if header[:2] != ["task", "weight"]:
        return None, None, table
    first = 3 if header[2:3] == ["release"] else 2
    columns: dict[str, list[float]] = {name: [] for name in header[1:first]}
    for line, cells in table.rows:
        for column, values in enumerate(columns.values(), start=1):
            where = f"{table.path}: line {line}, column '{header[column]}'"
            values.append(io.parse_nonnegative(cells[column], where))
    rows = [(line, [cells[0], *cells[first:]]) for line, cells in table.rows]
    rest = io.CsvTable(table.path, [table.header[0], *table.header[first:]], rows)
    return columns["weight"], columns.get("release"), rest


# --- JSON -----------------------------------------------------------------------------------


def _read_json(
    kind: type[Made], path: str | PathLike[str], machines: int | None, repair: bool
) -> Made:
    data = io.read_json(path)
    try:
        if not isinstance(data, dict) or not ({"jobs", "times"} & set(data)):
            raise InvalidInstance("expected an object with 'jobs' (or 'times')")
        if machines is None and data.get("machines") is not None:
            machines = integer(data["machines"], "machines", 1)
        if "jobs" not in data:
            return _of_table(kind, data, machines, repair)
        return _of_jobs(kind, data["jobs"], machines, repair)
    except InvalidInstance as error:
        raise InvalidInstance(f"{path}: {error}") from None


def _of_table(kind: type[Made], data: dict[str, Any], machines: int | None, repair: bool) -> Made:
    times = _repaired(real_array(data["times"], "times", 2), repair)
    return kind(
        times,
        data.get("weights", [1.0] * len(times)),
        data.get("release"),
        machines=machines,
        names=_texts(data.get("names")),
    )


def _of_jobs(kind: type[Made], jobs: Any, machines: int | None, repair: bool) -> Made:
    if not isinstance(jobs, list) or not jobs:
        raise InvalidInstance("jobs: expected a list with at least one job")
    for number, job in enumerate(jobs):
        if not isinstance(job, dict) or not ({"processingTimes", "downey"} & set(job)):
            raise InvalidInstance(
                f"jobs[{number}]: expected an object with 'processingTimes' or 'downey'"
            )
    names = [str(job.get("id", f"job {number}")) for number, job in enumerate(jobs)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInstance(f"jobs: id {shorten(twice)} is there twice")
    weights = [real(job.get("weight", 1.0), f"jobs[{k}].weight") for k, job in enumerate(jobs)]
    release = [real(job.get("release", 0.0), f"jobs[{k}].release") for k, job in enumerate(jobs)]
    if any("downey" in job for job in jobs):
        return _of_formulas(kind, jobs, weights, release, names, machines)
    times = _repaired(_ragged([job["processingTimes"] for job in jobs]), repair)
    return kind(times, weights, release, machines=machines, names=names)


def _of_formulas(
    kind: type[Made],
    jobs: list[dict[str, Any]],
    weights: list[float],
    release: list[float],
    names: list[str],
    machines: int | None,
) -> Made:
    if machines is None:
        raise InvalidInstance("machines is missing: jobs with 'downey' do not tell it")
    keys = ("t1", "A", "sigma")
    for number, job in enumerate(jobs):
        if not isinstance(job.get("downey"), dict) or not set(keys) <= set(job["downey"]):
            raise InvalidInstance(
                f"jobs[{number}].downey: expected t1, A and sigma, in all jobs or none"
            )
    t1, A, sigma = [
        [real(job["downey"][key], f"jobs[{k}].downey.{key}") for k, job in enumerate(jobs)]
        for key in keys
    ]
    return kind.from_downey(t1, A, sigma, weights, machines, release=release, names=names)


def _ragged(rows: Sequence[Any]) -> np.ndarray:
    """Rows of any length >= 1, each continued with its last time."""
    arrays = []
    for number, row in enumerate(rows):
        times = real_array(row, f"jobs[{number}].processingTimes", 1)
        if not len(times):
            raise InvalidInstance(f"jobs[{number}].processingTimes: expected at least one time")
        arrays.append(times)
    width = max(map(len, arrays))
    return np.array([np.pad(times, (0, width - len(times)), mode="edge") for times in arrays])


def _repaired(times: np.ndarray, repair: bool) -> np.ndarray:
    from cosched.packs import monotone

    return monotone(times) if repair else times


def _texts(names: Any) -> list[str] | None:
    if names is None:
        return None
    if not isinstance(names, list):
        raise InvalidInstance(f"names = {shorten(names)}: expected a list")
    return [str(name) for name in names]


# --- writing --------------------------------------------------------------------------------


def write(instance: Instance, path: str | PathLike[str]) -> None:
    """.json for any instance, .csv for a table."""
    if io.check_suffix(path, (".json", ".csv")) == ".json":
        io.write_json({"machines": instance.machines, "jobs": list(_jobs(instance))}, path)
        return
    import pandas as pd

    times = instance.times
    frame = pd.DataFrame(times, columns=[str(q) for q in range(1, times.shape[1] + 1)])
    frame.insert(0, "task", list(instance.names))
    frame.insert(1, "weight", instance.weights)
    if instance.has_releases:
        frame.insert(2, "release", instance.release)
    io.write_frame(frame, path, suffixes=(".csv",))


def _jobs(instance: Instance):
    downey = instance.downey
    times = None if downey is not None else instance.times
    for i, name in enumerate(instance.names):
        job: dict[str, Any] = {"id": name, "weight": instance.weights[i]}
        if instance.has_releases:
            job["release"] = instance.release[i]
        if downey is not None:
            job["downey"] = dict(
                zip(("t1", "A", "sigma"), (values[i] for values in downey), strict=True)
            )
        elif times is not None:
            job["processingTimes"] = times[i].tolist()
        yield job
