"""Why a job waits, in words: from limits and what runs now, not from what Slurm said last."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from cosched.slurm.live.requests import HELD

if TYPE_CHECKING:
    from cosched.slurm.live.model import Job
    from cosched.slurm.live.simulation import Simulation


def reason_of(simulation: Simulation, row: int) -> str:
    """Of a pending job."""
    job = simulation.jobs[row]
    if job.reason in HELD:
        return HELD[job.reason]
    begin = job.eligible
    if begin and begin > simulation.snapshot.taken:
        return f"its begin time is in {begin - simulation.snapshot.taken:.0f} s"
    waits = simulation.core_jobs[row].get("after")
    if waits:
        others = [str(simulation.jobs[k].id) for _, rows in waits for k in rows]
        return f"waits for job{'s' * (len(others) > 1)} {', '.join(others)} (dependency)"
    return _over_limit(simulation, row) or _resources(simulation, job)


def _over_limit(simulation: Simulation, row: int) -> str:
    """The first limit that it would break now, and whose jobs must end."""
    if row not in simulation.held_up:
        return ""
    name, limit, used, rows = simulation.held_up[row]
    ids = ", ".join(str(simulation.jobs[k].id) for k in rows[:5])
    many = "job" if len(rows) == 1 else "one of the jobs"
    must = f": {many} {ids} must end" if rows and used > 0 else ""
    return f"limit {name} ({used:g} of {limit:g} used){must}"


def _resources(simulation: Simulation, job: Job) -> str:
    idle, ranked = simulation.now_free
    ahead = len(ranked) - bisect_right(ranked, job.priority or 0.0)
    wants = int(job.nodes or 1)
    need = f"{wants} node{'s' * (wants > 1)}"
    if job.gres or job.gpus:
        need += f" with {job['gres'] or job['gpus']}"
    return f"waits for {need} ({idle} idle), {ahead} job{'s' * (ahead != 1)} before it"
