"""Accounting files of Grid Engine: SGE, Son of Grid Engine, UGE, and Open Cluster Scheduler.

The old format has fields between colons (man page ``accounting(5)``); Univa's versions print times
in milliseconds. Open Cluster Scheduler 9 writes one JSON object a line, with times in microseconds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from cosched.cluster.files.batch_systems.job_record import (
    JobRecord,
    LeftOut,
    Records,
    is_out_of_time,
)
from cosched.units import GIGABYTE, parse_clock_time, parse_gigabytes, parse_nonnegative_number

#: Fields before the category of a job, in which colons may stand.
_FIRST_FIELDS = (
    "qname", "hostname", "group", "owner", "job_name", "job_number", "account", "priority",
    "submission_time", "start_time", "end_time", "failed", "exit_status", "ru_wallclock",
    "ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_ismrss", "ru_idrss", "ru_isrss",
    "ru_minflt", "ru_majflt", "ru_nswap", "ru_inblock", "ru_oublock", "ru_msgsnd", "ru_msgrcv",
    "ru_nsignals", "ru_nvcsw", "ru_nivcsw", "project", "department", "granted_pe", "slots",
    "task_number", "cpu", "mem", "io",
)  # fmt: skip
#: The category, and what follows it: I/O wait, task of a parallel environment, peak of memory.
_LAST_FIELDS = re.compile(
    r"(?P<category>.*?):(?P<iow>[-0-9.e+]+):(?P<pe_taskid>NONE|\d+\.[^:\s]+|\d+)"
    r":(?P<maxvmem>[0-9.e+]+[KMGTkmgt]?)(?::.*)?"
)
_REQUEST = re.compile(r"(?:^|[\s,])([A-Za-z_][\w.]*)=([^\s,]+)")
#: Resources that limit the memory of each slot, in the order in which they are looked for.
_MEMORY_REQUESTS = ("h_vmem", "m_mem_free", "mem_free", "s_vmem", "h_rss", "virtual_free")
_GPU_REQUESTS = ("gpu", "gpus", "ngpus", "cuda", "nvidia")
#: Above this a time is in microseconds, above the next in milliseconds.
_MICROSECONDS_FROM, _MILLISECONDS_FROM = 1e14, 1e11
_NO_VALUE = ("NONE", "none", "")
#: Values of ``failed``: the job was killed by a signal; the system enforced a run-time limit.
_FAILED_BY_SIGNAL, _FAILED_BY_LIMIT = 100, 37
_KILLED_EXITS = (128 + 9, 128 + 15, 9, 15)
_BYTES_OF_KB = 1024.0


def read_grid_engine(lines: Iterable[tuple[int, str]]) -> Records:
    """The jobs of an accounting file in either format; parameters as of ``read_pbs``.

    Examples
    --------
    >>> fields = "all.q:n1:g:vic:sim:7:sge:0:100:110:170:0:0:60:1:1:0".split(":") + ["0"] * 14
    >>> fields += "NONE:defaultdepartment:smp:4:0:55.5:0:0:-l h_rt=3600:0:NONE:1048576".split(":")
    >>> (job,) = read_grid_engine([(1, ":".join(fields))])
    >>> job.number, job.cores, job.limit, job.cpu_seconds, job.state
    ('7', 4, 3600.0, 55.5, 'COMPLETED')
    """
    for line, text in lines:
        stripped = text.strip()
        if len(stripped) <= 1 or stripped.startswith("#"):
            continue
        if stripped.startswith("{"):
            fields = _fields_of_json(stripped)
        else:
            fields = _fields_of_colons(stripped)
        if fields is None:
            yield LeftOut(line, "no record of Grid Engine")
        elif fields["pe_taskid"] not in _NO_VALUE:
            yield LeftOut(line, "part of a parallel job, whose own record counts")
        else:
            yield _job_of(line, fields)


def _fields_of_colons(text: str) -> dict[str, str] | None:
    """Return texts by the names of accounting(5); None where there are too few."""
    fields = text.split(":", len(_FIRST_FIELDS))
    if len(fields) <= len(_FIRST_FIELDS):
        return None
    values = dict(zip(_FIRST_FIELDS, fields, strict=False))
    match = _LAST_FIELDS.fullmatch(fields[-1])
    if match is None:
        values |= {"category": fields[-1], "pe_taskid": "", "maxvmem": ""}
    else:
        values |= match.groupdict()
    if not values["job_number"].strip().isdigit():
        return None
    return values


def _fields_of_json(text: str) -> dict[str, str] | None:
    """Return the same of a JSON object; what ``usage`` holds is merged."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, Mapping) or "job_number" not in record:
        return None
    merged: dict[str, Any] = dict(record)
    usage = record.get("usage")
    for part in ("rusage", "usage"):
        if isinstance(usage, Mapping) and isinstance(usage.get(part), Mapping):
            merged |= usage[part]
    values = {name: _text_of(merged.get(name)) for name in (*_FIRST_FIELDS, "category", "maxvmem")}
    values["pe_taskid"] = _text_of(merged.get("pe_taskid"))
    values["maxrss"] = _text_of(merged.get("maxrss"))
    return values if values["job_number"].isdigit() else None


