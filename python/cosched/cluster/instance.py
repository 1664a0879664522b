"""The instance of the cluster family: a stream of jobs, and nodes."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import _core, core, io
from cosched.core.arrays import integer, integer_array, real_array
from cosched.errors import InvalidInstance, InvalidSchedule, shorten

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("submit", "tasks", "cpu", "memory", "runtime")


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

    nodes: int
    _columns: dict[str, np.ndarray]

    def __init__(self, jobs: Any, nodes: int) -> None:
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
        self._set(_core=inner, _columns=columns, nodes=inner.nodes)

    @property
    def jobs(self) -> pd.DataFrame:
        """The jobs in input order (a copy): ``submit, tasks, cpu, memory, runtime[, estimate]``."""
        import pandas as pd

        return pd.DataFrame({name: column.copy() for name, column in self._columns.items()})

    def column(self, name: str) -> np.ndarray:
        """One column, read-only."""
        return self._columns[name]

    @property
    def unit_counts(self) -> tuple[int, ...]:
        """Lanes of a Gantt chart."""
        return (self.nodes,)

    def _validate(self, schedule: core.Schedule) -> None:
        # Schedules of this family validate themselves; a plain one has no yields.
        raise InvalidSchedule("no yields: cosched.cluster.Schedule.from_frame makes a schedule")

    def __len__(self) -> int:
        return len(self._columns["submit"])

    def __reduce__(self) -> tuple:
        return Instance, (dict(self._columns), self.nodes)

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
        """Read jobs from a file.

        * A log of the Parallel Workloads Archive (``.swf``, ``.swf.gz``): see :func:`from_swf`.
        * CSV with the columns of :class:`Instance`.
        * JSON ``{"nodes": 4, "jobs": {"submit": [...], ...}}``, as :meth:`write` makes it.

        Parameters
        ----------
        path : path
        nodes : int, optional
            Needed unless the file says it (JSON, or the log's header with ``rigid``).
        convention : {"dfrs", "rigid"}, optional
            How a log's jobs become tasks; default ``"dfrs"``.
        week : int, optional
            Only one week of a log, counted from 0.
        """
        name = str(path)
        if name.endswith((".swf", ".swf.gz")):
            return from_swf(path, nodes, convention=convention or "dfrs", week=week)
        for argument, value in (("convention", convention), ("week", week)):
            if value is not None:
                raise InvalidInstance(f"{path}: {argument} = {value!r} is for .swf logs only")
        lines: list[int] = []
        if Path(name).suffix == ".json":
            data = io.read_json(path)
            if not isinstance(data, dict) or not isinstance(data.get("jobs"), dict):
                raise InvalidInstance(f"{path}: expected an object with 'jobs' (lists by column)")
            jobs, nodes = data["jobs"], data.get("nodes") if nodes is None else nodes
        else:
            jobs, lines = _read_csv(path)
        if nodes is None:
            raise InvalidInstance(f"{path}: nodes are missing: expected their number")
        try:
            return cls(jobs, nodes)
        except InvalidInstance as error:
            row = re.match(r"jobs\S*\[(\d+)\] = ", str(error))
            where = f"line {lines[int(row[1])]}: " if row and lines else ""
            raise InvalidInstance(f"{path}: {where}{error}") from None

    def write(self, path: str | PathLike[str]) -> None:
        """Write as .json (with the nodes) or .csv, as :meth:`read` takes it."""
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
    """Instance of a log in Standard Workload Format.

    Parameters
    ----------
    path : path
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
    """
    from cosched import workloads

    if convention not in ("dfrs", "rigid"):
        raise InvalidInstance(f"convention = {shorten(convention)}: expected dfrs or rigid")
    table, report = workloads.read_swf(path)
    if not report.kept:
        reasons = "; ".join(line.strip() for line in str(report).splitlines()[1:])
        raise InvalidInstance(f"{path}: no usable job: {reasons}")
    if convention == "rigid":
        jobs = workloads.rigid_jobs(table)
        if nodes is None:
            nodes = _header_processors(path, report.header)
    else:
        jobs = workloads.dfrs_jobs(table, memory_kb)
    if nodes is None:
        raise InvalidInstance(
            f"{path}: nodes are missing: expected their number (the log's header has processors)"
        )
    repaired = jobs.attrs.get("repaired", {})
    notes = [
        *str(report).splitlines(),
        *(f"  {n} jobs: {what}" for what, n in repaired.items() if n),
    ]
    if week is not None:
        jobs = workloads.week_of(jobs, integer(week, "week", 0))
        if not len(jobs):
            last = int(table["submit"].max() // workloads.WEEK)
            raise InvalidInstance(f"{path}: week {week} has no job: the last week is {last}")
        notes.append(f"  week {week}: {len(jobs)} jobs")
    instance = Instance(jobs, nodes)
    object.__setattr__(instance, "notes", tuple(notes))
    return instance


def _header_processors(path: Any, header: Any) -> int:
    for key in ("MaxProcs", "MaxNodes"):
        text = str(header.get(key, "")).split()
        if text and text[0].isdigit():
            return int(text[0])
    raise InvalidInstance(
        f"{path}: nodes are missing: expected the number of processors (no MaxProcs in the header)"
    )


def _column(jobs: Any, name: str) -> np.ndarray:
    try:
        values = jobs[name]
    except (KeyError, TypeError, IndexError):
        raise InvalidInstance(
            f"jobs: no column {name!r}: expected {', '.join(COLUMNS)}[, estimate]"
        ) from None
    return real_array(values, f"jobs[{name!r}]", 1)


def _read_csv(path: Any) -> tuple[dict[str, list[float]], list[int]]:
    """Columns of jobs, and the line of each job."""
    table = io.read_csv(path)
    header = [text.strip().lower() for text in table.header]
    wanted = [name for name in (*COLUMNS, "estimate") if name in header]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InvalidInstance(f"{path}: line 1: no column {missing[0]!r}")
    for name in wanted:
        if header.count(name) > 1:
            raise InvalidInstance(f"{path}: line 1: {header.count(name)} columns {name!r}")
    jobs: dict[str, list[float]] = {name: [] for name in wanted}
    for line, cells in table.rows:
        for name in wanted:
            text = cells[header.index(name)].strip()
            try:
                jobs[name].append(float(text) if text or name != "estimate" else np.nan)
            except ValueError:
                raise InvalidInstance(
                    f"{path}: line {line}, column '{name}': {shorten(text)}: expected a number"
                ) from None
    return jobs, [line for line, _ in table.rows]
