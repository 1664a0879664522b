"""The sentences of Section 6.1 on Table 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from cosched.cluster import TABLE_2
from cosched.experiments.cluster.claims.stats import SETS, STUDY, Cells, degradations, printed
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import Tolerance, at_least, at_most, between

PAPER = "casanova2011"
_G = ("Greedy", "GreedyP", "GreedyPM")
FIRST = tuple(f"{name} */opt=min" for name in _G)
SECOND = tuple(f"{name}/per/opt=min" for name in _G)
THIRD = tuple(f"{name} */per/opt=min" for name in _G)
LAST = tuple(f"{name}{star}/per/opt=min/minvt=600" for star in ("", " *") for name in _G[1:])
BEST = LAST[2:]
AT_ARRIVAL = tuple(f"MCB8{rest}/opt=min/minvt=600" for rest in (" *", "/per", " */per"))
PERIODIC, STRETCH = "/per/opt=min/minvt=600", "/stretch-per/opt=max/minvt=600"
DFRS = tuple(name for name in TABLE_2 if name not in ("FCFS", "EASY"))

_PARITY = between(0.9, 1.1, "the paper says similar, on par: within a tenth", (0.8, 1.25))
_BELOW = at_most(1.0, "only the order is said")
_ABOVE = at_least(1.0, "only the order is said")


def value(cells: Cells, name: str, number: str = "avg") -> float:
    """A cell, ours or the paper's."""
    cell = cells[name, number]
    return float(getattr(cell, "value", cell))


def ratio(above: str, below: str, number: str, cells: Cells) -> float:
    """One policy over another."""
    return value(cells, above, number) / value(cells, below, number)


def _groups(above: tuple, below: tuple, number: str, cells: Cells) -> float:
    """The best of some policies over the worst of others."""
    return min(value(cells, name, number) for name in above) / max(
        value(cells, name, number) for name in below
    )


def _worst_over_best(above: tuple, below: tuple, number: str, cells: Cells) -> float:
    return max(value(cells, name, number) for name in above) / min(
        value(cells, name, number) for name in below
    )


def _least(above: tuple, below: tuple, number: str, cells: Cells) -> float:
    """The best of some policies over the best of others."""
    return min(value(cells, name, number) for name in above) / min(
        value(cells, name, number) for name in below
    )


def _most(names: tuple, number: str, cells: Cells) -> float:
    return max(value(cells, name, number) for name in names)


def _without(names: tuple) -> tuple:
    return tuple(name for name in TABLE_2 if name not in names)


Sentence = tuple[str, Callable[[Cells], float], Tolerance]


