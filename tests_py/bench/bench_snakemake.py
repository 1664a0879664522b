"""Snakemake with cosched beside others; prints Markdown tables.

`python bench_snakemake.py schedulers 10`: `--scheduler cosched` beside `greedy` on two cores, on
eight workflows, two at a time, in rounds of drawn order: seconds from the start of `snakemake` to
its end (medians) and the geometric mean of their ratios round by round; what the jobs of one run of
`cosched` took, and before when no schedule of them ends; then 1,200 empty jobs and a single one.

`python bench_snakemake.py executors 125`: `--executor cosched` beside
snakemake-executor-plugin-slurm (`pip install` it first), plain and with `--group-components`, on a
real Slurm of two nodes of eight cores on this host: chains of four jobs of 1 to 20 s. Names after
the number choose rows of it. The second table has the commands of Slurm that ran for each 1,000
jobs, on the login node and inside jobs: a program of the name of each comes first in PATH, writes a
line and becomes the real one.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from statistics import geometric_mean, median

from cosched.slurm_lab import RealSlurm

WORKFLOWS = Path(__file__).parent.parent / "fixtures" / "snakemake"

#: Workflow -> cores, values of its configuration, further options.
CASES: dict[str, tuple[int, tuple[str, ...], tuple[str, ...]]] = {
    "chain": (2, ("short=1", "long=3"), ()),
    "fork_join": (2, ("short=1", "long=4"), ()),
    "memory": (4, ("short=1", "long=3"), ("--resources", "mem_mb=1000")),
    "checkpoint": (2, ("short=1", "long=2"), ()),
    "group": (2, ("short=1", "long=3"), ()),
    "failing": (2, ("short=1", "long=1"), ("--keep-going", "--retries", "1")),
    "partial": (2, ("short=1", "long=3"), ()),
    "samples": (2, ("short=1", "long=3"), ()),
}
SCHEDULERS = ("greedy", "cosched")

NODES, CORES = 2, 8
_RIVAL = (
    *("--executor", "slurm", "--slurm-no-account", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "5"),
)
_GROUPS = (
    *(*_RIVAL, "--groups", "first=chain", "second=chain", "third=chain", "fourth=chain"),
    "--group-components",
)
EXECUTORS = {
    "cosched": (
        *("--executor", "cosched", "--cosched-time", "1h"),
        *("--cosched-nodes", str(NODES), "--cosched-cores", str(CORES)),
    ),
    "slurm": _RIVAL,
    "slurm, `--slurm-array-jobs all`": (*_RIVAL, "--slurm-array-jobs", "all"),
    "slurm, `--group-components chain=1`": (*_GROUPS, "chain=1"),
    "slurm, `--group-components chain=8`": (*_GROUPS, f"chain={CORES}"),
}
#: Commands of Slurm that are counted.
COMMANDS = ("sbatch", "srun", "squeue", "sacct", "scontrol", "sinfo", "scancel", "sacctmgr")
_SLURM = {"SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core"}


def snakemake(workflow: str, *options: str) -> list[str]:
    file = str(WORKFLOWS / f"{workflow}.smk")
    return [sys.executable, "-m", "snakemake", "--snakefile", file, "--nocolor", *options]


def seconds(case: str, scheduler: str, report: Path | None = None) -> float:
    """Of one run in a folder of its own."""
    if case in CASES:
        cores, values, more = CASES[case]
    else:
        cores, values, more = 2, (f"jobs={case.partition(' ')[0]}",), ()
    command = snakemake(case if case in CASES else "empty", "--cores", str(cores), *more)
    command += ["--scheduler", scheduler, "--config", *values]
    command += [] if report is None else ["--scheduler-cosched-report", str(report)]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        took = time.monotonic() - begin
    if done.returncode != (case == "failing"):
        raise SystemExit(done.stderr)
    return took


def schedulers(rounds: int) -> None:
    draws = random.Random(0)
    took: dict[tuple[str, str], list[float]] = {}

    def note(cells: list[tuple[str, str]], together: int) -> None:
        draws.shuffle(cells)
        with ThreadPoolExecutor(together) as threads:
            for cell, value in zip(cells, threads.map(lambda c: seconds(*c), cells), strict=True):
                took.setdefault(cell, []).append(value)

    for _ in range(rounds):  # their jobs sleep: two workflows at a time
        note([(case, name) for case in CASES for name in SCHEDULERS], 2)
    empty = {"1200 empty jobs": max(rounds // 3, 1), "1 empty job": 2 * rounds}
    for case, times in empty.items():
        for _ in range(times):
            note([(case, name) for name in SCHEDULERS], 1)
    print("| workflow | rounds | `greedy` | `cosched` | ratio | its jobs | bound |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    means = {}
    for case in [*CASES, *empty]:
        greedy, ours = (took[case, name] for name in SCHEDULERS)
        ratio = geometric_mean(b / a for a, b in zip(greedy, ours, strict=True))
        means[case] = ratio
        row = f"{len(ours)} | {median(greedy):.2f} | {median(ours):.2f} | {ratio:.3f}"
        print(f"| {case} | {row} | {jobs_and_bound(case)} |", flush=True)
    ratios = [means[case] for case in CASES]
    print(f"\ngeometric mean of the eight {geometric_mean(ratios):.3f}, worst {max(ratios):.3f}")


def jobs_and_bound(case: str) -> str:
    """Seconds from the first start to the last end, and those that no schedule can beat."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "run.json"
        seconds(case, "cosched", report)
        run = json.loads(report.read_text())
    return f"{run['makespan']:.2f} | {run['bound']:.2f}"


