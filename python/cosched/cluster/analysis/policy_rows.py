"""Waits, largest stretch and utilization of the log and of each policy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cosched.cluster.analysis.audit_runs import AuditRun, AuditRuns, PolicyRun
from cosched.cluster.analysis.replications import measures_of
from cosched.cluster.analysis.window import Window
from cosched.cluster.family import remark
from cosched.cluster.result import PERFECT, Result

#: The name of the row of the log itself.
AS_LOGGED = "as-logged"


@dataclass(frozen=True)
class Measures:
    """Means over the replications of one schedule; times in seconds, nan without a result.

    Attributes
    ----------
    mean_wait, median_wait, p95_wait : float
    largest_stretch : float
        From when a job could start to its end, over its run time (10 s at least).
    utilization : float
        Share of the machine in use in the window of the log.
    """

    mean_wait: float = math.nan
    median_wait: float = math.nan
    p95_wait: float = math.nan
    largest_stretch: float = math.nan
    utilization: float = math.nan


def measures_in_window(
    result: Result | None, window: Window, jobs: np.ndarray | None = None
) -> Measures:
    """Return the measures of a result.

    Parameters
    ----------
    jobs : numpy.ndarray of bool, optional
        Whose waits; default: the measured jobs.
    """
    if result is None:
        return Measures()
    measures = measures_of(result, jobs)
    return Measures(
        mean_wait=measures["mean_wait"],
        median_wait=measures["median_wait"],
        p95_wait=measures["p95_wait"],
        largest_stretch=measures["value"],
        utilization=window.utilization(result),
    )


@dataclass(frozen=True)
class PolicyRow:
    """What happened, or what one policy would have given.

    Attributes
    ----------
    name : str
    estimates : str
        Its run-time estimates: ``requested``, ``perfect``, ``none``; ``-`` of the log.
    measures : Measures
    starts_within_minute : float
        Share of the starts within a minute of the log's; nan for the log itself, and without one.
    remark : str
        Why the row has no numbers, or what they mean.
    """

    name: str
    estimates: str
    measures: Measures
    starts_within_minute: float
    remark: str


def policy_rows(runs: AuditRuns) -> tuple[PolicyRow, ...]:
    """Return a row for the log and for each policy."""
    return tuple(_policy_row(runs, run) for run in runs.policy_runs)


def _policy_row(runs: AuditRuns, run: PolicyRun) -> PolicyRow:
    near_share = math.nan
    if runs.logged is not None and run.result is not None and run.name != AS_LOGGED:
        near_share = run.result.calibration()["within_minute"]
    return PolicyRow(
        name=run.name,
        estimates=run.estimates,
        measures=measures_in_window(run.result, runs.window),
        starts_within_minute=near_share,
        remark=run.columns["message"] or remark(run.columns),
    )


def attainable_run(runs: AuditRuns) -> AuditRun | None:
    """Return the policy with the smallest largest stretch that a scheduler could run; None: no
    policy without perfect knowledge has a result with all jobs."""
    candidates = [
        run
        for run in runs.policy_runs
        if run.result and run.name != AS_LOGGED and run.estimates != PERFECT and not run.lacks_jobs
    ]
    return min(candidates, key=_value_of, default=None)


def _value_of(run: AuditRun) -> float:
    assert run.result is not None
    return run.result.value
