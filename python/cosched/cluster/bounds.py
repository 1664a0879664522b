"""The lower bound on the maximum stretch."""

from __future__ import annotations

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.core import Bound
from cosched.core.arrays import real

#: Shortest time of the bounded stretch (s).
THRESHOLD = 10.0


def max_stretch_bound(instance: Instance, *, threshold: float = THRESHOLD) -> Bound:
    """Lower bound on the maximum bounded stretch of any schedule (Theorem 1), exact.

    Memory, placement and penalties are ignored. Exact to 1e-9 relative, approached from the
    infeasible side, so that the returned value is a bound. Usable for 10,000 jobs and more.

    Parameters
    ----------
    instance : Instance
    threshold : float
        Shortest time of the bounded stretch (s).
    """
    value, _ = _core.cluster.max_stretch_bound(instance._core, real(threshold, "threshold"))
    return Bound(value, "max-stretch")
