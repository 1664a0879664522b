"""A trace of jobs for a real Slurm: a table with a column for each thing that a job may ask for."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from os import PathLike
from typing import Any

from cosched import io
from cosched.cluster import Instance
from cosched.cluster.files import read_json
from cosched.cluster.files.job_files import UNLIMITED
from cosched.cluster.files.sbatch import array_tasks
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.recordings.recording_files import NO_LIMIT
from cosched.slurm.requests.request import KINDS
from cosched.units import parse_megabytes

_MAX_COUNT = 10**9
_TRUE, _FALSE = ("yes", "true", "1"), ("no", "false", "0", "")
_NAME = r"[A-Za-z_][\w.-]*"


def _number(text: str, where: str) -> int:
    return round(io.parse_nonnegative(text, where, "seconds >= 0"))


def _limit(text: str, where: str) -> float:
    """Return seconds; infinite for ``UNLIMITED``."""
    if text.lower() in UNLIMITED:
        return math.inf
    return _number(text, where)


def _count(text: str, where: str) -> int:
    return io.parse_integer(text, where, 1, _MAX_COUNT)


def _flag(text: str, where: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected yes or no")
    return text.lower() in _TRUE


def _hold(text: str, where: str) -> bool | int:
    if text.lower() in ("yes", "true", "no", "false"):
        return _flag(text, where)
    return round(io.parse_nonnegative(text, where, "yes, or seconds until it is released"))


def _memory(text: str, where: str) -> int:
    megabytes = parse_megabytes(text)
    if megabytes is None:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected MB as 4000, or 4G")
    return math.ceil(megabytes)


def _text(pattern: str, expected: str) -> Callable[[str, str], str]:
    def read(text: str, where: str) -> str:
        if not re.fullmatch(pattern, text):
            raise InvalidInstance(f"{where}: {shorten(text)}: expected {expected}")
        return text

    return read


def _array(text: str, where: str) -> str:
    try:
        array_tasks(text)
    except InvalidInstance as error:
        raise InvalidInstance(f"{where}: {error}") from None
    return text


def _dependency(text: str, where: str) -> list[tuple[str, str]]:
    """Return (kind, job as the file calls it)."""
    kinds_and_jobs = []
    for part in text.split(","):
        kind, *jobs = part.split(":")
        if not (kind == "singleton" and not jobs) and not (kind in KINDS and jobs):
            kinds = ", ".join(KINDS)
            raise InvalidInstance(
                f"{where}: {shorten(text)}: expected afterok:JOB[:JOB][,...] with one of {kinds}, "
                "or singleton"
            )
        kinds_and_jobs += [(kind, job) for job in jobs] or [(kind, "")]
    return kinds_and_jobs


#: What a column says, by its name; as in recordings.
_READERS: dict[str, Callable[[str, str], Any]] = {
    "submit": _number, "limit": _limit, "estimate": _limit, "runtime": _number,
    "nodes": _count, "cores": _count, "tasks": _count,
    "mem": _memory, "mem_per_cpu": _memory, "rss": _memory,
    "gres": _text(r"gpu(:[A-Za-z]\w*)?(:\d+)?", "gpu:2 or gpu:a100:2"),
    "gpus": _text(r"([A-Za-z]\w*:)?\d+", "2 or a100:2"),
    "constraint": _text(r"[\w&|,()\[\].-]+", "features: a, (a|b)&c or [a|b]"),
    "licenses": _text(rf"{_NAME}(:\d+)?(,{_NAME}(:\d+)?)*", "licences: a:2,b"),
    "partition": _text(rf"{_NAME}(,{_NAME})*", "a partition, or several: a,b"),
    "array": _array, "name": _text(r"[\w.-]+", "a name"), "dependency": _dependency,
    "begin": _number, "hold": _hold,
    "exclusive": _flag, "no_requeue": _flag, "fail": _flag,
    "nice": partial(io.parse_integer, low=-_MAX_COUNT, high=_MAX_COUNT),
    "user": _text(_NAME, "a user"), "account": _text(_NAME, "an account"),
    "qos": _text(_NAME, "a QOS"),
}  # fmt: skip
#: Columns of other tables of jobs that sbatch is not told.
_UNUSED = frozenset(
    ("id", "cpu", "memory", "eligible", "wait", "wait_blocked", "group", "status", "line",
     "running", "ran", "held", "memory_gb", "gpu_type", "threads", "priority")
)  # fmt: skip
_NEEDED = ("submit", "runtime")
_OF_LOGS = ("id", "submit", "tasks", "runtime")


def read_trace(path: str | PathLike[str], nodes: int) -> list[dict[str, Any]]:
    """Return jobs of a trace in order of submission, as recordings have them.

    CSV, or JSON as :meth:`cosched.cluster.Instance.write` makes it; a log by way of an instance.
    A bad cell is refused with its line, column, value and what was expected.
    """
    jobs: list[dict[str, Any]] = []
    names: list[str] = []
    for place, cells in _rows(path, nodes):
        job = {
            name: _READERS[name](text, f"{place}, column '{name}'")
            for name, text in cells.items()
            if name in _READERS and text != ""
        }
        for name in _NEEDED:
            if name not in job:
                raise InvalidInstance(f"{place}: no {name}: expected one of each job")
        jobs.append(_normalize(job, place, nodes))
        names.append(cells.get("id", "") or str(len(names)))
    if not jobs:
        raise InvalidInstance(f"{path}: expected one job at least")
    return _sort_by_submission(jobs, names, path)


def _normalize(job: dict[str, Any], place: str, nodes: int) -> dict[str, Any]:
    """Return a job with the words of a recording: ``tasks`` are whole nodes, ``estimate`` the
    limit."""
    estimate, tasks = job.pop("estimate", None), job.pop("tasks", None)
    limit = job.pop("limit", estimate)
    if limit is None:
        raise InvalidInstance(f"{place}: no limit (or estimate): expected one of each job")
    if "cores" not in job and "nodes" not in job:
        if tasks is None:
            raise InvalidInstance(f"{place}: no nodes, cores or tasks: expected one of each job")
        job["nodes"] = tasks
    if job.get("nodes", 1) > nodes:
        raise InvalidInstance(f"{place} wants {job['nodes']} nodes: expected at most {nodes}")
    if "mem" in job and "mem_per_cpu" in job:
        raise InvalidInstance(f"{place}: mem and mem_per_cpu: expected one of the two")
    whole_minutes = NO_LIMIT if math.isinf(limit) else 60 * math.ceil(max(limit, 1) / 60)
    job |= {"limit": whole_minutes, "runtime": max(job["runtime"], 1)}
    return {key: value for key, value in job.items() if value is not False}


def _sort_by_submission(
    jobs: list[dict[str, Any]], names: list[str], path: str | PathLike[str]
) -> list[dict[str, Any]]:
    """Return jobs by submission; dependencies are places in that order."""
    order = sorted(range(len(jobs)), key=lambda k: jobs[k]["submit"])
    place = {names[k]: number for number, k in enumerate(order)}
    if len(place) < len(jobs):
        repeated_name = next(name for name in names if names.count(name) > 1)
        raise InvalidInstance(f"{path}: id {shorten(repeated_name)}: expected another for each job")
    first = jobs[order[0]]["submit"]
    sorted_jobs = []
    for number, k in enumerate(order):
        job = {**jobs[k], "submit": jobs[k]["submit"] - first}
        if "dependency" in job:
            job["dependency"] = [
                [kind, _row_of_earlier_job(name, place, number, names[k], path) if name else None]
                for kind, name in job["dependency"]
            ]
        sorted_jobs.append(job)
    return sorted_jobs


def _row_of_earlier_job(
    name: str, place: Mapping[str, int], number: int, job_name: str, path: str | PathLike[str]
) -> int:
    """Return the place of a job that others wait for; it has to be submitted before them."""
    if place.get(name, number) >= number:
        raise InvalidInstance(
            f"{path}: job {job_name}, column 'dependency': job {shorten(name)}: expected one that "
            "is submitted before"
        )
    return place[name]


def _rows(path: str | PathLike[str], nodes: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield where each job stands, and its cells."""
    if io.bare_name(path).endswith(".csv"):
        table = io.read_csv(path)
        header = [text.strip().lower() for text in table.header]
        _require(header, f"{path}: line 1")
        for line, cells in table.rows:
            texts = (text.strip() for text in cells)
            yield f"{path}: line {line}", dict(zip(header, texts, strict=True))
        return
    columns = _columns_of_json(path) if io.bare_name(path).endswith(".json") else _log(path, nodes)
    _require(list(columns), str(path))
    for number, values in enumerate(zip(*columns.values(), strict=True)):
        is_missing = [v is None or (isinstance(v, float) and math.isnan(v)) for v in values]
        cells_of_row = [
            "" if no else str(value) for no, value in zip(is_missing, values, strict=True)
        ]
        yield f"{path}: job {number}", dict(zip(columns, cells_of_row, strict=True))


