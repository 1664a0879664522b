"""Outputs of Slurm's commands, read by the package and by plain loops, compared field by field.

``python tests_py/site_texts.py FOLDER`` prints the table of fixtures/sites/README.md, of the files
below a folder: fields that were read, files that were refused rightly, fields that were wrong.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

import cosched as cs
from cosched.errors import InvalidInstance
from cosched.slurm.live import clocks, job_records, nodes
from cosched.slurm.machines import machine_shown

CONFIG = "SLURM_VERSION = 23.11.4\nSelectType = select/cons_tres\nSelectTypeParameters = CR_CORE\n"
MACHINE = "[[nodes]]\ncount = 1000\ncores = 1\nmemory_gb = 100\n"
#: Columns of a log without header, as ubccr/xdmod asks for them.
XDMOD = (
    "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|GID|User|UID|Submit|Eligible|Start|End|"
    "Elapsed|ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|Timelimit|NodeList|"
    "JobName"
)


def table_of(text):
    header, *lines = [line for line in text.splitlines() if line.strip()]
    return [dict(zip(header.split("|"), line.split("|"), strict=False)) for line in lines]


def plain(value, default=None):
    """A number of slurmrestd's JSON; default: none, or infinite."""
    if isinstance(value, dict):
        is_set_number = value.get("set", True) and not value.get("infinite")
        value = value.get("number") if is_set_number else None
    if not isinstance(value, (int, float)) or 0xFFFFFFF0 <= value <= 0xFFFFFFFF or value > 1e19:
        return default
    return value


def first(value):
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, str) else ""


def seconds(text):
    days, _, rest = text.rpartition("-")
    total = 0
    for part in rest.split("."):
        for number in part.split(":"):
            total = 60 * total + int(number)
        break
    return total + 86400 * int(days or 0)


