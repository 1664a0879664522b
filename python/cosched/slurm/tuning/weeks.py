"""The weeks of a log: which ones a search sees, and which ones judge what it chose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosched.cluster.instance import Instance
from cosched.core.arrays import positive
from cosched.errors import InvalidInstance, shorten
from cosched.units import WEEK

_DAY = 86400.0
#: The machine fills before a week is measured, for this share of a week.
_WARM_UP_SHARE = 0.25
#: Weeks of a log that is shorter than as many weeks of 7 days.
_MIN_WEEKS = 4
_MAX_WEEKS = 10_000
#: Parts of the log that judge one after the other, each by a search in the other ones.
_MAX_FOLDS = 4
_WEEKS_FORM = "expected train=1-3,test=4"


@dataclass(frozen=True)
class Block:
    """Jobs of weeks, with those that come shortly before, which do not count."""

    #: Numbers of the weeks, from 1 on.
    numbers: tuple[int, ...]
    #: Begin and end of each week (s): jobs that were submitted in these count.
    spans: tuple[tuple[float, float], ...]
    #: The jobs of the weeks, and those before that fill the machine.
    instance: Instance
    #: Identifiers of jobs that a limit ends before they are done, as the machine is today.
    ended: tuple[int, ...] = ()

    def measured_rows(self, instance: Instance) -> NDArray[np.intp]:
        """Return the rows that count, of an instance of these jobs or some of them."""
        submit = instance.column("submit")
        is_inside = np.zeros(len(instance), dtype=bool)
        for begin, end in self.spans:
            is_inside |= (submit >= begin) & (submit < end)
        return np.flatnonzero(is_inside & instance.measured)


@dataclass(frozen=True)
class Fold:
    """Weeks that judge a setting, and the weeks in which it is chosen."""

    #: Positions in :attr:`Weeks.train` of the weeks in which the setting is chosen.
    train: tuple[int, ...]
    #: The weeks that judge.
    test: Block


@dataclass(frozen=True)
class Weeks:
    """Blocks of a week each, in which settings are searched, and the folds that judge.

    Attributes
    ----------
    width : float
        Length of a week (s).
    count : int
        Weeks of the log.
    train : tuple of Block
        Every week that some search sees, one block each.
    folds : tuple of Fold
        No test week of a fold is among its own training weeks.
    explored : tuple of int
        Positions in `train` of the weeks in which settings are proposed; no fold tests on them.
        Empty: the settings are a list, and no data proposes them.
    """

    width: float
    count: int
    train: tuple[Block, ...]
    folds: tuple[Fold, ...]
    explored: tuple[int, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the searches, then the test block of each fold."""
        return (*self.train, *(fold.test for fold in self.folds))

    @property
    def is_cross_fitted(self) -> bool:
        """Whether several folds judge, each by a search of its own."""
        return len(self.folds) > 1


