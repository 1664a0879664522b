"""Whether answers are what they were, to the last bit: a hash of each, one a line.

    python tests_py/bench/bench_hashes.py >before.txt     # of one build; of the other >after.txt
    python tests_py/bench/bench_hashes.py moldable bags    # of some families
    diff before.txt after.txt

Every algorithm and every bound of every family, on fixed instances with fixed work and seeds: the
value beside a hash of the schedule's columns, or what was refused. Some 25 processor seconds.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import cosched as cs
from cosched.core.options import accepted_options
from cosched.profiles import Bandwidth, Slowdowns
from cosched.registry import FAMILIES, family

sys.path.insert(0, str(Path(__file__).parents[1]))
from shared_cases import packs_large

Named = tuple[str, Any]

#: What searches may spend, by algorithm or bound, where they take `work`.
WORK = {
    "packs local-search": 20_000,
    "dags hlp-best": 2_000,
    "dags optimal": 20_000,
    "moldable demt-best": 20_000,
    "moldable local-search": 30_000,
    "moldable optimal": 20_000_000,
    "bags ttb-best": 20_000,
}
COLUMNS = ("task", "kind", "unit_begin", "unit", "start", "end")
#: Of the many policies of paper 3 every so many-th.
EVERY = 8


def packs() -> Iterator[Named]:
    yield "three", cs.workloads.packs_ii(tasks=6, nodes=4, max_tasks=3, seed=1)
    yield "two", cs.workloads.packs_ii(tasks=4, nodes=3, max_tasks=2, seed=2)
    yield "shared", packs_large(5, 6, 4, 3)


def dags() -> Iterator[Named]:
    yield "cholesky", cs.workloads.cholesky(5, units=(4, 2))
    yield "layered", cs.workloads.layered(40, 0.4, units=(4, 2), seed=3)
    yield "data", cs.workloads.layered(25, 0.4, units=(3, 2), ccr=1.0, bandwidth=1.0, seed=4)
    yield "few", cs.workloads.layered(8, 0.5, units=(2, 1), seed=5)


def cluster() -> Iterator[Named]:
    jobs = cs.workloads.lublin(120, 32, seed=1)
    yield "lublin", cs.cluster.Instance(jobs, nodes=32)


def bags() -> Iterator[Named]:
    yield (
        "small",
        cs.workloads.bags_random(task_types=6, machine_types=3, machines_per_type=4, seed=1),
    )
    yield "paper", cs.workloads.bags_random(seed=2)


def moldable() -> Iterator[Named]:
    for kind, jobs, machines in (
        ("mixed", 9, 8),
        ("weakly", 12, 32),
        ("highly", 14, 6),
        ("cirne", 40, 32),
        ("mixed", 120, 64),
    ):
        yield f"{kind} {jobs}", cs.workloads.moldable(kind, jobs, machines, seed=7)
    random = np.random.default_rng(1)
    times = _amdahl(random, 11, 8)
    yield (
        "released",
        cs.moldable.Instance(times, random.uniform(1, 9, 11), random.uniform(0, 60, 11)),
    )
    times = random.uniform(1, 9, (10, 6))  # work may fall with processors, some counts are missing
    times[random.random(times.shape) < 0.2] = np.inf
    yield "measured", cs.moldable.Instance(times, random.uniform(1, 9, 10))
    yield from _shared()
    yield from _graphs()


def _shared() -> Iterator[Named]:
    for seed, (jobs, law, has_release) in enumerate(
        (
            (12, "sum", False),
            (12, "product", False),
            (9, "max", True),
            (14, "needs", False),
            (8, "needs", True),
            (12, "traffic", False),
            (30, "both", False),
        )
    ):
        random = np.random.default_rng(seed)
        times, extra_arguments = _amdahl(random, jobs, 8), {}
        table = 1 + random.uniform(0, 0.8, (jobs, jobs)) * (random.random((jobs, jobs)) < 0.6)
        if law in ("sum", "product", "max"):
            extra_arguments["slowdowns"] = Slowdowns(table, law)
        if law in ("traffic", "both"):
            demand = np.minimum(random.uniform(1, 5, (jobs, 1)) * np.arange(1, 9), 9.0)
            extra_arguments["bandwidth"] = Bandwidth(
                demand, 9.0, random.choice([0.0, 0.4, 1.0], jobs)
            )
        if law in ("needs", "both", "sum"):
            need = random.uniform(1, 6, jobs)[:, None] * np.arange(1, 9) ** 0.3
            extra_arguments |= {"resources": {"memory": need}, "capacity": {"memory": 14.0}}
        release = random.uniform(0, 60, jobs) if has_release else None
        yield (
            f"{law} {jobs}",
            cs.moldable.Instance(times, random.uniform(1, 9, jobs), release, **extra_arguments),
        )


def _graphs() -> Iterator[Named]:
    for seed, (jobs, machines, needs, has_release) in enumerate(
        ((8, 4, False, False), (10, 4, True, True), (60, 8, False, False), (40, 8, True, False))
    ):
        random = np.random.default_rng(20 + seed)
        times, width = _amdahl(random, jobs, machines), max(2, jobs // 8)
        edges = [
            (i, j)
            for j in range(jobs)
            for i in range(max(0, j - 3 * width), j - width + 1)
            if random.random() < 0.3
        ]
        extra_arguments: dict[str, Any] = {"edges": edges}
        if needs:
            need = {"memory": random.uniform(1, 6, jobs), "gpus": random.integers(0, 3, jobs)}
            extra_arguments |= {"resources": need, "capacity": {"memory": 9.0, "gpus": 4.0}}
        release = random.uniform(0, 60, jobs) if has_release else None
        yield f"graph {jobs}", cs.moldable.Instance(times, release=release, **extra_arguments)


def _amdahl(random: np.random.Generator, jobs: int, machines: int) -> np.ndarray:
    serial = random.uniform(0.02, 0.35, jobs)[:, None]
    counts = np.arange(1, machines + 1)
    return random.uniform(1, 50, jobs)[:, None] * (serial + (1 - serial) / counts)


def options_of(function: Any, name: str) -> Iterator[dict[str, Any]]:
    """Those that are tried: fixed work, and where there are two objectives both."""
    accepted = accepted_options(function) or set()
    work_option = {"work": WORK[name]} if "work" in accepted and name in WORK else {}
    objectives = ("makespan", "minsum") if "objective" in accepted else (None,)
    for objective in objectives:
        yield work_option | ({"objective": objective} if objective else {})


def line(call: Any) -> str:
    """The value and a hash of the schedule's columns; of a bound the value alone."""
    try:
        outcome = call()
    except cs.errors.CoschedError as error:
        return f"{type(error).__name__}: {str(error)[:60]}"
    if not hasattr(outcome, "schedule"):
        return f"{float(outcome)!r} {outcome.status}"
    columns = [
        np.ascontiguousarray(value).tobytes()
        for name, value in sorted(vars(outcome.schedule).items())
        if isinstance(value, np.ndarray)
    ]
    digest = hashlib.sha256(b"".join(columns)).hexdigest()[:16]
    return f"{outcome.value!r} {digest} {getattr(outcome, 'stopped_by', None)}"


def names_of(solver: Any) -> list[str]:
    names = list(solver.algorithms)
    if solver.name != "cluster":
        return names
    return [name for k, name in enumerate(names) if k < 5 or k % EVERY == 0]


def main() -> None:
    for name in sys.argv[1:] or FAMILIES:
        solver = family(name)
        for label, instance in globals()[name]():
            for algorithm in names_of(solver):
                for options in options_of(solver.algorithm(algorithm), f"{name} {algorithm}"):
                    solve = partial(solver.solve, instance, algorithm, seed=1, **options)
                    outcome_line = line(solve)
                    objective = options.get("objective", "")
                    print(f"{name}: {label}: {algorithm} {objective}: {outcome_line}", flush=True)
            for bound in solver.bounds:
                for options in options_of(solver.bounds[bound], f"{name} {bound}"):
                    outcome_line = line(lambda: solver.bound(instance, bound, **options))  # noqa: B023
                    objective = options.get("objective", "")
                    print(f"{name}: {label}: bound {bound} {objective}: {outcome_line}", flush=True)


if __name__ == "__main__":
    main()
