"""What the pages of the studies of bags say beside their tables; numbers are of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.experiments.bags.tables import GRID, advantage, wide_rates

if TYPE_CHECKING:
    import pandas as pd

_FEW, _MANY = 5, 20


def of_prices(frame: pd.DataFrame) -> list[str]:
    """Table 1 and the data of Tarplee et al.: who is below TMS, and the goal of ttb-best."""
    wide = wide_rates(frame[frame.gamma > 1], ["data", "draw", "gamma"])
    said = []
    for data, title in (("programs", "the five programs"), ("tarplee", "Tarplee et al.'s data")):
        rows = wide.loc[data]
        parts = []
        for name in [name for name in (GRID, "ttb", "ttb-exact", "ttb-best") if name in rows]:
            percent = 100 * (rows[name] / rows["tms"] - 1)
            below = sorted({f"{gamma:g}" for _, gamma in percent.index[percent < -1e-9]})
            parts.append(
                f"`{name}` {percent.mean():+.2f}% on average, {percent.min():+.3f}% at worst"
                + (f" (below TMS at gamma {', '.join(below)})" if below else "")
            )
        said.append(f"Over TMS on {title}: " + "; ".join(parts) + ".")
    if "ttb-best" in wide:
        gap = 100 * (wide.loc["tarplee"]["bound"] / wide.loc["tarplee"]["ttb-best"] - 1)
        low = gap[gap.index.get_level_values("gamma") <= 1.11]
        high = gap[gap.index.get_level_values("gamma") > 1.11]
        said.append(
            f"`ttb-best` on Tarplee et al.'s data is at most {low.max():.3f}% below the bound up "
            f"to gamma 1.11 (its goal is 0.1%), at most {high.max():.3f}% above (0.4%)."
        )
    said.append(
        "Why the grid alone can be below TMS: TMS's counts are feasible for the relaxation at the "
        "makespan of its plan, and integers, which Algorithm A leaves as they are; that makespan "
        "need not be on the grid. Taking TMS's plan as a candidate, as the paper proposes at the "
        "end of its section IV, is what makes `ttb` never worse (`with_tms=False`: the grid alone)."
    )
    return said


def of_random_bags(frame: pd.DataFrame) -> list[str]:
    """Figure 3: over TMS for few and many tasks, and what the bound says at q = 1."""
    table = advantage(frame)
    said = []
    for name, rows in table.groupby("algorithm", sort=False):
        percent = 100 * (rows.ratio - 1)
        said.append(
            f"`{name}` over TMS: not below in {(percent >= -1e-9).mean():.1%} of the bags, "
            f"{percent.mean():+.2f}% on average, {percent.min():+.2f}% at worst; "
            f"{percent[rows.q <= _FEW].mean():+.1f}% for q up to {_FEW}, "
            f"{percent[rows.q >= _MANY].mean():+.1f}% from {_MANY} on."
        )
    wide = wide_rates(frame, ["q", "draw"])
    best = "ttb-best" if "ttb-best" in wide else "ttb"
    means = wide.groupby("q").mean()
    gap = 100 * (means["bound"] / means[best] - 1)
    said.append(
        f"`{best}` against the bound by cuts, means over the draws: {gap.iloc[0]:.2f}% at q = "
        f"{gap.index[0]}, at most {gap.max():.2f}% (q = {gap.idxmax()}), {gap.iloc[-1]:.2f}% at "
        f"q = {gap.index[-1]}."
    )
    return said
