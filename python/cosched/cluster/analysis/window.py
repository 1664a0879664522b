"""Utilization over one window of time that all compared schedules share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import overused, resources
from cosched.cluster.result import Result
from cosched.cluster.result.groups import starts_of
from cosched.cluster.schedule import Schedule
from cosched.core.arrays import means, step_function


@dataclass(frozen=True)
class Window:
    """The time from the first to the last submission of the measured jobs (s).

    Jobs arrive throughout the window. After it the machine drains: how long that takes depends on
    the last long jobs, and would change the utilization of one row and not of the other.
    """

    #: The first submission (s on the instance's clock).
    begin: float
    #: The last submission (s on the instance's clock).
    end: float

    def utilization(self, result: Result) -> float:
        """Share of the machine's processors in use, the mean over the replications.

        Returns
        -------
        float
            In 0..1; nan for a log that uses more than the machine has.
        """
        instance = result.instance
        start, end = result.outcome["start"], result.outcome["end"]
        is_recorded = isinstance(result.schedule, Schedule) and result.schedule.recorded
        if is_recorded and overused(instance, start, end):
            return float("nan")
        # A job that a policy pauses or slows down is longer in the system than it computes.
        run_times = instance.column("runtime")
        durations = np.maximum(np.asarray(end) - np.asarray(start), run_times)
        computing_share = np.divide(
            run_times, durations, out=np.ones(len(instance)), where=durations > 0
        )
        busy_cores = instance.column("cpu") * instance.column("tasks") * computing_share
        return self._share(result, busy_cores, float(instance.nodes))

    def utilization_of_resources(self, result: Result) -> dict[str, float]:
        """The same of each resource that the machine counts, by the names of ``Result.by``."""
        return {
            name: self._share(result, amounts, capacity)
            for name, capacity, amounts in resources(result.instance)
            if capacity > 0
        }

    def _share(self, result: Result, amounts: np.ndarray, capacity: float) -> float:
        # Replications have start times alone: each job is as long as in the first replication.
        durations = np.asarray(result.outcome["end"]) - np.asarray(result.outcome["start"])
        edges = np.array([self.begin, self.end])
        shares = []
        for starts in starts_of(result):
            times, level = step_function(starts, starts + durations, amounts)
            shares.append(_mean_level(times, level, edges) / capacity)
        return float(np.mean(shares))


def _mean_level(times: np.ndarray, level: np.ndarray, edges: np.ndarray) -> float:
    return float(means(times, level, edges)[0])


def window_of(instance: Instance, reference: Result | None) -> Window:
    """The window of a log.

    All jobs of a log may be submitted at once. Then the window ends when the last of them ends in
    the `reference`, a schedule of the machine as it is.
    """
    submissions = instance.column("submit")[instance.measured]
    begin, end = float(submissions.min()), float(submissions.max())
    if end > begin:
        return Window(begin, end)
    last = begin if reference is None else float(np.max(reference.outcome["end"]))
    return Window(begin, max(last, np.nextafter(begin, np.inf)))
