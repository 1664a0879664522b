"""Jobs as squeue, scontrol and sacct tell of them, in one form, whatever the version."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from cosched import io
from cosched.cluster.files.sacct.rows import rows_of_text
from cosched.cluster.files.sbatch import array_tasks
from cosched.cluster.machine.node_types import hosts
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note
from cosched.slurm.conf.lines import seconds_of_limit
from cosched.slurm.live.command_outputs import records
from cosched.slurm.live.model import (
    Allocated,
    FinishedJob,
    SnapshotJob,
    parse_record,
    require_unique_ids,
)
from cosched.units import parse_megabytes, parse_slurm_time

#: Larger ones are codes of Slurm: no value, infinite.
_CODES, _LARGEST = 0xFFFFFFF0, 0xFFFFFFFFFFFFFF00
_NOTHING = ("(null)", "none", "n/a", "unknown", "")
_STATES = {"CONFIGURING": "RUNNING", "STAGE_OUT": "RUNNING", "REQUEUED": "PENDING",
           "REQUEUE_HOLD": "PENDING", "RESV_DEL_HOLD": "PENDING", "SPECIAL_EXIT": "PENDING",
           "SUSPENDED": "RUNNING", "RESIZING": "RUNNING", "STOPPED": "RUNNING"}  # fmt: skip


def number(value: object) -> float | None:
    """Return a number of any generation: plain, or an object with ``set, infinite, number``;
    None: not set."""
    if isinstance(value, Mapping):
        if value.get("infinite"):
            return math.inf
        return number(value.get("number")) if value.get("set", True) else None
    if isinstance(value, str):
        value = float(value) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if value == math.inf:
        return math.inf
    if not -_LARGEST < value < _LARGEST or _CODES <= value <= 0xFFFFFFFF:
        return None
    return float(value)


def finite_number(value: object) -> float | None:
    """Return a number as :func:`number` reads it; None: not set, or infinite."""
    parsed = number(value)
    return None if parsed == math.inf else parsed


def whole_number(value: object) -> int | None:
    """Return such a number as an integer; None: not set, or infinite."""
    parsed = finite_number(value)
    return None if parsed is None else int(parsed)


def object_of(value: object) -> Mapping[str, Any]:
    """Return an object; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def as_text(value: object) -> str:
    """Return a text, of a list the first; empty: nothing, or one of Slurm's words for it."""
    if isinstance(value, list):
        value = value[0] if value else ""
    text = "" if value is None or isinstance(value, (Mapping, list)) else str(value)
    return "" if text.lower() in _NOTHING else text


def jobs_of_json(text: str, place: str) -> tuple[list[SnapshotJob], dict[str, Any]]:
    """Return jobs that run or wait, and the answer's other facts: ``version``, ``taken``."""
    data = io.parse_json(text, place)
    if not isinstance(data, Mapping) or not isinstance(data.get("jobs"), list):
        raise InvalidInstance(f"{place}: jobs: expected a list, as squeue --json prints it")
    meta = object_of(data.get("meta"))
    slurm = object_of(meta.get("Slurm") or meta.get("slurm"))
    facts = {
        "version": as_text(slurm.get("release")),
        "taken": finite_number(data.get("last_update")),
    }
    jobs = []
    for row, job in enumerate(data["jobs"]):
        if not isinstance(job, Mapping) or whole_number(job.get("job_id")) is None:
            raise InvalidInstance(f"{place}: jobs[{row}]: expected an object with a job_id")
        state = as_text(job.get("job_state"))
        state = _STATES.get(state, state)
        if state in ("PENDING", "RUNNING"):
            jobs.append(
                parse_record(
                    SnapshotJob,
                    _fields_of_json(job, state, f"{place}: jobs[{row}]"),
                    f"{place}: jobs[{row}]",
                )
            )
    return require_unique_ids(jobs, place), facts


