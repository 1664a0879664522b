"""An instance and a slurm.conf as the core's twin of slurmctld takes them, and back."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from os import sched_getaffinity
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import also_of, place_of_job
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import node_attribute
from cosched.core.arrays import real
from cosched.errors import CoschedError, InfeasibleError, InvalidInstance, shorten
from cosched.notes import Note, NoteKind, not_followed, notes_of_kind
from cosched.slurm.conf import settings as conf
from cosched.slurm.requests import log_requests
from cosched.slurm.requests.associations import (
    filter_by_partition_acl,
    ignored_tres_notes,
    priority_weights,
)
from cosched.slurm.requests.request import Requests, megabytes_of_nodes
from cosched.slurm.trace.of_core import TraceNames
from cosched.slurm.twin.never_starts import why_no_nodes, why_out_of_bounds
from cosched.slurm.twin.units import Units, node_cores_of, parts_of, units_of

#: Seconds (300 years) of a submission after the first, or of a job: the clocks tick all the while.
_MAX_SECONDS = 1e10


def check_time_range(instance: Instance) -> None:
    """Check that no job comes too late, or runs too long, for the seconds of a clock."""
    submit = instance.column("eligible")
    spans = {"submit": submit - submit.min(), "runtime": instance.column("runtime")}
    for name, span in spans.items():
        row = int(np.argmax(span))
        if span[row] > _MAX_SECONDS:
            raise InvalidInstance(
                f"slurm-backfill: job {instance.ids[row]}: {name} = "
                f"{instance.column(name)[row]:.15g}: expected at most {_MAX_SECONDS:g} s, from the "
                "first submission"
            )


def without_suspensions(instance: Instance, machine: Machine | None) -> Instance:
    """Return the jobs without the time in which they were suspended, if the machine suspends
    jobs itself: the simulator does it then."""
    slurm = machine.slurm if machine is not None else None
    if slurm is None or slurm.parameters.get("PreemptMode") != conf.SUSPEND:
        return instance
    suspended = numbers_of(instance, "suspended")
    if not suspended.any():
        return instance
    columns = {"runtime": instance.column("runtime") - suspended, "suspended": 0.0 * suspended}
    if "estimate" in instance.column_names:
        columns["estimate"] = instance.raw_columns["estimate"] - suspended
    count = int((suspended > 0).sum())
    text = f"assumed: {count} jobs of the log were suspended; the simulator suspends jobs by itself"
    note = Note(NoteKind.ASSUMED, text, subject="suspended jobs", count=count)
    return instance.replace(**columns).with_notes([note])


def columns_of(
    room: log_requests.PlacementContext,
    settings: conf.SlurmSettings,
    elapsed: np.ndarray,
    nodes: np.ndarray,
    *,
    uses_given_priorities: bool,
) -> _core.slurm.JobColumns:
    """Return the columns of the core's jobs; `uses_given_priorities`: the instance's."""
    instance = room.instance
    if "estimate" in instance.column_names:
        limit = instance.column("estimate")
    else:
        limit = np.array([settings.default_times.get(name, np.inf) for name in room.parts])
        limit = limit[room.part]
    users = np.unique(texts_of(instance, "user"), return_inverse=True)[1]
    priority = np.full(len(instance), -1.0)  # computed
    if uses_given_priorities:
        if "priority" not in instance.column_names:
            raise InvalidInstance("priorities = given: expected jobs with a column priority")
        priority = np.nan_to_num(instance.column("priority"), nan=-1.0)
    return _core.slurm.JobColumns(
        submit=instance.column("eligible"),
        runtime=instance.column("runtime") + elapsed,
        nodes=nodes,
        cpus=instance.column("tasks"),
        limit=limit + elapsed,
        partition=room.part,
        user=users.reshape(-1),
        nice=np.zeros(len(instance)),
        priority=priority,
    )


#: The largest number of nodes of a job, where there is no limit.
_NO_LIMIT = 2**31 - 1
#: Fields of a job that say what it wants of its nodes: tasks of one array have the same.
_ARRAY_KEY_FIELDS = attrgetter(
    "nodes",
    "max_nodes",
    "is_exclusive",
    "memory",
    "is_memory_by_core",
    "wants_all_memory",
    "gpus",
    "are_gpus_by_node",
    "gpu_type",
    "licences",
    "node_set",
    "alternative_sets",
    "partitions",
)


class Twin:
    """The core's simulator for one instance on one machine."""

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
        self.instance = instance
        if priorities not in ("computed", "given"):
            raise InvalidInstance(f"priorities = {shorten(priorities)}: expected computed or given")
        self._uses_given_priorities = priorities == "given"
        settings = (machine.slurm if machine is not None else None) or conf.SlurmSettings()
        self.approximate = approximate or settings.approximate
        if not self.approximate:
            self._refuse(settings)
        check_time_range(instance)
        self.settings = settings
        self.since_24 = conf.rules_of(version or settings.version) == "24.11"
        self.node_cores = node_cores_of(instance, machine)
        #: Jobs have cores of their own, several on a node; else whole nodes.
        self.shared = not settings.exclusive_nodes and (
            bool((self.node_cores > 1).any())
            or settings.memory_counts
            or (
                machine is not None
                and machine.gpus > 0
                and bool(log_requests.gpus_of_jobs(instance).any())
            )
        )
        self.machine = machine
        self.parts = parts_of(machine, len(self.node_cores))
        self.names = list(self.parts)
        usual = settings.default_partition or self.names[0]
        self.part, self.several = log_requests.partitions_of_jobs(instance, self.names, usual)
        self._room = log_requests.PlacementContext(
            instance, self.node_cores, self.parts, self.part, self.shared
        )
        self.nodes = self._room.nodes_of_jobs()
        #: What is followed otherwise than the machine and the jobs say.
        self.notes: list[Note] = list(settings.left_out)
        if not self.shared:
            self.several, partition_notes = self._room.drop_heterogeneous_partitions(self.several)
            self.notes += partition_notes
        self.notes += self._note_version(version, settings)
        self.notes += (
            ignored_tres_notes(settings.priority_tres, machine) if machine is not None else []
        )
        all_requests = requests or self._requests_from_log(settings, machine)
        #: How long jobs have run at second 0 (s).
        self.elapsed = np.zeros(len(instance))
        if requests is None and "running" in instance.column_names:
            is_running = numbers_of(instance, "running") > 0
            self.elapsed = np.where(is_running, numbers_of(instance, "ran"), 0.0)
            gpus = (
                log_requests.gpus_of_nodes(machine) if self.shared and machine is not None else []
            )
            suspends = self.shared and settings.parameters.get("PreemptMode") == conf.SUSPEND
            all_requests = log_requests.with_running(
                all_requests, self._room, self.elapsed, gpus, suspends
            )
        #: What jobs ask for beyond the columns of the instance.
        self.requests = all_requests
        try:
            self._core = self._build_core(settings, machine, parameters, all_requests)
        except (InfeasibleError, InvalidInstance) as error:  # of the core, which knows rows alone
            raise self._name_jobs(error) from None

    def _name_jobs(self, error: CoschedError) -> CoschedError:
        """Return an error of the core with the names of jobs in place of their rows; about a job
        that its partition does not hold, it says what is missing."""
        rows = re.findall(r"\bjob ([0-9]+)\b", str(error))
        if isinstance(error, InfeasibleError) and rows:
            row = int(rows[0])
            if reason := why_out_of_bounds(self, row) or why_no_nodes(self, row):
                other_rows = [
                    other
                    for other in range(row + 1, len(self.instance))
                    if why_out_of_bounds(self, other)
                ]
                names = [str(self.instance.ids[other]) for other in other_rows]
                named_error = InfeasibleError(
                    f"{place_of_job(self.instance, row)} {reason}{also_of(names)}"
                )
                named_error.rows = (row, *other_rows)
                return named_error

        def job_name(match: re.Match[str]) -> str:
            return f"job {self.instance.ids[int(match[1])]}"

        return type(error)(re.sub(r"\bjob ([0-9]+)\b", job_name, str(error)))

    @staticmethod
    def _refuse(settings: conf.SlurmSettings) -> None:
        """Raise InvalidInstance where the machine has settings that are not followed."""
        if settings.refused:
            raise InvalidInstance(
                f"slurm-backfill does not cover {', '.join(settings.not_covered)}: expected a "
                "slurm.conf without, or approximate=True (--approximate) to run without them"
            )
        if settings.not_covered:
            raise InvalidInstance(
                f"slurm-backfill: {', '.join(settings.not_covered)}: expected accounts= "
                "(--accounts FILE: what sacctmgr -P show assoc and show qos print), or "
                "approximate=True (--approximate) to run without them"
            )

    def _requests_from_log(self, settings: conf.SlurmSettings, machine: Machine | None) -> Requests:
        """Return what the jobs of a log ask for, and whose they are."""
        requests, request_notes = log_requests.requests_of_log(
            self._room, settings, machine, self.approximate
        )
        self.several, denied_notes = filter_by_partition_acl(
            self.instance, settings, self.names, self.several, self.part
        )
        self.notes += request_notes + denied_notes
        return requests

    def _note_version(self, version: str | None, settings: conf.SlurmSettings) -> list[Note]:
        """Return a note where the rules of another version than the machine's are followed."""
        requested_version = version or settings.version
        followed = conf.VERSIONS[1] if self.since_24 else conf.VERSIONS[0]
        if not requested_version or requested_version.startswith(followed):
            return []
        text = f"rules of Slurm {followed}, the nearest that is followed, for {requested_version}"
        return [Note(NoteKind.OTHER_VERSION, text, subject=requested_version)]

    def _build_core(
        self,
        settings: conf.SlurmSettings,
        machine: Machine | None,
        parameters: Mapping[str, float],
        requests: Requests,
    ) -> _core.slurm.Scenario:
        """Build the core's simulator from the machine, the partitions, and the jobs."""
        count = len(self.node_cores)
        partition_by_name = {p.name: p for p in machine.partitions} if machine is not None else {}
        factors = [settings.factors.get(name, 1.0) for name in self.names]
        largest = max(factors) or 1.0
        bounds = [settings.bounds.get(name, (0, _NO_LIMIT)) for name in self.names]
        if self.approximate:  # partitions that let no job start
            used_partitions = set(np.unique(self.part).tolist()).union(*self.several.values())
            for number, (name, (_, max_nodes)) in enumerate(zip(self.names, bounds, strict=True)):
                if not max_nodes and number in used_partitions:
                    state = f"State of partition {name}"
                    self.notes.append(not_followed(f"{state}: its jobs run here", subject=state))
            bounds = [(min_nodes, max_nodes or _NO_LIMIT) for min_nodes, max_nodes in bounds]
        columns = columns_of(
            self._room,
            settings,
            self.elapsed,
            self.nodes,
            uses_given_priorities=self._uses_given_priorities,
        )
        jobs = self._jobs_with_partitions(settings, requests.jobs)
        self._number_arrays(jobs, columns.limit)
        # Limits of jobs are cut to MaxTime already, with the time of their suspensions on top. No
        # limit counts that time, so the core must not cut it off again.
        suspended = float(numbers_of(self._room.instance, "suspended").max(initial=0.0))
        partitions = [
            _core.slurm.Partition(
                nodes=ranges,
                tier=int(partition_by_name[name].priority) if name in partition_by_name else 1,
                max_time=(
                    partition_by_name[name].max_time + suspended
                    if name in partition_by_name
                    else np.inf
                ),
                job_factor=factor / largest,
                min_nodes=min_nodes,
                max_nodes=max_nodes,
                qos=requests.partition_qos.get(name, -1),
                preempt_mode=settings.preempt_modes.get(name, (-1, 0))[0],
                grace_time=settings.preempt_modes.get(name, (-1, 0))[1],
                billing=list(requests.billing.get(name, ())),
            )
            for (name, ranges), factor, (min_nodes, max_nodes) in zip(
                self.parts.items(), factors, bounds, strict=True
            )
        ]
        return _core.slurm.Scenario(
            machine=_core.slurm.Machine(
                nodes=count,
                cpus=int(machine.cores if machine is not None else count),
                node_lines=self._lines(settings, machine),
                node_sets=requests.sets,
                licences=np.array(requests.licences, dtype=np.int64),
                qos=requests.qos,
                priority_tres=priority_weights(settings.priority_tres, machine) if machine else [],
                down_nodes=settings.down,
                **self._resources(settings, machine),
            ),
            partitions=partitions,
            settings=_core.slurm.Settings(
                **{**settings.parameters, **_user_parameters(parameters)},
                since_24=float(self.since_24),
            ),
            columns=columns,
            jobs=jobs,
            reservations=requests.reservations,
            admin_events=requests.admin_events,
            associations=requests.associations,
        )

    def _jobs_with_partitions(
        self, settings: conf.SlurmSettings, requested_jobs: Mapping[int, _core.slurm.Job]
    ) -> dict[int, _core.slurm.Job]:
        """Return the core's jobs, with the partitions of those in several; in a partition with
        OverSubscribe=EXCLUSIVE they have whole nodes."""
        jobs = dict(requested_jobs)
        no_request = _core.slurm.Job()
        for row, parts in self.several.items():
            jobs[row] = jobs.get(row, no_request).replace(partitions=parts)
        if self.shared and settings.exclusive:
            is_exclusive = [name in settings.exclusive for name in self.names]
            for row in np.flatnonzero(np.array(is_exclusive)[self.part]).tolist():
                jobs[row] = jobs.get(row, no_request).replace(is_exclusive=True)
        return jobs

    def _number_arrays(self, jobs: dict[int, _core.slurm.Job], limit: np.ndarray) -> None:
        """Number arrays from 0 on: the core has a place for each.

        An array is those of its tasks that ask for what the first does. Other tasks were changed
        later, and are records of their own for Slurm, too (here with their own number of tasks that
        may run).
        """
        tasks = self.instance.column("tasks")
        first_keys: dict[int, tuple[Any, ...]] = {}
        numbers: dict[tuple[Any, ...], int] = {}
        for row, job in jobs.items():
            if job.array < 0:
                continue
            array_key: tuple[Any, ...] = (job.array,)
            wishes = str(_ARRAY_KEY_FIELDS(job))
            task_key = (self.part[row], self.nodes[row], tasks[row], limit[row], wishes)
            if job.running_state is None and task_key != first_keys.setdefault(job.array, task_key):
                array_key += task_key
            jobs[row] = job.replace(array=numbers.setdefault(array_key, len(numbers)))

    def _lines(
        self, settings: conf.SlurmSettings, machine: Machine | None
    ) -> list[list[tuple[int, int]]]:
        """Return NodeName lines as ranges of nodes; since 24.11 those of equal nodes are one."""
        if not settings.lines:
            return [[(0, len(self.node_cores))]]
        if not self.since_24 or machine is None:
            return [list(line) for line in settings.lines]
        kind_of = [
            replace(kind, name="", count=1) for kind in machine.nodes for _ in range(kind.count)
        ]
        merged: dict[Any, list[tuple[int, int]]] = {}
        for line in settings.lines:
            merged.setdefault(kind_of[line[0][0]], []).extend(line)
        return [sorted(line) for line in merged.values()]

    def _resources(self, settings: conf.SlurmSettings, machine: Machine | None) -> dict[str, Any]:
        """Return what nodes have for jobs that share them: cores, memory, GPUs, weights."""
        none = np.zeros(0, dtype=np.int64)
        if not self.shared or machine is None:
            return {"node_cores": none, "node_memory": [], "node_gpus": [], "node_weight": none}
        memory = megabytes_of_nodes(machine)
        counts = settings.memory_counts and all(kind.memory_gb > 0 for kind in machine.nodes)
        if settings.memory_counts and not counts:
            text = "memory: the machine has nodes without RealMemory: not handed out"
            self.notes.append(Note(NoteKind.MEMORY_UNKNOWN, text, subject="machine"))
        is_known = not notes_of_kind(self.notes, NoteKind.MEMORY_UNKNOWN)
        counts = counts and is_known
        weight = node_attribute(machine, "weight")
        return {
            "node_cores": self.node_cores,
            "node_memory": memory if counts else [],
            "node_gpus": log_requests.gpus_of_nodes(machine),
            "node_weight": weight if len(set(weight.tolist())) > 1 else none,
        }

    def run(
        self,
        clocks: Mapping[str, float],
        *,
        cycles: Sequence[float] = (),
        checks: Sequence[float] = (),
        passes: Sequence[tuple[float, bool]] = (),
        lengths: Sequence[float] = (),
        delays: Sequence[float] = (),
        epilogs: Sequence[float] = (),
        slices: Sequence[Sequence[tuple[float, int, float, bool]]] = (),
        watched: Sequence[int] = (),
        log: bool = False,
        plans: bool = False,
        recorder: _core.slurm.TraceRecorder | None = None,
        remembers: bool = True,
    ) -> _core.slurm.Outcome:
        """Return one run; `cycles`, `checks`, `passes`: recorded times in place of the rules'
        own, and `slices`: what each of these cycles did between two rests. By job, `delays`: how
        long a pass or cycle had taken until it started it; `lengths`: from its start to its end;
        `epilogs`: from there until its nodes are free. `watched`: the run is over when these
        jobs have started. `recorder`: it gets the traces of the cycles and passes that it wants.
        `remembers`: what would come out as before is remembered, not repeated; no result depends
        on that.
        """
        slices_of_cycles = [
            [
                _core.slurm.Slice(
                    end_time=end_time,
                    jobs_examined=jobs_examined,
                    resume_time=resume_time,
                    ends_mid_job=ends_mid_job,
                )
                for end_time, jobs_examined, resume_time, ends_mid_job in slices_of_cycle
            ]
            for slices_of_cycle in slices
        ]
        run_clocks = _clocks_of_run(clocks).replace(
            cycle_times=cycles,
            limit_check_times=checks,
            main_passes=passes,
            run_lengths=lengths,
            watched_jobs=watched,
            epilog_delays=epilogs,
            start_delays=delays,
            slices=slices_of_cycles,
        )
        return self._core.simulate(
            clocks=run_clocks,
            with_reasons=log,
            with_plans=plans,
            trace=recorder,
            remembers=remembers,
        )

    def trace_names(self, name_of_job: Callable[[int], str] | None = None) -> TraceNames:
        """What a trace calls jobs (default: by their ids), partitions and nodes."""
        ids = self.instance.ids
        nodes = self.settings.names or [f"n{k + 1}" for k in range(len(self.node_cores))]
        return TraceNames(name_of_job or (lambda row: str(ids[row])), self.names, nodes)

    def futures(
        self,
        clocks: Sequence[Mapping[str, float]],
        *,
        lengths: np.ndarray | None = None,
        coming: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]] = (),
        there: int | None = None,
        watched: Sequence[int] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return starts (nan: none); of jobs that the limit check ended, ends; how long jobs were
        suspended: a row a run, a column a job. As many runs at a time as this process has cores.

        Of each run: its `clocks`, a row of `lengths`, and what comes beside the first `there` jobs:
        (like which job, when, how long).
        """
        total = len(clocks)
        report = None if progress is None else lambda finished: progress(finished, total)
        table = self._core.simulate_all(
            initial_job_count=len(self.instance) if there is None else there,
            clocks=_core_clocks(clocks, watched),
            run_lengths=np.zeros((0, 0)) if lengths is None else lengths,
            arrivals=[
                _core.slurm.Arrivals(template_job=job, submit=submit, run_length=run_length)
                for job, submit, run_length in coming
            ],
            threads=len(sched_getaffinity(0)),
            report_progress=report,
            with_first_outcome=False,
        )
        return table.start_times, table.kill_times, table.paused_seconds

    def draws(
        self,
        clocks: Sequence[Mapping[str, float]],
        enough: Callable[[np.ndarray], bool] | None = None,
    ) -> tuple[_core.slurm.Outcome, np.ndarray, np.ndarray, np.ndarray, list[dict[int, str]]]:
        """Return the first run, of all of them the same as :meth:`futures`, and of each the
        limits that kept jobs for ever, by job; `enough` is asked with the starts so far whether
        these are enough."""
        threads = len(sched_getaffinity(0))
        tables: list[_core.slurm.ReplicationTable] = []
        begin, end = 0, threads
        while begin < len(clocks):
            tables.append(
                self._core.simulate_all(
                    initial_job_count=len(self.instance),
                    clocks=_core_clocks(clocks[begin:end]),
                    run_lengths=np.zeros((0, 0)),
                    arrivals=[],
                    threads=threads,
                    report_progress=None,
                    with_first_outcome=not tables,
                )
            )
            if enough is not None and enough(
                np.concatenate([table.start_times for table in tables])
            ):
                break
            begin, end = end, len(clocks) if enough is None else end + threads
        outcome = tables[0].first_outcome
        if outcome is None:
            raise AssertionError("the core returns the first outcome")
        return (
            outcome,
            np.concatenate([table.start_times for table in tables]),
            np.concatenate([table.kill_times for table in tables]),
            np.concatenate([table.paused_seconds for table in tables]),
            [limits for table in tables for limits in table.blocked_by_limit],
        )

    def retrace(
        self,
        clocks: Mapping[str, float],
        runs: Sequence[_core.slurm.RecordedRun],
        times: Sequence[float],
        *,
        cycles: Sequence[float] = (),
    ) -> list[_core.slurm.Sample]:
        """Return fair-share factors and priorities at these times, where jobs started, ended and
        ran as `runs` say."""
        recorded_clocks = _clocks_of_run(clocks).replace(cycle_times=cycles)
        return self._core.retrace(clocks=recorded_clocks, runs=runs, times=times)

    def limit_blocks(self) -> dict[int, _core.slurm.LimitBlock]:
        """Return the limits that keep jobs at the begin, by row of the job."""
        return self._core.limit_blocks()

    def nodes_of(self, outcome: _core.slurm.Outcome) -> list[np.ndarray]:
        """Return the node numbers of each job."""
        return np.split(outcome.node, outcome.node_begin[1:-1])

    def rows(
        self,
        instance: Instance,
        outcome: _core.slurm.Outcome,
        start: np.ndarray,
        end: np.ndarray,
    ) -> tuple[np.ndarray, ...]:
        """Return the columns of the schedule: a row per job of the outcome, a unit per task, on its
        nodes in order."""
        numbers = units_of(instance, self.machine, self.node_cores)
        units = Units(instance.column("tasks"), self.node_cores, numbers, self.shared)
        return units.rows(outcome, start, end)


def _clocks_of_run(clocks: Mapping[str, float]) -> _core.slurm.Clocks:
    """Return the clocks of a run as the core has them, with nothing that was recorded."""
    fields: dict[str, Any] = dict(clocks)
    return _core.slurm.Clocks(**fields)


def _core_clocks(
    clocks: Iterable[Mapping[str, float]], watched: Sequence[int] = ()
) -> list[_core.slurm.Clocks]:
    """Return the clocks of several runs, which are over when the `watched` jobs have started."""
    return [_clocks_of_run(run).replace(watched_jobs=watched) for run in clocks]


def _user_parameters(parameters: Mapping[str, float]) -> dict[str, float]:
    """Return the user's parameters, in seconds and counts; they are given in Slurm's units."""
    in_seconds = {}
    for name, value in parameters.items():
        if name not in conf.PARAMETERS:
            options = ", ".join(sorted(conf.PARAMETERS))
            raise TypeError(f"slurm-backfill: unknown option {name!r} (options: {options})")
        in_seconds[name] = conf.in_seconds(name, real(value, name))
    return in_seconds
