"""Tiled Cholesky, LU and QR: task graphs of T x T tiles, as dense linear algebra makes them.

Tasks are numbered by step k, then as in the loops of the algorithms; edges are the direct
data dependencies. Arrays of all (i, j, k) at once: 60 tiles are made in a fraction of a second.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cosched.core.arrays import integer, nonnegative, real, seed_of
from cosched.dags.instance import Instance
from cosched.dags.workloads.random_graphs import Units, on_machine
from cosched.errors import InvalidInstance, shorten

#: (CPU, GPU) milliseconds on tiles of 512: medians over the tasks of a kernel in the files
#: spotrf-512-20 (potrf, trsm, syrk, gemm) and sgetrf_nopiv-512-20 (getrf) of the two-type
#: benchmark of Amaris et al. 2017 (github marcosamaris/heterogeneous-SWF). Panels do not run
#: on the GPU there. QR was not measured: the CPU time is gemm's, by the operation counts of
#: Bouwmeester et al. 2011 (geqrt 4, ormqr 6, tsqrt 6, tsmqr 12, gemm 6, in b^3/3), panels stay
#: on the CPU, ormqr is accelerated like trsm, tsmqr like gemm: an assumption.
TIMES: dict[str, tuple[float, ...]] = {
    "potrf": (2.798, np.inf),
    "getrf": (3.981, np.inf),
    "trsm": (6.104, 0.997),
    "syrk": (4.226, 0.130),
    "gemm": (7.397, 0.205),
    "geqrt": (4.931, np.inf),
    "ormqr": (7.397, 1.208),
    "tsqrt": (7.397, np.inf),
    "tsmqr": (14.794, 0.410),
}
MOST_TILES = 250

Times = Mapping[str, Sequence[float]]


def cholesky(
    tiles: int = 10,
    *,
    units: Units = None,
    times: Times = TIMES,
    spread: float = 0.0,
    tile_bytes: float | None = None,
    bandwidth: object = 12e6,
    latency: object = 0.01,
    memories: Any = "host",
    seed: int | None = None,
) -> Instance:
    """Tiled Cholesky factorisation: T (T + 1) (T + 2) / 6 tasks for T tiles a side.

    Its kernels are potrf, trsm, syrk, gemm; (T + 1) T (T - 1) / 2 edges.

    Parameters
    ----------
    tiles : int
        T, 1..250.
    units : sequence of int, optional
        Units of each type; None: 16 CPUs and 4 of each further type.
    times : mapping
        Kernel -> time on each resource type; infinity: cannot run there. By default measured
        milliseconds.
    spread : float
        In [0, 1): each time is multiplied by a factor uniform in 1 -+ spread.
    tile_bytes : float, optional
        Each edge moves one tile of so many bytes: 1048576 for 512 x 512 numbers of four bytes.
        None: nothing moves.
    bandwidth, latency, memories : optional
        As of :class:`cosched.dags.Instance`, where `tile_bytes` is given. In the unit of the times:
        the default is 12 GB/s and 10 microseconds for times in milliseconds.

    Examples
    --------
    >>> cholesky(5, units=(16, 2))
    <dags.Instance: 35 tasks, 60 edges, 16 + 2 units>
    >>> inst = cholesky(5, units=(16, 2), tile_bytes=2**20)
    >>> round(inst.transfer(0, (0, 0), (1, 0)), 4)  # milliseconds
    0.0974
    """
    t = integer(tiles, "tiles", 1, MOST_TILES)
    # (i, j, k): tile (i, j) updated in step k; panel and trsm are the last touch, k = j.
    i, j, k = _tasks(t, lower=True)
    number = _number(t, i, j, k)
    panel, column, square = (i == k), (j == k) & (i > k), (i == j) & (j > k)
    inner = (i > j) & (j > k)
    edges = [
        (number[k, k, k][column], number[i, j, k][column]),
        (number[i, k, k][square], number[i, j, k][square]),
        (number[i, k, k][inner], number[i, j, k][inner]),
        (number[j, k, k][inner], number[i, j, k][inner]),
        _next_step(number, i, j, k, square | inner),
    ]
    kinds = np.select([panel, column, square], [0, 1, 2], 3)
    links = {"bandwidth": bandwidth, "latency": latency, "memories": memories}
    options = {"times": times, "spread": spread, "tile_bytes": tile_bytes, "seed": seed, **links}
    names = ("potrf", "trsm", "syrk", "gemm")
    return _instance(names, kinds, (i, j, k), edges, units, **options)


def lu(tiles: int = 10, *, units: Units = None, **options: Any) -> Instance:
    """Tiled LU factorisation without pivoting: T (T + 1) (2T + 1) / 6 tasks for T tiles a side.

    Its kernels are getrf, trsm, gemm; T (T - 1) + T (T - 1) (2T - 1) / 2 edges.

    Parameters
    ----------
    tiles, units, **options
        As for :func:`cholesky`.

    Examples
    --------
    >>> lu(5, units=(16, 2))
    <dags.Instance: 55 tasks, 110 edges, 16 + 2 units>
    """
    t = integer(tiles, "tiles", 1, MOST_TILES)
    i, j, k = _tasks(t, lower=False)
    number = _number(t, i, j, k)
    panel, inner = (i == k) & (j == k), (i > k) & (j > k)
    solve = ~panel & ~inner
    edges = [
        (number[k, k, k][solve], number[i, j, k][solve]),
        (number[i, k, k][inner], number[i, j, k][inner]),
        (number[k, j, k][inner], number[i, j, k][inner]),
        _next_step(number, i, j, k, inner),
    ]
    kinds = np.select([panel, solve], [0, 1], 2)
    return _instance(("getrf", "trsm", "gemm"), kinds, (i, j, k), edges, units, **options)


def qr(tiles: int = 10, *, units: Units = None, **options: Any) -> Instance:
    """Tiled QR factorisation, flat tree: as many tasks and edges as :func:`lu`.

    Tile (i, j) of step k is reduced after tile (i - 1, j) of that step (Buttari et al. 2009). Its
    kernels are geqrt, ormqr, tsqrt, tsmqr.

    Parameters
    ----------
    tiles, units, **options
        As for :func:`cholesky`.

    Examples
    --------
    >>> qr(5, units=(16, 2))
    <dags.Instance: 55 tasks, 110 edges, 16 + 2 units>
    """
    t = integer(tiles, "tiles", 1, MOST_TILES)
    i, j, k = _tasks(t, lower=False)
    number = _number(t, i, j, k)
    below, right = i > k, j > k
    inner = below & right
    edges = [
        # The reflectors go right, the row that was reduced goes down, a tile to its next step.
        (number[i, k, k][right], number[i, j, k][right]),
        (number[i - 1, j, k][below], number[i, j, k][below]),
        _next_step(number, i, j, k, inner),
    ]
    kinds = np.select([~below & ~right, ~below, ~right], [0, 1, 2], 3)
    names = ("geqrt", "ormqr", "tsqrt", "tsmqr")
    return _instance(names, kinds, (i, j, k), edges, units, **options)


def _tasks(t: int, lower: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all (i, j, k) with k <= j, k <= i (and j <= i), by k, then by j, then by i."""
    parts = []
    for k in range(t):
        j, i = (a.ravel() for a in np.meshgrid(np.arange(k, t), np.arange(k, t), indexing="ij"))
        is_kept = j <= i if lower else np.ones(len(i), dtype=bool)
        parts.append((i[is_kept], j[is_kept], np.full(int(is_kept.sum()), k)))
    rows, columns, steps = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, columns, steps


