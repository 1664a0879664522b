"""What the jobs of a log ask for, as the core takes it."""

from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of, ran_in_log, texts_of
from cosched.cluster.machine import Machine
from cosched.notes import Note, NoteKind
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests.associations import resolve_owners
from cosched.slurm.requests.core_job_builder import CoreJobBuilder, Requests
from cosched.slurm.requests.extra_requests import extra_requests
from cosched.slurm.requests.job_placement import PlacementContext
from cosched.slurm.requests.log_node_sets import LogNodeSets
from cosched.slurm.requests.node_sets import gpu_types_of
from cosched.slurm.requests.request import Gpus, Request
from cosched.slurm.requests.requested_gpus import gpus_of_jobs


def requests_of_log(
    context: PlacementContext, settings: SlurmSettings, machine: Machine | None, approximate: bool
) -> tuple[Requests, list[Note]]:
    """Return what the jobs of a log ask for, and whose they are, with notes."""
    if machine is None or machine.slurm is None:
        return Requests(), []
    notes: list[Note] = []
    columns: dict[str, list[Any]] = {}
    # GPUs that a job wants of whole nodes.
    gpus_per_node = np.zeros(len(context.partition_of_job), dtype=np.int64)
    if context.shares_nodes:
        columns |= _memory_requests(context, settings, notes) | _gpu_requests(
            context.instance, machine, notes
        )
        columns["nodes"] = [count or None for count in context.logged_node_counts().tolist()]
    elif machine.gpus and (counts := gpus_of_jobs(context.instance)).any():
        text = "gpus: nodes are whole here: a job gets nodes with as many as it wants of each"
        notes.append(Note(NoteKind.ASSUMED, text, subject="gpus"))
        gpus_per_node = np.where(
            counts > 0, np.maximum(counts // context.required_node_counts(), 1), 0
        )
    node_sets = LogNodeSets(machine)
    builder = CoreJobBuilder(machine, memory="memory" in columns, node_sets=node_sets)
    owners, accounts, owner_notes = resolve_owners(context.instance, machine, settings, approximate)
    if owners is not None:
        columns["owner"] = owners
    if "constraint" in context.instance.column_names:
        columns["constraint"] = texts_of(context.instance, "constraint").tolist()
    cores_of_hosts = dict(zip(settings.names, context.node_cores.tolist(), strict=False))
    extra_columns, unsupported_notes = extra_requests(
        context.instance, settings.licences, cores_of_hosts
    )
    tasks = context.instance.column("tasks").astype(np.int64).tolist()
    names = list(context.partition_ranges)
    types = texts_of(context.instance, "gpu_type").tolist()
    has_run = ran_in_log(context.instance)
    jobs = {}
    for row, (cores, part) in enumerate(zip(tasks, context.partition_of_job.tolist(), strict=True)):
        fields = {key: column[row] for key, column in columns.items()}
        fields |= {
            key: column[row] for key, column in extra_columns.items() if column[row] is not None
        }
        # A job that asks for nothing but cores may have them anywhere.
        needs_cores = builder.tracks_memory or any(
            map(fields.get, ("gpus", "nodes", "exclusive", "nodelist"))
        )
        has_age = fields.get("age_from") is not None
        if not needs_cores and not any(fields.values()) and not gpus_per_node[row] and not has_age:
            continue
        request = Request(cores=cores if needs_cores else None, partition=names[part], **fields)
        node_sets.has_run = bool(has_run[row])
        job_fields = builder.fields_of(request)
        if gpus_per_node[row]:
            node_set = node_sets.node_set_with_gpus(job_fields, int(gpus_per_node[row]), types[row])
            job_fields.update(node_set)
        if job_fields:
            jobs[row] = _core.slurm.Job(**job_fields)
    reserved = tuple(
        _core.slurm.Reservation(
            created_at=0.0,
            begin=begin,
            end=end,
            nodes=node_sets.node_ranges(nodes, "reservation"),
            is_maintenance=True,
            has_all_nodes=nodes.upper() == "ALL",
        )
        for begin, end, nodes in settings.reserved
    )
    requests = builder.build_requests(jobs, reservations=reserved, **accounts)
    return requests, notes + node_sets.notes() + unsupported_notes + owner_notes


def _memory_requests(
    context: PlacementContext, settings: SlurmSettings, notes: list[Note]
) -> dict[str, list[Any]]:
    """Return memory per node where the log says how many nodes a job has; else, or where it says
    so, per core."""
    if not settings.memory_counts:
        return {}
    if "memory_gb" not in context.instance.column_names:
        text = "memory: the log does not say it, so that it is not handed out"
        notes.append(Note(NoteKind.MEMORY_UNKNOWN, text, subject="log"))
        return {}
    nodes = context.logged_node_counts()
    tasks = context.instance.column("tasks").astype(np.int64)
    amounts = numbers_of(context.instance, "memory_gb") * 1024
    memory_per = texts_of(context.instance, "memory_per")
    of_core = (nodes == 0) | (memory_per == "core")
    parts = np.ceil(amounts / np.where(of_core, tasks, nodes)).astype(np.int64)
    columns = {
        name: [mb if mb > 0 else None for mb in np.where(is_of_kind, parts, 0).tolist()]
        for name, is_of_kind in (("memory", ~of_core), ("memory_per_core", of_core))
    }
    for row in np.flatnonzero(memory_per == "all").tolist():
        columns["memory"][row] = 0
    return columns


def _gpus_of_job(number: int, gpu_type: str | None, by_node: bool, has_gpus: bool) -> Gpus | None:
    """Return the GPUs of a job; None where it asks for none."""
    return Gpus(number, gpu_type, by_node) if has_gpus else None


def _gpu_requests(instance: Instance, machine: Machine, notes: list[Note]) -> dict[str, list[Any]]:
    """Return the GPUs that each job asks for, in all or per node."""
    if "gpus" not in instance.column_names:
        return {}
    counts = gpus_of_jobs(instance)
    types = gpu_types_of(machine)
    if not types:
        if (counts > 0).any():
            text = "gpus: the machine has none, so that they are not handed out"
            notes.append(Note(NoteKind.ASSUMED, text, subject="gpus"))
        return {}
    names, known_types = texts_of(instance, "gpu_type").tolist(), {*types} - {""}
    node_counts = numbers_of(instance, "nodes").astype(int)
    of_node = (texts_of(instance, "gpus_per") == "node") & (node_counts > 0)
    nodes = np.where(of_node, node_counts, 1)
    return {
        "gpus": [
            _gpus_of_job(count // parts, name if name in known_types else None, by_node, count > 0)
            for count, name, parts, by_node in zip(
                counts.tolist(), names, nodes.tolist(), of_node.tolist(), strict=True
            )
        ]
    }
