"""Jobs that are not in the snapshot: asked for, or still to come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from cosched import io
from cosched.cluster.live.records import job_of
from cosched.cluster.live.snapshot import Snapshot
from cosched.core.arrays import integer
from cosched.errors import InvalidInstance, shorten


def requested(snapshot: Snapshot, requests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Requests as jobs that are submitted now."""
    most = max((job["id"] for job in snapshot.jobs), default=0)
    found = []
    for number, one in enumerate(requests, 1):
        nodes = integer(one.get("nodes", 1), "nodes", 1)
        seconds = float(one["time"])
        if not seconds > 0:
            raise InvalidInstance(f"time = {shorten(one['time'])}: expected seconds > 0")
        cpus = integer(one.get("cpus_per_task", 1) or 1, "cpus_per_task", 1)
        gpus = one.get("gpus")
        found.append(job_of(
            id=most + number, user=one.get("user") or "", account=one.get("account") or "",
            partition=one.get("partition") or _usual(snapshot), qos=one.get("qos") or "normal",
            submit=snapshot.taken, eligible=snapshot.taken, accrue=snapshot.taken, limit=seconds,
            nodes=nodes, cpus=nodes * cpus, memory=one.get("mem"),
            gres=f"gpu:{gpus}" if gpus else "", measured=list(one.get("runs") or ()),
        ))  # fmt: skip
    return found


def arriving(snapshot: Snapshot, row: Mapping[str, Any]) -> dict[str, Any]:
    """A later submission, or one like a job of the past, as a job."""
    time = float(row["submit"])
    return job_of(
        id=int(row.get("job", row.get("id", 0))), user=str(row.get("user") or ""),
        account=str(row.get("account") or ""),
        partition=str(row.get("partition") or _usual(snapshot)),
        qos=str(row.get("qos") or "normal"), submit=time, eligible=time, accrue=time,
        limit=row.get("limit"), nodes=int(row.get("nodes") or 1), cpus=int(row.get("cpus") or 1),
        memory=row.get("memory"), gres=str(row.get("gres") or ""), arrives=time,
        runs=float(row.get("seconds") or 0.0),
    )  # fmt: skip


def _usual(snapshot: Snapshot) -> str:
    settings = snapshot.machine.slurm
    assert settings is not None
    return settings.default_partition


def given_run_times(
    given: Mapping[Any, float] | str | PathLike[str] | None,
) -> dict[int, float]:
    """Seconds by job, of a mapping or a CSV ``job,seconds``."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {int(job): float(seconds) for job, seconds in given.items()}
    found: dict[int, float] = {}
    (_, header), *rows = io.read_rows(given) or [(0, [])]
    if header[:2] != ["job", "seconds"]:
        raise InvalidInstance(f"{given}: line 1: expected the columns job,seconds")
    for line, cells in rows:
        where = f"{given}: line {line}"
        job = io.parse_integer(cells[0], f"{where}: job", 0, 2**40)
        found[job] = io.parse_nonnegative(cells[1], f"{where}: seconds")
    return found