@dataclasses.dataclass(frozen=True)
class Run:
    """A workflow on a real Slurm.

    `node_seconds` are of what was allocated, a core as its part of a node; `calls` counts the
    commands of Slurm by their names.
    """

    submissions: int
    node_seconds: float
    makespan: float
    failures: int
    calls: Counter[str]


def executors(chains: int, names: list[str]) -> None:
    nodes = (f"NodeName=n[1-{NODES}] CPUs={CORES} RealMemory=64000",)
    main = (f"PartitionName=main Nodes=n[1-{NODES}] Default=YES MaxTime=INFINITE State=UP",)
    runs = {}
    for name in names or EXECUTORS:
        with (
            tempfile.TemporaryDirectory() as folder,
            RealSlurm(Path(folder) / "slurm", nodes, _SLURM, main) as slurm,
        ):
            runs[name] = run_on_slurm(slurm, Path(folder), chains, EXECUTORS[name])
        print(name, runs[name], file=sys.stderr, flush=True)
    print("| executor | submissions | node-seconds | makespan | failures |")
    print("|---|--:|--:|--:|--:|")
    for name, run in runs.items():
        row = f"{run.submissions} | {run.node_seconds:.0f} | {run.makespan:.0f} | {run.failures}"
        print(f"| {name} | {row} |")
    print(f"\n| calls for each 1,000 jobs ({4 * chains} counted) | {' | '.join(COMMANDS)} |")
    print("|---|" + "--:|" * len(COMMANDS))
    for name, run in runs.items():
        calls = [f"{1000 * run.calls[command] / (4 * chains):.0f}" for command in COMMANDS]
        print(f"| {name} | {' | '.join(calls)} |")


def write_counting_commands(programs: Path, calls: Path, slurm: RealSlurm) -> None:
    """Programs that write their names to a file and become the commands of Slurm.

    Each has the SLURM_CONF of this Slurm: srun inside a job of the other plugin has none.
    """
    conf = slurm.environment["SLURM_CONF"]
    for name in COMMANDS:
        real = shutil.which(name, path=slurm.environment["PATH"])
        if real is None:
            continue
        script = f'#!/bin/sh\necho {name} >> {calls}\nSLURM_CONF={conf} exec {real} "$@"\n'
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)


def run_on_slurm(slurm: RealSlurm, folder: Path, chains: int, options: tuple[str, ...]) -> Run:
    work, programs, calls = folder / "work", folder / "bin", folder / "calls"
    for made in (work, programs):
        made.mkdir()
    write_counting_commands(programs, calls, slurm)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent)])
    environment = {**slurm.environment, "PATH": f"{path}:{slurm.environment['PATH']}"}
    command = snakemake("chains", "--jobs", "10000", "--retries", "1", "--latency-wait", "10")
    command += ["--config", f"chains={chains}", "factor=1", *options]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
    took = time.monotonic() - begin
    counts = Counter(calls.read_text().split())
    if done.returncode:
        raise SystemExit(done.stderr)
    slurm.until(lambda: not slurm.run("squeue", "-h").strip(), "all jobs are over", 60)
    shown = slurm.run("scontrol", "--oneliner", "show", "job").splitlines()
    jobs = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in shown]
    begins = [datetime.fromisoformat(job["StartTime"]) for job in jobs]
    ends = [datetime.fromisoformat(job["EndTime"]) for job in jobs]
    used = sum(
        (end - start).total_seconds() * int(job["NumCPUs"]) / CORES
        for start, end, job in zip(begins, ends, jobs, strict=True)
    )
    states = Counter(job["JobState"] for job in jobs)
    failed = done.stderr.count("Error in rule") + states["FAILED"]
    return Run(counts["sbatch"], used, took, failed, counts)


if __name__ == "__main__":
    what, count, *chosen = sys.argv[1:]
    schedulers(int(count)) if what == "schedulers" else executors(int(count), chosen)
