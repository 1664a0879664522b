"""What the claims of Casanova, Stillwell, Vivien 2011 measure of rows that are no table's cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.experiments.cluster.table_cells import Cells, Sets
from cosched.experiments.measures import Table, measure, of
from cosched.experiments.tolerances import Seen

if TYPE_CHECKING:
    import pandas as pd

#: The longest period of Figures 3 and 4; the appendix tries longer ones.
LONGEST = 12_000


def theorems(frame: pd.DataFrame) -> Table:
    """Ratios on the families of the proofs: (what; family, jobs)."""
    rows = frame.assign(
        over_delta=frame.ratio / frame.of_delta,
        over_jobs=frame.value / frame.jobs,
        over_lengths=frame.ratio / frame.delta,
    )
    values = ["ratio", "over_delta", "over_jobs", "over_lengths"]
    return Table(rows.pivot(index="draw", columns=["family", "jobs"], values=values))


def facts(frame: pd.DataFrame) -> Table:
    """What the traces hold: (what, set of traces)."""
    return Table(frame[frame.reading == "facts"].pivot(index="trace", columns="traces"))


def mcb8(frame: pd.DataFrame) -> Table:
    """MCB8's calls by trace; those for few jobs: percent, how many are fast; all others."""
    small, calls = frame.small, frame.calls
    fast = small - frame.seconds_small_slow
    return Table(frame.assign(share=100 * small / calls, fast=fast, large=calls - small))


def by_load(frame: pd.DataFrame) -> Table:
    """Mean degradation by load, a column a policy in the order of the rows."""
    means = frame.round({"load": 1}).pivot_table("degradation", "load", "algorithm")
    return Table(means[list(frame.algorithm.unique())])


def at_load(frame: pd.DataFrame) -> Sets:
    """The same, as cells of each load."""
    return {
        load: Cells({("avg", str(name)): Seen(value) for name, value in row.items()})
        for load, row in by_load(frame).wide.iterrows()
    }


def by_period(frame: pd.DataFrame) -> Table:
    """Means of the best policy by period: (what, set of traces).

    ``short`` before a column leaves out the appendix's periods, ``long`` is there if they are,
    ``EASY`` is that of EASY at every period,
    ``busy`` the GB/s of all events on the scaled traces with load 0.7 and more.
    """
    best = frame[frame.algorithm != "EASY"]
    columns = ["underutilisation", "degradation"]
    wide = best.pivot_table(columns, "period", "traces")
    easy = frame[frame.algorithm == "EASY"].groupby("traces")[columns].mean()
    for column, kind in ((column, kind) for column in columns for kind in easy.index):
        wide[f"short {column}", kind] = wide[column, kind].where(wide.index <= LONGEST)
        wide[f"EASY {column}", kind] = easy[column][kind]
        if wide.index.max() > LONGEST:
            wide[f"long {column}", kind] = wide[column, kind]
    loaded = best[(best.traces == "scaled") & (best["load"] > 0.65)].groupby("period")
    bandwidths = loaded[["preemption_bandwidth", "migration_bandwidth"]].mean()
    wide["busy", "scaled"] = bandwidths.sum(axis=1)
    return Table(wide)


@measure
def not_worse(cells: Cells, *pairs: tuple[str, str]) -> float:
    """Share of the pairs whose first is not worse, to the digit that the paper prints."""
    good = [round(a, 1) <= round(b, 1) for a, b in (cells.curve("avg", *pair) for pair in pairs)]
    return sum(good) / len(good)


@measure
def policies(cells: Cells) -> float:
    """How many of our policies there are."""
    return float(len({name for _, name in cells.found} - {"FCFS", "EASY"}))


@measure
def share_better(cells: Cells, name: str, *others: str) -> float:
    """Share of the others that are better than a policy."""
    return float((cells.curve("avg", *others) < cells.found["avg", name].value).mean())


@measure
def crossing(table: Table, kind: str) -> float:
    """The first period from which on underutilisation is below EASY's."""
    ours = table.curve("short underutilisation", kind)
    above = ours[ours >= table.curve("EASY underutilisation", kind)[ours.index]]
    rest = ours if above.empty else ours[ours.index > above.index[-1]]
    return float("inf") if rest.empty else float(rest.index[0])


@measure
def growth(table: Table, column: str, kind: str) -> float:
    """What a 20-fold period makes of the mean."""
    curve = table.curve(column, kind)
    return float(curve.loc[LONGEST] / curve.loc[600])


@measure
def steady_fall(table: Table, kind: str) -> tuple[float, float, float]:
    """The share of the steps at which it falls, or 0 where it has not fallen; growth; the share."""
    grown = growth("underutilisation", kind)(table)
    share = of("share of falls", "short underutilisation", kind)(table)
    return share if grown < 1 else 0.0, grown, share
