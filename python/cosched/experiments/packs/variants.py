"""Section 5's variants: packs chosen by a dynamic programme, 99 runs instead of nine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from cosched import packs
from cosched.experiments.packs.draws import Sizes, instance_of, plan_of
from cosched.experiments.study import Task
from cosched.lazy import pd
from cosched.packs import Instance, Result

MANY = 99
#: 0.1, ..., 0.9 among them.
_EPSILONS = tuple(round(0.01 * step, 2) for step in range(1, MANY + 1))
#: The paper's heuristic -> its variants.
OF = {
    "pack-by-pack-9": ("pack-by-pack-9, idle", "pack-by-pack-9, cuts", "pack-by-pack-99"),
    "random-pack-9": ("random-pack-99",),
    "random-proc-9": ("random-proc-99",),
}
_MAKE: dict[str, Callable[[Instance, int], Result]] = {
    "pack-by-pack-9": lambda inst, _: packs.pack_by_pack(inst),
    "pack-by-pack-9, idle": lambda inst, _: packs.pack_by_pack(inst, choice="idle"),
    "pack-by-pack-9, cuts": lambda inst, _: packs.pack_by_pack(inst, choice="cuts"),
    "pack-by-pack-99": lambda inst, _: packs.pack_by_pack(inst, epsilons=_EPSILONS),
    "random-pack-9": lambda inst, seed: packs.random_pack(inst, draws=9, seed=seed),
    "random-pack-99": lambda inst, seed: packs.random_pack(inst, draws=MANY, seed=seed),
    "random-proc-9": lambda inst, seed: packs.random_proc(inst, draws=9, seed=seed),
    "random-proc-99": lambda inst, seed: packs.random_proc(inst, draws=MANY, seed=seed),
}
_ON = ["workload", "draw", "max_tasks"]


def plan(quick: bool) -> list[Task]:
    """Draws x pack sizes x variants, for both workloads."""
    sizes: Sizes = {
        "packs_ii": (65, 10, (4, 8, 16)),
        "packs_iii": (260, 10, (8, 16, 32)),
    }
    if quick:
        sizes = {"packs_ii": (65, 2, (4, 16))}
    return plan_of(sizes, _MAKE)


def run(task: Task) -> dict[str, Any]:
    """Cost of one variant, and the processor time of the call."""
    instance = instance_of(task)
    begin = time.process_time()
    result = _MAKE[task["algorithm"]](instance, task["draw"])
    seconds = time.process_time() - begin
    result.schedule.validate()
    return {"value": result.value, **result.metrics(), "seconds": seconds}


def beside(frame: pd.DataFrame) -> pd.DataFrame:
    """Each variant beside the paper's heuristic."""
    cost = frame.pivot(index=_ON, columns="algorithm", values="value")
    seconds = frame.groupby(["workload", "algorithm"], sort=False).seconds.sum()
    rows = []
    for workload in frame.workload.unique():
        some = cost.loc[workload]
        for name, variants in OF.items():
            for variant in variants:
                gain = 1 - some[variant] / some[name]
                rows.append(
                    {
                        "workload": workload,
                        "variant": variant,
                        "instead of": name,
                        "gain": gain.mean(),
                        "least": gain.min(),
                        "greatest": gain.max(),
                        "times longer": seconds[workload, variant] / seconds[workload, name],
                    }
                )
    return pd.DataFrame(rows)


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Gains in cost and what they take."""
    return {"variants": beside(frame).round(4)}
