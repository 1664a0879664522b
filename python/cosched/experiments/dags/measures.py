"""What the claims of Amaris et al. 2017 measure, and the readings that may explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, sqrt
from typing import Any

from cosched.experiments import measures as f
from cosched.experiments.ledger import Reading
from cosched.experiments.measures import CurveTable, StudyMeasure, among, measure, of
from cosched.experiments.tolerances import Curve
from cosched.lazy import pd

TWO, THREE, ONLINE = "dags-fig3-4", "dags-fig5", "dags-fig6-7"
THEOREMS, READINGS = "dags-theorems", "dags-readings"
NAMES = {"hlp-est": "HLP-EST", "hlp-ols": "HLP-OLS", "heft": "HEFT"}
RULES = ("er-ls", "eft", "greedy")
ROOTS = (1.0, 2**0.5, 2.0, 8**0.5, 4.0, 32**0.5, 8.0)
APPLICATIONS = ("fork-join", "getrf", "posv", "potrf", "potri", "potrs")
#: Those of Figure 6 right, and sqrt(m/k) of the machines.
ROOTED = ("potri", "fork-join")
_KEYS = ["application", "graph", "units", "cpus", "gpus"]
#: Graphs of the archive of three types that the paper does not speak of.
_TWENTY_PHASES = "forkJoin-20-"


@dataclass(frozen=True)
class Wide:
    """A row an instance: makespans of the algorithms in columns, and what they are compared with.

    ``LP*`` is the bound, ``root`` sqrt(m/k) times it, ``guarantee`` four times that.
    """

    #: The table, one row per instance.
    rows: pd.DataFrame

    def curve(
        self, above: str, below: str = "LP*", application: str = "", root: float = 0.0
    ) -> pd.Series:
        """One over another, on the instances of an application and of machines."""
        rows = self.rows
        if application:
            rows = rows[rows.application == application]
        if root:
            rows = rows[(rows.sqrt - root).abs() < 1e-6]
        if rows.empty:
            raise LookupError(f"{application} at {root}")
        return rows[above] / rows[below]


def wide(frame: pd.DataFrame) -> Wide:
    """All graphs that the paper speaks of."""
    complete_rows = frame[~frame.graph.str.contains(_TWENTY_PHASES)]
    rows = complete_rows.assign(units=complete_rows.units.astype(str))
    table = rows.pivot(index=_KEYS, columns="algorithm", values="value").reset_index()
    table = table.assign(sqrt=(table.cpus / table.gpus) ** 0.5)
    if "LP*" in table:
        root = table.sqrt * table["LP*"]
        table = table.assign(root=root, guarantee=4 * root)
    return Wide(table)


def sizes(frame: pd.DataFrame) -> CurveTable:
    """Numbers of tasks, a column a graph."""
    names = frame.graph.str.rpartition("/")[2]
    return CurveTable(frame.groupby(names).tasks.min().to_frame().T)


def seconds(frame: pd.DataFrame) -> CurveTable:
    """The longest run, a column an algorithm."""
    return CurveTable(frame.groupby("algorithm")["seconds"].max().to_frame().T)


def theorems(frame: pd.DataFrame) -> CurveTable:
    """The ratio on the family of a theorem, by its name, m, k and Q."""
    return CurveTable(frame.set_index(["theorem", "m", "k", "types"])[["ratio"]].T)


def by_root(frame: pd.DataFrame) -> CurveTable:
    """Mean makespan / LP* by sqrt(m/k): (application, rule); ``guarantee`` is 4 sqrt(m/k)."""
    w = wide(frame)
    curves = {
        (a, name): [w.curve(name, "LP*", a, root).mean() for root in ROOTS]
        for a in ROOTED
        for name in RULES
    }
    return CurveTable(
        pd.DataFrame({**curves, ("guarantee", ""): [4 * r for r in ROOTS]}, list(ROOTS))
    )


def outliers(name: str, *applications: str) -> StudyMeasure[float]:
    """Outliers of an algorithm's boxes of makespan / LP*."""
    boxes = applications or APPLICATIONS
    return among("sum", *(of("outliers", name, "LP*", a) for a in boxes))


def longest(*names: str) -> StudyMeasure[float]:
    """The longest run of algorithms (s)."""
    return among("greatest", *(of("last", name) for name in names))


def mean_over_other_applications(above: str, below: str) -> StudyMeasure[float]:
    """The mean ratio on fork-joins over the greatest of the other applications."""
    return f.over("mean", *((above, below, application) for application in APPLICATIONS))


