"""Which limit of an association or a QOS kept jobs waiting, by a traced simulation of the log."""

from __future__ import annotations

import time as clock
from collections import Counter
from collections.abc import Sequence

from cosched.cluster.instance import Instance
from cosched.slurm.trace import TraceSelection
from cosched.slurm.twin.backfill import backfill


def blocking_limits(
    instance: Instance, rows: Sequence[int], time_limit: float | None
) -> dict[int, str]:
    """Return the limit that stood in the way of each job most often, as squeue names it.

    Parameters
    ----------
    instance : Instance
        The log on the machine of a slurm.conf.
    rows : sequence of int
        Its jobs that are asked for; each is one simulation.
    time_limit : float or None
        Seconds; jobs that come after it have no answer.

    Returns
    -------
    dict of int to str
        Row -> limit; without the jobs that no limit kept waiting in the simulation.
    """
    if instance.machine is None or instance.machine.slurm is None:
        return {}
    end = None if time_limit is None else clock.monotonic() + time_limit
    limits = {}
    for row in rows:
        if end is not None and clock.monotonic() > end:
            break
        if limit := _blocking_limit(instance, row):
            limits[row] = limit
    return limits


def _blocking_limit(instance: Instance, row: int) -> str:
    selection = TraceSelection(row=row)
    trace = backfill(instance, draws=1, seed=0, approximate=True, trace=selection).trace
    assert trace is not None
    counts = Counter(
        job.limit for step in (*trace.cycles, *trace.passes) for job in step.jobs if job.limit
    )
    return counts.most_common(1)[0][0] if counts else ""
