"""Figures 2 to 5 of Aupy et al. 2013: quality of the heuristics against the pack size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from cosched import packs
from cosched.core.result import Bound, relative_gap
from cosched.experiments.packs import measured, theorems, variants
from cosched.experiments.packs.draws import MEASURES, Sizes, instance_of, pack_quality, plan_of
from cosched.experiments.study import Functions, Task, read_studies, with_registered
from cosched.lazy import pd, plt
from cosched.packs import FAMILY, Instance, Result

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
        sizes: Sizes = {"packs_ii": (65, 2, (4, 16)), "packs_iii": (80, 1, (4,))}
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


def _figures(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    rows = with_gap(frame)
    figures = {}
    for name, workload in (("fig2-4", "packs_ii"), ("fig5", "packs_iii")):
        some = rows[rows.workload == workload]
        title = f"{_WORKLOADS[workload]}, mean of {some.draw.nunique()} draws"
        figures[name] = pack_quality(some, title)
    return figures


STUDIES = read_studies(
    "packs",
    {
        "packs-fig2-5": Functions(_plan, _run, _tables, _figures),
        "packs-fig2a": Functions(
            partial(measured.plan, (*HEURISTICS, REOPTIMISED)),
            partial(measured.run, solved),
            measured.tables,
            measured.figures,
        ),
        "packs-theorems": Functions(theorems.plan, theorems.run, theorems.tables),
        "packs-variants": Functions(variants.plan, variants.run, variants.tables),
    },
    globals(),
)
