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
from cosched.slurm.live import clocks, nodes, records
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
        known = value.get("set", True) and not value.get("infinite")
        value = value.get("number") if known else None
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
        held = dict(part.split("=") for part in row.get("AllocTRES", "").split(",") if part)
        cpus = int(held.get("cpu") or row.get("NCPUS") or row["AllocCPUS"])
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
        memory = held.get("mem", "")
        if row.get("ReqMem", "").endswith("Mn") and not memory:
            amount = int(row["ReqMem"][:-2])
            memory = f"{amount % 2**31 * (cpus if amount >= 2**31 else int(row['NNodes']))}M"
        if memory:
            scale = {"M": 1 / 1024, "G": 1, "T": 1024}[memory[-1]]
            yield "mem", job["memory_gb"], float(memory[:-1]) * scale


def squeue(text):
    found = {job.id: job for job in records.jobs_of_json(text, "squeue.json")[0]}
    waits = {"REQUEUED": "PENDING", "CONFIGURING": "RUNNING", "SUSPENDED": "RUNNING"}
    for job in json.loads(text)["jobs"]:
        state = waits.get(first(job["job_state"]), first(job["job_state"]))
        if state not in ("PENDING", "RUNNING"):
            yield "id", job["job_id"] in found, False
            continue
        own = found[job["job_id"]]
        yield "state", own.state, state
        for name, key in (
            ("account", "account"),
            ("partition", "partition"),
            ("name", "name"),
            ("qos", "qos"),
            ("licences", "licenses"),
            ("features", "features"),
        ):
            yield key, own[name], {"(null)": ""}.get(job.get(key), job.get(key) or "")
        yield "user_name", own.user, job.get("user_name") or str(job.get("user_id", ""))
        for key in ("submit", "eligible", "start"):
            yield f"{key}_time", own[key], plain(job.get(f"{key}_time")) or None
        minutes = job.get("time_limit")
        endless = isinstance(minutes, dict) and minutes.get("infinite")
        limit = None if plain(minutes) is None else 60 * plain(minutes)
        yield "time_limit", own.limit, float("inf") if endless else limit
        for name, key in (("cpus", "cpus"), ("nodes", "node_count")):
            yield key, own[name], plain(job.get(key)) or (1 if name == "cpus" else own[name])
        for name, key in (("memory", "memory_per_node"), ("memory_per_cpu", "memory_per_cpu")):
            yield key, own[name], plain(job.get(key))


def sinfo(text):
    shown = nodes.machine_texts({"sinfo.json": text}, [], [])
    told = {one["NodeName"]: one for one in map(dict, _records(shown["nodes"], "NodeName"))}
    out = set(nodes.out_of_service(shown["nodes"]))
    for one in _nodes_of(json.loads(text)):
        own = told[one["name"]]
        for key, name in (
            ("cpus", "CPUTot"),
            ("memory", "RealMemory"),
            ("sockets", "Sockets"),
            ("cores", "CoresPerSocket"),
            ("threads", "ThreadsPerCore"),
            ("weight", "Weight"),
        ):
            if one[key]:
                yield name, int(own[name]), one[key]
        yield "features", own.get("AvailableFeatures", ""), one["features"]
        yield "gres", own.get("Gres", ""), one["gres"].replace("(null)", "")
        bad = "DOWN|DRAIN|FAIL|MAINT|NOT_RESP|POWER|REBOOT|UNKNOWN"
        yield "state", one["name"] in out, bool(re.search(bad, " ".join(one["state"]).upper()))


