"""A task graph with a time on each resource type; it is checked when made, by task names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.core.arrays import integer_array, real_array
from cosched.core.text import first_repeated, labels
from cosched.dags.files.run import run_of
from cosched.errors import InvalidInstance, shorten


@dataclass(frozen=True, eq=False)
class Graph:
    """An acyclic graph of n tasks on Q resource types; checked when made.

    Attributes
    ----------
    times : (n, Q) array of float
        Seconds >= 0; infinity: the task cannot run on that type.
    edges : (e, 2) array of int
        (predecessor, successor), 0-based, each pair once.
    names : tuple of str
        One a task, all different; by default their numbers.
    kernels : tuple of str, optional
        What the task computes (``gemm``, a program's name): for colours.
    notes : tuple of str
        What a reader skipped, repaired or assumed.
    units : sequence of int, optional
        Units of each type, where the file names a machine; not checked here.
    data : (e,) array of float, optional
        Bytes that move along each edge, >= 0.
    bandwidth, latency, memories, memory_capacity : optional
        As of :class:`cosched.dags.Instance`, where the file names them; not checked here.

    executed : Run, optional
        Where and when each task ran, where the file is the trace of a run; not checked
        against the machine.

    Raises
    ------
    InvalidInstance
        Wrong shapes, NaN, a negative time, a task that can run nowhere, repeated names, an
        edge out of range, a cycle (the tasks of one are named).

    Examples
    --------
    >>> graph = Graph(np.array([[2.0, 1.0], [3.0, np.inf]]), np.array([[0, 1]]))
    >>> graph.names
    ('0', '1')
    """

    times: np.ndarray
    edges: np.ndarray
    names: tuple[str, ...] = ()
    kernels: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    units: Any = None
    data: np.ndarray | None = None
    bandwidth: Any = None
    latency: Any = None
    memories: Any = None
    memory_capacity: Any = None
    executed: Any = None

    def __post_init__(self) -> None:
        times = real_array(self.times, "times", 2)
        n = len(times)
        if times.size == 0:
            raise InvalidInstance(
                f"times has shape {times.shape}: expected at least one task and one resource type"
            )
        names = labels(None if self.names == () else self.names, n, "")
        edges = integer_array(self.edges, "edges", 2, 0, n - 1)
        if edges.size == 0:
            edges = edges.reshape(0, 2)
        if edges.shape[1] != 2:
            raise InvalidInstance(f"edges: expected shape (e, 2), got {edges.shape}")
        check_names(names, self.kernels, n)
        check_times(times, names)
        check_acyclic(edges, names)
        if self.data is not None:
            data = real_array(self.data, "data", 1)
            check_data(data, edges)
            data.flags.writeable = False
            object.__setattr__(self, "data", data)
        object.__setattr__(self, "executed", run_of(self.executed, n))
        for field, value in (("times", times), ("edges", edges), ("names", names)):
            object.__setattr__(self, field, value)
        times.flags.writeable = edges.flags.writeable = False


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
