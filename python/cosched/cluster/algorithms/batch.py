"""Batch policies: FCFS, EASY, conservative backfilling."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.algorithms.simulation import result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import require_schedulable
from cosched.cluster.instance.usage import has_requested_times
from cosched.cluster.result import NO_ESTIMATES, PERFECT, REQUESTED, Result
from cosched.core.arrays import flag, real_array, shared_zeros
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import NoteKind

Priority = str | Callable[[Any], Any]
PRIORITIES = ("fcfs", "shortest", "smallest", "wfp3")


def fcfs(
    instance: Instance,
    *,
    estimates: str | None = None,
    kill: bool = False,
    priority: Priority = "fcfs",
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """First come, first served: a task takes a whole node; the queue's head starts when it fits.

    What happens at one instant, in this order:

    1. all completions of that instant: their nodes are free;
    2. all submissions of that instant join the queue, by submission time, equal times by row;
    3. one pass: the head of the queue starts while it fits; the first job that does not fit
       stops the pass, whatever is behind it.

    On a machine whose memory or GPUs count (machine and jobs say them) a job needs nodes that have
    all it needs free, in equal parts on so many as its log says; the other batch policies too.

    A job takes the free nodes with the lowest numbers, one for each task, alone, from its start
    to its end; a job with a run time of 0 s starts and ends at one instant, and its nodes are
    free for the next instant's pass, which comes at the same time.

    It looks at no estimate; its options are those of the other batch policies.

    Raises
    ------
    InfeasibleError
        A job has more tasks than the machine has nodes.

    Notes
    -----
    O(n log n).

    Examples
    --------
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
    >>> cs.cluster.fcfs(cs.cluster.Instance(jobs, nodes=2)).jobs.start.tolist()
    [0.0, 60.0, 120.0]
    """
    return _batch("FCFS", instance, estimates, kill, priority, threshold, log)


def easy(
    instance: Instance,
    *,
    estimates: str | None = None,
    kill: bool = False,
    priority: Priority = "fcfs",
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """EASY backfilling: the queue's head has a reservation that later jobs must not delay.

    What happens at one instant, in this order: completions and submissions as in :func:`fcfs`,
    then one pass over the queue:

    1. The head starts while it fits.
    2. The head that does not fit gets a reservation: the *shadow time* is the first expected end
       of a running job at which enough nodes are free for it. *Extra* nodes are all that are
       expected to be free at the shadow time (jobs that end at that very time included) beyond
       those that the head needs.
    3. The jobs behind the head, in order of the queue, each once: a job starts if it fits now
       and either is expected to end by the shadow time (at that very time is in time) or needs
       no more than the extra nodes; only in the second case it uses extra nodes up.

    Expected ends count from the start of a job: start + estimate. An estimate that runs out
    changes nothing for its job, which runs on to its real end (no job is killed); from then
    on it is expected to end *now*, so that the shadow time may be now although the head does
    not fit. An estimate that is too long leaves a gap when the job ends early, and that
    completion's pass uses it.

    Raises
    ------
    InfeasibleError
        A job has more tasks than the machine has nodes.

    Examples
    --------
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
    >>> cs.cluster.easy(cs.cluster.Instance(jobs, nodes=2)).jobs.start.tolist()
    [0.0, 60.0, 0.0]
    """
    return _batch("EASY", instance, estimates, kill, priority, threshold, log)


def conservative(
    instance: Instance,
    *,
    estimates: str | None = None,
    kill: bool = False,
    priority: Priority = "fcfs",
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """Conservative backfilling: every job is promised a start when it comes.

    What happens at one instant, in this order: completions and submissions as in :func:`fcfs`,
    then one pass:

    1. If a job has ended before it was expected to, each job of the queue, in order, gives its
       slot in the plan back and takes the earliest that is free now: never a later one.
    2. A job that came now gets the earliest start after all promises made.
    3. The jobs whose time has come start.

    A run time expected to be 0 s is planned as 1 s. A job that outlives its estimate runs on and is
    expected to end *now*. As long as there is one, all promises are made anew at each event, in
    order of the queue; only then one can move back.

    Raises
    ------
    InfeasibleError
        A job has more tasks than the machine has nodes.

    Notes
    -----
    With perfect estimates a promise is kept to the second. O(S) a job, and O(W S) for a job that
    ends early: W jobs in the queue, S steps of the plan. On nodes with memory or GPUs a job that
    ends early costs O(W + J S): J jobs that move, or ask first among those alike.

    References
    ----------
    A. Mu'alem, D. Feitelson, *Utilization, predictability, workloads, and user runtime estimates
    in scheduling the IBM SP2 with backfilling*, IEEE TPDS 12(6), 2001: the plan is compressed in
    order of arrival.

    Examples
    --------
    The last job would pass the second under EASY; here it must not delay the third either.

    >>> jobs = {"submit": [0, 0, 0, 0], "tasks": [2, 3, 1, 1], "cpu": [1] * 4, "memory": [1] * 4,
    ...         "runtime": [60.0, 60.0, 90.0, 100.0]}
    >>> cs.cluster.conservative(cs.cluster.Instance(jobs, nodes=3)).jobs.start.tolist()
    [0.0, 60.0, 120.0, 120.0]
    """
    return _batch("conservative", instance, estimates, kill, priority, threshold, log)


def easy_with_perfect_estimates(
    instance: Instance,
    *,
    kill: bool = False,
    priority: Priority = "fcfs",
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """:func:`~cosched.cluster.easy` with ``estimates="perfect"``.

    No scheduler knows the run times of its jobs: this is a yardstick.

    Examples
    --------
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0],
    ...         "estimate": [60.0, 60.0, 90.0]}
    >>> inst = cs.cluster.Instance(jobs, nodes=2)
    >>> cs.cluster.solve(inst, "EASY").jobs.start.tolist()
    [0.0, 60.0, 120.0]
    >>> cs.cluster.solve(inst, "EASY (perfect estimates)").jobs.start.tolist()
    [0.0, 60.0, 0.0]
    """
    return _batch("EASY", instance, PERFECT, kill, priority, threshold, log)


def conservative_with_perfect_estimates(
    instance: Instance,
    *,
    kill: bool = False,
    priority: Priority = "fcfs",
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """:func:`~cosched.cluster.conservative` with ``estimates="perfect"``.

    Examples
    --------
    >>> jobs = {"submit": [0, 0], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [60.0, 60.0], "estimate": [90.0, 90.0]}
    >>> inst = cs.cluster.Instance(jobs, nodes=2)
    >>> cs.cluster.solve(inst, "conservative (perfect estimates)").metrics()["estimates"]
    'perfect'
    """
    return _batch("conservative", instance, PERFECT, kill, priority, threshold, log)


def _batch(
    rule: str,
    instance: Instance,
    estimates: str | None,
    kill: bool,
    priority: Priority,
    threshold: float,
    log: bool,
) -> Result:
    Instance.require(instance)
    if estimates is None:
        estimates = REQUESTED if has_requested_times(instance) else PERFECT
    if not isinstance(estimates, str) or estimates not in (PERFECT, REQUESTED):
        raise InvalidInstance(f"estimates = {shorten(estimates)}: expected perfect or requested")
    requested = estimates == REQUESTED
    at_limit = None
    if flag(kill, "kill"):
        instance, at_limit = killed(instance)
    if rule == "FCFS" and priority == "fcfs":
        requested, estimates = False, NO_ESTIMATES  # it plans nothing
    if requested and "estimate" not in instance.column_names:
        raise InvalidInstance('estimates = "requested": the jobs have no estimate column')
    require_schedulable(instance)
    key = _with_tiers(_keys(instance, requested, priority), instance, priority == "wfp3")
    simulate = partial(_rows, rule=rule, requested=requested, key=key, wfp3=priority == "wfp3")
    keeps = instance.core_nodes is not None  # where another run would cost more than its rows
    outcome, rows, decisions = simulate(instance, trace=keeps, log=bool(log))
    outcome |= {"estimates": estimates}
    # Batch policies pause and move no job.
    outcome |= dict.fromkeys(("preemptions", "migrations"), shared_zeros(len(instance)))
    return result_of_simulation(
        instance,
        rule,
        outcome,
        decisions,
        threshold,
        partial(_trace, simulate),
        0.0,
        True,
        rows=rows if keeps else None,
        at_limit=at_limit,
    )


def killed(instance: Instance) -> tuple[Instance, np.ndarray]:
    """The instance in which every job ends at its limit, and which jobs that ends early."""
    if "estimate" not in instance.column_names:
        raise InvalidInstance("kill: the jobs have no estimate column to be ended at")
    killed_instance, is_beyond_limit = instance.once("killed", lambda: _killed(instance))
    # An instance with further notes shares what was computed of the one without them.
    further_notes = [
        note
        for note in instance.notes
        if note.kind is not NoteKind.MEASURED_JOBS and note not in killed_instance.notes
    ]
    if further_notes:
        killed_instance = killed_instance.with_notes(further_notes)
    return killed_instance, is_beyond_limit


def _killed(instance: Instance) -> tuple[Instance, np.ndarray]:
    runtime, limit = instance.column("runtime"), instance.column("estimate")
    is_beyond_limit = runtime > limit
    return instance.replace(
        runtime=np.minimum(runtime, limit)
    ) if is_beyond_limit.any() else instance, is_beyond_limit


def _rows(
    instance: Instance,
    *,
    rule: str,
    requested: bool,
    key: np.ndarray,
    wfp3: bool,
    trace: bool,
    log: bool,
) -> tuple:
    core = instance._core
    cells, allowed, _ = instance.partition_layout
    rule_of_core = _core.cluster.Rule[rule]
    if (site := instance.core_nodes) is not None:
        return _core.cluster.backfill_on(core, site, rule_of_core, requested, wfp3, key, trace, log)
    if len(key) or len(cells) or wfp3 or rule == "conservative":
        held_units = instance.held_units
        return _core.cluster.backfill(
            core, rule_of_core, requested, wfp3, key, cells, allowed, held_units, trace, log
        )
    if rule == "EASY":
        return _core.cluster.easy(core, requested, trace, log)
    return _core.cluster.fcfs(core, trace, log)


def _trace(simulate: Callable[..., tuple], instance: Instance) -> tuple:
    return simulate(instance, trace=True, log=False)[1]


def _keys(instance: Instance, requested: bool, priority: Priority) -> np.ndarray:
    """Return a key a job, smallest first; empty = by submission (or by wfp3's own rule)."""
    if callable(priority):
        key = real_array(priority(instance.jobs), "priority(jobs)", 1)
        if len(key) != len(instance) or np.isnan(key).any():
            raise InvalidInstance(
                f"priority(jobs) returned {len(key)} keys: expected a number for each of "
                f"{len(instance)} jobs"
            )
        return key
    if not isinstance(priority, str) or priority not in PRIORITIES:
        raise InvalidInstance(
            f"priority = {shorten(priority)}: expected {', '.join(PRIORITIES)} or a function"
        )
    if priority == "shortest":
        return instance.column("estimate" if requested else "runtime")
    return instance.column("tasks").astype(float) if priority == "smallest" else np.zeros(0)


def _with_tiers(key: np.ndarray, instance: Instance, wfp3: bool) -> np.ndarray:
    """Return keys that put jobs first that run at the begin, then those of a partition with a
    greater priority."""
    tier = instance.partition_layout[2]
    if "running" in instance.column_names and (
        len(key) or len(tier) or wfp3 or instance.held_units
    ):
        # Whoever runs at the begin of a part of a log has its nodes, whatever the order is.
        tier_of_jobs = tier if len(tier) else np.zeros(len(instance))
        tier = np.where(instance.column("running"), tier_of_jobs.max() + 1, tier_of_jobs)
        has_nodes = [bool(units) for units in instance.held_units]
        if any(has_nodes):
            tier = np.where(has_nodes, tier.max() + 1, tier)
    if not len(tier) or np.ptp(tier) == 0:
        return key
    if wfp3 or not len(key):
        return -tier
    order = pd.DataFrame({"tier": -tier, "key": key}).groupby(["tier", "key"])
    return order.ngroup().to_numpy(dtype=float)  # equal ones share a rank
