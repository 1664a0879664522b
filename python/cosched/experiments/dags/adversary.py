"""The worst instance that a fixed amount of search finds for each algorithm of the paper."""

from __future__ import annotations

import json
import math
from typing import Any

from cosched import dags, io, plot
from cosched.dags import Instance
from cosched.experiments.study import Task, with_registered
from cosched.lazy import pd, plt

#: Algorithms of the paper for two types, and those that its Section 5 takes to three.
TWO = ("hlp-est", "hlp-ols", "heft", "er-ls", "eft", "greedy", "random", "r1-ls", "r2-ls", "r3-ls")
THREE = ("hlp-est", "hlp-ols", "heft")
MACHINES = {"4,2": TWO, "4,2,2": THREE}
TASKS = 10
#: Instances a search, searches a method.
WORK, SEEDS = 5_000, 2
_KEYS = ["units", "algorithm"]
_SEARCH, _RANDOM = "annealing", "random"
_NO_THEOREM = "none"


def plan(quick: bool) -> list[Task]:
    """Machines x algorithms x (search, random instances) x seeds."""
    return [
        {
            "units": units,
            "algorithm": name,
            "method": method,
            "work": 100 if quick else WORK,
            "draw": draw,
        }
        for units, names in MACHINES.items()
        for name in with_registered("dags", names)
        for method in (_SEARCH, _RANDOM)
        for draw in range(1 if quick else SEEDS)
    ]


def run(task: Task) -> dict[str, Any]:
    """The worst instance of one search, whole."""
    found = dags.worst_case(
        task["algorithm"],
        tasks=TASKS,
        units=_units(task["units"]),
        work=task["work"],
        method=task["method"],
        seed=task["draw"],
    )
    found.result.schedule.validate()
    found.best.schedule.validate()
    inst = found.instance
    return {
        "ratio": found.ratio,
        "upper": found.upper,
        "proven": None if math.isnan(found.proven) else found.proven,
        "tasks": inst.tasks,
        "edges": len(inst.edges),
        "value": found.result.value,
        "best": found.best.value,
        "instance": json.dumps(io.plain({"times": inst.times, "edges": inst.edges})),
    }


def _worst(frame: pd.DataFrame) -> pd.DataFrame:
    """The worst of each algorithm on each machine, in the order of the plan."""
    searched = frame[frame.method == _SEARCH]
    return searched.loc[searched.groupby(_KEYS, sort=False).ratio.idxmax()]


def _units(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The worst ratio found, what a theorem allows, the worst of as many random instances."""
    worst = _worst(frame)
    drawn = frame[frame.method == _RANDOM].groupby(_KEYS, sort=False).ratio.max().to_dict()
    table = worst[[*_KEYS, "ratio", "upper"]].assign(
        proven=[_said(ratio) for ratio in worst.proven.astype(float)],
        drawn=[drawn[key] for key in zip(worst.units, worst.algorithm, strict=True)],
        tasks=worst.tasks,
        edges=worst.edges,
    )
    return {"worst": table.round(4)}


def _said(ratio: float) -> str:
    return _NO_THEOREM if math.isnan(ratio) else f"{ratio:.4g}"


def figures(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    """For each algorithm its schedule of the worst instance, and the best one beside it."""
    return {
        f"{row.algorithm}-{row.units}".replace(" ", "-").replace(",", "-"): _picture(row)
        for row in _worst(frame).itertuples()
    }


def _picture(row: Any) -> plt.Figure:
    from matplotlib.figure import Figure

    data = json.loads(row.instance)
    inst = Instance(data["times"], data["edges"], _units(row.units))
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True)
    own = dags.solve(inst, row.algorithm, seed=row.draw)
    for ax, result, name in zip(
        axes, (own, dags.optimal(inst)), (row.algorithm, "optimal"), strict=True
    ):
        plot.gantt(result.schedule, ax, labels=[str(task) for task in range(inst.tasks)])
        ax.set_title(f"{name}: {result.value:.4g} s", fontsize=10)
    axes[0].set_xlim(0, own.value)
    return figure


def remarks(frame: pd.DataFrame) -> list[str]:
    """What the search adds to random instances, and how near it comes to the theorems."""
    table = tables(frame)["worst"]
    nearest = max(
        (ratio / float(proven), f"{name} on {units} units")
        for units, name, ratio, _, proven, *_ in table.to_numpy().tolist()
        if proven != _NO_THEOREM
    )
    exact = int((table.upper <= table.ratio * (1 + 1e-9)).sum())
    beyond = table.ratio / table.drawn
    return [
        "The search passes the worst of as many random instances by a factor of "
        f"{beyond.min():.3g} to {beyond.max():.3g}; of {len(table)} worst instances {exact} have a "
        "proved optimum.",
        f"No ratio passes a proven one. The nearest is {nearest[1]}, {nearest[0]:.0%} of what is "
        f"proven. The instances have {TASKS} tasks at most: those that reach the theorems' ratios "
        "(dags-theorems) are larger, and made by hand.",
    ]
