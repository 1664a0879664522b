"""Advance reservations of a snapshot, as ``scontrol show reservation`` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cosched.slurm.live.command_outputs import records
from cosched.slurm.live.job_records import moment
from cosched.slurm.live.snapshot import Snapshot


@dataclass(frozen=True)
class Reservation:
    """Nodes that only the jobs of a reservation may use for a time.

    Attributes
    ----------
    name : str
    begin, end : float
        Seconds since 1970.
    nodes : str
        A host list, or ALL.
    flags : frozenset of str
        Such as MAINT and ALL_NODES.
    """

    name: str
    begin: float
    end: float
    nodes: str
    flags: frozenset[str]

    @property
    def is_maintenance(self) -> bool:
        """Slurm moves jobs to its end as a whole, where it has all nodes of their partition."""
        return "MAINT" in self.flags

    @property
    def has_all_nodes(self) -> bool:
        """It was made for all nodes of the cluster."""
        return "ALL_NODES" in self.flags


def reservations_of(snapshot: Snapshot) -> Iterator[tuple[str, Reservation | None]]:
    """Yield each reservation by its name; None where its times or nodes cannot be read."""
    offset = snapshot.clocks.get("offset", 0.0)
    for pairs in records(snapshot.scontrol_texts.get("reservations", ""), "ReservationName"):
        fields = dict(pairs)
        name, nodes = fields["ReservationName"], fields.get("Nodes", "")
        begin, end = (moment(fields.get(key, ""), offset) for key in ("StartTime", "EndTime"))
        if begin is None or end is None or nodes.lower() in ("", "(null)"):
            yield name, None
            continue
        flags = frozenset(fields.get("Flags", "").split(","))
        yield name, Reservation(name, begin, end, nodes, flags)
