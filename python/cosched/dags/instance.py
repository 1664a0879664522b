"""The instance of dags: a task graph, times on Q resource types, units of each type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import _core, core
from cosched.core import Schedule
from cosched.core.arrays import any_array, integer, integer_array, real_array
from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    from typing_extensions import Self


class Instance(core.Instance):
    """Tasks with precedence and their times on each type of identical units.

    Parameters
    ----------
    times : array_like, shape (n, Q)
        ``times[j, q]`` = seconds of task j on a unit of type q: >= 0, or infinity where the
        task cannot run. Type 0 is the CPU, the others accelerators.
    edges : array_like of int, shape (e, 2)
        ``(i, j)``: task i ends before task j starts. Duplicates are kept once.
    units : sequence of int, shape (Q,)
        Identical units of each type, each >= 1.
    names : sequence of str, optional
        Labels of the tasks.
    kernels : sequence of str, optional
        What each task computes: tasks of a kernel share a colour in pictures. None: what comes
        before the first digit, bracket or blank of the names, where that tells tasks apart.
    notes : sequence of str, optional
        What a reader did to the data, a line each.

    Raises
    ------
    InvalidInstance
        A negative time or NaN (named by row and column), a task that can run nowhere, an edge
        out of range, a cycle (its tasks are named), units that do not fit the columns.

    Examples
    --------
    >>> inst = Instance([[3.0, 1.0], [2.0, float("inf")]], [(0, 1)], units=(2, 1))
    >>> inst.tasks, inst.types, inst.units
    (2, 2, (2, 1))
    """

    family = "dags"

    tasks: int
    types: int
    units: tuple[int, ...]
    edges: np.ndarray
    names: tuple[str, ...]
    #: None where the names do not tell kernels apart.
    kernels: tuple[str, ...] | None

    def __init__(
        self,
        times: Any,
        edges: Any,
        units: Any,
        names: Sequence[str] | None = None,
        *,
        kernels: Sequence[str] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        table = real_array(times, "times", 2)
        pairs = _edges(edges, len(table))
        counts = integer_array(_sequence(units), "units", 1, 1)
        inner = _core.dags.Instance(table, pairs, counts)
        labels = _labels(names, len(table), "names")
        groups = _kernels(labels) if kernels is None else _labels(kernels, len(table), "kernels")
        stored = inner.edges.reshape(-1, 2)
        stored.flags.writeable = False
        self._set(
            _core=inner,
            tasks=inner.tasks,
            types=inner.types,
            units=tuple(counts.tolist()),
            edges=stored,
            names=labels,
            kernels=groups,
            notes=tuple(notes),
        )

    @property
    def times(self) -> np.ndarray:
        """Read-only (n, Q) table of seconds; infinity where a task cannot run."""
        return self._core.times

    @property
    def order(self) -> np.ndarray:
        """A topological order: among tasks whose predecessors are done, the lowest number."""
        return self._core.order

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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # An instance stands for its table wherever a table is expected.
        return np.array(self.times, dtype=dtype)

    def __reduce__(self) -> tuple:
        return _rebuild, (
            self.times,
            self.edges,
            self.units,
            self.names,
            self.kernels,
            self.notes,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instance)
            and self.units == other.units
            and self.names == other.names
            and self.kernels == other.kernels
            and np.array_equal(self.times, other.times)
            and np.array_equal(self.edges, other.edges)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        units = " + ".join(map(str, self.units))
        return f"<dags.Instance: {self.tasks} tasks, {len(self.edges)} edges, {units} units>"

    def with_units(self, units: Sequence[int]) -> Instance:
        """The same tasks on another machine."""
        return _rebuild(self.times, self.edges, units, self.names, self.kernels, self.notes)

    @classmethod
    def read(
        cls, path: str | PathLike[str], units: Sequence[int] | None = None, **options: Any
    ) -> Self:
        """Read a task graph from a file.

        Formats (see :func:`cosched.dags.read_graph`, which takes the options): the amaris_het
        text files, also ``archive.tar.gz:member``; WfFormat 1.5 JSON; STG; DOT and GraphML;
        and the JSON that :meth:`write` makes.

        Parameters
        ----------
        path : path
        units : sequence of int
            Units of each type, as ``(16, 4)``. None: what a file of :meth:`write` says.
        **options
            Of :func:`cosched.dags.read_graph`.

        Raises
        ------
        InvalidInstance
            One line with file, line, value and what was expected; no `units`.
        OSError
            The file cannot be read.
        """
        own = _own_format(path)
        if own is not None:
            if any(value is not None for value in options.values()):
                raise InvalidInstance(f"{path}: has times and units: no further options")
            chosen = own["units"] if units is None else units
            return cls(
                _rows(own["times"]),
                own.get("edges", []),
                _given(chosen, path),
                own.get("names"),
                kernels=own.get("kernels"),
            )
        from cosched.dags.graphs import read_graph

        graph = read_graph(path, **options)
        counts = _given(units, path)
        if graph.times.shape[1] == np.size(counts) + 1 and "types_in_file" not in options:
            # Where each task has a predecessor, the reader takes that column for times: say that
            # there is a cycle, not that a time is too many.
            try:
                read_graph(path, **options, types_in_file=np.size(counts))
            except InvalidInstance as error:
                if str(error).removeprefix(f"{path}: ").startswith("cycle"):
                    raise
        if graph.times.shape[1] == 1 < np.size(counts):
            raise InvalidInstance(
                f"{path}: one time a task, but units of {np.size(counts)} resource types: "
                "expected acceleration or times as well"
            )
        return cls(
            graph.times,
            graph.edges,
            counts,
            graph.names,
            kernels=graph.kernels,
            notes=graph.notes,
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write times, edges, units, names and kernels as .json; infinity becomes null."""
        from cosched import io

        io.check_suffix(path, (".json",))
        fields = ("times", "edges", "units", "names", "kernels")
        io.write_json({field: getattr(self, field) for field in fields}, path)

    def _validate(self, schedule: Schedule) -> None:
        _core.dags.validate(
            self._core,
            schedule.task,
            schedule.kind,
            schedule.unit_begin,
            schedule.unit,
            schedule.start,
            schedule.end,
        )


