"""What runtime systems run: a task is seen when its predecessors have ended; and what one ran."""

from __future__ import annotations

import math
from typing import Any

from cosched import _core
from cosched.core.arrays import nonnegative, real_array
from cosched.dags.instance import Instance
from cosched.dags.result import Result, result_of_plan, scheduled
from cosched.errors import InvalidInstance, InvalidSchedule


def heteroprio(instance: Instance) -> Result:
    """HeteroPrio: idle GPUs take the ready task that they accelerate most, idle CPUs the least.

    Where nothing is ready an idle unit looks at what runs on the other type, by decreasing ends:
    the first task that would end earlier if it began here anew does so (spoliation). What the
    aborted run took is idle time in the schedule.

    Raises
    ------
    InvalidInstance
        Not two resource types.

    Notes
    -----
    Without edges the makespan is at most phi = (1 + sqrt 5) / 2 times the optimum on one CPU and
    one GPU, 1 + phi where one type has one unit, 2 + sqrt 2 otherwise (``ratio``). On graphs no
    constant is known. Equal accelerations: the longest path of least times first from 1 on, last
    below. Of units that are idle together GPUs choose first. Data is fetched to the unit that has
    taken the task. O((n + e) log n), and the number of units for each spoliation, n at most.

    References
    ----------
    Independent tasks: Beaumont, Eyraud-Dubois, Kumar 2017. Graphs: Agullo, Beaumont,
    Eyraud-Dubois, Kumar 2016. StarPU has it without spoliation (``modular-heteroprio``, buckets of
    accelerations within 10%; ``heteroprio``, with priorities a type of task).

    Examples
    --------
    At 3 s the GPU has no work, and would end the CPU's task at 8 s instead of 11:

    >>> inst = cs.dags.Instance([[8, 1], [8, 2], [10, 5], [1, 2]], [], units=(1, 1))
    >>> result = cs.dags.heteroprio(inst)
    >>> result.kind.tolist(), result.start.tolist(), result.value
    ([1, 1, 1, 0], [0.0, 1.0, 3.0, 0.0], 8.0)
    """
    Instance.require(instance)
    ratio = None if len(instance.edges) else _of_affinity(instance)
    return scheduled(instance, "heteroprio", _core.dags.heteroprio, ratio=ratio)


def dmda(instance: Instance, *, alpha: float = 1.0, beta: float = 1.0) -> Result:
    """StarPU's dmda: a ready task joins the queue where it is expected to end first, with its data.

    It goes to the unit of least alpha (its expected end there - the least one) + beta (what its
    transfers to that memory take, together). A unit runs its queue in order of arrival.

    Parameters
    ----------
    alpha, beta : float
        >= 0; StarPU's ``STARPU_SCHED_ALPHA`` and ``STARPU_SCHED_BETA``, and its defaults.

    Notes
    -----
    No guarantee. The expected start is when the queue ends and not before the data is there, which
    here is known: transfers do not slow each other down. Equal: the highest type (GPU), as in
    StarPU's order of workers. Tasks that become ready together come by number. Energy (gamma) is
    not in this model. O(n log n), and n + e for each pair of type and memory.

    References
    ----------
    StarPU 1.4, ``deque_modeling_policy_data_aware.c``; Augonnet, Thibault, Namyst, Wacrenier 2011.

    Examples
    --------
    The second task would end at 3 s on the GPU, its transfer included, and at 3.5 s on the CPU:

    >>> times = [[1.0, float("inf")], [2.5, 1.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1)], (1, 1), data=[1.0], bandwidth=1.0)
    >>> cs.dags.dmda(inst).kind.tolist(), cs.dags.dmda(inst, beta=0.0).kind.tolist()
    ([0, 0], [0, 1])
    """
    weights = nonnegative(alpha, "alpha"), nonnegative(beta, "beta")
    return scheduled(instance, "dmda", _core.dags.dmda, *weights)


