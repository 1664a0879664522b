"""What jobs ask of a Slurm beyond cores, and what its administrator does, in the core's form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosched.cluster.machine import Machine
from cosched.cluster.machine.host_lists import Spans, hosts, spans_of
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.settings import SlurmSettings

#: A dependency of a job, in the order of the core's kinds.
KINDS = ("after", "afterany", "afterok", "afternotok")
#: Of an array: numbers below ten millions, as Slurm's own largest is 4,000,000.
_SPAN = r"([0-9]{1,7})(?:-([0-9]{1,7})(?::([1-9][0-9]{0,6}))?)?"
_OUTSIDE = ("release", "reserve", "down", "drain", "resume")


@dataclass(frozen=True)
class Requests:
    """Beyond the columns of an instance.

    Attributes
    ----------
    more : mapping of int to mapping
        By row of the instance: values by the core's names.
    sets : tuple of spans
        Nodes with some features, to which ``set`` and ``alternatives`` refer.
    licences : tuple of int
        How many of each there are.
    reservations : tuple
        (created, begin, end, spans, maintenance, every node).
    outside : tuple
        (time, kind, row, spans).
    accounts : tuple
        Associations of a slurmdbd: (parent, shares, whether of a user, limits, and
        optionally usage so far in CPU seconds); the root first.
    qos : tuple of mapping
        Limits, factors and flags of each QOS.
    partition_qos : mapping of str to int
        Numbers of the QOS of partitions that have one.
    billing : mapping of str to sequence of float
        TRESBillingWeights of partitions that have them.
    """

    more: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    sets: tuple[Spans, ...] = ()
    licences: tuple[int, ...] = ()
    reservations: tuple[tuple, ...] = ()
    outside: tuple[tuple, ...] = ()
    accounts: tuple[tuple, ...] = ()
    qos: tuple[Mapping[str, Any], ...] = ()
    partition_qos: Mapping[str, int] = field(default_factory=dict)
    billing: Mapping[str, Sequence[float]] = field(default_factory=dict)


class Wishes:
    """Reads what jobs want in the words of sbatch, against one machine."""

    def __init__(self, machine: Machine) -> None:
        assert machine.slurm is not None
        self.settings: SlurmSettings = machine.slurm
        self._numbers = {name: k for k, name in enumerate(self.settings.names)}
        self._features: list[frozenset[str]] = []
        self.gpu_types: list[str] = gpu_types_of(machine)
        self._memory_of: list[int] = []
        for kind in machine.nodes:
            self._features += [frozenset(kind.features)] * kind.count
            self._memory_of += [round(kind.memory_gb * 1024)] * kind.count
        self._sets: dict[tuple[str, int], int] = {}
        self._places: dict[Spans, int] = {}
        self.sets: list[Spans] = []
        self.licences: dict[str, int] = dict(self.settings.licences)
        self._singletons: dict[tuple[str, str], int] = {}

    def nodes(self, text: str, place: str) -> Spans:
        """Numbers of hosts; ALL: of all."""
        if text.upper() == "ALL":
            return ((0, len(self._numbers)),)
        try:
            return spans_of(self._numbers[name] for name in hosts(text, place))
        except KeyError as error:
            raise InvalidInstance(f"{place}: no node {error}") from None

    def resources(self, job: Mapping[str, Any], cores: int, partition: str) -> dict[str, Any]:
        """What it wants of nodes that jobs share."""
        wanted: dict[str, Any] = {"tasks": cores}
        if "nodes" in job:
            wanted |= {"nodes": int(job["nodes"]), "max_nodes": int(job["nodes"])}
        if job.get("exclusive"):
            wanted["exclusive"] = True
        wanted |= self._memory(job, partition)
        for key in ("gres", "gpus"):
            if key in job:
                wanted |= self._gpus(str(job[key]), key == "gres")
        return wanted

    def _memory(self, job: Mapping[str, Any], partition: str) -> dict[str, Any]:
        if not self.settings.memory_counts:
            return {}
        if "mem" in job or "mem_per_cpu" in job:
            amount, by_core = int(job.get("mem", job.get("mem_per_cpu", 0))), "mem" not in job
        else:
            amount, by_core = self.settings.default_memory(partition)
        if not amount:
            return {"memory_all": True}
        return {"memory": amount, "memory_by_core": by_core}

    def _gpus(self, text: str, by_node: bool) -> dict[str, Any]:
        words = [part for part in text.split(":") if part != "gpu"]
        if not words or not words[-1].isdigit():
            words.append("1")
        kind = words[0] if len(words) > 1 else ""
        if kind and kind not in self.gpu_types:
            raise InvalidInstance(
                f"GPUs {shorten(text)}: the machine has {', '.join(self.gpu_types) or 'none'}"
            )
        return {
            "gpus": int(words[-1]), "gpus_by_node": by_node,
            "gpu_type": self.gpu_types.index(kind) if kind else -1,
        }  # fmt: skip

    def places(self, job: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Nodes that it may ever have: with its features (``a``, ``a&b``, ``a|b``; all of one of
        ``[a|b]``), and with the memory that it wants of each, or of each core."""
        text, least = str(job.get("constraint", "")).strip(), int(wanted.get("memory", 0))
        if re.search(r"[*()]", text) or text.count("[") > 1:
            raise InvalidInstance(f"constraint {shorten(text)}: expected a, a&b, a|b or [a|b]")
        if not text and least <= min(self._memory_of):
            return {}
        if "[" not in text:
            return {"set": self._set(text, least)}
        parts = text.strip("[]").split("|")
        return {
            "set": self._set("|".join(parts), least),
            "alternatives": [self._set(part, least) for part in parts],
        }

    def empty(self, places: Mapping[str, Any]) -> bool:
        """Whether no node is among what :meth:`places` gave."""
        return "set" in places and not self.sets[places["set"]]

    def _set(self, text: str, least: int) -> int:
        if (text, least) not in self._sets:
            terms = [frozenset(filter(None, part.split("&"))) for part in text.split("|")]
            having = (
                k for k, own in enumerate(self._features)
                if any(t <= own for t in terms) and self._memory_of[k] >= least
            )  # fmt: skip
            spans = spans_of(having)
            if spans not in self._places:
                self._places[spans] = len(self.sets)
                self.sets.append(spans)
            self._sets[text, least] = self._places[spans]
        return self._sets[text, least]

    def licences_of(self, text: str) -> dict[str, Any]:
        """Licences ``a:2,b``."""
        wanted = []
        names = list(self.licences)
        for part in text.split(","):
            name, _, count = part.partition(":")
            if name not in names:
                known = f"one of {', '.join(names)}" if names else "Licenses in the configuration"
                raise InvalidInstance(f"licence {shorten(name)}: expected {known}")
            if not re.fullmatch("[0-9]{0,9}", count):
                raise InvalidInstance(f"licence {shorten(part)}: expected a number of {name}")
            wanted.append((names.index(name), int(count or 1)))
        return {"licences": wanted}

    def singleton(self, user: str, name: str) -> int:
        """The number of jobs of this user and name."""
        return self._singletons.setdefault((user, name), len(self._singletons))


