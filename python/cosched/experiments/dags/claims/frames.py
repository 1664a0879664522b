"""Rows of the studies of dags, wide: what the claims measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

BOUND = "LP*"
_KEYS = ["application", "graph", "units", "cpus", "gpus"]
#: Graphs of the archive of three types that the paper does not speak of.
_TWENTY_PHASES = "forkJoin-20-"


@dataclass(frozen=True)
class Wide:
    """A row an instance: makespans of the algorithms in columns, ``lp`` beside them."""

    rows: pd.DataFrame
    seconds: Mapping[str, float]
    tasks: Mapping[str, int]

    def ratio(self, above: str, below: str, application: str | None = None) -> pd.Series:
        """Makespans of one over those of another (``lp``: the bound)."""
        some = self.rows
        if application is not None:
            some = some[some.application == application]
        return some[above] / some[below]

    @property
    def applications(self) -> list[str]:
        """As the paper orders them."""
        return sorted(self.rows.application.unique())


def wide(frame: pd.DataFrame) -> Wide:
    """All graphs that the paper speaks of."""
    known = frame[~frame.graph.str.contains(_TWENTY_PHASES)]
    rows = known.assign(units=known.units.astype(str))
    table = rows.pivot(index=_KEYS, columns="algorithm", values="value").reset_index()
    groups = frame.groupby("algorithm").seconds if "seconds" in frame else ()
    longest = {str(name): float(each.max()) for name, each in groups}
    tasks = frame.drop_duplicates("graph").set_index("graph").tasks
    return Wide(table.rename(columns={BOUND: "lp"}), longest, dict(tasks))


def outliers(values: pd.Series) -> int:
    """Points that a box plot draws alone: beyond 1.5 quartile ranges of the box."""
    low, high = values.quantile([0.25, 0.75])
    reach = 1.5 * (high - low)
    return int(((values < low - reach) | (values > high + reach)).sum())
