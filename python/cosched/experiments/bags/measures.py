"""What the claims of Li, Liu, Zhang, Cai 2016 measure, and the checks that explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.experiments.bags.tables import GRID, advantage, wide_rates
from cosched.experiments.ledger import Check
from cosched.experiments.measures import listed, measure
from cosched.experiments.tolerances import Curve

if TYPE_CHECKING:
    import pandas as pd

TABLE, FIGURE = "bags-table1", "bags-fig3"
#: Ratios of profits that rounding does not tell apart are not below 1.
_ONE = 1 - 1e-12


def programs(frame: pd.DataFrame) -> pd.DataFrame:
    """Profit rates by (split, gamma) of the five programs, a column an algorithm."""
    return wide_rates(frame[frame.data == "programs"], ["draw", "gamma"])


def by_size(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean profit rates by q, a column an algorithm."""
    return wide_rates(frame, ["q", "draw"]).groupby("q").mean()


def over_tms(frame: pd.DataFrame) -> pd.DataFrame:
    """Ratios to TMS by draw, where both earn a profit."""
    return advantage(frame)


# --- Table 1: of ``programs`` -------------------------------------------------------------


@measure
def profit(rates: pd.DataFrame, gamma: float, name: str) -> float:
    """Profit rate on the even split."""
    return float(rates[name].xs(0, level="draw")[gamma])


@measure
def percent(rates: pd.DataFrame, gamma: float, name: str) -> float:
    """Percent above TMS on the even split."""
    return 100 * (profit(gamma, name)(rates) / profit(gamma, "tms")(rates) - 1)


@measure
def share_above(rates: pd.DataFrame, name: str, limit: float = 1.0) -> float:
    """Share of splits and gammas above 1, where there is a profit, where TMS's is exceeded."""
    if rates.index.get_level_values("draw").nunique() == 1:
        raise LookupError("the even split alone")
    some = rates[rates.index.get_level_values("gamma") > 1]
    return float((some[name] > limit * some["tms"]).mean())


@measure
def never_below(rates: pd.DataFrame, name: str) -> float:
    """The same, where TMS's is reached."""
    return share_above(name, _ONE)(rates)


def _splits(rates: pd.DataFrame) -> str:
    some = rates[rates.index.get_level_values("gamma") > 1]
    parts = []
    for name in (GRID, "ttb"):
        percent = 100 * (some[name] / some["tms"] - 1)
        rows = percent.groupby("gamma").agg(["min", "max", "mean"]).itertuples()
        line = listed(rows, "gamma {:g}: {:.3f} to {:.3f}, mean {:.3f}")
        parts.append(f"{name} over tms, percent on all splits: {line}")
    return "; ".join(parts)


OTHER_SPLITS = Check("other-splits", (TABLE,), _splits, programs)


# --- Figure 3: of ``over_tms``, ``by_size`` and the rows themselves -----------------------


@measure
def share_of_draws(ratio: pd.DataFrame, name: str) -> float:
    """Share of the draws where it is not below TMS."""
    return float((ratio[ratio.algorithm == name].ratio >= _ONE).mean())


@measure
def gain(ratio: pd.DataFrame, name: str, least: int, most: int) -> float:
    """Mean percent above TMS for q in an interval."""
    some = ratio[(ratio.algorithm == name) & ratio.q.between(least, most)]
    return float(100 * (some.ratio.mean() - 1))


@measure
def few_over_many(ratio: pd.DataFrame, name: str) -> float:
    """The gain with few tasks a machine over that with many."""
    return gain(name, 1, 5)(ratio) / gain(name, 20, 25)(ratio)


@measure
def above_tms(means: pd.DataFrame, name: str) -> Curve:
    """A curve, and whether TTB's is above TMS's everywhere."""
    over = means[GRID] / means["tms"]
    shown = f"TTB's curve is {over.min():.3f} (q = {over.idxmin()}) to {over.max():.3f} times TMS's"
    return Curve(listed(means[name].items(), "{}: {:.3f}"), bool((over > 1).all()), shown)


@measure
def worst_bound(frame: pd.DataFrame) -> float:
    """Greatest bound over the profit rate of TTB, where it earns one."""
    ttb = frame[(frame.algorithm == GRID) & (frame.value > 0)]
    return float((ttb.bound / ttb.value).max())


def _by_q(ratio: pd.DataFrame) -> str:
    parts = []
    for name in (GRID, "ttb"):
        rows = ratio[ratio.algorithm == name].groupby("q").ratio.agg(["mean", "min"]).itertuples()
        parts.append(f"{name} over tms, mean (least): {listed(rows, 'q {}: {:.3f} ({:.3f})')}")
    return "; ".join(parts)


def _bound_by_q(means: pd.DataFrame) -> str:
    name = "ttb-best" if "ttb-best" in means else "ttb"
    line = listed((means["bound"] / means[name]).items(), "q {}: {:.3f}")
    return f"mean bound over mean profit rate, {name}: {line}"


BY_SIZE = Check("by-size", (FIGURE,), _by_q, over_tms)
BOUND_BY_SIZE = Check("bound-by-size", (FIGURE,), _bound_by_q, by_size)
