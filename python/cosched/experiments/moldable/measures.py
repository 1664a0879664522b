"""What the claims of Dutot et al. 2004 measure, and the checks that explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.experiments.ledger import Check
from cosched.experiments.measures import Table, listed, measure
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


@measure
def ratios_by_jobs(table: Table, *key: str) -> str:
    """The points of a curve: mean, least and greatest."""
    parts = (table.curve(number, *key) for number in ("mean", "least", "greatest"))
    columns = (part.to_numpy() for part in parts)
    jobs = table.curve("mean", *key).index
    return listed(zip(jobs, *columns, strict=True), "{}: {:.2f} ({:.2f} to {:.2f})")


def mean_ratios(kind: str) -> Check:
    """All mean ratios of a workload."""

    def of(table: Table, criterion: str) -> str:
        curves = {name: table.curve("mean", kind, criterion, name) for name in ALGORITHMS}
        rows = (
            (jobs, listed(((name, curve[jobs]) for name, curve in curves.items()), "{} {:.2f}"))
            for jobs in curves["demt"].index
        )
        return f"{criterion} by jobs: {listed(rows, '{}: {}', '; ')}"

    return Check(
        "mean-ratios",
        (STUDY,),
        lambda table: f"mean ratios, {kind}; " + "; ".join(of(table, c) for c in CRITERIA),
        ratios,
    )


def _by_kind(table: Table) -> str:
    def of(kind: str) -> str:
        means = ((c, table.curve("mean", kind, c, "demt").mean()) for c in CRITERIA)
        return f"{kind} {listed(means, '{} {:.2f}')}"

    return "DEMT's mean ratio: " + "; ".join(map(of, studies.FIGURES))


BY_WORKLOAD = Check("demt-by-workload", (STUDY,), _by_kind, ratios)
