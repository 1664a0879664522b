"""The machine of a snapshot: what scontrol shows, or what is left where it was not asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cosched import io
from cosched.cluster.live.outputs import records
from cosched.cluster.live.records import job_of, number, word
from cosched.cluster.slurm_conf import natural

#: States in which a node takes no job.
_OUT = (
    "DOWN",
    "DRAIN",
    "FAIL",
    "MAINT",
    "NOT_RESPONDING",
    "POWER",
    "REBOOT",
    "UNKNOWN",
    "PLANNED_DOWN",
)


def shown_machine(
    texts: Mapping[str, str], jobs: list[dict[str, Any]], missing: list[str]
) -> dict[str, str]:
    """Texts of ``config, nodes, partitions``; what is not there is made of other outputs."""
    config = texts.get("scontrol_config.txt", "")
    if not config:
        missing.append("no scontrol_config.txt: Slurm's defaults")
        config = (
            "SLURM_VERSION = 22.05\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CORE\n"
        )
    nodes, parts = texts.get("scontrol_node.txt", ""), texts.get("scontrol_partition.txt", "")
    if not nodes:
        nodes, named = _of_sinfo(texts.get("sinfo.json", ""))
        source = "sinfo.json" if nodes else "the jobs"
        if not nodes:
            nodes, named = _of_jobs(jobs)
        missing.append(f"no scontrol_node.txt: nodes are those of {source}")
    else:
        named = {}
    if not parts:
        missing.append("no scontrol_partition.txt: partitions without limits")
        parts = _parts(nodes, named, jobs)
    shown = {"config": config, "nodes": nodes, "partitions": parts}
    return {**shown, "reservations": texts.get("scontrol_reservation.txt", "")}


def _of_sinfo(text: str) -> tuple[str, dict[str, list[str]]]:
    if not text:
        return "", {}
    data = io.parse_json(text, "sinfo.json")
    named: dict[str, list[str]] = {}
    lines: dict[str, str] = {}
    for node in data.get("nodes") or ():  # to 22.05
        for part in node.get("partitions") or ():
            named.setdefault(part, []).append(node["name"])
        lines[node["name"]] = _line(node["name"], node.get("cpus"), node.get("real_memory"),
                                    node.get("gres"), node.get("state"))  # fmt: skip
    for one in data.get("sinfo") or ():
        for name in (one.get("nodes") or {}).get("nodes") or ():
            named.setdefault((one.get("partition") or {}).get("name", "main"), []).append(name)
            lines[name] = _line(
                name, (one.get("cpus") or {}).get("maximum"),
                (one.get("memory") or {}).get("maximum"), (one.get("gres") or {}).get("total"),
                "+".join((one.get("node") or {}).get("state") or ["IDLE"]),
            )  # fmt: skip
    return "\n".join(lines[name] for name in sorted(lines, key=natural)), named


def _line(name: str, cpus: Any, memory: Any, gres: Any, state: Any) -> str:
    more = f" Gres={word(gres)}" if word(gres) else ""
    return (
        f"NodeName={name} CPUTot={int(number(cpus) or 1)} "
        f"RealMemory={int(number(memory) or 1)} State={word(state).upper() or 'IDLE'}{more}"
    )


def _of_jobs(jobs: list[dict[str, Any]]) -> tuple[str, dict[str, list[str]]]:
    """Nodes on which jobs are seen, as large as what they hold there."""
    held: dict[str, int] = {}
    named: dict[str, list[str]] = {}
    for job in jobs:
        for name, cpus, *_ in job["holds"]:
            held[name] = held.get(name, 0) + int(cpus)
            named.setdefault(str(job["partition"]).split(",")[0] or "main", []).append(name)
    most = max(held.values(), default=1)
    return "\n".join(_line(n, most, 1, "", "IDLE") for n in sorted(held, key=natural)), named


def _parts(nodes: str, named: Mapping[str, list[str]], jobs: list[dict[str, Any]]) -> str:
    every = re.findall(r"(?m)^NodeName=(\S+)", nodes)
    wanted = {p for job in jobs for p in str(job["partition"]).split(",") if p} or {"main"}
    return "\n".join(
        f"PartitionName={part} Nodes={','.join(dict.fromkeys(named.get(part) or every))}"
        for part in sorted(wanted | set(named))
    )


def out_of_service(nodes: str) -> list[str]:
    """Nodes that take no job now."""
    found = []
    for pairs in records(nodes, "NodeName"):
        node = dict(pairs)
        state = node.get("State", "").upper()
        if any(part.startswith(_OUT) for part in re.split(r"[+*~#!%$@^-]", state) if part):
            found.append(node["NodeName"])
    return found


def hidden_jobs(nodes: str, jobs: list[dict[str, Any]], now: float) -> list[dict[str, Any]]:
    """A job for each node that has more in use than the jobs that are shown: theirs are hidden."""
    used: dict[str, int] = {}
    for job in jobs:
        for name, cpus, *_ in job["holds"]:
            used[name] = used.get(name, 0) + int(cpus)
    limits = [job["limit"] for job in jobs if job["limit"] and job["limit"] < 1e9]
    limit = sorted(limits)[len(limits) // 2] if limits else 86400.0
    found: list[dict[str, Any]] = []
    for pairs in records(nodes, "NodeName"):
        node = dict(pairs)
        state = node.get("State", "")
        busy = number(node.get("CPUAlloc", "")) or 0
        more = int(busy) - used.get(node["NodeName"], 0)
        if more <= 0 or "COMPLETING" in state:
            continue
        part = node.get("Partitions", "").split(",")[0]
        found.append(job_of(
            id=-1 - len(found), partition=part, state="RUNNING", submit=now - limit / 2,
            start=now - limit / 2, limit=limit, cpus=more,
            holds=[[node["NodeName"], more, 0.0, 0]],
        ))  # fmt: skip
    return found
