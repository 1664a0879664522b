"""The core's simulator of slurmctld for the jobs of one instance on one machine.

The class holds what all runs share. Build it once, then run it with different clocks: `run` for one
run with its decisions, `simulate_many` and `simulate_until` for tables of replications.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from os import sched_getaffinity

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import also_of, place_of_job
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.machine import Machine
from cosched.errors import CoschedError, InfeasibleError, InvalidInstance, shorten
from cosched.notes import Note, NoteKind, notes_of_kind
from cosched.slurm.conf import settings as conf
from cosched.slurm.requests.associations import filter_by_partition_acl, ignored_tres_notes
from cosched.slurm.requests.core_job_builder import Requests
from cosched.slurm.requests.job_placement import PlacementContext, partitions_of_jobs
from cosched.slurm.requests.log_requests import requests_of_log
from cosched.slurm.requests.requested_gpus import gpus_of_jobs, gpus_of_nodes
from cosched.slurm.requests.running_jobs import with_running
from cosched.slurm.trace.of_core import TraceNames
from cosched.slurm.twin.build_scenario import ScenarioBuilder
from cosched.slurm.twin.core_clocks import ClocksLike, clocks_of_replications, core_clocks
from cosched.slurm.twin.never_starts import why_no_nodes, why_out_of_bounds
from cosched.slurm.twin.prepare_jobs import check_settings, check_time_range
from cosched.slurm.twin.schedule_units import (
    ScheduleColumns,
    Units,
    node_cores_of,
    partition_ranges_of,
    units_of,
)

#: How the core's messages name a job: by its row.
_JOB_BY_ROW = re.compile(r"\bjob ([0-9]+)\b")


class Twin:
    """The core's simulator of slurmctld for the jobs of one instance on one machine.

    Parameters
    ----------
    instance : Instance
        The jobs.
    machine : Machine or None
        Nodes, partitions and the settings of its slurm.conf; None: a line of nodes, one partition.
    parameters : mapping
        Scheduler parameters in Slurm's units, in place of the machine's.
    requests : Requests, optional
        What jobs ask for beyond the columns of the instance; default: what the columns say.
    version : str, optional
        Version of Slurm whose rules are followed; default: the machine's.
    approximate : bool
        Leave out settings that are not followed, with a note; else they are refused.
    priorities : {"computed", "given"}
        Given: the column ``priority`` of the instance.

    Raises
    ------
    InvalidInstance
        The machine does not fit the instance, or has settings that are not followed.
    InfeasibleError
        The machine does not hold a job.
    """

    def __init__(
        self,
        instance: Instance,
        machine: Machine | None,
        parameters: Mapping[str, float],
        *,
        requests: Requests | None = None,
        version: str | None = None,
        approximate: bool = False,
        priorities: str = "computed",
    ) -> None:
        if priorities not in ("computed", "given"):
            raise InvalidInstance(f"priorities = {shorten(priorities)}: expected computed or given")
        settings = (machine.slurm if machine is not None else None) or conf.SlurmSettings()
        #: Settings that are not followed are left out, with a note.
        self.approximate = approximate or settings.approximate
        if not self.approximate:
            check_settings(settings)
        check_time_range(instance)
        self.instance = instance
        self.machine = machine
        self.settings = settings
        #: Whether the rules are those of Slurm 24.11; else of 22.05.
        self.follows_24_rules = conf.rules_of(version or settings.version) == "24.11"
        #: Units of the instance by node of the machine.
        self.node_cores = node_cores_of(instance, machine)
        #: Whether jobs have cores of their own, several jobs on a node; else whole nodes.
        self.shares_nodes = _shares_nodes(instance, machine, settings, self.node_cores)
        #: Ranges of nodes by name of the partition, in the order of the partitions' numbers.
        self.partition_ranges = partition_ranges_of(machine, len(self.node_cores))
        self.partition_names = list(self.partition_ranges)
        default_partition = settings.default_partition or self.partition_names[0]
        #: Number of each job's first partition, and, by row of a job in more than one, of all.
        self.partition_of_job, self.multi_partition_jobs = partitions_of_jobs(
            instance, self.partition_names, default_partition
        )
        #: Where the jobs may run.
        self.placement = PlacementContext(
            instance,
            self.node_cores,
            self.partition_ranges,
            self.partition_of_job,
            self.shares_nodes,
        )
        #: Whole nodes that each job needs at least, shape (jobs,).
        self.node_counts = self.placement.required_node_counts()
        #: What is simulated otherwise than the machine and the jobs say.
        self.notes: list[Note] = list(settings.left_out)
        if not self.shares_nodes:
            self.multi_partition_jobs, partition_notes = (
                self.placement.drop_heterogeneous_partitions(self.multi_partition_jobs)
            )
            self.notes += partition_notes
        self.notes += _version_notes(version or settings.version, self.follows_24_rules)
        if machine is not None:
            self.notes += ignored_tres_notes(settings.priority_tres, machine)
        #: What jobs ask for beyond the columns of the instance.
        self.requests = requests or self._requests_from_log()
        #: How long each job has run at second 0 (s), shape (jobs,).
        self.elapsed = np.zeros(len(instance))
        if requests is None and "running" in instance.column_names:
            is_running = numbers_of(instance, "running") > 0
            self.elapsed = np.where(is_running, numbers_of(instance, "ran"), 0.0)
            self.requests = self._with_running_jobs(self.requests)
        try:
            self._core = self._build_core(parameters, uses_given_priorities=priorities == "given")
        except (InfeasibleError, InvalidInstance) as error:
            raise self._with_job_names(error) from None

    def run(
        self,
        clocks: ClocksLike,
        *,
        with_reasons: bool = False,
        with_plans: bool = False,
        recorder: _core.slurm.TraceRecorder | None = None,
        remembers: bool = True,
    ) -> _core.slurm.Outcome:
        """Simulate once.

        Parameters
        ----------
        clocks : _core.slurm.Clocks or mapping
            The clocks of slurmctld (s). Recorded times among them (``cycle_times``,
            ``limit_check_times``, ``main_passes``, ``slices``, and by job ``run_lengths``,
            ``start_delays``, ``epilog_delays``) replace those of the rules.
        with_reasons : bool
            Keep the decisions with their reasons.
        with_plans : bool
            Keep the reservations that each backfill cycle planned.
        recorder : _core.slurm.TraceRecorder, optional
            Gets the traces of the cycles and passes that it selects.
        remembers : bool
            Reuse negative results of earlier cycles. No result depends on it.
        """
        return self._core.simulate(
            clocks=core_clocks(clocks),
            with_reasons=with_reasons,
            with_plans=with_plans,
            trace=recorder,
            remembers=remembers,
        )

    def simulate_many(
        self,
        clocks: Sequence[Mapping[str, float]],
        *,
        run_lengths: np.ndarray | None = None,
        arrivals: Sequence[_core.slurm.Arrivals] = (),
        initial_job_count: int | None = None,
        watched_jobs: Sequence[int] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> _core.slurm.ReplicationTable:
        """Simulate one replication for each of these clocks, in parallel on all usable processors.

        Parameters
        ----------
        clocks : sequence of mapping
            The clocks of each replication.
        run_lengths : numpy.ndarray, shape (replications, jobs), optional
            How long jobs run (s); default: as long as the instance says.
        arrivals : sequence of _core.slurm.Arrivals
            What is submitted later in each replication, as copies of jobs.
        initial_job_count : int, optional
            So many of the first jobs are in the system; default: all. The others are templates of
            `arrivals`.
        watched_jobs : sequence of int
            Rows; a replication ends when all these jobs have started.
        progress : callable, optional
            Called with the finished replications and their total.

        Returns
        -------
        _core.slurm.ReplicationTable
            A row for each replication, a column for each initial job (s; nan: never).
        """
        total = len(clocks)
        report = None if progress is None else lambda finished: progress(finished, total)
        return self._core.simulate_all(
            initial_job_count=(
                len(self.instance) if initial_job_count is None else initial_job_count
            ),
            clocks=clocks_of_replications(clocks, watched_jobs),
            run_lengths=np.zeros((0, 0)) if run_lengths is None else run_lengths,
            arrivals=arrivals,
            threads=_usable_processors(),
            report_progress=report,
            with_first_outcome=False,
        )

    def simulate_until(
        self,
        clocks: Sequence[Mapping[str, float]],
        should_stop: Callable[[np.ndarray], bool] | None = None,
    ) -> _core.slurm.ReplicationTable:
        """Simulate replications in batches, one batch on all usable processors, until one of them
        is the last.

        Parameters
        ----------
        clocks : sequence of mapping
            The clocks of each replication.
        should_stop : callable, optional
            Gets the start times so far, shape (replications, jobs), after each batch; True: these
            are enough. Default: all replications run.

        Returns
        -------
        _core.slurm.ReplicationTable
            As :meth:`simulate_many`, with the outcome of the first replication.
        """
        batch_size = _usable_processors()
        tables: list[_core.slurm.ReplicationTable] = []
        begin, end = 0, batch_size
        while begin < len(clocks):
            tables.append(
                self._core.simulate_all(
                    initial_job_count=len(self.instance),
                    clocks=clocks_of_replications(clocks[begin:end]),
                    run_lengths=np.zeros((0, 0)),
                    arrivals=[],
                    threads=batch_size,
                    report_progress=None,
                    with_first_outcome=not tables,
                )
            )
            if should_stop is None:
                begin, end = end, len(clocks)
                continue
            if should_stop(np.concatenate([table.start_times for table in tables])):
                break
            begin, end = end, end + batch_size
        return _joined_tables(tables)

    def retrace(
        self,
        clocks: Mapping[str, float],
        runs: Sequence[_core.slurm.RecordedRun],
        times: Sequence[float],
        *,
        cycle_times: Sequence[float] = (),
    ) -> list[_core.slurm.Sample]:
        """Return fair-share factors and priorities at these times (s), where jobs start and end as
        recorded.

        Parameters
        ----------
        runs : sequence of _core.slurm.RecordedRun
            When each job ran, and on what.
        cycle_times : sequence of float
            Recorded begin of each backfill cycle (s); empty: by the rules.
        """
        recorded_clocks = core_clocks(clocks).replace(cycle_times=cycle_times)
        return self._core.retrace(clocks=recorded_clocks, runs=runs, times=times)

    def limit_blocks(self) -> dict[int, _core.slurm.LimitBlock]:
        """Return the limits that block jobs at second 0, by row of the job."""
        return self._core.limit_blocks()

    def nodes_of(self, outcome: _core.slurm.Outcome) -> list[np.ndarray]:
        """Return the node numbers of each job."""
        return np.split(outcome.node, outcome.node_begin[1:-1])

    def schedule_columns(
        self,
        instance: Instance,
        outcome: _core.slurm.Outcome,
        start: np.ndarray,
        end: np.ndarray,
    ) -> ScheduleColumns:
        """Return the columns of the schedule of an outcome, as :meth:`Units.schedule_columns`.

        `instance` has the jobs of the outcome; `start` and `end` are theirs (s).
        """
        unit_of_core = units_of(instance, self.machine, self.node_cores)
        units = Units(instance.column("tasks"), self.node_cores, unit_of_core, self.shares_nodes)
        return units.schedule_columns(outcome, start, end)

    def trace_names(self, name_of_job: Callable[[int], str] | None = None) -> TraceNames:
        """Return what a trace calls jobs (default: by their ids), partitions and nodes."""
        ids = self.instance.ids
        nodes = self.settings.names or [f"n{k + 1}" for k in range(len(self.node_cores))]
        return TraceNames(name_of_job or (lambda row: str(ids[row])), self.partition_names, nodes)

    def _requests_from_log(self) -> Requests:
        """Return what the jobs of a log ask for, and whose they are.

        Adds notes on what is left out, and drops partitions whose access lists exclude a job.
        """
        requests, request_notes = requests_of_log(
            self.placement, self.settings, self.machine, self.approximate
        )
        self.multi_partition_jobs, denied_notes = filter_by_partition_acl(
            self.instance,
            self.settings,
            self.partition_names,
            self.multi_partition_jobs,
            self.partition_of_job,
        )
        self.notes += request_notes + denied_notes
        return requests

    def _with_running_jobs(self, requests: Requests) -> Requests:
        """Return the requests with the nodes, cores and GPUs of jobs that run at second 0."""
        gpus_by_node = (
            gpus_of_nodes(self.machine) if self.shares_nodes and self.machine is not None else []
        )
        suspends = self.shares_nodes and self.settings.parameters.get("PreemptMode") == conf.SUSPEND
        return with_running(requests, self.placement, self.elapsed, gpus_by_node, suspends)

    def _build_core(
        self, parameters: Mapping[str, float], *, uses_given_priorities: bool
    ) -> _core.slurm.Scenario:
        """Build the core's scenario; adds notes on states of partitions and on memory."""
        builder = ScenarioBuilder(
            placement=self.placement,
            settings=self.settings,
            machine=self.machine,
            requests=self.requests,
            multi_partition_jobs=self.multi_partition_jobs,
            node_counts=self.node_counts,
            elapsed=self.elapsed,
            follows_24_rules=self.follows_24_rules,
            approximate=self.approximate,
            uses_given_priorities=uses_given_priorities,
        )
        self.notes += builder.notes
        self.notes += self._memory_notes()
        is_memory_known = not notes_of_kind(self.notes, NoteKind.MEMORY_UNKNOWN)
        return builder.build(
            parameters, tracks_memory=self.settings.memory_counts and is_memory_known
        )

    def _memory_notes(self) -> list[Note]:
        """Return a note where memory should be handed out, but some node has no RealMemory."""
        if not self.shares_nodes or self.machine is None or not self.settings.memory_counts:
            return []
        if all(node_type.memory_gb > 0 for node_type in self.machine.nodes):
            return []
        text = "memory: the machine has nodes without RealMemory: not handed out"
        return [Note(NoteKind.MEMORY_UNKNOWN, text, subject="machine")]

    def _with_job_names(self, error: CoschedError) -> CoschedError:
        """Return an error of the core, which knows jobs by their rows, with the names of jobs.

        About a job that its partition does not hold the message says what is missing.
        """
        rows = [int(row) for row in _JOB_BY_ROW.findall(str(error))]
        if isinstance(error, InfeasibleError) and rows:
            row = rows[0]
            if reason := why_out_of_bounds(self, row) or why_no_nodes(self, row):
                return self._infeasible_error(row, reason)
        return type(error)(
            _JOB_BY_ROW.sub(lambda match: f"job {self.instance.ids[int(match[1])]}", str(error))
        )

    def _infeasible_error(self, row: int, reason: str) -> InfeasibleError:
        """Return the error that the machine does not hold the job of a row, nor others after it."""
        other_rows = [
            other_row
            for other_row in range(row + 1, len(self.instance))
            if why_out_of_bounds(self, other_row)
        ]
        other_names = [str(self.instance.ids[other_row]) for other_row in other_rows]
        error = InfeasibleError(
            f"{place_of_job(self.instance, row)} {reason}{also_of(other_names)}"
        )
        error.rows = (row, *other_rows)
        return error


