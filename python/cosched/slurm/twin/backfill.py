"""Slurm's scheduler: the main pass, the backfill cycle, and the clocks that nobody sees."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.algorithms.simulation import demand_area, result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import also_of, place_of_job, unschedulable_rows
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.machine import Machine, machine_of
from cosched.cluster.machine.parts import wider_than_nodes
from cosched.cluster.result import Result
from cosched.cluster.result.result import Draws
from cosched.core.arrays import flag, integer, nonnegative, shared_zeros
from cosched.errors import InfeasibleError, InvalidInstance, shorten
from cosched.notes import Note, NoteKind
from cosched.slurm.conf.settings import PARAMETERS
from cosched.slurm.trace.selection import TraceSelection, selection_of
from cosched.slurm.twin.host_clocks import clocks_of
from cosched.slurm.twin.never_starts import NEVER_SATISFIED, waits_for_ever, why_no_nodes
from cosched.slurm.twin.prepare_jobs import without_suspensions
from cosched.slurm.twin.schedule_units import log_of, select_jobs
from cosched.slurm.twin.twin import Twin


def backfill(
    instance: Instance,
    *,
    machine: Machine | str | PathLike[str] | None = None,
    controller_start: float | None = None,
    epoch: int | None = None,
    draws: int = 1,
    enough: Callable[[np.ndarray], bool] | None = None,
    seed: int | None = None,
    launch: float | tuple[float, float] | None = None,
    epilog: float | tuple[float, float] | None = None,
    threshold: float = THRESHOLD,
    log: bool = False,
    trace: bool | int | range | TraceSelection = False,
    version: str | None = None,
    approximate: bool = False,
    priorities: str = "computed",
    **parameters: float,
) -> Result:
    """What Slurm's scheduler does with the jobs, second by second.

    The main scheduler, the backfill cycle with its map of reservations, the choice of nodes, the
    limit check, and the life of jobs, as a slurmctld has them (``docs/explanation/slurm.md``). Two
    numbers that no user sees decide the rest: when the controller started, and the Unix time.
    Given, the schedule of a real Slurm comes out; drawn from the seed, one that could have come
    out.

    Parameters
    ----------
    instance : Instance
        ``estimate`` is the time limit (a partition's DefaultTime, else its MaxTime, where it is
        not known; infinite where there is none: Slurm plans such a job for a year and does not end
        it; one beyond MaxTime is cut to it, where Slurm would leave the job pending),
        ``partition`` the partition, ``user`` counts for bf_max_job_user; ``nice`` is 0.
    machine : Machine or path-like, optional
        A slurm.conf; default the instance's machine. Without one: a line of nodes,
        ``select/linear``, one partition. Where the instance counts processors (as rigid logs do),
        a job takes as many whole nodes as hold them, or with ``select/cons_tres`` and no
        ``OverSubscribe=EXCLUSIVE`` these cores alone.
    controller_start : float, optional
        When slurmctld started, on the time base of the jobs (s), before the first of them; None:
        drawn, from 63 to 3 s before it, so that all its periods are in any phase.
    epoch : int, optional
        Unix time of that base's second 0; None: drawn.
    draws : int
        So many schedules, each with clocks of its own where they are not given, on a host that
        varies a little, as real ones do. The result is the first; ``result.draws`` has them all.
    enough : callable, optional
        Asked after each few draws with the waits so far (s; a row a draw, a column a measured job
        that starts in each) whether no more are wanted; default: all are.
    seed : int, optional
        Of the clocks.
    launch, epilog : float or (float, float), optional
        Seconds from a job's start to its work and back, and from its end until its nodes are free;
        default 0.77 and 0.24, and with ``draws`` drawn around these. Of two numbers each draw has
        one between them.
    log : bool
        Keep the decision log (``result.log``) in Slurm's words.
    trace : bool, int, range or TraceSelection
        Keep what backfill cycles did (``result.trace``): the queue, each test of a job, its reason,
        the node space. True: of all cycles and main passes; the number of a cycle (from 1), or a
        range of numbers. With `draws`, of the first schedule.
    version : str, optional
        Whose rules: ``"22.05"`` or ``"24.11"``, or the nearest for another, which the notes say.
        Default: the machine's, or 22.05 where nobody says.
    approximate : bool
        Run a machine with settings that are not followed, too, without them: ``result.instance``
        has a note for each, with what that may do. Default: such a machine is refused.
    priorities : {"computed", "given"}
        Given: those of the jobs' column ``priority`` (of ``squeue`` or ``sprio``; sacct prints the
        one at submission, which says little), where it is known.
    **parameters : float
        Of ``SchedulerParameters``, in Slurm's units and in place of the machine's:
        ``bf_resolution=300``.

    Returns
    -------
    Result
        Starts are whole seconds where submissions and run times are and nothing was suspended, else
        exact; ``draws.starts`` are rounded down to seconds. A job past its limit is ended by the
        next check (``metrics()["killed"]``); then the instance of the result has the run times so
        cut, and the bound is of those. It lacks jobs that a limit of Slurm refuses or keeps for
        ever in one of the draws, and has a note of them.

    Raises
    ------
    InfeasibleError
        A job that is larger than its partition, or wants what no node has.
    InvalidInstance
        A configuration that is not covered (named), a machine of another size than the instance's,
        an unknown partition, a controller that starts after the first job.
    OSError
        The machine's file is not there or cannot be read.
    TypeError
        A parameter that Slurm does not have, or that is not followed.

    Notes
    -----
    Ties that Slurm leaves open go to the lowest job. Recordings of Slurm 22.05.8 and 24.11.5 are
    what it was checked with. Where jobs share nodes, cores, memory (``memory_gb``) and GPUs
    (``gpus, gpu_type``) of each node are handed out. Features, licences, dependencies and the like
    are followed where the log has them, reservations and lost nodes in recordings (``cosched slurm
    check``): a log does not tell of them. Not covered: heterogeneous jobs, topology.
    O(c q (r + R)) for c cycles, q pending jobs, r records of the map, R running jobs.

    References
    ----------
    Slurm 22.05.8: backfill.c, job_scheduler.c, select_linear.c, cons_common/job_test.c,
    priority_multifactor.c.

    Examples
    --------
    The second job waits for the first; the third would end before that, and starts in the first
    backfill cycle that sees it: when that is, the clocks say.

    >>> jobs = {"submit": [0, 5, 10], "tasks": [1, 2, 1], "cpu": [1, 1, 1], "memory": [1, 1, 1],
    ...         "runtime": [600, 60, 60], "estimate": [600, 120, 300]}
    >>> inst = cs.cluster.Instance(jobs, nodes=2)
    >>> cs.slurm.backfill(inst, controller_start=-100, epoch=0).jobs.start.tolist()
    [0.0, 601.0, 30.0]
    >>> draws = cs.slurm.backfill(inst, draws=20, seed=1).draws
    >>> draws.starts.shape, bool(draws.jobs.start_p95[2] > draws.jobs.start_p05[2] + 10)
    ((20, 3), True)
    """
    Instance.require(instance)
    site = instance.machine if machine is None else machine_of(machine)
    instance = without_suspensions(instance, site)
    try:
        twin = Twin(
            instance,
            site,
            parameters,
            version=version,
            approximate=flag(approximate, "approximate"),
            priorities=priorities,
        )
    except InfeasibleError as error:
        raise with_remedy(error, instance) from None
    count = integer(draws, "draws", 1, 1_000_000)
    clocks = clocks_of(instance, count, seed, controller_start, epoch, launch, epilog)
    keeps_log = flag(log, "log")
    selection = selection_of(trace)
    recorder = None if selection is None else selection.recorder()
    replications = None
    if count > 1:
        replications = twin.simulate_until(clocks, _stop_callback(instance, enough))
    if replications is None or keeps_log or recorder is not None:
        first_run = twin.run(clocks[0], with_reasons=keeps_log, recorder=recorder)
    else:
        assert replications.first_outcome is not None
        first_run = replications.first_outcome
    cycle_trace = None
    if recorder is not None:
        cycle_trace = twin.trace_names().trace(
            recorder,
            len(first_run.cycle_times),
            math.nan if epoch is None else float(epoch),
        )
    if replications is None:
        never_starting = never_starting_jobs(
            twin, first_run.start[None], [first_run.blocked_by_limit]
        )
    else:
        never_starting = never_starting_jobs(
            twin, replications.start_times, replications.blocked_by_limit
        )
    remaining_rows = np.arange(len(instance))
    if never_starting:
        # As Slurm does: it refuses these, or lets them wait for ever, and goes on with the others.
        remaining_rows = np.delete(remaining_rows, list(never_starting))
        instance = instance.take(remaining_rows).with_notes(_left_out_notes(never_starting))
        first_run = select_jobs(first_run, remaining_rows)
    instance = instance.with_notes(twin.notes) if twin.notes else instance
    result = _make_result(instance, twin, first_run, threshold, keeps_log)
    result = replace(result, trace=cycle_trace)
    if never_starting:
        result = replace(result, outcome={**result.outcome, "left_out": len(never_starting)})
    if replications is None:
        return result
    paused = replications.paused_seconds[:, remaining_rows]
    starts, ended, _ = times_of(
        instance,
        replications.start_times[:, remaining_rows],
        replications.kill_times[:, remaining_rows],
        paused,
    )
    return replace(
        result, draws=_make_draws(instance, clocks[: len(starts)], starts, ended, paused, threshold)
    )


def _stop_callback(
    instance: Instance, enough: Callable[[np.ndarray], bool] | None
) -> Callable[[np.ndarray], bool] | None:
    """Return `enough` as a function of starts: it gets the waits of jobs that start in each run."""
    if enough is None:
        return None
    if not callable(enough):
        raise InvalidInstance(f"enough = {shorten(enough)}: expected a function")
    eligible, is_measured = instance.column("eligible"), instance.measured

    def should_stop(start: np.ndarray) -> bool:
        if "running" in instance.column_names:
            start = np.where(instance.column("running"), eligible, start)
        starts_in_all_draws = is_measured & ~np.isnan(start).any(axis=0)
        return bool(
            starts_in_all_draws.any() and enough((start - eligible)[:, starts_in_all_draws])
        )

    return should_stop


def never_starting_jobs(
    twin: Twin, starts: np.ndarray, limits_of_runs: Iterable[Mapping[int, str]]
) -> dict[int, tuple[Any, str]]:
    """Return the jobs that do not start in some run, by row: their name, and the limit.

    Parameters
    ----------
    starts : numpy.ndarray, shape (runs, n)
        Seconds; nan: the job does not start.
    limits_of_runs : iterable of mapping
        Of each run the limits that kept jobs for ever, by row.

    Raises
    ------
    InfeasibleError
        The machine does not hold one of the jobs at all, or no job starts.
    """
    instance = twin.instance
    limits = {row: limit for of_run in limits_of_runs for row, limit in of_run.items()}
    rows = np.flatnonzero(np.isnan(starts).any(axis=0)).tolist()
    causes = {row: limits.get(row, "") for row in rows}
    without_cause = [row for row in rows if not causes[row]]
    _require_nodes(twin, without_cause)
    for row in without_cause:
        if not waits_for_ever(twin, row):
            raise _infeasible(instance, [row], "has no nodes that hold all that it wants at once")
        causes[row] = NEVER_SATISFIED
    if len(rows) == len(instance):
        raise InfeasibleError(
            f"job {instance.ids[0]} can never start, nor can any other: {causes[0]}"
        )
    return {row: (instance.ids[row], causes[row]) for row in rows}


def _require_nodes(twin: Twin, rows: Sequence[int]) -> None:
    """Check that the nodes of the empty machine hold the jobs of these rows.

    Raises
    ------
    InfeasibleError
        The first job that they do not hold, why, which others there are, and what to do.
    """
    reasons = {row: why_no_nodes(twin, row) for row in rows}
    unfit = [row for row in rows if reasons[row]]
    if unfit:
        raise _infeasible(twin.instance, unfit, reasons[unfit[0]])


def _infeasible(instance: Instance, rows: list[int], reason: str) -> InfeasibleError:
    """Return the error about the first of these jobs, with how many there are, and what to do."""
    others_clause = also_of([str(instance.ids[row]) for row in rows[1:]])
    error = InfeasibleError(
        f"{place_of_job(instance, rows[0])} can never start: it {reason}{others_clause}"
    )
    error.rows = tuple(rows)
    return with_remedy(error, instance)


def with_remedy(error: InfeasibleError, instance: Instance) -> InfeasibleError:
    """Return the error about jobs that no nodes hold, with what to do about them."""
    rows = error.rows
    if not rows:
        return error
    is_dropped = set(unschedulable_rows(instance).tolist())
    if instance.machine is not None:
        is_dropped |= set(
            np.flatnonzero(wider_than_nodes(instance.machine, instance.raw_columns)).tolist()
        )
    pronoun = "it" if len(rows) == 1 else "them"
    if is_dropped.issuperset(rows):
        return InfeasibleError(f"{error}; drop {pronoun} with --drop too-wide")
    return InfeasibleError(
        f"{error}; take {pronoun} out of the log, or give the machine that it is of"
    )


def _left_out_notes(left_out: Mapping[int, tuple[object, str]]) -> list[Note]:
    """Return a note per limit that keeps jobs for ever, with the first of these jobs."""
    by_limit: dict[str, list[str]] = {}
    for name, limit in left_out.values():
        by_limit.setdefault(limit, []).append(str(name))
    return [
        Note(
            NoteKind.REFUSED_JOBS,
            f"left out, since Slurm refuses them or never lets them start: {len(names)} jobs "
            f"({', '.join(names[:5])}{', ...' if len(names) > 5 else ''}): {limit}",
            subject=limit,
            count=len(names),
        )
        for limit, names in by_limit.items()
    ]


# What it takes beyond its signature, for those who give options to many algorithms.
backfill.keywords = frozenset(PARAMETERS)  # type: ignore[attr-defined]


def times_of(
    instance: Instance, start: np.ndarray, killed: np.ndarray, paused: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts and ends of the work, and which jobs were ended at their limit, of one run or
    of many; `killed`: when, else nan; `paused`: how long they were suspended."""
    work = instance.column("runtime")
    if (
        "running" in instance.column_names
    ):  # what ran before is not of this instance, unless it runs anew
        running = instance.column("running")
        work = work + np.where(running & (start > 0), numbers_of(instance, "ran"), 0.0)
        start = np.where(running & ~(start > 0), instance.column("eligible"), start)
    early = ~np.isnan(killed)
    return start, np.where(early, killed, start + work + paused), early


