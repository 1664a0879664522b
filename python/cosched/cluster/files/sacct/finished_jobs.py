"""The jobs of a log of any batch system as an instance has them: checked, sorted, counted from the
first submission."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cosched import io
from cosched.cluster.files.conventions import begin_of_part, date_of, part_of, zone_of
from cosched.cluster.files.facts import USED, dropped, note_of_columns, note_of_dropped, overuse
from cosched.cluster.files.log_options import LogOptions
from cosched.cluster.files.sacct.machine_fit import machine_notes
from cosched.cluster.files.sacct.remarks import Remark, count_with_lines, note_of_lines
from cosched.cluster.files.sacct.repeated_numbers import RepeatedNumbers, repeated_numbers
from cosched.cluster.files.sacct.rows import SUBMIT_LINE_COLUMNS
from cosched.cluster.files.sacct.started_rows import drop_rows
from cosched.core.freed_memory import return_freed_memory
from cosched.errors import InvalidInstance, printable
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:
    from datetime import datetime

#: Why a job that runs still is named, although it is kept.
_RUNNING_TO_THE_END = "run still: to the end of the log"
#: Columns that a job cannot be without, and their names in sacct's output.
_NEEDED_TIMES = {"submit": "Submit", "start": "Start", "runtime": "Elapsed"}
#: Columns of names that are kept as they are, and their names in sacct's output.
NAME_COLUMNS = {
    "user": "User",
    "group": "Group",
    "account": "Account",
    "qos": "QOS",
    "partition": "Partition",
    "constraint": "Constraints",
    "job_name": "JobName",
    "licenses": "Licenses",
    "comment": "Comment",
}
#: Columns of an instance that a log may have.
_OPTIONAL_COLUMNS = (
    *NAME_COLUMNS,
    *(name for name in SUBMIT_LINE_COLUMNS if name not in NAME_COLUMNS),
    "hosts",
    "status",
    "threads",
    "memory_gb",
    "gpus",
    "gpu_type",
    "nodes",
    "suspended",
    *USED,
)


@dataclass(frozen=True)
class ParsedJobs:
    """Jobs of a log of any batch system, before they are checked.

    Attributes
    ----------
    jobs : pandas.DataFrame
        With the columns ``id, line, running, submit, eligible, start, runtime, estimate, tasks,
        threads, nodes, twice, contradicted, status`` and facts; times in seconds since 1970.
    left_out_lines : dict of str to numpy.ndarray
        By reason, lines that have been left out.
    notes_before, notes_behind : sequence of Note
        Notes for before and behind those about the jobs that are kept.
    cause_of_overuse : callable
        ``cause(jobs)`` says in words why these jobs may hold more than the machine has.
    """

    jobs: pd.DataFrame
    left_out_lines: Mapping[str, np.ndarray]
    notes_before: Sequence[Note]
    notes_behind: Sequence[Note]
    cause_of_overuse: Callable[[pd.DataFrame], str]


class JobsOfLog(NamedTuple):
    """Jobs as an instance has them."""

    #: Columns of an instance; times in seconds from the first submission on.
    jobs: pd.DataFrame
    #: What was read, left out, repaired and assumed.
    notes: tuple[Note, ...]
    #: When the first second is; None: no clock says that.
    begins: datetime | None


def finish_jobs(path: str | PathLike[str], parsed: ParsedJobs, options: LogOptions) -> JobsOfLog:
    """Return the jobs of a log, checked, sorted and counted from the first submission.

    Raises
    ------
    InvalidInstance
        No job is usable, or none is left of the part that is wanted.
    """
    machine, part = options.machine, options.part
    lines_by_reason = dict(parsed.left_out_lines)
    usable_jobs = _usable_jobs(path, parsed.jobs, lines_by_reason)
    parsed = replace(parsed, jobs=pd.DataFrame())  # has more columns than what is made of it
    log_begin = date_of(float(usable_jobs["submit"].min()), zone_of(options.timezone))
    jobs, notes_of_jobs = _finished(path, usable_jobs, lines_by_reason, options.timezone)
    del usable_jobs
    return_freed_memory()
    notes = [
        *parsed.notes_before,
        *notes_of_jobs,
        *parsed.notes_behind,
        *machine_notes(jobs, machine, options.drop),
        *overuse(jobs, machine.cores, lambda: parsed.cause_of_overuse(jobs)),
    ]
    jobs_of_part, part_notes = part_of(path, jobs, *part)
    kept_jobs, left_out = dropped(jobs_of_part, machine.cores, options.drop, machine)
    notes += [
        *part_notes,
        note_of_columns(kept_jobs),
        note_of_dropped(left_out, kept_jobs=len(kept_jobs)),
    ]
    return JobsOfLog(kept_jobs, tuple(notes), begin_of_part(log_begin, part.week, part.begin))


def _usable_jobs(
    path: object, jobs: pd.DataFrame, lines_by_reason: dict[str, np.ndarray]
) -> pd.DataFrame:
    """Return the jobs that have all times and a number of CPUs; add the lines of the others to
    `lines_by_reason`."""
    jobs = _to_the_end(jobs, lines_by_reason)
    for column, name in _NEEDED_TIMES.items():
        jobs = drop_rows(jobs, lines_by_reason, jobs[column].isna(), f"{name} is no time")
    jobs = drop_rows(jobs, lines_by_reason, ~(jobs["tasks"] > 0), "no number of CPUs")
    if not len(jobs):
        reasons = "; ".join(
            count_with_lines(reason, lines)
            for reason, lines in lines_by_reason.items()
            if len(lines)
        )
        raise InvalidInstance(f"{path}: no usable job: {reasons or 'the file has none'}")
    return jobs


def _to_the_end(jobs: pd.DataFrame, lines_by_reason: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return jobs that run still: until the last time that the log knows of."""
    running = jobs["running"]
    jobs = jobs.drop(columns="running")
    if running.any():
        last = (jobs["start"] + jobs["runtime"].fillna(0.0)).max()
        jobs["runtime"] = jobs["runtime"].where(~running, last - jobs["start"])
        lines_by_reason[_RUNNING_TO_THE_END] = jobs.loc[running, "line"].to_numpy()
    return jobs


