"""What jobs of a snapshot ask for."""

import math
import re
from functools import cached_property, partial
from typing import Any

from cosched import _core
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind
from cosched.slurm.live.model import SnapshotJob
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.requests import request as core
from cosched.slurm.requests.associations import Accounts

#: Seconds. Nothing that waits or comes now is there any more when jobs of a later begin start.
HORIZON = 365 * 86400.0
#: Slurm's reasons of jobs that never start, as they are.
NEVER_STARTING = frozenset(
    ("JobHeldUser", "JobHeldAdmin", "DependencyNeverSatisfied", "BadConstraints")
)

#: Reasons of jobs that are larger or longer than their partition lets them be.
PARTITION_LIMITS = frozenset(("PartitionTimeLimit", "PartitionConfig", "PartitionNodeLimit"))


class CoreJobFactory:
    """Of each job: what it asks for, what it waits for, what its priority is made of."""

    snapshot: Snapshot
    machine: Any
    job_builder: core.CoreJobBuilder
    rows: dict[int, int]
    epoch: float
    now: float
    uses_whole_nodes: bool
    not_modelled: list[Note]
    _accounts: Accounts
    _arrays: dict[int, int]
    _qos_priorities: dict[str, float]

    def _core_job(self, job: SnapshotJob) -> _core.slurm.Job:
        """Return a job of the snapshot as the core has it."""
        return self.job_builder.of(self._request(job), partial(self._cannot_follow, job))

    def _cannot_follow(self, job: SnapshotJob, error: InvalidInstance) -> None:
        """Note what a job asks for and the machine does not have, by the number that its user
        knows; the first task of an array speaks for all."""
        if job.id in self._snapshot_job_ids:
            self._add_note(f"job {job.id}: {error}", f"job {job.id}")
        elif job.arrives is None and job.id > 0:
            self._add_note(f"what is asked for: {error}", "what is asked for")

    @cached_property
    def _snapshot_job_ids(self) -> frozenset[int]:
        """The ids of the jobs that the snapshot shows."""
        return frozenset(job.id for job in self.snapshot.jobs)

    def _request(self, job: SnapshotJob) -> core.Request:
        """Return what a job asks for; of a job that runs, what it has."""
        if job.state == "RUNNING":
            return core.Request(
                owner=self._owner(job),
                running=self._running_allocation(job),
                array=self._array(job),
                licences=job.licences,
                nodes=max(len(job.holds), 1) if self.uses_whole_nodes else None,
            )
        after, singleton = self._dependencies(job)
        waits = job.arrives is None and job.priority is not None
        return core.Request(
            **self._resources(job),
            owner=self._owner(job),
            begin=self._begin(job),
            held=self._is_held(job) or self._seconds_until_begin(job) > HORIZON,
            after=after,
            singleton=singleton,
            array=self._array(job),
            licences=job.licences,
            constraint=job.features,
            reservation=job.reservation or None,
            nice=-self._fixed_priority(job),
            waiting=core.Waiting(float(job.priority or 0), self._age_start(job)) if waits else None,
        )

    def _begin(self, job: SnapshotJob) -> float:
        """Return the second from which on a job may start."""
        if job.arrives is not None:
            return 0.0
        later = self._seconds_until_begin(job)
        return job.eligible - self.epoch if job.eligible and 0 < later <= HORIZON else self.now

    def _seconds_until_begin(self, job: SnapshotJob) -> float:
        """Return the seconds from the snapshot to the begin time of a job; 0 or less: it may
        begin."""
        return 0.0 if job.arrives is not None else (job.eligible or 0.0) - self.snapshot.taken

    def _is_held(self, job: SnapshotJob) -> bool:
        """Return whether a job cannot start as things are: it is held, or no partition lets it
        in."""
        shut = not self.open_partitions(job)
        is_held = job.reason in NEVER_STARTING or job.priority == 0
        return shut or is_held or self.exceeds_max_time(job)

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
        flags = self.snapshot.limits.get("qos", {}).get(job.qos, {}).get("Flags", "")
        names = job.partition.split(",")
        limits = [part.max_time for part in self.machine.partitions if part.name in names]
        limit = job.limit
        if limit is None:  # UNLIMITED; a request without a limit has that of its partition
            limit = 0.0 if is_request else math.inf
        exceeds = bool(limits) and limit > max(limits)
        return exceeds and "partitiontimelimit" not in flags.lower()

    def open_partitions(self, job: SnapshotJob) -> list[str]:
        """Return the partitions that let a job start: none whose State is DOWN or INACTIVE."""
        bounds, open_names = self.machine.slurm.bounds, []
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
        return self._arrays.setdefault(array_id, len(self._arrays)), int(task_limit)

    def _age_start(self, job: SnapshotJob) -> float:
        """Return since when the age of a job counts (s); infinite: it does not count yet."""
        since = job.accrue or (None if self._limits_accrual else job.eligible)
        if since is None or since > self.snapshot.taken:
            return math.inf
        return float(since) - self.epoch

    def _add_note(self, text: str, subject: str) -> None:
        """Add a note about what is not modelled, once."""
        if text not in self.not_modelled:
            self.not_modelled.append(Note(NoteKind.NOT_MODELLED, text, subject=subject))

    def _owner(self, job: SnapshotJob) -> core.Owner:
        """Return the association and the QOS of a job; without one of its user the account's."""
        accounts = self._accounts
        association = accounts.association_of(job.account, job.user)
        return core.Owner(
            association if association >= 0 else accounts.association_of(job.account, ""),
            accounts.qos_of(job.qos),
        )

    def _running_allocation(self, job: SnapshotJob) -> core.Running:
        """Return since when a job runs, and its cores, memory and GPUs by node."""
        numbers = {name: k for k, name in enumerate(self.machine.slurm.names)}
        types = self.job_builder.gpu_types
        gpu_type = core.gpus_asked(job.gres or job.gpus, by_node=True).type
        type_number = types.index(gpu_type) if gpu_type in types else 0
        nodes, gpus = [], []
        for name, cpus, memory, count in sorted(
            (allocation for allocation in job.holds if allocation.node in numbers),
            key=lambda allocation: numbers[allocation.node],
        ):
            nodes.append((numbers[name], int(cpus), int(memory)))
            if count and types:
                gpus.append((numbers[name], type_number, int(count)))
        start = min(job.start or self.snapshot.taken, self.snapshot.taken) - self.epoch
        return core.Running(
            math.floor(start) + 0.5, nodes, gpus
        )  # somewhere in the second that is told

    def _resources(self, job: SnapshotJob) -> dict[str, Any]:
        """Return the cores, nodes, memory and GPUs that a waiting job asks for."""
        if self.uses_whole_nodes:
            return {"nodes": max(int(job.nodes or 1), 1)}
        gpus = job.gpus or job.gres
        return {
            "cores": max(int(job.cpus or 1), 1),
            "exclusive": job.exclusive,
            "nodes": int(job.nodes) if job.exact and job.nodes else None,
            "memory": int(job.memory) if job.memory else None,
            "memory_per_core": int(job.memory_per_cpu) if job.memory_per_cpu else None,
            "gpus": core.gpus_asked(gpus, by_node=not job.gpus) if gpus else None,
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
            rows = [self.rows[job_id] for job_id in ids if job_id in self.rows]
            if kind in core.KINDS and rows:
                after.append((core.KINDS.index(kind), rows))
            elif kind not in core.KINDS:
                self._add_note(f"dependency {kind}", f"dependency {kind}")
        return after, singleton

    def _fixed_priority(self, job: SnapshotJob) -> float:
        """Return the part of the priority that neither ages nor follows the shares."""
        parts = self.snapshot.priorities.get(job.id)
        if parts is None:
            priority = job.priority
            if not self._has_aging():
                return float(priority) if priority is not None else self._lowest_priority
            return self._qos_priorities.get(job.qos, 0.0)
        rest = parts["PRIORITY"] - (parts.get("AGE", 0.0) if self._has_aging() else 0.0)
        shares = self.snapshot.clocks.get("weight_fairshare", 0) > 0 and (
            self._accounts.association_of(job.account, job.user) >= 0
        )
        return rest - (parts.get("FAIRSHARE", 0.0) if shares else 0.0)

    @cached_property
    def _lowest_priority(self) -> float:
        """The priority of a job whose priority is not known: below all known ones."""
        priorities = [job.priority for job in self.snapshot.pending if job.priority]
        return min(priorities, default=4294901000.0) - 1

    @cached_property
    def _limits_accrual(self) -> bool:
        """Whether a limit on the number of jobs whose age counts is set."""
        limits = self.snapshot.limits
        all_limits = (*limits.get("qos", {}).values(), *limits.get("associations", ()))
        return any("Accrue" in key for row in all_limits for key in row)

    def _has_aging(self) -> bool:
        """Return whether priorities grow with the age of jobs."""
        return bool(self.snapshot.priorities) and self.snapshot.clocks.get("multifactor", 0) > 0
