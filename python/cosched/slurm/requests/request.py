"""What one job asks of a Slurm, whoever tells it: a snapshot, a log or a recording."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cosched import _core
from cosched.errors import InvalidInstance, shorten
from cosched.slurm.conf.settings import number

#: Kinds of dependencies, in the order of the core's numbers.
KINDS = tuple(_core.slurm.DependencyKind.__members__)


class Gpus(NamedTuple):
    """GPUs that a job asks for."""

    #: How many.
    number: int
    #: Of which type; None: of any.
    type: str | None = None
    #: So many of each node; else in all.
    by_node: bool = False


class Owner(NamedTuple):
    """Whose job it is: numbers of its association, QOS and user, and what its QOS adds."""

    #: Row of the association; -1: none.
    association: int
    #: Number of the QOS; -1: none.
    qos: int
    #: Priority of the QOS over the largest one.
    qos_factor: float | None = None
    #: Number of the user.
    user: int | None = None


class Running(NamedTuple):
    """Since when a job runs, and what it has."""

    #: Start (s).
    start: float
    #: What it has of each node: number of the node, cores (0: all), memory (MB).
    nodes: list[tuple[int, int, int]]
    #: Its GPUs of each node: number of the node, number of the type, how many.
    gpus: list[tuple[int, int, int]]


class Waiting(NamedTuple):
    """The priority that a job has now, and since when its age counts."""

    #: Priority now.
    priority: float
    #: Since when its age counts (s).
    accrues: float


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a job asks for beyond its row of an instance; None and empty: it does not say."""

    #: Cores, where jobs share nodes; None: its nodes are whole ones.
    cores: int | None = None
    #: How many nodes; of shared ones neither fewer nor more.
    nodes: int | None = None
    #: Whether the job has its nodes for itself.
    exclusive: bool = False
    #: Memory of each node (MB); 0: all of it.
    memory: int | None = None
    #: Memory of each core (MB).
    memory_per_core: int | None = None
    #: GPUs.
    gpus: Gpus | None = None
    #: Partition whose default memory a job has that does not say any.
    partition: str = ""
    #: Features in the words of sbatch: ``(a|b)&c``.
    constraint: str = ""
    #: Licences: ``fluent:2``.
    licences: str = ""
    #: Hosts of which all are its nodes.
    nodelist: str = ""
    #: Hosts that are none of its nodes.
    exclude: str = ""
    #: Whose job it is.
    owner: Owner | None = None
    #: Dependencies: a number of `KINDS`, and the rows of the jobs that it waits for.
    after: Sequence[tuple[int, list[int]]] = ()
    #: User and name of a job that waits for all others of that name.
    singleton: tuple[str, str] | None = None
    #: User and name of a job for which such a job waits.
    namesake: tuple[str, str] | None = None
    #: Number of its array, and how many of its tasks may run (0: all).
    array: tuple[int, int] | None = None
    #: Since when its age counts, where that is before its arrival (s).
    age_from: float | None = None
    #: It does not start before this second.
    begin: float | None = None
    #: It waits until it is released.
    held: bool = False
    #: It ends with an error.
    fails: bool = False
    #: It runs again when a node of it is lost.
    requeue: bool = True
    #: Nice value; it lowers the priority.
    nice: float = 0.0
    #: Name of the reservation that it asks for.
    reservation: str | None = None
    #: What it has, if it runs at second 0.
    running: Running | None = None
    #: Its priority, if it waits at second 0 with a known one.
    waiting: Waiting | None = None


def parse_gpus(text: str, *, by_node: bool) -> Gpus:
    """Return the GPUs of ``gpu:a100:2``, ``gpu`` or ``2``: of each node as --gres has it, else in
    all."""
    parts = [part for part in text.split(":") if part != "gpu"]
    if not parts or not parts[-1].isdigit():
        parts.append("1")
    count = int(number(parts[-1], "what is asked for", "GPUs"))
    return Gpus(count, parts[0] if parts[1:] and parts[0] else None, by_node)


def parse_dependencies(
    pairs: Sequence[Any], rows_of: Callable[[int], list[int]]
) -> list[tuple[int, list[int]]]:
    """Return the dependencies of ``[[kind, job], ...]``, without singletons.

    Returns
    -------
    list of (int, list of int)
        Number of the kind in `KINDS`, and the rows of the job as `rows_of` has them.
    """
    dependencies = []
    for kind, job in pairs:
        if kind == "singleton":
            continue
        if kind not in KINDS:
            raise InvalidInstance(f"dependency {shorten(kind)}: expected {', '.join(KINDS)}")
        dependencies.append((KINDS.index(kind), rows_of(int(job))))
    return dependencies
