"""Advice of each month from what was known before it, and what became of its jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.sizing.advisor import Advisor, too_little
from cosched.cluster.sizing.use import Use
from cosched.lazy import pd

_MONTH = 30 * 86400.0
_MOST = 24  # of the months: the last ones
_SHARES = ("promised", "killed_time", "killed_memory", "unknown")
_SUMS = ("saved_memory_hours", "saved_core_hours", "lost_core_hours")
_NOTHING = {name: np.zeros(0, int) for name in ("month", "row", *_SHARES, *_SUMS)}


def months(instance: Instance) -> tuple[list[str], np.ndarray]:
    """Names of the last months in which jobs came, and when each begins (s)."""
    submit = instance.column("submit")
    if instance.begins is None:
        begins = np.unique(submit // _MONTH)[-1 - _MOST :] * _MONTH
        return [f"day {begin // 86400:.0f} on" for begin in begins], begins
    first = np.datetime64(instance.begins.replace(tzinfo=None), "s")
    found = np.unique((first + submit.astype("m8[s]")).astype("M8[M]"))[-1 - _MOST :]
    return [str(month) for month in found], (found - first) / np.timedelta64(1, "s")


def rolling(
    advisor: Advisor, begins: np.ndarray
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Number of each month after the first, the rows of its jobs, and what is advised for them
    from what had ended when it began."""
    use = advisor.use
    month = np.searchsorted(begins, use.submit, side="right") - 1
    for number in range(1, len(begins)):
        rows = np.flatnonzero(month == number)
        known = use.end < begins[number]
        if len(rows) and known.any():
            yield number, rows, *advisor.amounts(*advisor.at(known), rows)


def became(instance: Instance, advisor: Advisor) -> pd.DataFrame:
    """A row a job of each month after the first: the month's name, the row of the job, and what
    became of it."""
    names, begins = months(instance)
    parts = [
        pd.DataFrame({"month": names[month], "row": rows, **_became(advisor, rows, limit, memory)})
        for month, rows, limit, memory in rolling(advisor, begins)
    ]
    whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(_NOTHING)
    return whole[whole["promised"] > 0]


def backtest(whole: pd.DataFrame, use: Use, by: str) -> pd.DataFrame:
    """See :meth:`RightSize.backtest`."""
    keys: list[Any] = [whole["month"]]
    if by == "group":
        own = zip(use.names, use.keys, strict=True)
        keys = [pd.Series(key[whole["row"]], whole.index, name=name) for name, key in own]
    groups = whole.groupby(keys, sort=False)
    table = groups[[*_SHARES]].mean()
    table.insert(0, "jobs", groups.size())
    return table.join(groups[[*_SUMS]].sum()).reset_index()


def _became(
    advisor: Advisor, rows: np.ndarray, limit: np.ndarray, memory: np.ndarray
) -> dict[str, np.ndarray]:
    """Of each job: what was promised, what ended it, what was saved and lost."""
    use = advisor.use
    time, had = use.time.used[rows], use.memory.used[rows]
    full = too_little(memory, had, use.memory.asked[rows])
    late = ~full & too_little(limit, time, use.time.asked[rows])
    cut = ~use.time.ended[rows] & (
        ((time >= use.time.asked[rows]) & (limit > 0))
        | ((had >= use.memory.asked[rows]) & (memory > 0))
    )  # by its own request: it may have wanted more than is advised
    ran = np.where(full, time, np.where(late, limit, 0.0))  # a run that was in vain
    asked = use.memory.asked[rows]
    held = np.where(np.isnan(memory), asked, memory)
    saved = np.where(ran > 0, -held * ran, (asked - held) * time)
    return {
        "promised": advisor.risk * ((limit > 0).astype(float) + (memory > 0)),
        "killed_time": late.astype(float), "killed_memory": full.astype(float),
        "unknown": (cut & ~full & ~late).astype(float),
        "saved_memory_hours": np.nan_to_num(saved) / 3600,
        "saved_core_hours": np.nan_to_num(use.time.asked[rows] - limit) * use.tasks[rows] / 3600,
        "lost_core_hours": ran * use.tasks[rows] / 3600,
    }  # fmt: skip
