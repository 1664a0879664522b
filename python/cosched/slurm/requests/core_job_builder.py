"""Make the core's jobs of requests, and number what they refer to: node sets, licences, names."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cosched import _core
from cosched.cluster.machine import Machine
from cosched.cluster.machine.node_types import Spans
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.settings import SlurmSettings
from cosched.slurm.requests.node_sets import NodeSet, NodeSetTable, gpu_types_of
from cosched.slurm.requests.request import Request, Running

_DEPENDENCY_KINDS = tuple(_core.slurm.DependencyKind)
#: The core's number of GPUs of any type.
_ANY_GPU_TYPE = -1
#: A reservation that is never made: of jobs that ask for a name that does not exist.
NEVER_MADE_RESERVATION = _core.slurm.Reservation(created_at=np.inf, begin=0, end=0, nodes=[])


@dataclass(frozen=True)
class Requests:
    """What jobs ask for beyond the columns of an instance, and all that this refers to."""

    #: The core's jobs by row of the instance; other jobs ask for nothing more.
    jobs: Mapping[int, _core.slurm.Job] = field(default_factory=dict)
    #: Sets of nodes, to which ``node_set`` and ``alternative_sets`` of jobs refer.
    sets: tuple[Spans, ...] = ()
    #: How many there are of each licence.
    licences: tuple[int, ...] = ()
    #: Advance reservations.
    reservations: tuple[_core.slurm.Reservation, ...] = ()
    #: What administrators do during the simulation.
    admin_events: tuple[_core.slurm.AdminEvent, ...] = ()
    #: Associations of a slurmdbd; the root first.
    associations: tuple[_core.slurm.Association, ...] = ()
    #: QOS of a slurmdbd.
    qos: tuple[_core.slurm.Qos, ...] = ()
    #: Number of the QOS of a partition, where it has one.
    partition_qos: Mapping[str, int] = field(default_factory=dict)
    #: TRESBillingWeights of a partition, where it has some.
    billing: Mapping[str, Sequence[float]] = field(default_factory=dict)


#: Gets the error about something that the machine does not have; the job then goes without it.
OnUnsupported = Callable[[InvalidInstance], None]


class CoreJobBuilder:
    """Makes the core's jobs for one machine, and numbers what they refer to.

    Parameters
    ----------
    machine : Machine
        Whose nodes, GPUs and licences jobs ask for.
    memory : bool
        Whether memory is handed out, where the machine does that.
    reservations : sequence of str
        Names in the order of their numbers.
    node_sets : NodeSetTable, optional
        Numbers the sets of nodes; default: a new one of the machine.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        memory: bool = True,
        reservations: Sequence[str] = (),
        node_sets: NodeSetTable | None = None,
    ) -> None:
        self.settings = machine.slurm or SlurmSettings()
        #: Whether memory is handed out to jobs.
        self.tracks_memory = memory and self.settings.memory_counts
        #: Names of the GPU types in the order of their numbers.
        self.gpu_types: list[str] = gpu_types_of(machine)
        #: Sets of nodes to which jobs refer.
        self.node_sets = node_sets or NodeSetTable(machine)
        self._reservations = list(reservations)
        self._licences: dict[str, int] = dict(self.settings.licences)
        self._name_numbers: dict[tuple[str, str], int] = {}

    def build_requests(self, jobs: Mapping[int, _core.slurm.Job], **fields: Any) -> Requests:
        """Return these jobs, by row, with what they refer to; `fields`: see :class:`Requests`."""
        licences = tuple(self._licences.values())
        return Requests(jobs, tuple(self.node_sets.sets), licences, **fields)

    def core_job(
        self, request: Request, on_unsupported: OnUnsupported | None = None
    ) -> _core.slurm.Job:
        """Return the core's job of a request; see :meth:`fields_of`."""
        return _core.slurm.Job(**self.fields_of(request, on_unsupported))

    def fields_of(
        self, request: Request, on_unsupported: OnUnsupported | None = None
    ) -> dict[str, Any]:
        """Return the fields of the core's job that differ from their defaults.

        Parameters
        ----------
        request : Request
            What the job asks for.
        on_unsupported : callable, optional
            Gets what the machine does not have, which the job then lacks; without it that is an
            error.

        Raises
        ------
        InvalidInstance
            The job asks for something that the machine does not have.
        """
        job = self._resources(request)
        for read_fields in (self._gpus, self._licences_of_request, self._node_set_of):
            try:
                job.update(read_fields(request, job.get("memory", 0)))
            except InvalidInstance as error:
                if on_unsupported is None:
                    raise
                on_unsupported(error)
        return job | self._ordering(request) | self._states(request)

    def _ordering(self, request: Request) -> dict[str, Any]:
        """Return what decides the order of jobs: owner, dependencies, names, array, priority."""
        job: dict[str, Any] = {}
        if request.owner is not None:
            job |= {k: v for k, v in request.owner._asdict().items() if v is not None}
        if request.after:
            job["dependencies"] = [
                _core.slurm.Dependency(kind=_DEPENDENCY_KINDS[kind], jobs=rows)
                for kind, rows in request.after
            ]
        if request.singleton is not None:
            job["singleton"] = self._number_of_name(request.singleton)
        if request.namesake is not None:
            job["singleton_name"] = self._number_of_name(request.namesake)
        if request.array is not None:
            job["array"], job["array_limit"] = request.array
        if request.nice:
            job["nice"] = request.nice
        if request.reservation is not None:  # the last is one that was never made
            job["reservation"] = (*self._reservations, request.reservation).index(
                request.reservation
            )
        if request.begin is not None:
            job["begin"] = request.begin
        if request.age_from is not None:
            job["age_from"] = request.age_from
        return job

    def _states(self, request: Request) -> dict[str, Any]:
        """Return what holds or ends a job, and what it has at second 0."""
        job: dict[str, Any] = {}
        if request.held:
            job["is_held"] = True
        if request.fails:
            job["exits_with_error"] = True
        if not request.requeue:
            job["can_requeue"] = False
        if request.running is not None:
            job["running_state"] = running_state(request.running)
        if request.waiting is not None:
            priority, age_since = request.waiting
            job["queue_state"] = _core.slurm.QueueState(priority=priority, age_since=age_since)
        return job

    def _number_of_name(self, name: tuple[str, str]) -> int:
        """Return the number of a user and a name of jobs; a new one gets the next number."""
        return self._name_numbers.setdefault(name, len(self._name_numbers))

    def _resources(self, request: Request) -> dict[str, Any]:
        """Return what a job asks of nodes: their number, cores, memory."""
        nodes = {} if request.nodes is None else {"nodes": request.nodes}
        if request.cores is None:
            return nodes
        resources: dict[str, Any] = {"tasks": request.cores, **nodes}
        if nodes:
            resources["max_nodes"] = request.nodes
        if request.exclusive:
            resources["is_exclusive"] = True
        return resources | self._memory(request)

    def _memory(self, request: Request) -> dict[str, Any]:
        """Return the memory of a job: per node or per core, or the partition's default."""
        if not self.tracks_memory:
            return {}
        if request.memory is not None:
            amount, is_by_core = request.memory, False
        elif request.memory_per_core is not None:
            amount, is_by_core = request.memory_per_core, True
        else:
            amount, is_by_core = self.settings.default_memory(request.partition)
        if not amount:
            return {"wants_all_memory": True}
        return {"memory": amount, "is_memory_by_core": is_by_core}

    def _gpus(self, request: Request, _memory: int) -> dict[str, Any]:
        """Return the GPUs of a job."""
        gpus = request.gpus
        if gpus is None:
            return {}
        if gpus.type is not None and gpus.type not in self.gpu_types:
            raise InvalidInstance(
                f"GPUs {shorten(gpus.type)}: the machine has {', '.join(self.gpu_types) or 'none'}"
            )
        return {
            "gpus": gpus.number,
            "are_gpus_by_node": gpus.by_node,
            "gpu_type": _ANY_GPU_TYPE if gpus.type is None else self.gpu_types.index(gpus.type),
        }

    def _node_set_of(self, request: Request, memory: int) -> NodeSet:
        """Return the nodes that a job may have: its constraint, memory (MB), nodelist, exclude."""
        node_set = self.node_sets.node_set_for(request.constraint, memory)
        if request.nodelist:
            node_set = self.node_sets.restrict_to_hosts(node_set, request.nodelist, within=True)
        if request.exclude:
            node_set = self.node_sets.restrict_to_hosts(node_set, request.exclude, within=False)
        return node_set

    def _licences_of_request(self, request: Request, _memory: int) -> dict[str, Any]:
        """Return (number of the licence, how many) of ``a:2,b``."""
        names = list(self._licences)
        numbers_and_counts = []
        for part in request.licences.split(",") if request.licences else ():
            name, _, count = part.partition(":")
            if name not in names:
                expected = (
                    f"one of {', '.join(names)}" if names else "Licenses in the configuration"
                )
                raise InvalidInstance(f"licence {shorten(name)}: expected {expected}")
            if not re.fullmatch("[0-9]{0,9}", count):
                raise InvalidInstance(f"licence {shorten(part)}: expected a number of {name}")
            numbers_and_counts.append((names.index(name), int(count or 1)))
        return {"licences": numbers_and_counts} if numbers_and_counts else {}


def running_state(running: Running) -> _core.slurm.RunningState:
    """Return what a running job has as the core takes it."""
    return _core.slurm.RunningState(
        start=running.start,
        shares=[
            _core.slurm.Share(node=node, cores=cores, memory=memory)
            for node, cores, memory in running.nodes
        ],
        gpus=[
            _core.slurm.GpuShare(node=node, type=gpu_type, count=count)
            for node, gpu_type, count in running.gpus
        ],
    )


def admin_event(kind: str, time: float, row: int = -1, nodes: Spans = ()) -> _core.slurm.AdminEvent:
    """Return an action of an administrator as the core takes it.

    `kind`: a name of the core's AdminEventKind, as ``drain``; `time` (s); `row`: the job that it is
    about, -1: none; `nodes`: the nodes that it is about.
    """
    return _core.slurm.AdminEvent(
        time=time, kind=_core.slurm.AdminEventKind[kind], job=row, nodes=nodes
    )
