"""The advice as a table: a row a group of like jobs."""

from __future__ import annotations

import numpy as np

from cosched.cluster.sizing.advisor import MEMORY, Advisor, rounded
from cosched.cluster.sizing.sizes import Advised
from cosched.cluster.sizing.use import Use
from cosched.core.tails import first_allocations
from cosched.lazy import pd

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
