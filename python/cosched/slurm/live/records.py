"""Jobs as squeue, scontrol and sacct tell of them, in one form, whatever the version."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from cosched import io
from cosched.cluster.files.sacct.rows import rows_of_text
from cosched.cluster.files.sbatch import array_tasks
from cosched.cluster.machine.node_types import hosts, megabytes_of, time_of
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.lines import seconds_of_limit
from cosched.slurm.live.model import Allocated, Ended, Job, each_once, made
from cosched.slurm.live.outputs import records

#: Larger ones are codes of Slurm: no value, infinite.
_CODES, _LARGEST = 0xFFFFFFF0, 0xFFFFFFFFFFFFFF00
_NOTHING = ("(null)", "none", "n/a", "unknown", "")
_STATES = {"CONFIGURING": "RUNNING", "STAGE_OUT": "RUNNING", "REQUEUED": "PENDING",
           "REQUEUE_HOLD": "PENDING", "RESV_DEL_HOLD": "PENDING", "SPECIAL_EXIT": "PENDING",
           "SUSPENDED": "RUNNING", "RESIZING": "RUNNING", "STOPPED": "RUNNING"}  # fmt: skip


def number(value: Any) -> float | None:
    """A number of any generation: plain, or an object with ``set, infinite, number``; None: not
    set."""
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


def finite(value: Any) -> float | None:
    """The same; None: not set, or infinite."""
    known = number(value)
    return None if known == math.inf else known


def whole(value: Any) -> int | None:
    """The same as an integer."""
    known = finite(value)
    return None if known is None else int(known)


def object_of(value: Any) -> Mapping[str, Any]:
    """An object; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def word(value: Any) -> str:
    """A text; the first of a list."""
    if isinstance(value, list):
        value = value[0] if value else ""
    text = "" if value is None or isinstance(value, (Mapping, list)) else str(value)
    return "" if text.lower() in _NOTHING else text


def jobs_of_json(text: str, place: str) -> tuple[list[Job], dict[str, Any]]:
    """Jobs that run or wait, and the answer's other facts: ``version``, ``taken``."""
    data = io.parse_json(text, place)
    if not isinstance(data, Mapping) or not isinstance(data.get("jobs"), list):
        raise InvalidInstance(f"{place}: jobs: expected a list, as squeue --json prints it")
    meta = object_of(data.get("meta"))
    slurm = object_of(meta.get("Slurm") or meta.get("slurm"))
    facts = {"version": word(slurm.get("release")), "taken": finite(data.get("last_update"))}
    found = []
    for row, job in enumerate(data["jobs"]):
        if not isinstance(job, Mapping) or whole(job.get("job_id")) is None:
            raise InvalidInstance(f"{place}: jobs[{row}]: expected an object with a job_id")
        state = word(job.get("job_state"))
        state = _STATES.get(state, state)
        if state in ("PENDING", "RUNNING"):
            found.append(
                made(Job, _of_json(job, state, f"{place}: jobs[{row}]"), f"{place}: jobs[{row}]")
            )
    return each_once(found, place), facts


def _of_json(job: Mapping[str, Any], state: str, place: str) -> dict[str, Any]:
    minutes = number(job.get("time_limit"))
    shared = word(job.get("shared")) + word(job.get("oversubscribe"))
    exclusive = job.get("exclusive")
    priority = job.get("priority")
    if isinstance(priority, Mapping):  # its number as it is: the largest are no codes
        said = priority.get("set", True) and not priority.get("infinite")
        priority = priority.get("number") if said else None
    array = whole(job.get("array_job_id")) or None
    return {
        "id": whole(job["job_id"]),
        "user": word(job.get("user_name")) or word(job.get("user_id")),
        "account": word(job.get("account")),
        "partition": word(job.get("partition")),
        "qos": word(job.get("qos")),
        "name": word(job.get("name")),
        "state": state,
        **{
            key: finite(job.get(f"{key}_time")) or None
            for key in ("submit", "eligible", "accrue", "start")
        },
        "limit": None if minutes is None else 60 * minutes,
        "nodes": whole(job.get("node_count")),
        "exact": bool(finite(job.get("max_nodes"))),
        "cpus": whole(job.get("cpus")) or 1,
        "exclusive": "none" in shared or bool(exclusive and "true" in str(exclusive).lower()),
        "memory": finite(job.get("memory_per_node")),
        "memory_per_cpu": finite(job.get("memory_per_cpu")),
        "gres": _gpus(word(job.get("tres_per_node"))),
        "gpus": _gpus(word(job.get("tres_per_job"))),
        "priority": priority if isinstance(priority, int) else finite(priority),
        "nice": finite(job.get("nice")),
        "reason": word(job.get("state_reason")),
        "dependency": word(job.get("dependency")),
        "features": word(job.get("features")),
        "licences": word(job.get("licenses")),
        "reservation": word(job.get("resv_name")),
        "array": [array, whole(job.get("array_max_tasks")) or 0] if array else None,
        "tasks": _waiting_tasks(word(job.get("array_task_string"))) if state == "PENDING" else 1,
        "billing": finite(job.get("billable_tres")),
        "holds": _holds(job, place) if state == "RUNNING" else (),
    }


