"""How many times as fast as real time the Slurm simulator is, on clusters of three sizes.

    python tests_py/bench/bench_twin_real_time.py [--jobs 20000] [--load 0.9] [--seed 1]

24 and 1,000 nodes: the generated stream of `bench_twin_year.py`, whose jobs have cores alone, at
the load. 217 nodes: the public week (`public_week.py`), where COSCHED_DATA has it. One line for
each: jobs, simulated days from the first submission to the last end, processor seconds of
`slurm-backfill` with its schedule, and the ratio of simulated to processor time.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_twin_year import machine_of, year
from public_week import archive, read_week

from cosched.cluster import Instance, solve

DAY = 86_400.0


def generated(nodes: int, count: int, load: float, seed: int) -> Instance:
    """So many jobs on so many nodes of 32 cores."""
    machine = machine_of(nodes, "cores")
    jobs = year(count, load, seed, nodes)
    del jobs["memory_gb"]
    return Instance(jobs, nodes=machine.cores, machine=machine)


def measure(name: str, instance: Instance, seed: int) -> None:
    """Simulate the jobs and print the line."""
    begin = time.process_time()  # other work on the machine does not count
    result = solve(instance, "slurm-backfill", approximate=True, seed=seed)
    processor_seconds = time.process_time() - begin
    submit, schedule = instance.column("submit"), result.schedule
    span = float(np.max(schedule.end) - np.min(submit))
    print(
        f"{name:12} {len(instance):7} {span / DAY:6.1f} {np.mean(schedule.start - submit):10.0f} "
        f"{processor_seconds:12.2f} {span / processor_seconds:15,.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print("nodes           jobs   days mean wait s  processor s  times real time")
    measure("24", generated(24, args.jobs, args.load, args.seed), args.seed)
    week = archive()
    if week is None:
        print("217          (the public week: COSCHED_DATA has no ubhpc/medium_cluster.tar.xz)")
    else:
        measure("217 (week)", read_week(week), args.seed)
    measure("1,000", generated(1000, args.jobs, args.load, args.seed), args.seed)


if __name__ == "__main__":
    main()
