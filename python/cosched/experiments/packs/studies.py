"""Figures 2 to 5 of Aupy et al. 2013, on its workloads and on a stand-in for Workload-I."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from cosched import packs
from cosched.core.result import Bound, relative_gap
from cosched.experiments.packs import sections
from cosched.experiments.packs.draws import MEASURES, Sizes, instance_of, pack_quality, plan_of
from cosched.experiments.study import Functions, Task, data_path, read_studies, with_registered
from cosched.lazy import pd
from cosched.packs import FAMILY, Instance, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Runs of scientific codes, among them VASP as in the paper, below ``COSCHED_DATA``.
RUNS = "speedup/archer_benchmarks_runs.csv"
OPTIMAL = "optimal"
_PROCS = 16


def plan_measured(names: tuple[str, ...], quick: bool) -> list[Task]:
    """Pack sizes x (the optimum and the heuristics)."""
    sizes = (2, 16) if quick else (2, 4, 6, 8, 10, 12, 14, 16)
    return [
        {"max_tasks": k, "algorithm": name}
        for k in sizes
        for name in (OPTIMAL, *with_registered("packs", names))
    ]


def run_measured(solved: Callable[[Instance, str, int], Result], task: Task) -> dict[str, Any]:
    """The paper's measures of one algorithm at one pack size; `solved` runs the heuristics."""
    instance = _measured().with_max_tasks(task["max_tasks"])
    name = task["algorithm"]
    result = packs.optimal(instance) if name == OPTIMAL else solved(instance, name, 0)
    result.schedule.validate()
    return {
        "tasks": instance.tasks,
        "status": result.status,
        "value": result.value,
        "gap": result.gap,
        **result.metrics(),
    }


@lru_cache(maxsize=1)
def _measured() -> Instance:
    return Instance.read(data_path(*RUNS.split("/")), procs=_PROCS, fit="amdahl", extrapolate=True)


def over_optimal(frame: pd.DataFrame) -> pd.DataFrame:
    """Cost over the optimum, a row a pack size, a column an algorithm."""
    wide = frame.pivot(index="max_tasks", columns="algorithm", values="value")
    names = [name for name in dict.fromkeys(frame.algorithm) if name != OPTIMAL]
    return wide[names].div(wide[OPTIMAL], axis=0)


def tables_of_measured(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Costs over the optimum, and the three measures."""
    columns = ["max_tasks", "algorithm", *MEASURES]
    return {
        "over-optimal": over_optimal(frame).round(4).reset_index().rename_axis(columns=None),
        "measures": frame[columns].round(4).reset_index(drop=True),
    }


def figures_of_measured(frame: pd.DataFrame) -> dict[str, Figure]:
    """The three measures against the pack size, the optimum among the lines."""
    return {"fig2a-4a": pack_quality(frame, "measured codes, 16 nodes")}


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

    A row a (draw, max_tasks, algorithm): ``relative_cost, packing_ratio, relative_response_time,
    gap, seconds`` and the other columns of ``compare``.

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
    """
    rows = [
        {"draw": draw, "max_tasks": k, **row}
        for draw, instance in enumerate(instances)
        for k in pack_sizes
        for row, _ in FAMILY.compare_rows(instance.with_max_tasks(k), names, seed, time_limit)
    ]
    return pd.DataFrame(rows)


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


def _figures(frame: pd.DataFrame) -> dict[str, Figure]:
    rows = with_gap(frame)
    figures = {}
    for name, workload in (("fig2-4", "packs_ii"), ("fig5", "packs_iii")):
        rows_of_workload = rows[rows.workload == workload]
        title = f"{_WORKLOADS[workload]}, mean of {rows_of_workload.draw.nunique()} draws"
        figures[name] = pack_quality(rows_of_workload, title)
    return figures


STUDIES = read_studies(
    "packs",
    {
        "packs-fig2-5": Functions(_plan, _run, _tables, _figures),
        "packs-fig2a": Functions(
            partial(plan_measured, (*HEURISTICS, REOPTIMISED)),
            partial(run_measured, solved),
            tables_of_measured,
            figures_of_measured,
        ),
        "packs-theorems": Functions(
            sections.plan_theorems, sections.run_theorem, sections.tables_of_theorems
        ),
        "packs-variants": Functions(
            sections.plan_variants, sections.run_variant, sections.tables_of_variants
        ),
    },
    globals(),
)
