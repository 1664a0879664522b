"""What one job asks of a Slurm, whoever tells it, and what the core is told of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

import numpy as np

from cosched import _core
from cosched.cluster.machine import Machine
from cosched.cluster.machine.constraints import constraint_nodes, parse_constraint
from cosched.cluster.machine.node_types import Spans, hosts, spans_of
from cosched.cluster.machine.parts import node_attribute
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.settings import SlurmSettings, number

#: A dependency of a job, in the order of the core's kinds.
KINDS = tuple(_core.slurm.DependencyKind.__members__)
_DEPENDENCY_KINDS = tuple(_core.slurm.DependencyKind)


class Gpus(NamedTuple):
    """So many in all, or of each node; of a type, or of any."""

    #: How many, of which type (None: any), and whether of each node or in all.
    number: int
    type: str | None = None
    by_node: bool = False


class Owner(NamedTuple):
    """Numbers of a job's association and QOS (-1: there is none), and what follows from them."""

    #: Row of the association, and number of the QOS.
    association: int
    qos: int
    #: Priority of the QOS over the largest one, and number of the user.
    qos_factor: float | None = None
    user: int | None = None


class Running(NamedTuple):
    """Since when a job runs (s), and what it has: (node, cores, MB), (node, type, GPUs)."""

    #: Start (s).
    start: float
    #: (node, cores, MB), and (node, type, GPUs).
    nodes: list[tuple[int, int, int]]
    gpus: list[tuple[int, int, int]]


class NodeSet(TypedDict, total=False):
    """The nodes that a job may have, by the core's names; empty: all nodes."""

    #: Number of the set of all these nodes.
    node_set: int
    #: Numbers of the sets of ``[a|b]``: all nodes of the job are of one of them.
    alternative_sets: list[int]


