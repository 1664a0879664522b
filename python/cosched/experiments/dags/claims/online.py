"""Sections 1 and 6.3 of Amaris et al. 2017: on-line rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cosched.experiments.dags.claims.frames import Wide, wide
from cosched.experiments.dags.claims.measures import by_application, extreme, mean, outlying
from cosched.experiments.dags.claims.offline import EXTREME, claim
from cosched.experiments.ledger import Check, Claim
from cosched.experiments.tolerances import at_least, at_most, between, near, within

STUDY = "dags-fig6-7"
ROOTS = (1.0, 2**0.5, 2.0, 8**0.5, 4.0, 32**0.5, 8.0)
_PAIRS = Check(
    "pairs-by-application",
    (STUDY,),
    partial(by_application, (("greedy", "er-ls"), ("eft", "er-ls"))),
    wide,
)
_ARRIVAL = (
    "The paper does not say in which order its tasks arrive, and the rules see no further than the "
    "task that arrives."
)
_MEAN = near(0.03, "three points of per cent: the order of arrival is not said and moves it by one")


def at_root(name: str, application: str, root: float, w: Wide) -> float:
    """Mean makespan / LP* over sqrt(m/k), on the machines with that sqrt(m/k)."""
    rows = w.rows[w.rows.application == application]
    some = rows[((rows.cpus / rows.gpus) ** 0.5 - root).abs() < 1e-6]
    if some.empty:
        raise LookupError(f"{application} at {root}")
    return float((some[name] / some.lp).mean() / root)


def _of_guarantee(w: Wide) -> float:
    root = (w.rows.cpus / w.rows.gpus) ** 0.5
    return float((w.ratio("er-ls", "lp") / (4 * root)).max())


def _curves(w: Wide) -> str:
    parts = []
    for application in ("potri", "fork-join"):
        for name in ("er-ls", "eft", "greedy"):
            line = ", ".join(
                f"{root:.3f}: {root * at_root(name, application, root, w):.3f}" for root in ROOTS
            )
            parts.append(f"{application} {name} {line}")
    return "mean makespan / LP* by sqrt(m/k), of which LP* is at most the optimum; " + "; ".join(
        parts
    )


_BY_ROOT = Check("by-root", (STUDY,), _curves, wide)


def _sentences() -> Iterator[Claim]:
    order = "only the order is said"
    for place, above, value, words in (
        ("section 1, on-line", "greedy", 0.16, "ER-LS outperforms a greedy policy by 16%"),
        ("section 1, on-line", "eft", -0.10, "... and is outperformed by EFT by 10%"),
        ("section 6.3, Figure 7 right", "eft", -0.11, "ER-LS is outperformed by EFT by 11%"),
    ):
        yield claim(
            STUDY,
            place,
            f"{words} on average: mean {above} / ER-LS - 1",
            value,
            _MEAN,
            partial(mean, above, "er-ls", None),
            _ARRIVAL,
            _PAIRS,
        )
    yield claim(
        STUDY,
        "section 6.3, Figure 7 left, potri",
        "a maximum for potri where ER-LS performs 11 times better than Greedy: greatest Greedy / "
        "ER-LS - 1",
        10.0,
        within(0.15, "a single instance, printed as 'times'"),
        partial(extreme, "max", "greedy", "er-ls", "potri"),
        _ARRIVAL,
        _PAIRS,
    )
    yield claim(
        STUDY,
        "section 6.3, Figure 7 left, potrs",
        "for potrs the makespans of ER-LS are on average 10% greater than Greedy's: mean Greedy / "
        "ER-LS - 1",
        -0.10,
        _MEAN,
        partial(mean, "greedy", "er-ls", "potrs"),
        _ARRIVAL,
        _PAIRS,
    )
    for application in ("fork-join", "getrf", "posv", "potrf", "potri"):
        yield claim(
            STUDY,
            f"section 6.3, Figure 7 left, {application}",
            "an improvement of between 8% and 36% on average for ER-LS over Greedy",
            "0.08 to 0.36",
            between(0.075, 0.365, "to the per cent that is printed", (0.0, 0.72)),
            partial(mean, "greedy", "er-ls", application),
            _ARRIVAL,
            _PAIRS,
        )
    yield claim(
        STUDY,
        "section 6.3, Figure 7 right, fork-join",
        "up to 60% for certain instances of fork-join: least EFT / ER-LS - 1",
        -0.60,
        EXTREME,
        partial(extreme, "min", "eft", "er-ls", "fork-join"),
        _ARRIVAL,
        _PAIRS,
    )
    for other in ("er-ls", "eft"):
        yield claim(
            STUDY,
            "section 6.3, Figure 6 left",
            f"Greedy is on average outperformed by {other.upper()}: its mean makespan / LP* over "
            f"that of {other.upper()}",
            "above 1",
            at_least(1.0, order),
            partial(_mean_over, "greedy", other),
            check=_PAIRS,
        )
    for other in ("er-ls", "greedy"):
        yield claim(
            STUDY,
            "section 6.3, Figure 6 left",
            f"EFT creates less outliers than {other}: ratio of their numbers",
            "below 1",
            at_most(1.0 - 1e-9, order),
            partial(_outliers_over, "eft", other),
            "Its boxes are narrower, so that what is an outlier begins nearer.",
            Check("outliers", (STUDY,), _outlier_table, wide),
        )
    for application in ("potri", "fork-join"):
        for root in ROOTS:
            yield claim(
                STUDY,
                f"section 6.3, Figure 6 right, {application}, sqrt(m/k) = {root:.3f}",
                "the mean competitive ratio of ER-LS is smaller than sqrt(m/k): over it",
                1.0,
                at_most(1.0, "smaller"),
                partial(at_root, "er-ls", application, root),
                "At sqrt(m/k) = 1 no ratio to a lower bound can be smaller.",
                _BY_ROOT,
            )
    yield claim(
        STUDY,
        "section 6.3, Figure 6 right",
        "far from the theoretical bound 4 sqrt(m/k): greatest makespan / LP* over it",
        "far below 1",
        at_most(0.75, "'far'", order=1.0),
        _of_guarantee,
        check=_BY_ROOT,
    )
    yield claim(
        STUDY,
        "section 6.3, run times",
        "at most 5 s each for the biggest instances: our longest",
        5.0,
        at_most(5, "Python on a machine of 2017 against C++ on one of today"),
        lambda w: max(s for name, s in w.seconds.items() if name != "LP*"),
    )


def _mean_over(first: str, second: str, w: Wide) -> float:
    return float(w.ratio(first, "lp").mean() / w.ratio(second, "lp").mean())


def _outliers_over(first: str, second: str, w: Wide) -> float:
    return outlying(first, (), w) / max(1, outlying(second, (), w))


def _outlier_table(w: Wide) -> str:
    return "outliers of makespan/LP*: " + ", ".join(
        f"{name} {outlying(name, (), w)}" for name in ("er-ls", "eft", "greedy")
    )


CLAIMS = (*_sentences(),)
