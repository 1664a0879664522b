"""Jobs of an instance out of what ``sacct -P`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from cosched.cluster.files.log_options import LogOptions
from cosched.cluster.files.sacct import columns
from cosched.cluster.files.sacct.columns import durations, map_unique, times_of
from cosched.cluster.files.sacct.elapsed_times import elapsed_times, starts_by_ends
from cosched.cluster.files.sacct.finished_jobs import (
    NAME_COLUMNS,
    JobsOfLog,
    ParsedJobs,
    finish_jobs,
    note_of_left_out_lines,
)
from cosched.cluster.files.sacct.machine_fit import cause_of_overuse, overuse_clues
from cosched.cluster.files.sacct.remarks import Remark, note_of_lines
from cosched.cluster.files.sacct.rows import (
    SacctRows,
    note_of_enclosed,
    read_rows,
    texts_of_submit_lines,
)
from cosched.cluster.files.sacct.started_rows import NO_NODES, STATES, drop_rows, started_rows
from cosched.cluster.machine.parts import cpus_per_core, usual_limits
from cosched.core.freed_memory import return_freed_memory
from cosched.core.text import listed
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine


def read_sacct(path: str | PathLike[str], options: LogOptions) -> JobsOfLog:
    """Return jobs (rigid, a task a core), notes, and when they begin; see
    :func:`cosched.cluster.from_sacct`."""
    return jobs_of_rows(path, read_rows(path, options.delimiter, options.machine), options)


def jobs_of_rows(path: str | PathLike[str], rows_read: SacctRows, options: LogOptions) -> JobsOfLog:
    """Return the jobs of rows of sacct, printed with -P or as JSON."""
    texts = [rows_read]
    del rows_read  # `_parse_jobs` frees the texts as soon as they are parsed
    return finish_jobs(path, _parse_jobs(path, texts.pop(), options), options)


def _parse_jobs(path: str | PathLike[str], rows_read: SacctRows, options: LogOptions) -> ParsedJobs:
    """Return the jobs of rows, before they are checked."""
    machine = options.machine
    rows = rows_read.texts
    # What is left out below is freed: a part of a table, even an empty one, keeps all of it.
    rows_read = rows_read._replace(texts=pd.DataFrame())
    lines_by_reason = {"fields are not those of the first line": rows_read.unaligned}
    return_freed_memory()
    of_steps = rows["JobID"].str.contains(".", regex=False)
    steps = rows[of_steps]
    if len(steps):
        rows = rows[~of_steps]
    orphan_steps = _without_job(rows, steps)
    rows = drop_rows(rows, lines_by_reason, rows["JobID"] == "", "no JobID")
    rows, pending = started_rows(rows, lines_by_reason, options.include_running)
    jobs, of_cells = _jobs(path, rows, steps, machine, options.timezone)
    clues = overuse_clues(rows, machine)
    of_clusters = _of_clusters(rows)
    del rows, steps
    return_freed_memory()
    return ParsedJobs(
        jobs=jobs,
        left_out_lines=lines_by_reason,
        notes_before=rows_read.notes,
        notes_behind=[
            *_repair_notes(rows_read),
            *orphan_steps,
            *of_clusters,
            *pending,
            *of_cells,
        ],
        cause_of_overuse=lambda kept_jobs: cause_of_overuse(clues, kept_jobs, machine),
    )


def _without_job(rows: pd.DataFrame, steps: pd.DataFrame) -> list[Note]:
    """Return a note about steps such as ``1.5`` whose job is not in the file."""
    numbers = steps["JobID"].str.partition(".")[0] if len(steps) else steps["JobID"]
    lines = steps["line"].to_numpy()[~numbers.isin(rows["JobID"]).to_numpy()]
    if not len(lines):
        return []
    return [note_of_left_out_lines("steps of jobs that are not in the file", lines)]


def _repair_notes(rows_read: SacctRows) -> list[Note]:
    """Return notes about rows with a delimiter or a line end inside a text."""
    notes = []
    if len(rows_read.repaired):
        what = "a delimiter or a line end inside a text, read by the forms of the columns"
        remark = Remark(NoteKind.REPAIRED, "texts with a delimiter", what)
        notes.append(note_of_lines(remark, rows_read.repaired, "  repaired "))
    if len(rows_read.enclosed):
        note = note_of_enclosed(rows_read.enclosed)
        notes.append(note.with_prefix("  "))
    if rows_read.assumed:
        what = "the delimiters are those of Constraints, not of a text beside it"
        remark = Remark(NoteKind.ASSUMED, "Constraints", what)
        notes.append(note_of_lines(remark, rows_read.assumed, "assumed: "))
    for name, lines in rows_read.undecided.items():
        what = f"{name} cannot be told from other texts, taken as empty"
        notes.append(note_of_lines(Remark(NoteKind.REPAIRED, name, what), lines))
    return notes


def _of_clusters(rows: pd.DataFrame) -> list[Note]:
    """Return a note where the output is that of several clusters."""
    names = sorted(set(rows["Cluster"]) - {""}) if "Cluster" in rows else []
    if len(names) < 2:
        return []
    text = f"assumed: jobs of {len(names)} clusters ({listed(names)}) run on this one machine"
    return [Note(NoteKind.ASSUMED, text, subject="clusters", count=len(names))]


def _jobs(
    path: object, rows: pd.DataFrame, steps: pd.DataFrame, machine: Machine, timezone: str | None
) -> tuple[pd.DataFrame, list[Note]]:
    """Return columns of the jobs, and notes about cells."""
    jobs = pd.DataFrame({"id": rows["JobID"], "line": rows["line"], "running": rows["running"]})
    names = tuple(name for name in ("Submit", "Eligible", "Start") if name in rows)
    expected_starts = starts_by_ends(path, rows, timezone)
    times, jobs["twice"] = times_of(path, rows, names, timezone, expected_starts)
    jobs["submit"], jobs["start"] = times[0], times[-1]
    jobs["eligible"] = times[1] if "Eligible" in names else np.nan
    run_times = elapsed_times(path, rows, jobs["start"], timezone)
    jobs["runtime"] = run_times.elapsed + run_times.suspended
    if (run_times.suspended > 0).any():
        jobs["suspended"] = run_times.suspended
    cpus, nodes, only_asked = columns.cpus_and_nodes(rows)
    per_core = cpus_per_core(machine, rows.get("Partition"), rows.get("NodeList"), len(rows))
    if machine.one_task_per_core:
        per_core = np.where(only_asked, 1.0, per_core)
    jobs["tasks"] = columns.cores_of(cpus, nodes, per_core)
    jobs["threads"], jobs["nodes"] = cpus, nodes
    jobs["contradicted"] = columns.has_conflicts(rows)
    memory, gpus = columns.memory_gb(rows, cpus, nodes), columns.gpus(rows)
    if memory is not None and not np.isnan(memory).all():
        jobs["memory_gb"] = memory
    if gpus is not None:
        jobs["gpus"], jobs["gpu_type"] = gpus
    use = columns.usage_columns(path, rows, steps, cpus, nodes, run_times.elapsed, timezone)
    jobs = jobs.assign(**use.columns)
    # Slurm counts no suspended time against a limit.
    jobs["estimate"] = _estimates(rows, machine) + run_times.suspended
    for fact, column in NAME_COLUMNS.items():
        if column in rows:
            jobs[fact] = map_unique(rows[column], lambda t: t)
    if "NodeList" in rows:
        jobs["hosts"] = map_unique(rows["NodeList"], lambda t: t.where(t != NO_NODES, ""))
    jobs["status"] = map_unique(rows["State"], lambda t: t.str.lower())
    submit_line_texts, notes = texts_of_submit_lines(rows)
    for fact, texts in submit_line_texts.items():
        texts_of_fact = (
            jobs[fact].to_numpy() if fact in jobs else np.full(len(jobs), "", dtype=object)
        )
        jobs[fact] = np.where(texts_of_fact != "", texts_of_fact, texts)
    notes += _of_cells(rows, steps, {**run_times.remarks, **use.remarks})
    return jobs, notes


def _of_cells(
    rows: pd.DataFrame, steps: pd.DataFrame, remarks: Mapping[Remark, np.ndarray]
) -> list[Note]:
    """Return notes about cells that sacct does not print so, or that contradict each other;
    `remarks`: of which rows."""
    line = rows["line"].to_numpy()
    wrong_cells = columns.not_understood(rows) | columns.not_understood(steps, of_steps=True)
    lines_by_remark = {
        Remark(NoteKind.REPAIRED, name, f"{name} not understood, taken as empty"): lines
        for name, lines in wrong_cells.items()
    }
    for name, lines in columns.carried_over(rows).items():
        text = f"{name} has 60 minutes or seconds (24 hours) and more, counted as written"
        lines_by_remark[Remark(NoteKind.UNUSUAL, name, text)] = lines
    state = Remark(NoteKind.UNUSUAL, "State", "State is none of Slurm's")
    lines_by_remark[state] = line[~np.isin(rows["State"], STATES)]
    job_number = Remark(NoteKind.UNUSUAL, "JobID", "JobID is no number of a job")
    lines_by_remark[job_number] = line[~_is_number(rows["JobID"])]
    lines_by_remark |= {remark: line[where] for remark, where in remarks.items()}
    return [note_of_lines(remark, lines) for remark, lines in lines_by_remark.items() if len(lines)]


def _is_number(ids: pd.Series) -> np.ndarray:
    return ids.str.fullmatch(r"[0-9]+(?:_[0-9]+|_\[[0-9,:%.-]*\]?)?(?:\+[0-9]+)?").to_numpy(bool)


def _estimates(rows: pd.DataFrame, machine: Machine) -> pd.Series:
    """Return limits in seconds: infinite where it is ``UNLIMITED``, nan where the log does not say
    it.

    ``Partition_Limit`` is that of a job without ``-t``: DefaultTime, else MaxTime.
    """
    if "Timelimit" in rows:
        texts = rows["Timelimit"]
        seconds = durations(texts)
    elif "TimelimitRaw" in rows:
        texts = rows["TimelimitRaw"]
        minutes = pd.Series(
            map_unique(texts, lambda t: pd.to_numeric(t, errors="coerce")).astype(float),
            texts.index,
        )
        seconds = minutes.where(minutes < np.inf) * 60.0
    else:
        return pd.Series(np.nan, index=rows.index)
    lower = map_unique(texts, lambda t: t.str.strip().str.lower())
    seconds = seconds.mask(np.isin(lower, ("unlimited", "infinite")), np.inf)
    of_partition = lower == "partition_limit"
    if of_partition.any():
        partitions = rows["Partition"] if "Partition" in rows else pd.Series("", rows.index)
        seconds = seconds.mask(of_partition, usual_limits(machine, partitions))
    return seconds
