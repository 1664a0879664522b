"""Small moldable instances of every kind against complete enumeration.

    python tests_py/bench/bench_moldable_exact.py             # 200 of each kind and criterion
    python tests_py/bench/bench_moldable_exact.py 20 --seed 3

A kind is a combination of release dates, precedence and resources. For each algorithm the table
counts what was proved, what equals the optimum, and what is worse and by how much at most; a value
below the optimum, or a proof of another value, ends the bench with an error.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import cosched as cs

sys.path.insert(0, str(Path(__file__).parents[1]))
from moldable_exact import KINDS, name_of, optimum, random_instance, value_of

ALGORITHMS = ("local-search", "optimal")
SAME = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("instances", nargs="?", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-jobs", type=int, default=5)
    parser.add_argument("--kinds", nargs="*", type=int, default=range(len(KINDS))[::-1])
    options = parser.parse_args()
    heading = ("kind", "criterion", "algorithm", "instances", "proved", "equal", "worse", "by %")
    print(" | ".join(heading) + " | s a call", flush=True)
    for number in options.kinds:
        kind = KINDS[number]
        for objective in ("makespan", "minsum"):
            random = np.random.default_rng((options.seed, number))
            counts = {name: [0, 0, 0, 0.0, 0.0] for name in ALGORITHMS}
            for _ in range(options.instances):
                jobs = int(random.integers(2, options.most_jobs + 1))
                instance = random_instance(random, kind, jobs, int(random.integers(1, 5)))
                results = {name: solve(instance, name, objective) for name in ALGORITHMS}
                best_value = min(value_of(result, objective) for result, _ in results.values())
                best = optimum(instance, objective, upper_bound=best_value)
                for name, (result, seconds) in results.items():
                    add(counts[name], result, seconds, objective, best)
            for name, (proved, equal, worse, worst_excess, seconds) in counts.items():
                cells = (name_of(kind), objective, name, options.instances, proved, equal, worse)
                print(
                    *cells,
                    f"{100 * worst_excess:.2f}",
                    f"{seconds / options.instances:.3f}",
                    sep=" | ",
                    flush=True,
                )


def solve(
    instance: cs.moldable.Instance, name: str, objective: str
) -> tuple[cs.moldable.Result, float]:
    """What an algorithm finds, as valid, and the seconds that it takes."""
    begin = time.perf_counter()
    result = cs.moldable.solve(instance, name, objective=objective)
    seconds = time.perf_counter() - begin
    assert isinstance(result, cs.moldable.Result)
    result.schedule.validate()
    return result, seconds


def add(
    counts: list, result: cs.moldable.Result, seconds: float, objective: str, best: float
) -> None:
    name, value = result.algorithm, value_of(result, objective)
    bound = float(result.bound if objective == "makespan" else result.minsum_bound)
    if bound > best * (1 + SAME):
        facts = result.instance.facts()
        sys.exit(f"{name}: {value} with bound {bound}, the optimum is {best}: {facts}")
    is_equal = value <= best * (1 + SAME)
    if result.stopped_by == "proved":
        if not is_equal:
            sys.exit(f"{name}: {value} is called the best, the optimum is {best}")
        counts[0] += 1
    counts[1] += is_equal
    counts[2] += not is_equal
    counts[3] = max(counts[3], value / best - 1 if best > 0 else 0.0)
    counts[4] += seconds


if __name__ == "__main__":
    main()
