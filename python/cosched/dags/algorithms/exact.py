"""The optimum of small graphs."""

from __future__ import annotations

from cosched import _core
from cosched.core import Bound
from cosched.core.limits import budget, ended_by
from cosched.dags.instance import Instance, without_limits
from cosched.dags.result import Result, result_of_plan

#: Partial schedules that `optimal` looks at by default: seconds to a minute.
_NODES = 5_000_000


def optimal(
    instance: Instance, *, work: int | None = None, time_limit: float | None = None
) -> Result:
    """The shortest schedule, proved: for a dozen tasks, with and without data.

    A few schedules of :func:`hlp_best` and its bounds, which prove most small graphs; then branch
    and bound over all schedules in the order of their starts.

    Parameters
    ----------
    work : int, optional
        Partial schedules that the branch and bound looks at; by default, where there is no limit
        either, 5e6.
    time_limit : float, optional
        Seconds, which it uses until the schedule is proved optimal, or `work` is done.

    Returns
    -------
    Result
        Its bound is the makespan where it is proved (``stopped_by`` is ``"proved"``): nothing is
        shorter by a relative 1e-9. Otherwise what :func:`hlp_best` proves.

    Raises
    ------
    SolverError
        The solver of a bound failed.

    Notes
    -----
    A partial schedule goes no further where longest paths or the loads of what is left exceed the
    best makespan, or where an earlier one has the same tasks behind it, no unit idle later and no
    data later anywhere.

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    >>> inst = cs.dags.Instance(times, edges, (1, 1), data=[8.0] * 4, bandwidth=4.0)
    >>> result = cs.dags.optimal(inst)
    >>> result.makespan, result.bound, result.stopped_by
    (9.0, Bound(9, 'optimal'), 'proved')
    """
    without_limits(instance, "optimal")
    nodes, limit = budget(work, time_limit, _NODES)
    found = _core.dags.optimal(instance._core, nodes, limit)
    proved = found["stopped_by"] == "proved"
    name = "optimal" if proved else "transfers" if found["transfers"] else "windows"
    bound = Bound(found["bound"], name, note=found["failure"])
    own = bound if proved or instance._core.moves_free else None
    end = ended_by(found["stopped_by"])
    return result_of_plan(instance, "optimal", *found["plan"], own_bound=own, **end)
