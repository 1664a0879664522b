"""A log in weeks: some to search in, others to judge by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.cluster.files.conventions import WEEK
from cosched.cluster.instance import Instance
from cosched.core.arrays import positive
from cosched.errors import InvalidInstance, shorten

_DAY = 86400.0
#: A machine fills before a week is measured, for this part of one.
_BEFORE = 0.25
#: So many there are at least, where nobody says how long one is.
_FEWEST = 4
#: So many there are at most.
_MOST = 10_000
_FORM = "expected train=1-3,test=4"


@dataclass(frozen=True)
class Block:
    """Jobs of weeks, with those that come shortly before: what counts was submitted in `spans`.

    `ended`: identifiers of jobs that a limit ends before they are done, as the machine is today.
    """

    numbers: tuple[int, ...]
    spans: tuple[tuple[float, float], ...]
    instance: Instance
    ended: tuple[int, ...] = ()

    def counted(self, instance: Instance) -> np.ndarray:
        """Rows of an instance, of these jobs or some of them, that count."""
        submit = instance.column("submit")
        inside = np.zeros(len(instance), dtype=bool)
        for begin, end in self.spans:
            inside |= (submit >= begin) & (submit < end)
        return np.flatnonzero(inside & instance.measured)


@dataclass(frozen=True)
class Weeks:
    """Blocks to search in, a week each, and one with all weeks to judge by."""

    width: float
    count: int
    train: tuple[Block, ...]
    test: Block


def weeks_of(instance: Instance, chosen: str | None, days: float | None) -> Weeks:
    """The weeks of a log from its first submission on; by default the last quarter is for judging.

    One is of `days`; by default of 7, or a quarter of a log that is shorter than four weeks.
    """
    submit = instance.column("submit")
    first, last = float(submit.min()), float(np.nextafter(submit.max(), np.inf))
    if submit.max() == submit.min():
        raise InvalidInstance("all jobs of the log came at once: expected two weeks of jobs")
    if days is not None:
        width = positive(days, "days", "a positive number of days") * _DAY
    else:
        width = min(WEEK, (last - first) / _FEWEST)
    if not last - first <= _MOST * width:
        raise InvalidInstance(
            f"weeks of {width / _DAY:.3g} days: expected at most {_MOST:,} in the log (--days)"
        )
    count = max(round((last - first) / width), 1)
    if count < 2:
        raise InvalidInstance(
            f"the log has {(last - first) / _DAY:.3g} days: expected two weeks of "
            f"{width / _DAY:.3g} days at least, one to search in and one to judge by (--days)"
        )
    train, test = _chosen(chosen, count)
    edges = [first + k * width for k in range(count)] + [last]
    blocks = [_block(instance, [k], edges, width) for k in train]
    return Weeks(width, count, tuple(blocks), _block(instance, test, edges, width))


def _chosen(text: str | None, count: int) -> tuple[list[int], list[int]]:
    if text is None:
        held = max(count // 4, 1)
        return [*range(1, count - held + 1)], [*range(count - held + 1, count + 1)]
    parts = dict[str, list[int]]()
    found = re.findall(r"(\w+)=([0-9,-]+?)(?=,\w+=|$)", str(text))
    for name, numbers in found:
        parts[name] = _numbers(numbers, text, count)
    written = ",".join(f"{name}={numbers}" for name, numbers in found)
    if len(found) != 2 or parts.keys() != {"train", "test"} or written != text:
        raise InvalidInstance(f"weeks {shorten(text)}: {_FORM}")
    if both := sorted({*parts["train"]} & {*parts["test"]}):
        raise InvalidInstance(f"weeks {text}: week {both[0]} is in both: the search would see it")
    return parts["train"], parts["test"]


def _numbers(text: str, whole: Any, count: int) -> list[int]:
    found = list[int]()
    for part in text.split(","):
        ends = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part)
        if ends is None:
            raise InvalidInstance(f"weeks {shorten(whole)}: {_FORM}")
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if not 1 <= low <= high <= count:
            raise InvalidInstance(f"weeks {whole}: {part}: the log has weeks 1 to {count}")
        found += range(low, high + 1)
    return sorted(dict.fromkeys(found))


def _block(instance: Instance, numbers: list[int], edges: list[float], width: float) -> Block:
    spans = tuple((edges[k - 1], edges[k]) for k in numbers)
    submit = instance.column("submit")
    near = (submit >= spans[0][0] - _BEFORE * width) & (submit < spans[-1][1])
    for number, (begin, end) in zip(numbers, spans, strict=True):
        if not ((submit >= begin) & (submit < end) & instance.measured).any():
            raise InvalidInstance(f"week {number} of the log has no job: leave it out (--weeks)")
    return Block(tuple(numbers), spans, instance.take(near)._without_bound())
