"""Jobs as squeue and scontrol tell of them, in one form, whatever the version."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from cosched import io
from cosched.cluster.live.outputs import records
from cosched.cluster.slurm_conf import hosts, seconds_of_limit
from cosched.cluster.slurm_requests import array_tasks
from cosched.errors import InvalidInstance

#: Larger ones are codes of Slurm: no value, infinite.
_CODES = 0xFFFFFFF0
_NOTHING = ("(null)", "none", "n/a", "unknown", "")
#: A job's fields; what is not known is None.
FIELDS = (
    "id", "user", "account", "partition", "qos", "name", "state", "submit", "eligible", "accrue",
    "start", "limit", "nodes", "exact", "cpus", "exclusive", "memory", "memory_per_cpu", "gres",
    "gpus", "priority", "nice", "reason", "dependency", "features", "licences", "reservation",
    "array", "tasks", "billing", "holds",
)  # fmt: skip
_BLANK: dict[str, Any] = {
    **dict.fromkeys(("user", "account", "partition", "qos", "name", "reason", "gres", "gpus",
                     "dependency", "features", "licences", "reservation"), ""),
    **dict.fromkeys(("submit", "eligible", "accrue", "start", "limit", "memory", "memory_per_cpu",
                     "priority", "nice", "array", "billing")),
    "state": "PENDING", "nodes": 1, "cpus": 1, "exact": True, "exclusive": False, "tasks": 1,
    "holds": [],
}  # fmt: skip
_STATES = {"CONFIGURING": "RUNNING", "STAGE_OUT": "RUNNING", "REQUEUED": "PENDING",
           "REQUEUE_HOLD": "PENDING", "RESV_DEL_HOLD": "PENDING", "SPECIAL_EXIT": "PENDING",
           "SUSPENDED": "RUNNING", "RESIZING": "RUNNING", "STOPPED": "RUNNING"}  # fmt: skip


def job_of(**known: Any) -> dict[str, Any]:
    """A job of which this is known."""
    return {**_BLANK, **known}


def number(value: Any) -> float | None:
    """A number of any generation: plain, or an object with ``set, infinite, number``; None: not
    set."""
    if isinstance(value, Mapping):
        if value.get("infinite"):
            return math.inf
        return number(value.get("number")) if value.get("set", True) else None
    if isinstance(value, str):
        value = float(value) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value.strip()) else None
    if value is None or isinstance(value, bool | list):
        return None
    if value >= 0xFFFFFFFFFFFFFF00 or _CODES <= value <= 0xFFFFFFFF:
        return None
    return float(value)


def word(value: Any) -> str:
    """A text; the first of a list."""
    if isinstance(value, list):
        value = value[0] if value else ""
    text = "" if value is None else str(value)
    return "" if text.lower() in _NOTHING else text


def jobs_of_json(text: str, place: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Jobs that run or wait, and the answer's other facts: ``version``, ``taken``."""
    data = io.parse_json(text, place)
    if not isinstance(data, Mapping) or not isinstance(data.get("jobs"), list):
        raise InvalidInstance(f"{place}: jobs: expected a list, as squeue --json prints it")
    meta = data.get("meta") or {}
    slurm = meta.get("Slurm") or meta.get("slurm") or {}
    facts = {"version": str(slurm.get("release", "")), "taken": number(data.get("last_update"))}
    found = []
    for row, job in enumerate(data["jobs"]):
        if not isinstance(job, Mapping) or number(job.get("job_id")) is None:
            raise InvalidInstance(f"{place}: jobs[{row}]: expected an object with a job_id")
        state = word(job.get("job_state"))
        state = _STATES.get(state, state)
        if state in ("PENDING", "RUNNING"):
            found.append(_of_json(job, state))
    return found, facts


