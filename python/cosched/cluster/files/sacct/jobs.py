"""Jobs of an instance out of what ``sacct -P`` prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from cosched import io
from cosched.cluster.files.conventions import begin_of_part, date_of, part_of, zone_of
from cosched.cluster.files.facts import (
    NOT_ENDED,
    USED,
    drop_names,
    dropped,
    note_of_columns,
    note_of_dropped,
    overuse,
)
from cosched.cluster.files.sacct import columns
from cosched.cluster.files.sacct.columns import NOT_YET, durations, map_unique, times_of
from cosched.cluster.files.sacct.elapsed_times import elapsed_times, starts_by_ends
from cosched.cluster.files.sacct.remarks import Remark, count_with_lines, note_of_lines
from cosched.cluster.files.sacct.repeated_numbers import RepeatedNumbers, repeated_numbers
from cosched.cluster.files.sacct.rows import (
    SUBMIT_LINE_COLUMNS,
    Rows,
    note_of_enclosed,
    read_rows,
    texts_of_submit_lines,
)
from cosched.cluster.files.sbatch import EXTRA_OPTIONS
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import cpus_per_core, lacks, managed_resources, usual_limits
from cosched.core.text import count_of, listed
from cosched.errors import InvalidInstance, printable
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:
    from datetime import datetime

    from cosched.cluster.machine import Machine

_LISTS = 10_000  # node lists that are looked at


#: Share of the core hours that were suspended from which they are the likely cause of overuse.
_MUCH_SUSPENDED = 0.01


def cause_of(rows: pd.DataFrame, jobs: pd.DataFrame, machine: Machine) -> str:
    """The likely cause of jobs that hold more than the machine has, in words."""
    missing = _missing_nodes(rows, machine)
    if missing:
        return f"its node list misses nodes: {', '.join(missing[:3])} ({len(missing)} in all)"
    cpus, nodes, _ = columns.cpus_and_nodes(rows)
    max_node_cpus = max(kind.cpus or kind.cores * kind.threads for kind in machine.nodes)
    is_wider_than_machine = cpus > np.where(nodes > 0, nodes, machine.node_count) * max_node_cpus
    if is_wider_than_machine.any():
        a_node = float(np.nanmax(cpus / np.where(nodes > 0, nodes, machine.node_count)))
        return (
            f"sacct counts threads, the machine cores: jobs have {a_node:g} CPUs a node, nodes "
            f"{max_node_cpus} (threads of [[nodes]], ThreadsPerCore)"
        )
    if "suspended" in jobs:
        core_seconds = (jobs["runtime"] * jobs["tasks"]).sum()
        if (jobs["suspended"] * jobs["tasks"]).sum() > _MUCH_SUSPENDED * core_seconds:
            return "other jobs had the CPUs of suspended ones, which count until their End"
    return "it is of other months, when the machine was another one, or nodes are missing"


def _missing_nodes(rows: pd.DataFrame, machine: Machine) -> list[str]:
    if "NodeList" not in rows or machine.slurm is None or not machine.slurm.names:
        return []
    partition_names = set(machine.slurm.names)
    missing: dict[str, bool] = {}
    for text in rows["NodeList"].drop_duplicates().head(_LISTS).tolist():
        try:
            names = hosts(text, "NodeList") if text and text[0] != "N" else []
        except InvalidInstance:
            continue
        missing |= dict.fromkeys((name for name in names if name not in partition_names), True)
    return sorted(missing)


#: States of jobs, see the list in sacct(1).
_RUNNING = ("RUNNING", "SUSPENDED", "RESIZING", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT")
_PENDING = ("PENDING", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "CONFIGURING",
            "SPECIAL_EXIT")  # fmt: skip
_ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
          "DEADLINE", "OUT_OF_MEMORY", "REQUEUED", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL",
          "POWER_UP_NODE", "EXPEDITING")  # fmt: skip
_STATES = (*_RUNNING, *_PENDING, *_ENDED)

#: What sacct prints as NodeList of a job that has no nodes.
_NO_NODES = "None assigned"

#: Why a job that runs still is named, although it is kept.
_RUNNING_TO_THE_END = "run still: to the end of the log"

#: Columns of names that are kept as they are.
_NAMES = {"user": "User", "group": "Group", "account": "Account", "qos": "QOS",
          "partition": "Partition", "constraint": "Constraints", "job_name": "JobName",
          "licenses": "Licenses", "comment": "Comment"}  # fmt: skip


def read_sacct(
    path: str | PathLike[str],
    machine: Machine,
    *,
    timezone: str | None = None,
    drop: object = None,
    week: int | None = None,
    begin: float | None = None,
    until: float | None = None,
    include_running: bool = False,
    delimiter: str = "|",
) -> JobsOfLog:
    """Jobs (rigid, a task a core), notes, and when they begin; see
    :func:`cosched.cluster.from_sacct`."""
    part = PartOfLog(week, begin, until)
    return jobs_of_rows(
        path, read_rows(path, delimiter, machine), machine, timezone, drop, part, include_running
    )


class PartOfLog(NamedTuple):
    """Which part of a log is wanted; None: all of it."""

    #: Number of a week, from 1.
    week: int | None = None
    #: Seconds from the first submission.
    begin: float | None = None
    #: Seconds from the first submission.
    until: float | None = None


#: Jobs as an instance has them, notes, and when they begin.
JobsOfLog: TypeAlias = "tuple[pd.DataFrame, tuple[Note, ...], datetime | None]"


def jobs_of_rows(
    path: str | PathLike[str],
    read: Rows,
    machine: Machine,
    timezone: str | None,
    drop: object,
    part: PartOfLog,
    include_running: bool = False,
) -> JobsOfLog:
    """The jobs of rows of sacct, printed with -P or as JSON."""
    rows = read.texts
    reasons: dict[str, np.ndarray] = {"fields are not those of the first line": read.unaligned}
    of_steps = rows["JobID"].str.contains(".", regex=False)
    rows, steps = rows[~of_steps], rows[of_steps]
    orphan_steps = _without_job(rows, steps)
    rows = _drop_rows(rows, reasons, rows["JobID"] == "", "no JobID")
    rows, pending = _started(rows, reasons, include_running)
    jobs, of_cells = _jobs(path, rows, steps, machine, timezone)
    notes = [*_repair_notes(read), *orphan_steps, *_of_clusters(rows), *pending, *of_cells]
    return finish_jobs(
        path, jobs, reasons, (read.notes, notes), machine, timezone, drop, part,
        lambda is_kept: cause_of(rows, is_kept, machine),
    )  # fmt: skip


def finish_jobs(
    path: str | PathLike[str],
    jobs: pd.DataFrame,
    reasons: dict[str, np.ndarray],
    notes: tuple[Sequence[Note], Sequence[Note]],
    machine: Machine,
    timezone: str | None,
    drop: Any,
    part: PartOfLog,
    cause_of_overuse: Callable[[pd.DataFrame], str],
) -> JobsOfLog:
    """The jobs of a log of any batch system, checked, sorted and counted from the first submission.

    Parameters
    ----------
    jobs : pandas.DataFrame
        With the columns ``id, line, running, submit, eligible, start, runtime, estimate, tasks,
        threads, nodes, twice, contradicted, status`` and facts.
    reasons : dict of str to numpy.ndarray
        By reason, lines that have been left out; more are added.
    notes : tuple of two sequences of Note
        Notes for before and behind those about the jobs that are kept.
    cause_of_overuse : callable
        Says in words why jobs may hold more than the machine has.
    """
    jobs = _to_the_end(jobs, reasons)
    for column, what in (("submit", "Submit"), ("start", "Start"), ("runtime", "Elapsed")):
        jobs = _drop_rows(jobs, reasons, jobs[column].isna(), f"{what} is no time")
    jobs = _drop_rows(jobs, reasons, ~(jobs["tasks"] > 0), "no number of CPUs")
    if not len(jobs):
        dropped_text = "; ".join(
            count_with_lines(reason, lines) for reason, lines in reasons.items() if len(lines)
        )
        raise InvalidInstance(f"{path}: no usable job: {dropped_text or 'the file has none'}")
    first = date_of(float(jobs["submit"].min()), zone_of(timezone))
    notes_before, notes_behind = notes
    jobs, notes_of_jobs = _finished(path, jobs, reasons, timezone)
    all_notes = [*notes_before, *notes_of_jobs, *notes_behind, *machine_notes(jobs, machine, drop)]
    all_notes += overuse(jobs, machine.cores, lambda: cause_of_overuse(jobs))
    jobs, part_notes = part_of(path, jobs, *part)
    jobs, left_out = dropped(jobs, machine.cores, drop, machine)
    all_notes += [
        *part_notes,
        note_of_columns(jobs),
        note_of_dropped(left_out, kept_jobs=len(jobs)),
    ]
    return jobs, tuple(all_notes), begin_of_part(first, part.week, part.begin)


def _without_job(rows: pd.DataFrame, steps: pd.DataFrame) -> list[Note]:
    """A note about steps such as ``1.5`` whose job is not in the file."""
    numbers = steps["JobID"].str.partition(".")[0] if len(steps) else steps["JobID"]
    lines = steps["line"].to_numpy()[~numbers.isin(rows["JobID"]).to_numpy()]
    if not len(lines):
        return []
    return [_note_of_dropped_lines("steps of jobs that are not in the file", lines)]


def _repair_notes(rows_read: Rows) -> list[Note]:
    """Notes about rows with a delimiter or a line end inside a text."""
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
    """A note where the output is that of several clusters."""
    names = sorted(set(rows["Cluster"]) - {""}) if "Cluster" in rows else []
    if len(names) < 2:
        return []
    text = f"assumed: jobs of {len(names)} clusters ({listed(names)}) run on this one machine"
    return [Note(NoteKind.ASSUMED, text, subject="clusters", count=len(names))]


def _started(
    rows: pd.DataFrame, reasons: dict[str, np.ndarray], include_running: bool
) -> tuple[pd.DataFrame, list[Note]]:
    """The rows of jobs that have started, and what waits still."""
    state = map_unique(rows["State"], lambda texts: texts.map(_state_of))
    running, pending = np.isin(state, _RUNNING), np.isin(state, _PENDING)
    if "End" in rows:  # Slurm ends the record of a job that changes its size, and begins another
        has_end = ~rows["End"].isin(NOT_YET).to_numpy()
        running &= ~((state == "RESIZING") & has_end)
    rows = rows.assign(State=state, running=running)
    queue_notes = _still_waiting(rows.loc[pending, "JobID"])
    out = pending if include_running else pending | running
    rows = _drop_rows(rows, reasons, out, NOT_ENDED)
    never = rows["Start"].isin(NOT_YET)
    if "NodeList" in rows:
        never |= (rows["NodeList"] == _NO_NODES) & ~rows["running"]
    rows = _drop_rows(rows, reasons, never, "never started")
    return _deduplicate(rows, reasons), queue_notes


def _state_of(text: str) -> str:
    """``CANCELLED`` of ``CANCELLED by 5``; ``OUT_OF_MEMORY`` of ``OUT_OF_ME+``, cut by a column."""
    words = text.split(" ", 1)
    state = words[0].rstrip("+").upper()
    if words[0].endswith("+") and state not in _STATES:
        full_names = [name for name in _STATES if name.startswith(state)]
        return full_names[0] if len(full_names) == 1 else state
    return state


def _deduplicate(rows: pd.DataFrame, reasons: dict[str, np.ndarray]) -> pd.DataFrame:
    """Outputs of adjoining months, put together, have jobs that ran over midnight twice."""
    has_twin = rows.duplicated(["JobID", "Start"], keep=False).to_numpy()
    twins = rows[has_twin]
    is_repeated, is_ended = np.zeros((2, len(rows)), dtype=bool)
    is_repeated[has_twin] = twins.duplicated([name for name in rows.columns if name != "line"])
    run = twins.set_index(["JobID", "Start"])["running"]
    is_ended[has_twin] = run.to_numpy() & run.index.isin(run.index[~run.to_numpy()])
    reasons["the same row once more"] = rows.loc[is_repeated, "line"].to_numpy()
    reasons["ended in another row"] = rows.loc[is_ended & ~is_repeated, "line"].to_numpy()
    return rows[~(is_repeated | is_ended)]


def _still_waiting(ids: pd.Series) -> list[Note]:
    """Jobs and array tasks that have not started: ``123_[1-10,12%4]`` are eleven of them."""
    if not len(ids):
        return []
    tasks = sum(_tasks(text) for text in ids.tolist())
    tasks_remark = f" ({tasks:,} with the tasks of arrays)" if tasks > len(ids) else ""
    text = f"  {count_of(len(ids), 'job')} still pending{tasks_remark}: they have no run time"
    return [Note(NoteKind.UNKNOWN, text, subject="pending jobs", count=len(ids))]


def _tasks(job: str) -> int:
    index_match = re.search(r"_\[([0-9,:-]+)(?:%[0-9]+)?\]?", job)
    if not index_match:
        return 1
    total = 0
    for part in filter(None, index_match[1].split(",")):
        span_match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?", part)
        if span_match:
            first, last, step = (
                int(span_match[1]),
                int(span_match[2] or span_match[1]),
                int(span_match[3] or 1),
            )
            total += max(0, (last - first) // max(step, 1) + 1)
    return max(total, 1)


def _drop_rows(
    rows: pd.DataFrame, reasons: dict[str, np.ndarray], out: Any, reason: str
) -> pd.DataFrame:
    reasons[reason] = rows.loc[out, "line"].to_numpy()
    return rows[~out]


def _jobs(
    path: object, rows: pd.DataFrame, steps: pd.DataFrame, machine: Machine, timezone: str | None
) -> tuple[pd.DataFrame, list[Note]]:
    """Columns of the jobs, and notes about cells."""
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
    for fact, column in _NAMES.items():
        if column in rows:
            jobs[fact] = map_unique(rows[column], lambda t: t)
    if "NodeList" in rows:
        jobs["hosts"] = map_unique(rows["NodeList"], lambda t: t.where(t != _NO_NODES, ""))
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
    """Notes about cells that sacct does not print so, or that contradict each other; `remarks`: of
    which rows."""
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
    lines_by_remark[state] = line[~np.isin(rows["State"], _STATES)]
    job_number = Remark(NoteKind.UNUSUAL, "JobID", "JobID is no number of a job")
    lines_by_remark[job_number] = line[~_is_number(rows["JobID"])]
    lines_by_remark |= {remark: line[where] for remark, where in remarks.items()}
    return [note_of_lines(remark, lines) for remark, lines in lines_by_remark.items() if len(lines)]


def _is_number(ids: pd.Series) -> np.ndarray:
    return ids.str.fullmatch(r"[0-9]+(?:_[0-9]+|_\[[0-9,:%.-]*\]?)?(?:\+[0-9]+)?").to_numpy(bool)


def _to_the_end(jobs: pd.DataFrame, reasons: dict[str, np.ndarray]) -> pd.DataFrame:
    """Jobs that run still: until the last time that the log knows of."""
    running = jobs.pop("running")
    if running.any():
        last = (jobs["start"] + jobs["runtime"].fillna(0.0)).max()
        jobs["runtime"] = jobs["runtime"].where(~running, last - jobs["start"])
        reasons[_RUNNING_TO_THE_END] = jobs.loc[running, "line"].to_numpy()
    return jobs


def _estimates(rows: pd.DataFrame, machine: Machine) -> pd.Series:
    """Limits in seconds: infinite where it is ``UNLIMITED``, nan where the log does not say it.

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


