"""Policies by name: FCFS, EASY, and the paper's grammar of DFRS policies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cosched import _core
from cosched.cluster.algorithms.simulation import algorithm_of, result_of_simulation
from cosched.cluster.bounds import THRESHOLD
from cosched.cluster.instance import Instance
from cosched.cluster.result import Result
from cosched.core.arrays import real
from cosched.errors import InvalidInstance, shorten

#: The batch policies and the 18 DFRS policies of the paper's Table 2.
TABLE_2 = (
    "FCFS",
    "EASY",
    *(f"{g} */opt=min" for g in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{g}/per/opt=min" for g in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{g} */per/opt=min" for g in ("Greedy", "GreedyP", "GreedyPM")),
    *(f"{g}/per/opt=min/minvt=600" for g in ("GreedyP", "GreedyPM")),
    *(f"{g} */per/opt=min/minvt=600" for g in ("GreedyP", "GreedyPM")),
    "MCB8 */opt=min/minvt=600",
    "MCB8/per/opt=min/minvt=600",
    "MCB8 */per/opt=min/minvt=600",
    "/per/opt=min/minvt=600",
    "/stretch-per/opt=max/minvt=600",
)


def fcfs(
    instance: Instance,
    *,
    estimates: str = "perfect",
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """First come, first served: a task takes a whole node; the queue's head starts when it fits.

    What happens at one instant, in this order:

    1. all completions of that instant: their nodes are free;
    2. all submissions of that instant join the queue, by submission time, equal times by row;
    3. one pass: the head of the queue starts while it fits; the first job that does not fit
       stops the pass, whatever is behind it.

    A job takes the free nodes with the lowest numbers, one for each task, alone, from its start
    to its end; a job with a run time of 0 s starts and ends at one instant, and its nodes are
    free for the next instant's pass, which comes at the same time.

    Parameters
    ----------
    instance : Instance
        No job with more tasks than nodes.
    estimates : {"perfect", "requested"}
        As for :func:`easy`, so that a loop over batch policies gives them the same options. This
        one looks at no estimate.
    threshold : float
        Shortest time of the bounded stretch (s), > 0.
    log : bool
        Keep the decision log (``result.log``).

    Returns
    -------
    Result

    Raises
    ------
    InfeasibleError
        A job has more tasks than the machine has nodes.
    InvalidInstance
        A threshold that is no positive number.

    Notes
    -----
    O(n log n).

    Examples
    --------
    >>> import cosched as cs
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
    >>> cs.cluster.fcfs(cs.cluster.Instance(jobs, nodes=2)).jobs.start.tolist()
    [0.0, 60.0, 120.0]
    """
    _requested(estimates)
    outcome, _, told = _core.cluster.fcfs(instance._core, False, bool(log))
    replay = _fcfs_rows
    return result_of_simulation(instance, "FCFS", outcome, told, threshold, replay, 0.0, True)


def easy(
    instance: Instance,
    *,
    estimates: str = "perfect",
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

    Parameters
    ----------
    instance : Instance
        No job with more tasks than nodes.
    estimates : {"perfect", "requested"}
        Expected run times: the real ones, or the column ``estimate``. A job that outlives its
        estimate runs on and is expected to end now.
    threshold : float
        Shortest time of the bounded stretch (s), > 0.
    log : bool
        Keep the decision log (``result.log``).

    Returns
    -------
    Result

    Raises
    ------
    InfeasibleError
        A job has more tasks than the machine has nodes.
    InvalidInstance
        Other `estimates`, or ``"requested"`` for jobs without the column.

    Examples
    --------
    >>> import cosched as cs
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
    >>> cs.cluster.easy(cs.cluster.Instance(jobs, nodes=2)).jobs.start.tolist()
    [0.0, 60.0, 0.0]
    """
    requested = _requested(estimates)
    outcome, _, told = _core.cluster.easy(instance._core, requested, False, bool(log))
    replay = partial(_easy_rows, requested=requested)
    return result_of_simulation(instance, "EASY", outcome, told, threshold, replay, 0.0, True)


