"""Jobs of an instance out of what ``sacct -P`` prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from cosched import io
from cosched.cluster.files.conventions import begin_of_part, date_of, part_of, zone_of
from cosched.cluster.files.facts import USED, described, drop_names, dropped, overuse
from cosched.cluster.files.sacct import columns
from cosched.cluster.files.sacct.columns import NOT_YET, durations, each, times_of
from cosched.cluster.files.sacct.elapsed_times import elapsed_times, starts_by_ends
from cosched.cluster.files.sacct.repeated_numbers import RepeatedNumbers, repeated_numbers
from cosched.cluster.files.sacct.rows import (
    SUBMIT_LINE_COLUMNS,
    Rows,
    note_of_enclosed,
    read_rows,
    texts_of_submit_lines,
)
from cosched.cluster.files.sbatch import BESIDE
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import counted, cpus_per_core, lacks, usual_limits
from cosched.core.text import count_of, listed
from cosched.errors import InvalidInstance, printable
from cosched.lazy import pd

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
    most = max(kind.cpus or kind.cores * kind.threads for kind in machine.nodes)
    wide = cpus > np.where(nodes > 0, nodes, machine.node_count) * most
    if wide.any():
        a_node = float(np.nanmax(cpus / np.where(nodes > 0, nodes, machine.node_count)))
        return (
            f"sacct counts threads, the machine cores: jobs have {a_node:g} CPUs a node, nodes "
            f"{most} (threads of [[nodes]], ThreadsPerCore)"
        )
    if "suspended" in jobs:
        held = (jobs["runtime"] * jobs["tasks"]).sum()
        if (jobs["suspended"] * jobs["tasks"]).sum() > _MUCH_SUSPENDED * held:
            return "other jobs had the CPUs of suspended ones, which count until their End"
    return "it is of other months, when the machine was another one, or nodes are missing"


def _missing_nodes(rows: pd.DataFrame, machine: Machine) -> list[str]:
    if "NodeList" not in rows or machine.slurm is None or not machine.slurm.names:
        return []
    known = set(machine.slurm.names)
    missing: dict[str, bool] = {}
    for text in rows["NodeList"].drop_duplicates().head(_LISTS).tolist():
        try:
            names = hosts(text, "NodeList") if text and text[0] != "N" else []
        except InvalidInstance:
            continue
        missing |= dict.fromkeys((name for name in names if name not in known), True)
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

#: Columns of names that are kept as they are.
_NAMES = {"user": "User", "group": "Group", "account": "Account", "qos": "QOS",
          "partition": "Partition", "constraint": "Constraints", "job_name": "JobName",
          "licenses": "Licenses", "comment": "Comment"}  # fmt: skip


def read_sacct(
    path: str | PathLike[str],
    machine: Machine,
    *,
    timezone: str | None = None,
    drop: Any = None,
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
JobsOfLog: TypeAlias = "tuple[pd.DataFrame, tuple[str, ...], datetime | None]"


def jobs_of_rows(
    path: str | PathLike[str],
    read: Rows,
    machine: Machine,
    timezone: str | None,
    drop: Any,
    part: PartOfLog,
    include_running: bool = False,
) -> JobsOfLog:
    """The jobs of rows of sacct, printed with -P or as JSON."""
    rows = read.texts
    reasons: dict[str, np.ndarray] = {"fields are not those of the first line": read.unaligned}
    of_steps = rows["JobID"].str.contains(".", regex=False)
    rows, steps = rows[~of_steps], rows[of_steps]
    alone = _without_job(rows, steps)
    rows = _usable(rows, reasons, rows["JobID"] == "", "no JobID")
    rows, pending = _started(rows, reasons, include_running)
    jobs, of_cells = _jobs(path, rows, steps, machine, timezone)
    notes = [*_of_repairs(read), *alone, *_of_clusters(rows), *pending, *of_cells]
    return finish_jobs(
        path, jobs, reasons, (read.notes, notes), machine, timezone, drop, part,
        lambda kept: cause_of(rows, kept, machine),
    )  # fmt: skip


def finish_jobs(
    path: str | PathLike[str],
    jobs: pd.DataFrame,
    reasons: dict[str, np.ndarray],
    notes: tuple[Sequence[str], Sequence[str]],
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
    notes : tuple of two sequences of str
        Notes for before and behind those about the jobs that are kept.
    cause_of_overuse : callable
        Says in words why jobs may hold more than the machine has.
    """
    jobs = _to_the_end(jobs, reasons)
    for column, what in (("submit", "Submit"), ("start", "Start"), ("runtime", "Elapsed")):
        jobs = _usable(jobs, reasons, jobs[column].isna(), f"{what} is no time")
    jobs = _usable(jobs, reasons, ~(jobs["tasks"] > 0), "no number of CPUs")
    if not len(jobs):
        dropped_text = "; ".join(
            _counted(reason, lines) for reason, lines in reasons.items() if len(lines)
        )
        raise InvalidInstance(f"{path}: no usable job: {dropped_text or 'the file has none'}")
    first = date_of(float(jobs["submit"].min()), zone_of(timezone))
    notes_before, notes_behind = notes
    jobs, notes_of_jobs = _finished(path, jobs, reasons, timezone)
    all_notes = [*notes_before, *notes_of_jobs, *notes_behind, *of_machine(jobs, machine, drop)]
    all_notes += overuse(jobs, machine.cores, lambda: cause_of_overuse(jobs))
    jobs, part_notes = part_of(path, jobs, *part)
    jobs, left_out = dropped(jobs, machine.cores, drop, machine)
    all_notes += [
        *part_notes,
        f"assumed: {described(jobs)}",
        f"assumed: left out: {', '.join(left_out) or 'nothing (--drop)'}"
        + (f"; {len(jobs)} jobs are left" if left_out else ""),
    ]
    return jobs, tuple(all_notes), begin_of_part(first, part.week, part.begin)


