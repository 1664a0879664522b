"""The bound ``windows``: the largest makespan that is proved too short, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import real, real_array, time_limit_of
from cosched.dags.bounds.relaxation import (
    Certificate,
    certificate_fields,
    flow_fields,
    hlp_bound,
    hlp_so_far,
    reals,
)
from cosched.dags.instance import Instance
from cosched.errors import InvalidInstance, SolverError, TimeLimit


@dataclass(frozen=True)
class RefutationStage:
    """One step of the proof that no schedule is as short as T.

    Either load heads (`raise_heads` is not empty): with weights w of the types, sum 1, the
    ancestors of a task that start at h or later take at least the sum of min_q w_q p_jq / m_q after
    h. Or a combination of rows that every schedule of at most T satisfies, with prices >= 0: loads,
    a flow of paths, and what each task must do of its time inside an interval. Pairs (task, type)
    with which the combined row cannot hold are closed; where it holds for none, T is refuted.

    Attributes
    ----------
    raise_heads : numpy.ndarray, shape (Q,) or (0,)
    loads : numpy.ndarray, shape (Q,)
        Price of the load of each type.
    task_flow : numpy.ndarray, shape (n,) or (0,)
        Flow through each task.
    edges : numpy.ndarray of int, shape (r, 2)
        Edges of the graph with flow.
    edge_flow : numpy.ndarray, shape (r,)
    intervals : numpy.ndarray, shape (k, 4)
        Type, begin, end (s) and price of each interval.

    Examples
    --------
    >>> inst = cs.dags.Instance([[3.0], [3.0], [4.0]], [], units=[2])
    >>> stage = cs.dags.windows(inst).certificate.stages[-1]
    >>> stage.intervals.tolist()
    [[0.0, 1.0, 4.0, 1.0]]
    """

    raise_heads: np.ndarray
    loads: np.ndarray
    task_flow: np.ndarray
    edges: np.ndarray
    edge_flow: np.ndarray
    intervals: np.ndarray


@dataclass(frozen=True)
class WindowsCertificate:
    """Proof of the bound ``windows`` that needs no solver.

    For the makespan T that is refuted, longest paths of least times give each task a head and a
    tail, and close the types on which it does not fit between them; then each stage, and the same
    again, until nothing is left.

    Attributes
    ----------
    relaxation : Certificate
        Of LP*, which is a bound too.
    makespan : float
        T (s); 0 where nothing above LP* is refuted.
    stages : tuple of RefutationStage
        In this order.

    Examples
    --------
    Three such tasks on two units cannot end within five seconds, and the times are whole:

    >>> inst = cs.dags.Instance([[3.0], [3.0], [4.0]], [], units=[2])
    >>> proof = cs.dags.windows(inst).certificate
    >>> proof.makespan, proof.bound(inst)
    (5.0, 6.0)
    """

    relaxation: Certificate
    makespan: float
    stages: tuple[RefutationStage, ...]

    def bound(self, instance: Instance) -> float:
        """The bound it proves, checked from scratch by code that no solver shares.

        Returns
        -------
        float
            Seconds: the greater of what `relaxation` proves and `makespan`; where all times are
            multiples of one (whole numbers, say), the next multiple that an optimum can be.

        Raises
        ------
        SolverError
            It proves nothing for this instance: what is wrong is named.

        Notes
        -----
        O(n Q + e Q^2) a stage, times its intervals, and as often as pruning closes something;
        O(n (n + e)) for stages of load heads.

        Examples
        --------
        >>> times = [[4.0, 1.0], [6.0, 2.0], [3.0, 5.0], [4.0, 2.0]]
        >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(2, 1))
        >>> found = cs.dags.windows(inst)
        >>> found.certificate.bound(inst) == found.value
        True
        """
        return _core.dags.certified_windows(instance._core, windows_fields(self))


@dataclass(frozen=True)
class Windows:
    """A bound on every makespan and its proof.

    Attributes
    ----------
    value : float
        The bound (s).
    certificate : WindowsCertificate
    complete : bool
        False where a time limit ended the search: then it is the best so far.
    note : str
        Why a solver failed, which leaves the best so far as well; empty: none did.

    Examples
    --------
    >>> cs.dags.windows(cs.dags.Instance([[3.0], [3.0], [4.0]], [], units=[2]))
    <Windows: 6>
    """

    value: float
    certificate: WindowsCertificate
    complete: bool
    note: str = ""

    def __repr__(self) -> str:
        return f"<Windows: {self.value:.9g}{'' if self.complete else ' (cut short)'}>"


def windows(
    instance: Instance, *, upper: float | None = None, time_limit: float | None = None
) -> Windows:
    """The largest makespan that is proved too short for every schedule.

    Bisection over a guess T. In a schedule of at most T every task has a head (longest path and
    loads of its ancestors) and a tail, and cannot run on a type that does not fit between them.
    What is left is put into a linear programme over the choices of a type: loads, paths, and for
    intervals [a, b) on a type the least work that tasks must do inside. T is refuted where it has
    no solution, or costs more than T; its prices close further types, and T is pruned again.

    Parameters
    ----------
    upper : float, optional
        The makespan of a schedule (s): what lies just below it is tried first, so that a schedule
        that is optimal may be proved at once.
    time_limit : float, optional
        Seconds, the relaxation included, after which it returns the best bound so far.

    Raises
    ------
    TimeLimit
        A limit around it has passed, and it was given none of its own.

    Notes
    -----
    At least LP*. The number of T, rows and intervals is fixed by the size of the instance: fewer
    above 300, 2,000 and 10,000 tasks. A pair is closed, and T refuted, where it is passed by a
    relative 1e-10 at least.

    References
    ----------
    Energetic reasoning: Erschler, Lopez 1990; Baptiste, Le Pape, Nuijten 1999. The combination is
    this package's own.

    Examples
    --------
    A fork of ten tasks on two units: LP* sees the load of the whole graph, not the thin ends.

    >>> edges = [(0, k) for k in range(1, 11)] + [(k, 11) for k in range(1, 11)]
    >>> inst = cs.dags.Instance([[1.0]] * 12, edges, units=[2])
    >>> cs.dags.hlp(inst).value, cs.dags.windows(inst).value
    (6.0, 7.0)
    """
    Instance.require(instance)
    limit = time_limit_of(time_limit)
    top = upper_of(upper)
    key = f"windows {top}"
    cached = instance.cached(key)
    if cached is not None:
        return cached
    with _core.time_limit(limit):
        relaxation, in_time = hlp_so_far(instance)
        proof = relaxation.certificate
        found = _core.dags.windows_bound(instance._core, certificate_fields(proof), top)
    stages = tuple(RefutationStage(**stage) for stage in found["stages"])
    certificate = WindowsCertificate(proof, found["makespan"], stages)
    note = found["failure"] or relaxation.note
    bound = Windows(found["value"], certificate, found["complete"] and in_time, note)
    return kept_if_complete(instance, key, bound, limit)


def windows_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """LP* of what is left of the instance for a makespan, with energetic rows: the default bound.

    At least ``hlp``; see :func:`cosched.dags.windows`, which also gives the certificate.

    Parameters
    ----------
    time_limit : float, optional
        Seconds after which it returns the best bound so far.

    Returns
    -------
    Bound
        Seconds. Where a solver fails what is proved so far, or ``hlp``, and a ``note`` says why.

    Examples
    --------
    >>> windows_bound(cs.dags.Instance([[3.0], [3.0], [4.0]], [], units=[2]))
    Bound(6, 'windows')
    """
    Instance.require(instance)
    try:
        found = windows(instance, time_limit=time_limit)
    except SolverError as error:
        weaker = hlp_bound(instance, time_limit=time_limit)
        return replace(weaker, note=f"windows failed: {error}")
    return Bound(found.value, "windows", "ok" if found.complete else "time_limit", found.note)


def kept_if_complete(instance: Instance, key: str, found: Any, limit: float | None) -> Any:
    """What a search found, kept with the instance if it has ended; else its best so far.

    TimeLimit where only a limit around it has cut it short: its caller asked for the whole.
    """
    if found.complete:
        return instance.once(key, lambda: found)
    if limit is None:
        raise TimeLimit("the time limit has passed")
    return found


def upper_of(upper: float | None) -> float | None:
    """The makespan of a schedule, checked."""
    top = None if upper is None else real(upper, "upper")
    if top is not None and not top >= 0:
        raise InvalidInstance(f"upper = {top}: expected the makespan of a schedule, >= 0")
    return top


def windows_fields(proof: WindowsCertificate) -> dict[str, Any]:
    """What C++ takes as a WindowsCertificate."""
    return {
        "relaxation": certificate_fields(proof.relaxation),
        "makespan": real(proof.makespan, "makespan"),
        "stages": [_stage_fields(stage) for stage in proof.stages],
    }


def _stage_fields(stage: RefutationStage) -> dict[str, np.ndarray]:
    return {**common_fields(stage), **flow_fields(stage)}


def common_fields(stage: Any) -> dict[str, np.ndarray]:
    """What stages with and without transfers have in common, for C++."""
    intervals = np.asarray(stage.intervals)
    return {
        "raise_heads": reals(stage.raise_heads, "raise_heads"),
        "loads": reals(stage.loads, "loads"),
        "task_flow": reals(stage.task_flow, "task_flow"),
        "intervals": real_array(intervals, "intervals", 2) if intervals.size else np.zeros((0, 4)),
    }
