"""What may be varied, and the measures that a setting is judged by."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched.cluster.analysis.scenario import ScenarioClass
from cosched.cluster.analysis.what_if import parts_of, scenario_of
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.result.groups import keys_of, range_of
from cosched.core.text import count_of, first_repeated, unknown_name
from cosched.errors import InvalidInstance, shorten

#: A value a dimension, as texts; an empty one, or none at all: as it is today.
Setting = tuple[str, ...]
BASELINE: Setting = ()
_RANGE = re.compile(r"((?:[^,]*=)?\+?)(-?[0-9]+(?:\.[0-9]+)?)\.\.(-?[0-9]+(?:\.[0-9]+)?)")
#: Whole numbers up to it are exact as floats.
MAX_EXACT_INTEGER = 2**53


@dataclass(frozen=True)
class Dimension:
    """A key that a search varies: over a list of values, or over a range of numbers."""

    #: A line of slurm.conf, or another key of a what-if.
    key: str
    #: The list; empty: a range.
    values: tuple[str, ...] = ()
    #: Ends of the range.
    low: float = 0.0
    #: The upper end of the range.
    high: float = 0.0
    #: What stands before a number of the range, as ``cpu=``.
    prefix: str = ""

    @classmethod
    def parse(cls, key: str, values: object) -> Dimension:
        """Return the dimension of ``"30,60,120"``, ``"0..200000"``, ``"cpu=64..512"`` or a list."""
        where = f"vary {shorten(f'{key}={values}')}"
        texts = values
        if isinstance(values, str):
            match = _RANGE.fullmatch(values.strip())
            if match is not None:
                low, high = float(match[2]), float(match[3])
                if not low < high:
                    raise InvalidInstance(f"{where}: expected LOW..HIGH with LOW < HIGH")
                if max(-low, high) > MAX_EXACT_INTEGER:
                    raise InvalidInstance(f"{where}: expected ends up to {MAX_EXACT_INTEGER}")
                return cls(key, (), low, high, match[1])
            if ".." in values and "," not in values:
                raise InvalidInstance(f"{where}: expected a number on each side of '..'")
            texts = values.split(",")
        if not isinstance(texts, Sequence) or isinstance(texts, bytes):
            raise InvalidInstance(f"{where}: expected A,B,C or LOW..HIGH")
        settings = tuple(str(text).strip() for text in texts)
        without_zeros = [re.sub(r"^0+(?=[0-9])", "", text) for text in settings]
        if not all(settings) or first_repeated(without_zeros) is not None:
            raise InvalidInstance(f"{where}: expected different values, as 30,60,120 or 0..1000")
        return cls(key, settings)

    @property
    def is_integer(self) -> bool:
        """Whether both ends of a range are integers."""
        return self.low == int(self.low) and self.high == int(self.high)

    def text(self, number: float) -> str:
        """Return a number of the range as a user would type it."""
        return f"{self.prefix}{int(number)}" if self.is_integer else f"{self.prefix}{number:.6g}"

    @property
    def boundary_values(self) -> tuple[str, ...]:
        """Values that are checked before the search: an error of any value shows at these, too."""
        return self.values or (self.text(self.low), self.text(self.high))


def dimensions_of(instance: Instance, vary: object) -> tuple[Dimension, ...]:
    """Return the dimensions that `vary` asks for; each boundary value is a change that what-ifs
    know."""
    if not isinstance(vary, Mapping) or not vary:
        raise InvalidInstance(f"vary {shorten(vary)}: expected KEY: values, as bf_interval: 30,60")
    dimensions = tuple(Dimension.parse(str(key), values) for key, values in vary.items())
    if (
        repeated_key := first_repeated(_fold_case(dimension.key) for dimension in dimensions)
    ) is not None:
        raise InvalidInstance(f"vary {shorten(repeated_key)}: given twice")
    for dimension in dimensions:
        keys = parts_of(f"{dimension.key}={','.join(dimension.values)}")
        if len(keys) > 1:
            raise InvalidInstance(f"vary {shorten(keys[1])}: a key of its own (a --vary each)")
        for value in dimension.boundary_values:
            _require_simulated(instance, dimension.key, value)
    return dimensions


def _require_simulated(instance: Instance, key: str, value: str) -> None:
    """Check that the simulator follows a change, and that Slurm takes the same jobs under it."""
    try:
        scenario = scenario_of(instance, f"{key}={value}")
    except InvalidInstance as error:
        raise InvalidInstance(f"vary {key}={value}: {error}") from None
    verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
    if verdict.scenario_class is ScenarioClass.NOT_MODELLED:
        raise InvalidInstance(f"vary {key}={value}: {verdict.reason}")
    missing = len(instance) - len(scenario.instance)
    is_of_users = key.startswith("users.")
    if (missing and not is_of_users) or any(change.class_after_run for change in scenario.keys):
        kept_out = f" ({count_of(missing, 'job')} left out)" if missing else ""
        raise InvalidInstance(
            f"vary {key}={value}: Slurm would refuse jobs{kept_out}: expected a key under which "
            "all settings have the same jobs"
        )


def _fold_case(key: str) -> str:
    """Return a key in lower case, where case does not matter: not of node types and users."""
    section, dot, name = key.rpartition(".")
    return key if section.lower() in ("nodes", "users") else section + dot + name.lower()


def vary_of_texts(texts: Sequence[str]) -> dict[str, str]:
    """Return values by key of ``KEY=VALUES``, as they are typed."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, _, values) in zip(texts, pairs, strict=True):
        if not key or not values:
            raise InvalidInstance(f"--vary {shorten(text)}: expected KEY=A,B,C or KEY=LOW..HIGH")
    if (repeated_key := first_repeated(key for key, *_ in pairs)) is not None:
        raise InvalidInstance(f"--vary {shorten(repeated_key)}: given twice")
    return {key: values for key, _, values in pairs}


