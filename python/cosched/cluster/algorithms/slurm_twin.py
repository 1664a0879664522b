"""An instance and a slurm.conf as the core's twin of slurmctld takes them, and back."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import sched_getaffinity
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.algorithms.slurm_owners import let_in, with_owners
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.cluster.running import held_of
from cosched.cluster.slurm_accounts import priority_weights, unweighed
from cosched.cluster.slurm_requests import Requests, gpu_types_of
from cosched.cluster.slurm_settings import (
    PARAMETERS,
    VERSIONS,
    SlurmSettings,
    in_seconds,
    rules_of,
)
from cosched.cluster.slurm_suspension import SUSPEND
from cosched.core.arrays import real
from cosched.errors import InfeasibleError, InvalidInstance, shorten

#: Seconds (300 years) of a submission after the first, or of a job: the clocks tick all the while.
_LONGEST = 1e10

#: Of nodes of a job: no limit.
_ANY = 2**31 - 1


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
        settings = (machine.slurm if machine is not None else None) or SlurmSettings()
        self.approximate = approximate or settings.approximate
        if not self.approximate:
            self._refuse(settings)
        self._require_times_of_life(instance)
        self.settings = settings
        self.since_24 = rules_of(version or settings.version) == "24.11"
        self.node_cores = _node_cores(instance, machine)
        #: Jobs have cores of their own, several on a node; else whole nodes.
        self.shared = not settings.whole and (
            bool((self.node_cores > 1).any()) or settings.memory_counts
        )
        self._suspends = self.shared and settings.parameters.get("PreemptMode") == SUSPEND
        self.first_unit = np.concatenate([[0], np.cumsum(self.node_cores)])
        self.units = _units(instance, machine, self.node_cores)
        self.machine = machine
        self.parts = _parts(instance, machine, len(self.node_cores))
        self.names = list(self.parts)
        self.several: dict[int, list[int]] = {}  # partitions of jobs in more than one
        self.part = self._partition_of_jobs(settings)
        self.nodes = self._nodes_of_jobs()
        #: What is followed otherwise than the machine and the jobs say.
        self.notes = list(settings.left_out)
        self.notes += self._note_version(version, settings)
        self.notes += unweighed(settings.priority_tres, machine) if machine is not None else []
        asked = requests or self._of_log(settings, machine)
        #: How long jobs have run at second 0 (s).
        self.ran = np.zeros(len(instance))
        if requests is None and "running" in instance.known:
            asked = self._with_running(asked, self._gpus_of_nodes(machine))
        self._core = self._make(settings, machine, parameters, asked)

    @staticmethod
    def _refuse(settings: SlurmSettings) -> None:
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

    def _of_log(self, settings: SlurmSettings, machine: Machine | None) -> Requests:
        """What the jobs of a log ask for, and whose they are."""
        asked = self._asked(settings, machine)
        if machine is None:
            return asked
        asked, said = with_owners(asked, self.instance, machine, settings, self.approximate)
        self.several, denied = let_in(self.instance, settings, self.names, self.several, self.part)
        self.notes += said + denied
        return asked

    def _note_version(self, version: str | None, settings: SlurmSettings) -> list[str]:
        wanted = version or settings.version
        followed = VERSIONS[1] if self.since_24 else VERSIONS[0]
        if not wanted or wanted.startswith(followed):
            return []
        return [f"rules of Slurm {followed}, the nearest that is followed, for {wanted}"]

    def _asked(self, settings: SlurmSettings, machine: Machine | None) -> Requests:
        """What the jobs of a log say about memory and GPUs of nodes that they share."""
        known = self.instance.known
        if not self.shared or machine is None:
            if machine is not None and machine.gpus and "gpus" in known:
                self.notes.append("gpus: nodes are whole here, so that they are not handed out")
            return Requests()
        tasks = self.instance.column("tasks").astype(np.int64)
        more: dict[int, dict[str, Any]] = {row: {} for row in range(len(tasks))}
        if settings.memory_counts and "memory_gb" not in known:
            self.notes.append("memory: the log does not say it, so that it is not handed out")
        elif settings.memory_counts:
            per_core = np.ceil(self.instance.column("memory_gb") * 1024 / tasks)
            for row, amount in enumerate(per_core.tolist()):
                if amount > 0:
                    more[row] = {"memory": int(amount), "memory_by_core": True}
                    continue
                name = self.names[self.part[row]]
                usual, by_cpu = settings.default_memory(name)
                more[row] = (
                    {"memory": usual, "memory_by_core": by_cpu} if usual else {"memory_all": True}
                )
        if "gpus" in known:
            types = gpu_types_of(machine)
            if not types and (self.instance.column("gpus") > 0).any():
                self.notes.append("gpus: the machine has none, so that they are not handed out")
            names = (
                self.instance.column("gpu_type").astype(str).tolist()
                if "gpu_type" in known else [""] * len(tasks)
            )  # fmt: skip
            for row, count in enumerate(np.nan_to_num(self.instance.column("gpus")).tolist()):
                if count > 0 and types:
                    kind = types.index(names[row]) if names[row] in types else -1
                    more[row] |= {"gpus": int(count), "gpu_type": kind}
        return Requests(
            {row: {"tasks": int(tasks[row]), **own} for row, own in more.items() if own}
        )

    @staticmethod
    def _require_times_of_life(instance: Instance) -> None:
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

    def _partition_of_jobs(self, settings: SlurmSettings) -> np.ndarray:
        usual = settings.default_partition or self.names[0]
        if "partition" not in self.instance.known or len(self.names) == 1:
            return np.full(len(self.instance), self.names.index(usual))
        places = {name: k for k, name in enumerate(self.names)}
        found = np.empty(len(self.instance), dtype=np.int64)
        for row, text in enumerate(map(str, self.instance.column("partition").tolist())):
            names = text.split(",")
            name = next((one for one in names if one and one not in places), names[0])
            if len(names) > 1 and name in places:
                self.several[row] = [places[one] for one in names]
            if name and name not in places:
                raise InvalidInstance(
                    f"job {self.instance.ids[row]}: partition {shorten(name)}: the machine has "
                    f"{', '.join(self.names)}"
                )
            found[row] = places[name or usual]
        return found

    def _nodes_of_jobs(self) -> np.ndarray:
        """Whole nodes that hold each job's tasks."""
        tasks = self.instance.column("tasks")
        wanted = np.ones(len(tasks), dtype=np.int64)
        for k, ranges in enumerate(self.parts.values()):
            cores = np.concatenate([self.node_cores[a:b] for a, b in ranges])
            mine = self.part == k
            if not mine.any():
                continue
            if self.shared:
                large = mine & (tasks > cores.sum())
                if large.any():
                    row = int(np.argmax(large))
                    raise InfeasibleError(
                        f"job {self.instance.ids[row]} wants {tasks[row]} cores: partition "
                        f"{self.names[k]} has {cores.sum()}"
                    )
                continue
            if len(set(cores.tolist())) > 1:
                raise InvalidInstance(
                    f"slurm-backfill: partition {self.names[k]} has nodes of "
                    f"{min(cores)} to {max(cores)} cores: expected nodes of one kind"
                )
            wanted[mine] = -(-tasks[mine] // int(cores[0]))
            large = mine & (wanted > len(cores))
            if large.any():
                row = int(np.argmax(large))
                raise InfeasibleError(
                    f"job {self.instance.ids[row]} wants {wanted[row]} nodes: partition "
                    f"{self.names[k]} has {len(cores)}"
                )
        return wanted

    def _make(
        self,
        settings: SlurmSettings,
        machine: Machine | None,
        parameters: Mapping[str, float],
        requests: Requests,
    ) -> Any:
        instance, count = self.instance, len(self.node_cores)
        known = {p.name: p for p in machine.partitions} if machine is not None else {}
        factors = [settings.factors.get(name, 1.0) for name in self.names]
        most = max(factors) or 1.0
        bounds = [settings.bounds.get(name, (0, _ANY)) for name in self.names]
        if self.approximate:  # partitions that let no job start
            for name, (_, most) in zip(self.names, bounds, strict=True):
                if not most:
                    self.notes.append(f"not followed: State of partition {name}: its jobs run here")
            bounds = [(least, most or _ANY) for least, most in bounds]
        limit = np.full(len(instance), np.inf)
        if "estimate" in instance.known:
            limit = instance.column("estimate").copy()
        else:
            usual = [settings.default_times.get(name, np.inf) for name in self.names]
            limit = np.array(usual)[self.part]
        users = np.zeros(len(instance), dtype=np.int64)
        if "user" in instance.known:
            users = np.unique(instance.column("user").astype(str), return_inverse=True)[1]
        more = {row: dict(values) for row, values in requests.more.items()}
        for row, parts in self.several.items():
            more.setdefault(row, {})["partitions"] = parts
        if self.shared and settings.exclusive:
            alone = [name in settings.exclusive for name in self.names]
            for row in np.flatnonzero(np.array(alone)[self.part]).tolist():
                more.setdefault(row, {})["exclusive"] = True
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
                "max_time": [known[n].max_time if n in known else np.inf for n in self.names],
                "job_factor": [factor / most for factor in factors],
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
            jobs={
                "submit": instance.column("eligible"),
                "runtime": instance.column("runtime") + self.ran,
                "nodes": self.nodes, "cpus": instance.column("tasks"), "limit": limit + self.ran,
                "partition": self.part, "user": users.reshape(-1),
                "nice": np.zeros(len(instance)),
                "priority": self._priorities(),
            },
            more=more,
            reservations=list(requests.reservations),
            outside=list(requests.outside),
            accounts=list(requests.accounts),
        )  # fmt: skip

    def _gpus_of_nodes(self, machine: Machine | None) -> list[list[int]]:
        """Of each type, those of each node."""
        if not self.shared or machine is None:
            return []
        kinds = [kind for kind in machine.nodes for _ in range(kind.count)]
        return [
            [kind.gpus if kind.gpu_type == name else 0 for kind in kinds]
            for name in gpu_types_of(machine)
        ]

    def _with_running(self, asked: Requests, gpus: list[list[int]]) -> Requests:
        """Jobs that run at second 0 hold what they have; where nobody says which nodes, the first
        that are free."""
        instance = self.instance
        runs = instance.column("running")
        if "ran" in instance.known:
            self.ran = np.where(runs, np.nan_to_num(instance.column("ran")), 0.0)
        texts = instance.column("held").astype(str) if "held" in instance.known else None
        free = self.node_cores.copy()
        more = {row: dict(values) for row, values in asked.more.items()}
        rows = np.flatnonzero(runs).tolist()
        for row in sorted(rows, key=lambda row: texts is None or not texts[row]):
            held = held_of(texts[row]) if texts is not None else []
            held = [(n, c or int(self.node_cores[n])) for n, c in held if n < len(free)]
            held = held or self._first_free(row, free)
            for node, cores in held:
                free[node] -= cores
                if free[node] < 0 and not self._suspends:  # one of them stands still
                    raise InvalidInstance(
                        f"running: node {node} has {self.node_cores[node]} cores: job "
                        f"{instance.ids[row]} and others hold more"
                    )
            memory = more.get(row, {}).get("memory", 0)
            shares = [(node, cores, int(memory) * cores) for node, cores in sorted(held)]
            own = more.setdefault(row, {})
            taken = _taken_gpus(gpus, int(own.get("gpus", 0)), [node for node, *_ in shares])
            own["running"] = (-float(self.ran[row]), shares, taken)
            own["nodes"] = len(shares)
        return replace(asked, more=more)

    def _first_free(self, row: int, free: np.ndarray) -> list[tuple[int, int]]:
        part = [k for a, b in self.parts[self.names[self.part[row]]] for k in range(a, b)]
        left = int(self.instance.column("tasks")[row])
        held = []
        for node in part:
            room = int(free[node])
            if not self.shared and room < self.node_cores[node]:
                continue
            if left > 0 and room > 0:
                held.append((node, min(room, left) if self.shared else room))
                left -= room
        if left > 0:
            raise InvalidInstance(
                f"running: job {self.instance.ids[row]}: no room beside the others that run"
            )
        return held

    def _priorities(self) -> np.ndarray:
        """As recorded, where they are given; -1: computed."""
        if not self._given:
            return np.full(len(self.instance), -1.0)
        if "priority" not in self.instance.known:
            raise InvalidInstance("priorities = given: expected jobs with a column priority")
        return np.nan_to_num(self.instance.column("priority"), nan=-1.0)

    def _lines(self, settings: SlurmSettings, machine: Machine | None) -> list[list]:
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

    def _resources(self, settings: SlurmSettings, machine: Machine | None) -> dict[str, Any]:
        """What nodes have for jobs that share them."""
        none = np.zeros(0, dtype=np.int64)
        if not self.shared or machine is None:
            return {"node_cores": none, "node_memory": [], "node_gpus": [], "node_weight": none}
        kinds = [kind for kind in machine.nodes for _ in range(kind.count)]
        counts = settings.memory_counts and all(kind.memory_gb > 0 for kind in kinds)
        if settings.memory_counts and not counts:
            self.notes.append("memory: the machine has nodes without RealMemory: not handed out")
        counts = counts and not any(note.startswith("memory: ") for note in self.notes)
        memory = [round(kind.memory_gb * 1024) for kind in kinds] if counts else []
        weight = np.array([kind.weight for kind in kinds], dtype=np.int64)
        return {
            "node_cores": self.node_cores,
            "node_memory": memory,
            "node_gpus": self._gpus_of_nodes(machine),
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
        watched: Sequence[int] = (),
        log: bool = False,
        plans: bool = False,
    ) -> dict[str, Any]:
        """One run; `cycles`, `checks`, `passes`: recorded times in place of the rules' own;
        `lengths`: from the start of each job to its end; `watched`: the run is over when these jobs
        have started."""
        given = {
            **clocks, "cycles": list(cycles), "checks": list(checks), "passes": list(passes),
            "lengths": list(lengths), "watched": list(watched),
        }  # fmt: skip
        return self._core.run(clocks=given, told=log, plans=plans)

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
        fixed = {"cycles": [], "checks": [], "passes": [], "lengths": [], "watched": list(watched)}
        total = len(clocks)
        done = None if progress is None else lambda over: progress(over, total)
        return self._core.run_all(
            there=len(self.instance) if there is None else there,
            clocks=[{**one, **fixed} for one in clocks],
            lengths=np.zeros((0, 0)) if lengths is None else lengths, coming=list(coming),
            threads=len(sched_getaffinity(0)), done=done,
        )  # fmt: skip

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

    def rows(self, outcome: Mapping[str, Any], start: np.ndarray, end: np.ndarray) -> tuple:
        """Columns of the schedule: a row a job, a unit a task, on its nodes in order."""
        tasks = self.instance.column("tasks")
        if self.shared and len(outcome["units"]):
            counts = np.add.reduceat(outcome["cores"], outcome["nodes"][0][:-1])
            rank = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            units = outcome["units"][rank < np.repeat(tasks, counts)]
            return self._pieces(outcome, units, start, end)
        if self.shared:
            units = self._own_cores(outcome)
            return self._columns(units, start, end)
        first_node, node = outcome["nodes"]
        cores = self.node_cores[node]
        place = np.cumsum(cores) - cores  # of a node's first unit among all that are held
        held = np.repeat(self.first_unit[node] - place, cores) + np.arange(cores.sum())
        counts = np.add.reduceat(cores, first_node[:-1])
        rank = np.arange(len(held)) - np.repeat(np.cumsum(counts) - counts, counts)
        units = held[rank < np.repeat(tasks, counts)]
        return self._columns(units, start, end)

    def _columns(self, units: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple:
        tasks = self.instance.column("tasks")
        jobs = np.arange(len(tasks))
        begin = np.concatenate([[0], np.cumsum(tasks)])
        one = np.ones(len(tasks))
        none = np.zeros(len(tasks), dtype=np.int64)
        return jobs, begin, self.units[units], start, end, one, one, none

    def _pieces(
        self, outcome: Mapping[str, Any], units: np.ndarray, start: np.ndarray, end: np.ndarray
    ) -> tuple:
        """A row for each time that a job goes on after it was suspended, too."""
        jobs, begin, units, start, end, *_ = self._columns(units, start, end)
        paused, stops, goes = outcome["pauses"]
        job = np.concatenate([jobs, paused])
        since, until = np.concatenate([start, goes]), np.concatenate([end, end[paused]])
        order = np.lexsort((since, job))
        job, since, until = job[order], since[order], until[order]
        again = np.flatnonzero(order >= len(jobs))  # behind the piece that it goes on from
        until[again - 1] = stops[order[again] - len(jobs)]
        cause = (order >= len(jobs)).astype(np.int64)
        # One that runs from the beginning may have stopped before it.
        none = (again - 1)[until[again - 1] <= since[again - 1]]
        cause[none + 1] = cause[none]
        job, since, until, cause = (np.delete(one, none) for one in (job, since, until, cause))
        own = [units[begin[j] : begin[j + 1]] for j in job.tolist()]
        first = np.concatenate([[0], np.cumsum([len(one) for one in own])])
        one = np.ones(len(job))
        return job, first, np.concatenate(own), since, until, one, one, cause

    def _own_cores(self, outcome: Mapping[str, Any]) -> np.ndarray:
        """Units of each job: the lowest free cores of its nodes at its start."""
        begin, node = outcome["nodes"]
        counts = outcome["cores"]
        free = [
            list(range(a, b)) for a, b in zip(self.first_unit, self.first_unit[1:], strict=False)
        ]
        mine: list[list[int]] = [[] for _ in range(len(begin) - 1)]
        moments = [(time, 0, job) for job, time in enumerate(outcome["end_exact"].tolist())]
        moments += [(time, 1, job) for job, time in enumerate(outcome["start_exact"].tolist())]
        for _, starts, job in sorted(moments):
            for k in range(begin[job], begin[job + 1]):
                own = free[node[k]]
                if starts:
                    mine[job] += own[: counts[k]]
                    del own[: counts[k]]
            if not starts:
                for unit in mine[job]:
                    where = int(np.searchsorted(self.first_unit, unit, side="right")) - 1
                    insort(free[where], unit)
        tasks = self.instance.column("tasks").tolist()  # of whole nodes, the first of its cores
        return np.concatenate(
            [np.array(units[:n], dtype=np.int64) for units, n in zip(mine, tasks, strict=True)]
        )


def _taken_gpus(free: list[list[int]], count: int, nodes: list[int]) -> list[tuple]:
    """(node, type, GPUs) of so many on these nodes, in equal parts; they are not free any more."""
    found = []
    for place, node in enumerate(nodes):
        left = -(-count // (len(nodes) - place))
        count -= left
        for kind, of_nodes in enumerate(free):
            own = min(left, of_nodes[node])
            if own > 0:
                found.append((node, kind, own))
                of_nodes[node] -= own
                left -= own
    return found


def _own(parameters: Mapping[str, float]) -> dict[str, float]:
    """Parameters given by name, in Slurm's units."""
    own = {}
    for name, value in parameters.items():
        if name not in PARAMETERS:
            known = ", ".join(sorted(PARAMETERS))
            raise TypeError(f"slurm-backfill: unknown option {name!r} (options: {known})")
        own[name] = in_seconds(name, real(value, name))
    return own


def _node_cores(instance: Instance, machine: Machine | None) -> np.ndarray:
    """Units of the instance by node of the machine."""
    if machine is None:
        return np.ones(instance.nodes, dtype=np.int64)
    cores = np.repeat([k.cores for k in machine.nodes], [k.count for k in machine.nodes])
    if instance.nodes == machine.node_count:
        return np.ones(len(cores), dtype=np.int64)
    if instance.nodes != machine.cores:
        raise InvalidInstance(
            f"the machine has {machine.node_count} nodes of {machine.cores} cores, the instance "
            f"{instance.nodes}: expected one of the two numbers"
        )
    return cores


def _units(instance: Instance, machine: Machine | None, node_cores: np.ndarray) -> np.ndarray:
    """What an instance with a machine calls each core: it numbers them part by part."""
    units = np.arange(node_cores.sum())
    if instance.machine is None or machine is None:
        return units
    numbers = np.empty_like(units)
    numbers[np.argsort(np.repeat(machine.cells_of_nodes()[0], node_cores), kind="stable")] = units
    return numbers


def _parts(
    instance: Instance, machine: Machine | None, nodes: int
) -> dict[str, tuple[tuple[int, int], ...]]:
    if machine is None or not machine.partitions:
        return {"": ((0, nodes),)}
    return {part.name: part.nodes for part in machine.partitions}
