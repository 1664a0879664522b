"""``lsb.acct`` of LSF: records ``JOB_FINISH``, fields between blanks, texts in quotation marks.

The order of the fields is that of the man page ``lsb.acct(5)`` of LSF 7 to 10.1. Later versions add
fields at the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from cosched.cluster.files.batch_systems.job_record import (
    JobRecord,
    LeftOut,
    Records,
)
from cosched.units import parse_gigabytes, parse_nonnegative_number

_FIELD = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_DONE = 64
_RUSAGE_FIELDS = 19
#: Fields after those of getrusage.
_FIELDS_BEHIND_RUSAGE = (
    "mailUser", "projectName", "exitStatus", "maxNumProcessors", "loginShell", "timeEvent", "idx",
    "maxRMem", "maxRSwap", "inFileSpool", "commandSpool", "rsvId", "sla", "exceptMask",
    "additionalInfo", "exitInfo", "warningAction", "warningTimePeriod", "chargedSAAP",
    "licenseProject", "app", "postExecCmd", "runtimeEstimation", "jobGroupName", "requeueEvalues",
    "options2", "resizeNotifyCmd", "lastResizeTime", "rsvId2", "jobDescription",
)  # fmt: skip
#: Reasons for which LSF ends a job (exitInfo), as Slurm's states.
_STATE_OF_REASON = {
    1: "PREEMPTED",
    5: "TIMEOUT",
    6: "DEADLINE",
    12: "TIMEOUT",
    14: "CANCELLED",
    15: "CANCELLED",
    16: "OUT_OF_MEMORY",
}
_RESERVED_MEMORY = re.compile(r"\bmem\s*=\s*(\d+(?:\.\d+)?\s*[kmgtKMGT]?[bB]?)")
_RESERVED_GPUS = re.compile(r"\bngpus_(?:physical|excl_p|shared)\s*=\s*(\d+)")
_USAGE_SECTION = re.compile(r"rusage\[([^\]]*)\]")
_KB_OF_GB = 1024.0**2


class _Fields:
    """The fields of a record, taken in their order."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._next = 0

    def take(self) -> str:
        """The next field.

        Raises
        ------
        IndexError
            There is none.
        """
        text = self._texts[self._next]
        self._next += 1
        return text

    def take_list(self) -> list[str]:
        """The fields whose number stands before them."""
        count = int(self.take())
        if count < 0 or count > len(self._texts) - self._next:
            raise IndexError
        return [self.take() for _ in range(count)]

    def skip(self, count: int) -> None:
        self._next += count
        if self._next > len(self._texts):
            raise IndexError


def read_lsf(lines: Iterable[tuple[int, str]]) -> Records:
    """The jobs of ``lsb.acct``; parameters as of ``read_pbs``.

    Examples
    --------
    >>> usage = "2.5 0.5 " + "-1 " * 17
    >>> text = (
    ...     '"JOB_FINISH" "10.1" 200 7 1000 0 4 100 0 0 110 "vic" "normal" "" "" "" "h" "" "" "" '
    ...     f'"" "f" 0 4 "n1" "n1" "n1" "n1" 64 1.0 "sim" "run" {usage}"" "project" 0 4 "" "" 0 '
    ...     '2097152 0 "" "" "" "" 0 "" 0 "" -1 "" "" "" "" -1 "" "" 0 "" 0 "" ""'
    ... )
    >>> (job,) = read_lsf([(1, text)])
    >>> job.number, job.cores, job.nodes, job.state, job.end - job.start, job.used_memory_gb
    ('7', 4, 1.0, 'COMPLETED', 90.0, 2.0)
    """
    for line, text in _joined(lines):
        texts = [
            match[1].replace('""', '"') if match[2] is None else match[2]
            for match in _FIELD.finditer(text)
        ]
        if not texts:
            continue
        if texts[0] != "JOB_FINISH":
            if re.fullmatch(r"[A-Z_]+", texts[0]):
                continue  # an event that is no end of a job
            yield LeftOut(line, "no record of LSF")
            continue
        try:
            yield _job_of(line, _Fields(texts))
        except (IndexError, ValueError):
            yield LeftOut(line, "a record JOB_FINISH that is cut or has other fields")