@measure
def outliers_over(w: Wide, first: str, second: str) -> float:
    """Outliers of one over those of another."""
    return outliers(first)(w) / max(1, outliers(second)(w))


@measure
def wins_outside(w: Wide, application: str) -> float:
    """Share of the instances where HLP-EST is ahead, and the application is another."""
    wins = w.rows.application[w.curve("hlp-est", "hlp-ols") < 1 - 1e-9]
    return float((wins != application).sum() / len(w.rows))


@measure
def eft_over_er_ls(cube: float, most: int) -> float:
    """The least quotient of the two formulas over m and k with cube k^3 at most m."""
    return min(
        (m + k) / k**2 * (1 - exp(-k)) / (4 * sqrt(m / k))
        for m in range(1, most + 1)
        for k in range(1, 1 + round(most ** (1 / 3)))
        if cube * k**3 <= m
    )


def greatest_in_box(above: str, below: str, application: str) -> StudyMeasure[Curve]:
    """A box plot, and its greatest ratio, of which the text tells that it is at most 2."""
    key = above, below, application
    return f.picture(f.box(*key), of("greatest", *key), (0, 2), "its greatest is {:.3f}")


def mean_in_box(
    above: str, below: str, application: str, low: float, high: float
) -> StudyMeasure[Curve]:
    """A box plot, and its mean, of which the text tells where it is."""
    key = above, below, application
    return f.picture(f.box(*key), of("mean", *key), (low, high), "its mean is {:.3f}")


def means_in_order(name: str, worse: str, better: str, application: str) -> StudyMeasure[Curve]:
    """A rule's box plot, and whether of two rules one has the greater mean."""
    keys = {each: (each, "LP*", application) for each in RULES}
    says = "means of makespan / LP*: er-ls {1:.3f}, eft {2:.3f}, greedy {3:.3f}"
    return f.picture(
        f.box(name, "LP*", application), _mean_ratio(keys, worse, better), (1, inf), says
    )


def curves_in_order(name: str, worse: str, better: str, application: str) -> StudyMeasure[Curve]:
    """A rule's curve against sqrt(m/k), and whether of two rules one has the greater mean."""
    keys = {each: (application, each) for each in RULES}
    says = "means over sqrt(m/k): er-ls {1:.2f}, eft {2:.2f}, greedy {3:.2f}"
    points = f.points("{:.2f}: {:.2f}", application, name)
    return f.picture(points, _mean_ratio(keys, worse, better), (1, inf), says)


def _mean_ratio(keys: Mapping[str, tuple[str, ...]], worse: str, better: str) -> StudyMeasure[Any]:
    """Return one rule's mean over another's; the means of all."""
    means = (of("mean", *key) for key in keys.values())
    return f.several(f.over("mean", keys[worse], keys[better]), *means)


def cube_root(_: pd.DataFrame) -> float:
    """The paper's condition on k and m."""
    return 1.0


def _instead(frame: pd.DataFrame, others: pd.DataFrame, reading: str) -> Wide:
    """Return the instances with the makespans that another reading gives its algorithms."""
    ours, named = wide(frame), others[others.reading == reading]
    table = wide(named).rows.set_index(_KEYS)
    rows = ours.rows.set_index(_KEYS)
    for name in named.algorithm.unique():
        rows[name] = table[name].reindex(rows.index).fillna(rows[name])
    return Wide(rows.reset_index())


def by_glpk(frame: pd.DataFrame, others: pd.DataFrame) -> Wide:
    """Two types, with the optimum of HLP that GLPK returns."""
    return _instead(frame, others, "glpk")


def by_level(frame: pd.DataFrame, others: pd.DataFrame) -> Wide:
    """On-line, with arrivals by level."""
    return _instead(frame, others, "levels")


GLPK = Reading(
    "the optimum of HLP that GLPK returns, on the smaller graphs", (TWO, READINGS), by_glpk
)
BY_LEVEL = Reading("tasks arrive by their level in the graph", (ONLINE, READINGS), by_level)


def fewer_gpus(_: pd.DataFrame) -> float:
    """A condition with which the formulas are in that order: m/k^2 over 4 sqrt(m/k) is above 1
    from m = 16 k^3 on, and 1 - e^-k weighs most at k = 1."""
    return 41.0


FEWER_GPUS = Reading("k at most the cube root of m / 41", (THEOREMS,), fewer_gpus)
