"""Exact methods of packs."""

from __future__ import annotations

from dataclasses import replace

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import time_limit_of
from cosched.core.limits import ended_by
from cosched.packs.instance import KNOWING, Instance
from cosched.packs.result import Result, result_of_packs


def pairs(instance: Instance) -> Result:
    """Optimal co-schedule for k <= 2, by minimum-weight perfect matching (Theorem 1).

    Parameters
    ----------
    instance : Instance
        ``max_tasks`` at most 2.

    Returns
    -------
    Result
        Its bound is its cost.

    Raises
    ------
    InvalidInstance
        max_tasks > 2.

    Notes
    -----
    Exact. O(n^2 p) for the weights and O(n^3) for the matching.

    References
    ----------
    Aupy et al. 2013, Theorem 1.

    Examples
    --------
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> inst = cs.packs.Instance(times, max_tasks=2)
    >>> result = cs.packs.pairs(inst)
    >>> result.pack_of.tolist(), result.procs.tolist(), round(result.cost, 6)
    ([0, 1, 1], [3, 2, 1], 6.3)
    """
    Instance.require(instance)
    pack_of, procs = _core.packs.pairs(instance._core)
    found = result_of_packs(instance, "pairs", pack_of, procs)
    return replace(found, own_bound=Bound(found.value, "pairs"))


def optimal(instance: Instance, *, time_limit: float | None = None) -> Result:
    """Exact co-schedule for any k.

    A dynamic programme over subsets for few tasks, branch and price with the ``columns``
    bound for more. Optimal, with ``bound`` = cost, unless the time limit ends the search:
    then ``status`` is ``"time_limit"``, and ``bound`` is what was proved until then.
    Beyond 1,200 tasks it is a local search with the ``columns`` bound beside it, which a time
    limit's rest prolongs; ``gap`` says what is proved.

    Parameters
    ----------
    time_limit : float, optional
        Seconds; None: until it is proved.

    Examples
    --------
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> inst = cs.packs.Instance(times, max_tasks=2)
    >>> result = cs.packs.optimal(inst)
    >>> round(result.cost, 6), result.status, result.gap
    (6.3, 'ok', 0.0)
    """
    Instance.require(instance)
    return _exact(
        instance, _core.packs.optimal(instance._core, time_limit_of(time_limit)), "optimal"
    )


def ilp(instance: Instance, *, time_limit: float | None = None) -> Result:
    """The paper's integer programme (Section 4.3), solved by GLPK. For up to five tasks or so.

    See :func:`optimal` for status and time limit; at worst the limit leaves the co-schedule of
    ``pack-by-pack-9``. GLPK proves up to its tolerances: ``bound`` is a millionth below what it
    found, of which a part is real where times differ by twelve orders of magnitude.

    Parameters
    ----------
    time_limit : float, optional
        Seconds; None: until it is proved.

    Raises
    ------
    SolverError
        GLPK failed, or the programme has more than two million columns.

    References
    ----------
    Aupy et al. 2013, Section 4.3.

    Examples
    --------
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> inst = cs.packs.Instance(times, max_tasks=2)
    >>> round(cs.packs.ilp(inst).cost, 6)
    6.3
    """
    Instance.require(instance)
    instance.require_unshared("ilp", KNOWING)
    return _exact(instance, _core.packs.ilp(instance._core, time_limit_of(time_limit)), "ilp")


def _exact(instance: Instance, found: tuple, method: str) -> Result:
    pack_of, procs, lower, end = found
    result = result_of_packs(instance, method, pack_of, procs, **ended_by(end))
    return replace(result, own_bound=Bound(min(lower, result.value), method))
