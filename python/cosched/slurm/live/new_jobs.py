"""Jobs that are not in the snapshot: asked for, or still to come, drawn from the past."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import integer, positive
from cosched.errors import InvalidInstance
from cosched.slurm.live.model import Ended, Job, made
from cosched.slurm.live.snapshot import Snapshot


def requested(snapshot: Snapshot, requests: Iterable[Mapping[str, Any]]) -> list[Job]:
    """Requests as jobs that are submitted now."""
    most = max((job.id for job in snapshot.jobs), default=0)
    found = []
    for number, one in enumerate(requests, 1):
        if not isinstance(one, Mapping) or "time" not in one:
            raise InvalidInstance(f"requests[{number - 1}]: expected nodes and time (s)")
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


def given_run_times(
    given: Mapping[Any, float] | str | PathLike[str] | None,
) -> dict[int, float]:
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


_HOUR, _WEEK = 3600.0, 7 * 24
#: So many hours of the mean are added to what was seen of an hour of the week.
_PRIOR = 2.0
#: A day of the past is as one observation of how busy times are, and so is half a day before it.
_DAY, _BEFORE = 86400.0, 0.5


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
