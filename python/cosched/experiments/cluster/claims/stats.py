"""Averages, deviations and maxima of degradations, ours and the paper's; how far draws differ."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cosched.experiments.cluster import paper
from cosched.experiments.tolerances import Seen

if TYPE_CHECKING:
    import pandas as pd

#: Set of traces -> (column of the paper's Table 2, what it is called).
SETS = {
    "weeks": (0, "real weeks"),
    "unscaled": (3, "unscaled synthetic traces"),
    "scaled": (6, "scaled synthetic traces"),
}
STUDY = {"weeks": "cluster-table2", "unscaled": "cluster-table2", "scaled": "cluster-fig1"}
NUMBERS = ("avg", "std", "max")
_DRAWS = 2000

#: (policy, number) -> value, for one set of traces.
Cells = Mapping[tuple[str, str], float]


def printed(table: int, kind: str) -> dict[tuple[str, str], float]:
    """The paper's degradations in Table 2 or 5."""
    first = SETS[kind][0]
    return {
        (name, number): cells[first + place]
        for name, cells in paper.table(table).items()
        for place, number in enumerate(NUMBERS)
    }


def degradations(frame: pd.DataFrame) -> dict[str, dict[tuple[str, str], Seen]]:
    """Ours, a set of traces after the other, with the interval of another draw."""
    found: dict[str, dict[tuple[str, str], Seen]] = {}
    for kind, rows in frame.groupby("traces", sort=False):
        found[str(kind)] = cells = {}
        for name, each in rows.groupby("algorithm", sort=False):
            of_traces = by_trace(each, "degradation")
            for number in NUMBERS:
                cells[str(name), number] = with_interval(of_traces, number)
    return found


def by_trace(rows: pd.DataFrame, column: str) -> np.ndarray:
    """A row a drawn trace, a column a load of it."""
    wide = rows.assign(load=rows["load"].fillna(0.0)).pivot(
        index="trace", columns="load", values=column
    )
    return wide.to_numpy()


def with_interval(of_traces: np.ndarray, number: str) -> Seen:
    """The number, and where 99 of 100 other draws of as many traces would put it.

    Bootstrap of the ratio of two draws: traces are drawn with all their loads.
    """
    value = float(_number(of_traces.reshape(1, -1), number)[0])
    some = _number(of_traces[_picks(len(of_traces))].reshape(_DRAWS, -1), number)
    half = _DRAWS // 2
    first, second = some[:half], some[half:]
    use = (first > 0) & (second > 0)
    if not use.any() or value == 0:
        return Seen(value, value, value)
    low, high = np.quantile(first[use] / second[use], [0.005, 0.995])
    return Seen(value, value * float(low), value * float(high))


@cache
def _picks(traces: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, traces, size=(_DRAWS, traces))


def _number(rows: np.ndarray, number: str) -> np.ndarray:
    if number == "avg":
        return rows.mean(axis=1)
    return rows.std(axis=1, ddof=1) if number == "std" else rows.max(axis=1)
