"""What jobs of a snapshot want of the twin, in the core's form."""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import Any

from cosched.errors import InvalidInstance
from cosched.slurm.live.model import Job
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.wishes import KINDS, Wishes

HELD = ("JobHeldUser", "JobHeldAdmin", "BadConstraints", "DependencyNeverSatisfied")


class Wants:
    """Of each job: what it asks for, what it waits for, what its priority is made of."""

    snapshot: Snapshot
    machine: Any
    wishes: Wishes
    rows: dict[int, int]
    zero: float
    now: float
    whole: bool
    not_modelled: list[str]
    _accounts: Accounts
    _arrays: dict[int, int]
    _qos_part: dict[str, float]

    def _wants(self, row: int, job: Job) -> dict[str, Any]:
        if job.state == "RUNNING":
            return {
                **self._of_owner(job), "running": self._holds(job), **self._after_start(job),
                **self._array(job), **self._licences(job),
            }  # fmt: skip
        wanted: dict[str, Any] = {"begin": self.now, **self._of_owner(job)}
        wanted |= self._resources(job)
        if job.reason in HELD or job.priority == 0 or not self._open(job):
            wanted["held"] = True
        begin = job.eligible
        if begin and begin > self.snapshot.taken:
            wanted["begin"] = begin - self.zero
        if job.arrives is not None:
            wanted["begin"] = 0.0
        wanted |= self._dependencies(job)
        wanted |= self._array(job)
        wanted |= self._licences(job)
        try:
            wanted |= self.wishes.places({"constraint": job.features}, wanted)
        except InvalidInstance as error:
            self._say_of(job, error)
        wanted["nice"] = -self._fixed_part(job)
        if job.arrives is None and job.priority is not None:
            wanted["waiting"] = (float(job.priority), self._accrues(job))
        return wanted

    def _open(self, job: Job) -> list[str]:
        """Partitions that let it start: none whose State is DOWN or INACTIVE."""
        bounds, found = self.machine.slurm.bounds, []
        for name in job.partition.split(","):
            if bounds.get(name, (0, 1))[1]:
                found.append(name)
            else:
                self._say(f"State of partition {name}: its jobs that wait do not start")
        return found

    def _licences(self, job: Job) -> dict[str, Any]:
        try:
            return self.wishes.licences_of(job.licences) if job.licences else {}
        except InvalidInstance as error:
            self._say_of(job, error)
            return {}

    def _array(self, job: Job) -> dict[str, int]:
        """Of which array it is a task, and how many of these may run."""
        if not job.array:
            return {}
        which, most = job.array
        number = self._arrays.setdefault(which, len(self._arrays))
        return {"array": number, "array_limit": int(most)}

    def _accrues(self, job: Job) -> float:
        """Since when its age counts; infinite: not yet."""
        since = job.accrue or (None if self._limits_accrual else job.eligible)
        if since is None or since > self.snapshot.taken:
            return math.inf
        return float(since) - self.zero

    def _after_start(self, job: Job) -> dict[str, Any]:
        return {"nodes": max(len(job.holds), 1)} if self.whole else {}

    def _say(self, text: str) -> None:
        if text not in self.not_modelled:
            self.not_modelled.append(text)

    def _say_of(self, job: Job, error: InvalidInstance) -> None:
        """Of a job by the number that its user knows; the first task of an array speaks for all."""
        if job.id in self._known:
            self._say(f"job {job.id}: {error}")
        elif job.arrives is None and job.id > 0:
            self._say(f"what is asked for: {error}")

    def _of_owner(self, job: Job) -> dict[str, Any]:
        known = self._accounts
        own = known.association_of(job.account, job.user)
        return {
            "association": own if own >= 0 else known.association_of(job.account, ""),
            "qos": known.qos_of(job.qos),
        }

    def _holds(self, job: Job) -> tuple:
        numbers = {name: k for k, name in enumerate(self.machine.slurm.names)}
        nodes, gpus = [], []
        kind = next((text for text in (job.gres, job.gpus) if text), "").split(":")
        type_ = self.wishes.gpu_types.index(kind[1]) if (
            len(kind) > 1 and kind[1] in self.wishes.gpu_types
        ) else 0  # fmt: skip
        for name, cpus, memory, count in sorted(
            (one for one in job.holds if one.node in numbers), key=lambda one: numbers[one.node]
        ):
            nodes.append((numbers[name], int(cpus), int(memory)))
            if count and self.wishes.gpu_types:
                gpus.append((numbers[name], type_, int(count)))
        start = min(job.start or self.snapshot.taken, self.snapshot.taken) - self.zero
        return (math.floor(start) + 0.5, nodes, gpus)  # somewhere in the second that is told

    def _resources(self, job: Job) -> dict[str, Any]:
        if self.whole:
            return {"nodes": max(int(job.nodes or 1), 1)}
        asked: dict[str, Any] = {}
        if job.exact and job.nodes:
            asked["nodes"] = int(job.nodes)
        if job.exclusive:
            asked["exclusive"] = True
        if job.memory:
            asked["mem"] = int(job.memory)
        if job.memory_per_cpu:
            asked["mem_per_cpu"] = int(job.memory_per_cpu)
        asked |= {key: job[key] for key in ("gres", "gpus") if job[key]}
        part = job.first_partition
        try:
            return self.wishes.resources(asked, max(int(job.cpus or 1), 1), part)
        except InvalidInstance as error:
            self._say_of(job, error)
            return {"tasks": int(job.cpus or 1)}

    def _dependencies(self, job: Job) -> dict[str, Any]:
        after, found = [], {}
        for kind, text in re.findall(r"(after\w*|singleton):?([0-9_:,+*()a-z]*)", job.dependency):
            if kind == "singleton":
                found["singleton"] = self.wishes.singleton(job.user, job.name)
                continue
            ids = [int(one) for one in re.findall(r"(?:^|[:,])([0-9]+)", text)]
            rows = [self.rows[one] for one in ids if one in self.rows]
            if kind in KINDS and rows:
                after.append((KINDS.index(kind), rows))
            elif kind not in KINDS:
                self._say(f"dependency {kind}")
        return {**found, **({"after": after} if after else {})}

    def _fixed_part(self, job: Job) -> float:
        """Of the priority: what neither ages nor follows the shares."""
        parts = self.snapshot.priorities.get(job.id)
        if parts is None:
            known = job.priority
            if not self._ages():
                return float(known) if known is not None else self._lowest
            return self._qos_part.get(job.qos, 0.0)
        rest = parts["PRIORITY"] - (parts.get("AGE", 0.0) if self._ages() else 0.0)
        return rest - (parts.get("FAIRSHARE", 0.0) if self._shares_count(job) else 0.0)

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(job.id for job in self.snapshot.jobs)

    @cached_property
    def _lowest(self) -> float:
        known = [job.priority for job in self.snapshot.pending if job.priority]
        return min(known, default=4294901000.0) - 1

    def _shares_count(self, job: Job) -> bool:
        weight = self.snapshot.clocks.get("weight_fairshare", 0)
        return weight > 0 and self._accounts.association_of(job.account, job.user) >= 0

    @cached_property
    def _limits_accrual(self) -> bool:
        known = self.snapshot.limits
        all_limits = (*known.get("qos", {}).values(), *known.get("associations", ()))
        return any("Accrue" in key for one in all_limits for key in one)

    def _ages(self) -> bool:
        return bool(self.snapshot.priorities) and self.snapshot.clocks.get("multifactor", 0) > 0
