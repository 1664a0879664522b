"""Two snapshots field by field: what differs, and how many fields were compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from msgspec import structs

from cosched.slurm.conf.settings import settings_of
from cosched.slurm.live import Snapshot
from cosched.slurm.live.reservations import reservations_of

#: Of the settings of Slurm: lines of texts, and notes, which name places.
_NOT_COMPARED = ("source", "notes", "not_covered", "left_out")


class Comparison(NamedTuple):
    """Differences by the place of the field, and the number of fields."""

    differences: dict[str, tuple[Any, Any]]
    count: int


def compare_snapshots(first: Snapshot, right: Snapshot) -> Comparison:
    """Jobs, history, shares, limits, clocks, nodes, partitions, reservations and settings."""
    pairs = {name: (fields_of(first).get(name), fields_of(right).get(name))
             for name in sorted(fields_of(first) | fields_of(right))}  # fmt: skip
    return Comparison(
        {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}, len(pairs)
    )


def fields_of(snapshot: Snapshot) -> dict[str, Any]:
    """All fields by their places; the moment itself, which differs, is none of them."""
    values: dict[str, Any] = {"version": snapshot.version}
    for job in snapshot.jobs:
        values |= _named(f"job {job.id}", structs.asdict(job))
    for job in snapshot.history:
        values |= _named(f"ended {job.id}", structs.asdict(job))
    for share in snapshot.shares:
        values |= _named(f"share {share.account} {share.user}", structs.asdict(share))
    for name, row in snapshot.limits["qos"].items():
        values |= _named(f"qos {name}", row)
    for row in snapshot.limits["associations"]:
        values |= _named(f"association {row['Account']} {row.get('User', '')}", row)
    values |= _named("clock", snapshot.clocks)
    for number, priority in snapshot.priorities.items():
        values |= _named(f"priority {number}", priority)
    machine = snapshot.machine
    for kind in machine.nodes:
        values |= _named(f"nodes {kind.name}", {f.name: getattr(kind, f.name)
                                                for f in fields(kind)})  # fmt: skip
    for part in machine.partitions:
        values |= _named(f"partition {part.name}", {f.name: getattr(part, f.name)
                                                    for f in fields(part)})  # fmt: skip
    for name, reservation in reservations_of(snapshot):
        values[f"reservation {name}"] = reservation
    settings = settings_of(machine)
    for setting in fields(settings):
        if setting.name not in _NOT_COMPARED:
            value = getattr(settings, setting.name)
            values |= (
                _named(f"slurm {setting.name}", value)
                if isinstance(value, Mapping)
                else {f"slurm {setting.name}": value}
            )
    return values


def _named(place: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{place}: {key}": value for key, value in values.items()}
