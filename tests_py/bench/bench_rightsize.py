"""Right sizes on generated logs whose truth is known: kill rates beside the promise, and time.

``python tests_py/bench/bench_rightsize.py [LOGS] [JOBS]``: by default 100 logs of 20,000 jobs; then
a log of a million. Advice of each month from what had ended before it. Beside them, where
COSCHED_DATA has it, an archive log that has fields 7 and 10: how alike they are, and its backtest.
"""

import sys
import time

import numpy as np
import pandas as pd
from archives import DATA

import cosched as cs
from cosched.cluster.sizing.backtest import periods, rolling

RISK = 0.01
ARCHIVE = DATA / "pwa" / "HPC2N-2002-2.1-cln.swf.gz"


def kill_rate(seed, jobs, nodes=10):
    """Share of the jobs with advice that would have been killed, by what they needed."""
    table = cs.workloads.requests(jobs, nodes, seed=seed)
    recommendation = cs.cluster.rightsize(cs.cluster.Instance(table, 16 * nodes), RISK)
    need, peak = table["need_seconds"].to_numpy(), table["need_memory_gb"].to_numpy()
    killed = recommended_count = 0
    for _, rows, limit, memory in rolling(
        recommendation.advisor, periods(recommendation.instance)[1]
    ):
        killed += ((need[rows] > limit) | (peak[rows] > memory)).sum()
        recommended_count += ((limit > 0) | (memory > 0)).sum()
    return killed / recommended_count, recommended_count / jobs


def print_limit_shares(name, inst):
    """How much of what they ask for jobs use, how alike those of a group are, its backtest."""
    parts = []
    recommendation = cs.cluster.rightsize(inst, RISK)
    for measure, what in ((recommendation.use.time, "time"), (recommendation.use.memory, "memory")):
        rows = measure.is_reported & (measure.request > 0)
        part = (measure.usage / measure.request)[rows]
        logs = pd.Series(np.log(measure.usage[rows])).groupby(recommendation.use.group_ids[rows])
        spread = np.average(logs.std().fillna(0), weights=logs.size())
        quartiles = ", ".join(f"{100 * q:.0f}%" for q in np.quantile(part, [0.25, 0.5, 0.75]))
        cut = 1 - measure.is_uncensored[rows].mean()
        parts.append(f"{what}: uses {quartiles} (quartiles), sd of logarithms in a group "
                     f"{spread:.2f}, cut {cut:.1%}")  # fmt: skip
    print(f"{name}: {len(inst):,} jobs, {len(recommendation.advice):,} groups; {'; '.join(parts)}")
    for risk in (RISK, 0.05):
        backtest_rows = cs.cluster.rightsize(inst, risk).backtest()
        shares = {
            key: np.average(backtest_rows[key], weights=backtest_rows["jobs"])
            for key in backtest_rows.columns[2:6]
        }
        print(
            f"  of {risk:.0%}: "
            + ", ".join(f"{k} {v:.2%}" for k, v in shares.items())
            + f"; advice for {backtest_rows['jobs'].sum():,} jobs of {len(backtest_rows)} months"
        )


def main(logs=100, jobs=20_000):
    rates, recommended_shares = np.array([kill_rate(seed, jobs) for seed in range(logs)]).T
    print(f"{logs} logs of {jobs:,} jobs, risk {RISK:.1%}: {rates.mean():.2%} killed on average "
          f"({rates.min():.2%} to {rates.max():.2%}); at most the risk in {(rates <= RISK).sum()} "
          f"logs, at least a third of it in {(rates >= RISK / 3).sum()}; "
          f"recommendations for {recommended_shares.mean():.0%} of the jobs")  # fmt: skip
    table = cs.workloads.requests(1_000_000, 1000, seed=1)
    instance = cs.cluster.Instance(table, 16_000)
    begin, worked = time.perf_counter(), time.process_time()
    recommendation = cs.cluster.rightsize(instance, RISK)
    groups, backtest_rows = len(recommendation.advice), len(recommendation.backtest())
    print(f"{len(table):,} jobs: {groups:,} groups and a backtest of {backtest_rows} months in "
          f"{time.perf_counter() - begin:.1f} s ({time.process_time() - worked:.1f} s of a "
          "processor)")  # fmt: skip
    print_limit_shares(
        "generated", cs.cluster.Instance(cs.workloads.requests(200_000, 50, seed=1), 800)
    )
    if ARCHIVE.exists():
        print_limit_shares(ARCHIVE.name, cs.cluster.from_swf(ARCHIVE, convention="rigid"))
    else:
        print(f"skipped: COSCHED_DATA lacks {ARCHIVE.name}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
