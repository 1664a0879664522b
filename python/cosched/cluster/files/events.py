"""Submissions with known run times, as the University at Buffalo's Slurm simulator has them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import io
from cosched.cluster.files.conventions import part_of
from cosched.cluster.files.facts import FACTS, dropped, note_of_columns, note_of_dropped
from cosched.cluster.files.sacct.columns import cores_of
from cosched.cluster.files.sacct.machine_fit import machine_notes
from cosched.cluster.files.sbatch import EXTRA_OPTIONS, OptionReader, array_tasks, options_of
from cosched.cluster.machine.node_types import host_count
from cosched.cluster.machine.parts import cpus_per_core, limits, node_attribute
from cosched.errors import InvalidInstance, printable, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind, not_followed

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine

_EVENT = re.compile(r"\s*-dt\s+(\S+)\s+-e\s+([a-z_]+)\s*(?:\|(.*))?")
_MOST_TASKS = 1_000_000  # of an array
_PER = {"memory_gb": "memory_per", "gpus": "gpus_per"}
_SIMULATOR_OPTION = re.compile(r"(?:^|(?<=\s))-(jid|sim-walltime)\s+(\S+)")


def read_events(
    path: str | PathLike[str],
    machine: Machine,
    *,
    drop: Any = None,
    week: int | None = None,
    begin: float | None = None,
    until: float | None = None,
) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """Jobs (rigid, a task a core) that have no starts, and notes.

    A line is ``-dt SECONDS -e submit_batch_job | [-jid N] -sim-walltime SECONDS`` and options of
    sbatch; a run time of -1 is the time limit. Jobs without a number are numbered from 1 on.
    """
    option_reader, other_events = OptionReader(), Counter[str]()
    rows: list[dict[str, Any]] = []
    number = 0
    for line, text in enumerate(io.polled(io.read_text(path).splitlines()), 1):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        place = f"{path}:{line}"
        event = _EVENT.fullmatch(text)
        if event is None:
            raise InvalidInstance(
                f"{place}: {shorten(text)}: expected -dt SECONDS -e submit_batch_job | options"
            )
        if event[2] != "submit_batch_job":
            other_events[event[2]] += 1
            continue
        number += 1
        row = _job(event[1], event[3] or "", number, option_reader, machine, place)
        rows += [job_row | {"line": line} for job_row in _tasks(row, place)]
    if not rows:
        raise InvalidInstance(f"{path}: no submission: expected -dt SECONDS -e submit_batch_job")
    jobs = _columns(pd.DataFrame(rows), machine)
    twice = jobs.loc[jobs["id"].duplicated(), ["id", "line"]]
    if len(twice):
        job_number, line = twice.iloc[0]
        raise InvalidInstance(
            f"{path}:{line}: job {job_number} a second time: expected another -jid"
        )
    jobs_note = Note(NoteKind.KEPT, f"{len(jobs)} jobs kept", subject="jobs", count=len(jobs))
    text = "  the log has no starts: as-logged is left out"
    notes = [
        jobs_note.with_place(printable(path)),
        Note(NoteKind.UNKNOWN, text, subject="start times"),
    ]
    notes += [
        not_followed(f"{count} events {name}", subject=f"events {name}", count=count)
        for name, count in other_events.items()
    ]
    notes += option_reader.notes() + machine_notes(jobs, machine)
    jobs, part_notes = part_of(path, jobs, week, begin, until)
    jobs, left_out = dropped(jobs, machine.cores, drop, machine)
    notes += [*part_notes, note_of_columns(jobs), note_of_dropped(left_out)]
    return jobs, tuple(notes)


def _job(
    submit: str, text: str, number: int, option_reader: OptionReader, machine: Machine, place: str
) -> dict[str, Any]:
    simulator_options = dict(_SIMULATOR_OPTION.findall(text))
    text = _SIMULATOR_OPTION.sub("", text)
    if "sim-walltime" not in simulator_options:
        raise InvalidInstance(f"{place}: no -sim-walltime: expected the run time (s)")
    try:
        words = shlex.split(text) if {"'", '"', "\\"} & set(text) else text.split()
    except ValueError as error:
        raise InvalidInstance(f"{place}: {str(error).lower()}: {shorten(text)}") from None
    row = option_reader.job_row(options_of(words, place), place)
    row["id"] = simulator_options.get("jid", str(number))
    if not re.fullmatch("[0-9]{1,15}", row["id"]):
        raise InvalidInstance(f"{place}: -jid {shorten(row['id'])}: expected a number")
    row["submit"] = io.parse_nonnegative(submit, f"{place}: -dt", "seconds >= 0")
    asks = row.get("estimate", np.nan)
    row["estimate"] = _limit(machine, row.get("partition", ""), asks if asks else np.inf)
    if re.fullmatch(r"-1(\.0*)?", simulator_options["sim-walltime"]):
        row["runtime"] = row["estimate"]
        if not np.isfinite(row["runtime"]):
            raise InvalidInstance(f"{place}: -sim-walltime -1: expected a time limit (-t)")
    else:
        where = f"{place}: -sim-walltime"
        row["runtime"] = io.parse_nonnegative(
            simulator_options["sim-walltime"], where, "seconds >= 0, or -1"
        )
    return row


def _limit(machine: Machine, partition: str, asks: float) -> float:
    """Return seconds until Slurm ends a job that asks for these (nan: for none), by the DefaultTime
    and the MaxTime of its partition; infinite: it does not."""
    slurm = machine.slurm
    name = partition.split(",")[0] or (slurm.default_partition if slurm is not None else "")
    if np.isnan(asks):
        asks = slurm.default_times.get(name, np.inf) if slurm is not None else np.inf
    return asks if np.isfinite(asks) else float(limits(machine, [name])[0])


def _tasks(row: dict[str, Any], place: str) -> list[dict[str, Any]]:
    """Return the job, or the tasks of an array: ``array`` is then their job, and how many may
    run."""
    if "array" not in row:
        return [row]
    try:
        tasks, limit = array_tasks(row["array"])
    except InvalidInstance as error:
        raise InvalidInstance(f"{place}: {error}") from None
    if len(tasks) > _MOST_TASKS:
        raise InvalidInstance(
            f"{place}: array {shorten(row['array'])}: expected at most {_MOST_TASKS:,} tasks"
        )
    array_columns = {"array": f"{row['id']}%{limit}"}
    return [row | array_columns | {"id": f"{row['id']}_{task}"} for task in tasks]


def _most_cores(rows: pd.DataFrame, machine: Machine) -> np.ndarray:
    """Return the most cores of a node; of the nodes with the GPUs that a job wants of each, where
    there are any."""
    cores, gpus, types = (node_attribute(machine, name) for name in ("cores", "gpus", "gpu_type"))
    if "gpus_per" not in rows:
        return np.full(len(rows), cores.max())
    counts = rows["gpus"].where(rows["gpus_per"] == "node", 0)
    gpu_requests = [*zip(counts, rows["gpu_type"].fillna(""), strict=True)]
    max_cores_of_nodes = {
        (count, kind): cores.max(where=(gpus >= count) & ((types == kind) | (not kind)), initial=0)
        for count, kind in set(gpu_requests)
    }
    return np.array(
        [max_cores_of_nodes[gpu_request] or cores.max() for gpu_request in gpu_requests]
    )


def _columns(rows: pd.DataFrame, machine: Machine) -> pd.DataFrame:
    """Return the columns as an instance has them."""
    if not rows["submit"].is_monotonic_increasing:
        rows = rows.sort_values("submit", kind="stable").reset_index(drop=True)
    partitions = rows["partition"].fillna("") if "partition" in rows else None
    per_core = cpus_per_core(machine, partitions, None, len(rows))
    cpus = rows["cpus"].to_numpy(dtype=float)
    nodes = rows["nodes"].to_numpy(dtype=float) if "nodes" in rows else np.full(len(rows), np.nan)
    tasks = cores_of(cpus, nodes, 1.0 if machine.one_task_per_core else per_core)
    # Where nobody says on how many nodes: on those of -w, else on as few as have so many cores.
    of_node = {what: (rows[per] == "node").to_numpy() for what, per in _PER.items() if per in rows}
    if of_node:
        node_counts = np.maximum(np.ceil(tasks / _most_cores(rows, machine)), 1.0)
        if "nodelist" in rows:
            listed = [host_count(text) for text in rows["nodelist"].fillna("")]
            node_counts = np.maximum(node_counts, np.minimum(listed, tasks))
        unsaid = np.isnan(nodes) & np.any([*of_node.values()], axis=0)
        nodes = np.where(unsaid, node_counts, nodes)
        for what, node_columns in of_node.items():
            rows[what] *= np.where(unsaid & node_columns, node_counts, 1.0)
    jobs = rows.assign(tasks=tasks.astype(np.int64), cpu=1.0, memory=1.0, threads=cpus, nodes=nodes)
    if "blocked" in jobs:
        jobs["eligible"] = jobs["submit"] + jobs["blocked"].fillna(0.0)
    if jobs["id"].str.isdigit().all():
        jobs["id"] = jobs["id"].astype(np.int64)
    if not ("dependency" in jobs and jobs["dependency"].str.contains("singleton", na=False).any()):
        jobs = jobs.drop(columns="name", errors="ignore")  # who is called the same as who
    texts = (
        "user",
        "account",
        "qos",
        "partition",
        "constraint",
        "memory_per",
        "gpu_type",
        "gpus_per",
        "name",
        "array",
        *EXTRA_OPTIONS,
    )
    for name in (name for name in texts if name in jobs):
        jobs[name] = jobs[name].fillna("")
    if "gpus" in jobs:
        jobs["gpus"] = jobs["gpus"].fillna(0).astype(np.int64)
    column_order = (
        "id",
        "submit",
        "tasks",
        "cpu",
        "memory",
        "runtime",
        "estimate",
        "eligible",
        *FACTS,
    )
    return jobs[[name for name in column_order if name in jobs]]
