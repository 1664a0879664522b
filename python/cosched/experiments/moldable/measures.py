"""What the claims of Dutot et al. 2004 measure, and a reading."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from cosched.experiments import measures as f
from cosched.experiments.ledger import Reading
from cosched.experiments.measures import CurveTable, StudyMeasure
from cosched.experiments.moldable import studies
from cosched.lazy import pd

STUDY = "moldable-fig3-6"
ALGORITHMS = ("demt", "gang", "sequential", "list-shelf", "list-lptf", "list-saf")
CRITERIA = ("makespan", "minsum")


def ratios(frame: pd.DataFrame) -> CurveTable:
    """Ratios to the bounds by jobs: (mean, least or greatest; kind, criterion, algorithm)."""
    rows = studies.ratios(frame)
    return CurveTable(rows.pivot(index="jobs", columns=["kind", "criterion", "algorithm"]))


def with_many(frame: pd.DataFrame) -> CurveTable:
    """The same where there are many jobs."""
    return CurveTable(ratios(frame).wide.loc[100:])


def runs(frame: pd.DataFrame) -> CurveTable:
    """Ratios of DEMT in all runs of all workloads, a column a criterion."""
    rows = studies.with_bounds(frame[frame.algorithm.isin(("demt", "(bounds)"))])
    return CurveTable(
        rows.assign(**{name: rows[name] / rows[f"{name}_bound"] for name in CRITERIA})
    )


def times(frame: pd.DataFrame) -> CurveTable:
    """Run times of DEMT by jobs: (mean or max; seconds or ms; kind)."""
    demt = frame[frame.algorithm == "demt"]
    rows = demt.assign(ms=1e3 * demt.seconds)
    return CurveTable(rows.pivot_table(["seconds", "ms"], "jobs", "kind", ["mean", "max"]))


def sections(frame: pd.DataFrame) -> CurveTable:
    """Numbers of the sections by draw: (number, kind)."""
    return CurveTable(frame.pivot(index="draw", columns="kind").drop(columns="part"))


def means(kind: str, criterion: str, names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Curves of mean ratios by jobs."""
    return tuple(("mean", kind, criterion, name) for name in names)


def demt(kind: str, criterion: str) -> tuple[str, ...]:
    """DEMT's curve of mean ratios by jobs."""
    return "mean", kind, criterion, "demt"


def each_of(number: str, keys: Iterable[tuple[str, ...]]) -> list[StudyMeasure[float]]:
    """A number of each of several curves."""
    return [f.of(number, *key) for key in keys]


def least_spread(keys: Iterable[tuple[str, ...]]) -> StudyMeasure[float]:
    """The least of the spreads of several curves."""
    return f.among("least", *each_of("greatest over least", keys))


def clearly_best(kind: str) -> StudyMeasure[float]:
    """The share of the numbers of jobs at which DEMT has the least minsum."""
    others = means(kind, "minsum", ALGORITHMS[1:])
    return f.share(f.places(demt(kind, "minsum"), (), others, True))


def as_told(kind: str, criterion: str, name: str, rule: str) -> StudyMeasure[Any]:
    """A curve of the figures, and whether it is as a rule says; without a rule the curve alone."""
    keys = ((number, kind, criterion, name) for number in ("mean", "least", "greatest"))
    values = f.tabled(", ", "{}: {:.2f} ({:.2f} to {:.2f})", *keys)
    if not rule:
        return values
    order, interval, says = _rules(kind, criterion, name)[rule]
    return f.picture(values, order, interval, f"{name}, {criterion}: {says}")


def _rules(kind: str, criterion: str, name: str) -> dict[str, tuple[Any, tuple[float, float], str]]:
    """Return the rule -> the number of a curve, where it has to lie, and how it is said."""
    key, reference = ("mean", kind, criterion, name), (demt(kind, criterion),)
    others = means(kind, criterion, (each for each in ALGORITHMS if each != name))
    rest = tuple(each for each in others if each[-1] != "gang")
    half, sizes = (0.5, 1), "at {1} of {2} sizes"
    growth = f.of("last over first", *key)
    growth_says = "with most jobs {:.2f} times the ratio with least"
    spread = f.of("greatest over least", *key)
    return {
        "below demt": (f.places(key, (), reference), half, f"not above DEMT's curve {sizes}"),
        "above demt": (f.places(key, reference), half, f"not below DEMT's curve {sizes}"),
        "above all": (f.places(key, others), half, f"above all others {sizes}"),
        "above rest": (f.places(key, rest), half, f"above all others but Gang {sizes}"),
        "below all": (f.places(key, (), others), half, f"below all others {sizes}"),
        "rises": (growth, (1, inf), growth_says),
        "falls": (growth, (0, 1), growth_says),
        "stable": (spread, (0, 1.5), "largest over least {:.2f}"),
    }


MANY = Reading("with 100 jobs and more", (STUDY,), with_many)