def _finished(
    path: object,
    jobs: pd.DataFrame,
    lines_by_reason: Mapping[str, np.ndarray],
    timezone: str | None,
) -> tuple[pd.DataFrame, list[Note]]:
    """Return columns as an instance has them, times from the first submission on; and notes."""
    if not jobs["submit"].is_monotonic_increasing:
        jobs = jobs.sort_values("submit", kind="stable")
    jobs = jobs.reset_index(drop=True)
    repeated = repeated_numbers(jobs)
    eligible, repaired_times = _eligible(jobs, repeated)
    jobs_note = Note(NoteKind.KEPT, f"{len(jobs)} jobs kept", subject="jobs", count=len(jobs))
    notes = [
        jobs_note.with_place(printable(path)),
        *_notes_of_reasons(lines_by_reason),
        *_notes_of_repairs(jobs, repaired_times),
        *_notes_of_repeated_numbers(jobs, repeated),
        *_notes_of_suspended_jobs(jobs),
        *_notes_of_heterogeneous_jobs(jobs),
    ]
    if timezone is None:
        text = "assumed: times as written; across a change of clocks pass timezone (--timezone)"
        notes.append(Note(NoteKind.ASSUMED, text, subject="timezone"))
    return _instance_columns(jobs, eligible), notes


def _notes_of_reasons(lines_by_reason: Mapping[str, np.ndarray]) -> list[Note]:
    """Return notes of lines that are left out, and of jobs that run still."""
    notes = []
    for reason, lines in lines_by_reason.items():
        if not len(lines):
            continue
        if reason == _RUNNING_TO_THE_END:
            remark = Remark(NoteKind.KEPT, "running jobs", reason)
            notes.append(note_of_lines(remark, lines, "  kept "))
        else:
            notes.append(note_of_left_out_lines(reason, lines))
    return notes


def _notes_of_repairs(
    jobs: pd.DataFrame, repaired_times: Mapping[Remark, np.ndarray]
) -> list[Note]:
    """Return notes of cells that contradict others; `repaired_times`: eligible times, by job."""
    early = Remark(NoteKind.REPAIRED, "Start", "started before its submission: wait 0")
    text = "in the hour that comes twice: the first taken"
    twice = Remark(NoteKind.REPAIRED, "hour that comes twice", text)
    is_repaired = {
        early: (jobs["start"] < jobs["submit"]).to_numpy(),
        **repaired_times,
        twice: jobs["twice"].to_numpy(),
    }
    line = jobs["line"].to_numpy()
    notes = [
        note_of_lines(remark, line[is_of_remark], "  repaired ")
        for remark, is_of_remark in is_repaired.items()
        if is_of_remark.any()
    ]
    contradicted = jobs["contradicted"].to_numpy()
    if contradicted.any():
        text = "NNodes or NCPUS are others than in AllocTRES, which is taken"
        remark = Remark(NoteKind.REPAIRED, "NCPUS", text)
        notes.append(note_of_lines(remark, line[contradicted]))
    return notes