def _gpus(text: str) -> str:
    """``gpu:a100:2`` of ``gres:gpu:a100:2`` or ``gres/gpu:a100:2``."""
    found = re.search(r"(?:gres[:/])?(gpu(?:[:=][\w.-]+)*)", text)
    return found[1].replace("=", ":") if found else ""


def _holds(job: Mapping[str, Any], place: str) -> list[Allocated]:
    """What it has of each node."""
    resources = object_of(job.get("job_resources"))
    nodes = resources.get("nodes")
    entries = object_of(nodes).get("allocation") or resources.get("allocated_nodes") or []
    if isinstance(entries, Mapping):
        entries = list(entries.values())
    names = word(job.get("nodes")) or (nodes if isinstance(nodes, str) else "")
    found = [_of_node(object_of(one)) for one in entries] if isinstance(entries, list) else []
    if not found or not all(own.node for own in found):
        found = spread(names, whole(job.get("cpus")) or 1, place)
    detail = job.get("gres_detail")
    gpus = [_count_gpus(word(text)) for text in detail] if isinstance(detail, list) else []
    gpus += [0] * (len(found) - len(gpus))
    return [own._replace(gpus=count) for own, count in zip(found, gpus, strict=False)]


def _of_node(entry: Mapping[str, Any]) -> Allocated:
    amount = object_of(entry.get("memory")).get("allocated")
    return Allocated(
        word(entry.get("name") or entry.get("nodename")),
        whole(object_of(entry.get("cpus")).get("count")) or _allocated(entry.get("sockets")),
        finite(amount if amount is not None else entry.get("memory_allocated")) or 0.0,
    )


def _allocated(sockets: Any) -> int:
    """Cores of a node that are a job's."""
    if isinstance(sockets, Mapping):
        if "status" in sockets:
            return _allocated(sockets["status"])
        return sum(_allocated(own) for key, own in sockets.items() if key != "index")
    if isinstance(sockets, list):
        return sum(_allocated(own) for own in sockets)
    return int(isinstance(sockets, str) and sockets.lower() == "allocated")


