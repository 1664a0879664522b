"""What Aupy, Shantharam, Benoit, Robert, Raghavan 2013 claim, row by row.

The text of the copy that was at hand ends where Section 6 begins to speak of results, and its
numbers are lost; its figures are pictures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cosched.experiments.ledger import PICTURE, Check, Claim
from cosched.experiments.packs import measured, studies
from cosched.experiments.tolerances import Curve, at_least, at_most, exactly, in_order
from cosched.packs.plots import MEASURES

if TYPE_CHECKING:
    import pandas as pd

PAPER, STUDY = "aupy2013", "packs-fig2-5"
SEVEN = studies.HEURISTICS[:-1]
WORKLOADS = {"packs_ii": "Workload-II", "packs_iii": "Workload-III"}
_UNSAID = (
    "drawn without numbers, the picture is not in the copy that was at hand, and its text says "
    "nothing of packing ratios but that 1 would be best; the values are ours"
)
_ORDERS = {
    "relative_cost": "co-scheduling leads to faster completion: below 1 at every pack size",
    "relative_response_time": "... and to faster response on average: below 1 over the pack sizes",
}
_MEASURED = (
    "Workload-I was measured on the authors' cluster and is not public; the values are of other "
    "measured codes, its stand-in"
)
STAND_IN = "packs-fig2a"
_FIGURES = {"relative_cost": 2, "packing_ratio": 3, "relative_response_time": 4}


def means(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Workload -> mean measures and gap by (algorithm, pack size)."""
    table = studies.means(studies.with_gap(frame))
    return {
        str(workload): rows.set_index(["algorithm", "max_tasks"]).drop(columns="workload")
        for workload, rows in table.groupby("workload", sort=False)
    }


def _greatest(workload: str, name: str, measure: str, found: Any) -> float:
    return float(found[workload].loc[name][measure].max())


def _gain(workload: str, kind: str, found: Any) -> float:
    """Least gain in relative cost of nine runs over one, over the pack sizes."""
    cost = found[workload].relative_cost
    return float((cost[f"{kind}-1"] - cost[f"{kind}-9"]).min())


def _mean_gap(workload: str, name: str, found: Any) -> float:
    return float(found[workload].loc[name].gap.mean())


def _count(found: Any) -> float:
    return float(sum(name in SEVEN for name in found["packs_ii"].index.unique(0)))


def _longest(frame: pd.DataFrame) -> float:
    return float(frame[frame.algorithm.isin(SEVEN)].seconds.max())


def _values(workload: str, name: str, measure: str, found: Any) -> str:
    rows = found[workload].loc[name][measure]
    return ", ".join(f"k = {k}: {value:.3f}" for k, value in rows.items())


def _curve(workload: str, name: str, measure: str, found: Any) -> Curve:
    """Faster completion is said of co-scheduling as such, faster response on average only."""
    rows = found[workload].loc[name][measure]
    seen = rows.max() if measure == "relative_cost" else rows.mean()
    what = "greatest" if measure == "relative_cost" else "mean"
    shown = f"{name}: {what} of the curve {seen:.3f}"
    return Curve(_values(workload, name, measure, found), bool(seen < 1), shown)


def _table(workload: str, found: Any) -> str:
    cost = found[workload].relative_cost.unstack("max_tasks")
    return "mean relative cost by pack size; " + "; ".join(
        f"{name} " + ", ".join(f"{k}: {value:.3f}" for k, value in row.items())
        for name, row in cost.iterrows()
    )


def _claim(*row: Any, workload: str = "packs_ii") -> Claim:
    check = Check("costs", (STUDY,), partial(_table, workload), means)
    return replace(Claim(*row, paper=PAPER, study=STUDY, prepare=means), check=check)


def _sentences() -> Iterator[Claim]:
    for workload, title in WORKLOADS.items():
        for measure, words in (
            ("relative_cost", "faster workload completion time"),
            ("relative_response_time", "faster response times on average"),
        ):
            yield _claim(
                f"abstract, {title}",
                f"co-scheduling leads to {words}: greatest mean {measure.replace('_', ' ')} of "
                "pack-by-pack-9 over the pack sizes",
                "below 1",
                at_most(1.0, "only the order is said"),
                partial(_greatest, workload, "pack-by-pack-9", measure),
                workload=workload,
            )
        for kind in ("random-pack", "random-proc", "pack-by-pack"):
            yield _claim(
                f"section 5, {title}",
                f"nine runs obtain a better solution than one: least gain of {kind} in mean "
                "relative cost",
                "above 0",
                at_least(0.0, "only the order is said"),
                partial(_gain, workload, kind),
                workload=workload,
            )
        yield _claim(
            f"section 1, {title}",
            "the heuristics show very good performance: mean gap of pack-by-pack-9 to a proven "
            "bound",
            None,
            None,
            partial(_mean_gap, workload, "pack-by-pack-9"),
            "no number is given; the value is ours",
            workload=workload,
        )
    yield _claim(
        "section 5",
        "leading to seven heuristics",
        7.0,
        exactly("a count"),
        _count,
    )
    yield Claim(
        paper=PAPER,
        place="section 1",
        text="... within a short running time: the longest of the seven heuristics (s)",
        study=STUDY,
        paper_value=None,
        tolerance=None,
        measure=_longest,
        explanation="no number is given; the value is ours",
    )
    yield _claim(
        "section 6",
        "power varies by less than 5% when codes share no node",
        0.05,
        None,
        None,
        "measured with power meters on the authors' cluster",
    )


