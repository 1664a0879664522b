"""Schedulers that see a task when it arrives, or (those of runtime systems) when its predecessors
have ended; and what one ran."""

import math

import numpy as np

from cosched import _core
from cosched.core.arrays import integer_array, nonnegative, real_array, seed_of
from cosched.dags.instance import Instance
from cosched.dags.result import Result, result_of_plan, scheduled
from cosched.errors import InvalidInstance, InvalidSchedule


def er_ls(instance: Instance, *, order: object = None) -> Result:
    """ER-LS (Section 4.2), on-line.

    A task goes to the GPU if p_cpu >= R_gpu + p_gpu, where R_gpu is the earliest time at
    which it could start there; else rule R2 decides.

    4 sqrt(m/k)-competitive for m CPUs >= k GPUs (``ratio``), unless transfers take time.
    Reference: Amaris et al. 2017, Section 4.2.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.er_ls(inst, order=[0, 2, 1, 3]).kind.tolist()
    [1, 1, 0, 1]
    """
    Instance.require(instance)
    many, few = max(instance.units), min(instance.units)
    ratio = 4 * math.sqrt(many / few) if instance.units[0] == many else None
    return scheduled(instance, "er-ls", _core.dags.er_ls, _arrivals(order), ratio=ratio)


def eft(instance: Instance, *, order: object = None) -> Result:
    """On-line: each task where it ends first; equal ends: the highest type (GPU), any Q.

    No guarantee.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.eft(inst).makespan
    5.0
    """
    return scheduled(instance, "eft", _core.dags.eft, _arrivals(order))


def greedy(instance: Instance, *, order: object = None) -> Result:
    """On-line: each task on the type with its smallest time; equal: the lowest type.

    No guarantee.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.greedy(inst).kind.tolist()
    [1, 1, 0, 1]
    """
    return scheduled(instance, "greedy", _core.dags.greedy, _arrivals(order))


def r1_ls(instance: Instance, *, order: object = None) -> Result:
    """On-line rule R1: CPU if p_cpu / m <= p_gpu / k.

    Q > 2: the type of least p_q / m_q, the lowest on equality.

    No guarantee.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [], units=(4, 1))
    >>> cs.dags.r1_ls(inst).kind.tolist()
    [0, 0]
    """
    return scheduled(instance, "r1-ls", _core.dags.r1_ls, _arrivals(order))


def r2_ls(instance: Instance, *, order: object = None) -> Result:
    """On-line rule R2: CPU if p_cpu / sqrt(m) <= p_gpu / sqrt(k).

    Q > 2: the type of least p_q / sqrt(m_q), the lowest on equality.

    No guarantee.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [], units=(4, 1))
    >>> cs.dags.r2_ls(inst).kind.tolist()
    [1, 0]
    """
    return scheduled(instance, "r2-ls", _core.dags.r2_ls, _arrivals(order))


def r3_ls(instance: Instance, *, order: object = None) -> Result:
    """On-line rule R3: CPU if p_cpu <= p_gpu; the same as :func:`greedy`.

    No guarantee.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.r3_ls(inst).kind.tolist()
    [1, 1, 0, 1]
    """
    return scheduled(instance, "r3-ls", _core.dags.r3_ls, _arrivals(order))


def random(instance: Instance, *, order: object = None, seed: int | None = None) -> Result:
    """On-line: a type drawn uniformly among those that can run the task.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> result = cs.dags.random(inst, seed=1)
    >>> result.seed, result.makespan >= result.bound.value
    (1, True)
    """
    seed_value = seed_of(seed)
    rule = _core.dags.random_types
    return scheduled(instance, "random", rule, seed_value, _arrivals(order), seed=seed_value)


def _arrivals(order: object) -> np.ndarray:
    """Return the order of arrival; empty: the graph's own."""
    return np.zeros(0, int) if order is None else integer_array(order, "order", 1, -(2**31))


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
    References: independent tasks: Beaumont, Eyraud-Dubois, Kumar 2017. Graphs: Agullo, Beaumont,
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
    Reference: StarPU 1.4, ``deque_modeling_policy_data_aware.c``; Augonnet, Thibault, Namyst,
    Wacrenier 2011.

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
    instance: Instance, *, priority: object = None, alpha: float = 1.0, beta: float = 1.0
) -> Result:
    """StarPU's dmdas: dmda with queues sorted by priority.

    No guarantee. What is expected of a queue does not look at priorities, as in StarPU.
    Reference: StarPU 1.4, ``deque_modeling_policy_data_aware.c``.

    Parameters
    ----------
    priority : array_like, shape (n,), optional
        Of its queue a unit runs the task of highest priority first, equal: the first that came.
        None: the ranks of :func:`heft`, the longest path to the end with mean times.
    alpha, beta : float
        As of :func:`dmda`.

    Examples
    --------
    >>> inst = cs.dags.Instance([[1.0]] * 4, [], units=[1])
    >>> cs.dags.dmdas(inst, priority=[0, 1, 5, 1]).start.tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    priorities = None if priority is None else real_array(priority, "priority", 1)
    weights = nonnegative(alpha, "alpha"), nonnegative(beta, "beta")
    return scheduled(instance, "dmdas", _core.dags.dmdas, priorities, *weights)


def qa(instance: Instance) -> Result:
    """QA, on-line: the type of least p_q / sqrt(m_q), where an idle unit takes a ready task.

    The types are those of :func:`r2_ls`; but a task is seen when its predecessors have ended, and
    no unit waits for it before. Of ready tasks the lowest number goes first.

    (2 sqrt(m/k) + 1)-competitive for m units of one type and k <= m of the other (``ratio``),
    unless transfers take time; for Q types the same proof gives sum over q of sqrt(m_q / least m),
    + sqrt(greatest m / least m). O((n + e) log n).
    Reference: Canon, Marchal, Simon, Vivien 2020.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [], units=(4, 1))
    >>> result = cs.dags.qa(inst)
    >>> result.kind.tolist(), result.ratio
    ([1, 0], 5.0)
    """
    Instance.require(instance)
    min_units = min(instance.units)
    shares = [math.sqrt(units / min_units) for units in instance.units]
    ratio = sum(shares) + max(shares)
    return scheduled(instance, "qa", _core.dags.qa, ratio=ratio)


def _of_affinity(instance: Instance) -> float:
    """Return the guarantee of HeteroPrio on independent tasks."""
    golden = (1 + math.sqrt(5)) / 2
    if max(instance.units) == 1:
        return golden
    return 1 + golden if min(instance.units) == 1 else 2 + math.sqrt(2)


def as_executed(instance: Instance) -> Result:
    """The run that a trace holds: each task on the unit and at the time that was recorded.

    How far was the run from the best possible? Its value and gap stand beside those of algorithms.

    A reader of traces takes a task's time on the type where it ran from the run, so that bounds
    know what it really took there; times on other types are what models, or other tasks, say.
    O(n log n + e).
    Its value counts from the start of the first task.

    Raises
    ------
    InvalidInstance
        No run was recorded; or it breaks the model, of which nothing can be said then: tasks that
        overlap on a unit, or data that arrived sooner than bandwidth and latency allow.

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
