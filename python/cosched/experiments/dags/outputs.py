"""Tables and figures of the studies of dags.

Every function takes the frame of a study: a row an (application, graph, units, algorithm).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosched import plot
from cosched.dags import plots
from cosched.lazy import pd, plt

#: Stands for an algorithm in the task that computes LP*.
BOUND = "LP*"
OFFLINE = ("hlp-est", "hlp-ols", "heft", "hlp-best")
#: sqrt(m/k) of the least and the greatest machine.
ROOTS = (1.0, 8.0)
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
TWO_TYPES, THREE_TYPES = {**_OFFLINE_PAIRS, **_OWN_PAIRS}, {**_THREE_TYPE_PAIRS, **_OWN_PAIRS}
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


def _offline(wide: pd.DataFrame) -> list[str]:
    """The off-line algorithms that were run."""
    return [name for name in OFFLINE if name in wide]


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
    parts = []
    for label, (above, below) in pairs.items():
        ratio = wide[above] / wide[below]
        by_application = ratio.groupby(wide.application).agg(["mean", "min", "max"])
        by_application.loc["all"] = ratio.agg(["mean", "min", "max"])
        parts.append(by_application.reset_index(names="application").assign(ratio=label))
    table = pd.concat(parts).rename(columns={"min": "least", "max": "greatest"})
    return table[["ratio", "application", "mean", "least", "greatest"]].round(4)


def online_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Makespan / LP*, pairs, mean ratio against sqrt(m / k): on-line."""
    return {
        **tables(_ONLINE_PAIRS, frame),
        "competitive": _competitive_table(_wide(frame)),
    }


def tables(pairs: Pairs, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Makespan / LP*, and of those pairs that were run one over the other."""
    wide = _wide(frame)
    there = {label: pair for label, pair in pairs.items() if set(pair) <= set(wide.columns)}
    return {"ratio-to-lp": _ratio_table(wide), "pairs": _pair_table(wide, there)}


def _competitive_table(wide: pd.DataFrame) -> pd.DataFrame:
    """Mean makespan / LP* for each value of sqrt(m / k)."""
    names = _algorithms(wide)
    root = (wide.cpus / wide.gpus) ** 0.5
    means = wide[names].div(wide.lp, axis=0).groupby(root).mean()
    return means.round(4).reset_index(names="sqrt(m/k)").round({"sqrt(m/k)": 4})


# --- figures ------------------------------------------------------------------------------


def _picture(wide: pd.DataFrame, pairs: Pairs | Sequence[str], title: str) -> plt.Figure:
    figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
    plots.ratios(wide, pairs, ax=ax)
    ax.set_title(title, fontsize=10)
    return figure


def offline_figures(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    """Figures 3 and 4."""
    wide = _wide(frame)
    return {
        "fig3": _picture(wide, _offline(wide), "2 types, off-line: makespan / LP*"),
        "fig4": _picture(wide, _OFFLINE_PAIRS, "2 types, off-line: pairs"),
    }


def three_type_figures(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    """Figure 5."""
    wide = _wide(frame)
    pairs = {"QHEFT / QHLP-OLS": _THREE_TYPE_PAIRS["QHEFT / QHLP-OLS"]}
    return {
        "fig5-left": _picture(wide, _offline(wide), "3 types, off-line: makespan / LP*"),
        "fig5-right": _picture(wide, pairs, "3 types, off-line: QHEFT / QHLP-OLS"),
    }


def online_figures(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    """Figures 6 and 7."""
    wide = _wide(frame)
    shown = [name for name in ("potri", "fork-join") if (wide.application == name).any()]
    figure, axes = plt.subplots(1, len(shown), figsize=(10, 4), layout="constrained", squeeze=False)
    for ax, application in zip(axes[0], shown, strict=True):
        some = wide[wide.application == application]
        ratio = some[list(ONLINE[:3])].div(some.lp, axis=0)
        long = ratio.assign(root=(some.cpus / some.gpus) ** 0.5).melt("root", var_name="algorithm")
        plot.lines(long, "root", "value", ax=ax)
        ax.plot(ROOTS, ROOTS, color="grey", linewidth=0.8, label="sqrt(m/k)")
        ax.set(title=application, xlabel="sqrt(m / k)", ylabel="makespan / LP*")
    return {
        "fig6-left": _picture(wide, ONLINE[:3], "on-line: makespan / LP*"),
        "fig6-right": figure,
        "fig7": _picture(wide, _ONLINE_PAIRS, "on-line: pairs"),
    }


def readings_tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean makespan by reading, application and algorithm."""
    means = frame.groupby(["reading", "algorithm", "application"], sort=False).value.mean()
    return {"readings": means.unstack("application").reset_index().rename_axis(columns=None)}