def _text_of(value: object) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, (Mapping, list)):
        return ""
    return str(value)


def _job_of(line: int, fields: Mapping[str, str]) -> JobRecord:
    start, end = _time_of(fields["start_time"]), _time_of(fields["end_time"])
    slots = parse_nonnegative_number(fields["slots"])
    cores = int(slots) if slots >= 1 else 0
    requests = dict(_REQUEST.findall(fields["category"]))
    limit = parse_clock_time(requests.get("h_rt") or requests.get("s_rt") or "")
    task = fields["task_number"]
    number = fields["job_number"].strip()
    return JobRecord(
        line=line,
        number=f"{number}_{task}" if task.isdigit() and int(task) > 0 else number,
        state=_state_of(fields, end - start, limit),
        submit=_time_of(fields["submission_time"]),
        start=start,
        end=end,
        cores=cores,
        nodes=1.0 if cores == 1 else math.nan,
        limit=limit,
        memory_gb=_memory_of(requests, cores),
        gpus=_gpus_of(requests, cores),
        used_memory_gb=_used_memory_of(fields),
        cpu_seconds=_cpu_seconds_of(fields),
        user=fields["owner"],
        group=fields["group"],
        account=_account_of(fields),
        partition=fields["qname"],
        name=fields["job_name"],
        hosts=fields["hostname"] if cores == 1 else "",
    )


def _time_of(text: str) -> float:
    """Return seconds since 1970; nan of 0, which says that there is none."""
    time = parse_nonnegative_number(text)
    if time >= _MICROSECONDS_FROM:
        return time / 1e6
    if time >= _MILLISECONDS_FROM:
        return time / 1e3
    return time if time > 0 else math.nan


def _account_of(fields: Mapping[str, str]) -> str:
    """Return the project, which shares are about, else the text of qsub -A."""
    if fields["project"] not in _NO_VALUE:
        return fields["project"]
    return fields["account"] if fields["account"] not in (*_NO_VALUE, "sge") else ""


def _memory_of(requests: Mapping[str, str], cores: int) -> float:
    """Return GB of the whole job: requests of memory are those of a slot."""
    for name in _MEMORY_REQUESTS:
        amount = parse_gigabytes(requests.get(name, ""))
        if amount > 0:
            return amount * cores
    return math.nan


def _gpus_of(requests: Mapping[str, str], cores: int) -> int:
    """Return GPUs of the whole job: requests of a consumable are those of a slot."""
    for name in _GPU_REQUESTS:
        count = parse_nonnegative_number(requests.get(name, ""))
        if count >= 1:
            return int(count) * cores
    return 0


def _used_memory_of(fields: Mapping[str, str]) -> float:
    """Return GB at the peak: resident where the system says it of the whole job, else virtual."""
    resident = parse_nonnegative_number(fields.get("maxrss", ""))
    if resident > 0:
        return resident / GIGABYTE
    virtual = _virtual_memory_of(fields["maxvmem"])
    if virtual > 0:
        return virtual
    largest_process = parse_nonnegative_number(fields["ru_maxrss"])
    return largest_process * _BYTES_OF_KB / GIGABYTE if largest_process > 0 else math.nan


def _virtual_memory_of(text: str) -> float:
    """Return GB of ``1.2e9`` bytes, or of ``1.5G``."""
    number = parse_nonnegative_number(text)
    return number / GIGABYTE if number >= 0 else parse_gigabytes(text)


def _cpu_seconds_of(fields: Mapping[str, str]) -> float:
    measured = parse_nonnegative_number(fields["cpu"])
    if measured > 0:
        return measured
    total = parse_nonnegative_number(fields["ru_utime"]) + parse_nonnegative_number(
        fields["ru_stime"]
    )
    return total if total > 0 else math.nan


def _state_of(fields: Mapping[str, str], runtime: float, limit: float) -> str:
    """Return Slurm's word for ``failed`` and ``exit_status``."""
    failed, status = (
        parse_nonnegative_number(fields["failed"].split(" ")[0]),
        parse_nonnegative_number(fields["exit_status"]),
    )
    if failed == _FAILED_BY_LIMIT:
        return "TIMEOUT"
    if failed == _FAILED_BY_SIGNAL or (failed == 0 and status in _KILLED_EXITS):
        if is_out_of_time(runtime, limit):
            return "TIMEOUT"
        return "CANCELLED" if status in _KILLED_EXITS else "FAILED"
    return "COMPLETED" if failed == 0 and status == 0 else "FAILED"
