"""The scheduling algorithms of dags, off-line and on-line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import integer, integer_array, seed_of, time_limit_of
from cosched.dags.bounds import hlp, hlp_at_hand, keep_hlp, round_allocation
from cosched.dags.instance import Instance
from cosched.dags.result import Result, result_of_plan


def est(instance: Instance, allocation: Any) -> Result:
    """Earliest Starting Time for a given allocation.

    Repeatedly schedules the ready task with the earliest possible start under its
    allocation; equal starts: the lowest task number. O((n + e) log n).

    Parameters
    ----------
    instance : Instance
    allocation : array_like of int, shape (n,)
        Resource type of each task.

    Raises
    ------
    InvalidInstance
        Wrong length, or a type on which the task cannot run.
    """
    return result_of_plan(instance, "est", *_core.dags.est(instance._core, _types(allocation)))


def ols(instance: Instance, allocation: Any) -> Result:
    """Ordered List Scheduling for a given allocation (Section 4.1).

    Graham's list scheduling by decreasing rank (longest path to the end of the graph under
    the allocation): an idle unit gets the first ready task of its type. Equal ranks: the
    lowest task number. O((n + e) log n). Parameters as :func:`est`.
    """
    return result_of_plan(instance, "ols", *_core.dags.ols(instance._core, _types(allocation)))


def hlp_est(instance: Instance, *, method: str = "auto") -> Result:
    """HLP-EST (Kedad-Sidhoum, Monna, Trystram; Section 3): LP, rounding, EST.

    6-approximation for Q = 2; for Q > 2 the paper's QHLP-EST, Q(Q+1)-approximation. Both are
    tight. `method`: of :func:`hlp`.
    """
    return _rounded(instance, "hlp-est", _core.dags.est, method)


def hlp_ols(instance: Instance, *, method: str = "auto") -> Result:
    """HLP-OLS (Section 4.1): LP, rounding, OLS. Guarantees as :func:`hlp_est`.

    For Q > 2 the paper's QHLP-OLS. `method`: of :func:`hlp`.
    """
    return _rounded(instance, "hlp-ols", _core.dags.ols, method)


def hlp_best(
    instance: Instance,
    *,
    method: str = "auto",
    evaluations: int | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
) -> Result:
    """The package's own: never worse than HLP-OLS and HEFT, with HLP-OLS's guarantee.

    The best of HLP-OLS, OLS after other roundings of the same LP optimum, HEFT, insertion
    schedules by the LP's ranks restricted to types of which a task has a share, and a local
    search over allocations from the best of them.

    Parameters
    ----------
    instance : Instance
    method : str
        Of :func:`hlp`.
    evaluations : int, optional
        Schedules that the local search builds; None: 4e6 / (n + e), between 50 and 2,000.
    seed : int, optional
    time_limit : float, optional
        Seconds, the LP included, after which it returns its best so far, with status
        ``"time_limit"``: at least HEFT, and HLP-OLS for the LP's solution so far, where the
        LP itself is stopped too. None: fixed work, the same result on every machine.
    """
    used, limit = seed_of(seed), time_limit_of(time_limit)
    count = -1 if evaluations is None else integer(evaluations, "evaluations")
    with _core.time_limit(limit):
        relaxation = hlp_at_hand(instance, method)
        x = None if relaxation is None else relaxation.x
        plan, solution, complete = _core.dags.hlp_best(instance._core, x, used, count, None)
    if relaxation is None:
        relaxation = keep_hlp(instance, solution)
    bound = Bound(relaxation.certificate.bound(instance), "hlp")
    status = "ok" if complete else "time_limit"
    return result_of_plan(instance, "hlp-best", *plan, own_bound=bound, seed=used, status=status)


def heft(instance: Instance) -> Result:
    """HEFT with insertion (Topcuoglu, Hariri, Wu 1999); for Q > 2 the paper's QHEFT.

    Tasks by decreasing rank (mean time over the units that can run the task, plus the largest
    rank of a successor), each to the unit where it ends first, gaps included. Equal ends: the
    highest type (GPU), then the lowest unit. No constant guarantee (Theorem 1).
    """
    return result_of_plan(instance, "heft", *_core.dags.heft(instance._core))


def er_ls(instance: Instance, *, order: Any = None) -> Result:
    """ER-LS (Section 4.2), on-line: 4 sqrt(m/k)-competitive for m CPUs >= k GPUs.

    A task goes to the GPU if p_cpu >= R_gpu + p_gpu, where R_gpu is the earliest time at
    which it could start there; else rule R2 decides.

    Parameters
    ----------
    instance : Instance
        Of two resource types.
    order : array_like of int, shape (n,), optional
        Arrival order: respects precedence. None: ``instance.order``.

    Raises
    ------
    InvalidInstance
        Not two types, or an order that is no permutation or breaks precedence.
    """
    return _online(instance, "er-ls", _core.dags.er_ls, order)


def eft(instance: Instance, *, order: Any = None) -> Result:
    """On-line: each task where it ends first; equal ends: the highest type (GPU), any Q.

    `order` as in :func:`er_ls`, here and in the other on-line rules.
    """
    return _online(instance, "eft", _core.dags.eft, order)


def greedy(instance: Instance, *, order: Any = None) -> Result:
    """On-line: each task on the type with its smallest time; equal: the lowest type."""
    return _online(instance, "greedy", _core.dags.greedy, order)


def r1_ls(instance: Instance, *, order: Any = None) -> Result:
    """On-line rule R1: CPU if p_cpu / m <= p_gpu / k. No guarantee.

    Q > 2: the type of least p_q / m_q, the lowest on equality.
    """
    return _online(instance, "r1-ls", _core.dags.r1_ls, order)


def r2_ls(instance: Instance, *, order: Any = None) -> Result:
    """On-line rule R2: CPU if p_cpu / sqrt(m) <= p_gpu / sqrt(k). No guarantee.

    Q > 2: the type of least p_q / sqrt(m_q), the lowest on equality.
    """
    return _online(instance, "r2-ls", _core.dags.r2_ls, order)


def r3_ls(instance: Instance, *, order: Any = None) -> Result:
    """On-line rule R3: CPU if p_cpu <= p_gpu; the same as :func:`greedy`. No guarantee."""
    return _online(instance, "r3-ls", _core.dags.r3_ls, order)


def random(instance: Instance, *, order: Any = None, seed: int | None = None) -> Result:
    """On-line: a type drawn uniformly among those that can run the task."""
    used = seed_of(seed)
    plan = _core.dags.random_types(instance._core, used, _arrivals(order))
    return result_of_plan(instance, "random", *plan, seed=used)


def _types(allocation: Any) -> np.ndarray:
    return integer_array(allocation, "allocation", 1, -(2**31))


def _arrivals(order: Any) -> np.ndarray | None:
    return None if order is None else integer_array(order, "order", 1, -(2**31))


def _rounded(instance: Instance, name: str, scheduler: Callable, method: str) -> Result:
    relaxation = hlp(instance, method=method)
    allocation = round_allocation(instance.times, relaxation.x)
    bound = Bound(relaxation.certificate.bound(instance), "hlp")
    plan = scheduler(instance._core, allocation)
    return result_of_plan(instance, name, *plan, own_bound=bound)


def _online(instance: Instance, name: str, rule: Callable, order: Any) -> Result:
    return result_of_plan(instance, name, *rule(instance._core, _arrivals(order)))
