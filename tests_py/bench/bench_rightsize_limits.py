"""Does the risk that rightsize states hold where limits cut off the past?

``python tests_py/bench/bench_rightsize_limits.py [LOGS]``: logs of one group whose needs are
log-normal and whose limit is below a known share of them. One row per number of jobs, one column
per share that the limit cuts off: the share of the logs that get advice, and the mean chance that
the next job needs more than is advised. The last line sums up over all logs with advice.
"""

import sys

import numpy as np
from scipy.stats import norm

import cosched as cs

RISK = 0.05
SPREAD = 0.7  # of the logarithms of needs
LOG_MEDIAN = 8.0  # of needs (s)
CUT_SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12)


def chance_of_a_kill(jobs: int, cut_share: float, seed: int) -> float:
    """The chance that the next job needs more than is advised; nan without advice."""
    limit = np.exp(LOG_MEDIAN + SPREAD * norm.ppf(1 - cut_share))
    need = np.exp(np.random.default_rng(seed).normal(LOG_MEDIAN, SPREAD, jobs))
    table = {
        "submit": 60.0 * np.arange(jobs),
        "tasks": np.ones(jobs, dtype=int),
        "cpu": np.ones(jobs),
        "memory": np.ones(jobs),
        "runtime": np.minimum(need, limit),
        "estimate": np.full(jobs, limit),
        "status": np.where(need >= limit, "timeout", "completed"),
        "user": ["ada"] * jobs,
    }
    advised = cs.cluster.rightsize(cs.cluster.Instance(table, 64), RISK).advice["limit"][0]
    return float(1 - norm.cdf((np.log(advised) - LOG_MEDIAN) / SPREAD))


def main(logs: int = 150) -> None:
    print(f"risk {RISK:.0%}, {logs} logs per cell: share with advice, killed of the next jobs")
    print("jobs  " + "  ".join(f"{f'cut {share:.1%}':>11}" for share in CUT_SHARES))
    all_chances = []
    for jobs in (20, 40, 60, 100, 250, 600):
        cells = []
        for share in CUT_SHARES:
            chances = np.array([chance_of_a_kill(jobs, share, seed) for seed in range(logs)])
            advised = chances[~np.isnan(chances)]
            all_chances.append(advised)
            killed = f"{advised.mean():6.2%}" if len(advised) else "     -"
            cells.append(f"{len(advised) / logs:4.0%} {killed}")
        print(f"{jobs:4}  " + "  ".join(cells), flush=True)
    chances = np.concatenate(all_chances)
    print(f"all {len(chances):,} logs with advice: {chances.mean():.2%} killed, {RISK:.0%} stated")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