def _joined(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield records: a command may have line ends inside its quotation marks."""
    parts: list[str] = []
    first, quotes = 0, 0
    for line, text in lines:
        is_new_record = text.startswith('"') and re.match(r'"[A-Z_]+" "[0-9.]+" \d', text)
        if parts and (quotes % 2 == 0 or is_new_record):
            yield first, "".join(parts)
            parts, quotes = [], 0
        if not parts:
            first = line
        parts.append(text)
        quotes += text.count('"')
    if parts:
        yield first, "".join(parts)


def _job_of(line: int, fields: _Fields) -> JobRecord:
    fields.skip(2)  # JOB_FINISH, version
    end = parse_nonnegative_number(fields.take())
    number = fields.take()
    int(number)
    fields.skip(2)  # userId, options
    requested = parse_nonnegative_number(fields.take())
    submit = parse_nonnegative_number(fields.take())
    begin = parse_nonnegative_number(fields.take())
    fields.skip(1)  # termTime: a deadline, no limit
    start = parse_nonnegative_number(fields.take())
    user, queue, request = fields.take(), fields.take(), fields.take()
    fields.skip(8)  # dependCond ... jobFile
    fields.take_list()  # hosts that were asked for
    hosts = [_slots_of(text) for text in fields.take_list()]
    status = int(fields.take())
    fields.skip(1)  # hostFactor
    name = fields.take()
    fields.skip(1)  # command
    user_seconds, system_seconds = (
        parse_nonnegative_number(fields.take()),
        parse_nonnegative_number(fields.take()),
    )
    fields.skip(_RUSAGE_FIELDS - 2)
    values = {field: fields.take() for field in _FIELDS_BEHIND_RUSAGE}
    limit, effective_request = _limit_and_request(fields)
    slots = sum(count for _, count in hosts)
    names = list(dict.fromkeys(host for host, _ in hosts))
    nodes = float(len(names)) if names else math.nan
    cpu_seconds = user_seconds + system_seconds
    used_kb = parse_nonnegative_number(values["maxRMem"])
    index = values["idx"]
    usage = " ".join(_USAGE_SECTION.findall(effective_request or request))
    return JobRecord(
        line=line,
        number=f"{number}_{index}" if int(index) > 0 else number,
        state="COMPLETED" if status == _DONE else _state_of(values["exitInfo"]),
        submit=submit,
        eligible=max(begin, submit) if begin > 0 else math.nan,
        start=start if start > 0 else math.nan,
        end=end,
        cores=int(slots if slots > 0 else max(requested, 0)),
        nodes=nodes,
        limit=limit,
        memory_gb=_memory_of(usage, nodes),
        gpus=_gpus_of(usage, nodes),
        used_memory_gb=used_kb / _KB_OF_GB if used_kb > 0 else math.nan,
        cpu_seconds=cpu_seconds if cpu_seconds > 0 else math.nan,
        user=user,
        account=values["projectName"] if values["projectName"] != "default" else "",
        partition=queue,
        name=name,
        hosts=",".join(names),
    )


def _slots_of(text: str) -> tuple[str, int]:
    """Return the host and number of slots of ``8*n1``, or of ``n1``, which is one."""
    count, mark, host = text.partition("*")
    return (host, int(count)) if mark and count.isdigit() else (text, 1)


def _limit_and_request(fields: _Fields) -> tuple[float, str]:
    """Return the limit in seconds (nan: not known) and the requirement that LSF used; old versions
    have neither."""
    try:
        fields.skip(2 * int(fields.take()))  # submission extension: keys and values
        fields.skip(5 * int(fields.take()))  # use of each host
        fields.skip(1)  # options3
        limit = parse_nonnegative_number(fields.take())
        fields.skip(1)  # avgMem
        return (limit if limit > 0 else math.nan), fields.take()
    except (IndexError, ValueError):
        return math.nan, ""


def _memory_of(usage: str, nodes: float) -> float:
    """Return GB of the whole job: LSF reserves rusage[mem] on each host, in MB by default."""
    match = _RESERVED_MEMORY.search(usage)
    if match is None:
        return math.nan
    return parse_gigabytes(match[1].replace(" ", ""), "m") * (nodes if nodes >= 1 else 1)


def _gpus_of(usage: str, nodes: float) -> int:
    """Return GPUs of the whole job: LSF gives them on each host."""
    match = _RESERVED_GPUS.search(usage)
    return int(match[1]) * int(nodes if nodes >= 1 else 1) if match else 0


def _state_of(reason: str) -> str:
    return _STATE_OF_REASON.get(int(reason) if reason.isdigit() else 0, "FAILED")
