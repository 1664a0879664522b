"""Snakemake: benchmark files, and the efficiency report of its Slurm executor plugin.

A benchmark file has a row for each repeat: ``s, h:m:s``, since version 4 memory (MB of 2^20 bytes)
and load, since 7 ``cpu_time``, and with ``--benchmark-extended`` rule, wildcards, threads and
resources; ``.jsonl`` has them as objects. Sources: ``snakemake/benchmark.py`` of 9.27, and
``efficiency_report.py`` of the plugin up to 2.8.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from typing import Any

from cosched.errors import InvalidInstance, shorten
from cosched.profiles.task_logs.task import LoggedTask, SkippedLine, TaskRow, Tasks
from cosched.units import MEGABYTE, MINUTE, parse_slurm_time

_NO_FIELDS = "its fields are not those of the header"
#: Columns of a benchmark file that hold what Python prints of a dictionary.
_DICTIONARIES = ("wildcards", "params", "resources", "input_size_mb")
_MOST_CHARACTERS = 1 << 16


def read_snakemake_benchmark(lines: Iterable[tuple[int, str]], path: object, label: str) -> Tasks:
    r"""The runs of a benchmark file.

    Parameters
    ----------
    lines : iterable of (int, str)
        Numbers from 1, and texts.
    path : path-like
        For messages.
    label : str
        The name of the file without its suffix, in a folder with the names of the folders: what a
        run is called where the file has no rule.

    Raises
    ------
    InvalidInstance
        A cell that is no number, a file without run times, or a line that is no JSON.

    Examples
    --------
    >>> rows = ["s\th:m:s\tmax_rss\tmax_vms\n", "62.5\t0:01:02\t512.00\t700.00\n"]
    >>> (task,) = read_snakemake_benchmark(enumerate(rows, 1), "map/A.tsv", "map/A")
    >>> task.name, task.seconds, task.used_memory / 2**20
    ('map/A', 62.5, 512.0)
    """
    header: list[str] = []
    for line, text in lines:
        where = f"{path}: line {line}"
        stripped = text.rstrip("\r\n")
        if not stripped.strip():
            continue
        if stripped.startswith("{"):
            yield _task_of(TaskRow(where, _cells_of_json(where, stripped)), line, label)
            continue
        cells = stripped.split("\t")
        if cells[:2] == ["s", "h:m:s"]:  # also once more, where files were put together
            header = [name.strip() for name in cells]
        elif len(cells) != len(header):
            yield SkippedLine(line, _NO_FIELDS)
        else:
            yield _task_of(TaskRow(where, dict(zip(header, cells, strict=True))), line, label)


def _cells_of_json(where: str, text: str) -> dict[str, str]:
    """An object as texts by field; dictionaries as Python prints them, as a TSV has them."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise InvalidInstance(f"{where}: {shorten(text)}: expected a JSON object of Snakemake")
    return {
        name: "" if value is None else repr(value) if isinstance(value, dict) else str(value)
        for name, value in record.items()
    }


def _task_of(row: TaskRow, line: int, label: str) -> LoggedTask:
    seconds = row.number("s")
    if math.isnan(seconds):
        raise row.refusal("s", "seconds")
    rule, threads = row.text("rule_name"), row.count("threads")
    wildcards, resources = (_dictionary(row, name) for name in ("wildcards", "resources"))
    values = ", ".join(f"{name}={value}" for name, value in wildcards.items())
    peak = row.number("max_rss", MEGABYTE)
    return LoggedTask(
        line=line,
        name=(f"{rule} ({values})" if values else rule) or label,
        code=rule or label,
        state="COMPLETED",  # Snakemake writes the file when the last repeat has succeeded
        seconds=seconds,
        number=row.text("jobid"),
        cores=threads,
        limit=_number_of(resources, "runtime") * MINUTE,
        memory=_number_of(resources, "mem_mb") * MEGABYTE,
        used_memory=peak if peak > 0 else math.nan,
        cpu_seconds=_cpu_seconds_of(row, seconds),
    )


def _cpu_seconds_of(row: TaskRow, seconds: float) -> float:
    """Processor time; a zero says that no process was seen."""
    measured = row.number("cpu_time")
    if math.isnan(measured):
        measured = row.percent("mean_load") * seconds
    return measured if measured > 0 else math.nan


def _dictionary(row: TaskRow, field: str) -> Mapping[Any, Any]:
    """What a cell says in the form in which Python prints a dictionary; empty for other texts."""
    text = row.text(field)
    if not text.startswith("{") or len(text) > _MOST_CHARACTERS:
        return {}
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return value if isinstance(value, dict) else {}


def _number_of(values: Mapping[Any, Any], name: str) -> float:
    value = values.get(name)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return math.nan
    return float(value) if 0 < value < 2**53 else math.nan


