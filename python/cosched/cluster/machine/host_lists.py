"""Host lists such as ``n[1-16,20]``, and nodes as ranges of their numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cosched.core.arrays import ranges
from cosched.errors import InvalidInstance, shorten

MOST_HOSTS = 1_000_000
#: Nodes as ranges of their numbers.
Spans = tuple[tuple[int, int], ...]


def hosts(text: str, place: str) -> list[str]:
    """Names of a host list such as ``n[1-3,7],gpu[01-02]``, in its order."""
    parts = [_pieces(part, place) for part in re.findall(r"(?:[^,\[]|\[[^\[\]]*\])+", text)]
    count = sum(
        math.prod(sum(len(span) for span, _ in one) for one in part[1::2]) for part in parts
    )
    if not count or text.count("[") != text.count("]"):
        raise InvalidInstance(f"{place}: {shorten(text)}: expected hosts such as n[1-16,20]")
    if count > MOST_HOSTS:  # known before a name is made
        raise InvalidInstance(f"{place}: more than {MOST_HOSTS} hosts")
    return [name for part in parts for name in _named(part)]


def first_host(text: str) -> str:
    """The first name of a host list, or of what is left of one before its first comma."""
    found = re.match(r"([^\[,]*)(?:\[([0-9]+)[^\]]*\]?([^\[,]*))?", text)
    return "".join(part or "" for part in found.groups()) if found else ""


def _pieces(part: str, place: str) -> list[Any]:
    """Text, the numbers in a bracket (each span with its digits), text, ..., text."""
    pieces: list[Any] = re.split(r"\[([^\[\]]*)\]", part)
    for k in range(1, len(pieces), 2):
        ends = [re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", x) for x in pieces[k].split(",")]
        if not all(ends) or {"[", "]"} & {*pieces[k - 1], *pieces[k + 1]}:
            raise InvalidInstance(f"{place}: {shorten(part)}: expected hosts such as n[1-16,20]")
        pieces[k] = [
            (range(int(m[1]), int(m[2] or m[1]) + 1), len(m[1])) for m in ends if m is not None
        ]
    return pieces


def _named(pieces: Sequence[Any]) -> Iterator[str]:
    choices = [
        [piece]
        if isinstance(piece, str)
        else [str(number).zfill(digits) for span, digits in piece for number in span]
        for piece in pieces
    ]
    return map("".join, itertools.product(*choices))


def spans_of(numbers: Iterable[int]) -> Spans:
    """Ranges [first, last) of these numbers."""
    own = np.array(sorted(set(numbers)), dtype=np.int64)
    return tuple((int(a), int(b) + 1) for a, b in ranges(own))


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts n2 before n10: the order in which Slurm numbers its nodes."""
    parts = re.findall(r"0*([0-9]+)|([^0-9]+)", name)
    return [(1, 0, text) if text else (0, len(digits), digits) for digits, text in parts]
