"""Section 6.4.2: Figures 3 and 4, the scheduling period."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from cosched.experiments.cluster.claims import checks
from cosched.experiments.cluster.claims.stats import SETS
from cosched.experiments.cluster.costs import BEST
from cosched.experiments.ledger import PICTURE, Check, Claim, NotKept
from cosched.experiments.tolerances import (
    Curve,
    Tolerance,
    at_least,
    at_most,
    between,
    in_order,
    within,
)

if TYPE_CHECKING:
    import pandas as pd

PAPER = "casanova2011"


def by_period(frame: pd.DataFrame) -> dict[str, Any]:
    """Means a set and period of the best policy, and EASY's."""
    best = frame[frame.algorithm != "EASY"]
    columns = ["underutilisation", "degradation", "preemption_bandwidth", "migration_bandwidth"]
    return {
        "best": best.groupby(["traces", "period"], sort=False)[columns].mean().sort_index(),
        "easy": frame[frame.algorithm == "EASY"].groupby("traces", sort=False)[columns[:2]].mean(),
        "busy": best[(best.traces == "scaled") & (best["load"] > 0.65)]
        .groupby("period")[columns[2:]]
        .mean()
        .sum(axis=1),
    }


_SHORT = 12_000
_FACTORS = {"weeks": 2.0, "unscaled": 1.5, "scaled": 3.0}


def _up_to(kind: str, found: Any) -> pd.DataFrame:
    rows = found["best"].loc[kind]
    return rows[rows.index <= _SHORT]


def _falls(kind: str, found: Any) -> float:
    """Share of the steps from period to period at which underutilisation falls."""
    return float((_up_to(kind, found).underutilisation.diff().dropna() < 0).mean())


def _crossing(kind: str, found: Any) -> float:
    """The first period from which on it is below EASY's."""
    rows = _up_to(kind, found)
    below = rows.underutilisation < found["easy"].underutilisation[kind]
    good = [period for period in rows.index if below.loc[period:].all()]
    return float(min(good)) if good else float("inf")


def _least_over_easy(found: Any) -> float:
    rows = _up_to("weeks", found)
    return float(rows.underutilisation.min() / found["easy"].underutilisation["weeks"])


def _plateau(found: Any) -> float:
    return float(found["best"].loc["weeks"].underutilisation.min())


def _rises(kind: str, found: Any) -> float:
    """Underutilisation at the longest period over the least of all."""
    rows = found["best"].loc[kind].underutilisation
    if rows.index.max() <= _SHORT:
        raise NotKept("no period above 12,000 s")
    return float(rows.iloc[-1] / rows.min())


def _growth(kind: str, found: Any) -> float:
    rows = found["best"].loc[kind].degradation
    return float(rows.loc[_SHORT] / rows.loc[600])


def _beside_easy(kind: str, found: Any) -> float:
    easy = found["easy"].degradation[kind]
    return float(easy / found["best"].loc[kind].degradation.loc[_SHORT])


def _hour(found: Any) -> float:
    return float(found["busy"].loc[600] / found["busy"].loc[3600])


def _hour_bandwidth(found: Any) -> float:
    return float(found["busy"].loc[3600])


def _by_period_curve(kind: str, column: str, found: Any) -> Curve:
    """Figure 3's curves fall, Figure 4's rise slowly."""
    rows = found["best"].loc[kind][column]
    values = ", ".join(f"{period:g} s: {value:.3g}" for period, value in rows.items())
    growth = float(rows.loc[_SHORT] / rows.loc[600])
    if column == "underutilisation":
        share = _falls(kind, found)
        return Curve(
            values,
            growth < 1 and share >= 0.75,
            f"{growth:.2f} times at {_SHORT:,} s, falls at {share:.0%} of the steps",
        )
    return Curve(values, 1 < growth < 3, f"{growth:.2f} times at {_SHORT:,} s")


def _easy_line(kind: str, found: Any) -> Curve:
    easy = float(found["easy"].underutilisation[kind])
    least, last = _up_to(kind, found).underutilisation.min(), _up_to(kind, found).iloc[-1]
    holds = easy < least if kind == "weeks" else easy > last.underutilisation
    return Curve(
        f"{easy:.3f} at every period",
        bool(holds),
        f"EASY {easy:.3f}, ours at least {least:.3f}, at {_SHORT:,} s {last.underutilisation:.3f}",
    )


_TOLD = {
    "weeks": "EASY is below our algorithm at every period",
    "unscaled": "our algorithm gets below EASY's",
    "scaled": "our algorithm gets below EASY's",
}