def _of_json(job: Mapping[str, Any], state: str) -> dict[str, Any]:
    minutes = number(job.get("time_limit"))
    shared = word(job.get("shared")) + word(job.get("oversubscribe"))
    exclusive = job.get("exclusive")
    priority = job.get("priority")
    raw = priority.get("number") if isinstance(priority, Mapping) else priority
    tasks = number(job.get("array_max_tasks"))
    array = number(job.get("array_job_id")) or None
    nodes = number(job.get("node_count"))
    return {
        "id": int(number(job["job_id"]) or 0),
        "user": word(job.get("user_name")) or word(job.get("user_id")),
        "account": word(job.get("account")), "partition": word(job.get("partition")),
        "qos": word(job.get("qos")), "name": word(job.get("name")), "state": state,
        **{key: number(job.get(f"{key}_time")) or None
           for key in ("submit", "eligible", "accrue", "start")},
        "limit": None if minutes is None else 60 * minutes,
        "nodes": None if nodes is None else int(nodes),
        "exact": bool(number(job.get("max_nodes"))),
        "cpus": int(number(job.get("cpus")) or 1),
        "exclusive": "none" in shared or bool(exclusive and "true" in str(exclusive).lower()),
        "memory": number(job.get("memory_per_node")),
        "memory_per_cpu": number(job.get("memory_per_cpu")),
        "gres": _gpus(word(job.get("tres_per_node"))), "gpus": _gpus(word(job.get("tres_per_job"))),
        "priority": None if raw is None else float(raw),
        "nice": number(job.get("nice")), "reason": word(job.get("state_reason")),
        "dependency": word(job.get("dependency")), "features": word(job.get("features")),
        "licences": word(job.get("licenses")), "reservation": word(job.get("resv_name")),
        "array": [int(array), int(tasks or 0)] if array else None,
        "tasks": _waiting_tasks(word(job.get("array_task_string"))) if state == "PENDING" else 1,
        "billing": number(job.get("billable_tres")),
        "holds": _held(job) if state == "RUNNING" else [],
    }  # fmt: skip


def _gpus(text: str) -> str:
    """``gpu:a100:2`` of ``gres:gpu:a100:2`` or ``gres/gpu:a100:2``."""
    found = re.search(r"(?:gres[:/])?(gpu(?:[:=][\w.-]+)*)", text)
    return found[1].replace("=", ":") if found else ""


def _held(job: Mapping[str, Any]) -> list[list[Any]]:
    """[node, CPUs, MB, GPUs] of each node."""
    resources = job.get("job_resources") or {}
    nodes = resources.get("nodes")
    inside = nodes.get("allocation") if isinstance(nodes, Mapping) else None
    entries = inside or resources.get("allocated_nodes") or []
    if isinstance(entries, Mapping):
        entries = list(entries.values())
    names = word(job.get("nodes")) or (nodes if isinstance(nodes, str) else "")
    gpus = [_count_gpus(text) for text in job.get("gres_detail") or ()]
    found = []
    for entry in entries:
        memory = entry.get("memory") or {}
        amount = memory.get("allocated") if isinstance(memory, Mapping) else None
        cpus = entry.get("cpus")
        count = cpus.get("count") if isinstance(cpus, Mapping) else None
        found.append([
            word(entry.get("name") or entry.get("nodename")),
            int(count or _allocated(entry.get("sockets"))),
            number(amount if amount is not None else entry.get("memory_allocated")) or 0.0, 0,
        ])  # fmt: skip
    if not found or not all(entry[0] for entry in found):
        found = spread(names, number(job.get("cpus")) or 1)
    for entry, count in zip(found, gpus, strict=False):
        entry[3] = count
    return found


def _allocated(sockets: Any) -> int:
    """Cores of a node that are a job's."""
    if isinstance(sockets, Mapping):
        if "status" in sockets:
            return _allocated(sockets["status"])
        return sum(_allocated(own) for key, own in sockets.items() if key != "index")
    if isinstance(sockets, list):
        return sum(_allocated(own) for own in sockets)
    return int(isinstance(sockets, str) and sockets.lower() == "allocated")


