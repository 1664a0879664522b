"""Table 1 and figure 3 of Li et al. 2016, the data of Tarplee et al., and a sweep on any bag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from cosched import bags, plot, workloads
from cosched.bags import FAMILY, Instance, Result
from cosched.experiments.bags.tables import (
    GRID,
    advantage,
    advantage_1,
    table_1,
    tables_3,
    tarplee_gaps,
    tarplee_over_tms,
    with_bound,
)
from cosched.experiments.study import Functions, Task, data_path, read_studies, with_registered
from cosched.lazy import pd, plt

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

    Returns
    -------
    pandas.DataFrame
        A row a (gamma, algorithm): ``value`` (profit rate), ``bound``, ``gap``, ``makespan``,
        ``energy`` and the other columns of ``compare``.
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


# --- table 1 ------------------------------------------------------------------------------


def _plan_1(quick: bool) -> list[Task]:
    """Bags x gamma x algorithms; bag 0 of the programs splits the tasks evenly."""
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
    """The five programs with 12,000 tasks, or the 30 types of Tarplee et al."""
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


# --- figure 3 -----------------------------------------------------------------------------


def _plan_3(quick: bool) -> list[Task]:
    """Sizes x draws x algorithms."""
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


def _figures_3(frame: pd.DataFrame) -> dict[str, plt.Figure]:
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