def _nodes_of(data):
    for one in data.get("nodes") or []:
        states = one["state"] if isinstance(one["state"], list) else [one["state"]]
        features = one.get("features") or ""
        yield {
            "name": one["name"], "memory": one["real_memory"], "gres": one.get("gres") or "",
            "state": states + (one.get("state_flags") or []), "weight": one.get("weight"),
            "features": features if isinstance(features, str) else ",".join(features),
            **{key: one.get(key) for key in ("cpus", "sockets", "cores", "threads")},
        }  # fmt: skip
    for one in data.get("sinfo") or []:
        for name in one["nodes"]["nodes"]:
            yield {
                "name": name, "state": one["node"]["state"], "gres": one["gres"]["total"],
                "features": one["features"]["total"],
                **{key: one[key]["maximum"] for key in
                   ("cpus", "memory", "sockets", "cores", "threads", "weight")},
            }  # fmt: skip


def _records(text, key):
    for part in re.split(rf"(?m)^(?={key}=)", text):
        if part.startswith(key):
            yield re.findall(r"(\S+?)=(\S*)", part)


def node(text):
    config = "PartitionName=a Nodes=ALL\n"
    slurm = machine_shown(CONFIG, text, config).slurm
    shown = [dict(one) for one in _records(text, "NodeName")]
    yield "NodeName", sorted(slurm.names), sorted(one["NodeName"] for one in shown)
    machine = machine_shown(CONFIG, text, config)
    types = Counter()
    for kind in machine.nodes:
        types[kind.cores, round(kind.memory_gb * 1024), kind.gpus] += kind.count
    wanted = Counter()
    for one in shown:
        gpus = sum(map(int, re.findall(r"gpu:(?:\w+:)?([0-9]+)", one.get("Gres", ""))))
        cores = int(one["Sockets"]) * int(one["CoresPerSocket"])
        wanted[cores, int(one["RealMemory"]) - int(one.get("MemSpecLimit", 0)), gpus] += 1
    for key in wanted | types:
        yield "cores, memory, GPUs", types[key], wanted[key]
    out = {
        one["NodeName"]
        for one in shown
        if re.search("DOWN|DRAIN|FAIL|MAINT|POWER|REBOOT|UNKNOWN", one["State"])
    }
    yield "State", set(nodes.out_of_service(text)), out


def partition(text):
    shown = [dict(one) for one in _records(text, "PartitionName")]
    names = sorted({name for one in shown for name in _hosts(one.get("Nodes", ""))})
    given = "\n".join(f"NodeName={name} CPUTot=1 RealMemory=1" for name in names)
    machine = machine_shown(CONFIG, given, text)
    known = {part.name: part for part in machine.partitions}
    for one in shown:
        own, name = known[one["PartitionName"]], one["PartitionName"]
        endless = one["MaxTime"] == "UNLIMITED"
        yield "MaxTime", own.max_time, float("inf") if endless else seconds(one["MaxTime"])
        count = sum(last - begin for begin, last in own.nodes)
        yield "Nodes", count, len(_hosts(one.get("Nodes", "")))
        least = int(one.get("MinNodes", 0))
        most = 0 if one["MaxNodes"] == "UNLIMITED" else int(one["MaxNodes"])
        bounds = machine.slurm.bounds.get(name)
        if one["State"] != "UP":
            yield "State", bounds, (0, 0)
        elif most or least > 1:
            yield "MinNodes", bounds[0], least
            yield "MaxNodes", bounds[1], most or bounds[1]
        else:
            yield "MinNodes", bounds, None


def _hosts(text):
    found = []
    for base, inside in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", text.replace("(null)", "")):
        for part in inside.split(",") if inside else [""]:
            low, _, high = part.partition("-")
            span = range(int(low), int(high or low) + 1) if part else ()
            found += [f"{base}{k:0{len(low)}d}" for k in span] if part else [base]
    return found


def sprio(text):
    header, *lines = [line for line in text.splitlines() if line.strip()]
    found = clocks.parse_priorities(text)
    ends = {}
    begin = header.index("PRIORITY")
    for match in re.finditer(r"\S+", header):
        if match.start() >= begin:
            ends[match[0]] = match.end()
    for line in lines:
        for name in ("PRIORITY", *(n for n in clocks._PARTS if n in ends)):
            cell = line[: ends[name]].split()[-1]
            yield name, found[int(line.split()[0])][name], float(cell)


