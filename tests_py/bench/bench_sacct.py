"""`from_sacct` on a file of a million rows: jobs, and a `.batch` step of each.

Run by ``make bench``.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

import cosched as cs

ROWS = 1_000_000
HEADER = "JobID|User|Partition|State|Submit|Start|Elapsed|Timelimit|NCPUS"
MACHINE = '[[nodes]]\ncount = 100\ncores = 32\n[[partitions]]\nname = "main"\n'


def clock(seconds):
    """Texts of times as Slurm writes them."""
    return np.datetime_as_string(np.datetime64("2026-01-01T00:00:00") + seconds.astype("m8[s]"))


def elapsed(seconds):
    return [f"{s // 86400}-{s // 3600 % 24:02}:{s // 60 % 60:02}:{s % 60:02}" for s in seconds]


def write(path):
    random = np.random.default_rng(1)
    jobs = ROWS // 2
    submit = np.cumsum(random.integers(0, 60, jobs))
    start = submit + random.integers(0, 20_000, jobs)
    run = random.integers(1, 90_000, jobs)
    columns = zip(
        clock(submit), clock(start), elapsed(run), elapsed(2 * run),
        random.integers(1, 65, jobs), random.integers(0, 200, jobs), strict=True,
    )  # fmt: skip
    with path.open("w") as file:
        file.write(HEADER + "\n")
        for job, (sent, began, ran, limit, cpus, user) in enumerate(columns):
            end = f"COMPLETED|{sent}|{began}|{ran}"
            file.write(f"{job}|u{user}|main|{end}|{limit}|{cpus}\n")
            file.write(f"{job}.batch|||{end}||{cpus}\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        log, machine = Path(folder) / "sacct.txt", Path(folder) / "machine.toml"
        write(log)
        machine.write_text(MACHINE)
        size = log.stat().st_size / 1e6
        begin = time.process_time()
        inst = cs.cluster.from_sacct(log, cs.cluster.Machine.read(machine))
        taken = time.process_time() - begin
        print(f"from_sacct, {ROWS} rows, {size:.0f} MB, {len(inst)} jobs: {taken:.1f} s")


if __name__ == "__main__":
    main()
