"""How many of the fixed instances of 8 to 12 jobs `moldable.optimal` proves, by family of jobs.

`python tests_py/bench/bench_moldable_optimal.py [WORK [COUNT]]`; processor seconds.
"""

import sys
import time

import numpy as np

import cosched as cs

WORK = int(float(sys.argv[1])) if len(sys.argv) > 1 else 400_000_000
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 12


def instance(kind, seed):
    rng = np.random.default_rng(seed)
    jobs, machines = int(rng.integers(8, 13)), int(rng.integers(6, 17))
    return cs.workloads.moldable(kind, jobs, machines, seed=seed)


def main():
    for kind in ("cirne", "highly-parallel", "mixed", "weakly-parallel"):
        proved, gaps, seconds = 0, [], []
        for seed in range(COUNT):
            started = time.process_time()
            found = cs.moldable.solve(instance(kind, seed), "optimal", work=WORK)
            seconds.append(time.process_time() - started)
            proved += found.stopped_by == "proved"
            gaps.append(found.gap)
        print(
            f"{kind:16} {proved:2}/{COUNT} proved, gap {100 * np.mean(gaps):.3f}%, "
            f"{np.mean(seconds):.2f} s mean, {max(seconds):.2f} s most",
            flush=True,
        )


if __name__ == "__main__":
    main()
