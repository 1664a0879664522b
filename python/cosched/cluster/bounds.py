"""The lower bound on the maximum stretch."""

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.core import Bound
from cosched.core.arrays import real

#: Shortest time of the bounded stretch (s).
THRESHOLD = 10.0
#: The method of a bound that a time limit ended before it was exact.
SO_FAR = "max-stretch so far"


def max_stretch_bound(instance: Instance, *, threshold: float = THRESHOLD) -> Bound:
    """Lower bound on the maximum bounded stretch of any schedule (Theorem 1), exact.

    With ``instance.min_runtime`` the maximum is over the jobs of that run time or more; the others
    are ignored, which can only weaken the bound.

    A stretch S is feasible if all jobs can meet the deadlines eligible + S max(run time, threshold)
    when memory, placement and penalties are ignored: a transportation problem. The bound is the
    least feasible S; where memory and GPUs count (machine and jobs say them), the greatest of that
    and of the same with the memory, the GPUs, or the GPUs of a type of all nodes in place of nodes.

    Returns
    -------
    Bound
        At least 1. Exact to 1e-9 relative, approached from the infeasible side, so that the
        returned value is a bound; where a time limit comes first, what was proved until then, whose
        method is ``"max-stretch so far"`` and whose status is ``"time_limit"``.

    Notes
    -----
    Usable for 10,000 jobs and more. Jobs that were submitted one after the other come first, in
    blocks: what they need alone is a bound.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Theorem 1.

    Examples
    --------
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 1, 1], "cpu": [1, 1, 1],
    ...         "memory": [0.3, 0.3, 0.3], "runtime": [100.0, 100.0, 10.0]}
    >>> bound = max_stretch_bound(cs.cluster.Instance(jobs, nodes=1))
    >>> round(float(bound), 4)
    2.1
    """
    Instance.require(instance)
    limit = real(threshold, "threshold")
    is_measured = instance.measured
    resources = [
        (held_amounts[is_measured], capacity) for held_amounts, capacity in instance.resources
    ]
    value, _, exact = _core.cluster.max_stretch_bound(_measured(instance)._core, limit, resources)
    return Bound(value, "max-stretch") if exact else Bound(value, SO_FAR, "time_limit")


def _measured(instance: Instance) -> Instance:
    """Return the jobs that are measured, alone."""
    if instance.measured.all():
        return instance
    names = ("eligible", "tasks", "cpu", "memory", "runtime")
    columns = {k: instance.column(k)[instance.measured] for k in names}
    return Instance({"submit": columns["eligible"], **columns}, instance.nodes)