def weeks_of(
    instance: Instance, chosen: str | None, days: float | None, *, proposes: bool = False
) -> Weeks:
    """Return the weeks of a log from its first submission on.

    Parameters
    ----------
    instance : Instance
    chosen : str or None
        ``train=1-3,test=4``: one search, one test. None: cross-fitting, see Notes.
    days : float or None
        Length of a week; default 7, or a quarter of a log that is shorter than four weeks.
    proposes : bool
        Whether an optimiser proposes settings from what it has seen: then the first quarter of the
        weeks is for that alone, so that no proposal has seen a week that judges.

    Raises
    ------
    InvalidInstance
        Fewer than two weeks, weeks without jobs, or a text of another form.

    Notes
    -----
    Cross-fitting (Chernozhukov et al. 2018): up to four folds of successive weeks; each fold tests
    the setting that a search in the other weeks has chosen. All weeks judge, and none judges a
    choice that it has taken part in.
    """
    submit = instance.column("submit")
    first, last = float(submit.min()), float(np.nextafter(submit.max(), np.inf))
    if submit.max() == submit.min():
        raise InvalidInstance("all jobs of the log came at once: expected two weeks of jobs")
    if days is not None:
        width = positive(days, "days", "a positive number of days") * _DAY
    else:
        width = min(WEEK, (last - first) / _MIN_WEEKS)
    if not last - first <= _MAX_WEEKS * width:
        raise InvalidInstance(
            f"weeks of {width / _DAY:.3g} days: expected at most {_MAX_WEEKS:,} in the log (--days)"
        )
    count = max(round((last - first) / width), 1)
    if count < 2:
        raise InvalidInstance(
            f"the log has {(last - first) / _DAY:.3g} days: expected two weeks of "
            f"{width / _DAY:.3g} days at least, one to search in and one to judge by (--days)"
        )
    edges = [first + k * width for k in range(count)] + [last]

    def block_of(numbers: Sequence[int]) -> Block:
        return _make_block(instance, numbers, edges, width)

    folds: tuple[Fold, ...]
    if chosen is not None:
        train, test = _chosen_weeks(chosen, count)
        explored = tuple(range(len(train)))
        folds = (Fold(explored, block_of(test)),)
    else:
        train = [*range(1, count + 1)]
        explored = tuple(range(max(count // _MIN_WEEKS, 1) if proposes else 0))
        judging = np.arange(len(explored), count)
        number = min(_MAX_FOLDS - proposes, len(judging))
        folds = tuple(
            Fold(
                tuple(sorted({*range(count)} - {*positions.tolist()})),
                block_of([position + 1 for position in positions.tolist()]),
            )
            for positions in np.array_split(judging, number)
        )
    return Weeks(width, count, tuple(block_of([week]) for week in train), folds, explored)


def _chosen_weeks(text: str, count: int) -> tuple[list[int], list[int]]:
    """Return the numbers of the weeks to search in, and of those that judge."""
    parts = re.findall(r"(\w+)=([0-9,-]+?)(?=,\w+=|$)", str(text))
    numbers_by_name = {name: _week_numbers(numbers, text, count) for name, numbers in parts}
    normalized_text = ",".join(f"{name}={numbers}" for name, numbers in parts)
    if len(parts) != 2 or numbers_by_name.keys() != {"train", "test"} or normalized_text != text:
        raise InvalidInstance(f"weeks {shorten(text)}: {_WEEKS_FORM}")
    train, test = numbers_by_name["train"], numbers_by_name["test"]
    if shared_weeks := sorted({*train} & {*test}):
        raise InvalidInstance(
            f"weeks {text}: week {shared_weeks[0]} is in both: the search would see it"
        )
    return train, test


def _week_numbers(text: str, argument: object, count: int) -> list[int]:
    """Return the numbers of ``1-3,5``; `argument` is the text that an error shows."""
    numbers = list[int]()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", part)
        if match is None:
            raise InvalidInstance(f"weeks {shorten(argument)}: {_WEEKS_FORM}")
        low, high = int(match[1]), int(match[2] or match[1])
        if not 1 <= low <= high <= count:
            raise InvalidInstance(f"weeks {argument}: {part}: the log has weeks 1 to {count}")
        numbers += range(low, high + 1)
    return sorted(dict.fromkeys(numbers))


def _make_block(
    instance: Instance, numbers: Sequence[int], edges: Sequence[float], width: float
) -> Block:
    """Return the block of these weeks, each of which has to have a job."""
    weeks = tuple(numbers)
    spans = tuple((edges[week - 1], edges[week]) for week in weeks)
    submit = instance.column("submit")
    is_near = (submit >= spans[0][0] - _WARM_UP_SHARE * width) & (submit < spans[-1][1])
    for week, (begin, end) in zip(weeks, spans, strict=True):
        if not ((submit >= begin) & (submit < end) & instance.measured).any():
            raise InvalidInstance(f"week {week} of the log has no job: leave it out (--weeks)")
    return Block(weeks, spans, instance.take(is_near).without_bound())