def epoch(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


# --- each kind: pairs of what was read and what stands there ---


def sacct(text):
    with tempfile.TemporaryDirectory() as folder:
        log, machine = Path(folder) / "jobs.log", Path(folder) / "machine.toml"
        log.write_text(text)
        machine.write_text(MACHINE)
        jobs = cs.cluster.Instance.read(log, machine=machine).jobs
    rows = [
        row for row in table_of(text) if "." not in row["JobID"]
        and row["Start"][:1].isdigit() and row.get("NodeList") != "None assigned"
        and not re.match("PENDING|RUNNING|REQUEUED", row["State"])
    ]  # fmt: skip
    yield "jobs", len(jobs), len(rows)
    rows.sort(key=lambda row: epoch(row["Submit"]))
    begin = epoch(rows[0]["Submit"])
    for (_, job), row in zip(jobs.iterrows(), rows, strict=True):
        allocated_tres = dict(
            part.split("=") for part in row.get("AllocTRES", "").split(",") if part
        )
        cpus = int(allocated_tres.get("cpu") or row.get("NCPUS") or row["AllocCPUS"])
        yield "JobID", str(job["id"]), row["JobID"]
        yield "Submit", job["submit"], epoch(row["Submit"]) - begin
        if "Elapsed" in row:
            yield "Elapsed", job["runtime"], seconds(row["Elapsed"])
        if re.search("[0-9]:", row.get("Timelimit", "")):
            yield "Timelimit", job["estimate"], seconds(row["Timelimit"])
        for name, column in (("user", "User"), ("account", "Account"), ("partition", "Partition"),
                             ("qos", "QOS")):  # fmt: skip
            if column in row:
                yield column, job[name], row[column]
        yield "State", job["status"], row["State"].split()[0].lower()
        yield "cpu", job["threads"], cpus
        memory = allocated_tres.get("mem", "")
        if row.get("ReqMem", "").endswith("Mn") and not memory:
            amount = int(row["ReqMem"][:-2])
            memory = f"{amount % 2**31 * (cpus if amount >= 2**31 else int(row['NNodes']))}M"
        if memory:
            scale = {"M": 1 / 1024, "G": 1, "T": 1024}[memory[-1]]
            yield "mem", job["memory_gb"], float(memory[:-1]) * scale


def squeue(text):
    jobs_by_id = {job.id: job for job in job_records.jobs_of_json(text, "squeue.json")[0]}
    waits = {"REQUEUED": "PENDING", "CONFIGURING": "RUNNING", "SUSPENDED": "RUNNING"}
    for job in json.loads(text)["jobs"]:
        state = waits.get(first(job["job_state"]), first(job["job_state"]))
        if state not in ("PENDING", "RUNNING"):
            yield "id", job["job_id"] in jobs_by_id, False
            continue
        job_record = jobs_by_id[job["job_id"]]
        yield "state", job_record.state, state
        for name, key in (
            ("account", "account"),
            ("partition", "partition"),
            ("name", "name"),
            ("qos", "qos"),
            ("licences", "licenses"),
            ("features", "features"),
        ):
            yield key, job_record[name], {"(null)": ""}.get(job.get(key), job.get(key) or "")
        yield "user_name", job_record.user, job.get("user_name") or str(job.get("user_id", ""))
        for key in ("submit", "eligible", "start"):
            yield f"{key}_time", job_record[key], plain(job.get(f"{key}_time")) or None
        minutes = job.get("time_limit")
        endless = isinstance(minutes, dict) and minutes.get("infinite")
        limit = None if plain(minutes) is None else 60 * plain(minutes)
        yield "time_limit", job_record.limit, float("inf") if endless else limit
        for name, key in (("cpus", "cpus"), ("nodes", "node_count")):
            yield (
                key,
                job_record[name],
                plain(job.get(key)) or (1 if name == "cpus" else job_record[name]),
            )
        for name, key in (("memory", "memory_per_node"), ("memory_per_cpu", "memory_per_cpu")):
            yield key, job_record[name], plain(job.get(key))


def sinfo(text):
    texts = nodes.machine_texts({"sinfo.json": text}, [], [])
    records_by_name = {
        record["NodeName"]: record for record in map(dict, _records(texts["nodes"], "NodeName"))
    }
    out = set(nodes.out_of_service(texts["nodes"]))
    for node_fields in _nodes_of(json.loads(text)):
        own_fields = records_by_name[node_fields["name"]]
        for key, name in (
            ("cpus", "CPUTot"),
            ("memory", "RealMemory"),
            ("sockets", "Sockets"),
            ("cores", "CoresPerSocket"),
            ("threads", "ThreadsPerCore"),
            ("weight", "Weight"),
        ):
            if node_fields[key]:
                yield name, int(own_fields[name]), node_fields[key]
        yield "features", own_fields.get("AvailableFeatures", ""), node_fields["features"]
        yield "gres", own_fields.get("Gres", ""), node_fields["gres"].replace("(null)", "")
        bad = "DOWN|DRAIN|FAIL|MAINT|NOT_RESP|POWER|REBOOT|UNKNOWN"
        yield (
            "state",
            node_fields["name"] in out,
            bool(re.search(bad, " ".join(node_fields["state"]).upper())),
        )


def _nodes_of(data):
    for node_fields in data.get("nodes") or []:
        states = (
            node_fields["state"]
            if isinstance(node_fields["state"], list)
            else [node_fields["state"]]
        )
        features = node_fields.get("features") or ""
        yield {
            "name": node_fields["name"],
            "memory": node_fields["real_memory"],
            "gres": node_fields.get("gres") or "",
            "state": states + (node_fields.get("state_flags") or []),
            "weight": node_fields.get("weight"),
            "features": features if isinstance(features, str) else ",".join(features),
            **{key: node_fields.get(key) for key in ("cpus", "sockets", "cores", "threads")},
        }
    for node_fields in data.get("sinfo") or []:
        for name in node_fields["nodes"]["nodes"]:
            yield {
                "name": name,
                "state": node_fields["node"]["state"],
                "gres": node_fields["gres"]["total"],
                "features": node_fields["features"]["total"],
                **{
                    key: node_fields[key]["maximum"]
                    for key in ("cpus", "memory", "sockets", "cores", "threads", "weight")
                },
            }


def _records(text, key):
    for part in re.split(rf"(?m)^(?={key}=)", text):
        if part.startswith(key):
            yield re.findall(r"(\S+?)=(\S*)", part)


def node(text):
    config = "PartitionName=a Nodes=ALL\n"
    slurm = machine_shown(CONFIG, text, config).slurm
    node_records = [dict(record) for record in _records(text, "NodeName")]
    yield "NodeName", sorted(slurm.names), sorted(record["NodeName"] for record in node_records)
    machine = machine_shown(CONFIG, text, config)
    types = Counter()
    for kind in machine.nodes:
        types[kind.cores, round(kind.memory_gb * 1024), kind.gpus] += kind.count
    wanted = Counter()
    for record in node_records:
        gpus = sum(map(int, re.findall(r"gpu:(?:\w+:)?([0-9]+)", record.get("Gres", ""))))
        cores = int(record["Sockets"]) * int(record["CoresPerSocket"])
        wanted[cores, int(record["RealMemory"]) - int(record.get("MemSpecLimit", 0)), gpus] += 1
    for key in wanted | types:
        yield "cores, memory, GPUs", types[key], wanted[key]
    out = {
        record["NodeName"]
        for record in node_records
        if re.search("DOWN|DRAIN|FAIL|MAINT|POWER|REBOOT|UNKNOWN", record["State"])
    }
    yield "State", set(nodes.out_of_service(text)), out


def partition(text):
    partition_records = [dict(record) for record in _records(text, "PartitionName")]
    names = sorted(
        {name for record in partition_records for name in _hosts(record.get("Nodes", ""))}
    )
    node_lines = "\n".join(f"NodeName={name} CPUTot=1 RealMemory=1" for name in names)
    machine = machine_shown(CONFIG, node_lines, text)
    partitions_by_name = {part.name: part for part in machine.partitions}
    for record in partition_records:
        own_partition, name = partitions_by_name[record["PartitionName"]], record["PartitionName"]
        endless = record["MaxTime"] == "UNLIMITED"
        yield (
            "MaxTime",
            own_partition.max_time,
            float("inf") if endless else seconds(record["MaxTime"]),
        )
        count = sum(last - begin for begin, last in own_partition.nodes)
        yield "Nodes", count, len(_hosts(record.get("Nodes", "")))
        least_nodes = int(record.get("MinNodes", 0))
        most_nodes = 0 if record["MaxNodes"] == "UNLIMITED" else int(record["MaxNodes"])
        bounds = machine.slurm.bounds.get(name)
        if record["State"] != "UP":
            yield "State", bounds, (0, 0)
        elif most_nodes or least_nodes > 1:
            yield "MinNodes", bounds[0], least_nodes
            yield "MaxNodes", bounds[1], most_nodes or bounds[1]
        else:
            yield "MinNodes", bounds, None


def _hosts(text):
    host_names = []
    for base, inside in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", text.replace("(null)", "")):
        for part in inside.split(",") if inside else [""]:
            low, _, high = part.partition("-")
            span = range(int(low), int(high or low) + 1) if part else ()
            host_names += [f"{base}{k:0{len(low)}d}" for k in span] if part else [base]
    return host_names


def sprio(text):
    header, *lines = [line for line in text.splitlines() if line.strip()]
    priorities = clocks.parse_priorities(text)
    ends = {}
    begin = header.index("PRIORITY")
    for match in re.finditer(r"\S+", header):
        if match.start() >= begin:
            ends[match[0]] = match.end()
    for line in lines:
        for name in ("PRIORITY", *(n for n in clocks._PARTS if n in ends)):
            cell = line[: ends[name]].split()[-1]
            yield name, priorities[int(line.split()[0])][name], float(cell)


def sshare(text):
    share_rows = nodes.shares({"sshare.txt": text})
    rows = [] if table_of(text)[0]["User"] else table_of(text)  # a part of the tree
    yield "rows", len(share_rows), len(rows)
    for share_row, row in zip(share_rows, rows, strict=True):
        yield "Account", share_row.account, row["Account"].strip()
        yield "User", share_row.user, row["User"].strip()
        shares = row["RawShares"].strip()
        wanted = None if shares == "parent" else float(shares or 1)
        yield "RawShares", share_row.shares, wanted
        yield "RawUsage", share_row.usage, float(row["RawUsage"] or 0)
        yield "FairShare", share_row.factor, float(row.get("FairShare") or 0)
        depth = len(row["Account"]) - len(row["Account"].lstrip())
        above = share_rows[share_row.parent] if share_row.parent >= 0 else None
        yield "parent", above is None, depth == 0


def sacctmgr(text):
    name = "sacctmgr_assoc.txt" if "|User|" in text.splitlines()[0] else "sacctmgr_qos.txt"
    limits = nodes.limits({name: text})
    limit_rows = limits["associations"] if "assoc" in name else list(limits["qos"].values())
    rows = table_of(text)
    yield "rows", len(limit_rows), len(rows)
    yield (
        "bars",
        {line.count("|") for line in text.splitlines()},
        {text.partition("\n")[0].count("|")},
    )
    for limit_row, row in zip(limit_rows, rows, strict=True):
        for key, value in row.items():
            yield key, limit_row.get(key, ""), value


def sdiag(text):
    sdiag_values = clocks._parse_sdiag({"sdiag.txt": text})
    if text.lstrip().startswith("{"):
        statistics = json.loads(text)["statistics"]
        keys = ("req_time", "bf_when_last_cycle", "bf_cycle_last", "bf_last_depth_try")
        wanted = [plain(statistics.get(key)) for key in keys]
    else:
        after = text.partition("Backfilling stats")[2]
        asked = re.search(r"sdiag output at .*\((\d+)\)", text)
        last = re.search(r"Last cycle when: .*\((\d+)\)", after)
        wanted = [int(match[1]) if match else None for match in (asked, last)]
        for begin in ("Last cycle:", "Last depth cycle (try sched):"):
            line = next(x for x in after.splitlines() if x.strip().startswith(begin))
            wanted.append(int(line.split(":")[1]))
    for name, value in zip(("asked", "last", "cost", "depth"), wanted, strict=True):
        yield name, sdiag_values.get(name), value


# --- which kind a file is of ---

_COUNTED = ("read", "refused", "wrong")


def kind_of(text):
    """The comparison for it, or None: no output that is read."""
    begin = text.lstrip()
    if begin.startswith("{"):
        try:
            data = json.loads(text)
        except ValueError:
            return None
        for key, kind in (("statistics", sdiag), ("sinfo", sinfo)):
            if data.get(key):
                return kind
        if isinstance(data.get("jobs"), list) and data["jobs"]:
            return squeue if "job_state" in data["jobs"][0] else None
        listed = data.get("nodes")
        return sinfo if isinstance(listed, list) and listed and "cpus" in listed[0] else None
    line = begin.partition("\n")[0]
    cells = line.split("|")
    for mark, kind in (("NodeName=", node), ("PartitionName=", partition), ("****", sdiag)):
        if begin.startswith(mark):
            return kind
    if {"JOBID", "PRIORITY", "AGE"} <= set(line.split()):
        return sprio
    if "RawShares" in cells:
        return sshare
    if {"Account", "User", "Share"} <= set(cells) or {"Name", "Priority"} <= set(cells):
        return sacctmgr
    return sacct if "JobID" in cells else None


def looked_at(text):
    """Fields that were read, refused rightly, wrong (with the first of these); None: not ours."""
    kind = kind_of(text)
    if kind is None:
        cells = text.partition("\n")[0].split("|")
        if len(cells) < 4 or not re.match("[0-9]+$", cells[0]):
            return None
        try:
            list(sacct(text))
        except InvalidInstance as error:
            rightly = "no header" in str(error)
            return (0, 1, 0, "") if rightly else (0, 0, 1, str(error))
        return 0, 0, 1, "read without a header"
    try:
        pairs = list(kind(text))
    except InvalidInstance as error:
        return 0, 1, 0, str(error)
    wrong = [
        (name, own_value, site_value)
        for name, own_value, site_value in pairs
        if not _same(own_value, site_value)
    ]
    return len(pairs) - len(wrong), 0, len(wrong), str(wrong[0]) if wrong else ""


def _same(own_value, site_value):
    if isinstance(own_value, float) and isinstance(site_value, (int, float)):
        return own_value == site_value or abs(own_value - site_value) <= 1e-6 * max(
            abs(site_value), 1
        )
    return own_value == site_value


def main(folder):
    """A row for each folder and kind of output in it."""
    rows = {}
    for path in sorted(p for p in Path(folder).rglob("*") if p.is_file()):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
        bare = re.match(r"[0-9]+\|[0-9]+\|\w+\|", text)
        for preamble in ("", XDMOD + "\n") if bare else ("",):
            comparison = looked_at(preamble + text)
            if comparison is not None:
                kind = kind_of(preamble + text)
                kind = "without a header" if kind is None else kind.__name__
                kind_counts = rows.setdefault(
                    (str(path.parent.relative_to(folder)), kind), Counter()
                )
                kind_counts.update(
                    dict(zip(("files", *_COUNTED), (1, *comparison[:3]), strict=True))
                )
                if comparison[3]:
                    print(f"{path}: {comparison[3]}", file=sys.stderr)
    print("| folder | what | files | fields read | files refused rightly | wrong |")
    print("|---|---|---|---|---|---|")
    rows["all", ""] = sum(rows.values(), Counter())
    for (name, kind), kind_counts in rows.items():
        counts = " | ".join(f"{kind_counts[key]:,}" for key in ("files", *_COUNTED))
        print(f"| {name} | {kind} | {counts} |")


if __name__ == "__main__":
    main(sys.argv[1])
