"""Run the simulator on a log, and judge how well it explains the log."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from cosched.cluster.family import FAMILY
from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import RunningJobsError
from cosched.cluster.instance.usage import has_waits, logged_starts, numbers_of
from cosched.cluster.judgement.earlier_usage import draw_earlier_usage, is_earlier_usage_unknown
from cosched.cluster.judgement.log_start import (
    LogStart,
    has_other_nodes_at_begin,
    start_of_log,
)
from cosched.cluster.judgement.reasons import denied_jobs_by_partition, likely_reasons
from cosched.cluster.judgement.verdict import FitVerdict, LogJudgement, Reason, verdict_of
from cosched.cluster.result import Result
from cosched.cluster.result.compare_waits import compare_log
from cosched.cluster.result.groups import starts_of
from cosched.cluster.result.log_fit import fit_by_partition, is_judged
from cosched.cluster.result.replication_subset import (
    join_replications,
    replications_of,
    with_first_replications,
)
from cosched.errors import InvalidInstance
from cosched.notes import Note, NoteKind

#: The policy that is judged.
SIMULATOR = "slurm-backfill"
#: (largest number of jobs, simulations): what differs between simulations is what sacct does not
#: tell. A small log has rare schedules, which few simulations do not show; means over a large log
#: hardly vary. The numbers are fixed, as is the seed, so that every command judges a log by the
#: same simulations.
REPLICATIONS = ((1_000, 60), (5_000, 20), (sys.maxsize, 8))
SEED = 0
#: Usages from before the log that are drawn where it is unknown, at most; each is simulated twice
#: or more often.
EARLIER_USAGES = 20


def replications_of_log(instance: Instance) -> int:
    """How many simulations judge a log."""
    return next(count for max_jobs, count in REPLICATIONS if len(instance) <= max_jobs)


def judge_log(instance: Instance, *, simulated: Result | None = None) -> LogJudgement | None:
    """Judge how well the simulator of Slurm explains a log.

    The simulator runs the jobs of the log several times, each time with other values of what the
    log does not tell. A job that starts at once in the log and in a simulation says nothing; over
    the others waits and starts are compared with the log's, and those of simulations with each
    other. Where the log begins while other jobs run, simulations begin with its first end.

    Parameters
    ----------
    instance : Instance
        A log, on a machine that is a slurm.conf.
    simulated : Result, optional
        Of ``slurm-backfill`` on the instance of :func:`start_of_log`, with its options and seed 0:
        it is judged instead of simulating again where it has enough draws.

    Returns
    -------
    LogJudgement or None
        None: the log does not tell when any job started that it saw waiting.

    Raises
    ------
    InfeasibleError
        A job of the log that can never start on this machine.

    Notes
    -----
    60 simulations of a log with up to 1,000 jobs, 20 with up to 5,000, 8 with more.

    Examples
    --------
    A log in which every job waits two hours on an idle machine:

    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text("NodeName=n[1-4] CPUs=1\\nPartitionName=p Nodes=ALL Default=YES\\n")
    >>> jobs = cs.workloads.lublin(20, 4, seed=1).assign(wait=7200.0)
    >>> machine = cs.cluster.Machine.read(conf)
    >>> judgement = judge_log(cs.cluster.Instance(jobs, nodes=4, machine=machine))
    >>> judgement.verdict.value, judgement.reasons[0].kind.value
    ('not explained', 'jobs wait while the machine is idle')
    """
    Instance.require(instance)
    if instance.machine is None or instance.machine.slurm is None:
        raise InvalidInstance("judge_log: expected a machine that is a slurm.conf")
    if not has_waits(instance):
        return None
    start, simulations = _simulations_of(instance, simulated)
    judgement = judge_simulations(simulations, start, instance)
    if judgement is None or judgement.is_explained:
        return judgement
    if start.begin is None and has_other_nodes_at_begin(simulations, instance):
        count = replications_of_log(instance)
        start, simulations = simulate_log(instance, count, approximate=True, has_unknown_jobs=True)
        later_judgement = judge_simulations(simulations, start, instance)
        if later_judgement is not None and later_judgement.is_explained:
            return later_judgement
    if start.begin is not None and is_earlier_usage_unknown(start.instance):
        other_judgement = _judge_with_earlier_usage(instance, start)
        if other_judgement is not None and other_judgement.is_explained:
            return other_judgement
    return judgement


def _simulations_of(instance: Instance, simulated: Result | None) -> tuple[LogStart, Result]:
    """Return simulations of a log whose users have used nothing before it but what the accounts
    tell."""
    count = replications_of_log(instance)
    if simulated is not None and replications_of(simulated) >= count:
        return start_of_log(instance), with_first_replications(simulated, count)
    return simulate_log(instance, count, approximate=True)


def _judge_with_earlier_usage(instance: Instance, start: LogStart) -> LogJudgement | None:
    """Judge a log by simulations that begin with different usages of its users."""
    count = replications_of_log(instance)
    usages = min(EARLIER_USAGES, count // 2)
    text = (
        "the log does not tell what its users had used before it (fair-share): drawn, "
        f"{usages} times"
    )
    note = Note(NoteKind.ASSUMED, text, subject="earlier usage", count=usages)
    drawn_start = replace(start, notes=(*start.notes, note))
    rng = np.random.default_rng(SEED)
    results = [
        _simulated(
            replace(start, instance=draw_earlier_usage(start.instance, rng)),
            {"draws": -(-count // usages), "approximate": True, "seed": SEED + number},
        )
        for number in range(usages)
    ]
    has_same_jobs = all(
        np.array_equal(result.instance.ids, results[0].instance.ids) for result in results
    )
    if not has_same_jobs:  # limits on usage left out other jobs
        return None
    return judge_simulations(join_replications(results), drawn_start, instance)


def simulate_log(
    instance: Instance,
    count: int,
    *,
    seed: int = SEED,
    approximate: bool = False,
    has_unknown_jobs: bool = False,
) -> tuple[LogStart, Result]:
    """Simulate a log, from where on all its jobs are known; or whole, where the jobs that run then
    have no room beside each other.

    Parameters
    ----------
    count : int
        How many simulations.
    approximate : bool
        Leave settings without a rule out, with a note.
    has_unknown_jobs : bool
        As of :func:`start_of_log`.
    """
    start = start_of_log(instance, has_unknown_jobs=has_unknown_jobs)
    options: dict[str, Any] = {"draws": count, "approximate": approximate, "seed": seed}
    try:
        return start, _simulated(start, options)
    except RunningJobsError:
        if start.begin is None:
            raise
    # The jobs that run at the first end do not fit beside each other where the log tells no nodes.
    start = start_of_log(instance, simulates_whole_log=True)
    return start, _simulated(start, options)


def _simulated(start: LogStart, options: dict[str, Any]) -> Result:
    """Return the simulations of a log from its start on, with these options."""
    instance = start.instance.without_bound()
    result = FAMILY.solve(instance, SIMULATOR, **options, **start.host_options)
    assert isinstance(result, Result)
    return result


def judge_simulations(simulated: Result, start: LogStart, log: Instance) -> LogJudgement | None:
    """Judge a log by simulations of `start`, where it can be simulated, with two draws at least."""
    instance = simulated.instance
    simulated_starts = starts_of(simulated)
    is_in_comparison = is_judged(simulated)
    if not is_in_comparison.any():
        return None
    eligible = instance.column("eligible")[is_in_comparison]
    log_waits = logged_starts(instance)[is_in_comparison] - eligible
    comparison = compare_log(log_waits, simulated_starts[:, is_in_comparison] - eligible)
    verdict = verdict_of(comparison, _refused_share(instance, start.instance))
    reasons: tuple[Reason, ...] = ()
    if verdict is FitVerdict.NOT_EXPLAINED:
        reasons = likely_reasons(simulated, start.instance, is_in_comparison)
    return LogJudgement(
        verdict,
        len(log_waits),
        comparison,
        len(simulated_starts),
        start.begin,
        fit_by_partition(simulated),
        reasons,
        start.notes,
        _jobs_not_compared(simulated, is_in_comparison, start, log),
    )


def _refused_share(simulated: Instance, log: Instance) -> float:
    """Return the share of a log's jobs that the configuration refuses, never starts or does not let
    into their partition."""
    refused = len(log) - len(simulated) + sum(denied_jobs_by_partition(simulated).values())
    return refused / len(log)


def _jobs_not_compared(
    simulated: Result, is_compared: np.ndarray, start: LogStart, log: Instance
) -> dict[str, int]:
    """Return why jobs of the log are not compared, and how many they are; a job is counted once."""
    instance = simulated.instance
    is_open = ~is_compared
    counts = {}
    for why, rows in (
        ("ran when the simulation began", numbers_of(instance, "running") > 0),
        ("have no start in the log", np.isnan(logged_starts(instance))),
        ("are shorter than --min-runtime", ~instance.measured),
    ):
        counts[why] = int((is_open & rows).sum())
        is_open = is_open & ~rows
    refused = len(start.instance) - len(instance)
    ended = len(log) - len(start.instance)
    begin = "" if start.begin is None else f", {start.begin:,.0f} s after the first submission"
    counts = {f"ended before the simulation begins{begin}": ended, **counts}
    counts["are refused by this configuration, or never start"] = refused
    return {why: count for why, count in counts.items() if count}
