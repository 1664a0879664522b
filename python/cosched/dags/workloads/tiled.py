"""Tiled Cholesky, LU and QR: task graphs of T x T tiles, as dense linear algebra makes them.

Tasks are numbered by step k, then as in the loops of the algorithms; edges are the direct
data dependencies. Arrays of all (i, j, k) at once: 60 tiles are made in a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cosched.core.arrays import integer, real, seed_of
from cosched.dags.files import Graph
from cosched.dags.workloads.communication import data_of_tiles
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
    times: Times = TIMES,
    spread: float = 0.0,
    tile_bytes: float | None = None,
    seed: int | None = None,
) -> Graph:
    """Tiled Cholesky (potrf, trsm, syrk, gemm): T (T+1) (T+2) / 6 tasks, (T+1) T (T-1) / 2 edges.

    Parameters
    ----------
    tiles : int
        T, tiles a side, at most 250.
    times : mapping
        Kernel -> time on each resource type; infinity: cannot run there. See ``TIMES``.
    spread : float
        In [0, 1): each time is multiplied by a factor uniform in 1 -+ spread.
    tile_bytes : float, optional
        Each edge moves one tile of so many bytes: 1048576 for 512 x 512 numbers of four bytes.
        None: nothing moves.
    seed : int, optional

    Examples
    --------
    >>> cholesky(5).times.shape
    (35, 2)
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
    return _graph(
        ("potrf", "trsm", "syrk", "gemm"), kinds, (i, j, k), edges, times, spread, tile_bytes, seed
    )


def lu(
    tiles: int = 10,
    *,
    times: Times = TIMES,
    spread: float = 0.0,
    tile_bytes: float | None = None,
    seed: int | None = None,
) -> Graph:
    """Tiled LU without pivoting (getrf, trsm, gemm): T (T+1) (2T+1) / 6 tasks.

    Edges: T (T-1) + T (T-1) (2T-1) / 2. Arguments as in :func:`cholesky`.

    Examples
    --------
    >>> lu(5).times.shape
    (55, 2)
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
    return _graph(
        ("getrf", "trsm", "gemm"), kinds, (i, j, k), edges, times, spread, tile_bytes, seed
    )


def qr(
    tiles: int = 10,
    *,
    times: Times = TIMES,
    spread: float = 0.0,
    tile_bytes: float | None = None,
    seed: int | None = None,
) -> Graph:
    """Tiled QR, flat tree (geqrt, ormqr, tsqrt, tsmqr): as many tasks and edges as :func:`lu`.

    Tile (i, j) of step k is reduced after tile (i - 1, j) of that step (Buttari et al. 2009).
    Arguments as in :func:`cholesky`.

    Examples
    --------
    >>> qr(5).times.shape
    (55, 2)
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
    return _graph(names, kinds, (i, j, k), edges, times, spread, tile_bytes, seed)


def _tasks(t: int, lower: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All (i, j, k) with k <= j, k <= i (and j <= i), by k, then by j, then by i."""
    parts = []
    for k in range(t):
        j, i = (a.ravel() for a in np.meshgrid(np.arange(k, t), np.arange(k, t), indexing="ij"))
        kept = j <= i if lower else np.ones(len(i), dtype=bool)
        parts.append((i[kept], j[kept], np.full(int(kept.sum()), k)))
    rows, columns, steps = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, columns, steps


def _number(t: int, i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
    number = np.full((t, t, t), -1, dtype=np.int32)
    number[i, j, k] = np.arange(len(i))
    return number


def _next_step(
    number: np.ndarray, i: np.ndarray, j: np.ndarray, k: np.ndarray, updated: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """From the update of a tile in step k to the task on that tile in step k + 1."""
    i, j, k = i[updated], j[updated], k[updated]
    return number[i, j, k], number[i, j, k + 1]


def _graph(
    kernels: tuple[str, ...],
    kinds: np.ndarray,
    tiles: tuple[np.ndarray, np.ndarray, np.ndarray],
    edges: list[tuple[np.ndarray, np.ndarray]],
    times: Times,
    spread: float,
    tile_bytes: float | None,
    seed: int | None,
) -> Graph:
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
    return Graph(table, pairs, names, labels, data=data_of_tiles(tile_bytes, len(pairs)))


def _rows(kernels: tuple[str, ...], times: Times) -> np.ndarray:
    for kernel in kernels:
        if kernel not in times:
            raise InvalidInstance(f"times: no kernel {shorten(kernel)}: expected {kernels}")
    widths = {np.size(times[kernel]) for kernel in kernels}
    if len(widths) != 1:
        raise InvalidInstance("times: expected as many resource types for each kernel")
    return np.array([[real(t, f"times[{name!r}]") for t in times[name]] for name in kernels])
