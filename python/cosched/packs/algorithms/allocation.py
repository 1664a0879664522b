"""Processors of the tasks of a pack, and packs that the caller chooses."""

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.core.arrays import integer, integer_array, real_array
from cosched.errors import InvalidInstance
from cosched.packs.instance import Instance
from cosched.packs.result import Result, result_of_packs


def one_pack(times: object, procs: int) -> NDArray[np.int64]:
    """Optimal processor counts when all tasks run in one pack (Algorithm 4.2).

    Every task starts on one processor; the longest one gets one more, p - n times.

    Exact. O(p log n). :func:`one_pack_dynamic_programme` is the check, O(n p^2).

    Parameters
    ----------
    times : array_like, shape (n, >= procs)
        Seconds, as :class:`Instance` takes them: they may rise with processors, or be infinite
        where a task cannot run. Columns above `procs` are not looked at.
    procs : int
        p processors for the pack, 1..columns.

    Returns
    -------
    numpy.ndarray of int, shape (n,)
        Counts that minimise the longest time, at most `procs` in all; ties go to the lower task.
        A task that is slower on more processors keeps the fewer: ``times[i, counts[i] - 1]`` is
        its time.

    Raises
    ------
    InfeasibleError
        The fewest processors on which the tasks can run are more than `procs` together.

    Examples
    --------
    >>> one_pack([[8.0, 4.0, 3.0], [2.0, 1.5, 1.0]], procs=3).tolist()
    [2, 1]
    """
    table, procs = _pack_table(times, procs)
    return _core.packs.one_pack(table, procs)


def one_pack_dynamic_programme(times: object, procs: int) -> NDArray[np.int64]:
    """Like :func:`one_pack`, by dynamic programming over the times as measured.

    Exact. O(n p^2).

    Parameters
    ----------
    times, procs
        As of :func:`one_pack`, which returns and raises the same.

    Examples
    --------
    >>> one_pack_dynamic_programme([[8.0, 4.0, 3.0], [2.0, 1.5, 1.0]], procs=3).tolist()
    [2, 1]
    """
    table, procs = _pack_table(times, procs)
    return _core.packs.one_pack_dynamic_programme(table, procs)


def _pack_table(times: object, procs: int) -> tuple[np.ndarray, int]:
    table = real_array(times, "times", 2)
    procs = integer(procs, "procs", 1)
    if procs > table.shape[1]:
        raise InvalidInstance(
            f"procs = {procs}: times has only {table.shape[1]} columns (processor counts)"
        )
    return np.ascontiguousarray(table[:, :procs]), procs


def ends(instance: Instance, tasks: object, procs: object) -> NDArray[np.float64]:
    """When the tasks of a pack end, from its start, beside each other (s).

    Between two ends each task works at the rate 1 / (its time alone x its factor beside those that
    still run). Whether the pack fits the machine is not asked.

    Returns
    -------
    numpy.ndarray, shape (k,)
        Where nothing slows the tasks, their times.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]], slowdowns=[[1, 1.5], [1.5, 1]])
    >>> ends(inst, [0, 1], [1, 1]).tolist()
    [5.5, 4.5]
    """
    Instance.require(instance)
    return _core.packs.ends(instance._core, *_a_pack(instance, tasks, procs))


def slowdown(instance: Instance, tasks: object, procs: object) -> NDArray[np.float64]:
    """The factors by which the tasks of a pack slow down while all of them run.

    Returns
    -------
    numpy.ndarray, shape (k,)
        Each >= 1.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]], slowdowns=[[1, 1.5], [1.25, 1]])
    >>> slowdown(inst, [0, 1], [1, 1]).tolist()
    [1.5, 1.25]
    """
    Instance.require(instance)
    return _core.packs.slowdown(instance._core, *_a_pack(instance, tasks, procs))


def _a_pack(instance: Instance, tasks: object, procs: object) -> tuple[np.ndarray, np.ndarray]:
    members = integer_array(tasks, "tasks", 1, 0, instance.tasks - 1)
    return members, integer_array(procs, "procs", 1, 1, instance.procs)


