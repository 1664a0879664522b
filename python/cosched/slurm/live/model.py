"""What a snapshot is made of: jobs, jobs of the past, associations.

The types of the fields hold their limits (``msgspec.Meta``) and, in the words of a message, what is
expected there; msgspec checks the values of a file or of a command's output against them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import Meta

from cosched.cluster.machine.node_types import MOST_HOSTS
from cosched.errors import InvalidInstance, shorten

_MAX_SECONDS, _MAX_COUNT, _MAX_ID, _MAX_TEXT_LENGTH = 1e11, 2**31 - 1, 2**53, 100_000
_MAX_NUMBER, _MAX_MEGABYTES = 1e18, 1e12


def _whole_numbers(low: int, high: int) -> Meta:
    """Return the limits of a field of whole numbers."""
    return Meta(ge=low, le=high, description=f"a whole number in {low}..{high}")


# Types of values. None stands for a value that is not known.
Text: TypeAlias = Annotated[str, Meta(max_length=_MAX_TEXT_LENGTH, description="a text")]
Flag: TypeAlias = Annotated[bool, Meta(description="true or false")]
WholeNumber: TypeAlias = Annotated[int, _whole_numbers(0, _MAX_COUNT)]
Count: TypeAlias = WholeNumber | None
Nodes: TypeAlias = Annotated[int, _whole_numbers(0, MOST_HOSTS)] | None
Id: TypeAlias = Annotated[int, _whole_numbers(-_MAX_ID, _MAX_ID)]
Row: TypeAlias = Annotated[int, _whole_numbers(-_MAX_COUNT, _MAX_COUNT)]
FiniteNumber: TypeAlias = Annotated[
    float, Meta(ge=-_MAX_NUMBER, le=_MAX_NUMBER, description="a finite number")
]
Number: TypeAlias = FiniteNumber | None
#: Seconds since 1970, or a run time (s).
Moment: TypeAlias = Annotated[
    float,
    Meta(
        ge=-_MAX_SECONDS,
        le=_MAX_SECONDS,
        description=f"a finite number of seconds, at most {_MAX_SECONDS:g}",
    ),
]
Time: TypeAlias = Moment | None
#: Seconds; infinite, which JSON does not have and :func:`parse_record` takes: UNLIMITED.
Limit: TypeAlias = (
    Annotated[
        float,
        Meta(ge=0, le=_MAX_SECONDS, description=f"seconds >= 0, at most {_MAX_SECONDS:g}"),
    ]
    | None
)
Megabytes: TypeAlias = Annotated[float, Meta(ge=0, le=_MAX_MEGABYTES)]
#: The number of an array, and how many of its tasks may run (0: all).
Array: TypeAlias = (
    Annotated[
        tuple[Annotated[int, Meta(ge=0, le=_MAX_ID)], WholeNumber],
        Meta(description="[number, how many may run], both >= 0"),
    ]
    | None
)


class Allocated(NamedTuple):
    """What a job has of a node."""

    #: Name of the node.
    node: Text
    #: CPUs of the job on it.
    cpus: WholeNumber
    memory: Megabytes = 0.0  # MB
    gpus: WholeNumber = 0


Holds: TypeAlias = Annotated[
    tuple[Allocated, ...],
    Meta(description="a list of [node, CPUs, MB, GPUs], numbers >= 0"),
]
Runs: TypeAlias = Annotated[
    tuple[Moment, ...], Meta(description=f"a list of seconds, at most {_MAX_SECONDS:g}")
]


class SnapshotRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Fields by their names: ``job.user``, and ``job["user"]`` for who reads a table."""

    def __getitem__(self, name: str) -> Any:
        if name not in self.__struct_fields__:
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> Iterable[str]:
        """Return names of the fields."""
        return iter(self.__struct_fields__)


class JobIdentity(SnapshotRecord, frozen=True, kw_only=True, gc=False):
    """Somebody's job."""

    #: Slurm's number of the job; below 0: it stands for hidden ones.
    id: Id
    #: Who submitted it.
    user: Text = ""
    #: The account that is charged.
    account: Text = ""
    partition: Text = ""  # one or more, parted by commas
    #: Its quality of service.
    qos: Text = ""

    @property
    def first_partition(self) -> str:
        """The one that it runs in, or ran, or the first that it may run in."""
        return self.partition.split(",")[0]


