"""Small clusters drawn at random, the logs that the simulator writes of them, and a log of waits
that no scheduler makes."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

import cosched as cs

MINI_CONF = """\
ClusterName=mini
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=30
NodeName=n[1-4] CPUs=4
PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0
"""
_HEADER = (
    "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|AllocTRES|"
    "NodeList"
)
_BEGIN = datetime(2026, 9, 1)


def waits_on_an_idle_machine(jobs: int = 200) -> str:
    """What sacct prints of jobs of one node that come every half hour and run 20 minutes; two of
    five wait two hours, although nothing runs."""
    lines = [_HEADER]
    for number in range(jobs):
        submit = _BEGIN + timedelta(minutes=30 * number)
        start = submit + timedelta(hours=2 if number % 5 < 2 else 0)
        end = start + timedelta(minutes=20)
        times = "|".join(f"{moment:%Y-%m-%dT%H:%M:%S}" for moment in (submit, start, end))
        lines.append(f"{number + 1}|ada|phy|batch|COMPLETED|{times}|00:20:00|01:00:00|1|4|cpu=4|n1")
    return "\n".join(lines) + "\n"


def random_jobs(
    rng: np.random.Generator, folder: Path, *, with_accounts: bool | None = None
) -> cs.cluster.Instance:
    """30 to 250 jobs on a cluster of 3 to 16 nodes, whose slurm.conf is written into the folder:
    whole nodes or cores, one or two partitions, with or without GPUs and accounts, from hardly any
    load to more than the cluster can bear."""
    nodes, cpus = int(rng.integers(3, 17)), int(rng.choice([1, 2, 4, 8]))
    is_linear, has_two_partitions = rng.random() < 0.3, rng.random() < 0.4
    has_gpus = not is_linear and rng.random() < 0.3
    has_accounts = rng.random() < 0.4
    if with_accounts is not None:
        has_accounts = with_accounts
    lines = [
        "ClusterName=c",
        f"SelectType=select/{'linear' if is_linear else 'cons_tres'}",
        *([] if is_linear else ["SelectTypeParameters=CR_Core"]),
        *(["GresTypes=gpu"] if has_gpus else []),
        f"SchedulerParameters=bf_interval={rng.choice([30, 60, 120])}",
        *_priority_lines(rng, has_accounts),
        f"NodeName=n[1-{nodes}] CPUs={cpus}{' Gres=gpu:2' if has_gpus else ''}",
        "PartitionName=main Nodes=ALL Default=YES MaxTime=2-0",
    ]
    widest = nodes
    if has_two_partitions:
        widest = max(1, nodes // 2)
        lines.append(f"PartitionName=fast Nodes=n[1-{widest}] MaxTime=4:00:00 PriorityTier=2")
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
    accounts = None
    if has_accounts:
        accounts = folder / "accounts.txt"
        accounts.write_text(_ACCOUNTS)
    machine = cs.cluster.Machine.read(
        folder / "slurm.conf", slurm_version="22.05", accounts=accounts
    )
    table = _table(rng, machine.cores, widest * cpus, cpus if is_linear else 1)
    count = len(table["submit"])
    names = ["main", "fast"] if has_two_partitions else ["main"]
    table["partition"] = rng.choice(names, count)
    if has_gpus:
        table["gpus"] = (rng.random(count) < 0.3).astype(int)
    table["user"] = rng.choice(["ada", "bob", "eve"], count)
    if has_accounts:
        table["account"] = np.where(table["user"] == "ada", "phys", "chem")
        table["qos"] = rng.choice(["normal", "high"], count, p=[0.8, 0.2])
    return cs.cluster.Instance(table, machine.cores, machine=machine)


_ACCOUNTS = """\
Account|User|ParentName|Share|MaxJobs
root||||
phys||root|10|
phys|ada||1|3
chem||root|30|
chem|bob||1|
chem|eve||1|
Name|Priority|MaxTRESPU
normal|0|
high|100|
"""


def _priority_lines(rng: np.random.Generator, has_accounts: bool) -> list[str]:
    if has_accounts:
        return [
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageEnforce=limits",
            "PriorityType=priority/multifactor",
            f"PriorityWeightFairshare={rng.choice([0, 1000, 100_000])}",
            f"PriorityWeightAge={rng.choice([0, 1000])}",
            "PriorityWeightQOS=1000",
        ]
    if rng.random() < 0.4:
        return ["PriorityType=priority/multifactor", "PriorityWeightJobSize=1000"]
    return []


def _table(
    rng: np.random.Generator, cores: int, widest: int, multiple: int
) -> dict[str, np.ndarray]:
    count = int(rng.integers(30, 250))
    tasks = np.minimum(2 ** rng.integers(0, 6, count), max(1, widest // 2))
    tasks = np.minimum(np.ceil(tasks / multiple).astype(int) * multiple, widest)
    longest = rng.choice([2000, 14_000])
    runtime = np.floor(np.exp(rng.uniform(np.log(20), np.log(longest), count)))
    length = (tasks * runtime).sum() / cores / rng.uniform(0.3, 1.5)
    submit = np.sort(np.floor(rng.uniform(0, length, count)))
    if rng.random() < 0.3:  # three bursts
        bursts = rng.choice([0, length / 3, length / 2], count)
        submit = np.sort(np.floor(bursts + rng.uniform(0, 60, count)))
    limit = np.minimum(np.ceil(runtime * rng.uniform(1, 6, count) / 60) * 60, 14_400)
    return {
        "submit": submit - submit.min(),
        "tasks": tasks,
        "cpu": np.ones(count),
        "memory": np.ones(count),
        "runtime": np.minimum(runtime, limit),
        "estimate": limit,
    }


def as_log(instance: cs.cluster.Instance, seed: int) -> cs.cluster.Instance:
    """The jobs with the waits and hosts of one simulation."""
    result = cs.slurm.backfill(instance, seed=seed)
    rows = result.schedule.to_frame()
    hosts = dict(zip(rows["task"].tolist(), rows["hosts"].tolist(), strict=True))
    waits = np.asarray(result.outcome["start"]) - result.instance.column("submit")
    names = [",".join(dict.fromkeys(hosts[job])) for job in range(len(result.instance))]
    return result.instance.replace(wait=waits, hosts=np.array(names, dtype=object))


def cut_log(log: cs.cluster.Instance, share: float) -> cs.cluster.Instance:
    """The jobs that ``sacct -S`` prints from a moment on: those that run or wait then, and later
    ones. At the moment this share of the jobs has started."""
    start = log.column("submit") + log.column("wait")
    moment = np.quantile(start, share)
    return log.take(np.flatnonzero(start + log.column("runtime") >= moment))
