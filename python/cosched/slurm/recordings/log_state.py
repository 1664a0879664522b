"""What a week of sacct tells of its cluster beside the jobs: who ran at its begin, and how soon
nodes are free again."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np

from cosched.cluster.files.sacct.rows import read_rows
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import has_waits, logged_starts
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import of_nodes
from cosched.errors import InvalidInstance
from cosched.slurm.twin.backfill import HOST

#: A job that waited so long before anything of the log had ended, waited for what is not in it (s).
_WAITED = 120.0
#: A node is taken again at once by those who wait, or by a cycle: only so soon after a job (s).
_SOON = 300.0
#: The part of them that pass for those whom nothing else kept.
_SOONEST = 0.05
#: So many such starts tell how long a node is not free after a job.
_TELLING = 20


@dataclass(frozen=True)
class LogState:
    """A log as the twin takes it."""

    #: From the first end that the log has, where it begins in the middle of things: jobs that run
    #: then are on their nodes.
    instance: Instance
    epilog: float | None  # s from a job's end until its nodes are free; None: it does not tell
    notes: tuple[str, ...]  # what was taken from the log, and what it does not tell


def read_state(
    log: str | PathLike[str], machine: Machine, *, approximate: bool = False
) -> LogState:
    """Read what ``sacct -P`` printed as a test of the twin: jobs as long as they were.

    `approximate`: see :meth:`Machine.approximated`.
    """
    if approximate:
        machine = machine.approximated()

    def read(begin: float | None = None) -> Instance:
        return Instance.read(log, machine=machine, no_bound=True, include_running=True, begin=begin)

    whole = read()
    nodes = _nodes(log, machine)
    epilog, told = _release(whole, nodes)
    first = _first_end(whole)
    part = whole if first is None else read(first)
    if "running" not in part.known:
        return LogState(whole, epilog, (told,))
    held = _held(part, nodes)
    count = int(part.column("running").sum())
    known = sum(map(bool, held))
    where = "" if known == count else f", {count - known} of them on nodes that it does not tell"
    said = f"begins with the log's first end: {count} jobs run then{where}"
    return LogState(part.replace(held=np.array(held)), epilog, (said, told))


def _first_end(instance: Instance) -> float | None:
    """When the first job ended, s from the first submission, if what ran before is not all there:
    a job had waited although nothing was over."""
    if not has_waits(instance):
        return None
    start = logged_starts(instance)
    first = float(np.nanmin(start + instance.column("runtime")))
    early = start < first
    waited = start - instance.column("eligible")
    return first if (waited[early] > _WAITED).any() else None


def _nodes(log: str | PathLike[str], machine: Machine) -> dict[int, list[int]]:
    """Numbers of each job's nodes, by line of the log."""
    rows, _ = read_rows(log, "|")
    if "NodeList" not in rows or machine.slurm is None:
        return {}
    numbers = {name: k for k, name in enumerate(machine.slurm.names)}
    known: dict[str, list[int]] = {}
    for text in set(rows["NodeList"].tolist()):
        try:
            known[text] = [numbers[name] for name in hosts(text, "NodeList")]
        except (KeyError, InvalidInstance):
            continue  # none assigned, or none of this machine's
    pairs = zip(rows["line"].tolist(), rows["NodeList"].tolist(), strict=True)
    return {line: known[text] for line, text in pairs if text in known}


def _held(instance: Instance, nodes: dict[int, list[int]]) -> list[str]:
    """Cores by node of jobs that run at the begin, in equal parts as far as there is room."""
    machine = instance.machine
    assert machine is not None
    free = of_nodes(machine, "cores")
    held = [""] * len(instance)
    tasks, lines = instance.column("tasks").tolist(), instance.column("line").tolist()
    for row in np.flatnonzero(instance.column("running")).tolist():
        own = nodes.get(lines[row], [])
        parts = dict(_parts(tasks[row], own, free))
        if own and sum(parts.values()) == tasks[row]:
            for node, cores in parts.items():
                free[node] -= cores
            held[row] = ";".join(f"{node}:{cores}" for node, cores in sorted(parts.items()))
    return held


def _parts(tasks: int, own: list[int], free: np.ndarray) -> Iterator[tuple[int, int]]:
    """(node, cores): the scarcest first, what is left on the others."""
    left = tasks
    for rank, node in enumerate(sorted(own, key=lambda node: free[node])):
        part = min(-(-left // (len(own) - rank)), int(free[node]))
        left -= part
        if part:
            yield node, part


def _release(instance: Instance, nodes: dict[int, list[int]]) -> tuple[float | None, str]:
    """Seconds from a job's end until its nodes are free, and how that is known."""
    usual = HOST["epilog"]
    gaps = _gaps(instance, nodes) if has_waits(instance) else []
    if len(gaps) < _TELLING:
        return None, (
            f"host: jobs as long as logged; how soon nodes are free after a job is drawn around "
            f"{usual:g} s, as on one host: too few starts of waiting jobs on nodes just left tell"
        )
    # In whole seconds; never sooner, and later where a cycle started the job.
    found = max(float(np.quantile(gaps, _SOONEST)) - 0.5, usual)
    return found, (
        f"host: jobs as long as logged; nodes are free {found:g} s after a job, of {len(gaps)} "
        "starts on nodes just left"
    )


def _gaps(instance: Instance, nodes: dict[int, list[int]]) -> list[float]:
    """Of jobs that waited: seconds from the last end on their nodes to their start, where few."""
    start = logged_starts(instance)
    end = start + instance.column("runtime")
    waited = start - instance.column("eligible") > _WAITED
    lines = instance.column("line").tolist()
    found = []
    moments = [(time, 0, row) for row, time in enumerate(end.tolist())]
    moments += [(time, 1, row) for row, time in enumerate(start.tolist())]
    last: dict[int, float] = {}
    for time, starts, row in sorted(moments):
        own = nodes.get(lines[row], [])
        if not starts:
            last |= dict.fromkeys(own, time)
        elif waited[row]:
            gap = time - max((last.get(node, -np.inf) for node in own), default=-np.inf)
            if gap <= _SOON:
                found.append(gap)
    return found
