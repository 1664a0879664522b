"""What tasks on one machine share: resources that must fit, and slow-downs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import any_array, real, real_array
from cosched.core.options import one_of
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind

RULES = ("sum", "product", "max")
#: Arguments of an instance, and fields of a JSON file, that say what is shared.
SHARED_FIELDS = ("resources", "capacity", "slowdowns", "bandwidth")
_MOST_NAMED = 5


class _ByValue:
    """Equal where all attributes are, arrays entry by entry."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(map(_are_equal, vars(self).values(), vars(other).values()))

    __hash__ = None  # type: ignore[assignment]


def _are_equal(value: object, other: Any) -> bool:
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(
            _are_equal(v, other[k]) for k, v in value.items()
        )
    if isinstance(value, np.ndarray):
        return np.array_equal(value, other, equal_nan=True)
    return bool(value == other)


@dataclass(frozen=True, eq=False)
class Slowdowns(_ByValue):
    """Measured slow-downs of pairs, and how those of several companions add up.

    Attributes
    ----------
    table : numpy.ndarray, shape (n, n)
        ``table[i, j]`` = seconds of task i beside j / alone, > 0; the diagonal is not read. nan:
        not measured, read as 1. What is below 1 is read as 1.
    rule : {"sum", "product", "max"}
        The factor of a task among several, of the excess e = s - 1 of each companion: 1 + the sum,
        the product of 1 + e, or 1 + the largest.

    Examples
    --------
    >>> slow = Slowdowns([[1.0, 1.5], [1.2, 1.0]], rule="product")
    >>> cs.packs.Instance([[4.0], [3.0]], slowdowns=slow).slowdowns.rule
    'product'
    """

    table: Any
    rule: str = "sum"

    def __post_init__(self) -> None:
        one_of(self.rule, "rule", RULES)
        _freeze(self, "table", real_array(self.table, "slowdowns", 2))


@dataclass(frozen=True, eq=False)
class Bandwidth(_ByValue):
    """Traffic between processors and memory, which saturates.

    Attributes
    ----------
    demand : numpy.ndarray, shape (n, p) or (n,)
        GB/s that each task draws alone on each count, at most `capacity`.
    capacity : float
        GB/s of the machine.
    stall : numpy.ndarray, shape (n,)
        Share of a task's time that waits for memory, 0..1: 1 = a stream, 0 = never slowed.

    Examples
    --------
    >>> three = Bandwidth(demand=[40.0, 40.0, 40.0], capacity=100, stall=[1, 1, 0])
    >>> inst = cs.packs.Instance([[4.0] * 3] * 3, bandwidth=three)
    >>> cs.packs.slowdown(inst, [0, 1, 2], [1, 1, 1]).round(6).tolist()
    [1.2, 1.2, 1.0]
    """

    demand: Any
    capacity: float
    stall: Any

    def __post_init__(self) -> None:
        _freeze(self, "demand", _amounts(self.demand, "bandwidth.demand"))
        object.__setattr__(self, "capacity", real(self.capacity, "bandwidth.capacity"))
        _freeze(self, "stall", real_array(self.stall, "bandwidth.stall", 1))


