"""The worst cases of Amaris et al. 2017: graphs on which the algorithms reach their ratios."""

from __future__ import annotations

import numpy as np

from cosched.core.arrays import integer
from cosched.dags.files import Graph
from cosched.dags.workloads.generators import checked_size


def theorem1(m: int, k: int) -> Graph:
    """Theorem 1: HEFT on m CPUs and k GPUs gives (m/k)(1 - (m/(m+k))^m); optimum <= km/(m+k).

    With r = m/(m+k), for i = 1..m: A_i, k tasks of time r^i on both; then B_i, m tasks of
    r^i on CPU and (k/m^2) r^m on GPU. No edges. Tasks in the order A_1, B_1, A_2, ...

    Examples
    --------
    >>> theorem1(4, 2).times.shape
    (24, 2)
    """
    m, k = integer(m, "m", 1), integer(k, "k", 1)
    checked_size(m * (m + k))
    r = m / (m + k)
    times, names = [], []
    for i in range(1, m + 1):
        times += [[r**i, r**i]] * k + [[r**i, k / m**2 * r**m]] * m
        names += [f"A{i}.{j}" for j in range(k)] + [f"B{i}.{j}" for j in range(m)]
    return _worst(times, np.zeros((0, 2)), names)


def theorem2(m: int) -> Graph:
    """Theorem 2: HLP-EST on m CPUs and m GPUs may give 6 - O(1/m) times the optimum.

    Task 0 is A: (m (2m+1) / (m-1), infinity). Tasks 1..2m+1 are B1: (2m-1, 1); tasks
    2m+2..4m+2 are B2: (1, 2m-1); every B1 precedes every B2. LP* = m (2m+1) / (m-1); with
    the optimal LP solution x_CPU = 1 on A, 1/2 on B1, 1/2 - e on B2 every list gives 6 (2m-1)
    (m >= 4).

    Examples
    --------
    >>> graph = theorem2(4)
    >>> graph.times.shape, len(graph.edges)
    ((19, 2), 81)
    """
    m = integer(m, "m", 2)
    s = 2 * m + 1
    checked_size(s * s)
    times = [[m * s / (m - 1), np.inf]] + [[2.0 * m - 1, 1.0]] * s + [[1.0, 2.0 * m - 1]] * s
    first, second = np.arange(1, s + 1), np.arange(s + 1, 2 * s + 1)
    edges = np.column_stack([np.repeat(first, s), np.tile(second, s)])
    names = ["A"] + [f"B1.{j}" for j in range(s)] + [f"B2.{j}" for j in range(s)]
    return _worst(times, edges, names)


def theorem4(m: int, k: int) -> Graph:
    """Theorem 4: ER-LS on m CPUs and k <= m GPUs is sqrt(m/k) from the optimum.

    Tasks 0..k-1 are A: (sqrt m, sqrt m), independent; tasks k..k+m-1 are B, a chain of
    (sqrt m, sqrt k). They arrive in the order of their numbers.

    Examples
    --------
    >>> theorem4(9, 4).edges[0].tolist()
    [4, 5]
    """
    m = integer(m, "m", 1)
    k = integer(k, "k", 1, m)
    checked_size(m + k)
    times = [[m**0.5, m**0.5]] * k + [[m**0.5, k**0.5]] * m
    chain = np.arange(k, k + m)
    names = [f"A.{j}" for j in range(k)] + [f"B.{j}" for j in range(m)]
    return _worst(times, np.column_stack([chain[:-1], chain[1:]]), names)


def theorem5(m: int, types: int) -> Graph:
    """Theorem 5: QHLP-EST on Q types of m units may give Q (Q+1) - O(1/m) times the optimum.

    With T = Qm - Q + 1 and N = Qm + 1, task 0 is A, which runs on type 1 only, for the time c. Then
    come B_1, ..., B_Q, N tasks each: T on their own type, 1 on the others; every B_q precedes every
    B_(q+1). x = 1/Q + e on the own type (e = 1/m^3) and equal shares on the others is an optimum of
    the LP: a path is Q m long up to e, each type carries N up to e, and A takes c, just what type 1
    then carries. Rounding sends each B_q to its own type: Q + 1 rounds of T, one after the other.

    Examples
    --------
    >>> graph = theorem5(4, 3)
    >>> graph.times.shape, len(graph.edges)
    ((40, 3), 338)
    >>> graph.times[1].tolist()  # B_1
    [10.0, 1.0, 1.0]
    """
    m, types = integer(m, "m", 3), integer(types, "types", 2, 16)
    count, slow = types * m + 1, types * m - types + 1
    checked_size((types - 1) * count * count)
    more = count * (slow - 1) / m**3  # what e adds to the load of a type
    alone = (count * m + more) / (m - 1)
    times = [[alone] + [np.inf] * (types - 1)]
    names = ["A"]
    for own in range(types):
        times += [[float(slow) if q == own else 1.0 for q in range(types)]] * count
        names += [f"B{own + 1}.{j}" for j in range(count)]
    edges = [
        np.column_stack([np.repeat(first, count), np.tile(first + count, count)])
        for first in (1 + own * count + np.arange(count) for own in range(types - 1))
    ]
    return _worst(times, np.concatenate(edges), names)


def theorem5_shares(m: int, types: int) -> np.ndarray:
    """The optimum of the LP that Theorem 5 rounds: a row a task of :func:`theorem5`.

    Examples
    --------
    >>> theorem5_shares(4, 3)[1].round(3).tolist()
    [0.349, 0.326, 0.326]
    """
    count, more = types * m + 1, 1 / m**3
    shares = np.full((1 + types * count, types), 1 / types - more / (types - 1))
    shares[0] = np.eye(types)[0]
    for own in range(types):
        shares[1 + own * count : 1 + (own + 1) * count, own] = 1 / types + more
    return shares


def _worst(times: list[list[float]], edges: np.ndarray, names: list[str]) -> Graph:
    kernels = tuple(name.split(".")[0] for name in names)
    return Graph(np.array(times), edges, tuple(names), kernels)
