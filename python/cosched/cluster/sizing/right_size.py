"""``cluster.rightsize``: recommend time limits and memory from a log, and estimate the effect."""

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
#: So many users, those with the most unused resources, follow the advice in a replay.
_TOP_USER_COUNT = 10
#: Groups that a mail lists, at most.
_MAX_MAIL_GROUPS = 10


def rightsize(
    instance: Instance, risk: float = 0.01, by: Sequence[str] | str | None = None
) -> RightSize:
    """Recommend time limits and memory for groups of similar jobs, with a bound on the risk.

    A job that asks for the advised limit and memory is killed for one of them with a probability of
    at most `risk`, as long as it is similar to the past jobs of its group: no distribution is
    assumed (conformal prediction). The risk is divided equally between time and memory where the
    log has both.

    - Advice is an amount, or a fraction of what a job asks for. Where the jobs of a group ask for
      different amounts, the oldest third of its past jobs chooses between the two, and the other
      jobs give the quantile.
    - Where limits have cut off past jobs of a group, or may cut off the next ones, the advice holds
      with a confidence of 90% (:func:`cosched.core.tails.tolerance_risks`), which needs 2.3 / risk
      jobs.
    - Where a group has too few past jobs, or too many of them were cut off, the next larger group
      decides (the columns without the last one, and so on), by the fraction of their requests that
      its jobs used. Where no group suffices, there is no advice.

    Parameters
    ----------
    instance : Instance
        A log with limits, or with ``memory_gb`` and ``used_memory_gb``.
    risk : float
        The largest probability that a job is killed, from 1e-9 to below 1. A risk of 0.01 needs
        99 similar jobs where the log has time or memory, 199 where it has both.
    by : sequence of str or str, optional
        Columns that group similar jobs, the most important first: ``user, name`` (without UUIDs,
        hashes and numbers; where nothing else is left of it, the rule that Snakemake's Slurm plugin
        wrote into ``Comment``), ``account, partition, cores, group, qos, comment``. Default: the
        first five, as far as the log has them.

    Returns
    -------
    RightSize
        The advice as a table, for other jobs, and its effect.

    Raises
    ------
    InvalidInstance
        Another column, a risk outside the range, or a log without both limits and memory.

    Notes
    -----
    Jobs that did not complete wanted more than they got: their usage is censored (Kaplan and
    Meier's estimator, with the next job as one more that outlives all). Of a group's own past jobs
    the latest 10 / risk count. O(n log n).

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
    >>> right_size = rightsize(cs.cluster.Instance(jobs, nodes=8))
    >>> right_size.advice[["user", "jobs", "asked_limit", "limit"]].to_numpy().tolist()
    [['ada', 99, 86400.0, 6300.0]]
    """
    Instance.require(instance)
    max_risk = risk_of(risk)
    use = usage_of([instance], by)
    if not use.n_measures:
        raise InvalidInstance(
            "the log says of no job what it asked for and used: expected time limits, or memory"
        )
    return RightSize(instance, max_risk, use)


