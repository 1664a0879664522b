"""The theorems of Aupy et al. 2013 on small instances, and the variants of its Section 5."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cosched import packs, workloads
from cosched.experiments.packs.draws import Sizes, instance_of, plan_of
from cosched.experiments.study import Task
from cosched.lazy import pd
from cosched.packs import Instance, Result

_PROCS, _DRAWS = 8, 20
#: Theorem -> (tasks, greatest pack) of its instances; for Theorem 2 triples and their target.
SIZES = {1: (8, 2), 2: (4, 16), 3: (6, 6), 4: (4, 3), 5: (7, _PROCS)}


def plan_theorems(quick: bool) -> list[Task]:
    """Theorems x draws."""
    return [
        {"theorem": number, "draw": draw}
        for number in SIZES
        for draw in range(3 if quick else _DRAWS)
    ]


def run_theorem(task: Task) -> dict[str, Any]:
    """What the theorem's algorithm gives, what it is to be compared with, and their ratio."""
    number, seed = task["theorem"], task["draw"]
    value, other = _BOTH[number](*SIZES[number], seed)
    return {"value": value, "other": other, "ratio": value / other}


def _random(tasks: int, max_tasks: int, seed: int) -> Instance:
    """Monotone tasks of random times and serial shares."""
    random = np.random.default_rng([tasks, max_tasks, seed])
    work, serial = random.uniform(1, 100, (tasks, 1)), random.uniform(0, 0.6, (tasks, 1))
    times = work * (serial + (1 - serial) / np.arange(1, _PROCS + 1))
    return Instance(packs.monotone(times), max_tasks=max_tasks)


def _pairs(tasks: int, k: int, seed: int) -> tuple[float, float]:
    inst = _random(tasks, k, seed)
    return packs.pairs(inst).value, packs.optimal(inst).value


def _reduction(triples: int, target: int, seed: int) -> tuple[float, float]:
    inst = workloads.three_partition(triples=triples, target=target, seed=seed)
    return packs.optimal(inst).value, float(triples)


def _one_pack(tasks: int, _: int, seed: int) -> tuple[float, float]:
    times = _random(tasks, tasks, seed).times
    both = packs.one_pack(times, _PROCS), packs.one_pack_dynamic_programme(times, _PROCS)
    first, second = (float(times[np.arange(tasks), procs - 1].max()) for procs in both)
    return first, second


def _programme(tasks: int, k: int, seed: int) -> tuple[float, float]:
    inst = _random(tasks, k, seed)
    return packs.ilp(inst).value, packs.optimal(inst).value


def _approximation(tasks: int, k: int, seed: int) -> tuple[float, float]:
    inst = _random(tasks, k, seed)
    return packs.pack_approx(inst, reoptimise=False).value, packs.optimal(inst).value


_BOTH: dict[int, Callable[[int, int, int], tuple[float, float]]] = {
    1: _pairs,
    2: _reduction,
    3: _one_pack,
    4: _programme,
    5: _approximation,
}


def tables_of_theorems(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Least and greatest ratio a theorem."""
    ratio_table = frame.groupby("theorem").ratio.agg(["count", "min", "max"])
    return {"theorems": ratio_table.round(6).reset_index()}


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


def plan_variants(quick: bool) -> list[Task]:
    """Draws x pack sizes x variants, for both workloads."""
    sizes: Sizes = {"packs_ii": (65, 10, (4, 8, 16)), "packs_iii": (260, 10, (8, 16, 32))}
    if quick:
        sizes = {"packs_ii": (65, 2, (4, 16))}
    return plan_of(sizes, _MAKE)


def run_variant(task: Task) -> dict[str, Any]:
    """Cost of one variant, and the processor time of the call."""
    instance = instance_of(task)
    begin = time.process_time()
    result = _MAKE[task["algorithm"]](instance, task["draw"])
    seconds = time.process_time() - begin
    result.schedule.validate()
    return {"value": result.value, **result.metrics(), "seconds": seconds}


def variant_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Each variant beside the paper's heuristic."""
    cost = frame.pivot(index=_ON, columns="algorithm", values="value")
    seconds = frame.groupby(["workload", "algorithm"], sort=False).seconds.sum()
    rows = []
    for workload in frame.workload.unique():
        cost_of_workload = cost.loc[workload]
        for name, variants in OF.items():
            for variant in variants:
                gain = 1 - cost_of_workload[variant] / cost_of_workload[name]
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


def tables_of_variants(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Gains in cost and what they take."""
    return {"variants": variant_rows(frame).round(4)}