def _without_job(rows: pd.DataFrame, steps: pd.DataFrame) -> list[str]:
    """A note about steps such as ``1.5`` whose job is not in the file."""
    numbers = steps["JobID"].str.partition(".")[0] if len(steps) else steps["JobID"]
    lines = steps["line"].to_numpy()[~numbers.isin(rows["JobID"]).to_numpy()]
    if not len(lines):
        return []
    return [f"  dropped {_counted('steps of jobs that are not in the file', lines)}"]


def _of_repairs(read: Rows) -> list[str]:
    """Notes about rows with a delimiter or a line end inside a text."""
    notes = []
    if len(read.repaired):
        what = "a delimiter or a line end inside a text, read by the forms of the columns"
        notes.append(f"  repaired {_counted(what, read.repaired)}")
    if len(read.enclosed):
        notes.append(f"  {note_of_enclosed(read.enclosed)}")
    if read.assumed:
        what = "the delimiters are those of Constraints, not of a text beside it"
        notes.append(f"assumed: {_counted(what, read.assumed)}")
    notes += [
        f"  {_counted(f'{name} cannot be told from other texts, taken as empty', lines)}"
        for name, lines in read.undecided.items()
    ]
    return notes


def _of_clusters(rows: pd.DataFrame) -> list[str]:
    """A note where the output is that of several clusters."""
    names = sorted(set(rows["Cluster"]) - {""}) if "Cluster" in rows else []
    if len(names) < 2:
        return []
    return [f"assumed: jobs of {len(names)} clusters ({listed(names)}) run on this one machine"]


def _started(
    rows: pd.DataFrame, reasons: dict[str, np.ndarray], include_running: bool
) -> tuple[pd.DataFrame, list[str]]:
    """The rows of jobs that have started, and what waits still."""
    state = each(rows["State"], lambda texts: texts.map(_state_of))
    running, pending = np.isin(state, _RUNNING), np.isin(state, _PENDING)
    if "End" in rows:  # Slurm ends the record of a job that changes its size, and begins another
        has_end = ~rows["End"].isin(NOT_YET).to_numpy()
        running &= ~((state == "RESIZING") & has_end)
    rows = rows.assign(State=state, running=running)
    said = _still_waiting(rows.loc[pending, "JobID"])
    out = pending if include_running else pending | running
    rows = _usable(rows, reasons, out, "not ended yet")
    never = rows["Start"].isin(NOT_YET)
    if "NodeList" in rows:
        never |= (rows["NodeList"] == _NO_NODES) & ~rows["running"]
    rows = _usable(rows, reasons, never, "never started")
    return _once(rows, reasons), said


def _state_of(text: str) -> str:
    """``CANCELLED`` of ``CANCELLED by 5``; ``OUT_OF_MEMORY`` of ``OUT_OF_ME+``, cut by a column."""
    words = text.split(" ", 1)
    state = words[0].rstrip("+").upper()
    if words[0].endswith("+") and state not in _STATES:
        whole = [name for name in _STATES if name.startswith(state)]
        return whole[0] if len(whole) == 1 else state
    return state


