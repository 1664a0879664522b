"""The searches: one criterion, and the front of both."""

from __future__ import annotations

from typing import Any

from cosched import _core, core
from cosched.core import Schedule
from cosched.core.arrays import integer, seed_of, time_limit_of
from cosched.core.choices import named
from cosched.errors import InvalidInstance
from cosched.moldable.algorithms.batches import on_line_by_batches
from cosched.moldable.instance import Instance
from cosched.moldable.result import Result, make_result, result_of_schedule

#: Effort of ``demt-best`` by default: deterministic, no clock.
BEST_WORK: int = _core.moldable.BEST_WORK

#: Effort of ``local-search`` by default, a job: deterministic, no clock.
SEARCH_WORK: int = _core.moldable.SEARCH_WORK


@on_line_by_batches
def demt_best(
    instance: Instance,
    *,
    work: int = BEST_WORK,
    time_limit: float | None = None,
    seed: int | None = None,
) -> Result:
    """The package's own search: never worse than DEMT in either criterion, mostly far better.

    Constructs schedules by DEMT with several C and local orders, by the dual approximation and
    its allotment, and by a greedy that gives each job the number of processors whose own weighted
    completion, plus the delay of all later jobs by the area it takes, is least. Then each
    criterion is searched on its own as in :func:`local_search`: the ends of the front; and what
    lies between by local search for several trade-offs. What no other schedule beats in both
    criteria is kept; of those that are no worse than DEMT in either, the one of least makespan x
    minsum is returned, and the front in ``pareto_front``.

    Parameters
    ----------
    work : int
        Effort of the local search; the result depends on instance, seed and work only.
    time_limit : float, optional
        Seconds after which it stops with its best so far (the result then depends on the
        machine's speed).

    Examples
    --------
    >>> import cosched as cs
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> inst = cs.moldable.Instance(times, weights=[1, 2, 4])
    >>> best, demt = cs.moldable.demt_best(inst, work=10_000), cs.moldable.demt(inst)
    >>> best.makespan <= demt.makespan, best.weighted_completion <= demt.weighted_completion
    (True, True)
    """
    effort = integer(work, "work", 0, 2**62)
    used, limit = seed_of(seed), time_limit_of(time_limit)
    placement, front, complete = _core.moldable.demt_best(instance._core, used, effort, limit)
    front.flags.writeable = False
    status = "ok" if complete else "time_limit"
    return make_result(
        instance, "demt-best", placement, seed=used, status=status, pareto_front=front
    )


def local_search(
    instance: Instance,
    *,
    objective: str = "makespan",
    work: int = SEARCH_WORK,
    time_limit: float | None = None,
    start: core.Result | Schedule | None = None,
    seed: int | None = None,
) -> Result:
    """The best schedule for one criterion that a short search finds. Release dates are known.

    Starts from the best of all algorithms of the family (by batches where jobs are released), of
    packs one after the other, of lists with canonical allotments for many deadlines, and of
    `start`. Then annealing: up to eight jobs are taken out and put back where their end and the
    price of the area they take are least; a job gets another count, or another place in the order.
    It ends when it meets a bound.

    Parameters
    ----------
    instance : Instance
        Unlike the on-line algorithms, it sees all release dates from the start.
    objective : {"makespan", "minsum"}
        What to minimise: max C_i, or sum w_i C_i.
    work : int
        Effort, in elementary operations a job; the result depends on instance, start, seed and
        work only.
    time_limit : float, optional
        Seconds after which it stops with its best so far, with status ``"time_limit"`` (the
        result then depends on the machine's speed).
    start : Result or Schedule, optional
        A schedule of the same tasks, of this family or of ``packs``: the answer is never worse.

    Raises
    ------
    InvalidSchedule
        `start` is no schedule of this instance.

    Notes
    -----
    Never worse in its criterion than `start`, ``gang`` and ``sequential``, whatever the limit;
    nor than ``demt``, ``dual-approximation`` and ``list-*``, unless a limit ended these, which may
    take half a second whatever it is.

    Examples
    --------
    >>> import cosched as cs
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> inst = cs.moldable.Instance(times, weights=[1, 2, 4])
    >>> packs = cs.packs.optimal(cs.packs.Instance(times, max_tasks=3))
    >>> result = cs.moldable.local_search(inst, start=packs)
    >>> round(packs.cost, 6), round(result.makespan, 6)
    (6.3, 6.3)
    >>> result = cs.moldable.local_search(inst, objective="minsum")
    >>> round(result.weighted_completion, 6)
    16.9
    """
    Instance.require(instance)
    chosen = named(objective, "objective", _core.moldable.Objective)
    effort = integer(work, "work", 0, 2**62)
    used, limit = seed_of(seed), time_limit_of(time_limit)
    placement, complete = _core.moldable.local_search(
        instance._core, chosen, used, effort, limit, _starts(instance, start)
    )
    status = "ok" if complete else "time_limit"
    return make_result(instance, "local-search", placement, seed=used, status=status)


def _starts(instance: Instance, start: core.Result | Schedule | None) -> list[Any]:
    if start is None:
        return []
    given = start.schedule if isinstance(start, core.Result) else start
    if not isinstance(given, Schedule):
        raise InvalidInstance(f"start: expected a schedule, got {type(given).__name__}")
    columns = (given.task, given.kind, given.unit_begin, given.unit, given.start, given.end)
    found = result_of_schedule(instance, Schedule(instance, *columns))
    return [(found.procs, found.start, found.end)]
