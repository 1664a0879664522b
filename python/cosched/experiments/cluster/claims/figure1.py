"""Figure 1: what the text says of it, and each curve."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from cosched.cluster import TABLE_2
from cosched.experiments.cluster.costs import BEST
from cosched.experiments.ledger import PICTURE, Check, Claim
from cosched.experiments.tolerances import Curve, at_least, at_most, in_order, within

if TYPE_CHECKING:
    import pandas as pd

PAPER = "casanova2011"
#: Figure 1 draws the Greedy and GreedyPM versions, not GreedyP's.
DRAWN = tuple(name for name in TABLE_2 if not name.startswith("GreedyP") or "GreedyPM" in name)
_BATCH = ("FCFS", "EASY")
_LOADS = tuple(round(0.1 * k, 1) for k in range(1, 10))


def by_load(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean degradation, a row a load, a column a policy."""
    rows = frame[frame["load"].notna()]
    return rows.groupby(["load", "algorithm"], sort=False).degradation.mean().unstack("algorithm")


# --- Figure 1 -----------------------------------------------------------------------------


def _at(load: float, means: pd.DataFrame) -> pd.Series:
    return means.loc[(means.index - load).map(abs) < 1e-9].iloc[0]


def _first(load: float, means: pd.DataFrame) -> float:
    row = _at(load, means)
    return float(row[BEST] / row.drop(BEST).min())


def _level(load: float, means: pd.DataFrame) -> float:
    return float(_at(load, means)[BEST])


def _share_better(load: float, means: pd.DataFrame) -> float:
    """Share of the drawn policies that are better than GreedyPM *."""
    row = _at(load, means)
    others = row[[name for name in DRAWN if name != "GreedyPM */opt=min"]]
    return float((others < row["GreedyPM */opt=min"]).mean())


def _near_the_best(load: float, means: pd.DataFrame) -> float:
    row = _at(load, means)
    return float(row["GreedyPM */opt=min"] / row.min())


def _told(name: str) -> str:
    if name == BEST:
        return "the best regardless of the load: within 5% of the lowest curve at every load"
    if name in _BATCH:
        return "orders of magnitude above the best: ten times its curve at every load"
    return f"not 5% below {BEST} at any load"


def _curve(name: str, means: pd.DataFrame) -> Curve:
    values = ", ".join(f"{load:g}: {value:.1f}" for load, value in means[name].items())
    if name == BEST:
        over = float((means[BEST] / means[list(DRAWN)].min(axis=1)).max())
        return Curve(values, over <= 1.05, f"at most {over:.3f} times the lowest curve")
    least = float((means[name] / means[BEST]).min())
    limit = 10.0 if name in _BATCH else 0.95
    return Curve(values, least >= limit, f"{name}: at least {least:.3g} times the best's curve")


def _figure1() -> Iterator[Claim]:
    check = Check("best-by-load", ("cluster-fig1",), _first_two, by_load)
    common: dict[str, Any] = {"paper": PAPER, "study": "cluster-fig1", "prepare": by_load}
    for load in _LOADS:
        yield Claim(
            **common,
            place=f"section 6.1, Figure 1, load {load}",
            text=f"{BEST} is the best across the board regardless of the load: its mean over the "
            "least of all others",
            paper_value="at most 1",
            tolerance=at_most(1.0, "the best", order=1.05),
            measure=partial(_first, load),
            explanation="Another of the four recommended policies is ahead by little.",
            check=check,
        )
    for load, factor, words in ((0.1, 3.0, "low"), (0.9, 7.5, "high")):
        yield Claim(
            **common,
            place=f"section 6.1, Figure 1, load {load}",
            text=f"{BEST} is about a factor {factor:g} away from the bound at {words} loads",
            paper_value=factor,
            tolerance=within(0.15, "'about', read off a logarithmic picture"),
            measure=partial(_level, load),
            check=check,
        )
    yield Claim(
        **common,
        place="section 6.1, Figure 1, load 0.1",
        text="GreedyPM */opt=min performs well under low load: its mean over the best of all",
        paper_value="well",
        tolerance=at_most(3.0, "no number; within a factor 3 of the best", order=10),
        measure=partial(_near_the_best, 0.1),
        check=check,
    )
    for load in _LOADS[3:]:
        yield Claim(
            **common,
            place=f"section 6.1, Figure 1, load {load}",
            text="above a load of 0.3 GreedyPM */opt=min is poorer than most other algorithms: "
            "share of the drawn ones that are better",
            paper_value="most",
            tolerance=at_least(0.5, "most: more than half"),
            measure=partial(_share_better, load),
            check=check,
        )
    for name in DRAWN:
        yield Claim(
            **common,
            place="Figure 1",
            text=f"curve of {name}: mean degradation against the load",
            paper_value=PICTURE,
            tolerance=in_order(_told(name)),
            measure=partial(_curve, name),
        )


def _first_two(means: pd.DataFrame) -> str:
    parts = []
    for load, row in means.iterrows():
        two = row.nsmallest(2)
        parts.append(
            f"{load:g}: {two.index[0]} {two.iloc[0]:.2f}, {two.index[1]} {two.iloc[1]:.2f}, "
            f"GreedyPM */opt=min {row['GreedyPM */opt=min']:.1f}"
        )
    return "the two best policies by load; " + "; ".join(parts)


CLAIMS = (*_figure1(),)
