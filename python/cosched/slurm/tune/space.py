"""What may be varied, and the measures that a setting is judged by."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.page.scenario import ScenarioClass
from cosched.cluster.page.what_if import parts_of, scenario_of
from cosched.cluster.result.groups import keys_of, range_of
from cosched.core.text import count_of, first_repeated, unknown_name
from cosched.errors import InvalidInstance, shorten

#: A value a dimension, as texts; an empty one, or none at all: as it is today.
Setting = tuple[str, ...]
TODAY: Setting = ()
_RANGE = re.compile(r"((?:[^,]*=)?\+?)(-?[0-9]+(?:\.[0-9]+)?)\.\.(-?[0-9]+(?:\.[0-9]+)?)")
#: Whole numbers up to it are exact as floats.
_MOST = 2**53


@dataclass(frozen=True)
class Dimension:
    """A key with its `values`; without any a range, whose numbers stand behind `prefix`."""

    key: str
    values: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    prefix: str = ""

    @classmethod
    def of(cls, key: str, given: Any) -> Dimension:
        """Of ``"30,60,120"``, ``"0..200000"``, ``"cpu=64..512"`` or a list."""
        where = f"vary {shorten(key)}={shorten(given)}"
        if isinstance(given, str):
            found = _RANGE.fullmatch(given.strip())
            if found is not None:
                low, high = float(found[2]), float(found[3])
                if not low < high:
                    raise InvalidInstance(f"{where}: expected LOW..HIGH with LOW < HIGH")
                if max(-low, high) > _MOST:
                    raise InvalidInstance(f"{where}: expected ends up to {_MOST}")
                return cls(key, (), low, high, found[1])
            given = given.split(",")
        if not isinstance(given, Sequence) or isinstance(given, bytes):
            raise InvalidInstance(f"{where}: expected A,B,C or LOW..HIGH")
        values = tuple(str(value).strip() for value in given)
        same = [re.sub(r"^0+(?=[0-9])", "", value) for value in values]
        if not all(values) or first_repeated(same) is not None:
            raise InvalidInstance(f"{where}: expected different values, as 30,60,120 or 0..1000")
        return cls(key, values)

    @property
    def whole(self) -> bool:
        """Whether a range is of whole numbers."""
        return self.low == int(self.low) and self.high == int(self.high)

    def text(self, number: float) -> str:
        """A number of a range as it is typed."""
        return f"{self.prefix}{int(number)}" if self.whole else f"{self.prefix}{number:.6g}"

    @property
    def ends(self) -> tuple[str, ...]:
        """Values that are looked at before the search: what is wrong with any is wrong there."""
        return self.values or (self.text(self.low), self.text(self.high))


def dimensions_of(instance: Instance, vary: Any) -> tuple[Dimension, ...]:
    """Checked: each end is a change that the audit's what-ifs know."""
    if not isinstance(vary, Mapping) or not vary:
        raise InvalidInstance(f"vary {shorten(vary)}: expected KEY: values, as bf_interval: 30,60")
    found = tuple(Dimension.of(str(key), given) for key, given in vary.items())
    if (twice := first_repeated(_folded(one.key) for one in found)) is not None:
        raise InvalidInstance(f"vary {shorten(twice)}: given twice")
    for dimension in found:
        several = parts_of(f"{dimension.key}={','.join(dimension.values)}")
        if len(several) > 1:
            raise InvalidInstance(f"vary {shorten(several[1])}: a key of its own (a --vary each)")
        for value in dimension.ends:
            _require_simulated(instance, dimension.key, value)
    return found


def _require_simulated(instance: Instance, key: str, value: str) -> None:
    """A search compares settings that the simulator follows, on the same jobs."""
    scenario = scenario_of(instance, f"{key}={value}")
    verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
    if verdict.scenario_class is ScenarioClass.NOT_MODELLED:
        raise InvalidInstance(f"vary {key}={value}: {verdict.reason}")
    missing = len(instance) - len(scenario.instance)
    is_of_users = key.startswith("users.")
    if (missing and not is_of_users) or any(one.class_after_run for one in scenario.keys):
        kept_out = f" ({count_of(missing, 'job')} left out)" if missing else ""
        raise InvalidInstance(
            f"vary {key}={value}: Slurm would refuse jobs{kept_out}: expected a key under which "
            "all settings have the same jobs"
        )