def spread(names: str, cpus: float) -> list[list[Any]]:
    """Equal parts on each node: where nobody says more."""
    nodes = hosts(names, "nodes of a job") if names else []
    return [[node, max(int(cpus) // len(nodes), 1), 0.0, 0] for node in nodes]


def _count_gpus(text: str) -> int:
    found = re.search(r"gpu(?::[A-Za-z][\w.-]*)?[:=]([0-9]+)", text)
    return int(found[1]) if found else 0


def jobs_of_text(text: str, place: str, offset: float = 0.0) -> list[dict[str, Any]]:
    """The same of ``scontrol show job -d``; `offset`: seconds to add to its times."""
    found = []
    for pairs in records(text, "JobId"):
        job = dict(pairs)
        state = _STATES.get(job.get("JobState", ""), job.get("JobState", ""))
        if state not in ("PENDING", "RUNNING"):
            continue
        try:
            found.append(_of_text(job, pairs, state, offset))
        except ValueError as error:
            raise InvalidInstance(f"{place}: job {job['JobId']}: {error}") from None
    if not found and "JobId=" not in text and "No jobs" not in text:
        raise InvalidInstance(f"{place}: expected JobId=..., as scontrol show job prints it")
    return found


def moment(text: str, offset: float = 0.0) -> float | None:
    """Seconds since 1970 of ``2026-11-23T00:48:47``; None: no time."""
    try:
        date = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return date.timestamp() + offset


def _of_text(
    job: Mapping[str, str], pairs: Iterable[tuple[str, str]], state: str, offset: float
) -> dict[str, Any]:
    def said(key: str) -> str:
        return word(job.get(key, ""))

    nodes = said("NumNodes")
    first = re.match(r"[0-9]+", nodes)
    limit = said("TimeLimit")
    return {
        "id": int(re.match(r"[0-9]+", job["JobId"])[0]),  # type: ignore[index]
        "user": said("UserId").partition("(")[0], "account": said("Account"),
        "partition": said("Partition"), "qos": said("QOS"), "name": said("JobName"),
        "state": state,
        **{key: moment(said(f"{key.title()}Time"), offset)
           for key in ("submit", "eligible", "accrue", "start")},
        "limit": seconds_of_limit(limit, "TimeLimit") if limit else None,
        "nodes": int(first[0]) if first else None,
        "exact": "-" in nodes or "node=" not in said("ReqTRES") or state == "RUNNING",
        "cpus": int(re.match(r"[0-9]+", said("NumCPUs") or "1")[0]),  # type: ignore[index]
        "exclusive": said("OverSubscribe") == "NO",
        "memory": _megabytes(said("MinMemoryNode")),
        "memory_per_cpu": _megabytes(said("MinMemoryCPU")),
        "gres": _gpus(said("TresPerNode")), "gpus": _gpus(said("TresPerJob")),
        "priority": number(said("Priority")), "nice": number(said("Nice")),
        "reason": said("Reason"), "dependency": said("Dependency"), "features": said("Features"),
        "licences": said("Licenses"), "reservation": said("Reservation"),
        "array": [int(said("ArrayJobId")), _at_once(said("ArrayTaskId"))]
                 if said("ArrayJobId") else None,
        "tasks": _waiting_tasks(said("ArrayTaskId")) if state == "PENDING" else 1,
        "billing": _part(said("TRES"), "billing"),
        "holds": _held_of_text(pairs, job) if state == "RUNNING" else [],
    }  # fmt: skip


def _waiting_tasks(text: str) -> int:
    """How many tasks one record of an array stands for: ``5-99%10``; ``...`` cuts long lists."""
    known = ",".join(part for part in text.partition("%")[0].split(",") if "..." not in part)
    return len(array_tasks(known)[0]) if re.fullmatch(r"[0-9][0-9,:-]*", known) else 1


def _at_once(text: str) -> int:
    found = re.search(r"%([0-9]+)", text)
    return int(found[1]) if found else 0


def _part(tres: str, name: str) -> float | None:
    found = re.search(rf"(?:^|,){name}=([0-9.]+)", tres)
    return float(found[1]) if found else None


def _megabytes(text: str) -> float | None:
    found = re.fullmatch(r"([0-9.]+)([KMGT]?)", text)
    if not found or not float(found[1]):
        return None
    return float(found[1]) * {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2}[found[2]]


def _held_of_text(pairs: Iterable[tuple[str, str]], job: Mapping[str, str]) -> list[list[Any]]:
    found: list[list[Any]] = []
    nodes: list[str] = []
    for key, value in pairs:
        if key == "Nodes":
            nodes = hosts(value, "Nodes")
        elif key == "CPU_IDs" and nodes:
            cpus = sum(
                int(b or a) - int(a) + 1 for a, b in re.findall(r"([0-9]+)(?:-([0-9]+))?", value)
            )
            found += [[node, cpus, 0.0, 0] for node in nodes]
        elif key == "Mem" and nodes:
            for one in found[-len(nodes) :]:
                one[2] = float(number(value) or 0)
        elif key == "GRES" and nodes:
            for one in found[-len(nodes) :]:
                one[3] = _count_gpus(value)
            nodes = []
    return found or spread(word(job.get("NodeList", "")), number(job.get("NumCPUs")) or 1)
