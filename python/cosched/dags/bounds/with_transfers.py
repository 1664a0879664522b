"""The bound ``transfers``: as ``windows``, where data that moves costs time; its certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import integer_array, real, real_array, time_limit_of
from cosched.dags import arguments
from cosched.dags.bounds.simple import memory_bound
from cosched.dags.bounds.without_transfers import (
    WindowsCertificate,
    common_fields,
    kept_if_complete,
    upper_of,
    windows,
    windows_bound,
    windows_fields,
)
from cosched.dags.instance import Instance
from cosched.errors import InvalidInstance, SolverError


@dataclass(frozen=True)
class TransferStage:
    """One step of the proof that no schedule is as short as T.

    As :class:`cosched.dags.RefutationStage`, with heads and tails by type, and with what transfers
    cost: flow f_e on an edge e = (i, j) pays f_e c_e[q, r] where i runs on type q and j on r. Of
    that, `shift` [e, q] is added to the price of i on q, and the least of the rest over the open
    types q to the price of j on r: any shift proves something.

    Attributes
    ----------
    raise_heads : numpy.ndarray, shape (Q,) or (0,)
        Weights of the types in load heads; the other fields are empty then.
    loads : numpy.ndarray, shape (Q,)
        Price of the load of each type.
    task_flow : numpy.ndarray, shape (n,) or (0,)
        Flow through each task. What exceeds that on the edges into it comes after its head, what
        exceeds that on the edges out of it before its tail.
    edge_flow : numpy.ndarray, shape (e,) or (0,)
        Flow on each of ``instance.edges``.
    shift : numpy.ndarray, shape (e, Q) or (0, Q)
    intervals : numpy.ndarray, shape (k, 4)
        Type, begin, end (s) and price of each interval.
    guesses : numpy.ndarray of int, shape (g, 3)
        Types of tasks (0, task, type) and ways of edges (1, edge, way) that are closed one after
        the other, each because pruning leaves nothing where the task or edge has no other; the
        other fields are empty then. Way q Q + r: the ends on types q and r, and in one memory where
        q = r; Q Q + r: on type r in different memories.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> stage = cs.dags.transfers_relaxation(inst).certificate.stages[0]
    >>> stage.edge_flow.round(6).tolist(), stage.shift.shape
    ([1.0], (1, 2))
    """

    raise_heads: np.ndarray
    loads: np.ndarray
    task_flow: np.ndarray
    edge_flow: np.ndarray
    shift: np.ndarray
    intervals: np.ndarray
    guesses: np.ndarray


@dataclass(frozen=True)
class TransfersCertificate:
    """Proof of the bound ``transfers`` that needs no solver.

    For the makespan T that is refuted, heads and tails by type (paths with the least that their
    transfers cost; joins, where what does not come from another memory in time was computed in
    this one) close the types, and pairs of types of an edge, that do not fit between them; then
    each stage, and the same again, until nothing is left.

    Attributes
    ----------
    windows : WindowsCertificate
        Of a bound without transfers, which is a bound too.
    makespan : float
        T (s); 0 where nothing above that is refuted.
    stages : tuple of TransferStage
        In this order.
    clusters : bool
        Whether pruning looks at clusters too: tasks whose data comes too late from any other
        memory share one, and have to fit there.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> proof = cs.dags.transfers(inst, upper=3.0).certificate
    >>> proof.windows.bound(inst), round(proof.bound(inst), 6)
    (2.0, 3.0)
    """

    windows: WindowsCertificate
    makespan: float
    stages: tuple[TransferStage, ...]
    clusters: bool = False

    def bound(self, instance: Instance) -> float:
        """The bound it proves, checked from scratch by code that no solver shares.

        Returns
        -------
        float
            Seconds: the greater of what `windows` proves and `makespan`.

        Raises
        ------
        SolverError
            It proves nothing for this instance: what is wrong is named.

        Notes
        -----
        O(n Q + e Q^2) a stage, times its intervals or guesses, and as often as pruning closes
        something; with clusters O(n^2 log n) besides; O(n (n + e)) for stages of load heads. What
        it proves for an instance it proves for every slower network too.

        Examples
        --------
        >>> two = [[2.0, 1.0], [1.0, 2.0]]
        >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
        >>> found = cs.dags.transfers(inst)
        >>> found.certificate.bound(inst) == found.value
        True
        """
        fields = {
            "windows": windows_fields(self.windows),
            "makespan": real(self.makespan, "makespan"),
            "stages": [_stage_fields(stage, instance) for stage in self.stages],
            "clusters": bool(self.clusters),
        }
        return _core.dags.certified_transfers(instance._core, fields)


@dataclass(frozen=True)
class Transfers:
    """A bound on every makespan and its proof.

    Attributes
    ----------
    value : float
        The bound (s).
    certificate : TransfersCertificate
    complete : bool
        False where a time limit ended the search: then it is the best so far.
    note : str
        Why a solver failed, which leaves the best so far as well; empty: none did.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> cs.dags.transfers(inst, upper=3.0)
    <Transfers: 3>
    """

    value: float
    certificate: TransfersCertificate
    complete: bool
    note: str = ""

    def __repr__(self) -> str:
        return f"<Transfers: {self.value:.6g}{'' if self.complete else ' (cut short)'}>"


def transfers(
    instance: Instance, *, upper: float | None = None, time_limit: float | None = None
) -> Transfers:
    """The largest makespan that is proved too short where transfers cost time.

    As :func:`cosched.dags.windows`, from whose value it starts: bisection over a guess T. In a
    schedule of at most T every task has a head and a tail on each type: paths pay the least that
    their transfers cost between two types, and a task whose predecessors' data cannot all come
    from other memories in time waits until those of its own memory have computed them; tasks that
    must share a memory have to fit there. Types of tasks and ways of edges that this alone refutes
    are closed, one by one. What is left is a linear programme over types and, for each edge, pairs
    of types (a transport plan): loads, paths, and what tasks must do inside intervals.

    Parameters
    ----------
    instance : Instance
        Without data the result is that of :func:`cosched.dags.windows`.
    upper : float, optional
        The makespan of a schedule (s): what lies just below it is tried first, so that a schedule
        that is optimal may be proved at once.
    time_limit : float, optional
        Seconds, all included, after which it returns the best bound so far.

    Raises
    ------
    TimeLimit
        A limit around it has passed, and it was given none of its own.

    Notes
    -----
    At least the bound ``windows``, and what the dual solution of
    :func:`cosched.dags.transfers_relaxation` proves. It holds for every way to share memories:
    within a type a transfer costs nothing, since both tasks can run on one unit. A T that is
    refuted for a network is refuted, by the same certificate, for every slower one, and which T
    are tried does not depend on the network; what the search finds may still differ by its own
    choices (which prices of many that are optimal close pairs of types), so that a faster network
    has no higher bound up to about the bisection's relative 1e-4 only.

    References
    ----------
    Joins: Papadimitriou, Yannakakis 1990, without duplication. The programme and its certificate
    are this package's own.

    Examples
    --------
    Each task is twice as fast on the other type, but moving the data costs more than that:

    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> cs.dags.windows(inst).value, round(cs.dags.transfers(inst).value, 3)
    (2.0, 3.0)
    """
    Instance.require(instance)
    limit = time_limit_of(time_limit)
    top = upper_of(upper)
    key = f"transfers {top}"
    cached = instance.cached(key)
    if cached is not None:
        return cached
    with _core.time_limit(limit):
        start = windows(instance, time_limit=limit)
        found = _core.dags.transfers_bound(instance._core, windows_fields(start.certificate), top)
    proof = certificate_of(start.certificate, found, instance)
    note = found["failure"] or start.note
    bound = Transfers(found["value"], proof, found["complete"] and start.complete, note)
    return kept_if_complete(instance, key, bound, limit)


def transfers_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """What `windows` says, with the time that transfers take: the default where there is data.

    At least ``windows``; see :func:`cosched.dags.transfers`, which also gives the certificate.

    Parameters
    ----------
    time_limit : float, optional
        Seconds after which it returns the best bound so far.

    Returns
    -------
    Bound
        Seconds. Where a solver fails what is proved so far, or ``windows``; a ``note`` says why.
        Where memories are limited the greater of it and ``memory``.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> cs.dags.bound(inst).method
    'transfers'
    """
    Instance.require(instance)
    try:
        found = transfers(instance, time_limit=time_limit)
    except SolverError as error:
        weaker = windows_bound(instance, time_limit=time_limit)
        return replace(weaker, note=f"transfers failed: {error}")
    bound = Bound(found.value, "transfers", "ok" if found.complete else "time_limit", found.note)
    return max(bound, memory_bound(instance), key=float) if instance._core.limited else bound


def certificate_of(
    windows: WindowsCertificate, found: dict[str, Any], instance: Instance
) -> TransfersCertificate:
    """What C++ gives as a refutation, with edges as the instance has them."""
    rows = instance._core_rows
    number = None if rows is None else np.argsort(rows)  # in `edges`, of the core's

    def by_edge(values: np.ndarray) -> np.ndarray:
        return arguments.as_given(values, rows) if len(values) else values

    stages = tuple(
        TransferStage(
            **{
                **stage,
                "edge_flow": by_edge(stage["edge_flow"]),
                "shift": by_edge(stage["shift"].reshape(-1, instance.types)),
                "guesses": _renumbered(stage["guesses"], number),
            }
        )
        for stage in found["stages"]
    )
    return TransfersCertificate(windows, found["makespan"], stages, found["clusters"])


def _renumbered(guesses: np.ndarray, number: np.ndarray | None) -> np.ndarray:
    """Guesses whose edges are numbered in another way."""
    if number is None or not len(guesses):
        return guesses
    of_edge, item, choice = guesses.T
    known = of_edge.astype(bool) & (item >= 0) & (item < len(number))  # else C++ says what is wrong
    found = np.column_stack(
        [of_edge, np.where(known, number[np.where(known, item, 0)], item), choice]
    )
    found.flags.writeable = False
    return found


def _stage_fields(stage: TransferStage, instance: Instance) -> dict[str, np.ndarray]:
    guesses = np.zeros((0, 3), int)
    if np.size(stage.guesses):
        guesses = integer_array(stage.guesses, "guesses", 2)
        if guesses.shape[1] != 3:
            raise InvalidInstance(f"guesses has shape {guesses.shape}: expected (g, 3)")
    edges, types = len(instance.edges), instance.types

    def of_core(values: Any, name: str, dimensions: int) -> np.ndarray:
        if not np.size(values):
            return np.zeros((0, types)[:dimensions])
        rows = real_array(values, name, dimensions)
        if len(rows) != edges:
            return rows  # C++ says what is wrong
        return arguments.as_core(rows, instance._core_rows)

    return {
        **common_fields(stage),
        "edge_flow": of_core(stage.edge_flow, "edge_flow", 1),
        "shift": of_core(stage.shift, "shift", 2),
        "guesses": _renumbered(guesses, instance._core_rows),
    }
