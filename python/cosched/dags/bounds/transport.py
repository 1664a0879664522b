"""LP* with transfers: a transport plan for each edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cosched import _core
from cosched.dags.bounds import highs
from cosched.dags.bounds.relaxation import METHODS, hlp
from cosched.dags.bounds.with_transfers import TransfersCertificate, certificate_of
from cosched.dags.bounds.without_transfers import WindowsCertificate
from cosched.dags.instance import Instance
from cosched.errors import shorten


@dataclass(frozen=True)
class TransfersRelaxation:
    """An optimum of the relaxation with transfers.

    Attributes
    ----------
    value : float
        The optimum (s): at least LP*.
    x : numpy.ndarray, shape (n, Q)
        Share of each task on each type; rows sum to 1.
    C : numpy.ndarray, shape (n,)
        Completion times (s).
    certificate : TransfersCertificate
        What the dual solution proves.
    method : str
        What solved it: ``"structured"``, ``"glpk"`` or ``"highs"``.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> cs.dags.transfers_relaxation(inst)
    <TransfersRelaxation: LP* = 3 (structured)>
    """

    value: float
    x: np.ndarray
    C: np.ndarray
    certificate: TransfersCertificate
    method: str

    def __repr__(self) -> str:
        return f"<TransfersRelaxation: LP* = {self.value:.6g} ({self.method})>"


def transfers_relaxation(instance: Instance, *, method: str = "auto") -> TransfersRelaxation:
    """Solve the linear relaxation of the allocation problem with transfers.

    That of :func:`cosched.dags.hlp`, where the end of task i and the start of task j on an edge
    e = (i, j) are apart by sum_qr c_e[q, r] y_e[q, r]: c_e the least that the transfer costs
    between units of two types, y_e a transport plan from i's shares to j's.

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

    Notes
    -----
    Where times are related (p_jq = w_j / speed_q) all tasks can take the same shares: the plans
    cost nothing then, and the value is LP*. :func:`cosched.dags.transfers` sees more.

    Examples
    --------
    >>> two = [[2.0, 1.0], [1.0, 2.0]]
    >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
    >>> round(cs.dags.hlp(inst).value, 6), round(cs.dags.transfers_relaxation(inst).value, 6)
    (2.0, 3.0)
    """
    Instance.require(instance)
    if method not in METHODS:
        raise ValueError(f"method {shorten(method)}: expected {', '.join(METHODS)}")
    chosen = "structured" if method == "auto" else method
    return instance.once(f"transfers relaxation {chosen}", lambda: _solved(instance, chosen))


def _solved(instance: Instance, method: str) -> TransfersRelaxation:
    if method == "highs":
        _, point, prices = highs.solved(_core.dags.transfers_model(instance._core))
        found = _core.dags.transfers_from_lp(instance._core, point, prices)
    else:
        found = _core.dags.transfers_relaxation(instance._core, _core.dags.Method[method])
    without = WindowsCertificate(hlp(instance).certificate, 0.0, ())
    proof = certificate_of(without, found, instance)
    return TransfersRelaxation(found["value"], found["x"], found["C"], proof, method)