def _fields_of_json(job: Mapping[str, object], state: str, place: str) -> dict[str, Any]:
    """Return the fields of a job of ``squeue --json``."""
    minutes = number(job.get("time_limit"))
    exclusive = job.get("exclusive")
    priority = job.get("priority")
    if isinstance(priority, Mapping):  # its number as it is: the largest are no codes
        has_priority = priority.get("set", True) and not priority.get("infinite")
        priority = priority.get("number") if has_priority else None
    array = whole_number(job.get("array_job_id")) or None
    return {
        "id": whole_number(job["job_id"]),
        "user": as_text(job.get("user_name")) or as_text(job.get("user_id")),
        "account": as_text(job.get("account")),
        "partition": as_text(job.get("partition")),
        "qos": as_text(job.get("qos")),
        "name": as_text(job.get("name")),
        "state": state,
        **{
            key: finite_number(job.get(f"{key}_time")) or None
            for key in ("submit", "eligible", "accrue", "start")
        },
        "limit": None if minutes is None else 60 * minutes,
        "nodes": whole_number(job.get("node_count")),
        "exact": bool(finite_number(job.get("max_nodes"))),
        "cpus": whole_number(job.get("cpus")) or 1,
        "exclusive": _shares_with_nobody(job.get("shared"))
        or bool(exclusive and "true" in str(exclusive).lower()),
        "memory": finite_number(job.get("memory_per_node")),
        "memory_per_cpu": finite_number(job.get("memory_per_cpu")),
        "gres": _gpus(as_text(job.get("tres_per_node"))),
        "gpus": _gpus(as_text(job.get("tres_per_job"))),
        "priority": priority if isinstance(priority, int) else finite_number(priority),
        # Slurm 21.08 and 22.05 write null where it is 0.
        "nice": 0.0 if job.get("nice", "") is None else finite_number(job.get("nice")),
        "reason": as_text(job.get("state_reason")),
        "dependency": as_text(job.get("dependency")),
        "features": as_text(job.get("features")),
        "licences": as_text(job.get("licenses")),
        "reservation": as_text(job.get("resv_name")),
        "array": [array, whole_number(job.get("array_max_tasks")) or 0] if array else None,
        "tasks": _count_waiting_tasks(as_text(job.get("array_task_string")))
        if state == "PENDING"
        else 1,
        "billing": finite_number(job.get("billable_tres")),
        "holds": _allocations_of_json(job, place) if state == "RUNNING" else (),
    }


def _shares_with_nobody(shared: object) -> bool:
    """Return whether ``shared`` is "none", which as a text or a list says that nodes are the job's
    alone."""
    words = shared if isinstance(shared, list) else [shared]
    return any(isinstance(word, str) and word.lower() == "none" for word in words)


def _gpus(text: str) -> str:
    """Return ``gpu:a100:2`` of ``gres:gpu:a100:2`` or ``gres/gpu:a100:2``."""
    match = re.search(r"(?:gres[:/])?(gpu(?:[:=][\w.-]+)*)", text)
    return match[1].replace("=", ":") if match else ""


def _allocations_of_json(job: Mapping[str, object], place: str) -> list[Allocated]:
    """Return what a job of ``squeue --json`` has of each node."""
    resources = object_of(job.get("job_resources"))
    nodes = resources.get("nodes")
    entries = object_of(nodes).get("allocation") or resources.get("allocated_nodes") or []
    names = as_text(job.get("nodes")) or (nodes if isinstance(nodes, str) else "")
    if isinstance(entries, Mapping):
        entries = _named_entries(entries, names, place)
    allocations = (
        [_allocation_of_node(object_of(entry)) for entry in entries]
        if isinstance(entries, list)
        else []
    )
    if not allocations or not all(allocation.node for allocation in allocations):
        allocations = spread_evenly(names, whole_number(job.get("cpus")) or 1, place)
    detail = job.get("gres_detail")
    gpus = [_count_gpus(as_text(text)) for text in detail] if isinstance(detail, list) else []
    gpus += [0] * (len(allocations) - len(gpus))
    return [
        allocation._replace(gpus=count)
        for allocation, count in zip(allocations, gpus, strict=False)
    ]


def _named_entries(entries: Mapping[str, object], names: str, place: str) -> list[object]:
    """Return the entries of an object by the number of the node, each with the node's name, which
    0.0.37 does not repeat there."""
    nodes = hosts(names, f"{place}: nodes") if names else []
    return [
        {"nodename": nodes[int(key)], **object_of(entry)}
        if key.isdecimal() and int(key) < len(nodes)
        else entry
        for key, entry in entries.items()
    ]


def _allocation_of_node(entry: Mapping[str, object]) -> Allocated:
    """Return what a job has of a node, of an entry of ``squeue --json``."""
    memory, cpus = entry.get("memory"), entry.get("cpus")
    amount = memory.get("allocated") if isinstance(memory, Mapping) else memory
    return Allocated(
        as_text(entry.get("name") or entry.get("nodename")),
        whole_number(cpus.get("count") if isinstance(cpus, Mapping) else cpus)
        or _count_allocated_cores(entry.get("sockets")),
        finite_number(amount if amount is not None else entry.get("memory_allocated")) or 0.0,
    )


def _count_allocated_cores(sockets: object) -> int:
    """Return how many cores of a node are a job's."""
    if isinstance(sockets, Mapping):
        if "status" in sockets:
            return _count_allocated_cores(sockets["status"])
        return sum(_count_allocated_cores(part) for key, part in sockets.items() if key != "index")
    if isinstance(sockets, list):
        return sum(_count_allocated_cores(part) for part in sockets)
    return int(isinstance(sockets, str) and sockets.lower() == "allocated")


