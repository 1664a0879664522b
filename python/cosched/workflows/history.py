"""Times of jobs that are kept between runs."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from statistics import median

from cosched import io
from cosched.core.arrays import nonnegative
from cosched.errors import InvalidInstance, shorten

FORMAT, VERSION = "cosched-history", 1
#: Times of a rule that are kept: the last ones.
_KEPT = 50


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
        self._rules[rule] = [*self._rules.get(rule, []), seconds][-_KEPT:]

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
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise InvalidInstance(f"{path}: {name}: expected names with seconds")
    return list(found.items())


def _positive(seconds: object, name: str, path: object) -> float:
    return nonnegative(seconds, f"{path}: {shorten(name)}", "seconds")
