"""What advice would have given: each month's from before it, and the same log under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.result import Result
from cosched.cluster.sizing.advisor import Advisor, too_little
from cosched.cluster.sizing.use import Use
from cosched.lazy import pd

#: Seconds of the periods of a log without dates.
_SECONDS = {"month": 30 * 86400.0, "week": 7 * 86400.0, "day": 86400.0}
PERIODS = tuple(_SECONDS)
#: A log of so many months, or weeks, is tested by these.
_FEWEST_PERIODS = 3
#: Periods that are tested: the last ones.
_MAX_PERIODS = 24
_SHARES = ("promised", "killed_time", "killed_memory", "unknown")
_SUMS = ("saved_memory_hours", "saved_core_hours", "lost_core_hours")
_NO_JOBS = {name: np.zeros(0, int) for name in ("period", "row", *_SHARES, *_SUMS)}


def default_period(instance: Instance) -> str:
    """The longest of months, weeks and days of which the log has three; days at the least."""
    for period in PERIODS:
        if len(periods(instance, period)[1]) >= _FEWEST_PERIODS:
            return period
    return PERIODS[-1]


def periods(instance: Instance, period: str = "month") -> tuple[list[str], np.ndarray]:
    """Names of the last periods in which jobs came, and when each begins (s)."""
    submit = instance.column("submit")
    seconds = _SECONDS[period]
    if instance.begins is None:
        begins = np.unique(submit // seconds)[-1 - _MAX_PERIODS :] * seconds
        return [f"day {begin // 86400:.0f} on" for begin in begins], begins
    first = np.datetime64(instance.begins.replace(tzinfo=None), "s")
    dates = first + submit.astype("m8[s]")
    if period == "week":  # those of the calendar begin on Mondays; NumPy counts from a Thursday
        monday = np.timedelta64(3, "D")
        starts = (dates.astype("M8[D]") + monday).astype("M8[W]").astype("M8[D]") - monday
    else:
        starts = dates.astype("M8[M]" if period == "month" else "M8[D]")
    starts = np.unique(starts)[-1 - _MAX_PERIODS :]
    seconds_from_first = (starts.astype("M8[s]") - first) / np.timedelta64(1, "s")
    return [str(start) for start in starts], seconds_from_first


def rolling(
    advisor: Advisor, begins: np.ndarray
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Number of each period after the first, the rows of its jobs, and what is advised for them
    from what had ended when it began."""
    use = advisor.use
    period_of_job = np.searchsorted(begins, use.submit, side="right") - 1
    for number in range(1, len(begins)):
        rows = np.flatnonzero(period_of_job == number)
        known = use.end < begins[number]
        if len(rows) and known.any():
            yield number, rows, *advisor.amounts(*advisor.at(known), rows)


def outcomes_of_jobs(instance: Instance, advisor: Advisor, period: str) -> pd.DataFrame:
    """One row per job of each period after the first: the period's name, the row of the job, and
    what became of it."""
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


def backtest(jobs: pd.DataFrame, use: Use, by: str) -> pd.DataFrame:
    """See :meth:`RightSize.backtest`; `by` is the name of a period, or ``group``."""
    keys: list[Any] = [jobs["period"].rename(by)]
    if by == "group":
        columns = zip(use.names, use.keys, strict=True)
        keys = [pd.Series(key[jobs["row"]], jobs.index, name=name) for name, key in columns]
    groups = jobs.groupby(keys, sort=False)
    table = groups[[*_SHARES]].mean()
    table.insert(0, "jobs", groups.size())
    return table.join(groups[[*_SUMS]].sum()).reset_index()


def _outcomes_of_period(
    advisor: Advisor, rows: np.ndarray, limit: np.ndarray, memory: np.ndarray
) -> dict[str, np.ndarray]:
    """Of each job: what was promised, what ended it, what was saved and lost."""
    use = advisor.use
    time, had = use.time.used[rows], use.memory.used[rows]
    full = too_little(memory, had, use.memory.asked[rows])
    late = ~full & too_little(limit, time, use.time.asked[rows])
    cut = ~use.time.ended[rows] & (
        ((time >= use.time.asked[rows]) & (limit > 0))
        | ((had >= use.memory.asked[rows]) & (memory > 0))
    )  # by its own request: it may have wanted more than is advised
    ran = np.where(full, time, np.where(late, limit, 0.0))  # a run that was in vain
    asked = use.memory.asked[rows]
    held = np.where(np.isnan(memory), asked, memory)
    saved = np.where(ran > 0, -held * ran, (asked - held) * time)
    return {
        "promised": advisor.risk * ((limit > 0).astype(float) + (memory > 0)),
        "killed_time": late.astype(float), "killed_memory": full.astype(float),
        "unknown": (cut & ~full & ~late).astype(float),
        "saved_memory_hours": np.nan_to_num(saved) / 3600,
        "saved_core_hours": np.nan_to_num(use.time.asked[rows] - limit) * use.tasks[rows] / 3600,
        "lost_core_hours": ran * use.tasks[rows] / 3600,
    }  # fmt: skip


