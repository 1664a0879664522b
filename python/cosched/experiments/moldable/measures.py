"""What the claims of Dutot et al. 2004 measure, and a reading."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cosched.experiments.ledger import Reading
from cosched.experiments.measures import Table
from cosched.experiments.moldable import studies

if TYPE_CHECKING:
    import pandas as pd

STUDY, TIMES, SECTIONS = "moldable-fig3-6", "moldable-fig7", "moldable-sections"
ALGORITHMS = ("demt", "gang", "sequential", "list-shelf", "list-lptf", "list-saf")
CRITERIA = ("makespan", "minsum")


def ratios(frame: pd.DataFrame) -> Table:
    """Ratios to the bounds by jobs: (mean, least or greatest; kind, criterion, algorithm)."""
    rows = studies.ratios(frame)
    return Table(rows.pivot(index="jobs", columns=["kind", "criterion", "algorithm"]))


def with_many(frame: pd.DataFrame) -> Table:
    """The same where there are many jobs."""
    return Table(ratios(frame).wide.loc[100:])


def runs(frame: pd.DataFrame) -> Table:
    """Ratios of DEMT in all runs of all workloads, a column a criterion."""
    rows = studies.with_bounds(frame[frame.algorithm.isin(("demt", "(bounds)"))])
    return Table(rows.assign(**{name: rows[name] / rows[f"{name}_bound"] for name in CRITERIA}))


def times(frame: pd.DataFrame) -> Table:
    """Run times of DEMT by jobs: (mean or max; seconds or ms; kind)."""
    demt = frame[frame.algorithm == "demt"]
    rows = demt.assign(ms=1e3 * demt.seconds)
    return Table(rows.pivot_table(["seconds", "ms"], "jobs", "kind", ["mean", "max"]))


def sections(frame: pd.DataFrame) -> Table:
    """Numbers of the sections by draw: (number, kind)."""
    return Table(frame.pivot(index="draw", columns="kind").drop(columns="part"))


def means(kind: str, criterion: str, names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Curves of mean ratios by jobs."""
    return tuple(("mean", kind, criterion, name) for name in names)


MANY = Reading("with 100 jobs and more", (STUDY,), with_many)
