"""The instance of packs: times on 1..p processors, and the pack size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core, core, io, profiles
from cosched.core.arrays import integer, integer_array, real_array
from cosched.core.text import labels, require_labels, require_names_of_file
from cosched.errors import InvalidInstance
from cosched.notes import as_notes
from cosched.packs import files
from cosched.profiles.completion import labelled

#: Algorithms that know what tasks share, for a refusal.
KNOWING = "optimal, local-search or pack-by-pack"
#: What is not claimed where work q t(q) falls with processors.
UNCLAIMED = "the factor of 3 that pack-approx has for k = p is not claimed"


class Instance(profiles.HasSharing, core.Instance):
    """Tasks with their times on 1..p processors, and the largest number of tasks a pack.

    Parameters
    ----------
    times : array_like, shape (n, p)
        ``times[i, q-1]`` = seconds of task i on q processors: positive, or infinite where it
        cannot run on q (at least one finite count a task). Any table is accepted, and kept as
        it is. Solvers read the least time on at most q processors, and give a task the count
        that attains it: ``procs`` and the units of a schedule are what is used.
        A DataFrame's column labels are processor counts (others between them are filled by
        interpolation, as of files), its index names the tasks; without labels of its own it is
        its values.
    max_tasks : int, optional
        k >= 1: most tasks in a pack; clamped to min(n, p). None: min(n, p).
    resources : mapping of str to array_like, shape (n,) or (n, p), optional
        Needs of each task, by name (``"memory"`` in GB, ``"gpus"``, any name), on each count where
        that matters: of what runs together the sum is at most the capacity.
    capacity : mapping of str to float, optional
        Of each resource; one that is missing has no limit, which a note says.
    slowdowns : array_like, shape (n, n), or cosched.profiles.Slowdowns, optional
        Seconds of task i beside j / alone; below 1 is read as 1, which a note says.
    bandwidth : cosched.profiles.Bandwidth, optional
        Traffic to memory, which saturates. Where both are given, the larger slow-down counts.
    names : sequence of str, optional
        Labels of the tasks, for tables and pictures.
    origin : array_like of int, shape (n, p), optional
        Where each time comes from: 0 measured (or given), 1 interpolated, 2 extrapolated.
    spread : array_like, shape (n, p), optional
        (largest - smallest) / median of the runs behind each time, nan where there is one.
    notes : sequence of str, optional
        What a reader did to the data, a line each. The instance adds what it does not claim.

    Raises
    ------
    InvalidInstance
        Empty, ragged or non-numeric table; an entry that is NaN or <= 0 (named by row and
        column); a row without a finite entry; max_tasks < 1; a task that fits on no count (named).

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 1.5], [1.0, 1.0]], max_tasks=2)
    >>> inst.tasks, inst.procs, inst.max_tasks
    (3, 2, 2)
    >>> float(inst.times[0, 1])
    2.5
    """

    family = "packs"

    tasks: int
    procs: int
    max_tasks: int
    names: tuple[str, ...]
    origin: NDArray[np.int8]
    _spread: np.ndarray | None

    def __init__(
        self,
        times: object,
        max_tasks: int | None = None,
        *,
        resources: Mapping[str, object] | None = None,
        capacity: Mapping[str, float] | None = None,
        slowdowns: object = None,
        bandwidth: profiles.Bandwidth | None = None,
        names: Sequence[str] | None = None,
        origin: object = None,
        spread: object = None,
        notes: Iterable[str] = (),
    ) -> None:
        times, names, origin, notes = labelled(times, names, origin, notes)
        require_labels(names, {"slowdowns": slowdowns})
        require_labels(names, resources if isinstance(resources, Mapping) else {})
        table = real_array(times, "times", 2)
        max_procs = min(table.shape)
        largest = max_procs if max_tasks is None else integer(max_tasks, "max_tasks", 1, 2**63 - 1)
        inner = _core.packs.Instance(table, max(min(largest, max_procs), 1))
        labels_of = labels(names, len(table), self.label)
        sharing = profiles.Sharing(resources, capacity, slowdowns, bandwidth)
        if sharing:
            inner = inner.with_sharing(sharing.core(table, labels_of))
        source = (
            np.zeros(table.shape, dtype=np.int8)
            if origin is None
            else integer_array(origin, "origin", 2, 0, 2).astype(np.int8)
        )
        if source.shape != table.shape:
            raise InvalidInstance(f"origin has shape {source.shape}, times has {table.shape}")
        source.flags.writeable = False
        lines = (
            *as_notes(notes),
            *profiles.property_notes(table, labels_of, UNCLAIMED),
            *sharing.notes(labels_of),
        )
        self._set(
            _core=inner,
            sharing=sharing,
            tasks=inner.tasks,
            procs=inner.procs,
            max_tasks=inner.max_tasks,
            names=labels_of,
            origin=source,
            _spread=profiles.spread_of(spread, table.shape),
            notes=tuple(dict.fromkeys(lines)),
        )

    @property
    def times(self) -> NDArray[np.float64]:
        """Read-only (n, p) table of seconds; ``times[i, q-1]`` = task i on q processors."""
        times: np.ndarray = self._core.times
        return times

    @property
    def spread(self) -> NDArray[np.float64]:
        """Read-only (n, p): (largest - smallest) / median of repeated runs, nan for one run."""
        if self._spread is None:
            return np.broadcast_to(np.nan, self.times.shape)
        return self._spread

    def facts(self) -> dict[str, Any]:
        """Processors, times and what is shared, for a schedule file.

        See :class:`cosched.core.Instance`.
        """
        return {**profiles.facts(self.procs, self.times), **self.sharing.to_dict()}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # An instance stands for its table wherever a table is expected.
        return np.array(self.times, dtype=dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reconstruct(self.notes, self.sharing), (self.times, self.max_tasks)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instance)
            and self.max_tasks == other.max_tasks
            and self.names == other.names
            and np.array_equal(self.times, other.times)
            and self.sharing == other.sharing
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<packs.Instance: {self.tasks} tasks, p = {self.procs}, k = {self.max_tasks}>"

    def with_max_tasks(self, max_tasks: int | None) -> Instance:
        """The same tasks with another pack size.

        Parameters
        ----------
        max_tasks : int or None
            k >= 1, clamped to min(n, p); None: min(n, p).

        Examples
        --------
        >>> Instance([[4.0, 2.5], [3.0, 1.5]], max_tasks=1).with_max_tasks(2)
        <packs.Instance: 2 tasks, p = 2, k = 2>
        """
        return self._reconstruct(self.notes, self.sharing)(self.times, max_tasks)

    def without_slowdowns(self) -> Instance:
        """The same tasks with their resources, as if none slowed another: for comparison.

        Examples
        --------
        >>> inst = Instance([[4.0, 2.5], [3.0, 1.5]], slowdowns=[[1, 1.5], [1.2, 1]])
        >>> inst.without_slowdowns() == Instance([[4.0, 2.5], [3.0, 1.5]])
        True
        """
        return self._reconstruct(*self._unslowed())(self.times, self.max_tasks)

    def _reconstruct(self, notes: Iterable[str], sharing: profiles.Sharing) -> partial[Instance]:
        """Makes it of times and a pack size."""
        arguments: dict[str, Any] = {"names": self.names, "origin": self.origin}
        arguments |= {"spread": self._spread, "notes": notes, **sharing.arguments()}
        return partial(Instance, **arguments)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        max_tasks: int | None = None,
        *,
        procs: int | None = None,
        fit: str = "interpolation",
        extrapolate: bool = False,
        counts: str = "all",
    ) -> Instance:
        """Read profiles from a file; the format is told by the header (see `cosched.io`).

        * CSV table: header ``task,1,2,3,...``, a row a task, seconds. An empty cell is a count
          on which the task cannot run. Counts that are missing from the header
          (``task,1,2,4,8``) are filled as below.
        * CSV measurements: header ``task,processors,seconds``, a row a run. Several runs of one
          count: their median is the time, and ``spread`` has the rest. Runs with an empty cell
          gave no time; a count with such runs only is one on which the task cannot run.
        * CSV of benchmark runs: columns ``app, benchmark, system, nodes, time_s`` (and
          ``metric``): a task per (app, benchmark) on the system with the most counts.
        * JSON: ``{"times": [[...]], "names": [...], "max_tasks": k}``; ``null`` is a count on
          which the task cannot run. What tasks share stands in ``resources``, ``capacity``,
          ``slowdowns`` {table, rule} and ``bandwidth`` {demand, capacity, stall}.

        Columns that no format knows, and ``weight`` and ``release``, which packs do not have,
        are named in ``notes``.

        Parameters
        ----------
        max_tasks : int, optional
            k; None: what a JSON file says, else min(n, p).
        procs : int, optional
            p: read the times on 1..procs only. None: the largest count in the file.
        fit : {"interpolation", "amdahl", "power-law"}
            How counts between measured ones are filled; see :mod:`cosched.profiles`.
        extrapolate : bool
            Allow the fitted model outside the measured counts. Without it, a task that
            lacks a count that is needed is refused.
        counts : {"all", "measured"}
            "measured": only counts that were measured are given to tasks, nothing is filled.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.csv"
        >>> _ = path.write_text("task,processors,seconds\\na,1,8\\na,2,4\\nb,1,6\\nb,2,3.5\\n")
        >>> Instance.read(path).times.tolist()
        [[8.0, 4.0], [6.0, 3.5]]
        """
        fields = files.read(path, procs=procs, fit=fit, extrapolate=extrapolate, counts=counts)
        if max_tasks is not None:
            fields["max_tasks"] = max_tasks
        with io.naming(path):
            return cls(**fields)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table as .csv or .json, as :meth:`read` takes it.

        Parameters
        ----------
        path : str or path-like
            Ends in .csv (times and names) or .json (``max_tasks`` and what tasks share as well).
        """
        shared = self.sharing.to_dict()
        io.check_suffix(path, (".csv", ".json"))
        require_names_of_file(self.names, path)
        files.write(path, self.times, self.names, self.max_tasks, shared)
