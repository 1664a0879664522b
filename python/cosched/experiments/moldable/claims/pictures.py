"""Figures 3 to 7 of Dutot et al. 2004: each curve, by the order that the text tells of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from cosched.experiments.ledger import PICTURE, Claim
from cosched.experiments.moldable import studies
from cosched.experiments.moldable.claims.sentences import (
    ALGORITHMS,
    CIRNE,
    CRITERIA,
    HIGH,
    LISTS,
    MIXED,
    PAPER,
    TIMES,
    WEAK,
    Ratios,
    claim,
)
from cosched.experiments.tolerances import Curve, in_order

if TYPE_CHECKING:
    import pandas as pd

_UNSAID = (
    "drawn without numbers, the picture is not in the copy that was at hand, and the text says "
    "nothing of this curve; the values are ours"
)
#: A rule of a curve: (means of all algorithms by jobs, name) -> (holds, what was seen).
Rule = Callable[["pd.DataFrame", str], tuple[bool, str]]


def _share(holds: pd.Series, words: str) -> tuple[bool, str]:
    """The text says it of the curve: at half of the numbers of jobs at least."""
    return bool(holds.mean() >= 0.5), f"{words} at {int(holds.sum())} of {len(holds)} sizes"


def _below_demt(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    return _share(means[name] <= means.demt, "not above DEMT's curve")


def _above_demt(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    return _share(means[name] >= means.demt, "not below DEMT's curve")


def _above_all(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    return _share(means[name] >= means.drop(columns=name).max(axis=1), "above all others")


def _above_rest(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    rest = means.drop(columns=[name, "gang"])
    return _share(means[name] >= rest.max(axis=1), "above all others but Gang")


def _below_all(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    return _share(means[name] <= means.drop(columns=name).min(axis=1), "below all others")


def _rises(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    growth = means[name].iloc[-1] / means[name].iloc[0]
    return bool(growth >= 1), f"with most jobs {growth:.2f} times the ratio with least"


def _falls(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    growth = means[name].iloc[-1] / means[name].iloc[0]
    return bool(growth <= 1), f"with most jobs {growth:.2f} times the ratio with least"


def _stable(means: pd.DataFrame, name: str) -> tuple[bool, str]:
    spread = means[name].max() / means[name].min()
    return bool(spread <= 1.5), f"largest over least {spread:.2f}"


_WORSE = "DEMT is worse than all but Gang: this curve is not above it at most sizes", _below_demt
_LARGER = "larger ratio than DEMT's at most sizes", _above_demt
_STABLE = "stable with respect to the number of tasks: within half", _stable
_UP = "its ratio increases with the number of tasks", _rises
_ORDERS: dict[tuple[str, str, str], tuple[str, Rule]] = {
    **{(WEAK, c, name): _WORSE for c in CRITERIA for name in ("sequential", *LISTS)},
    **{(WEAK, c, "gang"): ("always very big: above all others", _above_all) for c in CRITERIA},
    **{
        (WEAK, c, "demt"): ("worse than all but Gang, at most sizes", _above_rest) for c in CRITERIA
    },
    **{(HIGH, c, "gang"): ("good with few tasks: its ratio increases", _rises) for c in CRITERIA},
    **{(HIGH, c, "sequential"): ("good with many: its ratio falls", _falls) for c in CRITERIA},
    (HIGH, "minsum", "demt"): ("clearly the best", _below_all),
    **{(HIGH, "minsum", name): _LARGER for name in LISTS},
    **{(HIGH, "makespan", name): _STABLE for name in LISTS},
    **{(MIXED, c, "demt"): _STABLE for c in CRITERIA},
    **{(MIXED, c, "list-saf"): ("better than DEMT at most sizes", _below_demt) for c in CRITERIA},
    **{(MIXED, c, name): _UP for c in CRITERIA for name in LISTS[:2]},
    (CIRNE, "minsum", "demt"): ("clearly outperforms the others", _below_all),
    **{(CIRNE, "minsum", name): _LARGER for name in ALGORITHMS[1:]},
}


def _values(kind: str, criterion: str, name: str, r: Ratios) -> str:
    some = r.table[
        (r.table.kind == kind) & (r.table.criterion == criterion) & (r.table.algorithm == name)
    ]
    return ", ".join(
        f"{row.jobs}: {row.mean_:.2f} ({row.least:.2f} to {row.greatest:.2f})"
        for row in some.rename(columns={"mean": "mean_"}).itertuples()
    )


def _curve(kind: str, criterion: str, name: str, rule: Rule, r: Ratios) -> Curve:
    holds, shown = rule(r.means(kind, criterion), name)
    return Curve(_values(kind, criterion, name, r), holds, f"{name}, {criterion}: {shown}")


def _drawn() -> Iterator[Claim]:
    for kind, number in studies.FIGURES.items():
        for criterion in CRITERIA:
            for name in ALGORITHMS:
                place = f"Figure {number}, {kind}, {criterion}"
                text = f"curve of {name}: mean (least to greatest) ratio by jobs"
                told = _ORDERS.get((kind, criterion, name))
                if told is None:
                    values = partial(_values, kind, criterion, name)
                    yield claim(place, text, None, None, values, _UNSAID)
                    continue
                words, rule = told
                measure = partial(_curve, kind, criterion, name, rule)
                yield claim(place, text, PICTURE, in_order(words), measure)


# --- Figure 7 -----------------------------------------------------------------------------


def _seconds(kind: str, frame: pd.DataFrame) -> Curve:
    demt = frame[(frame.algorithm == "demt") & (frame.kind == kind)]
    means = 1e3 * demt.groupby("jobs", sort=False).seconds.mean()
    values = ", ".join(f"{jobs}: {value:.2f} ms" for jobs, value in means.items())
    longest = float(demt.seconds.max())
    return Curve(values, longest < 2, f"the longest of {kind} takes {1e3 * longest:.2f} ms")


def _times() -> Iterator[Claim]:
    for kind in studies.FIGURES:
        yield Claim(
            paper=PAPER,
            place=f"Figure 7, {kind}",
            text="curve of DEMT: execution time by jobs",
            study=TIMES,
            paper_value=PICTURE,
            tolerance=in_order("less than 2 seconds for the largest instances"),
            measure=partial(_seconds, kind),
        )


CLAIMS = (*_drawn(), *_times())
