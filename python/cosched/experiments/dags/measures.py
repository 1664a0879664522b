"""What the claims of Amaris et al. 2017 measure, and the checks that explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosched.experiments.ledger import Check
from cosched.experiments.measures import Table, box, listed, measure

if TYPE_CHECKING:
    import pandas as pd

TWO, THREE, ONLINE, THEOREMS = "dags-fig3-4", "dags-fig5", "dags-fig6-7", "dags-theorems"
NAMES = {"hlp-est": "HLP-EST", "hlp-ols": "HLP-OLS", "heft": "HEFT"}
RULES = ("er-ls", "eft", "greedy")
#: sqrt(m/k) of the machines, and the applications, of Figure 6 right.
ROOTS = (1.0, 2**0.5, 2.0, 8**0.5, 4.0, 32**0.5, 8.0)
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
    seconds: Mapping[str, float]
    tasks: Mapping[str, int]

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

    @property
    def applications(self) -> list[str]:
        """As the paper orders them."""
        return sorted(self.rows.application.unique())

    def outliers(self, name: str, applications: tuple[str, ...] = ()) -> int:
        """Points that box plots of makespan / LP* draw alone: beyond 1.5 quartile ranges."""
        count = 0
        for application in applications or self.applications:
            ratio = self.curve(name, "LP*", application)
            low, high = ratio.quantile([0.25, 0.75])
            reach = 1.5 * (high - low)
            count += int(((ratio < low - reach) | (ratio > high + reach)).sum())
        return count


def wide(frame: pd.DataFrame) -> Wide:
    """All graphs that the paper speaks of."""
    known = frame[~frame.graph.str.contains(_TWENTY_PHASES)]
    rows = known.assign(units=known.units.astype(str))
    table = rows.pivot(index=_KEYS, columns="algorithm", values="value").reset_index()
    groups = frame.groupby("algorithm").seconds if "seconds" in frame else ()
    longest = {str(name): float(each.max()) for name, each in groups}
    tasks = frame.drop_duplicates("graph").set_index("graph").tasks
    table = table.assign(sqrt=(table.cpus / table.gpus) ** 0.5)
    root = table.sqrt * table["LP*"]
    return Wide(table.assign(root=root, guarantee=4 * root), longest, dict(tasks))


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


@measure
def outliers(w: Wide, name: str, *applications: str) -> float:
    """Outliers of an algorithm's boxes."""
    return float(w.outliers(name, tuple(a for a in applications if a in w.applications)))


@measure
def outliers_over(w: Wide, first: str, second: str) -> float:
    """Outliers of one over those of another."""
    return w.outliers(first) / max(1, w.outliers(second))


@measure
def tasks(w: Wide, member: str) -> float:
    """Tasks of a graph of the benchmark."""
    return float(min(n for graph, n in w.tasks.items() if graph.endswith(f"/{member}.txt")))


@measure
def seconds(w: Wide, *names: str) -> float:
    """The longest run of some algorithms."""
    return max(w.seconds[name] for name in names)


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
        keys = [(*pair, a) for pair in chosen for a in (*w.applications, "")]
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


@measure
def boxes_outliers(w: Wide, name: str) -> str:
    """Outliers of an algorithm's boxes by application."""
    some = ((a, w.outliers(name, (a,))) for a in w.applications)
    return f"{name}: {listed(some, '{} {}')}, all {w.outliers(name)}"


@measure
def ahead(w: Wide) -> str:
    """Where HLP-EST wins, and by how much."""
    least = w.curve("hlp-est", "hlp-ols").min()
    counts = listed(((n, a) for a, n in _wins(w).value_counts().items()), "{} {}")
    return f"HLP-EST is ahead on {counts}, by at most {100 * (1 - least):.2f}%"


# --- theorems: of the rows themselves -----------------------------------------------------


@measure
def reached(frame: pd.DataFrame, theorem: str, m: int, k: int, types: int) -> float:
    """The ratio on the family of a theorem."""
    rows = frame[(frame.theorem == theorem) & (frame.m == m) & (frame.k == k)]
    return float(rows[rows.types == types].ratio.iloc[0])


def family(theorem: str) -> Check:
    """The ratios on all of a theorem's family."""

    def run(frame: pd.DataFrame) -> str:
        rows = frame[frame.theorem == theorem][["m", "k", "types", "ratio", "paper_ratio"]]
        form = "m {}, k {}, Q {}: {:.4f} of {:.4f}"
        return f"ratio reached of the paper's: {listed(rows.itertuples(index=False), form)}"

    return Check("family", (THEOREMS,), run)
