"""Accounting logs of PBS Pro, OpenPBS and Torque: one record per line.

A record is ``time;type;id;key=value key=value ...``.
The records of type ``E`` (a job has ended) have all that is looked at. Those of type ``R`` are runs
of jobs that were put back into the queue; ``D`` and ``A`` say that a job was deleted or aborted.
The formats are described in the PBS Professional Reference Guide ("Accounting Log Entries") and in
Torque's Administrator Guide ("Accounting Records").
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from cosched.cluster.files.batch_systems.job_record import (
    JobRecord,
    LeftOut,
    Records,
    is_out_of_time,
)
from cosched.units import parse_clock_time, parse_gigabytes, parse_nonnegative_number

#: How a line of the log begins.
LINE = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(?:\.\d+)?;([A-Za-z]);([^;]*);(.*)", re.DOTALL)
_PAIR = re.compile(r"""([^\s=]+)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)""")
_ARRAY_TASK = re.compile(r"(\d+)(?:\[(\d*)\]|-(\d+))?$")
#: One chunk of Torque's ``nodes=2:ppn=8+n7:ppn=4``.
_PPN = re.compile(r"(?:^|:)ppn=(\d+)")
#: Types of records that say what became of a job before its end.
_OTHER_TYPES = frozenset("ABCFGHKLMNPQSTUYZabcdefgijklmnopqrstuvwxyz")
_SIGNAL_BASE = 256
_SIGTERM, _SIGKILL = 15, 9
#: Exit statuses of PBS for jobs that it killed (job.h: JOB_EXEC_KILL_...).
_STATUS_OF_EXIT = {-29: "TIMEOUT", -28: "TIMEOUT", -27: "OUT_OF_MEMORY", -26: "OUT_OF_MEMORY"}


def read_pbs(lines: Iterable[tuple[int, str]]) -> Records:
    """The jobs of an accounting log.

    Parameters
    ----------
    lines : iterable of (int, str)
        Numbers from 1, and texts.

    Yields
    ------
    JobRecord or LeftOut

    Examples
    --------
    >>> text = (
    ...     "06/27/2025 01:01:15;E;1001.pbs;user=vic queue=workq ctime=1750978870 "
    ...     "start=1750978875 end=1750982475 Resource_List.ncpus=8 Exit_status=0"
    ... )
    >>> (job,) = read_pbs([(1, text)])
    >>> job.number, job.cores, job.state, job.end - job.start
    ('1001', 8, 'COMPLETED', 3600.0)
    """
    for line, text in lines:
        match = LINE.match(text)
        if match is None:
            if text.strip():
                yield LeftOut(line, "no record of PBS (time;type;id;text)")
            continue
        kind, job_id, message = match.groups()
        if kind in ("E", "R"):
            yield _run_of(line, kind, job_id, _values_of(message))
        elif kind == "D":
            yield LeftOut(line, "deleted: counted where its record E follows")
        elif kind not in _OTHER_TYPES:
            yield LeftOut(line, f"record of type {kind}")


def _values_of(message: str) -> dict[str, str]:
    """Return texts by key; a value in quotation marks may have spaces."""
    return {key: text.strip("\"'") for key, text in _PAIR.findall(message)}


def _run_of(line: int, kind: str, job_id: str, values: Mapping[str, str]) -> JobRecord | LeftOut:
    number = _number_of_job(job_id)
    if number is None:
        return LeftOut(line, "record of a whole array: its tasks have records of their own")
    start, end = (
        parse_nonnegative_number(values.get("start", "")),
        parse_nonnegative_number(values.get("end", "")),
    )
    submit = parse_nonnegative_number(values.get("ctime", values.get("qtime", "")))
    if kind == "R" and math.isnan(end):
        return LeftOut(line, "requeued, without times of the run")
    limit = parse_clock_time(values.get("Resource_List.walltime", ""))
    cores = _cores_of(values)
    nodes = _nodes_of(values)
    return JobRecord(
        line=line,
        number=number,
        state="REQUEUED" if kind == "R" else _state_of(values, end - start, limit),
        submit=submit,
        eligible=parse_nonnegative_number(values.get("etime", "")),
        start=start if start > 0 else math.nan,
        end=end,
        cores=cores,
        nodes=nodes,
        limit=limit,
        memory_gb=_memory_of(values, cores),
        gpus=_gpus_of(values, nodes),
        used_memory_gb=parse_gigabytes(values.get("resources_used.mem", "")) or math.nan,
        cpu_seconds=parse_clock_time(values.get("resources_used.cput", "")) or math.nan,
        user=values.get("user", ""),
        group=values.get("group", ""),
        account=_account_of(values),
        partition=values.get("queue", ""),
        name=values.get("jobname", ""),
        hosts=",".join(dict.fromkeys(host for host, _ in _slots_of(values))),
    )


def _number_of_job(job_id: str) -> str | None:
    """Return ``7_3`` of ``7[3].server`` and of Torque's ``7-3.server``; None of a whole array,
    ``7[]``."""
    match = _ARRAY_TASK.match(job_id.partition(".")[0])
    if match is None:
        return job_id
    number, index, torque_index = match.groups()
    if index == "":
        return None
    task = index if index is not None else torque_index
    return number if task is None else f"{number}_{task}"


def _account_of(values: Mapping[str, str]) -> str:
    """Return what qsub -A gave, else the project that is not the server's default."""
    account = values.get("account", "")
    project = values.get("project", "")
    return account or (project if project != "_pbs_project_default" else "")


