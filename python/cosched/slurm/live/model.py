"""What a snapshot is made of: jobs, jobs of the past, associations; all values are checked here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

from cosched.cluster.machine.node_types import MOST_HOSTS
from cosched.errors import InvalidInstance, shorten

_MAX_SECONDS, _MAX_COUNT, _MAX_ID, _MAX_TEXT_LENGTH = 1e11, 2**31 - 1, 2**53, 100_000


class Allocated(NamedTuple):
    """What a job has of a node."""

    #: Name of the node.
    node: str
    #: CPUs of the job on it.
    cpus: int
    memory: float = 0.0  # MB
    gpus: int = 0


# What fields hold, by the names under which their checks are found; None: not known.
Number: TypeAlias = float | None
Time: TypeAlias = float | None  # seconds since 1970
Limit: TypeAlias = float | None  # seconds; infinite: UNLIMITED
Nodes: TypeAlias = int | None
Moment: TypeAlias = float
Count: TypeAlias = int | None
Id: TypeAlias = int
Row: TypeAlias = int
Array: TypeAlias = tuple[int, int] | None  # its number, and how many tasks may run (0: all)
Holds: TypeAlias = tuple[Allocated, ...]
Runs: TypeAlias = tuple[float, ...]


class Record:
    """Fields by their names: ``job.user``, and ``job["user"]`` for who reads a table."""

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:  # type: ignore[attr-defined]
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> Iterable[str]:
        """Return names of the fields."""
        return iter(self.__dataclass_fields__)  # type: ignore[attr-defined]


@dataclass(frozen=True, kw_only=True)
class JobIdentity(Record):
    """Somebody's job."""

    #: Slurm's number of the job; below 0: it stands for hidden ones.
    id: Id
    #: Who submitted it.
    user: str = ""
    #: The account that is charged.
    account: str = ""
    partition: str = ""  # one or more, parted by commas
    #: Its quality of service.
    qos: str = ""

    @property
    def first_partition(self) -> str:
        """The one that it runs in, or ran, or the first that it may run in."""
        return self.partition.split(",")[0]


@dataclass(frozen=True, kw_only=True)
class Job(JobIdentity):
    """A job that runs or waits; times are seconds since 1970."""

    #: Name of the job (``--job-name``).
    name: str = ""
    state: str = "PENDING"  # or RUNNING
    #: When it came, could start at the earliest, began to age, and started or is planned to.
    submit: Time = None
    eligible: Time = None
    accrue: Time = None
    start: Time = None
    #: Time limit.
    limit: Limit = None
    #: Nodes that it asks for or has, and CPUs in all.
    nodes: Nodes = 1
    exact: bool = True  # so many nodes, and not fewer or more
    cpus: Count = 1
    #: Whether it has its nodes for itself (``--exclusive``).
    exclusive: bool = False
    memory: Number = None  # MB of a node
    #: MB of a CPU.
    memory_per_cpu: Number = None
    #: GPUs of each node, and in all: ``gpu:a100:2``.
    gres: str = ""
    gpus: str = ""
    #: Priority and nice value, as squeue shows them.
    priority: Number = None
    nice: Number = None
    #: Why it waits, in Slurm's words.
    reason: str = ""
    #: ``afterok:12,singleton``.
    dependency: str = ""
    #: Constraint in the words of sbatch.
    features: str = ""
    #: ``fluent:2``.
    licences: str = ""
    #: Name of the reservation that it asks for.
    reservation: str = ""
    #: Its array, if it is a task of one.
    array: Array = None
    tasks: int = 1  # of an array, that this record stands for
    #: TRES billing, as squeue shows it.
    billing: Number = None
    #: What it has of each node.
    holds: Holds = ()
    arrives: Time = None  # later than the snapshot
    runs: Number = None  # s, where that is known
    measured: Runs = ()  # s, of a request


@dataclass(frozen=True, kw_only=True)
class FinishedJob(JobIdentity):
    """A job of the past."""

    #: When it came, could start at the earliest, began to age, and started or is planned to.
    submit: Moment = 0.0
    eligible: Moment = 0.0
    start: Moment = 0.0
    end: Moment = 0.0
    #: Time limit.
    limit: Limit = None
    #: Nodes that it had.
    nodes: Nodes = 1
    cpus: int = 1  # asked for
    #: ``COMPLETED``, ``TIMEOUT`` and the like.
    state: str = ""
    #: Hosts that it ran on.
    nodelist: str = ""
    allocated: int = 1  # CPUs


@dataclass(frozen=True, kw_only=True)
class Share(Record):
    """An association of a user or an account, in the order of the tree."""

    #: Account, and user of a user's association.
    account: str = ""
    user: str = ""
    parent: Row = -1  # its row; -1: the root
    shares: Number = 1.0  # None: its parent's
    #: CPU seconds so far, decayed, and the fair-share factor.
    usage: Number = 0.0
    factor: Number = 0.0


RecordT = TypeVar("RecordT", bound=Record)


def parse_record(kind: type[RecordT], raw_record: Any, place: str) -> RecordT:
    """Return a record of these values; fields that it does not have are passed over.

    InvalidInstance names the place, the field and what is expected there.
    """
    if isinstance(raw_record, kind):
        return raw_record
    if not isinstance(raw_record, Mapping):
        raise InvalidInstance(f"{place}: {shorten(raw_record)}: expected an object")
    values = {}
    for name, check in _checks_by_field(kind).items():  # type: ignore[arg-type]
        if name in raw_record:
            try:
                values[name] = check(raw_record[name])
            except _Wrong as wrong:
                message = f"{name} = {shorten(raw_record[name])}: expected {wrong}"
                raise InvalidInstance(f"{place}: {message}") from None
        elif name == "id":
            raise InvalidInstance(f"{place}: no id")
    return kind(**values)


