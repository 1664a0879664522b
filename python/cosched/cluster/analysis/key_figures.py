"""The numbers of a log that come first: jobs, core hours, utilization, waits, use of requests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cosched.cluster.analysis.audit_runs import AuditRuns
from cosched.cluster.analysis.replications import waits
from cosched.cluster.instance.usage import used_of

#: A job that waits longer than this counts as a long wait (s).
LONG_WAIT = 86400.0


@dataclass(frozen=True)
class KeyFigures:
    """Key figures of a log; nan where the log does not say them.

    Attributes
    ----------
    begin, end : float
        First submission, and last end of a job (s of the log).
    jobs : int
        Measured jobs.
    core_hours : float
        Hours of cores that they ran; of nodes on a machine without cores.
    utilization : float
        Share of the machine in use between the first and the last submission.
    mean_wait, median_wait, p95_wait, max_wait : float
        Seconds.
    jobs_with_long_wait : int
        Jobs that waited longer than :data:`LONG_WAIT`.
    used_time, used_memory : float
        Share of the requested time and memory that jobs used.
    is_observed : bool
        Whether waits and utilization are the log's; else they are the reference policy's.
    """

    begin: float
    end: float
    jobs: int
    core_hours: float
    utilization: float
    mean_wait: float
    median_wait: float
    p95_wait: float
    max_wait: float
    jobs_with_long_wait: int
    used_time: float
    used_memory: float
    is_observed: bool


def key_figures_of(runs: AuditRuns) -> KeyFigures:
    """Return the key figures of the log; waits are the reference policy's where it has none."""
    instance = runs.instance
    result = runs.logged or runs.reference_result
    is_measured = instance.measured
    work = instance.column("runtime") * instance.column("cpu") * instance.column("tasks")
    ends = runs.logged.outcome["end"] if runs.logged else instance.column("submit")
    waits_of_measured = np.array([]) if result is None else waits(result).mean(axis=0)
    has_waits = len(waits_of_measured) > 0
    used_time, used_memory = used_of(instance)
    return KeyFigures(
        begin=float(instance.column("submit").min()),
        end=float(np.max(ends)),
        jobs=int(is_measured.sum()),
        core_hours=float(work[is_measured].sum() / 3600),
        utilization=math.nan if result is None else runs.window.utilization(result),
        mean_wait=float(waits_of_measured.mean()) if has_waits else math.nan,
        median_wait=float(np.median(waits_of_measured)) if has_waits else math.nan,
        p95_wait=float(np.percentile(waits_of_measured, 95)) if has_waits else math.nan,
        max_wait=float(waits_of_measured.max()) if has_waits else math.nan,
        jobs_with_long_wait=int((waits_of_measured > LONG_WAIT).sum()),
        used_time=used_time,
        used_memory=used_memory,
        is_observed=runs.logged is not None,
    )
