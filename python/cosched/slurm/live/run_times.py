"""How long jobs run, of what they asked for: drawn from the past, given how long they have run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cosched.slurm.live.model import Ended, Job

#: Jobs of the wider group that weigh as one of the narrower.
_OWN = 5.0
#: Where little is known, the part of its limit that a job runs is u^k: u is any, and so is k, from
#: draw to draw, between these.
_EXPONENTS = (0.5, 4.0)
_POINTS = (np.arange(20) + 0.5) / 20
#: Only the latest jobs count.
_MOST = 500
#: Between the values that were seen others are as likely: so far (of a logarithm).
_SMOOTH = 0.1


class RunTimes:
    """Ratios of run time to limit: of the user's own jobs, of the partition's, of all.

    What the past says is itself uncertain, and the same for all jobs of a draw: each draw weighs
    the jobs of the past anew (a Bayesian bootstrap). Jobs that still run say that they are longer
    than this (the weights are those of Kaplan and Meier's estimator).
    """

    def __init__(
        self,
        history: Iterable[Ended],
        draws: int,
        seed: int,
        running: Iterable[Job] = (),
        now: float = 0.0,
    ) -> None:
        past = [job for job in history if job.limit and job.end > job.start][-_MOST:]
        known: list[Job | Ended] = [*past, *(job for job in running if _counts(job))]
        ratio = [min(_lasted(job, now) / (job.limit or 1.0), 1.0) for job in known]
        order = np.argsort(ratio, kind="stable")
        self._ratio = np.array(ratio, dtype=float)[order]
        self._ended = (np.arange(len(known)) < len(past))[order]
        self._user = np.array([job.user for job in known], dtype=object)[order]
        self._part = np.array([job.first_partition for job in known], dtype=object)[order]
        rng = np.random.default_rng([seed, 0])
        low, high = np.log(_EXPONENTS)
        default = _POINTS ** np.exp(rng.uniform(low, high, (draws, 1)))
        weight = rng.exponential(size=(draws, len(known)))
        self._own_weight = np.hstack([weight, np.full(default.shape, 1 / len(_POINTS))])
        self._all = np.hstack([np.broadcast_to(self._ratio, weight.shape), default])
        self._order = np.argsort(self._all, axis=1, kind="stable")
        self._all = np.take_along_axis(self._all, self._order, axis=1)
        self._mass: dict[tuple[str, str], np.ndarray] = {}
        self._sums: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
        self.draws = draws

    def _groups(self, job: Job) -> tuple[np.ndarray, np.ndarray]:
        """Which jobs of the past are of the same user, and of the same partition."""
        return self._user == job.user, self._part == job.first_partition

    def model_of(self, job: Job) -> str:
        """Where most of the job's draws come from, in words."""
        own, part = (int((one & self._ended).sum()) for one in self._groups(job))
        if own >= _OWN:
            return f"{own} jobs of user {job['user']}"
        if part >= _OWN:
            return f"{part} jobs of partition {job.first_partition}"
        if self._ended.any():
            return f"{self._ended.sum()} jobs of all users"
        return "no history: any part of the limit"

    def _masses(self, job: Job) -> np.ndarray:
        """How likely each ratio of `_all` is, a row a draw."""
        key = (job.user, job.first_partition)
        if key in self._mass:
            return self._mass[key]
        # Each wider group weighs as much as a few jobs of the narrower one.
        own, part = self._groups(job)
        weight = own.astype(float)
        for group in (part, np.ones(len(self._ratio), dtype=bool)):
            if group.any():
                weight += group * min(_OWN, group.sum()) / group.sum()
        weights = self._own_weight * np.concatenate([weight, np.full(len(_POINTS), _OWN)])
        events = np.concatenate([self._ended, np.ones(len(_POINTS), dtype=bool)])
        weights = np.take_along_axis(weights, self._order, axis=1)
        ends = events[self._order]
        at_risk = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
        hazard = np.where(ends, weights / np.maximum(at_risk, 1e-300), 0.0)
        left = np.cumprod(1 - hazard, axis=1)
        before = np.hstack([np.ones((self.draws, 1)), left[:, :-1]])
        self._mass[key] = before * hazard
        return self._mass[key]

    def _steps(self, job: Job, least: float) -> tuple[np.ndarray, np.ndarray]:
        """Ratios above `least`, summed up: all draws in one row, each as long as 1 from its number
        on; and which draws have any."""
        key = (job.user, job.first_partition)
        if not least and key in self._sums:
            return self._sums[key]
        total = np.cumsum(self._masses(job) * (self._all > least), axis=1)
        most = total[:, -1:]
        steps = total / np.where(most > 0, most, 1.0) + np.arange(self.draws)[:, None]
        found = steps.ravel(), most[:, 0] > 0
        if not least:
            self._sums[key] = found
        return found

    def draw(
        self,
        job: Job,
        limit: float | np.ndarray,
        elapsed: float,
        rng: np.random.Generator,
        numbers: np.ndarray | None = None,
    ) -> np.ndarray:
        """Run times from the start (s), each longer than `elapsed`: one for each draw, or for the
        draws of these numbers, with a limit each."""
        chosen = np.arange(self.draws) if numbers is None else numbers
        least = elapsed / float(np.max(limit)) if elapsed else 0.0
        steps, some = self._steps(job, least)
        u = rng.uniform(size=len(chosen))
        width = self._all.shape[1]
        place = np.searchsorted(steps, chosen + u, side="right") - chosen * width
        ratio = np.where(some[chosen], self._all[chosen, np.clip(place, 0, width - 1)], 1.0)
        spread = ratio * np.exp(rng.normal(0.0, _SMOOTH, len(ratio)))
        ratio = np.where((spread > least) & (ratio < 1.0), np.minimum(spread, 1.0), ratio)
        return np.maximum(ratio * limit, elapsed + 1.0)


def _lasted(job: Job | Ended, now: float) -> float:
    return (job.end if isinstance(job, Ended) else now) - (job.start or 0.0)


def _counts(job: Job) -> bool:
    return bool(job.id > 0 and job.limit and np.isfinite(job.limit) and job.start)
