"""What Dutot, Eyraud, Mounie, Trystram 2004 claim, row by row.

Most numbers of the paper's Section 4.2 are lost in the copy that was at hand: where one is, the row
says so and gives ours.
"""

from functools import partial
from math import inf
from typing import Any

from cosched.experiments import measures as f
from cosched.experiments.ledger import PICTURE, Claim
from cosched.experiments.moldable import measures as m
from cosched.experiments.moldable.measures import ALGORITHMS, CRITERIA
from cosched.experiments.moldable.studies import FIGURES
from cosched.experiments.tolerances import (
    ABOVE,
    BELOW,
    UNSAID,
    at_least,
    at_most,
    between,
    told,
)

_LOST = "the number is lost in the copy that was at hand; the value is ours"
_UNSAID = (
    "drawn without numbers, the picture is not in the copy that was at hand, and the text says "
    "nothing of this curve; the values are ours"
)
_LISTS = ("list-shelf", "list-lptf", "list-saf")
_OTHERS = ("sequential", *_LISTS)
_WEAK, _HIGH, _MIXED, _CIRNE = FIGURES
_EVERY = at_least(1.0, "at every number of jobs")
_STABLE = at_most(1.5, "no number; within half")

_row = partial(Claim, paper="dutot2004", study=m.STUDY, prepare=m.ratios)
_plain = partial(_row, "section 4.2")
_weak, _high, _mixed, _cirne = (
    partial(_row, f"section 4.2, Figure {number}, {title}", reading=m.MANY)
    for number, title in (
        (3, "weakly parallel"),
        (4, "highly parallel"),
        (5, "mixed"),
        (6, "Cirne-Berman"),
    )
)


def _demt(kind: str, criterion: str) -> tuple[str, ...]:
    return "mean", kind, criterion, "demt"


def _clearly_best(kind: str) -> f.Measure[float]:
    """The share of the numbers of jobs at which DEMT has the least minsum."""
    others = m.means(kind, "minsum", ALGORITHMS[1:])
    return f.share(f.places(_demt(kind, "minsum"), (), others, True))


def _spread(key: tuple[str, ...]) -> f.Measure[float]:
    return f.of("greatest over least", *key)


_RUNS = {"prepare": m.runs}

