"""Advice as workflow systems, batch scripts and people read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

FORMS = ("snakemake", "nextflow", "sbatch")
#: What workflow systems put around the names of their steps.
_AROUND = re.compile(r"^(?:snakejob\.|nf-|smk-)|\.sh$|[^A-Za-z0-9]*#.*$")


def limit_as_typed(seconds: float) -> str:
    """A limit as sbatch takes it.

    >>> limit_as_typed(4500.0)
    '1:15:00'
    """
    return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02}:{int(seconds % 60):02}"


def export(advice: pd.DataFrame, form: str, risk: float) -> str:
    """The advice as text.

    Parameters
    ----------
    advice : pandas.DataFrame
        Of :class:`RightSize`.
    form : {"snakemake", "nextflow", "sbatch"}
        A profile's ``set-resources``, ``withName`` blocks, or lines by job name.
    risk : float
        What is promised.
    """
    if form not in FORMS:
        raise InvalidInstance(f"export {shorten(form)}: expected {', '.join(FORMS)}")
    if "name" not in advice:
        raise InvalidInstance(f"export {form}: the log does not say how jobs are called: JobName")
    said = advice[(advice["limit"] > 0) | (advice["memory_gb"] > 0)]
    about = f"killed at most {100 * risk:g}% of the jobs"
    if form == "sbatch":
        return "".join(f"{line}\n" for _, row in said.iterrows() for line in _sbatch(row, about))
    steps = said.assign(name=[_AROUND.sub("", _AROUND.sub("", n)) for n in said["name"]])
    largest = steps[steps["name"] != ""].groupby("name")[["limit", "memory_gb", "jobs"]].agg(
        {"limit": "max", "memory_gb": "max", "jobs": "sum"})  # fmt: skip
    lines = _snakemake(largest) if form == "snakemake" else _nextflow(largest)
    mark = "#" if form == "snakemake" else "//"
    return "\n".join([f"{mark} {about}", *lines]) + "\n"


def options_of(row: Any) -> Iterator[str]:
    """Options of sbatch; ``--mem`` is that of a node."""
    if row["limit"] > 0:
        yield f"--time={limit_as_typed(row['limit'])}"
    if row["memory_gb"] > 0:
        yield f"--mem={np.ceil(row['memory_gb'] / row['nodes']):.0f}G"


def _sbatch(row: Any, about: str) -> Iterator[str]:
    who = ", ".join(f"{key} {row[key]}" for key in ("user", "partition", "cores") if key in row)
    yield f"# {row['name']}: {who}; {row['jobs']} jobs, {about}"
    yield from (f"#SBATCH {option}" for option in options_of(row))


def _snakemake(steps: pd.DataFrame) -> Iterator[str]:
    yield "set-resources:"
    for name, row in steps.iterrows():
        yield f"  {name}:  # {row['jobs']:.0f} jobs"
        if row["memory_gb"] > 0:
            yield f"    mem_mb: {1024 * row['memory_gb']:.0f}"
        if row["limit"] > 0:
            yield f"    runtime: {row['limit'] / 60:.0f}"


def _nextflow(steps: pd.DataFrame) -> Iterator[str]:
    yield "process {"
    for name, row in steps.iterrows():
        yield f"  withName: '{name}' {{  // {row['jobs']:.0f} jobs"
        if row["memory_gb"] > 0:
            yield f"    memory = '{row['memory_gb']:.0f} GB'"
        if row["limit"] > 0:
            yield f"    time = '{row['limit'] / 60:.0f} min'"
        yield "  }"
    yield "}"