def parse_records(kind: type[RecordT], raw_records: Any, place: str) -> list[RecordT]:
    """Return the records of a list."""
    if not isinstance(raw_records, (list, tuple)):
        raise InvalidInstance(f"{place}: {shorten(raw_records)}: expected a list")
    return [
        parse_record(kind, raw_record, f"{place}[{row}]")
        for row, raw_record in enumerate(raw_records)
    ]


def require_unique_ids(jobs: list[Job], place: str) -> list[Job]:
    """Return the same jobs; raise InvalidInstance where two have one number."""
    seen: set[int] = set()
    for job in jobs:
        if job.id in seen:
            raise InvalidInstance(f"{place}: job {job.id} is there twice")
        seen.add(job.id)
    return jobs


class _Wrong(Exception):
    """What was expected."""


def _text(value: Any) -> str:
    """Return a text; None is the empty one."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _MAX_TEXT_LENGTH:
        raise _Wrong("a text")
    return value


def _integer_between(low: int, high: int) -> Callable[[Any], int]:
    """Return a check for integers of a range."""

    def check(value: Any) -> int:
        number = _number(value)
        if number is None or number != math.floor(number) or not low <= number <= high:
            raise _Wrong(f"a whole number in {low}..{high}")
        return int(value)

    return check


def _number(value: Any) -> float | None:
    """Return a finite number; None stays."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _Wrong("a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= 1e18:
        raise _Wrong("a finite number")
    return number


def _time(value: Any) -> float | None:
    return None if value is None else _moment(value)


def _limit(value: Any) -> float | None:
    """Return a time limit (s), which may be infinite."""
    if isinstance(value, float) and value == math.inf:
        return math.inf
    seconds = _time(value)
    if seconds is not None and seconds < 0:
        raise _Wrong("seconds >= 0")
    return seconds


def _moment(value: Any) -> float:
    """Return seconds since 1970."""
    number = _number(value)
    if number is None or abs(number) > _MAX_SECONDS:
        raise _Wrong(f"seconds, at most {_MAX_SECONDS:g}")
    return number


def _flag(value: Any) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool):
        raise _Wrong("true or false")
    return value


def _array(value: Any) -> tuple[int, int] | None:
    """Return the number of an array, and how many of its tasks may run."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise _Wrong("[number, how many may run]")
    return _integer_between(0, _MAX_ID)(value[0]), _integer_between(0, _MAX_COUNT)(value[1])


def _holds(value: Any) -> tuple[Allocated, ...]:
    """Return the allocations of a job."""
    if not isinstance(value, (list, tuple)):
        raise _Wrong("a list of [node, CPUs, MB, GPUs]")
    return tuple(_allocated(allocation) for allocation in value)


def _allocated(value: Any) -> Allocated:
    """Return an allocation: node, CPUs, memory, GPUs."""
    if not isinstance(value, (list, tuple)) or not 2 <= len(value) <= 4:
        raise _Wrong("[node, CPUs, MB, GPUs]")
    count = _integer_between(0, _MAX_COUNT)
    node, cpus, memory, gpus = (*value, 0.0, 0)[:4] if len(value) < 4 else value
    amount = _number(memory) or 0.0
    if not 0 <= amount <= 1e12:
        raise _Wrong("MB >= 0")
    return Allocated(_text(node), count(cpus), amount, count(gpus))


def _runs(value: Any) -> tuple[float, ...]:
    """Return run times (s)."""
    if not isinstance(value, (list, tuple)):
        raise _Wrong("a list of seconds")
    return tuple(_moment(moment) for moment in value)


_KINDS: dict[str, Callable[[Any], Any]] = {
    "str": _text,
    "int": _integer_between(0, _MAX_COUNT),
    "bool": _flag,
    "Id": _integer_between(-_MAX_ID, _MAX_ID),
    "Count": lambda value: None if value is None else _integer_between(0, _MAX_COUNT)(value),
    "Nodes": lambda value: None if value is None else _integer_between(0, MOST_HOSTS)(value),
    "Limit": _limit,
    "Row": _integer_between(-_MAX_COUNT, _MAX_COUNT),
    "Number": _number,
    "Time": _time,
    "Moment": _moment,
    "Array": _array,
    "Holds": _holds,
    "Runs": _runs,
}


@cache
def _checks_by_field(kind: Any) -> dict[str, Callable[[Any], Any]]:
    """Return how the values of its fields are checked."""
    return {record_field.name: _KINDS[str(record_field.type)] for record_field in fields(kind)}


def moment_of(raw_moment: Any, place: str) -> float:
    """Return a moment (s since 1970), checked."""
    try:
        return _moment(raw_moment)
    except _Wrong as wrong:
        raise InvalidInstance(f"{place}: {shorten(raw_moment)}: expected {wrong}") from None


def texts_of(raw_texts: Any, place: str) -> dict[str, str]:
    """Return an object of texts."""
    if not isinstance(raw_texts, Mapping) or not all(
        isinstance(v, str) for v in raw_texts.values()
    ):
        raise InvalidInstance(f"{place}: expected an object of texts")
    return {str(key): value for key, value in raw_texts.items()}


def numbers(raw_numbers: Any, place: str) -> dict[str, float]:
    """Return an object of finite numbers."""
    if not isinstance(raw_numbers, Mapping):
        raise InvalidInstance(f"{place}: expected an object of numbers")
    number_by_name = {}
    for key, value in raw_numbers.items():
        try:
            number = _number(value)
        except _Wrong:
            number = None
        if number is None:
            raise InvalidInstance(f"{place}: {shorten(key)} = {shorten(value)}: expected a number")
        number_by_name[str(key)] = number
    return number_by_name
