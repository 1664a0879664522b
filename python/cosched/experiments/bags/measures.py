"""The prepared results of Li, Liu, Zhang, Cai 2016, and the readings that may explain."""

from __future__ import annotations

from cosched.experiments.bags.tables import GRID, TABLE_1, wide_rates
from cosched.experiments.ledger import Reading
from cosched.experiments.measures import Table
from cosched.lazy import pd

TABLE, FIGURE = "bags-table1", "bags-fig3"
#: The lines of the paper's Table 1 that have a profit.
TABLE_1_WITH_PROFIT = [(gamma, pair) for gamma, pair in TABLE_1.items() if gamma > 1]


def percent_above(tms: float, ttb: float) -> float:
    """Percent by which TTB is above TMS, to three decimals."""
    return float(f"{100 * (ttb / tms - 1):.3f}")


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


# --- other readings -----------------------------------------------------------------------


def _tms_tried(table: Table) -> Table:
    return Table(table.wide.assign(**{GRID: table.wide["ttb"]}))


def splits_with_tms(frame: pd.DataFrame) -> Table:
    """All splits, TTB with the makespan of TMS's plan."""
    return _tms_tried(many_splits(frame))


def draws_with_tms(frame: pd.DataFrame) -> Table:
    """All draws, TTB with the makespan of TMS's plan."""
    return _tms_tried(draws(frame))


def mean_split(frame: pd.DataFrame) -> Table:
    """Mean ratio to TMS over all splits, by gamma."""
    ratios = many_splits(frame).wide.groupby("gamma").mean()
    return Table(ratios.assign(tms=1.0))


_TRIED = "the makespan of TMS's plan is tried too, as section IV proposes"
TMS_TRIED = Reading(_TRIED, (TABLE,), splits_with_tms)
TMS_TRIED_TOO = Reading(_TRIED, (FIGURE,), draws_with_tms)
MEAN_SPLIT = Reading("the mean of 40 other splits", (TABLE,), mean_split)
