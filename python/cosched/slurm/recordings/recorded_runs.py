"""What a recording of a real Slurm holds: jobs, what was done with them, and when each ended."""

import math
import re
from bisect import bisect, bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import hosts
from cosched.cluster.machine.parts import node_attribute
from cosched.notes import Note
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.core_job_builder import NEVER_MADE_RESERVATION, CoreJobBuilder, Requests
from cosched.slurm.requests.node_sets import gpu_types_of
from cosched.slurm.requests.request import Request
from cosched.slurm.twin.host_clocks import HOST, MEASURED_AT

#: Of a job by name of a node: cores, MB, GPUs of each type.
Shares = dict[str, tuple[int, int, dict[str, int]]]
#: (node, cores, MB), and (node, type, GPUs).
NodeShares = tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]


def shares_of(alloc: Mapping[str, Mapping[str, Any]]) -> Shares:
    """Return what ``scontrol show job -d`` showed while it ran.

    Examples
    --------
    >>> shares_of({"n[1,3]": {"cpus": "0-1,4", "mem": 500, "gres": "gpu:a100:2"}})["n3"]
    (3, 500, {'a100': 2})
    """
    shares: Shares = {}
    for names, resources in alloc.items():
        spans = re.findall(r"([0-9]+)(?:-([0-9]+))?", resources.get("cpus", ""))
        cores = sum(int(last or first) - int(first) + 1 for first, last in spans)
        gpus: dict[str, int] = {}
        for kind, count in re.findall(r"gpu:(?:([^:,()]+):)?([0-9]+)", resources.get("gres", "")):
            gpus[kind] = gpus.get(kind, 0) + int(count)
        if cores and names != "*":  # else a sum over nodes
            shares |= dict.fromkeys(
                hosts(names, "alloc"), (cores, int(resources.get("mem", 0)), gpus)
            )
    return shares


def node_shares(
    machine: Machine, shares: Shares, nodes: Sequence[str], tasks: int, names: Sequence[str]
) -> NodeShares:
    """Return what a job had, on nodes numbered as `names`; where that was not recorded, its
    tasks in order over its nodes."""
    numbers = {name: k for k, name in enumerate(names)}
    if shares:
        types = gpu_types_of(machine)
        gpus = [
            (numbers[name], types.index(kind or types[0]), count)
            for name, (_, _, of_node) in shares.items()
            for kind, count in of_node.items()
        ]
        parts = [(numbers[name], cores, memory) for name, (cores, memory, _) in shares.items()]
        return sorted(parts), sorted(gpus)
    cores_by_node = node_attribute(machine, "cores").tolist()
    parts = []
    for rank, node in enumerate(sorted(numbers[name] for name in nodes), 1):
        cores = min(max(tasks - (len(nodes) - rank), 1), cores_by_node[node])
        parts.append((node, cores, 0))
        tasks -= cores
    return parts, []


#: A pass follows what asks for it after batch_sched_delay and a tick, at the latest (s).
_MAX_PASS_DELAY = 4.5
#: Before a pass, or the end of a second: that is how far ends stay away (s).
_GAP = 0.005


@dataclass
class _End:
    """A job's end: within [low, high), best at `guess`; all as its last message has come."""

    #: The job.
    row: int
    #: Bounds of its end (s), and the likeliest moment.
    low: float
    high: float
    guess: float
    #: Numbers of the passes before which it can have ended.
    windows: list[int] = field(default_factory=list)


