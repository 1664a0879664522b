"""The machine of a snapshot, its shares and limits: what Slurm shows, or what is left of it."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosched import io
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import natural
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.accounts.shown import ShareTree, Shown, assoc_records
from cosched.slurm.live.model import Job, Share, made
from cosched.slurm.live.outputs import records, rows
from cosched.slurm.live.records import number, object_of, whole, word
from cosched.slurm.requests.associations import Accounts

#: States in which a node takes no job.
_OUT = ("DOWN", "DRAIN", "FAIL", "MAINT", "NOT_RESPONDING", "POWER", "REBOOT", "UNKNOWN",
        "PLANNED_DOWN")  # fmt: skip


def shown_machine(
    texts: Mapping[str, str], jobs: Sequence[Job], missing: list[str]
) -> dict[str, str]:
    """Texts of ``config, nodes, partitions``; what is not there is made of other outputs."""
    config = texts.get("scontrol_config.txt", "")
    if not config:
        missing.append("no scontrol_config.txt: Slurm's defaults")
        config = (
            "SLURM_VERSION = 22.05\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CORE\n"
        )
    nodes, parts = texts.get("scontrol_node.txt", ""), texts.get("scontrol_partition.txt", "")
    named: dict[str, _Partition] = {}
    if not nodes:
        found, named = _of_sinfo(texts.get("sinfo.json", ""))
        source = "sinfo.json" if found else "the jobs"
        if not found:
            found, named = _of_jobs(jobs)
        if not found:
            raise InvalidInstance(
                "no scontrol_node.txt and no sinfo.json, and no job runs: nothing tells of nodes"
            )
        nodes = "\n".join(found[name] for name in sorted(found, key=natural))
        missing.append(f"no scontrol_node.txt: nodes are those of {source}")
    if not parts:
        limits = any(part.more for part in named.values())
        what = "their limits are those of sinfo.json" if limits else "partitions without limits"
        missing.append(f"no scontrol_partition.txt: {what}")
        parts = _parts(nodes, named, jobs)
    shown = {"config": config, "nodes": nodes, "partitions": parts}
    return {**shown, "reservations": texts.get("scontrol_reservation.txt", "")}


def _node(
    name: str,
    cpus: int | None,
    memory: int | None = None,
    state: Sequence[str] = (),
    gres: str = "",
    features: str = "",
    weight: int | None = None,
    sizes: Sequence[int | None] = (),
) -> str:
    """What is known of one, as scontrol shows it: None is left to Slurm's default. `memory`: MB;
    `sizes`: its sockets, cores of one, threads of a core."""
    known = {
        "NodeName": name,
        "CPUTot": cpus or 1,
        "RealMemory": memory or 1,
        "State": "+".join(state).upper() or "IDLE",
        "Gres": gres,
        "AvailableFeatures": features,
        "Weight": weight,
    }
    if all(sizes):
        known |= zip(("Sockets", "CoresPerSocket", "ThreadsPerCore"), sizes, strict=False)
    return " ".join(f"{key}={value}" for key, value in known.items() if value not in ("", None))


@dataclass
class _Partition:
    """Nodes, and what else its line says."""

    nodes: list[str] = field(default_factory=list)
    more: str = ""


def _of_sinfo(text: str) -> tuple[dict[str, str], dict[str, _Partition]]:
    if not text:
        return {}, {}
    data = object_of(io.parse_json(text, "sinfo.json"))
    if not {"nodes", "sinfo"} & set(data):
        raise InvalidInstance("sinfo.json: expected nodes or sinfo, as sinfo --json prints them")
    named: dict[str, _Partition] = {}
    nodes: dict[str, str] = {}
    for one in _objects(data.get("nodes"), "nodes"):  # to 22.05
        name = word(one.get("name"))
        for part in _words(one.get("partitions")):
            named.setdefault(part, _Partition()).nodes.append(name)
        states = [*_words(one.get("state")), *_words(one.get("state_flags"))]
        cpus, memory, weight, *sizes = (
            whole(one.get(key))
            for key in ("cpus", "real_memory", "weight", "sockets", "cores", "threads")
        )
        gres, features = word(one.get("gres")), _listed(one.get("features"))
        nodes[name] = _node(name, cpus, memory, states, gres, features, weight, sizes)
    for one in _objects(data.get("sinfo"), "sinfo"):  # alike ones together
        shown = object_of(one.get("partition"))
        own = named.setdefault(word(shown.get("name")) or "main", _Partition())
        own.more = _limits(shown)
        cpus, memory, weight, *sizes = (
            whole(object_of(one.get(key)).get("maximum"))
            for key in ("cpus", "memory", "weight", "sockets", "cores", "threads")
        )
        states = _words(object_of(one.get("node")).get("state"))
        kinds, marks = (object_of(one.get(key)).get("total") for key in ("gres", "features"))
        for name in _words(object_of(one.get("nodes")).get("nodes")):
            own.nodes.append(name)
            nodes[name] = _node(
                name, cpus, memory, states, word(kinds), _listed(marks), weight, sizes
            )
    return {name: one for name, one in nodes.items() if name}, named


def _objects(value: Any, name: str) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise InvalidInstance(f"sinfo.json: {name}: expected a list, as sinfo --json prints it")
    return value


def _words(value: Any) -> list[str]:
    """Texts of a list, or of a text that commas part."""
    if isinstance(value, str):
        return [one for one in value.split(",") if one]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _listed(value: Any) -> str:
    return ",".join(word(one) for one in _words(value))


def _limits(part: Mapping[str, Any]) -> str:
    """What else sinfo tells of a partition, as scontrol shows it."""
    most, least = (object_of(part.get(key)) for key in ("maximums", "minimums"))
    usual, rank = (object_of(part.get(key)) for key in ("defaults", "priority"))
    states = _words(object_of(part.get("partition")).get("state")) or _words(part.get("state"))
    known = {
        "MaxTime": number(most.get("time")),
        "DefaultTime": number(usual.get("time")),
        "MaxNodes": number(most.get("nodes")),
        "MinNodes": number(least.get("nodes")),
        "PriorityTier": number(rank.get("tier")),
        "PriorityJobFactor": number(rank.get("job_factor")),
        "State": states[0].upper() if states else None,
    }
    return "".join(
        f" {key}={value if isinstance(value, str) else int(value)}"
        for key, value in known.items()
        if value is not None and (isinstance(value, str) or 0 <= value < math.inf)
    )


def _of_jobs(jobs: Sequence[Job]) -> tuple[dict[str, str], dict[str, _Partition]]:
    """Nodes on which jobs are seen, as large as what they hold there."""
    used, named = _used(jobs), dict[str, _Partition]()
    for job in jobs:
        for one in job.holds:
            named.setdefault(job.first_partition or "main", _Partition()).nodes.append(one.node)
    most = max(used.values(), default=1)
    return {name: _node(name, most) for name in used}, named


def _used(jobs: Sequence[Job]) -> Counter[str]:
    """CPUs by node."""
    used = Counter[str]()
    for one in (one for job in jobs for one in job.holds):
        used[one.node] += one.cpus
    return used


def _parts(nodes: str, named: Mapping[str, _Partition], jobs: Sequence[Job]) -> str:
    every = re.findall(r"(?m)^NodeName=(\S+)", nodes)
    wanted = {p for job in jobs for p in job.partition.split(",") if p} or {"main"}
    lines = []
    for name in sorted(wanted | set(named)):
        part = named.get(name, _Partition())
        own = ",".join(dict.fromkeys(part.nodes or every))
        lines.append(f"PartitionName={name} Nodes={own}{part.more}")
    return "\n".join(lines)


def out_of_service(nodes: str) -> list[str]:
    """Nodes that take no job now."""
    found = []
    for pairs in records(nodes, "NodeName"):
        node = dict(pairs)
        state = node.get("State", "").upper()
        if any(part.startswith(_OUT) for part in re.split(r"[+*~#!%$@^-]", state) if part):
            found.append(node["NodeName"])
    return found


def hidden_jobs(nodes: str, jobs: Sequence[Job], now: float) -> list[Job]:
    """A job for each node that has more in use than the jobs that are shown: theirs are hidden."""
    used = _used(jobs)
    limits = sorted(job.limit for job in jobs if job.limit and job.limit < 1e9)
    limit = limits[len(limits) // 2] if limits else 86400.0
    found: list[Job] = []
    for pairs in records(nodes, "NodeName"):
        node = dict(pairs)
        more = (whole(node.get("CPUAlloc")) or 0) - used[node["NodeName"]]
        if more <= 0 or "COMPLETING" in node.get("State", ""):
            continue
        own = {
            "id": -1 - len(found),
            "partition": node.get("Partitions", "").split(",")[0],
            "state": "RUNNING",
            "submit": now - limit / 2,
            "start": now - limit / 2,
            "limit": limit,
            "cpus": more,
            "holds": [[node["NodeName"], more]],
        }
        found.append(made(Job, own, f"scontrol_node.txt: {shorten(node['NodeName'])}: CPUAlloc"))
    return found


def shares(texts: Mapping[str, str]) -> list[Share]:
    """Associations in the order of the tree."""
    name = next((n for n in ("sshare_long.txt", "sshare.txt") if n in texts), None)
    if name is None:
        return []
    shown = assoc_records(texts.get("scontrol_assoc_mgr.txt", ""), "scontrol_assoc_mgr.txt")
    # With decimals, which sshare leaves out.
    exact = {(one["Account"], one["User"]): one["Usage"] for one in shown if "Usage" in one}
    tree = ShareTree()
    found: list[Share] = []
    for row in rows(texts[name], name, ("Account", "User", "RawShares")):
        account, user, parent, _ = tree.placed(row)
        if found and parent < 0:
            raise InvalidInstance(
                f"{name}: {shorten(account)} is not below {found[0].account}: expected "
                "one root, and accounts indented by blanks, as sshare -P prints them"
            )
        raw = row["RawShares"].strip()
        usage = exact.get((account, user), row.get("RawUsage", ""))
        own = {
            "account": account,
            "user": user,
            "parent": parent,
            "shares": None if raw == "parent" else _float(raw, 1.0),
            "usage": _float(usage, 0.0),
            "factor": _float(row.get("FairShare", ""), 0.0),
        }
        found.append(made(Share, own, f"{name}: {shorten(account)} {shorten(user)}".rstrip()))
    return found if found and found[0].parent < 0 and not found[0].user else []


def _float(text: str, usual: float) -> float:
    try:
        found = float(text)
    except ValueError:
        return usual
    return found if math.isfinite(found) else usual


def limits(texts: Mapping[str, str]) -> dict[str, Any]:
    """``qos`` and ``associations``: limits by their names in sacctmgr; empty where not shown."""
    qos = {
        row["Name"]: {key: value for key, value in row.items() if value}
        for row in rows(texts.get("sacctmgr_qos.txt", ""), "sacctmgr_qos.txt", ("Name",))
    }
    associations = [
        {key: value for key, value in row.items() if value}
        for row in rows(
            texts.get("sacctmgr_assoc.txt", ""), "sacctmgr_assoc.txt", ("Account", "User")
        )
    ]
    return {"qos": qos, "associations": associations}


def accounts_of(
    shares_shown: Sequence[Share], known: Mapping[str, Any], machine: Machine
) -> Accounts:
    """Shares and limits together, in the core's form."""
    own = {
        (one.get("Account", ""), one.get("User", "")): one
        for one in known.get("associations", ())
        if not one.get("Partition")
    }
    rows = [
        {
            **own.get((one.account, one.user), {}),
            "Account": one.account,
            "User": one.user,
            "parent": one.parent,
            "Usage": one.usage or 0.0,
            "Share": "parent" if one.shares is None else one.shares,
            "Factor": one.factor or 0.0,
        }
        for one in shares_shown
    ] or list(own.values())
    qos = [{"Name": name, **one} for name, one in known.get("qos", {}).items()]
    return Accounts(Shown(tuple(rows), tuple(qos)), machine)
