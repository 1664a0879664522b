"""Tables, figures and charts of the studies of dags, the paper's findings beside ours.

Every function takes the frame of a study: a row an (application, graph, units, algorithm).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cosched.dags import plots
from cosched.errors import optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from plotly.graph_objects import Figure as Chart

#: Stands for an algorithm in the task that computes LP*.
BOUND = "LP*"
OFFLINE = ("hlp-est", "hlp-ols", "heft", "hlp-best")
ONLINE = ("er-ls", "eft", "greedy", "random", "r1-ls", "r2-ls")

Pairs = Mapping[str, tuple[str, str]]
_OFFLINE_PAIRS: Pairs = {
    "HLP-EST / HLP-OLS": ("hlp-est", "hlp-ols"),
    "HEFT / HLP-OLS": ("heft", "hlp-ols"),
}
_THREE_TYPE_PAIRS: Pairs = {
    "QHEFT / QHLP-OLS": ("heft", "hlp-ols"),
    "QHLP-EST / QHLP-OLS": ("hlp-est", "hlp-ols"),
}
_OWN_PAIRS: Pairs = {
    "hlp-best / HLP-OLS": ("hlp-best", "hlp-ols"),
    "hlp-best / HEFT": ("hlp-best", "heft"),
}
_ONLINE_PAIRS: Pairs = {
    "Greedy / ER-LS": ("greedy", "er-ls"),
    "EFT / ER-LS": ("eft", "er-ls"),
}


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """A row an instance, a column an algorithm; ``lp`` is LP*."""
    keys = ["application", "graph", "units", "cpus", "gpus"]
    rows = frame.assign(units=frame.units.astype(str))
    wide = rows.pivot(index=keys, columns="algorithm", values="value").reset_index()
    found = [name for name in frame.algorithm.unique() if name != BOUND]
    return wide[[*keys, BOUND, *found]].rename(columns={BOUND: "lp"})


def _algorithms(wide: pd.DataFrame) -> list[str]:
    return wide.loc[:, "lp":].columns.drop("lp").tolist()


# --- tables -------------------------------------------------------------------------------


def _ratio_table(wide: pd.DataFrame) -> pd.DataFrame:
    """Mean of makespan / LP* by application, over all instances, and the greatest."""
    names = _algorithms(wide)
    ratio = wide[names].div(wide.lp, axis=0)
    means = ratio.groupby(wide.application).mean()
    means.loc["all"] = ratio.mean()
    means.loc["greatest"] = ratio.max()
    return means.round(4).reset_index(names="application")


def _pair_table(wide: pd.DataFrame, pairs: Pairs) -> pd.DataFrame:
    """Mean, least and greatest of each pairwise ratio, by application and over all."""
    import pandas as pd

    parts = []
    for label, (above, below) in pairs.items():
        ratio = wide[above] / wide[below]
        by_application = ratio.groupby(wide.application).agg(["mean", "min", "max"])
        by_application.loc["all"] = ratio.agg(["mean", "min", "max"])
        parts.append(by_application.reset_index(names="application").assign(ratio=label))
    table = pd.concat(parts).rename(columns={"min": "least", "max": "greatest"})
    return table[["ratio", "application", "mean", "least", "greatest"]].round(4)


class _Findings:
    """Collects what the paper says and what these rows say to that."""

    def __init__(self, wide: pd.DataFrame) -> None:
        self.wide = wide
        self._rows: list[tuple[str, str, str, str]] = []

    def ratio(self, above: str, below: str, application: str | None = None) -> pd.Series:
        wide = self.wide
        some = wide if application is None else wide[wide.application == application]
        return some[above] / some[below]

    def sign(self, what: str, paper: float, here: float) -> None:
        """A difference in per cent, that has to agree in sign; NaN: no such instance."""
        if here == here:
            self._add(what, f"{paper:+.0%}", f"{here:+.1%}", paper * here > 0)

    def holds(self, what: str, paper: str, here: str, holds: bool) -> None:
        self._add(what, paper, here, holds)

    def greatest_ratio(self, names: Sequence[str]) -> None:
        greatest = float(self.wide[list(names)].div(self.wide.lp, axis=0).max().max())
        what = f"makespan / LP* of {', '.join(names)}"
        self.holds(what, "does not exceed 2", f"at most {greatest:.2f}", greatest <= 2)

    def _add(self, what: str, paper: str, here: str, holds: bool) -> None:
        self._rows.append((what, paper, here, "yes" if holds else "no"))

    def table(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._rows, columns=["finding", "paper", "here", "agrees"])


def offline_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Findings, makespan / LP*, pairs: two types, off-line."""
    wide = _wide(frame)
    found = _Findings(wide)
    est, heft = found.ratio("hlp-est", "hlp-ols"), found.ratio("heft", "hlp-ols")
    found.sign("HLP-EST / HLP-OLS, mean", 0.08, est.mean() - 1)
    found.sign("HEFT / HLP-OLS, mean", 0.02, heft.mean() - 1)
    found.sign(
        "HEFT / HLP-OLS, greatest in potri", 0.60, found.ratio("heft", "hlp-ols", "potri").max() - 1
    )
    irregular = found.ratio("heft", "hlp-ols", "fork-join").mean()
    found.holds(
        "HEFT / HLP-OLS, fork-join",
        "significantly worse than in others",
        f"mean {irregular:.3f}, over all {heft.mean():.3f}",
        irregular > heft.mean(),
    )
    better = wide.application[est < 1 - 1e-9]
    found.holds(
        "instances where HLP-EST beats HLP-OLS",
        "a few, in potri",
        f"{len(better)} of {len(wide)}: {_counts(better)}",
        len(better) < 0.1 * len(wide),
    )
    found.greatest_ratio(OFFLINE[:3])
    return {
        "findings": found.table(),
        "ratio-to-lp": _ratio_table(wide),
        "pairs": _pair_table(wide, {**_OFFLINE_PAIRS, **_OWN_PAIRS}),
    }


