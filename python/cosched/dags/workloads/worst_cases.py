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


def _worst(times: list[list[float]], edges: np.ndarray, names: list[str]) -> Graph:
    kernels = tuple(name.split(".")[0] for name in names)
    return Graph(np.array(times), edges, tuple(names), kernels)