def _slots_of(values: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return the node and number of slots of each part of exec_host.

    ``n1/0*8`` of PBS has eight slots; ``n1/0-7`` and ``n1/7+n1/6`` of Torque have eight and two;
    ``n1/0`` has one.
    """
    parts = []
    for part in filter(None, values.get("exec_host", "").split("+")):
        host, _, place = part.partition("/")
        index, _, factor = place.partition("*")
        if factor.isdigit():
            slots = int(factor)
        else:
            slots = sum(_length_of_range(piece) for piece in index.split(","))
        parts.append((host, slots))
    return parts


def _length_of_range(text: str) -> int:
    """Return 2 of ``3-4``; 1 of ``3``."""
    first, _, last = text.partition("-")
    if first.isdigit() and last.isdigit() and int(last) >= int(first):
        return int(last) - int(first) + 1
    return 1


def _cores_of(values: Mapping[str, str]) -> int:
    """Return cores that the job asked for, which PBS gives it, or slots of its nodes; 0: not
    known."""
    for key in ("Resource_List.ncpus", "total_execution_slots", "resources_used.ncpus"):
        cores = parse_nonnegative_number(values.get(key, ""))
        if cores >= 1 and not (key == "Resource_List.ncpus" and _is_torque(values)):
            return int(cores)
    return max(sum(slots for _, slots in _slots_of(values)), _cores_of_nodes(values))


def _is_torque(values: Mapping[str, str]) -> bool:
    """True where ``nodes=2:ppn=8`` says the size: Torque then prints ncpus of one node, or 1."""
    return bool(_PPN.search(values.get("Resource_List.nodes", "")))


def _cores_of_nodes(values: Mapping[str, str]) -> int:
    """Return cores of ``nodes=2:ppn=8+n7:ppn=4``: 20."""
    total = 0
    for chunk in filter(None, values.get("Resource_List.nodes", "").split("+")):
        first = chunk.partition(":")[0]
        per_node = _PPN.search(chunk)
        total += (int(first) if first.isdigit() else 1) * (int(per_node[1]) if per_node else 1)
    return total


def _nodes_of(values: Mapping[str, str]) -> float:
    """Return distinct nodes of exec_host, else the number that the log says."""
    hosts = {host for host, _ in _slots_of(values)}
    if hosts:
        return float(len(hosts))
    for key in ("unique_node_count", "Resource_List.nodect"):
        count = parse_nonnegative_number(values.get(key, ""))
        if count >= 1:
            return count
    return math.nan


def _memory_of(values: Mapping[str, str], cores: int) -> float:
    """Return GB of the whole job: ``mem``, or ``pmem`` of each process."""
    whole_job = parse_gigabytes(values.get("Resource_List.mem", ""))
    if whole_job > 0:
        return whole_job
    per_process = parse_gigabytes(values.get("Resource_List.pmem", ""))
    return per_process * cores if per_process > 0 else math.nan


def _gpus_of(values: Mapping[str, str], nodes: float) -> int:
    """Return GPUs of the whole job: ``ngpus`` of PBS, ``gpus=2`` in a node of Torque."""
    count = parse_nonnegative_number(values.get("Resource_List.ngpus", ""))
    if count >= 0:
        return int(count)
    per_node = re.search(r"(?:^|:)gpus=(\d+)", values.get("Resource_List.nodes", ""))
    return int(per_node[1]) * int(nodes if nodes >= 1 else 1) if per_node else 0


def _state_of(values: Mapping[str, str], runtime: float, limit: float) -> str:
    """Return Slurm's word for the exit status; a signal adds 256 (128 where a shell reports it)."""
    text = values.get("Exit_status", "")
    try:
        status = int(text)
    except ValueError:
        return "UNKNOWN"
    if status == 0:
        return "COMPLETED"
    if status < 0:
        return _STATUS_OF_EXIT.get(status, "FAILED")
    signal = status - _SIGNAL_BASE if status >= _SIGNAL_BASE else status - _SIGNAL_BASE // 2
    if signal in (_SIGTERM, _SIGKILL):
        return "TIMEOUT" if is_out_of_time(runtime, limit) else "CANCELLED"
    return "FAILED"
