"""The theorems of Aupy et al. 2013 on small instances, each beside another way to the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cosched import packs, workloads
from cosched.experiments.study import Task
from cosched.lazy import pd
from cosched.packs import Instance

_PROCS, _DRAWS = 8, 20
#: Theorem -> (tasks, greatest pack) of its instances; for Theorem 2 triples and their target.
SIZES = {1: (8, 2), 2: (4, 16), 3: (6, 6), 4: (4, 3), 5: (7, _PROCS)}


def plan(quick: bool) -> list[Task]:
    """Theorems x draws."""
    return [
        {"theorem": number, "draw": draw}
        for number in SIZES
        for draw in range(3 if quick else _DRAWS)
    ]


def run(task: Task) -> dict[str, Any]:
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


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Least and greatest ratio a theorem."""
    found = frame.groupby("theorem").ratio.agg(["count", "min", "max"])
    return {"theorems": found.round(6).reset_index()}
