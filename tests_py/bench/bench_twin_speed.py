"""What memory and GPUs cost the twin of Slurm: the same jobs with and without them, one run.

    python tests_py/bench/bench_twin_speed.py [--jobs 100000] [--load 0.85] [--draws 8]

A made-up cluster of 300 nodes (fat and thin ones, some with GPUs) and a stream of jobs from fixed
seeds. Processor seconds of the schedule with memory and GPUs, with cores alone, with whole nodes,
and the ratios; then of draws of a tenth of the jobs, with wall time beside them. Memory
and GPUs make jobs wait longer, too, and longer queues take longer: mean waits stand beside.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from cosched.cluster import Instance, Machine, solve

NODES = """\
NodeName=n[1-220] CPUs=32 RealMemory=128000 Weight=10
NodeName=n[221-260] CPUs=32 RealMemory=512000 Weight=20
NodeName=n[261-300] CPUs=32 RealMemory=256000 Gres=gpu:a100:4 Weight=30
PartitionName=main Nodes=n[1-260] Default=YES
PartitionName=gpu Nodes=n[261-300]
SchedulerParameters=bf_interval=60,bf_resolution=300,bf_max_job_test=100
"""
#: Kinds: what a slurm.conf says of resources.
KINDS = {
    "memory, GPUs": "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n",
    "cores": "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
    "whole nodes": "SelectType=select/linear\n",
}
CORES = 32


def stream(count: int, load: float, seed: int = 1) -> dict[str, np.ndarray]:
    """Jobs of one core to eight nodes; a fifth with GPUs."""
    rng = np.random.default_rng(seed)
    on_gpus = rng.uniform(size=count) < 0.2
    widths = [1, 4, 8, 16, 32, 64, 128, 256]
    tasks = rng.choice(widths, count, p=[.3, .2, .1, .1, .15, .08, .05, .02])  # fmt: skip
    tasks[on_gpus] = rng.choice([4, 8, 16], on_gpus.sum())
    runtime = np.ceil(np.minimum(rng.lognormal(7.5, 1.4, count), 43200))
    work = tasks * runtime
    share = 300 * CORES * load
    gaps = rng.exponential(1, count)
    submit = np.floor(np.cumsum(gaps) / gaps.sum() * work.sum() / share)
    per_core = rng.choice([0.5, 2, 4, 12], count, p=[0.3, 0.4, 0.25, 0.05])
    return {
        "submit": submit, "tasks": tasks, "runtime": runtime,
        "estimate": np.ceil(np.minimum(runtime * rng.uniform(1, 6, count), 43200) / 600) * 600,
        "cpu": np.ones(count), "memory": np.full(count, 0.01),
        "memory_gb": np.round(per_core * tasks, 3),
        "gpus": np.where(on_gpus, rng.choice([1, 2, 4], count), 0),
        "partition": np.where(on_gpus, "gpu", "main"),
    }  # fmt: skip


def instance(jobs: dict[str, np.ndarray], machine: Machine, kind: str) -> Instance:
    """Without what the machine of that kind does not hand out."""
    left = () if kind == "memory, GPUs" else ("memory_gb", "gpus")
    columns = {name: values for name, values in jobs.items() if name not in left}
    return Instance(columns, nodes=machine.cores)


def machines(nodes: str = NODES) -> dict[str, Machine]:
    """Of each kind."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "slurm.conf")
        for kind, text in KINDS.items():
            path.write_text(text + nodes)
            found[kind] = Machine.read(path)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--load", type=float, default=0.85)
    parser.add_argument("--draws", type=int, default=8)
    args = parser.parse_args()
    jobs = stream(args.jobs, args.load)
    known = machines()
    print(f"{args.jobs} jobs on 300 nodes at load {args.load}")
    print(f"  {'':14} {'processor s':>12} {'mean wait s':>12}  memory and GPUs cost")
    first = 0.0
    for kind, machine in known.items():
        given = instance(jobs, machine, kind)
        begin = time.process_time()  # other work on the machine does not count
        result = solve(given, "slurm-backfill", machine=machine)
        took = time.process_time() - begin
        first = first or took
        wait = float(np.mean(result.schedule.start - given.column("submit")))
        print(f"  {kind:14} {took:12.2f} {wait:12.0f}  {first / took:.2f} times", flush=True)
    few = {name: values[: args.jobs // 10] for name, values in jobs.items()}
    given = instance(few, known["memory, GPUs"], "memory, GPUs")
    wall, begin = time.perf_counter(), time.process_time()
    solve(given, "slurm-backfill", machine=known["memory, GPUs"], draws=args.draws, seed=1)
    used, lasted = time.process_time() - begin, time.perf_counter() - wall
    print(f"{args.draws} draws of {len(given)} jobs: {used:.1f} processor s in {lasted:.1f} s on "
          f"{len(os.sched_getaffinity(0))} cores: {used / lasted:.2f} at a time")  # fmt: skip


if __name__ == "__main__":
    main()