def _once(rows: pd.DataFrame, reasons: dict[str, np.ndarray]) -> pd.DataFrame:
    """Outputs of adjoining months, put together, have jobs that ran over midnight twice."""
    alike = rows.duplicated(["JobID", "Start"], keep=False).to_numpy()
    twins = rows[alike]
    again, ended = np.zeros((2, len(rows)), dtype=bool)
    again[alike] = twins.duplicated([name for name in rows.columns if name != "line"])
    run = twins.set_index(["JobID", "Start"])["running"]
    ended[alike] = run.to_numpy() & run.index.isin(run.index[~run.to_numpy()])
    reasons["the same row once more"] = rows.loc[again, "line"].to_numpy()
    reasons["ended in another row"] = rows.loc[ended & ~again, "line"].to_numpy()
    return rows[~(again | ended)]


def _still_waiting(ids: pd.Series) -> list[str]:
    """Jobs and array tasks that have not started: ``123_[1-10,12%4]`` are eleven of them."""
    if not len(ids):
        return []
    tasks = sum(_tasks(text) for text in ids.tolist())
    more = f" ({tasks:,} with the tasks of arrays)" if tasks > len(ids) else ""
    return [f"  {count_of(len(ids), 'job')} still pending{more}: they have no run time"]


def _tasks(job: str) -> int:
    inside = re.search(r"_\[([0-9,:-]+)(?:%[0-9]+)?\]?", job)
    if not inside:
        return 1
    total = 0
    for part in filter(None, inside[1].split(",")):
        found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?", part)
        if found:
            first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
            total += max(0, (last - first) // max(step, 1) + 1)
    return max(total, 1)


def _usable(
    rows: pd.DataFrame, reasons: dict[str, np.ndarray], out: Any, reason: str
) -> pd.DataFrame:
    reasons[reason] = rows.loc[out, "line"].to_numpy()
    return rows[~out]


def _jobs(
    path: Any, rows: pd.DataFrame, steps: pd.DataFrame, machine: Machine, timezone: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Columns of the jobs, and notes about cells."""
    jobs = pd.DataFrame({"id": rows["JobID"], "line": rows["line"], "running": rows["running"]})
    names = tuple(name for name in ("Submit", "Eligible", "Start") if name in rows)
    expected_starts = starts_by_ends(path, rows, timezone)
    times, jobs["twice"] = times_of(path, rows, names, timezone, expected_starts)
    jobs["submit"], jobs["start"] = times[0], times[-1]
    jobs["eligible"] = times[1] if "Eligible" in names else np.nan
    ran = elapsed_times(path, rows, jobs["start"], timezone)
    jobs["runtime"] = ran.elapsed + ran.suspended
    if (ran.suspended > 0).any():
        jobs["suspended"] = ran.suspended
    cpus, nodes, only_asked = columns.cpus_and_nodes(rows)
    per_core = cpus_per_core(machine, rows.get("Partition"), rows.get("NodeList"), len(rows))
    if machine.one_task_per_core:
        per_core = np.where(only_asked, 1.0, per_core)
    jobs["tasks"] = columns.cores_of(cpus, nodes, per_core)
    jobs["threads"], jobs["nodes"] = cpus, nodes
    jobs["contradicted"] = columns.contradicted(rows)
    memory, gpus = columns.memory_gb(rows, cpus, nodes), columns.gpus(rows)
    if memory is not None and not np.isnan(memory).all():
        jobs["memory_gb"] = memory
    if gpus is not None:
        jobs["gpus"], jobs["gpu_type"] = gpus
    use = columns.used(path, rows, steps, cpus, nodes, ran.elapsed, timezone)
    jobs = jobs.assign(**use.columns)
    # Slurm counts no suspended time against a limit.
    jobs["estimate"] = _estimates(rows, machine) + ran.suspended
    for fact, column in _NAMES.items():
        if column in rows:
            jobs[fact] = each(rows[column], lambda t: t)
    if "NodeList" in rows:
        jobs["hosts"] = each(rows["NodeList"], lambda t: t.where(t != _NO_NODES, ""))
    jobs["status"] = each(rows["State"], lambda t: t.str.lower())
    asked, notes = texts_of_submit_lines(rows)
    for fact, texts in asked.items():
        said = jobs[fact].to_numpy() if fact in jobs else np.full(len(jobs), "", dtype=object)
        jobs[fact] = np.where(said != "", said, texts)
    notes += _of_cells(rows, steps, {**ran.remarks, **use.remarks})
    return jobs, notes


def _of_cells(
    rows: pd.DataFrame, steps: pd.DataFrame, remarks: Mapping[str, np.ndarray]
) -> list[str]:
    """Notes about cells that sacct does not print so, or that contradict each other; `remarks`: of
    which rows."""
    line = rows["line"].to_numpy()
    found = {
        f"{name} not understood, taken as empty": lines
        for name, lines in (
            columns.not_understood(rows) | columns.not_understood(steps, of_steps=True)
        ).items()
    }
    for name, lines in columns.carried_over(rows).items():
        found[f"{name} has 60 minutes or seconds (24 hours) and more, counted as written"] = lines
    found["State is none of Slurm's"] = line[~np.isin(rows["State"], _STATES)]
    found["JobID is no number of a job"] = line[~_is_number(rows["JobID"])]
    found |= {remark: line[where] for remark, where in remarks.items()}
    return [f"  {_counted(what, lines)}" for what, lines in found.items() if len(lines)]


def _is_number(ids: pd.Series) -> np.ndarray:
    return ids.str.fullmatch(r"[0-9]+(?:_[0-9]+|_\[[0-9,:%.-]*\]?)?(?:\+[0-9]+)?").to_numpy(bool)


def _to_the_end(jobs: pd.DataFrame, reasons: dict[str, np.ndarray]) -> pd.DataFrame:
    """Jobs that run still: until the last time that the log knows of."""
    running = jobs.pop("running")
    if running.any():
        last = (jobs["start"] + jobs["runtime"].fillna(0.0)).max()
        jobs["runtime"] = jobs["runtime"].where(~running, last - jobs["start"])
        reasons["run still: to the end of the log"] = jobs.loc[running, "line"].to_numpy()
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
            each(texts, lambda t: pd.to_numeric(t, errors="coerce")).astype(float), texts.index
        )
        seconds = minutes.where(minutes < np.inf) * 60.0
    else:
        return pd.Series(np.nan, index=rows.index)
    lower = each(texts, lambda t: t.str.strip().str.lower())
    seconds = seconds.mask(np.isin(lower, ("unlimited", "infinite")), np.inf)
    of_partition = lower == "partition_limit"
    if of_partition.any():
        partitions = rows["Partition"] if "Partition" in rows else pd.Series("", rows.index)
        seconds = seconds.mask(of_partition, usual_limits(machine, partitions))
    return seconds


def _finished(
    path: Any, jobs: pd.DataFrame, reasons: Mapping[str, np.ndarray], timezone: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Columns as an instance has them, times from the first submission on; and notes."""
    if not jobs["submit"].is_monotonic_increasing:
        jobs = jobs.sort_values("submit", kind="stable")
    jobs = jobs.reset_index(drop=True)
    line = jobs["line"].to_numpy()
    wait = (jobs["start"] - jobs["submit"]).to_numpy()
    notes = [f"{printable(path)}: {len(jobs)} jobs kept"]
    notes += [
        f"  {'kept' if 'run still' in reason else 'dropped'} {_counted(reason, lines)}"
        for reason, lines in reasons.items()
        if len(lines)
    ]
    repeated = repeated_numbers(jobs)
    eligible, repaired = _eligible(jobs, repeated)
    repaired = {"started before its submission: wait 0": wait < 0, **repaired}
    repaired["in the hour that comes twice: the first taken"] = jobs["twice"].to_numpy()
    notes += [
        f"  repaired {_counted(what, line[which])}"
        for what, which in repaired.items()
        if which.any()
    ]
    other = jobs["contradicted"].to_numpy()
    if other.any():
        what = "NNodes or NCPUS are others than in AllocTRES, which is taken"
        notes.append(f"  {_counted(what, line[other])}")
    for what, which in (
        ("further runs of requeued jobs: each is a job of its own", repeated.is_requeued),
        ("further sizes of jobs that were resized: each is a job of its own", repeated.is_resized),
        ("other jobs with a number that was given out again", repeated.is_reused),
        ("the same job number at overlapping times: each row is a job", repeated.overlaps),
    ):
        if which.any():
            notes.append(f"  {which.sum()} {what} ({io.shown_lines(line[which])})")
    if "suspended" in jobs:
        was_suspended = (jobs["suspended"] > 0).to_numpy()
        hours = jobs["suspended"].sum() / 3600
        what = (
            f"suspended, {hours:,.1f} h in all: they hold their nodes until End; limits and CPU "
            "efficiency leave this time out"
        )
        notes.append(f"  {_counted(what, line[was_suspended])}")
    several = jobs["id"].str.contains("+", regex=False)
    if several.any():
        whole = jobs.loc[several, "id"].str.split("+", n=1).str[0].nunique()
        notes.append(
            f"  {int(several.sum())} components of {whole} heterogeneous jobs: one job in reports, "
            "one each for policies"
        )
    if timezone is None:
        notes.append(
            "assumed: times as written; across a change of clocks pass timezone (--timezone)"
        )
    ids = jobs["id"]
    if ids.str.fullmatch(r"[0-9]{1,15}").all():
        ids = ids.astype(np.int64)
    known = (
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
    named = [name for name in known if name in jobs]
    table = jobs[["submit", "tasks", "runtime", "estimate", "line", *named]].assign(
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
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """When each run of a job could start, and which were repaired: a later run of a requeued job,
    or a later size of a resized one, not before the end of the one before, no job after it started.
    """
    submit, start = jobs["submit"].to_numpy(), jobs["start"].to_numpy()
    eligible = np.fmax(jobs["eligible"].to_numpy(), submit)  # unknown: its submission
    is_early = eligible < repeated.previous_end
    repaired = {
        "a run of a requeued job, eligible when the one before had ended": (
            repeated.is_requeued & is_early
        ),
        "a size of a resized job, eligible when the one before had ended": (
            repeated.is_resized & is_early
        ),
    }
    eligible = np.maximum(eligible, repeated.previous_end)
    late = eligible > np.maximum(start, submit)
    repaired["eligible after its start: the start taken"] = late
    return np.where(late, np.maximum(start, submit), eligible), repaired


def _in_the_only_partition(jobs: pd.DataFrame, machine: Machine) -> list[str]:
    """A note on jobs of other partitions than the only one of a slurm.conf, which run there."""
    if machine.slurm is None or len(machine.partitions) != 1:
        return []
    (only,) = (part.name for part in machine.partitions)
    others = jobs.loc[~jobs["partition"].isin(["", only]), "partition"].value_counts()
    if not len(others):
        return []
    shown = ", ".join(f"{name} ({count:,} jobs)" for name, count in others.head(10).items())
    return [f"  partitions that the machine does not have: {shown}; taken as {only}, its only one"]


def of_machine(jobs: pd.DataFrame, machine: Machine, drop: Any = None) -> list[str]:
    """What the machine hands out, and partitions that it does not have."""
    notes = [
        f"assumed: {machine.cores} cores of {machine.node_count} nodes (machine); policies hand "
        f"out cores{_beside(jobs, machine)}"
    ]
    told = {name: int((jobs[name] != "").sum()) for name in BESIDE if name in jobs}
    said = [f"{name} of {count} jobs" for name, count in told.items() if count]
    if said:
        notes.append(f"assumed: slurm-backfill alone follows {', '.join(said)}")
    per_core = sorted({kind.cpus_per_core for kind in machine.nodes})
    if per_core != [1.0]:
        shown = " or ".join(f"{value:g}" for value in per_core)
        notes.append(f"assumed: {shown} CPUs of sacct are a core; a core runs one job at a time")
        notes.append(
            "assumed: sacct does not tell jobs with --threads-per-core=1 "
            "(--hint=nomultithread): they are taken to use all threads of their cores"
        )
    if "partition" in jobs:
        notes += _in_the_only_partition(jobs, machine)
        lacking = jobs.loc[lacks(machine, jobs["partition"]), "partition"].value_counts()
        if len(lacking):
            shown = ", ".join(f"{name} ({n:,} jobs)" for name, n in lacking.head(10).items())
            gone = "unknown-partition" in drop_names(drop)
            how = "left out" if gone else "--drop unknown-partition leaves them out"
            notes.append(f"  partitions that the machine does not have: {shown} ({how})")
    return notes


def _beside(jobs: pd.DataFrame, machine: Machine) -> str:
    """What policies look at beside cores, and why not at the rest."""
    names = {"memory_gb": "memory", "gpus": "GPUs"}
    both = counted(jobs, machine)
    said = [name for name in names if name in jobs and (jobs[name] > 0).any()]
    text = "".join(f", {names[name]}" for name in both)
    text += " of nodes, to a job in equal parts on each of its nodes" if both else ""
    left = [names[name] for name in said if name not in both]
    return text + (f"; not {' and '.join(left)}: the machine does not hand out any" if left else "")


def _counted(reason: str, lines: Sequence[int] | np.ndarray) -> str:
    return f"{len(lines)}: {reason} ({io.shown_lines(lines)})"
