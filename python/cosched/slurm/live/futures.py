"""Futures of a snapshot: run times, submissions and clocks that are not known are drawn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import integer, positive
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance
from cosched.slurm.live.model import Ended, Job, made
from cosched.slurm.live.simulation import Simulation
from cosched.slurm.live.snapshot import Snapshot, cores_of, limit_of


def requested(snapshot: Snapshot, requests: Iterable[Mapping[str, Any]]) -> list[Job]:
    """Requests as jobs that are submitted now."""
    most = max((job.id for job in snapshot.jobs), default=0)
    found = []
    for number, one in enumerate(requests, 1):
        if not isinstance(one, Mapping) or "time" not in one:
            raise InvalidInstance(f"requests[{number - 1}]: expected nodes and time (s)")
        _check_names(snapshot, one)
        nodes = integer(one.get("nodes", 1), "nodes", 1)
        seconds = positive(one["time"], "time", "seconds > 0")
        cpus = integer(one.get("cpus_per_task", 1) or 1, "cpus_per_task", 1)
        gpus = one.get("gpus")
        own = {
            **_owner(snapshot, one), "id": most + number, "submit": snapshot.taken,
            "limit": seconds, "nodes": nodes, "cpus": nodes * cpus, "memory": one.get("mem"),
            "gres": f"gpu:{gpus}" if gpus else "", "measured": list(one.get("runs") or ()),
        }  # fmt: skip
        found.append(_now(own, f"requests[{number - 1}]"))
    return found


def _check_names(snapshot: Snapshot, one: Mapping[str, Any]) -> None:
    """Refuse names that the cluster does not have, of those that its outputs list."""
    own, shares = snapshot.limits.get("associations", ()), snapshot.shares
    listed = {
        "partition": [part.name for part in snapshot.machine.partitions],
        "account": [*(row.get("Account") for row in own), *(share.account for share in shares)],
        "user": [*(row.get("User") for row in own), *(share.user for share in shares)],
        "QOS": snapshot.limits.get("qos", ()),
    }
    for what, names in listed.items():
        known = dict.fromkeys(filter(None, names))
        for name in str(one.get(what.lower()) or "").split(","):
            if name and known and name not in known:
                raise InvalidInstance(unknown_name(what, name, known))


def arriving(snapshot: Snapshot, row: Mapping[str, Any], place: str) -> Job:
    """A later submission as a job."""
    known = dict(row) if isinstance(row, Mapping) else {}
    if "submit" not in known:
        raise InvalidInstance(f"{place}: expected job, submit, seconds, ...")
    own: dict[str, Any] = {
        **_owner(snapshot, known), "id": int(known.get("job", known.get("id", 0))),
        **{key: known[key] for key in ("submit", "limit", "memory") if key in known},
        "nodes": known.get("nodes") or 1, "cpus": known.get("cpus") or 1,
        "gres": known.get("gres") or "", "arrives": known["submit"],
        "runs": known.get("seconds") or 0.0,
    }  # fmt: skip
    return _now(own, place)


def like_one(snapshot: Snapshot, past: Job | Ended) -> Job:
    """A job like one that has come before, now."""
    owner = _owner(snapshot, {key: past[key] for key in ("user", "account", "partition", "qos")})
    own = {
        "id": past.id, "limit": past.limit, "nodes": past.nodes or 1, "cpus": past.cpus or 1,
        "submit": snapshot.taken, "arrives": snapshot.taken, "runs": 0.0,
        **({"memory": past.memory, "gres": past.gres} if isinstance(past, Job) else {}),
    }  # fmt: skip
    return _now({**owner, **own}, f"job {past.id}")


def _owner(snapshot: Snapshot, row: Mapping[str, Any]) -> dict[str, str]:
    usual = {"user": "", "account": "", "partition": _usual(snapshot), "qos": "normal"}
    return {key: str(row.get(key) or value) for key, value in usual.items()}


def _now(own: Mapping[str, Any], place: str) -> Job:
    """Eligible since it is submitted."""
    return made(Job, {**own, "eligible": own["submit"], "accrue": own["submit"]}, place)


def _usual(snapshot: Snapshot) -> str:
    settings = snapshot.machine.slurm
    assert settings is not None
    return settings.default_partition


def given_run_times(given: Mapping[Any, float] | str | PathLike[str] | None) -> dict[int, float]:
    """Seconds by job, of a mapping or a CSV ``job,seconds``."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {int(job): float(seconds) for job, seconds in given.items()}
    found: dict[int, float] = {}
    (_, header), *rows = io.read_rows(given) or [(0, [])]
    if header[:2] != ["job", "seconds"]:
        raise InvalidInstance(f"{given}: line 1: expected the columns job,seconds")
    for line, cells in rows:
        where = f"{given}: line {line}"
        job = io.parse_integer(cells[0], f"{where}: job", 0, 2**40)
        found[job] = io.parse_nonnegative(cells[1], f"{where}: seconds")
    return found


