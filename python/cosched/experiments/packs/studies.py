"""Figures 2 to 5 of Aupy et al. 2013: quality of the heuristics against the pack size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cosched import packs
from cosched.core.result import Bound, relative_gap
from cosched.errors import optional
from cosched.experiments.packs import measured, theorems, variants
from cosched.experiments.packs.draws import Sizes, instance_of, plan_of
from cosched.experiments.study import Study, Task, with_registered
from cosched.packs import FAMILY, Instance, Result
from cosched.packs.plots import MEASURES, pack_quality

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from plotly.graph_objects import Figure as Chart

#: The paper's seven heuristics, and ours.
HEURISTICS = (
    "random-pack-1",
    "random-pack-9",
    "random-proc-1",
    "random-proc-9",
    "pack-approx",
    "pack-by-pack-1",
    "pack-by-pack-9",
    "local-search",
)
#: This package's pack-approx in the studies, beside the paper's, which has no 1-pack step.
REOPTIMISED = "pack-approx, 1-pack"
#: Stands for an algorithm in the task that computes the bound of all others.
_BOUND = "(bound)"
_WORKLOADS = {"packs_ii": "Workload-II, 16 nodes", "packs_iii": "Workload-III, 32 nodes"}


def quality(
    instances: Iterable[Instance],
    pack_sizes: Sequence[int],
    names: Sequence[str] = HEURISTICS,
    *,
    seed: int = 0,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """The paper's three measures of each heuristic at each pack size, on one's own instances.

    Parameters
    ----------
    instances : iterable of Instance
        Draws of one workload; their own pack size is not used.
    pack_sizes : sequence of int
        Values of k.
    names : sequence of str
        Algorithms.
    seed : int
        Given to each algorithm.
    time_limit : float, optional
        Seconds for each algorithm.

    Returns
    -------
    pandas.DataFrame
        A row a (draw, max_tasks, algorithm): ``relative_cost, packing_ratio,
        relative_response_time, gap, seconds`` and the other columns of ``compare``.
    """
    import pandas as pd

    rows = [
        {"draw": draw, "max_tasks": k, **row}
        for draw, instance in enumerate(instances)
        for k in pack_sizes
        for row, _ in FAMILY.compare_rows(instance.with_max_tasks(k), names, seed, time_limit)
    ]
    return pd.DataFrame(rows)


# --- the study ----------------------------------------------------------------------------


def _plan(quick: bool) -> list[Task]:
    """Draws x pack sizes x (the bound and the heuristics), for both workloads."""
    names = (_BOUND, *with_registered("packs", HEURISTICS), REOPTIMISED)
    if quick:
        sizes: Sizes = {"packs_ii": (65, 2, (2, 4, 16)), "packs_iii": (80, 1, (4, 16))}
    else:
        sizes = {
            "packs_ii": (65, 10, range(2, 17, 2)),
            "packs_iii": (260, 10, (2, 4, 8, 12, 16, 24, 32)),
        }
    return plan_of(sizes, names)


def _run(task: Task) -> dict[str, Any]:
    instance = instance_of(task)
    if task["algorithm"] == _BOUND:
        return {"value": packs.bound(instance).value}
    result = solved(instance, task["algorithm"], seed=task["draw"])
    result.schedule.validate()
    return {"status": result.status, "value": result.value, **result.metrics()}


def solved(instance: Instance, name: str, seed: int) -> Result:
    """A heuristic as the paper describes it, pack-approx without the 1-pack step of ours."""
    if name in ("pack-approx", REOPTIMISED):
        return packs.pack_approx(instance, reoptimise=name == REOPTIMISED)
    result = packs.solve(instance, name, seed=seed)
    assert isinstance(result, Result)
    return result


def with_gap(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the algorithms, with the bound that its task found beside each."""
    on = ["workload", "draw", "max_tasks"]
    is_bound = frame.algorithm == _BOUND
    bounds = frame.loc[is_bound, [*on, "value"]].rename(columns={"value": "bound"})
    rows = frame[~is_bound].merge(bounds, on=on, how="left")
    rows["gap"] = [
        relative_gap(value, Bound(bound, "columns"), maximise=False)
        for value, bound in zip(rows.value, rows.bound, strict=True)
    ]
    return rows


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean measures and gap of each algorithm at each pack size."""
    keys = ["workload", "max_tasks", "algorithm"]
    return rows.groupby(keys, sort=False)[[*MEASURES, "gap"]].mean().reset_index()


def _tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    rows = with_gap(frame)
    return {"means": means(rows).round(4)}


def _figures(frame: pd.DataFrame) -> dict[str, Figure]:
    rows = with_gap(frame)
    figures = {}
    for name, workload in (("fig2-4", "packs_ii"), ("fig5", "packs_iii")):
        some = rows[rows.workload == workload]
        title = f"{_WORKLOADS[workload]}, mean of {some.draw.nunique()} draws"
        figures[name] = pack_quality(some, title)
    return figures


def _charts(frame: pd.DataFrame) -> dict[str, Chart]:
    px = optional("plotly.express", extra="studies")

    long = means(with_gap(frame)).rename(columns={**MEASURES, "gap": "gap to the bound"})
    long = long.melt(["workload", "max_tasks", "algorithm"], var_name="measure")
    charts = {}
    for workload in ("packs_ii", "packs_iii"):
        chart = px.line(
            long[long.workload == workload],
            x="max_tasks",
            y="value",
            color="algorithm",
            facet_col="measure",
            markers=True,
            title=_WORKLOADS[workload],
        )
        chart.update_yaxes(matches=None, showticklabels=True, title="")
        chart.for_each_annotation(lambda text: text.update(text=text.text.split("=")[-1]))
        charts[workload.replace("_", "-")] = chart
    return charts


STUDIES = (
    Study(
        name="packs-fig2-5",
        title="Co-scheduling in packs: quality of the heuristics against the pack size",
        family="packs",
        paper="Aupy, Shantharam, Benoit, Robert, Raghavan: Co-scheduling algorithms for "
        "high-throughput workload execution, 2013. Figures 2 to 5.",
        about="Relative cost (against one task after the other on all nodes), packing ratio and "
        "relative response time on Workload-II and III, mean over draws. The paper shows them as "
        "pictures and gives no numbers. "
        "Workload-I was measured and is not public. pack-approx is as in Section 5; local-search "
        f"and {REOPTIMISED}, which gives every candidate's packs their best counts, are this "
        "package's own.",
        plan=_plan,
        run=_run,
        tables=_tables,
        figures=_figures,
        charts=_charts,
        keep=("workload", "draw", "max_tasks", "algorithm", "value", *MEASURES, "seconds"),
    ),
    Study(
        name="packs-fig2a",
        title="Co-scheduling in packs: measured codes, with their optimum",
        family="packs",
        paper="Aupy, Shantharam, Benoit, Robert, Raghavan: Co-scheduling algorithms for "
        "high-throughput workload execution, 2013. Figures 2a to 4a.",
        about="The paper's Workload-I is not public. Its stand-in: the runs of CASTEP, VASP, "
        "GROMACS, CP2K, NWChem and OpenSBLI on ARCHER, times between measured counts by Amdahl's "
        "law, on 16 nodes. The optimum is by branch and price, proved.",
        plan=partial(measured.plan, (*HEURISTICS, REOPTIMISED)),
        run=partial(measured.run, solved),
        tables=measured.tables,
        figures=measured.figures,
        needs=(measured.RUNS,),
        quick_needs=(measured.RUNS,),
        keep=("max_tasks", "algorithm", "tasks", "value", "gap", *MEASURES),
    ),
    Study(
        name="packs-theorems",
        title="Co-scheduling in packs: the theorems on small instances",
        family="packs",
        paper="Aupy, Shantharam, Benoit, Robert, Raghavan: Co-scheduling algorithms for "
        "high-throughput workload execution, 2013. Theorems 1 to 5.",
        about="Random monotone tasks, the algorithm of each theorem beside another exact one (the "
        "paper's own where it has two); for Theorem 2 its reduction from 3-Partition, whose "
        "co-schedule of cost n/3 exists.",
        plan=theorems.plan,
        run=theorems.run,
        tables=theorems.tables,
        figures=theorems.figures,
        keep=("theorem", "draw", "value", "other", "ratio"),
    ),
    Study(
        name="packs-variants",
        title="Co-scheduling in packs: packs by a dynamic programme, and 99 runs",
        family="packs",
        paper="Aupy, Shantharam, Benoit, Robert, Raghavan: Co-scheduling algorithms for "
        "high-throughput workload execution, 2013. Section 5, the variants that it leaves out.",
        about="pack-by-pack with packs that leave the least processor time idle ('idle', a "
        "knapsack a pack), with the greedy packs' tasks cut anew at the best places ('cuts'), "
        "with 99 values of epsilon; random heuristics with 99 draws. Seconds are processor time.",
        plan=variants.plan,
        run=variants.run,
        tables=variants.tables,
        figures=variants.figures,
        keep=("workload", "draw", "max_tasks", "algorithm", "value", "seconds"),
    ),
)