def sshare(text):
    found = nodes.shares({"sshare.txt": text})
    rows = [] if table_of(text)[0]["User"] else table_of(text)  # a part of the tree
    yield "rows", len(found), len(rows)
    for own, row in zip(found, rows, strict=True):
        yield "Account", own.account, row["Account"].strip()
        yield "User", own.user, row["User"].strip()
        shares = row["RawShares"].strip()
        wanted = None if shares == "parent" else float(shares or 1)
        yield "RawShares", own.shares, wanted
        yield "RawUsage", own.usage, float(row["RawUsage"] or 0)
        yield "FairShare", own.factor, float(row.get("FairShare") or 0)
        depth = len(row["Account"]) - len(row["Account"].lstrip())
        above = found[own.parent] if own.parent >= 0 else None
        yield "parent", above is None, depth == 0


def sacctmgr(text):
    name = "sacctmgr_assoc.txt" if "|User|" in text.splitlines()[0] else "sacctmgr_qos.txt"
    found = nodes.limits({name: text})
    own = found["associations"] if "assoc" in name else list(found["qos"].values())
    rows = table_of(text)
    yield "rows", len(own), len(rows)
    yield (
        "bars",
        {line.count("|") for line in text.splitlines()},
        {text.partition("\n")[0].count("|")},
    )
    for one, row in zip(own, rows, strict=True):
        for key, value in row.items():
            yield key, one.get(key, ""), value


def sdiag(text):
    found = clocks._parse_sdiag({"sdiag.txt": text})
    if text.lstrip().startswith("{"):
        told = json.loads(text)["statistics"]
        keys = ("req_time", "bf_when_last_cycle", "bf_cycle_last", "bf_last_depth_try")
        wanted = [plain(told.get(key)) for key in keys]
    else:
        after = text.partition("Backfilling stats")[2]
        asked = re.search(r"sdiag output at .*\((\d+)\)", text)
        last = re.search(r"Last cycle when: .*\((\d+)\)", after)
        wanted = [int(one[1]) if one else None for one in (asked, last)]
        for begin in ("Last cycle:", "Last depth cycle (try sched):"):
            line = next(x for x in after.splitlines() if x.strip().startswith(begin))
            wanted.append(int(line.split(":")[1]))
    for name, value in zip(("asked", "last", "cost", "depth"), wanted, strict=True):
        yield name, found.get(name), value


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
    wrong = [(name, own, there) for name, own, there in pairs if not _same(own, there)]
    return len(pairs) - len(wrong), 0, len(wrong), str(wrong[0]) if wrong else ""


def _same(own, there):
    if isinstance(own, float) and isinstance(there, (int, float)):
        return own == there or abs(own - there) <= 1e-6 * max(abs(there), 1)
    return own == there


def main(folder):
    """A row for each folder and kind of output in it."""
    rows = {}
    for path in sorted(p for p in Path(folder).rglob("*") if p.is_file()):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
        bare = re.match(r"[0-9]+\|[0-9]+\|\w+\|", text)
        for more in ("", XDMOD + "\n") if bare else ("",):
            found = looked_at(more + text)
            if found is not None:
                kind = kind_of(more + text)
                kind = "without a header" if kind is None else kind.__name__
                own = rows.setdefault((str(path.parent.relative_to(folder)), kind), Counter())
                own.update(dict(zip(("files", *_COUNTED), (1, *found[:3]), strict=True)))
                if found[3]:
                    print(f"{path}: {found[3]}", file=sys.stderr)
    print("| folder | what | files | fields read | files refused rightly | wrong |")
    print("|---|---|---|---|---|---|")
    rows["all", ""] = sum(rows.values(), Counter())
    for (name, kind), own in rows.items():
        counts = " | ".join(f"{own[key]:,}" for key in ("files", *_COUNTED))
        print(f"| {name} | {kind} | {counts} |")


if __name__ == "__main__":
    main(sys.argv[1])
