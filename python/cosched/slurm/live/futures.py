"""Futures of a snapshot: run times, submissions and clocks that are not known are drawn."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosched.slurm.live.arrivals import DAY, HOUR, ArrivalModel
from cosched.slurm.live.model import FinishedJob, SnapshotJob
from cosched.slurm.live.new_jobs import copy_of_job, job_of_submission
from cosched.slurm.live.run_times import RunTimes
from cosched.slurm.live.snapshot import Snapshot, cores_of, limit_of
from cosched.slurm.live.snapshot_simulation import ReplicationSubmissions, Simulation

#: Fewer jobs that ended are no history, and fewer submissions say nothing about later ones.
_MIN_HISTORY = 5
#: The mean size of a job is that of the latest jobs.
_SIZED_JOBS = 500


class Futures:
    """Draws of run times, submissions and clocks: the same ones for every question."""

    def __init__(
        self,
        snapshot: Snapshot,
        history: Sequence[FinishedJob],
        run_times: Mapping[int, float],
        arrivals: Sequence[Mapping[str, object]] | None,
        draws: int,
        seed: int,
    ) -> None:
        self.snapshot, self._exact_run_times = snapshot, run_times
        self.draws, self.seed = draws, seed
        ended = [job for job in history if job.end <= snapshot.time]
        #: There are jobs of the past to draw run times from.
        self.has_history = len(ended) >= _MIN_HISTORY
        self.run_times = RunTimes(ended, draws, seed, snapshot.running, snapshot.time)
        # Jobs that run or wait have been submitted, too.
        self._past: list[SnapshotJob | FinishedJob] = [
            *ended,
            *(job for job in snapshot.jobs if job.id > 0 and job.submit),
        ]
        self._arrivals = self._arrival_model(ended)
        self._given_arrivals = [
            job_of_submission(snapshot, row, f"arrivals[{number}]")
            for number, row in enumerate(arrivals or ())
        ]

    def _arrival_model(self, ended: Sequence[FinishedJob]) -> ArrivalModel | None:
        """Return the model of later submissions; None: there is too little history."""
        if len(self._past) < _MIN_HISTORY:
            return None
        times = np.array([job.submit or 0.0 for job in self._past])
        # sacct prints jobs that ended in a window: submissions are complete since the first of
        # theirs. A job that has waited for longer than that says nothing about the rate.
        since = min(job.submit for job in ended) if self.has_history else times.min()
        if np.sum((since <= times) & (times < self.snapshot.time)) < _MIN_HISTORY:
            return None  # the clocks of jobs and snapshot differ
        return ArrivalModel(
            times,
            float(since),
            self.snapshot.time,
            sustainable_rate=self._sustainable_rate(),
            draws=self.draws,
            seed=self.seed,
        )

    def _sustainable_rate(self) -> float:
        """Return submissions per second that keep the machine busy."""
        machine = self.snapshot.machine
        jobs = [copy_of_job(self.snapshot, past) for past in self._past[-_SIZED_JOBS:]]
        area = np.mean([cores_of(job, machine) * limit_of(job, machine) for job in jobs])
        return float(machine.cores / (area * self.run_times.mean_ratio))

    def starts(
        self, simulation: Simulation, rows: list[int], progress: Callable[[int, int], None] | None
    ) -> NDArray[np.float64]:
        """Return seconds from the snapshot to the starts of these rows; infinite: never.

        One row a future, one column a row of the simulation.
        """
        templates, submitted = self._submissions(simulation)
        clocks = [
            simulation.clocks(np.random.default_rng([self.seed, number, 1]))
            for number in range(self.draws)
        ]
        lengths = self._lengths(simulation)
        return simulation.starts(templates, rows, clocks, lengths, submitted, progress)

    def starts_at_limits(self, simulation: Simulation, rows: list[int]) -> NDArray[np.float64]:
        """Return the same where every job runs to its limit and nobody submits anything."""
        lengths = [limit_of(job, simulation.machine) for job in simulation.jobs]
        clocks = [simulation.clocks(None)]
        starts: np.ndarray = simulation.starts((), rows, clocks, np.array([lengths]), (), None)[0]
        return starts

    def _lengths(self, simulation: Simulation) -> np.ndarray:
        """Return seconds from start to end: one row a future, one column a job."""
        lengths = np.empty((self.draws, len(simulation.jobs)))
        for column, job in enumerate(simulation.jobs):
            if job.id in self._exact_run_times:
                lengths[:, column] = self._exact_run_times[job.id]
                continue
            rng = np.random.default_rng([self.seed, abs(int(job.id)), 2])
            limit = limit_of(job, simulation.machine)
            start = job.start if job.state == "RUNNING" and job.start else None
            elapsed = max(self.snapshot.time - start, 0.0) if start else 0.0
            lengths[:, column] = self.run_times.draw(job, limit, elapsed, rng)
        return lengths

    def _submissions(
        self, simulation: Simulation
    ) -> tuple[list[SnapshotJob], list[ReplicationSubmissions]]:
        """Return jobs that later ones resemble, and what is submitted in each future."""
        if self._given_arrivals:
            jobs = self._given_arrivals
            times = np.array([job.arrives for job in jobs]) - simulation.clock.epoch
            lengths = np.array([job.runs for job in jobs])
            return list(jobs), [
                ReplicationSubmissions(np.arange(len(jobs)), times, lengths)
            ] * self.draws
        if self._arrivals is None or self._exact_run_times:
            return [], []
        future, time, past_row = self._arrivals.draw(self.snapshot.time, *self._horizon(simulation))
        past_rows, template = np.unique(past_row, return_inverse=True)
        jobs = [copy_of_job(self.snapshot, self._past[row]) for row in past_rows]
        fits = np.array([simulation.fits(job) for job in jobs], dtype=bool)
        can_run = fits[template]
        future, time = future[can_run], time[can_run]
        template = (np.cumsum(fits) - 1)[template[can_run]]
        jobs = [job for job, is_possible in zip(jobs, fits, strict=True) if is_possible]
        lengths = self._lengths_of_submissions(simulation, jobs, template, future)
        first_of_future = np.searchsorted(future, np.arange(1, self.draws))
        columns = (
            np.split(column, first_of_future)
            for column in (template, time - simulation.clock.epoch, lengths)
        )
        return jobs, [
            ReplicationSubmissions(*of_future) for of_future in zip(*columns, strict=True)
        ]

    def _lengths_of_submissions(
        self,
        simulation: Simulation,
        jobs: Sequence[SnapshotJob],
        template: np.ndarray,
        future: np.ndarray,
    ) -> np.ndarray:
        """Run times (s) of submitted jobs: which of `jobs` each resembles, in which future."""
        limits = np.array([limit_of(job, simulation.machine) for job in jobs])
        groups = [(job.user, job.partition) for job in jobs]
        first_row = {group: row for row, group in reversed(list(enumerate(groups)))}
        group_of = np.array([first_row[group] for group in groups], dtype=int)
        lengths = np.empty(len(template))
        for row in np.unique(group_of):
            members = np.flatnonzero(group_of[template] == row)
            rng = np.random.default_rng([self.seed, int(row), 4])
            lengths[members] = self.run_times.draw(
                jobs[row], limits[template[members]], 0.0, rng, future[members]
            )
        return lengths

    def _horizon(self, simulation: Simulation) -> tuple[float, int]:
        """Return for how long submissions are drawn (s), and how many are expected at most."""
        jobs, machine = simulation.jobs, simulation.machine
        area = sum(cores_of(job, machine) * limit_of(job, machine) for job in jobs)
        drain = area / max(machine.cores, 1)
        return min(max(2 * drain, 4 * HOUR), 7 * DAY), 2 * len(jobs) + 100
