"""What Sections 2 to 4.1 of Dutot et al. 2004 say beside the figures, measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched import moldable, workloads
from cosched.experiments.study import Task
from cosched.lazy import pd
from cosched.moldable import Instance
from cosched.moldable.workloads import KINDS

_JOBS, _MACHINES = 100, 200
_OTHERS = ("demt", "sequential", "list-shelf", "list-lptf", "list-saf", "local-search")


def plan(quick: bool) -> list[Task]:
    """Jobs of linear speed-up; the workloads of the figures."""
    draws = range(3 if quick else 20)
    return [
        *({"part": "linear", "kind": "", "draw": draw} for draw in draws),
        *({"part": "figures", "kind": kind, "draw": draw} for kind in KINDS for draw in draws),
    ]


def run(task: Task) -> dict[str, Any]:
    """Gang beside the rest, or what shuffles gain and whether times are monotone."""
    if task["part"] == "linear":
        return _linear(task["draw"])
    inst = workloads.moldable(task["kind"], _JOBS, _MACHINES, seed=task["draw"])
    both = (moldable.demt(inst, shuffles=n, seed=task["draw"]) for n in (10, 0))
    shuffled, plain = (result.weighted_completion for result in both)
    lists = moldable.list_shelf(inst).makespan / float(moldable.bound(inst))
    return {"shuffled": shuffled / plain, "monotone": float(inst.monotone), "makespan": lists}


def _linear(draw: int) -> dict[str, Any]:
    random = np.random.default_rng(draw)
    work, weights = random.uniform(1, 10, (2, 12))
    inst = Instance(work[:, None] / np.arange(1, 9), weights=weights)
    gang = moldable.gang(inst)
    others = (moldable.solve(inst, name, seed=draw).metrics() for name in _OTHERS)
    return {
        "makespan": gang.makespan / float(moldable.bound(inst)),
        "minsum": gang.weighted_completion / min(o["weighted_completion"] for o in others),
    }


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Least, mean and greatest of each number."""
    columns = ["makespan", "minsum", "shuffled", "monotone"]
    long = frame.melt(["part", "kind", "draw"], columns, "number").dropna(subset="value")
    groups = long.groupby(["part", "kind", "number"], sort=False).value
    return {"sections": groups.agg(["min", "mean", "max"]).reset_index()}
