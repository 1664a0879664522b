"""The prepared results of Li, Liu, Zhang, Cai 2016, and the checks that explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.experiments.bags.tables import GRID, wide_rates
from cosched.experiments.ledger import Check
from cosched.experiments.measures import Table, listed

if TYPE_CHECKING:
    import pandas as pd

TABLE, FIGURE = "bags-table1", "bags-fig3"


def even(frame: pd.DataFrame) -> Table:
    """Profit rates of the five programs on the even split by gamma, a column an algorithm."""
    return Table(wide_rates(frame[(frame.data == "programs") & (frame.draw == 0)], "gamma"))


def splits(frame: pd.DataFrame) -> Table:
    """Ratios to TMS by (split, gamma) above 1, where there is a profit."""
    rows = frame[(frame.data == "programs") & (frame.gamma > 1)]
    return Table(_over_tms(wide_rates(rows, ["draw", "gamma"])))


def many_splits(frame: pd.DataFrame) -> Table:
    """The same, of more than the even split."""
    if not frame.draw[frame.data == "programs"].any():
        raise LookupError("the even split alone")
    return splits(frame)


def by_size(frame: pd.DataFrame) -> Table:
    """Mean profit rates by q, a column an algorithm, and the bound."""
    return Table(wide_rates(frame, ["q", "draw"]).groupby("q").mean())


def draws(frame: pd.DataFrame) -> Table:
    """Ratios to TMS by (q, draw) where both earn a profit: all, those of few and of many tasks."""
    wide = _over_tms(wide_rates(frame, ["q", "draw"]))
    q = wide.index.get_level_values("q")
    for name in list(wide):
        wide[f"{name}, few"], wide[f"{name}, many"] = wide[name][q <= 5], wide[name][q >= 20]
    return Table(wide)


def bounds(frame: pd.DataFrame) -> Table:
    """``over``: the bound over the profit rate of TTB, where it earns one."""
    ttb = frame[(frame.algorithm == GRID) & (frame.value > 0)]
    return Table(ttb.assign(over=ttb.bound / ttb.value))


def _over_tms(wide: pd.DataFrame) -> pd.DataFrame:
    earns = wide[wide["tms"] > 0]
    ratio = earns.drop(columns="bound").div(earns["tms"], axis=0)
    return ratio.where(ratio > 0)


def _by_gamma(table: Table) -> str:
    percent = {name: 100 * (table.curve(name) - 1) for name in (GRID, "ttb")}
    form = "gamma {:g}: {:.3f} to {:.3f}, mean {:.3f}"
    parts = (
        (name, listed(curve.groupby("gamma").agg(["min", "max", "mean"]).itertuples(), form))
        for name, curve in percent.items()
    )
    return listed(parts, "{} over tms, percent on all splits: {}", "; ")


def _by_q(table: Table) -> str:
    groups = ((name, table.curve(name).groupby("q")) for name in (GRID, "ttb"))
    parts = (
        (name, listed(each.agg(["mean", "min"]).itertuples(), "q {}: {:.3f} ({:.3f})"))
        for name, each in groups
    )
    return listed(parts, "{} over tms, mean (least): {}", "; ")


def _bound_by_q(table: Table) -> str:
    name = "ttb-best" if "ttb-best" in table.wide else "ttb"
    line = listed((table.curve("bound") / table.curve(name)).items(), "q {}: {:.3f}")
    return f"mean bound over mean profit rate, {name}: {line}"


OTHER_SPLITS = Check("other-splits", (TABLE,), _by_gamma, splits)
BY_SIZE = Check("by-size", (FIGURE,), _by_q, draws)
BOUND_BY_SIZE = Check("bound-by-size", (FIGURE,), _bound_by_q, by_size)
