"""Build what the core simulates: the machine, its partitions, the settings and the jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, TypedDict

import numpy as np

from cosched import _core
from cosched.cluster.instance.usage import numbers_of, texts_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import node_attribute
from cosched.errors import InvalidInstance
from cosched.notes import Note, not_followed
from cosched.slurm.conf import settings as conf
from cosched.slurm.requests.associations import priority_weights
from cosched.slurm.requests.core_job_builder import Requests
from cosched.slurm.requests.job_placement import PlacementContext
from cosched.slurm.requests.node_sets import megabytes_of_nodes
from cosched.slurm.requests.requested_gpus import gpus_of_nodes
from cosched.slurm.twin.core_clocks import parameters_in_seconds

#: The largest number of nodes of a job in a partition without MaxNodes: the core's largest integer.
_NO_NODE_LIMIT = 2**31 - 1
#: The priority that tells the core to compute one.
_COMPUTED_PRIORITY = -1.0
#: The numbers of a partition that has no QOS, and no preemption mode of its own.
_NO_QOS, _NO_PREEMPT_MODE = -1, -1
#: A job that asks for nothing beyond the columns of the instance.
_NO_REQUEST = _core.slurm.Job()
#: Fields of a job that say what it asks of its nodes: all tasks of one array have the same.
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


class _NodeResources(TypedDict):
    """What each node has for jobs that share it; empty: nodes are handed out whole."""

    #: Units of the instance by node.
    node_cores: np.ndarray
    #: Megabytes by node; empty: memory is not handed out.
    node_memory: list[int]
    #: GPUs of each type, by node.
    node_gpus: list[list[int]]
    #: Weight by node; empty: all are equal.
    node_weight: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class ScenarioBuilder:
    """Builds the core's scenario from the jobs of an instance and their machine."""

    #: The jobs, and the nodes and partitions in which they may run.
    placement: PlacementContext
    #: What the machine's slurm.conf says.
    settings: conf.SlurmSettings
    #: None: one line of nodes, one partition.
    machine: Machine | None
    #: What jobs ask for beyond the columns of the instance, and what that refers to.
    requests: Requests
    #: By row of a job in more than one partition: their numbers, the first one first.
    multi_partition_jobs: Mapping[int, list[int]]
    #: Whole nodes that each job needs at least, shape (jobs,).
    node_counts: np.ndarray
    #: How long each job has run at second 0 (s), shape (jobs,).
    elapsed: np.ndarray
    #: Rules of Slurm 24.11; else of 22.05.
    follows_24_rules: bool
    #: Settings that are not followed are left out, with a note.
    approximate: bool
    #: Priorities are those of the instance; else the simulator computes them.
    uses_given_priorities: bool

    def build(
        self, parameters: Mapping[str, float], *, tracks_memory: bool
    ) -> _core.slurm.Scenario:
        """Return the scenario.

        Parameters
        ----------
        parameters : mapping
            Scheduler parameters in Slurm's units, in place of the machine's.
        tracks_memory : bool
            Whether the memory of nodes is handed out to jobs.

        Raises
        ------
        InvalidInstance, InfeasibleError
            The core refuses a job; its message has the row of the job.
        TypeError
            A name in `parameters` that is no scheduler parameter.
        """
        columns = self._job_columns()
        jobs = _with_numbered_arrays(
            self._jobs_with_partitions(), self.placement, self.node_counts, columns.limit
        )
        requests, settings, machine = self.requests, self.settings, self.machine
        return _core.slurm.Scenario(
            machine=_core.slurm.Machine(
                nodes=len(self.placement.node_cores),
                cpus=int(machine.cores if machine is not None else len(self.placement.node_cores)),
                node_lines=self._node_lines(),
                node_sets=requests.sets,
                licences=np.array(requests.licences, dtype=np.int64),
                qos=requests.qos,
                priority_tres=priority_weights(settings.priority_tres, machine) if machine else [],
                down_nodes=settings.down,
                **self._node_resources(tracks_memory),
            ),
            partitions=self._partitions(),
            settings=_core.slurm.Settings(
                **{**settings.parameters, **parameters_in_seconds(parameters)},
                since_24=float(self.follows_24_rules),
            ),
            columns=columns,
            jobs=jobs,
            reservations=requests.reservations,
            admin_events=requests.admin_events,
            associations=requests.associations,
        )

    @property
    def notes(self) -> list[Note]:
        """Partitions whose State lets no job start, but whose jobs run here all the same."""
        return [
            not_followed(
                f"State of partition {name}: its jobs run here",
                subject=f"State of partition {name}",
            )
            for name in self._ignored_states
        ]

    @property
    def _partition_names(self) -> list[str]:
        return list(self.placement.partition_ranges)

    @cached_property
    def _node_bounds(self) -> list[tuple[int, int]]:
        """MinNodes and MaxNodes by partition, as slurm.conf has them; MaxNodes 0: its State lets
        no job start."""
        return [
            self.settings.bounds.get(name, (0, _NO_NODE_LIMIT)) for name in self._partition_names
        ]

    @property
    def _ignored_states(self) -> list[str]:
        """Names of partitions with jobs whose State is ignored, since the run is approximate."""
        if not self.approximate:
            return []
        used_partitions = set(np.unique(self.placement.partition_of_job).tolist()).union(
            *self.multi_partition_jobs.values()
        )
        return [
            name
            for number, (name, (_, max_nodes)) in enumerate(
                zip(self._partition_names, self._node_bounds, strict=True)
            )
            if not max_nodes and number in used_partitions
        ]

    def _job_columns(self) -> _core.slurm.JobColumns:
        """Return the columns that all jobs have: times, sizes, partitions, users, priorities."""
        instance = self.placement.instance
        users = np.unique(texts_of(instance, "user"), return_inverse=True)[1]
        priority = np.full(len(instance), _COMPUTED_PRIORITY)
        if self.uses_given_priorities:
            if "priority" not in instance.column_names:
                raise InvalidInstance("priorities = given: expected jobs with a column priority")
            priority = np.nan_to_num(instance.column("priority"), nan=_COMPUTED_PRIORITY)
        return _core.slurm.JobColumns(
            submit=instance.column("eligible"),
            runtime=instance.column("runtime") + self.elapsed,
            nodes=self.node_counts,
            cpus=instance.column("tasks"),
            limit=self._time_limits() + self.elapsed,
            partition=self.placement.partition_of_job,
            user=users.reshape(-1),
            nice=np.zeros(len(instance)),
            priority=priority,
        )

    def _time_limits(self) -> np.ndarray:
        """Return the time limit of each job (s), by default that of its partition."""
        instance = self.placement.instance
        if "estimate" in instance.column_names:
            return instance.column("estimate")
        default_limits = np.array(
            [self.settings.default_times.get(name, np.inf) for name in self._partition_names]
        )
        limits: np.ndarray = default_limits[self.placement.partition_of_job]
        return limits

    def _partitions(self) -> list[_core.slurm.Partition]:
        """Return the partitions in the order of their numbers."""
        settings, machine = self.settings, self.machine
        partition_by_name = {p.name: p for p in machine.partitions} if machine is not None else {}
        job_factors = [settings.factors.get(name, 1.0) for name in self._partition_names]
        largest_factor = max(job_factors) or 1.0
        # Limits of jobs are cut to MaxTime already, with the time of their suspensions on top. No
        # limit counts that time, so the core must not cut it off again.
        suspended = float(numbers_of(self.placement.instance, "suspended").max(initial=0.0))
        partitions = []
        for (name, node_ranges), job_factor, (min_nodes, max_nodes) in zip(
            self.placement.partition_ranges.items(), job_factors, self._node_bounds, strict=True
        ):
            partition = partition_by_name.get(name)
            preempt_mode, grace_time = settings.preempt_modes.get(name, (_NO_PREEMPT_MODE, 0))
            ignores_state = self.approximate and not max_nodes
            partitions.append(
                _core.slurm.Partition(
                    nodes=node_ranges,
                    tier=1 if partition is None else int(partition.priority),
                    max_time=np.inf if partition is None else partition.max_time + suspended,
                    job_factor=job_factor / largest_factor,
                    min_nodes=min_nodes,
                    max_nodes=_NO_NODE_LIMIT if ignores_state else max_nodes,
                    qos=self.requests.partition_qos.get(name, _NO_QOS),
                    preempt_mode=preempt_mode,
                    grace_time=grace_time,
                    billing=list(self.requests.billing.get(name, ())),
                )
            )
        return partitions

    def _jobs_with_partitions(self) -> dict[int, _core.slurm.Job]:
        """Return what jobs ask for, by row, with the partitions of those in more than one.

        In a partition with OverSubscribe=EXCLUSIVE jobs have whole nodes.
        """
        jobs = dict(self.requests.jobs)
        for row, partitions in self.multi_partition_jobs.items():
            jobs[row] = jobs.get(row, _NO_REQUEST).replace(partitions=partitions)
        exclusive_partitions = self.settings.exclusive
        if self.placement.shares_nodes and exclusive_partitions:
            is_exclusive = np.array(
                [name in exclusive_partitions for name in self._partition_names]
            )
            for row in np.flatnonzero(is_exclusive[self.placement.partition_of_job]).tolist():
                jobs[row] = jobs.get(row, _NO_REQUEST).replace(is_exclusive=True)
        return jobs

    def _node_lines(self) -> list[list[tuple[int, int]]]:
        """Return the NodeName lines of slurm.conf as ranges of nodes.

        Since Slurm 24.11 lines of equal nodes are one.
        """
        lines = self.settings.lines
        if not lines:
            return [[(0, len(self.placement.node_cores))]]
        if not self.follows_24_rules or self.machine is None:
            return [list(line) for line in lines]
        type_of_node = [
            replace(node_type, name="", count=1)
            for node_type in self.machine.nodes
            for _ in range(node_type.count)
        ]
        merged_lines: dict[Any, list[tuple[int, int]]] = {}
        for line in lines:
            first_node = line[0][0]
            merged_lines.setdefault(type_of_node[first_node], []).extend(line)
        return [sorted(line) for line in merged_lines.values()]

    def _node_resources(self, tracks_memory: bool) -> _NodeResources:
        """Return the cores, memory, GPUs and weights of nodes that jobs share."""
        empty = np.zeros(0, dtype=np.int64)
        if not self.placement.shares_nodes or self.machine is None:
            return {"node_cores": empty, "node_memory": [], "node_gpus": [], "node_weight": empty}
        weight = node_attribute(self.machine, "weight")
        return {
            "node_cores": self.placement.node_cores,
            "node_memory": megabytes_of_nodes(self.machine) if tracks_memory else [],
            "node_gpus": gpus_of_nodes(self.machine),
            "node_weight": weight if len(set(weight.tolist())) > 1 else empty,
        }


