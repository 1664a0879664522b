"""Runs that Snakemake has kept in ``.snakemake/metadata``."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from cosched.errors import InvalidInstance, shorten


@dataclass(frozen=True)
class KeptJob:
    """A job of a past run.

    Attributes
    ----------
    name : str
        Rule and first output.
    rule : str
    start, end : float
        Seconds, Unix time.
    inputs, outputs : tuple of str
    """

    name: str
    rule: str
    start: float
    end: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read_snakemake(folder: str | PathLike[str]) -> list[KeptJob]:
    """The jobs that made the files of a workflow's folder, as Snakemake has kept them.

    Parameters
    ----------
    folder : str or path-like
        Where Snakemake ran: it holds ``.snakemake``.

    Returns
    -------
    list of KeptJob
        By start; only jobs that completed, a job that was run again by its last run.

    Raises
    ------
    InvalidInstance
        No such folder, or nothing in it.

    Notes
    -----
    Snakemake keeps rule, inputs, outputs, start and end of a job, neither threads nor resources.
    """
    metadata = Path(folder) / ".snakemake" / "metadata"
    if not metadata.is_dir():
        raise InvalidInstance(f"{folder}: expected the folder of a workflow, with .snakemake in it")
    made: dict[tuple, list[str]] = {}
    for path in sorted(file for file in metadata.rglob("*") if file.is_file()):
        record = _record(path)
        if record is not None:
            made.setdefault(record, []).append(_output(path.relative_to(metadata)))
    if not made:
        raise InvalidInstance(f"{metadata}: no record of a job that completed")
    found = [
        KeptJob(f"{rule} {sorted(outputs)[0]}", rule, start, end, inputs, tuple(sorted(outputs)))
        for (rule, start, end, inputs), outputs in _jobs(made).items()
    ]
    return sorted(found, key=lambda job: (job.start, job.name))


def _jobs(made: Mapping[tuple, list[str]]) -> dict[tuple, list[str]]:
    """Outputs of one job have one start, rule and inputs; its end is that of the last."""
    ends: dict[tuple, float] = {}
    outputs: dict[tuple, list[str]] = {}
    for (rule, start, end, inputs, job), names in made.items():
        key = (rule, start, inputs, job)
        ends[key] = max(end, ends.get(key, -math.inf))
        outputs.setdefault(key, []).extend(names)
    return {
        (rule, start, ends[rule, start, inputs, job], inputs): names
        for (rule, start, inputs, job), names in outputs.items()
    }


def _record(path: Path) -> tuple | None:
    """Rule, start, end, inputs and job of a record; None of a job that has not completed."""
    try:
        record: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InvalidInstance(f"{path}: expected a record of Snakemake: {shorten(error)}") from None
    if not isinstance(record, dict):
        raise InvalidInstance(f"{path}: expected a record of Snakemake")
    rule, start, end = record.get("rule"), record.get("starttime"), record.get("endtime")
    if record.get("incomplete") or not isinstance(rule, str):
        return None
    if not isinstance(start, (int, float)) or not isinstance(end, (int, float)):
        return None
    inputs = record.get("input") or []
    return rule, start, max(start, end), tuple(map(str, inputs)), record.get("job_hash")


def _output(path: Path) -> str:
    """The file that a record is about: its name in base 64, in parts where it is long."""
    text = "".join(part.removeprefix("@") for part in path.parts)
    try:
        return base64.urlsafe_b64decode(text).decode()
    except ValueError:
        return text
