"""Bounds that need no linear programme."""

from __future__ import annotations

from cosched import _core
from cosched.core import Bound
from cosched.dags.instance import Instance
from cosched.errors import SolverError


def area_bound(instance: Instance) -> Bound:
    """The least maximal load of a type over fractional allocations, paths ignored (s).

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> area_bound(inst)
    Bound(3.8, 'area')
    """
    Instance.require(instance)
    return Bound(_core.dags.area_bound(instance._core), "area")


def critical_path_bound(instance: Instance) -> Bound:
    """The longest path with every task on its fastest type (s).

    Notes
    -----
    O(n Q + e).

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> critical_path_bound(inst)
    Bound(5, 'critical-path')
    """
    Instance.require(instance)
    return Bound(_core.dags.critical_path_bound(instance._core), "critical-path")


def memory_bound(instance: Instance) -> Bound:
    """What the data takes of limited memories, in bytes x seconds.

    The data of an edge is in some memory at least as long as the longest path, each task on its
    fastest type, from the begin of its first task to the end of its second; all memories together
    hold their capacities for the whole makespan.

    Returns
    -------
    Bound
        Seconds; 0 where a memory is unlimited.

    Notes
    -----
    O(n (n + e)); above 2,000 tasks the path is that of the two tasks alone, O(n Q + e).

    Examples
    --------
    Four pairs of tasks whose data is there for 2 s, on two units whose memories hold one each:

    >>> edges, links = [(0, 1), (2, 3), (4, 5), (6, 7)], {"data": [8.0] * 4, "bandwidth": 8.0}
    >>> inst = cs.dags.Instance([[1.0]] * 8, edges, [8], memories=[0, 0, 0, 0, 1, 1, 1, 1],
    ...                         memory_capacity=8.0, **links)
    >>> memory_bound(inst).value.__round__(6), cs.dags.hlp(inst).value
    (4.0, 2.0)
    """
    Instance.require(instance)
    return Bound(_core.dags.memory_bound(instance._core), "memory")


def simple_bound(instance: Instance) -> Bound:
    """The better of both."""
    path = critical_path_bound(instance)
    try:
        return max(path, area_bound(instance), key=float)
    except SolverError:
        return path
