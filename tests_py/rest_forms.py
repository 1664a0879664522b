"""Answers of slurmrestd 0.0.38 in the form of newer versions, after Slurm's data parsers.

Each function follows ``src/plugins/data_parser/v0.0.*/parsers.c`` of Slurm 23.02 to 25.05: which
fields an object has, and how numbers, states, lists and memory are written there.
"""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from typing import Any

from support import REPO

FIXTURES = REPO / "tests_py" / "fixtures" / "rest"
RECORDED, NEWER = ("0.0.37", "0.0.38"), ("0.0.39", "0.0.40", "0.0.41", "0.0.42", "0.0.43")
PER_CPU, NO_LIMIT = 1 << 63, 0xFFFFFFFFFFFFFFFF


def load(name: str) -> Any:
    """A recorded file."""
    return json.loads(gzip.decompress((FIXTURES / f"{name}.json.gz").read_bytes()))


def answers_of(version: str) -> dict[str, Any]:
    """Answers by path, with the description of the server."""
    minor = int(version.rpartition(".")[2])
    if version in RECORDED:
        answers = load(f"answers_{version}")
    else:
        answers = {}
        for path, answer in load("answers_0.0.38").items():
            kind = path.rpartition("/")[2]
            new_path = path.replace("v0.0.38", f"v{version}")
            answers[new_path] = form_of(kind, path.split("/")[1], answer, minor)
        if minor >= 40:
            answers[f"/slurm/v{version}/shares"] = shares(minor)
    paths = {f"{path}/" if minor >= 41 else path: {} for path in answers}
    return {**answers, "/openapi/v3": {"paths": paths}}


def form_of(kind: str, plugin: str, answer: Any, minor: int) -> Any:
    """One answer in the form of version 0.0.`minor`."""
    answer = deepcopy(answer)
    answer["meta"] = {"slurm" if minor >= 40 else "Slurm": answer["meta"]["Slurm"]}
    if kind == "jobs" and plugin == "slurmdb":
        answer["jobs"] = [ended_job(job, minor) for job in answer["jobs"]]
    elif kind in CONVERTERS:
        key = "qos" if kind == "qos" and minor >= 40 else "QOS" if kind == "qos" else kind
        records = answer.pop("QOS", None) or answer.pop(kind)
        answer[key] = [CONVERTERS[kind](record, minor) for record in records]
    return answer


def number(value: Any) -> dict[str, Any]:
    """``{set, infinite, number}`` of a number; -1 is infinite, None is not set."""
    return {"set": value not in (None, -1), "infinite": value == -1,
            "number": 0 if value in (None, -1) else value}  # fmt: skip


def moment(value: Any, minor: int) -> Any:
    """Seconds since 1970: a number until 0.0.39."""
    return value if minor < 40 else number(value or None)


def words(text: str) -> list[str]:
    return [part for part in (text or "").split(",") if part]


def node(old: Any, minor: int) -> Any:
    new = {**old, "state": [old["state"].upper(), *old["state_flags"]],
           "features": words(old["features"]), "active_features": words(old["active_features"]),
           "alloc_idle_cpus": old["idle_cpus"], "specialized_cores": 0, "specialized_memory": 0,
           "specialized_cpus": "", "effective_cpus": old["cpus"]}  # fmt: skip
    for name in ("state_flags", "idle_cpus", "next_state_after_reboot_flags"):
        del new[name]
    for name in ("boot_time", "last_busy", "reason_changed_at", "slurmd_start_time"):
        new[name] = moment(old[name], minor)
    return new


def memory(per_cpu: Any, per_node: Any) -> Any:
    """The raw number, with a bit for each CPU."""
    return (per_cpu | PER_CPU) if per_cpu else per_node or 0


