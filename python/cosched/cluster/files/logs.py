"""A log of the archive as jobs on a machine, with what was dropped, repaired or assumed."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from cosched.cluster.files.conventions import dfrs_jobs, rigid_jobs
from cosched.cluster.files.dates import begin_of_part, date_of_header
from cosched.cluster.files.eligible import after_preceding
from cosched.cluster.files.facts import described, dropped, swf_facts
from cosched.cluster.files.machines import rigid_machine, shared_machine
from cosched.cluster.files.overuse import overuse
from cosched.cluster.files.swf import read_swf
from cosched.cluster.files.window import part_of
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

if TYPE_CHECKING:
    from datetime import datetime

    from cosched.cluster.machine import Machine


class Log(NamedTuple):
    """Jobs of a log on a machine."""

    jobs: pd.DataFrame
    nodes: int
    notes: tuple[str, ...]
    begins: datetime | None  # when its clock is 0


def read_log(
    path: str | PathLike[str],
    nodes: int | None,
    convention: str,
    *,
    cores_per_node: int | None = None,
    memory_per_node: float | str | None = None,
    week: int | None = None,
    begin: float | None = None,
    until: float | None = None,
    drop: str | Iterable[str] | None = None,
    of_machine: Machine | None = None,
) -> Log:
    """Jobs, nodes and notes; arguments as :func:`cosched.cluster.from_swf`, and the machine whose
    partitions say which jobs are too wide."""
    if convention not in ("dfrs", "rigid"):
        raise InvalidInstance(f"convention = {shorten(convention)}: expected dfrs or rigid")
    table, report = read_swf(path)
    if not report.kept:
        reasons = "; ".join(line.strip() for line in str(report).splitlines()[1:])
        raise InvalidInstance(f"{path}: no usable job: {reasons}")
    if convention == "rigid":
        machine = rigid_machine(path, report.header, nodes)
        jobs = rigid_jobs(table)
    else:
        machine = shared_machine(path, report.header, nodes, cores_per_node, memory_per_node)
        jobs = dfrs_jobs(table, machine.memory_kb, cores=machine.cores)
    repaired = jobs.attrs.get("repaired", {})
    eligible, chained = after_preceding(table)
    jobs = jobs.drop(columns="job").assign(eligible=eligible, **swf_facts(table, report.header))
    notes = [*str(report).splitlines(), *chained]
    notes += [f"  {n} jobs: {what}" for what, n in repaired.items() if n]
    notes.append(f"assumed: {', '.join(machine.said)}; convention {convention}")
    for name, value in (("cores_per_node", cores_per_node), ("memory_per_node", memory_per_node)):
        if convention == "rigid" and value is not None:
            ignored = f"{name} = {shorten(value)}"
            notes.append(f"assumed: {ignored} is not used: the convention rigid counts processors")
    other = "it ran on more nodes than are given, or the header is of other months"
    notes += overuse(jobs, machine.nodes, lambda: other)
    jobs, said = part_of(path, jobs, week, begin, until)
    notes += said
    jobs, left_out = dropped(jobs, machine.nodes, drop, of_machine)
    notes.append(f"assumed: {described(jobs)}")
    notes.append(f"assumed: left out: {', '.join(left_out) or 'nothing (--drop)'}")
    begins = begin_of_part(date_of_header(report.header), week, begin)
    return Log(jobs, machine.nodes, tuple(notes), begins)
