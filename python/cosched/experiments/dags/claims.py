"""What Amaris, Lucarelli, Mommessin, Trystram 2017 claim, row by row."""

from collections.abc import Mapping
from functools import partial
from math import exp, inf
from typing import Any

from cosched.experiments import measures as f
from cosched.experiments import tolerances as t
from cosched.experiments.dags import measures as m
from cosched.experiments.dags.measures import NAMES, ROOTED, ROOTS
from cosched.experiments.dags.theorems import SIZES
from cosched.experiments.ledger import PICTURE, Claim

_MEAN = t.near(
    0.02,
    "two points of per cent: HLP has many optima and the paper rounds the one that glpsol "
    "returned; another one moves the mean by that",
)
_MEAN_ON_LINE = t.near(
    0.03, "three points of per cent: the order of arrival is not said and moves it by one"
)
_EXTREME = t.near(0.1, "ten points of per cent: a single instance")
_COUNT = t.exactly("a count of the same benchmark")
_OWN = "Python and glpsol on a machine of 2017 against C++ on one of today"

_two = partial(Claim, paper="amaris2017", study=m.TWO, prepare=m.wide)
_three, _line = partial(_two, study=m.THREE), partial(_two, study=m.ONLINE)
_two_others = partial(_two, reading=m.GLPK)
_line_others = partial(_line, reading=m.BY_LEVEL)
_theorem = partial(_two, study=m.THEOREMS, prepare=m.theorems)


def _longest(*names: str) -> f.Measure[float]:
    return f.among("greatest", *(f.of("last", name) for name in names))