#: Killed jobs come again when they are killed, which the schedule before says: so often it is made
#: anew.
_AGAIN = 2
#: Of jobs that run already, or ran in the log: policies start all anew.
_OF_THE_LOG = ("wait", "running", "ran", "held")


class Asked(NamedTuple):
    """What the jobs of a log would ask for, and how long they have the machine then."""

    limit: np.ndarray  # nan: as in the log
    memory: np.ndarray
    runtime: np.ndarray
    killed: np.ndarray


def asked_by(
    instance: Instance, limit: np.ndarray, memory: np.ndarray, follows: np.ndarray
) -> Asked:
    """Who follows asks for what is advised. One that would have run longer ends at its limit, one
    that would have used more when its peak comes: at its end."""
    limit = limit + numbers_of(instance, "suspended")  # no limit counts suspended time
    limit, memory = (np.where(follows, advised, np.nan) for advised in (limit, memory))
    runtime = instance.column("runtime")
    nothing = np.full(len(runtime), np.nan)
    used, asked = (instance.given.get(name, nothing) for name in ("used_memory_gb", "memory_gb"))
    late = too_little(limit, runtime, _limits(instance))
    full = too_little(memory, used, asked)
    return Asked(limit, memory, np.where(late & ~full, limit, runtime), late | full)


def replay(
    instance: Instance,
    advised: tuple[np.ndarray, np.ndarray],
    who: Mapping[str, np.ndarray],
    mine: np.ndarray,
    time_limit: float | None,
) -> pd.DataFrame:
    """See :meth:`RightSize.replay`; `who`: which jobs follow, `mine`: those of the one user."""
    machine, tasks = instance.machine, instance.column("tasks")
    twin = machine is not None and machine.slurm is not None
    rows = []
    for policy in ("EASY", "slurm-backfill")[: 1 + twin]:
        for name, follows in who.items():
            asked = asked_by(instance, *advised, follows)
            late, message = _late(instance, asked, policy, time_limit)
            limit = np.where(np.isnan(asked.limit), _limits(instance), asked.limit)
            with np.errstate(over="ignore"):  # the largest numbers that a log may have
                reserved = (limit * tasks)[np.isfinite(limit)].sum() / 3600
            rows.append({
                "policy": policy, "who": name, "mean_wait": late.mean(),
                "p95_wait": np.quantile(late, 0.95),
                "user_wait": late[mine].mean() if mine.any() else np.nan,
                "killed": int(asked.killed.sum()),
                "lost_core_hours": (asked.runtime * tasks)[asked.killed].sum() / 3600,
                "reserved_core_hours": reserved, "message": message,
            })  # fmt: skip
    return pd.DataFrame(rows)


def _limits(instance: Instance) -> np.ndarray:
    return instance.column("estimate" if "estimate" in instance.known else "runtime")


def _late(
    instance: Instance, asked: Asked, policy: str, time_limit: float | None
) -> tuple[np.ndarray, str]:
    """Of each job: from when it could start to its last end, less its run time; nan where the
    policy has no result, with why."""
    again = np.flatnonzero(asked.killed)
    options = {policy: {"estimates": "requested"} if policy == "EASY" else {}}
    ends = np.full(len(instance), np.nan)
    for number in range(1 + _AGAIN * (len(again) > 0)):
        come = again if number else again[:0]
        whole = _with_again(instance, asked, come, ends)._without_bound()
        ((row, result),) = FAMILY.compare_rows(whole, [policy], 0, time_limit, options)
        if not isinstance(result, Result):
            return np.full(len(ends), np.nan), row["message"] or row["status"]
        end = np.full(len(whole), np.nan)  # a policy may leave jobs out
        end[result.instance.column("line") - 1] = np.asarray(result.outcome["end"])
        ends = end[: len(ends)]
    last = ends.copy()
    last[again] = end[len(ends) :]
    late = last - instance.column("eligible") - instance.column("runtime")
    return np.where(np.isnan(late), 0.0, np.maximum(late, 0.0)), ""


def _with_again(instance: Instance, asked: Asked, again: np.ndarray, ends: np.ndarray) -> Instance:
    """The jobs with other requests; and those that were killed once more, as they had asked."""
    given = {name: each for name, each in instance.given.items() if name not in _OF_THE_LOG}
    given |= {"id": instance.ids.astype(str), "eligible": instance.column("eligible"),
              "estimate": _limits(instance)}  # fmt: skip
    given.setdefault("memory_gb", np.full(len(instance), np.nan))
    changed = {"estimate": asked.limit, "memory_gb": asked.memory, "runtime": asked.runtime}
    first = given | {
        name: np.where(np.isnan(new), given[name], new) for name, new in changed.items()
    }
    second = {name: each[again] for name, each in given.items()}
    second |= {"submit": ends[again], "eligible": ends[again]}
    jobs = {name: np.concatenate([first[name], second[name]]) for name in given}
    jobs["line"] = np.arange(1, len(instance) + len(again) + 1)
    return Instance(jobs, instance.nodes, machine=instance.machine, source=instance.source)
