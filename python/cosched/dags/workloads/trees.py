"""Random trees and chains on small networks, as the SAGA framework draws them."""

from __future__ import annotations

import numpy as np

from cosched.core.arrays import integer, seed_of
from cosched.dags.instance import Instance
from cosched.dags.workloads.machine import scaled
from cosched.errors import InvalidInstance, shorten

KINDS = ("in-tree", "out-tree", "chains")


def saga(
    kind: str = "in-tree",
    *,
    nodes: int = 4,
    ccr: float = 1.0,
    seed: int | None = None,
) -> Instance:
    """A random tree or parallel chains on a small network, as the SAGA framework draws them.

    Costs of tasks and edges, speeds of nodes and rates of links are normal with mean 1 and
    deviation 1/3, cut to [0.1, 2]; a tree has 2 to 4 levels with 2 or 3 branches each, chains are
    2 to 5 of 2 to 5 tasks. Each node is a resource type of one unit: times = cost / speed.

    Parameters
    ----------
    kind : {"in-tree", "out-tree", "chains"}
    nodes : int
        Of the network, 1..64.
    ccr : float
        Mean data over edges, at rate 1, divided by the mean time of a task.

    Returns
    -------
    Instance
        Each unit has its own memory.

    References
    ----------
    J. Coleman, B. Krishnamachari: *PISA: An adversarial approach to comparing task graph
    scheduling algorithms*, 2024 (parameters as described there; numbers are not theirs).

    Examples
    --------
    >>> saga("chains", nodes=3, ccr=0.5, seed=1).units
    (1, 1, 1)
    """
    if kind not in KINDS:
        raise InvalidInstance(f"kind = {shorten(kind)}: expected {', '.join(KINDS)}")
    q = integer(nodes, "nodes", 1, 64)
    random = np.random.default_rng(seed_of(seed))
    edges = _chains(random) if kind == "chains" else _out_tree(random)
    n = int(edges.max()) + 1
    if kind == "in-tree":
        edges = np.sort(n - 1 - edges, axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    times = _weights(random, n)[:, None] / _weights(random, q)
    rate = np.triu(_weights(random, q * q).reshape(q, q), 1)
    rate = rate + rate.T + np.eye(q)
    data = scaled(_weights(random, len(edges)), times, ccr, 1.0)
    return Instance(times, edges, [1] * q, data=data, bandwidth=rate, memories="unit")


def _weights(random: np.random.Generator, n: int) -> np.ndarray:
    return np.clip(random.normal(1, 1 / 3, n), 0.1, 2)


def _out_tree(random: np.random.Generator) -> np.ndarray:
    levels, branches = int(random.integers(2, 5)), int(random.integers(2, 4))
    inner = sum(branches**level for level in range(levels - 1))
    children = np.arange(1, branches * inner + 1)
    return np.column_stack([(children - 1) // branches, children])


def _chains(random: np.random.Generator) -> np.ndarray:
    count, length = int(random.integers(2, 6)), int(random.integers(2, 6))
    tasks = np.arange(count * length).reshape(count, length)
    return np.column_stack([tasks[:, :-1].ravel(), tasks[:, 1:].ravel()])
