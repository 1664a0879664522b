"""Recordings of real Slurms: jobs, when and where they ran; and the twin beside them."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.algorithms.slurm_twin import HOST, Twin, host_at
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine, slurm_machine
from cosched.cluster.slurm_conf import MOST_HOSTS, hosts
from cosched.cluster.slurm_requests import (
    Requests,
    Wishes,
    array_tasks,
    dependencies,
    outside,
)
from cosched.cluster.slurm_settings import PARAMETERS, VERSIONS, rules_of
from cosched.core.arrays import integer
from cosched.errors import InvalidInstance, shorten

#: What a job of a recording may say.
_JOB_KEYS = frozenset(
    """submit nodes cores limit runtime partition mem mem_per_cpu gres gpus constraint licenses
    array name dependency begin hold exclusive no_requeue reservation fail""".split()
)
#: Keys of a recording's configuration that are no lines of a slurm.conf.
_OWN_KEYS = frozenset({"NodeLines", "NodeNames", "Partitions", "speed", "Nodes", "Cpus"})
_CPUS = 4
#: What a Slurm that is recorded has where its configuration says nothing.
_USUAL = {"ReturnToService": 2}
#: Beyond so many seconds a start counts as another one; within so few as the same.
FAR, NEAR = 60.0, 5.0
#: Where in its second an end is that no pass followed, and how long the last message takes (s).
_INSIDE, _MESSAGE = 0.3, 0.3
#: So long after the turn of a second is the loop's tick, where it is there.
_TURN = 0.1
#: A job that took longer than its run time by this much did not end by itself.
_LONGEST = 10.0


@dataclass(frozen=True)
class Run:
    """One run of a recording, on the recording's own time base (s).

    Attributes
    ----------
    submit, start, end : numpy.ndarray, shape (n,)
        Submissions as exactly as they are known; starts and ends in whole seconds.
    nodes : tuple of tuple of str
        Names of each job's nodes.
    controller_start : float
        When slurmctld started.
    epoch : int
        Unix time of the base's second 0.
    cycles, checks : tuple of float
        When backfill cycles began, and limit checks that ended a job; empty: not recorded.
    passes : tuple of (float, bool)
        When the main scheduler passed, and whether over the whole queue.
    begins : mapping of int to float
        Exact starts by row, where they were recorded.
    turns : bool
        The controller's loop ticks at the turns of seconds.
    plans : tuple of (float, int, float, float, tuple of str, str)
        Planned reservations where they were recorded: time, first row of the job, start, end,
        nodes, partition (empty: not recorded).
    reservations : mapping of str to tuple
        Advance reservations by name, as ``slurm_requests`` has them.
    outside : tuple
        What an administrator did, as ``slurm_requests`` has it.
    """

    submit: np.ndarray
    start: np.ndarray
    end: np.ndarray
    nodes: tuple[tuple[str, ...], ...]
    controller_start: float
    epoch: int
    cycles: tuple[float, ...] = ()
    checks: tuple[float, ...] = ()
    passes: tuple[tuple[float, bool], ...] = ()
    begins: Mapping[int, float] = field(default_factory=dict)
    turns: bool = False
    plans: tuple[tuple[float, int, float, float, tuple[str, ...], str], ...] = ()
    reservations: Mapping[str, tuple] = field(default_factory=dict)
    outside: tuple[tuple, ...] = ()

    def launch(self, runtime: np.ndarray) -> float:
        """Seconds from a job's start to its work and back: the mean over those that ended by
        themselves."""
        took = self.end - self.start - runtime
        own = np.isin(np.arange(len(took)), list(self.begins)) & (took >= -1) & (took < _LONGEST)
        return max(float(took[own].mean()), 0.0) if own.any() else HOST["launch"]

    def sleep_extra(self, interval: float, usual: float) -> float:
        """Seconds that a sleep of the backfill thread takes longer, with its cycle: the median of
        those that nothing kept from a cycle."""
        beyond = np.diff(self.cycles) - interval
        soon = beyond[beyond < 1]
        return float(np.median(soon)) if len(soon) else usual

    def lengths(self, runtime: np.ndarray) -> np.ndarray:
        """Seconds from each job's start to its end where it ended by itself, else nan.

        Ends are recorded in whole seconds. A pass follows the last message of a job's nodes at
        once, or later: where one was within that second, the job ended just before it.
        """
        lengths = np.full(len(self.start), np.nan)
        # At the turn of a second it is the loop's, since 24.11, and says nothing.
        passes = [time for time, _ in self.passes if not self.turns or time % 1 > _TURN]
        for row, begin in self.begins.items():
            at = self.end[row]
            near = bisect(passes, at + _MESSAGE / 2)
            soon = passes[near] - _MESSAGE if near < len(passes) else np.inf
            end = min(max(soon, at), at + 0.99) if soon < at + 1 else at + _INSIDE
            if end - begin >= runtime[row]:
                lengths[row] = end - begin
        return lengths


@dataclass(frozen=True)
class Recording:
    """What a real Slurm did with the same jobs, once or several times.

    Attributes
    ----------
    name : str
        Of its file.
    machine : Machine
    jobs : mapping of str to numpy.ndarray
        Columns of the jobs but for their submissions; a row a job, or a task of an array.
    runs : tuple of Run
    speed : float
        Of the recorded clock: so many times as fast as life.
    slurm : str
        The version.
    requests : Requests
        What jobs ask for beyond these columns.
    rows : tuple of tuple of int
        Of each job: one, or one a task of an array.
    arrays : mapping of int to tuple of int
        Indexes of the tasks of jobs that are arrays.
    notes : tuple of str
        What is followed otherwise than it was recorded.
    """

    name: str
    machine: Machine
    jobs: Mapping[str, np.ndarray]
    runs: tuple[Run, ...]
    speed: float
    slurm: str
    requests: Requests = Requests()
    rows: tuple[tuple[int, ...], ...] = ()
    arrays: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def label(self, row: int) -> str:
        """What a row is called: its job, and the task where that is an array."""
        for job, own in enumerate(self.rows):
            if row in own:
                tasks = self.arrays.get(job)
                return f"job {job}" if tasks is None else f"job {job}_{tasks[own.index(row)]}"
        return f"job {row}"

    def requests_of(self, run: Run) -> Requests:
        """What jobs ask for in one run."""
        names = list(run.reservations)
        more = {row: dict(values) for row, values in self.requests.more.items()}
        for values in more.values():
            wanted = values.pop("reservation", None)
            if wanted is not None:  # the last is one that was never made
                values["reservation"] = names.index(wanted) if wanted in names else len(names)
        for row, values in more.items():
            if "begin" in values:
                values["begin"] += run.submit[row]
        never = (np.inf, 0, 0, [], False, False)
        return replace(
            self.requests, more=more, reservations=(*run.reservations.values(), never),
            outside=run.outside,
        )  # fmt: skip

    def instance(self, run: Run) -> Instance:
        """The jobs as one run had them."""
        cores = "cores" in self.jobs
        return Instance(
            {**self.jobs, "submit": run.submit},
            self.machine.cores if cores else self.machine.node_count,
            source=self.name,
            machine=self.machine,
        )


@dataclass(frozen=True)
class Agreement:
    """The twin's run beside a recorded one.

    Attributes
    ----------
    start : numpy.ndarray, shape (n,)
        The twin's (s), on the recording's time base.
    nodes : tuple of tuple of str
        The twin's.
    apart : numpy.ndarray, shape (n,)
        Its start minus the recorded one (s).
    same_nodes : numpy.ndarray of bool, shape (n,)
    plans : tuple of (float, int, int)
        Recorded cycles with plans: time, planned reservations, those that are equal.

    Examples
    --------
    >>> far = Agreement(np.array([100.0]), (("n1",),), np.array([70.0]), np.array([True]), ())
    >>> far.off_by_60, far.good
    (1, 0)
    """

    start: np.ndarray
    nodes: tuple[tuple[str, ...], ...]
    apart: np.ndarray
    same_nodes: np.ndarray
    plans: tuple[tuple[float, int, int], ...]

    @property
    def off_by_60(self) -> int:
        """Jobs whose starts differ by more than 60 s."""
        return int((np.abs(self.apart) > FAR).sum())

    @property
    def good(self) -> int:
        """Jobs on the same nodes, with starts within 5 s."""
        return int(((np.abs(self.apart) <= NEAR) & self.same_nodes).sum())

    @property
    def planned(self) -> tuple[int, int]:
        """Recorded planned reservations, and those that are equal."""
        return sum(plan[1] for plan in self.plans), sum(plan[2] for plan in self.plans)

    @property
    def median(self) -> float:
        """Median difference of the starts (s)."""
        return float(np.median(np.abs(self.apart)))


def read_recording(path: str | PathLike[str]) -> Recording:
    """Read a recording of a real Slurm.

    JSON: ``config`` (lines of slurm.conf; ``NodeLines`` each or one, ``Partitions`` whole lines,
    ``speed``), ``nodes``, ``jobs`` (``submit, nodes`` or ``cores, limit, runtime[, partition]``),
    ``runs`` (for each job ``submit, start, end, state, nodelist``, s from the run's second 0) and
    ``phases`` (for each run ``epoch`` = the Unix time of that second, ``controller_start``, and
    where known ``submit_exact, bf_cycles, kills, plans``).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> io.write_json({
    ...     "config": {"SelectType": "select/linear", "NodeLines": "one", "speed": 20,
    ...                "Partitions": ["PartitionName=main Nodes=ALL"]},
    ...     "nodes": 2, "jobs": [{"submit": 0, "nodes": 1, "limit": 60, "runtime": 30}],
    ...     "runs": [[{"submit": 0, "start": 1, "end": 32, "nodelist": "n1"}]],
    ...     "phases": [{"epoch": 1000, "controller_start": -20.0}]}, path)
    >>> read_recording(path).runs[0].nodes
    (('n1',),)
    """
    data = io.read_json(path)
    try:
        return _recording(Path(path).name, data)
    except InvalidInstance:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise InvalidInstance(
            f"{path}: {shorten(str(error))}: expected a recording with config, nodes, jobs, runs "
            "and phases"
        ) from None


def _recording(name: str, data: Mapping[str, Any]) -> Recording:
    jobs, config = data["jobs"], data["config"]
    _require_covered(name, jobs)
    slurm = str(data.get("slurm", ""))
    machine = _machine(name, data["nodes"], config, slurm)
    # In the first recordings, `nodes` beside `cores` was no wish.
    jobs = [job if "NodeNames" in config or "cores" not in job else {**job, "nodes": None} for job in jobs]
    jobs = [{key: value for key, value in job.items() if value is not None} for job in jobs]
    arrays = [array_tasks(job["array"])[0] if "array" in job else [0] for job in jobs]
    ends = np.cumsum([len(tasks) for tasks in arrays]).tolist()
    rows = tuple(
        tuple(range(end - len(tasks), end)) for tasks, end in zip(arrays, ends, strict=True)
    )
    of_row = np.repeat(np.arange(len(jobs)), [len(own) for own in rows])
    columns = _columns(jobs, of_row)
    requests = _requests(machine, jobs, rows)
    runs = tuple(
        _run(run, phase, rows, machine, data.get("events", ()), arrays, jobs, slurm)
        for run, phase in zip(data["runs"], data["phases"], strict=True)
    )
    if not runs:
        raise InvalidInstance(f"{name}: runs: expected one at least")
    indexes = {k: tuple(arrays[k]) for k, job in enumerate(jobs) if "array" in job}
    rules = rules_of(slurm)
    notes = (f"rules of Slurm {rules} for {slurm}",) if not slurm.startswith(rules) else ()
    return Recording(
        name, machine, columns, runs, float(config.get("speed", 1)), slurm, requests, rows,
        indexes, notes,
    )  # fmt: skip


def _columns(jobs: Sequence[Mapping[str, Any]], of_row: np.ndarray) -> dict[str, np.ndarray]:
    tasks = np.array([job["cores"] if "cores" in job else job["nodes"] for job in jobs])
    columns: dict[str, np.ndarray] = {
        "tasks": tasks[of_row],
        "cpu": np.ones(len(of_row)),
        "memory": np.ones(len(of_row)),
        "runtime": np.array([float(job["runtime"]) for job in jobs])[of_row],
        "estimate": np.array([float(job["limit"]) for job in jobs])[of_row],
    }
    if any("cores" in job for job in jobs):
        columns["cores"] = columns["tasks"]
    if any("partition" in job for job in jobs):
        columns["partition"] = np.array([job.get("partition", "") for job in jobs])[of_row]
    return columns


def _require_covered(name: str, jobs: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what Slurm was asked for and the twin knows no rule of."""
    foreign = sorted({key for job in jobs for key in job} - _JOB_KEYS)
    if any("nodes" not in job and "cores" not in job for job in jobs):
        foreign.append("neither nodes nor cores")
    if foreign:
        raise InvalidInstance(
            f"{name}: slurm-backfill does not cover jobs with {', '.join(foreign)}"
        )


def _requests(
    machine: Machine, jobs: Sequence[Mapping[str, Any]], rows: Sequence[tuple[int, ...]]
) -> Requests:
    wishes = Wishes(machine)
    more: dict[int, dict[str, Any]] = {}
    shared = any("cores" in job for job in jobs)
    for number, (job, own) in enumerate(zip(jobs, rows, strict=True)):
        wanted: dict[str, Any] = {}
        if shared:
            part = str(job.get("partition", "")).split(",")[0]
            wanted |= wishes.resources(job, int(job.get("cores", job.get("nodes", 1))), part)
        if "constraint" in job:
            wanted |= wishes.constraint(job["constraint"])
        if "licenses" in job:
            wanted |= wishes.licences_of(job["licenses"])
        if "dependency" in job:
            wanted["after"] = dependencies(job["dependency"], lambda k: list(rows[k]))
            if any(kind == "singleton" for kind, _ in job["dependency"]):
                wanted["singleton"] = wishes.singleton("", job.get("name", ""))
        if "array" in job:
            wanted |= {"array": number, "array_limit": array_tasks(job["array"])[1]}
        wanted |= {
            to: True
            for key, to in (("hold", "held"), ("fail", "fails"))
            if job.get(key)
        }
        wanted |= {key: job[key] for key in ("begin", "reservation") if key in job}
        if job.get("no_requeue"):
            wanted["requeue"] = False
        if wanted:
            more |= {row: wanted for row in own}
    return Requests(more, tuple(wishes.sets), tuple(wishes.licences.values()))


def _reservations(plans: Sequence[Any]) -> Iterator[tuple]:
    """A row each, of ``t, job, start, end, nodes`` or ``t, [[job, start, end, nodes, ...]]``."""
    for time, *plan in plans:
        for job, start, end, nodes, *part in plan[0] if len(plan) == 1 else [plan]:
            number = int(job[0] if isinstance(job, list) else job)
            yield float(time), number, float(start), float(end), nodes, (*part, "")[0]


def _run(
    run: list[Any],
    phase: Mapping[str, Any],
    rows: Sequence[tuple[int, ...]],
    machine: Machine,
    events: Sequence[Mapping[str, Any]],
    arrays: Sequence[Sequence[int]],
    jobs: Sequence[Mapping[str, Any]],
    slurm: str,
) -> Run:
    """A job that did not start, or was refused, has no start, end and nodes."""
    if len(run) != len(jobs):
        raise InvalidInstance(f"runs: expected all {len(jobs)} jobs in each")
    happened: list[Mapping[str, Any]] = []
    for job, tasks in zip(run, arrays, strict=True):
        found = {one["task"]: one for one in (job or {}).get("tasks", ())}
        happened += [found.get(task, {}) for task in tasks] if found else [job or {}] * len(tasks)

    def column(name: str) -> np.ndarray:
        return np.array([np.nan if job.get(name) is None else float(job[name]) for job in happened])

    of_row = np.repeat(np.arange(len(rows)), [len(own) for own in rows])
    exact = phase.get("submit_exact")
    given = np.array([float(job["submit"]) for job in jobs])
    if exact is None:
        submit = column("submit")
    else:
        known = [given[k] if one is None else float(one) for k, one in enumerate(exact)]
        submit = np.array(known)[of_row]
    return Run(
        submit=submit,
        start=column("start"),
        end=column("end"),
        nodes=tuple(
            tuple(hosts(job["nodelist"], "nodelist")) if job.get("nodelist") else ()
            for job in happened
        ),
        controller_start=float(phase["controller_start"]),
        epoch=int(phase["epoch"]),
        cycles=tuple(map(float, phase.get("bf_cycles", ()))),
        checks=tuple(map(float, phase.get("kills", ()))),
        passes=tuple((float(time), kind == "full") for time, kind in phase.get("main_passes", ())),
        begins=_begins(phase, rows, arrays),
        turns=rules_of(slurm) != VERSIONS[0],
        plans=tuple(
            (time, rows[job][0], start, end, tuple(hosts(nodes, "plans")), part)
            for time, job, start, end, nodes, part in _reservations(phase.get("plans", ()))
        ),
        reservations=_advance(phase, machine, events),
        outside=_outside(phase, machine, events, rows),
    )


def _begins(
    phase: Mapping[str, Any],
    rows: Sequence[tuple[int, ...]],
    arrays: Sequence[Sequence[int]],
) -> dict[int, float]:
    """The last start of each job, by row."""
    begins = {}
    for time, job, *_ in phase.get("starts", ()):
        number, task = job if isinstance(job, list) else (job, None)
        place = 0 if task is None else arrays[number].index(task)
        begins[rows[number][place]] = float(time)
    return begins


def _advance(
    phase: Mapping[str, Any], machine: Machine, events: Sequence[Mapping[str, Any]]
) -> dict[str, tuple]:
    """Reservations that were made, with the flags of the commands that made them."""
    wishes = Wishes(machine)
    said = {}
    for event in events:
        if event["do"] == "create_reservation":
            words = dict(word.split("=", 1) for word in event["args"].split())
            said[words["ReservationName"]] = words
    found = {}
    for time, name, nodes, begin, end in phase.get("reservations", ()):
        words = said.get(name, {})
        every = words.get("Nodes", "").upper() == "ALL"
        maintenance = "MAINT" in words.get("Flags", "").split(",")
        spans = list(wishes.nodes(nodes, "reservations"))
        found[name] = (float(time), int(begin), int(end), spans, maintenance, every)
    return found


_STATES = {"DOWN": "down", "DRAIN": "drain", "RESUME": "resume"}


def _outside(
    phase: Mapping[str, Any],
    machine: Machine,
    events: Sequence[Mapping[str, Any]],
    rows: Sequence[tuple[int, ...]],
) -> tuple[tuple, ...]:
    """What was done, at the moment when it was."""
    wishes = Wishes(machine)
    exact = {int(number): float(time) for number, time, *_ in phase.get("events", ())}
    found = []
    for number, event in enumerate(events):
        time = exact.get(number, float(event["t"]))
        if event["do"] == "release":
            found += [outside("release", time, row) for row in rows[event["job"]]]
        elif event["do"] == "create_reservation":
            found.append(outside("reserve", time))
        elif event["do"] == "update_node":
            words = dict(word.split("=", 1) for word in event["args"].split() if "=" in word)
            spans = wishes.nodes(words["NodeName"], "events")
            found.append(outside(_STATES[words["State"].upper()], time, nodes=spans))
        else:
            raise InvalidInstance(f"events: {shorten(event['do'])}: the twin has no rule for it")
    return tuple(found)


def _machine(name: str, nodes: Any, config: Mapping[str, Any], slurm: str) -> Machine:
    """The machine of its configuration, read as a slurm.conf."""
    count = integer(config.get("Nodes", nodes), f"{name}: nodes", 1, MOST_HOSTS)
    cpus = int(config.get("Cpus", _CPUS))
    lines = [f"{key}={value}" for key, value in {**_USUAL, **config}.items() if key not in _OWN_KEYS]
    each = [f"n{k}" for k in range(1, count + 1)]
    names = each if config.get("NodeLines") == "each" else [f"n[1-{count}]"]
    lines += config.get("NodeNames") or [f"NodeName={node} CPUs={cpus}" for node in names]
    lines += [re.sub(r"^(?!PartitionName)", "PartitionName=", p) for p in config["Partitions"]]
    version = re.match(r"[0-9]{2}\.[0-9]{2}", slurm)
    return slurm_machine("\n".join(lines), name, version[0] if version else "22.05")


def agreement(recording: Recording, run: Run, *, replay: bool = False) -> Agreement:
    """Run the twin with the clocks of a recorded run, and compare.

    `replay`: backfill cycles and limit checks at the recorded times, too; else only the
    controller's start and the epoch are the recording's.

    Examples
    --------
    >>> from cosched.cluster import NodeType
    >>> machine = Machine((NodeType("n", 1, 4, 0.0, 0),), ())
    >>> jobs = {"tasks": [1], "cpu": [1], "memory": [1], "runtime": [30.0], "estimate": [60.0]}
    >>> run = Run(np.zeros(1), np.ones(1), np.full(1, 32.0), (("n1",),), -20.0, 1000)
    >>> agreement(Recording("a", machine, jobs, (run,), 20.0, ""), run).off_by_60
    0
    """
    instance = recording.instance(run)
    twin = Twin(
        instance, recording.machine, {}, requests=recording.requests_of(run),
        version=recording.slurm or None,
    )  # fmt: skip
    clocks = host_at(recording.speed)
    clocks.update(controller_start=run.controller_start, epoch=float(run.epoch))
    if run.begins:
        clocks["launch"] = run.launch(instance.column("runtime"))
        interval = twin.settings.parameters.get("bf_interval", PARAMETERS["bf_interval"])
        clocks["sleep_extra"] = run.sleep_extra(interval, clocks["sleep_extra"])
    outcome = twin.run(
        clocks,
        cycles=run.cycles if replay else (),
        checks=run.checks if replay else (),
        passes=run.passes if replay else (),
        lengths=run.lengths(instance.column("runtime")) if replay else (),
        plans=bool(run.plans),
    )
    names = twin.settings.names or tuple(f"n{k + 1}" for k in range(len(twin.node_cores)))
    nodes = tuple(tuple(names[k] for k in own) for own in twin.nodes_of(outcome))
    start = np.asarray(outcome["start"])
    same = np.array([set(a) == set(b) for a, b in zip(nodes, run.nodes, strict=True)])
    never = np.isnan(start) & np.isnan(run.start)
    apart = np.where(never, 0.0, np.nan_to_num(start - run.start, nan=np.inf))
    plans = _plans(recording, run, outcome["notes"], names, twin.names)
    return Agreement(start, nodes, apart, same, plans)


_PLANNED = 4  # action of a note
_SAME_CYCLE, _SAME_START = 2.0, 3.0


def _plans(
    recording: Recording, run: Run, notes: list, names: tuple[str, ...], parts: list[str]
) -> tuple[tuple[float, int, int], ...]:
    """Planned reservations of each recorded cycle, and how many the twin's nearest cycle shares."""
    first = {row: own[0] for own in recording.rows for row in own}
    mine: dict[int, list] = {}
    for when, row, what, start, end, nodes, part in notes:
        if what == _PLANNED and nodes:
            plan = (when, start, end, {names[k] for k in nodes}, parts[part])
            mine.setdefault(first.get(row, row), []).append(plan)
    cycles: dict[float, list[int]] = {}
    for when, row, start, end, nodes, part in run.plans:
        at = bisect(run.cycles, when)
        count = cycles.setdefault(run.cycles[at - 1] if at else when, [0, 0])
        count[0] += 1
        count[1] += any(
            abs(t - when) <= _SAME_CYCLE
            and abs(a - start) <= _SAME_START
            and abs(b - end) <= _SAME_START
            and own == set(nodes)
            and part in ("", where)
            for t, a, b, own, where in mine.get(row, ())
        )
    return tuple((when, total, equal) for when, (total, equal) in cycles.items())
