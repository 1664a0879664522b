"""The simulation of a snapshot: it goes on from the state of the snapshot, with run times and later
submissions that are given."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import structs

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.machine.node_types import Spans
from cosched.errors import InfeasibleError
from cosched.notes import Note, NoteKind, not_followed
from cosched.slurm.conf.settings import settings_of
from cosched.slurm.live.admission import why_no_node_holds
from cosched.slurm.live.core_jobs import HORIZON, CoreJobFactory, SimulationClock
from cosched.slurm.live.model import SnapshotJob
from cosched.slurm.live.nodes import accounts_of, out_of_service
from cosched.slurm.live.replication_clocks import replication_clocks
from cosched.slurm.live.reservations import Reservation, reservations_of
from cosched.slurm.live.simulated_machine import has_long_queue, is_followed, simulated_machine
from cosched.slurm.live.snapshot import Snapshot, cores_of, limit_of
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.core_job_builder import CoreJobBuilder, admin_event
from cosched.slurm.twin.twin import Twin

#: So many tasks of arrays are simulated besides the first task of each.
_MAX_ARRAY_TASKS = 2000
#: Tasks that a record of the snapshot stands for have ids below this: no job of Slurm has them.
_SYNTHETIC_ID_BASE = -1_000_000
#: The simulation begins so many seconds before all that the snapshot tells.
_LEAD_SECONDS = 3600
#: The fields of a job that decide whether the machine could ever run it.
_SIZE_FIELDS = ("partition", "nodes", "cpus", "memory", "memory_per_cpu", "gres", "gpus",
                "features", "exclusive")  # fmt: skip
#: The fields of a job that decide whether a node could hold its part of the job.
_NODE_FIELDS = ("partition", "memory", "gres", "features")
#: End (s of the simulation) of a reservation that ends after all jobs have.
_ENDLESS = 2**40


class ReplicationSubmissions(NamedTuple):
    """What is submitted in one replication; the arrays have one entry for each submission."""

    #: Which of the template jobs it is like.
    template: np.ndarray
    #: Second of the simulation at which it is submitted.
    time: np.ndarray
    #: How long it runs (s).
    run_length: np.ndarray


class Simulation:
    """What all replications of a snapshot share: the machine, shares, limits, and its jobs.

    Parameters
    ----------
    snapshot : Snapshot
        The state from which the simulation goes on.
    requests : sequence of SnapshotJob
        Jobs that are not submitted yet, submitted at the moment of the snapshot.
    coarse : bool
        Take coarser steps where the queue is long.
    """

    def __init__(
        self, snapshot: Snapshot, requests: Sequence[SnapshotJob] = (), *, coarse: bool = True
    ) -> None:
        self.snapshot = snapshot
        #: Whether backfill cycles are rarer than the machine's, since the queue is long.
        self.coarse = coarse and has_long_queue(snapshot)
        self.machine, coarse_notes = simulated_machine(snapshot, coarse=self.coarse)
        #: The slurm.conf of the machine, with the parameters of the simulation.
        self.settings = settings_of(self.machine)
        #: Advance reservations that begin within the horizon.
        self.reservations, reservation_notes = _reservations_within_horizon(snapshot)
        waiting_jobs, array_notes = _waiting_jobs_with_tasks(snapshot)
        #: The jobs of the simulation by row: jobs that run, jobs that wait, requests.
        self.jobs: list[SnapshotJob] = [*snapshot.running, *waiting_jobs, *requests]
        #: Row by id of a job.
        self.rows = {job.id: row for row, job in enumerate(self.jobs)}
        self.clock = _clock_of(self.jobs, snapshot)
        #: The job builder numbers nodes, features and reservations for the core.
        self._job_builder = CoreJobBuilder(
            self.machine, reservations=[reservation.name for reservation in self.reservations]
        )
        self._accounts = self._read_accounts()
        #: What is not modelled, or otherwise than Slurm does it.
        self.not_modelled: list[Note] = [
            *(note for note in self.settings.left_out if not is_followed(note.subject, snapshot)),
            *coarse_notes,
            *reservation_notes,
            *array_notes,
            *(not_followed(setting, subject=setting) for setting in self._accounts.unsupported),
        ]
        self._factory = CoreJobFactory(
            snapshot,
            self.machine,
            self.clock,
            self._job_builder,
            self._accounts,
            self.rows,
            self.not_modelled,
        )
        #: What each job asks for, by row.
        self.core_jobs = [self._factory.core_job(job) for job in self.jobs]
        #: Why no node can hold a job that waits, by its row.
        self.unsuitable: dict[int, str] = {}
        #: Whether the machine could ever run a job, by its :data:`_SIZE_FIELDS`.
        self._fits_by_size: dict[tuple[str, ...], bool] = {}
        rows_of_snapshot = range(len(self.jobs) - len(requests))
        self._hold_unsuitable_jobs(rows_of_snapshot)
        self._hold_too_large_jobs(rows_of_snapshot)

    def starts(
        self,
        templates: Sequence[SnapshotJob],
        rows: Sequence[int],
        clocks: Sequence[Mapping[str, float]],
        run_lengths: np.ndarray,
        submissions: Sequence[ReplicationSubmissions],
        progress: Callable[[int, int], None] | None,
    ) -> np.ndarray:
        """Simulate, and return when jobs start.

        Parameters
        ----------
        templates : sequence of SnapshotJob
            What later submissions are like.
        rows : sequence of int
            The jobs whose starts are wanted.
        clocks : sequence of mapping
            The clocks of each replication.
        run_lengths : numpy.ndarray, shape (replications, jobs)
            How long all jobs run (s).
        submissions : sequence of ReplicationSubmissions
            What is submitted in each replication; empty: nothing.
        progress : callable, optional
            Called with the finished replications and their total.

        Returns
        -------
        numpy.ndarray, shape (replications, len(rows))
            Seconds after the snapshot; infinite: the job never starts.
        """
        job_count = len(self.jobs)
        startable_rows = [row for row in rows if not self.core_jobs[row].is_held]
        start = np.full((len(clocks), job_count), np.nan)
        if startable_rows:
            table = self.twin(templates).simulate_many(
                clocks,
                run_lengths=run_lengths,
                initial_job_count=job_count,
                watched_jobs=startable_rows,
                progress=progress,
                arrivals=[
                    _core.slurm.Arrivals(
                        template_job=job_count + of_replication.template,
                        submit=of_replication.time,
                        run_length=of_replication.run_length,
                    )
                    for of_replication in submissions
                ],
            )
            start[:] = table.start_times
        for row in rows:
            seconds_until_begin = self._factory.seconds_until_begin(self.jobs[row])
            if seconds_until_begin > HORIZON and not self._factory.is_held(self.jobs[row]):
                start[:, row] = self.clock.now + seconds_until_begin
        return np.nan_to_num(start[:, list(rows)] - self.clock.now, nan=np.inf)

    def clocks(self, rng: np.random.Generator | None) -> dict[str, float]:
        """Return the clocks of one replication; None: the means of what is not known."""
        bf_interval = self.settings.parameters.get("bf_interval", 30.0)
        return replication_clocks(self.snapshot, self.clock.epoch, bf_interval, rng)

    def twin(self, templates: Sequence[SnapshotJob] = ()) -> Twin:
        """Return the core's simulator with these jobs besides those of the simulation: later
        submissions are copies of them."""
        core_templates = [self._factory.core_job(job) for job in templates]
        return self._build_twin([*self.jobs, *templates], [*self.core_jobs, *core_templates])

    def fits(self, job: SnapshotJob) -> bool:
        """Whether the machine could ever run the job."""
        size = tuple(str(job[name]) for name in _SIZE_FIELDS)
        if size not in self._fits_by_size:
            try:
                self._build_twin([job], [self._factory.core_job(job)])
                self._fits_by_size[size] = True
            except InfeasibleError:
                self._fits_by_size[size] = False
        return self._fits_by_size[size]

    def nodes_of_reservation(self, reservation: Reservation) -> Spans:
        """Return the node numbers of a reservation, as ranges."""
        return self._job_builder.node_sets.node_ranges(reservation.nodes, "reservations")

    def open_partitions(self, job: SnapshotJob) -> list[str]:
        """Return the partitions of a job that let it start: none whose State is DOWN or
        INACTIVE."""
        return self._factory.open_partitions(job)

    def exceeds_max_time(self, job: SnapshotJob) -> bool:
        """Whether a job waits for ever, as its limit is above MaxTime of each of its partitions."""
        return self._factory.exceeds_max_time(job)

    @cached_property
    def limit_blocked_jobs(self) -> dict[int, _core.slurm.LimitBlock]:
        """The limits that block jobs at the moment of the snapshot, by row of the job."""
        return self.twin().limit_blocks()

    def _read_accounts(self) -> Accounts:
        """Return associations and QOS: of the machine where it has its accounting database, else
        as the snapshot shows them."""
        dump = self.settings.accounts if self.settings.limits_count else None
        if dump is not None:
            return Accounts(dump, self.machine)
        return accounts_of(self.snapshot.shares, self.snapshot.limits, self.machine)

    def _hold_unsuitable_jobs(self, rows: range) -> None:
        """Let the waiting jobs of these rows wait for ever that no node has the resources for."""
        causes: dict[tuple[str, ...], str] = {}
        for row in rows:
            job = self.jobs[row]
            if job.state != "PENDING":
                continue
            node_request = tuple(str(job[name]) for name in _NODE_FIELDS)
            if node_request not in causes:
                causes[node_request] = why_no_node_holds(self.snapshot, job)
            if causes[node_request]:
                self.unsuitable[row] = causes[node_request]
                self._hold(row)

    def _hold_too_large_jobs(self, rows: range) -> None:
        """Let the waiting jobs of these rows wait for ever that the machine could never run.

        A job of several partitions waits in those that could run it.
        """
        try:
            self.twin()
        except InfeasibleError:
            for row in rows:
                job = self.jobs[row]
                if job.state == "PENDING" and not self.fits(job):
                    self._restrict_to_large_partitions(row)

    def _restrict_to_large_partitions(self, row: int) -> None:
        """Let a job wait in those of its partitions that could run it; for ever if none could."""
        job = self.jobs[row]
        names = job.partition.split(",")
        partitions = [name for name in names if self.fits(structs.replace(job, partition=name))]
        if partitions and len(names) > 1:
            self._replace_job(row, structs.replace(job, partition=",".join(partitions)))
        else:
            self._hold(row)

    def _hold(self, row: int) -> None:
        """Replace a job by one that fits the machine and is held, so that it waits for ever."""
        held_job = structs.replace(
            self.jobs[row],
            nodes=1,
            cpus=1,
            memory=None,
            gres="",
            gpus="",
            features="",
            reason="BadConstraints",
        )
        self._replace_job(row, held_job)

    def _replace_job(self, row: int, job: SnapshotJob) -> None:
        """Simulate another job in this row."""
        self.jobs[row] = job
        self.core_jobs[row] = self._factory.core_job(job)

    def _build_twin(
        self, jobs: Sequence[SnapshotJob], core_jobs: Sequence[_core.slurm.Job]
    ) -> Twin:
        """Return the core's simulator of these jobs.

        Raises
        ------
        InfeasibleError
            The machine does not hold one of them.
        """
        units = self.machine.node_count if self.settings.exclusive_nodes else self.machine.cores
        requests = self._job_builder.build_requests(
            dict(enumerate(core_jobs)),
            reservations=tuple(map(self._core_reservation, self.reservations)),
            admin_events=self._drained_nodes(),
            associations=tuple(self._accounts.rows),
            qos=tuple(self._accounts.qos),
            partition_qos=self._accounts.partition_qos,
        )
        return Twin(
            Instance(self._columns_of(jobs), units),
            self.machine,
            {},
            requests=requests,
            version=self.snapshot.version or None,
        )

    def _columns_of(self, jobs: Sequence[SnapshotJob]) -> dict[str, object]:
        """Return the jobs as columns of an instance; they run to their limits."""
        limit = [limit_of(job, self.machine) for job in jobs]
        return {
            "id": [str(job.id) for job in jobs],
            "submit": [self._submit_time(job) for job in jobs],
            "tasks": [self._unit_count(job) for job in jobs],
            "cpu": np.ones(len(jobs)),
            "memory": np.ones(len(jobs)),
            "runtime": limit,
            "estimate": limit,
            "user": [job.user for job in jobs],
            "partition": [self._partitions_of(job) for job in jobs],
        }

    def _partitions_of(self, job: SnapshotJob) -> str:
        """Return the partitions of a job as sbatch has them: those in which it may start."""
        names = {partition.name for partition in self.machine.partitions}
        is_running = job.state == "RUNNING"
        partitions = job.partition.split(",") if is_running else self.open_partitions(job)
        known_partitions = ",".join(name for name in partitions if name in names)
        return known_partitions or self.settings.default_partition

    def _submit_time(self, job: SnapshotJob) -> float:
        """Return since when a job waits or runs, in seconds of the simulation."""
        if job.arrives is not None:
            return float(job.arrives) - self.clock.epoch
        if job.state == "RUNNING":
            return 0.0
        since = job.accrue or job.eligible or job.submit or self.snapshot.time
        return max(min(since, self.snapshot.time) - self.clock.epoch, 0.0)

    def _unit_count(self, job: SnapshotJob) -> int:
        """Return the units that a job asks for: nodes where they are whole, else cores."""
        if self.settings.exclusive_nodes:
            return max(len(job.holds) or int(job.nodes or 1), 1)
        if job.state == "RUNNING":
            return cores_of(job, self.machine)
        return max(int(job.cpus or 1), 1)

    def _core_reservation(self, reservation: Reservation) -> _core.slurm.Reservation:
        """Return a reservation as the core has it: it keeps its nodes from all jobs but its own."""
        horizon = self.snapshot.time + HORIZON
        is_endless = reservation.end > horizon
        return _core.slurm.Reservation(
            created_at=0.0,
            begin=int(reservation.begin - self.clock.epoch),
            end=_ENDLESS if is_endless else int(reservation.end - self.clock.epoch),
            nodes=self.nodes_of_reservation(reservation),
            is_maintenance=reservation.is_maintenance,
            has_all_nodes=reservation.has_all_nodes,
        )

    def _drained_nodes(self) -> tuple[_core.slurm.AdminEvent, ...]:
        """Return the event that drains the nodes that are out of service at the snapshot."""
        hosts = ",".join(out_of_service(self.snapshot.scontrol_texts["nodes"]))
        nodes = self._job_builder.node_sets.node_ranges(hosts, "nodes") if hosts else ()
        return (admin_event("drain", 0.0, nodes=nodes),) if nodes else ()


def _clock_of(jobs: Sequence[SnapshotJob], snapshot: Snapshot) -> SimulationClock:
    """Return the clock of a simulation that begins before all that the snapshot tells of jobs."""
    job_times = [time for job in jobs for time in (job.submit, job.start) if time and time > 0]
    epoch = math.floor(min([*job_times, snapshot.time]) - _LEAD_SECONDS)
    return SimulationClock(epoch, snapshot.time - epoch)


def _reservations_within_horizon(
    snapshot: Snapshot,
) -> tuple[tuple[Reservation, ...], list[Note]]:
    """Return the advance reservations that begin within the horizon, and a note of each that
    cannot be read; later ones have no effect on jobs of now."""
    reservations, notes = [], []
    for name, reservation in reservations_of(snapshot):
        if reservation is None:
            text = f"reservation {name}"
            notes.append(Note(NoteKind.NOT_MODELLED, text, subject=text))
        elif reservation.begin <= snapshot.time + HORIZON:
            reservations.append(reservation)
    return tuple(reservations), notes


def _waiting_jobs_with_tasks(snapshot: Snapshot) -> tuple[list[SnapshotJob], list[Note]]:
    """Return the jobs that wait, with further tasks of arrays, and notes of tasks left out.

    The record of an array stands for several tasks: it is the first of them, and copies of it with
    other ids follow.
    """
    jobs: list[SnapshotJob] = []
    notes = []
    remaining_tasks = _MAX_ARRAY_TASKS
    for job in snapshot.pending:
        further_tasks = max(max(job.tasks, 1) - 1, 0)
        if further_tasks > remaining_tasks:
            missing_tasks = further_tasks - remaining_tasks
            array = f"array {job['id']}"
            text = f"{array}: {missing_tasks} of its tasks do not come"
            notes.append(Note(NoteKind.DROPPED, text, subject=array, count=missing_tasks))
        jobs.append(job)
        for _ in range(min(further_tasks, remaining_tasks)):
            jobs.append(structs.replace(job, id=_SYNTHETIC_ID_BASE - remaining_tasks))
            remaining_tasks -= 1
    return jobs, notes
