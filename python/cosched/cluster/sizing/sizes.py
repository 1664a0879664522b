"""Advised amounts of time, or of memory, by group: from its own past, else a larger one's."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cosched.cluster.sizing.use import Measure, Use
from cosched.core.tails import in_order, tails

#: Of its own past a group's latest jobs count, so many times 1 / risk: groups drift.
_LATEST = 10.0


class Advised(NamedTuple):
    """By group: the amount, or the part of what was asked for where a larger group says it."""

    amount: np.ndarray  # nan: no advice
    level: np.ndarray  # which of the groups says it, 0 its own; -1: none
    past: np.ndarray  # jobs that it rests on


class Sizes:
    """Looks at one measure, at any moment of a log.

    A group with enough past is advised by its own jobs. Groups that are too small for that are
    judged together, in the next larger group, by the part of what they asked for that their jobs
    used, and so on, until they are enough.
    """

    def __init__(self, measure: Measure, use: Use, risk: float) -> None:
        self.measure, self.own, self.end, self.risk = measure, use.own, use.end, risk
        self.levels = [group for _, group in use.levels]

    @cached_property
    def _parents(self) -> list[np.ndarray]:
        """The group at each level of each own group."""
        first = np.unique(self.own, return_index=True)[1]
        return [level[first] for level in self.levels]

    @cached_property
    def _by_score(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Amounts, and parts of what was asked for; and the rows that have one, in its order."""
        found = []
        for score in (self.measure.used, self.measure.used / self.measure.asked):
            rows = np.flatnonzero(~np.isnan(score))
            found.append((score, rows[in_order(score[rows], self.measure.ended[rows])]))
        return found

    @cached_property
    def _tables(self) -> list[tuple[np.ndarray, ...]]:
        """By level: rows as `tails` wants them, their groups, scores and whether they ended."""
        found: list[tuple[np.ndarray, ...]] = []
        for depth, level in enumerate(self.levels):
            score, rows = self._by_score[depth > 0]
            small = level.astype(np.uint16) if level.max() < 2**16 else level  # sorted by radix
            rows = rows[np.argsort(small[rows], kind="stable")]
            found.append((rows, level[rows], score[rows], self.measure.ended[rows]))
        return found

    @cached_property
    def _place(self) -> np.ndarray:
        """Number of each row in its own group, by the time when it ended."""
        order = np.lexsort((self.end, self.own))
        place = np.empty(len(order), dtype=np.int64)
        count = np.bincount(self.own)
        place[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        return place

    def at(self, known: np.ndarray) -> Advised:
        """What rows that are `known` say."""
        count = np.bincount(self.own[known], minlength=len(self._parents[0]))
        latest = known & (self._place >= (count - np.ceil(_LATEST / self.risk))[self.own])
        amount = np.full(len(count), np.nan)
        level, past = np.full((2, len(count)), -1)
        for depth, (rows, *columns) in enumerate(self._tables):
            left = known & (level < 0)[self.own] if depth else latest
            there = left[rows]
            group, score, ended = (column[there] for column in columns)
            parent, size = self._parents[depth], int(self._parents[depth].max()) + 1
            found = tails(group, score, ended, size, self.risk)
            new = (level < 0) & ~np.isnan(found[parent])
            amount[new], level[new] = found[parent[new]], depth
            past[new] = np.bincount(group, minlength=size)[parent[new]]
        return Advised(amount, level, past)