def _shares_nodes(
    instance: Instance,
    machine: Machine | None,
    settings: conf.SlurmSettings,
    node_cores: np.ndarray,
) -> bool:
    """Whether several jobs share a node: nodes are not exclusive, and there are cores, memory or
    GPUs to share."""
    if settings.exclusive_nodes:
        return False
    if (node_cores > 1).any() or settings.memory_counts:
        return True
    has_gpus = machine is not None and machine.gpus > 0
    return has_gpus and bool(gpus_of_jobs(instance).any())


def _version_notes(version: str, follows_24_rules: bool) -> list[Note]:
    """Return a note where the rules of another version than this one are followed."""
    followed_version = conf.VERSIONS[1] if follows_24_rules else conf.VERSIONS[0]
    if not version or version.startswith(followed_version):
        return []
    text = f"rules of Slurm {followed_version}, the nearest that is followed, for {version}"
    return [Note(NoteKind.OTHER_VERSION, text, subject=version)]


def _usable_processors() -> int:
    """Return how many processors this process may use."""
    return len(sched_getaffinity(0))


def _joined_tables(
    tables: Sequence[_core.slurm.ReplicationTable],
) -> _core.slurm.ReplicationTable:
    """Return the replications of all tables, with the first outcome of the first."""
    return _core.slurm.ReplicationTable(
        start_times=np.concatenate([table.start_times for table in tables]),
        kill_times=np.concatenate([table.kill_times for table in tables]),
        paused_seconds=np.concatenate([table.paused_seconds for table in tables]),
        blocked_by_limit=[limits for table in tables for limits in table.blocked_by_limit],
        first_outcome=tables[0].first_outcome,
    )
