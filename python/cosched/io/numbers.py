"""Numbers written in text, as strict as the formats are; errors say where and what was expected."""

from __future__ import annotations

import math
import re

from cosched.errors import InvalidInstance, shorten

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")


def parse_integer(text: str, where: str, low: int, high: int) -> int:
    """An integer in [low, high] written in digits; raises InvalidInstance at `where`."""
    if not _INTEGER.fullmatch(text.strip()):
        what = "empty cell" if not text.strip() else shorten(text.strip())
        raise InvalidInstance(f"{where}: {what}: expected an integer in {low}..{high}")
    value = int(text)
    if not low <= value <= high:
        raise InvalidInstance(f"{where}: {value}: expected an integer in {low}..{high}")
    return value


def parse_positive(text: str, where: str, what: str = "a positive number of seconds") -> float:
    """A positive finite number; raises InvalidInstance at `where`."""
    value = _parse_number(text, where, what)
    if not 0 < value < math.inf:
        raise InvalidInstance(f"{where}: {shorten(text.strip())}: expected {what}")
    return value


def parse_nonnegative(text: str, where: str, what: str = "a number >= 0") -> float:
    """A finite number >= 0; raises InvalidInstance at `where`."""
    value = _parse_number(text, where, what)
    if not 0 <= value < math.inf:
        raise InvalidInstance(f"{where}: {shorten(text.strip())}: expected {what}")
    return value


def _parse_number(text: str, where: str, what: str) -> float:
    stripped = text.strip()
    if not stripped:
        raise InvalidInstance(f"{where}: empty cell: expected {what}")
    return float(stripped) if _NUMBER.fullmatch(stripped) else math.nan
