"""Formats of other programs that are recognised by content, and refused by their names.

A reader that meets such a file would else complain about its first line. Each format is a row of
:data:`FOREIGN_FORMATS`; those of JSON are told by their keys, the others by their first lines.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import Any

from cosched.errors import InvalidInstance
from cosched.io.task_log_formats import (
    is_hyperfine,
    is_nextflow_history,
    is_nextflow_trace,
    is_parallel_joblog,
    is_snakemake_benchmark,
    is_snakemake_efficiency,
)
from cosched.io.unpack import read_bytes, read_head

#: Characters of a file that are looked at: some lines of any of these formats.
HEAD_CHARACTERS = 1 << 14
_MAX_LINES = 60

_LOG_ADVICE = (
    "write its jobs as CSV (submit,tasks,cpu,memory,runtime,estimate) or in Standard Workload "
    "Format"
)
_READ_AS_LOG = "which cosched reads as a log of jobs only"
_USE_AS_LOG = "pass it to cosched audit or rightsize with --machine"
_READ_AS_MACHINE = "which cosched reads as a machine only"
_USE_AS_MACHINE = "pass it to --machine, or to cosched machine"
_SACCT_ADVICE = "print the log with sacct -P (docs/howto/read-my-files.md has the command)"
_NOT_YET = "which cosched cannot read yet"
_SNAPSHOT_ADVICE = (
    "put it as squeue.json into a folder for cosched when, or print a log with sacct -P"
)
_SNAPSHOT = "which cosched reads in snapshots only (cosched when)"
_SQUEUE_JSON = "which cosched reads as JSON only (squeue --json)"
_SQUEUE_ADVICE = (
    "put what squeue --json prints as squeue.json into a folder for cosched when, or print a log "
    "with sacct -P"
)
_READ_AS_RUNS = "which cosched reads as a log and as measured runs"
_USE_AS_RUNS = "pass it to cosched rightsize or plan, or to batch as --runs"
_GRAPH_ADVICE = "write it as WfFormat (WfCommons), DOT or GraphML"


@dataclass(frozen=True)
class ForeignFormat:
    """A format of another program.

    Attributes
    ----------
    name : str
        What a file of it is called: "this is NAME".
    advice : str
        What to do instead.
    matches : callable, optional
        Whether the first lines of a text, without blank ones, are of this format.
    has_keys : callable, optional
        Whether the value of a JSON text is of this format.
    refusal : str
        That cosched does not read it, or where it does.
    """

    name: str
    advice: str
    matches: Callable[[Sequence[str]], bool] | None = None
    has_keys: Callable[[Any], bool] | None = None
    refusal: str = _NOT_YET


def foreign_format(text: str) -> ForeignFormat | None:
    """The foreign format of a text by its first lines; None: none that is known.

    Examples
    --------
    >>> foreign_format("06/27/2025 00:01:10;Q;1001.pbs;queue=workq").name
    'a PBS accounting log'
    >>> foreign_format("task,processors,seconds") is None
    True
    """
    lines = [line for line in text[:HEAD_CHARACTERS].splitlines() if line.strip()][:_MAX_LINES]
    if not lines:
        return None
    return next((row for row in FOREIGN_FORMATS if row.matches and row.matches(lines)), None)


def foreign_json(value: object) -> ForeignFormat | None:
    """The foreign format of the value of a JSON text; None: none that is known.

    Examples
    --------
    >>> foreign_json({"jobs": [{"id": "f2P", "t_submit": 1, "t_run": 2}]}).name
    'what flux jobs --json printed'
    >>> foreign_json({"jobs": {"submit": [0]}}) is None
    True
    """
    return next((row for row in FOREIGN_FORMATS if row.has_keys and row.has_keys(value)), None)


def refuse_foreign_text(text: str, path: str | PathLike[str]) -> None:
    """Refuse the text of a file that is of a foreign format.

    Raises
    ------
    InvalidInstance
        It is: the name of the format, and what to do instead.

    Examples
    --------
    >>> refuse_foreign_text("task,processors,seconds", "runs.csv")
    >>> refuse_foreign_text("06/27/2025 00:01:10;Q;1001.pbs;queue=workq", "20250627")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: 20250627: this is a PBS accounting log, which cosched reads ...
    """
    _refuse(foreign_format(text), path)


def refuse_foreign_json(value: object, path: str | PathLike[str]) -> None:
    """Refuse the value of a JSON text that is of a foreign format.

    Raises
    ------
    InvalidInstance
        As :func:`refuse_foreign_text`.

    Examples
    --------
    >>> refuse_foreign_json({"nodes": 2, "jobs": {"submit": [0]}}, "jobs.json")
    """
    _refuse(foreign_json(value), path)


def refuse_foreign_file(path: str | PathLike[str]) -> None:
    """Refuse a regular file, plain or packed by gzip, that is of a foreign format.

    Pipes and what is no file are not touched.

    Raises
    ------
    InvalidInstance
        As :func:`refuse_foreign_text`.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "runs.csv").write_text("task,processors,seconds")
    >>> refuse_foreign_file(folder / "runs.csv")
    """
    if not os.path.isfile(path):  # unlike Path.is_file, False of a name that is too long
        return
    head = read_head(path, HEAD_CHARACTERS).decode("utf-8-sig", "replace")
    refuse_foreign_text(head, path)
    if head.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(read_bytes(path, renamed=True))
        except (ValueError, RecursionError):  # its reader says what is wrong
            return
        refuse_foreign_json(value, path)


def _refuse(file_format: ForeignFormat | None, path: str | PathLike[str]) -> None:
    if file_format is not None:
        raise InvalidInstance(
            f"{path}: this is {file_format.name}, {file_format.refusal}: {file_format.advice}"
        )


def _first_line(pattern: str) -> Callable[[Sequence[str]], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda lines: bool(compiled.match(lines[0]))


def _any_line(pattern: str, among: int = 5) -> Callable[[Sequence[str]], bool]:
    compiled = re.compile(pattern)
    return lambda lines: any(compiled.match(line) for line in lines[:among])


def _all_of(*patterns: str) -> Callable[[Sequence[str]], bool]:
    """Return a test of lines: each pattern has to match one of the first lines."""
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda lines: all(any(form.match(line) for line in lines) for form in compiled)


def is_grid_engine_accounting(lines: Sequence[str]) -> bool:
    """43 fields or more between colons; the ninth to eleventh are the times of a job."""
    rows = [line.split(":") for line in lines if not line.startswith("#")]
    return bool(rows) and all(
        len(row) >= 40 and all(field.strip().isdigit() for field in row[8:11]) for row in rows[:3]
    )


def is_pbsnodes(lines: Sequence[str]) -> bool:
    """A name in the first column, and below it lines such as ``     state = free``."""
    for name_line, line in pairwise(lines):
        is_name = re.fullmatch(r"[^\s=\[\]#\"'{}:,]+\s*", name_line)
        if is_name and re.match(r"\s+[A-Za-z][\w.]* = ?", line):
            return True
    return False


def _is_dagman(lines: Sequence[str]) -> bool:
    """Return whether there are statements of HTCondor's DAGMan: nodes, and arcs between them or
    settings of them."""
    words = [line.split() for line in lines if not line.lstrip().startswith("#")]
    nodes = [row for row in words if row[0].upper() in _DAGMAN_NODES and len(row) >= 3]
    dagman_rows = [row for row in words if row[0].upper() in _DAGMAN_NODES | _DAGMAN_OTHERS]
    return bool(nodes) and len(dagman_rows) == len(words)


_DAGMAN_NODES = frozenset(("JOB", "SUBDAG", "SPLICE", "FINAL", "PROVISIONER", "SERVICE"))
_DAGMAN_OTHERS = frozenset(
    ("PARENT", "VARS", "SCRIPT", "RETRY", "PRIORITY", "CATEGORY", "MAXJOBS", "CONFIG", "DOT",
     "PRE_SKIP", "ABORT-DAG-ON", "DONE", "INCLUDE", "JOBSTATE_LOG", "NODE_STATUS_FILE", "ENV",
     "REJECT", "CONNECT", "PIN_IN", "PIN_OUT", "SET_JOB_ATTR", "SAVE_POINT_FILE")
)  # fmt: skip


def _has_xml_root(name: str) -> Callable[[Sequence[str]], bool]:
    """Return whether the first element of an XML text has this name."""
    element = re.compile(r"<([A-Za-z][\w:.-]*)")
    declaration = re.compile(r"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>", re.DOTALL)

    def matches(lines: Sequence[str]) -> bool:
        if not lines[0].lstrip("\ufeff \t").startswith("<"):
            return False
        root = element.search(declaration.sub("", "\n".join(lines)))
        return root is not None and root[1].rpartition(":")[2] == name

    return matches


def _jobs_with(*keys: str) -> Callable[[Any], bool]:
    """Return whether a JSON value has a list of jobs, whose first has all these keys."""

    def has_keys(value: object) -> bool:
        jobs = value.get("jobs") if isinstance(value, Mapping) else value
        first = jobs[0] if isinstance(jobs, list) and jobs else None
        return isinstance(first, Mapping) and all(key in first for key in keys)

    return has_keys


def _is_slurm_json(value: object) -> bool:
    """Return Slurm's own JSON says what wrote it, also where there is no job."""
    meta = value.get("meta") if isinstance(value, Mapping) else None
    return isinstance(meta, Mapping) and bool({"Slurm", "slurm"} & meta.keys())