@dataclass(frozen=True)
class RightSize:
    """The advice of a log, made by :func:`cosched.cluster.rightsize`.

    Attributes
    ----------
    instance : Instance
        The log.
    risk : float
        The largest probability that a job is killed.
    use : UsageTable
        What the jobs of the log asked for and used, and their groups.

    Examples
    --------
    >>> jobs = cs.workloads.requests(3000, 4, seed=1)
    >>> right_size = cs.cluster.rightsize(cs.cluster.Instance(jobs, nodes=64), risk=0.05)
    >>> advised = right_size.apply(right_size.instance)
    >>> bool(advised.column("memory_gb").sum() < right_size.instance.column("memory_gb").sum())
    True
    """

    instance: Instance
    risk: float
    use: UsageTable

    @property
    def notes(self) -> tuple[Note, ...]:
        """How jobs are grouped whose names differ in every run."""
        return self.use.notes

    @cached_property
    def advice(self) -> pd.DataFrame:
        """One row per group of jobs, those with the most unused resources first.

        - The group's columns, ``jobs``, and ``nodes`` (the median).
        - Time (s): ``asked_limit`` (the median), ``used_limit_p50``, ``used_limit_p95``, and
          ``limit``, the advice.
        - Memory of a job (GB): ``asked_memory_gb`` (the median), ``used_memory_p50``,
          ``used_memory_p95``, and ``memory_gb``, the advice. ``first_memory_gb`` is the request
          that wastes least where killed jobs run again with ``memory_gb``; ``node_memory_gb`` is
          enough on each node of each job, on however few nodes it runs.
        - ``risk`` of the advice; ``enough``: there is advice for all that the log has; ``past``:
          the number of jobs that it rests on; ``like``: the columns in which these are equal
          (empty: all jobs of the log).
        - ``unused_core_hours``, ``unused_memory_hours`` (GB hours): of what was asked for.

        nan: no advice. The advised amounts of this table suffice for each job of the group;
        :meth:`amounts` has those of each job, which may be a fraction of its own request.
        """
        return advice_table(self.advisor, self._advised_measures)

    def advice_for(self, user: str | None) -> pd.DataFrame:
        """Return the rows of :attr:`advice` of one user; None: of all.

        Raises
        ------
        InvalidInstance
            A user of no job, or jobs that are not told apart by user.
        """
        if user is None:
            return self.advice
        self._top_users(user)  # refuses a user of no job
        return self.advice[self.advice["user"].astype(str) == user]

    def apply(self, inst: Instance, users: Iterable[str] | None = None) -> Instance:
        """Return jobs with the advised ``estimate`` and ``memory_gb``.

        Jobs without advice stay as they are.

        Parameters
        ----------
        inst : Instance
            The log, or other jobs with its columns.
        users : iterable of str, optional
            The users who follow the advice; None: all.

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
        """Return the advised limit and memory of each job.

        Parameters
        ----------
        inst : Instance
            The log, or other jobs with its columns.

        Returns
        -------
        limit : numpy.ndarray, shape (jobs,)
            Seconds; nan: no advice.
        memory : numpy.ndarray, shape (jobs,)
            GB; nan: no advice.
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
        """Gives advice as of any moment of the log."""
        return Advisor(self.use, self.risk, self.use.n_measures)

    @cached_property
    def _advised_measures(self) -> tuple[GroupAdvice, GroupAdvice]:
        """The advice for time and for memory from all jobs of the log."""
        return self.advisor.fit(np.ones(len(self.instance), dtype=bool))

    def backtest(self, by: str | None = None) -> pd.DataFrame:
        """Test the advice: that of each period comes from jobs that ended before it.

        Parameters
        ----------
        by : {"month", "week", "day", "group"}, optional
            One row per period (a month has 30 days where the log has no date), or per group.
            Default: months where the log has three of them, else weeks, else days.

        Returns
        -------
        pandas.DataFrame
            - ``month``, ``week`` or ``day`` (the last 24 at most), or the group's columns.
            - ``jobs``: with advice; ``promised``: their mean risk.
            - ``killed_time``, ``killed_memory``: shares of these jobs that the advice would have
              killed; ``unknown``: share of jobs that their own requests ended below the advice, so
              that nothing tells whether the advice would have been enough.
            - ``saved_memory_hours`` (GB hours): killed jobs run again with their own requests;
              ``saved_core_hours``: requested minus advised limit, times the cores;
              ``lost_core_hours``: of killed runs.

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
        """The longest period of which the log has enough."""
        return default_period(self.instance)

    def _jobs_of_backtest(self, period: str) -> pd.DataFrame:
        """Return the outcome of each job by periods; cached, since several tables use it."""
        if period not in self._backtests:
            self._backtests[period] = outcomes_of_jobs(self.instance, self.advisor, period)
        return self._backtests[period]

    @cached_property
    def _backtests(self) -> dict[str, pd.DataFrame]:
        """The outcomes of all jobs, by period."""
        return {}

    def replay(self, user: str | None = None, time_limit: float | None = 60.0) -> pd.DataFrame:
        """Simulate the latest 20,000 jobs of the log with their own requests and with the advice.

        The policies are EASY with the limits that jobs ask for, and with memory where log and
        machine have it, and ``slurm-backfill`` where the machine is a slurm.conf. A job that asks
        for too little is killed, at its limit or at its end (when its memory is largest), and is
        submitted again at that moment with its own request; the lost time counts as waiting.

        Parameters
        ----------
        user : str, optional
            The user who follows the advice alone; default: the one with the most unused resources.
        time_limit : float or None
            Seconds for each schedule; one that takes longer has a message instead of waits.

        Returns
        -------
        pandas.DataFrame
            One row per policy and set of followers (nobody; all; the ten users with the most unused
            resources; one user): ``policy, who, mean_wait, p95_wait, user_wait`` (s; the last is
            of the jobs of that user), ``killed`` (jobs), ``lost_core_hours``,
            ``reserved_core_hours`` (by the limits of jobs that have one), ``message``.

        Raises
        ------
        InvalidInstance
            A user of no job.
        """
        rows = np.sort(np.argsort(self.use.submit, kind="stable")[-_MAX_REPLAYED_JOBS:])
        limit, memory = self.amounts(self.instance)
        all_jobs = np.ones(len(rows), dtype=bool)
        followers = {"nobody, as now": ~all_jobs, "all": all_jobs}
        is_job_of_user = ~all_jobs
        users = self._top_users(user)
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
        """Return a mail to one user: what the jobs asked for and used, what to ask for, and why.

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
        """Write a report (.html, one file that needs no network), or a mail to a user (.txt).

        Parameters
        ----------
        path : str or path-like
            Replaced as a whole or not at all.
        user : str, optional
            The user whose jobs it is about; None: all.
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

    def _top_users(self, user: str | None) -> list[str]:
        """Return the ten users with the most unused resources; none where jobs are not grouped by
        user. InvalidInstance where `user` is no user of the log."""
        if "user" not in self.use.group_columns:
            if user is not None:
                raise InvalidInstance("user: jobs are not told apart by user (by), or by the log")
            return []

        users = pd.Series(self.instance.column("user").astype(str))
        if user is not None and not (users == user).any():
            raise InvalidInstance(f"user = {shorten(user)}: the log has no job of this user")
        memory, cores = self.use.unused
        unused_hours = memory if memory.any() else cores
        return pd.Series(unused_hours).groupby(users).sum().nlargest(_TOP_USER_COUNT).index.tolist()
