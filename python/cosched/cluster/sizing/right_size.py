"""What jobs like those of a log should ask for, and what it gives everybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np

from cosched import io
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.sizing.advisor import Advisor, GroupAdvice, advice_table
from cosched.cluster.sizing.backtest import (
    PERIODS,
    backtest,
    default_period,
    outcomes_of_jobs,
    replay,
)
from cosched.cluster.sizing.mail import for_user
from cosched.cluster.sizing.use import UsageTable, usage_of
from cosched.core.installed import call_report_writer
from cosched.core.tails import risk_of
from cosched.core.text import texts
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note

#: The latest jobs of a log that are replayed, at most.
_MAX_REPLAYED_JOBS = 20_000
#: The users who leave most unused, who follow the advice in a replay.
_N_TOP_USERS = 10
#: Groups that a mail lists, at most.
_MAX_MAIL_GROUPS = 10


def rightsize(
    instance: Instance, risk: float = 0.01, by: Sequence[str] | str | None = None
) -> RightSize:
    """What jobs should ask for, by group of like jobs, with a promise.

    A job that asks for the advised limit and memory is killed for one of them with a chance of
    `risk` at most, as long as it is like those of its group's past: no distribution is assumed.
    Where a group's jobs ask for different amounts, the older third of its past chooses between an
    amount and a part of them, and the rest promises. The risk is divided equally between time and
    memory where the log says both. A group gets advice only where few enough jobs were cut off:
    where limits cut off jobs of its past, or may cut off the next ones, the answer has to hold for
    90% of all pasts (:func:`cosched.core.tails.tolerance_risks`), which needs 2.3 / risk jobs.
    Where the past is too short, or too many of its jobs were ended before their time, a larger
    group (the columns without the last, and so on) says how much of what its jobs ask for they use;
    where none can, there is no advice.

    Parameters
    ----------
    instance : Instance
        A log with limits, or with ``memory_gb`` and ``used_memory_gb``.
    risk : float
        The largest chance that a job is killed, from 1e-9 to below 1: 0.01 needs 99 like jobs where
        one thing is judged, 199 where both are.
    by : sequence of str or str, optional
        What makes jobs alike, the most important first: ``user, name`` (without UUIDs, hashes and
        numbers; where nothing else is left of it, the rule that Snakemake's Slurm plugin wrote into
        ``Comment``), ``account, partition, cores, group, qos, comment``. Default: the first five,
        as far as the log has them.

    Raises
    ------
    InvalidInstance
        Another column, a risk that is none, or a log that says neither.

    Notes
    -----
    Jobs that did not complete wanted more than they got: they are censored (Kaplan and Meier's
    estimator, with the next job as one more that outlives all). Of its own past a group's latest
    10 / risk jobs count. O(n log n).

    References
    ----------
    Vovk, Gammerman, Shafer: *Algorithmic Learning in a Random World*, 2005 (conformal prediction);
    Tovar et al.: *A Job Sizing Strategy for High-Throughput Scientific Workflows*, IEEE TPDS 29(2),
    2018 (``first_memory_gb``).

    Examples
    --------
    >>> jobs = {"submit": list(range(99)), "tasks": [1] * 99, "cpu": [1] * 99, "memory": [1] * 99,
    ...         "runtime": [60.0 * k for k in range(1, 100)], "estimate": [86400] * 99,
    ...         "user": ["ada"] * 99}
    >>> found = rightsize(cs.cluster.Instance(jobs, nodes=8))
    >>> found.advice[["user", "jobs", "asked_limit", "limit"]].to_numpy().tolist()
    [['ada', 99, 86400.0, 6300.0]]
    """
    Instance.require(instance)
    chance = risk_of(risk)
    use = usage_of([instance], by)
    if not use.n_measures:
        raise InvalidInstance(
            "the log says of no job what it asked for and used: expected time limits, or memory"
        )
    return RightSize(instance, chance, use)


@dataclass(frozen=True)
class RightSize:
    """Advice of a log, made by :func:`cosched.cluster.rightsize`.

    Attributes
    ----------
    instance : Instance
        The log.
    risk : float
        The largest chance that a job is killed.
    use : Use
        What its jobs asked for and used, and their groups.

    Examples
    --------
    >>> jobs = cs.workloads.requests(3000, 4, seed=1)
    >>> found = cs.cluster.rightsize(cs.cluster.Instance(jobs, nodes=64), risk=0.05)
    >>> advised = found.apply(found.instance)
    >>> bool(advised.column("memory_gb").sum() < found.instance.column("memory_gb").sum())
    True
    """

    instance: Instance
    risk: float
    use: UsageTable

    @property
    def notes(self) -> tuple[Note, ...]:
        """Sentences on how jobs are grouped whose names differ in every run."""
        return self.use.notes

    @cached_property
    def advice(self) -> pd.DataFrame:
        """A row a group, those first that leave most unused.

        The group's columns, ``jobs``, ``nodes``, ``asked_limit, used_limit_p50, used_limit_p95,
        limit`` (s), ``asked_memory_gb, used_memory_p50, used_memory_p95, memory_gb,
        first_memory_gb`` (GB of the job; nodes and asked: the median; advised: enough for each of
        the group's jobs, where :meth:`amounts` goes by what each asks for), ``node_memory_gb``
        (enough on each node of each of them, on however few nodes it runs), ``risk`` (promised),
        ``enough`` (there is advice for all that the log says), ``past`` (jobs that it rests on),
        ``like`` (by what these are alike; empty: all), ``unused_core_hours, unused_memory_hours``
        (of what was asked for; GB hours). nan: no advice. ``first_memory_gb`` wastes least where
        killed jobs run again with ``memory_gb``.
        """
        return advice_table(self.advisor, self._advised_measures)

    def advice_for(self, user: str | None) -> pd.DataFrame:
        """The rows of :attr:`advice` of one user; None: all.

        Raises
        ------
        InvalidInstance
            A user of no job, or jobs that are not told apart by user.
        """
        if user is None:
            return self.advice
        self._users(user)
        return self.advice[self.advice["user"].astype(str) == user]

    def apply(self, inst: Instance, users: Iterable[str] | None = None) -> Instance:
        """Jobs with the advised ``estimate`` and ``memory_gb``; those without advice as they are.

        Parameters
        ----------
        inst : Instance
            The log, or other jobs with its columns.
        users : iterable of str, optional
            Who follows the advice; None: all.

        Raises
        ------
        InvalidInstance
            Jobs without a column of the groups, or of users.
        """
        Instance.require(inst)
        limit, memory = self.amounts(inst)
        limit = limit + numbers_of(inst, "suspended")  # no limit counts suspended time
        if users is not None:
            if "user" not in inst.column_names:
                raise InvalidInstance("users: the log does not say them")
            is_other_user = ~np.isin(inst.column("user").astype(str), texts(users, "users"))
            limit = np.where(is_other_user, np.nan, limit)
            memory = np.where(is_other_user, np.nan, memory)
        changed = {}
        for name, advised in (("estimate", limit), ("memory_gb", memory)):
            if not np.isnan(advised).all():
                requests = inst.raw_columns.get(name, inst.column("runtime"))
                changed[name] = np.where(np.isnan(advised), requests, advised)
        return inst.replace(**changed)

    def amounts(self, inst: Instance) -> tuple[np.ndarray, np.ndarray]:
        """Advised limits (s) and memory (GB) of each job.

        Parameters
        ----------
        inst : Instance
            The log, or other jobs with its columns.

        Returns
        -------
        (numpy.ndarray, numpy.ndarray)
            nan: no advice.
        """
        rows_of_log = np.arange(len(self.instance))
        if inst is self.instance:
            return self.advisor.amounts(*self._advised_measures, rows_of_log)
        combined_use = usage_of([self.instance, inst], self.use.group_columns)
        advisor = Advisor(combined_use, self.risk, self.use.n_measures)
        is_past = np.arange(len(combined_use.submit)) < len(rows_of_log)
        return advisor.amounts(*advisor.fit(is_past), np.flatnonzero(~is_past))

    @cached_property
    def advisor(self) -> Advisor:
        """Looks at the log at any moment."""
        return Advisor(self.use, self.risk, self.use.n_measures)

    @cached_property
    def _advised_measures(self) -> tuple[GroupAdvice, GroupAdvice]:
        return self.advisor.fit(np.ones(len(self.instance), dtype=bool))

    def backtest(self, by: str | None = None) -> pd.DataFrame:
        """Advice of each period from what had ended before it, and what became of its jobs.

        Parameters
        ----------
        by : {"month", "week", "day", "group"}, optional
            One row per period (a month has 30 days where the log has no date), or per group.
            Default: months where the log has three of them, else weeks, else days.

        Returns
        -------
        pandas.DataFrame
            ``month``, ``week`` or ``day`` (the last 24 at most; or the group's columns), ``jobs``
            (with advice), ``promised`` (the mean risk), ``killed_time, killed_memory`` (shares of
            these jobs), ``unknown`` (share of those that the log's own requests ended below the
            advice: nothing tells whether it would have been enough), ``saved_memory_hours`` (GB
            hours; killed jobs run again as they had asked), ``saved_core_hours`` (that limits no
            longer reserve: limit asked for less advised limit, times the cores),
            ``lost_core_hours`` (of killed runs).

        Raises
        ------
        InvalidInstance
            Another `by`.
        """
        choices = (*PERIODS, "group")
        if by is not None and by not in choices:
            raise InvalidInstance(f"by = {shorten(by)}: expected {', '.join(choices)}")
        default = self._default_period
        jobs = self._jobs_of_backtest(default if by is None or by == "group" else by)
        return backtest(jobs, self.use, default if by is None else by)

    @cached_property
    def _default_period(self) -> str:
        return default_period(self.instance)

    def _jobs_of_backtest(self, period: str) -> pd.DataFrame:
        """Return the outcome of each job by periods; cached, since several tables use it."""
        if period not in self._backtests:
            self._backtests[period] = outcomes_of_jobs(self.instance, self.advisor, period)
        return self._backtests[period]

    @cached_property
    def _backtests(self) -> dict[str, pd.DataFrame]:
        return {}

    def replay(self, user: str | None = None, time_limit: float | None = 60.0) -> pd.DataFrame:
        """The log's latest 20,000 jobs again, as they asked and as is advised: what all wait.

        By EASY with the limits that jobs ask for, and with memory where log and machine say it; and
        by ``slurm-backfill`` where the machine is that of a slurm.conf. A job that asks for too
        little is killed, at its limit or at its end (its peak of memory), and comes again then, as
        it had asked; what it lost counts as waiting.

        Parameters
        ----------
        user : str, optional
            Who follows alone; default: who leaves most unused.
        time_limit : float or None
            Seconds for each schedule; one that takes longer has a message instead of waits.

        Returns
        -------
        pandas.DataFrame
            A row a policy and who follows the advice (nobody; all; ten users, those who leave most
            unused; one): ``policy, who, mean_wait, p95_wait, user_wait`` (s; the last of the jobs
            of the one), ``killed`` (jobs), ``lost_core_hours, reserved_core_hours`` (by the limits
            of jobs that have one), ``message``.

        Raises
        ------
        InvalidInstance
            A user of no job.
        """
        rows = np.sort(np.argsort(self.use.submit, kind="stable")[-_MAX_REPLAYED_JOBS:])
        limit, memory = self.amounts(self.instance)
        every = np.ones(len(rows), dtype=bool)
        followers = {"nobody, as now": ~every, "all": every}
        is_job_of_user = ~every
        users = self._users(user)
        if users:
            job_users = self.instance.column("user").astype(str)[rows]
            is_job_of_user = job_users == (user or users[0])
            if len(users) > 1:
                name = f"the {len(users)} users with the most over-requested resources"
                followers[name] = np.isin(job_users, users)
            followers[f"{user or 'one of them'} alone"] = is_job_of_user
        return replay(
            self.instance.take(rows),
            (limit[rows], memory[rows]),
            followers,
            is_job_of_user,
            time_limit,
        )

    def mail(self, user: str, time_limit: float | None = 60.0) -> str:
        """Plain text for one user: what the jobs asked for and used, what to ask for, and why.

        Parameters
        ----------
        user : str
        time_limit : float or None
            See :meth:`replay`.
        """
        return (
            "\n".join(for_user(self, self.replay(user, time_limit), user, _MAX_MAIL_GROUPS)) + "\n"
        )

    def write(
        self, path: str | PathLike[str], user: str | None = None, time_limit: float | None = 60.0
    ) -> None:
        """Write a page (.html, one file that needs no network), or a mail to a user (.txt).

        Parameters
        ----------
        user : str, optional
            Whose jobs it is about; None: all.
        time_limit : float or None
            See :meth:`replay`.

        Raises
        ------
        InvalidInstance
            Another suffix, or a user of no job.
        """
        io.check_suffix(path, (".html", *([".txt"] if user is not None else [])))
        if user is not None and str(path).endswith(".txt"):
            io.write_text(self.mail(user, time_limit), path)
        else:
            call_report_writer("rightsize", self, self.replay(user, time_limit), path, user)

    def _users(self, user: str | None) -> list[str]:
        """Return the ten users who leave most unused."""
        if "user" not in self.use.group_columns:
            if user is not None:
                raise InvalidInstance("user: jobs are not told apart by user (by), or by the log")
            return []

        users = pd.Series(self.instance.column("user").astype(str))
        if user is not None and not (users == user).any():
            raise InvalidInstance(f"user = {shorten(user)}: the log has no job of this user")
        memory, cores = self.use.unused
        unused_hours = memory if memory.any() else cores
        return pd.Series(unused_hours).groupby(users).sum().nlargest(_N_TOP_USERS).index.tolist()
