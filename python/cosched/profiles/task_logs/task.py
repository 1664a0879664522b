"""One task that a workflow system or a task runner ran, in units that all of them share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import NamedTuple

from cosched import io
from cosched.errors import InvalidInstance, shorten


@dataclass(frozen=True)
class LoggedTask:
    """One run of a task.

    Times are seconds since 1970, durations seconds, amounts of memory bytes; nan where the log does
    not say them.
    """

    #: Line of the file on which the record begins, from 1.
    line: int
    #: What the task is called, with its sample, wildcards or arguments.
    name: str
    #: The code that the task is a run of: a process, a rule or a command.
    code: str
    #: One of Slurm's states, such as COMPLETED; UNKNOWN: the log does not say how it ended.
    state: str
    #: How long it ran.
    seconds: float
    #: Number of the task in its log; empty: it has none.
    number: str = ""
    #: The command line, where the log has it.
    command: str = ""
    #: Processors that it asked for; 0: not known.
    cores: int = 0
    #: When it was submitted (s since 1970); nan: the log does not say it.
    submit: float = math.nan
    #: When it started (s since 1970); nan: the log does not say it.
    start: float = math.nan
    #: Time limit.
    limit: float = math.nan
    #: Memory that it asked for.
    memory: float = math.nan
    #: Memory at its peak.
    used_memory: float = math.nan
    #: Processor time that it used.
    cpu_seconds: float = math.nan
    #: Queue or partition.
    queue: str = ""
    #: Name of the host.
    host: str = ""
    #: Which attempt it was, from 1.
    attempt: int = 1
    #: Whether the result of an earlier run of the workflow was taken.
    is_cached: bool = False


class SkippedLine(NamedTuple):
    """A line of a log that is no task that ended, or that cannot be read."""

    #: Line of the file, from 1.
    line: int
    #: Why; lines of one reason are counted together.
    reason: str


#: What a reader of a log yields.
Tasks = Iterator[LoggedTask | SkippedLine]

#: What logs write where a value is not known.
_NO_VALUE = ("", "-", "NA", "null")
_SECONDS_OF_UNIT = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNIT_OF_WORD = {
    "milli": "ms", "millis": "ms", "millisecond": "ms", "milliseconds": "ms",
    "sec": "s", "second": "s", "seconds": "s", "min": "m", "minute": "m", "minutes": "m",
    "hour": "h", "hours": "h", "day": "d", "days": "d",
}  # fmt: skip
_DURATION_PART = re.compile(r"\s*([0-9]+(?:[.,][0-9]+)?)\s*([a-z]+)")
_SIZE = re.compile(r"([0-9]+(?:[.,][0-9]+)?)\s*([KMGTPE]?)(?:i?B)?", re.IGNORECASE)
_MOST_CORES = 10**6
#: Seconds since 1970 that a clock can say, of the year 2261.
LAST_TIME = 9.2e9


def parse_units(text: str) -> float | None:
    """The seconds of numbers with units, as Nextflow writes them; None for another text.

    Examples
    --------
    >>> parse_units("1h 2m 3s"), parse_units("8.5s"), parse_units("931ms"), parse_units("soon")
    (3723.0, 8.5, 0.931, None)
    """
    total, place = 0.0, 0
    lower = text.strip().lower()
    while place < len(lower):
        part = _DURATION_PART.match(lower, place)
        if part is None:
            return None
        unit = _UNIT_OF_WORD.get(part[2], part[2])
        if unit not in _SECONDS_OF_UNIT:
            return None
        total += float(part[1].replace(",", ".")) * _SECONDS_OF_UNIT[unit]
        place = part.end()
    return round(total, 3) if lower else None


class TaskRow:
    """The cells of one record by their fields, and where it stands.

    Parameters
    ----------
    where : str
        File and line, for messages.
    cells : mapping of str to str
        Texts by the name of the field.
    """

    def __init__(self, where: str, cells: Mapping[str, str]) -> None:
        self._where = where
        self._cells = cells

    def text(self, field: str) -> str:
        """The text of a field; empty where the log has none."""
        text = self._cells.get(field, "").strip()
        return "" if text in _NO_VALUE else text

    def count(self, field: str) -> int:
        """A whole number of processors or attempts; 0 where the log has none."""
        text = self.text(field)
        if not text:
            return 0
        digits = text.removesuffix(".0")
        return io.parse_integer(digits, self._place(field), 0, _MOST_CORES)

    def number(self, field: str, unit: float = 1.0) -> float:
        """A number >= 0 times `unit`; nan where the log has none."""
        text = self.text(field)
        return io.parse_nonnegative(text, self._place(field)) * unit if text else math.nan

    def percent(self, field: str) -> float:
        """The share of ``180.0%`` or of ``180``; nan where the log has none."""
        text = self.text(field).removesuffix("%").strip().replace(",", ".")
        expected = "a percentage such as 180.0%"
        return io.parse_nonnegative(text, self._place(field), expected) / 100 if text else math.nan

    def duration(self, field: str) -> float:
        """Seconds of ``1h 2m 3s``, or of a number of milliseconds; nan where there is none."""
        text = self.text(field)
        if not text:
            return math.nan
        if io.is_number(text):
            expected = "milliseconds >= 0"
            return io.parse_nonnegative(text, self._place(field), expected) / 1000.0
        seconds = parse_units(text)
        if seconds is None or not seconds < math.inf:
            raise self.refusal(field, "a duration such as 1h 2m 3s, or milliseconds")
        return seconds

    def size(self, field: str) -> float:
        """Bytes of ``1.5 GB`` (2^30 bytes a GB), or of a number; nan where there is none."""
        text = self.text(field)
        if not text:
            return math.nan
        match = _SIZE.fullmatch(text)
        if match is None:
            raise self.refusal(field, "an amount such as 1.5 GB, or bytes")
        power = " KMGTPE".index(match[2].upper() or " ")
        return float(match[1].replace(",", ".")) * 1024.0**power

    def time(self, field: str, zone: tzinfo) -> float:
        """Seconds since 1970 of a local time, or of milliseconds since then; nan where none."""
        text = self.text(field)
        if not text:
            return math.nan
        expected = "a time such as 2024-12-05 09:08:23.000, or milliseconds since 1970"
        if io.is_number(text):
            seconds = io.parse_nonnegative(text, self._place(field), expected) / 1000.0
        else:
            try:
                moment = datetime.fromisoformat(text)
                aware = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment
                seconds = aware.timestamp()
            except (ValueError, OverflowError):
                raise self.refusal(field, expected) from None
        if not 0 <= seconds <= LAST_TIME:
            raise self.refusal(field, expected)
        return seconds

    def refusal(self, field: str, expected: str) -> InvalidInstance:
        """The error of a cell that is none of what was expected."""
        return InvalidInstance(
            f"{self._place(field)}: {shorten(self._cells.get(field, ''))}: expected {expected}"
        )

    def _place(self, field: str) -> str:
        return f"{self._where}, field {field!r}"
