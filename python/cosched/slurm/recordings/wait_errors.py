"""How far simulated waits and the simulated makespan are from the recorded ones, in the terms in
which other simulators of Slurm are judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Windows of submissions (s): whole days; ten minutes for recordings that are shorter than a day.
DAY, TEN_MINUTES = 86_400.0, 600.0


@dataclass(frozen=True)
class WindowedWaits:
    """Mean waits of the jobs that were submitted in each window, recorded and simulated.

    Examples
    --------
    A recorded mean wait of zero has no percentage error: the window is left out.

    >>> waits = WindowedWaits(np.array([100.0, 0.0]), np.array([97.0, 5.0]), np.array([4, 2]))
    >>> round(waits.mean_absolute_percentage_error, 9), waits.compared_windows
    (0.03, 1)
    """

    #: Mean wait by window (s); nan where no job was submitted in it.
    recorded: NDArray[np.float64]
    #: The same in the simulation.
    simulated: NDArray[np.float64]
    #: Jobs by window.
    jobs: NDArray[np.int64]

    @property
    def _is_compared(self) -> NDArray[np.bool_]:
        return np.nan_to_num(self.recorded) > 0

    @property
    def compared_windows(self) -> int:
        """Windows with a recorded mean wait above zero."""
        return int(self._is_compared.sum())

    @property
    def percentage_errors(self) -> NDArray[np.float64]:
        """Errors of the simulated mean waits as shares of the recorded ones, without a sign; one
        for each compared window."""
        recorded = self.recorded[self._is_compared]
        return np.abs(self.simulated[self._is_compared] - recorded) / recorded

    @property
    def mean_absolute_percentage_error(self) -> float:
        """Mean of the percentage errors, as a share (0.03 is 3%); nan without a compared window."""
        errors = self.percentage_errors
        return float(errors.mean()) if len(errors) else math.nan


def windowed_waits(
    submit: ArrayLike,
    recorded_start: ArrayLike,
    simulated_start: ArrayLike,
    window: float = DAY,
    step: float | None = None,
) -> WindowedWaits:
    """Compare mean waits window by window.

    The first window begins with the first submission, each other one `step` seconds after the one
    before it, as long as it begins no later than the last submission; with a moving average
    (`step` below `window`), as long as it ends no later. A job counts in the windows in which it
    was submitted. O(jobs log jobs + windows).

    Parameters
    ----------
    submit, recorded_start, simulated_start : array_like of shape (jobs,)
        Times (s); nan: the job did not start. A job counts if it started in both.
    window, step : float
        Seconds; by default `step` is `window`.

    References
    ----------
    A. Wilkinson, J. Jones, H. Richardson, T. Dykes, U.-U. Haus: A fast simulator to enable HPC
    scheduling strategy comparisons (FastSim). ISC High Performance Workshops 2023,
    doi:10.1007/978-3-031-40843-4_24, section 3.2: a window of 14 days that moves by an hour.

    Examples
    --------
    Days: jobs of the first day wait 60 s instead of 50 s on average, the job of the second 100 s.

    >>> waits = windowed_waits([0, 10, 90_000], [40, 70, 90_100], [60, 70, 90_100])
    >>> waits.recorded.tolist(), waits.simulated.tolist(), waits.jobs.tolist()
    ([50.0, 100.0], [60.0, 100.0], [2, 1])
    >>> round(waits.mean_absolute_percentage_error, 9)
    0.1
    """
    submit = np.asarray(submit, dtype=float)
    recorded_wait = np.asarray(recorded_start, dtype=float) - submit
    simulated_wait = np.asarray(simulated_start, dtype=float) - submit
    if not window > 0 or (step is not None and not 0 < step <= window):
        raise ValueError(f"a window above 0 s, and a step of at most it, not {window}, {step}")
    order = np.argsort(submit, kind="stable")
    order = order[~np.isnan(recorded_wait + simulated_wait)[order]]
    if not len(order):
        return WindowedWaits(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))
    times = submit[order]
    step = window if step is None else step
    last_begin = times[-1] if step == window else max(times[0], times[-1] - window)
    begins = times[0] + step * np.arange(math.floor((last_begin - times[0]) / step) + 1)
    first, after = np.searchsorted(times, begins), np.searchsorted(times, begins + window)
    jobs = after - first

    def mean_by_window(waits: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.concatenate([[0.0], np.cumsum(waits[order])])
        return np.where(jobs > 0, (sums[after] - sums[first]) / np.maximum(jobs, 1), np.nan)

    return WindowedWaits(mean_by_window(recorded_wait), mean_by_window(simulated_wait), jobs)


@dataclass(frozen=True)
class Makespans:
    """Seconds from the first submission to the last end, recorded and simulated.

    Examples
    --------
    >>> round(Makespans(1000.0, 983.0).deviation, 9)
    -0.017
    """

    #: Of the recorded run (s).
    recorded: float
    #: Of the simulated run (s).
    simulated: float

    @property
    def deviation(self) -> float:
        """Difference of the simulated makespan as a share of the recorded one; nan where that is
        zero or unknown."""
        return self.simulated / self.recorded - 1 if self.recorded > 0 else math.nan


def makespans(submit: ArrayLike, recorded_end: ArrayLike, simulated_end: ArrayLike) -> Makespans:
    """Compare the makespans of a recorded and a simulated run.

    Parameters
    ----------
    submit, recorded_end, simulated_end : array_like of shape (jobs,)
        Times (s); nan: the job did not end. Jobs that ended in both count.

    References
    ----------
    A. Jokanovic, M. D'Amico, J. Corbalan: Evaluating SLURM simulator with real-machine SLURM and
    vice versa. PMBS 2018, doi:10.1109/PMBS.2018.8641556.

    Examples
    --------
    >>> makespans([100, 130], [700, np.nan], [730, 900])
    Makespans(recorded=600.0, simulated=630.0)
    """
    submit = np.asarray(submit, dtype=float)
    recorded_end = np.asarray(recorded_end, dtype=float)
    simulated_end = np.asarray(simulated_end, dtype=float)
    has_ended = ~np.isnan(submit + recorded_end + simulated_end)
    if not has_ended.any():
        return Makespans(math.nan, math.nan)
    begin = submit[has_ended].min()
    return Makespans(
        float(recorded_end[has_ended].max() - begin), float(simulated_end[has_ended].max() - begin)
    )
