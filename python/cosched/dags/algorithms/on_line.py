"""Schedulers that see a task when it arrives, and place it at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import integer_array, seed_of
from cosched.dags.instance import Instance
from cosched.dags.result import Result, scheduled


def er_ls(instance: Instance, *, order: Any = None) -> Result:
    """ER-LS (Section 4.2), on-line.

    A task goes to the GPU if p_cpu >= R_gpu + p_gpu, where R_gpu is the earliest time at
    which it could start there; else rule R2 decides.

    Notes
    -----
    4 sqrt(m/k)-competitive for m CPUs >= k GPUs (``ratio``), unless transfers take time.

    References
    ----------
    Amaris et al. 2017, Section 4.2.

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> cs.dags.er_ls(inst, order=[0, 2, 1, 3]).kind.tolist()
    [1, 1, 0, 1]
    """
    Instance.require(instance)
    many, few = max(instance.units), min(instance.units)
    ratio = 4 * math.sqrt(many / few) if instance.units[0] == many else None
    return scheduled(instance, "er-ls", _core.dags.er_ls, _arrivals(order), ratio=ratio)


def eft(instance: Instance, *, order: Any = None) -> Result:
    """On-line: each task where it ends first; equal ends: the highest type (GPU), any Q.

    Notes
    -----
    No guarantee.

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> cs.dags.eft(inst).makespan
    5.0
    """
    return scheduled(instance, "eft", _core.dags.eft, _arrivals(order))


def greedy(instance: Instance, *, order: Any = None) -> Result:
    """On-line: each task on the type with its smallest time; equal: the lowest type.

    Notes
    -----
    No guarantee.

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> cs.dags.greedy(inst).kind.tolist()
    [1, 1, 0, 1]
    """
    return scheduled(instance, "greedy", _core.dags.greedy, _arrivals(order))


def r1_ls(instance: Instance, *, order: Any = None) -> Result:
    """On-line rule R1: CPU if p_cpu / m <= p_gpu / k.

    Q > 2: the type of least p_q / m_q, the lowest on equality.

    Notes
    -----
    No guarantee.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [], units=(4, 1))
    >>> cs.dags.r1_ls(inst).kind.tolist()
    [0, 0]
    """
    return scheduled(instance, "r1-ls", _core.dags.r1_ls, _arrivals(order))


def r2_ls(instance: Instance, *, order: Any = None) -> Result:
    """On-line rule R2: CPU if p_cpu / sqrt(m) <= p_gpu / sqrt(k).

    Q > 2: the type of least p_q / sqrt(m_q), the lowest on equality.

    Notes
    -----
    No guarantee.

    Examples
    --------
    >>> inst = cs.dags.Instance([[4.0, 1.0], [3.0, 2.0]], [], units=(4, 1))
    >>> cs.dags.r2_ls(inst).kind.tolist()
    [1, 0]
    """
    return scheduled(instance, "r2-ls", _core.dags.r2_ls, _arrivals(order))


def r3_ls(instance: Instance, *, order: Any = None) -> Result:
    """On-line rule R3: CPU if p_cpu <= p_gpu; the same as :func:`greedy`.

    Notes
    -----
    No guarantee.

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> cs.dags.r3_ls(inst).kind.tolist()
    [1, 1, 0, 1]
    """
    return scheduled(instance, "r3-ls", _core.dags.r3_ls, _arrivals(order))


def random(instance: Instance, *, order: Any = None, seed: int | None = None) -> Result:
    """On-line: a type drawn uniformly among those that can run the task.

    Examples
    --------
    >>> times = [[4.0, 1.0], [3.0, 2.0], [2.0, 4.0], [6.0, 2.0]]
    >>> inst = cs.dags.Instance(times, [(0, 1), (0, 2), (1, 3), (2, 3)], units=(1, 1))
    >>> result = cs.dags.random(inst, seed=1)
    >>> result.seed, result.makespan >= result.bound.value
    (1, True)
    """
    used = seed_of(seed)
    rule = _core.dags.random_types
    return scheduled(instance, "random", rule, used, _arrivals(order), seed=used)


def _arrivals(order: Any) -> np.ndarray:
    """The order of arrival; empty: the graph's own."""
    return np.zeros(0, int) if order is None else integer_array(order, "order", 1, -(2**31))
