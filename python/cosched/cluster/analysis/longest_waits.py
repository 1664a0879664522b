"""The longest waits of a log, and what they were for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cosched.cluster.analysis.audit_runs import AuditRuns
from cosched.cluster.analysis.replications import waits_of_jobs
from cosched.cluster.files.conventions import ROUNDING_SECONDS
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import resources
from cosched.cluster.result import Result
from cosched.cluster.result.groups import Capacity
from cosched.core.arrays import step_function
from cosched.core.installed import LIMIT_FINDERS, package_offers

#: So many jobs are diagnosed.
MAX_LONGEST_WAITS = 10
#: A job with enough free resources in a larger share of its wait waited for something else.
MIN_SHARE_WITH_ROOM = 0.5
#: A resource that lacked for less of the wait is not named.
_MIN_LACKING_SHARE = 0.005


#: Jobs by row, and seconds -> row -> the limit that kept the job waiting, in the scheduler's words.
LimitFinder = Callable[[Instance, Sequence[int], float | None], Mapping[int, str]]


@dataclass(frozen=True)
class WaitDiagnosis:
    """What a job waited for.

    Attributes
    ----------
    jobs_ahead : int
        Jobs that could start earlier, or are of a partition with a greater priority, and had not
        started when the job could start.
    jobs_overtaking : int
        Jobs that came later and started earlier.
    free, capacity : float
        Of the job's part of the machine when it could start: cores, or nodes.
    share_with_room : float
        Share of the wait in which enough of all resources was free.
    lacking : dict
        Resource -> share of the wait in which too little of it was free; the first one, cores or
        nodes, included.
    is_upper_bound : bool
        Jobs of partitions that overlap hold nodes that the log does not name: `free` and
        `share_with_room` are at most these.
    """

    jobs_ahead: int
    jobs_overtaking: int
    free: float
    capacity: float
    share_with_room: float
    lacking: dict[str, float] = field(default_factory=dict)
    is_upper_bound: bool = False


@dataclass(frozen=True)
class LongestWait:
    """One of the jobs that waited longest (times in seconds of the log).

    Attributes
    ----------
    job : object
        Its id.
    user, partition : object
        None where the log does not say them.
    size : int
        Cores, or nodes on a machine without cores.
    eligible : float
        When the job could start.
    wait, blocked : float
        How long it waited from then, and how long it could not start before.
    wait_under_reference : float
        nan where the reference policy leaves the job out, or is what the rows are of.
    diagnosis : WaitDiagnosis
    """

    job: Any
    user: Any
    partition: Any
    size: int
    eligible: float
    wait: float
    blocked: float
    wait_under_reference: float
    diagnosis: WaitDiagnosis
    #: The limit that kept the job waiting in a simulation, as squeue names it; empty: none known.
    limit: str = ""

    @property
    def has_unexplained_wait(self) -> bool:
        """Whether enough of all resources was free in most of the wait."""
        diagnosis = self.diagnosis
        return diagnosis.share_with_room > MIN_SHARE_WITH_ROOM and not diagnosis.is_upper_bound


@dataclass(frozen=True)
class BlockedJobs:
    """Jobs that could not start when they came: dependency, begin time, hold, array limit.

    A second between submission and eligible time is rounding, and does not count.
    """

    #: How many jobs.
    jobs: int
    #: Seconds.
    mean_time: float
    #: The longest time before a job was eligible (s).
    max_time: float


def blocked_jobs(instance: Instance) -> BlockedJobs | None:
    """Return how many jobs could not start when they came; None without any."""
    blocked_times = instance.column("eligible") - instance.column("submit")
    is_blocked = blocked_times > ROUNDING_SECONDS
    if not is_blocked.any():
        return None
    mean_time = float(blocked_times[is_blocked].mean())
    return BlockedJobs(int(is_blocked.sum()), mean_time, float(blocked_times.max()))


def longest_waits(runs: AuditRuns) -> tuple[LongestWait, ...]:
    """Return the longest waits of the log, or of the reference policy where it has none.

    Each user has one row where the log names users: a user with many jobs would fill the table.
    """
    result = runs.logged or runs.reference_result
    if result is None:
        return ()
    reference_waits = _waits_under_reference(runs)
    waits = np.where(result.instance.measured, result.waits, 0.0)
    rows = {
        job: _longest_wait(result, job, float(waits[job]), reference_waits)
        for job in _jobs_with_longest_waits(result.instance, waits)
    }
    limits = _limits_of_waits(runs, result.instance, rows)
    return tuple(replace(row, limit=limits.get(job, "")) for job, row in rows.items())


def _limits_of_waits(
    runs: AuditRuns, instance: Instance, rows: Mapping[int, LongestWait]
) -> dict[int, str]:
    """Return the limits that kept jobs waiting although enough was free."""
    if not runs.has_simulator:
        return {}
    jobs = [job for job, row in rows.items() if row.has_unexplained_wait]
    limits: dict[int, str] = {}
    for finder in package_offers(LIMIT_FINDERS):
        limits |= finder(instance, jobs, runs.time_limit)
    return limits


def _jobs_with_longest_waits(instance: Instance, waits: np.ndarray) -> list[int]:
    users = instance.column("user").tolist() if "user" in instance.column_names else None
    jobs: list[int] = []
    listed_users = set()
    for job in np.argsort(-waits, kind="stable").tolist():
        if len(jobs) == MAX_LONGEST_WAITS or waits[job] <= 0:
            break
        if users is not None:
            if users[job] in listed_users:
                continue
            listed_users.add(users[job])
        jobs.append(job)
    return jobs


def _waits_under_reference(runs: AuditRuns) -> dict[int, float]:
    """Return the wait of each row of the log under the reference policy, which may leave jobs out;
    empty where the rows of the table are of that policy."""
    if runs.logged is None or runs.reference_result is None:
        return {}
    reference = runs.reference_result
    rows = reference.instance.rows_of_log.tolist()
    return dict(zip(rows, waits_of_jobs(reference).tolist(), strict=True))


def _longest_wait(
    result: Result, job: int, wait: float, reference_waits: dict[int, float]
) -> LongestWait:
    instance = result.instance
    eligible = float(instance.column("eligible")[job])
    user, partition = (
        instance.column(name)[job] if name in instance.column_names else None
        for name in ("user", "partition")
    )
    return LongestWait(
        job=instance.ids[job],
        user=user,
        partition=partition,
        size=int(instance.column("tasks")[job]),
        eligible=eligible,
        wait=wait,
        blocked=eligible - float(instance.column("submit")[job]),
        wait_under_reference=reference_waits.get(int(instance.rows_of_log[job]), math.nan),
        diagnosis=diagnose_wait(result, job),
    )


def diagnose_wait(result: Result, job: int) -> WaitDiagnosis:
    """Return what a job waited for: jobs ahead of it, resources that lacked, jobs that overtook
    it."""
    instance, starts = result.instance, np.asarray(result.outcome["start"])
    eligible_times, row = instance.column("eligible"), np.arange(len(instance))
    cells, allowed, tier = instance.partition_layout
    rank = -tier if len(tier) else np.zeros(len(instance))
    eligible_time, start = eligible_times[job], starts[job]
    is_earlier = (eligible_times < eligible_time) | (
        (eligible_times == eligible_time) & (row < job)
    )
    has_precedence = (rank < rank[job]) | ((rank == rank[job]) & is_earlier)
    is_ahead = (eligible_times <= eligible_time) & (starts > eligible_time) & has_precedence
    is_overtaking = ~is_earlier & (row != job) & (starts < start) & (rank == rank[job])
    free, capacity, share_with_room, lacking, is_exact = _free_resources(
        result, job, cells, allowed
    )
    return WaitDiagnosis(
        jobs_ahead=int(is_ahead.sum()),
        jobs_overtaking=int(is_overtaking.sum()),
        free=free,
        capacity=capacity,
        share_with_room=share_with_room,
        lacking=lacking,
        is_upper_bound=not is_exact,
    )


def _free_resources(
    result: Result, job: int, cells: np.ndarray, allowed: np.ndarray
) -> tuple[float, float, float, dict[str, float], bool]:
    """Return what was free of the job's part of the machine at its eligible time, the capacity of
    that part, the share of the wait with room, the shares in which each resource lacked, and
    whether these are exact."""
    instance = result.instance
    starts, ends = (np.asarray(result.outcome[name]) for name in ("start", "end"))
    eligible_time, mask = instance.column("eligible")[job], int(allowed[job]) if len(cells) else 1
    may_share_nodes, is_exact = np.ones(len(instance), dtype=bool), True
    if len(cells):
        may_share_nodes = (allowed & ~allowed[job]) == 0  # others may have been on these nodes too
        is_exact = bool((may_share_nodes | ((allowed & allowed[job]) == 0)).all())
    is_during_wait = may_share_nodes & (starts < starts[job]) & (ends > eligible_time)
    begin = np.maximum(starts[is_during_wait], eligible_time)
    end = np.minimum(ends[is_during_wait], starts[job])
    capacities = Capacity(instance)
    is_lacking: dict[str, np.ndarray] = {}
    free = capacity = 0.0
    for name, _, amount in resources(instance):
        if amount[job] == 0 or capacities.of(name, mask) == 0:
            continue
        if name.startswith("gpus:"):
            del is_lacking["gpus"]  # the type says it
        used_amounts = np.append(amount[is_during_wait], 0)
        times, level = step_function(
            np.append(begin, eligible_time), np.append(end, starts[job]), used_amounts
        )
        is_lacking[name] = level[:-1] + amount[job] > capacities.of(name, mask) * (1 + 1e-9)
        if not capacity:  # the first: nodes, or cores
            capacity = capacities.of(name, mask)
            free = max(0.0, capacity - float(used_amounts[:-1][begin <= eligible_time].sum()))
    durations, wait = np.diff(times), starts[job] - eligible_time
    has_room = ~np.any(list(is_lacking.values()), axis=0)
    shares = {name: float(durations[lack].sum() / wait) for name, lack in is_lacking.items()}
    named_shares = {name: part for name, part in shares.items() if part >= _MIN_LACKING_SHARE}
    return free, capacity, float(durations[has_room].sum() / wait), named_shares, is_exact