def partition(old: Any, minor: int) -> Any:
    share = {"main": 1, "gpu": 1, "old": 2 | 0x8000}[old["name"]]  # as scontrol shows it
    name = old["name"]
    new: dict[str, Any] = {
        "name": name, "cluster": "", "alternate": old["alternative"], "node_sets": "",
        "nodes": {"allowed_allocation": "", "configured": old["nodes"], "total": 4},
        "accounts": {"allowed": old["allowed_accounts"], "deny": old["denied_accounts"]},
        "groups": {"allowed": old["allowed_groups"]},
        "qos": {"allowed": old["allowed_qos"], "deny": old["denied_qos"], "assigned": old["qos"]},
        "tres": {"billing_weights": old["billing_weights"], "configured": old["tres"]},
        "cpus": {"task_binding": 0, "total": old["total_cpus"]},
        "defaults": {"job": "", "time": number(old["default_time_limit"]),
                     "memory_per_cpu": memory(old["default_memory_per_cpu"],
                                              old["default_memory_per_node"])},
        "grace_time": old["preemption_grace_time"],
        "maximums": {"cpus_per_node": number(old["maximum_cpus_per_node"]),
                     "cpus_per_socket": number(-1),
                     "memory_per_cpu": memory(old["maximum_memory_per_cpu"],
                                              old["maximum_memory_per_node"]),
                     "nodes": number(old["maximum_nodes_per_job"]), "shares": share,
                     "time": number(old["max_time_limit"]), "over_time_limit": number(None)},
        "minimums": {"nodes": old["min nodes per job"]},
        "priority": {"job_factor": old["priority_job_factor"], "tier": old["priority_tier"]},
        "timeouts": {"resume": number(None), "suspend": number(None)},
        "suspend_time": number(None),
    }  # fmt: skip
    if minor >= 40:
        new["partition"] = {"state": [old["state"]]}
        new["maximums"]["oversubscribe"] = {
            "jobs": share & ~0x8000, "flags": ["force"] if share & 0x8000 else []
        }  # fmt: skip
        for group, prefix in (("defaults", "default"), ("maximums", "maximum")):
            new[group]["partition_memory_per_cpu"] = number(old[f"{prefix}_memory_per_cpu"])
            new[group]["partition_memory_per_node"] = number(old[f"{prefix}_memory_per_node"])
    return new


def reservation(old: Any, minor: int) -> Any:
    new = {key: value for key, value in old.items() if key not in ("core_spec_cnt", "watts")}
    new["core_specializations"] = []
    new["purge_completed"] = {"time": number(None)}
    for name in ("start_time", "end_time"):
        new[name] = moment(old[name], minor)
    return new


def job(old: Any, minor: int) -> Any:
    new = {**old}
    state, reason = old["job_state"], old["state_reason"]
    new["job_state"] = [state] if minor >= 40 else state
    new["state_reason"] = reason
    for name in ("submit_time", "eligible_time", "accrue_time", "start_time", "end_time"):
        new[name] = moment(old[name], minor)
    for name in ("time_limit", "node_count", "max_nodes", "cpus", "array_job_id",
                 "array_max_tasks", "array_task_id", "memory_per_node", "memory_per_cpu",
                 "billable_tres", "priority"):  # fmt: skip
        new[name] = number(old[name])
    new["nice"] = old["nice"] or 0
    new["hold"] = False
    shared = [] if old["shared"] is None else [old["shared"]]
    new["shared"] = shared if minor >= 41 else (shared or [""])[0]
    new["exclusive"] = (
        ["true" if "none" in shared else "false"] if minor >= 41 else "none" in shared
    )
    resources = old.get("job_resources", {})
    if minor >= 41 and resources.get("allocated_nodes"):
        new["job_resources"] = {
            "select_type": ["CORE"], "cpus": old["cpus"], "threads_per_core": number(1),
            "nodes": {"count": resources["allocated_hosts"], "select_type": ["AVAILABLE"],
                      "list": resources["nodes"], "whole": False,
                      "allocation": [allocation(k, entry) for k, entry in
                                     enumerate(resources["allocated_nodes"])]},
        }  # fmt: skip
    return new


def allocation(index: int, entry: Any) -> Any:
    """What a job has of a node since 0.0.41: sockets and cores are lists."""
    sockets = [
        {"index": int(socket), "cores": [{"index": int(core), "status": [status.upper()]}
                                         for core, status in cores["cores"].items()]}
        for socket, cores in entry["sockets"].items()
    ]  # fmt: skip
    count = sum(len(each["cores"]) for each in sockets)
    return {"index": index, "name": entry["nodename"], "cpus": {"count": count, "used": 0},
            "memory": {"used": 0, "allocated": entry["memory_allocated"]},
            "sockets": sockets}  # fmt: skip