def what_if_text(keys: Sequence[str], setting: Setting) -> str:
    """Return a setting as the text of a what-if."""
    return ",".join(f"{key}={value}" for key, value in changed_values(keys, setting).items())


def changed_values(keys: Sequence[str], setting: Setting) -> dict[str, str]:
    """Return value by key of what is not as it is today."""
    pairs = zip(keys, setting, strict=bool(setting))
    return {key: value for key, value in pairs if value}


def grid(dimensions: Sequence[Dimension], max_settings: int) -> list[Setting] | None:
    """Return all settings, where every dimension is a list and they are few; else None."""
    size = 1
    for dimension in dimensions:
        size *= len(dimension.values)
    return (
        list(product(*(dimension.values for dimension in dimensions)))
        if 0 < size <= max_settings
        else None
    )


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
_GROUPINGS = (
    "partition",
    "account",
    "user",
    "group",
    "qos",
    "name",
    "comment",
    "cores",
    "size",
    "gpu",
)
_MEASURE_FORM = (
    "mean_wait, p95_wait, max_wait, mean_bounded_slowdown, or of a group by(size).wide.p95_wait"
)
_MEASURE = re.compile(r"(?:by\((\w+)\)\.(.+)\.)?(\w+)")
_CONSTRAINT = re.compile(r"(.+?)\s*(<=|>=)\s*([0-9]+(?:\.[0-9]+)?)")
_COMPARISONS = {"<=": operator.le, ">=": operator.ge}
#: The share of the jobs that counts as wide.
_WIDE_SHARE = 0.1


