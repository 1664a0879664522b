"""Requests that are advised at a moment of a log, by group of like jobs, as people type them."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cosched.cluster.sizing.use import Measure, Use
from cosched.core.tails import (
    conformal_quantiles,
    first_allocations,
    min_tolerance_count,
    order_by_value,
    tolerance_risks,
)
from cosched.lazy import pd

#: Of its own past a group's latest jobs count, so many times 1 / risk: groups drift.
_LATEST = 10.0
#: The older part of these that chooses between an amount and a part of what jobs ask for. The
#: others promise: jobs that choose would promise more than holds (a tenth more at 9 jobs and 10%).
_CHOOSES = 1 / 3


#: Where half of a group's jobs use more than this part of what they ask for, limits may cut off
#: the longest of the next ones, although the past has none that was. The median decides, since it
#: says nearly nothing of the largest: a rule that looks at these would advise where they are low.
_MUCH_OF_REQUEST = 0.1
#: A past so many times as long as a tolerance limit needs shows by itself whether limits cut off
#: jobs.
_ENOUGH_PASTS = 2


class Advised(NamedTuple):
    """By group: the amount, or the part of what a job asks for that it should ask for."""

    amount: np.ndarray  # nan: no advice
    of_asked: np.ndarray  # whether it is a part
    level: np.ndarray  # which of the groups says it, 0 its own; -1: none
    past: np.ndarray  # jobs that it rests on
    own: np.ndarray  # the amount by what the group itself used; nan: it does not say


class Sizes:
    """Looks at one measure, at any moment of a log.

    A group with enough past is advised by its own jobs: by what they used, or, where that varies
    less, by the part of what they asked for that they used. Groups that are too small for that are
    judged together, in the next larger group, by parts, and so on, until they are enough.
    """

    def __init__(self, measure: Measure, use: Use, risk: float) -> None:
        self.measure, self.own, self.end, self.risk = measure, use.own, use.end, risk
        levels = [group for _, group in use.levels]
        #: Level, its groups, whether by parts: in the order in which they are asked.
        self._steps = [(0, levels[0], True), (0, levels[0], False)]
        self._steps += [(depth, group, True) for depth, group in enumerate(levels) if depth]

    @cached_property
    def _first(self) -> np.ndarray:
        """A row of each own group."""
        return np.unique(self.own, return_index=True)[1]

    @cached_property
    def _asks_differ(self) -> np.ndarray:
        """By own group: whether there is anything to choose."""
        asked, size = self.measure.asked, len(self._first)
        least, most = np.full(size, np.inf), np.full(size, -np.inf)
        np.fmin.at(least, self.own, asked)
        np.fmax.at(most, self.own, asked)
        return least < most

    @cached_property
    def _scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Amounts, and parts of what was asked for."""
        return self.measure.used, self.measure.used / self.measure.asked

    @cached_property
    def _tables(self) -> list[tuple[np.ndarray, ...]]:
        """By step: rows as `tails` wants them, their groups, scores and whether they ended."""
        orders = []
        for score in self._scores:
            rows = np.flatnonzero(~np.isnan(score))
            orders.append(rows[order_by_value(score[rows], self.measure.ended[rows])])
        found: list[tuple[np.ndarray, ...]] = []
        for _, group, by_part in self._steps:
            small = group.astype(np.uint16) if group.max() < 2**16 else group  # sorted by radix
            rows = orders[by_part]
            rows = rows[np.argsort(small[rows], kind="stable")]
            score = self._scores[by_part]
            found.append((rows, group[rows], score[rows], self.measure.ended[rows]))
        return found

    @cached_property
    def _place(self) -> np.ndarray:
        """Number of each row in its own group, by the time when it ended."""
        order = np.lexsort((self.end, self.own))
        place = np.empty(len(order), dtype=np.int64)
        count = np.bincount(self.own)
        place[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        return place

    def _varies_less_by_part(self, known: np.ndarray) -> np.ndarray:
        """By own group: whether asking for more goes with using more."""
        rows = np.flatnonzero(known & ~np.isnan(self._scores[1]))
        own, size = self.own[rows], len(self._first)
        count = np.maximum(np.bincount(own, minlength=size), 1)
        by_amount, by_part = (
            np.bincount(own, log**2, size) / count - (np.bincount(own, log, size) / count) ** 2
            for log in (np.log(score[rows]) for score in self._scores)
        )
        return by_part < by_amount - 1e-6

    def _tails(self, by_part: bool, group: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
        """Amounts or parts by group, from `rows` in the order that `tails` wants.

        Where limits cut off jobs of a group, or where its past is short and half of its jobs use a
        good part of what they ask for, so that limits may cut off the next ones, the answer has to
        hold for 90% of all pasts (:func:`tolerance_risks`).
        """
        measure, score = self.measure, self._scores[by_part][rows]
        of_row, ended = group[rows], measure.ended[rows]
        amounts = conformal_quantiles(of_row, score, ended, size, self.risk)
        counts = np.bincount(of_row, minlength=size)
        uses_much = np.bincount(of_row, self._scores[1][rows] > _MUCH_OF_REQUEST, size)
        min_count = _ENOUGH_PASTS * min_tolerance_count(self.risk)
        needs_tolerance_limit = (uses_much > counts / 2) & (counts < min_count)
        needs_tolerance_limit |= np.bincount(of_row, measure.is_cut_off[rows], size) > 0
        if not needs_tolerance_limit.any():
            return amounts
        risks = tolerance_risks(np.where(needs_tolerance_limit, counts, 0), self.risk)
        tolerance_limits = conformal_quantiles(of_row, score, ended, size, risks)
        return np.where(needs_tolerance_limit, tolerance_limits, amounts)

    def at(self, known: np.ndarray) -> Advised:
        """What rows that are `known` say."""
        count = np.bincount(self.own[known], minlength=len(self._first))
        latest = known & (self._place >= (count - np.ceil(_LATEST / self.risk))[self.own])
        counted = np.bincount(self.own[latest], minlength=len(count))
        choice = self._place - (count - counted)[self.own] < _CHOOSES * counted[self.own]
        choice &= latest & self._asks_differ[self.own]
        amount, of_asked = np.full(len(count), np.nan), np.zeros(len(count), dtype=bool)
        level, past = np.full((2, len(count)), -1)
        asks, of_own = self._varies_less_by_part(choice), amount
        for (depth, group, by_part), (rows, *columns) in zip(
            self._steps, self._tables, strict=True
        ):
            parent, size = group[self._first], int(group.max()) + 1
            is_judging = latest & ~choice if depth == 0 else known & (level < 0)[self.own]
            of_row, *_ = (column[is_judging[rows]] for column in columns)
            found = self._tails(by_part, group, rows[is_judging[rows]], size)
            if depth == 0:  # those that chose may ask for more: groups drift
                whole = self._tails(by_part, group, rows[latest[rows]], size)
                found = np.where(np.isnan(found), np.nan, np.fmax(found, whole))
            new = (level < 0) & ~np.isnan(found[parent])
            if depth == 0 and by_part:
                new &= asks
            elif depth == 0:
                of_own = found
            amount[new], of_asked[new], level[new] = found[parent[new]], by_part, depth
            past[new] = np.bincount(of_row, minlength=size)[parent[new]]
        return Advised(amount, of_asked, level, past, of_own)


#: Limits are so many seconds, memory of a node so many GB, or a multiple.
LIMIT, MEMORY = 900.0, 1.0


class Advisor:
    """Looks at a log at any moment."""

    def __init__(self, use: Use, risk: float, judged: int) -> None:
        self.use = use
        #: Of time and of memory, where both are judged: either may kill a job.
        self.risk = risk / judged
        self.time, self.memory = (
            Sizes(measure, use, self.risk) for measure in (use.time, use.memory)
        )

    def at(self, known: np.ndarray) -> tuple[Advised, Advised]:
        """Of time and memory, by group, from the rows that are known."""
        return self.time.at(known), self.memory.at(known)

    def amounts(
        self, time: Advised, memory: Advised, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Limits (s) and GB for jobs of these rows; nan: no advice."""
        use, own = self.use, self.use.own[rows]
        limit, gigabytes = (
            typed(advised, own, measure.asked[rows], unit, most[rows])
            for advised, measure, unit, most in (
                (time, use.time, LIMIT, use.longest),
                (memory, use.memory, MEMORY * use.nodes[rows], use.largest),
            )
        )
        return limit, gigabytes


def too_little(advised: np.ndarray, used: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Which jobs the advice would have ended: those that used more. A job that used more than it
    had asked for, and was let, is not ended by advice that is no less than that."""
    return (used > advised) & ~(advised >= asked)


def typed(
    advised: Advised, own: np.ndarray, asked: np.ndarray, unit: np.ndarray | float, most: np.ndarray
) -> np.ndarray:
    """Rounded up to a unit, and no more than there is room for; where what was asked for is enough,
    or it is a part of that, no more than that."""
    amount, part = advised.amount[own], advised.of_asked[own]
    exact = amount * np.where(part, asked, 1.0)
    whole = rounded(exact, unit)
    return np.minimum(np.where(part | (exact <= asked), np.minimum(whole, asked), whole), most)


def rounded(amount: np.ndarray, unit: np.ndarray | float) -> np.ndarray:
    """Up to a multiple of a unit."""
    return np.ceil(amount / unit - 1e-9) * unit


_MEASURES = {
    "limit": ("asked_limit", "used_limit"),
    "memory_gb": ("asked_memory_gb", "used_memory"),
}


def advice_table(advisor: Advisor, found: tuple[Advised, Advised]) -> pd.DataFrame:
    """See :attr:`RightSize.advice`; a group's amounts are enough for each of its jobs."""
    use, own = advisor.use, advisor.use.own
    first = np.unique(own, return_index=True)[1]
    table = pd.DataFrame({name: key[first] for name, key in zip(use.names, use.keys, strict=True)})
    table["jobs"], table["nodes"] = np.bincount(own), _medians(own, use.nodes).astype(int)
    measures = {"limit": use.time, "memory_gb": use.memory}
    time, memory = (_of_group(one) for one in found)
    each = advisor.amounts(time, memory, np.arange(len(own)))
    for (name, measure), amounts in zip(measures.items(), each, strict=True):
        asked, used = _MEASURES[name]
        table[asked] = _medians(own, measure.asked)
        known = pd.Series(measure.used).groupby(own)
        table[f"{used}_p50"], table[f"{used}_p95"] = known.quantile(0.5), known.quantile(0.95)
        table[name] = pd.Series(amounts).groupby(own).max()
    # A script's line is one for jobs on few nodes and on many.
    table["node_memory_gb"] = pd.Series(each[1] / use.nodes).groupby(own).max()
    table["first_memory_gb"] = _first(use, own, table["memory_gb"].to_numpy())
    counts = table[["limit", "memory_gb"]].notna().sum(axis=1)
    table["risk"] = np.where(counts > 0, advisor.risk * counts, np.nan)
    table["enough"] = counts == use.judged
    level, past = (np.stack([getattr(one, name) for one in found]) for name in ("level", "past"))
    said = level >= 0
    table["past"] = np.where(said, past, np.iinfo(np.int64).max).min(axis=0) * said.any(axis=0)
    deepest = level.max(axis=0)
    labels = np.array([label for label, _ in use.levels], dtype=object)
    table["like"] = np.where(deepest >= 0, labels[deepest], "")
    order = ["unused_memory_hours", "unused_core_hours"]
    for name, unused in zip(order, use.unused, strict=True):
        table[name] = np.bincount(own, unused)
    return table.sort_values(order, ascending=False, kind="stable", ignore_index=True)


def _of_group(advised: Advised) -> Advised:
    """An amount instead of a part, where a group's own past says one."""
    by_own = advised.of_asked & ~np.isnan(advised.own)
    amount = np.where(by_own, advised.own, advised.amount)
    return advised._replace(amount=amount, of_asked=advised.of_asked & ~by_own)


def _medians(own: np.ndarray, values: np.ndarray) -> np.ndarray:
    return pd.Series(values).groupby(own).median().to_numpy()


def _first(use: Use, own: np.ndarray, most: np.ndarray) -> np.ndarray:
    """What to ask for first; as people type it."""
    unit = MEMORY * use.nodes
    whole = rounded(use.memory.used, unit)
    rows = ~np.isnan(whole) & ~np.isnan(most[own])
    return first_allocations(
        own[rows], whole[rows], use.memory.ended[rows], use.time.used[rows], most
    )
