"""How long the jobs of a workflow are expected to take."""

import math
import time
from typing import Any

import numpy as np

from cosched.workflows import History
from cosched.workflows.job_times import ExpectedTimes
from snakemake_scheduler_plugin_cosched import jobs


class JobTimes:
    """Expected seconds of jobs: what earlier runs, this run and their limits say.

    Parameters
    ----------
    history : path-like or None
        File in which times are kept between runs.
    """

    def __init__(self, history: Any) -> None:
        self._history = History.read(history)
        self._times = ExpectedTimes()
        self._numbers_with_limit: set[int] = set()  # jobs of which no more than a limit is known
        self._names: list[tuple[str, str]] = []  # number -> rule, name
        self._first_start = math.inf

    def add(self, job: object, limit: float | None) -> int:
        """The number of a new job; its limit (s) counts where no time of it is known."""
        rule, name = jobs.rule(job), jobs.name(job)
        measured = jobs.benchmark(job) or self._history.seconds(rule, name)
        has_limit = measured is None
        seconds = limit if has_limit else measured
        number = self._times.add(rule, seconds, has_limit, jobs.subjects(job))
        self._names.append((rule, name))
        if has_limit and not self._times.learned:
            self._numbers_with_limit.add(number)
        return number

    def name(self, number: int) -> str:
        """Rule and first output of a job."""
        return self._names[number][1]

    def learn(self, number: int, seconds: float) -> None:
        """What a job took."""
        self._times.learn(number, seconds)
        self._history.learn(*self._names[number], seconds)

    def note_start(self) -> None:
        """Some job has started."""
        self._first_start = min(self._first_start, time.monotonic())

    def expected(self) -> np.ndarray:
        """Seconds of jobs. While nothing has ended limits say too much: as long as the first run.

        Examples are limits of ten minutes on jobs of seconds: they are no reason to ask for more
        allocations.
        """
        seconds = self._times.seconds()
        if self._numbers_with_limit and not self._times.learned:
            numbers = list(self._numbers_with_limit)
            elapsed = max(time.monotonic() - self._first_start, 1.0)
            seconds[numbers] = np.minimum(seconds[numbers], elapsed)
        return seconds

    def write(self) -> None:
        """Keep the times in the file of the history, if there is one."""
        self._history.write()
