"""An instance and a slurm.conf as the core's twin of slurmctld takes them, and back."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import sched_getaffinity
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.instance.unschedulable import also_of, place_of_job
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import of_nodes
from cosched.core.arrays import real
from cosched.errors import CoschedError, InfeasibleError, InvalidInstance, shorten
from cosched.slurm.conf import settings as conf
from cosched.slurm.requests import of_log
from cosched.slurm.requests.associations import let_in, priority_weights, unweighed
from cosched.slurm.requests.request import Requests, megabytes_of_nodes
from cosched.slurm.trace.of_core import TraceNames
from cosched.slurm.twin.never_starts import why_no_nodes, why_out_of_bounds
from cosched.slurm.twin.units import Units, node_cores_of, parts_of, units_of

#: Seconds (300 years) of a submission after the first, or of a job: the clocks tick all the while.
_LONGEST = 1e10


def require_times_of_life(instance: Instance) -> None:
    """Raise InvalidInstance where a job comes too late, or runs too long, for a clock's seconds."""
    submit = instance.column("eligible")
    spans = {"submit": submit - submit.min(), "runtime": instance.column("runtime")}
    for name, span in spans.items():
        row = int(np.argmax(span))
        if span[row] > _LONGEST:
            raise InvalidInstance(
                f"slurm-backfill: job {instance.ids[row]}: {name} = "
                f"{instance.column(name)[row]:.15g}: expected at most {_LONGEST:g} s, from the "
                "first submission"
            )


def without_suspensions(instance: Instance, machine: Machine | None) -> Instance:
    """The jobs without the time in which they were suspended, if the machine suspends jobs itself:
    the simulator does it then."""
    slurm = machine.slurm if machine is not None else None
    if slurm is None or slurm.parameters.get("PreemptMode") != conf.SUSPEND:
        return instance
    suspended = numbers_of(instance, "suspended")
    if not suspended.any():
        return instance
    columns = {"runtime": instance.column("runtime") - suspended, "suspended": 0.0 * suspended}
    if "estimate" in instance.known:
        columns["estimate"] = instance.given["estimate"] - suspended
    count = int((suspended > 0).sum())
    note = f"assumed: {count} jobs of the log were suspended; the simulator suspends jobs by itself"
    return instance.replace(**columns).with_notes([note])


def columns_of(
    room: of_log.Room, settings: conf.SlurmSettings, ran: np.ndarray, *, given: bool
) -> dict[str, np.ndarray]:
    """By the core's names; `given`: priorities are those of the instance."""
    instance = room.instance
    if "estimate" in instance.known:
        limit = instance.column("estimate")
    else:
        limit = np.array([settings.default_times.get(name, np.inf) for name in room.parts])
        limit = limit[room.part]
    users = np.unique(texts_of(instance, "user"), return_inverse=True)[1]
    priority = np.full(len(instance), -1.0)  # computed
    if given:
        if "priority" not in instance.known:
            raise InvalidInstance("priorities = given: expected jobs with a column priority")
        priority = np.nan_to_num(instance.column("priority"), nan=-1.0)
    return {
        "submit": instance.column("eligible"), "runtime": instance.column("runtime") + ran,
        "cpus": instance.column("tasks"), "limit": limit + ran, "partition": room.part,
        "user": users.reshape(-1), "nice": np.zeros(len(instance)), "priority": priority,
    }  # fmt: skip