def parse_units(text: str) -> tuple[int, ...]:
    """``"16,4"`` as (16, 4)."""
    from cosched.io import parse_integer

    return tuple(parse_integer(part, "units", 1, 2**31 - 1) for part in text.split(","))


def _rebuild(times, edges, units, names, kernels, notes) -> Instance:
    return Instance(times, edges, units, names, kernels=kernels, notes=notes)


def _sequence(units: Any) -> Any:
    if isinstance(units, (str, bytes)) or not np.iterable(units):
        raise InvalidInstance(f"units = {shorten(units)}: expected a sequence, a number a type")
    return list(units)


def parse_acceleration(text: str) -> Any:
    """``"4"`` or ``"4,2"`` as factors of the further types; else a CSV file's name."""
    try:
        factors = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    return factors[0] if len(factors) == 1 else factors


def _edges(edges: Any, tasks: int) -> np.ndarray:
    if any_array(edges, "edges", 2).size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    pairs = integer_array(edges, "edges", 2, -(2**31))
    if pairs.shape[1] != 2:
        raise InvalidInstance(f"edges: expected shape (e, 2), got {pairs.shape}")
    return pairs


def _labels(given: Sequence[str] | None, tasks: int, what: str) -> tuple[str, ...]:
    if given is None:
        return tuple(map(str, range(tasks)))
    labels = tuple(map(str, given))
    if len(labels) != tasks:
        raise InvalidInstance(f"{what} has {len(labels)} entries for {tasks} tasks")
    return labels


def _kernels(names: tuple[str, ...]) -> tuple[str, ...] | None:
    found = tuple(re.split(r"[\d(\[\s]", name, maxsplit=1)[0].rstrip("_-:.") for name in names)
    return found if len(set(found)) > 1 else None


def _own_format(path: str | PathLike[str]) -> dict | None:
    """What :meth:`Instance.write` wrote: the only JSON that states units."""
    if Path(path).suffix != ".json" or not Path(path).is_file():
        return None
    from cosched.io import read_json

    data = read_json(path)
    return data if isinstance(data, dict) and {"times", "units"} <= data.keys() else None


def _rows(times: Any) -> Any:
    if not isinstance(times, list) or not all(isinstance(row, list) for row in times):
        raise InvalidInstance("times: expected a list of rows")
    return [[float("inf") if value is None else value for value in row] for row in times]


def _given(units: Any, path: str | PathLike[str]) -> Any:
    if units is None:
        raise InvalidInstance(f"{path}: units are missing: expected a number a type, as 16,4")
    if isinstance(units, (int, np.integer)):
        return (integer(units, "units", 1),)
    return units
