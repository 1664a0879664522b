"""What the claims of Amaris et al. 2017 measure, and the checks that explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosched.experiments.ledger import Check
from cosched.experiments.measures import Measure, Table, among, box, listed, measure, of, said

if TYPE_CHECKING:
    import pandas as pd

TWO, THREE, ONLINE, THEOREMS = "dags-fig3-4", "dags-fig5", "dags-fig6-7", "dags-theorems"
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

    rows: pd.DataFrame

    def curve(
        self, above: str, below: str = "LP*", application: str = "", root: float = 0.0
    ) -> pd.Series:
        """One over another, on the instances of an application and of machines."""
        some = self.rows
        if application:
            some = some[some.application == application]
        if root:
            some = some[(some.sqrt - root).abs() < 1e-6]
        if some.empty:
            raise LookupError(f"{application} at {root}")
        return some[above] / some[below]


def wide(frame: pd.DataFrame) -> Wide:
    """All graphs that the paper speaks of."""
    known = frame[~frame.graph.str.contains(_TWENTY_PHASES)]
    rows = known.assign(units=known.units.astype(str))
    table = rows.pivot(index=_KEYS, columns="algorithm", values="value").reset_index()
    table = table.assign(sqrt=(table.cpus / table.gpus) ** 0.5)
    root = table.sqrt * table["LP*"]
    return Wide(table.assign(root=root, guarantee=4 * root))


def sizes(frame: pd.DataFrame) -> Table:
    """Numbers of tasks, a column a graph."""
    names = frame.graph.str.rpartition("/")[2]
    return Table(frame.groupby(names).tasks.min().to_frame().T)


def seconds(frame: pd.DataFrame) -> Table:
    """The longest run, a column an algorithm."""
    return Table(frame.groupby("algorithm")["seconds"].max().to_frame().T)


def theorems(frame: pd.DataFrame) -> Table:
    """The ratio on the family of a theorem, by its name, m, k and Q."""
    return Table(frame.set_index(["theorem", "m", "k", "types"])[["ratio"]].T)


def by_root(frame: pd.DataFrame) -> Table:
    """Mean makespan / LP* by sqrt(m/k): (application, rule); ``guarantee`` is 4 sqrt(m/k)."""
    import pandas as pd

    w = wide(frame)
    curves = {
        (a, name): [w.curve(name, "LP*", a, root).mean() for root in ROOTS]
        for a in ROOTED
        for name in RULES
    }
    return Table(pd.DataFrame({**curves, ("guarantee", ""): [4 * r for r in ROOTS]}, list(ROOTS)))


# --- measures -----------------------------------------------------------------------------


def outliers(name: str, *applications: str) -> Measure[float]:
    """Outliers of an algorithm's boxes of makespan / LP*."""
    boxes = applications or APPLICATIONS
    return among("sum", *(of("outliers", name, "LP*", a) for a in boxes))


@measure
def outliers_over(w: Wide, first: str, second: str) -> float:
    """Outliers of one over those of another."""
    return outliers(first)(w) / max(1, outliers(second)(w))


@measure
def wins_outside(w: Wide, application: str) -> float:
    """Share of the instances where HLP-EST is ahead, and the application is another."""
    return float((_wins(w) != application).sum() / len(w.rows))


def _wins(w: Wide) -> Any:
    """The applications of the instances where HLP-EST is ahead."""
    return w.rows.application[w.curve("hlp-est", "hlp-ols") < 1 - 1e-9]


# --- checks -------------------------------------------------------------------------------


def pairs(study: str, *chosen: tuple[str, str]) -> Check:
    """Mean, least and greatest of pairs by application."""

    def run(w: Wide) -> str:
        keys = [(*pair, a) for pair in chosen for a in (*APPLICATIONS, "")]
        return "; ".join(f"{x}/{y} {a or 'all'} {box(x, y, a)(w)}" for x, y, a in keys)

    return Check("pairs-by-application", (study,), run, wide)


@measure
def far_above(w: Wide, name: str, limit: float) -> str:
    """Where ratios to LP* are above a limit."""
    ratio = w.curve(name)
    above = w.rows[ratio > limit]
    worst = w.rows.iloc[int(ratio.to_numpy().argmax())]
    forks = f" ({(above.application == 'fork-join').sum()} fork-joins)" if len(above) else ""
    return (
        f"{name}: {len(above)} of {len(ratio)} instances above {limit:g}{forks}, greatest "
        f"{ratio.max():.3f} on {worst.graph.rpartition('/')[2]} with {worst.units} units, "
        f"99th percentile {ratio.quantile(0.99):.3f}"
    )


def boxes_outliers(name: str) -> Measure[str]:
    """Outliers of an algorithm's boxes by application."""
    form = ", ".join(f"{a} {{:.0f}}" for a in (*APPLICATIONS, "all"))
    return said(f"{name}: {form}", *(outliers(name, a) for a in APPLICATIONS), outliers(name))


@measure
def ahead(w: Wide) -> str:
    """Where HLP-EST wins, and by how much."""
    least = w.curve("hlp-est", "hlp-ols").min()
    counts = listed(((n, a) for a, n in _wins(w).value_counts().items()), "{} {}")
    return f"HLP-EST is ahead on {counts}, by at most {100 * (1 - least):.2f}%"


# --- theorems: of the rows themselves -----------------------------------------------------


def family(theorem: str) -> Check:
    """The ratios on all of a theorem's family."""

    def run(frame: pd.DataFrame) -> str:
        rows = frame[frame.theorem == theorem][["m", "k", "types", "ratio", "paper_ratio"]]
        form = "m {}, k {}, Q {}: {:.4f} of {:.4f}"
        return f"ratio reached of the paper's: {listed(rows.itertuples(index=False), form)}"

    return Check("family", (THEOREMS,), run)
