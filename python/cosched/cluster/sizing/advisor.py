"""Advise time limits and memory by group of similar jobs, from the jobs that ended before."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from cosched.cluster.sizing.use import Measure, UsageTable
from cosched.core.tails import (
    conformal_quantiles,
    first_allocations,
    min_tolerance_count,
    order_by_value,
    tolerance_risks,
)
from cosched.lazy import pd

#: Of a group's own jobs the latest `_LATEST_JOBS_TIMES_RISK / risk` are used, because groups drift.
_LATEST_JOBS_TIMES_RISK = 10.0
#: The oldest third of these jobs chooses between an amount and a fraction of the request. The other
#: jobs give the quantile: with the same jobs for both, more jobs than advised would be killed (a
#: tenth more at 9 jobs and a risk of 10%).
_CHOOSING_FRACTION = 1 / 3


#: Where half of a group's jobs use more than this part of what they ask for, limits may cut off
#: the longest of the next ones, although the past has none that was. The median decides, since it
#: says nearly nothing of the largest: a rule that looks at these would advise where they are low.
_HIGH_FRACTION_OF_REQUEST = 0.1
#: A past so many times as long as a tolerance limit needs shows by itself whether limits cut off
#: jobs.
_SUFFICIENT_TOLERANCE_COUNTS = 2


class GroupAdvice(NamedTuple):
    """The advice for one measure, one element per group."""

    #: The advised amount (s or GB), or the fraction of a job's request; nan: no advice.
    amount: np.ndarray
    #: True where `amount` is a fraction of the request.
    is_fraction: np.ndarray
    #: The level that gave the advice: 0 the group itself, then ever larger groups; -1: none.
    level: np.ndarray
    #: The number of past jobs that the advice rests on.
    n_samples: np.ndarray
    #: The amount by the usage of the group's own jobs; nan: they are too few.
    group_amount: np.ndarray


class QuantileAdvisor:
    """Estimate the quantiles of one measure, time or memory, as of any moment of a log.

    A group with enough past jobs is advised by their usage, or, where that varies less, by the
    fraction of their requests that they used. Groups with fewer jobs are taken together, by
    fractions, in the next larger group, and so on, until the jobs suffice.
    """

    def __init__(self, measure: Measure, use: UsageTable, risk: float) -> None:
        self.measure = measure
        self.group_ids = use.group_ids
        self.end = use.end
        self.risk = risk
        levels = [group for _, group in use.levels]
        #: (level, the group of each job, whether by fractions), in the order of trial.
        self._advice_steps = [(0, levels[0], True), (0, levels[0], False)]
        self._advice_steps += [(depth, group, True) for depth, group in enumerate(levels) if depth]

    @cached_property
    def _first_rows(self) -> np.ndarray:
        """The first row of each group."""
        return np.unique(self.group_ids, return_index=True)[1]

    @cached_property
    def _requests_differ(self) -> np.ndarray:
        """True for groups whose jobs ask for different amounts: there is something to choose."""
        n_groups = len(self._first_rows)
        smallest_request = np.full(n_groups, np.inf)
        largest_request = np.full(n_groups, -np.inf)
        np.fmin.at(smallest_request, self.group_ids, self.measure.request)
        np.fmax.at(largest_request, self.group_ids, self.measure.request)
        return smallest_request < largest_request

    @cached_property
    def _scores(self) -> tuple[np.ndarray, np.ndarray]:
        """The used amount of each job, and the fraction of its request that it used."""
        return self.measure.usage, self.measure.usage / self.measure.request

    @cached_property
    def _step_tables(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Per advice step: rows by group and in the order of `order_by_value`; their groups."""
        orders = []
        for score in self._scores:
            rows = np.flatnonzero(~np.isnan(score))
            orders.append(rows[order_by_value(score[rows], self.measure.is_uncensored[rows])])
        step_tables: list[tuple[np.ndarray, np.ndarray]] = []
        for _, group, by_part in self._advice_steps:
            small = group.astype(np.uint16) if group.max() < 2**16 else group  # sorted by radix
            rows = orders[by_part]
            rows = rows[np.argsort(small[rows], kind="stable")]
            step_tables.append((rows, group[rows]))
        return step_tables

    @cached_property
    def _rank_in_group(self) -> np.ndarray:
        """The rank of each row in its own group, by end time."""
        order = np.lexsort((self.end, self.group_ids))
        place = np.empty(len(order), dtype=np.int64)
        count = np.bincount(self.group_ids)
        place[order] = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        return place

    def _varies_less_by_part(self, is_past: np.ndarray) -> np.ndarray:
        """True for groups whose used fractions have a smaller log variance than the amounts."""
        rows = np.flatnonzero(is_past & ~np.isnan(self._scores[1]))
        group_ids, size = self.group_ids[rows], len(self._first_rows)
        count = np.maximum(np.bincount(group_ids, minlength=size), 1)
        by_amount, by_part = (
            np.bincount(group_ids, log**2, size) / count
            - (np.bincount(group_ids, log, size) / count) ** 2
            for log in (np.log(score[rows]) for score in self._scores)
        )
        return by_part < by_amount - 1e-6

    def _tails(self, by_part: bool, group: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
        """Return the quantile of each group, from `rows` in the order of `order_by_value`.

        Where limits cut off jobs of a group, or where its past is short and half of its jobs use a
        good part of what they ask for, so that limits may cut off the next ones, the answer has to
        hold for 90% of all pasts (:func:`tolerance_risks`).
        """
        measure, score = self.measure, self._scores[by_part][rows]
        of_row, ended = group[rows], measure.is_uncensored[rows]
        amounts = conformal_quantiles(of_row, score, ended, size, self.risk)
        counts = np.bincount(of_row, minlength=size)
        high_use_counts = np.bincount(
            of_row, self._scores[1][rows] > _HIGH_FRACTION_OF_REQUEST, size
        )
        min_count = _SUFFICIENT_TOLERANCE_COUNTS * min_tolerance_count(self.risk)
        needs_tolerance_limit = (high_use_counts > counts / 2) & (counts < min_count)
        needs_tolerance_limit |= np.bincount(of_row, measure.is_cut_off[rows], size) > 0
        if not needs_tolerance_limit.any():
            return amounts
        risks = tolerance_risks(np.where(needs_tolerance_limit, counts, 0), self.risk)
        tolerance_limits = conformal_quantiles(of_row, score, ended, size, risks)
        return np.where(needs_tolerance_limit, tolerance_limits, amounts)

    def _choose_latest_jobs(self, is_past: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return masks of each group's latest past jobs, and of those that choose the method."""
        counts = np.bincount(self.group_ids[is_past], minlength=len(self._first_rows))
        first_latest_rank = counts - np.ceil(_LATEST_JOBS_TIMES_RISK / self.risk)
        is_latest = is_past & (self._rank_in_group >= first_latest_rank[self.group_ids])
        latest_counts = np.bincount(self.group_ids[is_latest], minlength=len(counts))
        rank_among_latest = self._rank_in_group - (counts - latest_counts)[self.group_ids]
        is_older = rank_among_latest < _CHOOSING_FRACTION * latest_counts[self.group_ids]
        return is_latest, is_latest & is_older & self._requests_differ[self.group_ids]

    def fit(self, is_past: np.ndarray) -> GroupAdvice:
        """Return the advice for each group from the rows in `is_past`."""
        is_latest, is_choosing = self._choose_latest_jobs(is_past)
        n_groups = len(self._first_rows)
        amount = np.full(n_groups, np.nan)
        is_fraction = np.zeros(n_groups, dtype=bool)
        level, n_samples = np.full((2, n_groups), -1)
        chooses_fraction = self._varies_less_by_part(is_choosing)
        group_amount = amount
        for (depth, group, by_part), (rows, groups_of_rows) in zip(
            self._advice_steps, self._step_tables, strict=True
        ):
            parent = group[self._first_rows]
            size = int(group.max()) + 1
            if depth == 0:
                is_sample = is_latest & ~is_choosing
            else:
                is_sample = is_past & (level < 0)[self.group_ids]
            quantiles = self._tails(by_part, group, rows[is_sample[rows]], size)
            if depth == 0:  # groups drift: the jobs that chose may need more
                latest_quantiles = self._tails(by_part, group, rows[is_latest[rows]], size)
                quantiles = np.where(
                    np.isnan(quantiles), np.nan, np.fmax(quantiles, latest_quantiles)
                )
            is_new = (level < 0) & ~np.isnan(quantiles[parent])
            if depth == 0 and by_part:
                is_new &= chooses_fraction
            elif depth == 0:
                group_amount = quantiles
            amount[is_new] = quantiles[parent[is_new]]
            is_fraction[is_new] = by_part
            level[is_new] = depth
            sample_counts = np.bincount(groups_of_rows[is_sample[rows]], minlength=size)
            n_samples[is_new] = sample_counts[parent[is_new]]
        return GroupAdvice(amount, is_fraction, level, n_samples, group_amount)


#: Advised limits are multiples of this (s).
LIMIT_UNIT = 900.0
#: Advised memory of a node is a multiple of this (GB).
MEMORY_UNIT = 1.0


class Advisor:
    """Advise requests of time and memory from a log, as of any moment."""

    def __init__(self, use: UsageTable, risk: float, n_measures: int) -> None:
        self.use = use
        #: The risk of each measure: with two measures, either may kill a job.
        self.risk = risk / n_measures
        self.time, self.memory = (
            QuantileAdvisor(measure, use, self.risk) for measure in (use.time, use.memory)
        )

    def fit(self, is_past: np.ndarray) -> tuple[GroupAdvice, GroupAdvice]:
        """Return the advice for time and for memory, by group, from the rows in `is_past`."""
        return self.time.fit(is_past), self.memory.fit(is_past)

    def amounts(
        self, time: GroupAdvice, memory: GroupAdvice, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the advised limits (s) and memory (GB) of the jobs in `rows`; nan: no advice."""
        use, group_ids = self.use, self.use.group_ids[rows]
        limit, gigabytes = (
            round_request(advised, group_ids, measure.request[rows], unit, cap[rows])
            for advised, measure, unit, cap in (
                (time, use.time, LIMIT_UNIT, use.time_cap),
                (memory, use.memory, MEMORY_UNIT * use.nodes[rows], use.memory_cap),
            )
        )
        return limit, gigabytes


def is_insufficient(advised: np.ndarray, usage: np.ndarray, requests: np.ndarray) -> np.ndarray:
    """Return which jobs the advice would have ended: those that used more than it.

    A job that was allowed to use more than its own request is not ended by advice that is at least
    that request.
    """
    return (usage > advised) & ~(advised >= requests)


def round_request(
    advised: GroupAdvice,
    group_ids: np.ndarray,
    requests: np.ndarray,
    unit: np.ndarray | float,
    cap: np.ndarray,
) -> np.ndarray:
    """Return advised amounts as people type them: rounded up to a unit, and at most `cap`.

    Where the job's own request suffices, or the advice is a fraction of it, the advised amount is
    at most that request.
    """
    is_fraction = advised.is_fraction[group_ids]
    exact_amounts = advised.amount[group_ids] * np.where(is_fraction, requests, 1.0)
    amounts = round_up(exact_amounts, unit)
    is_at_most_request = is_fraction | (exact_amounts <= requests)
    amounts = np.where(is_at_most_request, np.minimum(amounts, requests), amounts)
    return np.minimum(amounts, cap)


def round_up(amount: np.ndarray, unit: np.ndarray | float) -> np.ndarray:
    """Return the amounts, rounded up to a multiple of the unit."""
    return np.ceil(amount / unit - 1e-9) * unit


#: Columns of :attr:`RightSize.advice` for each advised amount: of requests, and stem of usage.
_MEASURES = {
    "limit": ("asked_limit", "used_limit"),
    "memory_gb": ("asked_memory_gb", "used_memory"),
}


def advice_table(
    advisor: Advisor, advised_measures: tuple[GroupAdvice, GroupAdvice]
) -> pd.DataFrame:
    """Return :attr:`RightSize.advice`: a group's amounts suffice for each of its jobs."""
    use, group_ids = advisor.use, advisor.use.group_ids
    first_rows = np.unique(group_ids, return_index=True)[1]
    columns = zip(use.group_columns, use.group_values, strict=True)
    table = pd.DataFrame({name: values[first_rows] for name, values in columns})
    table["jobs"] = np.bincount(group_ids)
    table["nodes"] = _group_medians(group_ids, use.nodes).astype(int)
    measures = {"limit": use.time, "memory_gb": use.memory}
    time, memory = (_prefer_group_amounts(advised) for advised in advised_measures)
    job_amounts = advisor.amounts(time, memory, np.arange(len(group_ids)))
    for (name, measure), amounts in zip(measures.items(), job_amounts, strict=True):
        request_column, usage_column = _MEASURES[name]
        table[request_column] = _group_medians(group_ids, measure.request)
        usage_by_group = pd.Series(measure.usage).groupby(group_ids)
        table[f"{usage_column}_p50"] = usage_by_group.quantile(0.5)
        table[f"{usage_column}_p95"] = usage_by_group.quantile(0.95)
        table[name] = pd.Series(amounts).groupby(group_ids).max()
    # One line of a job script serves jobs on few nodes and on many.
    table["node_memory_gb"] = pd.Series(job_amounts[1] / use.nodes).groupby(group_ids).max()
    table["first_memory_gb"] = _first_allocations_as_typed(
        use, group_ids, table["memory_gb"].to_numpy()
    )
    counts = table[["limit", "memory_gb"]].notna().sum(axis=1)
    table["risk"] = np.where(counts > 0, advisor.risk * counts, np.nan)
    table["enough"] = counts == use.n_measures
    levels = np.stack([advised.level for advised in advised_measures])
    n_samples = np.stack([advised.n_samples for advised in advised_measures])
    has_advice = levels >= 0
    smallest_sample = np.where(has_advice, n_samples, np.iinfo(np.int64).max).min(axis=0)
    table["past"] = smallest_sample * has_advice.any(axis=0)
    deepest = levels.max(axis=0)
    labels = np.array([label for label, _ in use.levels], dtype=object)
    table["like"] = np.where(deepest >= 0, labels[deepest], "")
    order = ["unused_memory_hours", "unused_core_hours"]
    for name, unused in zip(order, use.unused, strict=True):
        table[name] = np.bincount(group_ids, unused)
    return table.sort_values(order, ascending=False, kind="stable", ignore_index=True)


def _prefer_group_amounts(advised: GroupAdvice) -> GroupAdvice:
    """Return the advice with amounts instead of fractions for groups whose own jobs give one."""
    has_group_amount = advised.is_fraction & ~np.isnan(advised.group_amount)
    amount = np.where(has_group_amount, advised.group_amount, advised.amount)
    return advised._replace(amount=amount, is_fraction=advised.is_fraction & ~has_group_amount)


def _group_medians(group_ids: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the median of each group."""
    return pd.Series(values).groupby(group_ids).median().to_numpy()


def _first_allocations_as_typed(
    use: UsageTable, group_ids: np.ndarray, max_allocations: np.ndarray
) -> np.ndarray:
    """Return the memory to ask for first, in whole units, where killed jobs run again."""
    unit = MEMORY_UNIT * use.nodes
    rounded_usage = round_up(use.memory.usage, unit)
    rows = ~np.isnan(rounded_usage) & ~np.isnan(max_allocations[group_ids])
    return first_allocations(
        group_ids[rows],
        rounded_usage[rows],
        use.memory.is_uncensored[rows],
        use.time.usage[rows],
        max_allocations,
    )
