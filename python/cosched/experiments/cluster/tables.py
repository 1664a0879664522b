"""Tables 2 to 5, Figures 1, 3 and 4: degradation of the stretch, costs, the period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cosched import plot
from cosched.cluster import TABLE_2, paper_policies
from cosched.experiments.cluster import table_cells, traces
from cosched.experiments.cluster.table_cells import paper_table
from cosched.experiments.study import Task, with_registered
from cosched.lazy import pd, plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Policies of Table 2 that Figure 1 leaves out: the GreedyP versions.
NOT_DRAWN = tuple(name for name in TABLE_2 if name.startswith("GreedyP") and "PM" not in name)
#: Columns of the paper's Table 2 that hold the numbers of a set of traces begin here.
_COLUMN = {"weeks": 0, "generated": 0, "unscaled": 3, "scaled": 6}


def _times(chosen: list[Task], policies: Sequence[str]) -> list[Task]:
    names = with_registered("cluster", policies)
    return [{**trace, "algorithm": name} for trace in chosen for name in names]


def plan_table2(quick: bool) -> list[Task]:
    """The real weeks and the unscaled traces x the 20 policies of Table 2."""
    if quick:
        return _times(traces.real(True, 4) + traces.unscaled(2, 300), TABLE_2)
    return _times(traces.real(False, 0) + traces.unscaled(100), TABLE_2)


def plan_table5(quick: bool) -> list[Task]:
    """The real weeks x the batch policies and all 116 DFRS policies."""
    return _times(traces.real(quick, 2), ("FCFS", "EASY", *paper_policies()))


def plan_figure1(quick: bool) -> list[Task]:
    """The scaled synthetic traces x the 20 policies of Table 2."""
    return _times(
        traces.scaled(2, 200, traces.LOADS[::2]) if quick else traces.scaled(100), TABLE_2
    )


def degradation(rows: pd.DataFrame, number: int) -> pd.DataFrame:
    """Average, standard deviation and maximum a policy, beside the paper's Table `number`.

    ``factor`` is our average over the paper's.
    """
    first = _COLUMN[rows.traces.iloc[0]]
    theirs = {name: cells[first : first + 3] for name, cells in paper_table(number).items()}
    names = list(dict.fromkeys(rows.algorithm))
    printed = pd.DataFrame(
        [theirs.get(name, (float("nan"),) * 3) for name in names],
        index=names,
        columns=["paper avg", "paper std", "paper max"],
    )
    ours = rows.groupby("algorithm", sort=False).degradation.agg(["mean", "std", "max"])
    ours = ours.rename(columns={"mean": "avg"}).round(1)
    table = ours.join(printed)
    table["factor"] = (table["avg"] / table["paper avg"]).round(2)
    return table.reset_index(names="algorithm")


def degradations(number: int, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A table a set of traces, beside the paper's Table `number`."""
    groups = frame.groupby("traces", sort=False)
    return {str(name): degradation(rows, number) for name, rows in groups}


