"""What jobs of a recording ask for, in the words of sbatch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cosched.cluster.files.sbatch import array_tasks
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.request import (
    Gpus,
    Request,
    dependencies,
    gpus_asked,
)


def requests_of_jobs(
    jobs: Sequence[Mapping[str, Any]],
    rows: Sequence[tuple[int, ...]],
    accounts: Accounts | None,
) -> dict[int, Request]:
    """Requests by row: of each job one, or one a task of an array."""
    shared = any("cores" in job for job in jobs)
    names = {_name_of(job) for job in jobs if _is_singleton(job)}
    found: dict[int, Request] = {}
    for number, (job, own) in enumerate(zip(jobs, rows, strict=True)):
        name = _name_of(job) if _name_of(job) in names else None
        request = Request(
            **_resources(job) if shared else {},
            constraint=str(job.get("constraint", "")), licences=job.get("licenses", ""),
            after=dependencies(job.get("dependency", ()), lambda k: list(rows[k])),
            singleton=name if _is_singleton(job) else None,
            namesake=None if _is_singleton(job) else name,
            array=(number, array_tasks(job["array"])[1]) if "array" in job else None,
            begin=job.get("begin"), reservation=job.get("reservation"), nice=job.get("nice", 0.0),
            held=bool(job.get("hold")), fails=bool(job.get("fail")),
            requeue=not job.get("no_requeue"), owner=None if accounts is None else accounts.of(job),
        )  # fmt: skip
        found |= dict.fromkeys(own, request)
    return found


def _resources(job: Mapping[str, Any]) -> dict[str, Any]:
    """What it wants of nodes that jobs share."""
    whole = {
        to: int(job[key])
        for key, to in (("nodes", "nodes"), ("mem", "memory"), ("mem_per_cpu", "memory_per_core"))
        if key in job
    }
    gpus: Gpus | None = None
    for key in ("gres", "gpus"):
        if key in job:
            gpus = gpus_asked(str(job[key]), by_node=key == "gres")
    return {
        "cores": int(job.get("cores", job.get("nodes", 1))), "gpus": gpus, **whole,
        "exclusive": bool(job.get("exclusive")),
        "partition": str(job.get("partition", "")).split(",")[0],
    }  # fmt: skip


def _is_singleton(job: Mapping[str, Any]) -> bool:
    return any(kind == "singleton" for kind, _ in job.get("dependency", ()))


def _name_of(job: Mapping[str, Any]) -> tuple[str, str]:
    """Whose job it is, and what it is called; all without a name are called the same."""
    return job.get("user", ""), job.get("name", "")
