"""Futures of a snapshot: run times, submissions and clocks that are not known are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cosched.slurm.live.arrivals import Arrivals
from cosched.slurm.live.model import Ended, Job
from cosched.slurm.live.new_jobs import arriving, like_one
from cosched.slurm.live.run_times import RunTimes
from cosched.slurm.live.simulation import Simulation
from cosched.slurm.live.snapshot import Snapshot, cores_of, limit_of

#: Fewer jobs of the past say nothing about run times and arrivals.
_LEAST = 5
_HOUR, _DAY = 3600.0, 86400.0

#: What comes in one future: like which job, when (s of the simulation), how long it runs.
Coming = tuple[np.ndarray, np.ndarray, np.ndarray]


class Futures:
    """Draws of run times, submissions and clocks: the same ones for every question."""

    def __init__(
        self,
        snapshot: Snapshot,
        history: Sequence[Ended],
        given: Mapping[int, float],
        arrivals: Sequence[Mapping[str, Any]] | None,
        draws: int,
        seed: int,
    ) -> None:
        self.snapshot, self.given = snapshot, given
        ended = [job for job in history if job.end <= snapshot.taken]
        self.calibrated = len(ended) >= _LEAST
        self.run_times = RunTimes(
            ended, draws, seed, snapshot.running if self.calibrated else (), snapshot.taken
        )
        # Who has come and has not ended yet has come, too.
        self._past: list[Job | Ended] = [
            *ended,
            *(job for job in snapshot.jobs if job.id > 0 and job.submit),
        ]
        self._arrivals = Arrivals(self._past, snapshot.taken) if self.calibrated else None
        self._later = [
            arriving(snapshot, row, f"arrivals[{k}]") for k, row in enumerate(arrivals or ())
        ]
        self.draws, self.seed = draws, seed

    def starts(
        self, simulation: Simulation, rows: list[int], progress: Callable[[int, int], None] | None
    ) -> np.ndarray:
        """Seconds after the snapshot of these rows' starts, a row a draw; infinite: never."""
        like, coming = self._coming(simulation)
        clocks = [
            simulation.clocks(np.random.default_rng([self.seed, number, 1]))
            for number in range(self.draws)
        ]
        return simulation.starts(like, rows, clocks, self._lengths(simulation), coming, progress)

    def worst(self, simulation: Simulation, rows: list[int]) -> np.ndarray:
        """The same where every job runs to its limit and nobody comes."""
        lengths = [limit_of(job, simulation.machine) for job in simulation.jobs]
        clocks = [simulation.clocks(None)]
        return simulation.starts((), rows, clocks, np.array([lengths]), (), None)[0]

    def _lengths(self, simulation: Simulation) -> np.ndarray:
        """Seconds from start to end, a row a draw."""
        found = np.empty((self.draws, len(simulation.jobs)))
        for k, job in enumerate(simulation.jobs):
            if job.id in self.given:
                found[:, k] = self.given[job.id]
                continue
            rng = np.random.default_rng([self.seed, abs(int(job.id)), 2])
            limit = limit_of(job, simulation.machine)
            begun = job.start if job.state == "RUNNING" and job.start else None
            elapsed = max(self.snapshot.taken - begun, 0.0) if begun else 0.0
            found[:, k] = self.run_times.draw(job, limit, elapsed, rng)
        return found

    def _coming(self, simulation: Simulation) -> tuple[list[Job], list[Coming]]:
        """Jobs that others are like, and what comes in each draw."""
        if self._later:
            times = np.array([job.arrives for job in self._later]) - simulation.zero
            lengths = np.array([job.runs for job in self._later])
            return list(self._later), [(np.arange(len(times)), times, lengths)] * self.draws
        if self._arrivals is None or self.given:
            return [], []
        number, time, past = self._arrivals.draw(
            self.snapshot.taken, *self._horizon(simulation), seed=self.seed, draws=self.draws
        )
        used, like = np.unique(past, return_inverse=True)
        jobs = [like_one(self.snapshot, self._past[k]) for k in used]
        fit = np.array([simulation.fits(job) for job in jobs], dtype=bool)
        keep = fit[like]
        number, time, like = number[keep], time[keep], (np.cumsum(fit) - 1)[like[keep]]
        jobs = [job for job, fits in zip(jobs, fit, strict=True) if fits]
        lengths = self._lengths_of(simulation, jobs, like, number)
        cuts = np.searchsorted(number, np.arange(1, self.draws))
        columns = (np.split(one, cuts) for one in (like, time - simulation.zero, lengths))
        return jobs, list(zip(*columns, strict=True))

    def _lengths_of(
        self,
        simulation: Simulation,
        jobs: Sequence[Job],
        like: np.ndarray,
        number: np.ndarray,
    ) -> np.ndarray:
        """How long each job that comes runs: like which of `jobs`, in which draw."""
        limit = np.array([limit_of(job, simulation.machine) for job in jobs])
        kinds = [(job.user, job.partition) for job in jobs]
        first = {kind: k for k, kind in reversed(list(enumerate(kinds)))}
        kind_of = np.array([first[kind] for kind in kinds], dtype=int)
        lengths = np.empty(len(like))
        for k in np.unique(kind_of):
            own = np.flatnonzero(kind_of[like] == k)
            rng = np.random.default_rng([self.seed, int(k), 4])
            lengths[own] = self.run_times.draw(jobs[k], limit[like[own]], 0.0, rng, number[own])
        return lengths

    def _horizon(self, simulation: Simulation) -> tuple[float, int]:
        """For how long submissions are drawn (s), and how many at most."""
        jobs, machine = simulation.jobs, simulation.machine
        area = sum(cores_of(job, machine) * limit_of(job, machine) for job in jobs)
        drain = area / max(machine.cores, 1)
        return min(max(2 * drain, 4 * _HOUR), 7 * _DAY), 2 * len(jobs) + 100
