"""The worst cases of Amaris et al. 2017, on the machines that their theorems speak of."""

import numpy as np
from numpy.typing import NDArray

from cosched.core.arrays import integer
from cosched.dags.instance import Instance
from cosched.dags.workloads.random_graphs import checked_size


def theorem1(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of HEFT on m CPUs and k GPUs (Theorem 1).

    HEFT's makespan is (m/k) (1 - (m/(m+k))^m). The proof compares it with k m / (m + k); the
    optimum is at least m / (m + k), the time of the longest task, and often that.
    With r = m / (m + k), for i = 1..m: A_i, k tasks of time r^i on both; then B_i, m tasks of r^i
    on a CPU and (k / m^2) r^m on a GPU.
    It has m (m + k) tasks without edges.
    Reference: Amaris et al. 2017, Theorem 1.

    Parameters
    ----------
    m, k : int
        CPUs and GPUs, >= 1.

    Raises
    ------
    InvalidInstance
        Fewer than one CPU or GPU, or too many tasks.

    Examples
    --------
    >>> round(cs.dags.heft(theorem1(9, 3)).value, 6), round(9 / 3 * (1 - 0.75**9), 6)
    (2.774746, 2.774746)
    >>> cs.dags.hlp_best(theorem1(9, 3)).value
    0.75
    """
    m, k = integer(m, "m", 1), integer(k, "k", 1)
    checked_size(m * (m + k))
    r = m / (m + k)
    times, names = [], []
    for i in range(1, m + 1):
        times += [[r**i, r**i]] * k + [[r**i, k / m**2 * r**m]] * m
        names += [f"A{i}.{j}" for j in range(k)] + [f"B{i}.{j}" for j in range(m)]
    return _worst(times, np.zeros((0, 2)), names, (m, k))


def theorem2(m: int = 10, *, seed: int | None = None) -> Instance:
    """Worst case of HLP-EST and HLP-OLS on m CPUs and m GPUs (Theorem 2).

    LP* = m (2m + 1) / (m - 1). Task 0 is A, which takes LP* and runs on a CPU only; then come
    2m + 1 tasks B1 of (2m - 1, 1) s, and 2m + 1 tasks B2 of (1, 2m - 1) s, each after every B1.
    For the LP optimum with CPU share 1/2 on B1 and 1/2 - e on B2, any schedule of its rounding
    takes 6 (2m - 1), m >= 4.
    Reference: Amaris et al. 2017, Theorem 2.

    Parameters
    ----------
    m : int
        CPUs, and GPUs, >= 2.

    Raises
    ------
    InvalidInstance
        m < 2, or too many arcs.

    Examples
    --------
    >>> inst = theorem2(4)
    >>> allocation = [0] + [0] * 9 + [1] * 9  # CPU share 1/2 or more on A and B1 only
    >>> cs.dags.ols(inst, allocation).value, round(cs.dags.hlp(inst).value, 6)
    (42.0, 12.0)
    """
    m = integer(m, "m", 2)
    s = 2 * m + 1
    checked_size(s * s)
    times = [[m * s / (m - 1), np.inf]] + [[2.0 * m - 1, 1.0]] * s + [[1.0, 2.0 * m - 1]] * s
    first, second = np.arange(1, s + 1), np.arange(s + 1, 2 * s + 1)
    edges = np.column_stack([np.repeat(first, s), np.tile(second, s)])
    names = ["A"] + [f"B1.{j}" for j in range(s)] + [f"B2.{j}" for j in range(s)]
    return _worst(times, edges, names, (m, m))


def theorem4(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of ER-LS on m CPUs and k GPUs (Theorem 4).

    In the given order ER-LS takes m sqrt(m), the optimum is m sqrt(k). First k
    independent tasks of sqrt(m) on both, then a chain of m tasks, (sqrt(m), sqrt(k)).
    Reference: Amaris et al. 2017, Theorem 4.

    Parameters
    ----------
    m, k : int
        CPUs and GPUs, m >= k >= 1.

    Raises
    ------
    InvalidInstance
        Not m >= k >= 1.

    Examples
    --------
    >>> cs.dags.er_ls(theorem4(16, 4)).value
    64.0
    """
    m = integer(m, "m", 1)
    k = integer(k, "k", 1, m)
    checked_size(m + k)
    times = [[m**0.5, m**0.5]] * k + [[m**0.5, k**0.5]] * m
    chain = np.arange(k, k + m)
    names = [f"A.{j}" for j in range(k)] + [f"B.{j}" for j in range(m)]
    return _worst(times, np.column_stack([chain[:-1], chain[1:]]), names, (m, k))


def theorem5(m: int = 8, types: int = 3, *, seed: int | None = None) -> Instance:
    """Worst case of QHLP-EST and QHLP-OLS on m units of each type (Theorem 5).

    Task 0 is A, then come B_1, ..., B_Q with Q m + 1 tasks each: T = Q m - Q + 1 on their own type,
    1 on the others, every B_q before every B_(q+1). x = 1/Q + e on the own type (e = 1/m^3) and
    equal shares on the others is an optimum of the LP: a path is Q m long, and each type carries
    Q m + 1, up to e; A, on type 1 only, takes just what type 1 then carries. Rounding sends each
    B_q to its own type: any schedule takes Q (Q + 1) T, and LP* tends to T with m. The paper says
    that Theorem 2 shows the tightness, which has two types; this is its like for more.
    Reference: Amaris et al. 2017, Theorem 5.

    Parameters
    ----------
    m : int
        Units of each type, >= 3.
    types : int
        Q, 2..16.

    Raises
    ------
    InvalidInstance
        m < 3, a number of types outside 2..16, or too many arcs.

    Examples
    --------
    >>> inst = theorem5(8, 3)
    >>> allocation = [0] + [0] * 25 + [1] * 25 + [2] * 25  # the greatest share of each task
    >>> makespan = cs.dags.est(inst, allocation).value  # 3 x 4 rounds of 22
    >>> makespan, round(makespan / cs.dags.hlp(inst).value, 3)
    (264.0, 9.193)
    """
    m, types = integer(m, "m", 3), integer(types, "types", 2, 16)
    count, slow = types * m + 1, types * m - types + 1
    checked_size((types - 1) * count * count)
    more = count * (slow - 1) / m**3  # what e adds to the load of a type
    alone = (count * m + more) / (m - 1)
    times = [[alone] + [np.inf] * (types - 1)]
    names = ["A"]
    for own_type in range(types):
        times += [[float(slow) if q == own_type else 1.0 for q in range(types)]] * count
        names += [f"B{own_type + 1}.{j}" for j in range(count)]
    edges = [
        np.column_stack([np.repeat(first, count), np.tile(first + count, count)])
        for first in (1 + own_type * count + np.arange(count) for own_type in range(types - 1))
    ]
    return _worst(times, np.concatenate(edges), names, (m,) * types)


def theorem5_shares(m: int, types: int) -> NDArray[np.float64]:
    """The optimum of the LP that Theorem 5 rounds: a row a task of :func:`theorem5`."""
    count, more = types * m + 1, 1 / m**3
    shares = np.full((1 + types * count, types), 1 / types - more / (types - 1))
    shares[0] = np.eye(types)[0]
    for own_type in range(types):
        shares[1 + own_type * count : 1 + (own_type + 1) * count, own_type] = 1 / types + more
    return shares


def _worst(
    times: list[list[float]], edges: np.ndarray, names: list[str], units: object
) -> Instance:
    kernels = [name.split(".")[0] for name in names]
    return Instance(times, edges, units, names, kernels=kernels)