def make_pack(instance: Instance, procs: object, *, reoptimise: bool = True) -> Result:
    """Packs for given processor counts (Make-pack, Algorithm 4.4).

    First fit by decreasing time: a task goes to the first pack with enough free processors
    and fewer than k tasks.
    Reference: Aupy et al. 2013, Algorithm 4.4.

    Parameters
    ----------
    procs : array_like of int, shape (n,)
        Counts in 1..p, each one on which its task can run. They are kept as they are, also
        where fewer processors are faster, unless `reoptimise`.
    reoptimise : bool
        Give each pack the optimal counts of :func:`one_pack` afterwards: never worse.

    Raises
    ------
    InvalidInstance
        Wrong length, a count outside 1..p, or one on which the task cannot run.

    Examples
    --------
    >>> inst = cs.packs.Instance([[8, 4.4, 3.1], [6, 3.2, 2.5], [2, 1.2, 0.9]], max_tasks=2)
    >>> cs.packs.make_pack(inst, [2, 1, 1], reoptimise=False).pack_of.tolist()
    [0, 0, 1]
    """
    Instance.require(instance)
    instance.require_unshared("make-pack", "co_schedule")
    counts = integer_array(procs, "procs", 1, 1)
    core_result = _core.packs.make_pack(instance._core, counts, bool(reoptimise))
    return result_of_packs(instance, "make-pack", *core_result)


def co_schedule(instance: Instance, pack_of: object, procs: object = None) -> Result:
    """The result of packs that one chose oneself.

    Parameters
    ----------
    pack_of : array_like of int, shape (n,)
        Number of each task's pack, >= 0; numbers that nothing uses are left out.
    procs : array_like of int, shape (n,), optional
        Processor counts in 1..p, each one on which its task can run. By default each pack gets
        the counts that end it first: those of :func:`one_pack` where tasks share nothing.

    Raises
    ------
    InvalidInstance
        Wrong length, a count outside 1..p or on which the task cannot run, a pack with more
        than ``max_tasks`` tasks or that needs more than p processors, or than a capacity.

    Examples
    --------
    >>> inst = Instance([[4.0, 2.0], [3.0, 2.0], [5.0, 3.0]], max_tasks=2)
    >>> co_schedule(inst, [0, 0, 1]).value
    7.0
    """
    Instance.require(instance)
    pack_numbers = integer_array(pack_of, "pack_of", 1, 0)
    if len(pack_numbers) != instance.tasks:
        raise InvalidInstance(f"pack_of has {len(pack_numbers)} entries: expected {instance.tasks}")
    packs, pack = np.unique(pack_numbers, return_inverse=True)
    if procs is None:
        counts = np.empty(instance.tasks, dtype=np.int64)
        for number in range(len(packs)):
            members = np.flatnonzero(pack == number)
            counts[members] = _best_counts(instance, members, packs[number])
    else:
        counts = integer_array(procs, "procs", 1, 1, instance.procs)
        if len(counts) != instance.tasks:
            raise InvalidInstance(f"procs has {len(counts)} entries: expected {instance.tasks}")
    for number, given_name in enumerate(packs):
        size, procs_used = int((pack == number).sum()), int(counts[pack == number].sum())
        if size > instance.max_tasks:
            raise InvalidInstance(
                f"pack {given_name} has {size} tasks: expected at most {instance.max_tasks}"
            )
        if procs_used > instance.procs:
            raise InvalidInstance(
                f"pack {given_name} uses {procs_used} processors: expected at most {instance.procs}"
            )
    return result_of_packs(instance, "co-schedule", pack.astype(np.int64), counts)


def _best_counts(instance: Instance, tasks: np.ndarray, pack: int) -> np.ndarray:
    if not instance.sharing:
        return one_pack(instance.times[tasks], instance.procs)
    counts = _core.packs.best_counts(instance._core, tasks)
    if len(counts) == 0:
        raise InvalidInstance(f"pack {pack} needs more than the machine has, on any counts")
    return counts
