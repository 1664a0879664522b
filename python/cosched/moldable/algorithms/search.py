"""The searches: one criterion, and the front of both."""

from typing import Any

from cosched import _core, core
from cosched.core import Bound, Schedule
from cosched.core.arrays import seed_of
from cosched.core.limits import budget, ended_by
from cosched.core.options import named
from cosched.errors import InvalidInstance
from cosched.moldable.algorithms.batches import on_line_by_batches
from cosched.moldable.bounds import OPTIMAL_WORK
from cosched.moldable.instance import KNOWING, Instance
from cosched.moldable.result import Placement, Result, make_result, result_of_schedule

#: Effort of ``demt-best`` by default: deterministic, no clock.
BEST_WORK: int = _core.moldable.BEST_WORK

#: Effort of ``local-search`` by default, a job: deterministic, no clock.
SEARCH_WORK: int = _core.moldable.SEARCH_WORK


@on_line_by_batches
def demt_best(
    instance: Instance,
    *,
    work: int | None = None,
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
    work : int, optional
        Jobs placed by the searches.

    Examples
    --------
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> best, demt = cs.moldable.demt_best(inst, work=10_000), cs.moldable.demt(inst)
    >>> best.makespan <= demt.makespan, best.weighted_completion <= demt.weighted_completion
    (True, True)
    """
    instance.require_unshared("demt-best", KNOWING)
    effort, limit = budget(work, time_limit, BEST_WORK)
    seed_value = seed_of(seed)
    placement, front, end = _core.moldable.demt_best(instance._core, seed_value, effort, limit)
    front.flags.writeable = False
    return make_result(
        instance, "demt-best", placement, seed=seed_value, pareto_front=front, **ended_by(end)
    )


def local_search(
    instance: Instance,
    *,
    objective: str = "makespan",
    work: int | None = None,
    time_limit: float | None = None,
    start: core.Result | Schedule | None = None,
    seed: int | None = None,
) -> Result:
    """The best schedule for one criterion that a short search finds. Release dates are known.

    Starts from the best of all algorithms of the family (by batches where jobs are released), of
    lists with canonical allotments for many deadlines, and of `start`. Then annealing: up to eight
    jobs are taken out and put back where their end and the price of the area they take are least; a
    job gets another count, or another place in the order. It ends when it meets a bound; up to
    twelve jobs the proof of :func:`cosched.moldable.optimal` follows, unless jobs slow each other.
    Where jobs with precedence or resources have one count and integer times each (projects), the
    search of the bound ``destructive`` takes turns with annealing, and its schedules count.
    Jobs with precedence start from ``list-lp`` and ``list-local`` with several parameters, and from
    every trade-off that the programme asked for; annealing on order and counts, each job at its
    earliest fit. So do jobs with resources and release dates, or with resources for the minsum:
    such a schedule may wait for a later release where something else would fit.

    Parameters
    ----------
    instance : Instance
        Unlike the on-line algorithms, it sees all release dates from the start.
    objective : {"makespan", "minsum"}
        What to minimise: max C_i, or sum w_i C_i.
    work : int, optional
        Elementary operations a job.
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
    >>> inst = cs.moldable.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], [1, 2, 4])
    >>> packs = cs.packs.optimal(cs.packs.Instance(inst.times, max_tasks=3))
    >>> result = cs.moldable.local_search(inst, start=packs)
    >>> round(packs.cost, 6), round(result.makespan, 6)
    (6.3, 6.0)
    >>> result = cs.moldable.local_search(inst, objective="minsum")
    >>> round(result.weighted_completion, 6)
    16.9
    """
    Instance.require(instance)
    chosen = named(objective, "objective", _core.moldable.Objective)
    effort, limit = budget(work, time_limit, SEARCH_WORK)
    seed_value = seed_of(seed)
    placement, value, is_destructive, end = _core.moldable.local_search(
        instance._core, chosen, seed_value, effort, limit, _starts(instance, start)
    )
    makespan_bound = Bound(value, "destructive" if is_destructive else "work-and-path")
    proof_fields = _proved(instance, objective, placement, makespan_bound, end)
    return make_result(
        instance, "local-search", placement, seed=seed_value, **proof_fields, **ended_by(end)
    )


def _proved(
    instance: Instance, objective: str, placement: Placement, makespan_bound: Bound, end: str
) -> dict[str, Bound]:
    """Return what ``local-search`` knows of its criterion, and of the makespan of jobs with
    edges."""
    ends = placement[2]
    proved: dict[str, Bound] = {}
    if len(instance.edges) and makespan_bound.value > 0:
        proved["own_bound"] = makespan_bound
    if end != "proved":
        return proved
    if objective == "minsum":
        proved["own_minsum_bound"] = Bound(float(instance.weights @ ends), "optimal")
    elif len(instance.edges) or instance.sharing:
        proved["own_bound"] = Bound(float(ends.max()), "optimal")
    return proved


def optimal(
    instance: Instance,
    *,
    objective: str = "makespan",
    work: int | None = None,
    time_limit: float | None = None,
) -> Result:
    """The best schedule of few jobs for one criterion, proved. Release dates are known.

    A short :func:`cosched.moldable.local_search`, then labels over sets of jobs: in some optimal
    schedule each job starts as early as the order of starts lets it, so all that the rest must
    know of a beginning is when how many processors are free. A label goes where another of the
    same jobs is no worse, or where a bound on what it becomes is not below the best schedule
    known: areas, what one processor can do in its window, for the minsum prices of time. With
    precedence or resources a label also knows what of each is free when, and its bounds know
    longest paths, each resource, and the prices of ``configurations``. Projects of more jobs have
    the search of the bound ``destructive``.

    Parameters
    ----------
    instance : Instance
        At most 30 jobs; up to a dozen are proved in seconds, rigid ones in milliseconds, but for
        makespans where nearly all jobs speed up linearly. With precedence or resources at most 12;
        up to 300 for the makespan where each job has one count and integer times (projects).
        Slow-downs are refused.
    objective : {"makespan", "minsum"}
        What to minimise: max C_i, or sum w_i C_i.

    Returns
    -------
    Result
        ``bound`` (makespan) or ``minsum_bound`` is what was proved, whether or not that is all.

    Notes
    -----
    Exponential in n. The proof stands in ``cpp/cosched/moldable/search/proof.hpp``, that of jobs
    with precedence or resources in ``graph_labels.hpp`` beside it. Peak
    memory: some hundred megabytes, at most about one gigabyte, whatever ``work`` is.

    Examples
    --------
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> result = optimal(Instance(times, weights=[1, 2, 4]))
    >>> round(result.makespan, 6), result.gap, result.stopped_by
    (6.0, 0.0, 'proved')
    """
    Instance.require(instance)
    chosen = named(objective, "objective", _core.moldable.Objective)
    effort, limit = budget(work, time_limit, OPTIMAL_WORK)
    if instance.sharing.slows:
        instance.require_unshared("optimal", KNOWING)
    placement, value, end = _core.moldable.optimal(instance._core, chosen, effort, limit)
    proven = "own_bound" if objective == "makespan" else "own_minsum_bound"
    proof_fields = {proven: Bound(value, "optimal"), **ended_by(end)}
    return make_result(instance, "optimal", placement, **proof_fields)


def _starts(instance: Instance, start: core.Result | Schedule | None) -> list[Any]:
    if start is None:
        return []
    schedule = start.schedule if isinstance(start, core.Result) else start
    if not isinstance(schedule, Schedule):
        raise InvalidInstance(f"start: expected a schedule, got {type(schedule).__name__}")
    columns = (
        schedule.task,
        schedule.kind,
        schedule.unit_begin,
        schedule.unit,
        schedule.start,
        schedule.end,
    )
    start_result = result_of_schedule(instance, Schedule(instance, *columns))
    return [(start_result.procs, start_result.start, start_result.end)]
