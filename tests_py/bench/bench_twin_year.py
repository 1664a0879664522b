"""A year of a large cluster in the twin of Slurm: processor seconds and memory, one run.

    python tests_py/bench/bench_twin_year.py [--jobs 1000000] [--kind cores] [--load 0.9] [--seed 1]

1,000 nodes of 32 cores, 128 GB each, and jobs from fixed seeds, a million of which are about a
year: their cores times run times are `--load` of what the cluster has in the meantime. ``cores``:
jobs have cores alone; ``memory``: memory of the nodes, too. Seconds of making the instance, and of
`slurm-backfill` with its schedule, and the most memory that the process had. `slurm-backfill` says
how far it is on a terminal.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from cosched.cluster import Instance, Machine, solve

CORES = 32
CONF = """\
NodeName=n[1-{nodes}] CPUs=32 RealMemory=128000
PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=4-0
SelectType=select/cons_tres
SelectTypeParameters={kind}
SchedulerParameters=bf_interval=60,bf_resolution=300,bf_max_job_test=500,bf_window=5760
"""
KINDS = {"cores": "CR_Core", "memory": "CR_Core_Memory"}


def machine_of(nodes: int, kind: str) -> Machine:
    """So many nodes, of which jobs get what the kind of the table says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "slurm.conf")
        path.write_text(CONF.format(nodes=nodes, kind=KINDS[kind]))
        return Machine.read(path)


def year(count: int, load: float, seed: int, nodes: int = 1000) -> dict[str, np.ndarray]:
    """Jobs of one core to 32 nodes, or half of the nodes, that run for six hours in the mean."""
    rng = np.random.default_rng(seed)
    widths = [1, 4, 8, 16, 32, 64, 128, 256, 1024]
    tasks = rng.choice(widths, count, p=[.3, .2, .1, .1, .14, .08, .05, .02, .01])  # fmt: skip
    runtime = np.ceil(np.minimum(rng.lognormal(9.3, 1.4, count), 172_800))
    gaps = rng.exponential(1, count)
    tasks = np.minimum(tasks, nodes * CORES // 2)
    span = (tasks * runtime).sum() / (nodes * CORES * load)
    return {
        "submit": np.floor(np.cumsum(gaps) / gaps.sum() * span), "tasks": tasks,
        "runtime": runtime, "cpu": np.ones(count), "memory": np.full(count, 0.01),
        "estimate": np.ceil(np.minimum(runtime * rng.uniform(1, 6, count), 345_600) / 600) * 600,
        "memory_gb": tasks * rng.choice([0.5, 2, 4, 12], count, p=[0.3, 0.4, 0.25, 0.05]),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--kind", choices=list(KINDS), default="cores")
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    machine = machine_of(1000, args.kind)
    begin = time.process_time()
    jobs = year(args.jobs, args.load, args.seed)
    if args.kind == "cores":
        del jobs["memory_gb"]
    given = Instance(jobs, nodes=machine.cores)
    made = time.process_time()
    result = solve(given, "slurm-backfill", machine=machine, seed=args.seed)
    used = time.process_time()
    submit = given.column("submit")
    print(
        f"{args.kind}: {args.jobs} jobs in {submit[-1] / 86400:.0f} days at load {args.load}: "
        f"instance {made - begin:.1f} s, twin {used - made:.1f} s of the processor; mean wait "
        f"{np.mean(result.schedule.start - submit):.0f} s; "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB at most"
    )


if __name__ == "__main__":
    main()
