"""What every format's reader makes: tasks by id, in file order, and who precedes whom; a run that
was recorded; and what a file says as a whole."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosched import io
from cosched.core.arrays import integer_array, real_array
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind


class Run(NamedTuple):
    """A run that was recorded: columns with an entry a task.

    Attributes
    ----------
    kind, unit : array of int, shape (n,)
        Resource type of each task, and its unit within the type.
    start, end : array of float, shape (n,)
        Seconds after the first start.

    Examples
    --------
    >>> Run(np.array([0]), np.array([2]), np.array([0.0]), np.array([1.5])).end.tolist()
    [1.5]
    """

    kind: NDArray[np.int64]
    unit: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]


def run_of(executed: object, tasks: int) -> Run | None:
    """Columns as such, or as a mapping, with an entry a task; read-only. None: no run.

    Whether the machine has these units, and the run breaks no rule, is not asked here.
    """
    if executed is None:
        return None
    if isinstance(executed, Run):
        executed = executed._asdict()
    if not isinstance(executed, Mapping) or set(executed) != set(Run._fields):
        raise InvalidInstance(
            f"executed = {shorten(executed)}: expected columns {', '.join(Run._fields)}"
        )
    run = Run(
        kind=integer_array(executed["kind"], "executed.kind", 1, 0),
        unit=integer_array(executed["unit"], "executed.unit", 1, 0),
        start=real_array(executed["start"], "executed.start", 1),
        end=real_array(executed["end"], "executed.end", 1),
    )
    for name, column in run._asdict().items():
        if len(column) != tasks:
            raise InvalidInstance(
                f"executed.{name} has {len(column)} entries: expected one for each of the {tasks} "
                "tasks"
            )
        column.flags.writeable = False
    bad = np.flatnonzero(~((run.start >= 0) & (run.end >= run.start) & np.isfinite(run.end)))
    if len(bad):
        raise InvalidInstance(
            f"executed: task {bad[0]} runs from {run.start[bad[0]]:g} to {run.end[bad[0]]:g}: "
            "expected finite seconds, 0 <= start <= end"
        )
    return run


class Graph(NamedTuple):
    """What a file says of a task graph: arguments of ``dags.Instance``, which checks them.

    ``units`` and what follows it are None where the file does not say; ``notes`` is what a reader
    skipped, repaired or assumed.
    """

    times: NDArray[np.float64]
    edges: Any
    names: tuple[str, ...] | None = None
    kernels: tuple[str, ...] | None = None
    notes: tuple[Note, ...] = ()
    units: Any = None
    data: Any = None
    bandwidth: Any = None
    latency: Any = None
    memories: Any = None
    memory_capacity: Any = None
    executed: Any = None


@dataclass
class Parsed:
    """A graph while it is read. Times are one column (one resource type) or more."""

    #: The file, for messages.
    path: str
    #: Names of the tasks, in the order of the file.
    names: list[str] = field(default_factory=list)
    #: Seconds of each task, one per column.
    times: list[list[float]] = field(default_factory=list)
    #: The kernel that each task runs; None: the file does not say it.
    kernels: list[str | None] = field(default_factory=list)
    #: What was assumed, dropped and repaired.
    notes: list[Note] = field(default_factory=list)
    #: Why a name that looks like something else was read as a predecessor.
    hint: str = ""
    #: Of the trace of a run: the machine, and where and when each task ran.
    units: tuple[int, ...] | None = None
    #: Where and when each task ran; None: the file is no trace of a run.
    executed: Run | None = None
    _where: dict[str, str] = field(default_factory=dict)
    _edges: list[tuple[str, str, str]] = field(default_factory=list)
    _data: list[float | None] = field(default_factory=list)

    def add(self, name: str, times: list[float], where: str, kernel: str | None = None) -> None:
        """A task; `where` says line or position for messages."""
        if name in self._where:
            raise InvalidInstance(
                f"{self.path}: {where}: task id {shorten(name)} is there twice "
                f"(before: {self._where[name]})"
            )
        if all(math.isinf(t) for t in times):
            raise InvalidInstance(
                f"{self.path}: {where}: task {shorten(name)} can run nowhere: expected a time "
                "on at least one resource type"
            )
        self._where[name] = where
        self.names.append(name)
        self.times.append(times)
        self.kernels.append(kernel)

    def precede(
        self, predecessor: str, successor: str, where: str, data: float | None = None
    ) -> None:
        """An arc and the bytes that move along it, if it says; its ends may be added later."""
        self._edges.append((predecessor, successor, where))
        self._data.append(data)

    def edges(self) -> NDArray[np.int64]:
        """(e, 2) task numbers, sorted, each arc once; refuses an unknown task, and a cycle."""
        if not self.names:
            raise InvalidInstance(f"{self.path}: no tasks")
        number = {name: k for k, name in enumerate(self.names)}
        pairs = []
        for before, after, where in self._edges:
            for name, what in ((before, "predecessor"), (after, "successor")):
                if name not in number:
                    raise InvalidInstance(
                        f"{self.path}: {where}: unknown {what} {shorten(name)}: expected the id "
                        f"of a task of this file{self.hint}"
                    )
            pairs.append((number[before], number[after]))
        n = len(self.names)
        array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        codes = np.unique(array[:, 0] * n + array[:, 1])
        if len(codes) < len(array):
            repeated = len(array) - len(codes)
            text = f"{repeated} repeated arcs were kept once"
            self.notes.append(
                Note(NoteKind.REPAIRED, text, subject="repeated arcs", count=repeated)
            )
        edges = np.column_stack([codes // n, codes % n])
        with io.naming(self.path):
            _require_acyclic(edges, self.names)
        return edges

    def data(self) -> NDArray[np.float64] | None:
        """(e,) bytes along each of :meth:`edges`, 0 where not said; None where said of none."""
        if all(amount is None for amount in self._data):
            return None
        number = {name: k for k, name in enumerate(self.names)}
        amount_of_edge: dict[tuple[int, int], float] = {}
        for (before, after, where), data in zip(self._edges, self._data, strict=True):
            edge = number[before], number[after]
            bytes_here = 0.0 if data is None else data
            if amount_of_edge.setdefault(edge, bytes_here) != bytes_here:
                raise InvalidInstance(
                    f"{self.path}: {where}: {bytes_here:g} bytes to {shorten(after)}: the arc was "
                    f"there with {amount_of_edge[edge]:g}: expected it once, or the same each time"
                )
        return np.array([amount_of_edge[edge] for edge in sorted(amount_of_edge)])

    def drop(self, names: Iterable[str]) -> None:
        """Take tasks and their arcs out again."""
        removed = set(names)
        kept_rows = [k for k, name in enumerate(self.names) if name not in removed]
        self.names = [self.names[k] for k in kept_rows]
        self.times = [self.times[k] for k in kept_rows]
        self.kernels = [self.kernels[k] for k in kept_rows]
        arcs = [
            (edge, data)
            for edge, data in zip(self._edges, self._data, strict=True)
            if edge[0] not in removed and edge[1] not in removed
        ]
        self._edges = [edge for edge, _ in arcs]
        self._data = [data for _, data in arcs]

    def has_successor(self, name: str) -> bool:
        return any(before == name for before, _, _ in self._edges)


def _require_acyclic(edges: np.ndarray, names: list[str]) -> None:
    """Refuse a cycle by the names of its tasks."""
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
    listed_names = cycle if len(cycle) <= 8 else [*cycle[:6], "...", cycle[-1]]
    raise InvalidInstance(f"cycle of {len(cycle) - 1} tasks: {' -> '.join(listed_names)}")


def bytes_of(text: str, where: str) -> float:
    """What an arc carries: a finite number >= 0."""
    what = "bytes >= 0"
    value = io.parse_number(text, where, what)
    if value < 0:
        raise InvalidInstance(f"{where}: {shorten(text)}: expected {what}")
    return value


def number(text: str, where: str, what: str = "a time in seconds") -> float:
    """A finite number in decimal digits; raises InvalidInstance at `where`."""
    return io.parse_number(text, where, what)