# fmt: off
_SENTENCES = (
    *(_weak(f"DEMT's average {c} ratio is worse than all others' except Gang's: share of the "
        "numbers of jobs", "all", _EVERY, f.share(f.places(_demt(_WEAK, c),
        m.means(_WEAK, c, _OTHERS), m.means(_WEAK, c, ["gang"]))))
        for c in CRITERIA),
    _weak("Gang does not appear in the range of the picture: its least mean makespan ratio",
        "very big", at_least(4.0, "no number; above what a picture of ratios to 3 would show"),
        f.of("least", "mean", _WEAK, "makespan", "gang")),
    _high("on minsum DEMT is clearly the best: share of the numbers of jobs", "all", _EVERY,
        _clearly_best(_HIGH)),
    *(_high(f"{name} is {words}: its mean {c} ratio with 400 jobs over that with 25", value, rule,
        f.of("last over first", "mean", _HIGH, c, name))
        for c in CRITERIA for name, words, value, rule in (
        ("gang", "good with a small number of tasks", "above 1", at_least(1.0, "it grows")),
        ("sequential", "good for a large number only", "below 1", at_most(1.0, "it falls")))),
    *(claim for name in _LISTS for claim in (
        _high("the other algorithms are stable with respect to the number of tasks: largest over "
            f"least mean minsum ratio of {name}", "stable",
            at_most(1.5, "no number; within half"),
            f.of("greatest over least", "mean", _HIGH, "minsum", name)),
        _high(f"... but with a larger ratio on minsum: mean of {name} over DEMT's", "above 1",
            ABOVE, f.of_ratio("mean", ("mean", _HIGH, "minsum", name), _demt(_HIGH, "minsum"))))),
    *(claim for c in CRITERIA for claim in (
        _mixed(f"DEMT is quite stable: largest over least mean {c} ratio", "stable", _STABLE,
            f.of("greatest over least", *_demt(_MIXED, c))),
        _mixed(f"SAF is better than DEMT: share of the numbers of jobs, {c}", "all", _EVERY,
            f.share(f.places(("mean", _MIXED, c, "list-saf"), (), (_demt(_MIXED, c),), True))))),
    *(_mixed("the ratio of the two other lists greatly increases with the tasks: mean minsum ratio "
        f"of {name} with 400 jobs over that with 25", "greatly above 1",
        at_least(1.3, "greatly: by a third"),
        f.of("last over first", "mean", _MIXED, "minsum", name))
        for name in _LISTS[:2]),
    _cirne("DEMT clearly outperforms the others for the minsum: share of the numbers of jobs",
        "all", _EVERY, _clearly_best(_CIRNE)),
    _cirne("... and is the only one to keep a stable ratio: its spread over the least of the "
        "others'", "below 1", BELOW, _spread(_demt(_CIRNE, "minsum")) / f.among("least",
        *map(_spread, m.means(_CIRNE, "minsum", ALGORITHMS[1:])))),
    *(_plain(f"DEMT performs better when tasks are more parallel: mean {c} ratio, highly over "
        "weakly parallel", "below 1", BELOW, f.over("mean", _demt(_HIGH, c), _demt(_WEAK, c)))
        for c in CRITERIA),
    _plain("DEMT's minsum ratio is insensitive to the jobs' behaviour: largest over least mean of "
        "the four workloads", "insensitive",
        between(1.0, 1.5, "no number; within half"), f.among("greatest over least",
        *(f.of("mean", *_demt(kind, "minsum")) for kind in FIGURES))),
    *(row(text, None, None, measure, _LOST, **more) for row, text, measure, more in (
        (_weak, "DEMT's makespan ratio is no more than ...: greatest mean",
            f.of("greatest", *_demt(_WEAK, "makespan")), {}),
        (_weak, "all other algorithms have an average makespan ratio around ...: their mean",
            f.among("mean", *(f.of("mean", *key) for key in m.means(_WEAK, "makespan", _OTHERS))),
            {}),
        (_weak, "for most cases DEMT is not much worse than ... for both: greatest mean minsum "
            "ratio", f.of("greatest", *_demt(_WEAK, "minsum")), {}),
        (_high, "the makespan ratio of the lists is always smaller than ...: greatest mean",
            f.among("greatest", *(f.of("greatest", *key)
            for key in m.means(_HIGH, "makespan", _LISTS))), {}),
        *((_mixed, f"a performance ratio of around ... for both: mean {c} ratio",
            f.of("mean", *_demt(_MIXED, c)), {}) for c in CRITERIA),
        (_plain, "the minsum ratio is never more than ...: greatest of all runs",
            f.of("greatest", "minsum"), _RUNS),
        (_plain, "the minsum ratio is on average around ...: mean of all runs",
            f.of("mean", "minsum"), _RUNS),
        (_plain, "the makespan ratio is almost always below ...: 95th percentile of all runs",
            f.of("95th percentile", "makespan"), _RUNS),
        (_plain, "the makespan ratio is ... on average: mean of all runs",
            f.of("mean", "makespan"), _RUNS))),
    _row("section 4.2, Figure 7", "the execution time is less than 2 seconds for the largest "
        "instances: our longest", 2.0, at_most(2.0, "a machine of 2004 against one of today"),
        f.among("greatest", *(f.of("last", "max", "seconds", kind) for kind in FIGURES)),
        study=m.TIMES, prepare=m.times),
)

_SECTIONS = (
    *(_row("section 4.1", f"Gang is optimal for linear speed-up: greatest {c} over {words}, 20 "
        "draws", 1.0, at_most(1.0 + 1e-6, "optimal"), f.of("greatest", c, ""),
        study=m.SECTIONS, prepare=m.sections) for c, words in (("makespan", "its bound"),
        ("minsum", "the least of six other algorithms"))),
    *(claim for kind in FIGURES for claim in (
        _row(f"section 4.1, {kind}", "the model gives decreasing times and increasing work: share "
            "of 20 draws that are monotone", 1.0, at_least(1.0, "every"),
            f.of("mean", "monotone", kind), study=m.SECTIONS, prepare=m.sections),
        _row(f"section 3.2, {kind}", "shuffles only lead to small improvements: mean minsum over "
            "that without", "small", between(0.9, 1.0, "no number; within a tenth"),
            f.of("mean", "shuffled", kind), study=m.SECTIONS, prepare=m.sections),
        _row(f"section 4.1, {kind}", "the allotment of the lists should lead to a very good "
            "makespan: mean ratio of the list by shelves to the bound", "very good",
            at_most(2.0, "no number; Graham's guarantee for lists"),
            f.of("mean", "makespan", kind), study=m.SECTIONS, prepare=m.sections))),
    *(_row(place, text, None, None, None, why) for place, text, why in (
        ("section 1.3", "the best guarantee for the makespan, on-line and off-line, for minsum, "
            "and for both is ...", "results of others, and the numbers are lost"),
        ("section 2.2", "batches turn an off-line ratio into an on-line one of twice that",
            "a proof is not run; the tests hold it on small cases"),
        ("section 3.3", "the relaxation bounds every schedule's minsum", "a proof is not run; the "
            "tests hold it against exact schedules"))),
)

