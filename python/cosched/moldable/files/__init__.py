"""Files of moldable jobs; see :meth:`cosched.moldable.Instance.read`."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import io, profiles
from cosched.core.arrays import integer, real
from cosched.core.text import first_repeated, not_read
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.moldable.files.project import Project, arguments_of_project
from cosched.moldable.files.psplib import (
    is_psplib,
    read_patterson,
    read_psplib,
    write_psplib as write_psplib,
)
from cosched.moldable.files.wfformat import is_wfformat, read_wfformat
from cosched.notes import Note, NoteKind
from cosched.profiles.measured_files import read_task_log

#: Bytes of a file that are looked at: the first sections of a project.
_HEAD_BYTES = 1 << 14


def read(
    path: str | PathLike[str], machines: int | None, *, fit: str, extrapolate: bool, counts: str
) -> dict[str, Any]:
    """The arguments of ``Instance`` (or its ``from_downey``) that a .json or .csv file holds."""
    max_procs = None if machines is None else integer(machines, "machines", 1)
    profiles.check_options(fit, extrapolate, counts)
    if (project := _project_of(path)) is not None:
        return arguments_of_project(project, max_procs, path)
    log = read_task_log(path)
    if log is None and io.bare_name(path).endswith(".json"):
        return _read_json(path, max_procs, counts)
    # Otherwise the instance goes on beyond the file's counts.
    procs = max_procs if extrapolate or counts == "measured" else None
    profile_table = profiles.from_csv(
        io.read_csv(path) if log is None else log.table,
        procs=procs,
        fit=fit,
        extrapolate=extrapolate,
        counts=counts,
        most=max_procs,
    )
    jobs, columns = profile_table.times.shape
    notes = [*(() if log is None else log.notes), *profile_table.notes]
    if max_procs is not None and max_procs > columns:
        text = f"on more than {columns} processors the jobs are taken to be as fast as on {columns}"
        notes.append(Note(NoteKind.ASSUMED, text, subject="processors", count=columns))
    return {
        "times": profile_table.times,
        "weights": np.ones(jobs) if profile_table.weights is None else profile_table.weights,
        "release": profile_table.release,
        "edges": profile_table.edges,
        "machines": max_procs,
        "names": profile_table.names,
        "origin": profile_table.origin,
        "spread": profile_table.spread,
        "notes": notes,
    }


def _project_of(path: str | PathLike[str]) -> Project | None:
    """The project of a file of PSPLIB, by its content, or of Patterson, by its suffix."""
    if io.bare_name(path).endswith(".rcp"):
        return read_patterson(io.read_text(path), path)
    if not Path(path).is_file():
        return None
    head = io.read_head(path, _HEAD_BYTES).decode("utf-8", "replace")
    return read_psplib(io.read_text(path), path) if is_psplib(head) else None


# --- JSON -----------------------------------------------------------------------------------

_TIES = ("edges", *profiles.SHARED_FIELDS)
_TABLE = {"times", "weights", "release", "machines", "names", *_TIES}


def _read_json(path: str | PathLike[str], machines: int | None, counts: str) -> dict[str, Any]:
    data = io.read_json(path)
    with io.naming(path):
        if is_wfformat(data):
            return read_wfformat(data, machines)
        if not isinstance(data, dict) or not ({"jobs", "times"} & set(data)):
            raise InvalidInstance("expected an object with 'jobs' (or 'times')")
        if machines is None and data.get("machines") is not None:
            machines = integer(data["machines"], "machines", 1)
        if "jobs" not in data:
            fields, known_keys = _of_table(data, machines, counts), _TABLE
        else:
            fields = _of_jobs(data["jobs"], machines, counts)
            known_keys = {"jobs", "machines", *(() if "t1" in fields else _TIES)}
        unread = [key for key in data if key not in known_keys]
        shared = {} if "t1" in fields else profiles.sharing_of_json(data)
        if "edges" in data and "t1" not in fields:
            shared["edges"] = data["edges"]
        notes = not_read("fields", unread + _unread_of_jobs(data))
        return {**fields, **shared, "notes": notes}


def _unread_of_jobs(data: dict[str, Any]) -> list[str]:
    """Return fields of jobs that nothing reads, as ``jobs.weigth``, each once."""
    jobs = data.get("jobs", [])
    formulas = any("downey" in job for job in jobs)
    known_keys = {"id", "weight", "release", "downey" if formulas else "processingTimes"}
    return list(
        dict.fromkeys(f"jobs.{key}" for job in jobs for key in job if key not in known_keys)
    )


def _of_table(data: dict[str, Any], machines: int | None, counts: str) -> dict[str, Any]:
    times = profiles.times_of_json(data["times"], "times", 2)
    if counts == "measured" and times.size:
        times = _continued(list(times), machines, counts)
    return {
        "times": times,
        "weights": data.get("weights", [1.0] * len(times)),
        "release": data.get("release"),
        "machines": machines,
        "names": _texts(data.get("names")),
    }


def _of_jobs(jobs: object, machines: int | None, counts: str) -> dict[str, Any]:
    if not isinstance(jobs, list) or not jobs:
        raise InvalidInstance("jobs: expected a list with at least one job")
    for number, job in enumerate(jobs):
        if not isinstance(job, dict) or not ({"processingTimes", "downey"} & set(job)):
            raise InvalidInstance(
                f"jobs[{number}]: expected an object with 'processingTimes' or 'downey'"
            )
    names = [str(job.get("id", f"job {number}")) for number, job in enumerate(jobs)]
    if (twice := first_repeated(names)) is not None:
        raise InvalidInstance(f"jobs: id {shorten(twice)} is there twice")
    weights = [real(job.get("weight", 1.0), f"jobs[{k}].weight") for k, job in enumerate(jobs)]
    release = [real(job.get("release", 0.0), f"jobs[{k}].release") for k, job in enumerate(jobs)]
    if any("downey" in job for job in jobs):
        return _of_formulas(jobs, weights, release, names, machines)
    times = _continued(_rows([job["processingTimes"] for job in jobs]), machines, counts)
    return {
        "times": times,
        "weights": weights,
        "release": release,
        "machines": machines,
        "names": names,
    }


def _of_formulas(
    jobs: list[dict[str, Any]],
    weights: list[float],
    release: list[float],
    names: list[str],
    machines: int | None,
) -> dict[str, Any]:
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
    return {
        "t1": t1,
        "A": A,
        "sigma": sigma,
        "weights": weights,
        "machines": machines,
        "release": release,
        "names": names,
    }


def _rows(rows: Sequence[object]) -> list[np.ndarray]:
    arrays = []
    for number, row in enumerate(rows):
        times = profiles.times_of_json(row, f"jobs[{number}].processingTimes", 1)
        if not len(times):
            raise InvalidInstance(f"jobs[{number}].processingTimes: expected at least one time")
        arrays.append(times)
    return arrays


def _continued(rows: Sequence[np.ndarray], machines: int | None, counts: str) -> np.ndarray:
    """Return rows of any length >= 1 as a table: each goes on with its last time.

    Where only measured counts may be used, with infinity, up to the machine's count.
    """
    width = max(map(len, rows))
    if counts == "all":
        return np.array([np.pad(row, (0, width - len(row)), mode="edge") for row in rows])
    table = np.full((len(rows), max(width, machines or 1)), np.inf)
    for times, row in zip(table, rows, strict=True):
        times[: len(row)] = row
    return table


def _texts(names: object) -> list[str] | None:
    if names is None:
        return None
    if not isinstance(names, list):
        raise InvalidInstance(f"names = {shorten(names)}: expected a list")
    return [str(name) for name in names]


# --- writing --------------------------------------------------------------------------------


def write_json(
    path: str | PathLike[str],
    machines: int,
    names: Sequence[str],
    weights: NDArray[np.float64],
    release: NDArray[np.float64] | None,
    profiles_of: Iterable[dict[str, Any]],
    shared: Mapping[str, object],
) -> None:
    """``{"machines": m, "jobs": [...]}`` and what is `shared`; `profiles_of`: times of each job."""
    jobs = []
    for i, (name, times) in enumerate(zip(names, profiles_of, strict=True)):
        job: dict[str, Any] = {"id": name, "weight": weights[i]}
        if release is not None:
            job["release"] = release[i]
        jobs.append({**job, **times})
    io.write_json({"machines": machines, "jobs": jobs, **shared}, path)


def after_column(
    edges: NDArray[np.int64], names: Sequence[str], path: str | PathLike[str]
) -> list[str]:
    """Of each job, the names of those that it waits for, as a cell."""
    predecessors: list[list[str]] = [[] for _ in names]
    for first, second in edges.tolist():
        name = names[first]
        if ";" in name or name != name.strip() or not name:
            raise InvalidInstance(
                f"{path}: job {shorten(name)} would be split in the column 'after': expected .json"
            )
        predecessors[second].append(name)
    # One name with blanks in it would be taken for several.
    return [";".join(group) + (";" if len(group) == 1 else "") for group in predecessors]


def write_csv(
    path: str | PathLike[str],
    names: Sequence[str],
    weights: NDArray[np.float64],
    release: NDArray[np.float64] | None,
    times: NDArray[np.float64],
    after: Sequence[str],
) -> None:
    """``task,weight[,release][,after],1,2,...``, a row a job."""
    frame = pd.DataFrame(
        np.where(np.isinf(times), np.nan, times),
        columns=[str(q) for q in range(1, times.shape[1] + 1)],
    )
    frame.insert(0, "task", list(names))
    frame.insert(1, "weight", weights)
    if release is not None:
        frame.insert(2, "release", release)
    if any(after):
        frame.insert(2, "after", list(after))
    io.write_frame(frame, path, suffixes=(".csv",), exact=True)
