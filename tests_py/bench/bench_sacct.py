"""A log of a million jobs, with all columns that are read: `from_sacct`, what happened, policies.

Some are requeued, tasks of arrays, wait for others, want GPUs, have bars in their names.

Run by ``make bench``.
"""

import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import cosched as cs

ROWS = 1_000_000
HEADER = (
    "JobID|JobName|User|Group|Partition|State|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|"
    "NCPUS|ReqMem|ReqTRES|AllocTRES|NodeList"
)
CONF = (
    "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
    "NodeName=n[1-1000] CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=256000\n"
    "NodeName=g[1-100] CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=512000 "
    "Gres=gpu:a100:4\nPartitionName=main Nodes=ALL\n"
)


def clock(seconds):
    """Texts of times as Slurm writes them."""
    return np.datetime_as_string(np.datetime64("2026-01-01T00:00:00") + seconds.astype("m8[s]"))


def elapsed(seconds):
    return [f"{s // 86400}-{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}" for s in seconds]


def write(path):
    random = np.random.default_rng(1)
    jobs = ROWS
    submit = np.cumsum(random.integers(0, 60, jobs))
    eligible = submit + random.integers(0, 5000, jobs) * (random.random(jobs) < 0.2)
    start = eligible + random.integers(0, 20_000, jobs)
    run = random.integers(1, 90_000, jobs)
    number = np.arange(jobs) - (random.random(jobs) < 0.02)  # the id of the row before
    columns = zip(
        number, clock(submit), clock(eligible), clock(start), clock(start + run), elapsed(run),
        elapsed(2 * run), random.integers(1, 33, jobs), random.integers(0, 200, jobs),
        random.integers(1, 1001, jobs), random.integers(1, 129, jobs), random.random(jobs) < 0.1,
        random.random(jobs) < 0.2, np.where(random.random(jobs) < 0.01, "a|b", "run"), strict=True,
    )  # fmt: skip
    with path.open("w") as file:
        file.write(HEADER + "\n")
        for (job, sent, ready, began, ended, ran, limit, cores, user, node, memory, gpu, array,
             name) in columns:  # fmt: skip
            end = f"COMPLETED|{sent}|{ready}|{began}|{ended}|{ran}"
            gpus = "gres/gpu:a100=1,gres/gpu=1," if gpu else ""
            tres = f"billing={2 * cores},cpu={2 * cores},{gpus}mem={memory}G,node=1"
            host = f"g{node % 100 + 1}" if gpu else f"n{node}"
            asked = f"{limit}|1|{2 * cores}|{memory}G|{tres}|{tres}|{host}"
            number = f"{job}_{job % 7}" if array else job
            file.write(f"{number}|{name}|u{user}|staff|main|{end}|{asked}\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        log, machine = Path(folder) / "sacct.txt", Path(folder) / "slurm.conf"
        write(log)
        machine.write_text(CONF)
        size = log.stat().st_size / 1e6
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin, wall = time.process_time(), time.perf_counter()
        inst = cs.cluster.from_sacct(log, cs.cluster.Machine.read(machine))
        taken, wall = time.process_time() - begin, time.perf_counter() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.process_time()
        result = cs.cluster.solve(inst.replace().without_bound(), "as-logged")
        result.metrics()
        judged = time.process_time() - begin
        print(
            f"from_sacct, {ROWS} rows, {size:.0f} MB, {len(inst)} jobs: {taken:.1f} s of the "
            f"processor, {wall:.1f} s, then waits, stretches and use {judged:.1f} s; "
            f"{peak / 1e6:.2f} GB at most ({before / 1e6:.2f} before)"
        )
        for name in ("FCFS", "EASY"):
            begin = time.process_time()
            cs.cluster.solve(result.instance, name)
            print(f"{name} on 1,100 nodes: {time.process_time() - begin:.1f} s of the processor")


if __name__ == "__main__":
    main()
