"""Exact methods of packs."""

from __future__ import annotations

from dataclasses import replace

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import time_limit_of
from cosched.packs.instance import Instance
from cosched.packs.result import Result, result_of_packs


def pairs(instance: Instance) -> Result:
    """Optimal co-schedule for k <= 2, by minimum-weight perfect matching (Theorem 1).

    O(n^2 p) for the weights and O(n^3) for the matching.

    Raises
    ------
    InvalidInstance
        max_tasks > 2.
    """
    pack_of, procs = _core.packs.pairs(instance._core)
    found = result_of_packs(instance, "pairs", pack_of, procs)
    return replace(found, own_bound=Bound(found.value, "pairs"))


def optimal(instance: Instance, *, time_limit: float | None = None) -> Result:
    """Exact co-schedule for any k.

    A dynamic programme over subsets for few tasks, branch and price with the ``columns``
    bound for more. Optimal, with ``bound`` = cost, unless the time limit ends the search:
    then ``status`` is ``"time_limit"``, and ``bound`` is what was proved until then.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
        Seconds; None: until it is proved.
    """
    return _exact(
        instance, _core.packs.optimal(instance._core, time_limit_of(time_limit)), "optimal"
    )


def ilp(instance: Instance, *, time_limit: float | None = None) -> Result:
    """The paper's integer programme (Section 4.3), solved by GLPK. For up to five tasks or so.

    See :func:`optimal` for bound, status and time limit; at worst the limit leaves the
    ``sequential`` co-schedule.

    Raises
    ------
    SolverError
        GLPK failed, or the programme has more than two million columns.
    """
    return _exact(instance, _core.packs.ilp(instance._core, time_limit_of(time_limit)), "ilp")


def _exact(instance: Instance, found: tuple, method: str) -> Result:
    pack_of, procs, lower, proved, complete = found
    status = "ok" if complete else "time_limit"
    result = result_of_packs(instance, method, pack_of, procs, status=status)
    least = result.value if proved else min(lower, result.value)
    return replace(result, own_bound=Bound(least, method))