def three_type_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Findings, makespan / LP*, pairs: three types, off-line."""
    wide = _wide(frame)
    found = _Findings(wide)
    found.sign("QHEFT / QHLP-OLS, mean", -0.05, found.ratio("heft", "hlp-ols").mean() - 1)
    irregular = found.ratio("heft", "hlp-ols", "fork-join")
    found.sign("QHEFT / QHLP-OLS, least in fork-join", -0.45, irregular.min() - 1)
    found.sign("QHEFT / QHLP-OLS, greatest in fork-join", 0.36, irregular.max() - 1)
    mean = wide[list(OFFLINE[:3])].div(wide.lp, axis=0).mean()
    found.holds(
        "QHLP-EST, mean makespan / LP*",
        "worse than QHLP-OLS and QHEFT",
        f"{mean['hlp-est']:.3f}; QHLP-OLS {mean['hlp-ols']:.3f}, QHEFT {mean['heft']:.3f}",
        mean["hlp-est"] > max(mean["hlp-ols"], mean["heft"]),
    )
    found.greatest_ratio(OFFLINE[:3])
    return {
        "findings": found.table(),
        "ratio-to-lp": _ratio_table(wide),
        "pairs": _pair_table(wide, {**_THREE_TYPE_PAIRS, **_OWN_PAIRS}),
    }


def online_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Findings, makespan / LP*, pairs, mean ratio against sqrt(m / k): on-line."""
    import numpy as np

    wide = _wide(frame)
    found = _Findings(wide)
    greedy, eft = found.ratio("greedy", "er-ls"), found.ratio("eft", "er-ls")
    found.sign("Greedy / ER-LS, mean", 0.16, greedy.mean() - 1)
    found.sign("Greedy / ER-LS, potrs", -0.10, found.ratio("greedy", "er-ls", "potrs").mean() - 1)
    others = greedy.groupby(wide.application).mean().drop("potrs", errors="ignore") - 1
    found.holds(
        "Greedy / ER-LS, mean of each other application",
        "+8% to +36%",
        f"{others.min():+.1%} ({others.idxmin()}) to {others.max():+.1%} ({others.idxmax()})",
        bool(others.min() > 0),
    )
    found.sign(
        "Greedy / ER-LS, greatest in potri", 10, found.ratio("greedy", "er-ls", "potri").max() - 1
    )
    found.sign("EFT / ER-LS, mean", -0.11, eft.mean() - 1)
    found.sign(
        "EFT / ER-LS, least in fork-join", -0.60, found.ratio("eft", "er-ls", "fork-join").min() - 1
    )
    root = np.sqrt(wide.cpus / wide.gpus)
    ratio = wide["er-ls"] / wide.lp
    by_root = ratio.groupby(root).mean().loc[1 + 1e-9 :]  # at 1 no ratio can be smaller
    closest = (by_root / by_root.index).max()
    found.holds(
        "ER-LS, mean makespan / LP* against sqrt(m/k) > 1",
        "smaller",
        f"{closest:.2f} of it at most",
        closest < 1,
    )
    worst = float((ratio / (4 * root)).max())
    found.holds(
        "ER-LS, makespan / LP* against its guarantee 4 sqrt(m/k)",
        "far below",
        f"at most {worst:.2f} of it",
        worst < 1,
    )
    return {
        "findings": found.table(),
        "ratio-to-lp": _ratio_table(wide),
        "pairs": _pair_table(wide, _ONLINE_PAIRS),
        "competitive": _competitive_table(wide),
    }


