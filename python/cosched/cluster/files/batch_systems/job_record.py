"""One ended job of another batch system, in units that all systems share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

#: Seconds of ``[[days:]hours:]minutes:seconds``, with parts of a second.
_CLOCK_TIME = re.compile(r"(?:(?:(\d{1,7}):)?(\d{1,9}):)?(\d{1,9}):(\d{1,9}(?:\.\d+)?)")
#: An amount and its unit: ``8gb``, ``500M``, ``1024kb``, ``16gw`` (words of 8 bytes).
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtpe]?)([bw]?)", re.IGNORECASE)
_BYTES_OF_UNIT = {unit: 1024.0**power for power, unit in enumerate(["", *"kmgtpe"])}
_BYTES_OF_GB = 1024.0**3
_BYTES_OF_WORD = 8


@dataclass(frozen=True)
class JobRecord:
    """One run of a job.

    Times are seconds since 1970 in UTC; nan where the log does not say them.
    """

    #: Line of the file on which the record begins, from 1.
    line: int
    #: Number of the job; of a task of an array ``NUMBER_INDEX``.
    number: str
    #: One of Slurm's states, such as COMPLETED; UNKNOWN: the log does not say how it ended.
    state: str
    #: When the job was submitted.
    submit: float
    #: When the job started; nan: it never did.
    start: float
    #: When the job ended.
    end: float
    #: Cores (slots) that the job had, else those that it asked for; 0: not known.
    cores: int
    #: When the job could have started first; nan: not known.
    eligible: float = math.nan
    #: Nodes that the job had; nan: not known.
    nodes: float = math.nan
    #: Time limit in seconds; infinite: none; nan: not known.
    limit: float = math.nan
    #: GB (2^30 bytes) that the whole job asked for; nan: not known.
    memory_gb: float = math.nan
    #: GPUs that the whole job asked for.
    gpus: int = 0
    #: GB at the peak of the whole job; nan: not known.
    used_memory_gb: float = math.nan
    #: Processor seconds that the whole job used; nan: not known.
    cpu_seconds: float = math.nan
    user: str = ""
    group: str = ""
    account: str = ""
    #: The queue.
    partition: str = ""
    name: str = ""
    #: Names of the nodes, joined by commas.
    hosts: str = ""


class LeftOut(NamedTuple):
    """A line of a log that is no ended job, or that cannot be read."""

    #: Line of the file, from 1.
    line: int
    #: Why the line is left out; lines of one reason are counted together.
    reason: str


#: What a reader of a log yields.
Records = Iterator[JobRecord | LeftOut]


def seconds_of(text: str) -> float:
    """Seconds of ``HH:MM:SS``, ``DD:HH:MM:SS`` or a number of seconds; nan of others.

    Examples
    --------
    >>> seconds_of("02:00:00"), seconds_of("90"), seconds_of("1:00:00:00"), seconds_of("soon")
    (7200.0, 90.0, 86400.0, nan)
    """
    match = _CLOCK_TIME.fullmatch(text)
    if match:
        days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return number_of(text)


def number_of(text: str) -> float:
    """A number >= 0; nan of others.

    Examples
    --------
    >>> number_of("12.5"), number_of("-1"), number_of("inf"), number_of("")
    (12.5, nan, nan, nan)
    """
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if 0 <= number < math.inf else math.nan


def gigabytes_of(text: str, default_unit: str = "") -> float:
    """GB (2^30 bytes) of an amount of memory; nan of others.

    Parameters
    ----------
    text : str
        Such as ``8gb`` or ``500M``.
    default_unit : str
        The unit where the text has none: one of k, m, g, t; empty: bytes.

    Examples
    --------
    >>> gigabytes_of("8gb"), gigabytes_of("512", "m"), gigabytes_of("1gw"), gigabytes_of("much")
    (8.0, 0.5, 8.0, nan)
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return math.nan
    amount, unit, kind = match[1], match[2].lower(), match[3].lower()
    if not unit and not kind:
        unit = default_unit
    scale = _BYTES_OF_WORD if kind == "w" else 1
    return float(amount) * _BYTES_OF_UNIT[unit] * scale / _BYTES_OF_GB


def is_out_of_time(runtime: float, limit: float) -> bool:
    """Whether a job that was killed had reached its limit, within a minute of what systems allow.

    Examples
    --------
    >>> is_out_of_time(3605.0, 3600.0), is_out_of_time(1800.0, 3600.0)
    (True, False)
    """
    return limit < math.inf and runtime >= limit - 1
