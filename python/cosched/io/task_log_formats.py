"""Whether the first lines of a text are a log of Nextflow, Snakemake or GNU parallel, or JSON of
hyperfine."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

#: Fields of Nextflow's trace that other tables do not have.
_NEXTFLOW_FIELDS = frozenset(
    ("hash", "native_id", "realtime", "%cpu", "%mem", "peak_rss", "peak_vmem", "rchar", "wchar",
     "syscr", "syscw", "read_bytes", "write_bytes", "vol_ctxt", "inv_ctxt", "error_action")
)  # fmt: skip
_NEXTFLOW_COMMON_FIELDS = frozenset(
    ("task_id", "name", "process", "status", "tag", "exit", "submit", "start", "complete",
     "duration")
)  # fmt: skip
#: What stands between two fields of Nextflow's trace, a tab unless the user chose another.
_BETWEEN_FIELDS = re.compile(r"[^\w%]+")
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
#: Time, duration, name of the run, status, revision, session, command.
_NEXTFLOW_HISTORY = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\t[^\t]*\t[^\t]+\t(?:OK|ERR|-)\t[^\t]*\t" + _UUID + r"\t"
)
#: Before Nextflow 0.17 it had the session and the command only.
_OLD_NEXTFLOW_HISTORY = re.compile(_UUID + r"\tnextflow ")
_PARALLEL_HEADER = re.compile(r"Seq\tHost\tStarttime\t(?:JobRuntime|Runtime)\tSend\t")
_SNAKEMAKE_HEADER = re.compile(r"s\th:m:s(?:\t|\s*$)")
_EFFICIENCY_COLUMNS = frozenset(("JobID", "Elapsed", "TotalCPU", "NCPUS", "CPU Efficiency (%)"))


def is_nextflow_trace(lines: Sequence[str]) -> bool:
    """Fields of Nextflow in the first line, with any separator."""
    fields = {field.lower() for field in _BETWEEN_FIELDS.split(lines[0].strip())}
    return len(fields & _NEXTFLOW_FIELDS) >= 2 and bool(fields & _NEXTFLOW_COMMON_FIELDS)


def is_nextflow_history(lines: Sequence[str]) -> bool:
    """The columns of ``.nextflow/history``, which has no header."""
    return bool(_NEXTFLOW_HISTORY.match(lines[0]) or _OLD_NEXTFLOW_HISTORY.match(lines[0]))


def is_parallel_joblog(lines: Sequence[str]) -> bool:
    """The header of ``parallel --joblog``."""
    return bool(_PARALLEL_HEADER.match(lines[0]))


def is_snakemake_benchmark(lines: Sequence[str]) -> bool:
    """The header of a benchmark file, or its first JSON object."""
    if _SNAKEMAKE_HEADER.match(lines[0]):
        return True
    if not lines[0].startswith("{"):
        return False
    try:
        record = json.loads(lines[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and {"s", "h:m:s"} <= record.keys()


def is_snakemake_efficiency(lines: Sequence[str]) -> bool:
    """The header of the efficiency report of Snakemake's Slurm executor plugin."""
    return set(lines[0].strip().split(",")) >= _EFFICIENCY_COLUMNS


def is_hyperfine_head(head: str) -> bool:
    """The keys of hyperfine's JSON in the first part of a text, which may be cut anywhere."""
    return head.lstrip().startswith("{") and all(
        f'"{key}"' in head for key in ("results", "command", "mean", "user", "system")
    )


def is_hyperfine(value: Any) -> bool:
    """Whether the value of a JSON text is what ``hyperfine --export-json`` wrote."""
    results = value.get("results") if isinstance(value, Mapping) else None
    first = results[0] if isinstance(results, list) and results else None
    return isinstance(first, Mapping) and {"command", "mean", "user", "system"} <= first.keys()
