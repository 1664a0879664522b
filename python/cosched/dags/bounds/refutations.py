"""Bounds by refuting makespans: ``windows``, and ``transfers`` where data that moves costs time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import real, time_limit_of
from cosched.dags.bounds.certificates import Certificate
from cosched.dags.bounds.relaxation import hlp_bound, hlp_so_far, memory_bound
from cosched.dags.instance import Instance
from cosched.errors import InvalidInstance, SolverError, TimeLimit

#: Fields of the proof that a search starts from, what it found, whether that proof is whole, and
#: what went wrong on its way.
_Refutation = tuple[dict[str, Any], dict[str, Any], bool, str]


@dataclass(frozen=True)
class ProvenBound:
    """A bound on every makespan and its proof.

    Attributes
    ----------
    value : float
        The bound (s).
    certificate : Certificate
    complete : bool
        False where a time limit ended the search: then it is the best so far.
    note : str
        Why a solver failed, which leaves the best so far as well; empty: none did.

    Examples
    --------
    >>> cs.dags.windows(cs.dags.Instance([[3.0], [3.0], [4.0]], [], units=[2]))
    <ProvenBound: 6 (windows)>
    """

    value: float
    certificate: Certificate
    complete: bool
    note: str = ""

    def __repr__(self) -> str:
        how = self.certificate.kind + ("" if self.complete else ", cut short")
        return f"<ProvenBound: {self.value:.9g} ({how})>"


def windows(
    instance: Instance, *, upper: float | None = None, time_limit: float | None = None
) -> ProvenBound:
    """The largest makespan that is proved too short for every schedule.

    Bisection over a guess T. In a schedule of at most T every task has a head (longest path and
    loads of its ancestors) and a tail, and cannot run on a type that does not fit between them.
    What is left is put into a linear programme over the choices of a type: loads, paths, and for
    intervals [a, b) on a type the least work that tasks must do inside. T is refuted where it has
    no solution, or costs more than T; its prices close further types, and T is pruned again.

    At least LP*. The number of T, rows and intervals is fixed by the size of the instance: fewer
    above 300, 2,000 and 10,000 tasks. A pair is closed, and T refuted, where it is passed by a
    relative 1e-10 at least.
    References: energetic reasoning: Erschler, Lopez 1990; Baptiste, Le Pape, Nuijten 1999. The
    combination is this package's own.

    Parameters
    ----------
    time_limit : float, optional
        Seconds, the relaxation included, after which it returns the best bound so far.

    Raises
    ------
    TimeLimit
        A limit around it has passed, and it was given none of its own.

    Examples
    --------
    A fork of ten tasks on two units: LP* sees the load of the whole graph, not the thin ends.

    >>> edges = [(0, k) for k in range(1, 11)] + [(k, 11) for k in range(1, 11)]
    >>> inst = cs.dags.Instance([[1.0]] * 12, edges, units=[2])
    >>> cs.dags.hlp(inst).value, cs.dags.windows(inst).value
    (6.0, 7.0)
    """

    def search(top: float | None) -> _Refutation:
        relaxation, in_time = hlp_so_far(instance)
        certificate = relaxation.certificate
        core_result = _core.dags.windows_bound(instance._core, certificate.of_core(), top)
        return {"relaxation": certificate.fields}, core_result, in_time, relaxation.note

    return _proved(instance, "windows", upper, time_limit_of(time_limit), search)


def transfers(
    instance: Instance, *, upper: float | None = None, time_limit: float | None = None
) -> ProvenBound:
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
    References: joins: Papadimitriou, Yannakakis 1990, without duplication. The programme and its
    certificate are this package's own.

    Examples
    --------
    Each task is twice as fast on the other type, but moving the data costs more than that:

    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> cs.dags.windows(inst).value, round(cs.dags.transfers(inst).value, 3)
    (2.0, 3.0)
    """
    limit = time_limit_of(time_limit)

    def search(top: float | None) -> _Refutation:
        start = windows(instance, time_limit=limit)
        certificate = start.certificate
        core_result = _core.dags.transfers_bound(instance._core, certificate.of_core(), top)
        return {"windows": certificate.fields}, core_result, start.complete, start.note

    return _proved(instance, "transfers", upper, limit, search)


def _proved(
    instance: Instance,
    kind: str,
    upper: float | None,
    limit: float | None,
    search: Callable[[float | None], _Refutation],
) -> ProvenBound:
    """Return what a search found, kept with the instance if it has ended; else its best so far.

    TimeLimit where only a limit around it has cut it short: its caller asked for the whole.
    """
    Instance.require(instance)
    top = None if upper is None else real(upper, "upper")
    if top is not None and not top >= 0:
        raise InvalidInstance(f"upper = {top}: expected the makespan of a schedule, >= 0")
    key = f"{kind} {top}"
    cached: ProvenBound | None = instance.cached(key)
    if cached is not None:
        return cached
    with _core.time_limit(limit):
        start, proof_fields, is_complete, note = search(top)
    value, complete, failure = (proof_fields.pop(name) for name in ("value", "complete", "failure"))
    proof = Certificate(kind, {**start, **proof_fields})
    bound = ProvenBound(value, proof, complete and is_complete, failure or note)
    if bound.complete:
        return instance.once(key, lambda: bound)
    if limit is None:
        raise TimeLimit("the time limit has passed")
    return bound


def _bound(
    proof: Callable[..., ProvenBound],
    weaker: Callable[..., Bound],
    instance: Instance,
    limit: float | None,
) -> Bound:
    """Return what is proved; where a solver fails the weaker bound, and why."""
    Instance.require(instance)
    name = proof.__name__
    try:
        bound = proof(instance, time_limit=limit)
    except SolverError as error:
        return replace(weaker(instance, time_limit=limit), note=f"{name} failed: {error}")
    return Bound(bound.value, name, "ok" if bound.complete else "time_limit", bound.note)


def windows_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """LP* of what is left of the instance for a makespan, with energetic rows: the default bound.

    At least ``hlp``; see :func:`cosched.dags.windows`, which also gives the certificate.
    In seconds. Where a solver fails what is proved so far, or ``hlp``, and a ``note`` says why.

    Examples
    --------
    >>> windows_bound(cs.dags.Instance([[3.0], [3.0], [4.0]], [], units=[2]))
    Bound(6, 'windows')
    """
    return _bound(windows, hlp_bound, instance, time_limit)


def transfers_bound(instance: Instance, *, time_limit: float | None = None) -> Bound:
    """What `windows` says, with the time that transfers take: the default where there is data.

    At least ``windows``; see :func:`cosched.dags.transfers`, which also gives the certificate.
    In seconds. Where a solver fails what is proved so far, or ``windows``; a ``note`` says why.
    Where memories are limited the greater of it and ``memory``.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> cs.dags.bound(inst).method
    'transfers'
    """
    bound = _bound(transfers, windows_bound, instance, time_limit)
    return max(bound, memory_bound(instance), key=float) if instance._core.limited else bound