_WORSE = "DEMT is worse than all but Gang: this curve is not above it at most sizes"
_LARGER = "larger ratio than DEMT's at most sizes"
_WITHIN = "stable with respect to the number of tasks: within half"
_UP = "its ratio increases with the number of tasks"
#: What the text tells of curves, and the rule that looks whether it holds.
_TOLD = {(kind, c, name): (words, rule) for kind, criteria, names, words, rule in (
    (_WEAK, CRITERIA, _OTHERS, _WORSE, "below demt"),
    (_WEAK, CRITERIA, ["gang"], "always very big: above all others", "above all"),
    (_WEAK, CRITERIA, ["demt"], "worse than all but Gang, at most sizes", "above rest"),
    (_HIGH, CRITERIA, ["gang"], "good with few tasks: its ratio increases", "rises"),
    (_HIGH, CRITERIA, ["sequential"], "good with many: its ratio falls", "falls"),
    (_HIGH, ["minsum"], ["demt"], "clearly the best", "below all"),
    (_HIGH, ["minsum"], _LISTS, _LARGER, "above demt"),
    (_HIGH, ["makespan"], _LISTS, _WITHIN, "stable"),
    (_MIXED, CRITERIA, ["demt"], _WITHIN, "stable"),
    (_MIXED, CRITERIA, ["list-saf"], "better than DEMT at most sizes", "below demt"),
    (_MIXED, CRITERIA, _LISTS[:2], _UP, "rises"),
    (_CIRNE, ["minsum"], ["demt"], "clearly outperforms the others", "below all"),
    (_CIRNE, ["minsum"], ALGORITHMS[1:], _LARGER, "above demt"),
) for c in criteria for name in names}


# fmt: on
def _rules(kind: str, criterion: str, name: str) -> dict[str, tuple[Any, tuple[float, float], str]]:
    """Rule -> the number of a curve, where it has to lie, and how it is said."""
    key, demt = ("mean", kind, criterion, name), (_demt(kind, criterion),)
    others = m.means(kind, criterion, (each for each in ALGORITHMS if each != name))
    rest = tuple(each for each in others if each[-1] != "gang")
    half, sizes = (0.5, 1), "at {1} of {2} sizes"
    growth = f.of("last over first", *key), "with most jobs {:.2f} times the ratio with least"
    spread = f.of("greatest over least", *key)
    return {
        "below demt": (f.places(key, (), demt), half, f"not above DEMT's curve {sizes}"),
        "above demt": (f.places(key, demt), half, f"not below DEMT's curve {sizes}"),
        "above all": (f.places(key, others), half, f"above all others {sizes}"),
        "above rest": (f.places(key, rest), half, f"above all others but Gang {sizes}"),
        "below all": (f.places(key, (), others), half, f"below all others {sizes}"),
        "rises": (growth[0], (1, inf), growth[1]),
        "falls": (growth[0], (0, 1), growth[1]),
        "stable": (spread, (0, 1.5), "largest over least {:.2f}"),
    }


def _drawn(kind: str, criterion: str, name: str) -> Claim:
    place = f"Figure {FIGURES[kind]}, {kind}, {criterion}"
    row = partial(_row, place, f"curve of {name}: mean (least to greatest) ratio by jobs")
    keys = ((number, kind, criterion, name) for number in ("mean", "least", "greatest"))
    values = f.tabled(", ", "{}: {:.2f} ({:.2f} to {:.2f})", *keys)
    words, rule = _TOLD.get((kind, criterion, name), ("", ""))
    if not words:
        return row(None, UNSAID, values, _UNSAID)
    order, interval, says = _rules(kind, criterion, name)[rule]
    says = f"{name}, {criterion}: {says}"
    return row(PICTURE, told(words), f.picture(values, order, interval, says))


# fmt: off
CLAIMS = (
    *_SENTENCES,
    *_SECTIONS,
    *(_drawn(kind, c, name) for kind in FIGURES for c in CRITERIA for name in ALGORITHMS),
    *(_row(f"Figure 7, {kind}", "curve of DEMT: execution time by jobs", PICTURE,
        told("less than 2 seconds for the largest instances"), f.picture(
        f.points("{}: {:.2f} ms", "mean", "ms", kind),
        f.of("greatest", "max", "ms", kind),
        (0, 2000),
        f"the longest of {kind} takes {{:.2f}} ms"), study=m.TIMES, prepare=m.times)
            for kind in FIGURES),
)
