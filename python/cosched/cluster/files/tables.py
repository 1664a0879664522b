"""Jobs from CSV and JSON, as columns."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.files.facts import FACTS, MEASURES
from cosched.core.text import not_read
from cosched.errors import InvalidInstance

COLUMNS = ("submit", "tasks", "cpu", "memory", "runtime")
#: Seconds that are not known of every job.
_MAYBE = ("estimate", "eligible")
_READ = {*COLUMNS, "estimate", "eligible", "wait_blocked", "id", *FACTS}


def read_json(path: str | PathLike[str]) -> tuple[dict[str, Any], Any, list[str]]:
    """Columns of jobs, the number of nodes (None where the file does not say it), and notes."""
    data = io.read_json(path)
    if not isinstance(data, dict) or not isinstance(data.get("jobs"), dict):
        raise InvalidInstance(f"{path}: expected an object with 'jobs' (lists by column)")
    jobs = dict(data["jobs"])
    for name in MEASURES:
        if isinstance(jobs.get(name), list):  # null = the log does not say
            jobs[name] = [np.nan if value is None else value for value in jobs[name]]
    unread = [f"jobs.{name}" for name in jobs if name not in _READ]
    notes = not_read("fields", [*unread, *(key for key in data if key not in ("jobs", "nodes"))])
    return jobs, data.get("nodes"), notes


def read_csv(path: str | PathLike[str]) -> tuple[dict[str, list[Any]], list[int], list[str]]:
    """Columns of jobs, what is known of them beside, the line of each job, and notes."""
    table = io.read_csv(path)
    header = [text.strip().lower() for text in table.header]
    wanted = [name for name in (*COLUMNS, *_MAYBE) if name in header]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InvalidInstance(f"{path}: line 1: no column {missing[0]!r}")
    for name in wanted:
        if header.count(name) > 1:
            raise InvalidInstance(f"{path}: line 1: {header.count(name)} columns {name!r}")
    jobs: dict[str, list[Any]] = {name: [] for name in wanted}
    for name in ("id", *FACTS):
        if name != "line" and header.count(name) == 1:
            place = header.index(name)
            own = [(line, cells[place].strip()) for line, cells in table.rows]
            jobs[name] = _fact(path, name, own)
    for line, cells in io.polled(table.rows):
        for name in wanted:
            text = cells[header.index(name)].strip()
            where = f"{path}: line {line}, column '{name}'"
            unknown = name in _MAYBE and text.lower() in ("", "nan")
            jobs[name].append(np.nan if unknown else io.parse_number(text, where))
    titles = map(str.strip, table.header)
    notes = not_read("columns", [name for name in titles if name.lower() not in _READ])
    return jobs, [line for line, _ in table.rows], notes


def _fact(path: Any, name: str, cells: list[tuple[int, str]]) -> list[Any]:
    """Integers where all cells are, else texts; numbers (unknown where empty) of measures."""
    if name in MEASURES:
        return [
            io.parse_nonnegative(text, f"{path}: line {line}, column '{name}'") if text else np.nan
            for line, text in cells
        ]
    if cells and all(text.isascii() and text.isdigit() and len(text) < 16 for _, text in cells):
        return [int(text) for _, text in cells]
    return [text for _, text in cells]
