"""The twin of a snapshot: from its state on, with run times and submissions that are given."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.machine.node_types import Spans
from cosched.errors import InfeasibleError
from cosched.notes import Note, NoteKind, not_followed
from cosched.slurm.live.admission import why_no_node_holds
from cosched.slurm.live.core_jobs import HORIZON, CoreJobFactory
from cosched.slurm.live.model import SnapshotJob
from cosched.slurm.live.nodes import accounts_of, out_of_service
from cosched.slurm.live.reservations import Reservation, reservations_of
from cosched.slurm.live.snapshot import Snapshot, cores_of, limit_of
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.request import CoreJobBuilder, admin_event
from cosched.slurm.twin.backfill import HOST, jitter_overhead
from cosched.slurm.twin.twin import Twin

_YEAR = 365 * 86400.0
#: Longer queues are simulated in coarser steps: jobs that a cycle looks at, s between cycles.
_LONG_QUEUE, _TESTS, _SELDOM = 200, 30.0, 1800.0
#: Seconds after the snapshot from which on cycles are at least half an hour apart: a start that is
#: months away, as behind a job without a time limit, takes no simulation of every cycle.
_DISTANT = 7 * 86400.0
#: A busy controller wakes so much later than it wanted (s), at most.
_MAX_SLEEP_EXTRA = 0.05
#: Tasks of arrays that are simulated beside the first of each, and numbers that no job has.
_MAX_ARRAY_TASKS, _SYNTHETIC_ID_BASE = 2000, -1_000_000
#: What decides whether a machine could ever run a job.
_SIZE_FIELDS = ("partition", "nodes", "cpus", "memory", "memory_per_cpu", "gres", "gpus",
                "features", "exclusive")  # fmt: skip
#: What decides whether a node could hold its part of a job.
_NODE_FIELDS = ("partition", "memory", "gres", "features")
#: Second until which a reservation lasts whose end nothing waits for.
_ENDLESS = 2**40


class Simulation(CoreJobFactory):
    """What is the same in all draws: the machine, shares, limits, and jobs that are there."""

    def __init__(
        self, snapshot: Snapshot, requests: Sequence[SnapshotJob] = (), *, coarse: bool = True
    ) -> None:
        self.snapshot = snapshot
        #: Of a long queue, in coarser steps than its Slurm.
        self.coarse = coarse and _count_waiting(snapshot) > _LONG_QUEUE
        self.setup_notes: list[Note] = []
        self.machine = self._machine()
        self.reservations = self._read_reservations()
        settings = self.machine.slurm
        assert settings is not None
        self.uses_whole_nodes = settings.exclusive_nodes
        self.jobs: list[SnapshotJob] = [*snapshot.running, *self._waiting_jobs(), *requests]
        job_times = [t for job in self.jobs for t in (job.submit, job.start) if t and t > 0]
        #: Unix time of the simulation's second 0, and the moment of the snapshot in it.
        self.epoch = math.floor(min([*job_times, snapshot.taken]) - 3600)
        self.now = snapshot.taken - self.epoch
        self.not_modelled = [
            note for note in settings.left_out if not self._is_followed(note.subject)
        ]
        self.not_modelled += self.setup_notes
        self.job_builder = CoreJobBuilder(
            self.machine, reservations=[reservation.name for reservation in self.reservations]
        )
        dump = settings.accounts if settings.limits_count else None  # None: of a snapshot
        self._accounts = (
            accounts_of(snapshot.shares, snapshot.limits, self.machine)
            if dump is None
            else Accounts(dump, self.machine)
        )
        self.not_modelled += [
            not_followed(setting, subject=setting) for setting in self._accounts.unsupported
        ]
        self._qos_priorities = self._qos_priorities_seen()
        self.rows = {job.id: row for row, job in enumerate(self.jobs)}
        self._arrays: dict[int, int] = {}
        self._fitting: dict[tuple[Any, ...], bool] = {}
        self.core_jobs = list(map(self._core_job, self.jobs))
        #: By row of a waiting job that no node can hold: why.
        self.unsuitable: dict[int, str] = {}
        self._hold_unsuitable(len(self.jobs) - len(requests))
        self._hold_too_large(len(self.jobs) - len(requests))

    def _hold_unsuitable(self, count: int) -> None:
        """Let those of the first `count` jobs wait for ever that no node has the resources for."""
        causes: dict[tuple[str, ...], str] = {}
        for row, job in enumerate(self.jobs[:count]):
            if job.state != "PENDING":
                continue
            key = tuple(str(job[name]) for name in _NODE_FIELDS)
            if key not in causes:
                causes[key] = why_no_node_holds(self.snapshot, job)
            if causes[key]:
                self.unsuitable[row] = causes[key]
                self._wait_for_ever(row)

    def _wait_for_ever(self, row: int) -> None:
        """Replace a job by one that fits and is held, so that it waits for ever."""
        self.jobs[row] = structs.replace(
            self.jobs[row],
            nodes=1,
            cpus=1,
            memory=None,
            gres="",
            gpus="",
            features="",
            reason="BadConstraints",
        )
        self.core_jobs[row] = self._core_job(self.jobs[row])

    def _hold_too_large(self, count: int) -> None:
        """Let those of the first `count` jobs wait for ever that the machine could never run.

        A job of several partitions waits in those that could run it.
        """
        try:
            self.twin()
        except InfeasibleError:
            for row, job in enumerate(self.jobs[:count]):
                if job.state != "PENDING" or self.fits(job):
                    continue
                names = job.partition.split(",")
                partitions = [
                    name for name in names if self.fits(structs.replace(job, partition=name))
                ]
                if partitions and len(names) > 1:
                    self.jobs[row] = structs.replace(job, partition=",".join(partitions))
                    self.core_jobs[row] = self._core_job(self.jobs[row])
                else:
                    self._wait_for_ever(row)

    def _machine(self) -> Any:
        """Return the machine with priorities as they are given: their fixed parts are in `nice`."""
        machine, clocks = self.snapshot.machine, self.snapshot.clocks
        settings = machine.slurm
        assert settings is not None
        parameters = {
            "multifactor": 1.0,
            "age_counts": 1.0,
            "PriorityWeightJobSize": 0.0,
            "PriorityWeightPartition": 0.0,
            "SMALL_RELATIVE_TO_TIME": 0.0,
            "PriorityFavorSmall": 0.0,
            "PriorityWeightQOS": 0.0,
            "PriorityWeightFairshare": clocks.get("weight_fairshare", 0.0),
            "PriorityDecayHalfLife": clocks.get("half_life", 604800.0),
            "PriorityWeightAge": clocks.get("weight_age", 0.0) if self._has_aging() else 0.0,
            "PriorityMaxAge": clocks.get("max_age", 604800.0) or 604800.0,
            "PriorityCalcPeriod": clocks.get("calc_period", 300.0) or 300.0,
        }
        parameters |= self._coarser_parameters(settings.parameters)
        return replace(
            machine, slurm=replace(settings, parameters={**settings.parameters, **parameters})
        )

    def _waiting_jobs(self) -> list[SnapshotJob]:
        """Return jobs that wait; an array's record is its first task, and the others follow it."""
        jobs: list[SnapshotJob] = []
        remaining_tasks = _MAX_ARRAY_TASKS
        for job in self.snapshot.pending:
            further_tasks = max(max(job.tasks, 1) - 1, 0)
            if further_tasks > remaining_tasks:
                missing_tasks = further_tasks - remaining_tasks
                array = f"array {job['id']}"
                text = f"{array}: {missing_tasks} of its tasks do not come"
                self.setup_notes.append(
                    Note(NoteKind.DROPPED, text, subject=array, count=missing_tasks)
                )
            jobs.append(job)
            for _ in range(min(further_tasks, remaining_tasks)):
                jobs.append(structs.replace(job, id=_SYNTHETIC_ID_BASE - remaining_tasks))
                remaining_tasks -= 1
        return jobs

    def _coarser_parameters(self, parameters: Mapping[str, float]) -> dict[str, float]:
        """Return parameters for long queues: cycles come seldom and look at few jobs, so that
        draws take less."""
        if not self.coarse:
            return {}
        waiting = _count_waiting(self.snapshot)
        text = (
            f"{waiting} jobs wait: here the backfill scheduler looks at {_TESTS:.0f} of them every "
            f"{_SELDOM / 60:.0f} minutes"
        )
        self.setup_notes.append(
            Note(NoteKind.ASSUMED, text, subject="backfill scheduler", count=waiting)
        )
        interval = max(parameters.get("bf_interval", 30.0), _SELDOM)
        tests = min(parameters.get("bf_max_job_test", 500.0), _TESTS)
        return {"bf_interval": interval, "bf_max_time": interval, "bf_max_job_test": tests}

    def _is_followed(self, setting: str) -> bool:
        """Return whether the simulation follows what the twin alone refuses of a configuration: a
        snapshot has shares, limits and states."""
        snapshot = self.snapshot
        return (
            (
                setting.startswith("AccountingStorageEnforce")
                and bool(snapshot.limits.get("associations"))
            )
            or (setting.lower().startswith("qos=") and bool(snapshot.limits.get("qos")))
            or (setting.startswith("PriorityWeightFairShare") and bool(snapshot.shares))
            or (setting.startswith("PriorityWeight") and bool(snapshot.priorities))
            or setting.startswith("State=")
        )

    def _read_reservations(self) -> tuple[Reservation, ...]:
        """Return advance reservations that begin within a year; others have no effect on these
        jobs."""
        far, reservations = self.snapshot.taken + HORIZON, []
        for name, reservation in reservations_of(self.snapshot):
            if reservation is None:
                text = f"reservation {name}"
                self.setup_notes.append(Note(NoteKind.NOT_MODELLED, text, subject=text))
            elif reservation.begin <= far:
                reservations.append(reservation)
        return tuple(reservations)

    def nodes_of_reservation(self, reservation: Reservation) -> Spans:
        """Return numbers of the nodes that a reservation has."""
        return self.job_builder.nodes(reservation.nodes, "reservations")

    def _core_reservations(self) -> tuple[_core.slurm.Reservation, ...]:
        """Return advance reservations, which keep their nodes from all jobs but their own."""
        far = self.snapshot.taken + HORIZON
        return tuple(
            _core.slurm.Reservation(
                created_at=0.0,
                begin=int(reservation.begin - self.epoch),
                end=_ENDLESS if reservation.end > far else int(reservation.end - self.epoch),
                nodes=self.nodes_of_reservation(reservation),
                is_maintenance=reservation.is_maintenance,
                has_all_nodes=reservation.has_all_nodes,
            )
            for reservation in self.reservations
        )

    def _qos_priorities_seen(self) -> dict[str, float]:
        """Return what each QOS adds to a priority, as seen in pending jobs."""
        parts = self.snapshot.priorities
        return {
            job.qos: parts[job.id].get("QOS", 0.0)
            for job in self.snapshot.pending
            if job.id in parts
        }

    @cached_property
    def limit_blocked_jobs(self) -> dict[int, _core.slurm.LimitBlock]:
        """The limits that keep jobs now, by row of the job."""
        return self.twin().limit_blocks()

    def twin(self, arrivals: Sequence[SnapshotJob] = ()) -> Twin:
        """Return the twin with these jobs, too, each with the time when it ``arrives`` (Unix)."""
        jobs = [*self.jobs, *arrivals]
        core_jobs = [*self.core_jobs, *map(self._core_job, arrivals)]
        names = {part.name for part in self.machine.partitions}
        usual = self.machine.slurm.default_partition
        partitions_of_jobs = [
            job.partition.split(",") if job.state == "RUNNING" else self.open_partitions(job)
            for job in jobs
        ]
        submit = [self._submit_time(job) for job in jobs]
        limit = [limit_of(job, self.machine) for job in jobs]
        instance = Instance(
            {
                "id": [str(job.id) for job in jobs],
                "submit": submit,
                "tasks": [self._tasks(job) for job in jobs],
                "cpu": np.ones(len(jobs)),
                "memory": np.ones(len(jobs)),
                "runtime": limit,
                "estimate": limit,
                "user": [job.user for job in jobs],
                "partition": [
                    ",".join(p for p in parts if p in names) or usual
                    for parts in partitions_of_jobs
                ],
            },
            self.machine.node_count if self.uses_whole_nodes else self.machine.cores,
        )
        out = ",".join(out_of_service(self.snapshot.shown["nodes"]))
        down = admin_event("drain", 0.0, nodes=self.job_builder.nodes(out, "nodes") if out else ())
        requests = self.job_builder.build_requests(
            dict(enumerate(core_jobs)),
            reservations=self._core_reservations(),
            admin_events=(down,) if down.nodes else (),
            associations=tuple(self._accounts.rows),
            qos=tuple(self._accounts.qos),
            partition_qos=self._accounts.partition_qos,
        )
        return Twin(
            instance, self.machine, {}, requests=requests, version=self.snapshot.version or None
        )

    def _submit_time(self, job: SnapshotJob) -> float:
        """Return since when a job waits or runs, in seconds of the simulation."""
        if job.arrives is not None:
            return float(job.arrives) - self.epoch
        if job.state == "RUNNING":
            return 0.0
        since = job.accrue or job.eligible or job.submit or self.snapshot.taken
        return max(min(since, self.snapshot.taken) - self.epoch, 0.0)

    def _tasks(self, job: SnapshotJob) -> int:
        """Return the units that a job asks for: nodes where they are whole, else cores."""
        if self.uses_whole_nodes:
            return max(len(job.holds) or int(job.nodes or 1), 1)
        return cores_of(job, self.machine) if job.state == "RUNNING" else max(int(job.cpus or 1), 1)

    def clocks(self, rng: np.random.Generator | None) -> dict[str, float]:
        """Return the clocks of a draw, from the last cycle that was seen on; what is not known
        is drawn."""
        last_cycle = self.snapshot.clocks.get("last_cycle")
        interval = self.machine.slurm.parameters.get("bf_interval", 30.0)
        seconds_since_cycle = 0.5 * interval if rng is None else float(rng.uniform(0, interval))
        if last_cycle is not None and self.snapshot.taken - last_cycle < 20 * interval:
            inside = 0.5 if rng is None else float(rng.uniform())  # it is told in whole seconds
            seconds_since_cycle = max(self.snapshot.taken - last_cycle - inside, 0.0)
        host = HOST if rng is None else jitter_overhead(HOST, rng)
        if rng is not None:
            host = {**host, "sleep_extra": float(rng.uniform(0, _MAX_SLEEP_EXTRA))}
        if (cost := self.snapshot.clocks.get("cycle")) is not None:
            test = self.snapshot.clocks.get("test", 0.0)  # a part of it
            host = {**host, "cycle_cost": 0.0 if test else cost, "test_cost": test}
        start = max(self.now - seconds_since_cycle, 1.0)
        # The next pass over shares is a period after the last one, of which one was just now.
        snapshot_time, controller_state = self.snapshot.taken, self.snapshot.clocks
        since = max(snapshot_time - controller_state.get("last_pass", snapshot_time), 0.0)
        passed = (
            snapshot_time
            - since % (controller_state.get("calc_period", 300.0) or 300.0)
            - self.epoch
        )
        return {
            **host,
            "controller_start": start,
            "epoch": float(self.epoch),
            "decay_after": passed - start,
            "distant_time": self.now + _DISTANT,
        }

    def starts(
        self,
        like: Sequence[SnapshotJob],
        rows: Sequence[int],
        clocks: Sequence[Mapping[str, float]],
        lengths: NDArray[np.float64],
        coming: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
        progress: Callable[[int, int], None] | None,
    ) -> NDArray[np.float64]:
        """Return seconds after the snapshot of these rows' starts, a row a future; infinite: never.

        Of each future: its clocks, how long all jobs run, and what comes (like which of `like`,
        when, how long)."""
        job_count = len(self.jobs)
        startable_rows = [row for row in rows if not self.core_jobs[row].is_held]
        start = np.full((len(clocks), job_count), np.nan)
        if startable_rows:
            simulated_starts, *_ = self.twin(like).futures(
                clocks,
                lengths=lengths,
                there=job_count,
                watched=startable_rows,
                progress=progress,
                coming=[(job_count + which, time, length) for which, time, length in coming],
            )
            start[:] = simulated_starts
        for row in rows:
            if (
                not self._is_held(self.jobs[row])
                and (after := self._seconds_until_begin(self.jobs[row])) > HORIZON
            ):
                start[:, row] = self.now + after
        return np.nan_to_num(start[:, list(rows)] - self.now, nan=np.inf)

    def fits(self, job: SnapshotJob) -> bool:
        """Whether the machine could ever run the job."""
        empty_simulation = copy(self)
        empty_simulation.jobs, empty_simulation.core_jobs = [], []
        key = tuple(str(job[name]) for name in _SIZE_FIELDS)
        if key not in self._fitting:
            try:
                empty_simulation.twin([job])
                self._fitting[key] = True
            except InfeasibleError:
                self._fitting[key] = False
        return self._fitting[key]


def _count_waiting(snapshot: Snapshot) -> int:
    """Return jobs that wait, each task of an array being one."""
    return sum(max(job.tasks, 1) for job in snapshot.pending)