def _of_every_set() -> Iterator[Sentence]:
    yield (
        "EASY outperforms FCFS: mean of EASY over that of FCFS",
        partial(ratio, "EASY", "FCFS", "avg"),
        _BELOW,
    )
    yield (
        "EASY and FCFS are outperformed by several orders of magnitude: the better of the two over "
        "the best DFRS policy",
        partial(_least, ("FCFS", "EASY"), DFRS, "avg"),
        at_least(100, "several orders: two at least", order=1),
    )
    for number, words in (("std", "standard deviation"), ("max", "maximum")):
        yield (
            f"Purely greedy policies have a {words} orders of magnitude larger than with /per: the "
            "least of the first group over the largest of the next two",
            partial(_groups, FIRST, SECOND + THIRD, number),
            at_least(10, "one order of magnitude at least", order=1),
        )
    for rest in (" */opt=min", "/per/opt=min", " */per/opt=min"):
        yield (
            f"Preemption helps: mean of GreedyP{rest} over that of Greedy{rest}",
            partial(ratio, f"GreedyP{rest}", f"Greedy{rest}", "avg"),
            _BELOW,
        )
        yield (
            f"Migration gives no significant further improvement: mean of GreedyPM{rest} over that "
            f"of GreedyP{rest}",
            partial(ratio, f"GreedyPM{rest}", f"GreedyP{rest}", "avg"),
            between(0.9, 1.1, "not significant: within a tenth", (0.75, 1.33)),
        )
    for name in _G:
        yield (
            f"Opportunistic scheduling has a limited impact beside /per: mean of {name} */per over "
            f"that of {name}/per",
            partial(ratio, f"{name} */per/opt=min", f"{name}/per/opt=min", "avg"),
            between(0.8, 1.1, "limited, generally positive", (0.5, 1.25)),
        )
    yield (
        "The four greedy policies with /per and minvt=600 outperform all greedy ones before: the "
        "worst of the four over the best of the others",
        partial(_worst_over_best, LAST, FIRST + SECOND + THIRD, "avg"),
        _BELOW,
    )
    for name in _G[1:]:
        yield (
            f"For these opportunistic scheduling is always beneficial: mean of {name} */per over "
            f"that of {name}/per, minvt=600",
            partial(
                ratio,
                f"{name} */per/opt=min/minvt=600",
                f"{name}/per/opt=min/minvt=600",
                "avg",
            ),
            _BELOW,
        )
    for star in ("", " *"):
        yield (
            f"GreedyP and GreedyPM lead to similar results: means of GreedyPM{star}/per over "
            f"GreedyP{star}/per, minvt=600",
            partial(
                ratio,
                f"GreedyPM{star}/per/opt=min/minvt=600",
                f"GreedyP{star}/per/opt=min/minvt=600",
                "avg",
            ),
            _PARITY,
        )
    for number, words in (("avg", "mean"), ("std", "standard deviation")):
        yield (
            f"These are the best overall, including in terms of standard deviation: least {words} "
            "of the four over the least of all others",
            partial(_least, LAST, _without(LAST), number),
            _BELOW,
        )
    yield (
        "MCB8 at submissions performs very well but is not among the best: the best of the three "
        "over the best of all",
        partial(_least, AT_ARRIVAL, TABLE_2, "avg"),
        _ABOVE,
    )
    yield (
        "/per is outperformed by the best greedy policy more than 6-fold",
        partial(_least, (PERIODIC,), FIRST + SECOND + THIRD + LAST, "avg"),
        at_least(6, "more than 6-fold", order=1),
    )
    yield (
        "/stretch-per performs on par with /per: ratio of the means",
        partial(ratio, STRETCH, PERIODIC, "avg"),
        _PARITY,
    )
    yield (
        "/stretch-per is more than one order of magnitude worse than the best yield-based policy",
        partial(_least, (STRETCH,), FIRST + SECOND + THIRD + LAST, "avg"),
        at_least(10, "more than one order of magnitude", order=1),
    )
    yield (
        "The best algorithms are on average at most a factor 7 away from the bound: the larger "
        "mean of the two best",
        partial(_most, BEST, "avg"),
        at_most(7, "at most a factor 7"),
    )


def _synthetic() -> Iterator[Sentence]:
    yield (
        "Without /per the greedy policies are poorer on average than the next two groups: the best "
        "of the first over the worst of these",
        partial(_groups, FIRST, SECOND + THIRD, "avg"),
        _ABOVE,
    )


def _real() -> Iterator[Sentence]:
    yield (
        "On real traces GreedyP * and GreedyPM * are the best of the first three groups on "
        "average: the worse of them over the best of the others",
        partial(_worst_over_best, FIRST[1:], (FIRST[0], *SECOND, *THIRD), "avg"),
        _BELOW,
    )


def of_set(kind: str, measure: Callable[[Cells], float], cells: Any) -> float:
    """A measure of the cells of one set of traces."""
    return measure(cells[kind])


def _claim(kind: str, sentence: Sentence) -> Claim:
    text, measure, tolerance = sentence
    return Claim(
        paper=PAPER,
        place=f"section 6.1, {SETS[kind][1]}",
        text=text,
        study=STUDY[kind],
        paper_value=float(f"{measure(printed(2, kind)):.4g}"),
        tolerance=tolerance,
        measure=partial(of_set, kind, measure),
        prepare=degradations,
        explanation="The paper's value here is computed from its own Table 2.",
        check=_BESIDE[kind],
    )


def _side_by_side(kind: str, cells: Any) -> str:
    ours, theirs = cells[kind], printed(2, kind)
    shown = (FIRST[1], FIRST[2], SECOND[0], THIRD[0], *LAST, *AT_ARRIVAL, PERIODIC, STRETCH)
    lines = [
        f"{name} {value(ours, name):.1f}, std {value(ours, name, 'std'):.1f} "
        f"({theirs[name, 'avg']:.1f}, {theirs[name, 'std']:.1f})"
        for name in shown
    ]
    return f"{SETS[kind][1]}, here (paper): " + "; ".join(lines)


_BESIDE = {
    kind: Check("side-by-side", (STUDY[kind],), partial(_side_by_side, kind), degradations)
    for kind in SETS
}


def _sentences() -> Iterator[Claim]:
    for kind in SETS:
        for sentence in _of_every_set():
            yield _claim(kind, sentence)
        for sentence in _real() if kind == "weeks" else _synthetic():
            yield _claim(kind, sentence)


CLAIMS = (*_sentences(),)
