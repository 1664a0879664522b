"""Recordings of real Slurms: jobs, when and where they ran; and the twin beside them."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.algorithms.slurm_twin import Twin, host_at
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine, slurm_machine
from cosched.cluster.slurm_conf import MOST_HOSTS, hosts
from cosched.core.arrays import integer
from cosched.errors import InvalidInstance, shorten

#: Keys of a recording's configuration that are no lines of a slurm.conf.
#: The version of Slurm whose rules the twin follows.
RULES_OF = "22.05"
#: What a job of a recording may say.
_JOB_KEYS = {"submit", "nodes", "cores", "limit", "runtime", "partition"}
_OWN_KEYS = frozenset({"NodeLines", "NodeNames", "Partitions", "speed", "Nodes", "Cpus"})
_CPUS = 4
#: Beyond so many seconds a start counts as another one; within so few as the same.
FAR, NEAR = 60.0, 5.0


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
    plans : tuple of (float, int, float, float, tuple of str)
        Planned reservations where they were recorded: time, job, start, end, nodes.
    """

    submit: np.ndarray
    start: np.ndarray
    end: np.ndarray
    nodes: tuple[tuple[str, ...], ...]
    controller_start: float
    epoch: int
    cycles: tuple[float, ...] = ()
    checks: tuple[float, ...] = ()
    plans: tuple[tuple[float, int, float, float, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Recording:
    """What a real Slurm did with the same jobs, once or several times.

    Attributes
    ----------
    name : str
        Of its file.
    machine : Machine
    jobs : mapping of str to numpy.ndarray
        Columns of the jobs but for their submissions.
    runs : tuple of Run
    speed : float
        Of the recorded clock: so many times as fast as life.
    slurm : str
        The version.
    """

    name: str
    machine: Machine
    jobs: Mapping[str, np.ndarray]
    runs: tuple[Run, ...]
    speed: float
    slurm: str

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
    jobs = data["jobs"]
    config = data["config"]
    _require_covered(name, jobs, data.get("events", ()))
    tasks = [job["cores"] if "cores" in job else job["nodes"] for job in jobs]
    columns: dict[str, Any] = {
        "tasks": np.array(tasks),
        "cpu": np.ones(len(jobs)),
        "memory": np.ones(len(jobs)),
        "runtime": np.array([float(job["runtime"]) for job in jobs]),
        "estimate": np.array([float(job["limit"]) for job in jobs]),
    }
    if any("cores" in job for job in jobs):
        columns["cores"] = columns["tasks"]
    if any("partition" in job for job in jobs):
        columns["partition"] = np.array([job.get("partition", "") for job in jobs])
    runs = tuple(_run(run, phase) for run, phase in zip(data["runs"], data["phases"], strict=True))
    if not runs or any(len(run.start) != len(jobs) for run in runs):
        raise InvalidInstance(f"{name}: runs: expected all {len(jobs)} jobs in each")
    machine = _machine(name, data["nodes"], config, str(data.get("slurm", "")))
    speed = float(config.get("speed", 1))
    return Recording(name, machine, columns, runs, speed, str(data.get("slurm", "")))


def _require_covered(name: str, jobs: Sequence[Mapping[str, Any]], events: Sequence[Any]) -> None:
    """Refuse what Slurm was asked for and the twin knows no rule of."""
    foreign = sorted({key for job in jobs for key in job} - _JOB_KEYS)
    if any("," in str(job.get("partition", "")) for job in jobs):
        foreign.append("several partitions")
    if events:
        foreign.append("events")
    if any("nodes" not in job and "cores" not in job for job in jobs):
        foreign.append("neither nodes nor cores")
    if foreign:
        raise InvalidInstance(
            f"{name}: slurm-backfill does not cover jobs with {', '.join(foreign)}"
        )


def _reservations(plans: Sequence[Any]) -> Iterator[tuple[float, int, float, float, str]]:
    """A row each, of ``t, job, start, end, nodes`` or ``t, [[job, start, end, nodes, ...]]``."""
    for time, *plan in plans:
        for job, start, end, nodes, *_ in plan[0] if len(plan) == 1 else [plan]:
            yield float(time), int(job), float(start), float(end), nodes


def _run(run: list[Mapping[str, Any]], phase: Mapping[str, Any]) -> Run:
    def column(name: str) -> np.ndarray:
        return np.array([float(job[name]) for job in run])

    exact = phase.get("submit_exact") or column("submit")
    return Run(
        submit=np.array(exact, dtype=float),
        start=column("start"),
        end=column("end"),
        nodes=tuple(tuple(hosts(job["nodelist"], "nodelist")) for job in run),
        controller_start=float(phase["controller_start"]),
        epoch=int(phase["epoch"]),
        cycles=tuple(map(float, phase.get("bf_cycles", ()))),
        checks=tuple(map(float, phase.get("kills", ()))),
        plans=tuple(
            (time, job, start, end, tuple(hosts(nodes, "plans")))
            for time, job, start, end, nodes in _reservations(phase.get("plans", ()))
        ),
    )


def _machine(name: str, nodes: Any, config: Mapping[str, Any], slurm: str) -> Machine:
    """The machine of its configuration, read as a slurm.conf."""
    count = integer(config.get("Nodes", nodes), f"{name}: nodes", 1, MOST_HOSTS)
    cpus = int(config.get("Cpus", _CPUS))
    lines = [f"{key}={value}" for key, value in config.items() if key not in _OWN_KEYS]
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
    twin = Twin(instance, recording.machine, {})
    clocks = host_at(recording.speed)
    clocks.update(controller_start=run.controller_start, epoch=float(run.epoch))
    outcome = twin.run(
        clocks,
        cycles=run.cycles if replay else (),
        checks=run.checks if replay else (),
        plans=bool(run.plans),
    )
    names = twin.settings.names or tuple(f"n{k + 1}" for k in range(len(twin.node_cores)))
    nodes = tuple(tuple(names[k] for k in own) for own in twin.nodes_of(outcome))
    start = np.asarray(outcome["start"])
    same = np.array([set(a) == set(b) for a, b in zip(nodes, run.nodes, strict=True)])
    plans = _plans(run, outcome["notes"], names)
    return Agreement(start, nodes, start - run.start, same, plans)


_PLANNED = 4  # action of a note
_SAME_CYCLE, _SAME_START = 2.0, 3.0


def _plans(run: Run, notes: list, names: tuple[str, ...]) -> tuple[tuple[float, int, int], ...]:
    """Planned reservations of each recorded cycle, and how many the twin's nearest cycle shares."""
    mine: dict[int, list] = {}
    for when, job, what, start, end, nodes in notes:
        if what == _PLANNED and nodes:
            mine.setdefault(job, []).append((when, start, end, {names[k] for k in nodes}))
    cycles: dict[float, list[int]] = {}
    for when, job, start, end, nodes in run.plans:
        at = bisect(run.cycles, when)
        count = cycles.setdefault(run.cycles[at - 1] if at else when, [0, 0])
        count[0] += 1
        count[1] += any(
            abs(t - when) <= _SAME_CYCLE
            and abs(a - start) <= _SAME_START
            and abs(b - end) <= _SAME_START
            and own == set(nodes)
            for t, a, b, own in mine.get(job, ())
        )
    return tuple((when, total, equal) for when, (total, equal) in cycles.items())
