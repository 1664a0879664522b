"""Tables 2 and 5 and Figure 1: degradation of the maximum stretch from its bound."""

from __future__ import annotations

from collections.abc import Sequence

from cosched import plot
from cosched.cluster import TABLE_2, paper_policies
from cosched.experiments.cluster import traces
from cosched.experiments.cluster.table_cells import paper_table
from cosched.experiments.study import Task, with_registered
from cosched.lazy import pd, plt

#: Policies of Table 2 that Figure 1 leaves out: the GreedyP versions.
NOT_DRAWN = tuple(name for name in TABLE_2 if name.startswith("GreedyP") and "PM" not in name)
#: Columns of the paper's Table 2 that hold the numbers of a set of traces begin here.
_COLUMN = {"weeks": 0, "generated": 0, "unscaled": 3, "scaled": 6}


# --- plans --------------------------------------------------------------------------------


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


# --- tables -------------------------------------------------------------------------------


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


def tables(number: int, frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A table a set of traces, beside the paper's Table `number`."""
    groups = frame.groupby("traces", sort=False)
    return {str(name): degradation(rows, number) for name, rows in groups}


def means_by_load(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean degradation, a row a policy, a column a load."""
    means = frame.groupby(["algorithm", "load"], sort=False).degradation.mean().unstack("load")
    means.columns = [f"load {load:g}" for load in means.columns]
    return means.round(1).reset_index()


def tables_figure1(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {
        "table2-scaled": degradation(frame, 2),
        "means": means_by_load(frame),
    }


# --- the picture -------------------------------------------------------------------------


def figures1(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    """Figure 1."""
    figure, ax = plt.subplots(figsize=(10, 5), layout="constrained")
    drawn = frame[~frame.algorithm.isin(NOT_DRAWN)]
    plot.lines(drawn, "load", "degradation", ax=ax).set_yscale("log")
    ax.set(xlabel="offered load", ylabel="degradation from bound")
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return {"fig1": figure}
