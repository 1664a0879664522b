"""What memory and GPUs cost the twin of Slurm: the same jobs with and without them, one run.

    python tests_py/bench/bench_twin_speed.py [--jobs 100000] [--load 0.85] [--draws 8]

A made-up cluster of 300 nodes (fat and thin ones, some with GPUs) and a stream of jobs from fixed
seeds. Processor seconds of the schedule with memory and GPUs, with cores alone, with whole nodes,
and the ratios; then of draws (a tenth of the jobs), with wall time beside it, on 1 core and on all.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cosched as cs

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
    """Jobs of cores and whole nodes, a fifth of them with GPUs; more at once than at night."""
    rng = np.random.default_rng(seed)
    on_gpus = rng.uniform(size=count) < 0.2
    tasks = rng.choice([1, 4, 8, 16, 32, 64, 128, 256], count, p=[.3, .2, .1, .1, .15, .08, .05, .02])
    tasks[on_gpus] = rng.choice([4, 8, 16], on_gpus.sum())
    runtime = np.ceil(np.minimum(rng.lognormal(7.5, 1.4, count), 43200))
    work = tasks * runtime
    share = 300 * CORES * load
    gaps = rng.exponential(1, count)
    submit = np.floor(np.cumsum(gaps) / gaps.sum() * work.sum() / share)
    per_core = rng.choice([0.5, 2, 4, 12], count, p=[.3, .4, .25, .05])
    return {
        "submit": submit, "tasks": tasks, "runtime": runtime,
        "estimate": np.ceil(np.minimum(runtime * rng.uniform(1, 6, count), 43200) / 600) * 600,
        "cpu": np.ones(count), "memory": np.full(count, 0.01),
        "memory_gb": np.round(per_core * tasks, 3),
        "gpus": np.where(on_gpus, rng.choice([1, 2, 4], count), 0),
        "partition": np.where(on_gpus, "gpu", "main"),
    }  # fmt: skip


def instance(jobs: dict[str, np.ndarray], machine: cs.cluster.Machine, kind: str) -> cs.cluster.Instance:
    dropped = () if kind == "memory, GPUs" else ("memory_gb", "gpus")
    columns = {name: values for name, values in jobs.items() if name not in dropped}
    return cs.cluster.Instance(columns, nodes=machine.cores)


def seconds(work: Callable[[], object]) -> tuple[float, float, object]:
    """Processor and wall seconds, and the answer."""
    wall, begin = time.perf_counter(), time.process_time()
    answer = work()
    return time.process_time() - begin, time.perf_counter() - wall, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--load", type=float, default=0.85)
    parser.add_argument("--draws", type=int, default=8)
    args = parser.parse_args()
    jobs = stream(args.jobs, args.load)
    machines = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, text in KINDS.items():
            path = Path(folder, "slurm.conf")
            path.write_text(text + NODES)
            machines[kind] = cs.cluster.Machine.read(path)
    print(f"{args.jobs} jobs on 300 nodes at load {args.load}, processor seconds")
    took = {}
    for kind, machine in machines.items():
        inst = instance(jobs, machine, kind)
        took[kind], _, result = seconds(
            lambda: cs.cluster.solve(inst, "slurm-backfill", machine=machine)
        )
        wait = float(np.mean(result.schedule.start - inst.column("submit"))) if hasattr(result.schedule, "start") else 0
        print(f"  {kind:14} {took[kind]:8.2f}  {took['memory, GPUs'] / took[kind]:5.2f}x", wait, flush=True)


if __name__ == "__main__":
    main()