def dfrs(
    instance: Instance,
    name: str,
    *,
    period: float = 600.0,
    penalty: float = 300.0,
    threshold: float = THRESHOLD,
    log: bool = False,
) -> Result:
    """A policy of dynamic fractional resource scheduling by its name in the paper.

    ``SUBMIT [*][/per|/stretch-per][/opt=min|avg|max][/minvt=S|/minft=S]`` with SUBMIT one of
    Greedy, GreedyP, GreedyPM, MCB8 or nothing. Spaces are optional.

    Events at one instant are handled in this order: all completions together, then submissions
    one by one, then the period. After each that the policy acts on, yields are allocated anew:
    without ``*`` a completion changes nothing, and what it frees is used from the next event on.

    Parameters
    ----------
    instance : Instance
    name : str
        The policy.
    period : float
        Between two periodic events (s); the first comes one period after the first submission.
    penalty : float
        A job that is resumed after a pause, or migrated, holds its nodes this long without
        progress (s). Policies do not know of it.
    threshold : float
        Shortest time of the bounded stretch (s), > 0.
    log : bool
        Keep the decision log (``result.log``).

    Returns
    -------
    Result

    Raises
    ------
    InvalidInstance
        Not a policy name, one that would starve jobs, or an option outside its range.
    InfeasibleError
        A job that fits in the memory of no empty machine.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 4 and Table 1.

    Examples
    --------
    >>> import cosched as cs
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [60.0, 60.0, 30.0]}
    >>> inst = cs.cluster.Instance(jobs, nodes=2)
    >>> result = cs.cluster.dfrs(inst, "GreedyPM */per/opt=min", penalty=60.0)
    >>> result.jobs.end.tolist(), result.max_stretch
    ([120.0, 120.0, 60.0], 2.0)
    """
    period, penalty = real(period, "period"), real(penalty, "penalty")
    outcome, _, told = _core.cluster.dfrs(instance._core, name, period, penalty, False, bool(log))
    replay = partial(_dfrs_rows, name=name, period=period, penalty=penalty)
    return result_of_simulation(instance, name, outcome, told, threshold, replay, penalty, False)


#: What is said of each DFRS policy by name.
_POLICY = """The DFRS policy ``{0}``; see :func:`cosched.cluster.dfrs`.

Parameters
----------
instance : Instance
period, penalty : float
    Between two periodic events; without progress after a resumption or a migration (s).
threshold : float
    Shortest time of the bounded stretch (s), > 0.
log : bool
    Keep the decision log (``result.log``).

Returns
-------
Result

Raises
------
InvalidInstance
    An option outside its range.
InfeasibleError
    A job that fits in the memory of no empty machine.

Examples
--------
>>> import cosched as cs
>>> inst = cs.cluster.Instance(cs.workloads.lublin(20, 8, seed=1), nodes=8)
>>> cs.cluster.solve(inst, "{0}").max_stretch >= 1
True
"""


def resolve(name: str) -> Callable[..., Result] | None:
    """The function of a DFRS policy name; None where it is not one."""
    spelled = _core.cluster.spell(name)
    if spelled is None:
        return None

    return algorithm_of(dfrs, lambda: spelled, _POLICY.format(spelled))


def paper_policies() -> list[str]:
    """The 116 policies of the paper, spelled as there.

    Returns
    -------
    list of str
        Names that :func:`dfrs` takes.

    Examples
    --------
    >>> names = paper_policies()
    >>> len(names), names[0]
    (116, 'Greedy */opt=avg')
    """
    return _core.cluster.paper_policies()


def _requested(estimates: str) -> bool:
    if not isinstance(estimates, str) or estimates not in ("perfect", "requested"):
        raise InvalidInstance(f"estimates = {shorten(estimates)}: expected perfect or requested")
    return estimates == "requested"


def _fcfs_rows(instance: Instance) -> tuple:
    return _core.cluster.fcfs(instance._core, True, False)[1]


def _easy_rows(instance: Instance, requested: bool) -> tuple:
    return _core.cluster.easy(instance._core, requested, True, False)[1]


def _dfrs_rows(instance: Instance, name: str, period: float, penalty: float) -> tuple:
    return _core.cluster.dfrs(instance._core, name, period, penalty, True, False)[1]
