"""Proofs of bounds as data: what a search has found, checked by code that no solver shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import integer_array, real, real_array
from cosched.dags.instance import Instance
from cosched.errors import InvalidInstance

#: Kind -> the check of the C++ side.
_CHECKS = {
    "hlp": _core.dags.certified_bound,
    "windows": _core.dags.certified_windows,
    "transfers": _core.dags.certified_transfers,
}
#: Tables by their columns; all other arrays are vectors.
_COLUMNS = {"edges": 2, "guesses": 3, "intervals": 4}
_INTEGER_FIELDS = ("edges", "guesses")


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proof of a lower bound on every makespan, that needs no solver.

    Attributes
    ----------
    kind : {"hlp", "windows", "transfers"}
    fields : dict of str to array, number or list
        What it is made of.

    Notes
    -----
    ``hlp``: weights pi >= 0 of the Q loads and of the longest path (sum 1, ``weights``, shape (Q +
    1,)) and a flow f of amount pi_path from the begin of the project through tasks (``task_flow``,
    (n,)) to its end, on ``edges`` (r, 2) ``edge_flow`` (r,). Every fractional allocation has
    lambda >= sum_q pi_q load_q + sum_j f_j d_j(x), and so LP* >= sum_j min_q p_jq (pi_q / m_q +
    f_j).

    ``windows``: for the makespan T (``makespan``, s; 0 where nothing above LP* is refuted) longest
    paths of least times give each task a head and a tail, and close the types on which it does not
    fit between them; then each of ``stages``, in this order, and the same again, until nothing is
    left. ``relaxation``: the fields of an ``hlp`` proof, which is a bound too. A stage is either
    load heads (``raise_heads`` (Q,), its other fields are empty then): with weights w of the types,
    sum 1, the ancestors of a task that start at h or later take at least the sum of min_q w_q p_jq
    / m_q after h. Or a combination of rows that every schedule of at most T satisfies, with prices
    >= 0: ``loads`` (Q,), a flow of paths (``task_flow``, ``edges``, ``edge_flow``), and what each
    task must do of its time inside ``intervals`` (k, 4): type, begin, end (s) and price. Pairs
    (task, type) with which the combined row cannot hold are closed; where it holds for none, T is
    refuted.

    ``transfers``: the same with heads and tails by type (paths with the least that their transfers
    cost; joins, where what does not come from another memory in time was computed in this one), and
    pairs of types of an edge that are closed as well. ``windows``: the fields of a proof without
    transfers, which is a bound too. ``clusters``: whether pruning looks at tasks whose data comes
    too late from any other memory: they share one, and have to fit there. In a stage ``edge_flow``
    is that of every edge in the order of its tasks, (e,): f_e on e = (i, j) pays f_e c_e[q, r]
    where i runs on type q and j on r. Of that, ``shift`` [e, q] (row after row, (e Q,)) is added to
    the price of i on q, and the least of the rest over the open types q to the price of j on r: any
    shift proves something. What of ``task_flow`` exceeds the flow on the edges into a task comes
    after its head, what exceeds that on the edges out of it before its tail. ``guesses`` (g, 3),
    the other fields are empty then: types of tasks (0, task, type) and ways of edges (1, edge, way)
    that are closed one after the other, each because pruning leaves nothing where the task or edge
    has no other.
    Way q Q + r: the ends on types q and r, and in one memory where q = r; Q Q + r: on type r in
    different memories.

    Examples
    --------
    Weights of the loads alone, without a flow, prove the load of a mixture of the types:

    >>> inst = cs.dags.Instance([[8.0, 2.0], [8.0, 4.0]], [], units=(1, 1))
    >>> nothing = {"task_flow": np.zeros(2), "edges": [], "edge_flow": []}
    >>> proof = Certificate("hlp", {"weights": [0.2, 0.8, 0.0], **nothing})
    >>> round(proof.bound(inst), 6)
    3.2

    Three such tasks on two units cannot end within five seconds, and the times are whole:

    >>> inst = cs.dags.Instance([[3.0], [3.0], [4.0]], [], units=[2])
    >>> proof = cs.dags.windows(inst).certificate
    >>> proof.fields["makespan"], proof.fields["stages"][-1]["intervals"].tolist()
    (5.0, [[0.0, 1.0, 4.0, 1.0]])
    >>> proof.bound(inst)
    6.0
    """

    kind: str
    fields: dict[str, Any]

    def bound(self, instance: Instance) -> float:
        """The bound it proves, checked from scratch by code that no solver shares.

        O(n Q + e Q^2) a stage, times its intervals or guesses, and as often as pruning closes
        something; with clusters O(n^2 log n) besides; O(n (n + e)) for stages of load heads. What
        it proves for an instance it proves for every slower network too.
        In seconds, the greatest of what it proves; where all times are multiples of one (whole
        numbers, say), the next multiple that an optimum can be.

        Raises
        ------
        SolverError
            It proves nothing for this instance: what is wrong is named.

        Examples
        --------
        >>> two = [[2.0, 1.0], [1.0, 2.0]]
        >>> inst = cs.dags.Instance(two, [(0, 1)], (1, 1), data=[9.0], bandwidth=3.0)
        >>> found = cs.dags.transfers(inst)
        >>> found.certificate.bound(inst) == found.value
        True
        """
        return _CHECKS[self.kind](instance._core, self.of_core())

    def of_core(self) -> dict[str, Any]:
        """The fields as C++ takes them; InvalidInstance for what is no number or table."""
        fields: dict[str, Any] = _checked("", self.fields)
        return fields


def _checked(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _checked(key, inner) for key, inner in value.items()}
    if name == "stages":
        return [_checked("", stage) for stage in value]
    if name == "clusters":
        return bool(value)
    if name == "makespan":
        return real(value, name)
    columns = _COLUMNS.get(name)
    if not np.size(value):
        shape = (0,) if columns is None else (0, columns)
        return np.zeros(shape, int if name in _INTEGER_FIELDS else float)
    if columns is None:
        return real_array(np.ravel(value), name, 1)
    table = (integer_array if name in _INTEGER_FIELDS else real_array)(value, name, 2)
    if table.shape[1] != columns:
        raise InvalidInstance(f"{name} has shape {table.shape}: expected {columns} columns")
    return table
