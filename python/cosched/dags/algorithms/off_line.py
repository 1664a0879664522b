"""Schedulers that know the whole graph: by LP allocation, by search, by branch and bound."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import integer, integer_array, seed_of
from cosched.core.limits import budget, ended_by
from cosched.dags.bounds import hlp, hlp_at_hand, hlp_bound, keep_hlp, round_allocation
from cosched.dags.instance import Instance, without_limits
from cosched.dags.result import Result, result_of_plan, scheduled
from cosched.errors import InvalidInstance


def est(instance: Instance, allocation: object) -> Result:
    """Earliest Starting Time for a given allocation.

    Repeatedly schedules the ready task with the earliest possible start under its
    allocation; equal starts: the lowest task number.

    O((n + e) log n).

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.est(inst, [1, 1, 0, 1]).start.tolist()
    [0.0, 1.0, 1.0, 3.0]
    """
    return scheduled(instance, "est", _core.dags.est, _types(allocation))


def ols(instance: Instance, allocation: object) -> Result:
    """Ordered List Scheduling for a given allocation (Section 4.1).

    Graham's list scheduling by decreasing rank (longest path to the end of the graph under
    the allocation): an idle unit gets the first ready task of its type. Equal ranks: the
    lowest task number.

    O((n + e) log n).
    Reference: Amaris, Lucarelli, Mommessin, Trystram 2017, Section 4.1.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.ols(inst, [1, 1, 1, 1]).makespan
    9.0
    """
    return scheduled(instance, "ols", _core.dags.ols, _types(allocation))


def hlp_est(instance: Instance, *, method: str = "auto") -> Result:
    """HLP-EST: LP relaxation, rounding, EST; for Q > 2 the paper's QHLP-EST.

    6-approximation for Q = 2, Q(Q+1)-approximation for Q > 2. Both are tight. Where transfers take
    time neither holds (``ratio`` is None), and the relaxation does not see them.
    Its bound is LP*.
    Reference: Kedad-Sidhoum, Monna, Trystram; Amaris et al. 2017, Sections 3 and 5.

    Raises
    ------
    SolverError
        The solver failed, or ``highspy`` is not installed.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> result = cs.dags.hlp_est(inst)
    >>> result.makespan, result.kind.tolist(), result.gap
    (5.0, [1, 1, 0, 1], 0.0)
    """
    return _rounded(instance, "hlp-est", _core.dags.est, method)


def hlp_ols(instance: Instance, *, method: str = "auto") -> Result:
    """HLP-OLS: LP relaxation, rounding, OLS; for Q > 2 the paper's QHLP-OLS.

    Guarantees (tight as well), bound and errors are those of :func:`hlp_est`.
    Reference: Amaris et al. 2017, Sections 4.1 and 5.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.hlp_ols(inst).makespan
    5.0
    """
    return _rounded(instance, "hlp-ols", _core.dags.ols, method)


def hlp_best(
    instance: Instance,
    *,
    method: str = "auto",
    work: int | None = None,
    evaluations: int | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
) -> Result:
    """The package's own: never worse than HLP-OLS and HEFT, with HLP-OLS's guarantee.

    The best of HLP-OLS, OLS after other roundings of the same LP optimum, HEFT, insertion
    schedules by the LP's ranks restricted to types of which a task has a share, and a local
    search over orders and allocations from the best of them. It stops where the makespan meets
    a bound: then the gap is 0 and the schedule proved optimal.
    Its bound is the one that the search proved on its way (`windows`): the makespan itself where
    all that is shorter by a relative 1e-9 is refuted. Where transfers take time and the makespan
    does not meet it: the family's own (`transfers`), computed when it is asked for; up to 100 tasks
    the search looks at that bound, too, and ends where it is met.

    Parameters
    ----------
    work : int, optional
        Schedules that the local search builds; by default, where there is no limit either, 1e7 /
        (n + e), between 50 and 50,000: the same result on every machine.
    evaluations : int, optional
        The same.
    time_limit : float, optional
        Seconds, the LP included, which it uses until its schedule is proved optimal, or `work` is
        done; ``stopped_by`` says what came first. At least HEFT, and HLP-OLS where its LP takes
        half of the limit at most, or half a second: one that takes longer is stopped, and its best
        solution so far is rounded. Bounds take a quarter of the time.

    Raises
    ------
    SolverError
        The solver failed, or ``highspy`` is not installed.
    InfeasibleError
        Memories are limited, and a task needs more than any has, or nothing that was built fits.

    Notes
    -----
    The local search inserts each task of an order into the earliest gap, then pushes the schedule
    to the right and back to the left; three of ten moves are decoded by list scheduling. Above
    5,000 tasks all are.

    Where transfers take time it is never worse than :func:`cpop` and :func:`peft` either, and the
    search, which starts from Min-min, ETF and everything on one unit too, is over orders and
    units: up to eight tasks that data joins or that are near in time are taken out and put back
    one by one, each where the longest path through it is shortest. No guarantee then (``ratio`` is
    None). Likewise where memories are limited: it is never worse than :func:`memheft`, and starts
    from the same list by other orders besides.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> result = cs.dags.hlp_best(inst)
    >>> result.makespan, result.bound, result.gap, result.status
    (5.0, Bound(5, 'windows'), 0.0, 'ok')
    """
    Instance.require(instance)
    seed_value = seed_of(seed)
    count, limit = budget(_one_of(work, evaluations), time_limit, -1)
    with _core.time_limit(limit):
        relaxation = hlp_at_hand(instance, method)
        known_bound = None
        if relaxation is not None:
            known_bound = relaxation.x, relaxation.certificate.of_core()
        core_result = _core.dags.hlp_best(instance._core, known_bound, seed_value, count, limit)
    if relaxation is None:
        keep_hlp(instance, core_result["relaxation"])
    met, plan = core_result["met"], core_result["plan"]
    proved = float(plan[-1].max()) if met else core_result["bound"]
    bound = Bound(proved, core_result["method"], note=core_result["failure"])
    return result_of_plan(
        instance,
        "hlp-best",
        *plan,
        own_bound=bound if met or instance._core.moves_free else None,
        seed=seed_value,
        ratio=_guaranteed(instance),
        **ended_by(core_result["stopped_by"]),
    )


def _one_of(work: int | None, evaluations: int | None) -> int | None:
    """Return the work under either name."""
    if evaluations is None:
        return work
    if work is not None:
        raise InvalidInstance("work and evaluations: expected one of them, they mean the same")
    return integer(evaluations, "evaluations", 0, 2**62)


def _types(allocation: object) -> np.ndarray:
    return integer_array(allocation, "allocation", 1, -(2**31))


def _rounded(instance: Instance, name: str, scheduler: Callable[..., Any], method: str) -> Result:
    without_limits(instance, name)
    allocation = round_allocation(instance.times, hlp(instance, method=method).x)
    bound = hlp_bound(instance, method=method)
    ratio = _guaranteed(instance)
    return scheduled(instance, name, scheduler, allocation, own_bound=bound, ratio=ratio)


def _guaranteed(instance: Instance) -> float:
    """Return the guarantee of HLP-EST and HLP-OLS: Q(Q+1)."""
    return float(instance.types * (instance.types + 1))


#: Partial schedules that `optimal` looks at by default: seconds to a minute.
_NODES = 5_000_000


def optimal(
    instance: Instance, *, work: int | None = None, time_limit: float | None = None
) -> Result:
    """The shortest schedule, proved: for a dozen tasks, with and without data.

    A few schedules of :func:`hlp_best` and its bounds, which prove most small graphs; then branch
    and bound over all schedules in the order of their starts.

    A partial schedule goes no further where longest paths or the loads of what is left exceed the
    best makespan, or where an earlier one has the same tasks behind it, no unit idle later and no
    data later anywhere.
    Its bound is the makespan where it is proved (``stopped_by`` is ``"proved"``): nothing is
    shorter by a relative 1e-9. Otherwise what :func:`hlp_best` proves.

    Parameters
    ----------
    work : int, optional
        Partial schedules that the branch and bound looks at; by default, where there is no limit
        either, 5e6.
    time_limit : float, optional
        Seconds, which it uses until the schedule is proved optimal, or `work` is done.

    Raises
    ------
    SolverError
        The solver of a bound failed.

    Examples
    --------
    >>> times, edges = [[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3), (2, 3)]
    >>> inst = cs.dags.Instance(times, edges, (1, 1), data=[8.0] * 4, bandwidth=4.0)
    >>> result = cs.dags.optimal(inst)
    >>> result.makespan, result.bound, result.stopped_by
    (9.0, Bound(9, 'optimal'), 'proved')
    """
    without_limits(instance, "optimal")
    nodes, limit = budget(work, time_limit, _NODES)
    core_result = _core.dags.optimal(instance._core, nodes, limit)
    proved = core_result["stopped_by"] == "proved"
    name = "optimal" if proved else "transfers" if core_result["transfers"] else "windows"
    bound = Bound(core_result["bound"], name, note=core_result["failure"])
    own_bound = bound if proved or instance._core.moves_free else None
    end = ended_by(core_result["stopped_by"])
    return result_of_plan(instance, "optimal", *core_result["plan"], own_bound=own_bound, **end)