class SnapshotJob(JobIdentity, frozen=True, kw_only=True, gc=False):
    """A job that runs or waits; times are seconds since 1970."""

    #: Name of the job (``--job-name``).
    name: Text = ""
    state: Text = "PENDING"  # or RUNNING
    #: When it came, could start at the earliest, began to age, and started or is planned to.
    submit: Time = None
    eligible: Time = None
    accrue: Time = None
    start: Time = None
    #: Time limit.
    limit: Limit = None
    #: Nodes that it asks for or has, and CPUs in all.
    nodes: Nodes = 1
    exact: Flag = True  # so many nodes, and not fewer or more
    cpus: Count = 1
    #: Whether it has its nodes for itself (``--exclusive``).
    exclusive: Flag = False
    memory: Number = None  # MB of a node
    #: MB of a CPU.
    memory_per_cpu: Number = None
    #: GPUs of each node, and in all: ``gpu:a100:2``.
    gres: Text = ""
    gpus: Text = ""
    #: Priority and nice value, as squeue shows them.
    priority: Number = None
    nice: Number = None
    #: Why it waits, in Slurm's words.
    reason: Text = ""
    #: ``afterok:12,singleton``.
    dependency: Text = ""
    #: Constraint in the words of sbatch.
    features: Text = ""
    #: ``fluent:2``.
    licences: Text = ""
    #: Name of the reservation that it asks for.
    reservation: Text = ""
    #: Its array, if it is a task of one.
    array: Array = None
    tasks: WholeNumber = 1  # of an array, that this record stands for
    #: TRES billing, as squeue shows it.
    billing: Number = None
    #: What it has of each node.
    holds: Holds = ()
    arrives: Time = None  # later than the snapshot
    runs: Number = None  # s, where that is known
    measured: Runs = ()  # s, of a request


class FinishedJob(JobIdentity, frozen=True, kw_only=True, gc=False):
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
    cpus: WholeNumber = 1  # asked for
    #: Memory that it asked for, MB of a node.
    memory: Number = None
    #: GPUs that it asked for in all: ``gpu:a100:2``.
    gpus: Text = ""
    #: ``COMPLETED``, ``TIMEOUT`` and the like.
    state: Text = ""
    #: Hosts that it ran on.
    nodelist: Text = ""
    allocated: WholeNumber = 1  # CPUs


class Share(SnapshotRecord, frozen=True, kw_only=True, gc=False):
    """An association of a user or an account, in the order of the tree."""

    #: Account, and user of a user's association.
    account: Text = ""
    user: Text = ""
    parent: Row = -1  # its row; -1: the root
    shares: Number = 1.0  # None: its parent's
    #: CPU seconds so far, decayed, and the fair-share factor.
    usage: Number = 0.0
    factor: Number = 0.0


RecordT = TypeVar("RecordT", bound=SnapshotRecord)

#: Errors of ``msgspec.convert``; the second one where a text with half a surrogate pair is no text
#: of its field, or is a key.
_CONVERSION_ERRORS = (msgspec.ValidationError, UnicodeEncodeError)


def parse_record(kind: type[RecordT], raw_record: object, place: str) -> RecordT:
    """Return a record of these values; fields that it does not have are passed over.

    A text that is None is the empty one; numbers may be numpy's, and whole ones floats.
    InvalidInstance names the place, the field and what is expected there.
    """
    if isinstance(raw_record, kind):
        return raw_record
    if not isinstance(raw_record, Mapping):
        raise InvalidInstance(f"{place}: {shorten(raw_record)}: expected an object")
    if "id" in kind.__struct_fields__ and "id" not in raw_record:
        raise InvalidInstance(f"{place}: no id")
    try:  # allocations as lists: msgspec takes over named tuples unchecked
        return msgspec.convert(
            {**raw_record, "holds": _plain_value(raw_record.get("holds", ()))}, kind
        )
    except _CONVERSION_ERRORS:  # of a field, which is named, or that is converted first
        values = {
            field.name: _parse_field(field, raw_record[field.name], place)
            for field in _FIELDS_BY_KIND[kind]
            if field.name in raw_record
        }
        return kind(**values)


