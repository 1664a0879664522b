"""Jobs that the queue does not have yet: requests, given submissions, and copies of past jobs."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from cosched.core.arrays import integer, positive
from cosched.core.text import unknown_name
from cosched.errors import InvalidInstance
from cosched.slurm.live.admission import accepted_job
from cosched.slurm.live.model import FinishedJob, SnapshotJob, parse_record
from cosched.slurm.live.snapshot import Snapshot

#: What a job asks for besides nodes, CPUs and time, where a record of it tells that.
_RESOURCE_FIELDS = ("exact", "memory", "memory_per_cpu", "gres", "gpus", "features", "exclusive")


def jobs_of_requests(
    snapshot: Snapshot, requests: Iterable[Mapping[str, Any]]
) -> list[SnapshotJob]:
    """Requests as jobs that are submitted now; those that sbatch refuses are refused."""
    last_id = max((job.id for job in snapshot.jobs), default=0)
    jobs = []
    for number, request in enumerate(requests, 1):
        place = f"requests[{number - 1}]"
        if not isinstance(request, Mapping) or "time" not in request:
            raise InvalidInstance(f"{place}: expected nodes and time (s)")
        _require_known_names(snapshot, request)
        nodes = integer(request.get("nodes", 1), "nodes", 1)
        seconds = request["time"]
        if seconds != math.inf:  # UNLIMITED
            seconds = positive(seconds, "time", "seconds > 0")
        cpus_per_task = request.get("cpus_per_task")
        cpus = 1 if cpus_per_task is None else integer(cpus_per_task, "cpus_per_task", 1)
        gpus = request.get("gpus")
        fields = {
            **_owner(snapshot, request),
            "id": last_id + number,
            "submit": snapshot.time,
            "limit": seconds,
            "nodes": nodes,
            "cpus": nodes * cpus,
            "memory": request.get("mem"),
            "gres": f"gpu:{integer(gpus, 'gpus', 1)}" if gpus else "",
            "features": str(request.get("constraint") or ""),
            "licences": str(request.get("licenses") or ""),
            "measured": list(request.get("runs") or ()),
        }
        jobs.append(accepted_job(snapshot, _submitted(fields, place), place))
    return jobs


def _require_known_names(snapshot: Snapshot, request: Mapping[str, object]) -> None:
    """Refuse names that the cluster does not have, of those that its outputs list."""
    associations, shares = snapshot.limits.get("associations", ()), snapshot.shares
    names_of = {
        "partition": [part.name for part in snapshot.machine.partitions],
        "account": [
            *(row.get("Account") for row in associations),
            *(share.account for share in shares),
        ],
        "user": [*(row.get("User") for row in associations), *(share.user for share in shares)],
        "QOS": snapshot.limits.get("qos", ()),
    }
    for kind, names in names_of.items():
        listed = dict.fromkeys(filter(None, names))
        for name in str(request.get(kind.lower()) or "").split(","):
            if name and listed and name not in listed:
                raise InvalidInstance(unknown_name(kind, name, listed))


def job_of_submission(snapshot: Snapshot, row: Mapping[str, Any], place: str) -> SnapshotJob:
    """Return a later submission as a job."""
    values = dict(row) if isinstance(row, Mapping) else {}
    if "submit" not in values:
        raise InvalidInstance(f"{place}: expected job, submit, seconds, ...")
    fields: dict[str, Any] = {
        **_owner(snapshot, values),
        "id": int(values.get("job", values.get("id", 0))),
        **{key: values[key] for key in ("submit", "limit", *_RESOURCE_FIELDS) if key in values},
        "nodes": values.get("nodes") or 1,
        "cpus": values.get("cpus") or 1,
        "arrives": values["submit"],
        "runs": values.get("seconds") or 0.0,
    }
    return _submitted(fields, place)


def copy_of_job(snapshot: Snapshot, past: SnapshotJob | FinishedJob) -> SnapshotJob:
    """Return a job that asks for what one of the past asked for, submitted now."""
    owner = _owner(snapshot, {key: past[key] for key in ("user", "account", "partition", "qos")})
    fields = {
        "id": past.id,
        "limit": past.limit,
        "nodes": past.nodes or 1,
        "cpus": past.cpus or 1,
        "submit": snapshot.time,
        "arrives": snapshot.time,
        "runs": 0.0,
        **{key: past[key] for key in _RESOURCE_FIELDS if hasattr(past, key)},
    }
    return _submitted({**owner, **fields}, f"job {past.id}")


def _owner(snapshot: Snapshot, row: Mapping[str, object]) -> dict[str, str]:
    """Return user, account, partition and QOS of a request, as far as the snapshot tells."""
    settings = snapshot.machine.slurm
    assert settings is not None
    defaults = {"user": "", "account": "", "partition": settings.default_partition, "qos": "normal"}
    return {key: str(row.get(key) or value) for key, value in defaults.items()}


def _submitted(fields: Mapping[str, object], place: str) -> SnapshotJob:
    """Return a job that is eligible as soon as it is submitted."""
    return parse_record(
        SnapshotJob, {**fields, "eligible": fields["submit"], "accrue": fields["submit"]}, place
    )