def _make_result(
    instance: Instance, twin: Twin, outcome: _core.slurm.Outcome, threshold: float, log: bool
) -> Result:
    """Return the result of a run of the core's simulator."""
    # Where times are no whole seconds, two jobs could seem to share a node for part of one.
    columns = map(instance.column, ("eligible", "runtime"))
    row = outcome.pause_job
    begin = np.maximum(outcome.start_exact, instance.column("eligible"))
    pause_seconds = outcome.pause_end - np.maximum(outcome.pause_begin, begin[row])
    paused = np.bincount(row, pause_seconds, len(instance))
    is_in_whole_seconds = not len(row) and all(
        np.array_equal(column, np.floor(column)) for column in columns
    )
    # Seconds of the controller, or the instants.
    start = outcome.start if is_in_whole_seconds else outcome.start_exact
    end = outcome.end if is_in_whole_seconds else outcome.end_exact
    at_limit = np.where(outcome.is_killed, end, np.nan)
    start, end, killed = times_of(instance, start, at_limit, paused)
    decisions = log_of(outcome) if log else None
    logged_instance, run_times = instance, end - start - paused
    has_restarts = (
        "running" in instance.column_names and outcome.restarts[instance.column("running")].any()
    )
    if killed.any() or has_restarts:
        instance = instance.replace(runtime=run_times)
    rows = twin.schedule_columns(instance, outcome, start, end)
    start = rows.start[np.searchsorted(rows.job, np.arange(len(instance)))]
    pauses = np.bincount(rows.job, rows.cause, len(instance)).astype(int)
    columns_of_result: dict[str, Any] = {
        "start": start,
        "end": end,
        "preemptions": pauses,
        "restarts": outcome.restarts,
        "preempted": killed & ~_ran_until_limit(logged_instance, run_times),
        "migrations": shared_zeros(len(instance)),
        "demand_area": demand_area(instance, end),
        "preempted_memory": 0.0,
        "migrated_memory": 0.0,
        "events": len(outcome.cycle_times),
        "backfilled": int(np.sum(outcome.scheduler)),
    }
    return result_of_simulation(
        instance,
        "slurm-backfill",
        columns_of_result,
        decisions,
        nonnegative(threshold, "threshold"),
        None,
        0.0,
        True,
        rows=rows,
        at_limit=killed,
        by_cores=twin.machine,
    )


def _ran_until_limit(instance: Instance, run_times: np.ndarray) -> np.ndarray:
    """True where a job ran until its limit; a job that was ended before was preempted."""
    if "estimate" not in instance.column_names:
        return np.ones(len(run_times), dtype=bool)
    return run_times >= instance.column("estimate") - 1


def _make_draws(
    instance: Instance,
    clocks: list[dict[str, float]],
    start: np.ndarray,
    end: np.ndarray,
    paused: np.ndarray,
    threshold: float,
) -> Draws:
    """Return the draws: starts, and the largest stretch of each."""
    submit, runtime = instance.column("eligible"), instance.column("runtime")
    values = np.empty(len(start))
    for k in range(len(start)):
        run_times = np.minimum(end[k] - start[k] - paused[k], runtime)
        stretch = np.maximum(end[k] - submit, threshold) / np.maximum(run_times, threshold)
        values[k] = stretch[instance.measured].max()
    return Draws(
        ids=instance.ids,
        submit=submit,
        starts=start,
        values=values,
        measured=instance.measured,
        controller_start=np.array([c["controller_start"] for c in clocks]),
        epoch=np.array([c["epoch"] for c in clocks]),
    )
