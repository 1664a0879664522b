"""What the claims of Aupy et al. 2013 measure."""

from __future__ import annotations

from cosched.experiments.measures import CurveTable, measure
from cosched.experiments.packs import sections, studies
from cosched.experiments.packs.draws import MEASURES
from cosched.lazy import pd

SEVEN, OPTIMAL = studies.HEURISTICS[:-1], studies.OPTIMAL


def means(frame: pd.DataFrame) -> CurveTable:
    """Mean measures and gap by pack size, for each (measure, workload, algorithm)."""
    return _by_size(studies.means(studies.with_gap(frame)), ["workload", "algorithm"])


def stand_in(frame: pd.DataFrame) -> CurveTable:
    """Measures by pack size, and ``over``, the cost over the optimum: (measure, algorithm)."""
    best = frame[frame.algorithm == studies.OPTIMAL].set_index("max_tasks").value
    return _by_size(frame.assign(over=frame.value / frame.max_tasks.map(best)), ["algorithm"])


def _by_size(rows: pd.DataFrame, keys: list[str]) -> CurveTable:
    values = [name for name in (*MEASURES, "gap", "over") if name in rows]
    return CurveTable(rows.pivot(index="max_tasks", columns=keys, values=values))


def beside(frame: pd.DataFrame) -> CurveTable:
    """A variant beside the heuristic: (column, workload, variant)."""
    rows = sections.variant_rows(frame)
    return CurveTable(rows.pivot(index="instead of", columns=["workload", "variant"]))


def theorems(frame: pd.DataFrame) -> CurveTable:
    """Ratios by draw, a column a theorem."""
    return CurveTable(frame.pivot(index="draw", columns="theorem", values="ratio"))


@measure
def gain(table: CurveTable, workload: str, kind: str) -> float:
    """Least gain in relative cost of nine runs over one, over the pack sizes."""
    single_run, nine_runs = (
        table.curve("relative_cost", workload, f"{kind}-{runs}") for runs in (1, 9)
    )
    return float((single_run - nine_runs).min())


@measure
def heuristics(table: CurveTable) -> float:
    """How many of the paper's there are."""
    return float(len(set(table.wide["relative_cost", "packs_ii"]) & set(SEVEN)))


@measure
def longest(frame: pd.DataFrame) -> float:
    """The longest run of the seven (s)."""
    return float(frame[frame.algorithm.isin(SEVEN)].seconds.max())


@measure
def least_over(table: CurveTable, *names: str) -> tuple[float, float]:
    """The least and the greatest cost of algorithms over the optimum."""
    curves = [table.curve("over", name) for name in names]
    return min(c.min() for c in curves), max(c.max() for c in curves)
