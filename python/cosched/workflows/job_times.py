"""How long a job will take: as earlier runs say, or as others took in this run."""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Iterable
from math import nan
from os import PathLike
from pathlib import Path
from statistics import fmean, median

import numpy as np

from cosched import io
from cosched.core.arrays import nonnegative
from cosched.errors import InvalidInstance, shorten


class ExpectedTimes:
    """Expected seconds of jobs 0, 1, ...

    Where a time of it is known: that, times what others of the rule whose times were known took of
    them in this run. Else what others of the rule took, of their limits times its own where it has
    one; else its limit, times the share of their limits that jobs used so far; else the mean of all
    that ended, or of all of which something is known (a median would forget the long ones, which
    matter); 1 where nothing is known of any job. All that times what jobs of the same subject, such
    as a sample, took of what was expected of them: who is large is so in each rule.

    Examples
    --------
    >>> times = ExpectedTimes()
    >>> times.add("align"), times.add("align"), times.add("sort", 3.0), times.add("plot")
    (0, 1, 2, 3)
    >>> times.seconds().tolist()
    [3.0, 3.0, 3.0, 3.0]
    >>> times.learn(0, 8.0)
    >>> times.seconds().tolist()
    [8.0, 8.0, 3.0, 8.0]

    >>> times = ExpectedTimes()
    >>> for sample in "abc":
    ...     number = times.add("align", subjects=[sample])
    >>> times.add("call", subjects=["a"]), times.add("call", subjects=["c"])
    (3, 4)
    >>> for number, seconds in enumerate([2.0, 2.0, 6.0]):
    ...     times.learn(number, seconds)
    >>> float(round(times.seconds()[4] / times.seconds()[3], 6))
    3.0
    """

    def __init__(self) -> None:
        self._actual_seconds: list[float] = []  # of jobs: nan until they end
        self._stated_seconds: list[float] = []
        self._is_limit: list[bool] = []
        self._rule: list[int] = []
        self._rules: dict[str, int] = {}
        # Sorted seconds; what they are of known times, of limits.
        self._of_rule: list[tuple[list[float], list[float], list[float]]] = []
        self._all: list[float] = []
        self._shares: list[float] = []  # of limits
        self._subjects: dict[Hashable, int] = {}
        self._on: list[int] = []  # a job and one of its subjects, again and again

    def add(
        self,
        rule: str,
        seconds: float | None = None,
        limit: bool = False,
        subjects: Iterable[Hashable] = (),
    ) -> int:
        """The number of a new job; what is known of it is a time, or a limit that it has."""
        for subject in subjects:
            place = self._subjects.setdefault(subject, len(self._subjects))
            self._on += len(self._rule), place
        number = self._rules.setdefault(rule, len(self._rules))
        if number == len(self._of_rule):
            self._of_rule.append(([], [], []))
        self._rule.append(number)
        self._stated_seconds.append(nan if seconds is None else seconds)
        self._is_limit.append(limit)
        self._actual_seconds.append(nan)
        return len(self._rule) - 1

    @property
    def learned(self) -> bool:
        """Whether a job has ended."""
        return bool(self._all)

    def learn(self, job: int, seconds: float) -> None:
        """What a job took."""
        self._actual_seconds[job] = seconds
        seconds_of_rule, *ratios = self._of_rule[self._rule[job]]
        insort(seconds_of_rule, seconds)
        insort(self._all, seconds)
        if self._stated_seconds[job] > 0:
            insort(ratios[self._is_limit[job]], seconds / self._stated_seconds[job])
            if self._is_limit[job]:
                insort(self._shares, seconds / self._stated_seconds[job])

    def seconds(self) -> np.ndarray:
        """Expected seconds of every job, as an array."""
        stated_seconds, actual_seconds = (
            np.array(self._stated_seconds, dtype=float),
            np.array(self._actual_seconds, dtype=float),
        )
        rule = np.array(self._rule, dtype=int)
        limits = np.array(self._is_limit, dtype=bool)
        share = _median(self._shares) if self._shares else 1.0
        before = np.where(limits, share * stated_seconds, stated_seconds)  # without this run's own
        stated_only = before[~np.isnan(before)]
        other = 1.0 if not len(stated_only) else float(stated_only.mean())
        other = fmean(self._all) if self._all else other
        middle = np.array(
            [
                [_median(s) if s else nan for s in seconds_of_subjects]
                for seconds_of_subjects in self._of_rule
            ]
        )
        medians, of_times, of_limits = middle.reshape(-1, 3)[rule].T
        ratios = np.where(limits, of_limits, of_times)
        measured = ~limits & ~np.isnan(stated_seconds)
        expected_seconds = np.full(len(rule), other)
        for better in (
            before,
            np.where(measured, stated_seconds, medians),
            ratios * stated_seconds,
        ):
            expected_seconds = np.where(np.isnan(better), expected_seconds, better)
        if not self._all:  # asked for each job that is added
            return expected_seconds
        return np.where(
            np.isnan(actual_seconds),
            expected_seconds * self._of_subjects(actual_seconds, expected_seconds),
            actual_seconds,
        )

    def _of_subjects(self, actual_seconds: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """By how much jobs differ from what is expected: geometric means over those that ended of
        each subject, and over the subjects of a job."""
        job, subject = np.array(self._on, dtype=int).reshape(-1, 2).T
        ended = (actual_seconds[job] > 0) & (expected[job] > 0)
        apart = np.log(actual_seconds[job[ended]] / expected[job[ended]])
        of_subject = _means(subject[ended], apart, len(self._subjects))
        heard = ~np.isnan(of_subject[subject])
        of_job = _means(job[heard], of_subject[subject[heard]], len(actual_seconds))
        return np.exp(np.where(np.isnan(of_job), 0.0, of_job))


def _means(group: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """Mean of the values of each group; nan of none."""
    count = np.bincount(group, minlength=groups)
    total = np.bincount(group, values, groups)
    return np.divide(total, count, out=np.full(groups, nan), where=count > 0)


def _median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


FORMAT, VERSION = "cosched-history", 1
#: Times of a rule that are kept: the last ones.
_MAX_TIMES_OF_RULE = 50


class History:
    """Seconds of jobs of earlier runs: of the job itself, else the median of its rule's last ones.

    Examples
    --------
    >>> history = History()
    >>> history.learn("align", "align a.bam", 12.0)
    >>> history.learn("align", "align b.bam", 20.0)
    >>> history.seconds("align", "align a.bam"), history.seconds("align", "align c.bam")
    (12.0, 16.0)
    >>> history.seconds("sort", "sort a.bam") is None
    True
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path)
        self._jobs: dict[str, float] = {}
        self._rules: dict[str, list[float]] = {}

    @classmethod
    def read(cls, path: str | PathLike[str] | None) -> History:
        """The times of a file; none where there is no file yet.

        Raises
        ------
        InvalidInstance
            The file is no such record.
        """
        history = cls(path)
        if history._path is None or not history._path.exists():
            return history
        data = io.read_json(history._path)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InvalidInstance(f"{path}: expected times that cosched has kept")
        for name, seconds in _entries(data, "jobs", path):
            history._jobs[name] = _positive(seconds, name, path)
        for rule, times in _entries(data, "rules", path):
            if not isinstance(times, list):
                raise InvalidInstance(f"{path}: rule {shorten(rule)}: expected a list of seconds")
            history._rules[rule] = [_positive(seconds, rule, path) for seconds in times]
        return history

    def seconds(self, rule: str, job: str) -> float | None:
        """What a job took, or jobs of its rule."""
        if job in self._jobs:
            return self._jobs[job]
        return median(self._rules[rule]) if self._rules.get(rule) else None

    def learn(self, rule: str, job: str, seconds: float) -> None:
        """What a job took in this run."""
        self._jobs[job] = seconds
        self._rules[rule] = [*self._rules.get(rule, []), seconds][-_MAX_TIMES_OF_RULE:]

    def write(self) -> None:
        """Write the file that was read, whole or not at all; nothing without one."""
        if self._path is not None:
            content = {
                "format": FORMAT,
                "version": VERSION,
                "jobs": self._jobs,
                "rules": self._rules,
            }
            io.write_json(content, self._path)


def _entries(data: dict, name: str, path: object) -> list[tuple[str, object]]:
    entries = data.get(name, {})
    if not isinstance(entries, dict):
        raise InvalidInstance(f"{path}: {name}: expected names with seconds")
    return list(entries.items())


def _positive(seconds: object, name: str, path: object) -> float:
    return nonnegative(seconds, f"{path}: {shorten(name)}", "seconds")
