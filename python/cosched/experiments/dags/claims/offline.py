"""Sections 1 and 6.2 of Amaris et al. 2017: off-line algorithms, two and three types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from cosched.experiments.dags.claims.frames import Wide, wide
from cosched.experiments.dags.claims.measures import (
    NAMES,
    above_two,
    beyond_others,
    extreme,
    greatest,
    mean,
    outlier_ratio,
    outlier_table,
    outlying,
    pairs_check,
    seconds,
    tasks,
    wins,
    wins_outside_potri,
    worse,
)
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import at_least, at_most, exactly, near

PAPER = "amaris2017"
TWO, THREE, ONLINE = "dags-fig3-4", "dags-fig5", "dags-fig6-7"
_MEAN = near(
    0.02,
    "two points of per cent: HLP has many optima and the paper rounds the one that glpsol "
    "returned; another one moves the mean by that",
)
EXTREME = near(0.1, "ten points of per cent: a single instance")
_CELLS = {
    "getrf": (55, 385, 2870),
    "posv": (65, 330, 1960),
    "potrf": (35, 220, 1540),
    "potri": (105, 660, 4620),
    "potrs": (30, 110, 420),
}
_WIDTHS = (100, 200, 300, 400, 500)
_FORK = {
    2: (203, 403, 603, 803, 1003),
    5: (506, 1006, 1506, 2006, 2506),
    10: (1011, 2011, 3011, 4011, 5011),
}


def claim(study: str, *row: Any, **more: Any) -> Claim:
    """A row of this paper."""
    return Claim(*row, **more, paper=PAPER, study=study, prepare=wide)


_OPTIMA = "The sizes depend on which optimum of HLP is rounded."


def _means() -> Iterator[Claim]:
    for study, place, above, value, words in (
        (TWO, "section 1, two types", "hlp-est", 0.10, "HLP-OLS improves on HLP-EST by 10%"),
        (THREE, "section 1, three types", "hlp-est", 0.10, "QHLP-OLS improves on QHLP-EST by 10%"),
        (TWO, "section 1, two types", "heft", 0.02, "HLP-OLS improves on HEFT by 2%"),
        (THREE, "section 1, three types", "heft", -0.04, "QHLP-OLS is 4% behind QHEFT"),
        (TWO, "section 6.2, Figure 4 left", "hlp-est", 0.08, "an improvement close to 8%"),
        (TWO, "section 6.2, Figure 4 right", "heft", 0.02, "HEFT is outperformed by 2%"),
        (THREE, "section 6.2, Figure 5 right", "heft", -0.05, "QHEFT presents 5% on QHLP-OLS"),
    ):
        yield claim(
            study,
            place,
            f"{words} on average: mean {NAMES[above]} / HLP-OLS - 1",
            value,
            _MEAN,
            partial(mean, above, "hlp-ols", None),
            _OPTIMA,
            pairs_check(study),
        )
    for study, which, application, value, words in (
        (TWO, "max", "potri", 0.60, "a maximum of 60% for HLP-OLS over HEFT"),
        (THREE, "min", "fork-join", -0.45, "up to 45% for QHEFT"),
        (THREE, "max", "fork-join", 0.36, "up to 36% for QHLP-OLS"),
    ):
        yield claim(
            study,
            f"section 6.2, Figure {'4 right' if study == TWO else '5 right'}, {application}",
            f"{words}: extreme of HEFT / HLP-OLS - 1",
            value,
            EXTREME,
            partial(extreme, which, "heft", "hlp-ols", application),
            _OPTIMA,
            pairs_check(study),
        )


def _words() -> Iterator[Claim]:
    order = "only the order is said"
    for study, figure in ((TWO, "Figure 3"), (THREE, "Figure 5 left")):
        yield claim(
            study,
            f"section 6.2, {figure}",
            "HLP-EST is outperformed on average by the two others: its mean makespan / LP* over "
            "the greater mean of theirs",
            "above 1",
            at_least(1.0, order),
            partial(worse, "hlp-est", ("hlp-ols", "heft")),
            check=pairs_check(study),
        )
        for name, title in NAMES.items():
            yield claim(
                study,
                f"section 6.2, {figure}",
                f"approximation ratios do not exceed 2: greatest makespan / LP* of {title}",
                2.0,
                at_most(2.0, "does not exceed"),
                partial(greatest, name),
                "Few instances are above.",
                Check("above-two", (study,), above_two, wide),
            )
    spots = Check("outliers", (TWO,), outlier_table, wide)
    yield claim(
        TWO,
        "section 6.2, Figure 3",
        "HEFT creates more outliers than HLP-OLS: outliers of its boxes over those of HLP-OLS",
        "above 1",
        at_least(1.0 + 1e-9, order),
        partial(outlier_ratio, "heft", "hlp-ols", ()),
        check=spots,
    )
    yield claim(
        TWO,
        "section 6.2, Figure 3",
        "HLP-OLS and HEFT are quite similar on average: ratio of their means of makespan / LP* - 1",
        0.0,
        near(0.05, "'quite similar'"),
        partial(_similar, "heft", "hlp-ols"),
        check=pairs_check(TWO),
    )
    yield claim(
        TWO,
        "section 6.2, Figure 4 left",
        "HLP-OLS outperforms HLP-EST except for a few instances of potri: share of the instances "
        "outside potri where HLP-EST is ahead",
        0.0,
        at_most(0.0, "potri alone is named", order=0.01),
        wins_outside_potri,
        "Few instances of others as well.",
        Check("wins-of-hlp-est", (TWO,), wins, wide),
    )
    yield claim(
        TWO,
        "section 6.2, Figure 4 right",
        "HEFT is significantly worse than HLP-OLS on fork-join: mean HEFT / HLP-OLS there",
        "above 1",
        at_least(1.0, order),
        lambda w: 1 + mean("heft", "hlp-ols", "fork-join", w),
        check=pairs_check(TWO),
    )
    yield claim(
        TWO,
        "section 6.2, Figure 4 right",
        "... in strongly heterogeneous applications like fork-join, read as: more than in every "
        "other application: mean HEFT / HLP-OLS of fork-join over the greatest of the others",
        "above 1",
        at_least(1.0, order),
        beyond_others,
        "potri, of which the paper names the extreme of 60%, has the greater mean.",
        pairs_check(TWO),
    )
    yield claim(
        THREE,
        "section 6.2, Figure 5 left",
        "QHEFT presents many outliers for getrf, posv and potrf: their number there",
        "many",
        at_least(1, "'many' of a picture"),
        partial(_count, "heft", ("getrf", "posv", "potrf")),
        check=Check("outliers", (THREE,), outlier_table, wide),
    )
    yield claim(
        THREE,
        "section 6.2, Figure 5 left",
        "QHEFT outperforms QHLP-OLS on average: ratio of the means of makespan / LP*",
        "below 1",
        at_most(1.0, order),
        lambda w: 1 + _similar("heft", "hlp-ols", w),
        check=pairs_check(THREE),
    )
    yield claim(
        THREE,
        "section 6.2",
        "similar results between QHLP-EST and QHLP-OLS as for two types (8%)",
        0.08,
        near(0.04, "'similar'"),
        partial(mean, "hlp-est", "hlp-ols", None),
        _OPTIMA,
        pairs_check(THREE),
    )


def _similar(first: str, second: str, w: Wide) -> float:
    return float(w.ratio(first, "lp").mean() / w.ratio(second, "lp").mean() - 1)


def _count(name: str, applications: tuple[str, ...], w: Wide) -> float:
    return float(outlying(name, applications, w))


def _sizes() -> Iterator[Claim]:
    count = exactly("a count of the same benchmark")
    for application, cells in _CELLS.items():
        for blocks, value in zip((5, 10, 20), cells, strict=True):
            file = {"getrf": "sgetrf_nopiv"}.get(application, f"s{application}")
            yield claim(
                ONLINE,
                f"Table 4, {application}, nb_blocks {blocks}",
                "number of tasks",
                float(value),
                count,
                partial(tasks, f"{file}-64-{blocks}"),
            )
    for phases, counts in _FORK.items():
        for width, value in zip(_WIDTHS, counts, strict=True):
            yield claim(
                ONLINE,
                f"Table 5, p {phases}, width {width}",
                "number of tasks",
                float(value),
                count,
                partial(tasks, f"forkJoin-{phases}-{width}"),
            )


def _times() -> Iterator[Claim]:
    own = "Python and glpsol on a machine of 2017 against C++ on one of today"
    for study, title in ((TWO, "two types"), (THREE, "three types")):
        yield claim(
            study,
            f"section 6.2, run times, {title}",
            "for the biggest instances the linear programme took about 100 s: our longest LP*",
            100.0,
            at_most(100, own),
            partial(seconds, ("LP*",)),
        )
        yield claim(
            study,
            f"section 6.2, run times, {title}",
            "each algorithm took at most 10 s once HLP was solved: our longest, HLP included",
            10.0,
            at_most(10, own),
            partial(seconds, tuple(NAMES)),
        )


CLAIMS = (*_means(), *_words(), *_sizes(), *_times())