_PROOF = "a proof is not run; the tests hold it on small cases against brute force"


def _not_run() -> Iterator[Claim]:
    for place, text, why in (
        ("Theorem 1", "packs of one and of two tasks are solved in polynomial time", _PROOF),
        (
            "Theorem 2",
            "for packs of three tasks and more the problem is strongly NP-complete",
            _PROOF,
        ),
        ("Theorem 3", "Algorithm 4.2 gives each pack its best processors", _PROOF),
        ("Theorem 4", "the integer programme describes the problem", _PROOF),
    ):
        yield _claim(place, text, None, None, None, why)


def _line(name: str, measure: str, frame: pd.DataFrame) -> str:
    rows = frame[frame.algorithm == name]
    return ", ".join(
        f"k = {k}: {value:.3f}" for k, value in zip(rows.max_tasks, rows[measure], strict=True)
    )


def _above_optimum(name: str, frame: pd.DataFrame) -> Curve:
    """Figure 2(a)'s horizontal line is the optimum."""
    over = measured.over_optimal(frame)
    if name == measured.OPTIMAL:
        least = float(over[list(SEVEN)].min().min())
        shown = f"the best curve is at least {least:.4f} times the line"
    else:
        least = float(over[name].min())
        shown = f"{name}: {least:.4f} to {over[name].max():.4f} times the line"
    return Curve(_line(name, "relative_cost", frame), least >= 1 - 1e-9, shown)


def _of_approx(frame: pd.DataFrame) -> float:
    """Greatest cost of pack-Approx over the optimum where packs are limited by processors only."""
    over = measured.over_optimal(frame)
    return float(over.loc[over.index.max(), "pack-approx"])


def _theorem5() -> Iterator[Claim]:
    yield Claim(
        paper=PAPER,
        place="Theorem 5",
        text="pack-Approx is a 3-approximation for k = p: its cost over the optimum, on a stand-in "
        "for Workload-I",
        study=STAND_IN,
        paper_value=3.0,
        tolerance=at_most(3.0, "proved; the tests hold it on small cases"),
        measure=_of_approx,
    )


def _of_stand_in(place: str, name: str, measure: str) -> Claim:
    what = "line of an optimal co-schedule" if name == measured.OPTIMAL else f"curve of {name}"
    if measure == "relative_cost":
        return Claim(
            paper=PAPER,
            place=place,
            text=f"{what}: relative cost by pack size, on a stand-in for Workload-I",
            study=STAND_IN,
            paper_value=PICTURE,
            tolerance=in_order("the line of the optimum is below all curves"),
            measure=partial(_above_optimum, name),
            explanation="Workload-I is not public; measured codes stand in for it.",
        )
    return Claim(
        paper=PAPER,
        place=place,
        text=f"{what}: {measure.replace('_', ' ')} by pack size",
        study=STAND_IN,
        paper_value=None,
        tolerance=None,
        measure=partial(_line, name, measure),
        explanation=_MEASURED,
    )


def _drawn() -> Iterator[Claim]:
    for measure, number in _FIGURES.items():
        assert measure in MEASURES
        words = measure.replace("_", " ")
        for name in SEVEN:
            yield _of_stand_in(f"Figure {number}(a), Workload-I", name, measure)
            for place, workload in (
                (f"Figure {number}(b), Workload-II", "packs_ii"),
                (f"Figure 5, {words}, Workload-III", "packs_iii"),
            ):
                text = f"curve of {name}: {words} by pack size"
                given = workload, name, measure
                if measure in _ORDERS:
                    told, curve = in_order(_ORDERS[measure]), partial(_curve, *given)
                    yield _claim(place, text, PICTURE, told, curve, workload=workload)
                else:
                    values = partial(_values, *given)
                    yield _claim(place, text, None, None, values, _UNSAID, workload)
        yield _of_stand_in(f"Figure {number}(a), Workload-I", measured.OPTIMAL, measure)


CLAIMS = (*_sentences(), *_not_run(), *_theorem5(), *_drawn())