def _log(path: str | PathLike[str], nodes: int) -> dict[str, list[Any]]:
    jobs = Instance.read(path, nodes).jobs
    return {name: jobs[name].tolist() for name in (*_OF_LOGS, "estimate") if name in jobs}


def _columns_of_json(path: str | PathLike[str]) -> dict[str, list[Any]]:
    columns, *_ = read_json(path)
    if not all(isinstance(column, list) for column in columns.values()):
        raise InvalidInstance(f"{path}: expected an object with 'jobs' (lists by column)")
    if len({len(column) for column in columns.values()}) > 1:
        raise InvalidInstance(f"{path}: jobs: expected lists of one length")
    return columns


def _require(header: list[str], place: str) -> None:
    for name in _NEEDED:
        if name not in header:
            raise InvalidInstance(f"{place}: no column {name!r}")
    for name in header:
        if header.count(name) > 1:
            raise InvalidInstance(f"{place}: {header.count(name)} columns {name!r}")
        if name not in _READERS and name not in _UNUSED:
            raise InvalidInstance(
                f"{place}: column {shorten(name)}: expected {', '.join(_READERS)}"
            )


def longest_run(job: Mapping[str, Any]) -> int:
    """Return seconds after which the job is over at the latest: its limit, or its run time."""
    seconds: int = job["runtime"] if job["limit"] == NO_LIMIT else job["limit"]
    return seconds


