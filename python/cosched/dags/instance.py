"""The instance of dags: a task graph, times on Q resource types, units of each type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Sized
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core, core, io
from cosched.core.arrays import edge_pairs, integer_array, real_array
from cosched.core.text import labels, rows_named
from cosched.dags import arguments, files
from cosched.dags.files import Run
from cosched.errors import InvalidInstance
from cosched.notes import as_notes


class Instance(core.Instance):
    """Tasks with precedence and their times on each type of identical units.

    Parameters
    ----------
    times : array_like, shape (n, Q)
        ``times[j, q]`` = seconds of task j on a unit of type q: >= 0, or infinity where the
        task cannot run. Type 0 is the CPU, the others accelerators. A DataFrame's index names the
        tasks; its columns are the types in the order of `units`, whatever they are called.
    edges : array_like of int, shape (e, 2)
        ``(i, j)``: task i ends before task j starts. Duplicates are kept once; the others keep
        their order.
    units : sequence of int, shape (Q,)
        Identical units of each type, each >= 1.
    names : sequence of str, optional
        Labels of the tasks.
    kernels : sequence of str, optional
        What each task computes: tasks of a kernel share a colour in pictures. None: what comes
        before the first digit, bracket or blank of the names, where that tells tasks apart.
    notes : sequence of str, optional
        What a reader did to the data, a line each.
    data : array_like of float, shape (e,), optional
        Bytes that move along each edge, >= 0. None: transfers take no time. An edge that is
        there twice has the same data each time.
    bandwidth : float or array_like, shape (Q, Q), optional
        Bytes/s > 0 (infinity: no limit) from a unit of the row's type to one of the column's;
        needed where there is data.
    latency : float or array_like, shape (Q, Q)
        Seconds >= 0 that each transfer takes besides.
    memories : {"host", "unit"} or sequence of int, shape (number of units,)
        Within a memory nothing moves. ``"host"``: units of type 0 share one, every other unit
        has its own; ``"unit"``: each its own; or the memory of every unit, type by type.
    memory_capacity : float or sequence of float, shape (Q,) or (number of units,), optional
        Bytes that each memory holds at most, >= 0 (infinity: no limit): a number, or that of the
        units of each type, or of each unit, the same for those who share one.
    executed : Run or mapping, optional
        A run that was recorded: columns ``kind, unit, start, end`` (n,), as of a result; what the
        algorithm ``as-executed`` shows. Readers of traces give it.

    Raises
    ------
    InvalidInstance
        A negative time or NaN (named by row and column), a task that can run nowhere, an edge
        out of range, a cycle (its tasks are named), units that do not fit the columns; data
        without bandwidth, a negative amount or NaN, a matrix or memories of another shape.

    Notes
    -----
    A transfer takes latency + data / bandwidth between different memories, else nothing; an edge
    without data costs nothing. Transfers do not slow each other down, and overlap computation.

    Where memories are limited (the model of Herrmann, Marchal, Robert 2014) the data of an edge is
    in its first task's memory from the start of that task until the end of the second, if that one
    shares the memory, else until its start; then it is in the second task's memory too, from the
    begin of a transfer that ends at the start of the second task, until its end. Nothing is evicted
    or computed anew. :func:`memheft` and :func:`hlp_best` count it, the other algorithms refuse.

    Examples
    --------
    >>> inst = Instance([[3.0, 1.0], [2.0, float("inf")]], [(0, 1)], units=(2, 1))
    >>> inst.tasks, inst.types, inst.units
    (2, 2, (2, 1))
    >>> moved = Instance([[3.0, 1.0], [2.0, 1.0]], [(0, 1)], (2, 1), data=[6.0], bandwidth=2.0)
    >>> moved.transfer(0, (0, 1), (1, 0)), moved.transfer(0, (0, 0), (0, 1))
    (3.0, 0.0)
    """

    family = "dags"
    label = ""

    _data: np.ndarray | None
    _core_rows: np.ndarray | None  # of each of `edges`; None: the same order
    tasks: int
    types: int
    units: tuple[int, ...]
    edges: NDArray[np.int64]
    names: tuple[str, ...]
    #: None where the names do not tell kernels apart.
    kernels: tuple[str, ...] | None
    #: (Q, Q) bytes/s, by the types of sender and receiver; None where none was given.
    bandwidth: NDArray[np.float64] | None
    #: (Q, Q) seconds.
    latency: NDArray[np.float64]
    #: "host", "unit", or the memory of every unit, type by type.
    memories: str | tuple[int, ...]
    #: Bytes: of every memory, of each type's units, or of each unit's; None: no limit.
    memory_capacity: float | tuple[float, ...] | None
    #: Where and when each task ran; None where no run was recorded.
    executed: Run | None

    def __init__(
        self,
        times: object,
        edges: object,
        units: object,
        names: Sequence[str] | None = None,
        *,
        kernels: Sequence[str] | None = None,
        notes: Iterable[str] = (),
        data: object = None,
        bandwidth: object = None,
        latency: object = 0.0,
        memories: object = "host",
        memory_capacity: object = None,
        executed: object = None,
    ) -> None:
        table = real_array(times, "times", 2)
        pairs = edge_pairs(edges)
        counts = integer_array(arguments.sequence(units), "units", 1, 1)
        links = arguments.links(data, bandwidth, latency, memories, table.shape[1], counts.tolist())
        capacity = arguments.checked_capacity(memory_capacity, counts.tolist())
        inner = _core.dags.Instance(
            table,
            pairs,
            counts,
            arguments.checked_data(data, len(pairs)),
            *links,
            arguments.capacity_of_units(capacity, counts.tolist()),
        )
        n = len(table)
        names = rows_named(times, names)
        task_names = labels(names, n, self.label if names is None else "task")
        groups = _kernels(task_names) if kernels is None else labels(kernels, n, "task", "kernels")
        stored, core_rows = arguments.distinct(pairs, inner.edges.reshape(-1, 2))
        self._set(
            _core=inner,
            _core_rows=core_rows,
            _data=None if data is None else arguments.as_given(inner.data, core_rows),
            tasks=inner.tasks,
            types=inner.types,
            units=tuple(counts.tolist()),
            edges=stored,
            names=task_names,
            kernels=groups,
            notes=as_notes(notes),
            bandwidth=None if bandwidth is None else links[0],
            latency=links[1],
            memories=links[2],
            memory_capacity=capacity,
            executed=arguments.checked_run(executed, n, counts.tolist()),
        )

    @property
    def times(self) -> NDArray[np.float64]:
        """Read-only (n, Q) table of seconds; infinity where a task cannot run."""
        times: np.ndarray = self._core.times
        return times

    @property
    def data(self) -> NDArray[np.float64] | None:
        """Read-only (e,) bytes along each of ``edges``; None where transfers take no time."""
        return self._data

    @property
    def order(self) -> NDArray[np.int64]:
        """A topological order: among tasks whose predecessors are done, the lowest number."""
        order: np.ndarray = self._core.order
        return order

    @property
    def unit_counts(self) -> tuple[int, ...]:
        """Units of each type: the lanes of a picture."""
        return self.units

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the resource types: CPU, GPU (or GPU1, GPU2, ...)."""
        if self.types <= 2:
            return ("CPU", "GPU")[: self.types]
        return ("CPU", *(f"GPU{q}" for q in range(1, self.types)))

    def transfer(self, edge: object, unit_a: object, unit_b: object) -> float:
        """What it takes to move the data of an edge from one unit to another.

        In seconds; 0 within a memory, and where there is no data.

        Parameters
        ----------
        edge : int or (int, int)
            A row of ``edges``, or its two tasks.
        unit_a, unit_b : int or (int, int)
            Units of the sender and of the receiver: a number among all units, type by type, or
            (type, number within the type).

        Examples
        --------
        >>> times = [[3.0, 1.0], [2.0, 1.0]]
        >>> inst = Instance(times, [(0, 1)], (2, 2), data=[6.0], bandwidth=2.0, latency=0.5)
        >>> inst.transfer(0, 2, 3), inst.transfer((0, 1), (1, 0), (1, 0))
        (3.5, 0.0)
        """
        number = arguments.edge_number(edge, self.edges)
        ends = [
            arguments.place(unit, name, self.units)
            for name, unit in (("unit_a", unit_a), ("unit_b", unit_b))
        ]
        if self.data is None:
            return 0.0
        row = number if self._core_rows is None else int(self._core_rows[number])
        return float(self._core.transfer(row, *ends))

    def transfer_times(self, kind: object, unit: object) -> NDArray[np.float64]:
        """What the transfers take where each task has its unit.

        Parameters
        ----------
        kind, unit : array_like of int, shape (n,)
            Type of each task's unit, and its number within the type, as of a result.

        Returns
        -------
        numpy.ndarray of float, shape (e,)
            Seconds along each of ``edges``.

        Examples
        --------
        >>> times = [[3.0, 1.0], [2.0, 1.0]]
        >>> inst = Instance(times, [(0, 1)], (2, 2), data=[6.0], bandwidth=2.0, latency=0.5)
        >>> inst.transfer_times([1, 1], [0, 1]).tolist()
        [3.5]
        """
        kinds, units = arguments.checked_places(kind, unit, self.tasks, self.units)
        if self.data is None or self.bandwidth is None:
            return np.zeros(len(self.edges))
        before, after = self.edges.T
        memory = arguments.memory_numbers(kinds, units, self.units, self.memories)
        pair = kinds[before], kinds[after]
        seconds = self.latency[pair] + self.data / self.bandwidth[pair]
        return np.where((self.data > 0) & (memory[before] != memory[after]), seconds, 0.0)

    def facts(self) -> dict[str, Any]:
        """The edges, for a schedule file; see :class:`cosched.core.Instance`.

        ``edges``, and ``memory_capacity`` where memories are limited.
        """
        fields: dict[str, Any] = {"edges": self.edges.tolist()}
        if self.memory_capacity is not None:
            fields["memory_capacity"] = self.memory_capacity
        return fields

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # An instance stands for its table wherever a table is expected.
        return np.array(self.times, dtype=dtype)

    def _keyword_arguments(self) -> dict[str, Any]:
        """Return arguments of the constructor after times, edges and units."""
        return {
            "names": self.names,
            "kernels": self.kernels,
            "notes": self.notes,
            "data": self.data,
            "bandwidth": self.bandwidth,
            "latency": self.latency,
            "memories": self.memories,
            "memory_capacity": self.memory_capacity,
            "executed": self.executed,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Instance, **self._keyword_arguments()), (self.times, self.edges, self.units)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instance)
            and self.units == other.units
            and self.names == other.names
            and self.kernels == other.kernels
            and np.array_equal(self.times, other.times)
            and np.array_equal(self._core.edges, other._core.edges)  # whatever their order
            and arguments.is_same_array(self._core.data, other._core.data)
            and arguments.is_same_array(self.bandwidth, other.bandwidth)
            and arguments.is_same_array(self.latency, other.latency)
            and self.memories == other.memories
            and self.memory_capacity == other.memory_capacity
            and arguments.is_same_run(self.executed, other.executed)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        units = " + ".join(map(str, self.units))
        edges = f"{len(self.edges)} edges"
        if self.data is not None:
            edges += f" with {self.data.sum():.3g} bytes"
        if self._core.limited:
            edges += ", limited memories"
        return f"<dags.Instance: {self.tasks} tasks, {edges}, {units} units>"

    def with_units(self, units: Sequence[int], *, memories: object = None) -> Instance:
        """The same tasks and data on another machine, with the same links between types.

        A recorded run is kept where the machine has its units.

        Parameters
        ----------
        units : sequence of int, shape (Q,)
            Identical units of each type, each >= 1.
        memories : optional
            As of the constructor; None: as they are. A number a unit fits one machine only.

        Raises
        ------
        InvalidInstance
            Another number of types, fewer than one unit of a type, memories of another machine.

        Examples
        --------
        >>> Instance([[3.0, 1.0]], [], units=(2, 1)).with_units((16, 4))
        <dags.Instance: 1 tasks, 0 edges, 16 + 4 units>
        """
        rest = self._keyword_arguments()
        if memories is not None:
            rest["memories"] = memories
        rest["executed"] = arguments.fitting(self.executed, units)
        return Instance(self.times, self.edges, units, **rest)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        units: Sequence[int] | None = None,
        *,
        bandwidth: object = None,
        latency: object = None,
        memories: object = None,
        memory_capacity: object = None,
        **options: object,
    ) -> Instance:
        """Read a task graph from a file.

        Formats: the amaris_het text files; WfFormat 1.5 JSON; STG; DOT and GraphML; StarPU's
        ``tasks.rec``, which holds a run; CSV ``from,to[,data]``, an arc a line; and the JSON that
        :meth:`write` makes. The suffix, else the content, tells which.

        Formats with one time per task (WfFormat, STG, DOT and GraphML with ``time``) give that time
        as the CPU's: without `acceleration` or `times` the graph has one resource type. What moves
        along the arcs is read too: sizes of files (WfFormat), ``data`` or ``size`` (DOT, GraphML,
        CSV), communication costs (STG).

        Parameters
        ----------
        path : path
            A file, a .gz file, or ``archive.tar.gz:member``.
        units : sequence of int
            Units of each type, as ``(16, 4)``. None: as the file says (a trace; :meth:`write`).
        bandwidth, latency, memories, memory_capacity : optional
            As of the constructor. None: what a file of :meth:`write` says, else no bandwidth:
            data in the file is not used then, and a note says so.
        **options
            ``format``: one of amaris_het, wfformat, stg, dot, graphml, starpu, csv, json, where
            neither suffix nor content tells.

            ``acceleration``: CPU time / time on each further resource type; 0 = cannot run there.
            One factor, or one a further type; or a mapping from program to such factors; or a CSV
            file ``program,factor[,factor2,...]`` (an empty cell is 0). A task takes the entry of
            its kernel, else the longest entry that its name begins with, else that of ``*``.

            ``times``: a CSV file ``id,t0,t1,...`` (empty or ``inf``: cannot run there), or a
            mapping, with the times of every task; those of the graph's file are not used.

            ``types_in_file``: amaris_het: the number of times a line, where it cannot be told from
            the file. ``dummies=True``: STG: keep the dummy entry and exit, as tasks of time 0.

            ``edge_data``: DOT, GraphML: the attribute of arcs that says bytes; None: ``data``,
            else ``size``.

            ``perfmodels``: StarPU: what ``starpu_perfmodel_recdump tasks.rec`` wrote: times of its
            models on each worker, and workers that ran nothing.

        Raises
        ------
        InvalidInstance
            One line with file, line or task, value and what was expected: a cycle, an unknown
            predecessor, a repeated id, a task that can run nowhere, a time that is none, ...; no
            `units`.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.dot"
        >>> _ = path.write_text('digraph { a [time=4]; b [time=3]; a -> b }')
        >>> inst = Instance.read(path, units=(16, 4), acceleration={"a": 4, "b": 0})
        >>> inst
        <dags.Instance: 2 tasks, 1 edges, 16 + 4 units>
        >>> inst.times.tolist()
        [[4.0, 1.0], [3.0, inf]]
        """
        if isinstance(units, Sized) and not isinstance(units, (str, bytes)):
            units = arguments.sequence(units)
        likely = None if units is None else int(np.size(units))
        graph = files.read_graph(path, **options, likely_types=likely)
        counts = arguments.checked_units(graph.units if units is None else units, path)
        if graph.times.shape[1] == 1 < np.size(counts):
            raise InvalidInstance(
                f"{path}: one time per task, but units of {np.size(counts)} resource types: "
                "expected acceleration or times as well"
            )
        with io.naming(path):
            return cls(
                graph.times,
                graph.edges,
                counts,
                graph.names,
                kernels=graph.kernels,
                **arguments.of_file(
                    graph,
                    bandwidth=bandwidth,
                    latency=latency,
                    memories=memories,
                    memory_capacity=memory_capacity,
                ),
                executed=arguments.fitting(graph.executed, counts),
            )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the instance, all of it, as .json; infinity becomes null.

        Parameters
        ----------
        path : str or path-like
            Ends in .json.
        """
        io.check_suffix(path, (".json",))
        fields = ["times", "edges", "units", "names", "kernels"]
        has_no_transfers = self.data is None and self.bandwidth is None and not self.latency.any()
        if not (has_no_transfers and self.memories == "host"):
            fields += ["latency", "memories"]
        fields_of_file = {field: getattr(self, field) for field in fields}
        for field in ("data", "bandwidth", "memory_capacity"):
            if getattr(self, field) is not None:
                fields_of_file[field] = getattr(self, field)
        if self.executed is not None:
            fields_of_file["executed"] = self.executed._asdict()
        io.write_json(fields_of_file, path)


def without_limits(instance: Any, name: str) -> None:
    """Refuse what is no instance, and limited memories, which the algorithm does not count."""
    Instance.require(instance)
    if instance._core.limited:
        raise InvalidInstance(
            f"{name} does not count memory_capacity: expected memheft or hlp-best, or no limit"
        )


def _kernels(names: tuple[str, ...]) -> tuple[str, ...] | None:
    prefix_match = re.compile(r"[^\d(\[\s]*").match
    prefixes = tuple(prefix_match(name)[0].rstrip("_-:.") for name in names)  # type: ignore[index]
    return prefixes if len(set(prefixes)) > 1 else None
