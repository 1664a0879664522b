"""Processor seconds and peak memory of `cosched audit` on the log of `bench_sacct.py`.

`python bench_audit_memory.py [--rows 1000000]`: fixed work, seed 1, a process of its own on one
core. The machine is a machine.toml, so that nothing is simulated by slurm-backfill; with `--slurm`
it is a slurm.conf, with as many replications as `--draws` says.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench_sacct

MACHINE = """[[nodes]]
name = "n"
count = 1000
cores = 32
threads = 2
memory_gb = 250
[[nodes]]
name = "g"
count = 100
cores = 32
threads = 2
memory_gb = 500
gpus = 4
gpu_type = "a100"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--slurm", action="store_true", help="the machine is a slurm.conf")
    parser.add_argument("--draws", type=int, default=2, help="replications of slurm-backfill")
    given = parser.parse_args()
    bench_sacct.ROWS = given.rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_sacct.write(folder / "sacct.txt")
        machine = folder / ("slurm.conf" if given.slurm else "machine.toml")
        machine.write_text(bench_sacct.CONF if given.slurm else MACHINE)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        begin = time.perf_counter()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "cosched",
                "audit",
                folder / "sacct.txt",
                "--machine",
                machine,
                "-o",
                folder / "audit.html",
                *(["--draws", str(given.draws)] if given.slurm else []),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        wall = time.perf_counter() - begin
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"audit of {given.rows:,} rows: {usage.ru_utime + usage.ru_stime:.1f} s of the "
            f"processor, {wall:.1f} s, {usage.ru_maxrss / 1e6:.2f} GB at most"
        )


if __name__ == "__main__":
    main()
