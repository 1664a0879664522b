"""How the time of each heuristic grows with the number of tasks: t ~ n^exponent.

    python tests_py/bench/bench_growth.py                      # 10,000 and 100,000 tasks
    python tests_py/bench/bench_growth.py packs dags --sizes 1000 10000
    python tests_py/bench/bench_growth.py --only dmdas pack-by-pack-9

Fixed instances, fixed seeds; processor seconds, the least of some runs, of the call in Python: the
columns of the schedule are part of it. The exponent is that of the least squares line through the
logarithms of all sizes. Graphs have about five edges a task at each size. Exact methods and
searches, which stop by their work or a time limit, are left out. What grows faster than n^1.3 ends
with an exclamation mark, and the exit code is 1: on a busy machine, run it again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import cosched as cs
from cosched.registry import family

#: Largest exponent that counts as near-linear.
MAX_EXPONENT = 1.3
SIZES = (10_000, 100_000)
#: Exact methods, searches and what is not an algorithm by itself.
LEFT_OUT = {
    "packs": {"optimal", "ilp", "local-search", "pairs"},
    "dags": {"hlp-best", "optimal", "as-executed"},
    "moldable": {"demt-best", "local-search", "optimal"},
    "bags": {"ttb-best", "ttb-exact"},
    "cluster": {"as-logged", "slurm-backfill"},
}
#: One of each kind of the 116 policies of paper 3, which share their rules.
INCLUDED = {
    "cluster": {
        "FCFS", "EASY", "EASY (perfect estimates)", "conservative",
        "conservative (perfect estimates)", "Greedy */opt=min", "GreedyPM/per/opt=min/minvt=600",
        "MCB8/per/opt=min/minvt=600", "/per/opt=min/minvt=600",
        "/stretch-per/opt=max/minvt=600",
    },
}  # fmt: skip
EDGES_PER_TASK = 5

Instances = Iterator[tuple[str, Any]]


def packs(tasks: int) -> Instances:
    yield "p = 128", cs.workloads.packs_ii(tasks=tasks, seed=1)
    yield "k = 2", cs.workloads.packs_ii(tasks=tasks, max_tasks=2, seed=1)


def dags(tasks: int) -> Instances:
    """Few tasks are ready at a time, or a tenth of all."""
    for width, name in ((300, "narrow"), (tasks // 10, "wide")):
        yield name, graph(tasks, width)
        yield f"{name}, data", graph(tasks, width, bandwidth=1.0)


def graph(tasks: int, width: int, bandwidth: float | None = None) -> Any:
    """Each task has some predecessors among those from 2 to 1 widths before it."""
    random = np.random.default_rng(1)
    after = np.repeat(np.arange(1, tasks), EDGES_PER_TASK)
    before = after - random.integers(width, 2 * width, after.size)
    edges = np.unique(np.column_stack((before, after))[before >= 0], axis=0)
    times = np.column_stack((random.uniform(5, 15, tasks), random.uniform(0.5, 30, tasks)))
    data = random.uniform(1, 10, len(edges)) if bandwidth else None
    return cs.dags.Instance(times, edges, units=(32, 8), data=data, bandwidth=bandwidth)


def moldable(tasks: int) -> Instances:
    yield "m = 200", cs.workloads.moldable(n=tasks, m=200, seed=1)


def bags(tasks: int) -> Instances:
    """As many machines as tenths of the tasks, of nine types; tasks of 30 types."""
    yield (
        "30 types",
        cs.workloads.bags_random(
            tasks_per_type=tasks // 30, machines_per_type=max(1, tasks // 90), seed=1
        ),
    )


def cluster(tasks: int) -> Instances:
    """As many jobs as tasks, on a load of 0.8: queues do not grow with the number of jobs."""
    jobs = cs.workloads.rescale_load(cs.workloads.lublin(tasks, 128, seed=1), 128, 0.8)
    yield "load 0.8", cs.cluster.Instance(jobs, nodes=128)


def seconds_of(solve: Callable[[], Any], runs: int) -> float:
    """Processor seconds, the least of some runs."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        solve()
        times.append(time.process_time() - begin)
    return min(times)


def exponent_of(sizes: list[int], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-9)), 1)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", default=list(LEFT_OUT))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", nargs="+", help="algorithms")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--most", type=float, default=60, metavar="SECONDS",
                        help="what takes longer at one size is not run at the next")  # fmt: skip
    args = parser.parse_args()
    seconds: dict[tuple[str, str, str], list[float]] = {}
    for name in args.families:
        solver = family(name)
        for size in args.sizes:
            for label, instance in globals()[name](size):
                for algorithm in solver.algorithms:
                    if algorithm in LEFT_OUT[name] or (args.only and algorithm not in args.only):
                        continue
                    if algorithm not in INCLUDED.get(name, solver.algorithms):
                        continue
                    of = seconds.setdefault((name, label, algorithm), [])
                    if of and of[-1] > args.most:
                        continue
                    solve = partial(solver.solve, instance, algorithm, seed=1)
                    try:
                        of.append(seconds_of(solve, args.runs))
                    except cs.errors.CoschedError:  # it does not take such instances
                        del seconds[name, label, algorithm]
    sizes = "".join(f"{size:>12,}" for size in args.sizes)
    print(f"{'family':10}{'instance':14}{'algorithm':34}{sizes}{'exponent':>10}")
    has_failed = False
    for (name, label, algorithm), taken in seconds.items():
        exponent = exponent_of(list(args.sizes[: len(taken)]), taken) if len(taken) > 1 else np.nan
        is_fast = exponent > MAX_EXPONENT
        has_failed |= is_fast
        times = "".join(f"{took:12.3f}" for took in taken).ljust(12 * len(args.sizes))
        print(f"{name:10}{label:14}{algorithm:34}{times}{exponent:10.2f}{' !' if is_fast else ''}")
    return int(has_failed)


if __name__ == "__main__":
    raise SystemExit(main())
