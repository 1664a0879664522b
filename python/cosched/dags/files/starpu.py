"""StarPU: ``tasks.rec`` of starpu_fxt_tool, which holds a run: tasks, workers, times in ms.

A task's time on the type that it ran on is what it took there; on other types what StarPU's own
models say, else the mean of the tasks of the same model and footprint that ran there. Those models,
and all workers with their types, are in what ``starpu_perfmodel_recdump tasks.rec`` writes; without
it the memory nodes of the tasks say which workers are CPUs (node 0), and ``EstimatedTime`` of
``starpu_tasks_rec_complete`` holds the times. Tasks without a worker (synchronisation, waits for
data) are taken out: who waits for them waits for what they wait for.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from os import PathLike
from typing import TypeAlias

import numpy as np

from cosched import io
from cosched.dags.files.parsed import Parsed, Run
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind


@dataclass
class RecfileBlock:
    """A record: the line that it begins on, its type (``%rec: timing``), its fields."""

    #: The line on which the record begins, from 1.
    line: int
    #: The type of the record, such as ``timing``.
    kind: str
    #: The text of each field, by its name.
    fields: dict[str, str] = field(default_factory=dict)


def blocks(text: str, path: str) -> Iterator[RecfileBlock]:
    """The records of a file in order; a field that is there twice in one is refused."""
    kind, block = "", None
    for number, line in enumerate(io.polled(text.splitlines()), start=1):
        if not line.strip():
            if block is not None:
                yield block
            block = None
        elif line.startswith("%"):
            key, _, value = line[1:].partition(":")
            kind = value.strip() if key == "rec" else kind
        elif not line.startswith("#"):
            key, colon, value = line.partition(":")
            if not colon or not key.strip():
                raise InvalidInstance(
                    f"{path}: line {number}: {shorten(line)}: expected Key: value"
                )
            block = block or RecfileBlock(number, kind)
            if key in block.fields:
                raise InvalidInstance(f"{path}: line {number}: {shorten(key)} is there twice")
            block.fields[key] = value.removeprefix(" ")
    if block is not None:
        yield block


def hexadecimal(text: str, where: str) -> int:
    """A number in hexadecimal digits, as StarPU prints its hashes."""
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", text.strip()):
        raise InvalidInstance(f"{where}: {shorten(text)}: expected hexadecimal digits")
    return int(text, 16)


#: Kernel, performance model and footprint of a task: what has the same time on a worker.
Key: TypeAlias = tuple[str, str, int]
#: Memory nodes of CPUs, by the first word of their names.
_HOST = ("numa", "ram")
_CPU = "cpu"
_MICROSECONDS = 1e-6


@dataclass(frozen=True)
class StarpuMachine:
    """Workers by id: ``places`` = (type, unit within it), ``architectures`` as the models say."""

    #: The file or folder that describes the workers.
    source: str
    #: Units of each resource type.
    units: tuple[int, ...]
    #: The resource type of each worker, and its unit within the type.
    places: dict[int, tuple[int, int]]
    #: The architecture of each worker, as performance models call it.
    architectures: dict[int, str] = field(default_factory=dict)
    #: (model, footprint) -> architecture -> seconds.
    means: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict)

    def modelled(self, key: Key, estimates: Sequence[float], kind: int) -> float | None:
        """Mean over the workers of a type of what StarPU expects there; None: it knows nothing."""
        by_architecture = self.means.get(key[1:], {})
        workers = [
            worker for worker, (kind_of_worker, _) in self.places.items() if kind_of_worker == kind
        ]
        known_kinds = [
            by_architecture[self.architectures[worker]]
            for worker in workers
            if self.architectures.get(worker) in by_architecture
        ] or [estimates[worker] for worker in workers if worker < len(estimates)]
        finite = [seconds for seconds in known_kinds if seconds < math.inf]
        return float(np.mean(finite)) if finite else None


def machine_of_tasks(
    executed_tasks: Iterable[tuple[int, int | None]], notes: list[Note]
) -> StarpuMachine:
    """Workers with the memory nodes of their tasks: node 0 is the CPUs', others are GPUs'."""
    node: dict[int, int | None] = dict(executed_tasks)
    if None in node.values():
        text = "no MemoryNode: all workers are taken to be of one type (or pass perfmodels)"
        notes.append(Note(NoteKind.ASSUMED, text, subject="types of workers"))
        labels = dict.fromkeys(node, _CPU)
    else:
        labels = {worker: "gpu" if memory else _CPU for worker, memory in node.items()}
    text = "machine: the workers that ran a task (perfmodels says which there are besides)"
    notes.append(Note(NoteKind.ASSUMED, text, subject="machine", count=len(node)))
    return _machine("the workers of the trace", labels, {}, {})


def read_machine(path: str | PathLike[str]) -> StarpuMachine:
    """The file of ``starpu_perfmodel_recdump tasks.rec -o FILE``."""
    labels: dict[int, str] = {}
    architectures: dict[int, str] = {}
    means: dict[tuple[str, int], dict[str, float]] = {}
    for block in blocks(io.read_text(path), str(path)):
        where = f"{path}: line {block.line}"
        if block.kind == "memory_workers":
            label, number = _node(block.fields.get("Name", ""), where)
            for text in block.fields.get("Workers", "").split():
                worker = io.parse_integer(text, f"{where}: Workers", 0, 2**31 - 1)
                labels[worker] = label
                # StarPU has one model for all CPUs, and one for each device.
                architectures[worker] = f"{label}{0 if label == _CPU else number}"
        elif block.kind == "timing":
            model, architecture, print_of_data, seconds = _timing(block, where)
            means.setdefault((model, print_of_data), {})[architecture] = seconds
    if not labels:
        raise InvalidInstance(
            f"{path}: no workers: expected what starpu_perfmodel_recdump writes for a tasks.rec"
        )
    return _machine(f"the workers of {path}", labels, architectures, means)


def _machine(
    source: str,
    labels: dict[int, str],
    architectures: dict[int, str],
    means: dict[tuple[str, int], dict[str, float]],
) -> StarpuMachine:
    """Return the machine: CPUs are type 0, the others follow in the order of their workers."""
    in_order = sorted(labels)
    types = sorted(dict.fromkeys(labels[worker] for worker in in_order), key=lambda l: l != _CPU)
    members = {label: [w for w in in_order if labels[w] == label] for label in types}
    places = {
        worker: (kind, unit)
        for kind, label in enumerate(types)
        for unit, worker in enumerate(members[label])
    }
    return StarpuMachine(
        source, tuple(len(members[label]) for label in types), places, architectures, means
    )


def _node(name: str, where: str) -> tuple[str, int]:
    """Return ``"CUDA 1"`` as ("cuda", 1); where CPUs compute: ("cpu", ...)."""
    name_match = re.fullmatch(r"([A-Za-z]+)\s*([0-9]{0,9})", name.strip())
    if not name_match:
        raise InvalidInstance(f"{where}: Name {shorten(name)}: expected a memory node, as CUDA 0")
    label = name_match[1].lower()
    return (_CPU if label in _HOST else label), int(name_match[2] or 0)


def _timing(block: RecfileBlock, where: str) -> tuple[str, str, int, float]:
    fields = block.fields
    for key in ("Model", "Architecture", "Footprint", "Mean"):
        if key not in fields:
            raise InvalidInstance(f"{where}: no {key}: expected a record of a performance model")
    mean = io.parse_nonnegative(fields["Mean"], f"{where}: Mean", "microseconds >= 0")
    return (
        fields["Model"].strip(),
        fields["Architecture"].strip(),
        hexadecimal(fields["Footprint"], f"{where}: Footprint"),
        mean * _MICROSECONDS,
    )


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
    execution: tuple[int, int | None, float, float] | None
    #: Seconds on each worker; empty where the file does not say.
    estimates: list[float]
    #: Handles with mode and bytes.
    data: list[tuple[str, str, float]] = field(default_factory=list)


def read_starpu(text: str, path: str, perfmodels: str | PathLike[str] | None) -> Parsed:
    """Tasks that a worker ran, and the run; `perfmodels`: what starpu_perfmodel_recdump wrote."""
    jobs = _jobs(text, path)
    executed_jobs = {job.name: job for job in jobs.values() if job.execution is not None}
    if not executed_jobs:
        raise InvalidInstance(
            f"{path}: no task with WorkerId, StartTime and EndTime: expected StarPU's tasks.rec"
        )
    parsed = Parsed(path)
    workers = [
        (job.execution[0], job.execution[1])
        for job in executed_jobs.values()
        if job.execution is not None
    ]
    if perfmodels is None:
        machine = machine_of_tasks(workers, parsed.notes)
    else:
        machine = read_machine(perfmodels)
    parsed.units = machine.units
    parsed.executed = _run(executed_jobs.values(), machine, path)
    for job, times in zip(
        executed_jobs.values(), _times(executed_jobs.values(), machine, parsed), strict=True
    ):
        parsed.add(job.name, times, job.where, job.key[0])
    moved_bytes = _moved(jobs.values())
    for name, predecessors in _predecessors(jobs, executed_jobs, parsed).items():
        for predecessor in sorted(predecessors, key=lambda name: jobs[name].order):
            parsed.precede(
                predecessor,
                name,
                executed_jobs[name].where,
                moved_bytes.get((predecessor, name)) if moved_bytes else None,
            )
    return parsed


def _jobs(text: str, path: str) -> dict[str, _Job]:
    jobs: dict[str, _Job] = {}
    ranks = set()
    for block in blocks(text, path):
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


def _job(block: RecfileBlock, where: str, place: int) -> _Job:
    fields = block.fields
    name = fields.get("JobId", "").strip()
    if not name:
        raise InvalidInstance(f"{where}: no JobId: expected a record of StarPU's tasks.rec")
    kernel = (fields.get("Name") or fields.get("Model") or "").strip()
    model = fields.get("Model", kernel).strip()
    print_of_data = hexadecimal(fields.get("Footprint", "0"), f"{where}: Footprint")
    order = place
    if "SubmitOrder" in fields:
        order = io.parse_integer(fields["SubmitOrder"], f"{where}: SubmitOrder", 0, _LARGEST)
    return _Job(
        name=name,
        where=where,
        key=(kernel or "task", model, print_of_data),
        after=fields.get("DependsOn", "").split(),
        order=order,
        execution=_execution_of(fields, where),
        estimates=_estimates(fields.get("EstimatedTime", ""), where),
        data=_data(fields, where),
    )


def _execution_of(
    fields: Mapping[str, str], where: str
) -> tuple[int, int | None, float, float] | None:
    if "WorkerId" not in fields or "EndTime" not in fields:
        return None
    worker = io.parse_integer(fields["WorkerId"], f"{where}: WorkerId", 0, 2**31 - 1)
    node = fields.get("MemoryNode")
    # A time of zero is not written.
    start, end = (
        io.parse_nonnegative(fields.get(key, "0"), f"{where}: {key}", "milliseconds >= 0")
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
    """Return microseconds on each worker as seconds; StarPU writes ``inf`` where it knows none."""
    unknown = ("inf", "nan", "-nan")
    what = "microseconds >= 0, or inf"
    return [
        math.inf
        if part in unknown
        else 1e-6 * io.parse_nonnegative(part, f"{where}: EstimatedTime", what)
        for part in text.split()
    ]


def _data(fields: Mapping[str, str], where: str) -> list[tuple[str, str, float]]:
    handles, sizes = fields.get("Handles", "").split(), fields.get("Sizes", "").split()
    modes = fields.get("Modes", "").split(" ")[: len(handles)]  # a mode may be empty
    if not sizes:
        return []
    if not len(handles) == len(sizes) == len(modes):
        raise InvalidInstance(
            f"{where}: {len(handles)} Handles, {len(modes)} Modes, {len(sizes)} Sizes: expected as "
            "many of each"
        )
    numbers = [io.parse_nonnegative(size, f"{where}: Sizes", "bytes >= 0") for size in sizes]
    return list(zip(handles, modes, numbers, strict=True))


def _run(jobs: Iterable[_Job], machine: StarpuMachine, path: str) -> Run:
    """Return where and when each task ran; the first one starts at 0."""
    rows = []
    for job in jobs:
        worker, _, start, end = job.execution or (0, None, 0.0, 0.0)
        if worker not in machine.places:
            raise InvalidInstance(f"{job.where}: WorkerId {worker}: not among {machine.source}")
        rows.append((*machine.places[worker], start, end))
    run = Run(*(np.array(column) for column in zip(*rows, strict=True)))
    first = run.start.min()
    return run._replace(start=(run.start - first) * _MS, end=(run.end - first) * _MS)


def _times(jobs: Iterable[_Job], machine: StarpuMachine, parsed: Parsed) -> list[list[float]]:
    """Return seconds of each task on each type."""
    run = parsed.executed
    assert run is not None
    took = (run.end - run.start).tolist()
    seconds_of_group: dict[tuple[Key, int], list[float]] = {}
    for job, kind, seconds in zip(jobs, run.kind.tolist(), took, strict=True):
        seconds_of_group.setdefault((job.key, kind), []).append(seconds)
    means = {group: float(np.mean(samples)) for group, samples in seconds_of_group.items()}
    rows = []
    for job, used_kind, seconds in zip(jobs, run.kind.tolist(), took, strict=True):
        row = []
        for kind in range(len(machine.units)):
            modelled = machine.modelled(job.key, job.estimates, kind)
            row.append(modelled if modelled is not None else means.get((job.key, kind), math.inf))
        row[used_kind] = seconds
        rows.append(row)
    nowhere = sum(math.isinf(value) for row in rows for value in row)
    if nowhere:
        text = (
            f"taken as 'cannot run there': {nowhere} times on types where no task of the same "
            "model ran and no model is given (perfmodels, or starpu_tasks_rec_complete)"
        )
        parsed.notes.append(Note(NoteKind.ASSUMED, text, subject="unknown times", count=nowhere))
    return rows


def _predecessors(
    jobs: Mapping[str, _Job], executed_jobs: Mapping[str, _Job], parsed: Parsed
) -> dict[str, set[str]]:
    """Return tasks with a worker that each of them waits for, through those without."""
    unknown = 0
    known_predecessors: dict[str, list[str]] = {}
    for job in jobs.values():
        known_predecessors[job.name] = [name for name in job.after if name in jobs]
        unknown += len(job.after) - len(known_predecessors[job.name])
    try:
        order = list(TopologicalSorter(known_predecessors).static_order())
    except CycleError as error:
        cycle = " -> ".join(map(shorten, error.args[1][:8]))
        raise InvalidInstance(f"{parsed.path}: cycle: {cycle}") from None
    predecessors: dict[str, set[str]] = {}
    total = 0
    for name in io.polled(order):
        ends = [
            {name_of_job} if name_of_job in executed_jobs else predecessors[name_of_job]
            for name_of_job in known_predecessors[name]
        ]
        predecessors[name] = set().union(*ends)
        total += len(predecessors[name])
        if total > _MOST_ARCS:
            raise InvalidInstance(
                f"{parsed.path}: more than {_MOST_ARCS:,} arcs through tasks without a worker"
            )
    n_removed = len(jobs) - len(executed_jobs)
    if n_removed:
        text = (
            f"taken out: {n_removed} tasks that no worker ran (synchronisation, waits for data); "
            "who waits for them waits for what they wait for"
        )
        subject = "tasks that no worker ran"
        parsed.notes.append(Note(NoteKind.DROPPED, text, subject=subject, count=n_removed))
    if unknown:
        text = f"left out: {unknown} dependencies on tasks that the file lacks"
        subject = "dependencies on missing tasks"
        parsed.notes.append(Note(NoteKind.DROPPED, text, subject=subject, count=unknown))
    return {name: predecessors[name] for name in executed_jobs}


def _moved(jobs: Iterable[_Job]) -> dict[tuple[str, str], float]:
    """Return bytes that a task reads and another was the last to write, in the order of
    submission."""
    moved_bytes: dict[tuple[str, str], float] = {}
    writer: dict[str, str] = {}
    for job in sorted(jobs, key=lambda job: job.order):
        read_sizes = {handle: size for handle, mode, size in job.data if "R" in mode}  # each once
        for handle, size in read_sizes.items():
            if handle in writer:
                arc = writer[handle], job.name
                moved_bytes[arc] = moved_bytes.get(arc, 0.0) + size
        writer.update({handle: job.name for handle, mode, _ in job.data if set(mode) & {"W", "X"}})
    return moved_bytes
