"""What one job asks of a Slurm, whoever tells it, and what the core is told of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cosched.cluster.machine import Machine
from cosched.cluster.machine.constraints import constraint_nodes, parse_constraint
from cosched.cluster.machine.node_types import Spans, hosts, spans_of
from cosched.cluster.machine.parts import of_nodes
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.settings import SlurmSettings, number

#: A dependency of a job, in the order of the core's kinds.
KINDS = ("after", "afterany", "afterok", "afternotok")


class Gpus(NamedTuple):
    """So many in all, or of each node; of a type, or of any."""

    number: int
    type: str | None = None
    by_node: bool = False


class Owner(NamedTuple):
    """Numbers of a job's association and QOS (-1: there is none), and what follows from them."""

    association: int
    qos: int
    qos_factor: float | None = None
    user: int | None = None


class Running(NamedTuple):
    """Since when a job runs (s), and what it has: (node, cores, MB), (node, type, GPUs)."""

    start: float
    nodes: list[tuple[int, int, int]]
    gpus: list[tuple[int, int, int]]


class Waiting(NamedTuple):
    """The priority that a job has now, and since when its age counts (s)."""

    priority: float
    accrues: float


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a job asks for beyond its row of an instance; None and empty: it does not say."""

    cores: int | None = None  # where jobs share nodes; else its nodes are whole ones
    nodes: int | None = None  # so many, and of shared ones neither fewer nor more
    exclusive: bool = False
    memory: int | None = None  # MB of each node; 0: all of its nodes
    memory_per_core: int | None = None  # MB
    gpus: Gpus | None = None
    partition: str = ""  # whose usual memory a job has that does not say it
    constraint: str = ""  # in the words of sbatch: (a|b)&c
    licences: str = ""  # fluent:2
    nodelist: str = ""  # hosts that are its nodes, all of them
    exclude: str = ""  # hosts that are none of them
    owner: Owner | None = None
    #: Numbers of `KINDS`, and rows of the jobs that it waits for.
    after: Sequence[tuple[int, list[int]]] = ()
    #: User and name of one that waits for all others of that name, and of one of these.
    singleton: tuple[str, str] | None = None
    namesake: tuple[str, str] | None = None
    #: Number of the array that it is of, and how many of its tasks may run (0: all).
    array: tuple[int, int] | None = None
    #: Since when its age counts, where that is before its arrival (s).
    age_from: float | None = None
    begin: float | None = None  # not before (s)
    held: bool = False  # until it is released
    fails: bool = False  # it ends with an error
    requeue: bool = True  # it runs again after its node is lost
    nice: float = 0.0
    reservation: str | None = None
    running: Running | None = None
    waiting: Waiting | None = None


def gpus_asked(text: str, by_node: bool) -> Gpus:
    """Those of ``gpu:a100:2``, ``gpu``, ``2``: of each node as --gres has it, else in all."""
    words = [part for part in text.split(":") if part != "gpu"]
    if not words or not words[-1].isdigit():
        words.append("1")
    count = int(number(words[-1], "what is asked for", "GPUs"))
    return Gpus(count, words[0] if words[1:] and words[0] else None, by_node)


def dependencies(
    given: Sequence[Any], rows: Callable[[int], list[int]]
) -> list[tuple[int, list[int]]]:
    """(kind, rows) of ``[[kind, job], ...]`` without singletons."""
    found = []
    for kind, job in given:
        if kind == "singleton":
            continue
        if kind not in KINDS:
            raise InvalidInstance(f"dependency {shorten(kind)}: expected {', '.join(KINDS)}")
        found.append((KINDS.index(kind), rows(int(job))))
    return found


_OUTSIDE = ("release", "reserve", "down", "drain", "resume")


@dataclass(frozen=True)
class Requests:
    """Beyond the columns of an instance."""

    #: By row of the instance: values by the core's names.
    jobs: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    #: Nodes with some features, to which ``set`` and ``alternatives`` refer.
    sets: tuple[Spans, ...] = ()
    licences: tuple[int, ...] = ()  # how many of each there are
    reservations: tuple[tuple, ...] = ()  # (created, begin, end, spans, maintenance, every node)
    outside: tuple[tuple, ...] = ()  # (time, kind, row, spans)
    #: Associations of a slurmdbd: (parent, shares, whether of a user, limits, and optionally usage
    #: so far in CPU seconds); the root first.
    accounts: tuple[tuple, ...] = ()
    qos: tuple[Mapping[str, Any], ...] = ()  # limits, factors and flags of each
    partition_qos: Mapping[str, int] = field(default_factory=dict)  # numbers, where there is one
    billing: Mapping[str, Sequence[float]] = field(default_factory=dict)  # TRESBillingWeights


class CoreForm:
    """Makes the core's jobs for one machine, and numbers what they refer to.

    `memory`: it is handed out, where the machine does.
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
        self._places_by_wish: dict[tuple[str, int], dict[str, Any]] = {}
        self._places: dict[Spans, int] = {}
        self._sets_in_order: list[Spans] = []
        self._licences: dict[str, int] = dict(self.settings.licences)
        self._names: dict[tuple[str, str], int] = {}

    def together(self, jobs: Mapping[int, Mapping[str, Any]], **more: Any) -> Requests:
        """These jobs, by row, with what they refer to; `more`: see :class:`Requests`."""
        licences = tuple(self._licences.values())
        return Requests(jobs, tuple(self._sets_in_order), licences, **more)

    def nodes(self, text: str, place: str) -> Spans:
        """Numbers of hosts; ALL: of all."""
        if text.upper() == "ALL":
            return ((0, len(self._numbers)),)
        try:
            return spans_of(self._numbers[name] for name in hosts(text, place))
        except KeyError as error:
            raise InvalidInstance(f"{place}: no node {error}") from None

    def of(
        self, request: Request, left: Callable[[InvalidInstance], None] | None = None
    ) -> dict[str, Any]:
        """The core's job: values by its names, but for those that are as usual.

        `left` gets what the machine does not have, which the job then lacks; without it that is an
        error.
        """
        job = self._resources(request)
        for part in (self._gpus, self._licences_of, self._where):
            try:
                job |= part(request, job.get("memory", 0))
            except InvalidInstance as error:
                if left is None:
                    raise
                left(error)
        if request.owner is not None:
            job |= {k: v for k, v in request.owner._asdict().items() if v is not None}
        if request.after:
            job["after"] = list(request.after)
        for kind in ("singleton", "namesake"):
            if (name := getattr(request, kind)) is not None:
                job[kind] = self._names.setdefault(name, len(self._names))
        if request.array is not None:
            job["array"], job["array_limit"] = request.array
        job |= {flag: True for flag in ("held", "fails") if getattr(request, flag)}
        if not request.requeue:
            job["requeue"] = False
        if request.nice:
            job["nice"] = request.nice
        if request.reservation is not None:  # the last is one that was never made
            job["reservation"] = (*self._reservations, request.reservation).index(
                request.reservation
            )
        for key in ("begin", "age_from", "running", "waiting"):
            if (value := getattr(request, key)) is not None:
                job[key] = value
        return job

    def _resources(self, request: Request) -> dict[str, Any]:
        """What it wants of nodes."""
        nodes = {} if request.nodes is None else {"nodes": request.nodes}
        if request.cores is None:
            return nodes
        wanted: dict[str, Any] = {"tasks": request.cores, **nodes}
        if nodes:
            wanted["max_nodes"] = request.nodes
        if request.exclusive:
            wanted["exclusive"] = True
        return wanted | self._memory(request)

    def _memory(self, request: Request) -> dict[str, Any]:
        if not self.memory_counts:
            return {}
        if request.memory is not None:
            amount, by_core = request.memory, False
        elif request.memory_per_core is not None:
            amount, by_core = request.memory_per_core, True
        else:
            amount, by_core = self.settings.default_memory(request.partition)
        return {"memory": amount, "memory_by_core": by_core} if amount else {"memory_all": True}

    def _gpus(self, request: Request, _memory: int) -> dict[str, Any]:
        asked = request.gpus
        if asked is None:
            return {}
        if asked.type is not None and asked.type not in self.gpu_types:
            raise InvalidInstance(
                f"GPUs {shorten(asked.type)}: the machine has {', '.join(self.gpu_types) or 'none'}"
            )
        return {
            "gpus": asked.number, "gpus_by_node": asked.by_node,
            "gpu_type": -1 if asked.type is None else self.gpu_types.index(asked.type),
        }  # fmt: skip

    def _where(self, request: Request, memory: int) -> dict[str, Any]:
        found = self.places(request.constraint, memory)
        for hosts_of, within in ((request.nodelist, True), (request.exclude, False)):
            if hosts_of:
                found = self.narrowed(found, hosts_of, within=within)
        return found

    def narrowed(self, places: Mapping[str, Any], text: str, *, within: bool) -> dict[str, Any]:
        """What :meth:`places` gave, of these hosts only, or of all others."""
        spans = self.nodes(text, "nodelist" if within else "exclude")
        nodes = {k for first, last in spans for k in range(first, last)}
        return self.of_these(places, nodes, within=within)

    def of_these(
        self, places: Mapping[str, Any], nodes: set[int], *, within: bool
    ) -> dict[str, Any]:
        """What :meth:`places` gave, of these nodes only, or of all others."""

        def kept(spans: Spans) -> int:
            inside = (k for first, last in spans for k in range(first, last))
            return self._numbered(spans_of(k for k in inside if (k in nodes) == within))

        every = ((0, len(self._numbers)),)
        found = {"set": kept(self._sets_in_order[places["set"]] if "set" in places else every)}
        if "alternatives" not in places:
            return found
        return found | {
            "alternatives": [kept(self._sets_in_order[k]) for k in places["alternatives"]]
        }

    def places(self, text: str, least: int) -> dict[str, Any]:
        """Nodes that a job may ever have: with its features, and with the memory (MB) that it wants
        of each, or of each core.

        No nodes where nothing can satisfy the constraint. InvalidInstance for one that Slurm does
        not take, and for one that counts nodes (``a*2``), which is not followed.
        """
        text = text.strip()
        if text and parse_constraint(text).counts_nodes:
            raise InvalidInstance(
                f"constraint {shorten(text)}: the number of nodes of a feature is not followed"
            )
        return self.allowed_places(text, least)

    def allowed_places(self, text: str, least: int) -> dict[str, Any]:
        """The same; of a constraint that counts nodes, those that the job may have at all."""
        if not text and least <= self._memory_of.min():
            return {}
        if (text, least) not in self._places_by_wish:
            self._places_by_wish[text, least] = self._find_places(text, least)
        return dict(self._places_by_wish[text, least])

    def _find_places(self, text: str, least: int) -> dict[str, Any]:
        nodes = constraint_nodes(text, self._node_types)

        def numbered(of_types: np.ndarray) -> int:
            having = np.repeat(of_types & (not nodes.reason), self._type_counts)
            return self._numbered(spans_of(np.flatnonzero(having & (self._memory_of >= least))))

        places: dict[str, Any] = {"set": numbered(nodes.allowed)}
        if nodes.alternatives:
            places["alternatives"] = [numbered(of_types) for of_types in nodes.alternatives]
        return places

    def no_place(self, job: Mapping[str, Any]) -> bool:
        """Whether it may have no node at all."""
        return "set" in job and not self._sets_in_order[job["set"]]

    def _numbered(self, spans: Spans) -> int:
        if spans not in self._places:
            self._places[spans] = len(self._sets_in_order)
            self._sets_in_order.append(spans)
        return self._places[spans]

    def _licences_of(self, request: Request, _memory: int) -> dict[str, Any]:
        """(which, how many) of ``a:2,b``."""
        wanted = []
        names = list(self._licences)
        for part in request.licences.split(",") if request.licences else ():
            name, _, count = part.partition(":")
            if name not in names:
                known = f"one of {', '.join(names)}" if names else "Licenses in the configuration"
                raise InvalidInstance(f"licence {shorten(name)}: expected {known}")
            if not re.fullmatch("[0-9]{0,9}", count):
                raise InvalidInstance(f"licence {shorten(part)}: expected a number of {name}")
            wanted.append((names.index(name), int(count or 1)))
        return {"licences": wanted} if wanted else {}


def outside(kind: str, time: float, row: int = -1, nodes: Spans = ()) -> tuple:
    """What an administrator does, as the core takes it."""
    return (time, _OUTSIDE.index(kind), row, list(nodes))


def megabytes_of_nodes(machine: Machine) -> list[int]:
    """Memory as Slurm counts it."""
    return np.rint(of_nodes(machine, "memory_gb") * 1024).astype(int).tolist()


def gpu_types_of(machine: Machine) -> list[str]:
    """Names of all types; an unnamed one is the empty text."""
    return list(dict.fromkeys(kind.gpu_type for kind in machine.nodes if kind.gpus))