def ends_in_windows(
    end_ranges: Sequence[tuple[int, float, float, float]],
    other_causes: Sequence[float],
    passes: Sequence[tuple[float, bool]],
    *,
    at_once: bool,
) -> dict[int, float]:
    """Return when the last message of each job came.

    `own`: (row, earliest, latest, most likely); `others`: whatever else asks for a pass. A pass
    that is not a full one has a cause since the one before it: where nothing else can be, it is
    an end. After each end a pass follows soon. `at_once`: where one can, it followed at once.

    Examples
    --------
    >>> own = [(0, 10.2, 11.2, 10.3), (1, 10.2, 11.2, 10.3)]
    >>> ends_in_windows(own, [], [(10.5, False), (13.5, False)], at_once=False)
    {0: 10.3, 1: 10.505}
    """
    times = [time for time, _ in passes]
    ends = [_End(*end_range) for end_range in end_ranges]
    explained_passes = {bisect_left(times, time) for time in other_causes}
    for end in ends:
        end.windows = _windows(end, times)
        if len(end.windows) == 1:
            explained_passes.add(end.windows[0])
    unexplained_passes = [
        k for k, (_, full) in enumerate(passes) if not full and k not in explained_passes
    ]
    for _ in range(2):  # first those that one end alone can explain
        for k in unexplained_passes:
            candidates = [end for end in ends if k in end.windows]
            if k in explained_passes or not candidates or (len(candidates) > 1 and _ == 0):
                continue
            best_end = min(candidates, key=lambda end: abs(_within(end, k, times) - end.guess))
            best_end.windows = [k]
            explained_passes.add(k)
    end_by_row = {}
    for end in ends:
        k = min(end.windows, key=lambda k: abs(_within(end, k, times) - end.guess))
        follows_at_once = at_once and k < len(times) and times[k] < end.high
        end_by_row[end.row] = times[k] - _GAP if follows_at_once else _within(end, k, times)
    return end_by_row


def _windows(end: _End, times: Sequence[float]) -> list[int]:
    """Return numbers of the passes before which it can have ended."""
    first, last = bisect_left(times, end.low), bisect_left(times, end.high)
    window_numbers = [k for k in range(first, last) if times[k] - end.low > _GAP]
    if last == len(times) or times[last] - end.high < _MAX_PASS_DELAY or not window_numbers:
        window_numbers.append(last)
    return window_numbers


def _within(end: _End, k: int, times: Sequence[float]) -> float:
    """Return the likeliest moment before pass k and after the one before it."""
    low = max(end.low, times[k - 1] + _GAP if k else -np.inf)
    high = min(end.high, times[k] if k < len(times) else np.inf) - _GAP
    return min(max(end.guess, low), max(high, low))


@dataclass(frozen=True)
class ExecutedJob:
    """A job of a recorded run: its exact start, the second of its end, and what it had."""

    #: Exact start, and second of the end.
    begin: float
    #: The second in which it ended.
    end: float
    guess: float  # when it ended, as far as its run time tells
    #: Names of its nodes.
    nodes: frozenset[str]
    filled: bool = False  # it left nothing of them to others
    after: tuple[int, ...] = ()  # rows that have to be over before it starts


def latest_by_starts(
    jobs: Mapping[int, ExecutedJob],
    limits: Sequence[tuple[int, Sequence[int]]],
    decisions: Sequence[float],
) -> dict[int, float]:
    """Return by which pass or cycle jobs were over, by row: it gave their nodes to others, and
    nobody starts where somebody is completing. `limits`: (at once, rows) of arrays that let so many
    tasks run.

    Examples
    --------
    >>> first = ExecutedJob(3.0, 85.0, 85.2, frozenset(["n1"]))
    >>> second = ExecutedJob(86.4, 99.0, 99.1, frozenset(["n1"]))
    >>> latest_by_starts({0: first, 1: second}, [], [83.0, 86.3, 88.0])
    {0: 86.3}
    """
    latest_end_by_row: dict[int, float] = {}
    for row in sorted(jobs, key=lambda row: jobs[row].begin):
        position = bisect_right(decisions, jobs[row].begin)
        moment = decisions[position - 1] if position else jobs[row].begin
        ended_rows = _jobs_over_on_nodes(row, jobs, moment)
        for task_limit, tasks in limits:
            if row in tasks:
                ended_rows += _tasks_over_in_array(
                    row, task_limit, {task: jobs[task] for task in tasks}, moment
                )
        for other in ended_rows:
            latest_end_by_row[other] = min(latest_end_by_row.get(other, np.inf), moment)
    return latest_end_by_row


def _jobs_over_on_nodes(row: int, jobs: Mapping[int, ExecutedJob], moment: float) -> list[int]:
    """Return jobs that were over by then, because another one started on their nodes, or after
    them."""
    started_job = jobs[row]
    return [
        other
        for other, job in jobs.items()
        if job.begin < started_job.begin
        and job.end <= moment
        and (
            other in started_job.after
            or (
                not job.nodes.isdisjoint(started_job.nodes)
                and (job.filled or started_job.filled or min(job.end + 1, job.guess) <= moment)
            )
        )
    ]