def _has_key(*keys: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Mapping) and any(key in value for key in keys)


#: Attributes of jobs in ClassAds of HTCondor.
_CLASSAD_ATTRIBUTES = frozenset(
    ("ClusterId", "ProcId", "JobStatus", "QDate", "CompletionDate", "JobUniverse", "GlobalJobId",
     "RemoteWallClockTime", "RequestCpus", "MyType", "TargetType", "JobStartDate", "NumJobStarts",
     "EnteredCurrentStatus", "Requirements", "CumulativeSlotTime")
)  # fmt: skip
_CLASSAD_LINE = re.compile(r"([A-Za-z_]\w*) = \S")


def _is_classad(lines: Sequence[str]) -> bool:
    """Return lines ``Attribute = value``, as condor_history -l and the history file have them."""
    rows = [line for line in lines if not line.startswith(("***", "-- "))]
    attributes = [match[1] for line in rows if (match := _CLASSAD_LINE.match(line))]
    # The last line of the head of a file may be cut.
    return (
        len(attributes) >= max(len(rows) - 1, 1) and len(_CLASSAD_ATTRIBUTES & set(attributes)) >= 2
    )


_HTCONDOR = "what condor_history or condor_q of HTCondor printed"
#: The headers of condor_history, condor_q -nobatch and condor_q.
_HTCONDOR_HEADER = (
    r"\s*(ID +OWNER +SUBMITTED +RUN_TIME +ST\b"
    r"|OWNER +(BATCH_NAME +)?SUBMITTED +DONE +(RUN|IDLE)\b"
    r"|-- (Schedd|Submitter|Quill): )"
)
_PBS = "a PBS accounting log"
#: Whether the first lines of a text are of an accounting log of PBS, or of LSF.
is_pbs_accounting = _any_line(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(\.\d+)?;[A-Za-z];[^;]*;")
is_lsf_accounting = _any_line(r'"(JOB|EVENT|QUEUE|HOST|MBD)_[A-Z_]+" "[0-9.]+" \d+')
#: Whether the first lines of a text show hosts of Grid Engine, or of LSF.
is_qhost = _any_line(r"HOSTNAME\s+ARCH\s+NCPU\b")
is_lsf_hosts = _any_line(r"HOST_NAME\s+(STATUS\s+JL/U\s+MAX\b|type\s+model\s+cpuf\s+ncpus\b)")


def is_pbsnodes_json(value: object) -> bool:
    """Nodes by name, of a PBS server."""
    return isinstance(value, Mapping) and "nodes" in value and "pbs_version" in value


#: In the order in which they are tried.
FOREIGN_FORMATS: tuple[ForeignFormat, ...] = (
    ForeignFormat(_PBS, _USE_AS_LOG, refusal=_READ_AS_LOG, matches=is_pbs_accounting),
    ForeignFormat(
        "what qstat -f of PBS printed", _LOG_ADVICE, matches=_first_line(r"\s*Job Id: *\S+$")
    ),
    ForeignFormat(
        "what qstat of PBS printed", _LOG_ADVICE,
        matches=_any_line(r"\s*Job [Ii][Dd] +(Name|User(name)?) +\S+"),
    ),
    ForeignFormat("what pbsnodes of PBS printed", _USE_AS_MACHINE, refusal=_READ_AS_MACHINE,
                  matches=is_pbsnodes, has_keys=is_pbsnodes_json),
    ForeignFormat(
        "what qstat -F json of PBS printed", _LOG_ADVICE, has_keys=_has_key("pbs_version")
    ),
    ForeignFormat("an accounting file of Grid Engine (SGE)", _USE_AS_LOG, refusal=_READ_AS_LOG,
                  matches=is_grid_engine_accounting),
    ForeignFormat(
        "what qacct of Grid Engine (SGE) printed", _LOG_ADVICE,
        matches=_all_of(r"={20,}\s*$", r"qname\s+\S", r"(jobnumber|owner)\s+\S"),
    ),
    ForeignFormat(
        "what qstat of Grid Engine (SGE) printed", _LOG_ADVICE,
        matches=_first_line(r"\s*job-ID +prior +name"),
    ),
    ForeignFormat("what qhost of Grid Engine (SGE) printed", _USE_AS_MACHINE,
                  refusal=_READ_AS_MACHINE, matches=is_qhost, has_keys=_has_key("hosts")),
    ForeignFormat("what bhosts or lshosts of LSF printed", _USE_AS_MACHINE,
                  refusal=_READ_AS_MACHINE, matches=is_lsf_hosts),
    ForeignFormat("what bjobs of LSF printed", _LOG_ADVICE,
                  matches=_first_line(r"\s*JOBID +USER +STAT +QUEUE\b")),
    ForeignFormat("what bjobs -json of LSF printed", _LOG_ADVICE,
                  has_keys=lambda value: _has_key("COMMAND")(value) and _has_key("RECORDS")(value)),
    ForeignFormat("what bacct of LSF printed", _LOG_ADVICE,
                  matches=_any_line(r"Accounting information about jobs that are:")),
    ForeignFormat("what bjobs -l or bhist of LSF printed", _LOG_ADVICE,
                  matches=_any_line(r"(Job <\d+(\[\d+\])?>,|Summary of time in seconds spent)")),
    ForeignFormat("an accounting or event file of LSF (lsb.acct, lsb.events)", _USE_AS_LOG,
                  refusal=_READ_AS_LOG,
                  matches=is_lsf_accounting),
    ForeignFormat("what flux jobs --json printed", _USE_AS_LOG, refusal=_READ_AS_LOG,
                  has_keys=lambda value: _jobs_with("t_submit")(value)
                  or _has_key("t_submit")(value)),
    ForeignFormat("Flux's description of resources (R)", _USE_AS_MACHINE, refusal=_READ_AS_MACHINE,
                  has_keys=lambda value: _has_key("execution")(value)
                  and _has_key("version")(value)),
    ForeignFormat("what flux jobs printed", _LOG_ADVICE,
                  matches=_first_line(r"\s*JOBID +USER +NAME +ST +NTASKS\b")),
    ForeignFormat("an event log of HTCondor", _LOG_ADVICE,
                  matches=_first_line(r"\d{3} \(\d+\.\d+\.\d+\) ")),
    ForeignFormat(_HTCONDOR, _LOG_ADVICE, matches=_any_line(_HTCONDOR_HEADER),
                  has_keys=_jobs_with("ClusterId", "ProcId")),
    ForeignFormat("ClassAds of HTCondor (condor_history -l, or its history file)", _LOG_ADVICE,
                  matches=_is_classad),
    ForeignFormat("ClassAds of HTCondor (condor_history -xml)", _LOG_ADVICE,
                  matches=_has_xml_root("classads")),
    ForeignFormat("what sacct --json printed", _USE_AS_LOG, refusal=_READ_AS_LOG,
                  has_keys=lambda value: _jobs_with("job_id", "time")(value)),
    ForeignFormat("what squeue printed as a table", _SQUEUE_ADVICE, refusal=_SQUEUE_JSON,
                  matches=_first_line(r"\s*JOBID +PARTITION +NAME +USER +ST\b")),
    ForeignFormat("what squeue --json printed", _SNAPSHOT_ADVICE,
                  has_keys=_jobs_with("job_id", "submit_time"), refusal=_SNAPSHOT),
    ForeignFormat("JSON that a command of Slurm printed", _SACCT_ADVICE, has_keys=_is_slurm_json),
    ForeignFormat(
        "what sacct printed in columns of fixed width", _SACCT_ADVICE,
        matches=lambda lines: len(lines) > 1 and "|" not in lines[0]
        and bool(re.match(r"\s*-{3,}( +-{3,})+\s*$", lines[1]))
        and bool(re.search(r"(?i)\bjobid", lines[0])),
    ),
    ForeignFormat("a trace of Nextflow", _USE_AS_RUNS, refusal=_READ_AS_RUNS,
                  matches=is_nextflow_trace),
    ForeignFormat("a history of Nextflow", _USE_AS_RUNS, refusal=_READ_AS_RUNS,
                  matches=is_nextflow_history),
    ForeignFormat("a benchmark file of Snakemake", _USE_AS_RUNS, refusal=_READ_AS_RUNS,
                  matches=is_snakemake_benchmark),
    ForeignFormat("an efficiency report of Snakemake's Slurm plugin", _USE_AS_RUNS,
                  refusal=_READ_AS_RUNS, matches=is_snakemake_efficiency),
    ForeignFormat("a job log of GNU parallel", _USE_AS_RUNS, refusal=_READ_AS_RUNS,
                  matches=is_parallel_joblog),
    ForeignFormat("hyperfine --export-json", _USE_AS_RUNS, refusal=_READ_AS_RUNS,
                  has_keys=is_hyperfine),
    ForeignFormat("a workflow of Pegasus (DAX)", _GRAPH_ADVICE, matches=_has_xml_root("adag")),
    ForeignFormat("a workflow of Pegasus (YAML)", _GRAPH_ADVICE,
                  matches=_all_of(r"x-pegasus:", r"(pegasus|name|jobs):")),
    ForeignFormat("a workflow of HTCondor's DAGMan", _GRAPH_ADVICE, matches=_is_dagman),
    ForeignFormat("a graph in GML", _GRAPH_ADVICE,
                  matches=_all_of(r"\s*(Creator .*|graph *\[?)$", r"\s*(node|directed)\b")),
    ForeignFormat(
        "a project of PSPLIB", "pass it to cosched solve moldable",
        refusal="which cosched reads as moldable jobs only",
        matches=_all_of(r"\*{20,}", r"(file with basedata|projects +:|jobs +\(incl)"),
    ),
)  # fmt: skip