# --- the efficiency report of the Slurm plugin ----------------------------------------------------

_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]+)?)([KMGTP]?)([cn]|/node)?")
_RULE = re.compile(r"rule_(.+?)(?:_+wildcards(?:_.*)?)?$")


def read_snakemake_efficiency(lines: Iterable[tuple[int, str]], path: object, _: tzinfo) -> Tasks:
    """The jobs of a report; steps count for their job.

    Parameters as of :func:`~cosched.profiles.task_logs.parallel.read_parallel_joblog`.

    Raises
    ------
    InvalidInstance
        A cell of another form than sacct's.
    """
    rows_of_jobs: dict[str, list[tuple[int, TaskRow]]] = {}
    for line, cells in _csv_rows(lines, path):
        if cells is None:
            yield SkippedLine(line, _NO_FIELDS)
            continue
        row = TaskRow(f"{path}: line {line}", cells)
        number = row.text("JobID").partition(".")[0]
        if not number:
            yield SkippedLine(line, "no JobID")
            continue
        rows_of_jobs.setdefault(number, []).append((line, row))
    for number, rows in rows_of_jobs.items():
        yield _job_of(number, rows)


def _csv_rows(
    lines: Iterable[tuple[int, str]], path: object
) -> Iterator[tuple[int, dict[str, str] | None]]:
    """Line and cells by column of each row; None where it has more or fewer than the header."""
    last_line = 0

    def texts() -> Iterator[str]:
        nonlocal last_line
        for last_line, text in lines:  # noqa: B007
            yield text

    reader = csv.reader(texts())
    try:
        header = next(reader)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            is_row = len(cells) == len(header)
            yield last_line, dict(zip(header, cells, strict=True)) if is_row else None
    except csv.Error as error:
        raise InvalidInstance(f"{path}: line {last_line}: {error}") from None


def _job_of(number: str, rows: list[tuple[int, TaskRow]]) -> LoggedTask | SkippedLine:
    """One job of its own row and those of its steps, whichever the report has."""
    job_rows = [(line, row) for line, row in rows if "." not in row.text("JobID")]
    line, row = job_rows[0] if job_rows else rows[0]
    step_rows = [row for _, row in rows if "." in row.text("JobID")]
    seconds = max(_seconds_of(row, "Elapsed") for row in ([row] if job_rows else step_rows))
    if math.isnan(seconds):
        return SkippedLine(line, "no run time")
    cores = max(row.count("NCPUS") for _, row in rows)
    nodes = max(row.count("NNodes") for _, row in rows)
    peaks = [peak for _, row in rows if (peak := _bytes_of(row, "MaxRSS", 1, 1)) > 0]
    cpu_seconds = _seconds_of(row, "TotalCPU") if job_rows else math.nan
    if not cpu_seconds > 0:
        parts = [t for row in step_rows if (t := _seconds_of(row, "TotalCPU")) > 0]
        cpu_seconds = sum(parts) if parts else math.nan
    comment = row.text("RuleName")
    rule = _RULE.fullmatch(comment)
    return LoggedTask(
        line=line,
        name=comment or row.text("JobName"),
        code=rule[1] if rule else comment or row.text("JobName"),
        state="UNKNOWN",
        seconds=seconds,
        number=number,
        cores=cores,
        memory=_requested_bytes(row, cores, nodes),
        used_memory=max(peaks, default=math.nan),
        cpu_seconds=cpu_seconds,
    )


def _seconds_of(row: TaskRow, field: str) -> float:
    """Seconds of a duration as sacct prints it; nan where there is none."""
    text = row.text(field)
    if not text:
        return math.nan
    seconds = parse_slurm_time(text)
    if seconds is None or not seconds < math.inf:
        raise row.refusal(field, "a duration such as 01:02:03 or 1-02:03:04")
    return seconds


def _bytes_of(row: TaskRow, field: str, cores: int, nodes: int) -> float:
    """Bytes of an amount as sacct prints it, of all nodes or CPUs where it is that of one."""
    text = row.text(field)
    if not text:
        return math.nan
    match = _SIZE.fullmatch(text)
    if match is None:
        raise row.refusal(field, "an amount such as 4000M or 2Gc")
    amount = float(match[1]) * 1024.0 ** " KMGTP".index(match[2] or " ")
    if match[3] is None:
        return amount
    return amount * max(cores if match[3] == "c" else nodes, 1)


def _requested_bytes(row: TaskRow, cores: int, nodes: int) -> float:
    """What a job asked for; of rows of steps the column that the plugin computed for them."""
    amount = _bytes_of(row, "ReqMem", cores, nodes)
    if math.isnan(amount):
        amount = row.number("RequestedMem_MB", MEGABYTE)
    return amount if amount > 0 else math.nan
