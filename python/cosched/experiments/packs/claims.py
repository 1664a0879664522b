"""What Aupy, Shantharam, Benoit, Robert, Raghavan 2013 claim, row by row.

The text of the copy that was at hand ends where Section 6 begins to speak of results, and its
numbers are lost; its figures are pictures.
"""

from functools import partial

from cosched.experiments.ledger import PICTURE, Claim, whole
from cosched.experiments.measures import of, picture, points
from cosched.experiments.packs import measures as m
from cosched.experiments.packs import variants
from cosched.experiments.packs.measured import OPTIMAL
from cosched.experiments.tolerances import (
    UNSAID,
    at_least,
    at_most,
    between,
    exactly,
    told,
    within,
)

_WORKLOADS = {"packs_ii": "Workload-II", "packs_iii": "Workload-III"}
_OURS = "no number is given; the value is ours"
_UNSAID = (
    "drawn without numbers, the picture is not in the copy that was at hand, and its text says "
    "nothing of packing ratios but that 1 would be best; the values are ours"
)
_MEASURED = (
    "Workload-I was measured on the authors' cluster and is not public; the values are of other "
    "measured codes, its stand-in"
)
_LITTLE = between(-0.02, 0.02, "very little, negligible: less than two per cent either way")
_LONGER = at_least(3, "much higher: three times at least")
_K = "k = {}: {:.3f}"

_row = partial(Claim, paper="aupy2013", study=m.STUDY, prepare=m.means)
_stand_in = partial(_row, study=m.STAND_IN, prepare=m.stand_in)
_variant = partial(_row, study=m.VARIANTS, prepare=m.beside)

# fmt: off
_SENTENCES = (
    *(claim for workload, title in _WORKLOADS.items()
        for claim in (
        *(_row(f"abstract, {title}", f"co-scheduling leads to {words}: greatest mean "
            f"{measure.replace('_', ' ')} of pack-by-pack-9 over the pack sizes", "below 1",
            at_most(1.0, "only the order is said"),
            of("greatest", measure, workload, "pack-by-pack-9")) for measure, words in (
            ("relative_cost", "faster workload completion time"),
            ("relative_response_time", "faster response times on average"))),
        *(_row(f"section 5, {title}", "nine runs obtain a better solution than one: least gain of "
            f"{kind} in mean relative cost", "above 0", at_least(0.0, "only the order is said"),
            m.gain(workload, kind)) for kind in ("random-pack", "random-proc", "pack-by-pack")),
        _row(f"section 1, {title}", "the heuristics show very good performance: mean gap of "
            "pack-by-pack-9 to a proven bound", None, None,
            of("mean", "gap", workload, "pack-by-pack-9"), _OURS))),
    _row("section 5", "leading to seven heuristics", 7.0, exactly("a count"), m.heuristics()),
    _row("section 1", "... within a short running time: the longest of the seven heuristics (s)",
        None, None, m.longest(), _OURS, prepare=whole),
    _row("section 6", "power varies by less than 5% when codes share no node", 0.05, None, None,
        "measured with power meters on the authors' cluster"),
    *(_row(f"Theorem {number}", words, 1.0, within(1e-6, "both are optima"), of("greatest", number),
        study=m.THEOREMS, prepare=m.theorems) for number, words in (
        (1, "packs of one and of two tasks are solved in polynomial time: greatest cost of the "
            "matching over the optimum, 20 draws"),
        (2, "packs of three tasks are as hard as 3-Partition: least cost on its instances with a "
            "solution over their number of triples"),
        (3, "Algorithm 4.2 gives each pack its best processors: greatest cost over the dynamic "
            "programme's, 20 draws"),
        (4, "the integer programme describes the problem: greatest optimum of it over that of "
            "branch and price, 20 draws"))),
    _row("Theorem 5", "pack-Approx is a 3-approximation for k = p: greatest cost over the optimum, "
        "20 draws", 3.0, at_most(3.0, "proved"), of("greatest", 5), study=m.THEOREMS,
        prepare=m.theorems),
    _stand_in("Theorem 5", "pack-Approx is a 3-approximation for k = p: its cost over the optimum, "
        "on a stand-in for Workload-I", 3.0,
        at_most(3.0, "proved"),
        of("last", "over", "pack-approx")),
)


# fmt: on
def _of_stand_in(figure: int, measure: str, name: str) -> Claim:
    place = f"Figure {figure}(a), Workload-I"
    best = name == OPTIMAL
    what = "line of an optimal co-schedule" if best else f"curve of {name}"
    values = points(_K, measure, name)
    if measure != "relative_cost":
        return _stand_in(
            place,
            f"{what}: {measure.replace('_', ' ')} by pack size",
            None,
            None,
            values,
            _MEASURED,
        )
    says = (
        "the best curve is at least {:.4f} times the line"
        if best
        else f"{name}: {{:.4f}} to {{:.4f}} times the line"
    )
    least = m.least_over(*(m.SEVEN if best else (name,)))
    return _stand_in(
        place,
        f"{what}: relative cost by pack size, on a stand-in for Workload-I",
        PICTURE,
        told("the line of the optimum is below all curves"),
        picture(values, least, (1, float("inf")), says),
    )


# fmt: off
#: Measure -> figure, what its text says, and the number of a curve that is below 1 then.
_FIGURES = {
    "relative_cost": (2, "greatest", "co-scheduling leads to faster completion: below 1 at every "
        "pack size"),
    "packing_ratio": (3, "", ""),
    "relative_response_time": (4, "mean", "... and to faster response on average: below 1 over the "
        "pack sizes"),
}


# fmt: on
def _drawn(place: str, measure: str, workload: str, name: str) -> Claim:
    _, number, words = _FIGURES[measure]
    row = partial(_row, place, f"curve of {name}: {measure.replace('_', ' ')} by pack size")
    key = measure, workload, name
    values = points(_K, *key)
    if not words:
        return row(None, UNSAID, values, _UNSAID)
    says = f"{name}: {number} of the curve {{:.3f}}"
    return row(PICTURE, told(words), picture(values, of(number, *key), (0, 1), says))


# fmt: off
CLAIMS = (
    *_SENTENCES,
    *(claim for measure, (figure, *_) in _FIGURES.items() for claim in (
        *(claim for name in m.SEVEN for claim in (
            _of_stand_in(figure, measure, name),
            _drawn(f"Figure {figure}(b), Workload-II", measure, "packs_ii", name),
            _drawn(f"Figure 5, {measure.replace('_', ' ')}, Workload-III", measure, "packs_iii",
                name))),
        _of_stand_in(figure, measure, OPTIMAL))),
    *(claim for workload, title in _WORKLOADS.items() for names in variants.OF.values()
        for name in names for claim in (
        _variant(f"section 5, {title}", ("more runs gain a negligible performance (their number is "
            "lost, 99 here)" if name.endswith("99") else "a dynamic programme that chooses the "
            "packs improves very little") + f": mean gain of {name}", "very little", _LITTLE,
            of("mean", "gain", workload, name)),
        _variant(f"section 5, {title}", f"... at much higher running time: run time of {name} over "
            "nine runs'", "much higher", _LONGER, of("mean", "times longer", workload, name)))),
)
