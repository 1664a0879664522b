"""What every graph must fulfil; messages name the task."""

from __future__ import annotations

import numpy as np

from cosched.core.text import first_repeated
from cosched.errors import InvalidInstance, shorten


def check_names(names: tuple[str, ...], kernels: tuple[str, ...] | None, n: int) -> None:
    for what, values in (("names", names), ("kernels", kernels)):
        if values is not None and len(values) != n:
            raise InvalidInstance(f"{what}: {len(values)} for {n} tasks")
    twice = first_repeated(names)
    if twice is not None:
        raise InvalidInstance(f"names: task id {shorten(twice)} is there twice")


def check_times(times: np.ndarray, names: tuple[str, ...]) -> None:
    bad = np.argwhere(~(times >= 0))
    if len(bad):
        task, kind = map(int, bad[0])
        raise InvalidInstance(
            f"times[{task}, {kind}] = {times[task, kind]:g} (task {shorten(names[task])}): "
            "expected seconds >= 0, or infinity where the task cannot run"
        )
    nowhere = np.flatnonzero(np.isinf(times).all(axis=1))
    if len(nowhere):
        raise InvalidInstance(
            f"task {shorten(names[nowhere[0]])} can run nowhere: times[{nowhere[0]}] is infinite "
            "on every resource type"
        )


def check_data(data: np.ndarray, edges: np.ndarray) -> None:
    if len(data) != len(edges):
        raise InvalidInstance(
            f"data has {len(data)} entries: expected one for each of the {len(edges)} edges"
        )
    bad = np.flatnonzero(~((data >= 0) & np.isfinite(data)))
    if len(bad):
        raise InvalidInstance(f"data[{bad[0]}] = {data[bad[0]]:g}: expected finite bytes >= 0")


def check_acyclic(edges: np.ndarray, names: tuple[str, ...]) -> None:
    if (edges[:, 0] < edges[:, 1]).all():  # numbered topologically
        return
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        name = shorten(names[edges[loops[0], 0]])
        raise InvalidInstance(f"cycle: {name} precedes itself")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(names)
    matrix = coo_array((np.ones(len(edges), dtype=np.int8), edges.T), shape=(n, n)).tocsr()
    count, component = connected_components(matrix, directed=True, connection="strong")
    if count == n:
        return
    # Within a strong component of two tasks or more, any walk comes back.
    inside = edges[component[edges[:, 0]] == component[edges[:, 1]]]
    follow = dict(inside[::-1].tolist())
    walk = [int(inside[0, 0])]
    while walk[-1] not in walk[:-1]:
        walk.append(follow[walk[-1]])
    cycle = [shorten(names[task]) for task in walk[walk.index(walk[-1]) :]]
    shown = cycle if len(cycle) <= 8 else [*cycle[:6], "...", cycle[-1]]
    raise InvalidInstance(f"cycle of {len(cycle) - 1} tasks: {' -> '.join(shown)}")
