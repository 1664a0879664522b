"""Figures 3 to 7 of Dutot et al. 2004, and what its Sections 2 to 4.1 say beside them."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import moldable, plot, workloads
from cosched.experiments.study import Functions, Task, read_studies, with_registered
from cosched.lazy import pd, plt
from cosched.moldable import Instance, Result
from cosched.moldable.workloads import KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_JOBS, _MACHINES = 100, 200
_REFERENCE_ALGORITHMS = (
    "demt",
    "sequential",
    "list-shelf",
    "list-lptf",
    "list-saf",
    "local-search",
)


def plan_sections(quick: bool) -> list[Task]:
    """Jobs of linear speed-up; the workloads of the figures."""
    draws = range(3 if quick else 20)
    return [
        *({"part": "linear", "kind": "", "draw": draw} for draw in draws),
        *({"part": "figures", "kind": kind, "draw": draw} for kind in KINDS for draw in draws),
    ]


def run_section(task: Task) -> dict[str, Any]:
    """Gang beside the rest, or what shuffles gain and whether times are monotone."""
    if task["part"] == "linear":
        return _linear(task["draw"])
    inst = workloads.moldable(task["kind"], _JOBS, _MACHINES, seed=task["draw"])
    both = (moldable.demt(inst, shuffles=n, seed=task["draw"]) for n in (10, 0))
    shuffled, in_order = (result.weighted_completion for result in both)
    lists = moldable.list_shelf(inst).makespan / float(moldable.bound(inst))
    return {"shuffled": shuffled / in_order, "monotone": float(inst.monotone), "makespan": lists}


def _linear(draw: int) -> dict[str, Any]:
    random = np.random.default_rng(draw)
    work, weights = random.uniform(1, 10, (2, 12))
    inst = Instance(work[:, None] / np.arange(1, 9), weights=weights)
    gang = moldable.gang(inst)
    others = (moldable.solve(inst, name, seed=draw).metrics() for name in _REFERENCE_ALGORITHMS)
    return {
        "makespan": gang.makespan / float(moldable.bound(inst)),
        "minsum": gang.weighted_completion / min(o["weighted_completion"] for o in others),
    }


def tables_of_sections(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Least, mean and greatest of each number."""
    columns = ["makespan", "minsum", "shuffled", "monotone"]
    long = frame.melt(["part", "kind", "draw"], columns, "number").dropna(subset="value")
    groups = long.groupby(["part", "kind", "number"], sort=False).value
    return {"sections": groups.agg(["min", "mean", "max"]).reset_index()}


#: The paper's six, and ours.
ALGORITHMS = ("demt", "gang", "sequential", "list-shelf", "list-lptf", "list-saf", "demt-best")
#: Numbers of jobs in the figures, and processors.
SIZES = (25, 50, 100, 200, 300, 400)
MACHINES = 200
#: Number of the figure of each workload.
FIGURES = {kind: 3 + number for number, kind in enumerate(KINDS)}
#: Greatest ratio shown, the same for all workloads, as in the paper; Gang and Sequential leave it.
_TOP = {"minsum": 6.0, "makespan": 3.5}
#: Stands for an algorithm in the task that computes the bounds of all others.
_BOUNDS = "(bounds)"
_ON = ["kind", "jobs", "run"]
BOUND_COLUMNS = ("makespan_bound", "minsum_bound", "minsum_bound_fine")


def _plan(quick: bool) -> list[Task]:
    """Return workloads x sizes x runs x (the bounds and the algorithms)."""
    return _tasks(quick, (_BOUNDS, *with_registered("moldable", ALGORITHMS)))


def _tasks(quick: bool, names: tuple[str, ...]) -> list[Task]:
    return [
        {"kind": kind, "jobs": jobs, "run": run, "algorithm": name}
        for kind in KINDS
        for jobs in ((25, 100, 400) if quick else SIZES)
        for run in range(1 if quick else 40)
        for name in names
    ]


