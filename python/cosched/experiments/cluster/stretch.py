"""Section 6.1 of Casanova, Stillwell, Vivien 2011: the sentences on Tables 2 and 5, Figure 1."""

from functools import partial
from math import inf
from typing import Any

from cosched.cluster import TABLE_2
from cosched.experiments import measures as f
from cosched.experiments.cluster import explanations as e
from cosched.experiments.cluster import measures as m
from cosched.experiments.cluster.cells import SETS, degradations, in_set, printed
from cosched.experiments.cluster.costs import BEST
from cosched.experiments.ledger import PICTURE, Claim
from cosched.experiments.tolerances import (
    ABOVE,
    BELOW,
    at_least,
    at_most,
    between,
    told,
    within,
)

_G = ("Greedy", "GreedyP", "GreedyPM")
_FIRST = tuple(f"{name} */opt=min" for name in _G)
_SECOND = tuple(f"{name}/per/opt=min" for name in _G)
_THIRD = tuple(f"{name} */per/opt=min" for name in _G)
_LAST = tuple(f"{name}{star}/per/opt=min/minvt=600" for star in ("", " *") for name in _G[1:])
_ALL_GREEDY = _FIRST + _SECOND + _THIRD + _LAST
_AT_ARRIVAL = tuple(f"MCB8{rest}/opt=min/minvt=600" for rest in (" *", "/per", " */per"))
_PERIODIC, _STRETCH = "/per/opt=min/minvt=600", "/stretch-per/opt=max/minvt=600"
_DFRS = tuple(name for name in TABLE_2 if name not in ("FCFS", "EASY"))

_row = partial(Claim, paper="casanova2011")
_PARITY = between(0.9, 1.1, "the paper says similar, on par: within a tenth")
_MAGNITUDE = at_least(10, "more than one order of magnitude")


def _one(above: str, below: str) -> f.Measure[float]:
    """The mean of a policy over that of another."""
    return f.of("mean", "avg", above) / f.of("mean", "avg", below)


def _best(above: tuple[str, ...], worst: tuple[str, ...], number: str = "avg") -> f.Measure[float]:
    """The best of some policies over the worst of others."""
    return f.of("least", number, *above) / f.of("greatest", number, *worst)


def _bests(above: tuple[str, ...], below: tuple[str, ...], number: str = "avg") -> f.Measure[float]:
    """The best of some policies over the best of others."""
    return f.of("least", number, *above) / f.of("least", number, *below)


def _worst(above: tuple[str, ...], best: tuple[str, ...]) -> f.Measure[float]:
    """The worst of some policies over the best of others."""
    return f.of("greatest", "avg", *above) / f.of("least", "avg", *best)


