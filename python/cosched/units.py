"""Durations and amounts of memory: how they are read, and how they are written.

Seconds are floats. A megabyte is 2^20 bytes and a gigabyte 2^30 bytes, as Slurm, PBS and Grid
Engine count them; only limits that a person sets on files (:func:`parse_bytes`) may also be
decimal. A function that reads a text returns None (or nan, where it serves columns of numbers) for
a text of another form: the caller knows the file and the line, and says what was expected.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MINUTE = 60.0
HOUR = 3600.0
DAY = 86400.0
WEEK = 604800.0

#: Bytes of each binary unit by its letter; no letter: bytes.
BYTES_OF_UNIT = {letter: 1024.0**power for power, letter in enumerate(["", *"KMGTPE"])}
MEGABYTE = BYTES_OF_UNIT["M"]
GIGABYTE = BYTES_OF_UNIT["G"]

#: ``[[days-]hours:]minutes:seconds[.fraction]``, as the columns of sacct show it.
ELAPSED_TIME_PATTERN = (
    r"(?:(?:([0-9]{1,7})-)?([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,9})(\.[0-9]{1,9})?"
)

_SECONDS_OF_LETTER = {"s": 1.0, "m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}
_DURATION_PART = r"([0-9]+(?:\.[0-9]+)?)([smhdw])"
_SLURM_TIME = re.compile(
    r"(?:([0-9]{1,6})-)?([0-9]{1,9})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?(\.[0-9]+)?"
)
_CLOCK_TIME = re.compile(r"(?:(?:(\d{1,7}):)?(\d{1,9}):)?(\d{1,9}):(\d{1,9}(?:\.\d+)?)")
_SLURM_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]+)?)([KMGT]?)B?")
_BATCH_SYSTEM_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtpe]?)([bw]?)", re.IGNORECASE)
_BYTES_OF_WORD = 8
_FILE_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


# --- durations that are read ----------------------------------------------------------------------


def parse_duration(text: str) -> float | None:
    """Return the seconds of numbers with units, as people type them; None for another text.

    Parameters
    ----------
    text : str
        One number with its unit (s, m, h, d, w), or several, as ``1h30m``.

    Examples
    --------
    >>> parse_duration("4h"), parse_duration("1h30m"), parse_duration("4:00:00")
    (14400.0, 5400.0, None)
    """
    stripped = text.strip().lower()
    if not re.fullmatch(f"(?:{_DURATION_PART})+", stripped):
        return None
    parts = re.findall(_DURATION_PART, stripped)
    return sum(float(number) * _SECONDS_OF_LETTER[letter] for number, letter in parts)


def parse_slurm_time(text: str, bare_unit: float = 1.0) -> float | None:
    """Return the seconds of a time as Slurm writes it; None for another text.

    Parameters
    ----------
    text : str
        ``[days-]hours:minutes:seconds``, ``minutes:seconds``, ``days-hours``, a bare number, or
        ``UNLIMITED`` (infinity).
    bare_unit : float
        Seconds that a bare number counts: Slurm reads limits in minutes.

    Examples
    --------
    >>> parse_slurm_time("1-02:00:00"), parse_slurm_time("5", MINUTE), parse_slurm_time("soon")
    (93600.0, 300.0, None)
    """
    stripped = text.strip()
    if stripped.upper() in ("UNLIMITED", "INFINITE"):
        return math.inf
    match = _SLURM_TIME.fullmatch(stripped)
    if not match:
        return None
    days, *numbers, fraction = match.groups()
    parts = [int(number) for number in numbers if number is not None]
    if days is None and len(parts) == 1:
        return (parts[0] + float(fraction or 0)) * bare_unit
    if days is None and len(parts) == 2:
        parts = [0, *parts]
    hours, minutes, seconds = (*parts, 0, 0)[:3]
    return float(
        int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds + float(fraction or 0)
    )


def parse_clock_time(text: str) -> float:
    """Return the seconds of ``[[days:]hours:]minutes:seconds`` or of a number; nan for others.

    PBS, Grid Engine and LSF write times in this form.

    Examples
    --------
    >>> parse_clock_time("02:00:00"), parse_clock_time("90"), parse_clock_time("1:00:00:00")
    (7200.0, 90.0, 86400.0)
    >>> parse_clock_time("soon"), parse_clock_time("-1")
    (nan, nan)
    """
    match = _CLOCK_TIME.fullmatch(text)
    if match:
        days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return parse_nonnegative_number(text)


def parse_nonnegative_number(text: str) -> float:
    """Return a finite number >= 0; nan for others.

    Examples
    --------
    >>> [parse_nonnegative_number(text) for text in ("12.5", "-1", "inf", "")]
    [12.5, nan, nan, nan]
    """
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if 0 <= number < math.inf else math.nan


def parse_elapsed_times(texts: pd.Series) -> pd.Series:
    """Return the seconds of a column of texts as :data:`ELAPSED_TIME_PATTERN`; nan for others."""
    import pandas as pd

    parts = texts.str.extract(f"^{ELAPSED_TIME_PATTERN}$")
    days, hours, minutes, seconds = (pd.to_numeric(parts[k].fillna("0")) for k in range(4))
    fraction = pd.to_numeric(parts[4].fillna("0"))
    total = days * 86400 + hours * 3600 + minutes * 60 + seconds + fraction
    return total.astype(float).mask(parts[2].isna())


# --- durations that are written -------------------------------------------------------------------


def format_duration(seconds: float) -> str:
    """Return a duration in two units at most; "-" for nan.

    Examples
    --------
    >>> format_duration(42), format_duration(600), format_duration(11880), format_duration(400000)
    ('42 s', '10 min', '3 h 18 min', '4.6 days')
    """
    if math.isnan(seconds):
        return "-"
    if math.isinf(seconds):
        return "unlimited" if seconds > 0 else "-unlimited"
    if seconds <= -59.5:
        return f"-{format_duration(-seconds)}"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / MINUTE)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < 72 else f"{hours / 24:,.1f} days"


def format_exact_duration(seconds: float) -> str:
    """Return a duration to the second below an hour, else to the minute; "-" for nan.

    Examples
    --------
    >>> format_exact_duration(605), format_exact_duration(-605), format_exact_duration(11880)
    ('10 min 05 s', '-10 min 05 s', '3 h 18 min')
    """
    if math.isnan(seconds):
        return "-"
    if abs(seconds) < 59.5 or abs(seconds) >= 3599.5:
        return format_duration(seconds)
    minutes, seconds_left = divmod(round(abs(seconds)), 60)
    sign = "-" if seconds < 0 else ""
    return f"{sign}{minutes} min {seconds_left:02} s"


def format_signed_duration(seconds: float) -> str:
    """Return a difference of durations, with its sign.

    Examples
    --------
    >>> format_signed_duration(605), format_signed_duration(-30), format_signed_duration(0)
    ('+10 min 05 s', '-30 s', '0 s')
    """
    difference = format_exact_duration(seconds)
    return f"+{difference}" if seconds >= 0.5 else difference


def format_hours(seconds: float) -> str:
    """Return hours with one digit, or seconds below an hour.

    Examples
    --------
    >>> format_hours(5400), format_hours(90)
    ('1.5 h', '90 s')
    """
    return f"{seconds / 3600:,.1f} h" if seconds >= HOUR else f"{seconds:,.0f} s"


def format_time_limit(seconds: float) -> str:
    """Return a time limit in the form of sbatch, rounded up to a second.

    Examples
    --------
    >>> format_time_limit(4500.0), format_time_limit(math.inf)
    ('1:15:00', 'UNLIMITED')
    """
    if math.isinf(seconds):
        return "UNLIMITED"
    minutes, seconds_left = divmod(math.ceil(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds_left:02}"


def format_elapsed_time(seconds: int, milliseconds: int = 0) -> str:
    """Return ``[days-]hours:minutes:seconds[.milliseconds]``, as sacct prints it.

    Examples
    --------
    >>> format_elapsed_time(93784), format_elapsed_time(59, 7)
    ('1-02:03:04', '00:00:59.007')
    """
    days, seconds_of_day = divmod(seconds, 86400)
    hours, minutes = seconds_of_day // 3600, seconds_of_day // 60 % 60
    clock = f"{hours:02d}:{minutes:02d}:{seconds_of_day % 60:02d}"
    fraction = f".{milliseconds:03d}" if milliseconds > 0 else ""
    return (f"{days}-" if days else "") + clock + fraction


# --- amounts of memory ----------------------------------------------------------------------------


def parse_megabytes(text: str) -> float | None:
    """Return the MB of a size as Slurm writes it; a bare number counts MB. None for another text.

    Examples
    --------
    >>> parse_megabytes("4000"), parse_megabytes("4G"), parse_megabytes("512KB")
    (4000.0, 4096.0, 0.5)
    >>> parse_megabytes("much") is None
    True
    """
    match = _SLURM_SIZE.fullmatch(text.strip().upper())
    return float(match[1]) * BYTES_OF_UNIT[match[2] or "M"] / MEGABYTE if match else None


def parse_gigabytes(text: str, bare_unit: str = "") -> float:
    """Return the GB of an amount of memory as PBS, Grid Engine and LSF write it; nan for others.

    Parameters
    ----------
    text : str
        Such as ``8gb``, ``500M`` or ``16gw`` (words of 8 bytes).
    bare_unit : str
        The unit of a number without one: "k", "m", "g" or "t"; empty for bytes.

    Examples
    --------
    >>> parse_gigabytes("8gb"), parse_gigabytes("512", "m"), parse_gigabytes("1gw")
    (8.0, 0.5, 8.0)
    >>> parse_gigabytes("much")
    nan
    """
    match = _BATCH_SYSTEM_SIZE.fullmatch(text.strip())
    if match is None:
        return math.nan
    amount, unit, kind = match[1], match[2].upper(), match[3].lower()
    if not unit and not kind:
        unit = bare_unit.upper()
    bytes_of_item = _BYTES_OF_WORD if kind == "w" else 1
    return float(amount) * BYTES_OF_UNIT[unit] * bytes_of_item / GIGABYTE


def parse_bytes(text: str) -> float | None:
    """Return the bytes of a size: decimal, or binary with an ``i``; None for another text.

    Examples
    --------
    >>> parse_bytes("800MB"), parse_bytes("1.5 GiB"), parse_bytes("large")
    (800000000.0, 1610612736.0, None)
    """
    match = _FILE_SIZE.fullmatch(text.strip())
    if match is None:
        return None
    base = 1024 if match[3] else 1000
    factor: int = base ** " kmgt".index(match[2].lower() or " ")
    return float(match[1]) * factor


def format_gigabytes(gigabytes: float) -> str:
    """Return an amount of memory with three digits; "-" for nan.

    Examples
    --------
    >>> format_gigabytes(1536.25), format_gigabytes(0.125)
    ('1.54e+03 GB', '0.125 GB')
    """
    return "-" if math.isnan(gigabytes) else f"{gigabytes:,.3g} GB"


def megabytes_rounded_up(gigabytes: float) -> int:
    """Return whole MB; less than a millionth above a whole number is taken for rounding.

    Examples
    --------
    >>> megabytes_rounded_up(1.5)
    1536
    """
    return math.ceil(round(gigabytes * 1024, 6))
