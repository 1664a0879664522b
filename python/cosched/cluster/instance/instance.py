"""The instance of the cluster family: a stream of jobs, and nodes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from cosched import _core, core, io
from cosched.cluster import files
from cosched.cluster.instance import arguments
from cosched.cluster.machine import Machine, machine_of
from cosched.cluster.machine.constraints import constraint_notes
from cosched.cluster.machine.parts import managed_resources, resources_of, site_of
from cosched.core.arrays import any_array, integer, integer_array, nonnegative
from cosched.core.freed_memory import return_freed_memory
from cosched.errors import InvalidInstance, optional, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind, as_notes, notes_of_kind
from cosched.version import installed_version


class PartitionLayout(NamedTuple):
    """The parts of a machine that its partitions cut it into; all empty without partitions."""

    #: Nodes of each part, shape (parts,).
    part_sizes: np.ndarray
    #: The parts that each job may use, as bits, shape (jobs,).
    part_masks: np.ndarray
    #: Priority of each job's partition, shape (jobs,).
    priorities: np.ndarray


class Instance(core.Instance):
    """Jobs that arrive over time at a machine of identical nodes.

    Parameters
    ----------
    jobs : pandas.DataFrame or mapping
        A row a job: ``submit`` (s), ``tasks`` (identical tasks, >= 1), ``cpu`` and ``memory``
        (needs of one task, fractions of a node in (0, 1]), ``runtime`` (s, with all the CPU it
        needs), and optionally ``estimate`` (requested run time, s; unknown = nan: the run time
        is taken; no limit = inf: plans expect no end of the job). Where known: ``id`` (how messages
        and outputs call the job; default the row), ``user, group, partition, status, line, wait``
        (s in the queue, as the log has it),
        ``running`` (at the begin of a part of a log: batch policies start them first),
        ``eligible`` (s, from ``submit`` on: no dependency, hold or begin time keeps it any more;
        policies get the job then, and waits and stretches count from then), and what the whole job
        holds: ``memory_gb, gpus, gpu_type, threads``, on so many ``nodes`` of the machine, equal
        parts on each; what it used: ``used_memory_gb`` (peak, of the whole job), ``cpu_seconds``,
        ``cpu_efficiency``, ``gpu_efficiency`` (0..1), its ``job_name``, the ``hosts`` on which it
        ran, as Slurm's host list (``n[1-4,7]``), and ``suspended`` (s of its run time and of its
        estimate in which it held its nodes and stood still). In the words of sbatch:
        ``constraint`` (all policies but DFRS follow it; a job whose constraint no nodes satisfy is
        refused), and for ``slurm-backfill``
        alone ``exclusive`` (``yes``), ``licenses, dependency, nodelist, exclude, nice``, ``array``
        (``7%2``: its job, and how many tasks may run), ``name``, ``memory_per`` (``node,
        core``, or ``all`` of its nodes), ``gpus_per`` (``node``). Other columns are ignored. Any
        order.
    nodes : int
        Number of nodes, 1..10,000,000. Jobs larger than the machine are accepted here; policies
        that cannot run one refuse it.
    notes : sequence of Note or str, optional
        What a reader did to the data, a line each.
    source : str
        The name of the file, for messages.
    min_runtime : float
        Values, bounds and metrics are of the jobs with this run time or more (s); all jobs run.
    machine : Machine, optional
        Its cores are the nodes, and each job uses those of its ``partition`` only (all, where the
        job has none): batch policies see to it, DFRS policies refuse it, bounds ignore it. Memory
        and GPUs count where both the machine and the jobs say them. An ``estimate`` is at most the
        partition's ``max_time``.
    begins : datetime.datetime, optional
        When the jobs' clock is 0, for reports.
    running : pandas.DataFrame or mapping, optional
        Jobs that run at second 0: ``job`` (its id), ``nodes`` (host list, numbers, or cores by
        node), ``start`` (s, at most 0), ``limit`` (s from its start). ``runtime`` is from its
        start, too; the instance has what is left, and in ``ran`` how long they have run. All
        policies go on from there; which nodes they hold matters to ``slurm-backfill`` alone.

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
    #: Name of the file that the jobs come from, or empty.
    source: str
    #: Jobs below this run time (s) are not measured.
    min_runtime: float
    #: The machine with its partitions, where it was given.
    machine: Machine | None
    #: The date at which the jobs' clock is 0, where the log says it.
    begins: datetime | None
    _columns: dict[str, np.ndarray]
    _facts: dict[str, np.ndarray]
    _raw_estimates: dict[str, np.ndarray]

    def __init__(
        self,
        jobs: object,
        nodes: int,
        *,
        notes: Iterable[str] = (),
        source: str = "",
        min_runtime: float = 0.0,
        machine: Machine | None = None,
        begins: datetime | None = None,
        running: object = None,
    ) -> None:
        if machine is not None and not isinstance(machine, Machine):
            raise InvalidInstance(f"machine = {shorten(machine)}: expected a Machine")
        if begins is not None and not isinstance(begins, datetime):
            raise InvalidInstance(f"begins = {shorten(begins)}: expected a datetime")
        if not isinstance(source, str):
            raise InvalidInstance(f"source = {shorten(source)}: expected the name of a file")
        if running is not None:
            names = machine.slurm.names if machine is not None and machine.slurm else ()
            count = len(arguments.unit_counts(integer(nodes, "nodes", 1), machine))
            jobs = arguments.with_running(jobs, running, count, names)
        columns, facts, uncut = arguments.columns_of(jobs, machine)
        inner = _core.cluster.Instance(
            columns.get("eligible", columns["submit"]),
            columns["tasks"],
            columns["cpu"],
            columns["memory"],
            columns["runtime"],
            columns.get("estimate", np.zeros(0)),
            integer(nodes, "nodes", 1),
            id=[str(job_id) for job_id in facts["id"].tolist()] if "id" in facts else [],
            line=facts.get("line", np.zeros(0)),
            source=source,
        )
        for column in (*columns.values(), *facts.values()):
            column.flags.writeable = False
        minimum = nonnegative(min_runtime, "min_runtime", "seconds >= 0")
        texts = arguments.with_measured_jobs(notes, columns["runtime"], minimum)
        if "constraint" in facts:
            kinds = None if machine is None else machine.nodes
            texts += constraint_notes(facts["constraint"].tolist(), kinds)
        self._set(
            _core=inner,
            _columns=columns,
            _facts=facts,
            _raw_estimates=uncut,
            nodes=inner.nodes,
            notes=tuple(dict.fromkeys((*texts, *(() if machine is None else machine.notes)))),
            source=source,
            min_runtime=minimum,
            machine=machine,
            begins=begins,
        )
        if not self.measured.any():
            raise InvalidInstance(
                f"min_runtime = {min_runtime:g}: the longest job runs for "
                f"{columns['runtime'].max():g} s"
            )

    @property
    def jobs(self) -> pd.DataFrame:
        """The jobs in input order (a copy).

        ``id, submit, tasks, cpu, memory, runtime[, eligible, estimate]``, and where known ``user,
        group, partition, status, line, wait, running, memory_gb, gpus, gpu_type, threads, nodes,
        job_name, hosts, used_memory_gb, cpu_seconds, cpu_efficiency, gpu_efficiency``;
        with ``eligible`` also ``wait_blocked`` = eligible - submit (s), for which no scheduler
        answers.
        """
        columns = {"id": self.ids, **self._all_columns}
        if "eligible" in columns:
            columns["wait_blocked"] = columns["eligible"] - columns["submit"]
        return pd.DataFrame({name: column.copy() for name, column in columns.items()})

    @property
    def raw_columns(self) -> dict[str, np.ndarray]:
        """The columns with the estimates of the input: nan where a job has none, and not cut to a
        limit of the machine."""
        return {**self._all_columns, **self._raw_estimates}

    @property
    def ids(self) -> np.ndarray:
        """What each job is called: the log's own number or name, else its row."""
        return self._facts["id"] if "id" in self._facts else np.arange(len(self))

    def _given_names(self) -> tuple[str, ...] | None:
        return tuple(map(str, self.ids.tolist())) if "id" in self._facts else None

    @property
    def measured(self) -> np.ndarray:
        """Which jobs count in values, bounds and metrics, by :attr:`min_runtime`."""
        return self._columns["runtime"] >= self.min_runtime

    def replace(self, **columns: object) -> Instance:
        """The same jobs with other columns.

        Parameters
        ----------
        **columns : array_like, shape (n,)
            By name.
        """
        return self.with_jobs(self.raw_columns | columns)

    def take(self, rows: np.ndarray) -> Instance:
        """Some of the jobs, called what they are called here.

        Parameters
        ----------
        rows : array of int or bool

        Raises
        ------
        InvalidInstance
            Rows that are neither, or that there are not.
        """
        chosen = _rows(rows, len(self))
        jobs = {"id": self.ids, **self.raw_columns}
        subset = Instance(
            {name: column[chosen] for name, column in jobs.items()},
            self.nodes,
            **self._keyword_arguments,
        )
        rows_of_log = self.rows_of_log[chosen]
        is_repeated = len(np.unique(rows_of_log)) < len(rows_of_log)
        return subset if is_repeated else subset._with_rows_of_log(rows_of_log)

    def with_notes(self, notes: Iterable[str]) -> Instance:
        """The same jobs with more notes.

        Columns, results that are kept and the instance of the core are shared, not copied.

        Parameters
        ----------
        notes : iterable of Note or str
            After those that are there. Which jobs are measured is the last note.

        Examples
        --------
        >>> jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9]}
        >>> Instance(jobs, nodes=4).with_notes(["measured in March"]).notes
        ('measured in March',)
        """
        of_measured_jobs = notes_of_kind(self.notes, NoteKind.MEASURED_JOBS)
        other_notes = [
            note
            for note in (*self.notes, *as_notes(notes))
            if note.kind is not NoteKind.MEASURED_JOBS
        ]
        fields = {name: value for name, value in vars(self).items() if name != "_memo"}
        fields["notes"] = tuple(dict.fromkeys((*other_notes, *of_measured_jobs)))
        instance = object.__new__(type(self))
        instance._set(**fields)
        instance._memo.update(self._memo)
        return instance

    @property
    def _keyword_arguments(self) -> dict[str, Any]:
        """Arguments of the constructor beside the columns and the nodes."""
        names = ("notes", "source", "min_runtime", "machine", "begins")
        return {name: getattr(self, name) for name in names}

    def with_jobs(self, jobs: object, **arguments: object) -> Instance:
        """Other jobs on the same machine.

        As many jobs are the same rows of the log; without a bound here, they have none there.

        Parameters
        ----------
        jobs : pandas.DataFrame or mapping
            As of the constructor.
        **arguments
            Arguments of the constructor that change.

        Examples
        --------
        >>> jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9]}
        >>> Instance(jobs, nodes=4).with_jobs(jobs | {"runtime": [5]}).column("runtime").tolist()
        [5.0]
        """
        instance = Instance(jobs, self.nodes, **(self._keyword_arguments | arguments))
        if len(instance) == len(self):
            instance._with_rows_of_log(self.rows_of_log)
        return instance.without_bound() if self.cached("no bound") else instance

    @property
    def rows_of_log(self) -> np.ndarray:
        """Which row of the log each job is, shape (n,).

        The log is the instance that these jobs were taken from by :meth:`take`, at first hand or
        over further instances. Numbers of jobs do not tell this: in a log they may come back.
        """
        return self.once("rows of log", lambda: np.arange(len(self)))

    def _with_rows_of_log(self, rows_of_log: np.ndarray) -> Instance:
        """Return the instance itself, just made, whose jobs are these rows of a log."""
        self.once("rows of log", lambda: rows_of_log)
        return self

    def without_bound(self) -> Instance:
        """The instance itself; from now on its results hold no lower bound.

        The bound of a large log takes longer than most policies.

        Examples
        --------
        >>> jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [9]}
        >>> Instance(jobs, nodes=4).without_bound().column("runtime").tolist()
        [9.0]
        """
        self.once("no bound", lambda: True)
        self.once("bound", lambda: None)
        return self

    def unbounded(self) -> Instance:
        """The same jobs, whose results hold no lower bound; all data are shared, not copied."""
        instance = object.__new__(type(self))
        instance._set(**{name: value for name, value in vars(self).items() if name != "_memo"})
        has_other_value = ("no bound", "bound")
        instance._memo.update(
            {key: value for key, value in self._memo.items() if key not in has_other_value}
        )
        return instance.without_bound()

    @property
    def partition_layout(self) -> PartitionLayout:
        """Nodes of each part of the machine by partitions (none: there are no partitions), for each
        job the parts that it may use as bits, and the priority of its partition. InvalidInstance: a
        job of a partition that the machine does not have, or more than 64 parts."""
        return self.once("partition layout", self._partition_layout)

    def _partition_layout(self) -> PartitionLayout:
        """Return the layout, computed from the machine and the column ``partition``."""
        sizes, masks, priorities = arguments.parts_of(
            self.machine, self._facts.get("partition"), self.ids
        )
        part_masks = arguments.with_parts_of_running(masks, self._all_columns, self.machine)
        return PartitionLayout(sizes, part_masks, priorities)

    @property
    def core_nodes(self) -> Any:
        """The machine's nodes with memory and GPUs, and the needs of the jobs, for the core; None:
        policies hand out cores alone."""
        return self.once("core nodes", self._core_nodes)

    def _core_nodes(self) -> Any:
        """Return the table of the core, computed from the machine and the needs of the jobs."""
        arguments.check_held_resources(
            self._all_columns, managed_resources(self._all_columns, self.machine), self.machine
        )
        return site_of(self._all_columns, self.machine, self.held_units)

    @property
    def held_units(self) -> list[list[int]]:
        """Numbers of nodes or cores that jobs hold which run at the begin, empty for one that takes
        what is free; without a table ``running``: no lists."""
        return self.once(
            "held units", lambda: arguments.held_units(self._all_columns, self.nodes, self.machine)
        )

    @property
    def resources(self) -> list[tuple[np.ndarray, float]]:
        """What counts beside cores (KB of memory, GPUs, and GPUs of each type that jobs ask for):
        how much each job holds of it, and how much the machine has."""
        return self.once("resources", lambda: resources_of(self._all_columns, self.machine))

    @property
    def _all_columns(self) -> dict[str, np.ndarray]:
        """The columns of the core, and those that only reports and policies read."""
        return {**self._columns, **self._facts}

    @property
    def column_names(self) -> frozenset[str]:
        """Names of the columns of the input; ``id`` always exists and is not among them."""
        return frozenset((*self._columns, *self._facts))

    def _renamed(self, old: str, new: str) -> Any:
        """Return the attribute `new`, with a warning that `old` is its deprecated name."""
        warnings.warn(f"Instance.{old} is now Instance.{new}", DeprecationWarning, stacklevel=3)
        return getattr(self, new)

    @property
    def given(self) -> dict[str, np.ndarray]:
        """Deprecated name of :attr:`raw_columns`."""
        return self._renamed("given", "raw_columns")

    @property
    def known(self) -> frozenset[str]:
        """Deprecated name of :attr:`column_names`."""
        return self._renamed("known", "column_names")

    @property
    def held(self) -> list[list[int]]:
        """Deprecated name of :attr:`held_units`."""
        return self._renamed("held", "held_units")

    @property
    def layout(self) -> PartitionLayout:
        """Deprecated name of :attr:`partition_layout`."""
        return self._renamed("layout", "partition_layout")

    @property
    def site(self) -> Any:
        """Deprecated name of :attr:`core_nodes`."""
        return self._renamed("site", "core_nodes")

    def column(self, name: str) -> np.ndarray:
        """One column of the jobs.

        Parameters
        ----------
        name : str
            A column of :attr:`jobs`.

        Returns
        -------
        numpy.ndarray, shape (n,)
            Read-only, in input order.

        Raises
        ------
        KeyError
            A column that the instance does not have.
        """
        if name == "id":
            return self.ids
        if name == "eligible" and name not in self._columns:
            name = "submit"
        column = self._columns.get(name) if name in self._columns else self._facts.get(name)
        if column is None:
            raise KeyError(f"no column {shorten(name)}")
        return column

    @property
    def unit_counts(self) -> tuple[int, ...]:
        """Lanes of a Gantt chart."""
        return (self.nodes,)

    def __len__(self) -> int:
        return len(self._columns["submit"])

    def __reduce__(self) -> tuple:
        return partial(_remade, **self._keyword_arguments), (
            self.raw_columns,
            self.nodes,
            self.rows_of_log,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instance)
            and self.nodes == other.nodes
            and self._columns.keys() == other._columns.keys()
            and all(np.array_equal(c, other._columns[k]) for k, c in self._columns.items())  # noqa: SLF001
            and self.ids.tolist() == other.ids.tolist()
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
        cores_per_node: int | None = None,
        memory_per_node: float | str | None = None,
        week: int | None = None,
        begin: float | None = None,
        until: float | None = None,
        drop: str | Iterable[str] | None = None,
        min_runtime: float = 0.0,
        machine: Machine | str | PathLike[str] | None = None,
        no_bound: bool = False,
        timezone: str | None = None,
        wait_from: str = "eligible",
        include_running: bool = False,
        delimiter: str | None = None,
        slurm_version: str | None = None,
        accounts: str | PathLike[str] | None = None,
        approximate: bool = False,
    ) -> Instance:
        r"""Read jobs from a file.

        * A log of the Parallel Workloads Archive (``.swf``, ``.swf.gz``): see :func:`from_swf`.
        * CSV with the columns of :class:`Instance`.
        * What ``sacct -P`` printed (``.txt``, or known by its header), on a `machine`: see
          :func:`from_sacct`.
        * Submissions with run times and options of sbatch (``.events``), on a `machine`.
        * JSON ``{"nodes": 4, "jobs": {"submit": [...], ...}}``, as :meth:`write` makes it.

        Parameters
        ----------
        nodes : int, optional
            Needed unless the file says it (JSON, or a log's header).
        convention : {"dfrs", "rigid"}, optional
            How a log's jobs become tasks; default ``"dfrs"``.
        cores_per_node, memory_per_node, week, begin, until
            For logs (a part of one also for sacct output): see :func:`from_swf`.
        drop : str or iterable of str, optional
            Jobs to leave out, of any file: see :func:`from_swf`.
        min_runtime : float
            Values, bounds and metrics are of jobs with this run time or more (s).
        machine : Machine or path-like, optional
            The machine with its partitions (``machine.toml``): its cores are the processors of a
            log, which is then read as ``"rigid"``.
        no_bound : bool
            No bound beside results, where it would take too long.
        timezone, include_running, delimiter
            Of sacct output: see :func:`from_sacct`.
        wait_from : {"eligible", "submit"}
            From when waits and stretches count, and policies get a job: when no dependency, begin
            time, hold or array limit keeps it any more (where known), or from its submission.
        slurm_version, accounts
            For a slurm.conf: see :meth:`Machine.read`.
        approximate : bool
            ``slurm-backfill`` leaves out what it has no rule for, see :meth:`Machine.approximated`.

        Raises
        ------
        InvalidInstance
            The file is malformed, an entry is bad (named by file, line and column), the number of
            nodes is missing, or an argument of logs is given for another file.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "jobs.csv"
        >>> _ = path.write_text("submit,tasks,cpu,memory,runtime\n0,2,1,0.3,60\n5,1,0.5,0.1,30\n")
        >>> Instance.read(path, nodes=2)
        <cluster.Instance: 2 jobs, 2 nodes>
        """
        of_slurm = {"slurm_version": slurm_version, "accounts": accounts}
        machine_read = None if machine is None else machine_of(machine, **of_slurm)
        if machine_read is None:
            _refuse_settings_of_slurm(of_slurm)
        if approximate and machine_read is not None:
            machine_read = machine_read.approximated()
        options = files.JobFileOptions(
            nodes=nodes,
            convention=convention,
            cores_per_node=cores_per_node,
            memory_per_node=memory_per_node,
            part=files.PartOfLog(week, begin, until),
            drop=drop,
            machine=machine_read,
            timezone=timezone,
            include_running=include_running,
            delimiter=delimiter,
        )
        log_table = files.read_jobs(path, options)
        jobs, wait_notes = files.apply_wait_origin(
            log_table.jobs, wait_from, of_log=bool(log_table.source)
        )
        jobs, assumed = files.with_default_accounts(jobs, machine_read)
        log_table = log_table._replace(jobs=jobs, notes=(*log_table.notes, *wait_notes, *assumed))
        arguments = dict[str, Any](
            min_runtime=min_runtime, machine=machine_read, begins=log_table.begins
        )
        try:
            instance = cls(
                log_table.jobs,
                log_table.nodes,
                notes=log_table.notes,
                source=log_table.source or str(path),
                **arguments,
            )
        except InvalidInstance as error:
            if log_table.source and error.row is None:
                raise
            lines = list(log_table.jobs["line"]) if log_table.source else log_table.lines
            where = f"line {lines[error.row]}: " if lines and error.row is not None else ""
            raise InvalidInstance(f"{path}: {where}{error}") from None
        if drop is not None and not log_table.source:
            jobs_left, left_out = files.dropped(instance.jobs, instance.nodes, drop, machine_read)
            notes = (*log_table.notes, files.note_of_dropped(left_out))
            instance = cls(jobs_left, instance.nodes, notes=notes, source=str(path), **arguments)
        del log_table, jobs
        return_freed_memory()
        return instance.without_bound() if no_bound else instance

    def write(self, path: str | PathLike[str], *, anonymise: bool = False) -> tuple[Note, ...]:
        """Write the jobs as a file that :meth:`read` takes, or as a table for other programs.

        Parameters
        ----------
        path : str or path-like
            Ends in .json (with the nodes), .csv, .swf (Standard Workload Format, with header
            comments), or .parquet, which needs pyarrow. Replaced as a whole or not at all.
        anonymise : bool
            Numbers instead of names of users, groups, accounts, partitions and QOS, each name the
            same number throughout; no names of jobs and nodes, no comments.

        Returns
        -------
        tuple of Note
            What the format cannot say.

        Examples
        --------
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.swf"
        >>> jobs = {"submit": [0], "tasks": [2], "cpu": [1], "memory": [1], "runtime": [60],
        ...         "user": ["ann"]}
        >>> Instance(jobs, nodes=4).write(path)
        ()
        >>> path.read_text().splitlines()[-1]
        '1 0 -1 60 2 -1 -1 2 -1 -1 -1 1 -1 -1 -1 -1 -1 -1'
        """
        suffix = io.check_suffix(path, (".json", ".csv", ".swf", ".parquet"))
        raw_estimates = {
            name: self.raw_columns[name] for name in ("estimate",) if name in self.raw_columns
        }
        jobs = self.jobs.assign(**raw_estimates)
        if anonymise:
            jobs = files.without_names(jobs)
        if suffix == ".swf":
            log = files.swf_log(jobs, self.nodes, self.source, self.begins, installed_version())
            io.write_text(log.text, path)
            return tuple(log.notes)
        if suffix == ".parquet":
            optional("pyarrow", extra="studies")
            with io.replacing(path) as temporary:
                jobs.to_parquet(temporary, index=False)
        elif suffix == ".json":
            columns = self.raw_columns
            if anonymise:
                columns = {name: jobs[name].to_numpy() for name in self.raw_columns if name in jobs}
            io.write_json({"nodes": self.nodes, "jobs": files.json_columns(columns)}, path)
        else:
            io.write_frame(jobs, path, exact=True)
        return ()


def _refuse_settings_of_slurm(settings: Mapping[str, object]) -> None:
    """Refuse settings that only a slurm.conf uses, where there is no machine."""
    for name, value in settings.items():
        if value is not None:
            raise InvalidInstance(
                f"{name} = {shorten(str(value))}: used with a slurm.conf only: expected a machine "
                "(--machine)"
            )


def _remade(jobs: object, nodes: int, rows_of_log: np.ndarray, **arguments: Any) -> Instance:
    """Return an instance that another process sends."""
    instance = Instance(jobs, nodes, **arguments)
    return instance._with_rows_of_log(rows_of_log)  # noqa: SLF001


def _rows(rows: object, jobs: int) -> np.ndarray:
    mask = any_array(rows, "rows", 1)
    if mask.dtype == bool and mask.ndim == 1:
        if len(mask) != jobs:
            raise InvalidInstance(
                f"rows: {len(mask)} of bool, expected one for each of {jobs} jobs"
            )
        return np.flatnonzero(mask)
    return integer_array(rows, "rows", 1, -jobs, jobs - 1)
