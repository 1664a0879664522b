"""What a machine is made of: names of hosts, types of nodes, partitions, times and sizes."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.core.arrays import nonnegative, ranges
from cosched.errors import InvalidInstance, shorten
from cosched.units import parse_slurm_time

MOST_HOSTS = 1_000_000
#: Nodes as ranges of their numbers.
Spans = tuple[tuple[int, int], ...]


def hosts(text: str, place: str) -> list[str]:
    """Names of a host list such as ``n[1-3,7],gpu[01-02]``, in its order."""
    parts = [_pieces(part, place) for part in re.findall(r"(?:[^,\[]|\[[^\[\]]*\])+", text)]
    count = sum(
        math.prod(sum(len(span) for span, _ in spans_of_digits) for spans_of_digits in part[1::2])
        for part in parts
    )
    if not count or text.count("[") != text.count("]"):
        raise InvalidInstance(f"{place}: {shorten(text)}: expected hosts such as n[1-16,20]")
    if count > MOST_HOSTS:  # known before a name is made
        raise InvalidInstance(f"{place}: more than {MOST_HOSTS} hosts")
    return [name for part in parts for name in _names_of(part)]


def host_count(text: str) -> int:
    """How many a host list names; -1 of what is none."""
    try:
        return len(set(hosts(text, "nodelist")))
    except InvalidInstance:
        return -1


def first_host(text: str) -> str:
    """The first name of a host list, or of what is left of one before its first comma."""
    name_match = re.match(r"([^\[,]*)(?:\[([0-9]+)[^\]]*\]?([^\[,]*))?", text)
    return "".join(part or "" for part in name_match.groups()) if name_match else ""


def _pieces(part: str, place: str) -> list[Any]:
    """Return text, the numbers in a bracket (each span with its digits), text, ..., text."""
    pieces: list[Any] = re.split(r"\[([^\[\]]*)\]", part)
    for k in range(1, len(pieces), 2):
        ends = [re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", x) for x in pieces[k].split(",")]
        if not all(ends) or {"[", "]"} & {*pieces[k - 1], *pieces[k + 1]}:
            raise InvalidInstance(f"{place}: {shorten(part)}: expected hosts such as n[1-16,20]")
        pieces[k] = [
            (range(int(m[1]), int(m[2] or m[1]) + 1), len(m[1])) for m in ends if m is not None
        ]
    return pieces


def _names_of(pieces: Sequence[Any]) -> Iterator[str]:
    choices = [
        [piece]
        if isinstance(piece, str)
        else [str(number).zfill(digits) for span, digits in piece for number in span]
        for piece in pieces
    ]
    return map("".join, itertools.product(*choices))


def node_mask(spans: Spans, node_count: int) -> np.ndarray:
    """Which nodes of the machine lie in the spans: bool, shape (nodes of the machine,).

    Examples
    --------
    >>> node_mask(((1, 3),), 4).tolist()
    [False, True, True, False]
    """
    mask = np.zeros(node_count, dtype=bool)
    for first, last in spans:
        mask[first:last] = True
    return mask


def spans_of(numbers: Iterable[int]) -> Spans:
    """Ranges [first, last) of these numbers."""
    sorted_numbers = np.array(sorted(set(numbers)), dtype=np.int64)
    return tuple((int(a), int(b) + 1) for a, b in ranges(sorted_numbers))


def host_list(names: Sequence[str]) -> str:
    """Names as Slurm writes a list of hosts.

    Examples
    --------
    >>> host_list(["n1", "n2", "n3", "gpu07", "gpu08", "login"])
    'n[1-3],gpu[07-08],login'
    """
    runs: list[tuple[str, str, str]] = []  # prefix, first and last number
    for name in names:
        name_match = re.fullmatch(r"(.*?)([0-9]+)", name)
        prefix, digits = (name_match[1], name_match[2]) if name_match else (name, "")
        if runs and digits and _follows(runs[-1], prefix, digits):
            runs[-1] = (prefix, runs[-1][1], digits)
        else:
            runs.append((prefix, digits, digits))
    return ",".join(
        f"{prefix}{first}" if first == last else f"{prefix}[{first}-{last}]"
        for prefix, first, last in runs
    )


def _follows(run: tuple[str, str, str], prefix: str, digits: str) -> bool:
    """Return whether a number comes right behind the last of a run, with as many leading zeros."""
    same_width = len(run[2]) == len(digits) or not (run[2] + digits).startswith("0")
    is_next = bool(run[2]) and int(digits) == int(run[2]) + 1
    return run[0] == prefix and is_next and same_width


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts n2 before n10: the order in which Slurm numbers its nodes."""
    parts = re.findall(r"0*([0-9]+)|([^0-9]+)", name)
    return [(1, 0, text) if text else (0, len(digits), digits) for digits, text in parts]


@dataclass(frozen=True)
class NodeType:
    """So many nodes of one kind.

    Attributes
    ----------
    name : str
    count, cores : int
        Nodes, and cores of each.
    memory_gb : float
        Memory of a node; 0 = not said.
    gpus : int
        GPUs of a node.
    sockets, threads : int
        Sockets of a node, threads of a core.
    gpu_type : str
        Empty: not said.
    weight : int
        Slurm fills nodes of a smaller one first.
    features : tuple of str
    cpus : int
        CPUs of a node as its batch system counts them; 0: its threads.

    Examples
    --------
    >>> NodeType("thin", 100, 16, 64.0, 0).cores
    16
    >>> NodeType("gpu", 10, 64, 512.0, 4, sockets=2, threads=2, gpu_type="a100").cpus_per_core
    2.0
    """

    name: str
    count: int
    cores: int
    memory_gb: float
    gpus: int
    sockets: int = 1
    threads: int = 1
    gpu_type: str = ""
    weight: int = 1
    features: tuple[str, ...] = ()
    cpus: int = 0

    @property
    def cpus_per_core(self) -> float:
        """CPUs that its batch system counts for a core."""
        return self.cpus / self.cores if self.cpus else float(self.threads)


@dataclass(frozen=True)
class Partition:
    """A queue: which nodes its jobs may use, for how long, before whom.

    Attributes
    ----------
    name : str
    nodes : tuple of (int, int)
        Ranges [first, last) of node numbers, from 0 in the order of the node types.
    max_time : float
        Limit of a job (s), or infinity.
    priority : float
        Jobs of a greater one come first.

    Examples
    --------
    >>> Partition("short", ((0, 4),), 3600.0, 10.0).max_time
    3600.0
    """

    name: str
    nodes: tuple[tuple[int, int], ...]
    max_time: float
    priority: float


#: Of all nodes together, which the core can count with: GB (2^53 KB), cores, GPUs.
_MAX_TOTALS = {"memory_gb": 2.0**33, "cores": 2**31 - 1, "gpus": 2**31 - 1}


def check_sums(where: object, kinds: Iterable[NodeType]) -> None:
    """InvalidInstance where the nodes together have more than can be."""
    for name, max_total in _MAX_TOTALS.items():
        total = sum(kind.count * getattr(kind, name) for kind in kinds)
        if total > max_total:
            raise InvalidInstance(
                f"{where}: {name} of all nodes = {total:g}: expected at most {max_total:g}"
            )


def seconds(value: object, name: str) -> float:
    """Seconds of a number, or of a text as :func:`cosched.units.parse_slurm_time` reads it."""
    if isinstance(value, str):
        time = parse_slurm_time(value)
        if time is None:
            raise InvalidInstance(f"{name} = {shorten(value)}: expected seconds or 2-00:00:00")
        return time
    return nonnegative(value, name, "seconds >= 0, or 2-00:00:00")
