"""Anytime curves: what each search has after 0.1 to 30 seconds, as a gap to the best bound known.

A time limit is a budget: no row may be flat while its gap is open and a better schedule is known.
`python tests_py/bench/bench_anytime.py [SECONDS ...]`; fixed instances and seeds.
"""

import sys

import numpy as np

import cosched as cs

SECONDS = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0]


def rigid(n, m, seed):
    rng = np.random.default_rng(seed)
    times = np.full((n, m), np.inf)
    times[np.arange(n), rng.integers(0, m, n)] = rng.uniform(5, 50, n)
    return cs.moldable.Instance(times, rng.uniform(1, 5, n))


def both_gaps(result):
    return (1 + result.gap) * (1 + result.minsum_gap) - 1


def minsum_gap(result):
    return result.minsum_gap


def gap(result):
    return result.gap


PACKS = cs.workloads.packs_iii(seed=0, max_tasks=6)
FOUR = cs.packs.Instance(cs.workloads.packs_ii(seed=1, max_tasks=3).times[:4, :8], max_tasks=3)
JOBS = cs.workloads.moldable("cirne", 60, 32, seed=1)
TWELVE = cs.workloads.moldable("cirne", 12, 6, seed=3)
FEW = cs.workloads.moldable("cirne", 14, 11, seed=3)
GRAPH = cs.workloads.layered(1000, density=0.05, units=(16, 4), seed=1)
DATA = cs.workloads.layered(60, density=0.2, units=(4, 2), ccr=1.0, seed=1)
FORTY = cs.workloads.layered(40, density=0.2, units=(4, 2), ccr=1.0, seed=1)
SMALL = cs.workloads.layered(25, density=0.2, units=(4, 2), ccr=1.0, seed=1)
BAG = cs.workloads.bags_random(6, seed=3)

#: Title, instance, algorithm, options, gap. Every algorithm that takes a time limit has a row.
CURVES = [
    ("packs local-search", PACKS, "local-search", {}, gap),
    ("packs optimal", PACKS, "optimal", {}, gap),
    ("packs ilp, 4 tasks", FOUR, "ilp", {}, gap),
    ("moldable local-search", JOBS, "local-search", {}, gap),
    ("moldable local-search, minsum", JOBS, "local-search", {"objective": "minsum"}, minsum_gap),
    ("moldable local-search, 30 rigid", rigid(30, 16, 1), "local-search", {}, gap),
    ("moldable optimal, 12 jobs", TWELVE, "optimal", {}, gap),
    ("moldable optimal, 14 jobs", FEW, "optimal", {}, gap),
    ("moldable demt-best, both", JOBS, "demt-best", {}, both_gaps),
    ("dags hlp-best", GRAPH, "hlp-best", {}, gap),
    ("dags hlp-best, data", DATA, "hlp-best", {}, gap),
    ("dags optimal, 25 tasks, data", SMALL, "optimal", {}, gap),
    ("dags optimal, 40 tasks, data", FORTY, "optimal", {}, gap),
    ("bags ttb-best", BAG, "ttb-best", {}, gap),
]


def main():
    limits = [float(text) for text in sys.argv[1:]] or SECONDS
    print(f"{'gap after':34}" + "".join(f"{seconds:>9g} s" for seconds in limits) + "   ended by")
    for title, instance, name, options, gap_of in CURVES:
        solve = getattr(cs, instance.family).solve
        results = [solve(instance, name, time_limit=t, **options) for t in limits]
        gaps = "".join(f"{100 * gap_of(result):>10.3f}%" for result in results)
        print(f"{title:34}{gaps}   {results[-1].stopped_by}", flush=True)


if __name__ == "__main__":
    main()
