"""Jobs with precedence and resources: lists with allotments."""

import math

from cosched import _core
from cosched.core.arrays import real
from cosched.core.options import one_of
from cosched.errors import InvalidInstance
from cosched.moldable.instance import Instance
from cosched.moldable.result import Result, make_result

#: The largest mu for which the local allocation has a ratio.
_MOST_MU = (3 - math.sqrt(5)) / 2
#: mu by model of the speed-up: where the ratio over all jobs of the model is least.
MODELS = {"roofline": _MOST_MU, "communication": 0.324, "amdahl": 0.271, "general": 0.211}


def list_lp(instance: Instance) -> Result:
    """List schedule by bottom levels, on counts rounded from the work-and-path programme.

    The programme (:func:`cosched.moldable.work_and_path`) trades the time of each job against its
    work along the convex hull of its counts. A time between those of two counts is rounded to one
    of them, counts above a limit mu are cut to it, and the jobs are started by a list: two phases,
    as Lepere, Trystram and Woeginger have them. Threshold and mu are those of the least proven
    ratio for m processors.

    Parameters
    ----------
    instance : Instance
        Any edges, resources and release dates; slow-downs are refused.

    Returns
    -------
    Result
        ``ratio``: at most 3 + sqrt(5), and for counts 1, 2, ... with convex work at most 3.292;
        None where work falls with processors, or there are resources or release dates.

    References
    ----------
    Lepere, Trystram, Woeginger, Approximation algorithms for scheduling malleable tasks under
    precedence constraints, 2002. Jansen, Zhang, An approximation algorithm for scheduling malleable
    tasks under general precedence constraints, ACM Transactions on Algorithms 2 (2006); Scheduling
    malleable tasks with precedence constraints, 2012.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 2.0], [2.0, 1.5]], edges=[(0, 2), (1, 2)])
    >>> result = list_lp(inst)
    >>> result.makespan, result.schedule.validate()
    (6.0, None)
    """
    _require_known(instance, "list-lp")
    placement, ratio = _core.moldable.list_lp(instance._core)
    return make_result(instance, "list-lp", placement, ratio=ratio or None)


def list_local(instance: Instance, *, model: str = "general", mu: float | None = None) -> Result:
    """On-line list schedule: each job's count by its own times alone, whatever the graph.

    Of the counts on which a job takes at most delta = (1 - 2 mu) / (mu (1 - mu)) times its least
    time, the one of least work, cut to mu m processors. What is ready starts by a list.

    Parameters
    ----------
    instance : Instance
        Any edges, resources and release dates; slow-downs are refused.
    model : {"general", "amdahl", "communication", "roofline"}
        Of the speed-ups, which says mu: for jobs of the model the makespan is within 5.72, 4.74,
        3.61 or 2.62 times the optimum.
    mu : float, optional
        Instead, in (0, 0.3819].

    Returns
    -------
    Result
        ``ratio``: what is proved for these jobs, by the most by which work exceeds the least; None
        where work falls with processors, or there are resources or release dates.

    References
    ----------
    Benoit, Perotin, Robert, Sun, Online scheduling of moldable task graphs under common speedup
    models, ICPP 2022.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 2.0], [2.0, 1.5]], edges=[(0, 2), (1, 2)])
    >>> list_local(inst, model="amdahl").procs.tolist()
    [1, 1, 1]
    """
    _require_known(instance, "list-local")
    one_of(model, "model", MODELS)
    mu_value = MODELS[model] if mu is None else real(mu, "mu")
    if not 0 < mu_value <= _MOST_MU:
        raise InvalidInstance(f"mu = {mu_value}: expected a number in (0, {_MOST_MU:.4f}]")
    placement, ratio = _core.moldable.list_local(instance._core, mu_value)
    return make_result(instance, "list-local", placement, ratio=ratio or None)


def _require_known(instance: Instance, name: str) -> None:
    Instance.require(instance)
    if instance.sharing.slows:
        where = " of jobs with precedence" if len(instance.edges) else ""
        raise InvalidInstance(
            f"{name} does not know slow-downs{where}: expected inst.without_slowdowns()"
        )
