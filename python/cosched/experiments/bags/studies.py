"""The studies of Li et al. 2016: table 1, figure 3, Tarplee's data, a sweep; what claims see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import bags, plot, workloads
from cosched.bags import FAMILY, Instance, Result
from cosched.experiments.ledger import Reading
from cosched.experiments.measures import CurveTable
from cosched.experiments.study import Functions, Task, data_path, read_studies, with_registered
from cosched.lazy import pd, plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: TTB on the grid of the paper's section III alone: what the paper compares with TMS.
GRID = "ttb (grid)"
#: The paper's table 1: profit per unit of time of TMS and TTB for each gamma.
TABLE_1 = {
    1.0: (-0.6, 0.0),
    1.1: (985.1, 986.1),
    1.2: (1998.8, 2009.0),
    1.3: (3505.4, 3529.8),
    1.4: (5491.4, 5510.7),
    1.5: (7933.9, 7986.0),
}
_OURS = (GRID, "ttb", "ttb-exact", "ttb-best")


def _names_of_algorithms(wide: pd.DataFrame) -> list[str]:
    """Return our algorithms that were run."""
    return [name for name in _OURS if name in wide]


def wide_rates(frame: pd.DataFrame, index: str | list[str]) -> pd.DataFrame:
    """Profit rates: a column an algorithm, and the bound."""
    values = frame.pivot(index=index, columns="algorithm", values="value")
    values = values[list(dict.fromkeys(frame.algorithm))]
    return values.assign(bound=frame.groupby(index)["bound"].first()).rename_axis(columns=None)


def with_bound(frame: pd.DataFrame, index: str | list[str]) -> pd.DataFrame:
    """The same in rows, for a picture: the bound as one more algorithm."""
    wide = wide_rates(frame, index)
    long = wide.melt(var_name="algorithm", value_name="profit rate", ignore_index=False)
    return long.reset_index()


def table_1(programs: pd.DataFrame) -> pd.DataFrame:
    """The even split, with the paper's values beside ours."""
    wide = wide_rates(programs[programs.draw == 0], "gamma")
    table = wide.round(1).reset_index()
    table.insert(1, "paper TMS", [TABLE_1[gamma][0] for gamma in wide.index])
    table.insert(2, "paper TTB", [TABLE_1[gamma][1] for gamma in wide.index])
    return table


def advantage_1(programs: pd.DataFrame) -> pd.DataFrame:
    """Percent above TMS where there is a profit: the paper's, the even split, all splits."""
    wide = wide_rates(programs[programs.gamma > 1], ["draw", "gamma"])
    of_paper = [100 * (ttb / tms - 1) for tms, ttb in list(TABLE_1.values())[1:]]
    paper = [*of_paper, sum(of_paper) / len(of_paper)]
    rows = []
    for name in _names_of_algorithms(wide):
        percent = 100 * (wide[name] / wide["tms"] - 1)
        groups = [*percent.groupby("gamma"), ("mean", percent)]
        for (gamma, each), published in zip(groups, paper, strict=True):
            rows.append(
                {
                    "algorithm over tms": name,
                    "gamma": gamma,
                    "paper %": f"{published:.3f}" if name == GRID else "",
                    "even split %": each.xs(0, level="draw").mean(),
                    "least %": each.min(),
                    "mean %": each.mean(),
                    "greatest %": each.max(),
                }
            )
    return pd.DataFrame(rows).round(3)


def tarplee_gaps(rows: pd.DataFrame) -> pd.DataFrame:
    """Percent below the bound for each gamma."""
    wide = wide_rates(rows, "gamma")
    table = wide[["bound"]].round(1)
    for name in wide.columns.drop("bound"):
        table[f"{name} %"] = (100 * (wide["bound"] / wide[name] - 1)).round(3)
    table["goal of ttb-best %"] = [0.1 if gamma <= 1.11 else 0.4 for gamma in table.index]
    return table.reset_index()


def tarplee_over_tms(rows: pd.DataFrame) -> pd.DataFrame:
    """Percent above TMS for each gamma."""
    wide = wide_rates(rows, "gamma")
    table = wide[["tms"]].round(1)
    for name in _names_of_algorithms(wide):
        table[f"{name} %"] = (100 * (wide[name] / wide["tms"] - 1)).round(4)
    return table.reset_index()


def advantage(frame: pd.DataFrame, over: str = "tms") -> pd.DataFrame:
    """Ratio of each algorithm's profit rate to that of another, where both earn a profit."""
    wide = wide_rates(frame, ["q", "draw"]).drop(columns="bound")
    wide = wide[wide[over] > 0]
    ratio = wide.drop(columns=over).div(wide[over], axis=0)
    long = ratio.reset_index().melt(["q", "draw"], var_name="algorithm", value_name="ratio")
    return long[long.ratio > 0]