def _periods() -> Iterator[Claim]:
    def claim(
        place: str,
        text: str,
        value: float | str | None,
        tolerance: Tolerance | None,
        measure: Any,
        explanation: str = "",
        check: Check | None = checks.PERIODS,
    ) -> Claim:
        return Claim(
            paper=PAPER,
            place=place,
            text=text,
            study="cluster-fig3-4",
            paper_value=value,
            tolerance=tolerance,
            measure=measure,
            prepare=by_period,
            explanation=explanation,
            check=check,
        )

    for kind, (_, title) in SETS.items():
        yield claim(
            f"section 6.4.2, Figure 3, {title}",
            "underutilisation decreases steadily with the period: share of the steps up to "
            "12,000 s at which it falls",
            "all",
            at_least(1.0, "steadily: at every step", order=0.75),
            partial(_falls, kind),
        )
    for kind in ("unscaled", "scaled"):
        yield claim(
            f"section 6.4.2, Figure 3, {SETS[kind][1]}",
            "better than EASY's when the period becomes larger than 900 s: the first period from "
            "which on it is below",
            900.0,
            between(900, 1200, "the period after 900 s in our steps", (900, 12000)),
            partial(_crossing, kind),
            "EASY's underutilisation is lower here, as its stretch is.",
            checks.EASY_READINGS,
        )
        yield claim(
            f"section 6.4.2, appendix B, {SETS[kind][1]}",
            "for extremely large periods (over 15,000 s) underutilisation begins to increase: that "
            "at the longest period tried over the least",
            "above 1",
            at_least(1.0 + 1e-6, "begins to increase"),
            partial(_rises, kind),
        )
    yield claim(
        "section 6.4.2, Figure 3, real weeks",
        "higher than EASY's regardless of the period: the least over EASY's",
        "above 1",
        at_least(1.0, "only the order is said"),
        _least_over_easy,
    )
    yield claim(
        "section 6.4.2, Figure 3, real weeks",
        "EASY achieves around 6.4%",
        0.064,
        within(0.05, "the same log; two digits are printed"),
        lambda found: float(found["easy"].underutilisation["weeks"]),
    )
    yield claim(
        "section 6.4.2, Figure 3, real weeks",
        "our algorithm plateaus at around 11.8%",
        0.118,
        within(0.05, "the same log; 'around'"),
        _plateau,
    )
    for kind, factor in _FACTORS.items():
        yield claim(
            f"section 6.4.2, Figure 4, {SETS[kind][1]}",
            f"a 20-fold period increases the degradation by less than a factor {factor:g}",
            factor,
            at_most(factor, "less than", order=2 * factor),
            partial(_growth, kind),
            "Few traces make the growth.",
            checks.GROWTH,
        )
        yield claim(
            f"section 6.4.2, Figure 4, {SETS[kind][1]}",
            "at 20 times the penalty and more, EASY is outperformed by at least two orders of "
            "magnitude on average: EASY's mean over ours at 12,000 s",
            100.0,
            at_least(100, "two orders of magnitude", order=10),
            partial(_beside_easy, kind),
        )
    yield claim(
        "section 6.4.2, appendix B",
        "with a period of an hour the bandwidth is roughly 4 times lower (loads of 0.7 and more)",
        4.0,
        within(0.25, "'roughly'"),
        _hour,
    )
    yield claim(
        "section 6.4.2, appendix B",
        "with a period of an hour the bandwidth is under 0.2 GB/s on average (loads of 0.7 and "
        "more)",
        0.2,
        at_most(0.2, "under", order=0.4),
        _hour_bandwidth,
        "As in Table 3, an event moves more memory here unless it is counted once.",
        checks.MEMORY_AN_EVENT,
    )
    for letter, (kind, (_, title)) in zip("abc", SETS.items(), strict=True):
        for name, measure, told in (
            (BEST, partial(_by_period_curve, kind, "underutilisation"), "it decreases steadily"),
            ("EASY", partial(_easy_line, kind), _TOLD[kind]),
        ):
            yield claim(
                f"Figure 3({letter}), {title}",
                f"curve of {name}: underutilisation against the period",
                PICTURE,
                in_order(told),
                measure,
                check=None,
            )
        yield claim(
            f"Figure 4, {title}",
            f"curve of {BEST}: degradation against the period",
            PICTURE,
            in_order("it increases slowly, by less than a factor 3"),
            partial(_by_period_curve, kind, "degradation"),
            check=None,
        )


CLAIMS = (*_periods(),)
