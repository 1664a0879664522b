"""What a job or a group of jobs needs of a node; a group that is wider than it runs in turns."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.workflows import plan
from snakemake_scheduler_plugin_cosched import jobs


class NodeSize(NamedTuple):
    """What a node of an allocation has for jobs; memory (MB) is None where it is not counted."""

    cores: int
    memory_mb: float | None


class Needs(NamedTuple):
    """What a job needs of a node.

    Attributes
    ----------
    cores : int
    memory_mb : float
    runs_in_turns : bool
        A group whose jobs do not fit beside each other: its own Snakemake starts them as cores and
        memory come free.
    limit : float or None
        Seconds that the job takes at most (resource runtime), if it is known.
    """

    cores: int
    memory_mb: float
    runs_in_turns: bool
    limit: float | None


def needs_of(job: Any, node: NodeSize) -> Needs:
    """What a job, or a group, needs of a node.

    Raises
    ------
    InvalidInstance
        The job, or a job of the group, is larger than a node.
    """
    cores, memory_mb = int(job.threads), _memory_mb(job)
    members = jobs.group(job)
    is_too_large = _excess(cores, memory_mb, node)
    if not is_too_large:
        return Needs(cores, memory_mb, False, jobs.runtime(job))
    if not members:
        raise InvalidInstance(f"{jobs.name(job)} wants {is_too_large}")
    for unit in _units(job):
        excess = _excess(
            sum(int(member.threads) for member in unit), sum(map(_memory_mb, unit)), node
        )
        if excess:
            names = ", ".join(sorted(map(jobs.name, unit)))
            connection = " (connected by pipes or services)" if len(unit) > 1 else ""
            raise InvalidInstance(
                f"a group of {count_of(len(members), 'job')} cannot be split: "
                f"{names}{connection} wants {excess}"
            )
    return Needs(
        min(cores, node.cores),
        memory_mb if node.memory_mb is None else min(memory_mb, node.memory_mb),
        True,
        _limit_in_turns(job, node),
    )


def _memory_mb(job: Any) -> float:
    return float(jobs.needs(job.resources).get("mem_mb", 0))


def _excess(cores: int, memory_mb: float, node: NodeSize) -> str:
    """In words, what is wanted that a node does not have; empty if it has all."""
    if cores > node.cores:
        return (
            f"{count_of(cores, 'core')}, and a node of an allocation has {node.cores} "
            "(--cosched-cores, or --max-threads)"
        )
    if node.memory_mb is not None and memory_mb > node.memory_mb:
        return (
            f"{memory_mb / 1000:g} GB, and a node of an allocation has "
            f"{node.memory_mb / 1000:g} (--cosched-memory)"
        )
    return ""


def _units(group: object) -> Iterator[Sequence[Any]]:
    """Jobs of a group that have to run at the same time: connected by pipes, or a single one."""
    connected: dict[Any, list[Any]] = {}
    for member in jobs.group(group):
        if getattr(member, "pipe_group", None):
            connected.setdefault(member.pipe_group, []).append(member)
        else:
            yield (member,)
    yield from connected.values()


def _limit_in_turns(group: Any, node: NodeSize) -> float | None:
    """Seconds of a list schedule on one node, of jobs that take their limits; None: unknown."""
    members = sorted(jobs.group(group), key=jobs.name)
    limits = [jobs.runtime(member) for member in members]
    seconds = [limit for limit in limits if limit is not None]
    if len(seconds) < len(members):
        return None
    place = {member: number for number, member in enumerate(members)}
    edges = [
        (place[before], place[member])
        for member in members
        for before in group.dag.job_dependencies(member)
        if before in place and not _are_connected(before, member)
    ]
    needs = [
        {"cores": max(int(member.threads), 1), "mem_mb": int(_memory_mb(member))}
        for member in members
    ]
    capacity = {"cores": node.cores}
    if node.memory_mb is not None:
        capacity["mem_mb"] = int(node.memory_mb)
    return plan(members, np.array(seconds), needs, capacity, edges).seconds


def _are_connected(before: object, after: object) -> bool:
    """Whether two jobs run at the same time: what a pipe connects."""
    pipe = getattr(before, "pipe_group", None)
    return pipe is not None and pipe == getattr(after, "pipe_group", None)