def tables_3(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean profit rates; percent above TMS."""
    means = wide_rates(frame, ["q", "draw"]).groupby("q").mean()
    ratio = advantage(frame)
    percent = ratio.assign(percent=100 * (ratio.ratio - 1))
    percentages = percent.groupby(["algorithm", "q"], sort=False).percent.agg(
        ["min", "mean", "max"]
    )
    percentages.columns = ["least %", "mean %", "greatest %"]
    return {
        "fig3": means.round(4).reset_index(),
        "advantage": percentages.round(3).rename_axis(["algorithm over tms", "q"]).reset_index(),
    }


TABLE, FIGURE = "bags-table1", "bags-fig3"
#: The lines of the paper's Table 1 that have a profit.
TABLE_1_WITH_PROFIT = [(gamma, pair) for gamma, pair in TABLE_1.items() if gamma > 1]


def percent_above(tms: float, ttb: float) -> float:
    """Percent by which TTB is above TMS, to three decimals."""
    return float(f"{100 * (ttb / tms - 1):.3f}")


def even(frame: pd.DataFrame) -> CurveTable:
    """Profit rates of the five programs on the even split by gamma, a column an algorithm."""
    return CurveTable(wide_rates(frame[(frame.data == "programs") & (frame.draw == 0)], "gamma"))


def splits(frame: pd.DataFrame) -> CurveTable:
    """Ratios to TMS by (split, gamma) above 1, where there is a profit."""
    rows = frame[(frame.data == "programs") & (frame.gamma > 1)]
    return CurveTable(_over_tms(wide_rates(rows, ["draw", "gamma"])))


def many_splits(frame: pd.DataFrame) -> CurveTable:
    """The same, of more than the even split."""
    if not frame.draw[frame.data == "programs"].any():
        raise LookupError("the even split alone")
    return splits(frame)


def by_size(frame: pd.DataFrame) -> CurveTable:
    """Mean profit rates by q, a column an algorithm, and the bound."""
    return CurveTable(wide_rates(frame, ["q", "draw"]).groupby("q").mean())


def draws(frame: pd.DataFrame) -> CurveTable:
    """Ratios to TMS by (q, draw) where both earn a profit: all, those of few and of many tasks."""
    wide = _over_tms(wide_rates(frame, ["q", "draw"]))
    q = wide.index.get_level_values("q")
    for name in list(wide):
        wide[f"{name}, few"], wide[f"{name}, many"] = wide[name][q <= 5], wide[name][q >= 20]
    return CurveTable(wide)


def bounds(frame: pd.DataFrame) -> CurveTable:
    """``over``: the bound over the profit rate of TTB, where it earns one."""
    ttb = frame[(frame.algorithm == GRID) & (frame.value > 0)]
    return CurveTable(ttb.assign(over=ttb.bound / ttb.value))


def _over_tms(wide: pd.DataFrame) -> pd.DataFrame:
    earns = wide[wide["tms"] > 0]
    ratio = earns.drop(columns="bound").div(earns["tms"], axis=0)
    return ratio.where(ratio > 0)


def _tms_tried(table: CurveTable) -> CurveTable:
    return CurveTable(table.wide.assign(**{GRID: table.wide["ttb"]}))


def splits_with_tms(frame: pd.DataFrame) -> CurveTable:
    """All splits, TTB with the makespan of TMS's plan."""
    return _tms_tried(many_splits(frame))


def draws_with_tms(frame: pd.DataFrame) -> CurveTable:
    """All draws, TTB with the makespan of TMS's plan."""
    return _tms_tried(draws(frame))


def mean_split(frame: pd.DataFrame) -> CurveTable:
    """Mean ratio to TMS over all splits, by gamma."""
    ratios = many_splits(frame).wide.groupby("gamma").mean()
    return CurveTable(ratios.assign(tms=1.0))


_TRIED = "the makespan of TMS's plan is tried too, as section IV proposes"
TMS_TRIED = Reading(_TRIED, (TABLE,), splits_with_tms)
TMS_TRIED_TOO = Reading(_TRIED, (FIGURE,), draws_with_tms)
MEAN_SPLIT = Reading("the mean of 40 other splits", (TABLE,), mean_split)


#: The paper's two, and ours.
ALGORITHMS = ("tms", GRID, "ttb", "ttb-exact", "ttb-best")
#: gamma = price / least cost of energy: of the paper's table 1, and of the data of Tarplee et al.
GAMMAS = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
TARPLEE_GAMMAS = tuple(round(1 + 0.01 * k, 2) for k in (*range(1, 16), *range(20, 51, 5)))
#: q of the paper's figure 3: 150 q tasks.
QS = tuple(range(1, 26))
TASKS = 12_000
_PROGRAMS = ("etc_apc", "openbenchmarking", "1204229-SU-CPUMONITO81_resource_data.csv")
_TARPLEE = ("etc_apc", "tarplee_9machBig")


def gamma_sweep(
    instance: Instance,
    gammas: Iterable[float] = GAMMAS,
    names: Sequence[str] = ("tms", "ttb", "ttb-exact", "ttb-best"),
    *,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """Every algorithm at every price, on one's own bag.

    A row a (gamma, algorithm): ``value`` (profit rate), ``bound``, ``gap``, ``makespan``,
    ``energy`` and the other columns of ``compare``.

    Parameters
    ----------
    instance : Instance
        Its own price is not used.
    gammas : iterable of float
        Prices as multiples of the least cost of energy.
    names : sequence of str
        Algorithms.
    time_limit : float, optional
        Seconds for each.
    """
    rows = [
        {"gamma": gamma, **row}
        for gamma in gammas
        for row, _ in FAMILY.compare_rows(
            instance.with_price(gamma=gamma), names, time_limit=time_limit
        )
    ]
    return pd.DataFrame(rows)


def _row(instance: Instance, algorithm: str) -> dict[str, Any]:
    if algorithm == GRID:
        result: Any = bags.ttb(instance, with_tms=False)
    else:
        result = bags.solve(instance, algorithm)
    assert isinstance(result, Result)
    assert result.bound is not None
    result.schedule.validate()
    return {
        "status": result.status,
        "value": result.value,
        "bound": result.bound.value,
        "gap": result.gap,
        "makespan": result.makespan,
        "energy": result.energy,
    }


def _plan_1(quick: bool) -> list[Task]:
    """Return bags x gamma x algorithms; bag 0 of the programs splits the tasks evenly."""
    names = with_registered("bags", ALGORITHMS)
    programs = [
        {"data": "programs", "draw": draw, "gamma": gamma}
        for draw in range(3 if quick else 40)
        for gamma in GAMMAS
    ]
    gammas = (1.01, 1.05, 1.1, 1.11, 1.2, 1.5) if quick else TARPLEE_GAMMAS
    tarplee = [{"data": "tarplee", "draw": 0, "gamma": gamma} for gamma in gammas]
    return [{**bag, "algorithm": name} for bag in programs + tarplee for name in names]


@lru_cache(maxsize=2)
def _bag(data: str, draw: int) -> Instance:
    """Return the five programs with 12,000 tasks, or the 30 types of Tarplee et al."""
    if data == "tarplee":
        return Instance.read(data_path(*_TARPLEE), gamma=1.0)
    counts: Any = TASKS
    if draw > 0:
        shares = np.random.default_rng(draw).dirichlet(np.ones(5))
        counts = 1 + np.random.default_rng(draw).multinomial(TASKS - 5, shares)
    return Instance.read(data_path(*_PROGRAMS), gamma=1.0, counts=counts, missing="drop")


def _run_1(task: Task) -> dict[str, Any]:
    instance = _bag(task["data"], task["draw"]).with_price(gamma=task["gamma"])
    return _row(instance, task["algorithm"])


def _tables_1(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    programs, tarplee = frame[frame.data == "programs"], frame[frame.data == "tarplee"]
    return {
        "table1": table_1(programs),
        "advantage": advantage_1(programs),
        "tarplee-gap": tarplee_gaps(tarplee),
        "tarplee-over-tms": tarplee_over_tms(tarplee),
    }


def _plan_3(quick: bool) -> list[Task]:
    """Return sizes x draws x algorithms."""
    names = with_registered("bags", ALGORITHMS)
    return [
        {"q": q, "draw": draw, "algorithm": name}
        for q in (QS[::6] if quick else QS)
        for draw in range(3 if quick else 40)
        for name in names
    ]


@lru_cache(maxsize=2)
def _random_bag(q: int, draw: int) -> Instance:
    return workloads.bags_random(q, gamma=1.2, seed=1000 * draw + q)


def _run_3(task: Task) -> dict[str, Any]:
    return _row(_random_bag(task["q"], task["draw"]), task["algorithm"])


def _figures_3(frame: pd.DataFrame) -> dict[str, Figure]:
    figure, axes = plt.subplots(1, 2, figsize=(13, 4.5), layout="constrained")
    plot.lines(with_bound(frame, ["q", "draw"]), "q", "profit rate", ax=axes[0])
    ax = plot.lines(advantage(frame), "q", "ratio", bars=True, ax=axes[1])
    ax.axhline(1, color="0.6", linestyle="--")
    ax.set_yscale("log")
    ax.set_ylabel("profit rate / that of tms")
    return {"fig3": figure}


STUDIES = read_studies(
    "bags",
    {
        "bags-table1": Functions(_plan_1, _run_1, _tables_1),
        "bags-fig3": Functions(_plan_3, _run_3, tables_3, _figures_3),
    },
    globals(),
)