def _number(t: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
    number = np.full((t, t, t), -1, dtype=np.int32)
    number[i, j, k] = np.arange(len(i))
    return number


def _next_step(
    number: np.ndarray, i: np.ndarray, j: np.ndarray, k: np.ndarray, updated: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Yield the edges from the update of a tile in step k to the task on that tile in step k +
    1."""
    i, j, k = i[updated], j[updated], k[updated]
    return number[i, j, k], number[i, j, k + 1]


def _instance(
    kernels: tuple[str, ...],
    kinds: np.ndarray,
    tiles: tuple[np.ndarray, np.ndarray, np.ndarray],
    edges: list[tuple[np.ndarray, np.ndarray]],
    units: Units,
    *,
    times: Times = TIMES,
    spread: float = 0.0,
    tile_bytes: float | None = None,
    bandwidth: object = 12e6,
    latency: object = 0.01,
    memories: object = "host",
    seed: int | None = None,
) -> Instance:
    rows = _rows(kernels, times)
    amount = real(spread, "spread")
    if not 0 <= amount < 1:
        raise InvalidInstance(f"spread = {amount}: expected a number in [0, 1)")
    table = rows[kinds]
    random = np.random.default_rng(seed_of(seed))
    if amount > 0:
        table = table * random.uniform(1 - amount, 1 + amount, table.shape)
    labels = tuple(kernels[kind] for kind in kinds.tolist())
    columns = (column.tolist() for column in tiles)
    names = tuple(f"{label}({i},{j},{k})" for label, i, j, k in zip(labels, *columns, strict=True))
    pairs = np.vstack([np.column_stack(pair) for pair in edges]).astype(np.int64)
    links: dict[str, Any] = {}
    if tile_bytes is not None:
        size = nonnegative(tile_bytes, "tile_bytes", "bytes >= 0")
        data = np.full(len(pairs), size)
        links = {"data": data, "bandwidth": bandwidth, "latency": latency, "memories": memories}
    return on_machine(table, pairs, units, names=names, kernels=labels, **links)


def _rows(kernels: tuple[str, ...], times: Times) -> np.ndarray:
    for kernel in kernels:
        if kernel not in times:
            raise InvalidInstance(f"times: no kernel {shorten(kernel)}: expected {kernels}")
    widths = {np.size(times[kernel]) for kernel in kernels}
    if len(widths) != 1:
        raise InvalidInstance("times: expected as many resource types for each kernel")
    return np.array([[real(t, f"times[{name!r}]") for t in times[name]] for name in kernels])
