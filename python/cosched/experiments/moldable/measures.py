"""What the claims of Dutot et al. 2004 measure, and the checks that explain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cosched.experiments.ledger import Check
from cosched.experiments.measures import Table, lines, of, said, tabled
from cosched.experiments.moldable import studies

if TYPE_CHECKING:
    import pandas as pd

STUDY, TIMES = "moldable-fig3-6", "moldable-fig7"
ALGORITHMS = ("demt", "gang", "sequential", "list-shelf", "list-lptf", "list-saf")
CRITERIA = ("makespan", "minsum")


def ratios(frame: pd.DataFrame) -> Table:
    """Ratios to the bounds by jobs: (mean, least or greatest; kind, criterion, algorithm)."""
    rows = studies.ratios(frame)
    return Table(rows.pivot(index="jobs", columns=["kind", "criterion", "algorithm"]))


def runs(frame: pd.DataFrame) -> Table:
    """Ratios of DEMT in all runs of all workloads, a column a criterion."""
    rows = studies.with_bounds(frame[frame.algorithm.isin(("demt", "(bounds)"))])
    return Table(rows.assign(**{name: rows[name] / rows[f"{name}_bound"] for name in CRITERIA}))


def times(frame: pd.DataFrame) -> Table:
    """Run times of DEMT by jobs: (mean or max; seconds or ms; kind)."""
    demt = frame[frame.algorithm == "demt"]
    rows = demt.assign(ms=1e3 * demt.seconds)
    return Table(rows.pivot_table(["seconds", "ms"], "jobs", "kind", ["mean", "max"]))


def mean_ratios(kind: str) -> Check:
    """All mean ratios of a workload."""
    form = f"{{}}: {', '.join(f'{name} {{:.2f}}' for name in ALGORITHMS)}"
    parts = [
        said(f"{c} by jobs: {{}}", tabled("; ", form, *means(kind, c, ALGORITHMS)))
        for c in CRITERIA
    ]
    return Check("mean-ratios", (STUDY,), lines(f"mean ratios, {kind}; ", parts), ratios)


def means(kind: str, criterion: str, names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Curves of mean ratios by jobs."""
    return tuple(("mean", kind, criterion, name) for name in names)


_OF_DEMT = [
    said(
        f"{kind} makespan {{:.2f}}, minsum {{:.2f}}",
        *(of("mean", "mean", kind, c, "demt") for c in CRITERIA),
    )
    for kind in studies.FIGURES
]
BY_WORKLOAD = Check("demt-by-workload", (STUDY,), lines("DEMT's mean ratio: ", _OF_DEMT), ratios)