def means_by_load(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean degradation, a row a policy, a column a load."""
    means = frame.groupby(["algorithm", "load"], sort=False).degradation.mean().unstack("load")
    means.columns = [f"load {load:g}" for load in means.columns]
    return means.round(1).reset_index()


def tables_figure1(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {"table2-scaled": degradation(frame, 2), "means": means_by_load(frame)}


def figures1(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figure 1."""
    figure, ax = plt.subplots(figsize=(10, 5), layout="constrained")
    drawn_rows = frame[~frame.algorithm.isin(NOT_DRAWN)]
    plot.lines(drawn_rows, "load", "degradation", ax=ax).set_yscale("log")
    ax.set(xlabel="offered load", ylabel="degradation from bound")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return {"fig1": figure}


BEST = "GreedyPM */per/opt=min/minvt=600"
#: Figures 3 and 4: from 2 to 40 times the rescheduling penalty of 300 s; above 12,000 s is its
#: appendix's.
PERIODS = (600, 900, 1200, 1800, 2400, 3600, 4800, 6000, 9000, 12000, 15000, 18000, 24000)
#: The paper's numbers for the whole log, which it gives in Section 6.4.2.
_WHOLE_LOG = {"EASY": 0.08, "GreedyP */per/opt=min/minvt=600": 0.10, BEST: 0.10}
#: Measure of a simulation -> column of Table 3.
MEASURES = {
    "preemption_bandwidth": "pmtn GB/s",
    "migration_bandwidth": "mig GB/s",
    "preemptions_per_hour": "pmtn/h",
    "migrations_per_hour": "mig/h",
    "preemptions_per_job": "pmtn/job",
    "migrations_per_job": "mig/job",
}


def plan_table3(quick: bool) -> list[Task]:
    """The scaled traces with load >= 0.7 x the policies of Table 3."""
    loads = (0.7, 0.8, 0.9)
    chosen = traces.scaled(1, 300, loads) if quick else traces.scaled(100, 1000, loads)
    names = with_registered("cluster", table_cells.paper_table(3))
    return [{**trace, "algorithm": name} for trace in chosen for name in names]


def plan_table4(quick: bool) -> list[Task]:
    """All sets of traces, and the whole log twice, x EASY and the two best policies."""
    if quick:
        chosen = (
            traces.real(True, 6) + traces.unscaled(4, 300) + traces.scaled(2, 300, (0.1, 0.5, 0.9))
        )
    else:
        # Long tasks first: no worker is idle at the end.
        chosen = traces.whole_log() + traces.real(False, 0)
        chosen += traces.unscaled(100) + traces.scaled(100)
    names = with_registered("cluster", table_cells.paper_table(4))
    pairs = [(trace, name) for trace in chosen for name in names]
    if not quick:
        dfrs = [name for name in table_cells.paper_table(4) if name != "EASY"]
        pairs += [(trace, name) for trace in traces.whole_log_without_penalty() for name in dfrs]
    return [{**trace, "algorithm": name} for trace, name in pairs]


def plan_periods(quick: bool) -> list[Task]:
    """Every trace x the best policy at each period, and EASY."""
    if quick:
        chosen = traces.real(True, 4) + traces.unscaled(2, 300) + traces.scaled(1, 300, (0.3, 0.8))
    else:
        chosen = traces.real(False, 0) + traces.unscaled(100) + traces.scaled(100)
    periods = PERIODS[::3] if quick else PERIODS
    return [
        {**trace, "algorithm": name, "period": period}
        for trace in chosen
        for name, period in (("EASY", None), *((BEST, period) for period in periods))
    ]


def tables3(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean (and maximum) of each measure a policy, the paper's beside it."""
    theirs = table_cells.paper_table(3)
    rows = []
    for name, rows_of_algorithm in frame.groupby("algorithm", sort=False):
        row: dict[str, object] = {"algorithm": name}
        for place, (measure, title) in enumerate(MEASURES.items()):
            row[title] = _with_maximum(
                rows_of_algorithm[measure].mean(), rows_of_algorithm[measure].max()
            )
            cells = theirs.get(str(name))
            row[f"paper {title}"] = (
                _with_maximum(*cells[2 * place : 2 * place + 2]) if cells else ""
            )
        rows.append(row)
    return {"table3": pd.DataFrame(rows)}


def _with_maximum(mean: float, most: float) -> str:
    return f"{mean:.2f} ({most:.2f})"


def tables4(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean normalised underutilisation a policy and set of traces, the paper's beside it."""
    places = {"weeks": 0, "generated": 0, "unscaled": 1, "scaled": 2}
    theirs = table_cells.paper_table(4)
    rows = []
    for name, rows_of_algorithm in frame.groupby("algorithm", sort=False):
        for kind, each in rows_of_algorithm.groupby("traces", sort=False):
            printed = (
                _WHOLE_LOG.get(str(name))
                if str(kind).startswith("log")
                else theirs.get(str(name), (None,) * 3)[places[str(kind)]]
            )
            mean = each.underutilisation.mean()
            rows.append(
                {
                    "traces": traces.TITLES[str(kind)],
                    "algorithm": name,
                    "underutilisation": round(mean, 3),
                    "paper": printed,
                    "factor": round(mean / printed, 2) if printed else None,
                }
            )
    order = list(traces.TITLES.values())
    table = pd.DataFrame(rows)
    return {"table4": table.sort_values("traces", key=lambda t: t.map(order.index), kind="stable")}


def tables_periods(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean underutilisation and degradation a period; EASY's beside them."""
    means = _by_period(frame)
    return {"fig3-4": means.assign(traces=means.traces.map(traces.TITLES)).round(3)}


def _by_period(frame: pd.DataFrame) -> pd.DataFrame:
    ours = frame[frame.algorithm == BEST]
    keys = ["traces", "period"]
    columns = ["underutilisation", "degradation", "preemption_bandwidth", "migration_bandwidth"]
    means = ours.groupby(keys, sort=False)[columns].mean().reset_index()
    easy = frame[frame.algorithm == "EASY"].groupby("traces").underutilisation.mean()
    return means.assign(**{"underutilisation of EASY": means.traces.map(easy)})


def figures_periods(frame: pd.DataFrame) -> dict[str, Figure]:
    """Figure 3, a panel a set of traces, and Figure 4."""
    means = _by_period(frame)
    sets = list(dict.fromkeys(means.traces))
    third, axes = plt.subplots(
        1, len(sets), figsize=(1 + 3.6 * len(sets), 3.4), layout="constrained", squeeze=False
    )
    fourth, below = plt.subplots(figsize=(7, 4), layout="constrained")
    for ax, kind in zip(axes[0], sets, strict=True):
        rows_of_kind = means[means.traces == kind].sort_values("period")
        ax.plot(rows_of_kind.period, rows_of_kind.underutilisation, "o:", label=BEST)
        ax.axhline(
            rows_of_kind["underutilisation of EASY"].iloc[0], label="EASY", color="tab:orange"
        )
        ax.set_title(traces.TITLES[str(kind)], fontsize=10)
        ax.set_xlabel("period (s)")
        ax.set_ylim(bottom=0)
        below.plot(
            rows_of_kind.period, rows_of_kind.degradation, "o-", label=traces.TITLES[str(kind)]
        )
    axes[0][0].set_ylabel("normalised underutilisation")
    axes[0][0].legend(fontsize=7)
    below.set_xlabel("period (s)")
    below.set_ylabel("degradation from bound")
    below.set_ylim(bottom=0)
    below.set_title(BEST, fontsize=10)
    below.legend(fontsize=8)
    return {"fig3": third, "fig4": fourth}
