"""How the jobs of a log fit the machine: what it hands out, what it lacks, and why they may hold
more than it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cosched.cluster.files.facts import drop_names
from cosched.cluster.files.sacct import columns
from cosched.cluster.files.sbatch import EXTRA_OPTIONS
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import lacks, managed_resources
from cosched.errors import InvalidInstance
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine

#: Different node lists that are looked at for nodes which the machine does not have.
_MAX_NODE_LISTS = 10_000
#: Share of the core hours that were suspended from which they are the likely cause of overuse.
_MUCH_SUSPENDED = 0.01


class OveruseClues(NamedTuple):
    """What rows of sacct say about jobs that hold more than the machine has.

    The rows themselves, which are several times as large as the jobs, need not be kept for it.
    """

    #: Different node lists.
    node_lists: list[str]
    #: Most CPUs that a job has on each of its nodes; 0: no job has more than its nodes.
    cpus_per_node: float


def overuse_clues(rows: pd.DataFrame, machine: Machine) -> OveruseClues:
    """Return what :func:`cause_of_overuse` asks of the rows."""
    node_lists = (
        rows["NodeList"].drop_duplicates().head(_MAX_NODE_LISTS).tolist()
        if ("NodeList" in rows)
        else []
    )
    cpus, nodes, _ = columns.cpus_and_nodes(rows)
    node_counts = np.where(nodes > 0, nodes, machine.node_count)
    is_wider_than_nodes = cpus > node_counts * _max_node_cpus(machine)
    cpus_per_node = float(np.nanmax(cpus / node_counts)) if is_wider_than_nodes.any() else 0.0
    return OveruseClues(node_lists, cpus_per_node)


def cause_of_overuse(clues: OveruseClues, jobs: pd.DataFrame, machine: Machine) -> str:
    """Return the likely cause of jobs that hold more than the machine has, in words."""
    missing = _missing_nodes(clues.node_lists, machine)
    if missing:
        return f"its node list misses nodes: {', '.join(missing[:3])} ({len(missing)} in all)"
    if clues.cpus_per_node:
        return (
            f"sacct counts threads, the machine cores: jobs have {clues.cpus_per_node:g} CPUs a "
            f"node, nodes {_max_node_cpus(machine)} (threads of [[nodes]], ThreadsPerCore)"
        )
    if "suspended" in jobs:
        core_seconds = (jobs["runtime"] * jobs["tasks"]).sum()
        if (jobs["suspended"] * jobs["tasks"]).sum() > _MUCH_SUSPENDED * core_seconds:
            return "other jobs had the CPUs of suspended ones, which count until their End"
    return "it is of other months, when the machine was another one, or nodes are missing"


def _max_node_cpus(machine: Machine) -> int:
    return max(kind.cpus or kind.cores * kind.threads for kind in machine.nodes)


def _missing_nodes(node_lists: list[str], machine: Machine) -> list[str]:
    if machine.slurm is None or not machine.slurm.names:
        return []
    partition_names = set(machine.slurm.names)
    missing: dict[str, bool] = {}
    for text in node_lists:
        try:
            names = hosts(text, "NodeList") if text and text[0] != "N" else []
        except InvalidInstance:
            continue
        missing |= dict.fromkeys((name for name in names if name not in partition_names), True)
    return sorted(missing)


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


def _in_the_only_partition(jobs: pd.DataFrame, machine: Machine) -> list[Note]:
    """Return a note on jobs of other partitions than the only one of a slurm.conf, which run
    there."""
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


def _resources_note(jobs: pd.DataFrame, machine: Machine) -> str:
    """Return what policies look at beside cores, and why not at the rest."""
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