#: Of nodes of a job: no limit.
_ANY = 2**31 - 1
#: What a job wants of its nodes.
_OF_NODES = {"nodes", "max_nodes", "exclusive", "memory", "memory_by_core", "memory_all", "gpus",
             "gpus_by_node", "gpu_type", "licences", "set", "alternatives",
             "partitions"}  # fmt: skip


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
        self._given = priorities == "given"
        settings = (machine.slurm if machine is not None else None) or conf.SlurmSettings()
        self.approximate = approximate or settings.approximate
        if not self.approximate:
            self._refuse(settings)
        require_times_of_life(instance)
        self.settings = settings
        self.since_24 = conf.rules_of(version or settings.version) == "24.11"
        self.node_cores = node_cores_of(instance, machine)
        #: Jobs have cores of their own, several on a node; else whole nodes.
        self.shared = not settings.whole and (
            bool((self.node_cores > 1).any())
            or settings.memory_counts
            or (
                machine is not None
                and machine.gpus > 0
                and bool(of_log.gpus_of_jobs(instance).any())
            )
        )
        self.machine = machine
        self.parts = parts_of(machine, len(self.node_cores))
        self.names = list(self.parts)
        usual = settings.default_partition or self.names[0]
        self.part, self.several = of_log.partitions_of_jobs(instance, self.names, usual)
        self._room = of_log.Room(instance, self.node_cores, self.parts, self.part, self.shared)
        self.nodes = self._room.nodes_of_jobs()
        #: What is followed otherwise than the machine and the jobs say.
        self.notes = list(settings.left_out)
        if not self.shared:
            self.several, said = self._room.with_nodes_of_the_first(self.several)
            self.notes += said
        self.notes += self._note_version(version, settings)
        self.notes += unweighed(settings.priority_tres, machine) if machine is not None else []
        asked = requests or self._of_log(settings, machine)
        #: How long jobs have run at second 0 (s).
        self.ran = np.zeros(len(instance))
        if requests is None and "running" in instance.known:
            begun = numbers_of(instance, "running") > 0
            self.ran = np.where(begun, numbers_of(instance, "ran"), 0.0)
            gpus = of_log.gpus_of_nodes(machine) if self.shared and machine is not None else []
            suspends = self.shared and settings.parameters.get("PreemptMode") == conf.SUSPEND
            asked = of_log.with_running(asked, self._room, self.ran, gpus, suspends)
        #: What jobs ask for beyond the columns of the instance.
        self.requests = asked
        try:
            self._core = self._make(settings, machine, parameters, asked)
        except (InfeasibleError, InvalidInstance) as error:  # of the core, which knows rows alone
            raise self._named(error) from None

    def _named(self, error: CoschedError) -> CoschedError:
        """An error of the core, with the names of jobs in place of their rows; of a job that its
        partition does not hold, with what it lacks."""
        rows = re.findall(r"\bjob ([0-9]+)\b", str(error))
        if isinstance(error, InfeasibleError) and rows:
            row = int(rows[0])
            if reason := why_out_of_bounds(self, row) or why_no_nodes(self, row):
                others = [
                    other for other in range(row + 1, len(self.instance))
                    if why_out_of_bounds(self, other)
                ]  # fmt: skip
                names = [str(self.instance.ids[other]) for other in others]
                found = InfeasibleError(
                    f"{place_of_job(self.instance, row)} {reason}{also_of(names)}"
                )
                found.rows = (row, *others)
                return found
        name = lambda row: f"job {self.instance.ids[int(row[1])]}"  # noqa: E731
        return type(error)(re.sub(r"\bjob ([0-9]+)\b", name, str(error)))

    @staticmethod
    def _refuse(settings: conf.SlurmSettings) -> None:
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

    def _of_log(self, settings: conf.SlurmSettings, machine: Machine | None) -> Requests:
        """What the jobs of a log ask for, and whose they are."""
        asked, said = of_log.requests_of_log(self._room, settings, machine, self.approximate)
        self.several, denied = let_in(self.instance, settings, self.names, self.several, self.part)
        self.notes += said + denied
        return asked

    def _note_version(self, version: str | None, settings: conf.SlurmSettings) -> list[str]:
        wanted = version or settings.version
        followed = conf.VERSIONS[1] if self.since_24 else conf.VERSIONS[0]
        if not wanted or wanted.startswith(followed):
            return []
        return [f"rules of Slurm {followed}, the nearest that is followed, for {wanted}"]

    def _make(
        self,
        settings: conf.SlurmSettings,
        machine: Machine | None,
        parameters: Mapping[str, float],
        requests: Requests,
    ) -> Any:
        count = len(self.node_cores)
        known = {p.name: p for p in machine.partitions} if machine is not None else {}
        factors = [settings.factors.get(name, 1.0) for name in self.names]
        largest = max(factors) or 1.0
        bounds = [settings.bounds.get(name, (0, _ANY)) for name in self.names]
        if self.approximate:  # partitions that let no job start
            used_partitions = set(np.unique(self.part).tolist()).union(*self.several.values())
            for number, (name, (_, most)) in enumerate(zip(self.names, bounds, strict=True)):
                if not most and number in used_partitions:
                    self.notes.append(f"not followed: State of partition {name}: its jobs run here")
            bounds = [(least, most or _ANY) for least, most in bounds]
        more = {row: dict(values) for row, values in requests.jobs.items()}
        for row, parts in self.several.items():
            more.setdefault(row, {})["partitions"] = parts
        if self.shared and settings.exclusive:
            alone = [name in settings.exclusive for name in self.names]
            for row in np.flatnonzero(np.array(alone)[self.part]).tolist():
                more.setdefault(row, {})["exclusive"] = True
        columns = columns_of(self._room, settings, self.ran, given=self._given)
        self._number_arrays(more, columns["limit"])
        # Limits of jobs are cut to MaxTime already, with the time of their suspensions on top. No
        # limit counts that time, so the core must not cut it off again.
        suspended = float(numbers_of(self._room.instance, "suspended").max(initial=0.0))
        return _core.cluster.Slurm(
            machine={
                "nodes": count,
                "cpus": int(machine.cores if machine is not None else count),
                "lines": self._lines(settings, machine),
                "sets": [list(spans) for spans in requests.sets],
                "licences": np.array(requests.licences, dtype=np.int64),
                "qos": [dict(one) for one in requests.qos],
                "priority_tres": (
                    priority_weights(settings.priority_tres, machine) if machine else []
                ),
                "down": list(settings.down),
                **self._resources(settings, machine),
            },
            partitions={
                "nodes": [list(ranges) for ranges in self.parts.values()],
                "tier": [int(known[n].priority) if n in known else 1 for n in self.names],
                "max_time": [
                    known[n].max_time + suspended if n in known else np.inf for n in self.names
                ],
                "job_factor": [factor / largest for factor in factors],
                "min_nodes": [least for least, _ in bounds],
                "max_nodes": [most for _, most in bounds],
                "qos": [requests.partition_qos.get(name, -1) for name in self.names],
                "preempt_mode": [settings.preempt_modes.get(n, (-1, 0))[0] for n in self.names],
                "grace": [settings.preempt_modes.get(n, (-1, 0))[1] for n in self.names],
                "billing": [list(requests.billing.get(name, ())) for name in self.names],
            },
            parameters={
                **settings.parameters, **_own(parameters), "since_24": float(self.since_24)
            },
            jobs={**columns, "nodes": self.nodes},
            more=more,
            reservations=list(requests.reservations),
            outside=list(requests.outside),
            accounts=list(requests.accounts),
        )  # fmt: skip

    def _number_arrays(self, jobs: Mapping[int, dict[str, Any]], limit: np.ndarray) -> None:
        """Arrays from 0 on: the core has a place for each. An array is those of its tasks that ask
        for what the first does; others were changed later, and are records of their own for Slurm,
        too (here with their own number of tasks that may run)."""
        tasks = self.instance.column("tasks")
        first: dict[int, tuple] = {}
        numbers: dict[tuple, int] = {}
        for row, job in jobs.items():
            if "array" in job:
                own: tuple = (job["array"],)
                asked = {k: v for k, v in job.items() if k in _OF_NODES}
                like = (self.part[row], self.nodes[row], tasks[row], limit[row], str(asked))
                if "running" not in job and like != first.setdefault(job["array"], like):
                    own += like
                job["array"] = numbers.setdefault(own, len(numbers))

    def _lines(self, settings: conf.SlurmSettings, machine: Machine | None) -> list[list]:
        """NodeName lines; since 24.11 those of equal nodes are one."""
        if not settings.lines:
            return [[(0, len(self.node_cores))]]
        if not self.since_24 or machine is None:
            return [list(line) for line in settings.lines]
        kind_of = [
            replace(kind, name="", count=1) for kind in machine.nodes for _ in range(kind.count)
        ]
        merged: dict[Any, list] = {}
        for line in settings.lines:
            merged.setdefault(kind_of[line[0][0]], []).extend(line)
        return [sorted(line) for line in merged.values()]

    def _resources(self, settings: conf.SlurmSettings, machine: Machine | None) -> dict[str, Any]:
        """What nodes have for jobs that share them."""
        none = np.zeros(0, dtype=np.int64)
        if not self.shared or machine is None:
            return {"node_cores": none, "node_memory": [], "node_gpus": [], "node_weight": none}
        memory = megabytes_of_nodes(machine)
        counts = settings.memory_counts and all(kind.memory_gb > 0 for kind in machine.nodes)
        if settings.memory_counts and not counts:
            self.notes.append("memory: the machine has nodes without RealMemory: not handed out")
        counts = counts and not any(note.startswith("memory: ") for note in self.notes)
        weight = of_nodes(machine, "weight")
        return {
            "node_cores": self.node_cores,
            "node_memory": memory if counts else [],
            "node_gpus": of_log.gpus_of_nodes(machine),
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
        recorder: _core.cluster.SlurmTraceRecorder | None = None,
        remembers: bool = True,
    ) -> dict[str, Any]:
        """One run; `cycles`, `checks`, `passes`: recorded times in place of the rules' own, and
        `slices`: what each of these cycles did between two rests. By job, `delays`: how long a pass
        or cycle had taken until it started it; `lengths`: from its start to its end; `epilogs`:
        from there until its nodes are free. `watched`: the run is over when these jobs have
        started. `recorder`: it gets the traces of the cycles and passes that it wants.
        `remembers`: what would come out as before is remembered, not repeated; no result depends on
        that."""
        given = {
            **clocks, "cycles": list(cycles), "checks": list(checks), "passes": list(passes),
            "lengths": list(lengths), "watched": list(watched), "epilogs": list(epilogs),
            "delays": list(delays), "slices": list(slices),
        }  # fmt: skip
        return self._core.run(
            clocks=given, told=log, plans=plans, trace=recorder, remembers=remembers
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
        """Starts (nan: none); of jobs that the limit check ended, ends; how long jobs were
        suspended: a row a run, a column a job. As many runs at a time as this process has cores.

        Of each run: its `clocks`, a row of `lengths`, and what comes beside the first `there` jobs:
        (like which job, when, how long).
        """
        total = len(clocks)
        done = None if progress is None else lambda over: progress(over, total)
        return self._core.run_all(
            there=len(self.instance) if there is None else there, clocks=_given(clocks, watched),
            lengths=np.zeros((0, 0)) if lengths is None else lengths, coming=list(coming),
            threads=len(sched_getaffinity(0)), done=done, whole=False,
        )[:3]  # fmt: skip

    def draws(
        self,
        clocks: Sequence[Mapping[str, float]],
        enough: Callable[[np.ndarray], bool] | None = None,
    ) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, list[dict[int, str]]]:
        """The first run, of all of them the same as :meth:`futures`, and of each the limits that
        kept jobs for ever, by job; `enough` is asked with the starts so far whether these are
        enough."""
        threads = len(sched_getaffinity(0))
        first: dict[str, Any] = {}
        found: list[list[np.ndarray]] = []
        barred: list[dict[int, str]] = []
        begin, end = 0, threads
        while begin < len(clocks):
            *rows, limits, whole = self._core.run_all(
                there=len(self.instance), clocks=_given(clocks[begin:end]),
                lengths=np.zeros((0, 0)), coming=[], threads=threads, done=None, whole=not found,
            )  # fmt: skip
            first = whole or first
            found.append(rows)
            barred += limits
            if enough is not None and enough(np.concatenate([one[0] for one in found])):
                break
            begin, end = end, len(clocks) if enough is None else end + threads
        start, killed, paused = map(np.concatenate, zip(*found, strict=True))
        return first, start, killed, paused, barred

    def retrace(
        self,
        clocks: Mapping[str, float],
        lives: Sequence[tuple[float, float, Sequence[tuple], Sequence[tuple]]],
        times: Sequence[float],
        *,
        cycles: Sequence[float] = (),
    ) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """Fair-share factors (by association) and priorities (by job; nan: does not wait) at these
        times, where jobs started, ended and ran as `lives` say: (start, end, (node, cores, MB) and
        (node, type, GPUs) of each)."""
        given = {**clocks, "cycles": list(cycles), "checks": [], "passes": [], "lengths": []}
        return self._core.retrace(clocks=given, lives=list(lives), times=list(times))

    def held_up(self) -> dict[int, tuple[str, float, float, list[int]]]:
        """Of jobs that a limit keeps at the begin: its name, what it is, what is used of it, and
        the jobs that run and count in it."""
        return self._core.held_up()

    def nodes_of(self, outcome: Mapping[str, Any]) -> list[np.ndarray]:
        """Node numbers of each job."""
        begin, node = outcome["nodes"]
        return np.split(node, begin[1:-1])

    def rows(
        self, instance: Instance, outcome: Mapping[str, Any], start: np.ndarray, end: np.ndarray
    ) -> tuple:
        """Columns of the schedule: a row a job of the outcome, a unit a task, on its nodes in
        order."""
        numbers = units_of(instance, self.machine, self.node_cores)
        units = Units(instance.column("tasks"), self.node_cores, numbers, self.shared)
        return units.rows(outcome, start, end)


def _given(
    clocks: Iterable[Mapping[str, float]], watched: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """Clocks of runs as the core has them, with nothing that was recorded."""
    fixed = {"cycles": [], "checks": [], "passes": [], "lengths": [], "watched": list(watched)}
    return [{**one, **fixed} for one in clocks]


def _own(parameters: Mapping[str, float]) -> dict[str, float]:
    """Parameters given by name, in Slurm's units."""
    own = {}
    for name, value in parameters.items():
        if name not in conf.PARAMETERS:
            known = ", ".join(sorted(conf.PARAMETERS))
            raise TypeError(f"slurm-backfill: unknown option {name!r} (options: {known})")
        own[name] = conf.in_seconds(name, real(value, name))
    return own
