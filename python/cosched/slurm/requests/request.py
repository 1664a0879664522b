"""What one job asks of a Slurm, whoever tells it: a log, a script, a snapshot, a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.parameters import number

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
    constraint: str = ""  # in the words of sbatch: a&b
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
