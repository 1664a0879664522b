"""`from_sacct` on a file of a million rows, with all columns that are read: jobs (some requeued,
some with bars in their names), and a `.batch` step of each.

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
    "NodeName=g[1-100] CPUs=32 RealMemory=512000 Gres=gpu:a100:4\nPartitionName=main Nodes=ALL\n"
)


def clock(seconds):
    """Texts of times as Slurm writes them."""
    return np.datetime_as_string(np.datetime64("2026-01-01T00:00:00") + seconds.astype("m8[s]"))


def elapsed(seconds):
    return [f"{s // 86400}-{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}" for s in seconds]


def write(path):
    random = np.random.default_rng(1)
    jobs = ROWS // 2
    submit = np.cumsum(random.integers(0, 60, jobs))
    eligible = submit + random.integers(0, 5000, jobs) * (random.random(jobs) < 0.2)
    start = eligible + random.integers(0, 20_000, jobs)
    run = random.integers(1, 90_000, jobs)
    number = np.arange(jobs) - (random.random(jobs) < 0.02)  # the id of the row before
    columns = zip(
        number, clock(submit), clock(eligible), clock(start), clock(start + run), elapsed(run),
        elapsed(2 * run), random.integers(1, 33, jobs), random.integers(0, 200, jobs),
        random.integers(1, 1001, jobs), random.integers(1, 512, jobs),
        np.where(random.random(jobs) < 0.01, "a|b", "run"), strict=True,
    )  # fmt: skip
    with path.open("w") as file:
        file.write(HEADER + "\n")
        for job, sent, ready, began, ended, ran, limit, cores, user, node, memory, name in columns:
            end = f"COMPLETED|{sent}|{ready}|{began}|{ended}|{ran}"
            tres = f"billing={2 * cores},cpu={2 * cores},mem={memory}G,node=1"
            asked = f"{limit}|1|{2 * cores}|{memory}G|{tres}|{tres}|n{node}"
            file.write(f"{job}|{name}|u{user}|staff|main|{end}|{asked}\n")
            file.write(
                f"{job}.batch|batch||||{end}||1|{2 * cores}|||cpu={2 * cores},node=1|n{node}\n"
            )


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
        print(
            f"from_sacct, {ROWS} rows, {size:.0f} MB, {len(inst)} jobs: {taken:.1f} s of the "
            f"processor, {wall:.1f} s; {peak / 1e6:.2f} GB at most ({before / 1e6:.2f} before)"
        )


if __name__ == "__main__":
    main()
