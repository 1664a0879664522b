"""How the twin of Slurm grows with the queue: processor seconds a virtual day, one run.

    python tests_py/bench/bench_twin_growth.py [--queues 100 1000 10000] [--seed 1]

The cluster and the stream of `bench_twin_speed`, with 2,500 tests a cycle of backfilling, a cycle
every two minutes: so many jobs wait at second 0, and as much work comes in a day as the cores can
do. A run is over when as many jobs of the main partition as come to it in a day have started. With
memory and GPUs, and with cores alone; how many jobs waited in the mean stands beside.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from bench_twin_speed import NODES, instance, machines, stream

from cosched.slurm.twin.core_clocks import core_clocks
from cosched.slurm.twin.host_clocks import HOST
from cosched.slurm.twin.twin import Twin

DAY = 86400.0
DEEP = (
    "SchedulerParameters=bf_interval=120,bf_max_job_test=2500,default_queue_depth=2500,"
    "bf_window=4320"
)


def day_of(queue: int, seed: int) -> tuple[dict[str, np.ndarray], int]:
    """A queue, and what comes in a day behind it; which job's start ends the run."""
    jobs = stream(queue + 12_000, 1.0, seed)
    jobs["submit"] = np.maximum(0.0, jobs["submit"] - jobs["submit"][queue])
    main = np.flatnonzero(jobs["partition"] == "main")
    coming = (jobs["submit"][main] > 0) & (jobs["submit"][main] <= DAY)
    return jobs, int(main[coming.sum()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queues", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    nodes = "\n".join(line for line in NODES.splitlines() if not line.startswith("Scheduler"))
    known = machines(f"{nodes}\n{DEEP}\n")
    clocks = {**HOST, "controller_start": -60.0, "epoch": 1_700_000_000.0}
    print(f"{'':14} {'queue':>7} {'waited':>7} {'days':>6} {'processor s a day':>18}")
    for kind in ("memory, GPUs", "cores"):
        for queue in args.queues:
            jobs, last = day_of(queue, args.seed)
            twin = Twin(instance(jobs, known[kind], kind), known[kind], {})
            begin = time.process_time()
            start = twin.run(core_clocks(clocks).replace(watched_jobs=[last])).start
            took = time.process_time() - begin
            over = start[last]
            left = np.minimum(np.nan_to_num(start, nan=over), over)
            waited = np.maximum(0.0, left - jobs["submit"]).sum() / over
            print(f"{kind:14} {queue:7} {waited:7.0f} {over / DAY:6.2f} {took / over * DAY:18.2f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
