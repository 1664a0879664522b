"""One task of a run: what it was given, what became of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cosched.core.arrays import integer, real
from cosched.errors import InvalidInstance, shorten

STATES = ("completed", "failed", "timeout", "cancelled", "pending")


@dataclass(frozen=True, kw_only=True)
class TaskRun:
    """One task of an execution: its last attempt.

    Attributes
    ----------
    task : int
    name : str
    kind : int
        Resource type of the units.
    units : tuple of int
    planned_start, planned_end : float
        Seconds.
    start, end : float
        Seconds since the run began; nan where it did not (or has not ended).
    state : {"completed", "failed", "timeout", "cancelled", "pending"}
    exit_code : int or None
        Negative: the signal that ended it.
    attempt : int
        From 1; 0: not started.
    pack : int or None
    cpu_seconds : float or None
        Processor seconds, where they are known.

    Examples
    --------
    >>> TaskRun(task=0, name="fem", kind=0, units=(0,), planned_start=0.0, planned_end=2.0).state
    'pending'
    """

    task: int
    name: str
    kind: int
    units: tuple[int, ...]
    planned_start: float
    planned_end: float
    start: float = math.nan
    end: float = math.nan
    state: str = "pending"
    exit_code: int | None = None
    attempt: int = 0
    pack: int | None = None
    cpu_seconds: float | None = None


def task_run(row: Any, where: str) -> TaskRun:
    try:
        return _checked_task(row, where)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInstance(f"{where}: expected the columns of a task ({error})") from None


def _checked_task(row: Mapping[str, Any], where: str) -> TaskRun:
    def seconds(key: str) -> float:
        found = math.nan if row[key] is None else real(row[key], f"{where}.{key}")
        if math.isinf(found):  # is not written
            raise InvalidInstance(f"{where}.{key} = {found}: expected seconds")
        return found

    state, code, pack = row["state"], row["exit_code"], row.get("pack")
    used = math.nan if row.get("cpu_seconds") is None else seconds("cpu_seconds")
    if state not in STATES:
        raise InvalidInstance(f"{where}.state = {shorten(state)}: expected {', '.join(STATES)}")
    return TaskRun(
        task=integer(row["task"], f"{where}.task"),
        name=str(row["name"]),
        kind=integer(row.get("kind", 0), f"{where}.kind"),
        units=tuple(integer(unit, f"{where}.units") for unit in row["units"]),
        planned_start=seconds("planned_start"),
        planned_end=seconds("planned_end"),
        start=seconds("start"),
        end=seconds("end"),
        state=state,
        exit_code=None if code is None else integer(code, f"{where}.exit_code", -(2**31)),
        attempt=integer(row["attempt"], f"{where}.attempt"),
        pack=None if pack is None else integer(pack, f"{where}.pack"),
        cpu_seconds=None if math.isnan(used) else used,
    )
