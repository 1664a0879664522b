"""The instance of the cluster family: a stream of jobs, and nodes."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import _core, core, io
from cosched.cluster import files
from cosched.cluster.files import COLUMNS
from cosched.core.arrays import integer, integer_array, real_array
from cosched.errors import InvalidInstance

if TYPE_CHECKING:
    import pandas as pd


class Instance(core.Instance):
    """Jobs that arrive over time at a machine of identical nodes.

    Parameters
    ----------
    jobs : pandas.DataFrame or mapping
        A row a job: ``submit`` (s), ``tasks`` (identical tasks, >= 1), ``cpu`` and ``memory``
        (needs of one task, fractions of a node in (0, 1]), ``runtime`` (s, with all the CPU it
        needs), and optionally ``estimate`` (requested run time, s; unknown = nan: the run time
        is taken). Other columns are ignored. Any order.
    nodes : int
        Number of nodes, 1..10,000,000. Jobs larger than the machine are accepted here; policies
        that cannot run one refuse it.
    notes : sequence of str, optional
        What a reader did to the data, a line each.

    Raises
    ------
    InvalidInstance
        A missing column, no job, or a bad entry (named by column, row and value).

    Examples
    --------
    >>> jobs = {"submit": [0, 5], "tasks": [2, 1], "cpu": [1, 0.5], "memory": [0.3, 0.1],
    ...         "runtime": [60, 30]}
    >>> inst = Instance(jobs, nodes=2)
    >>> inst
    <cluster.Instance: 2 jobs, 2 nodes>
    """

    family = "cluster"
    plain_schedules = False  # they have yields

    nodes: int
    _columns: dict[str, np.ndarray]

    def __init__(self, jobs: Any, nodes: int, *, notes: Iterable[str] = ()) -> None:
        columns = {name: _column(jobs, name) for name in COLUMNS}
        rows = len(columns["submit"])
        for name, column in columns.items():
            if len(column) != rows:
                raise InvalidInstance(f"jobs: {name} has {len(column)} rows, submit has {rows}")
        tasks = integer_array(columns["tasks"], "jobs['tasks']", 1, 1)
        estimate = np.zeros(0)
        if "estimate" in jobs:
            estimate = _column(jobs, "estimate")
            if len(estimate) != rows:
                raise InvalidInstance(f"jobs: estimate has {len(estimate)} rows, submit has {rows}")
            estimate = np.where(np.isnan(estimate), columns["runtime"], estimate)
        inner = _core.cluster.Instance(
            columns["submit"], tasks, columns["cpu"], columns["memory"], columns["runtime"],
            estimate, integer(nodes, "nodes", 1),
        )  # fmt: skip
        columns["tasks"] = tasks
        if len(estimate):
            columns["estimate"] = estimate
        for column in columns.values():
            column.flags.writeable = False
        self._set(_core=inner, _columns=columns, nodes=inner.nodes, notes=tuple(notes))

    @property
    def jobs(self) -> pd.DataFrame:
        """The jobs in input order (a copy): ``submit, tasks, cpu, memory, runtime[, estimate]``."""
        import pandas as pd

        return pd.DataFrame({name: column.copy() for name, column in self._columns.items()})

    def column(self, name: str) -> np.ndarray:
        """One column of the jobs.

        Parameters
        ----------
        name : str
            ``submit, tasks, cpu, memory, runtime``, or ``estimate`` where it was given.

        Returns
        -------
        numpy.ndarray, shape (n,)
            Read-only, in input order.

        Raises
        ------
        KeyError
            A column that the instance does not have.

        Examples
        --------
        >>> jobs = {"submit": [0, 5], "tasks": [2, 1], "cpu": [1, 0.5], "memory": [0.3, 0.1],
        ...         "runtime": [60, 30]}
        >>> Instance(jobs, nodes=2).column("runtime").tolist()
        [60.0, 30.0]
        """
        return self._columns[name]

    @property
    def unit_counts(self) -> tuple[int, ...]:
        """Lanes of a Gantt chart."""
        return (self.nodes,)

    def __len__(self) -> int:
        return len(self._columns["submit"])

    def __reduce__(self) -> tuple:
        return _rebuild, (dict(self._columns), self.nodes, self.notes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instance)
            and self.nodes == other.nodes
            and self._columns.keys() == other._columns.keys()
            and all(np.array_equal(c, other._columns[k]) for k, c in self._columns.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<cluster.Instance: {len(self)} jobs, {self.nodes} nodes>"

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        nodes: int | None = None,
        *,
        convention: str | None = None,
        week: int | None = None,
    ) -> Instance:
        r"""Read jobs from a file.

        * A log of the Parallel Workloads Archive (``.swf``, ``.swf.gz``): see :func:`from_swf`.
        * CSV with the columns of :class:`Instance`.
        * JSON ``{"nodes": 4, "jobs": {"submit": [...], ...}}``, as :meth:`write` makes it.

        Parameters
        ----------
        path : str or path-like
        nodes : int, optional
            Needed unless the file says it (JSON, or the log's header with ``rigid``).
        convention : {"dfrs", "rigid"}, optional
            How a log's jobs become tasks; default ``"dfrs"``.
        week : int, optional
            Only one week of a log, counted from 0.

        Returns
        -------
        Instance

        Raises
        ------
        InvalidInstance
            The file is malformed, an entry is bad (named by file, line and column), the number of
            nodes is missing, or `convention` or `week` is given for another file than a log.
        OSError
            The file is not there or cannot be read.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "jobs.csv"
        >>> _ = path.write_text("submit,tasks,cpu,memory,runtime\n0,2,1,0.3,60\n5,1,0.5,0.1,30\n")
        >>> Instance.read(path, nodes=2)
        <cluster.Instance: 2 jobs, 2 nodes>
        """
        name = io.bare_name(path)
        if name.endswith(".swf"):
            return from_swf(path, nodes, convention=convention or "dfrs", week=week)
        for argument, value in (("convention", convention), ("week", week)):
            if value is not None:
                raise InvalidInstance(f"{path}: {argument} = {value!r} is for .swf logs only")
        lines: list[int] = []
        if name.endswith(".json"):
            jobs, said = files.read_json(path)
            nodes = said if nodes is None else nodes
        else:
            jobs, lines = files.read_csv(path)
        if nodes is None:
            raise InvalidInstance(f"{path}: nodes are missing: expected their number")
        try:
            return cls(jobs, nodes)
        except InvalidInstance as error:
            where = f"line {lines[error.row]}: " if lines and error.row is not None else ""
            raise InvalidInstance(f"{path}: {where}{error}") from None

    def write(self, path: str | PathLike[str]) -> None:
        """Write as .json (with the nodes) or .csv, as :meth:`read` takes it.

        Parameters
        ----------
        path : str or path-like
            Ends in .json or .csv. Replaced as a whole or not at all.

        Raises
        ------
        InvalidInstance
            Another suffix.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> jobs = {"submit": [0, 5], "tasks": [2, 1], "cpu": [1, 0.5], "memory": [0.3, 0.1],
        ...         "runtime": [60, 30]}
        >>> inst = Instance(jobs, nodes=2)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "jobs.json"
        >>> inst.write(path)
        >>> Instance.read(path) == inst
        True
        """
        if io.check_suffix(path, (".json", ".csv")) == ".json":
            io.write_json({"nodes": self.nodes, "jobs": self._columns}, path)
        else:
            io.write_frame(self.jobs, path)


def from_swf(
    path: str | PathLike[str],
    nodes: int | None = None,
    convention: str = "dfrs",
    *,
    memory_kb: float = 2_097_152,
    week: int | None = None,
) -> Instance:
    r"""Instance of a log in Standard Workload Format.

    Parameters
    ----------
    path : str or path-like
        The log, plain or gzip.
    nodes : int, optional
        ``"dfrs"``: nodes of the machine (HPC2N: 120). ``"rigid"``: processors; None takes the
        log's header (MaxProcs).
    convention : {"dfrs", "rigid"}
        ``"dfrs"``: the paper's reading of HPC2N, tasks on dual-core nodes with needs of CPU and
        memory (:func:`cosched.workloads.dfrs_jobs`). ``"rigid"``: a job takes its processors
        whole (:func:`cosched.workloads.rigid_jobs`).
    memory_kb : float
        Memory of a node (KB), for ``"dfrs"``.
    week : int, optional
        Only the jobs with floor(submit / 604800 s) = `week`; times count from its begin.

    Returns
    -------
    Instance
        Its ``notes`` say what was dropped or repaired.

    Raises
    ------
    InvalidInstance
        No usable job, an unknown convention, missing nodes, or a week without a job.
    OSError
        The file is not there or cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.swf"
    >>> _ = path.write_text(
    ...     "; MaxProcs: 8\n"
    ...     "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    ...     "2 9 0 30 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n"
    ... )
    >>> inst = from_swf(path, convention="rigid")
    >>> inst
    <cluster.Instance: 2 jobs, 8 nodes>
    >>> inst.jobs[["submit", "tasks", "runtime"]].to_numpy().tolist()
    [[0.0, 4.0, 60.0], [9.0, 2.0, 30.0]]
    """
    jobs, machine, notes = files.read_log(path, nodes, convention, memory_kb, week)
    return Instance(jobs, machine, notes=notes)


def _rebuild(columns: dict[str, np.ndarray], nodes: int, notes: tuple[str, ...]) -> Instance:
    return Instance(columns, nodes, notes=notes)


def _column(jobs: Any, name: str) -> np.ndarray:
    try:
        values = jobs[name]
    except (KeyError, TypeError, IndexError):
        raise InvalidInstance(
            f"jobs: no column {name!r}: expected {', '.join(COLUMNS)}[, estimate]"
        ) from None
    return real_array(values, f"jobs[{name!r}]", 1)
