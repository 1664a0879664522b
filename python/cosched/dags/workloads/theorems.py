"""The worst cases of Amaris et al. 2017, on the machines that their theorems speak of."""

from __future__ import annotations

from cosched.dags.instance import Instance
from cosched.dags.workloads import worst_cases
from cosched.dags.workloads.instances import on_machine


def theorem1(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of HEFT on m CPUs and k GPUs (Theorem 1).

    HEFT's makespan is (m/k) (1 - (m/(m+k))^m), the optimum at most k m / (m + k).

    Parameters
    ----------
    m, k : int
        CPUs and GPUs, >= 1.

    Returns
    -------
    Instance
        m (m + k) tasks without edges.

    Raises
    ------
    InvalidInstance
        Fewer than one CPU or GPU, or too many tasks.

    References
    ----------
    Amaris et al. 2017, Theorem 1.

    Examples
    --------
    >>> from cosched import dags
    >>> round(dags.heft(theorem1(9, 3)).value, 6), round(9 / 3 * (1 - 0.75**9), 6)
    (2.774746, 2.774746)
    """
    return on_machine(worst_cases.theorem1(m, k), (m, k))


def theorem2(m: int = 10, *, seed: int | None = None) -> Instance:
    """Worst case of HLP-EST and HLP-OLS on m CPUs and m GPUs (Theorem 2).

    LP* = m (2m + 1) / (m - 1). Task 0 is A, then B1 (2m + 1 tasks), then B2 (2m + 1 tasks). For
    the LP optimum with CPU share 1/2 on B1 and 1/2 - e on B2, any schedule of its rounding
    takes 6 (2m - 1), m >= 4.

    Parameters
    ----------
    m : int
        CPUs, and GPUs, >= 2.

    Raises
    ------
    InvalidInstance
        m < 2, or too many arcs.

    References
    ----------
    Amaris et al. 2017, Theorem 2.

    Examples
    --------
    >>> from cosched import dags
    >>> inst = theorem2(4)
    >>> allocation = [0] + [0] * 9 + [1] * 9  # CPU share 1/2 or more on A and B1 only
    >>> dags.ols(inst, allocation).value, round(dags.hlp(inst).value, 6)
    (42.0, 12.0)
    """
    return on_machine(worst_cases.theorem2(m), (m, m))


def theorem4(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of ER-LS on m CPUs and k GPUs (Theorem 4).

    In the given order ER-LS takes m sqrt(m), the optimum is m sqrt(k).

    Parameters
    ----------
    m, k : int
        CPUs and GPUs, m >= k >= 1.

    Raises
    ------
    InvalidInstance
        Not m >= k >= 1.

    References
    ----------
    Amaris et al. 2017, Theorem 4.

    Examples
    --------
    >>> from cosched import dags
    >>> dags.er_ls(theorem4(16, 4)).value
    64.0
    """
    return on_machine(worst_cases.theorem4(m, k), (m, k))


def theorem5(m: int = 8, types: int = 3, *, seed: int | None = None) -> Instance:
    """Worst case of QHLP-EST and QHLP-OLS on m units of each type (Theorem 5).

    Task 0 is A, then come B_1, ..., B_Q with Q m + 1 tasks each. For the LP optimum with shares of
    1/Q + 1/m^3 on the own type of each B_q, any schedule of its rounding takes Q (Q + 1) T with
    T = Q m - Q + 1, and LP* tends to T with m. The paper says that Theorem 2 shows the tightness,
    which has two types; this is its like for more.

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

    References
    ----------
    Amaris et al. 2017, Theorem 5.

    Examples
    --------
    >>> from cosched import dags
    >>> inst = theorem5(8, 3)
    >>> allocation = [0] + [0] * 25 + [1] * 25 + [2] * 25  # the greatest share of each task
    >>> makespan = dags.est(inst, allocation).value  # 3 x 4 rounds of 22
    >>> makespan, round(makespan / dags.hlp(inst).value, 3)
    (264.0, 9.193)
    """
    return on_machine(worst_cases.theorem5(m, types), (m,) * int(types))
