"""Schedulers that see a task when it arrives, and place it at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import integer_array, seed_of
from cosched.dags.instance import Instance, without_limits
from cosched.dags.result import Result, result_of_plan


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
    without_limits(instance, "er-ls")
    many, few = max(instance.units), min(instance.units)
    ratio = 4 * math.sqrt(many / few) if instance.units[0] == many else None
    return _online(instance, "er-ls", _core.dags.er_ls, order, ratio)


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
    without_limits(instance, "eft")
    return _online(instance, "eft", _core.dags.eft, order)


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
    without_limits(instance, "greedy")
    return _online(instance, "greedy", _core.dags.greedy, order)


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
    without_limits(instance, "r1-ls")
    return _online(instance, "r1-ls", _core.dags.r1_ls, order)


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
    without_limits(instance, "r2-ls")
    return _online(instance, "r2-ls", _core.dags.r2_ls, order)


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
    without_limits(instance, "r3-ls")
    return _online(instance, "r3-ls", _core.dags.r3_ls, order)


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
    without_limits(instance, "random")
    used = seed_of(seed)
    plan = _core.dags.random_types(instance._core, used, _arrivals(order))
    return result_of_plan(instance, "random", *plan, seed=used)


def _arrivals(order: Any) -> np.ndarray | None:
    return None if order is None else integer_array(order, "order", 1, -(2**31))


def _online(
    instance: Instance, name: str, rule: Callable, order: Any, ratio: float | None = None
) -> Result:
    return result_of_plan(instance, name, *rule(instance._core, _arrivals(order)), ratio=ratio)
