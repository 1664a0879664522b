"""Test advice on the log: each month's advice from the jobs before it, and a replay of the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.result import Result
from cosched.cluster.sizing.advisor import Advisor, is_insufficient
from cosched.cluster.sizing.use import UsageTable
from cosched.lazy import pd

#: Seconds of the periods of a log without dates.
_SECONDS_OF_PERIOD = {"month": 30 * 86400.0, "week": 7 * 86400.0, "day": 86400.0}
PERIODS = tuple(_SECONDS_OF_PERIOD)
#: A log is tested by its months, or weeks, where it has at least this many of them.
_MIN_PERIODS = 3
#: Periods that are tested: the last ones.
_MAX_PERIODS = 24
_SHARES = ("promised", "killed_time", "killed_memory", "unknown")
_SUMS = ("saved_memory_hours", "saved_core_hours", "lost_core_hours")
_NO_JOBS = {name: np.zeros(0, int) for name in ("period", "row", *_SHARES, *_SUMS)}


def default_period(instance: Instance) -> str:
    """Return the longest of months, weeks and days of which the log has three; else days."""
    for period in PERIODS:
        if len(periods(instance, period)[1]) >= _MIN_PERIODS:
            return period
    return PERIODS[-1]


def periods(instance: Instance, period: str = "month") -> tuple[list[str], np.ndarray]:
    """Return the names of the last periods with submitted jobs, and when each begins (s)."""
    submit = instance.column("submit")
    seconds = _SECONDS_OF_PERIOD[period]
    if instance.begins is None:
        begins = np.unique(submit // seconds)[-1 - _MAX_PERIODS :] * seconds
        return [f"day {begin // 86400:.0f} on" for begin in begins], begins
    log_begin = np.datetime64(instance.begins.replace(tzinfo=None), "s")
    dates = log_begin + submit.astype("m8[s]")
    if period == "week":  # those of the calendar begin on Mondays; NumPy counts from a Thursday
        monday = np.timedelta64(3, "D")
        starts = (dates.astype("M8[D]") + monday).astype("M8[W]").astype("M8[D]") - monday
    else:
        starts = dates.astype("M8[M]" if period == "month" else "M8[D]")
    starts = np.unique(starts)[-1 - _MAX_PERIODS :]
    seconds_from_first = (starts.astype("M8[s]") - log_begin) / np.timedelta64(1, "s")
    return [str(start) for start in starts], seconds_from_first


def rolling(
    advisor: Advisor, begins: np.ndarray
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each period after the first: its number, the rows of its jobs, and their advised limits
    and memory from the jobs that had ended when it began."""
    use = advisor.use
    period_of_job = np.searchsorted(begins, use.submit, side="right") - 1
    for number in range(1, len(begins)):
        rows = np.flatnonzero(period_of_job == number)
        is_past = use.end < begins[number]
        if len(rows) and is_past.any():
            yield number, rows, *advisor.amounts(*advisor.fit(is_past), rows)


def outcomes_of_jobs(instance: Instance, advisor: Advisor, period: str) -> pd.DataFrame:
    """Return one row per job of each period after the first: the period's name, the row of the job,
    and its outcome under the advice."""
    names, begins = periods(instance, period)
    parts = [
        pd.DataFrame(
            {
                "period": names[number],
                "row": rows,
                **_outcomes_of_period(advisor, rows, limit, memory),
            }
        )
        for number, rows, limit, memory in rolling(advisor, begins)
    ]
    jobs = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(_NO_JOBS)
    return jobs[jobs["promised"] > 0]


def backtest(jobs: pd.DataFrame, use: UsageTable, by: str) -> pd.DataFrame:
    """See :meth:`RightSize.backtest`; `by` is the name of a period, or ``group``."""
    keys: list[Any] = [jobs["period"].rename(by)]
    if by == "group":
        columns = zip(use.group_columns, use.group_values, strict=True)
        keys = [pd.Series(key[jobs["row"]], jobs.index, name=name) for name, key in columns]
    groups = jobs.groupby(keys, sort=False)
    table = groups[[*_SHARES]].mean()
    table.insert(0, "jobs", groups.size())
    return table.join(groups[[*_SUMS]].sum()).reset_index()