def _finished(
    path: object, jobs: pd.DataFrame, reasons: Mapping[str, np.ndarray], timezone: str | None
) -> tuple[pd.DataFrame, list[Note]]:
    """Columns as an instance has them, times from the first submission on; and notes."""
    if not jobs["submit"].is_monotonic_increasing:
        jobs = jobs.sort_values("submit", kind="stable")
    jobs = jobs.reset_index(drop=True)
    line = jobs["line"].to_numpy()
    wait = (jobs["start"] - jobs["submit"]).to_numpy()
    jobs_note = Note(NoteKind.KEPT, f"{len(jobs)} jobs kept", subject="jobs", count=len(jobs))
    notes = [jobs_note.with_place(printable(path))]
    for reason, lines in reasons.items():
        if len(lines):
            if reason == _RUNNING_TO_THE_END:
                remark = Remark(NoteKind.KEPT, "running jobs", reason)
                notes.append(note_of_lines(remark, lines, "  kept "))
            else:
                notes.append(_note_of_dropped_lines(reason, lines))
    repeated = repeated_numbers(jobs)
    eligible, repaired = _eligible(jobs, repeated)
    early = Remark(NoteKind.REPAIRED, "Start", "started before its submission: wait 0")
    text = "in the hour that comes twice: the first taken"
    twice = Remark(NoteKind.REPAIRED, "hour that comes twice", text)
    repaired = {early: wait < 0, **repaired, twice: jobs["twice"].to_numpy()}
    notes += [
        note_of_lines(remark, line[which], "  repaired ")
        for remark, which in repaired.items()
        if which.any()
    ]
    other = jobs["contradicted"].to_numpy()
    if other.any():
        what = "NNodes or NCPUS are others than in AllocTRES, which is taken"
        notes.append(note_of_lines(Remark(NoteKind.REPAIRED, "NCPUS", what), line[other]))
    for subject, what, which in (
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
    ):
        if which.any():
            count, where = int(which.sum()), io.shown_lines(line[which])
            text = f"  {count} {what} ({where})"
            notes.append(Note(NoteKind.UNUSUAL, text, subject=subject, count=count, where=where))
    if "suspended" in jobs:
        was_suspended = (jobs["suspended"] > 0).to_numpy()
        hours = jobs["suspended"].sum() / 3600
        what = (
            f"suspended, {hours:,.1f} h in all: they hold their nodes until End; limits and CPU "
            "efficiency leave this time out"
        )
        remark = Remark(NoteKind.READING, "suspended jobs", what)
        notes.append(note_of_lines(remark, line[was_suspended]))
    several = jobs["id"].str.contains("+", regex=False)
    if several.any():
        hetjob_count = jobs.loc[several, "id"].str.split("+", n=1).str[0].nunique()
        count = int(several.sum())
        text = (
            f"  {count} components of {hetjob_count} heterogeneous jobs: one job in reports, "
            "one each for policies"
        )
        notes.append(Note(NoteKind.READING, text, subject="heterogeneous jobs", count=count))
    if timezone is None:
        text = "assumed: times as written; across a change of clocks pass timezone (--timezone)"
        notes.append(Note(NoteKind.ASSUMED, text, subject="timezone"))
    ids = jobs["id"]
    if ids.str.fullmatch(r"[0-9]{1,15}").all():
        ids = ids.astype(np.int64)
    optional_columns = (
        *_NAMES,
        *(name for name in SUBMIT_LINE_COLUMNS if name not in _NAMES),
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
    columns_of_log = [name for name in optional_columns if name in jobs]
    table = jobs[["submit", "tasks", "runtime", "estimate", "line", *columns_of_log]].assign(
        id=ids,
        submit=jobs["submit"] - jobs["submit"].min(),
        eligible=eligible - jobs["submit"].min(),
        tasks=jobs["tasks"].astype(np.int64),
        cpu=1.0,
        memory=1.0,
        wait=np.maximum(wait, 0.0),
    )
    return table, notes


def _eligible(
    jobs: pd.DataFrame, repeated: RepeatedNumbers
) -> tuple[np.ndarray, dict[Remark, np.ndarray]]:
    """When each run of a job could start, and which were repaired: a later run of a requeued job,
    or a later size of a resized one, not before the end of the one before, no job after it started.
    """
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


def _in_the_only_partition(jobs: pd.DataFrame, machine: Machine) -> list[Note]:
    """A note on jobs of other partitions than the only one of a slurm.conf, which run there."""
    if machine.slurm is None or len(machine.partitions) != 1:
        return []
    (only,) = (part.name for part in machine.partitions)
    other_partitions = jobs.loc[~jobs["partition"].isin(["", only]), "partition"].value_counts()
    if not len(other_partitions):
        return []
    named_partitions = ", ".join(
        f"{name} ({count:,} jobs)" for name, count in other_partitions.head(10).items()
    )
    text = (
        f"  partitions that the machine does not have: {named_partitions}; taken as {only}, its "
        "only one"
    )
    count = int(other_partitions.sum())
    return [Note(NoteKind.REPAIRED, text, subject="unknown partitions", count=count)]


def machine_notes(jobs: pd.DataFrame, machine: Machine, drop: Any = None) -> list[Note]:
    """What the machine hands out, and partitions that it does not have."""
    text = (
        f"assumed: {machine.cores} cores of {machine.node_count} nodes (machine); policies hand "
        f"out cores{_resources_note(jobs, machine)}"
    )
    notes = [Note(NoteKind.ASSUMED, text, subject="machine")]
    counts_by_option = {
        name: int((jobs[name] != "").sum()) for name in EXTRA_OPTIONS if name in jobs
    }
    options_of_jobs = [
        f"{name} of {count} jobs" for name, count in counts_by_option.items() if count
    ]
    if options_of_jobs:
        text = f"assumed: slurm-backfill alone follows {', '.join(options_of_jobs)}"
        subject = ", ".join(name for name, count in counts_by_option.items() if count)
        notes.append(Note(NoteKind.ASSUMED, text, subject=subject))
    per_core = sorted({kind.cpus_per_core for kind in machine.nodes})
    if per_core != [1.0]:
        threads_text = " or ".join(f"{value:g}" for value in per_core)
        text = f"assumed: {threads_text} CPUs of sacct are a core; a core runs one job at a time"
        notes.append(Note(NoteKind.ASSUMED, text, subject="CPUs"))
        text = (
            "assumed: sacct does not tell jobs with --threads-per-core=1 "
            "(--hint=nomultithread): they are taken to use all threads of their cores"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="threads-per-core"))
    if "partition" in jobs:
        notes += _in_the_only_partition(jobs, machine)
        lacking = jobs.loc[lacks(machine, jobs["partition"]), "partition"].value_counts()
        if len(lacking):
            names = ", ".join(f"{name} ({n:,} jobs)" for name, n in lacking.head(10).items())
            has_dropped_partitions = "unknown-partition" in drop_names(drop)
            how = (
                "left out" if has_dropped_partitions else "--drop unknown-partition leaves them out"
            )
            text = f"  partitions that the machine does not have: {names} ({how})"
            count = int(lacking.sum())
            notes.append(Note(NoteKind.UNKNOWN, text, subject="unknown partitions", count=count))
    return notes


def _resources_note(jobs: pd.DataFrame, machine: Machine) -> str:
    """What policies look at beside cores, and why not at the rest."""
    names = {"memory_gb": "memory", "gpus": "GPUs"}
    managed = managed_resources(jobs, machine)
    resources_of_log = [name for name in names if name in jobs and (jobs[name] > 0).any()]
    text = "".join(f", {names[name]}" for name in managed)
    text += " of nodes, to a job in equal parts on each of its nodes" if managed else ""
    unmanaged_names = [names[name] for name in resources_of_log if name not in managed]
    return text + (
        f"; not {' and '.join(unmanaged_names)}: the machine does not hand out any"
        if unmanaged_names
        else ""
    )


def _note_of_dropped_lines(reason: str, lines: np.ndarray) -> Note:
    """The note of lines that are left out; the subject is the reason."""
    return note_of_lines(Remark(NoteKind.DROPPED, reason, reason), lines, "  dropped ")