def _tasks_over_in_array(
    row: int, task_limit: int, tasks: Mapping[int, ExecutedJob], moment: float
) -> list[int]:
    """Return tasks that were over by then, because one more could start."""
    running = [
        task
        for task, executed in tasks.items()
        if task != row and executed.begin <= tasks[row].begin and executed.end + 1 > moment
    ]
    ended_tasks = [task for task in running if tasks[task].end <= moment]
    ended_tasks.sort(key=lambda task: tasks[task].guess)
    return ended_tasks[: max(0, len(running) - task_limit + 1)]


#: Where in its second an end is on average (s).
_MEAN_FRACTION = 0.5


@dataclass(frozen=True)
class PrioritySample:
    """What sshare and sprio showed of a recorded run."""

    time: float  # when they were asked (s)
    factors: Mapping[int, float]  # fair-share factors by association
    priorities: Mapping[int, float]  # by job that waits


@dataclass(frozen=True)
class RecordedRun:
    """One run of a recording, on the recording's own time base (s)."""

    submit: NDArray[np.float64]  # as exactly as they are known
    start: NDArray[np.float64]  # in whole seconds, as ends are
    #: When each job ended, in whole seconds.
    end: NDArray[np.float64]
    nodes: tuple[tuple[str, ...], ...]  # names of each job's nodes
    controller_start: float  # when slurmctld started
    epoch: int  # Unix time of the base's second 0
    #: When backfill cycles began, and limit checks that ended a job; empty: not recorded.
    cycles: tuple[float, ...] = ()
    #: When a limit check ended a job; empty: not recorded.
    checks: tuple[float, ...] = ()
    #: When cycles ended, and how many jobs they looked at; empty: not recorded.
    ends: tuple[tuple[float, int], ...] = ()
    #: When cycles rested, how many jobs they had done by then, and when they went on; infinite:
    #: they gave up. Whether that was in the middle of the next job; None: not recorded.
    yields: tuple[tuple[float, int, float, bool | None], ...] = ()
    #: Exact ends by row, and when the nodes were free, where they were recorded.
    exact_ends: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    #: When the main scheduler passed, and whether over the whole queue.
    passes: tuple[tuple[float, bool], ...] = ()
    #: Exact starts by row, where they were recorded.
    begins: Mapping[int, float] = field(default_factory=dict)
    ticks: bool = False  # no pass follows the end of a job at once
    decay_start: float | None = None  # when the thread that accounts usage began
    #: Planned reservations where they were recorded: time, first row of the job, start, end, nodes,
    #: partition (empty: not recorded).
    plans: tuple[tuple[float, int, float, float, tuple[str, ...], str], ...] = ()
    #: Advance reservations by name, and what an administrator did, as :class:`Requests` has them.
    reservations: Mapping[str, _core.slurm.Reservation] = field(default_factory=dict)
    #: What an administrator did.
    admin_events: tuple[_core.slurm.AdminEvent, ...] = ()
    #: What sshare and sprio showed.
    samples: tuple[PrioritySample, ...] = ()
    #: Jobs that were suspended: row, from when, until when.
    pauses: tuple[tuple[int, float, float], ...] = ()
    #: What each job had of its nodes, as ``shares_of`` has it; empty: not recorded.
    shares: tuple[Shares, ...] = ()

    @cached_property
    def paused(self) -> NDArray[np.float64]:
        """How long each job stood still."""
        pause_lengths = np.zeros(len(self.start))
        for row, begin, end in self.pauses:
            pause_lengths[row] += end - begin
        return pause_lengths

    def launch(self, runtime: NDArray[np.float64], limit: NDArray[np.float64]) -> float:
        """Return seconds from a job's start to its work and back: the mean over those that ended
        by themselves."""
        end, start = self.end, self.start
        has_ended_by_itself = end - start - self.paused < limit
        if self.begins:  # exact, while an end is somewhere in its second
            start = np.array([self.begins.get(row, np.nan) for row in range(len(end))])
            end = end + _MEAN_FRACTION
        took = end - start - runtime - self.paused
        took = took[has_ended_by_itself & (took >= -1)]
        return max(float(took.mean()), 0.0) if len(took) else HOST["launch"]

    @cached_property
    def decisions(self) -> list[float]:
        """When passes and cycles began, or went on."""
        passes = (time for time, _ in self.passes)
        return sorted([*self.cycles, *passes, *(resumption for *_, resumption, _ in self.yields)])

    def cycle_slices(
        self, longest: float, arrays: Mapping[int, int], ends_mid_job: bool = False
    ) -> list[list[_core.slurm.Slice]]:
        """Return the slices of each cycle: what it did between two moments at which it yields its
        locks.

        Parameters
        ----------
        longest : float
            bf_max_time (s).
        arrays : mapping
            Number of the array, by row of its tasks.
        ends_mid_job : bool
            Assumed of slices of which the recording does not tell whether they end in the middle
            of a job.
        """
        slices_of_cycles: list[list[_core.slurm.Slice]] = [[] for _ in self.cycles]
        for when, jobs, resumption, is_amid_job in self.yields:
            slices_of_cycles[bisect(self.cycles, when) - 1].append(
                _core.slurm.Slice(
                    end_time=when,
                    jobs_examined=jobs,
                    resume_time=resumption,
                    ends_mid_job=ends_mid_job if is_amid_job is None else is_amid_job,
                )
            )
        for cycle_end, jobs in self.ends:
            cycle = bisect(self.cycles, cycle_end) - 1
            slices = slices_of_cycles[cycle]
            since = slices[-1].resume_time if slices else self.cycles[cycle]
            examined_before = slices[-1].jobs_examined if slices else 0
            last = math.floor(self.cycles[cycle]) + longest
            is_over_time = math.floor(cycle_end) >= last
            has_done_last_job = self._has_done_last_job(
                since, cycle_end, last, jobs - examined_before, arrays
            )
            slices.append(
                _core.slurm.Slice(
                    end_time=cycle_end,
                    jobs_examined=jobs - (is_over_time and not has_done_last_job),
                    resume_time=math.inf if is_over_time else math.nan,
                    ends_mid_job=False,
                )
            )
        return slices_of_cycles

    def _has_done_last_job(
        self, since: float, cycle_end: float, last: float, jobs: int, arrays: Mapping[int, int]
    ) -> bool:
        """Return whether a cycle whose time was over had done the last of the jobs that it looked
        at: all have started, or one did so late, and no task is behind it. Else it gave up in its
        middle, most likely."""
        rows = [row for row, begin in self.begins.items() if since <= begin <= cycle_end]
        if not rows or len(rows) >= jobs:
            return bool(rows)
        row = max(rows, key=lambda row: self.begins[row])
        behind = row in arrays and arrays.get(row + 1) == arrays[row]
        return self.begins[row] >= last and not behind

    def decision_before(self, begin: float) -> float:
        """Return when the pass or cycle began that started a job at `begin`."""
        position = bisect(self.decisions, begin)
        return self.decisions[position - 1] if position else begin


