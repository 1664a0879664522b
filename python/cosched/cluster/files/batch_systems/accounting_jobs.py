"""Jobs of an instance out of the logs of other batch systems, and of Slurm's JSON."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

import numpy as np

from cosched.cluster.files.batch_systems.recognition import LogFormat
from cosched.cluster.files.batch_systems.record_table import (
    RecordTable,
    read_record_table,
    read_sacct_table,
)
from cosched.cluster.files.log_options import LogOptions
from cosched.cluster.files.sacct.finished_jobs import JobsOfLog, ParsedJobs, finish_jobs
from cosched.cluster.files.sacct.rows import SacctRows
from cosched.cluster.files.sacct.sacct_jobs import jobs_of_rows
from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

#: Times of these logs are seconds since 1970.
_TIMEZONE = "UTC"
_NO_LINES = np.zeros(0, dtype=np.int64)
#: What may be behind jobs that hold more than the machine has.
_CAUSE_OF_OVERUSE = "it is of other months, when the machine was another one, or nodes are missing"
#: Facts of an instance, by the fields of a record.
_FACTS = {
    "user": "user",
    "group": "group",
    "account": "account",
    "partition": "partition",
    "job_name": "name",
    "hosts": "hosts",
}
_MEASURES = ("memory_gb", "used_memory_gb", "cpu_seconds")


def read_batch_log(
    path: str | PathLike[str], log_format: LogFormat, options: LogOptions
) -> JobsOfLog:
    """Return jobs (rigid, a task a core), notes, and when they begin, of a log in one of these
    formats.

    Raises
    ------
    InvalidInstance
        A damaged file, or no usable job.
    """
    options = replace(options, timezone=options.timezone or _TIMEZONE)
    if log_format is LogFormat.SACCT_JSON:
        table = read_sacct_table(path)
        rows = SacctRows(table.jobs, _NO_LINES, _NO_LINES, _NO_LINES, [], {}, _notes_of(table))
        return jobs_of_rows(path, rows, options)
    table = read_record_table(path, log_format)
    jobs, lines_by_reason = jobs_of_records(table)
    if not len(table.jobs):
        left_out = "; ".join(
            f"{count_of(len(lines), 'line')}: {reason}" for reason, lines in table.left_out.items()
        )
        raise InvalidInstance(f"{path}: no job that has ended: {left_out or 'the file has none'}")
    parsed = ParsedJobs(
        jobs=jobs,
        left_out_lines=lines_by_reason,
        notes_before=[*table.notes, _note_of_reading(log_format)],
        notes_behind=_notes_of_format(log_format, jobs),
        cause_of_overuse=lambda kept_jobs: _CAUSE_OF_OVERUSE,
    )
    return finish_jobs(path, parsed, options)


def _note_of_reading(log_format: LogFormat) -> Note:
    """Return a note of the format that a log was read as."""
    return Note(NoteKind.READING, f"read as {log_format.value}", subject="format")


def _notes_of(table: RecordTable) -> list[Note]:
    """Return notes of how a log of sacct in JSON was read."""
    notes = [*table.notes, _note_of_reading(LogFormat.SACCT_JSON)]
    notes += [
        Note(
            NoteKind.DROPPED,
            f"  dropped {count_of(len(lines), 'record')}: {reason}",
            subject=reason,
            count=len(lines),
        )
        for reason, lines in table.left_out.items()
    ]
    return notes


def _notes_of_format(log_format: LogFormat, jobs: pd.DataFrame) -> list[Note]:
    """Return what is assumed where a log does not say it."""
    assumptions = []
    if log_format in (LogFormat.FLUX, LogFormat.FLUX_ARCHIVE):
        text = "assumed: a job whose cores the log does not say has one core per task"
        assumptions.append(("cores", text))
    if log_format is LogFormat.GRID_ENGINE:
        if (jobs["tasks"] > 1).any():
            text = (
                "assumed: accounting of Grid Engine names only the first host of a parallel job: "
                "its number of nodes is not known"
            )
            assumptions.append(("nodes", text))
        if "used_memory_gb" in jobs:
            text = "assumed: memory used is maxrss where the log has it, else maxvmem"
            assumptions.append(("used memory", text))
        if "memory_gb" in jobs:
            text = "assumed: memory requests (h_vmem, mem_free, ...) are those of a slot"
            assumptions.append(("memory", text))
    if log_format is LogFormat.LSF and "memory_gb" in jobs:
        text = "assumed: rusage[mem] is reserved on each host, in MB where it has no unit"
        assumptions.append(("memory", text))
    if log_format is LogFormat.PBS and "memory_gb" in jobs:
        text = "assumed: mem is that of the whole job, pmem that of a core"
        assumptions.append(("memory", text))
    return [Note(NoteKind.ASSUMED, text, subject=subject) for subject, text in assumptions]


def jobs_of_records(table: RecordTable) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Return the columns of :class:`ParsedJobs`, and lines that are left out by reason."""
    reasons = {reason: np.array(lines, dtype=np.int64) for reason, lines in table.left_out.items()}
    records = table.jobs
    has_start = records["start"].notna()
    reasons["never started"] = records.loc[~has_start, "line"].to_numpy()
    records = records[has_start]
    is_backward = (records["end"] < records["start"]).to_numpy()
    reasons["it ends before it starts"] = records.loc[is_backward, "line"].to_numpy()
    records = records[~is_backward]
    cores, nodes = records["cores"].to_numpy(), records["nodes"].to_numpy()
    is_short_of_cores = nodes > cores
    columns = {
        "id": records["number"],
        "line": records["line"],
        "running": False,
        "twice": False,
        "contradicted": False,
        "submit": records["submit"],
        "eligible": records["eligible"],
        "start": records["start"],
        "runtime": records["end"] - records["start"],
        "estimate": records["limit"],
        "tasks": np.where(is_short_of_cores, nodes, cores),
        "threads": cores,
        "nodes": nodes,
        "status": records["state"].astype(str).str.lower(),
    }
    jobs = pd.DataFrame(columns)
    for fact, field in _FACTS.items():
        if (records[field] != "").any():
            jobs[fact] = records[field].astype(str)
    if (records["gpus"] > 0).any():
        jobs["gpus"] = records["gpus"].astype(np.int64)
        jobs["gpu_type"] = ""
    for measure in _MEASURES:
        if records[measure].notna().any():
            jobs[measure] = records[measure]
    if "cpu_seconds" in jobs:
        available = jobs["tasks"] * (jobs["runtime"] + 1.0)
        share = jobs["cpu_seconds"] / (jobs["tasks"] * jobs["runtime"]).replace(0, np.nan)
        jobs["cpu_efficiency"] = share.clip(upper=1.0).where(jobs["cpu_seconds"] <= available)
    return jobs, reasons
