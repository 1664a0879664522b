"""Why the simulator may not explain a log, with the evidence that log and machine give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import limits_of, overused, recorded_starts, texts_of
from cosched.cluster.judgement.idle_waits import has_idle_wait
from cosched.cluster.judgement.verdict import Reason, ReasonKind
from cosched.cluster.machine.node_types import hosts, natural
from cosched.cluster.result import Result
from cosched.cluster.result.compare_waits import AT_ONCE
from cosched.cluster.result.groups import starts_of
from cosched.core.arrays import positions_of
from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.notes import NoteKind, notes_of_kind

#: Fewer jobs are no evidence.
MIN_JOBS = 3
#: Nor is a smaller share of the jobs that waited.
MIN_SHARE = 0.05
#: Nor a smaller share of the nodes.
MIN_NODE_SHARE = 0.05
#: So many names are shown.
MAX_NAMES = 3
#: Columns that say what a job asks for.
_REQUEST = ("tasks", "partition", "memory_gb", "gpus", "gpu_type", "estimate", "constraint")


def likely_reasons(simulated: Result, log: Instance, is_judged: np.ndarray) -> tuple[Reason, ...]:
    """What may be why a log is not explained.

    Parameters
    ----------
    simulated : Result
        Simulations of the log, without the jobs that the configuration refuses.
    log : Instance
        All jobs of the log that were to be simulated: refused jobs had nodes in the log, too.
    is_judged : numpy.ndarray of bool, shape (n,)
        The simulated jobs that are compared.

    Returns
    -------
    tuple of Reason
        Those with the strongest evidence first: what the log contradicts, then what it shows, then
        what is not known.
    """
    instance = simulated.instance
    log_starts = recorded_starts(instance)
    simulated_starts = starts_of(simulated)[0]
    all_log_starts = recorded_starts(log)
    simulated_rows = positions_of(instance.rows_of_log, log.rows_of_log)
    has_idle_waits = (
        has_idle_wait(log, all_log_starts)[simulated_rows] & is_judged,
        has_idle_wait(instance, simulated_starts) & is_judged,
    )
    starts = _Starts(log_starts, simulated_starts, has_idle_waits, is_judged)
    return (
        *_about_missing_nodes(log, all_log_starts),
        *_about_refused_jobs(simulated),
        *_about_denied_jobs(instance),
        *_about_idle_waits(instance, starts),
        *_about_unused_nodes(simulated, log),
        *_about_accounts(log),
        *_about_priorities(instance, starts),
        *_about_settings(instance),
        *_about_time_limits(log),
    )


@dataclass(frozen=True)
class _Starts:
    """Starts of the jobs (s), shape (n,), in the log and in a simulation."""

    log: np.ndarray
    simulation: np.ndarray
    #: Jobs that wait although there is room for them, in each.
    has_idle_waits: tuple[np.ndarray, ...]
    #: Jobs that are compared.
    is_judged: np.ndarray

    def is_evidence(self, instance: Instance, count: int) -> bool:
        """Whether so many of the jobs that wait in log or simulation are evidence."""
        wait = np.maximum(self.log, self.simulation) - instance.column("eligible")
        waiting = int((self.is_judged & (wait > AT_ONCE)).sum())
        return count >= max(MIN_JOBS, MIN_SHARE * waiting)


def _about_missing_nodes(log: Instance, log_starts: np.ndarray) -> Iterator[Reason]:
    """Yield nodes of the log that the machine does not have, or more cores than it has."""
    machine = log.machine
    assert machine is not None
    assert machine.slurm is not None
    missing = sorted(_hosts_of_log(log) - set(machine.slurm.names))
    if missing:
        yield Reason(
            ReasonKind.UNKNOWN_NODES,
            len(missing),
            f"jobs of the log ran on {count_of(len(missing), 'node')} that slurm.conf does not "
            f"have: {_abbreviate(missing)}",
        )
    elif overused(log, log_starts, log_starts + log.column("runtime")):
        yield Reason(
            ReasonKind.OVERUSED_MACHINE,
            0,
            "the log has more cores in use than slurm.conf has: nodes are missing, or it is of "
            "another time",
        )


def _about_unused_nodes(simulated: Result, log: Instance) -> Iterator[Reason]:
    """Yield nodes that run jobs in the simulation, and none in the log."""
    hosts_of_log = _hosts_of_log(log)
    if not hosts_of_log:
        return
    used_hosts = {name for names in simulated.schedule.to_frame()["hosts"] for name in names}
    unused = sorted(used_hosts - hosts_of_log, key=natural)
    if len(unused) >= max(1, MIN_NODE_SHARE * len(used_hosts)):
        yield Reason(
            ReasonKind.UNUSED_NODES,
            len(unused),
            f"{count_of(len(unused), 'node')} of {len(used_hosts)} that run jobs in the simulation "
            "ran "
            f"none in the log (down, drained or reserved?): {_abbreviate(unused)}",
        )


def _hosts_of_log(log: Instance) -> set[str]:
    missing: set[str] = set()
    texts = log.column("hosts").tolist() if "hosts" in log.column_names else ()
    for text in set(map(str, texts)):
        try:
            missing |= set(hosts(text, "hosts")) if text else set()
        except InvalidInstance:
            continue  # a text that was cut off
    return missing


def _abbreviate(names: list[str]) -> str:
    return ", ".join(names[:MAX_NAMES]) + (", ..." if len(names) > MAX_NAMES else "")


def _about_refused_jobs(simulated: Result) -> Iterator[Reason]:
    """Yield jobs that ran, and that this configuration never starts."""
    count = int(simulated.outcome.get("left_out", 0))
    if count:
        notes = notes_of_kind(simulated.instance.notes, NoteKind.REFUSED_JOBS)
        limits = "; ".join(note.subject for note in notes)
        yield Reason(
            ReasonKind.REFUSED_JOBS,
            count,
            f"{count_of(count, 'job')} of the log can never start with this configuration: "
            f"{limits}",
        )


def _about_denied_jobs(instance: Instance) -> Iterator[Reason]:
    """Yield jobs that ran, and that no partition of theirs lets in: they run in the simulation."""
    counts = denied_jobs_by_partition(instance)
    if counts:
        total = sum(counts.values())
        names = _abbreviate([f"{name} {count:,}" for name, count in counts.items()])
        yield Reason(
            ReasonKind.REFUSED_JOBS,
            total,
            f"AllowAccounts, AllowQos or their likes of this configuration do not let in "
            f"{count_of(total, 'job')} of the log (by partition: {names})",
        )


def denied_jobs_by_partition(instance: Instance) -> dict[str, int]:
    """Numbers of jobs that AllowAccounts and its likes do not let in, and that the simulator runs
    all the same."""
    notes = notes_of_kind(dict.fromkeys(instance.notes), NoteKind.DENIED_JOBS)
    return {note.subject: note.count or 0 for note in notes}


def _about_idle_waits(instance: Instance, starts: _Starts) -> Iterator[Reason]:
    """Yield jobs that wait while there is room for them, in the log and not in the simulation."""
    in_log, in_simulation = (int(jobs.sum()) for jobs in starts.has_idle_waits)
    if starts.is_evidence(instance, in_log - in_simulation):
        yield Reason(
            ReasonKind.IDLE_MACHINE,
            in_log,
            f"{count_of(in_log, 'job')} waited in the log although enough resources of their "
            f"nodes were free for at least half of the wait ({in_simulation:,} in the "
            "simulation): a limit, a reservation, a hold, or nodes that were down",
        )


def _about_accounts(log: Instance) -> Iterator[Reason]:
    """Yield accounts that slurm.conf needs, and that nobody gave.

    Without limits that it enforces, shares or QOS in priorities, accounts change no start.
    """
    machine = log.machine
    assert machine is not None
    assert machine.slurm is not None
    if machine.slurm.accounts is not None or not machine.slurm.needs_accounting:
        return
    names = set(texts_of(log, "account").tolist()) - {""}
    who = f"the log names {count_of(len(names), 'account')}, and " if names else ""
    settings = ", ".join(machine.slurm.needs_accounting)
    yield Reason(
        ReasonKind.ACCOUNTS,
        len(names),
        f"{who}no accounts were given (--accounts): their limits and shares are unknown; "
        f"slurm.conf needs them for {settings}",
    )


def _about_priorities(instance: Instance, starts: _Starts) -> Iterator[Reason]:
    """Yield jobs that later ones with the same request overtake in only one of log and simulation.
    Jobs that wait while there is room for them wait for something else."""
    is_compared = starts.is_judged & ~np.logical_or(*starts.has_idle_waits)
    in_log, in_simulation = (
        is_overtaken(instance, start) & is_compared for start in (starts.log, starts.simulation)
    )
    differ = int((in_log != in_simulation).sum())
    if starts.is_evidence(instance, differ):
        yield Reason(
            ReasonKind.PRIORITIES,
            differ,
            f"priorities differ for {count_of(differ, 'job')}: later jobs with the same request "
            f"overtook {int(in_log.sum()):,} jobs in the log and {int(in_simulation.sum()):,} in "
            "the simulation, not the same ones (fair-share, age, QOS, nice)",
        )


def is_overtaken(instance: Instance, start: np.ndarray) -> np.ndarray:
    """Which jobs start more than a minute after one with the same request that came later.

    Parameters
    ----------
    instance : Instance
    start : numpy.ndarray, shape (n,)
        When each job starts (s).

    Returns
    -------
    numpy.ndarray of bool, shape (n,)
        O(n log n).
    """
    eligible = instance.column("eligible")
    requests = [
        instance.column(name).astype(str) for name in _REQUEST if name in instance.column_names
    ]
    group = np.zeros(len(instance), dtype=np.int64)
    for column in requests:
        codes = np.unique(column, return_inverse=True)[1].reshape(-1)
        group = np.unique(group * (codes.max() + 1) + codes, return_inverse=True)[1].reshape(-1)
    is_overtaken = np.zeros(len(instance), dtype=bool)
    order = np.lexsort((eligible, group))
    bounds = np.flatnonzero(np.diff(group[order])) + 1
    for rows in np.split(order, bounds):
        earliest_from = np.append(np.minimum.accumulate(start[rows][::-1])[::-1], np.inf)
        first_later = np.searchsorted(eligible[rows], eligible[rows], side="right")
        is_overtaken[rows] = start[rows] > earliest_from[first_later] + AT_ONCE
    return is_overtaken


def _about_settings(instance: Instance) -> Iterator[Reason]:
    """Yield settings that the simulator leaves out; those that need accounts have a reason of
    theirs."""
    machine = instance.machine
    assert machine is not None
    assert machine.slurm is not None
    of_accounts = () if machine.slurm.accounts is not None else machine.slurm.needs_accounting
    settings = [
        note.statement
        for note in notes_of_kind(dict.fromkeys(instance.notes), NoteKind.NOT_FOLLOWED)
        if note.subject not in of_accounts
    ]
    if settings:
        yield Reason(
            ReasonKind.SETTINGS,
            len(settings),
            f"the simulator leaves out {count_of(len(settings), 'setting')}: "
            f"{'; '.join(settings[:MAX_NAMES])}{'; ...' if len(settings) > MAX_NAMES else ''}",
        )


def _about_time_limits(log: Instance) -> Iterator[Reason]:
    """Yield a log without Timelimit: backfill plans with limits."""
    requested = log.raw_columns.get("estimate")
    has_unlimited_jobs = requested is not None and bool(np.isinf(requested).any())
    if has_unlimited_jobs or not np.isnan(limits_of(log)).all():
        return
    yield Reason(
        ReasonKind.TIME_LIMITS,
        len(log),
        "the log has no time limits (Timelimit): backfill plans with run times instead",
    )
