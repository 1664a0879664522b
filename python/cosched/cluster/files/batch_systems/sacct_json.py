"""What ``sacct --json`` prints, and slurmrestd's ``/slurmdb/*/jobs``, in columns of ``sacct -P``.

Data parsers 0.0.37 to 0.0.43 (Slurm 21.08 to 25.05) differ in how they write states (a text or a
list), numbers (plain, or ``{"set", "infinite", "number"}``) and numbers of steps. The texts that
come out are those that ``sacct -P`` prints, so that one reader judges both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cosched.cluster.files.batch_systems.json_stream import Member, object_at
from cosched.units import format_elapsed_time

#: The columns that come out.
COLUMNS = (
    "JobID", "State", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "User",
    "Group", "Account", "Partition", "QOS", "Cluster", "JobName", "Constraints", "Licenses",
    "Comment", "AdminComment", "SubmitLine", "NodeList", "NNodes", "ReqCPUS", "AllocCPUS", "ReqMem",
    "ReqTRES", "AllocTRES", "TimelimitRaw", "TotalCPU", "NTasks", "MaxRSS", "TRESUsageInMax",
    "TRESUsageInTot",
)  # fmt: skip
#: Numbers that stand for kinds of steps (slurm.h).
_STEP_NAMES = {
    0xFFFFFFFB: "batch", -5: "batch", 0xFFFFFFFC: "extern", -4: "extern",
    0xFFFFFFFA: "interactive", -6: "interactive",
}  # fmt: skip


class SacctRow(NamedTuple):
    """A job or a step.

    ``texts`` has an entry for each of :data:`COLUMNS`.
    """

    line: int
    texts: tuple[str, ...]
    #: Whether its start is its end without the time that it took: see :func:`start_of_end`.
    has_repaired_start: bool = False


def sacct_rows(members: Iterable[Member]) -> Iterator[SacctRow | int]:
    """Rows of jobs, each followed by those of its steps; a line alone where no job stands there.

    Examples
    --------
    >>> job = {"job_id": 7, "state": {"current": ["COMPLETED"]}, "time": {"submission": 10,
    ...        "start": 20, "end": 80, "elapsed": 60}, "tres": {"allocated": [
    ...        {"type": "cpu", "name": "", "count": 8}, {"type": "mem", "name": "", "count": 512}]}}
    >>> (row,) = sacct_rows([Member(1, "", job)])
    >>> texts = dict(zip(COLUMNS, row.texts))
    >>> texts["JobID"], texts["State"], texts["Start"], texts["AllocTRES"]
    ('7', 'COMPLETED', '000000020', 'cpu=8,mem=512M')
    """
    for member in members:
        if member.key:
            continue
        job = member.value
        if not isinstance(job, Mapping) or "job_id" not in job or "time" not in job:
            yield member.line
            continue
        job_id = _job_id(job)
        texts = _texts_of_job(job, job_id)
        start = start_of_end(object_at(job, "time"))
        if start is not None:
            texts["Start"] = _time_text(start)
        yield _row(member.line, texts)._replace(has_repaired_start=start is not None)
        for step in _list_at(job, "steps"):
            if isinstance(step, Mapping):
                yield _row(member.line, _texts_of_step(step, job_id))


def start_of_end(time: Mapping[str, object]) -> int | None:
    """The start of a job whose own start is the time at which it was eligible; None: it is good.

    Data parser 0.0.37 of Slurm 21.08 and 22.05 writes ``eligible`` into ``time/start``, which then
    contradicts end, elapsed and suspended time.

    Examples
    --------
    >>> start_of_end({"start": 10, "eligible": 10, "end": 90, "elapsed": 50, "suspended": 10})
    30
    >>> start_of_end({"start": 30, "eligible": 10, "end": 90, "elapsed": 50, "suspended": 10})
    """
    start, eligible, end, elapsed = (
        _number(time.get(name)) for name in ("start", "eligible", "end", "elapsed")
    )
    if start is None or eligible is None or not end or elapsed is None or start != eligible:
        return None
    expected_start = end - elapsed - (_number(time.get("suspended")) or 0)
    return expected_start if expected_start > start and elapsed >= 0 else None


def _row(line: int, texts: Mapping[str, str]) -> SacctRow:
    return SacctRow(line, tuple(texts.get(name, "") for name in COLUMNS))


def _texts_of_job(job: Mapping[str, object], job_id: str) -> dict[str, str]:
    time, required, tres = (object_at(job, name) for name in ("time", "required", "tres"))
    comment = job.get("comment")
    comments = comment if isinstance(comment, Mapping) else {"job": comment}
    allocated, requested = _tres_text(tres.get("allocated")), _tres_text(tres.get("requested"))
    return {
        "JobID": job_id,
        "State": _state_of(job),
        "Submit": _time_text(time.get("submission")),
        "Eligible": _time_text(time.get("eligible")),
        "Start": _time_text(time.get("start")),
        "End": _time_text(time.get("end")),
        "ElapsedRaw": _count_text(time.get("elapsed")),
        "Suspended": _duration_text(time.get("suspended"), 0),
        "User": _text(job.get("user")),
        "Group": _text(job.get("group")),
        "Account": _text(job.get("account")),
        "Partition": _text(job.get("partition")),
        "QOS": _text(job.get("qos")),
        "Cluster": _text(job.get("cluster")),
        "JobName": _text(job.get("name")),
        "Constraints": _text(job.get("constraints")),
        "Licenses": _text(job.get("licenses")),
        "Comment": _text(comments.get("job")),
        "AdminComment": _text(comments.get("administrator")),
        "SubmitLine": _text(job.get("submit_line")),
        "NodeList": _text(job.get("nodes")),
        "NNodes": _count_text(job.get("allocation_nodes")),
        "ReqCPUS": _count_text(required.get("CPUs")),
        "AllocCPUS": _count_of_tres(tres.get("allocated"), "cpu"),
        "ReqMem": _required_memory(required),
        "ReqTRES": requested,
        "AllocTRES": allocated,
        "TimelimitRaw": _limit_text(time.get("limit")),
        "TotalCPU": _cpu_text(time.get("total")),
    }


def _texts_of_step(step: Mapping[str, object], job_id: str) -> dict[str, str]:
    time = object_at(step, "time")
    usage = object_at(step, "tres", "requested")  # Slurm's TRES usage "in"
    largest, total = _usage_text(usage.get("max")), _usage_text(usage.get("total"))
    return {
        "JobID": f"{job_id}.{_step_name(step)}",
        "State": _state_of(step),
        "Start": _time_text(time.get("start")),
        "End": _time_text(time.get("end")),
        "ElapsedRaw": _count_text(time.get("elapsed")),
        "JobName": _text(object_at(step, "step").get("name")),
        "NNodes": _count_text(object_at(step, "nodes").get("count")),
        "NTasks": _count_text(object_at(step, "tasks").get("count")),
        "AllocTRES": _tres_text(object_at(step, "tres").get("allocated")),
        "TotalCPU": _cpu_text(time.get("total")),
        "TRESUsageInMax": largest,
        "TRESUsageInTot": total,
    }


def _job_id(job: Mapping[str, object]) -> str:
    """Return ``7``; ``7_3`` of an array, ``7_[1-4]`` of tasks that wait; ``7+1`` of parts of a
    job."""
    array, het = object_at(job, "array"), object_at(job, "het")
    array_id = _number(array.get("job_id")) or 0
    task_id, waiting_tasks = _number(array.get("task_id")), _text(array.get("task"))
    if array_id > 0 and task_id is not None:
        return f"{array_id}_{task_id}"
    if array_id > 0 and waiting_tasks:
        return f"{array_id}_[{waiting_tasks}]"
    het_id, offset = _number(het.get("job_id")) or 0, _number(het.get("job_offset"))
    if het_id > 0 and offset is not None:
        return f"{het_id}+{offset}"
    return _count_text(job.get("job_id"))


def _step_name(step: Mapping[str, object]) -> str:
    """Return ``0``, ``batch`` or ``extern``: Slurm writes ``7.batch``, or an object with its
    number."""
    identity = object_at(step, "step").get("id")
    if isinstance(identity, Mapping):
        identity = identity.get("step_id")
    if isinstance(identity, str):
        return identity.rpartition(".")[2]
    number = _number(identity)
    return "0" if number is None else _STEP_NAMES.get(number, str(number))


def _state_of(record: Mapping[str, object]) -> str:
    """Return the first of its states: further ones are flags such as COMPLETING."""
    state = record.get("state")
    current = state.get("current") if isinstance(state, Mapping) else state
    if isinstance(current, Sequence) and not isinstance(current, str):
        current = current[0] if current else ""
    return _text(current)


def _number(value: object) -> int | None:
    """Return a whole number, plain or as ``{"set", "infinite", "number"}``; None where it is not
    set."""
    if isinstance(value, Mapping):
        if not value.get("set", True) or value.get("infinite"):
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return int(value) if isinstance(value, str) and value.isdecimal() else None
    return int(value) if abs(value) < 2**63 else None


def _is_infinite(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value.get("infinite"))


def _count_text(value: object) -> str:
    number = _number(value)
    return "" if number is None else str(number)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _time_text(value: object) -> str:
    """Return seconds since 1970; ``Unknown`` of 0, as sacct prints it."""
    number = _number(value)
    return "Unknown" if number is None or number <= 0 else f"{number:09d}"


def _limit_text(value: object) -> str:
    """Return minutes, ``UNLIMITED``, or ``Partition_Limit`` where the job has none of its own."""
    if _is_infinite(value):
        return "UNLIMITED"
    number = _number(value)
    return "Partition_Limit" if number is None else str(number)


def _duration_text(seconds: object, microseconds: object) -> str:
    """Return ``[days-]hours:minutes:seconds[.milliseconds]``; empty where it is not known."""
    whole_seconds = _number(seconds)
    if whole_seconds is None or whole_seconds < 0:
        return ""
    return format_elapsed_time(whole_seconds, (_number(microseconds) or 0) // 1000)


def _cpu_text(value: object) -> str:
    if not isinstance(value, Mapping):
        return _duration_text(value, 0)
    return _duration_text(value.get("seconds"), value.get("microseconds"))


def _required_memory(required: Mapping[str, object]) -> str:
    """Return megabytes, with ``n`` of each node or ``c`` of each CPU."""
    for name, suffix in (("memory_per_node", "n"), ("memory_per_cpu", "c"), ("memory", "n")):
        megabytes = _number(required.get(name))
        if megabytes:
            return f"{megabytes}M{suffix}"
    return ""


def _tres_entries(entries: object) -> Iterator[tuple[str, int]]:
    """Yield ``cpu``, ``mem``, ``gres/gpu:a100`` with their counts."""
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, Mapping):
            continue
        kind, name, count = _text(entry.get("type")), entry.get("name"), _number(entry.get("count"))
        if kind and count is not None and count >= 0:
            yield (f"{kind}/{name}" if name else kind), count


def _tres_text(entries: object) -> str:
    """Return ``cpu=8,mem=512M,node=1``: memory is in megabytes."""
    return ",".join(
        f"{name}={count}{'M' if name == 'mem' else ''}" for name, count in _tres_entries(entries)
    )


def _usage_text(entries: object) -> str:
    """Return ``cpu=..,mem=..`` of a step, memory in bytes."""
    return ",".join(f"{name}={count}" for name, count in _tres_entries(entries))


def _count_of_tres(entries: object, wanted: str) -> str:
    return next((str(count) for name, count in _tres_entries(entries) if name == wanted), "")


def _list_at(value: Mapping[str, object], key: str) -> list[Any]:
    inner = value.get(key)
    return inner if isinstance(inner, list) else []
