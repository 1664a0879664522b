"""Moldable jobs and their machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core, core, io, profiles
from cosched.core.arrays import any_array, edge_pairs, integer, integer_array, real_array
from cosched.core.text import labels, require_labels, require_names_of_file
from cosched.errors import InvalidInstance
from cosched.moldable import files
from cosched.notes import as_notes
from cosched.profiles.completion import labelled

if TYPE_CHECKING:
    from typing_extensions import Self

#: Algorithms that know what jobs share, for a refusal.
KNOWING = "local-search, gang, sequential or a list"
#: What is not claimed where work q t(q) falls with processors.
UNCLAIMED = "dual-approximation claims a factor of 2, not 3/2 (by batches 4, not 3)"
#: Numbers of Downey's formula.
_FORMULA = ("t1", "A", "sigma")
#: A table with more entries is not made from formulas.
_MOST_ENTRIES = 2**27


class Instance(profiles.HasSharing, core.Instance):
    """Jobs with times on 1..m processors, weights, and perhaps release dates.

    Parameters
    ----------
    times : array_like, shape (n, c)
        ``times[i, q-1]`` = seconds of job i on q processors: positive, or infinite where it
        cannot run on q (at least one finite count a job). On more than c processors a job is as
        fast as on c. Columns above `machines` are dropped. Any table is accepted, and kept as it
        is. Solvers read the least time on at most q processors, and give a job the count that
        attains it: ``procs`` and the units of a schedule are what is used.
        A DataFrame's column labels are processor counts (others between them are filled by
        interpolation, as of files), its index names the jobs; without labels of its own it is
        its values.
    weights : array_like, shape (n,), optional
        >= 0: what a second of each job's completion time costs. None: 1 each.
    release : array_like, shape (n,), optional
        Seconds >= 0 from which a job is known and may start. None: all 0.
    machines : int, optional
        m processors, 1..1,000,000. None: c.
    edges : array_like of int, shape (e, 2), optional
        ``(i, j)``: job j starts when job i has ended. No cycles. A rigid job is one with a single
        finite time.
    resources : mapping of str to array_like, shape (n,) or (n, c), optional
        Needs of each job, by name (``"memory"`` in GB, ``"gpus"``, any name), on each count where
        that matters: of what runs together the sum is at most the capacity.
    capacity : mapping of str to float, optional
        Of each resource; one that is missing has no limit, which a note says.
    slowdowns : array_like, shape (n, n), or cosched.profiles.Slowdowns, optional
        Seconds of job i beside j / alone; below 1 is read as 1, which a note says.
    bandwidth : cosched.profiles.Bandwidth, optional
        Traffic to memory, which saturates. Where both are given, the larger slow-down counts.
    names : sequence of str, optional
        Labels of the jobs, for tables and pictures.
    origin : array_like of int, shape (n, c), optional
        Where each time comes from: 0 measured (or given), 1 interpolated, 2 extrapolated.
    spread : array_like, shape (n, c), optional
        (largest - smallest) / median of the runs behind each time, nan where there is one.
    notes : sequence of str, optional
        What a reader did to the data, a line each. The instance adds what it does not claim.

    Raises
    ------
    InvalidInstance
        Empty, ragged or non-numeric data; an entry out of range (named by row and column); or
        numbers so large that sums of them overflow; a job that fits on no count (named).

    Examples
    --------
    >>> inst = Instance([[4.0, 2.5], [3.0, 1.5]], weights=[1, 2], machines=4)
    >>> inst.jobs, inst.machines, inst.time(0, 3)
    (2, 4, 2.5)
    """

    family = "moldable"
    label = "job"

    jobs: int
    machines: int
    weights: NDArray[np.float64]
    release: NDArray[np.float64]
    edges: NDArray[np.int64]
    """Read-only (e, 2): the first job ends before the second starts; empty without precedence."""
    names: tuple[str, ...]

    def __init__(
        self,
        times: object,
        weights: object = None,
        release: object = None,
        *,
        machines: int | None = None,
        edges: object = None,
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
        require_labels(names, {"weights": weights, "release": release, "slowdowns": slowdowns})
        require_labels(names, resources if isinstance(resources, Mapping) else {})
        table = real_array(times, "times", 2)
        max_procs = None if machines is None else integer(machines, "machines", 1)
        costs = np.ones(len(table)) if weights is None else _per_job(weights, "weights")
        core_instance = _core.moldable.Instance(table, costs, _released(release), max_procs)
        pairs = edge_pairs(edges)
        if len(pairs):
            core_instance = core_instance.after(pairs)
        sharing = profiles.Sharing(resources, capacity, slowdowns, bandwidth)
        if sharing:
            job_names = labels(names, core_instance.jobs, self.label)
            sharing.require_counts(*table.shape)
            sharing = sharing.cut(max_procs)
            core_instance = core_instance.with_sharing(sharing.core(core_instance.times, job_names))
        source = _origin(origin, table.shape)
        scatter = profiles.spread_of(spread, table.shape)
        self._fill(
            core_instance,
            None,
            names,
            None if source is None else source[:, :max_procs],
            None if scatter is None else scatter[:, :max_procs],
            notes,
            sharing,
            pairs,
        )

    @classmethod
    def from_downey(
        cls,
        t1: object,
        A: object,
        sigma: object,
        weights: object,
        machines: int,
        *,
        release: object = None,
        names: Sequence[str] | None = None,
        notes: Iterable[str] = (),
    ) -> Self:
        """Jobs whose times follow Downey's speed-up: t_i(q) = t1_i / S(q; A_i, sigma_i).

        The profiles stay formulas: memory O(n), whatever `machines` is.

        Parameters
        ----------
        t1 : array_like, shape (n,)
            Seconds on one processor, > 0.
        A : array_like, shape (n,)
            Average parallelism, >= 1: the greatest speed-up.
        sigma : array_like, shape (n,)
            Variance of the parallelism, >= 0; 0 = linear up to A.
        weights : array_like, shape (n,)
            >= 0: what a second of each job's completion time costs.
        machines : int
            m processors, 1..1,000,000.
        release : array_like, shape (n,), optional
            Seconds >= 0 from which a job may start. None: all 0.
        names : sequence of str, optional
            Labels of the jobs.
        notes : sequence of str, optional
            What was read, for ``inst.notes``.

        References
        ----------
        Downey's model of speed-up, as Cirne and Berman use it.

        Examples
        --------
        >>> inst = Instance.from_downey([10.0], [4.0], [0.0], weights=[1], machines=10_000)
        >>> inst.time(0, 2), inst.time(0, 10_000)
        (5.0, 2.5)
        """
        numbers = tuple(map(_per_job, (t1, A, sigma), _FORMULA))
        for values, name in zip(numbers, _FORMULA, strict=True):
            if len(values) != len(numbers[0]):
                raise InvalidInstance(f"{name} has {len(values)} entries, t1 has {len(numbers[0])}")
            values.flags.writeable = False
        max_procs, costs = integer(machines, "machines", 1), _per_job(weights, "weights")
        sequential_times, parallelism, variance = numbers
        core_instance = _core.moldable.Instance.from_downey(
            sequential_times, parallelism, variance, costs, _released(release), max_procs
        )
        instance = cls.__new__(cls)
        instance._fill(core_instance, numbers, names, None, None, notes)  # noqa: SLF001
        return instance

    def _fill(
        self,
        core_instance: Any,
        downey: tuple[np.ndarray, ...] | None,
        names: Sequence[str] | None,
        origin: np.ndarray | None,
        spread: np.ndarray | None,
        notes: Iterable[str],
        sharing: profiles.Sharing | None = None,
        edges: np.ndarray | None = None,
    ) -> None:
        sharing = profiles.Sharing() if sharing is None else sharing
        weights, release, pairs = core_instance.weights, core_instance.release, edge_pairs(edges)
        for array in (weights, release, pairs):
            array.flags.writeable = False
        labels_of = labels(names, core_instance.jobs, self.label)
        lines = as_notes(notes)
        if downey is None:
            lines += profiles.property_notes(core_instance.times, labels_of, UNCLAIMED)
        lines += tuple(sharing.notes(labels_of))
        self._set(
            _core=core_instance,
            sharing=sharing,
            edges=pairs,
            jobs=core_instance.jobs,
            machines=core_instance.machines,
            weights=weights,
            release=release,
            names=labels_of,
            downey=downey,
            _origin=origin,
            _spread=spread,
            notes=tuple(dict.fromkeys(lines)),
        )

    downey: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None
    """(t1, A, sigma) of an instance of :meth:`from_downey`, else None."""
    _origin: np.ndarray | None
    _spread: np.ndarray | None

    @property
    def times(self) -> NDArray[np.float64]:
        """Read-only (n, c) table of seconds, c <= m; ``times[i, q-1]`` = job i on q processors.

        For :meth:`from_downey` it is computed at each access, with c = m.
        """
        entries = self.jobs * self.machines
        if self.downey is not None and entries > _MOST_ENTRIES:
            raise InvalidInstance(
                f"times of {self.jobs} formulas on 1..{self.machines} processors would be "
                f"{entries} numbers: use time(job, processors)"
            )
        times: np.ndarray = self._core.times
        return times

    def time(self, job: int, processors: int) -> float:
        """Seconds of a job on a number of processors, as measured; maybe infinite.

        Parameters
        ----------
        job : int
            From 0.
        processors : int
            1..m.

        Examples
        --------
        >>> Instance([[4.0, 2.5]], weights=[1], machines=4).time(0, 3)
        2.5
        """
        return float(self._core.time(integer(job, "job"), integer(processors, "processors", 1)))

    @property
    def has_releases(self) -> bool:
        """Whether any job is released after 0."""
        return bool(self._core.has_releases)

    @property
    def monotone(self) -> bool:
        """Whether times never rise and work q t(q) never falls with processors."""
        if not self._core.monotone_work:
            return False
        if self.downey is not None:
            return True
        best_times = np.minimum.accumulate(self.times, axis=1)
        return bool((self.times <= best_times * (1 + 1e-12)).all())

    @property
    def spread(self) -> NDArray[np.float64]:
        """Read-only (n, c): (largest - smallest) / median of repeated runs, nan for one run."""
        if self._spread is None:
            columns = self.times.shape[1] if self.downey is None else self.machines
            return np.broadcast_to(np.nan, (self.jobs, columns))
        return self._spread

    @property
    def unit_counts(self) -> tuple[int, ...]:
        """Processors, for pictures."""
        return (self.machines,)

    @property
    def origin(self) -> NDArray[np.int8] | None:
        """(n, m) codes as for :class:`Instance`, None where every time was given."""
        if self._origin is None:
            return None
        beyond = self.machines - self._origin.shape[1]
        return np.pad(self._origin, ((0, 0), (0, beyond)), constant_values=2)

    def facts(self) -> dict[str, Any]:
        """Processors, times, edges and what is shared, for a schedule file.

        See :class:`cosched.core.Instance`.
        """
        times = None if self.downey is not None else self.times
        return {**profiles.facts(self.machines, times), **self._links()}

    def _links(self) -> dict[str, Any]:
        """Return what ties the jobs together, as a JSON file says it."""
        edges = {"edges": self.edges.tolist()} if len(self.edges) else {}
        return {**edges, **self.sharing.to_dict()}

    def require_no_edges(self, algorithm: str) -> None:
        """Refuse precedence, for an algorithm that would plan as if there were none.

        Parameters
        ----------
        algorithm : str
            Its public name.

        Raises
        ------
        InvalidInstance
            Jobs wait for others.
        """
        if len(self.edges):
            raise InvalidInstance(
                f"{algorithm} does not know precedence (edges): expected local-search, list-lp, "
                "list-local or optimal, or an instance without edges"
            )

    def select(self, jobs: object) -> Instance:
        """Some of the jobs, with release 0 and without edges.

        Parameters
        ----------
        jobs : array_like of int
            Numbers from 0; their order is that of the result.

        Examples
        --------
        >>> inst = Instance([[4.0], [3.0], [2.0]], weights=[1, 2, 3], release=[0, 5, 9])
        >>> inst.select([2, 0]).weights.tolist()
        [3.0, 1.0]
        """
        chosen = integer_array(jobs, "jobs", 1)
        core_part = self._core.select(chosen)
        part = Instance.__new__(Instance)
        part._fill(  # noqa: SLF001
            core_part,
            None if self.downey is None else tuple(values[chosen] for values in self.downey),
            [self.names[job] for job in chosen],
            None if self._origin is None else self._origin[chosen],
            None if self._spread is None else self._spread[chosen],
            (),
            self.sharing.select(chosen),
        )
        return part

    def without_slowdowns(self) -> Instance:
        """The same jobs with their resources, as if none slowed another: for comparison.

        Examples
        --------
        >>> inst = Instance([[4.0], [3.0]], [1, 1], slowdowns=[[1, 1.5], [1.2, 1]])
        >>> inst.without_slowdowns() == Instance([[4.0], [3.0]], [1, 1])
        True
        """
        return self._reconstruct(*self._unslowed())() if self.sharing else self

    def _reconstruct(self, notes: Iterable[str], sharing: profiles.Sharing) -> partial[Instance]:
        """Make an instance of its times or, of formulas, of what they are made of."""
        arguments: dict[str, Any] = {
            "machines": self.machines,
            "release": self.release,
            "names": self.names,
        }
        if self.downey is not None:
            return partial(Instance.from_downey, *self.downey, self.weights, **arguments)
        arguments |= {"edges": self.edges, "origin": self._origin, "spread": self._spread}
        arguments |= {"weights": self.weights, "notes": notes, **sharing.arguments()}
        return partial(Instance, self.times, **arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reconstruct(self.notes, self.sharing), ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance) or (self.downey is None) != (other.downey is None):
            return NotImplemented if not isinstance(other, Instance) else False
        own_columns = self.downey or (self.times,)
        return (
            self.machines == other.machines
            and self.names == other.names
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.release, other.release)
            and self.sharing == other.sharing
            and set(map(tuple, self.edges)) == set(map(tuple, other.edges))
            and all(map(np.array_equal, own_columns, other.downey or (other.times,)))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        edges = f", {len(self.edges)} edges" if len(self.edges) else ""
        return f"<moldable.Instance: {self.jobs} jobs, m = {self.machines}{edges}>"

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        machines: int | None = None,
        *,
        fit: str = "interpolation",
        extrapolate: bool = False,
        counts: str = "all",
    ) -> Self:
        """Read jobs from a file; the format is told by the suffix and the header.

        * JSON: ``{"machines": m, "jobs": [{"id": ..., "processingTimes": [...]}, ...]}``; a job
          may carry ``weight`` (1) and ``release`` (0), and ``{"t1", "A", "sigma"}`` as ``downey``
          instead of processingTimes. Lists of different lengths are allowed; ``null`` is a count
          on which the job cannot run. Also
          ``{"times": [[...]], "weights": [...], "release": [...], "names": [...]}``.
          Either may carry ``edges``, pairs of numbers from 0, and what the jobs share:
          ``resources``, ``capacity``, ``slowdowns`` {table, rule} and ``bandwidth`` {demand,
          capacity, stall}.
        * Projects of PSPLIB (``.sm``, ``.mm``, known by their content) and Patterson (``.rcp``).
        * WfFormat JSON (WfCommons) with execution: tasks on their ``cores`` (1), in the order of
          their children.
        * CSV: every CSV that :meth:`cosched.packs.Instance.read` takes, with columns ``weight``
          (1), ``release`` (0) and ``after`` (names of the jobs that it waits for, separated by
          blanks or ``;``) where it has them: ``task,weight,release,after,1,2,...``, a row a
          job, or ``task,processors,seconds,weight``, a row a run.

        Parameters
        ----------
        machines : int, optional
            m. None: what a JSON file says, else the largest count in the file.
        fit, extrapolate, counts
            As for :meth:`cosched.packs.Instance.read`. Above the largest count a job gets no
            faster, unless `extrapolate` asks for the fitted model; with ``counts="measured"`` no
            job gets more.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "jobs.csv"
        >>> _ = path.write_text("task,weight,1,2\\na,1,8,4\\nb,3,6,\\n")
        >>> inst = Instance.read(path, machines=4)
        >>> inst.times.tolist(), inst.weights.tolist()
        ([[8.0, 4.0], [6.0, inf]], [1.0, 3.0])
        """
        fields = files.read(path, machines, fit=fit, extrapolate=extrapolate, counts=counts)
        with io.naming(path):
            return cls.from_downey(**fields) if "t1" in fields else cls(**fields)

    def write(self, path: str | PathLike[str]) -> None:
        """Write as .json (any instance), .csv (a table) or .sm, as :meth:`read` takes it.

        Parameters
        ----------
        path : str or path-like
            Ends in .json, .csv, or .sm: rigid jobs with whole times, as PSPLIB has them.

        Raises
        ------
        InvalidInstance
            Another suffix, or a table of formulas too large to make.
        """
        suffix = io.check_suffix(path, (".json", ".csv", ".sm"))
        if suffix == ".sm":
            with io.naming(path):
                text = files.write_psplib(self)
            io.write_text(text, path)
            return
        require_names_of_file(self.names, path)
        jobs = (self.names, self.weights, self.release if self.has_releases else None)
        if suffix == ".json":
            files.write_json(path, self.machines, *jobs, self._profiles(), self._links())
        else:
            profiles.require_plain(path, self.sharing.to_dict())
            after_texts = files.after_column(self.edges, self.names, path)
            files.write_csv(path, *jobs, self.times, after_texts)

    def _profiles(self) -> Iterator[dict[str, Any]]:
        """Return, for each job, what a JSON file says of its times."""
        if self.downey is not None:
            for values in zip(*self.downey, strict=True):
                yield {"downey": dict(zip(_FORMULA, values, strict=True))}
        else:
            for row in self.times:
                yield {"processingTimes": row.tolist()}


def _per_job(values: object, name: str) -> np.ndarray:
    return real_array(values, name, 1) if any_array(values, name, 1).size else np.zeros(0)


def _released(release: object) -> np.ndarray:
    return np.zeros(0) if release is None else real_array(release, "release", 1)


def _origin(origin: object, shape: tuple[int, ...]) -> np.ndarray | None:
    if origin is None:
        return None
    source = integer_array(origin, "origin", 2, 0, 2).astype(np.int8)
    if source.shape != shape:
        raise InvalidInstance(f"origin has shape {source.shape}, times has {shape}")
    source.flags.writeable = False
    return source if source.any() else None