def _notes_of_repeated_numbers(jobs: pd.DataFrame, repeated: RepeatedNumbers) -> list[Note]:
    """Return notes of jobs with the number of another job."""
    line = jobs["line"].to_numpy()
    cases = [
        (
            "requeued jobs",
            "further runs of requeued jobs: each is a job of its own",
            repeated.is_requeued,
        ),
        (
            "resized jobs",
            "further sizes of jobs that were resized: each is a job of its own",
            repeated.is_resized,
        ),
        (
            "reused job numbers",
            "other jobs with a number that was given out again",
            repeated.is_reused,
        ),
        (
            "overlapping job numbers",
            "the same job number at overlapping times: each row is a job",
            repeated.overlaps,
        ),
    ]
    notes = []
    for subject, message, is_of_case in cases:
        if is_of_case.any():
            count, where = int(is_of_case.sum()), io.shown_lines(line[is_of_case])
            text = f"  {count} {message} ({where})"
            notes.append(Note(NoteKind.UNUSUAL, text, subject=subject, count=count, where=where))
    return notes


def _notes_of_suspended_jobs(jobs: pd.DataFrame) -> list[Note]:
    """Return a note of jobs that were suspended, where the log knows it."""
    if "suspended" not in jobs:
        return []
    was_suspended = (jobs["suspended"] > 0).to_numpy()
    hours = jobs["suspended"].sum() / 3600
    text = (
        f"suspended, {hours:,.1f} h in all: they hold their nodes until End; limits and CPU "
        "efficiency leave this time out"
    )
    remark = Remark(NoteKind.READING, "suspended jobs", text)
    return [note_of_lines(remark, jobs["line"].to_numpy()[was_suspended])]


def _notes_of_heterogeneous_jobs(jobs: pd.DataFrame) -> list[Note]:
    """Return a note of components of jobs, such as ``7+1``."""
    is_component = jobs["id"].str.contains("+", regex=False)
    if not is_component.any():
        return []
    hetjob_count = jobs.loc[is_component, "id"].str.split("+", n=1).str[0].nunique()
    count = int(is_component.sum())
    text = (
        f"  {count} components of {hetjob_count} heterogeneous jobs: one job in reports, "
        "one each for policies"
    )
    return [Note(NoteKind.READING, text, subject="heterogeneous jobs", count=count)]


def _instance_columns(jobs: pd.DataFrame, eligible: np.ndarray) -> pd.DataFrame:
    """Return the table as an instance takes it; times from the first submission on (s)."""
    ids = jobs["id"]
    if ids.str.fullmatch(r"[0-9]{1,15}").all():
        ids = ids.astype(np.int64)
    columns_of_log = [name for name in _OPTIONAL_COLUMNS if name in jobs]
    first_submission = jobs["submit"].min()
    wait = (jobs["start"] - jobs["submit"]).to_numpy()
    return jobs[["submit", "tasks", "runtime", "estimate", "line", *columns_of_log]].assign(
        id=ids,
        submit=jobs["submit"] - first_submission,
        eligible=eligible - first_submission,
        tasks=jobs["tasks"].astype(np.int64),
        cpu=1.0,
        memory=1.0,
        wait=np.maximum(wait, 0.0),
    )


def _eligible(
    jobs: pd.DataFrame, repeated: RepeatedNumbers
) -> tuple[np.ndarray, dict[Remark, np.ndarray]]:
    """Return when each run of a job could start, and which were repaired: a later run of a requeued
    job, or a later size of a resized one, not before the end of the one before, no job after it
    started."""
    submit, start = jobs["submit"].to_numpy(), jobs["start"].to_numpy()
    eligible = np.fmax(jobs["eligible"].to_numpy(), submit)  # unknown: its submission
    is_early = eligible < repeated.previous_end
    text = "a run of a requeued job, eligible when the one before had ended"
    of_runs = Remark(NoteKind.REPAIRED, "Eligible of a requeued job", text)
    text = "a size of a resized job, eligible when the one before had ended"
    of_sizes = Remark(NoteKind.REPAIRED, "Eligible of a resized job", text)
    repaired = {
        of_runs: repeated.is_requeued & is_early,
        of_sizes: repeated.is_resized & is_early,
    }
    eligible = np.maximum(eligible, repeated.previous_end)
    is_late = eligible > np.maximum(start, submit)
    text = "eligible after its start: the start taken"
    repaired[Remark(NoteKind.REPAIRED, "Eligible", text)] = is_late
    return np.where(is_late, np.maximum(start, submit), eligible), repaired


def note_of_left_out_lines(reason: str, lines: np.ndarray) -> Note:
    """The note of lines that are left out; the subject is the reason."""
    return note_of_lines(Remark(NoteKind.DROPPED, reason, reason), lines, "  dropped ")