def _with_numbered_arrays(
    jobs: Mapping[int, _core.slurm.Job],
    placement: PlacementContext,
    node_counts: np.ndarray,
    limit: np.ndarray,
) -> dict[int, _core.slurm.Job]:
    """Return the jobs with their arrays numbered from 0 on, in the order of the jobs.

    An array has the tasks that ask for the same as its first task. A task that asks for something
    else was changed after submission. Slurm has a record of its own for it; here such tasks are an
    array of their own, with the same limit of simultaneous tasks.
    """
    tasks = placement.instance.column("tasks")
    first_task_keys: dict[int, tuple[Any, ...]] = {}
    array_numbers: dict[tuple[Any, ...], int] = {}
    numbered_jobs = dict(jobs)
    for row, job in jobs.items():
        if job.array < 0:
            continue
        array_key: tuple[Any, ...] = (job.array,)
        node_request = str(_ARRAY_KEY_FIELDS(job))
        task_key = (
            placement.partition_of_job[row],
            node_counts[row],
            tasks[row],
            limit[row],
            node_request,
        )
        first_key = first_task_keys.get(job.array)
        if job.running_state is None and first_key is None:
            first_task_keys[job.array] = task_key
        elif job.running_state is None and task_key != first_key:
            array_key += task_key
        number = array_numbers.setdefault(array_key, len(array_numbers))
        numbered_jobs[row] = job.replace(array=number)
    return numbered_jobs
