"""Load, queue and waits over time, for a figure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cosched.cluster.analysis.audit_runs import AuditRuns
from cosched.cluster.analysis.group_waits import results_by_name
from cosched.cluster.instance import Instance
from cosched.cluster.result import Result
from cosched.core.arrays import means, step_function

_DAY, _HOUR = 86400.0, 3600.0
#: Up to so many hours a figure shows hours: days hide the peaks of a day.
_MAX_HOURS = 14 * 24
_MAX_SLICES = 400


@dataclass(frozen=True)
class LoadSeries:
    """One schedule over time: a value per slice.

    Attributes
    ----------
    utilization : numpy.ndarray
        Mean share of the machine in use.
    queued_jobs : numpy.ndarray
        Mean number of jobs that wait.
    mean_wait : numpy.ndarray
        Of the jobs that could start in the slice (s); nan without any.
    """

    utilization: np.ndarray
    queued_jobs: np.ndarray
    mean_wait: np.ndarray


@dataclass(frozen=True)
class Load:
    """Load, queue and waits of the log and of the reference policy.

    Attributes
    ----------
    edges : numpy.ndarray
        Begins of the slices and the end of the last one (s of the log).
    last_submission : float
        After it the machine drains: no more jobs come (s of the log).
    series : dict
        ``"log"`` and the name of the reference policy -> its series.
    """

    edges: np.ndarray
    last_submission: float
    series: dict[str, LoadSeries]

    @property
    def width(self) -> float:
        """Seconds of a slice."""
        return float(self.edges[1] - self.edges[0])


def load_over_time(runs: AuditRuns) -> Load | None:
    """Return the load; None where neither the log nor the reference policy has a result."""
    results = results_by_name(runs)
    if not results:
        return None
    instance = runs.instance
    end = max(result.outcome["end"].max() for result in results.values())
    edges = _slices(instance, float(end))
    return Load(
        edges=edges,
        last_submission=float(instance.column("submit").max()),
        series={name: _series(result, edges) for name, result in results.items()},
    )


def _slices(instance: Instance, end: float) -> np.ndarray:
    """Return the begins of hours, or of days in a long log, or of several of them."""
    begin = float(instance.column("eligible").min())
    width = _DAY if end - begin > _MAX_HOURS * _HOUR else _HOUR
    width *= max(1.0, np.ceil((end - begin) / width / _MAX_SLICES))
    first_edge = begin
    if instance.begins is not None:  # from midnight, or the full hour, on
        date = instance.begins
        seconds_of_day = date.hour * 3600 + date.minute * 60 + date.second
        first_edge = begin - (seconds_of_day + begin) % min(width, _DAY)
    return first_edge + width * np.arange(max(1, np.ceil((end - first_edge) / width)) + 1)


def _series(result: Result, edges: np.ndarray) -> LoadSeries:
    instance = result.instance
    eligible_times = instance.column("eligible")
    start, end = result.outcome["start"], result.outcome["end"]
    needs = instance.column("tasks") * instance.column("cpu") / instance.nodes
    slices = np.clip(np.searchsorted(edges, eligible_times, side="right") - 1, 0, len(edges) - 2)
    jobs_of_slice = np.bincount(slices, minlength=len(edges) - 1)
    waits = np.bincount(slices, weights=result.waits, minlength=len(edges) - 1)
    return LoadSeries(
        utilization=means(*step_function(start, end, needs), edges),
        queued_jobs=means(*step_function(eligible_times, start, np.ones(len(instance))), edges),
        mean_wait=np.where(jobs_of_slice > 0, waits / np.maximum(jobs_of_slice, 1), np.nan),
    )