# fmt: off
_OFF_LINE = (
    *(row(place, f"{words} on average: mean {NAMES[above]} / HLP-OLS - 1", value, _MEAN,
        f.of("mean", above, "hlp-ols") - 1) for row, place, above, value, words in (
        (_two_others, "section 1, two types", "hlp-est", 0.10,
            "HLP-OLS improves on HLP-EST by 10%"),
        (_three, "section 1, three types", "hlp-est", 0.10,
            "QHLP-OLS improves on QHLP-EST by 10%"),
        (_two_others, "section 1, two types", "heft", 0.02, "HLP-OLS improves on HEFT by 2%"),
        (_three, "section 1, three types", "heft", -0.04, "QHLP-OLS is 4% behind QHEFT"),
        (_two_others, "section 6.2, Figure 4 left", "hlp-est", 0.08, "an improvement close to 8%"),
        (_two_others, "section 6.2, Figure 4 right", "heft", 0.02, "HEFT is outperformed by 2%"),
        (_three, "section 6.2, Figure 5 right", "heft", -0.05,
            "QHEFT presents 5% on QHLP-OLS"))),
    *(row(f"section 6.2, Figure {place}", f"{words}: extreme of HEFT / HLP-OLS - 1", value,
        _EXTREME, f.of(number, "heft", "hlp-ols", place.split(", ")[1]) - 1)
        for row, place, number, value, words in (
        (_two_others, "4 right, potri", "greatest", 0.60, "a maximum of 60% for HLP-OLS over HEFT"),
        (_three, "5 right, fork-join", "least", -0.45, "up to 45% for QHEFT"),
        (_three, "5 right, fork-join", "greatest", 0.36, "up to 36% for QHLP-OLS"))),
    *(claim for row, figure in ((_two_others, "3"), (_three, "5 left")) for claim in (
        row(f"section 6.2, Figure {figure}", "HLP-EST is outperformed on average by the two "
            "others: its mean makespan / LP* over the greater mean of theirs", "above 1", t.ABOVE,
            f.over("mean", ("hlp-est",), ("hlp-ols",), ("heft",))),
        *((_two if figure == "3" and name == "heft" else row)(
            f"section 6.2, Figure {figure}", "approximation ratios do not exceed 2: greatest "
            f"makespan / LP* of {title}", 2.0, t.at_most(2.0, "does not exceed"),
            f.of("greatest", name)) for name, title in NAMES.items()))),
    _two_others("section 6.2, Figure 3", "HEFT creates more outliers than HLP-OLS: outliers of its "
        "boxes over those of HLP-OLS", "above 1", t.at_least(1.0 + 1e-6, "only the order is said"),
        m.outliers_over("heft", "hlp-ols")),
    _two_others("section 6.2, Figure 3", "HLP-OLS and HEFT are quite similar on average: ratio of "
        "their means of makespan / LP* - 1", 0.0, t.near(0.05, "'quite similar'"),
        f.over("mean", ("heft",), ("hlp-ols",)) - 1),
    _two_others("section 6.2, Figure 4 left", "HLP-OLS outperforms HLP-EST except for a few "
        "instances of potri: share of the instances outside potri where HLP-EST is ahead", 0.0,
        t.at_most(0.0, "potri alone is named"), m.wins_outside("potri")),
    _two_others("section 6.2, Figure 4 right", "HEFT is significantly worse than HLP-OLS on "
        "fork-join: mean HEFT / HLP-OLS there", "above 1", t.ABOVE,
        f.of("mean", "heft", "hlp-ols", "fork-join")),
    _two_others("section 6.2, Figure 4 right", "... in strongly heterogeneous applications like "
        "fork-join, read as: more than in every other application: mean HEFT / HLP-OLS of "
        "fork-join over the greatest of the others", "above 1", t.ABOVE,
        f.over("mean", *(("heft", "hlp-ols", each) for each in m.APPLICATIONS))),
    _three("section 6.2, Figure 5 left", "QHEFT presents many outliers for getrf, posv and potrf: "
        "their number there", "many", t.at_least(1, "'many' of a picture"),
        m.outliers("heft", "getrf", "posv", "potrf")),
    _three("section 6.2, Figure 5 left", "QHEFT outperforms QHLP-OLS on average: ratio of "
        "the means of makespan / LP*", "below 1", t.BELOW,
        f.over("mean", ("heft",), ("hlp-ols",))),
    _three("section 6.2", "similar results between QHLP-EST and QHLP-OLS as for two types "
        "(8%)", 0.08, t.near(0.04, "'similar'"), f.of("mean", "hlp-est", "hlp-ols") - 1),
    *(_line(f"Table 4, {application}, nb_blocks {blocks}", "number of tasks", float(value), _COUNT,
        f.of("last", f"{file}-64-{blocks}.txt"), prepare=m.sizes) for application, file, cells in (
        ("getrf", "sgetrf_nopiv", (55, 385, 2870)),
        ("posv", "sposv", (65, 330, 1960)),
        ("potrf", "spotrf", (35, 220, 1540)),
        ("potri", "spotri", (105, 660, 4620)),
        ("potrs", "spotrs", (30, 110, 420)))
            for blocks, value in zip((5, 10, 20), cells, strict=True)),
    *(_line(f"Table 5, p {phases}, width {width}", "number of tasks", float(value), _COUNT,
        f.of("last", f"forkJoin-{phases}-{width}.txt"), prepare=m.sizes) for phases, cells in (
        (2, (203, 403, 603, 803, 1003)),
        (5, (506, 1006, 1506, 2006, 2506)),
        (10, (1011, 2011, 3011, 4011, 5011))) for width, value in zip((100, 200, 300, 400, 500),
            cells, strict=True)),
    *(claim for row, title in ((_two, "two types"), (_three, "three types")) for claim in (
        row(f"section 6.2, run times, {title}", "for the biggest instances the linear programme "
            "took about 100 s: our longest LP*", 100.0, t.at_most(100, _OWN),
            f.of("last", "LP*"), prepare=m.seconds),
        row(f"section 6.2, run times, {title}", "each algorithm took at most 10 s once HLP was "
            "solved: our longest, HLP included", 10.0, t.at_most(10, _OWN), _longest(*NAMES),
            prepare=m.seconds))),
)

