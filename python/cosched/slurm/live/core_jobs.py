"""The jobs of a snapshot as the core has them: what each asks for, waits for and is worth."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.machine import Machine
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind
from cosched.slurm.conf.settings import settings_of
from cosched.slurm.live.model import SnapshotJob
from cosched.slurm.live.simulated_machine import has_aging
from cosched.slurm.live.snapshot import Snapshot, cores_of, limit_of
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.core_job_builder import CoreJobBuilder
from cosched.slurm.requests.request import KINDS, Owner, Request, Running, Waiting, parse_gpus
from cosched.slurm.requests.requested_gpus import gpus_of_nodes

#: Jobs that begin later than so many seconds after the snapshot are held: all jobs that wait or
#: come now have ended by then.
HORIZON = 365 * 86400.0
#: Slurm's reasons of jobs that never start, as they are.
NEVER_STARTING = frozenset(
    ("JobHeldUser", "JobHeldAdmin", "DependencyNeverSatisfied", "BadConstraints")
)

#: Reasons of jobs that are larger or longer than their partition lets them be.
PARTITION_LIMITS = frozenset(("PartitionTimeLimit", "PartitionConfig", "PartitionNodeLimit"))


@dataclass(frozen=True)
class SimulationClock:
    """How seconds of a simulation relate to Unix time."""

    #: Unix time of second 0 of the simulation.
    epoch: int
    #: The moment of the snapshot, in seconds of the simulation.
    now: float


class CoreJobFactory:
    """Makes the core's jobs of the jobs of a snapshot: what each asks for, waits for and is worth.

    Parameters
    ----------
    snapshot : Snapshot
        Where the jobs are from.
    machine : Machine
        The machine as it is simulated.
    clock : SimulationClock
        Of the simulation.
    job_builder : CoreJobBuilder
        Numbers what the jobs refer to.
    accounts : Accounts
        Associations and QOS.
    rows : mapping
        Row in the simulation, by id of the job: dependencies refer to it.
    notes : list of Note
        Gets a note on what a job asks for and is not modelled.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        machine: Machine,
        clock: SimulationClock,
        job_builder: CoreJobBuilder,
        accounts: Accounts,
        rows: Mapping[int, int],
        notes: list[Note],
    ) -> None:
        self._snapshot = snapshot
        self._machine = machine
        self._settings = settings_of(machine)
        self._clock = clock
        self._job_builder = job_builder
        self._accounts = accounts
        self._rows = rows
        self._notes = notes
        #: Number of each array, by its id.
        self._array_numbers: dict[int, int] = {}
        #: Parts of priorities as seen in pending jobs, by the column of sprio.
        self._parts_by_column: dict[str, dict[str, float]] = {}

    def core_job(self, job: SnapshotJob) -> _core.slurm.Job:
        """Return a job of the snapshot, a request or a later submission as the core has it."""
        return self._job_builder.core_job(self._request(job), partial(self._note_unsupported, job))

    def is_held(self, job: SnapshotJob) -> bool:
        """Whether a job cannot start as things are: it is held, or no partition lets it in."""
        is_held = job.reason in NEVER_STARTING or job.priority == 0
        return not self.open_partitions(job) or is_held or self.exceeds_max_time(job)

    def seconds_until_begin(self, job: SnapshotJob) -> float:
        """Return the seconds from the snapshot to the begin time of a job; 0 or less: it may
        begin."""
        if job.arrives is not None:
            return 0.0
        return (job.eligible or 0.0) - self._snapshot.time

    def _note_unsupported(self, job: SnapshotJob, error: InvalidInstance) -> None:
        """Add a note on what a job asks for and the machine does not have, by the id that its user
        knows.

        Tasks of an array that the simulation adds have no such id: the first task has the note.
        """
        if job.id in self._snapshot_job_ids:
            self._add_note(f"job {job.id}: {error}", f"job {job.id}")
        elif job.arrives is None and job.id > 0:
            self._add_note(f"what is asked for: {error}", "what is asked for")

    @cached_property
    def _snapshot_job_ids(self) -> frozenset[int]:
        """The ids of the jobs that the snapshot shows."""
        return frozenset(job.id for job in self._snapshot.jobs)

    def _request(self, job: SnapshotJob) -> Request:
        """Return what a job asks for; of a job that runs, what it has."""
        if job.state == "RUNNING":
            return Request(
                owner=self._owner(job),
                running=self._running_allocation(job),
                array=self._array(job),
                licences=job.licences,
                nodes=max(len(job.holds), 1) if self._settings.exclusive_nodes else None,
            )
        after, singleton = self._dependencies(job)
        has_priority = job.arrives is None and job.priority is not None
        waiting = Waiting(float(job.priority or 0), self._age_start(job))
        return Request(
            **self._resources(job),
            owner=self._owner(job),
            begin=self._begin(job),
            held=self.is_held(job) or self.seconds_until_begin(job) > HORIZON,
            after=after,
            singleton=singleton,
            array=self._array(job),
            licences=job.licences,
            constraint=job.features,
            reservation=job.reservation or None,
            nice=-self._fixed_priority(job),
            waiting=waiting if has_priority else None,
        )

    def _begin(self, job: SnapshotJob) -> float:
        """Return the second from which on a job may start."""
        if job.arrives is not None:
            return 0.0
        if job.eligible and 0 < self.seconds_until_begin(job) <= HORIZON:
            return job.eligible - self._clock.epoch
        return self._clock.now

    def exceeds_max_time(self, job: SnapshotJob) -> bool:
        """Whether a job waits for ever, as its limit is above MaxTime of each of its partitions.

        Slurm says so itself of a job that waits. An operator may give a job a longer limit, and a
        QOS with the flag PartitionTimeLimit may allow it: such jobs start.
        """
        is_request = (
            job.arrives is None and job.id not in self._snapshot_job_ids and job.state == "PENDING"
        )
        if job.reason not in PARTITION_LIMITS and not (is_request and not job.reason):
            return False
        flags = self._snapshot.limits.get("qos", {}).get(job.qos, {}).get("Flags", "")
        names = job.partition.split(",")
        limits = [part.max_time for part in self._machine.partitions if part.name in names]
        limit = job.limit
        if limit is None:  # UNLIMITED; a request without a limit has that of its partition
            limit = 0.0 if is_request else math.inf
        exceeds = bool(limits) and limit > max(limits)
        return exceeds and "partitiontimelimit" not in flags.lower()

    def open_partitions(self, job: SnapshotJob) -> list[str]:
        """Return the partitions that let a job start: none whose State is DOWN or INACTIVE."""
        bounds, open_names = self._settings.bounds, []
        for name in job.partition.split(","):
            if bounds.get(name, (0, 1))[1]:
                open_names.append(name)
            else:
                state = f"State of partition {name}"
                self._add_note(f"{state}: its jobs that wait do not start", state)
        return open_names

    def _array(self, job: SnapshotJob) -> tuple[int, int] | None:
        """Return the number of the array that the job is a task of, and how many of its tasks
        may run."""
        if not job.array:
            return None
        array_id, task_limit = job.array
        return self._array_numbers.setdefault(array_id, len(self._array_numbers)), int(task_limit)

    def _age_start(self, job: SnapshotJob) -> float:
        """Return since when the age of a job counts (s); infinite: it does not count yet."""
        since = job.accrue or (None if self._limits_accrual else job.eligible)
        if since is None or since > self._snapshot.time:
            return math.inf
        return float(since) - self._clock.epoch

    def _add_note(self, text: str, subject: str) -> None:
        """Add a note about what is not modelled, once."""
        if text not in self._notes:
            self._notes.append(Note(NoteKind.NOT_MODELLED, text, subject=subject))

    def _owner(self, job: SnapshotJob) -> Owner:
        """Return the association and the QOS of a job; without one of its user the account's."""
        accounts = self._accounts
        association = accounts.association_of(job.account, job.user)
        return Owner(
            association if association >= 0 else accounts.association_of(job.account, ""),
            accounts.qos_of(job.qos),
        )

    def _running_allocation(self, job: SnapshotJob) -> Running:
        """Return since when a job runs, and its cores, memory and GPUs by node."""
        numbers = {name: k for k, name in enumerate(self._settings.names)}
        nodes, gpus = [], []
        for name, cpus, memory, count in sorted(
            (allocation for allocation in job.holds if allocation.node in numbers),
            key=lambda allocation: numbers[allocation.node],
        ):
            nodes.append((numbers[name], int(cpus), int(memory)))
            if count and self._job_builder.gpu_types:
                gpus.append((numbers[name], self._gpu_type_of(job, numbers[name]), int(count)))
        start = min(job.start or self._snapshot.time, self._snapshot.time) - self._clock.epoch
        # The snapshot tells whole seconds: the job started at some moment of that second.
        return Running(math.floor(start) + 0.5, nodes, gpus)

    @cached_property
    def _gpus_by_type(self) -> list[list[int]]:
        """GPUs of each node, by type."""
        return gpus_of_nodes(self._machine)

    def _gpu_type_of(self, job: SnapshotJob, node: int) -> int:
        """Return the number of the type of the GPUs that a running job has on a node.

        A job that asks for any type has those of the node.
        """
        types = self._job_builder.gpu_types
        gpu_type = parse_gpus(job.gres or job.gpus, by_node=True).type
        if gpu_type in types:
            return types.index(gpu_type)
        counts = [gpus_of_type[node] for gpus_of_type in self._gpus_by_type]
        return int(np.argmax(counts))

    def _resources(self, job: SnapshotJob) -> dict[str, Any]:
        """Return the cores, nodes, memory and GPUs that a waiting job asks for."""
        if self._settings.exclusive_nodes:
            return {"nodes": max(int(job.nodes or 1), 1)}
        gpus = job.gpus or job.gres
        return {
            "cores": max(int(job.cpus or 1), 1),
            "exclusive": job.exclusive,
            "nodes": int(job.nodes) if job.exact and job.nodes else None,
            "memory": int(job.memory) if job.memory else None,
            "memory_per_core": int(job.memory_per_cpu) if job.memory_per_cpu else None,
            "gpus": parse_gpus(gpus, by_node=not job.gpus) if gpus else None,
            "partition": job.first_partition,
        }

    def _dependencies(self, job: SnapshotJob) -> tuple[list[tuple[int, list[int]]], Any]:
        """Return the rows that a job waits for, and its user and name if it waits for all of
        that name."""
        after, singleton = [], None
        for kind, text in re.findall(r"(after\w*|singleton):?([0-9_:,+*()a-z]*)", job.dependency):
            if kind == "singleton":
                singleton = job.user, job.name
                continue
            ids = [int(job_id) for job_id in re.findall(r"(?:^|[:,])([0-9]{1,18})(?![0-9])", text)]
            rows = [self._rows[job_id] for job_id in ids if job_id in self._rows]
            if kind in KINDS and rows:
                after.append((KINDS.index(kind), rows))
            elif kind not in KINDS:
                self._add_note(f"dependency {kind}", f"dependency {kind}")
        return after, singleton

    def _fixed_priority(self, job: SnapshotJob) -> float:
        """Return the part of the priority that neither ages nor follows the shares."""
        parts = self._snapshot.priorities.get(job.id)
        if parts is None:
            priority = job.priority
            if not has_aging(self._snapshot):
                return float(priority) if priority is not None else self._lowest_priority
            return self._priority_of_submission(job)
        rest = parts["PRIORITY"] - (parts.get("AGE", 0.0) if has_aging(self._snapshot) else 0.0)
        shares = self._snapshot.clocks.get("weight_fairshare", 0) > 0 and (
            self._accounts.association_of(job.account, job.user) >= 0
        )
        return rest - (parts.get("FAIRSHARE", 0.0) if shares else 0.0)

    @cached_property
    def _lowest_priority(self) -> float:
        """The priority of a job whose priority is not known: below all known ones."""
        priorities = [job.priority for job in self._snapshot.pending if job.priority]
        return min(priorities, default=4294901000.0) - 1

    @cached_property
    def _limits_accrual(self) -> bool:
        """Whether a limit on the number of jobs whose age counts is set."""
        limits = self._snapshot.limits
        all_limits = (*limits.get("qos", {}).values(), *limits.get("associations", ()))
        return any("Accrue" in key for row in all_limits for key in row)

    def _priority_of_submission(self, job: SnapshotJob) -> float:
        """Return the fixed part of the priority of a job that sprio does not show: what its QOS,
        its partition and its size add.

        The first two are those of pending jobs, and where there are none those of slurm.conf.
        """
        qos_part = self._priority_parts("QOS", "qos").get(job.qos)
        if qos_part is None:
            factor = self._accounts.owner_in_log(job.user, job.account, job.qos).qos_factor
            qos_part = self._weight("PriorityWeightQOS") * (factor or 0.0)
        partition = job.first_partition
        partition_part = self._priority_parts("PARTITION", "first_partition").get(partition)
        if partition_part is None:
            factors = settings_of(self._snapshot.machine).factors
            largest = max(factors.values(), default=1.0) or 1.0
            partition_part = (
                self._weight("PriorityWeightPartition") * factors.get(partition, 1.0) / largest
            )
        return qos_part + partition_part + self._weight("PriorityWeightJobSize") * self._size(job)

    def _priority_parts(self, column: str, field: str) -> dict[str, float]:
        """Return a part of the priority as seen in pending jobs, by a field of theirs."""
        if column not in self._parts_by_column:
            parts = self._snapshot.priorities
            self._parts_by_column[column] = {
                getattr(job, field): parts[job.id][column]
                for job in self._snapshot.pending
                if column in parts.get(job.id, ())
            }
        return self._parts_by_column[column]

    def _weight(self, name: str) -> float:
        """Return a weight of priority/multifactor as slurm.conf has it."""
        return settings_of(self._snapshot.machine).parameters.get(name, 0.0)

    def _size(self, job: SnapshotJob) -> float:
        """Return the factor of the size of a job, from 0 to 1: the mean of its parts of the nodes
        and of the CPUs."""
        machine = self._snapshot.machine
        parameters = settings_of(machine).parameters
        nodes = (job.nodes or 1) / max(machine.node_count, 1)
        cpus = cores_of(job, machine) / max(machine.cores, 1)
        size = (nodes + cpus) / 2
        if parameters.get("SMALL_RELATIVE_TO_TIME", 0.0):
            size = max(nodes, cpus) / max(limit_of(job, machine) // 60, 1.0)
        return 1 - size if parameters.get("PriorityFavorSmall", 0.0) else size