@dataclass(frozen=True)
class Recording:
    """What a real Slurm did with the same jobs, once or several times."""

    name: str  # of its file
    #: The machine of the configuration.
    machine: Machine
    #: Columns of the jobs but for their submissions; a row a job, or a task of an array.
    jobs: Mapping[str, NDArray[Any]]
    #: Runs of the same jobs.
    runs: tuple[RecordedRun, ...]
    speed: float  # of the recorded clock: so many times as fast as life
    slurm: str  # the version
    #: What jobs ask for beyond these columns, by row; `begin` counts from their submission.
    requests: Mapping[int, Request] = field(default_factory=dict)
    accounts: Accounts | None = None  # of its slurmdbd
    rows: tuple[tuple[int, ...], ...] = ()  # of each job: one, or one a task of an array
    arrays: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # indexes of tasks by job
    notes: tuple[Note, ...] = ()  # what is followed otherwise than it was recorded

    def label(self, row: int) -> str:
        """Return what a row is called: its job, and the task where that is an array."""
        for job, rows_of_job in enumerate(self.rows):
            if row in rows_of_job:
                tasks = self.arrays.get(job)
                return (
                    f"job {job}" if tasks is None else f"job {job}_{tasks[rows_of_job.index(row)]}"
                )
        return f"job {row}"

    def lengths(self, run: RecordedRun) -> NDArray[np.float64]:
        """Return seconds from each job's start to its end where it ended by itself, else nan.

        Ends are recorded in whole seconds: where in its second each was, passes tell.
        """
        runtime = self.jobs["runtime"] + run.paused
        if run.exact_ends:
            took = np.full(len(runtime), np.nan)
            for row, (exact_end, _) in run.exact_ends.items():
                took[row] = exact_end - run.decision_before(run.begins[row])
            return np.where(took >= runtime, took - run.paused, np.nan)
        if run.decay_start is not None and not run.passes:  # both in whole seconds
            took = run.end - run.start
            return np.where(took >= runtime - 1, took - run.paused, np.nan)
        lengths = np.full(len(run.start), np.nan)
        message = HOST["epilog"] * self.speed / MEASURED_AT
        ended = np.array([run.begins.get(row, np.nan) for row in range(len(runtime))])
        ended += runtime + run.launch(self.jobs["runtime"], self.jobs["estimate"])
        latest = self._latest(run, ended)
        end_ranges, other_causes = (
            [],
            [*run.submit[~np.isnan(run.submit)], *(event.time for event in run.admin_events)],
        )
        for row, begin in run.begins.items():
            first, last = run.end[row] + message, run.end[row] + 1 + message
            if last - message - begin < runtime[row]:
                other_causes += [first, last - 0.5, last]
                continue
            first = max(first, begin + runtime[row] + message)
            last = min(last, latest.get(row, last))
            end_ranges.append((row, min(first, last - message), last, ended[row] + message))
        end_by_row = ends_in_windows(end_ranges, other_causes, run.passes, at_once=not run.ticks)
        for row, end in end_by_row.items():
            lengths[row] = end - message - run.decision_before(run.begins[row]) - run.paused[row]
        return lengths

    def _latest(self, run: RecordedRun, guess: np.ndarray) -> dict[int, float]:
        """Return by when jobs were over, as starts of others tell."""
        cores = {}
        if "cores" in self.jobs and self.machine.slurm is not None:
            cores_by_node = node_attribute(self.machine, "cores").tolist()
            cores = dict(zip(self.machine.slurm.names, cores_by_node, strict=True))
        jobs: dict[int, ExecutedJob] = {}
        arrays: dict[int, tuple[int, list[int]]] = {}
        for row, begin in run.begins.items():
            node_names = run.nodes[row]
            wish = self.requests.get(row, Request())
            after = tuple(k for kind, rows in wish.after if kind for k in rows)
            filled = sum(cores.get(name, 0) for name in node_names) <= self.jobs["tasks"][row]
            jobs[row] = ExecutedJob(
                begin, run.end[row], guess[row], frozenset(node_names), filled, after
            )
            if wish.array and wish.array[1]:
                arrays.setdefault(wish.array[0], (wish.array[1], []))[1].append(row)
        return latest_by_starts(jobs, list(arrays.values()), run.decisions)

    def requests_of(self, run: RecordedRun) -> Requests:
        """Return what jobs ask for in one run."""
        builder = CoreJobBuilder(self.machine, reservations=list(run.reservations))
        jobs = {}
        for row, request in self.requests.items():
            request_of_run = request
            if request_of_run.begin is not None:
                request_of_run = replace(
                    request_of_run, begin=request_of_run.begin + run.submit[row]
                )
            jobs[row] = builder.core_job(request_of_run)
        return builder.build_requests(
            jobs,
            reservations=(*run.reservations.values(), NEVER_MADE_RESERVATION),
            admin_events=run.admin_events,
            associations=tuple(self.accounts.rows) if self.accounts else (),
            qos=tuple(self.accounts.qos) if self.accounts else (),
        )

    def instance(self, run: RecordedRun) -> Instance:
        """Return the jobs as one run had them."""
        cores = "cores" in self.jobs
        return Instance(
            {**self.jobs, "submit": run.submit},
            self.machine.cores if cores else self.machine.node_count,
            source=self.name,
            machine=self.machine,
        )