_ON_LINE = (
    *(_line_others(place, f"{words} on average: mean {above} / ER-LS - 1", value, _MEAN_ON_LINE,
        f.of("mean", above, "er-ls") - 1) for place, above, value, words in (
        ("section 1, on-line", "greedy", 0.16, "ER-LS outperforms a greedy policy by 16%"),
        ("section 1, on-line", "eft", -0.10, "... and is outperformed by EFT by 10%"),
        ("section 6.3, Figure 7 right", "eft", -0.11, "ER-LS is outperformed by EFT by 11%"))),
    _line_others("section 6.3, Figure 7 left, potri", "a maximum for potri where ER-LS performs 11 "
        "times better than Greedy: greatest Greedy / ER-LS - 1", 10.0,
        t.within(0.15, "a single instance, printed as 'times'"),
        f.of("greatest", "greedy", "er-ls", "potri") - 1),
    _line_others("section 6.3, Figure 7 left, potrs", "for potrs the makespans of ER-LS are on "
        "average 10% greater than Greedy's: mean Greedy / ER-LS - 1", -0.10, _MEAN_ON_LINE,
        f.of("mean", "greedy", "er-ls", "potrs") - 1),
    *(_line_others(f"section 6.3, Figure 7 left, {application}",
        "an improvement of between 8% and 36% on average for ER-LS over Greedy", "0.08 to 0.36",
        t.between(0.075, 0.365, "to the per cent that is printed"),
        f.of("mean", "greedy", "er-ls", application) - 1)
        for application in m.APPLICATIONS[:- 1]),
    _line_others("section 6.3, Figure 7 right, fork-join", "up to 60% for certain instances of "
        "fork-join: least EFT / ER-LS - 1", -0.60, _EXTREME,
        f.of("least", "eft", "er-ls", "fork-join") - 1),
    *(_line_others("section 6.3, Figure 6 left", f"Greedy is on average outperformed by {title}: "
        f"its mean makespan / LP* over that of {title}", "above 1", t.ABOVE,
        f.over("mean", ("greedy",), (name,))) for name, title in (("er-ls", "ER-LS"),
        ("eft", "EFT"))),
    *(_line_others("section 6.3, Figure 6 left", f"EFT creates less outliers than {other}: ratio "
        "of their numbers", "below 1", t.at_most(1.0 - 1e-6, "only the order is said"),
        m.outliers_over("eft", other)) for other in ("er-ls", "greedy")),
    *(_line_others(f"section 6.3, Figure 6 right, {application}, sqrt(m/k) = {root:.3f}",
        "the mean competitive ratio of ER-LS is smaller than sqrt(m/k): over it", 1.0,
        t.at_most(1.0, "smaller"), f.of("mean", "er-ls", "root", application, root),
        "at sqrt(m/k) = 1 no ratio to a lower bound can be smaller" if root == 1 else "")
        for application in ROOTED for root in ROOTS),
    _line("section 6.3, Figure 6 right", "far from the theoretical bound 4 sqrt(m/k): greatest "
        "makespan / LP* over it", "far below 1", t.at_most(0.75, "'far'"),
        f.of("greatest", "er-ls", "guarantee")),
    _line("section 6.3, run times", "at most 5 s each for the biggest instances: our longest", 5.0,
        t.at_most(5, "Python on a machine of 2017 against C++ on one of today"),
        _longest(*m.RULES), prepare=m.seconds),
)

_THEOREMS = (
    *(_theorem(f"Theorem {number}, m = {cpus}, k = {gpus}, Q = {types}", words,
        ratio(cpus, gpus, types), rule(cpus),
        f.of("last", f"theorem {number}", cpus, gpus, types))
        for number, words, ratio, rule, least in (
        (1, "HEFT is at least (m+k)/k^2 (1 - e^-k) from the optimum", lambda m, k,
            _: (m + k) / k ** 2 * (1 - exp(-k)), lambda m: t.within(0.1,
            "the limit of the proof's own expression"), 0),
        (2, "HLP-EST, and any list (corollaries 1 and 2), reaches 6 - O(1/m): 6 (2m-1) (m-1) / (m "
            "(2m+1))", lambda m, *_: 6 * (2 * m - 1) * (m - 1) / (m * (2 * m + 1)),
            lambda m: t.within(1e-9, "the proof's own value"), 0),
        (4, "ER-LS reaches sqrt(m/k)", lambda m, k, _: (m / k) ** 0.5,
            lambda m: t.within(1e-9, "the proof's own value"), 0),
        (5, "QHLP-EST and QHLP-OLS reach Q (Q+1), which is tight", lambda _, __, q: q * (q + 1.0),
            lambda m: t.within(4 / m, "it tends to the ratio as 1 - 4/m at least"), 16))
        for cpus, gpus, types in SIZES[f"theorem {number}"] if cpus >= least),
    *(_theorem("section 1", "List Scheduling has an arbitrarily large ratio, even by greatest "
        "acceleration: that of ETF, which leaves no unit idle, on two tasks that take the CPU "
        f"{factor} times longer", "unbounded", t.at_least(factor / 2, "half of the times"),
        f.of("last", "section 1", factor, 1, 2)) for factor, *_ in SIZES["section 1"]),
    _theorem("section 6.3, EFT", "EFT's ratio (m+k)/k^2 (1 - e^-k) is larger than 4 sqrt(m/k) when "
        "k is at most the cube root of m: the least quotient, m up to 4,096", "above 1", t.ABOVE,
        m.eft_over_er_ls(4096), reading=m.FEWER_GPUS, prepare=m.cube_root),
    _line("section 6.3", "large differences between Random and the three others: its mean makespan "
        "/ LP* over the greatest mean of theirs", "above 1", t.at_least(1.5, "large: by half"),
        f.over("mean", ("random",), *((name,) for name in m.RULES))),
    _theorem("Theorem 3", "ER-LS is at most 4 sqrt(m/k)-competitive", "4 sqrt(m/k)", None, None,
        "a proof for all instances is not run; section 6.3 has a row on how far below the "
        "benchmark stays, tests hold it on random graphs"),
)