def _counts(values: pd.Series) -> str:
    return ", ".join(f"{count} {name}" for name, count in values.value_counts().items()) or "none"


def _competitive_table(wide: pd.DataFrame) -> pd.DataFrame:
    """Mean makespan / LP* for each value of sqrt(m / k)."""
    names = _algorithms(wide)
    root = (wide.cpus / wide.gpus) ** 0.5
    means = wide[names].div(wide.lp, axis=0).groupby(root).mean()
    return means.round(4).reset_index(names="sqrt(m/k)").round({"sqrt(m/k)": 4})


# --- figures ------------------------------------------------------------------------------


def _picture(wide: pd.DataFrame, pairs: Pairs | Sequence[str], title: str) -> Figure:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
    plots.ratios(wide, pairs, ax=ax)
    ax.set_title(title, fontsize=10)
    return figure


def offline_figures(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figures 3 and 4."""
    wide = _wide(frame)
    return {
        "fig3": _picture(wide, OFFLINE, "2 types, off-line: makespan / LP*"),
        "fig4": _picture(wide, _OFFLINE_PAIRS, "2 types, off-line: pairs"),
    }


def three_type_figures(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figure 5."""
    wide = _wide(frame)
    pairs = {"QHEFT / QHLP-OLS": _THREE_TYPE_PAIRS["QHEFT / QHLP-OLS"]}
    return {
        "fig5-left": _picture(wide, OFFLINE, "3 types, off-line: makespan / LP*"),
        "fig5-right": _picture(wide, pairs, "3 types, off-line: QHEFT / QHLP-OLS"),
    }


def online_figures(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figures 6 and 7."""
    import matplotlib.pyplot as plt

    wide = _wide(frame)
    shown = [name for name in ("potri", "fork-join") if (wide.application == name).any()]
    figure, axes = plt.subplots(1, len(shown), figsize=(10, 4), layout="constrained", squeeze=False)
    for ax, application in zip(axes[0], shown, strict=True):
        plots.competitive(wide[wide.application == application], ONLINE[:3], ax=ax)
        ax.set_title(application, fontsize=10)
    return {
        "fig6-left": _picture(wide, ONLINE[:3], "on-line: makespan / LP*"),
        "fig6-right": figure,
        "fig7": _picture(wide, _ONLINE_PAIRS, "on-line: pairs"),
    }


# --- charts -------------------------------------------------------------------------------


def charts(frame: pd.DataFrame) -> dict[str, Chart]:
    """Distribution of makespan / LP* of each algorithm, by application."""
    px = optional("plotly.express", extra="studies")

    wide = _wide(frame)
    keys = ["application", "graph", "units"]
    ratio = wide[_algorithms(wide)].div(wide.lp, axis=0)
    long = wide[keys].join(ratio).melt(keys, var_name="algorithm", value_name="makespan / LP*")
    chart = px.box(
        long,
        x="application",
        y="makespan / LP*",
        color="algorithm",
        hover_data=["graph", "units"],
        points="outliers",
    )
    return {"ratio-to-lp": chart}