@lru_cache(maxsize=4)
def _instance(kind: str, jobs: int, run: int) -> Instance:
    return workloads.moldable(kind, jobs, MACHINES, seed=run)


def _run(task: Task) -> dict[str, Any]:
    instance = _instance(task["kind"], task["jobs"], task["run"])
    if task["algorithm"] == _BOUNDS:
        return {
            "makespan_bound": float(moldable.bound(instance)),
            # The paper's: its grid, and c_ij = g_j.
            "minsum_bound": float(moldable.minsum_bound(instance, tight=False)),
            "minsum_bound_fine": float(moldable.minsum_bound(instance, refine=8)),
        }
    result = moldable.solve(instance, task["algorithm"], seed=task["run"])
    assert isinstance(result, Result)
    result.schedule.validate()
    return {
        "status": result.status,
        "makespan": result.makespan,
        "minsum": result.weighted_completion,
    }


def with_bounds(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the algorithms, with the bounds of their instance beside each."""
    of_bounds = frame.algorithm == _BOUNDS
    rows = frame[~of_bounds].drop(columns=[*BOUND_COLUMNS])
    return rows.merge(frame.loc[of_bounds, [*_ON, *BOUND_COLUMNS]], on=_ON, how="left")


def ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """Least, mean and greatest ratio to the bound over the runs, for both criteria.

    The mean is the paper's: the sum of the values over the sum of the bounds.

    Of ``moldable-fig3-6`` a row a (kind, criterion, jobs, algorithm): ``least, mean, greatest``;
    criterion is ``"makespan"``, ``"minsum"`` or ``"minsum, fine bound"``.
    """
    rows = with_bounds(frame)
    keys = ["kind", "jobs", "algorithm"]
    parts = []
    for criterion, value, bound in (
        ("minsum", "minsum", "minsum_bound"),
        ("makespan", "makespan", "makespan_bound"),
        ("minsum, fine bound", "minsum", "minsum_bound_fine"),
    ):
        each = (rows[value] / rows[bound]).groupby([rows[key] for key in keys], sort=False)
        sums = rows.groupby(keys, sort=False)[[value, bound]].sum()
        table = pd.DataFrame(
            {"least": each.min(), "mean": sums[value] / sums[bound], "greatest": each.max()}
        )
        parts.append(table.reset_index().assign(criterion=criterion))
    columns = ["kind", "criterion", "jobs", "algorithm", "least", "mean", "greatest"]
    return pd.concat(parts, ignore_index=True)[columns]


def means(table: pd.DataFrame) -> pd.DataFrame:
    """The mean ratios that :func:`ratios` gives, a column an algorithm."""
    keys = ["kind", "criterion", "jobs"]
    wide = table.pivot(index=keys, columns="algorithm", values="mean")
    order = table[keys].drop_duplicates().sort_values("kind", key=_place, kind="stable")
    wide = wide.loc[list(order.itertuples(index=False)), list(table.algorithm.unique())]
    return wide.reset_index().rename_axis(columns=None)


def _place(kinds: pd.Series) -> pd.Series:
    """Return the order of the figures, for sorting."""
    return kinds.map(FIGURES)


def beside_demt(frame: pd.DataFrame) -> pd.DataFrame:
    """demt-best beside DEMT: both mean ratios, and how often it wins in both criteria.

    A row a (kind, jobs): ``makespan_demt, makespan_best, minsum_demt, minsum_best`` (ratios to the
    bounds, minsum to the fine one) and ``no_worse`` (share of the runs where neither criterion is
    worse), ``dominates`` (the mean ratios are both below DEMT's).
    """
    rows = with_bounds(frame)
    wide = rows.pivot(index=_ON, columns="algorithm", values=["makespan", "minsum"])
    bounds = rows.drop_duplicates(_ON).set_index(_ON)[["makespan_bound", "minsum_bound_fine"]]
    group = ["kind", "jobs"]
    sums, scale = wide.groupby(group, sort=False).sum(), bounds.groupby(group, sort=False).sum()
    table = pd.DataFrame(
        {
            f"{criterion}_{label}": sums[criterion, name] / scale[bound]
            for criterion, bound in zip(("makespan", "minsum"), scale, strict=True)
            for label, name in (("demt", "demt"), ("best", "demt-best"))
        }
    )
    no_worse = [
        wide[criterion, "demt-best"] <= wide[criterion, "demt"]
        for criterion in ("makespan", "minsum")
    ]
    table["no_worse"] = (no_worse[0] & no_worse[1]).groupby(group, sort=False).mean()
    better = [
        table[f"{criterion}_best"] < table[f"{criterion}_demt"]
        for criterion in ("makespan", "minsum")
    ]
    table["dominates"] = (better[0] & better[1]).map({True: "yes", False: "no"})
    return table.reset_index().sort_values("kind", key=_place, kind="stable", ignore_index=True)


def _tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    table = ratios(frame)
    has_demt_best = (frame.algorithm == "demt-best").any()
    tables_by_name = {
        **({"demt-best": beside_demt(frame).round(4)} if has_demt_best else {}),
        "means": means(table).round(4),
    }
    for kind, number in FIGURES.items():
        tables_by_name[f"fig{number}"] = table[table.kind == kind].drop(columns="kind").round(4)
    return tables_by_name


def _figures(frame: pd.DataFrame) -> dict[str, Figure]:
    table = ratios(frame)
    figures = {}
    for kind, number in FIGURES.items():
        figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
        for ax, (criterion, top) in zip(axes, _TOP.items(), strict=True):
            rows_of_kind = table[(table.kind == kind) & (table.criterion == criterion)]
            plot.lines(rows_of_kind, "jobs", ("mean", "least", "greatest"), bars=True, ax=ax)
            ax.set_ylim(0.9, top)
            ax.set_xscale("log", base=2)
            ax.set_ylabel(f"{criterion} / lower bound")
        figure.suptitle(f"{kind} jobs: mean, least and greatest ratio")
        figures[f"fig{number}"] = figure
    return figures


def _plan_7(quick: bool) -> list[Task]:
    return _tasks(quick, with_registered("moldable", ("demt", "demt-best")))


def _run_7(task: Task) -> dict[str, Any]:
    instance = _instance(task["kind"], task["jobs"], task["run"])
    seconds = []
    for _ in range(3):  # the first run of a process pays for what is loaded then
        begin = time.process_time()
        result = moldable.solve(instance, task["algorithm"], seed=task["run"])
        seconds.append(time.process_time() - begin)
    return {"status": result.status, "makespan": result.value, "seconds": min(seconds)}


def _tables_7(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    groups = frame.groupby(["algorithm", "kind", "jobs"], sort=False).seconds
    table = groups.agg(least="min", mean="mean", greatest="max").mul(1e3).round(2).add_suffix("_ms")
    paper = ["less than 2 s" if name == "demt" else "" for name, _, _ in table.index]
    return {"seconds": table.assign(paper=paper).reset_index()}


def _figures_7(frame: pd.DataFrame) -> dict[str, Figure]:
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    demt = frame[frame.algorithm == "demt"]
    plot.lines(demt, "jobs", "seconds", by="kind", bars=True, ax=ax).set_yscale("log")
    ax.axhline(2, color="gray", linestyle=":", label="the paper: less than 2 s")
    return {"fig7": figure}


STUDIES = read_studies(
    "moldable",
    {
        "moldable-fig3-6": Functions(_plan, _run, _tables, _figures),
        "moldable-fig7": Functions(_plan_7, _run_7, _tables_7, _figures_7),
        "moldable-sections": Functions(plan_sections, run_section, tables_of_sections),
    },
    globals(),
)
