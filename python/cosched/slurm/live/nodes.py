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
from cosched.notes import Note, NoteKind
from cosched.slurm.accounts.accounting_dump import AccountingDump, ShareTree, assoc_records
from cosched.slurm.live.command_outputs import records, rows
from cosched.slurm.live.job_records import as_text, number, object_of, whole_number
from cosched.slurm.live.model import Share, SnapshotJob, parse_record
from cosched.slurm.requests.associations import Accounts

#: States in which a node takes no job.
_OUT_STATES = ("DOWN", "DRAIN", "FAIL", "MAINT", "NOT_RESPONDING", "POWER", "REBOOT", "UNKNOWN",
        "PLANNED_DOWN")  # fmt: skip


#: Subject of the note on jobs that Slurm does not show.
HIDDEN_JOBS = "hidden jobs"


def note_of_missing_output(name: str, effect: str) -> Note:
    """Return a note of an output that is not there, and what that does."""
    return Note(NoteKind.MISSING_OUTPUT, effect, subject=name, prefix=f"no {name}: ")


def machine_texts(
    texts: Mapping[str, str], jobs: Sequence[SnapshotJob], missing: list[Note]
) -> dict[str, str]:
    """Return the texts ``config, nodes, partitions``; what is not there is made of other
    outputs."""
    config = texts.get("scontrol_config.txt", "")
    if not config:
        missing.append(note_of_missing_output("scontrol_config.txt", "Slurm's defaults"))
        config = (
            "SLURM_VERSION = 22.05\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CORE\n"
        )
    nodes, parts = texts.get("scontrol_node.txt", ""), texts.get("scontrol_partition.txt", "")
    line_by_partition: dict[str, _PartitionLine] = {}
    if not nodes:
        line_by_node, line_by_partition = _nodes_of_sinfo(texts.get("sinfo.json", ""))
        source = "sinfo.json" if line_by_node else "the jobs"
        if not line_by_node:
            line_by_node, line_by_partition = _nodes_of_jobs(jobs)
        if not line_by_node:
            raise InvalidInstance(
                "no scontrol_node.txt and no sinfo.json, and no job runs: nothing tells of nodes"
            )
        nodes = "\n".join(line_by_node[name] for name in sorted(line_by_node, key=natural))
        replacement = f"nodes are those of {source}"
        missing.append(note_of_missing_output("scontrol_node.txt", replacement))
    if not parts:
        has_limits = any(part.options for part in line_by_partition.values())
        limits_words = (
            "their limits are those of sinfo.json" if has_limits else "partitions without limits"
        )
        missing.append(note_of_missing_output("scontrol_partition.txt", limits_words))
        parts = _partition_lines(nodes, line_by_partition, jobs)
    shown_texts = {"config": config, "nodes": nodes, "partitions": parts}
    return {**shown_texts, "reservations": texts.get("scontrol_reservation.txt", "")}


def _node_line(
    name: str,
    cpus: int | None,
    memory: int | None = None,
    state: Sequence[str] = (),
    gres: str = "",
    features: str = "",
    weight: int | None = None,
    sizes: Sequence[int | None] = (),
) -> str:
    """Return the line of a node as scontrol shows it: None is left to Slurm's default. `memory`:
    MB; `sizes`: its sockets, cores of one, threads of a core."""
    fields = {
        "NodeName": name,
        "CPUTot": cpus or 1,
        "RealMemory": memory or 1,
        "State": "+".join(state).upper() or "IDLE",
        "Gres": gres,
        "AvailableFeatures": features,
        "Weight": weight,
    }
    if all(sizes):
        fields |= zip(("Sockets", "CoresPerSocket", "ThreadsPerCore"), sizes, strict=False)
    return " ".join(f"{key}={value}" for key, value in fields.items() if value not in ("", None))


@dataclass
class _PartitionLine:
    """Nodes, and what else its line says."""

    #: Names of its nodes.
    nodes: list[str] = field(default_factory=list)
    #: What follows: `` MaxTime=60 MinNodes=1``.
    options: str = ""


