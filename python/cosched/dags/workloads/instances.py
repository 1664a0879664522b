"""Task graphs with a machine: what the generators of this package make, as instances.

Options are those of the generator of the same name; `units` is the machine (by default 16
CPUs and 4 of each further type).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cosched.dags.files import Graph
from cosched.dags.instance import Instance
from cosched.dags.workloads import generators, worst_cases

Units = Sequence[int] | None


def fork_join(
    width: int = 100, phases: int = 2, *, units: Units = None, **options: Any
) -> Instance:
    """The fork-join application of Amaris et al. 2017: `phases` x (`width` + 1) + 1 tasks.

    Options: see :func:`cosched.dags.workloads.generators.fork_join`.

    Examples
    --------
    >>> fork_join(100, 2, units=(32, 2), seed=1)
    <dags.Instance: 203 tasks, 400 edges, 32 + 2 units>
    """
    return _instance(generators.fork_join(width, phases, **options), units)


def cholesky(tiles: int = 10, *, units: Units = None, **options: Any) -> Instance:
    """Tiled Cholesky factorisation; see :func:`cosched.dags.workloads.generators.cholesky`."""
    return _instance(generators.cholesky(tiles, **options), units)


def lu(tiles: int = 10, *, units: Units = None, **options: Any) -> Instance:
    """Tiled LU factorisation without pivoting; see :func:`cosched.dags.workloads.generators.lu`."""
    return _instance(generators.lu(tiles, **options), units)


def qr(tiles: int = 10, *, units: Units = None, **options: Any) -> Instance:
    """Tiled QR factorisation; see :func:`cosched.dags.workloads.generators.qr`."""
    return _instance(generators.qr(tiles, **options), units)


def layered(n: int = 100, density: float = 0.5, *, units: Units = None, **options: Any) -> Instance:
    """Random layered graph (DAGGEN); see :func:`cosched.dags.workloads.generators.layered`."""
    return _instance(generators.layered(n, density, **options), units)


def theorem1(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of HEFT on m CPUs and k GPUs (Theorem 1): no chance, `seed` is not used.

    HEFT's makespan is (m/k) (1 - (m/(m+k))^m), the optimum at most k m / (m + k).

    Examples
    --------
    >>> from cosched import dags
    >>> round(dags.heft(theorem1(9, 3)).value, 6), 9 / 3 * (1 - 0.75**9) < 2.8
    (2.774746, True)
    """
    return _instance(worst_cases.theorem1(m, k), (m, k))


def theorem2(m: int = 10, *, seed: int | None = None) -> Instance:
    """Worst case of HLP-EST and HLP-OLS on m CPUs and m GPUs (Theorem 2); `seed` is not used.

    LP* = m (2m + 1) / (m - 1). Task 0 is A, then B1 (2m + 1 tasks), then B2 (2m + 1 tasks). For
    the LP optimum with CPU share 1/2 on B1 and 1/2 - e on B2, any schedule of its rounding
    takes 6 (2m - 1), m >= 4.
    """
    return _instance(worst_cases.theorem2(m), (m, m))


def theorem4(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of ER-LS on m CPUs and k GPUs (Theorem 4); `seed` is not used.

    In the given order ER-LS takes m sqrt(m), the optimum is m sqrt(k).
    """
    return _instance(worst_cases.theorem4(m, k), (m, k))


def _instance(graph: Graph, units: Units) -> Instance:
    machine = (16,) + (4,) * (graph.times.shape[1] - 1) if units is None else units
    return Instance(
        graph.times, graph.edges, machine, graph.names, kernels=graph.kernels, notes=graph.notes
    )
