"""Snapshots of a simulated history: what a user of a Slurm would have read at moments of the past.

The history is a run of slurm-backfill on the jobs of a log, with their true run times. A snapshot
holds what the commands of a real Slurm show at its moment, and nothing of what comes later: jobs
that run, with their nodes and limits; jobs that wait, with their priorities and the start that the
last backfill cycle planned (`squeue --start`); usage and factors of the associations; jobs that
have ended.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine
from cosched.slurm.conf.settings import settings_of
from cosched.slurm.live.model import Allocated, FinishedJob, Share, SnapshotJob
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.requests.core_job_builder import running_state
from cosched.slurm.requests.request import Running
from cosched.slurm.twin.host_clocks import clocks_of
from cosched.slurm.twin.twin import Twin

#: Unix time of second 0 of a simulated history.
EPOCH = 1_700_000_000
#: PriorityCalcPeriod, PriorityMaxAge and PriorityDecayHalfLife where slurm.conf sets none (s).
CALC_PERIOD, MAX_AGE, HALF_LIFE = 300.0, 604_800.0, 604_800.0
MB_PER_GB = 1024


@dataclass(frozen=True)
class JobRequest:
    """What one job asks for, in the words of a snapshot."""

    nodes: int | None
    cpus: int
    memory: float | None  # MB of a node
    memory_per_cpu: float | None  # MB
    gpus_per_node: int
    gpus: int  # in all, where it does not ask for them by node
    features: str
    exclusive: bool


class SimulatedHistory:
    """A run of the simulator of Slurm on the jobs of a log, and its state at any moment.

    Parameters
    ----------
    instance : Instance
        Jobs with their true run times.
    machine : Machine
        With slurm.conf and accounts.
    seed : int
        Of the clocks of the controller.
    """

    def __init__(self, instance: Instance, machine: Machine, seed: int = 0) -> None:
        self._instance = instance
        self.machine = machine.approximated()
        self._settings = settings_of(self.machine)
        self._twin = Twin(instance, self.machine, {})
        self._clocks = {**clocks_of(instance, 1, seed)[0], "epoch": float(EPOCH)}
        self._outcome = self._twin.run(self._clocks, with_plans=True)
        self.submit = np.asarray(instance.column("submit"), dtype=float)
        self.start = np.asarray(self._outcome.start)
        self.end = np.asarray(self._outcome.end)
        self._columns = {name: instance.column(name).tolist() for name in instance.column_names}
        self._requests = [self._request_of(row) for row in range(len(instance))]
        self._holds = self._allocations()
        self._plans = self._plans_by_row()
        self._associations = self._association_rows()
        names = [(row["Account"], row.get("User", "")) for row in self._associations]
        self._association_of = {name: number for number, name in enumerate(names)}
        self._accounts = [self._account_row(row) for row in range(len(instance))]

    def snapshots(self, times: Sequence[float]) -> list[Snapshot]:
        """Return the snapshots of these seconds of the history, in increasing order."""
        samples = self._twin.retrace(self._clocks, self._recorded_runs(), times)
        return [self._snapshot(time, sample) for time, sample in zip(times, samples, strict=True)]

    def true_starts(self, snapshot: Snapshot) -> dict[int, float]:
        """Return the seconds from a snapshot to the true start of each job that waits."""
        now = snapshot.time - EPOCH
        return {job.id: float(self.start[job.id - 1]) - now for job in snapshot.pending}

    def run_times(self) -> dict[int, float]:
        """Return the true run time of each job (s), by its id."""
        lengths = self.end - self.start
        return {row + 1: float(length) for row, length in enumerate(lengths)}

    def later_submissions(self, snapshot: Snapshot) -> list[dict[str, Any]]:
        """Return what is submitted after a snapshot, with true run times, as `when` takes it."""
        now = snapshot.time - EPOCH
        return [
            {
                **self._job_fields(row),
                "job": row + 1,
                "seconds": float(self.end[row] - self.start[row]),
            }
            for row in np.flatnonzero(self.submit > now).tolist()
        ]

    def _snapshot(self, time: float, sample: _core.slurm.Sample) -> Snapshot:
        """Return what is shown at a second of the history."""
        is_present = (self.submit <= time) & ~(self.end <= time)
        jobs = [self._job_at(row, time, sample) for row in np.flatnonzero(is_present).tolist()]
        ended_rows = np.flatnonzero(self.end <= time).tolist()
        dump = self._settings.accounts
        assert dump is not None
        return Snapshot(
            time=EPOCH + time,
            jobs=tuple(jobs),
            scontrol_texts={"config": "", "nodes": "", "partitions": ""},
            version=self._settings.version,
            shares=self._shares_at(time, sample),
            limits={
                "qos": {row["Name"]: dict(row) for row in dump.qos},
                "associations": [dict(row) for row in self._associations],
            },
            priorities={
                row + 1: self._priority_parts(row, time, sample)
                for row in np.flatnonzero(is_present & ~(self.start <= time)).tolist()
            },
            clocks=self._clocks_at(time),
            history=[self._finished_job(row) for row in ended_rows],
            given_machine=replace(
                self.machine, slurm=replace(self._settings, accounts=None, limits_count=False)
            ),
        )

    def _request_of(self, row: int) -> JobRequest:
        """Return what the job of a row asks for."""
        columns = self._columns
        nodes = int(columns["nodes"][row]) or None
        cpus = int(columns["tasks"][row])
        # Not a number where the job does not say.
        memory = float(np.nan_to_num(columns["memory_gb"][row])) * MB_PER_GB
        is_per_core = nodes is None or columns["memory_per"][row] == "core"
        memory_of_part = math.ceil(memory / (cpus if is_per_core else nodes or 1)) or None
        gpus = int(columns["gpus"][row])
        is_per_node = columns["gpus_per"][row] == "node" and nodes is not None
        return JobRequest(
            nodes=nodes,
            cpus=cpus,
            memory=None if is_per_core else memory_of_part,
            memory_per_cpu=memory_of_part if is_per_core else None,
            gpus_per_node=gpus // (nodes or 1) if is_per_node else 0,
            gpus=0 if is_per_node else gpus,
            features=columns["constraint"][row],
            exclusive=columns["exclusive"][row] == "yes",
        )

    def _allocations(self) -> list[tuple[Allocated, ...]]:
        """Return what each job has of its nodes while it runs, by row."""
        outcome, names = self._outcome, self._settings.names
        nodes_by_row = np.split(outcome.node, outcome.node_begin[1:-1])
        cores_by_row = np.split(outcome.cores, outcome.node_begin[1:-1])
        allocations = []
        for row, (nodes, cores) in enumerate(zip(nodes_by_row, cores_by_row, strict=True)):
            request = self._requests[row]
            gpus = request.gpus_per_node or -(-request.gpus // max(len(nodes), 1))
            allocations.append(
                tuple(
                    Allocated(names[node], cpus, self._memory_of_node(row, cpus), gpus)
                    for node, cpus in zip(nodes.tolist(), cores.tolist(), strict=True)
                )
            )
        return allocations

    def _memory_of_node(self, row: int, cpus: int) -> float:
        """Return the memory (MB) that a job has of a node with so many of its CPUs."""
        request = self._requests[row]
        if request.memory is not None:
            return float(request.memory)
        if request.memory_per_cpu is not None:
            return float(request.memory_per_cpu * cpus)
        megabytes, is_per_cpu = self._settings.default_memory(self._columns["partition"][row])
        return float(megabytes * cpus if is_per_cpu else megabytes)

    def _plans_by_row(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return when backfill cycles planned a start of each job, and for which second."""
        is_plan = _core.slurm.Action.plan
        plans: dict[int, tuple[list[float], list[float]]] = {}
        for note in self._outcome.notes:
            if note.action is is_plan:
                times, starts = plans.setdefault(note.job, ([], []))
                times.append(note.time)
                starts.append(note.start)
        return {row: (np.array(times), np.array(starts)) for row, (times, starts) in plans.items()}

    def _planned_start(self, row: int, time: float) -> float | None:
        """Return the start that the last cycle before `time` planned for a job; None: none did."""
        if row not in self._plans:
            return None
        times, starts = self._plans[row]
        place = int(np.searchsorted(times, time, side="right"))
        return None if place == 0 else float(starts[place - 1])

    def _association_rows(self) -> list[dict[str, Any]]:
        """Return the associations as sacctmgr shows them, the root first."""
        dump = self._settings.accounts
        if dump is None:
            raise ValueError("a simulated history needs the accounts of the cluster")
        return [dict(row) for row in dump.associations]

    def _parent_of(self, row: Mapping[str, Any]) -> int:
        """Return the row of an association's parent; -1: it is the root."""
        account, user = row["Account"], row.get("User", "")
        if (account, user) == ("root", ""):
            return -1
        parent_account = account if user else row.get("ParentName") or "root"
        return self._association_of[parent_account, ""]

    def _shares_at(self, time: float, sample: _core.slurm.Sample) -> list[Share]:
        """Return shares, usage and factors of all associations as sshare shows them."""
        usage = self._usage_at(self._last_pass(time))
        return [
            Share(
                account=row["Account"],
                user=row.get("User", ""),
                parent=self._parent_of(row),
                shares=None if row.get("Share") == "parent" else float(row.get("Share") or 1),
                usage=round(float(usage[number])),
                factor=float(sample.factors[number]),
            )
            for number, row in enumerate(self._associations)
        ]

    def _usage_at(self, time: float) -> np.ndarray:
        """Return CPU seconds of all associations until `time`, decayed, with those below them."""
        half_life = self._settings.parameters.get("PriorityDecayHalfLife", HALF_LIFE)
        rate = math.log(2) / half_life
        begin = np.minimum(self.start, time)
        end = np.minimum(self.end, time)
        cpus = [sum(part.cpus for part in parts) for parts in self._holds]
        ages = np.exp(-rate * (time - end)) - np.exp(-rate * (time - begin))
        used = np.nan_to_num(np.array(cpus) * ages / rate)
        usage = np.zeros(len(self._associations))
        np.add.at(usage, self._accounts, used)
        # Accounts come before what belongs to them.
        for number in range(len(usage) - 1, 0, -1):
            usage[self._parent_of(self._associations[number])] += usage[number]
        return usage

    def _account_row(self, row: int) -> int:
        """Return the association of a job."""
        return self._association_of[self._columns["account"][row], self._columns["user"][row]]

    def _priority_parts(
        self, row: int, time: float, sample: _core.slurm.Sample
    ) -> dict[str, float]:
        """Return the priority of a job that waits, and its parts that change, as sprio shows
        them."""
        parameters = self._settings.parameters
        max_age = parameters.get("PriorityMaxAge") or MAX_AGE
        age = min((time - self.submit[row]) / max_age, 1.0)
        factor = sample.factors[self._accounts[row]]
        return {
            "PRIORITY": float(np.nan_to_num(sample.priorities[row])),
            "AGE": parameters.get("PriorityWeightAge", 0.0) * age,
            "FAIRSHARE": parameters.get("PriorityWeightFairshare", 0.0) * factor,
        }

    @property
    def _calc_period(self) -> float:
        """PriorityCalcPeriod (s)."""
        return self._settings.parameters.get("PriorityCalcPeriod") or CALC_PERIOD

    def _last_pass(self, time: float) -> float:
        """Return when usage was accounted last before `time`."""
        first_pass = self._clocks["controller_start"] + self._clocks["decay_after"]
        return time - (time - first_pass) % self._calc_period

    def _clocks_at(self, time: float) -> dict[str, float]:
        """Return what scontrol show config and sdiag tell of the controller."""
        parameters = self._settings.parameters
        cycles = self._outcome.cycle_times
        last_cycle = cycles[np.searchsorted(cycles, time, side="right") - 1]
        return {
            "boot": EPOCH + self._clocks["controller_start"],
            "last_cycle": EPOCH + math.floor(last_cycle),
            "last_pass": EPOCH + self._last_pass(time),
            "weight_age": parameters.get("PriorityWeightAge", 0.0),
            "max_age": parameters.get("PriorityMaxAge") or MAX_AGE,
            "weight_fairshare": parameters.get("PriorityWeightFairshare", 0.0),
            "half_life": parameters.get("PriorityDecayHalfLife", HALF_LIFE),
            "calc_period": self._calc_period,
            "multifactor": 1.0,
            "enforces": 1.0,
            "offset": 0.0,
        }

    def _recorded_runs(self) -> list[_core.slurm.RecordedRun]:
        """Return when each job ran and on what, as the core retraces priorities."""
        numbers = {name: number for number, name in enumerate(self._settings.names)}
        runs = []
        for row, parts in enumerate(self._holds):
            nodes = [(numbers[part.node], part.cpus, int(part.memory)) for part in parts]
            state = running_state(Running(float(self.start[row]), nodes, []))
            runs.append(
                _core.slurm.RecordedRun(
                    start=self._outcome.start_exact[row],
                    end=self._outcome.end_exact[row],
                    shares=state.shares,
                    gpus=state.gpus,
                )
            )
        return runs

    def _job_fields(self, row: int) -> dict[str, Any]:
        """Return what a job asks for and whose it is, by the fields of a snapshot."""
        request, columns = self._requests[row], self._columns
        return {
            **{key: columns[key][row] for key in ("user", "account", "partition", "qos")},
            "submit": EPOCH + float(self.submit[row]),
            "limit": float(columns["estimate"][row]),
            "nodes": request.nodes,
            "exact": request.nodes is not None,
            "cpus": request.cpus,
            "exclusive": request.exclusive,
            "memory": request.memory,
            "memory_per_cpu": request.memory_per_cpu,
            "gres": f"gpu:{request.gpus_per_node}" if request.gpus_per_node else "",
            "gpus": f"gpu:{request.gpus}" if request.gpus else "",
            "features": request.features,
        }

    def _job_at(self, row: int, time: float, sample: _core.slurm.Sample) -> SnapshotJob:
        """Return a job as squeue shows it at a second."""
        fields = self._job_fields(row)
        is_running = self.start[row] <= time
        start = EPOCH + float(self.start[row]) if is_running else self._planned_start(row, time)
        if start is not None and not is_running:
            start += EPOCH
        return SnapshotJob(
            **fields,
            id=row + 1,
            state="RUNNING" if is_running else "PENDING",
            eligible=fields["submit"],
            accrue=fields["submit"],
            start=start,
            priority=None if is_running else float(np.nan_to_num(sample.priorities[row])),
            nice=0.0,
            holds=self._holds[row] if is_running else (),
        )

    def _finished_job(self, row: int) -> FinishedJob:
        """Return a job as sacct shows it after its end."""
        fields = self._job_fields(row)
        names = ("user", "account", "partition", "qos", "submit", "limit", "cpus")
        return FinishedJob(
            **{name: fields[name] for name in names},
            id=row + 1,
            eligible=fields["submit"],
            start=EPOCH + float(self.start[row]),
            end=EPOCH + float(self.end[row]),
            nodes=len(self._holds[row]),
            memory=self._memory_of_node(row, fields["cpus"] // max(len(self._holds[row]), 1)),
            gpus=fields["gpus"] or (fields["gres"] and f"gpu:{self._columns['gpus'][row]}"),
            state="COMPLETED",
            allocated=sum(part.cpus for part in self._holds[row]),
        )
