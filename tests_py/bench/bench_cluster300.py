"""A cluster of 300 nodes, made up, recorded on a real Slurm on this host, and the twin beside it.

    python tests_py/bench/bench_cluster300.py FOLDER [--hours 20] [--speed 60] [--only STEP]

Writes ``jobs.csv``, ``slurm.conf``, ``accounts.txt`` to FOLDER, runs ``cosched slurm record`` on
them (a virtual day at 60 times life takes 26 minutes; needs root, slurm-wlm, slurmdbd and their
database), and prints mean waits of the recording and of the twin, with its two numbers and with the
recorded phases: of all jobs and by partition, QOS, account and user. ``--only
make``, ``record`` or ``check`` stops after, or begins with, that step.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from cosched import io
from cosched.slurm.recordings.agreement import RecordedRun, Recording, agreement, read_recording

CONF = """\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=3800
SchedulerParameters=bf_interval=60,bf_resolution=300,bf_window=2880,\
bf_continue,bf_max_job_test=100,max_sched_time=60
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityWeightAge=2000
PriorityWeightQOS=5000
PriorityMaxAge=1-00:00:00
PriorityCalcPeriod=5
PriorityDecayHalfLife=0-12:00:00
AccountingStorageEnforce=limits,qos
NodeName=n[1-220] CPUs=32 RealMemory=128000 Weight=10 Feature=thin
NodeName=n[221-260] CPUs=32 RealMemory=512000 Weight=20 Feature=fat
NodeName=n[261-300] CPUs=32 RealMemory=256000 Gres=gpu:a100:4 Weight=30
PartitionName=main Nodes=n[1-260] Default=YES MaxTime=12:00:00 State=UP
PartitionName=gpu Nodes=n[261-300] MaxTime=12:00:00 State=UP
"""
ACCOUNTS = {"physics": (4, 5), "chem": (3, 4), "bio": (2, 4), "ml": (3, 5)}  # shares, users
QOS = ("normal", "high", "long")

#: Jobs an hour at load 1.
RATES = {"wide": 17.0, "node": 32.0, "small": 32.0, "memory": 6.0, "array": 2.5, "gpu": 42.0}
WIDTHS = ((2, 4, 8, 16, 32), (0.35, 0.3, 0.2, 0.1, 0.05))
LONGEST = 4 * 3600


def accounts() -> list[str]:
    """Lines of sacctmgr."""
    lines = ["modify qos normal set Priority=10", "add qos high Priority=100 MaxJobsPerUser=4",
             "add qos long Priority=1 MaxJobsPerUser=30"]  # fmt: skip
    for name, (shares, users) in ACCOUNTS.items():
        lines.append(f"add account {name} Fairshare={shares}")
        lines += [
            f"add user {name}{k} Account={name} Fairshare={1 + k % 3} QOS=normal,high,long "
            "DefaultQOS=normal" for k in range(users)
        ]  # fmt: skip
    return lines


def trace(hours: float, load: float, rng: np.random.Generator) -> list[dict]:
    """Jobs: more by day than by night, and a backlog at the begin."""
    jobs = []
    for kind, rate in RATES.items():
        count = rng.poisson(rate * load * hours)
        times = rng.uniform(0, hours, 4 * count)
        day_times = times[
            rng.uniform(size=len(times)) < (1 + 0.4 * np.cos((times - 6) / 24 * 2 * np.pi)) / 1.4
        ]
        times = np.concatenate([day_times[:count], rng.uniform(0, 0.3, round(2 * rate * load))])
        jobs += [{"submit": round(3600 * t), **random_job(kind, rng)} for t in times.tolist()]
    return sorted(jobs, key=lambda job: job["submit"])


def random_job(kind: str, rng: np.random.Generator) -> dict:
    """A job of a kind."""
    hours = {"wide": 1.2, "node": 1.0, "small": 0.6, "memory": 1.2, "array": 0.4, "gpu": 1.0}
    runtime = float(np.clip(3600 * hours[kind] * rng.lognormal(0, 0.9), 60, LONGEST))
    limit = min(1800 * np.ceil(runtime / rng.uniform(0.2, 1.0) / 1800), 12 * 3600)
    account = str(rng.choice(list(ACCOUNTS), p=[0.35, 0.25, 0.2, 0.2]))
    if kind == "gpu":
        account = str(rng.choice(["ml", "bio", "physics"], p=[0.7, 0.2, 0.1]))
    weights = np.arange(ACCOUNTS[account][1], 0, -1.0)
    job = {
        "runtime": round(runtime), "limit": int(limit), "account": account,
        "user": f"{account}{rng.choice(len(weights), p=weights / weights.sum())}",
        "qos": str(rng.choice(QOS, p=[0.75, 0.1, 0.15])), "partition": "main",
    }  # fmt: skip
    if kind == "wide":
        nodes = int(rng.choice(WIDTHS[0], p=WIDTHS[1]))
        return {**job, "nodes": nodes, "cores": 32 * nodes}
    if kind == "node":
        return {**job, "nodes": 1, "cores": 32}
    if kind == "gpu":
        gpus = int(rng.choice([1, 2, 4], p=[0.5, 0.25, 0.25]))
        nodes = 2 if gpus == 4 and rng.uniform() < 0.3 else 1
        return {**job, "partition": "gpu", "nodes": nodes, "cores": 8 * gpus * nodes,
                "gres": f"gpu:a100:{gpus}", "mem": 50000 * gpus}  # fmt: skip
    cores = int(rng.choice([1, 2, 4, 8, 16], p=[0.25, 0.15, 0.2, 0.25, 0.15]))
    if kind == "memory":
        return {**job, "cores": cores, "nodes": 1, "mem": int(rng.integers(150, 500)) * 1000}
    array_job = {
        **job,
        "cores": cores,
        "nodes": 1,
        "mem_per_cpu": int(rng.choice([2000, 3800, 8000])),
    }
    if kind == "array":
        tasks = int(rng.integers(5, 25))
        array_job["array"] = f"1-{tasks}" + (f"%{tasks // 2}" if rng.uniform() < 0.5 else "")
    return array_job


def make(folder: Path, hours: float, load: float, seed: int) -> None:
    jobs = trace(hours, load, np.random.default_rng(seed))
    names = list(dict.fromkeys(key for job in jobs for key in job))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "jobs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(jobs)
    (folder / "slurm.conf").write_text(CONF)
    (folder / "accounts.txt").write_text("\n".join(accounts()) + "\n")
    print(f"{len(jobs)} jobs to {folder}", flush=True)


def waits(recording: Recording, run: RecordedRun, start: np.ndarray, path: Path) -> pd.DataFrame:
    """A row a job that ran, with its wait."""
    jobs = io.read_json(path)["jobs"]
    rows = [
        {"row": row, **{key: job.get(key, "") for key in ("partition", "qos", "account", "user")}}
        for job_rows, job in zip(recording.rows, jobs, strict=True) for row in job_rows
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table["real"], table["twin"] = run.start - run.submit, start - run.submit
    return table[table.real.notna()]


def check(path: Path) -> None:
    recording = read_recording(path)
    for run in recording.runs:
        sleeps = np.diff(run.cycles)
        print(f"{len(run.start)} jobs and tasks, {np.isnan(run.start).sum()} never started; "
              f"{len(run.cycles)} cycles, median {np.median(sleeps):.0f} s apart, 95% "
              f"{np.percentile(sleeps, 95):.0f} s")  # fmt: skip
        for name, replay in (("two numbers", False), ("replay", True)):
            run_agreement = agreement(recording, run, replay=replay)
            table = waits(recording, run, run_agreement.start, path)
            print(
                f"{name}: {run_agreement.good} of {len(run.start)} on the same nodes within 5 s, "
                f"{run_agreement.off_by_60} off by more than 60 s, plans {run_agreement.planned}"
            )
            for key in ("all", "partition", "qos", "account", "user"):
                groups = table.groupby(key) if key != "all" else [("all", table)]
                for value, rows in groups:
                    real, twin = rows.real.mean(), rows.twin.mean()
                    print(f"  {value:10} {len(rows):5} jobs, mean wait {real:8.0f} s, twin "
                          f"{twin:8.0f} s, {twin / real - 1:+.1%}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hours", type=float, default=20)
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--load", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("make", "record", "check"))
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    if arguments.only in (None, "make"):
        make(folder, arguments.hours, arguments.load, arguments.seed)
    if arguments.only in (None, "record"):
        subprocess.run(
            [sys.executable, "-m", "cosched", "slurm", "record", str(folder / "jobs.csv"), "--conf",
             str(folder / "slurm.conf"), "--dbd", str(folder / "accounts.txt"), "--speed",
             f"{arguments.speed:g}", "--every", "900", "-o", str(folder / "recording.json")],
            check=True,
        )  # fmt: skip
    if arguments.only in (None, "check"):
        check(folder / "recording.json")


if __name__ == "__main__":
    main()