# fmt: off
_ON_EVERY_SET = (
    ("EASY outperforms FCFS: mean of EASY over that of FCFS", _one("EASY", "FCFS"), BELOW),
    ("EASY and FCFS are outperformed by several orders of magnitude: the better of the two over "
        "the best DFRS policy", _bests(("FCFS", "EASY"), _DFRS),
        at_least(100, "several orders: two at least")),
    *((f"Purely greedy policies have a {words} orders of magnitude larger than with /per: the "
        "least of the first group over the largest of the next two",
        _best(_FIRST, _SECOND + _THIRD, number),
        at_least(10, "one order of magnitude at least"))
        for number, words in (("std", "standard deviation"), ("max", "maximum"))),
    *(sentence for rest in (" */opt=min", "/per/opt=min", " */per/opt=min") for sentence in (
        (f"Preemption helps: mean of GreedyP{rest} over that of Greedy{rest}",
            _one(f"GreedyP{rest}", f"Greedy{rest}"), BELOW),
        (f"Migration gives no significant further improvement: mean of GreedyPM{rest} over that of "
            f"GreedyP{rest}", _one(f"GreedyPM{rest}", f"GreedyP{rest}"),
            between(0.9, 1.1, "not significant: within a tenth")))),
    *((f"Opportunistic scheduling has a limited impact beside /per: mean of {name} */per over that "
        f"of {name}/per", _one(f"{name} */per/opt=min", f"{name}/per/opt=min"),
        between(0.8, 1.1, "limited, generally positive")) for name in _G),
    ("The four greedy policies with /per and minvt=600 outperform all greedy ones before: the "
        "worst of the four over the best of the others", _worst(_LAST, _FIRST + _SECOND + _THIRD),
        BELOW),
    *((f"For these opportunistic scheduling is always beneficial: mean of {name} */per over that "
        f"of {name}/per, minvt=600", _one(f"{name} */per/opt=min/minvt=600",
        f"{name}/per/opt=min/minvt=600"), BELOW) for name in _G[1:]),
    *((f"GreedyP and GreedyPM lead to similar results: means of GreedyPM{star}/per over "
        f"GreedyP{star}/per, minvt=600", _one(f"GreedyPM{star}/per/opt=min/minvt=600",
        f"GreedyP{star}/per/opt=min/minvt=600"), _PARITY) for star in ("", " *")),
    *((f"These are the best overall, including in terms of standard deviation: least {words} of "
        "the four over the least of all others", _bests(_LAST,
        tuple(name for name in TABLE_2 if name not in _LAST), number), BELOW)
        for number, words in (("avg", "mean"), ("std", "standard deviation"))),
    ("MCB8 at submissions performs very well but is not among the best: the best of the three over "
        "the best of all", _bests(_AT_ARRIVAL, tuple(TABLE_2)), ABOVE),
    ("/per is outperformed by the best greedy policy more than 6-fold",
        _bests((_PERIODIC,), _ALL_GREEDY), at_least(6, "more than 6-fold")),
    ("/stretch-per performs on par with /per: ratio of the means", _one(_STRETCH, _PERIODIC),
        _PARITY),
    ("/stretch-per is more than one order of magnitude worse than the best yield-based policy",
        _bests((_STRETCH,), _ALL_GREEDY), _MAGNITUDE),
    ("The best algorithms are on average at most a factor 7 away from the bound: the larger mean "
        "of the two best", f.of("greatest", "avg", *_LAST[2:]), at_most(7, "at most a factor 7")),
)
_SYNTHETIC = (
    "Without /per the greedy policies are poorer on average than the next two groups: the best of "
        "the first over the worst of these",
    _best(_FIRST, _SECOND + _THIRD),
    ABOVE,
)
_REAL = (
    "On real traces GreedyP * and GreedyPM * are the best of the first three groups on average: "
        "the worse of them over the best of the others",
    _worst(_FIRST[1:], (_FIRST[0], *_SECOND, *_THIRD)),
    BELOW,
)


# fmt: on
def _pairs(first: str, second: str) -> list[tuple[str, str]]:
    """Policies of Table 5 that differ in one part of their names only."""
    names = {name for _, name in printed(5)["weeks"].found}
    found = [(name, name.replace(first, second)) for _, name in _AVERAGES if first in name]
    return [(a, b) for a, b in found if b in names]


_AVERAGES = tuple(key for key in printed(5)["weeks"].found if key[0] == "avg")
_OPT = _pairs("opt=min", "opt=avg") + _pairs("opt=max", "opt=avg")
_LIMIT = _pairs("minvt=300", "minft=300") + _pairs("minvt=600", "minft=600")
_ALWAYS = at_least(1.0, "never worse, to the printed digit")


def _mean_ratio(pairs: list[tuple[str, str]]) -> f.Measure[float]:
    return f.among("mean", *(_one(*pair) for pair in pairs))


# fmt: off
_ON_TABLE_5 = (
    ("The total number of potential algorithms is 116", m.policies(),
        between(116, 116, "a count")),
    ("On average opt=min is never worse than opt=avg: share of the pairs", m.not_worse(*_OPT),
        _ALWAYS),
    ("opt=min is often slightly better than opt=avg: mean ratio of the pairs", _mean_ratio(_OPT),
        BELOW),
    ("minvt is always better than minft: share of the pairs", m.not_worse(*_LIMIT), _ALWAYS),
    ("minvt is slightly better with the larger bound of 600 s: mean ratio to 300 s",
        _mean_ratio(_pairs("minvt=600", "minvt=300")), BELOW),
    ("For /per and /stretch-per limits to remapping do not matter: largest over least mean", f.of(
        "greatest over least",
        "avg",
        *(name for _, name in _AVERAGES if name.startswith(("/per", "/stretch-per")))),
            at_most(1.01, "does not matter: by a hundredth")),
    *((f"Without minvt=600, {free} is more than one order of magnitude further from the bound",
        _one(free, name), _MAGNITUDE) for name in _AT_ARRIVAL
        for free in [name.removesuffix("/minvt=600")]),
)


