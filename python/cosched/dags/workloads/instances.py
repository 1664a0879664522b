"""Task graphs with a machine: what the generators of this package make, as instances.

Options are those of the generator of the same name; `units` is the machine (by default 16
CPUs and 4 of each further type).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cosched.dags.files import Graph
from cosched.dags.instance import Instance
from cosched.dags.workloads import generators, trees, worst_cases

Units = Sequence[int] | None


def fork_join(
    width: int = 100, phases: int = 2, *, units: Units = None, **options: Any
) -> Instance:
    """The fork-join application of Amaris et al. 2017: `phases` x (`width` + 1) + 1 tasks.

    Parameters
    ----------
    width, phases : int
        Parallel tasks of a phase, and phases. The paper: 100..500, and {2, 5, 10}.
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    **options
        ``mean, deviation, slow_share, slow, fast, types, seed`` of
        ``cosched.dags.workloads.generators.fork_join``.

    Returns
    -------
    Instance

    Raises
    ------
    InvalidInstance
        An argument outside its range.
    TypeError
        An unknown option.

    References
    ----------
    Amaris et al. 2017, Section 6.1.

    Examples
    --------
    >>> fork_join(100, 2, units=(32, 2), seed=1)
    <dags.Instance: 203 tasks, 400 edges, 32 + 2 units>
    """
    return _instance(generators.fork_join(width, phases, **options), units)


def cholesky(
    tiles: int = 10,
    *,
    units: Units = None,
    bandwidth: Any = 12e6,
    latency: Any = 0.01,
    memories: Any = "host",
    **options: Any,
) -> Instance:
    """Tiled Cholesky factorisation: T (T + 1) (T + 2) / 6 tasks for T tiles a side.

    Parameters
    ----------
    tiles : int
        T, 1..250.
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    bandwidth, latency, memories : optional
        As of :class:`cosched.dags.Instance`, where `tile_bytes` is given. In the unit of the times:
        the default is 12 GB/s and 10 microseconds for times in milliseconds.
    **options
        ``times`` (kernel -> time on each type), ``spread`` in [0, 1), ``tile_bytes`` that each edge
        moves (none by default) and ``seed``, of
        ``cosched.dags.workloads.generators.cholesky``. The default times are milliseconds.

    Returns
    -------
    Instance

    Raises
    ------
    InvalidInstance
        An argument outside its range.
    TypeError
        An unknown option.

    Examples
    --------
    >>> cholesky(5, units=(16, 2))
    <dags.Instance: 35 tasks, 60 edges, 16 + 2 units>
    >>> inst = cholesky(5, units=(16, 2), tile_bytes=2**20)
    >>> round(inst.transfer(0, (0, 0), (1, 0)), 4)  # milliseconds
    0.0974
    """
    return _instance(generators.cholesky(tiles, **options), units, bandwidth, latency, memories)


def lu(
    tiles: int = 10,
    *,
    units: Units = None,
    bandwidth: Any = 12e6,
    latency: Any = 0.01,
    memories: Any = "host",
    **options: Any,
) -> Instance:
    """Tiled LU factorisation without pivoting: T (T + 1) (2T + 1) / 6 tasks for T tiles a side.

    Parameters
    ----------
    tiles : int
        T, 1..250.
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    bandwidth, latency, memories : optional
        As of :class:`cosched.dags.Instance`, where `tile_bytes` is given. In the unit of the times:
        the default is 12 GB/s and 10 microseconds for times in milliseconds.
    **options
        ``times`` (kernel -> time on each type), ``spread`` in [0, 1), ``tile_bytes`` that each edge
        moves (none by default) and ``seed``, of
        ``cosched.dags.workloads.generators.cholesky``. The default times are milliseconds.

    Returns
    -------
    Instance

    Raises
    ------
    InvalidInstance
        An argument outside its range.
    TypeError
        An unknown option.

    Examples
    --------
    >>> lu(5, units=(16, 2))
    <dags.Instance: 55 tasks, 110 edges, 16 + 2 units>
    """
    return _instance(generators.lu(tiles, **options), units, bandwidth, latency, memories)


def qr(
    tiles: int = 10,
    *,
    units: Units = None,
    bandwidth: Any = 12e6,
    latency: Any = 0.01,
    memories: Any = "host",
    **options: Any,
) -> Instance:
    """Tiled QR factorisation: T (T + 1) (2T + 1) / 6 tasks for T tiles a side.

    Parameters
    ----------
    tiles : int
        T, 1..250.
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    bandwidth, latency, memories : optional
        As of :class:`cosched.dags.Instance`, where `tile_bytes` is given. In the unit of the times:
        the default is 12 GB/s and 10 microseconds for times in milliseconds.
    **options
        ``times`` (kernel -> time on each type), ``spread`` in [0, 1), ``tile_bytes`` that each edge
        moves (none by default) and ``seed``, of
        ``cosched.dags.workloads.generators.cholesky``. The default times are milliseconds.

    Returns
    -------
    Instance

    Raises
    ------
    InvalidInstance
        An argument outside its range.
    TypeError
        An unknown option.

    Examples
    --------
    >>> qr(5, units=(16, 2))
    <dags.Instance: 55 tasks, 110 edges, 16 + 2 units>
    """
    return _instance(generators.qr(tiles, **options), units, bandwidth, latency, memories)


def layered(
    n: int = 100,
    density: float = 0.5,
    *,
    units: Units = None,
    latency: Any = 0.0,
    memories: Any = "host",
    **options: Any,
) -> Instance:
    """Random layered graph with the parameters of DAGGEN.

    Parameters
    ----------
    n : int
        Tasks, >= 1.
    density : float
        0..1: how many tasks of the layer before precede a task.
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    latency, memories : optional
        As of :class:`cosched.dags.Instance`, where `ccr` is given.
    **options
        ``fat, regularity, jump, mean, task_cv, acceleration, cpu_only, ccr, bandwidth, seed`` of
        ``cosched.dags.workloads.generators.layered``. ``ccr``: mean transfer / mean time of a task.

    Returns
    -------
    Instance

    Raises
    ------
    InvalidInstance
        An argument outside its range.
    TypeError
        An unknown option.

    Examples
    --------
    >>> layered(50, 0.3, units=(8, 2), seed=1).tasks
    50
    """
    return _instance(generators.layered(n, density, **options), units, None, latency, memories)


def saga(kind: str = "in-tree", **options: Any) -> Instance:
    """A random tree or parallel chains on a small network, as the SAGA framework draws them.

    Parameters
    ----------
    kind : {"in-tree", "out-tree", "chains"}
    **options
        ``nodes`` of the network (a resource type of one unit each, 4 by default), ``ccr`` (1) and
        ``seed`` of ``cosched.dags.workloads.trees.saga``.

    Returns
    -------
    Instance
        Each unit has its own memory.

    Raises
    ------
    InvalidInstance
        An argument outside its range.
    TypeError
        An unknown option.

    References
    ----------
    J. Coleman, B. Krishnamachari: *PISA: An adversarial approach to comparing task graph
    scheduling algorithms*, 2024 (parameters as described there; numbers are not theirs).

    Examples
    --------
    >>> saga("chains", nodes=3, ccr=0.5, seed=1).units
    (1, 1, 1)
    """
    return _instance(trees.saga(kind, **options), None)


def theorem1(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of HEFT on m CPUs and k GPUs (Theorem 1).

    HEFT's makespan is (m/k) (1 - (m/(m+k))^m), the optimum at most k m / (m + k).

    Parameters
    ----------
    m, k : int
        CPUs and GPUs, >= 1.
    seed : int, optional
        Not used: there is no chance.

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
    return _instance(worst_cases.theorem1(m, k), (m, k))


def theorem2(m: int = 10, *, seed: int | None = None) -> Instance:
    """Worst case of HLP-EST and HLP-OLS on m CPUs and m GPUs (Theorem 2).

    LP* = m (2m + 1) / (m - 1). Task 0 is A, then B1 (2m + 1 tasks), then B2 (2m + 1 tasks). For
    the LP optimum with CPU share 1/2 on B1 and 1/2 - e on B2, any schedule of its rounding
    takes 6 (2m - 1), m >= 4.

    Parameters
    ----------
    m : int
        CPUs, and GPUs, >= 2.
    seed : int, optional
        Not used: there is no chance.

    Returns
    -------
    Instance

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
    return _instance(worst_cases.theorem2(m), (m, m))