class Waiting(NamedTuple):
    """The priority that a job has now, and since when its age counts (s)."""

    #: Priority now.
    priority: float
    #: Since when its age counts (s).
    accrues: float


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a job asks for beyond its row of an instance; None and empty: it does not say."""

    cores: int | None = None  # where jobs share nodes; else its nodes are whole ones
    nodes: int | None = None  # so many, and of shared ones neither fewer nor more
    #: Whether the job has its nodes for itself.
    exclusive: bool = False
    memory: int | None = None  # MB of each node; 0: all of its nodes
    memory_per_core: int | None = None  # MB
    #: The GPUs that it asks for.
    gpus: Gpus | None = None
    partition: str = ""  # whose usual memory a job has that does not say it
    constraint: str = ""  # in the words of sbatch: (a|b)&c
    licences: str = ""  # fluent:2
    nodelist: str = ""  # hosts that are its nodes, all of them
    exclude: str = ""  # hosts that are none of them
    #: Whose job it is.
    owner: Owner | None = None
    #: Numbers of `KINDS`, and rows of the jobs that it waits for.
    after: Sequence[tuple[int, list[int]]] = ()
    #: User and name of one that waits for all others of that name, and of one of these.
    singleton: tuple[str, str] | None = None
    #: User and name that a singleton waits for, of a job that has them.
    namesake: tuple[str, str] | None = None
    #: Number of the array that it is of, and how many of its tasks may run (0: all).
    array: tuple[int, int] | None = None
    #: Since when its age counts, where that is before its arrival (s).
    age_from: float | None = None
    begin: float | None = None  # not before (s)
    held: bool = False  # until it is released
    fails: bool = False  # it ends with an error
    requeue: bool = True  # it runs again after its node is lost
    #: Nice value; it lowers the priority.
    nice: float = 0.0
    #: Name of the reservation that it asks for.
    reservation: str | None = None
    #: What it has, if it runs already; its priority, if it waits with a known one.
    running: Running | None = None
    #: Its priority, if it waits with a known one.
    waiting: Waiting | None = None


def gpus_asked(text: str, by_node: bool) -> Gpus:
    """Return the GPUs of ``gpu:a100:2``, ``gpu``, ``2``: per node as --gres has it, else in all."""
    parts = [part for part in text.split(":") if part != "gpu"]
    if not parts or not parts[-1].isdigit():
        parts.append("1")
    count = int(number(parts[-1], "what is asked for", "GPUs"))
    return Gpus(count, parts[0] if parts[1:] and parts[0] else None, by_node)


def dependencies(
    pairs: Sequence[Any], rows: Callable[[int], list[int]]
) -> list[tuple[int, list[int]]]:
    """Return (kind, rows) of ``[[kind, job], ...]`` without singletons."""
    kinds_and_rows = []
    for kind, job in pairs:
        if kind == "singleton":
            continue
        if kind not in KINDS:
            raise InvalidInstance(f"dependency {shorten(kind)}: expected {', '.join(KINDS)}")
        kinds_and_rows.append((KINDS.index(kind), rows(int(job))))
    return kinds_and_rows


@dataclass(frozen=True)
class Requests:
    """Beyond the columns of an instance."""

    #: By row of the instance.
    jobs: Mapping[int, _core.slurm.Job] = field(default_factory=dict)
    #: Nodes with some features, to which ``node_set`` and ``alternative_sets`` refer.
    sets: tuple[Spans, ...] = ()
    licences: tuple[int, ...] = ()  # how many of each there are
    #: Advance reservations.
    reservations: tuple[_core.slurm.Reservation, ...] = ()
    #: What an administrator does, in the order of time.
    admin_events: tuple[_core.slurm.AdminEvent, ...] = ()
    #: Associations of a slurmdbd; the root first.
    associations: tuple[_core.slurm.Association, ...] = ()
    #: QOS of a slurmdbd.
    qos: tuple[_core.slurm.Qos, ...] = ()
    partition_qos: Mapping[str, int] = field(default_factory=dict)  # numbers, where there is one
    billing: Mapping[str, Sequence[float]] = field(default_factory=dict)  # TRESBillingWeights


class CoreJobBuilder:
    """Makes the core's jobs for one machine, and numbers what they refer to.

    Parameters
    ----------
    machine : Machine
    memory : bool
        Whether memory is handed out, where the machine does that.
    reservations : sequence of str
        Names in the order of their numbers.
    """

    def __init__(
        self, machine: Machine, *, memory: bool = True, reservations: Sequence[str] = ()
    ) -> None:
        self.settings = machine.slurm or SlurmSettings()
        self.memory_counts = memory and self.settings.memory_counts
        self._reservations = list(reservations)
        self._numbers = {name: k for k, name in enumerate(self.settings.names)}
        self._node_types = machine.nodes
        self._type_counts = [kind.count for kind in machine.nodes]
        self.gpu_types: list[str] = gpu_types_of(machine)
        self._memory_of = np.array(megabytes_of_nodes(machine), dtype=np.int64)
        self._node_set_by_wish: dict[tuple[str, int], NodeSet] = {}
        self._number_of_set: dict[Spans, int] = {}
        self._sets_in_order: list[Spans] = []
        self._licences: dict[str, int] = dict(self.settings.licences)
        self._names: dict[tuple[str, str], int] = {}

    def build_requests(self, jobs: Mapping[int, _core.slurm.Job], **fields: Any) -> Requests:
        """Return these jobs, by row, with what they refer to; `fields`: see :class:`Requests`."""
        licences = tuple(self._licences.values())
        return Requests(jobs, tuple(self._sets_in_order), licences, **fields)

    def nodes(self, text: str, place: str) -> Spans:
        """Return the numbers of hosts as ranges; ALL: of all."""
        if text.upper() == "ALL":
            return ((0, len(self._numbers)),)
        try:
            return spans_of(self._numbers[name] for name in hosts(text, place))
        except KeyError as error:
            raise InvalidInstance(f"{place}: no node {error}") from None

    def of(
        self, request: Request, on_unsupported: Callable[[InvalidInstance], None] | None = None
    ) -> _core.slurm.Job:
        """Return the core's job.

        `on_unsupported` gets what the machine does not have, which the job then lacks; without it
        that is an error.
        """
        return _core.slurm.Job(**self.fields_of(request, on_unsupported))

    def fields_of(
        self, request: Request, on_unsupported: Callable[[InvalidInstance], None] | None = None
    ) -> dict[str, Any]:
        """Return the fields of the core's job that differ from their defaults.

        `on_unsupported` gets what the machine does not have, which the job then lacks; without it
        that is an error.
        """
        job = self._resources(request)
        for part in (self._gpus, self._licences_of_request, self._node_set_of):
            try:
                job.update(part(request, job.get("memory", 0)))
            except InvalidInstance as error:
                if on_unsupported is None:
                    raise
                on_unsupported(error)
        if request.owner is not None:
            job |= {k: v for k, v in request.owner._asdict().items() if v is not None}
        if request.after:
            job["dependencies"] = [
                _core.slurm.Dependency(kind=_DEPENDENCY_KINDS[kind], jobs=rows)
                for kind, rows in request.after
            ]
        for field_name, name in (
            ("singleton", request.singleton),
            ("singleton_name", request.namesake),
        ):
            if name is not None:
                job[field_name] = self._names.setdefault(name, len(self._names))
        if request.array is not None:
            job["array"], job["array_limit"] = request.array
        if request.held:
            job["is_held"] = True
        if request.fails:
            job["exits_with_error"] = True
        if not request.requeue:
            job["can_requeue"] = False
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
        if request.running is not None:
            job["running_state"] = running_state(request.running)
        if request.waiting is not None:
            priority, age_since = request.waiting
            job["queue_state"] = _core.slurm.QueueState(priority=priority, age_since=age_since)
        return job

    def _resources(self, request: Request) -> dict[str, Any]:
        """Return what a job wants of nodes: their number, cores, memory."""
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
        if not self.memory_counts:
            return {}
        if request.memory is not None:
            amount, by_core = request.memory, False
        elif request.memory_per_core is not None:
            amount, by_core = request.memory_per_core, True
        else:
            amount, by_core = self.settings.default_memory(request.partition)
        if not amount:
            return {"wants_all_memory": True}
        return {"memory": amount, "is_memory_by_core": by_core}

    def _gpus(self, request: Request, _memory: int) -> dict[str, Any]:
        """Return the GPUs of a job by the core's names."""
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
            "gpu_type": -1 if gpus.type is None else self.gpu_types.index(gpus.type),
        }

    def _node_set_of(self, request: Request, memory: int) -> NodeSet:
        """Return the nodes that a job may have: its constraint, nodelist, exclude, memory."""
        node_set = self.node_set_for(request.constraint, memory)
        for hosts_text, is_inside in ((request.nodelist, True), (request.exclude, False)):
            if hosts_text:
                node_set = self.restrict_to_hosts(node_set, hosts_text, within=is_inside)
        return node_set

    def restrict_to_hosts(self, node_set: NodeSet, text: str, *, within: bool) -> NodeSet:
        """Return what :meth:`node_set_for` gave, of these hosts only, or of all others."""
        spans = self.nodes(text, "nodelist" if within else "exclude")
        nodes = {k for first, last in spans for k in range(first, last)}
        return self.restrict_to_nodes(node_set, nodes, within=within)

    def restrict_to_nodes(self, node_set: NodeSet, nodes: set[int], *, within: bool) -> NodeSet:
        """Return what :meth:`node_set_for` gave, of these nodes only, or of all others."""

        def restrict_set(spans: Spans) -> int:
            inside = (k for first, last in spans for k in range(first, last))
            return self._number_set(spans_of(k for k in inside if (k in nodes) == within))

        all_nodes = ((0, len(self._numbers)),)
        spans = self._sets_in_order[node_set["node_set"]] if "node_set" in node_set else all_nodes
        restricted: NodeSet = {"node_set": restrict_set(spans)}
        if "alternative_sets" in node_set:
            restricted["alternative_sets"] = [
                restrict_set(self._sets_in_order[k]) for k in node_set["alternative_sets"]
            ]
        return restricted

    def node_set_for(self, text: str, min_memory: int) -> NodeSet:
        """Return the nodes that a job may ever have: with its features, and with the memory (MB)
        that it wants of each, or of each core.

        No nodes where nothing can satisfy the constraint. InvalidInstance for one that Slurm does
        not take, and for one that counts nodes (``a*2``), which is not followed.
        """
        text = text.strip()
        if text and parse_constraint(text).counts_nodes:
            raise InvalidInstance(
                f"constraint {shorten(text)}: the number of nodes of a feature is not followed"
            )
        return self.allowed_node_set(text, min_memory)

    def allowed_node_set(self, text: str, min_memory: int) -> NodeSet:
        """Return the same; for a constraint that counts nodes, all nodes that the job may have."""
        if not text and min_memory <= self._memory_of.min():
            return {}
        if (text, min_memory) not in self._node_set_by_wish:
            self._node_set_by_wish[text, min_memory] = self._find_node_set(text, min_memory)
        return self._node_set_by_wish[text, min_memory].copy()

    def _find_node_set(self, text: str, min_memory: int) -> NodeSet:
        """Return the nodes that have the features and the memory of a wish."""
        nodes = constraint_nodes(text, self._node_types)

        def numbered(of_types: np.ndarray) -> int:
            has_types = np.repeat(of_types & (not nodes.reason), self._type_counts)
            return self._number_set(
                spans_of(np.flatnonzero(has_types & (self._memory_of >= min_memory)))
            )

        node_set: NodeSet = {"node_set": numbered(nodes.allowed)}
        if nodes.alternatives:
            node_set["alternative_sets"] = [numbered(of_types) for of_types in nodes.alternatives]
        return node_set

    def is_empty_node_set(self, node_set: NodeSet) -> bool:
        """Whether a job may have no node at all."""
        return "node_set" in node_set and not self._sets_in_order[node_set["node_set"]]

    def _number_set(self, spans: Spans) -> int:
        """Return the number of a set of nodes; a new set gets the next one."""
        if spans not in self._number_of_set:
            self._number_of_set[spans] = len(self._sets_in_order)
            self._sets_in_order.append(spans)
        return self._number_of_set[spans]

    def _licences_of_request(self, request: Request, _memory: int) -> dict[str, Any]:
        """Return (number of the licence, how many) of ``a:2,b``."""
        numbers_and_counts = []
        names = list(self._licences)
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
    """Return an action of an administrator, on a job or on nodes, as the core takes it."""
    return _core.slurm.AdminEvent(
        time=time, kind=_core.slurm.AdminEventKind[kind], job=row, nodes=nodes
    )


#: A reservation that is never made: of jobs that ask for a name that does not exist.
NEVER_MADE_RESERVATION = _core.slurm.Reservation(created_at=np.inf, begin=0, end=0, nodes=[])


def megabytes_of_nodes(machine: Machine) -> list[int]:
    """Return the memory of each node in MB, as Slurm counts it."""
    megabytes = np.rint(node_attribute(machine, "memory_gb") * 1024).astype(int)
    return [int(memory) for memory in megabytes]


def gpu_types_of(machine: Machine) -> list[str]:
    """Return the names of all GPU types; an unnamed one is the empty text."""
    return list(dict.fromkeys(kind.gpu_type for kind in machine.nodes if kind.gpus))