def _outcomes_of_period(
    advisor: Advisor, rows: np.ndarray, limit: np.ndarray, memory: np.ndarray
) -> dict[str, np.ndarray]:
    """Return for each job the promised risk, what ended it, and the savings and losses."""
    use = advisor.use
    run_times, memory_usage = use.time.usage[rows], use.memory.usage[rows]
    is_killed_for_memory = is_insufficient(memory, memory_usage, use.memory.request[rows])
    is_killed_for_time = ~is_killed_for_memory & is_insufficient(
        limit, run_times, use.time.request[rows]
    )
    # The job's own request ended it: it may have wanted more than is advised.
    is_cut_by_own_request = ~use.time.is_uncensored[rows] & (
        ((run_times >= use.time.request[rows]) & (limit > 0))
        | ((memory_usage >= use.memory.request[rows]) & (memory > 0))
    )
    is_unknown = is_cut_by_own_request & ~is_killed_for_memory & ~is_killed_for_time
    lost_seconds = np.where(is_killed_for_time, limit, 0.0)
    lost_seconds = np.where(is_killed_for_memory, run_times, lost_seconds)
    memory_requests = use.memory.request[rows]
    memory_reservations = np.where(np.isnan(memory), memory_requests, memory)
    saved_memory_seconds = np.where(
        lost_seconds > 0,
        -memory_reservations * lost_seconds,
        (memory_requests - memory_reservations) * run_times,
    )
    saved_seconds = np.nan_to_num(use.time.request[rows] - limit)
    return {
        "promised": advisor.risk * ((limit > 0).astype(float) + (memory > 0)),
        "killed_time": is_killed_for_time.astype(float),
        "killed_memory": is_killed_for_memory.astype(float),
        "unknown": is_unknown.astype(float),
        "saved_memory_hours": np.nan_to_num(saved_memory_seconds) / 3600,
        "saved_core_hours": saved_seconds * use.tasks[rows] / 3600,
        "lost_core_hours": lost_seconds * use.tasks[rows] / 3600,
    }


#: Killed jobs are resubmitted when they are killed, which the schedule before tells: the schedule
#: is computed again this many times.
_RESUBMISSION_ROUNDS = 2
#: Columns of the logged or running execution of jobs, dropped since policies start all jobs anew.
_COLUMNS_OF_THE_LOGGED_RUN = ("wait", "running", "ran", "held")


class Requests(NamedTuple):
    """What the jobs of a log would ask for, and how long they would run then."""

    #: Requested limits (s); nan: as in the log.
    limit: np.ndarray
    #: Requested memory (GB); nan: as in the log.
    memory: np.ndarray
    #: Run times (s) under these requests.
    runtime: np.ndarray
    #: True for jobs that use more than they request.
    is_killed: np.ndarray


def apply_advice(
    instance: Instance, limit: np.ndarray, memory: np.ndarray, follows: np.ndarray
) -> Requests:
    """Return the requests of all jobs if those in `follows` ask for the advised amounts.

    A job that would have run longer than its limit ends at the limit. A job that would have used
    more memory ends at its peak: at its end.
    """
    limit = limit + numbers_of(instance, "suspended")  # no limit counts suspended time
    limit, memory = (np.where(follows, advised, np.nan) for advised in (limit, memory))
    runtime = instance.column("runtime")
    no_amounts = np.full(len(runtime), np.nan)
    memory_usage = instance.raw_columns.get("used_memory_gb", no_amounts)
    memory_requests = instance.raw_columns.get("memory_gb", no_amounts)
    is_killed_for_time = is_insufficient(limit, runtime, _limits(instance))
    is_killed_for_memory = is_insufficient(memory, memory_usage, memory_requests)
    runtime = np.where(is_killed_for_time & ~is_killed_for_memory, limit, runtime)
    return Requests(limit, memory, runtime, is_killed_for_time | is_killed_for_memory)


