"""A recording as the administrator of that cluster has it: sacct's text, and a slurm.conf."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from cosched.cluster.machine.node_types import hosts

COLUMNS = (
    "JobID", "User", "Account", "QOS", "Partition", "State", "Submit", "Eligible", "Start", "End",
    "Elapsed", "Timelimit", "NNodes", "NCPUS", "ReqMem", "ReqTRES", "AllocTRES", "NodeList",
)  # fmt: skip


def clock(second: float | None, epoch: int) -> str:
    if second is None:
        return "Unknown"
    return datetime.fromtimestamp(epoch + int(second), timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def span(seconds: float | str) -> str:
    """As sacct prints a number of seconds; a text, as UNLIMITED, stays."""
    if isinstance(seconds, str):
        return seconds
    days, rest = divmod(int(seconds), 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def sacct(data: Mapping[str, Any], run: int = 0, since: float = -1e18) -> str:
    """What ``sacct -a -P -S SINCE`` would print of a run, its end known."""
    epoch, cpus = data["phases"][run]["epoch"], int(data["config"].get("Cpus", 4))
    rows = ["|".join(COLUMNS)]
    for number, (job, done) in enumerate(zip(data["jobs"], data["runs"][run], strict=True)):
        for task in (done or {}).get("tasks", [done] if done else []):
            name = f"{number + 1}_{task['task']}" if "task" in task else str(number + 1)
            if task.get("end") is not None and task["end"] < since:
                continue
            rows.append("|".join(_row(name, job, task, epoch, cpus)))
    return "\n".join(rows) + "\n"


def _row(
    name: str, job: Mapping[str, Any], done: Mapping[str, Any], epoch: int, node_cpus: int
) -> list[str]:
    nodes = hosts(done["nodelist"], "nodelist") if done.get("nodelist") else []
    count = len(nodes) or int(job.get("nodes", 1))
    cpus = int(done.get("cpus") or job.get("cores") or node_cpus * count)
    memory = job.get("mem", 0) * count or job.get("mem_per_cpu", 0) * cpus
    gpus = re.sub("^gpu:?", "", str(job.get("gres", job.get("gpus", ""))))
    total = int(re.findall("[0-9]+$", gpus)[0]) * (count if "gres" in job else 1) if gpus else 0
    kind = f":{gpus.split(':')[0]}" if ":" in gpus else ""
    allocated_tres = f"billing={cpus},cpu={cpus},node={count}"
    allocated_tres += f",mem={memory}M" if memory else ""
    allocated_tres += (
        f",gres/gpu={total}" + (f",gres/gpu{kind}={total}" if kind else "") if total else ""
    )
    start, end = done.get("start"), done.get("end")
    return [
        name,
        job.get("user", "root"),
        job.get("account", ""),
        job.get("qos", "normal"),
        str(done.get("partition") or job.get("partition", "main")),
        str(done["state"]),
        clock(done["submit"], epoch),
        clock(done.get("eligible", done["submit"]), epoch),
        clock(start, epoch),
        clock(end, epoch),
        span((end or 0) - (start or 0) if nodes else 0),
        span(job["limit"]),
        str(count),
        str(cpus),
        f"{memory}M" if memory else "0",
        allocated_tres,
        allocated_tres,
        done.get("nodelist") or "None assigned",
    ]


def slurm_conf(data: Mapping[str, Any]) -> str:
    """The configuration as a file."""
    config = dict(data["config"])
    count, cpus = config.pop("Nodes", data["nodes"]), config.pop("Cpus", 4)
    parts, nodes = config.pop("Partitions"), config.pop("NodeNames", None)
    lines, _ = config.pop("NodeLines", "one"), config.pop("speed", 1)
    if nodes is None:
        names = [f"n[1-{count}]"] if lines == "one" else [f"n{k}" for k in range(1, count + 1)]
        nodes = [f"NodeName={name} CPUs={cpus}" for name in names]
    if "associations" in data:
        config["AccountingStorageType"] = "accounting_storage/slurmdbd"
    version = str(data.get("slurm", "22.05"))[:7]
    texts = [f"# Slurm {version}", *(f"{key}={value}" for key, value in config.items()), *nodes]
    return "\n".join((*texts, *(re.sub(r"^(?!Part)", "PartitionName=", p) for p in parts))) + "\n"


def sacctmgr(data: Mapping[str, Any]) -> str:
    """What ``sacctmgr -P show assoc`` and ``show qos`` print."""
    lines = []
    for table in (data["associations"], data["qos"]):
        names = list(dict.fromkeys(key for row in table for key in row))
        lines += [
            "|".join(names),
            *("|".join(row.get(name, "") for name in names) for row in table),
        ]
    return "\n".join(lines) + "\n"


def written(data: Mapping[str, Any], folder: Path, run: int = 0, since: float = -1e18) -> list[str]:
    """Arguments of ``cosched slurm check`` for these texts in a folder."""
    (folder / "jobs.txt").write_text(sacct(data, run, since))
    (folder / "slurm.conf").write_text(slurm_conf(data))
    asked = ["slurm", "check", str(folder / "jobs.txt"), "--machine", str(folder / "slurm.conf")]
    if "associations" not in data:
        return asked
    (folder / "accounts.txt").write_text(sacctmgr(data))
    return [*asked, "--accounts", str(folder / "accounts.txt")]