def array_tasks(text: str) -> tuple[list[int], int]:
    """Indexes of ``1-7,9%3``, and how many may run (0 = all)."""
    spans, _, limit = text.partition("%")
    tasks: list[int] = []
    parts = [re.fullmatch(_SPAN, part) for part in spans.split(",")]
    good = re.fullmatch(r"[0-9]{0,9}", limit) is not None
    for found in parts:
        if not found or not good:
            raise InvalidInstance(f"array {shorten(text)}: expected 1-7%3")
        first, last = int(found[1]), int(found[2] or found[1])
        tasks += range(first, last + 1, int(found[3] or 1))
    return tasks, int(limit or 0)


def dependencies(given: Sequence[Any], rows: Callable[[int], list[int]]) -> list[tuple]:
    """(kind, rows) of ``[[kind, job], ...]`` without singletons."""
    found = []
    for kind, job in given:
        if kind == "singleton":
            continue
        if kind not in KINDS:
            raise InvalidInstance(f"dependency {shorten(kind)}: expected {', '.join(KINDS)}")
        found.append((KINDS.index(kind), rows(int(job))))
    return found


def outside(kind: str, time: float, row: int = -1, nodes: Spans = ()) -> tuple:
    """What an administrator does, as the core takes it."""
    return (time, _OUTSIDE.index(kind), row, list(nodes))


def gpu_types_of(machine: Machine) -> list[str]:
    """Names of all types; an unnamed one is the empty text."""
    return list(dict.fromkeys(kind.gpu_type for kind in machine.nodes if kind.gpus))