def ended_job(old: Any, minor: int) -> Any:
    new = deepcopy(old)
    if minor >= 40:
        new["state"]["current"] = [old["state"]["current"]]
        for step in new["steps"]:
            step["state"] = [step["state"]]
    new["time"]["limit"] = number(old["time"]["limit"])
    new["array"]["task_id"] = number(old["array"]["task_id"])
    new["required"] = {
        "CPUs": old["required"]["CPUs"],
        "memory_per_cpu": number(old["required"]["memory"]),
        "memory_per_node": number(None),
    }
    return new


#: Numbers of limits, by their paths.
QOS_NUMBERS = (
    "max/active_jobs/accruing", "max/active_jobs/count", "max/wall_clock/per/qos",
    "max/wall_clock/per/job", "max/jobs/active_jobs/per/account",
    "max/jobs/active_jobs/per/user", "max/jobs/per/account", "max/jobs/per/user",
    "max/accruing/per/account", "max/accruing/per/user", "min/priority_threshold",
)  # fmt: skip
ASSOC_NUMBERS = (
    "max/jobs/per/count", "max/jobs/per/accruing", "max/jobs/per/submitted",
    "max/jobs/per/wall_clock", "max/jobs/active", "max/jobs/accruing", "max/jobs/total",
    "max/per/account/wall_clock", "min/priority_threshold", "priority",
)  # fmt: skip


def wrap(record: Any, paths: tuple[str, ...]) -> None:
    """Numbers at these paths as objects."""
    for path in paths:
        *keys, last = path.split("/")
        inner = record
        for key in keys:
            inner = inner[key]
        inner[last] = number(inner[last])


def qos(old: Any, minor: int) -> Any:
    new = deepcopy(old)
    wrap(new["limits"], QOS_NUMBERS)
    if minor < 42:
        new["limits"]["grace_time"] = number(new["limits"]["grace_time"])
    else:  # GrpSubmit and GrpTRESMins of the recorded QOS, as sacctmgr shows them
        is_high = old["name"] == "high"
        new["limits"]["max"]["jobs"]["count"] = number(50 if is_high else None)
        minutes = [{"type": "cpu", "name": "", "id": 1, "count": 1000}] if is_high else []
        new["limits"]["max"]["tres"]["minutes"]["total"] = minutes
    new["preempt"] = {**new["preempt"], "exempt_time": number(old["preempt"]["exempt_time"])}
    if not new["preempt"]["mode"]:
        new["preempt"]["mode"] = ["DISABLED"]
    for name in ("priority", "usage_factor", "usage_threshold"):
        new[name] = number(old[name])
    return new


def association(old: Any, minor: int) -> Any:
    new = deepcopy(old)
    wrap(new, ASSOC_NUMBERS)
    new["user"], new["parent_account"] = old["user"] or "", old["parent_account"] or ""
    new["partition"] = old["partition"] or ""
    new["default"]["qos"] = old["default"]["qos"] or ""
    return new


def shares(minor: int) -> Any:
    """The rows of the recorded sshare; usage and shares are numbers there."""
    header, *lines = load("commands_22.05")["sshare.txt"].splitlines()
    rows, parents = [], {}
    for line in lines:
        cells = dict(zip(header.split("|"), line.split("|"), strict=True))
        account, user = cells["Account"].strip(), cells["User"]
        depth = len(cells["Account"]) - len(account)
        parents[depth] = account
        is_user = bool(user)
        raw_shares = {"parent": 0x7FFFFFFF, "": 0xFFFFFFFE}.get(cells["RawShares"])
        rows.append({
            "id": len(rows) + 1, "cluster": "cosched", "name": user if is_user else account,
            "parent": account if is_user else parents.get(depth - 1, ""), "partition": "",
            "shares": number(int(cells["RawShares"]) if raw_shares is None else raw_shares),
            "shares_normalized": number(float(cells["NormShares"])),
            "usage": int(cells["RawUsage"]),
            "usage_normalized": number(float(cells["NormUsage"] or 0)),
            "effective_usage": number(float(cells["EffectvUsage"])),
            "fairshare": {"factor": number(float(cells["FairShare"]))
                          if cells["FairShare"] else {"factor": number(None)}["factor"]},
            "type": ["USER"] if is_user else ["ASSOCIATION"],
        })  # fmt: skip
    return {"shares": {"shares": rows, "total_shares": 1}, "errors": [], "meta": {}}


CONVERTERS = {
    "nodes": node, "partitions": partition, "reservations": reservation, "jobs": job, "qos": qos,
    "associations": association,
}  # fmt: skip
