"""Bounds that need no linear programme."""

from __future__ import annotations

from cosched import _core
from cosched.core import Bound
from cosched.dags.instance import Instance
from cosched.errors import SolverError


def area_bound(instance: Instance) -> Bound:
    """The least maximal load of a type over fractional allocations, paths ignored.

    Returns
    -------
    Bound
        Seconds.

    Examples
    --------
    >>> import cosched as cs
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> area_bound(inst)
    Bound(3.8, 'area')
    """
    Instance.require(instance)
    return Bound(_core.dags.area_bound(instance._core), "area")


def critical_path_bound(instance: Instance) -> Bound:
    """The longest path with every task on its fastest type.

    Returns
    -------
    Bound
        Seconds.

    Notes
    -----
    O(n Q + e).

    Examples
    --------
    >>> import cosched as cs
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> critical_path_bound(inst)
    Bound(5, 'critical-path')
    """
    Instance.require(instance)
    return Bound(_core.dags.critical_path_bound(instance._core), "critical-path")


def simple_bound(instance: Instance) -> Bound:
    """The better of both."""
    path = critical_path_bound(instance)
    try:
        return max(path, area_bound(instance), key=float)
    except SolverError:
        return path
