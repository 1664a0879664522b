"""StarPU: ``tasks.rec`` of starpu_fxt_tool, which holds a run: tasks, workers, times in ms.

A task's time on the type that it ran on is what it took there; on other types what StarPU's own
models say (see :mod:`cosched.dags.files.starpu_machine`), else the mean of the tasks of the same
model and footprint that ran there. Tasks without a worker (synchronisation, waits for data) are
taken out: who waits for them waits for what they wait for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from os import PathLike

import numpy as np

from cosched import io
from cosched.dags.files import rec
from cosched.dags.files.parsed import Parsed
from cosched.dags.files.run import Run
from cosched.dags.files.starpu_machine import Key, Machine, machine_of_tasks, read_machine
from cosched.errors import InvalidInstance, shorten

#: StarPU's unit of time in a trace (s).
_MS = 1e-3
#: Arcs that tasks without a worker may stand for.
_MOST_ARCS = 5_000_000
_LARGEST = 2**62


@dataclass
class _Job:
    """A record of a task, as it is written."""

    name: str
    where: str
    key: Key
    after: list[str]
    order: int
    #: Where and when it ran: worker, memory node (None: not said), start, end (ms).
    ran: tuple[int, int | None, float, float] | None
    #: Seconds on each worker; empty where the file does not say.
    estimates: list[float]
    #: Handles with mode and bytes.
    data: list[tuple[str, str, float]] = field(default_factory=list)


def read_starpu(text: str, path: str, perfmodels: str | PathLike[str] | None) -> Parsed:
    """Tasks that a worker ran, and the run; `perfmodels`: what starpu_perfmodel_recdump wrote."""
    jobs = _jobs(text, path)
    ran = {job.name: job for job in jobs.values() if job.ran is not None}
    if not ran:
        raise InvalidInstance(
            f"{path}: no task with WorkerId, StartTime and EndTime: expected StarPU's tasks.rec"
        )
    parsed = Parsed(path)
    workers = [(job.ran[0], job.ran[1]) for job in ran.values() if job.ran is not None]
    if perfmodels is None:
        machine = machine_of_tasks(workers, parsed.notes)
    else:
        machine = read_machine(perfmodels)
    parsed.units = machine.units
    parsed.executed = _run(ran.values(), machine, path)
    for job, times in zip(ran.values(), _times(ran.values(), machine, parsed), strict=True):
        parsed.add(job.name, times, job.where, job.key[0])
    moved = _moved(jobs.values())
    for name, before in _predecessors(jobs, ran, parsed).items():
        for one in sorted(before, key=lambda name: jobs[name].order):
            parsed.precede(one, name, ran[name].where, moved.get((one, name)) if moved else None)
    return parsed


# --- records ---------------------------------------------------------------------------------


def _jobs(text: str, path: str) -> dict[str, _Job]:
    jobs: dict[str, _Job] = {}
    ranks = set()
    for block in rec.blocks(text, path):
        if "Control" in block.fields:  # a hint for the memory, no task
            continue
        job = _job(block, f"{path}: line {block.line}", len(jobs))
        if job.name in jobs:
            raise InvalidInstance(f"{job.where}: JobId {shorten(job.name)} is there twice")
        jobs[job.name] = job
        ranks.add(block.fields.get("MPIRank", "").strip())
    if len(ranks) > 1:
        raise InvalidInstance(
            f"{path}: tasks of {len(ranks)} MPI ranks: expected the trace of one (a file a rank)"
        )
    return jobs


def _job(block: rec.Block, where: str, place: int) -> _Job:
    said = block.fields
    name = said.get("JobId", "").strip()
    if not name:
        raise InvalidInstance(f"{where}: no JobId: expected a record of StarPU's tasks.rec")
    kernel = (said.get("Name") or said.get("Model") or "").strip()
    model = said.get("Model", kernel).strip()
    print_of_data = rec.hexadecimal(said.get("Footprint", "0"), f"{where}: Footprint")
    order = place
    if "SubmitOrder" in said:
        order = io.parse_integer(said["SubmitOrder"], f"{where}: SubmitOrder", 0, _LARGEST)
    return _Job(
        name=name,
        where=where,
        key=(kernel or "task", model, print_of_data),
        after=said.get("DependsOn", "").split(),
        order=order,
        ran=_ran(said, where),
        estimates=_estimates(said.get("EstimatedTime", ""), where),
        data=_data(said, where),
    )


def _ran(said: Mapping[str, str], where: str) -> tuple[int, int | None, float, float] | None:
    if "WorkerId" not in said or "EndTime" not in said:
        return None
    worker = io.parse_integer(said["WorkerId"], f"{where}: WorkerId", 0, 2**31 - 1)
    node = said.get("MemoryNode")
    # A time of zero is not written.
    start, end = (
        io.parse_nonnegative(said.get(key, "0"), f"{where}: {key}", "milliseconds >= 0")
        for key in ("StartTime", "EndTime")
    )
    if end < start:
        raise InvalidInstance(f"{where}: EndTime {end:g} is before StartTime {start:g}")
    return (
        worker,
        None if node is None else io.parse_integer(node, f"{where}: MemoryNode", 0, 2**31 - 1),
        start,
        end,
    )


def _estimates(text: str, where: str) -> list[float]:
    """Microseconds on each worker as seconds; StarPU writes ``inf`` where it knows none."""
    unknown = ("inf", "nan", "-nan")
    what = "microseconds >= 0, or inf"
    return [
        math.inf
        if part in unknown
        else 1e-6 * io.parse_nonnegative(part, f"{where}: EstimatedTime", what)
        for part in text.split()
    ]


def _data(said: Mapping[str, str], where: str) -> list[tuple[str, str, float]]:
    handles, sizes = said.get("Handles", "").split(), said.get("Sizes", "").split()
    modes = said.get("Modes", "").split(" ")[: len(handles)]  # a mode may be empty
    if not sizes:
        return []
    if not len(handles) == len(sizes) == len(modes):
        raise InvalidInstance(
            f"{where}: {len(handles)} Handles, {len(modes)} Modes, {len(sizes)} Sizes: expected as "
            "many of each"
        )
    numbers = [io.parse_nonnegative(size, f"{where}: Sizes", "bytes >= 0") for size in sizes]
    return list(zip(handles, modes, numbers, strict=True))


# --- run and times ---------------------------------------------------------------------------


def _run(jobs: Iterable[_Job], machine: Machine, path: str) -> Run:
    """Where and when each task ran; the first one starts at 0."""
    rows = []
    for job in jobs:
        worker, _, start, end = job.ran or (0, None, 0.0, 0.0)
        if worker not in machine.places:
            raise InvalidInstance(f"{job.where}: WorkerId {worker}: not among {machine.source}")
        rows.append((*machine.places[worker], start, end))
    run = Run(*(np.array(column) for column in zip(*rows, strict=True)))
    first = run.start.min()
    return run._replace(start=(run.start - first) * _MS, end=(run.end - first) * _MS)


def _times(jobs: Iterable[_Job], machine: Machine, parsed: Parsed) -> list[list[float]]:
    """Seconds of each task on each type."""
    run = parsed.executed
    assert run is not None
    took = (run.end - run.start).tolist()
    seen: dict[tuple[Key, int], list[float]] = {}
    for job, kind, seconds in zip(jobs, run.kind.tolist(), took, strict=True):
        seen.setdefault((job.key, kind), []).append(seconds)
    means = {group: float(np.mean(some)) for group, some in seen.items()}
    rows = []
    for job, own, seconds in zip(jobs, run.kind.tolist(), took, strict=True):
        row = []
        for kind in range(len(machine.units)):
            modelled = machine.modelled(job.key, job.estimates, kind)
            row.append(modelled if modelled is not None else means.get((job.key, kind), math.inf))
        row[own] = seconds
        rows.append(row)
    nowhere = sum(math.isinf(value) for row in rows for value in row)
    if nowhere:
        parsed.notes.append(
            f"taken as 'cannot run there': {nowhere} times on types where no task of the same "
            "model ran and no model is given (perfmodels, or starpu_tasks_rec_complete)"
        )
    return rows


# --- arcs --------------------------------------------------------------------------------------


def _predecessors(
    jobs: Mapping[str, _Job], ran: Mapping[str, _Job], parsed: Parsed
) -> dict[str, set[str]]:
    """Tasks with a worker that each of them waits for, through those without."""
    unknown = 0
    known: dict[str, list[str]] = {}
    for job in jobs.values():
        known[job.name] = [name for name in job.after if name in jobs]
        unknown += len(job.after) - len(known[job.name])
    try:
        order = list(TopologicalSorter(known).static_order())
    except CycleError as error:
        cycle = " -> ".join(map(shorten, error.args[1][:8]))
        raise InvalidInstance(f"{parsed.path}: cycle: {cycle}") from None
    before: dict[str, set[str]] = {}
    total = 0
    for name in io.polled(order):
        ends = [{one} if one in ran else before[one] for one in known[name]]
        before[name] = set().union(*ends)
        total += len(before[name])
        if total > _MOST_ARCS:
            raise InvalidInstance(
                f"{parsed.path}: more than {_MOST_ARCS:,} arcs through tasks without a worker"
            )
    gone = len(jobs) - len(ran)
    if gone:
        parsed.notes.append(
            f"taken out: {gone} tasks that no worker ran (synchronisation, waits for data); who "
            "waits for them waits for what they wait for"
        )
    if unknown:
        parsed.notes.append(f"left out: {unknown} dependencies on tasks that the file lacks")
    return {name: before[name] for name in ran}


def _moved(jobs: Iterable[_Job]) -> dict[tuple[str, str], float]:
    """Bytes that a task reads and another was the last to write, in the order of submission."""
    moved: dict[tuple[str, str], float] = {}
    writer: dict[str, str] = {}
    for job in sorted(jobs, key=lambda job: job.order):
        read = {handle: size for handle, mode, size in job.data if "R" in mode}  # each once
        for handle, size in read.items():
            if handle in writer:
                arc = writer[handle], job.name
                moved[arc] = moved.get(arc, 0.0) + size
        writer.update({handle: job.name for handle, mode, _ in job.data if set(mode) & {"W", "X"}})
    return moved