def _nodes_of_sinfo(text: str) -> tuple[dict[str, str], dict[str, _PartitionLine]]:
    """Return the line of each node, and the partitions, of ``sinfo --json``."""
    if not text:
        return {}, {}
    data = object_of(io.parse_json(text, "sinfo.json"))
    if not {"nodes", "sinfo"} & set(data):
        raise InvalidInstance("sinfo.json: expected nodes or sinfo, as sinfo --json prints them")
    line_by_partition: dict[str, _PartitionLine] = {}
    nodes: dict[str, str] = {}
    for entry in _objects(data.get("nodes"), "nodes"):  # to 22.05
        name = as_text(entry.get("name"))
        for part in _words(entry.get("partitions")):
            line_by_partition.setdefault(part, _PartitionLine()).nodes.append(name)
        states = [*_words(entry.get("state")), *_words(entry.get("state_flags"))]
        cpus, memory, weight, *sizes = (
            whole_number(entry.get(key))
            for key in ("cpus", "real_memory", "weight", "sockets", "cores", "threads")
        )
        gres, features = as_text(entry.get("gres")), _comma_list(entry.get("features"))
        nodes[name] = _node_line(name, cpus, memory, states, gres, features, weight, sizes)
    for entry in _objects(data.get("sinfo"), "sinfo"):  # alike ones together
        partition = object_of(entry.get("partition"))
        partition_line = line_by_partition.setdefault(
            as_text(partition.get("name")) or "main", _PartitionLine()
        )
        partition_line.options = _partition_options(partition)
        cpus, memory, weight, *sizes = (
            whole_number(object_of(entry.get(key)).get("maximum"))
            for key in ("cpus", "memory", "weight", "sockets", "cores", "threads")
        )
        states = _words(object_of(entry.get("node")).get("state"))
        kinds, marks = (object_of(entry.get(key)).get("total") for key in ("gres", "features"))
        for name in _words(object_of(entry.get("nodes")).get("nodes")):
            partition_line.nodes.append(name)
            nodes[name] = _node_line(
                name, cpus, memory, states, as_text(kinds), _comma_list(marks), weight, sizes
            )
    return {name: entry for name, entry in nodes.items() if name}, line_by_partition