def options_of(job: Mapping[str, Any], numbers: list[int | None]) -> list[str] | None:
    """Return what sbatch is told of a job; None: it depends on one that was refused."""
    words = {
        "nodes": "nodes",
        "cores": "ntasks",
        "mem": "mem",
        "mem_per_cpu": "mem-per-cpu",
        "gres": "gres",
        "gpus": "gpus",
        "constraint": "constraint",
        "licenses": "licenses",
        "partition": "partition",
        "array": "array",
        "name": "job-name",
        "account": "account",
        "qos": "qos",
        "nice": "nice",
    }
    options = [f"--{word}={job[name]}" for name, word in words.items() if name in job]
    options += [
        f"--{name.replace('_', '-')}" for name in ("exclusive", "no_requeue") if name in job
    ]
    limit = job["limit"]
    options.append(f"--time={limit if limit == NO_LIMIT else limit // 60}")
    if "begin" in job:
        options.append(f"--begin=now+{job['begin']}")
    if "hold" in job:
        options.append("--hold")
    if "dependency" in job:
        parts = []
        for kind, other in job["dependency"]:
            if other is not None and numbers[other] is None:
                return None
            parts.append(kind if other is None else f"{kind}:{numbers[other]}")
        options.append(f"--dependency={','.join(parts)}")
    return options
