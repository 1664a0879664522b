"""What a setting is judged by: an objective, and what may not get worse."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.result.groups import keys_of, range_of
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance, shorten

#: Of waits (s) or bounded slowdowns, a row a draw: a number a draw.
STATISTICS: dict[str, Any] = {
    "mean_wait": lambda waits: waits.mean(axis=1),
    "p95_wait": lambda waits: np.percentile(waits, 95, axis=1),
    "max_wait": lambda waits: waits.max(axis=1),
    "mean_bounded_slowdown": lambda slowdowns: slowdowns.mean(axis=1),
}
_BY = ("partition", "account", "user", "group", "qos", "size", "gpu")
_FORM = "mean_wait, p95_wait, max_wait, mean_bounded_slowdown, or of a group by(size).wide.p95_wait"
_MEASURE = re.compile(r"(?:by\((\w+)\)\.(.+)\.)?(\w+)")
_SUBJECT = re.compile(r"(.+?)\s*(<=|>=)\s*([0-9]+(?:\.[0-9]+)?)")
_HOLDS = {"<=": operator.le, ">=": operator.ge}
#: What is called wide: this share of the jobs.
_WIDE = 0.1


@dataclass(frozen=True)
class Measure:
    """A statistic of all jobs, or of those of a group: of `by` those called `name`."""

    statistic: str
    by: str = ""
    name: str = ""

    @classmethod
    def of_text(cls, text: Any) -> Measure:
        found = _MEASURE.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise InvalidInstance(f"measure {shorten(text)}: expected {_FORM}")
        by, name, statistic = found.groups(default="")
        if statistic not in STATISTICS:
            raise InvalidInstance(unknown_name("measure", statistic, STATISTICS))
        if by and by not in _BY:
            raise InvalidInstance(unknown_name("group of jobs", by, _BY))
        return cls(statistic, by, name)

    def __str__(self) -> str:
        return f"by({self.by}).{self.name}.{self.statistic}" if self.by else self.statistic

    def of(self, jobs: Instance, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Of each draw: `start`, `end` of shape (K, n) in seconds."""
        rows = self.rows(jobs)
        come = jobs.column("eligible")[rows]
        if self.statistic == "mean_bounded_slowdown":
            ran = np.minimum(end[:, rows] - start[:, rows], jobs.column("runtime")[rows])
            whole = np.maximum(end[:, rows] - come, THRESHOLD)
            return np.maximum(whole / np.maximum(ran, THRESHOLD), 1.0).mean(axis=1)
        return np.asarray(STATISTICS[self.statistic](np.maximum(start[:, rows] - come, 0)))

    def rows(self, jobs: Instance) -> np.ndarray:
        """Of the jobs that count in it."""
        if not self.by:
            return np.arange(len(jobs))
        keys = keys_of(jobs, self.by)
        if keys is None:
            raise InvalidInstance(f"{self}: the log does not say the {self.by}")
        if self.by == "size" and self.name in ("wide", "narrow"):
            tasks = jobs.column("tasks")
            wide = tasks >= max(np.quantile(tasks, 1 - _WIDE), tasks.min() + 1)
            rows = np.flatnonzero(wide if self.name == "wide" else ~wide)
        else:
            called = [range_of(key) if self.by == "size" else str(key) for key in keys.tolist()]
            rows = np.flatnonzero(np.array(called) == self.name)
            if not len(rows):
                known = [*dict.fromkeys(called), *(["wide", "narrow"] if self.by == "size" else [])]
                raise InvalidInstance(f"{self}: {unknown_name(self.by, self.name, known)}")
        if not len(rows):
            raise InvalidInstance(f"{self}: there is no such job in one of the weeks")
        return rows


@dataclass(frozen=True)
class Subject:
    """A measure that stays within `limit` times what it is today."""

    measure: Measure
    sign: str
    limit: float

    @classmethod
    def of_text(cls, text: Any) -> Subject:
        found = _SUBJECT.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise InvalidInstance(
                f"subject {shorten(text)}: expected a measure, <= or >=, and how many times "
                "today's, as by(size).wide.mean_wait<=1.1"
            )
        return cls(Measure.of_text(found[1]), found[2], float(found[3]))

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.limit:g}"

    def broken(self, ratio: float) -> float:
        """By how much; 0 where it holds."""
        if _HOLDS[self.sign](ratio, self.limit):
            return 0.0
        return abs(ratio - self.limit) if np.isfinite(ratio) else 1e6