@dataclass(frozen=True)
class TuningMeasure:
    """A statistic of all jobs, or of those of a group."""

    #: A key of :data:`STATISTICS`.
    statistic: str
    #: What groups jobs, as ``account``; empty: all jobs count.
    by: str = ""
    #: The group whose jobs count.
    name: str = ""

    @classmethod
    def of_text(cls, text: object) -> TuningMeasure:
        """Return the measure of ``mean_wait`` or ``by(size).wide.p95_wait``."""
        match = _MEASURE.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise InvalidInstance(f"measure {shorten(text)}: expected {_MEASURE_FORM}")
        grouping, name, statistic = match.groups(default="")
        if statistic not in STATISTICS:
            raise InvalidInstance(unknown_name("measure", statistic, STATISTICS))
        if grouping and grouping not in _GROUPINGS:
            raise InvalidInstance(unknown_name("group of jobs", grouping, _GROUPINGS))
        return cls(statistic, grouping, name)

    def __str__(self) -> str:
        return f"by({self.by}).{self.name}.{self.statistic}" if self.by else self.statistic

    @property
    def words(self) -> str:
        """The measure as a sentence names it."""
        group = f" of {self.by} {self.name}" if self.by else ""
        return f"{_WORDS[self.statistic]}{group}"

    def evaluate(
        self, jobs: Instance, start: NDArray[np.float64], end: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the measure of each draw; `start`, `end` of shape (K, n) are in seconds."""
        return self.evaluate_values(self.values(jobs, start, end))

    def values(
        self, jobs: Instance, start: NDArray[np.float64], end: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the wait (s) or bounded slowdown of each job that counts, shape
        (K, len(rows(jobs)))."""
        rows = self.rows(jobs)
        eligible = jobs.column("eligible")[rows]
        if self.statistic != "mean_bounded_slowdown":
            # The controller starts jobs in whole seconds, which users do not wait for.
            waits: np.ndarray = np.maximum(start[:, rows] - eligible, 0)
            return waits
        elapsed = np.minimum(end[:, rows] - start[:, rows], jobs.column("runtime")[rows])
        response = np.maximum(end[:, rows] - eligible, THRESHOLD)
        slowdowns: np.ndarray = np.maximum(response / np.maximum(elapsed, THRESHOLD), 1.0)
        return slowdowns

    def evaluate_values(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the measure of each draw, from what :meth:`values` gives."""
        return np.asarray(STATISTICS[self.statistic](values))

    def rows(self, jobs: Instance) -> NDArray[np.intp]:
        """Return the rows of the jobs that count in the measure."""
        if not self.by:
            return np.arange(len(jobs))
        keys = keys_of(jobs, self.by)
        if keys is None:
            raise InvalidInstance(f"{self}: the log does not say the {self.by}")
        if self.by == "size" and self.name in ("wide", "narrow"):
            tasks = jobs.column("tasks")
            is_wide = tasks >= max(np.quantile(tasks, 1 - _WIDE_SHARE), tasks.min() + 1)
            rows = np.flatnonzero(is_wide if self.name == "wide" else ~is_wide)
        else:
            names = [range_of(key) if self.by == "size" else str(key) for key in keys.tolist()]
            rows = np.flatnonzero(np.array(names) == self.name)
            if not len(rows):
                group_names = [
                    *dict.fromkeys(names),
                    *(["wide", "narrow"] if self.by == "size" else []),
                ]
                raise InvalidInstance(f"{self}: {unknown_name(self.by, self.name, group_names)}")
        if not len(rows):
            raise InvalidInstance(f"{self}: there is no such job in one of the weeks")
        return rows


@dataclass(frozen=True)
class MeasureConstraint:
    """A measure that stays within `limit` times what it is today."""

    #: What is limited.
    measure: TuningMeasure
    #: ``<=`` or ``>=``.
    sign: str
    #: Of the measure over today's.
    limit: float

    @classmethod
    def of_text(cls, text: object) -> MeasureConstraint:
        """Return the constraint of ``by(size).wide.mean_wait<=1.1``."""
        match = _CONSTRAINT.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise InvalidInstance(
                f"constraint {shorten(text)}: expected a measure, <= or >=, and how many times "
                "today's, as by(size).wide.mean_wait<=1.1"
            )
        return cls(TuningMeasure.of_text(match[1]), match[2], float(match[3]))

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.limit:g}"

    def violation(self, ratio: float) -> float:
        """Return by how much a ratio to today's breaks the constraint; 0 where it holds."""
        if _COMPARISONS[self.sign](ratio, self.limit):
            return 0.0
        return abs(ratio - self.limit) if np.isfinite(ratio) else 1e6
