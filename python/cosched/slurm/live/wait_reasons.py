"""Why a job waits, in Slurm's words: the reason that squeue shows, and what stands behind it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from functools import cached_property

from cosched.core.text import count_of
from cosched.slurm.live.core_jobs import NEVER_STARTING
from cosched.slurm.live.model import SnapshotJob
from cosched.slurm.live.nodes import out_of_service
from cosched.slurm.live.reservations import Reservation
from cosched.slurm.live.snapshot import limit_of
from cosched.slurm.live.snapshot_simulation import Simulation
from cosched.slurm.live.time_texts import duration, limit_text, local_date

_NEVER_BECAUSE = {
    "JobHeldUser": "held by its user: never, unless it is released",
    "JobHeldAdmin": "held by an administrator: never, unless it is released",
    "DependencyNeverSatisfied": "its dependency can never be met",
    "BadConstraints": "no node has what it asks for",
}
#: Reasons that say no more than that a job waits, or that are worked out here.
_GENERAL = frozenset((
    "", "None", "Priority", "Resources", "Licenses", "Dependency", "BeginTime", "Reservation",
    "ReqNodeNotAvail", "JobArrayTaskLimit", "PartitionDown", "PartitionInactive",
    "PartitionConfig", "PartitionTimeLimit",
))  # fmt: skip
_MAX_NAMED = 5


class Reasons:
    """Reasons of the jobs of a simulation that wait at the moment of its snapshot."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._now = simulation.snapshot.time

    def reason_of(self, row: int) -> str:
        """Return the reason of a job that waits: Slurm's word for it, a colon, and the facts.

        A reservation that keeps the job from starting now is named in any case.
        """
        job = self._simulation.jobs[row]
        if cause := self._simulation.unsuitable.get(row):
            return f"BadConstraints: {cause}"
        if never := self._never(job):
            return never
        reservation = self._reservation_reason(job)
        for text in (
            self._begin_time(job),
            self._dependency(row),
            self._own_reservation(job),
            self._limit(row),
            self._array_limit(job),
            self._licences(job),
        ):
            if text:
                return f"{text}; {reservation}" if reservation else text
        if reservation:
            return reservation
        if job.reason not in _GENERAL and job.id > 0:
            return f"{job.reason}: as Slurm said last"
        return self._unavailable(job) or self._queue(job)

    def _never(self, job: SnapshotJob) -> str:
        """Return holds, and partitions that let no job start."""
        if job.reason in NEVER_STARTING:
            return f"{job.reason}: {_NEVER_BECAUSE[job.reason]}"
        if job.priority == 0:
            return f"JobHeldAdmin: {_NEVER_BECAUSE['JobHeldAdmin']}"
        if not self._simulation.open_partitions(job):
            return f"PartitionDown: State of partition {job.partition} lets no job start"
        if self._simulation.exceeds_max_time(job):
            limit = limit_text(job.limit)
            return (
                f"PartitionTimeLimit: its limit of {limit} is above MaxTime of partition "
                f"{job.partition}"
            )
        return ""

    def _begin_time(self, job: SnapshotJob) -> str:
        begin = job.eligible
        if not begin or begin <= self._now:
            return ""
        return f"BeginTime: it may begin in {duration(begin - self._now)}"

    def _dependency(self, row: int) -> str:
        dependencies = self._simulation.core_jobs[row].dependencies
        if not dependencies:
            return ""
        jobs = [
            str(self._simulation.jobs[other].id)
            for dependency in dependencies
            for other in dependency.jobs
        ]
        word = "job" if len(jobs) == 1 else "jobs"
        return f"Dependency: it waits for {word} {_listed(jobs)}"

    def _own_reservation(self, job: SnapshotJob) -> str:
        for reservation in self._simulation.reservations:
            if reservation.name == job.reservation and reservation.begin > self._now:
                wait = duration(reservation.begin - self._now)
                return f"Reservation: its reservation {reservation.name} begins in {wait}"
        return ""

    def _limit(self, row: int) -> str:
        """Return the first limit that the job would break now, and whose jobs must end."""
        if row not in self._simulation.limit_blocked_jobs:
            return ""
        block = self._simulation.limit_blocked_jobs[row]
        jobs = [str(self._simulation.jobs[other].id) for other in block.blocking_jobs]
        text = f"{block.reason} ({block.used:g} of {block.limit:g} used)"
        if not jobs or block.used <= 0:
            return text
        who = "job" if len(jobs) == 1 else "one of the jobs"
        return f"{text}: {who} {_listed(jobs)} must end"

    def _array_limit(self, job: SnapshotJob) -> str:
        if not job.array or not job.array[1]:
            return ""
        array, limit = job.array
        running = self._running_tasks[array]
        if running < limit:
            return ""
        return f"JobArrayTaskLimit: {running} of {limit} tasks of array {array} run"

    def _licences(self, job: SnapshotJob) -> str:
        """Return the first licence of which not enough are free."""
        settings = self._simulation.settings
        for name, wanted_count in _licences_of(job).items():
            total = settings.licences.get(name)
            used_count = self._used_licences[name]
            if total is not None and used_count + wanted_count > total:
                return (
                    f"Licenses: it needs {wanted_count} of {name} ({used_count} of {total} in use)"
                )
        return ""

    def _reservation_reason(self, job: SnapshotJob) -> str:
        """Return the reservation that keeps the job from starting now: it would run into it."""
        limit = limit_of(job, self._simulation.machine)
        if job.limit is not None and math.isinf(job.limit):
            limit = math.inf
        wanted_nodes = self._nodes_wanted(job)
        available = self._nodes_in_service(job.partition)
        for reservation in self._simulation.reservations:
            overlaps = reservation.begin < self._now + limit and self._now < reservation.end
            if not overlaps or reservation.name == job.reservation:
                continue
            reserved_nodes = available & self._nodes_of(reservation)
            available = available - reserved_nodes
            if reserved_nodes and len(available) < wanted_nodes:
                return self._reservation_text(reservation, len(reserved_nodes))
        return ""

    def _reservation_text(self, reservation: Reservation, nodes: int) -> str:
        words = "Reserved for maintenance"
        if not reservation.is_maintenance:
            words = "May be reserved for other job"
        offset = self._simulation.snapshot.clocks.get("offset", 0.0)
        begin, end = (local_date(when, offset) for when in (reservation.begin, reservation.end))
        return (
            f"ReqNodeNotAvail, {words}: reservation {reservation.name} has "
            f"{count_of(nodes, 'node')} from {begin} to {end}"
        )

    def _unavailable(self, job: SnapshotJob) -> str:
        """Return why too few nodes of the partition are in service; empty: enough are."""
        wanted_nodes = self._nodes_wanted(job)
        available = self._nodes_in_service(job.partition)
        missing = self._partition_nodes(job.partition) - available
        if len(available) >= wanted_nodes or not missing:
            return ""
        names = self._simulation.settings.names
        node_names = _listed([names[node] for node in sorted(missing)])
        needs = count_of(wanted_nodes, "node")
        return (
            f"ReqNodeNotAvail, UnavailableNodes:{node_names}: it needs {needs}, "
            f"{len(available)} in service"
        )

    def _queue(self, job: SnapshotJob) -> str:
        """Return Priority, as long as jobs of its partitions are before it; else Resources."""
        priorities = self._priorities(job.partition)
        ahead = len(priorities) - bisect_right(priorities, job.priority or 0.0)
        idle = len(self._nodes_in_service(job.partition) - self._busy_nodes)
        needs = count_of(self._nodes_wanted(job), "node")
        if job.gres or job.gpus:
            needs += f" with {job['gres'] or job['gpus']}"
        needs += f" ({idle} idle)"
        if ahead:
            verb = "is" if ahead == 1 else "are"
            return f"Priority: {count_of(ahead, 'job')} {verb} before it; it needs {needs}"
        return f"Resources: it needs {needs}"

    def _nodes_wanted(self, job: SnapshotJob) -> int:
        return max(int(job.nodes or 1), 1)

    @cached_property
    def _nodes_of_partition(self) -> dict[str, frozenset[int]]:
        return {
            part.name: frozenset(node for span in part.nodes for node in range(*span))
            for part in self._simulation.machine.partitions
        }

    def _partition_nodes(self, partitions: str) -> frozenset[int]:
        """Return nodes of the partitions of a job; of an unknown one all nodes."""
        every = frozenset(range(self._simulation.machine.node_count))
        return frozenset().union(
            *(self._nodes_of_partition.get(name, every) for name in partitions.split(","))
        )

    @cached_property
    def _nodes_by_partitions(self) -> dict[str, frozenset[int]]:
        return {}

    def _nodes_in_service(self, partitions: str) -> frozenset[int]:
        cache = self._nodes_by_partitions
        if partitions not in cache:
            cache[partitions] = self._partition_nodes(partitions) - self._nodes_out_of_service
        return cache[partitions]

    @cached_property
    def _node_numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._simulation.settings.names)}

    @cached_property
    def _nodes_out_of_service(self) -> frozenset[int]:
        """Nodes that take no job now; those of maintenance reservations are told apart."""
        names = out_of_service(self._simulation.snapshot.scontrol_texts["nodes"])
        return frozenset(self._node_numbers[name] for name in names if name in self._node_numbers)

    @cached_property
    def _busy_nodes(self) -> frozenset[int]:
        return frozenset(
            self._node_numbers[allocated.node]
            for job in self._simulation.snapshot.running
            for allocated in job.holds
            if allocated.node in self._node_numbers
        )

    def _nodes_of(self, reservation: Reservation) -> frozenset[int]:
        spans = self._simulation.nodes_of_reservation(reservation)
        return frozenset(node for span in spans for node in range(*span))

    @cached_property
    def _running_tasks(self) -> Counter[int]:
        """Tasks that run, by the number of their array."""
        return Counter(job.array[0] for job in self._simulation.snapshot.running if job.array)

    @cached_property
    def _used_licences(self) -> Counter[str]:
        count_by_licence = Counter[str]()
        for job in self._simulation.snapshot.running:
            count_by_licence.update(_licences_of(job))
        return count_by_licence

    @cached_property
    def _priorities_of(self) -> dict[str, list[float]]:
        return {}

    def _priorities(self, partitions: str) -> list[float]:
        """Return increasing priorities of jobs that compete for nodes of these partitions."""
        if partitions not in self._priorities_of:
            names = set(partitions.split(","))
            self._priorities_of[partitions] = sorted(
                float(job.priority or 0.0)
                for job in self._competing
                if names & set(job.partition.split(","))
            )
        return self._priorities_of[partitions]

    @cached_property
    def _competing(self) -> list[SnapshotJob]:
        """Jobs that wait and that only priority and resources keep from starting."""
        rows = self._simulation.rows
        return [
            job
            for job in self._simulation.snapshot.pending
            if not self._never(self._simulation.jobs[rows[job.id]])
            and not self._begin_time(job)
            and not self._dependency(rows[job.id])
        ]


def _licences_of(job: SnapshotJob) -> dict[str, int]:
    """Return the number of each licence that a job asks for: ``a:2,b``."""
    count_by_licence: dict[str, int] = {}
    for part in filter(None, job.licences.replace(";", ",").split(",")):
        name, _, count = part.partition(":")
        count_by_licence[name] = count_by_licence.get(name, 0) + (
            int(count) if count.isdecimal() else 1
        )
    return count_by_licence


def _listed(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    text = ", ".join(names[:_MAX_NAMED])
    return text if len(names) <= _MAX_NAMED else f"{text} and {len(names) - _MAX_NAMED} more"
