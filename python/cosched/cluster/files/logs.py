"""A log of the archive as jobs on a machine, with what was dropped, repaired or assumed."""

from __future__ import annotations

import re
from os import PathLike
from typing import TYPE_CHECKING, Any

from cosched.cluster.files.conventions import WEEK, dfrs_jobs, rigid_jobs, week_of
from cosched.cluster.files.swf import read_swf
from cosched.core.arrays import integer
from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    import pandas as pd


def read_log(
    path: str | PathLike[str],
    nodes: int | None,
    convention: str,
    memory_kb: float,
    week: int | None,
) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
    """Jobs, nodes and notes; arguments as :func:`cosched.cluster.from_swf`."""
    if convention not in ("dfrs", "rigid"):
        raise InvalidInstance(f"convention = {shorten(convention)}: expected dfrs or rigid")
    table, report = read_swf(path)
    if not report.kept:
        reasons = "; ".join(line.strip() for line in str(report).splitlines()[1:])
        raise InvalidInstance(f"{path}: no usable job: {reasons}")
    if convention == "rigid":
        jobs = rigid_jobs(table)
        if nodes is None:
            nodes = _header_processors(path, report.header)
    else:
        jobs = dfrs_jobs(table, memory_kb)
    if nodes is None:
        raise InvalidInstance(
            f"{path}: nodes are missing: expected their number (the log's header has processors)"
        )
    repaired = jobs.attrs.get("repaired", {})
    notes = [
        *str(report).splitlines(),
        *(f"  {n} jobs: {what}" for what, n in repaired.items() if n),
    ]
    waits_for = int((table["preceding_job"] > 0).sum())
    if waits_for:
        notes.append(
            f"  not used: preceding_job and think_time of {waits_for} "
            f"job{'s' * (waits_for != 1)} (each comes when the log says so)"
        )
    if week is not None:
        jobs = week_of(jobs, integer(week, "week", 0))
        if not len(jobs):
            last = int(table["submit"].max() // WEEK)
            raise InvalidInstance(f"{path}: week {week} has no job: the last week is {last}")
        notes.append(f"  week {week}: {len(jobs)} jobs")
    return jobs, nodes, tuple(notes)


def _header_processors(path: Any, header: Any) -> int:
    for key in ("MaxProcs", "MaxNodes"):
        found = re.match(r"[0-9]{1,18}(?!\S)", str(header.get(key, "")))
        if found:
            return int(found[0])
    raise InvalidInstance(
        f"{path}: nodes are missing: expected the number of processors (no MaxProcs in the header)"
    )