def spread(names: str, cpus: int, place: str) -> list[Allocated]:
    """Equal parts on each node: where nobody says more."""
    nodes = hosts(names, f"{place}: nodes") if names else []
    return [Allocated(node, max(cpus // len(nodes), 1)) for node in nodes]


def _count_gpus(text: str) -> int:
    found = re.search(r"gpu(?::[A-Za-z][\w.-]*)?[:=]([0-9]{1,9})", text)
    return int(found[1]) if found else 0


def jobs_of_text(text: str, place: str, offset: float = 0.0) -> list[Job]:
    """The same of ``scontrol show job -d``; `offset`: seconds to add to its times."""
    found = []
    for pairs in records(text, "JobId"):
        job = dict(pairs)
        state = _STATES.get(job.get("JobState", ""), job.get("JobState", ""))
        if state not in ("PENDING", "RUNNING"):
            continue
        where = f"{place}: job {shorten(job['JobId'])}"
        found.append(made(Job, _of_text(job, pairs, state, offset, where), where))
    if not found and "JobId=" not in text and "No jobs" not in text:
        raise InvalidInstance(f"{place}: expected JobId=..., as scontrol show job prints it")
    return each_once(found, place)


def moment(text: str, offset: float = 0.0) -> float | None:
    """Seconds since 1970 of ``2026-11-23T00:48:47``; None: no time."""
    try:
        date = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return date.timestamp() + offset


def _of_text(
    job: Mapping[str, str], pairs: Iterable[tuple[str, str]], state: str, offset: float, place: str
) -> dict[str, Any]:
    def said(key: str) -> str:
        return word(job.get(key, ""))

    nodes = said("NumNodes")
    array = _leading(said("ArrayJobId"))
    limit = said("TimeLimit")
    return {
        "id": _leading(job["JobId"]),
        "user": said("UserId").partition("(")[0],
        "account": said("Account"),
        "partition": said("Partition"),
        "qos": said("QOS"),
        "name": said("JobName"),
        "state": state,
        **{
            key: moment(said(f"{key.title()}Time"), offset)
            for key in ("submit", "eligible", "accrue", "start")
        },
        "limit": seconds_of_limit(limit, f"{place}: TimeLimit") if limit else None,
        "nodes": _leading(nodes),
        "exact": "-" in nodes or "node=" not in said("ReqTRES") or state == "RUNNING",
        "cpus": _leading(said("NumCPUs")) or 1,
        "exclusive": said("OverSubscribe") == "NO",
        "memory": megabytes_of(said("MinMemoryNode")) or None,
        "memory_per_cpu": megabytes_of(said("MinMemoryCPU")) or None,
        "gres": _gpus(said("TresPerNode")),
        "gpus": _gpus(said("TresPerJob")),
        "priority": number(said("Priority")),
        "nice": number(said("Nice")),
        "reason": said("Reason"),
        "dependency": said("Dependency"),
        "features": said("Features"),
        "licences": said("Licenses"),
        "reservation": said("Reservation"),
        "array": [array, _at_once(said("ArrayTaskId"))] if array else None,
        "tasks": _waiting_tasks(said("ArrayTaskId")) if state == "PENDING" else 1,
        "billing": _part(said("TRES"), "billing"),
        "holds": _holds_of_text(pairs, job, place) if state == "RUNNING" else (),
    }


def _leading(text: str) -> int | None:
    """The number that a text begins with."""
    found = re.match(r"[0-9]{1,18}(?![0-9])", text)
    return int(found[0]) if found else None


def _waiting_tasks(text: str) -> int:
    """How many tasks one record of an array stands for: ``5-99%10``; ``...`` cuts long lists."""
    known = ",".join(part for part in text.partition("%")[0].split(",") if "..." not in part)
    return len(array_tasks(known)[0]) if re.fullmatch(r"[0-9][0-9,:-]*", known) else 1


def _at_once(text: str) -> int:
    found = re.search(r"%([0-9]{1,9})(?![0-9])", text)
    return int(found[1]) if found else 0


def _part(tres: str, name: str) -> float | None:
    found = re.search(rf"(?:^|,){name}=([0-9]{{1,15}}(?:\.[0-9]+)?)", tres)
    return float(found[1]) if found else None


def _holds_of_text(
    pairs: Iterable[tuple[str, str]], job: Mapping[str, str], place: str
) -> list[Allocated]:
    found: list[Allocated] = []
    nodes: list[str] = []
    for key, value in pairs:
        if key == "Nodes":
            nodes = hosts(value, f"{place}: Nodes")
        elif not nodes:
            continue
        elif key == "CPU_IDs":
            spans = re.findall(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", value)
            cpus = sum(max(int(last or first) - int(first) + 1, 0) for first, last in spans)
            found += [Allocated(node, cpus) for node in nodes]
        elif key in ("Mem", "GRES"):
            own = {"memory": number(value) or 0.0} if key == "Mem" else {"gpus": _count_gpus(value)}
            found[-len(nodes) :] = [one._replace(**own) for one in found[-len(nodes) :]]
            nodes = nodes if key == "Mem" else []
    cpus = _leading(job.get("NumCPUs", "")) or 1
    return found or spread(word(job.get("NodeList", "")), cpus, place)


_NEEDED = ("JobID", "Submit", "Start", "End")


def history_of(
    text: str, offset: float = 0.0, name: str = "sacct.txt", notes: list[str] | None = None
) -> list[Ended]:
    """Jobs that have ended, by submission; a job name may hold the delimiter or a line end.

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
    found = []
    read = rows_of_text(text, name, _NEEDED)
    if read.unaligned:
        header = shorten(text.partition("\n")[0])
        raise InvalidInstance(
            f"{name}: {io.shown_lines(read.unaligned)}: expected the fields of {header}"
        )
    if notes is not None:
        notes += [f"{name}: {note}" for note in read.notes]
    for number, row in read.rows:
        if "." in row["JobID"] or not row.get("State", "COMPLETED").strip():
            continue
        submit, start, end = (moment(row[key], offset) for key in ("Submit", "Start", "End"))
        if submit is None or start is None or end is None or end < start:
            continue
        first = re.match(r"[0-9]{1,15}", row["JobID"])
        own = {
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
            "nodes": int(_number(row.get("NNodes", "")) or 1),
            "cpus": int(_part(row.get("ReqTRES", ""), "cpu") or _number(row.get("NCPUS", "")) or 1),
            "state": row.get("State", "").split(" ")[0],
            "nodelist": row.get("NodeList", ""),
            "allocated": int(_number(row.get("NCPUS", "")) or 1),
        }
        found.append(made(Ended, own, f"{name}: line {number}"))
    return sorted(found, key=lambda job: (job.submit, job.id))


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text.strip()) else None


def _limit(row: dict[str, str]) -> float | None:
    """Seconds; TimelimitRaw is minutes."""
    minutes = _number(row.get("TimelimitRaw", ""))
    if minutes is not None:
        return 60 * minutes
    text = row.get("Timelimit", "")
    return time_of(text) if ":" in text else None
