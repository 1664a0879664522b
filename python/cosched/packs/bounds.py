"""Lower bounds on the cost of packs."""

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import time_limit_of
from cosched.packs.instance import Instance


def columns_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """Lower bound of the set-partitioning relaxation over packs, by column generation (s).

    Never below ``area`` and ``longest``. Beyond 300 tasks it starts with groups of alike
    tasks, between whose prices theirs are interpolated; beyond 1,200 it stays with them
    (0.3 to 2% lower, still a bound for the tasks as they are).

    Parameters
    ----------
    time_limit : float, optional
        Seconds after which a weaker, still valid bound is returned.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> columns_bound(inst)
    Bound(6.29994054, 'columns')
    """
    Instance.require(instance)
    value, finished = _core.packs.column_bound(instance._core, time_limit_of(time_limit))
    return Bound(value, "columns", "ok" if finished else "time_limit")


def area_bound(instance: Instance) -> Bound:
    """sum_i min_q q t_i(q) / p: no processor can do more work than there is (s).

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> area_bound(inst)
    Bound(5.33333333, 'area')
    """
    Instance.require(instance)
    return Bound(_core.packs.area_bound(instance._core), "area")


def longest_bound(instance: Instance) -> Bound:
    """From the longest tasks: at most k of them share a pack (s).

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> longest_bound(inst)
    Bound(4, 'longest')
    """
    Instance.require(instance)
    return Bound(_core.packs.longest_bound(instance._core), "longest")


def bound_beside(instance: Instance) -> Bound:
    """``columns`` up to n p = 10,000 (a few seconds), else the better of the simple ones."""
    if instance.tasks * instance.procs <= 10_000:
        return columns_bound(instance)
    return simple_bound(instance)


def simple_bound(instance: Instance) -> Bound:
    """The better of the two in closed form."""
    return max(area_bound(instance), longest_bound(instance), key=float)
