"""Bounds in closed form; HLP and QHLP: the linear relaxation of the allocation, its rounding."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.core import Bound
from cosched.core.arrays import any_array, real_array, share, time_limit_of
from cosched.core.options import one_of
from cosched.dags.bounds import highs
from cosched.dags.bounds.certificates import Certificate
from cosched.dags.instance import Instance
from cosched.errors import SolverError, TimeLimit


def area_bound(instance: Instance) -> Bound:
    """The least maximal load of a type over fractional allocations, paths ignored (s).

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> area_bound(inst)
    Bound(3.8, 'area')
    """
    Instance.require(instance)
    return Bound(_core.dags.area_bound(instance._core), "area")


def critical_path_bound(instance: Instance) -> Bound:
    """The longest path with every task on its fastest type (s).

    O(n Q + e).

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> critical_path_bound(inst)
    Bound(5, 'critical-path')
    """
    Instance.require(instance)
    return Bound(_core.dags.critical_path_bound(instance._core), "critical-path")


def memory_bound(instance: Instance) -> Bound:
    """What the data takes of limited memories, in bytes x seconds.

    The data of an edge is in some memory at least as long as the longest path, each task on its
    fastest type, from the begin of its first task to the end of its second; all memories together
    hold their capacities for the whole makespan.

    O(n (n + e)); above 2,000 tasks the path is that of the two tasks alone, O(n Q + e).
    In seconds; 0 where a memory is unlimited.

    Examples
    --------
    Four pairs of tasks whose data is there for 2 s, on two units whose memories hold one each:

    >>> edges, links = [(0, 1), (2, 3), (4, 5), (6, 7)], {"data": [8.0] * 4, "bandwidth": 8.0}
    >>> inst = cs.dags.Instance([[1.0]] * 8, edges, [8], memories=[0, 0, 0, 0, 1, 1, 1, 1],
    ...                         memory_capacity=8.0, **links)
    >>> memory_bound(inst).value.__round__(6), cs.dags.hlp(inst).value
    (4.0, 2.0)
    """
    Instance.require(instance)
    return Bound(_core.dags.memory_bound(instance._core), "memory")


def simple_bound(instance: Instance) -> Bound:
    """The better of both."""
    path = critical_path_bound(instance)
    try:
        return max(path, area_bound(instance), key=float)
    except SolverError:
        return path


METHODS = ("auto", "structured", "glpk", "highs")


@dataclass(frozen=True)
class HlpRelaxation:
    """An optimum of the relaxation, with or without transfers.

    Attributes
    ----------
    value : float
        LP* (s).
    x : numpy.ndarray, shape (n, Q)
        Share of each task on each type, also for Q = 2; rows sum to 1.
    C : numpy.ndarray, shape (n,)
        Completion times: earliest ends under x (s).
    certificate : Certificate
        Dual solution.
    method : str
        What solved it: ``"structured"``, ``"glpk"`` or ``"highs"``.
    note : str
        What went wrong on the way; empty: nothing.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> relaxation = cs.dags.hlp(inst)
    >>> relaxation
    <Relaxation: LP* = 5 (structured)>
    >>> relaxation.x.tolist(), relaxation.C.tolist()
    ([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 3.0, 3.0, 5.0])
    """

    value: float
    x: NDArray[np.float64]
    C: NDArray[np.float64]
    certificate: Certificate
    method: str
    note: str = ""

    def __repr__(self) -> str:
        return f"<Relaxation: LP* = {self.value:.9g} ({self.method})>"


def hlp(instance: Instance, *, method: str = "auto") -> HlpRelaxation:
    """Solve the linear relaxation of the allocation problem: HLP, for Q > 2 QHLP.

    Minimise lambda, with completion times C along every path and all loads
    (1/m_q) sum_j p_jq x_jq at most lambda (Sections 3 and 5). LP* is a lower bound on every
    makespan.

    The optimum is often not unique. ``"structured"`` takes the fastest type for every task
    where that is optimal (it needs no rounding); where the path alone decides otherwise, the
    least load among those with the shortest path, weighted with the prices at which the loads
    balance. The other methods return whatever vertex they reach.
    Reference: Amaris et al. 2017, Sections 3 and 5.

    Parameters
    ----------
    method : {"auto", "structured", "glpk", "highs"}
        ``"structured"`` exploits the problem: exact to 1e-9 with a certificate, any Q, 10 to
        1,000 times faster. ``"auto"`` takes it; where rounding errors stop it (times that differ by
        a factor of 1e15, say) GLPK's result or its own best so far, whichever proves more, and the
        ``note`` says so. ``"glpk"`` solves the model row by row as in the paper and is the
        reference; ``"highs"`` gives the same model to HiGHS (extra ``highs``).

    Raises
    ------
    SolverError
        The solver failed, or ``highspy`` is not installed.

    Examples
    --------
    >>> inst = Instance([[8.0, 2.0], [8.0, 4.0]], [], units=(1, 1))
    >>> round(hlp(inst).value, 9)
    4.571428571
    """
    _require(instance, method)
    if method == "auto":
        try:
            return hlp(instance, method="structured")
        except SolverError as error:
            reason = str(error)
            return instance.once("hlp auto", lambda: _without_structured(instance, reason))
    return instance.once(f"hlp {method}", lambda: _solved(instance, method))


def _without_structured(instance: Instance, reason: str) -> HlpRelaxation:
    best_relaxation = _relaxation(_core.dags.hlp_so_far(instance._core), "structured")
    try:
        glpk_relaxation = hlp(instance, method="glpk")
        proved, best = (
            glpk_relaxation.certificate.bound(instance),
            best_relaxation.certificate.bound(instance),
        )
        if proved >= best * (1 - 1e-9):
            return replace(glpk_relaxation, note=f"{reason}; solved by GLPK")
    except SolverError:
        pass
    return replace(best_relaxation, note=f"{reason}; its best so far, GLPK proves less")


def transfers_relaxation(instance: Instance, *, method: str = "auto") -> HlpRelaxation:
    """Solve the linear relaxation of the allocation problem with transfers.

    That of :func:`hlp`, where the end of task i and the start of task j on an edge e = (i, j) are
    apart by sum_qr c_e[q, r] y_e[q, r]: c_e the least that the transfer costs between units of two
    types, y_e a transport plan from i's shares to j's. Its value is at least LP*.

    Where times are related (p_jq = w_j / speed_q) all tasks can take the same shares: the plans
    cost nothing then, and the value is LP*. :func:`cosched.dags.transfers` sees more.

    Parameters
    ----------
    method : {"auto", "structured", "glpk", "highs"}
        ``"structured"`` (what ``"auto"`` takes): an interior point method with sparse factors, to
        about 1e-8. ``"glpk"`` is the reference; ``"highs"`` gives the same model to HiGHS (extra
        ``highs``).

    Raises
    ------
    SolverError
        The solver failed, or ``highspy`` is not installed.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> round(cs.dags.hlp(inst).value, 6), round(cs.dags.transfers_relaxation(inst).value, 6)
    (2.0, 3.0)
    """
    _require(instance, method)
    chosen = "structured" if method == "auto" else method
    return instance.once(f"transfers relaxation {chosen}", lambda: _with_plans(instance, chosen))


def _with_plans(instance: Instance, method: str) -> HlpRelaxation:
    if method == "highs":
        _, *solution = highs.solved(_core.dags.transfers_model(instance._core))
        core_relaxation = _core.dags.transfers_from_lp(instance._core, *solution)
    else:
        core_relaxation = _core.dags.transfers_relaxation(instance._core, _core.dags.Method[method])
    value, x, end_times = (core_relaxation.pop(key) for key in ("value", "x", "C"))
    empty_certificate = {
        "relaxation": hlp(instance).certificate.fields,
        "makespan": 0.0,
        "stages": [],
    }
    proof = Certificate("transfers", {"windows": empty_certificate, **core_relaxation})
    return HlpRelaxation(value, x, end_times, proof, method)


def _require(instance: Instance, method: str) -> None:
    Instance.require(instance)
    one_of(method, "method", METHODS)


def _solved(instance: Instance, method: str) -> HlpRelaxation:
    if method == "highs":
        solution = highs.solved(_core.dags.hlp_model(instance._core))
        return _relaxation(_core.dags.hlp_from_lp(instance._core, *solution), method)
    chosen = _core.dags.Method[method.replace("-", "_")]
    return _relaxation(_core.dags.hlp(instance._core, chosen), method)


def round_allocation(times: object, x: object, *, threshold: float = 0.5) -> NDArray[np.int64]:
    """Resource type of each task from fractional shares, as the paper rounds.

    Q = 2: the CPU iff its share is at least `threshold` (tolerance 1e-9). Q > 2: the largest
    share, ties within 1e-9 to the type with the smaller time. A type on which the task cannot
    run is never chosen.

    Parameters
    ----------
    times : array_like, shape (n, Q), or Instance
        Seconds; infinity where the task cannot run.
    x : array_like, shape (n, Q)
        Shares; for Q = 2 also (n,), the CPU shares.
    threshold : float
        Of the CPU, for Q = 2, in 0..1.

    Returns
    -------
    numpy.ndarray of int, shape (n,)

    Examples
    --------
    >>> round_allocation([[3, 1], [3, 1]], [0.5, 0.4]).tolist()
    [0, 1]
    """
    table = real_array(times, "times", 2)
    shares = any_array(x, "x", 2)
    if shares.ndim == 1 and table.shape[1] == 2:
        cpu = real_array(shares, "x", 1)
        shares = np.column_stack([cpu, 1 - cpu])
    limit = share(threshold, "threshold")
    return _core.dags.round_allocation(table, real_array(shares, "x", 2), limit)


def hlp_bound(
    instance: Instance, *, method: str = "auto", time_limit: float | None = None
) -> Bound:
    """LP* as its certificate proves it.

    At least ``area`` and ``critical-path``.
    In seconds.

    Parameters
    ----------
    method : {"auto", "structured", "glpk", "highs"}
        What solves the relaxation, as in :func:`cosched.dags.hlp`. Where ``"auto"`` proves nothing
        it is the better of ``area`` and ``critical-path``, with a ``note``.
    time_limit : float, optional
        Seconds after which ``"auto"`` and ``"structured"`` return what the certificate so far
        proves; the other methods stop without a bound.

    Raises
    ------
    SolverError
        The solver failed, or ``highspy`` is not installed.
    TimeLimit
        The limit came before another method had finished.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4, 1], [3, 2], [2, 4], [6, 2]], [(0, 1), (0, 2), (1, 3)], (1, 1))
    >>> hlp_bound(inst)
    Bound(5, 'hlp')
    """
    Instance.require(instance)
    limit = time_limit_of(time_limit)
    try:
        with _core.time_limit(limit):
            if limit is not None and method in ("auto", "structured"):
                relaxation, _ = hlp_so_far(instance)
            else:
                relaxation = hlp(instance, method=method)
        return Bound(relaxation.certificate.bound(instance), "hlp", note=relaxation.note)
    except SolverError as error:
        if method != "auto":
            raise
        return replace(simple_bound(instance), note=f"hlp failed: {error}")


def hlp_at_hand(instance: Instance, method: str) -> HlpRelaxation | None:
    """What an anytime search starts from: None where it should solve the LP itself.

    The structured method's result where the instance keeps it; another method's result, unless
    the time limit comes first.
    """
    if method not in ("auto", "structured"):
        try:
            return hlp(instance, method=method)
        except TimeLimit:
            return None
    relaxation: HlpRelaxation | None = instance.cached("hlp structured")
    return relaxation


def hlp_so_far(instance: Instance) -> tuple[HlpRelaxation, bool]:
    """The structured method's result, which a time limit around it may cut short: whether not.

    Where it failed its best so far, with a note.
    """
    cached = instance.cached("hlp structured")
    if cached is not None:
        return cached, True
    solution = _core.dags.hlp_so_far(instance._core)
    complete = solution["complete"] or bool(solution["failure"])
    return keep_hlp(instance, solution), complete


def keep_hlp(instance: Instance, solution: dict[str, Any]) -> HlpRelaxation:
    """The structured method's relaxation; kept with the instance if the method finished."""
    relaxation = _relaxation(solution, "structured")
    if not solution["complete"]:
        return relaxation
    return instance.once("hlp structured", lambda: relaxation)


def _relaxation(core_relaxation: dict[str, Any], method: str) -> HlpRelaxation:
    certificate = Certificate("hlp", core_relaxation["certificate"])
    return HlpRelaxation(
        core_relaxation["value"],
        core_relaxation["x"],
        core_relaxation["C"],
        certificate,
        method,
        core_relaxation["failure"],
    )