def parse_records(kind: type[RecordT], raw_records: object, place: str) -> list[RecordT]:
    """Return the records of a list."""
    if not isinstance(raw_records, (list, tuple)):
        raise InvalidInstance(f"{place}: {shorten(raw_records)}: expected a list")
    try:
        return msgspec.convert(raw_records, list[kind])  # type: ignore[valid-type]
    except _CONVERSION_ERRORS:  # of one, which is named, or values that are converted first
        return [
            parse_record(kind, raw_record, f"{place}[{row}]")
            for row, raw_record in enumerate(raw_records)
        ]


def require_unique_ids(jobs: list[SnapshotJob], place: str) -> list[SnapshotJob]:
    """Return the same jobs; raise InvalidInstance where two have one number."""
    seen: set[int] = set()
    for job in jobs:
        if job.id in seen:
            raise InvalidInstance(f"{place}: job {job.id} is there twice")
        seen.add(job.id)
    return jobs


#: Fields of each kind of record, with their types.
_FIELDS_BY_KIND: dict[type[SnapshotRecord], tuple[msgspec.structs.FieldInfo, ...]] = {
    kind: msgspec.structs.fields(kind) for kind in (SnapshotJob, FinishedJob, Share)
}


def _parse_field(field: msgspec.structs.FieldInfo, raw_value: object, place: str) -> Any:
    """Return the value of a field; InvalidInstance where it is none of its type."""
    if raw_value is None and field.type == Text:
        return ""
    if field.type == Limit and isinstance(raw_value, float) and raw_value == math.inf:
        return math.inf
    try:
        return msgspec.convert(_plain_value(raw_value), field.type)
    except _CONVERSION_ERRORS:
        message = f"{field.name} = {shorten(raw_value)}: expected {_expectation(field.type)}"
        raise InvalidInstance(f"{place}: {message}") from None


def _expectation(value_type: Any) -> str:
    """Return what a type expects, in the words of its ``Meta``; of one or None, those of one."""
    metadata = getattr(value_type, "__metadata__", None)
    return metadata[0].description if metadata else _expectation(get_args(value_type)[0])


def _plain_value(value: object) -> Any:
    """Return a value as msgspec checks it: lists of lists of plain scalars."""
    if not isinstance(value, (list, tuple)):
        return _plain_scalar(value)
    return [
        _plain_allocation(part) if isinstance(part, (list, tuple)) else _plain_scalar(part)
        for part in value
    ]


def _plain_allocation(allocation: Sequence[object]) -> list[Any]:
    """Return an allocation as plain scalars: a null node is the empty text, null memory is 0."""
    scalars = [_plain_scalar(scalar) for scalar in allocation]
    if scalars and scalars[0] is None:
        scalars[0] = ""
    if len(scalars) > 2 and scalars[2] is None:
        scalars[2] = 0.0
    return scalars


def _plain_scalar(value: object) -> Any:
    """Return a number as Python's own, a whole one as an int, and a text as a str."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() else number


def moment_of(raw_moment: object, place: str) -> float:
    """Return a moment (s since 1970), checked."""
    try:
        return msgspec.convert(_plain_scalar(raw_moment), Moment)
    except _CONVERSION_ERRORS:
        message = f"{shorten(raw_moment)}: expected {_expectation(Moment)}"
        raise InvalidInstance(f"{place}: {message}") from None


def texts_of(raw_texts: object, place: str) -> dict[str, str]:
    """Return an object of texts."""
    try:
        return msgspec.convert(raw_texts, dict[str, str])
    except _CONVERSION_ERRORS:
        raise InvalidInstance(f"{place}: expected an object of texts") from None


def numbers(raw_numbers: object, place: str) -> dict[str, float]:
    """Return an object of finite numbers."""
    if not isinstance(raw_numbers, Mapping):
        raise InvalidInstance(f"{place}: expected an object of numbers")
    number_by_name = {}
    for key, value in raw_numbers.items():
        try:
            number_by_name[str(key)] = msgspec.convert(_plain_scalar(value), FiniteNumber)
        except _CONVERSION_ERRORS:
            message = f"{shorten(key)} = {shorten(value)}: expected a number"
            raise InvalidInstance(f"{place}: {message}") from None
    return number_by_name
