"""Task graphs with a machine: what the generators of this package make, as instances.

Options are those of the generator of the same name; `units` is the machine (by default 16
CPUs and 4 of each further type).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cosched.dags.files import Graph
from cosched.dags.instance import Instance
from cosched.dags.workloads import generators, trees

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

    References
    ----------
    Amaris et al. 2017, Section 6.1.

    Examples
    --------
    >>> fork_join(100, 2, units=(32, 2), seed=1)
    <dags.Instance: 203 tasks, 400 edges, 32 + 2 units>
    """
    return on_machine(generators.fork_join(width, phases, **options), units)


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

    Examples
    --------
    >>> cholesky(5, units=(16, 2))
    <dags.Instance: 35 tasks, 60 edges, 16 + 2 units>
    >>> inst = cholesky(5, units=(16, 2), tile_bytes=2**20)
    >>> round(inst.transfer(0, (0, 0), (1, 0)), 4)  # milliseconds
    0.0974
    """
    return on_machine(generators.cholesky(tiles, **options), units, bandwidth, latency, memories)


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
    tiles, units, bandwidth, latency, memories, **options
        As for :func:`cholesky`.

    Examples
    --------
    >>> lu(5, units=(16, 2))
    <dags.Instance: 55 tasks, 110 edges, 16 + 2 units>
    """
    return on_machine(generators.lu(tiles, **options), units, bandwidth, latency, memories)


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
    tiles, units, bandwidth, latency, memories, **options
        As for :func:`cholesky`.

    Examples
    --------
    >>> qr(5, units=(16, 2))
    <dags.Instance: 55 tasks, 110 edges, 16 + 2 units>
    """
    return on_machine(generators.qr(tiles, **options), units, bandwidth, latency, memories)


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

    Examples
    --------
    >>> layered(50, 0.3, units=(8, 2), seed=1).tasks
    50
    """
    return on_machine(generators.layered(n, density, **options), units, None, latency, memories)


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

    References
    ----------
    J. Coleman, B. Krishnamachari: *PISA: An adversarial approach to comparing task graph
    scheduling algorithms*, 2024 (parameters as described there; numbers are not theirs).

    Examples
    --------
    >>> saga("chains", nodes=3, ccr=0.5, seed=1).units
    (1, 1, 1)
    """
    return on_machine(trees.saga(kind, **options), None)


def on_machine(
    graph: Graph,
    units: Units,
    bandwidth: Any = None,
    latency: Any = 0.0,
    memories: Any = None,
) -> Instance:
    """A graph as an instance: its own machine and links, if it has any, else those given."""
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
