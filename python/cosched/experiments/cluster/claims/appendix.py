"""Sections 4.5 and 6.1 on all 116 policies: what is said of Table 5."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from cosched.experiments.cluster import paper
from cosched.experiments.cluster.claims.stats import Cells, degradations, printed
from cosched.experiments.cluster.claims.stretch import (
    AT_ARRIVAL,
    PAPER,
    Sentence,
    of_set,
    ratio,
    value,
)
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import at_least, at_most, between

_BELOW = at_most(1.0, "only the order is said")


def _pairs(first: str, second: str) -> list[tuple[str, str]]:
    """Policies that differ in one part of their names only."""
    found = [(name, name.replace(first, second)) for name in paper.table(5) if first in name]
    return [(a, b) for a, b in found if b in paper.table(5)]


_OPT = _pairs("opt=min", "opt=avg") + _pairs("opt=max", "opt=avg")
_LIMIT = _pairs("minvt=300", "minft=300") + _pairs("minvt=600", "minft=600")
_LONGER = _pairs("minvt=600", "minvt=300")


def _share(pairs: list[tuple[str, str]], cells: Cells) -> float:
    """Share of the pairs whose first is not worse, to the digit that the paper prints."""
    good = [round(value(cells, a), 1) <= round(value(cells, b), 1) for a, b in pairs]
    return sum(good) / len(good)


def _mean_ratio(pairs: list[tuple[str, str]], cells: Cells) -> float:
    return sum(value(cells, a) / value(cells, b) for a, b in pairs) / len(pairs)


def _spread(cells: Cells) -> float:
    means = [
        value(cells, name) for name in paper.table(5) if name.startswith(("/per", "/stretch-per"))
    ]
    return max(means) / min(means)


def _policies(cells: Cells) -> float:
    return float(len({name for name, _ in cells} - {"FCFS", "EASY"}))


def _table5() -> Iterator[Sentence]:
    always = at_least(1.0, "never worse, to the printed digit", order=0.5)
    yield (
        "The total number of potential algorithms is 116",
        _policies,
        between(116, 116, "a count"),
    )
    yield (
        "On average opt=min is never worse than opt=avg: share of the pairs",
        partial(_share, _OPT),
        always,
    )
    yield (
        "opt=min is often slightly better than opt=avg: mean ratio of the pairs",
        partial(_mean_ratio, _OPT),
        _BELOW,
    )
    yield ("minvt is always better than minft: share of the pairs", partial(_share, _LIMIT), always)
    yield (
        "minvt is slightly better with the larger bound of 600 s: mean ratio to 300 s",
        partial(_mean_ratio, _LONGER),
        _BELOW,
    )
    yield (
        "For /per and /stretch-per limits to remapping do not matter: largest over least mean",
        _spread,
        at_most(1.01, "does not matter: by a hundredth"),
    )
    for name in AT_ARRIVAL:
        free = name.removesuffix("/minvt=600")
        yield (
            f"Without minvt=600, {free} is more than one order of magnitude further from the bound",
            partial(ratio, free, name, "avg"),
            at_least(10, "more than one order of magnitude", order=1),
        )


def _table5_claims() -> Iterator[Claim]:
    for text, measure, tolerance in _table5():
        yield Claim(
            paper=PAPER,
            place="section 6.1, appendix A",
            text=text,
            study="cluster-table5",
            paper_value=float(f"{measure(printed(5, 'weeks')):.4g}"),
            tolerance=tolerance,
            measure=partial(of_set, "weeks", measure),
            prepare=degradations,
            explanation="The paper's value here is computed from its own Table 5.",
            check=_PAIRS,
        )


def _exceptions(cells: Any) -> str:
    ours, theirs = cells["weeks"], printed(5, "weeks")
    parts = []
    for title, pairs in (("opt=min", _OPT), ("minvt", _LIMIT)):
        for who, some in (("here", ours), ("in the paper", theirs)):
            worse = [
                f"{a} {value(some, a):.1f} against {value(some, b):.1f}"
                for a, b in pairs
                if round(value(some, a), 1) > round(value(some, b), 1)
            ]
            parts.append(
                f"{title} is worse {who} in {len(worse)} of {len(pairs)}"
                + (f" ({'; '.join(worse[:4])})" if worse else "")
            )
    return ", ".join(parts)


_PAIRS = Check("exceptions", ("cluster-table5",), _exceptions, degradations)

CLAIMS = (*_table5_claims(),)
