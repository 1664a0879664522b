"""Numbers written in text, as strict as the formats are; errors say where and what was expected."""

from __future__ import annotations

import math
import re

from cosched.errors import InvalidInstance, shorten

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")


def parse_integer(text: str, where: str, low: int, high: int) -> int:
    """An integer written in digits.

    Parameters
    ----------
    low, high : int
        Least and largest value.

    Examples
    --------
    >>> parse_integer(" 16 ", "jobs.csv: line 2", 1, 128)
    16
    >>> parse_integer("1.5", "jobs.csv: line 2", 1, 128)
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: jobs.csv: line 2: '1.5': expected an integer in 1..128
    """
    if not _INTEGER.fullmatch(text.strip()):
        what = "empty cell" if not text.strip() else shorten(text.strip())
        raise InvalidInstance(f"{where}: {what}: expected an integer in {low}..{high}")
    value = int(text)
    if not low <= value <= high:
        raise InvalidInstance(f"{where}: {value}: expected an integer in {low}..{high}")
    return value


def parse_positive(text: str, where: str, what: str = "a positive number of seconds") -> float:
    """A positive finite number.

    Examples
    --------
    >>> parse_positive("2.5e3", "times.csv: line 2")
    2500.0
    >>> parse_positive("-1", "times.csv: line 2")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: times.csv: line 2: '-1': expected a positive number of seconds
    """
    value = _parse_number(text, where, what)
    if not 0 < value < math.inf:
        raise InvalidInstance(f"{where}: {shorten(text.strip())}: expected {what}")
    return value


def parse_nonnegative(text: str, where: str, what: str = "a number >= 0") -> float:
    """A finite number >= 0.

    Examples
    --------
    >>> parse_nonnegative("0", "times.csv: line 2")
    0.0
    """
    value = _parse_number(text, where, what)
    if not 0 <= value < math.inf:
        raise InvalidInstance(f"{where}: {shorten(text.strip())}: expected {what}")
    return value


def parse_number(text: str, where: str, what: str = "a number") -> float:
    """A finite number of any sign.

    Examples
    --------
    >>> parse_number("-1.5", "jobs.csv: line 2")
    -1.5
    >>> parse_number("1_0", "jobs.csv: line 2")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: jobs.csv: line 2: '1_0': expected a number
    """
    value = _parse_number(text, where, what)
    if not math.isfinite(value):
        raise InvalidInstance(f"{where}: {shorten(text.strip())}: expected {what}")
    return value


def is_number(text: str) -> bool:
    """Whether a text is a number in decimal digits, blanks around it aside.

    Examples
    --------
    >>> is_number(" 1.5e3"), is_number("1_0"), is_number("nan")
    (True, False, False)
    """
    return bool(_NUMBER.fullmatch(text.strip()))


def _parse_number(text: str, where: str, what: str) -> float:
    stripped = text.strip()
    if not stripped:
        raise InvalidInstance(f"{where}: empty cell: expected {what}")
    return float(stripped) if _NUMBER.fullmatch(stripped) else math.nan
