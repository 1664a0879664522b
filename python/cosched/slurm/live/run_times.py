"""Run times as parts of the limits, drawn from jobs that have ended and jobs that run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosched import io
from cosched.errors import InvalidInstance
from cosched.slurm.live.model import FinishedJob, SnapshotJob

#: Jobs of each wider group, and of the prior distribution, weigh as so many jobs of the user. Of 2,
#: 5 and 10, this has the best continuous ranked probability score on the logs named below.
_GROUP_WEIGHT = 2.0
#: A group of so many jobs is named as the source of a job's draws.
_NAMED_GROUP = 5
#: The prior distribution of run time / limit: a tenth of the jobs run to their limits, the others
#: to the part u^k. There u is uniform on (0, 1), and k, the same for all jobs of a future, is
#: log-uniform between these. In logs of the Parallel Workloads Archive (CTC SP2 1996, HPC2N 2002,
#: LLNL Atlas 2006) the mean part by user is 0.01 to 0.09 at the 5th, 0.22 to 0.38 at the 50th and
#: 0.53 to 0.67 at the 95th percentile of the users; 9% to 11% of the jobs run to their limits.
_EXPONENTS = (0.5, 16.0)
_PRIOR_POINTS = np.append((np.arange(18) + 0.5) / 18, [1.0, 1.0])
#: Probability that a job has the place in its distribution that all jobs of its user share. Jobs
#: of one user in a queue are alike: on the logs named above, 90% intervals of the mean part of 15
#: successive jobs hold 62% to 82% of the true means without it, and 82% to 90% with it.
_SHARED_PLACE = 0.7
#: Only the latest jobs count.
_MAX_JOBS = 500
#: Silverman's rule for the bandwidth of a normal kernel: 0.9 A n^(-1/5), where A is the smaller of
#: the standard deviation and the interquartile range / 1.34.
_SILVERMAN, _NORMAL_QUARTILES = 0.9, 1.34
#: Bandwidth (of a natural logarithm) where all jobs are alike, and where there is only one.
_MIN_BANDWIDTH, _LONE_BANDWIDTH = 0.1, 0.5
_SMALLEST_RATIO = 1e-9
#: A logistic distribution with scale 1 has this standard deviation.
_LOGISTIC_DEVIATION = np.pi / np.sqrt(3.0)


def read_run_times(
    run_times: Mapping[Any, float] | str | PathLike[str] | None,
) -> dict[int, float]:
    """Return seconds from start to end by job, of a mapping or a CSV ``job,seconds``."""
    if run_times is None:
        return {}
    if isinstance(run_times, Mapping):
        return {int(job): float(seconds) for job, seconds in run_times.items()}
    seconds_of: dict[int, float] = {}
    (_, header), *rows = io.read_rows(run_times) or [(0, [])]
    if header[:2] != ["job", "seconds"]:
        raise InvalidInstance(f"{run_times}: line 1: expected the columns job,seconds")
    for line, cells in rows:
        place = f"{run_times}: line {line}"
        job = io.parse_integer(cells[0], f"{place}: job", 0, 2**40)
        seconds_of[job] = io.parse_nonnegative(cells[1], f"{place}: seconds")
    return seconds_of


class _Group(NamedTuple):
    """Users and partitions that share a distribution."""

    user: str
    partition: str


class _Mixture(NamedTuple):
    """Kernels of all futures, one row a future, cut off where the job has already run."""

    #: Cumulated weights of all rows in one: row r has the numbers from r to r + 1.
    steps: np.ndarray
    #: Rows with any weight: in the others the job runs to its limit.
    has_weight: np.ndarray
    #: Logarithm of the kernel's centre.
    centre: np.ndarray
    #: Kernels at the limit are not spread: these jobs were ended there.
    is_limit: np.ndarray
    #: Probability of each kernel above the part that the job has run, and above the limit.
    above_elapsed: np.ndarray
    above_limit: np.ndarray
    scale: float


class RunTimes:
    """Distribution of run time / limit: of the user's own jobs, the partition's, all, a prior.

    Each future weighs the jobs of the past anew (Bayesian bootstrap, Rubin 1981), so that futures
    differ as much as a short past leaves open. Jobs that still run say that they are longer than
    this (weights of Kaplan and Meier's estimator). A job of the past stands for a log-logistic
    kernel around its ratio, as wide as Silverman's rule says (1986, section 3.4), which is cut off
    at the limit. The longer a job has run, the more its draws are from above that part.

    Parameters
    ----------
    history : iterable of FinishedJob
        Jobs that have ended.
    draws, seed : int
        Number of futures, and what makes them the same ones again.
    running : iterable of SnapshotJob
        Jobs that run at second `now`.
    now : float
        Seconds since 1970.
    """

    def __init__(
        self,
        history: Iterable[FinishedJob],
        draws: int,
        seed: int,
        running: Iterable[SnapshotJob] = (),
        now: float = 0.0,
    ) -> None:
        ended = [job for job in history if job.limit and job.end > job.start][-_MAX_JOBS:]
        censored = [
            job
            for job in running
            if job.id > 0 and job.limit and np.isfinite(job.limit) and job.start
        ]
        jobs: list[FinishedJob | SnapshotJob] = [*ended, *censored]
        lasted = [job.end - job.start for job in ended]
        lasted += [now - (job.start or 0.0) for job in censored]
        ratio = np.array(
            [
                min(seconds / (job.limit or 1.0), 1.0)
                for seconds, job in zip(lasted, jobs, strict=True)
            ],
            dtype=float,
        )
        order = np.argsort(ratio, kind="stable")
        self._ratio = ratio[order]
        self._has_ended = (np.arange(len(jobs)) < len(ended))[order]
        self._user = np.array([job.user for job in jobs], dtype=object)[order]
        self._partition = np.array([job.first_partition for job in jobs], dtype=object)[order]
        self._draw_weights(draws, seed)
        self._masses_of: dict[_Group, np.ndarray] = {}
        self._mixtures: dict[_Group, _Mixture] = {}
        self._shared: dict[str, np.ndarray] = {}
        self.draws, self._seed = draws, seed

    def _draw_weights(self, draws: int, seed: int) -> None:
        """Draw the weights and the places of all kernels for each future; sort the places."""
        rng = np.random.default_rng([seed, 0])
        low, high = np.log(_EXPONENTS)
        prior = _PRIOR_POINTS ** np.exp(rng.uniform(low, high, (draws, 1)))
        weights = rng.exponential(size=(draws, len(self._ratio)))
        self._weights = np.hstack([weights, np.full(prior.shape, 1 / len(_PRIOR_POINTS))])
        places = np.hstack([np.broadcast_to(self._ratio, weights.shape), prior])
        self._order = np.argsort(places, axis=1, kind="stable")
        self._places = np.take_along_axis(places, self._order, axis=1)

    @property
    def mean_ratio(self) -> float:
        """Mean part of the limit that jobs of all users run, with the prior distribution."""
        total = self._ratio[self._has_ended].sum() + _GROUP_WEIGHT * self._prior_mean()
        return float(total / (self._has_ended.sum() + _GROUP_WEIGHT))

    @staticmethod
    def _prior_mean() -> float:
        """Return the mean that a group is drawn to."""
        low, high = _EXPONENTS
        # The mean of 1 / (1 + k) where log k is uniform.
        mean = np.log(high * (1 + low) / (low * (1 + high))) / np.log(high / low)
        to_limit = float(np.mean(_PRIOR_POINTS == 1.0))
        return float(to_limit + (1 - to_limit) * mean)

    def model_of(self, job: SnapshotJob) -> str:
        """Return where most of the job's draws come from, in words."""
        of_user, of_partition, _ = self._groups(job)
        user_count, partition_count = (
            int((group & self._has_ended).sum()) for group in (of_user, of_partition)
        )
        partition_count += int(
            (of_user & (self._partition == job.first_partition) & self._has_ended).sum()
        )
        if user_count >= _NAMED_GROUP:
            return f"{user_count} jobs of user {job['user']}"
        if partition_count >= _NAMED_GROUP:
            return f"{partition_count} jobs of partition {job.first_partition}"
        if self._has_ended.any():
            return f"{self._has_ended.sum()} jobs of all users"
        return "no history: any part of the limit"

    def _groups(self, job: SnapshotJob) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return jobs of the user, others of the partition, and others of other partitions."""
        is_user, is_partition = self._user == job.user, self._partition == job.first_partition
        return is_user, is_partition & ~is_user, ~is_partition & ~is_user

    def _group_weights(self, job: SnapshotJob) -> np.ndarray:
        """Return the weight of each job of the past: each wider group counts as a few jobs of the
        user."""
        of_user, *wider_groups = self._groups(job)
        weights = of_user.astype(float)
        for group in wider_groups:
            if group.any():
                weights += group * min(_GROUP_WEIGHT, group.sum()) / group.sum()
        return weights

    def _masses(self, job: SnapshotJob) -> np.ndarray:
        """Return the probability of each kernel, a row a future: Kaplan and Meier's estimator."""
        key = _Group(job.user, job.first_partition)
        if key not in self._masses_of:
            prior = np.full(len(_PRIOR_POINTS), _GROUP_WEIGHT)
            weights = self._weights * np.concatenate([self._group_weights(job), prior])
            ends = np.concatenate([self._has_ended, np.ones(len(prior), dtype=bool)])[self._order]
            weights = np.take_along_axis(weights, self._order, axis=1)
            at_risk = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
            hazard = np.where(ends, weights / np.maximum(at_risk, 1e-300), 0.0)
            survival = np.cumprod(1 - hazard, axis=1)
            survival_before = np.hstack([np.ones((self.draws, 1)), survival[:, :-1]])
            self._masses_of[key] = survival_before * hazard
        return self._masses_of[key]

    def _bandwidth(self, job: SnapshotJob) -> float:
        """Return the standard deviation of a kernel in the logarithm of the ratio."""
        weights = self._group_weights(job)
        counts = self._has_ended & (self._ratio < 1.0) & (weights > 0)
        if counts.sum() < 2:
            return _LONE_BANDWIDTH
        share = weights[counts] / weights[counts].sum()
        logs = np.log(np.maximum(self._ratio[counts], _SMALLEST_RATIO))
        # With weights, 1 / sum of squared shares is the effective number of jobs.
        squares = float(np.sum(share**2))
        variance = float(np.sum(share * (logs - np.sum(share * logs)) ** 2)) / (1 - squares)
        # The ratios are in increasing order.
        low, high = logs[np.searchsorted(np.cumsum(share), [0.25, 0.75])]
        deviation = min(np.sqrt(variance), (high - low) / _NORMAL_QUARTILES)
        return float(max(_SILVERMAN * deviation * squares**0.2, _MIN_BANDWIDTH))

    def _mixture(self, job: SnapshotJob, elapsed: float) -> _Mixture:
        """Return kernels for a job that has run the part `elapsed` of its limit."""
        key = _Group(job.user, job.first_partition)
        if not elapsed and key in self._mixtures:
            return self._mixtures[key]
        scale = self._bandwidth(job) / _LOGISTIC_DEVIATION
        centre = np.log(np.maximum(self._places, _SMALLEST_RATIO))
        is_limit = self._places >= 1.0
        above_limit = _survival(-centre / scale)
        above_elapsed = np.ones_like(centre)
        if elapsed:
            above_elapsed = _survival((np.log(min(elapsed, 1.0)) - centre) / scale)
        inside = np.clip((above_elapsed - above_limit) / (1 - above_limit), 0.0, 1.0)
        weights = np.cumsum(self._masses(job) * np.where(is_limit, 1.0, inside), axis=1)
        total = weights[:, -1:]
        steps = weights / np.where(total > 0, total, 1.0) + np.arange(self.draws)[:, None]
        mixture = _Mixture(
            steps.ravel(), total[:, 0] > 0, centre, is_limit, above_elapsed, above_limit, scale
        )
        if not elapsed:
            self._mixtures[key] = mixture
        return mixture

    def draw(
        self,
        job: SnapshotJob,
        limit: float | NDArray[np.float64],
        elapsed: float,
        rng: np.random.Generator,
        futures: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float64]:
        """Run times from the start (s), each longer than `elapsed` seconds.

        One for each future; or for the futures of these numbers, with a limit each.
        """
        row = np.arange(self.draws) if futures is None else futures
        mixture = self._mixture(job, elapsed / float(np.max(limit)) if elapsed else 0.0)
        width = self._places.shape[1]
        uniform = self._uniforms(job.user, row, rng)
        where = np.searchsorted(mixture.steps, row + uniform, side="right")
        column = np.clip(where - row * width, 0, width - 1)
        low, high = mixture.above_limit[row, column], mixture.above_elapsed[row, column]
        survival = np.clip(low + rng.uniform(size=len(row)) * (high - low), 1e-300, 1 - 1e-16)
        # The inverse of the logistic survival function.
        logs = mixture.centre[row, column] + mixture.scale * np.log((1 - survival) / survival)
        to_limit = mixture.is_limit[row, column] | ~mixture.has_weight[row]
        ratio = np.where(to_limit, 1.0, np.exp(np.minimum(logs, 0.0)))
        return np.maximum(ratio * limit, elapsed + 1.0)

    def _uniforms(self, user: str, row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return places of a job in its distribution, one a future.

        Jobs that a user has in the queue at a time are often alike: each has the place that all of
        the user's jobs share in that future with a fixed probability, and else one of its own.
        """
        if user not in self._shared:
            # By order of appearance: names without a meaning give the same answers.
            shared = np.random.default_rng([self._seed, len(self._shared), 6])
            self._shared[user] = shared.uniform(size=self.draws)
        single = rng.uniform(size=len(row))
        return np.where(rng.uniform(size=len(row)) < _SHARED_PLACE, self._shared[user][row], single)


def _survival(standardized: np.ndarray) -> np.ndarray:
    """Return the survival function of the standard logistic distribution."""
    return np.asarray(1 / (1 + np.exp(np.clip(standardized, None, 700.0))))