def _folded(key: str) -> str:
    """Keys of a slurm.conf are the same in any case; types of nodes and users are not."""
    of, dot, name = key.rpartition(".")
    return key if of.lower() in ("nodes", "users") else of + dot + name.lower()


def vary_of_texts(texts: Sequence[str]) -> dict[str, str]:
    """``KEY=VALUES``, as they are typed."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, _, values) in zip(texts, pairs, strict=True):
        if not key or not values:
            raise InvalidInstance(f"--vary {shorten(text)}: expected KEY=A,B,C or KEY=LOW..HIGH")
    if (twice := first_repeated(key for key, *_ in pairs)) is not None:
        raise InvalidInstance(f"--vary {shorten(twice)}: given twice")
    return {key: values for key, _, values in pairs}


def change_of(keys: Sequence[str], setting: Setting) -> str:
    """A setting as a what-if."""
    return ",".join(f"{key}={value}" for key, value in changed(keys, setting).items())


def changed(keys: Sequence[str], setting: Setting) -> dict[str, str]:
    """What is not as it is today."""
    pairs = zip(keys, setting, strict=bool(setting))
    return {key: value for key, value in pairs if value}


def grid(dimensions: Sequence[Dimension], most: int) -> list[Setting] | None:
    """All settings, where they are lists and few."""
    size = 1
    for dimension in dimensions:
        size *= len(dimension.values)
    return list(product(*(one.values for one in dimensions))) if 0 < size <= most else None


#: Of waits (s) or bounded slowdowns, a row a draw: a number a draw.
STATISTICS: dict[str, Any] = {
    "mean_wait": lambda waits: waits.mean(axis=1),
    "p95_wait": lambda waits: np.percentile(waits, 95, axis=1),
    "max_wait": lambda waits: waits.max(axis=1),
    "mean_bounded_slowdown": lambda slowdowns: slowdowns.mean(axis=1),
}
_WORDS = {
    "mean_wait": "the mean wait",
    "p95_wait": "the 95th-percentile wait",
    "max_wait": "the maximum wait",
    "mean_bounded_slowdown": "the mean bounded slowdown",
}
_BY = ("partition", "account", "user", "group", "qos", "name", "comment", "cores", "size", "gpu")
_FORM = "mean_wait, p95_wait, max_wait, mean_bounded_slowdown, or of a group by(size).wide.p95_wait"
_MEASURE = re.compile(r"(?:by\((\w+)\)\.(.+)\.)?(\w+)")
_CONSTRAINT = re.compile(r"(.+?)\s*(<=|>=)\s*([0-9]+(?:\.[0-9]+)?)")
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

    @property
    def words(self) -> str:
        """As a sentence names it."""
        group = f" of {self.by} {self.name}" if self.by else ""
        return f"{_WORDS[self.statistic]}{group}"

    def of(self, jobs: Instance, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Of each draw: `start`, `end` of shape (K, n) in seconds."""
        return self.of_values(self.values(jobs, start, end))

    def values(self, jobs: Instance, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Wait (s) or bounded slowdown of each job that counts, shape (K, len(rows(jobs)))."""
        rows = self.rows(jobs)
        eligible = jobs.column("eligible")[rows]
        if self.statistic != "mean_bounded_slowdown":
            # The controller starts jobs in whole seconds, which users do not wait for.
            return np.maximum(start[:, rows] - eligible, 0)
        ran = np.minimum(end[:, rows] - start[:, rows], jobs.column("runtime")[rows])
        response = np.maximum(end[:, rows] - eligible, THRESHOLD)
        return np.maximum(response / np.maximum(ran, THRESHOLD), 1.0)

    def of_values(self, values: np.ndarray) -> np.ndarray:
        """Of each draw, from what :meth:`values` gives."""
        return np.asarray(STATISTICS[self.statistic](values))

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
class MeasureConstraint:
    """A measure that stays within `limit` times what it is today."""

    measure: Measure
    sign: str
    limit: float

    @classmethod
    def of_text(cls, text: Any) -> MeasureConstraint:
        found = _CONSTRAINT.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise InvalidInstance(
                f"constraint {shorten(text)}: expected a measure, <= or >=, and how many times "
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