def spread_evenly(names: str, cpus: int, place: str) -> list[Allocated]:
    """Return equal parts of the CPUs on each node: where nobody says more."""
    nodes = hosts(names, f"{place}: nodes") if names else []
    return [Allocated(node, max(cpus // len(nodes), 1)) for node in nodes]


def _count_gpus(text: str) -> int:
    """Return how many GPUs a text as ``gpu:a100:2(IDX:0-1)`` has."""
    match = re.search(r"gpu(?::[A-Za-z][\w.-]*)?[:=]([0-9]{1,9})", text)
    return int(match[1]) if match else 0


def jobs_of_text(text: str, place: str, offset: float = 0.0) -> list[SnapshotJob]:
    """Return jobs that run or wait, of ``scontrol show job -d``; `offset`: seconds to add to its
    times."""
    jobs = []
    for pairs in records(text, "JobId"):
        job = dict(pairs)
        state = _STATES.get(job.get("JobState", ""), job.get("JobState", ""))
        if state not in ("PENDING", "RUNNING"):
            continue
        where = f"{place}: job {shorten(job['JobId'])}"
        jobs.append(
            parse_record(SnapshotJob, _fields_of_text(job, pairs, state, offset, where), where)
        )
    if not jobs and "JobId=" not in text and "No jobs" not in text:
        raise InvalidInstance(f"{place}: expected JobId=..., as scontrol show job prints it")
    return require_unique_ids(jobs, place)


def moment(text: str, offset: float = 0.0) -> float | None:
    """Return seconds since 1970 of ``2026-11-23T00:48:47``; None: no time."""
    try:
        date = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return date.timestamp() + offset


def _fields_of_text(
    job: Mapping[str, str], pairs: Iterable[tuple[str, str]], state: str, offset: float, place: str
) -> dict[str, Any]:
    """Return the fields of a job of ``scontrol show job -d``."""

    def text_of(key: str) -> str:
        return as_text(job.get(key, ""))

    nodes = text_of("NumNodes")
    array = _leading_number(text_of("ArrayJobId"))
    limit = text_of("TimeLimit")
    return {
        "id": _leading_number(job["JobId"]),
        "user": text_of("UserId").partition("(")[0],
        "account": text_of("Account"),
        "partition": text_of("Partition"),
        "qos": text_of("QOS"),
        "name": text_of("JobName"),
        "state": state,
        **{
            key: moment(text_of(f"{key.title()}Time"), offset)
            for key in ("submit", "eligible", "accrue", "start")
        },
        "limit": seconds_of_limit(limit, f"{place}: TimeLimit") if limit else None,
        "nodes": _leading_number(nodes),
        "exact": "-" in nodes or "node=" not in text_of("ReqTRES") or state == "RUNNING",
        "cpus": _leading_number(text_of("NumCPUs")) or 1,
        "exclusive": text_of("OverSubscribe") == "NO",
        "memory": parse_megabytes(text_of("MinMemoryNode")) or None,
        "memory_per_cpu": parse_megabytes(text_of("MinMemoryCPU")) or None,
        "gres": _gpus(text_of("TresPerNode")),
        "gpus": _gpus(text_of("TresPerJob")),
        "priority": number(text_of("Priority")),
        "nice": number(text_of("Nice")),
        "reason": text_of("Reason"),
        "dependency": text_of("Dependency"),
        "features": text_of("Features"),
        "licences": text_of("Licenses"),
        "reservation": text_of("Reservation"),
        "array": [array, _array_task_limit(text_of("ArrayTaskId"))] if array else None,
        "tasks": _count_waiting_tasks(text_of("ArrayTaskId")) if state == "PENDING" else 1,
        "billing": _tres_amount(text_of("TRES"), "billing"),
        "holds": _allocations_of_text(pairs, job, place) if state == "RUNNING" else (),
    }


def _leading_number(text: str) -> int | None:
    """Return the number that a text begins with; None: it begins with none."""
    match = re.match(r"[0-9]{1,18}(?![0-9])", text)
    return int(match[0]) if match else None


def _count_waiting_tasks(text: str) -> int:
    """Return how many tasks one record of an array stands for: ``5-99%10``; ``...`` cuts long
    lists."""
    listed_tasks = ",".join(part for part in text.partition("%")[0].split(",") if "..." not in part)
    return len(array_tasks(listed_tasks)[0]) if re.fullmatch(r"[0-9][0-9,:-]*", listed_tasks) else 1


def _array_task_limit(text: str) -> int:
    """Return how many tasks of ``1-24%6`` may run at a time; 0: all."""
    match = re.search(r"%([0-9]{1,9})(?![0-9])", text)
    return int(match[1]) if match else 0


def _tres_amount(tres: str, name: str) -> float | None:
    """Return an amount of ``cpu=4,mem=8G,billing=4`` by its name; None: it is not there."""
    match = re.search(rf"(?:^|,){name}=([0-9]{{1,15}}(?:\.[0-9]+)?)", tres)
    return float(match[1]) if match else None


def _tres_memory(tres: str, nodes: int) -> float | None:
    """Return MB of a node of ``cpu=4,mem=8G``; None: the memory is not there, or all of it."""
    match = re.search(r"(?:^|,)mem=([0-9]{1,15}(?:\.[0-9]+)?[KMGTP]?)(?![^,])", tres)
    megabytes = parse_megabytes(match[1]) if match else None
    return megabytes / max(nodes, 1) if megabytes else None


def _tres_gpus(tres: str) -> str:
    """Return ``gpu:2`` of ``cpu=4,gres/gpu=2``, with its type where that is there; empty: none."""
    parts = [part for part in tres.split(",") if part.startswith("gres/gpu")]
    return _gpus(max(parts, key=len)) if parts else ""


def _allocations_of_text(
    pairs: Iterable[tuple[str, str]], job: Mapping[str, str], place: str
) -> list[Allocated]:
    """Return what a job of ``scontrol show job -d`` has of each node."""
    allocations: list[Allocated] = []
    nodes: list[str] = []
    for key, value in pairs:
        if key == "Nodes":
            nodes = hosts(value, f"{place}: Nodes")
        elif not nodes:
            continue
        elif key == "CPU_IDs":
            spans = re.findall(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", value)
            cpus = sum(max(int(last or first) - int(first) + 1, 0) for first, last in spans)
            allocations += [Allocated(node, cpus) for node in nodes]
        elif key in ("Mem", "GRES"):
            amounts = (
                {"memory": number(value) or 0.0} if key == "Mem" else {"gpus": _count_gpus(value)}
            )
            allocations[-len(nodes) :] = [
                allocation._replace(**amounts) for allocation in allocations[-len(nodes) :]
            ]
            nodes = nodes if key == "Mem" else []
    cpus = _leading_number(job.get("NumCPUs", "")) or 1
    return allocations or spread_evenly(as_text(job.get("NodeList", "")), cpus, place)


_NEEDED = ("JobID", "Submit", "Start", "End")


def parse_history(
    text: str, offset: float = 0.0, name: str = "sacct.txt", notes: list[Note] | None = None
) -> list[FinishedJob]:
    """Return the jobs that have ended, by submission; a job name may hold the delimiter or a line
    end.

    How the text was read is added to `notes`: columns that are there twice, and rows that stand
    inside a job name.

    Raises
    ------
    InvalidInstance
        Another format, no header with the columns that are needed, a row whose columns cannot be
        told apart, or a column that is there twice with different values.
    """
    if not text.strip():
        return []
    io.refuse_foreign_text(text, name)
    jobs = []
    table = rows_of_text(text, name, _NEEDED)
    if table.unaligned:
        header = shorten(text.partition("\n")[0])
        raise InvalidInstance(
            f"{name}: {io.shown_lines(table.unaligned)}: expected the fields of {header}"
        )
    if notes is not None:
        notes += [note.with_place(name) for note in table.notes]
    for number, row in table.rows:
        if "." in row["JobID"] or not row.get("State", "COMPLETED").strip():
            continue
        submit, start, end = (moment(row[key], offset) for key in ("Submit", "Start", "End"))
        if submit is None or start is None or end is None or end < start:
            continue
        first = re.match(r"[0-9]{1,15}", row["JobID"])
        requested = row.get("ReqTRES", "")
        nodes = int(_number(row.get("NNodes", "")) or 1)
        fields = {
            "id": int(first[0]) if first else 0,
            "user": row.get("User", ""),
            "account": row.get("Account", ""),
            "partition": row.get("Partition", ""),
            "qos": row.get("QOS", ""),
            "submit": submit,
            "eligible": moment(row.get("Eligible", ""), offset) or submit,
            "start": start,
            "end": end,
            "limit": _limit(row),
            "nodes": nodes,
            "cpus": int(_tres_amount(requested, "cpu") or _number(row.get("NCPUS", "")) or 1),
            "memory": _tres_memory(requested, nodes),
            "gpus": _tres_gpus(requested),
            "state": row.get("State", "").split(" ")[0],
            "nodelist": row.get("NodeList", ""),
            "allocated": int(_number(row.get("NCPUS", "")) or 1),
        }
        jobs.append(parse_record(FinishedJob, fields, f"{name}: line {number}"))
    return sorted(jobs, key=lambda job: (job.submit, job.id))


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text.strip()) else None


def _limit(row: dict[str, str]) -> float | None:
    """Return seconds; TimelimitRaw is minutes."""
    minutes = _number(row.get("TimelimitRaw", ""))
    if minutes is not None:
        return 60 * minutes
    text = row.get("Timelimit", "")
    return parse_slurm_time(text) if ":" in text else None