def _objects(value: object, name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list in sinfo.json."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise InvalidInstance(f"sinfo.json: {name}: expected a list, as sinfo --json prints it")
    return value


def _words(value: object) -> list[str]:
    """Return texts of a list, or of a text that commas part."""
    if isinstance(value, str):
        return [part for part in value.split(",") if part]
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def _comma_list(value: object) -> str:
    """Return the texts of a list, with commas between them."""
    return ",".join(as_text(part) for part in _words(value))


def _partition_options(part: Mapping[str, object]) -> str:
    """Return what else sinfo tells of a partition, as scontrol shows it."""
    maximums, minimums = (object_of(part.get(key)) for key in ("maximums", "minimums"))
    defaults, priority = (object_of(part.get(key)) for key in ("defaults", "priority"))
    states = _words(object_of(part.get("partition")).get("state")) or _words(part.get("state"))
    options = {
        "MaxTime": number(maximums.get("time")),
        "DefaultTime": number(defaults.get("time")),
        "MaxNodes": number(maximums.get("nodes")),
        "MinNodes": number(minimums.get("nodes")),
        "PriorityTier": number(priority.get("tier")),
        "PriorityJobFactor": number(priority.get("job_factor")),
        "State": states[0].upper() if states else None,
    }
    return "".join(
        f" {key}={value if isinstance(value, str) else int(value)}"
        for key, value in options.items()
        if value is not None and (isinstance(value, str) or 0 <= value < math.inf)
    )


def _nodes_of_jobs(jobs: Sequence[SnapshotJob]) -> tuple[dict[str, str], dict[str, _PartitionLine]]:
    """Return nodes on which jobs are seen, as large as what they hold there."""
    cpus_by_node, line_by_partition = _cpus_in_use(jobs), dict[str, _PartitionLine]()
    for job in jobs:
        for allocation in job.holds:
            line_by_partition.setdefault(
                job.first_partition or "main", _PartitionLine()
            ).nodes.append(allocation.node)
    max_cpus = max(cpus_by_node.values(), default=1)
    return {name: _node_line(name, max_cpus) for name in cpus_by_node}, line_by_partition


def _cpus_in_use(jobs: Sequence[SnapshotJob]) -> Counter[str]:
    """Return the CPUs that jobs have, by node."""
    cpus_by_node = Counter[str]()
    for allocation in (allocation for job in jobs for allocation in job.holds):
        cpus_by_node[allocation.node] += allocation.cpus
    return cpus_by_node


def _partition_lines(
    nodes: str, line_by_partition: Mapping[str, _PartitionLine], jobs: Sequence[SnapshotJob]
) -> str:
    """Return the lines of partitions as ``scontrol show partition`` has them."""
    all_nodes = re.findall(r"(?m)^NodeName=(\S+)", nodes)
    named_by_jobs = {p for job in jobs for p in job.partition.split(",") if p} or {"main"}
    lines = []
    for name in sorted(named_by_jobs | set(line_by_partition)):
        part = line_by_partition.get(name, _PartitionLine())
        hosts = ",".join(dict.fromkeys(part.nodes or all_nodes))
        lines.append(f"PartitionName={name} Nodes={hosts}{part.options}")
    return "\n".join(lines)


def out_of_service(nodes: str) -> list[str]:
    """Return nodes that take no job now."""
    node_names = []
    for pairs in records(nodes, "NodeName"):
        node = dict(pairs)
        state = node.get("State", "").upper()
        if any(part.startswith(_OUT_STATES) for part in re.split(r"[+*~#!%$@^-]", state) if part):
            node_names.append(node["NodeName"])
    return node_names


def hidden_jobs(nodes: str, jobs: Sequence[SnapshotJob], now: float) -> list[SnapshotJob]:
    """Return a job for each node that has more in use than the jobs that are shown: theirs are
    hidden."""
    cpus_by_node = _cpus_in_use(jobs)
    limits = sorted(job.limit for job in jobs if job.limit and job.limit < 1e9)
    limit = limits[len(limits) // 2] if limits else 86400.0
    estimated_jobs: list[SnapshotJob] = []
    for pairs in records(nodes, "NodeName"):
        node = dict(pairs)
        hidden_cpus = (whole_number(node.get("CPUAlloc")) or 0) - cpus_by_node[node["NodeName"]]
        if hidden_cpus <= 0 or "COMPLETING" in node.get("State", ""):
            continue
        fields = {
            "id": -1 - len(estimated_jobs),
            "partition": node.get("Partitions", "").split(",")[0],
            "state": "RUNNING",
            "submit": now - limit / 2,
            "start": now - limit / 2,
            "limit": limit,
            "cpus": hidden_cpus,
            "holds": [[node["NodeName"], hidden_cpus]],
        }
        estimated_jobs.append(
            parse_record(
                SnapshotJob, fields, f"scontrol_node.txt: {shorten(node['NodeName'])}: CPUAlloc"
            )
        )
    return estimated_jobs


def shares(texts: Mapping[str, str]) -> list[Share]:
    """Return the associations in the order of the tree, with shares and usage."""
    name = next((n for n in ("sshare_long.txt", "sshare.txt") if n in texts), None)
    if name is None:
        return []
    assoc_rows = assoc_records(texts.get("scontrol_assoc_mgr.txt", ""), "scontrol_assoc_mgr.txt")
    # With decimals, which sshare leaves out.
    exact_usage = {
        (row["Account"], row["User"]): row["Usage"] for row in assoc_rows if "Usage" in row
    }
    tree = ShareTree()
    share_list: list[Share] = []
    for row in rows(texts[name], name, ("Account", "User", "RawShares")):
        account, user, parent, _ = tree.placed(row)
        if share_list and parent < 0:
            raise InvalidInstance(
                f"{name}: {shorten(account)} is not below {share_list[0].account}: expected "
                "one root, and accounts indented by blanks, as sshare -P prints them"
            )
        raw_shares = row["RawShares"].strip()
        usage = exact_usage.get((account, user), row.get("RawUsage", ""))
        fields = {
            "account": account,
            "user": user,
            "parent": parent,
            "shares": None if raw_shares == "parent" else _finite_or(raw_shares, 1.0),
            "usage": _finite_or(usage, 0.0),
            "factor": _finite_or(row.get("FairShare", ""), 0.0),
        }
        share_list.append(
            parse_record(Share, fields, f"{name}: {shorten(account)} {shorten(user)}".rstrip())
        )
    return share_list if share_list and share_list[0].parent < 0 and not share_list[0].user else []


def _finite_or(text: str, usual: float) -> float:
    """Return the finite number of a text, else the usual one."""
    try:
        number_of_text = float(text)
    except ValueError:
        return usual
    return number_of_text if math.isfinite(number_of_text) else usual


def limits(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return ``qos`` and ``associations``: limits by their names in sacctmgr; empty where not
    shown."""
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
    shares_shown: Sequence[Share], limits_shown: Mapping[str, Any], machine: Machine
) -> Accounts:
    """Return shares and limits together, in the core's form."""
    row_by_name = {
        (row.get("Account", ""), row.get("User", "")): row
        for row in limits_shown.get("associations", ())
        if not row.get("Partition")
    }
    rows = [
        {
            **row_by_name.get((row.account, row.user), {}),
            "Account": row.account,
            "User": row.user,
            "parent": row.parent,
            "Usage": row.usage or 0.0,
            "Share": "parent" if row.shares is None else row.shares,
            "Factor": row.factor or 0.0,
        }
        for row in shares_shown
    ] or list(row_by_name.values())
    qos = [{"Name": name, **row} for name, row in limits_shown.get("qos", {}).items()]
    return Accounts(AccountingDump(tuple(rows), tuple(qos)), machine)
