"""What differs between two slurm.conf, key by key."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from cosched.cluster.machine import Machine
from cosched.slurm.conf.known_keys import option_of
from cosched.slurm.conf.lines import Line
from cosched.slurm.conf.settings import source_of
from cosched.slurm.conf.values import value_by_word

_PARAMETERS = "schedulerparameters"
#: The value of a record as a whole that has a line in a file.
_HAS_LINE = "in the file"
#: Lines of which one called DEFAULT gives later ones their values.
RECORDS_WITH_DEFAULTS = ("nodename", "partitionname")


@dataclass(frozen=True)
class Difference:
    """One key with its value in the one and the other file.

    Attributes
    ----------
    record : str
        ``PartitionName``, ``NodeName`` or the like; ``SchedulerParameters`` of a word of it; empty:
        a line of its own.
    name : str
        Of the partition or the nodes.
    key : str
        As it is spelled; empty: the record as a whole is new, or gone.
    old, new : str or None
        None: it is not set there.
    """

    record: str
    name: str
    key: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        """``PriorityWeightAge 1000 -> 5000``."""
        old, new = (text if text is not None else "(not set)" for text in (self.old, self.new))
        if self.record in ("", "SchedulerParameters"):
            return f"{self.key} {old} -> {new}"
        named = f"{self.name}.{self.key}" if self.key else f"{self.record}={self.name}"
        return f"{named} {old} -> {new}"


#: Record, name and key in lower case.
Place = tuple[str, str, str]


def differences_of(old: Iterable[Line], new: Iterable[Line]) -> list[Difference]:
    """Return the keys whose values differ, in the order of the old file, then of the new one."""
    before, after = _values(old), _values(new)
    differences = []
    for place in dict.fromkeys(chain(before, after)):
        (record, name, key), _ = before.get(place) or after[place]
        values = [of_file[place][1] if place in of_file else None for of_file in (before, after)]
        if values[0] != values[1]:
            differences.append(Difference(record, name, key, *values))
    return differences


def _values(lines: Iterable[Line]) -> dict[Place, tuple[Place, str]]:
    """Return each key by its place, as it is spelled, with its value; the last line counts.

    What a DEFAULT line of partitions or nodes says is a value of each later line of its kind that
    does not say it itself.
    """
    values: dict[Place, tuple[Place, str]] = {}
    defaults: dict[str, dict[str, tuple[str, str]]] = {}  # by record, then by key: spelled, value

    def add(record: str, name: str, key: str, value: str) -> None:
        values[record.lower(), name, key.lower()] = ((record, name, key), value)

    for line in lines:
        record = line.record
        if not record:
            for key, value in line.keys.items():
                add("", "", line.spellings[key], value)
            continue
        name = line.keys[record]
        own_keys = {
            key: (line.spellings[key], value) for key, value in line.keys.items() if key != record
        }
        of_record = defaults.setdefault(record, {})
        if record in RECORDS_WITH_DEFAULTS and name.upper() == "DEFAULT":
            of_record |= own_keys
            continue
        for spelling, value in {**of_record, **own_keys}.values():
            add(line.spellings[record], name, spelling, value)
        add(line.spellings[record], name, "", _HAS_LINE)
    return values


def current_value(machine: Machine, partition: str, key: str) -> str | None:
    """Return the value of a key in the slurm.conf of a machine.

    Parameters
    ----------
    partition : str
        Empty: a key of the whole cluster, or a word of SchedulerParameters.

    Returns
    -------
    str or None
        None: no line has it. A word of SchedulerParameters without a value is ``yes``.
    """
    lines = source_of(machine).lines
    low = key.lower()
    if partition:
        value: str | None = None
        for line in lines:
            if line.record == "partitionname":
                name = line.keys["partitionname"]
                if name == partition and low in line.keys:
                    return line.keys[low]
                if name.upper() == "DEFAULT" and low in line.keys:
                    value = line.keys[low]
                if name == partition:
                    return value
        return value
    if option_of("", key) is not None:
        values = [line.keys[low] for line in lines if not line.record and low in line.keys]
        return values[-1] if values else None
    texts = [line.keys[_PARAMETERS] for line in lines if _PARAMETERS in line.keys]
    return value_by_word(texts[-1]).get(low) if texts else None