def theorem4(m: int = 16, k: int = 4, *, seed: int | None = None) -> Instance:
    """Worst case of ER-LS on m CPUs and k GPUs (Theorem 4).

    In the given order ER-LS takes m sqrt(m), the optimum is m sqrt(k).

    Parameters
    ----------
    m, k : int
        CPUs and GPUs, m >= k >= 1.
    seed : int, optional
        Not used: there is no chance.

    Returns
    -------
    Instance

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
    return _instance(worst_cases.theorem4(m, k), (m, k))


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
    seed : int, optional
        Not used: there is no chance.

    Returns
    -------
    Instance

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
    return _instance(worst_cases.theorem5(m, types), (m,) * int(types))


def _instance(
    graph: Graph,
    units: Units,
    bandwidth: Any = None,
    latency: Any = 0.0,
    memories: Any = None,
) -> Instance:
    """The machine and the links are those of the graph, if it has any, else those given."""
    machine = (16,) + (4,) * (graph.times.shape[1] - 1) if units is None else units
    links: dict[str, Any] = {}
    if graph.data is not None:
        links = {
            "data": graph.data,
            "bandwidth": bandwidth if graph.bandwidth is None else graph.bandwidth,
            "latency": latency,
            "memories": memories if graph.memories is None else graph.memories,
        }
    return Instance(
        graph.times,
        graph.edges,
        machine if graph.units is None else graph.units,
        graph.names,
        kernels=graph.kernels,
        notes=graph.notes,
        **links,
    )