_HOUR, _DAY, _WEEK = 3600.0, 86400.0, 7 * 24
#: So many hours of the mean are added to what was seen of an hour of the week.
_PRIOR = 2.0
#: A day of the past is as one observation of how busy times are, and so is half a day before it.
_BEFORE = 0.5


class Arrivals:
    """Submissions of the past, by hour of the week."""

    def __init__(self, history: Sequence[Job | Ended], until: float) -> None:
        came = [job.submit or 0.0 for job in history]
        times = np.array([time for time in came if time < until])
        self._rate = np.zeros(_WEEK)  # an hour
        self._days = _BEFORE
        self._pool: list[np.ndarray] = [np.arange(len(history))] * _WEEK
        if not len(times):
            return
        first = times.min()
        span = max(until - first, _HOUR)
        self._days += span / _DAY
        mean = len(times) / span * _HOUR
        hours = np.array([hour_of_week(time) for time in came])
        known = np.array([time < until for time in came])
        for hour in np.unique(hours[known]):
            self._pool[hour] = np.flatnonzero(known & (hours == hour))
        seen = np.bincount(hours[known], minlength=_WEEK)
        # How often each hour of the week has come.
        quarters = np.arange(first, until, _HOUR / 4)
        exposed = np.bincount((quarters // _HOUR).astype(int) % _WEEK, minlength=_WEEK) / 4
        self._rate = (seen + _PRIOR * mean) / (exposed + _PRIOR)

    def draw(
        self, begin: float, length: float, most: int, *, draws: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(draw, time, number of the job of the past) of those that come in so many seconds, by
        draw and time; at most about so many in each. A longer time begins with the same ones.

        Some futures are busier than the past, and some less, by a factor that has mean 1: the
        shorter the past is, the more so."""
        found = []
        busy = np.random.default_rng([seed, 5]).gamma(self._days, 1 / self._days, draws)
        end, at, left = begin + length, begin, float(most)
        while at < end and left > 0 and self._rate.any():
            turn = (np.floor(at / _HOUR) + 1) * _HOUR
            rng = np.random.default_rng([seed, 1, int(at // _HOUR)])
            hour = hour_of_week(at)
            left -= self._rate[hour] * (turn - at) / _HOUR
            counts = rng.poisson(busy * self._rate[hour] * (turn - at) / _HOUR)
            times = rng.uniform(at, turn, counts.sum())
            jobs = rng.choice(self._pool[hour], counts.sum())
            found.append((np.repeat(np.arange(draws), counts), times, jobs))
            at = turn
        if not found:
            return np.zeros(0, dtype=int), np.zeros(0), np.zeros(0, dtype=int)
        number, time, job = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((time, number))
        order = order[time[order] < end]
        return number[order], time[order], job[order]


def hour_of_week(seconds: float) -> int:
    """0 = the hour after midnight of a Thursday, in UTC (as 1970 began)."""
    return int(seconds // _HOUR) % _WEEK


#: Fewer jobs of the past say nothing about run times and arrivals.
_LEAST = 5

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
        self, simulation: Simulation, jobs: Sequence[Job], like: np.ndarray, number: np.ndarray
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
        known: list[Job | Ended] = [*past]
        known += [one for one in running
                  if one.id > 0 and one.limit and np.isfinite(one.limit) and one.start]  # fmt: skip
        lasted = [
            (job.end if isinstance(job, Ended) else now) - (job.start or 0.0) for job in known
        ]
        ratio = [min(t / (job.limit or 1.0), 1.0) for t, job in zip(lasted, known, strict=True)]
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