# fmt: on
def _beside(worse: str, better: str, keys: Mapping[str, tuple[str, ...]], says: str) -> Any:
    """Whether one rule's mean is not below another's; the means of all."""
    means = (f.of("mean", *key) for key in keys.values())
    return f.several(f.over("mean", keys[worse], keys[better]), *means), (1, inf), says


def _boxes(row: Any, figure: str, above: str, below: str, *told: Any, **single: Any) -> list[Claim]:
    """A row an application: words, and the order of its means or of others, or none above 2."""
    claims = []
    for a in m.APPLICATIONS:
        words, *given = single.get(a.replace("-", "_"), told)
        order: Any = f.of("mean", above, below, a), given, "its mean is {:.3f}"
        if not given:
            order = f.of("greatest", above, below, a), (0, 2), "its greatest is {:.3f}"
        elif isinstance(given[0], str):
            keys = {name: (name, below, a) for name in m.RULES}
            order = _beside(given[0], given[1], keys, _OF_BOXES)
        claims.append(
            row(
                f"{figure}, {a}",
                f"{above} / {below}: mean, least and greatest",
                PICTURE,
                t.told(words),
                f.picture(f.box(above, below, a), *order),
            )
        )
    return claims


# fmt: off
_OF_BOXES = "means of makespan / LP*: er-ls {1:.3f}, eft {2:.3f}, greedy {3:.3f}"
_OF_ROOTS = "means over sqrt(m/k): er-ls {1:.2f}, eft {2:.2f}, greedy {3:.2f}"
_AT_TWO = "the box is at most at 2 (section 6.2)"
_GREEDY_EFT = "Greedy is outperformed by EFT on average", "greedy", "eft"
_DRAWN = (
    *(c for name in NAMES for c in _boxes(_two, "Figure 3", name, "LP*", _AT_TWO)),
    *_boxes(_two, "Figure 4", "hlp-est", "hlp-ols", "HLP-OLS outperforms HLP-EST: a mean of 1 and "
        "more", 1.0, inf),
    *_boxes(_two, "Figure 4", "heft", "hlp-ols", "similar performances: a mean within a tenth of 1",
        0.9, 1.1, fork_join=("HEFT is significantly worse on fork-join: a mean above 1", 1.0,
        inf)),
    *(c for name in NAMES for c in _boxes(_three, "Figure 5 left", name, "LP*", _AT_TWO)),
    *_boxes(_three, "Figure 5 right", "heft", "hlp-ols", "QHEFT is an improvement on average: a "
        "mean of at most 1", 0.0, 1.0),
    *_boxes(_line, "Figure 6 left", "er-ls", "LP*", "ER-LS is outperformed by EFT on average",
        "er-ls", "eft"),
    *(c for name in ("eft", "greedy") for c in _boxes(_line, "Figure 6 left", name, "LP*",
        *_GREEDY_EFT)),
    *_boxes(_line, "Figure 7", "greedy", "er-ls", "ER-LS outperforms Greedy: a mean of 1 and more",
        1.0, inf, potrs=("on potrs ER-LS is worse than Greedy: a mean of at most 1", 0.0, 1.0)),
    *_boxes(_line, "Figure 7", "eft", "er-ls", "ER-LS is outperformed by EFT: a mean of at most 1",
        0.0, 1.0),
    *(_line(f"Figure 6 right, {a}", f"curve of {name}: mean competitive ratio against sqrt(m/k)",
        PICTURE, t.told(words), f.picture(f.points("{:.2f}: {:.2f}", a, name), *order),
        prepare=m.by_root) for a in ROOTED for keys in [{name: (a, name) for name in m.RULES}]
        for name, words, order in (
        ("er-ls", "far from 4 sqrt(m/k): below it everywhere", (
            f.of_ratio("greatest", (a, "er-ls"), ("guarantee", "")),
            (0, 1),
            "at most {:.2f} of 4 sqrt(m/k)")),
        ("eft", "ER-LS is outperformed by EFT on average: EFT's mean over the points is lower",
            _beside("er-ls", "eft", keys, _OF_ROOTS)),
        ("greedy", "Greedy is outperformed by ER-LS on average: its mean over the points is higher",
            _beside("greedy", "er-ls", keys, _OF_ROOTS)))),
)

CLAIMS = (*_OFF_LINE, *_ON_LINE, *_DRAWN, *_THEOREMS)
