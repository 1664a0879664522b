"""Heuristics that look at the whole graph, each task placed once: no relaxation, no search."""

from cosched import _core
from cosched.dags.instance import Instance
from cosched.dags.result import Result, result_of_plan, scheduled


def heft(instance: Instance) -> Result:
    """HEFT with insertion; for Q > 2 the paper's QHEFT.

    Tasks by decreasing rank (mean time over the units that can run the task, plus the largest
    of a successor's rank and the mean transfer to it), each to the unit where it ends first, gaps
    included. Equal ends: the highest type (GPU), then the lowest unit.

    No constant guarantee (Theorem 1). The mean transfer is over ordered pairs of different units.
    O(n log n + e Q + n U log n) for U units, and the gaps that it looks at.
    Reference: Topcuoglu, Hariri, Wu 1999; Amaris et al. 2017, Theorem 1.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> cs.dags.heft(inst).end.tolist()
    [1.0, 3.0, 3.0, 5.0]
    """
    return scheduled(instance, "heft", _core.dags.heft)


def memheft(instance: Instance) -> Result:
    """MemHEFT: HEFT that keeps within ``memory_capacity``; HEFT where no memory is limited.

    Of the list by HEFT's ranks the first task that fits somewhere goes where it ends first: its
    memory must have room for what is fetched until it ends, and for what it makes until those who
    take that are placed.

    No guarantee. The paper has two memories, this any number. O(n U B), B the steps of what a
    memory holds over time, U units.
    Reference: Herrmann, Marchal, Robert 2014.

    Raises
    ------
    InfeasibleError
        A task needs more than any memory has; or no task of the list fits any more, which does not
        prove that there is no schedule: :func:`hlp_best` may find one.

    Examples
    --------
    The GPU has room for one edge's data at a time:

    >>> times = [[4.0, 1.0], [4.0, 1.0], [4.0, 1.0], [4.0, 1.0]]
    >>> edges, links = [(0, 1), (2, 3)], {"data": [8.0, 8.0], "bandwidth": 4.0}
    >>> inst = cs.dags.Instance(times, edges, (1, 1), memory_capacity=(16.0, 8.0), **links)
    >>> result = cs.dags.memheft(inst)
    >>> result.value, result.schedule.validate()
    (7.0, None)
    """
    Instance.require(instance)
    return result_of_plan(instance, "memheft", *_core.dags.memheft(instance._core))


def cpop(instance: Instance) -> Result:
    """CPOP: the critical path on one unit, with insertion.

    Of the tasks whose predecessors are placed, the one on the longest path (mean times, mean
    transfers) goes next: to the unit of the critical path if it is on it, else where it ends
    first. That unit is of the type that runs most tasks of the path, equal: in the least time.
    Ties as in :func:`heft`.

    No guarantee. O((n + e)(Q + log n) + n U log n) for U units.
    Reference: Topcuoglu, Hariri, Wu 1999, 2002.

    Examples
    --------
    >>> times, edges = [[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3), (2, 3)]
    >>> inst = cs.dags.Instance(times, edges, (1, 1), data=[8.0] * 4, bandwidth=4.0)
    >>> result = cs.dags.cpop(inst)
    >>> result.makespan, result.kind.tolist()
    (10.0, [1, 0, 1, 1])
    """
    return scheduled(instance, "cpop", _core.dags.cpop)


def peft(instance: Instance) -> Result:
    """PEFT: earliest end plus the optimistic cost of what comes after, with insertion.

    The optimistic cost of a task on a type is the longest path after it if each later task takes
    the type that is best for it alone, mean transfers counted between types. Of the tasks whose
    predecessors are placed the one of greatest mean cost goes next, to the type of least end +
    cost. Ties as in :func:`heft`.

    No guarantee. O(e Q^2 + n log n + n U log n) for U units.
    Reference: Arabnejad, Barbosa 2014.

    Examples
    --------
    >>> times, edges = [[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3), (2, 3)]
    >>> inst = cs.dags.Instance(times, edges, (1, 1), data=[8.0] * 4, bandwidth=4.0)
    >>> result = cs.dags.peft(inst)
    >>> result.makespan, result.kind.tolist()
    (9.0, [1, 1, 1, 1])
    """
    return scheduled(instance, "peft", _core.dags.peft)


def etf(instance: Instance) -> Result:
    """ETF: of the ready tasks the one that can start first, where it starts first.

    Equal starts: the task with the longest path to the end (mean times, no transfers), then the
    earliest end. No insertion.

    No constant guarantee on types of different speed. O(n log n + e Q), and a log for each entry of
    the queue that has grown old.
    Reference: Hwang, Chow, Anger, Lee 1989.

    Examples
    --------
    >>> times, edges = [[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3), (2, 3)]
    >>> inst = cs.dags.Instance(times, edges, (1, 1), data=[8.0] * 4, bandwidth=4.0)
    >>> result = cs.dags.etf(inst)
    >>> result.makespan, result.kind.tolist()
    (13.0, [1, 0, 1, 0])
    """
    return scheduled(instance, "etf", _core.dags.etf)


def min_min(instance: Instance) -> Result:
    """Min-min: of the ready tasks the one that can end first, where it ends first.

    Equal ends: the lowest task, the highest type. No insertion.

    No guarantee. O(n log n + e Q), and a log for each entry of the queue that has grown old.
    Reference: Ibarra, Kim 1977.

    Examples
    --------
    >>> times, edges = [[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3), (2, 3)]
    >>> inst = cs.dags.Instance(times, edges, (1, 1), data=[8.0] * 4, bandwidth=4.0)
    >>> result = cs.dags.min_min(inst)
    >>> result.makespan, result.kind.tolist()
    (9.0, [1, 1, 0, 1])
    """
    return scheduled(instance, "min-min", _core.dags.min_min)
