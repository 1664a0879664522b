"""The twin of a snapshot: from its state on, with run times and submissions that are given."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from cosched.cluster.algorithms.slurm_twin import HOST, Twin, varied
from cosched.cluster.instance import Instance
from cosched.cluster.live.accounts import accounts_of
from cosched.cluster.live.nodes import out_of_service
from cosched.cluster.live.outputs import records
from cosched.cluster.live.records import moment
from cosched.cluster.live.snapshot import Snapshot, cores_of, limit_of
from cosched.cluster.slurm_requests import KINDS, Requests, Wishes, outside
from cosched.errors import InfeasibleError, InvalidInstance

_YEAR = 365 * 86400.0
#: Longer queues are simulated in coarser steps: jobs that a cycle looks at, s between cycles.
_LONG, _TESTS, _SELDOM = 200, 30.0, 1800.0
#: A busy controller wakes so much later than it wanted (s), at most.
_LATE = 0.05
#: Tasks of arrays that are simulated beside the first of each, and numbers that no job has.
_TASKS, _NOBODY = 2000, -1_000_000
_HELD = ("JobHeldUser", "JobHeldAdmin", "BadConstraints", "DependencyNeverSatisfied")


class Simulation:
    """What is the same in all draws: the machine, shares, limits, and jobs that are there."""

    def __init__(self, snapshot: Snapshot, more: Sequence[Mapping[str, Any]] = ()) -> None:
        self.snapshot = snapshot
        self.said: list[str] = []
        self.machine = self._machine()
        settings = self.machine.slurm
        assert settings is not None
        self.whole = settings.whole
        self.jobs: list[Mapping[str, Any]] = [*snapshot.running, *self._waiting(), *more]
        known = [t for job in self.jobs for t in (job["submit"], job["start"]) if t and t > 0]
        #: Unix time of the simulation's second 0, and the moment of the snapshot in it.
        self.zero = math.floor(min([*known, snapshot.taken]) - 3600)
        self.now = snapshot.taken - self.zero
        self.not_modelled = [text for text in settings.left_out if not self._followed(text)]
        self.not_modelled += self.said
        self.wishes = Wishes(self.machine)
        self._accounts = accounts_of(snapshot.shares, snapshot.limits, self.machine)
        self.not_modelled += [f"not followed: {one}" for one in self._accounts.left]
        if any(one["shares"] is None for one in snapshot.shares):
            self._say("Fairshare=parent: such an association counts as one with one share")
        self._qos_part = self._qos_parts()
        self.rows = {job["id"]: row for row, job in enumerate(self.jobs)}
        self._arrays: dict[int, int] = {}
        self._fitting: dict[tuple, bool] = {}
        self._wanted = [self._wants(row, job) for row, job in enumerate(self.jobs)]

    def _machine(self) -> Any:
        """With priorities as they are given: their parts that do not change are in `nice`."""
        machine, clocks = self.snapshot.machine, self.snapshot.clocks
        settings = machine.slurm
        assert settings is not None
        own = {
            "multifactor": 1.0, "age_counts": 1.0, "PriorityWeightJobSize": 0.0,
            "PriorityWeightPartition": 0.0, "SMALL_RELATIVE_TO_TIME": 0.0,
            "PriorityFavorSmall": 0.0, "PriorityWeightQOS": 0.0,
            "PriorityWeightFairshare": clocks.get("weight_fairshare", 0.0),
            "PriorityDecayHalfLife": clocks.get("half_life", 604800.0),
            "PriorityWeightAge": clocks.get("weight_age", 0.0) if self._ages() else 0.0,
            "PriorityMaxAge": clocks.get("max_age", 604800.0) or 604800.0,
            "PriorityCalcPeriod": clocks.get("calc_period", 300.0) or 300.0,
        }  # fmt: skip
        own |= self._coarser(settings.parameters)
        return replace(machine, slurm=replace(settings, parameters={**settings.parameters, **own}))

    def _waiting(self) -> list[Mapping[str, Any]]:
        """Jobs that wait; an array's record is its first task, and the others follow it."""
        found: list[Mapping[str, Any]] = []
        left = _TASKS
        for job in self.snapshot.pending:
            more = max(int(job.get("tasks") or 1) - 1, 0)
            if more > left:
                self.said.append(f"array {job['id']}: {more - left} of its tasks do not come")
            found.append(job)
            for _ in range(min(more, left)):
                found.append({**job, "id": _NOBODY - left})
                left -= 1
        return found

    def _coarser(self, given: Mapping[str, float]) -> dict[str, float]:
        """Of long queues: cycles that come seldom and look at few jobs, so that draws take less."""
        waiting = sum(int(job.get("tasks") or 1) for job in self.snapshot.pending)
        if waiting <= _LONG:
            return {}
        self.said += [
            f"{waiting} jobs wait: here the backfill scheduler looks at {_TESTS:.0f} of them every "
            f"{_SELDOM / 60:.0f} minutes, and starts are as coarse"
        ]
        interval = max(given.get("bf_interval", 30.0), _SELDOM)
        tests = min(given.get("bf_max_job_test", 500.0), _TESTS)
        return {"bf_interval": interval, "bf_max_time": interval, "bf_max_job_test": tests}

    def _followed(self, text: str) -> bool:
        """What the twin refuses of a configuration, and a snapshot has: shares, limits, states."""
        known = self.snapshot
        setting = text.removeprefix("not followed: ")
        return (
            (
                setting.startswith("AccountingStorageEnforce")
                and bool(known.limits.get("associations"))
            )
            or (setting.lower().startswith("qos=") and bool(known.limits.get("qos")))
            or (setting.startswith("PriorityWeightFairShare") and bool(known.shares))
            or (setting.startswith("PriorityWeight") and bool(known.priorities))
            or setting.startswith("State=")
        )

    def _reservations(self) -> tuple[tuple, ...]:
        """Advance reservations keep their nodes from all jobs."""
        found = []
        for pairs in records(self.snapshot.shown.get("reservations", ""), "ReservationName"):
            own = dict(pairs)
            begin, end = (moment(own.get(key, ""), self.snapshot.clocks.get("offset", 0.0))
                          for key in ("StartTime", "EndTime"))  # fmt: skip
            nodes = own.get("Nodes", "")
            if begin is None or end is None or nodes.lower() in ("", "(null)"):
                self._say(f"reservation {own['ReservationName']}")
                continue
            flags = own.get("Flags", "").split(",")
            spans = list(self.wishes.nodes(nodes, "reservations"))
            found.append((0.0, int(begin - self.zero), int(end - self.zero), spans,
                          "MAINT" in flags, "ALL_NODES" in flags))  # fmt: skip
        return tuple(found)

    def _ages(self) -> bool:
        return bool(self.snapshot.priorities) and self.snapshot.clocks.get("multifactor", 0) > 0

    def _partition_qos(self) -> dict[str, int]:
        shown = (
            dict(pairs) for pairs in records(self.snapshot.shown["partitions"], "PartitionName")
        )
        found = {
            part["PartitionName"]: self._accounts.qos_of(part.get("QoS", "")) for part in shown
        }
        return {name: number for name, number in found.items() if number >= 0}

    def _qos_parts(self) -> dict[str, float]:
        """What each QOS adds to a priority, as seen in pending jobs."""
        parts = self.snapshot.priorities
        return {
            job["qos"]: parts[job["id"]].get("QOS", 0.0)
            for job in self.snapshot.pending if job["id"] in parts
        }  # fmt: skip

    # --- what a job wants ---------------------------------------------------------------------

    def _wants(self, row: int, job: Mapping[str, Any]) -> dict[str, Any]:
        if job["state"] == "RUNNING":
            return {
                **self._of_owner(job), "running": self._holds(job), **self._after_start(job),
                **self._array(job), **self._licences(job),
            }  # fmt: skip
        wanted: dict[str, Any] = {"begin": self.now, **self._of_owner(job)}
        wanted |= self._resources(job)
        if job["reason"] in _HELD or job["priority"] == 0:
            wanted["held"] = True
        begin = job["eligible"]
        if begin and begin > self.snapshot.taken:
            wanted["begin"] = begin - self.zero
        if job.get("arrives") is not None:
            wanted["begin"] = 0.0
        wanted |= self._dependencies(job)
        wanted |= self._array(job)
        wanted |= self._licences(job)
        try:
            wanted |= self.wishes.places({"constraint": job["features"] or ""}, wanted)
        except InvalidInstance as error:
            self._say(f"job {job['id']}: {error}")
        wanted["nice"] = -self._fixed_part(job)
        if job.get("arrives") is None and job["priority"] is not None:
            wanted["waiting"] = (float(job["priority"]), self._accrues(job))
        return wanted

    def _licences(self, job: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self.wishes.licences_of(job["licences"]) if job["licences"] else {}
        except InvalidInstance as error:
            self._say(f"job {job['id']}: {error}")
            return {}

    def _array(self, job: Mapping[str, Any]) -> dict[str, int]:
        """Of which array it is a task, and how many of these may run."""
        if not job.get("array"):
            return {}
        which, most = job["array"]
        number = self._arrays.setdefault(which, len(self._arrays))
        return {"array": number, "array_limit": int(most)}

    def _accrues(self, job: Mapping[str, Any]) -> float:
        """Since when its age counts; infinite: not yet."""
        since = job["accrue"] or (None if self._limits_accrual else job["eligible"])
        if since is None or since > self.snapshot.taken:
            return math.inf
        return float(since) - self.zero

    def _after_start(self, job: Mapping[str, Any]) -> dict[str, Any]:
        return {"nodes": max(len(job["holds"]), 1)} if self.whole else {}

    def _say(self, text: str) -> None:
        if text not in self.not_modelled:
            self.not_modelled.append(text)

    def _of_owner(self, job: Mapping[str, Any]) -> dict[str, Any]:
        known = self._accounts
        own = known.association_of(job["account"], job["user"])
        return {
            "association": own if own >= 0 else known.association_of(job["account"], ""),
            "qos": known.qos_of(job["qos"]),
        }

    def _holds(self, job: Mapping[str, Any]) -> tuple:
        numbers = {name: k for k, name in enumerate(self.machine.slurm.names)}
        nodes, gpus = [], []
        kind = next((text for text in (job["gres"], job["gpus"]) if text), "").split(":")
        type_ = self.wishes.gpu_types.index(kind[1]) if (
            len(kind) > 1 and kind[1] in self.wishes.gpu_types
        ) else 0  # fmt: skip
        for name, cpus, memory, count in sorted(
            (one for one in job["holds"] if one[0] in numbers), key=lambda one: numbers[one[0]]
        ):
            nodes.append((numbers[name], int(cpus), int(memory)))
            if count and self.wishes.gpu_types:
                gpus.append((numbers[name], type_, int(count)))
        start = min(job["start"] or self.snapshot.taken, self.snapshot.taken) - self.zero
        return (math.floor(start) + 0.5, nodes, gpus)  # somewhere in the second that is told

    def _resources(self, job: Mapping[str, Any]) -> dict[str, Any]:
        if self.whole:
            return {"nodes": max(int(job["nodes"] or 1), 1)}
        asked: dict[str, Any] = {}
        if job["exact"] and job["nodes"]:
            asked["nodes"] = int(job["nodes"])
        if job["exclusive"]:
            asked["exclusive"] = True
        for key, name in (("memory", "mem"), ("memory_per_cpu", "mem_per_cpu")):
            if job[key]:
                asked[name] = int(job[key])
        for key in ("gres", "gpus"):
            if job[key]:
                asked[key] = job[key]
        part = str(job["partition"]).split(",")[0]
        try:
            return self.wishes.resources(asked, max(int(job["cpus"] or 1), 1), part)
        except InvalidInstance as error:
            self._say(f"job {job['id']}: {error}")
            return {"tasks": int(job["cpus"] or 1)}

    def _dependencies(self, job: Mapping[str, Any]) -> dict[str, Any]:
        after, found = [], {}
        for kind, text in re.findall(
            r"(after\w*|singleton):?([0-9_:,+*()a-z]*)", job["dependency"] or ""
        ):
            if kind == "singleton":
                found["singleton"] = self.wishes.singleton(job["user"], job["name"])
                continue
            ids = [int(one) for one in re.findall(r"(?:^|[:,])([0-9]+)", text)]
            rows = [self.rows[one] for one in ids if one in self.rows]
            if kind in KINDS and rows:
                after.append((KINDS.index(kind), rows))
            elif kind not in KINDS:
                self._say(f"dependency {kind}")
        return {**found, **({"after": after} if after else {})}

    def _fixed_part(self, job: Mapping[str, Any]) -> float:
        """Of the priority: what neither ages nor follows the shares."""
        parts = self.snapshot.priorities.get(job["id"])
        if parts is None:
            known = job["priority"]
            if not self._ages():
                return float(known) if known is not None else self._lowest
            return self._qos_part.get(job["qos"], 0.0)
        rest = parts["PRIORITY"] - (parts.get("AGE", 0.0) if self._ages() else 0.0)
        return rest - (parts.get("FAIRSHARE", 0.0) if self._shares_count(job) else 0.0)

    @cached_property
    def _lowest(self) -> float:
        known = [job["priority"] for job in self.snapshot.pending if job["priority"]]
        return min(known, default=4294901000.0) - 1

    def _shares_count(self, job: Mapping[str, Any]) -> bool:
        weight = self.snapshot.clocks.get("weight_fairshare", 0)
        return weight > 0 and self._accounts.association_of(job["account"], job["user"]) >= 0

    @cached_property
    def _limits_accrual(self) -> bool:
        known = self.snapshot.limits
        all_limits = (*known.get("qos", {}).values(), *known.get("associations", ()))
        return any("Accrue" in key for one in all_limits for key in one)

    @cached_property
    def now_free(self) -> tuple[int, list[float]]:
        """Nodes without a job, and the priorities of all that waits, increasing."""
        held = {entry[0] for job in self.snapshot.running for entry in job["holds"]}
        waiting = sorted(float(job["priority"] or 0.0) for job in self.snapshot.pending)
        return self.machine.node_count - len(held), waiting

    # --- runs ---------------------------------------------------------------------------------

    @cached_property
    def held_up(self) -> dict[int, tuple[str, float, float, list[int]]]:
        """By row of a job that a limit keeps now: its name, what it is, what is used of it, and the
        rows of those that run and count in it."""
        return self.twin().held_up()

    def twin(self, arrivals: Sequence[Mapping[str, Any]] = ()) -> Twin:
        """The twin with these jobs, too, each with the time when it ``arrives`` (Unix)."""
        jobs = [*self.jobs, *arrivals]
        wanted = [*self._wanted, *(self._wants(-1, job) for job in arrivals)]
        names = {part.name for part in self.machine.partitions}
        usual = self.machine.slurm.default_partition
        submit = [self._since(job) for job in jobs]
        limit = [limit_of(job, self.machine) for job in jobs]
        instance = Instance(
            {
                "id": [str(job["id"]) for job in jobs],
                "submit": submit, "tasks": [self._tasks(job) for job in jobs],
                "cpu": np.ones(len(jobs)), "memory": np.ones(len(jobs)),
                "runtime": limit, "estimate": limit, "user": [job["user"] for job in jobs],
                "partition": [",".join(p for p in str(job["partition"]).split(",") if p in names)
                              or usual for job in jobs],
            },
            self.machine.node_count if self.whole else self.machine.cores,
        )  # fmt: skip
        down = outside("drain", 0.0, nodes=self._out())
        requests = Requests(
            dict(enumerate(wanted)), tuple(self.wishes.sets), tuple(self.wishes.licences.values()),
            self._reservations(), (down,) if down[3] else (),
            tuple(self._accounts.rows), tuple(self._accounts.qos), self._partition_qos(),
        )  # fmt: skip
        return Twin(
            instance, self.machine, {}, requests=requests, version=self.snapshot.version or None,
            approximate=True,
        )  # fmt: skip

    def _out(self) -> Any:
        names = list(out_of_service(self.snapshot.shown["nodes"]))
        return self.wishes.nodes(",".join(names), "nodes") if names else ()

    def _since(self, job: Mapping[str, Any]) -> float:
        if job.get("arrives") is not None:
            return float(job["arrives"]) - self.zero
        if job["state"] == "RUNNING":
            return 0.0
        since = job["accrue"] or job["eligible"] or job["submit"] or self.snapshot.taken
        return max(min(since, self.snapshot.taken) - self.zero, 0.0)

    def _tasks(self, job: Mapping[str, Any]) -> int:
        if self.whole:
            return max(len(job["holds"]) or int(job["nodes"] or 1), 1)
        return (
            cores_of(job, self.machine)
            if job["state"] == "RUNNING"
            else max(int(job["cpus"] or 1), 1)
        )

    def clocks(self, rng: np.random.Generator | None) -> dict[str, float]:
        """Of the controller, from the last cycle that was seen on; what is not known is drawn."""
        known = self.snapshot.clocks.get("last_cycle")
        interval = self.machine.slurm.parameters.get("bf_interval", 30.0)
        back = 0.5 * interval if rng is None else float(rng.uniform(0, interval))
        if known is not None and self.snapshot.taken - known < 20 * interval:
            inside = 0.5 if rng is None else float(rng.uniform())  # it is told in whole seconds
            back = max(self.snapshot.taken - known - inside, 0.0)
        host = HOST if rng is None else varied(HOST, rng)
        if rng is not None:
            host = {**host, "sleep_extra": float(rng.uniform(0, _LATE))}
        if (cost := self.snapshot.clocks.get("cycle")) is not None:
            host = {**host, "cycle_cost": cost, "test_cost": self.snapshot.clocks.get("test", 0.0)}
        start = max(self.now - back, 1.0)
        # The next pass over shares is a period after the last one.
        passed = self.snapshot.clocks.get("last_pass", self.snapshot.taken) - self.zero
        return {
            **host, "controller_start": start, "epoch": float(self.zero),
            "decay_after": passed - start,
        }  # fmt: skip

    def starts(
        self,
        like: Sequence[Mapping[str, Any]],
        rows: Sequence[int],
        clocks: Sequence[Mapping[str, float]],
        lengths: np.ndarray,
        coming: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
        progress: Callable[[int, int], None] | None,
    ) -> np.ndarray:
        """Seconds after the snapshot of these rows' starts, a row a future; infinite: never.

        Of each future: its clocks, how long all jobs run, and what comes (like which of `like`,
        when, how long)."""
        there = len(self.jobs)
        may = [row for row in rows if not self._wanted[row].get("held")]
        start = np.full((len(clocks), there), np.nan)
        if may:
            start, _ = self.twin(like).futures(
                clocks, lengths=lengths, there=there, watched=may, progress=progress,
                coming=[(there + which, time, length) for which, time, length in coming],
            )  # fmt: skip
        return np.nan_to_num(start[:, list(rows)] - self.now, nan=np.inf)

    def fits(self, job: Mapping[str, Any]) -> bool:
        """Whether the machine could ever run it."""
        alone = copy(self)
        alone.jobs, alone._wanted = [], []
        key = tuple(str(job[name]) for name in ("partition", "nodes", "cpus", "memory", "gres"))
        if key not in self._fitting:
            try:
                alone.twin([job])
                self._fitting[key] = True
            except InfeasibleError:
                self._fitting[key] = False
        return self._fitting[key]