class Sharing(_ByValue):
    """What the tasks of an instance share, checked: the four arguments as they were given.

    Parameters
    ----------
    resources : mapping of str to array_like, shape (n,) or (n, counts)
        What each task needs of each resource, on each count where that matters.
    capacity : mapping of str to float
        Of each resource; one that is missing has no limit.
    slowdowns : array_like, shape (n, n), or Slowdowns, optional
        Seconds beside another / alone.
    bandwidth : Bandwidth, optional
        Traffic to memory.

    Examples
    --------
    >>> shared = Sharing({"memory": [4.0, 2.0]}, {"memory": 5.0})
    >>> bool(shared), shared.slows, shared.to_dict()
    (True, False, {'resources': {'memory': [4.0, 2.0]}, 'capacity': {'memory': 5.0}})
    """

    def __init__(
        self,
        resources: Mapping[str, object] | None = None,
        capacity: Mapping[str, object] | None = None,
        slowdowns: object = None,
        bandwidth: Bandwidth | None = None,
    ) -> None:
        needs = _mapping(resources, "resources", "needs")
        self.resources = {name: _amounts(v, f"resources.{name}") for name, v in needs.items()}
        for values in self.resources.values():
            values.flags.writeable = False
        limits = _mapping(capacity, "capacity", "a number")
        self.capacity = {name: real(v, f"capacity.{name}") for name, v in limits.items()}
        if slowdowns is not None and not isinstance(slowdowns, Slowdowns):
            slowdowns = Slowdowns(slowdowns)
        if bandwidth is not None and not isinstance(bandwidth, Bandwidth):
            raise InvalidInstance(
                f"bandwidth = {shorten(bandwidth)}: expected a cosched.profiles.Bandwidth"
            )
        self.slowdowns: Slowdowns | None = slowdowns
        self.bandwidth = bandwidth

    def __bool__(self) -> bool:
        return bool(self.resources) or self.slowdowns is not None or self.bandwidth is not None

    @property
    def slows(self) -> bool:
        """Whether tasks slow each other."""
        return self.slowdowns is not None or self.bandwidth is not None

    def arguments(self) -> dict[str, Any]:
        """The arguments of an instance that has this.

        Returns
        -------
        dict
            With the keys ``SHARED_FIELDS``.
        """
        return {name: getattr(self, name) for name in SHARED_FIELDS}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON instances and schedule files hold them; empty parts are left out."""
        fields: dict[str, Any] = {}
        if self.resources:
            fields["resources"] = {name: v.tolist() for name, v in self.resources.items()}
        if self.capacity:
            fields["capacity"] = {k: v for k, v in self.capacity.items() if np.isfinite(v)}
        for name in ("slowdowns", "bandwidth"):
            if (part := getattr(self, name)) is not None:
                arrays = {k: v.tolist() for k, v in vars(part).items() if hasattr(v, "tolist")}
                fields[name] = vars(part) | arrays
        return fields

    def select(self, tasks: np.ndarray) -> Sharing:
        """What some of the tasks share.

        Parameters
        ----------
        tasks : array_like of int
            Numbers; their order is that of the result.
        """
        slow, traffic = self.slowdowns, self.bandwidth
        return Sharing(
            {name: values[tasks] for name, values in self.resources.items()},
            self.capacity,
            None if slow is None else Slowdowns(slow.table[np.ix_(tasks, tasks)], slow.rule),
            None
            if traffic is None
            else Bandwidth(traffic.demand[tasks], traffic.capacity, traffic.stall[tasks]),
        )

    def cut(self, counts: int | None) -> Sharing:
        """The same on fewer processors.

        Parameters
        ----------
        counts : int or None
            On 1..counts; None: as it is.
        """

        def first(values: np.ndarray) -> np.ndarray:
            return values if values.ndim == 1 else values[:, :counts]

        traffic = self.bandwidth
        return Sharing(
            {name: first(values) for name, values in self.resources.items()},
            self.capacity,
            self.slowdowns,
            None if traffic is None else replace(traffic, demand=first(traffic.demand)),
        )

    def without_slowdowns(self) -> Sharing:
        """The resources alone."""
        return Sharing(self.resources, self.capacity)

    def core(self, times: np.ndarray, names: Sequence[str]) -> Any:
        """The C++ object, checked against the times.

        Parameters
        ----------
        times : numpy.ndarray, shape (n, c)
        names : sequence of str
            Of the tasks, for refusals.

        Raises
        ------
        InvalidInstance
            A bad entry, or a task that fits on no count (named).
        """
        self.require_counts(*times.shape)
        slow, traffic = self.slowdowns, self.bandwidth
        core_sharing = _core.Sharing(
            len(times),
            {
                name: (_table(values), self.capacity.get(name, np.inf))
                for name, values in self.resources.items()
            },
            None
            if slow is None
            else (
                np.where(np.isnan(slow.table), 1.0, slow.table),
                getattr(_core.SlowdownRule, slow.rule),
            ),
            None if traffic is None else (_table(traffic.demand), traffic.capacity, traffic.stall),
        )
        self._require_each_fits(times, names)
        return core_sharing

    def require_counts(self, tasks: int, counts: int) -> None:
        """Refuse needs and demands that are not (tasks,) or (tasks, counts).

        Parameters
        ----------
        tasks, counts : int
            Shape of the times.

        Raises
        ------
        InvalidInstance
            Another shape.
        """
        tables = {f"resources.{name}": values for name, values in self.resources.items()}
        if self.bandwidth is not None:
            tables["bandwidth.demand"] = self.bandwidth.demand
        for name, values in tables.items():
            if values.shape not in ((tasks,), (tasks, counts)):
                raise InvalidInstance(
                    f"{name} has shape {values.shape}: expected ({tasks},) or ({tasks}, {counts})"
                )

    def _require_each_fits(self, times: np.ndarray, names: Sequence[str]) -> None:
        possible = np.isfinite(times)
        for name, values in self.resources.items():
            limit = self.capacity.get(name, np.inf)
            table = _table(values)  # constant beyond the columns that there are
            needs = table[:, np.minimum(np.arange(times.shape[1]), table.shape[1] - 1)]
            fits = needs <= limit * (1 + 1e-9)
            least = np.where(np.isfinite(times), needs, np.inf).min(axis=1)
            for task in np.flatnonzero(~(fits & np.isfinite(times)).any(axis=1)).tolist():
                unit = "GB of memory" if name == "memory" else name
                raise InvalidInstance(
                    f"task {names[task]!r} needs {least[task]:g} {unit}, capacity is {limit:g}"
                )
            possible &= fits
        for task in np.flatnonzero(~possible.any(axis=1)).tolist():
            raise InvalidInstance(
                f"task {names[task]!r} needs more than the capacity of "
                f"{' or '.join(self.resources)} on each count on which it can run"
            )

    def notes(self, names: Sequence[str]) -> list[Note]:
        """What a person should know: resources without limit, pairs that are read as 1.

        Parameters
        ----------
        names : sequence of str
            Of the tasks.
        """
        notes = [
            Note(NoteKind.ASSUMED, f"{name}: no capacity is given: no limit", subject=name)
            for name in self.resources
            if np.isinf(self.capacity.get(name, np.inf))
        ]
        if self.slowdowns is None:
            return notes
        table = self.slowdowns.table
        if table.shape != (len(names), len(names)):
            return notes  # the constructor refuses such a table
        other = ~np.eye(len(names), dtype=bool)
        for is_affected, kind, what in (
            (
                np.isnan(table) & other,
                NoteKind.ASSUMED,
                "slow-downs are not measured and count as 1",
            ),
            ((table < 1) & other, NoteKind.REPAIRED, "slow-downs are below 1 and read as 1"),
        ):
            pairs = np.argwhere(is_affected)
            if not len(pairs):
                continue
            pairs_in_words = [
                f"{names[i]} beside {names[j]}"
                + ("" if np.isnan(table[i, j]) else f" {table[i, j]:.3g}")
                for i, j in pairs[:_MOST_NAMED]
            ]
            ellipsis = ", ..." if len(pairs) > _MOST_NAMED else ""
            text = f"{len(pairs)} {what}: {', '.join(pairs_in_words)}{ellipsis}"
            notes.append(Note(kind, text, subject="slow-downs", count=len(pairs)))
        return notes


def sharing_of_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an instance that a JSON object holds under ``SHARED_FIELDS``.

    Parameters
    ----------
    data : mapping
        ``resources`` and ``capacity`` by name, ``slowdowns`` {table, rule} or a table (null: not
        measured), ``bandwidth`` {demand, capacity, stall}.

    Returns
    -------
    dict
        Empty where there are none.

    Examples
    --------
    >>> sharing_of_json({"capacity": {"memory": 4}, "resources": {"memory": [1, 2]}})
    {'resources': {'memory': [1, 2]}, 'capacity': {'memory': 4}}
    """
    if not isinstance(data, Mapping):
        raise InvalidInstance(f"expected an object, got {type(data).__name__}")
    arguments = {name: data[name] for name in SHARED_FIELDS if data.get(name) is not None}
    if "slowdowns" in arguments:
        slowdowns = arguments["slowdowns"]
        fields = slowdowns if isinstance(slowdowns, Mapping) else {"table": slowdowns}
        _require_fields(fields, "slowdowns", ("table",), ("rule",))
        arguments["slowdowns"] = Slowdowns(_measured(fields["table"]), fields.get("rule", "sum"))
    if "bandwidth" in arguments:
        _require_fields(arguments["bandwidth"], "bandwidth", ("demand", "capacity", "stall"))
        arguments["bandwidth"] = Bandwidth(**arguments["bandwidth"])
    return arguments


def _require_fields(
    data: object, what: str, needed: Sequence[str], optional: Sequence[str] = ()
) -> None:
    known_fields = {*needed, *optional}
    if not isinstance(data, Mapping) or not set(needed) <= set(data) <= known_fields:
        raise InvalidInstance(f"{what}: expected an object with {', '.join((*needed, *optional))}")


def _measured(table: object) -> Any:
    if not isinstance(table, list):
        return table
    return [
        [np.nan if entry is None else entry for entry in row] if isinstance(row, list) else row
        for row in table
    ]


def _freeze(owner: object, name: str, values: np.ndarray) -> None:
    values.flags.writeable = False
    object.__setattr__(owner, name, values)


def _mapping(data: object, what: str, of: str) -> Mapping[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
        raise InvalidInstance(f"{what} = {shorten(data)}: expected {of} by name")
    return data


def _amounts(values: object, name: str) -> np.ndarray:
    return real_array(values, name, 2 if any_array(values, name, 1).ndim == 2 else 1)


def _table(values: np.ndarray) -> np.ndarray:
    return values if values.ndim == 2 else values[:, None]