def dmdas(
    instance: Instance, *, priority: Any = None, alpha: float = 1.0, beta: float = 1.0
) -> Result:
    """StarPU's dmdas: dmda with queues sorted by priority.

    Parameters
    ----------
    priority : array_like, shape (n,), optional
        Of its queue a unit runs the task of highest priority first, equal: the first that came.
        None: the ranks of :func:`heft`, the longest path to the end with mean times.
    alpha, beta : float
        As of :func:`dmda`.

    Notes
    -----
    No guarantee. What is expected of a queue does not look at priorities, as in StarPU.

    References
    ----------
    StarPU 1.4, ``deque_modeling_policy_data_aware.c``.

    Examples
    --------
    >>> inst = cs.dags.Instance([[1.0]] * 4, [], units=[1])
    >>> cs.dags.dmdas(inst, priority=[0, 1, 5, 1]).start.tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    given = None if priority is None else real_array(priority, "priority", 1)
    weights = nonnegative(alpha, "alpha"), nonnegative(beta, "beta")
    return scheduled(instance, "dmdas", _core.dags.dmdas, given, *weights)


def qa(instance: Instance) -> Result:
    """QA, on-line: the type of least p_q / sqrt(m_q), where an idle unit takes a ready task.

    The types are those of :func:`r2_ls`; but a task is seen when its predecessors have ended, and
    no unit waits for it before. Of ready tasks the lowest number goes first.

    Notes
    -----
    (2 sqrt(m/k) + 1)-competitive for m units of one type and k <= m of the other (``ratio``),
    unless transfers take time; for Q types the same proof gives sum over q of sqrt(m_q / least m),
    + sqrt(greatest m / least m). O((n + e) log n).

    References
    ----------
    Canon, Marchal, Simon, Vivien 2020.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [], units=(4, 1))
    >>> result = cs.dags.qa(inst)
    >>> result.kind.tolist(), result.ratio
    ([1, 0], 5.0)
    """
    Instance.require(instance)
    least = min(instance.units)
    shares = [math.sqrt(units / least) for units in instance.units]
    ratio = sum(shares) + max(shares)
    return scheduled(instance, "qa", _core.dags.qa, ratio=ratio)


def _of_affinity(instance: Instance) -> float:
    """Of HeteroPrio on independent tasks."""
    golden = (1 + math.sqrt(5)) / 2
    if max(instance.units) == 1:
        return golden
    return 1 + golden if min(instance.units) == 1 else 2 + math.sqrt(2)


def as_executed(instance: Instance) -> Result:
    """The run that a trace holds: each task on the unit and at the time that was recorded.

    How far was the run from the best possible? Its value and gap stand beside those of algorithms.

    Returns
    -------
    Result
        Its value counts from the start of the first task.

    Raises
    ------
    InvalidInstance
        No run was recorded; or it breaks the model, of which nothing can be said then: tasks that
        overlap on a unit, or data that arrived sooner than bandwidth and latency allow.

    Notes
    -----
    A reader of traces takes a task's time on the type where it ran from the run, so that bounds
    know what it really took there; times on other types are what models, or other tasks, say.
    O(n log n + e).

    Examples
    --------
    >>> run = {"kind": [0, 1], "unit": [0, 0], "start": [0.0, 4.5], "end": [4.0, 6.5]}
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [(0, 1)], (1, 1), executed=run)
    >>> res = cs.dags.as_executed(inst)
    >>> res.value, res.bound.value
    (6.5, 3.0)
    """
    Instance.require(instance)
    run = instance.executed
    if run is None:
        raise InvalidInstance("no run was recorded: expected the trace of one, as StarPU's .rec")
    result = result_of_plan(instance, "as-executed", *run)
    try:
        result.schedule.validate()
    except InvalidSchedule as error:
        raise InvalidInstance(f"the recorded run breaks the model: {error}") from None
    return result
