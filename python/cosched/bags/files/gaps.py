"""Times and powers with gaps, and what to do about them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cosched import io
from cosched.errors import InvalidInstance

_GAPS = ("", "nan", "na", "n/a", "inf", "infinity", "-")


def is_gap(text: str) -> bool:
    """Whether a cell says that there is no number."""
    return text.strip().lower() in _GAPS


class Table:
    """Times and powers of task types on machine types; cells are put in one by one."""

    def __init__(self, missing: str, tasks: list[str], machines: list[str]) -> None:
        self.missing = missing
        self.tasks, self.machines = tasks, machines
        self.seconds = np.full((len(tasks), len(machines)), math.nan)
        self.watts = self.seconds.copy()

    def put(self, table: np.ndarray, i: int, j: int, text: str, where: str, what: str) -> None:
        """One cell; a gap is refused, or stays NaN."""
        if is_gap(text) and self.missing != "refuse":
            return
        try:
            table[i, j] = io.parse_positive(text, where, what)
        except InvalidInstance as error:
            hint = " (missing='drop' drops it)" if is_gap(text) else ""
            raise InvalidInstance(f"{error}{hint}") from None

    def fields(self, counts: Any, machines: Any, idle_power: Any = None) -> dict[str, Any]:
        """The arguments of Instance, without what is to be dropped."""
        known = np.isfinite(self.seconds) & np.isfinite(self.watts)
        rows, columns = np.ones(len(known), dtype=bool), np.ones(known.shape[1], dtype=bool)
        if self.missing == "drop-tasks":
            rows = known.all(axis=1)
            dropped = [name for name, kept in zip(self.tasks, rows, strict=True) if not kept]
        elif self.missing == "drop-machines":
            columns = known.all(axis=0)
            dropped = [name for name, kept in zip(self.machines, columns, strict=True) if not kept]
        else:
            dropped = [f"{self.tasks[i]} on {self.machines[j]}" for i, j in np.argwhere(~known)]
        chosen = np.ix_(rows, columns)
        return {
            "counts": np.asarray(counts)[rows],
            "machines": np.asarray(machines)[columns],
            "etc": self.seconds[chosen],
            "apc": self.watts[chosen],
            "allowed": None if known[chosen].all() else known[chosen],
            "idle_power": None if idle_power is None else np.asarray(idle_power)[columns],
            "names": [name for name, kept in zip(self.tasks, rows, strict=True) if kept],
            "machine_names": [n for n, kept in zip(self.machines, columns, strict=True) if kept],
            "notes": [f"dropped {what}: a time or power is missing" for what in dropped],
        }