def replay(
    instance: Instance,
    advised: tuple[np.ndarray, np.ndarray],
    followers: Mapping[str, np.ndarray],
    is_job_of_user: np.ndarray,
    time_limit: float | None,
) -> pd.DataFrame:
    """Return :meth:`RightSize.replay`.

    `followers` maps a label to the mask of jobs that follow the advice; `is_job_of_user` is the
    mask of the jobs of one user.
    """
    machine, tasks = instance.machine, instance.column("tasks")
    simulates_slurm = machine is not None and machine.slurm is not None
    rows = []
    policies = ["EASY"]
    if simulates_slurm:
        policies.append("slurm-backfill")
    for policy in policies:
        for name, follows in followers.items():
            requests = apply_advice(instance, *advised, follows)
            waits, message = _effective_waits(instance, requests, policy, time_limit)
            limit = np.where(np.isnan(requests.limit), _limits(instance), requests.limit)
            with np.errstate(over="ignore"):  # the largest numbers that a log may have
                reserved = (limit * tasks)[np.isfinite(limit)].sum() / 3600
            is_killed = requests.is_killed
            rows.append(
                {
                    "policy": policy,
                    "who": name,
                    "mean_wait": waits.mean(),
                    "p95_wait": np.quantile(waits, 0.95),
                    "user_wait": waits[is_job_of_user].mean() if is_job_of_user.any() else np.nan,
                    "killed": int(is_killed.sum()),
                    "lost_core_hours": (requests.runtime * tasks)[is_killed].sum() / 3600,
                    "reserved_core_hours": reserved,
                    "message": message,
                }
            )
    return pd.DataFrame(rows)


def _limits(instance: Instance) -> np.ndarray:
    """Return the logged time limits (s), or the run times where the log has no limits."""
    return instance.column("estimate" if "estimate" in instance.column_names else "runtime")


def _effective_waits(
    instance: Instance, requests: Requests, policy: str, time_limit: float | None
) -> tuple[np.ndarray, str]:
    """Return the wait of each job, lost runs included, and an error message or "".

    The wait is the time from when the job could start to its last end, less its run time; nan where
    the policy has no result, and then the message says why.
    """
    killed_rows = np.flatnonzero(requests.is_killed)
    first_ends = np.full(len(instance), np.nan)
    n_rounds = 1 + _RESUBMISSION_ROUNDS if len(killed_rows) else 1
    for number in range(n_rounds):
        resubmitted_rows = killed_rows if number else killed_rows[:0]
        jobs = _with_resubmissions(instance, requests, resubmitted_rows, first_ends)
        jobs = jobs.without_bound()
        ((row, result),) = FAMILY.compare_rows(jobs, [policy], 0, time_limit)
        if not isinstance(result, Result):
            return np.full(len(instance), np.nan), row["message"] or row["status"]
        all_ends = np.full(len(jobs), np.nan)  # a policy may leave jobs out
        all_ends[result.instance.column("line") - 1] = np.asarray(result.outcome["end"])
        first_ends = all_ends[: len(instance)]
    last_ends = first_ends.copy()
    last_ends[killed_rows] = all_ends[len(instance) :]
    waits = last_ends - instance.column("eligible") - instance.column("runtime")
    return np.where(np.isnan(waits), 0.0, np.maximum(waits, 0.0)), ""


def _with_resubmissions(
    instance: Instance, requests: Requests, resubmitted_rows: np.ndarray, end_times: np.ndarray
) -> Instance:
    """Return the jobs with other requests, and `resubmitted_rows` once more at their end times, as
    they had asked in the log."""
    columns = {
        name: column
        for name, column in instance.raw_columns.items()
        if name not in _COLUMNS_OF_THE_LOGGED_RUN
    }
    columns["id"] = instance.ids.astype(str)
    columns["eligible"] = instance.column("eligible")
    columns["estimate"] = _limits(instance)
    columns.setdefault("memory_gb", np.full(len(instance), np.nan))
    changes = {
        "estimate": requests.limit,
        "memory_gb": requests.memory,
        "runtime": requests.runtime,
    }
    first_runs = columns | {
        name: np.where(np.isnan(values), columns[name], values) for name, values in changes.items()
    }
    second_runs = {name: column[resubmitted_rows] for name, column in columns.items()}
    second_runs["submit"] = end_times[resubmitted_rows]
    second_runs["eligible"] = end_times[resubmitted_rows]
    jobs = {name: np.concatenate([first_runs[name], second_runs[name]]) for name in columns}
    jobs["line"] = np.arange(1, len(instance) + len(resubmitted_rows) + 1)
    return Instance(jobs, instance.nodes, machine=instance.machine, source=instance.source)
