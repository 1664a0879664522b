"""A task graph with a time on each resource type, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.core.arrays import integer_array, real_array
from cosched.core.text import labels
from cosched.dags.files import checks
from cosched.dags.files.run import run_of
from cosched.errors import InvalidInstance


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
        checks.check_names(names, self.kernels, n)
        checks.check_times(times, names)
        checks.check_acyclic(edges, names)
        if self.data is not None:
            data = real_array(self.data, "data", 1)
            checks.check_data(data, edges)
            data.flags.writeable = False
            object.__setattr__(self, "data", data)
        object.__setattr__(self, "executed", run_of(self.executed, n))
        for field, value in (("times", times), ("edges", edges), ("names", names)):
            object.__setattr__(self, field, value)
        times.flags.writeable = edges.flags.writeable = False