# fmt: on
def _sentence(place: str, study: str, table: int, kind: str, sentence: tuple[Any, ...]) -> Claim:
    """A sentence on a table, whose value for the paper is that of the paper's own table."""
    text, measure, rule = sentence
    theirs = float(f"{measure(printed(table)[kind]):.4g}")
    why = f"the paper's is of its own Table {table}"
    return _row(
        place, text, theirs, rule, in_set(kind, measure), why,
        e.degradation(study, kind), study=study, prepare=degradations,
    )  # fmt: skip


# --- Figure 1 -----------------------------------------------------------------------------

#: Figure 1 draws the Greedy and GreedyPM versions, not GreedyP's.
_DRAWN = tuple(name for name in TABLE_2 if not name.startswith("GreedyP") or "GreedyPM" in name)
_LOADS = tuple(round(0.1 * k, 1) for k in range(1, 10))
_LOW = "GreedyPM */opt=min"
_figure = partial(_row, study=e.FIGURE_1, prepare=m.at_load)


def _curve(name: str) -> Claim:
    lowest = f.among("greatest", *(f.of_ratio("greatest", (BEST,), (each,)) for each in _DRAWN))
    order, least, most = f.of_ratio("least", (name,), (BEST,)), 0.95, inf
    says = f"{name}: at least {{:.3g}} times the best's curve"
    words = f"not 5% below {BEST} at any load"
    if name == BEST:
        order, least, most, says = lowest, 0, 1.05, "at most {:.3f} times the lowest curve"
        words = "the best regardless of the load: within 5% of the lowest curve at every load"
    elif name in ("FCFS", "EASY"):
        least = 10
        words = "orders of magnitude above the best: ten times its curve at every load"
    return _row(
        "Figure 1", f"curve of {name}: mean degradation against the load", PICTURE,
        told(words), f.picture(f.points("{:g}: {:.1f}", name), order, (least, most), says),
        study=e.FIGURE_1, prepare=m.by_load,
    )  # fmt: skip


# fmt: off
CLAIMS = (
    *(_sentence(f"section 6.1, {title}", e.STUDY[kind], 2, kind, sentence)
        for kind, title in SETS.items()
        for sentence in (*_ON_EVERY_SET, _REAL if kind == "weeks" else _SYNTHETIC)),
    *(_sentence("section 6.1, appendix A", e.TABLE_5, 5, "weeks", sentence)
        for sentence in _ON_TABLE_5),
    *(_figure(f"section 6.1, Figure 1, load {load}", f"{BEST} is the best across the board "
        "regardless of the load: its mean over the least of all others", "at most 1",
        at_most(1.0, "the best"), in_set(load,
        _bests((BEST,), tuple(name for name in TABLE_2 if name != BEST)))) for load in _LOADS),
    *(_figure(f"section 6.1, Figure 1, load {load}", f"{BEST} is about a factor {factor:g} away "
        f"from the bound at {words} loads", factor,
        within(0.15, "'about', read off a logarithmic picture"),
        in_set(load, f.of("mean", "avg", BEST))) for load, factor, words in ((0.1, 3.0, "low"),
        (0.9, 7.5, "high"))),
    _figure("section 6.1, Figure 1, load 0.1", f"{_LOW} performs well under low load: its mean "
        "over the best of all", "well", at_most(3.0, "no number; within a factor 3 of the best"),
        in_set(0.1, _bests((_LOW,), tuple(TABLE_2)))),
    *(_figure(f"section 6.1, Figure 1, load {load}", f"above a load of 0.3 {_LOW} is poorer than "
        "most other algorithms: share of the drawn ones that are better", "most",
        at_least(0.5, "most: more than half"), in_set(load,
        m.share_better(_LOW, *(name for name in _DRAWN if name != _LOW)))) for load in _LOADS[3:]),
    *map(_curve, _DRAWN),
)
