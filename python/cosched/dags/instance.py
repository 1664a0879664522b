"""The instance of dags: a task graph, times on Q resource types, units of each type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Sized
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import _core, core, io
from cosched.core.arrays import any_array, integer, integer_array, real_array
from cosched.core.text import labels
from cosched.dags import files
from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    from typing_extensions import Self


#: Resource types of a machine.
MOST_TYPES = 1_000_000


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
    label = ""

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
        n = len(table)
        texts = labels(names, n, self.label if names is None else "task")
        groups = _kernels(texts) if kernels is None else labels(kernels, n, "task", "kernels")
        stored = inner.edges.reshape(-1, 2)
        stored.flags.writeable = False
        self._set(
            _core=inner,
            tasks=inner.tasks,
            types=inner.types,
            units=tuple(counts.tolist()),
            edges=stored,
            names=texts,
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

    def facts(self) -> dict[str, Any]:
        """The edges, for a schedule file; see :class:`cosched.core.Instance`.

        Returns
        -------
        dict

        Examples
        --------
        >>> Instance([[3.0], [2.0]], [(0, 1)], units=(2,)).facts()
        {'edges': [[0, 1]]}
        """
        return {"edges": self.edges.tolist()}

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
        """The same tasks on another machine.

        Parameters
        ----------
        units : sequence of int, shape (Q,)
            Identical units of each type, each >= 1.

        Returns
        -------
        Instance

        Raises
        ------
        InvalidInstance
            Another number of types, or fewer than one unit of a type.

        Examples
        --------
        >>> Instance([[3.0, 1.0]], [], units=(2, 1)).with_units((16, 4))
        <dags.Instance: 1 tasks, 0 edges, 16 + 4 units>
        """
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
        path : str or path-like
        units : sequence of int
            Units of each type, as ``(16, 4)``. None: what a file of :meth:`write` says.
        **options
            Of :func:`cosched.dags.read_graph`.

        Returns
        -------
        Instance

        Raises
        ------
        InvalidInstance
            One line with file, line, value and what was expected; no `units`.
        OSError
            The file cannot be read.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.dot"
        >>> _ = path.write_text('digraph { a [time=4]; b [time=3]; a -> b }')
        >>> inst = Instance.read(path, units=(16, 4), acceleration={"a": 4, "b": 0})
        >>> inst
        <dags.Instance: 2 tasks, 1 edges, 16 + 4 units>
        >>> inst.times.tolist()
        [[4.0, 1.0], [3.0, inf]]
        """
        if isinstance(units, Sized) and not isinstance(units, (str, bytes)):
            units = _sequence(units)
        likely = None if units is None else int(np.size(units))
        graph = files.read_graph(path, **options, likely_types=likely)
        counts = _given(graph.units if units is None else units, path)
        if graph.times.shape[1] == 1 < np.size(counts):
            raise InvalidInstance(
                f"{path}: one time a task, but units of {np.size(counts)} resource types: "
                "expected acceleration or times as well"
            )
        with io.naming(path):
            return cls(
                graph.times,
                graph.edges,
                counts,
                graph.names,
                kernels=graph.kernels,
                notes=graph.notes,
            )

    def write(self, path: str | PathLike[str]) -> None:
        """Write times, edges, units, names and kernels as .json; infinity becomes null.

        Parameters
        ----------
        path : str or path-like
            Ends in .json.

        Raises
        ------
        InvalidInstance
            Another suffix.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> inst = Instance([[3.0, 1.0], [2.0, float("inf")]], [(0, 1)], units=(2, 1))
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.json"
        >>> inst.write(path)
        >>> Instance.read(path) == inst
        True
        """
        io.check_suffix(path, (".json",))
        fields = ("times", "edges", "units", "names", "kernels")
        io.write_json({field: getattr(self, field) for field in fields}, path)


def parse_units(text: str) -> tuple[int, ...]:
    """``"16,4"`` as (16, 4)."""
    return tuple(io.parse_integer(part, "units", 1, 2**31 - 1) for part in text.split(","))


def _rebuild(times, edges, units, names, kernels, notes) -> Instance:
    return Instance(times, edges, units, names, kernels=kernels, notes=notes)


def _sequence(units: Any) -> Any:
    if isinstance(units, (str, bytes)) or not np.iterable(units):
        raise InvalidInstance(f"units = {shorten(units)}: expected a sequence, a number a type")
    if isinstance(units, Sized) and len(units) > MOST_TYPES:
        raise InvalidInstance(f"units has {len(units)} entries: expected at most {MOST_TYPES}")
    return list(units)


def parse_acceleration(text: str) -> Any:
    """``"4"`` or ``"4,2"`` as factors of the further types; else a CSV file's name."""
    if not all(map(io.is_number, text.split(","))):
        return text
    factors = [float(part) for part in text.split(",")]
    return factors[0] if len(factors) == 1 else factors


def _edges(edges: Any, tasks: int) -> np.ndarray:
    if any_array(edges, "edges", 2).size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    pairs = integer_array(edges, "edges", 2, -(2**31))
    if pairs.shape[1] != 2:
        raise InvalidInstance(f"edges: expected shape (e, 2), got {pairs.shape}")
    return pairs


def _kernels(names: tuple[str, ...]) -> tuple[str, ...] | None:
    found = tuple(re.split(r"[\d(\[\s]", name, maxsplit=1)[0].rstrip("_-:.") for name in names)
    return found if len(set(found)) > 1 else None


def _given(units: Any, path: str | PathLike[str]) -> Any:
    if units is None:
        raise InvalidInstance(f"{path}: units are missing: expected a number a type, as 16,4")
    if isinstance(units, (int, np.integer)):
        return (integer(units, "units", 1),)
    return units
