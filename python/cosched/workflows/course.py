"""What a workflow manager started when, and how good that was."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from cosched.workflows.planned import no_schedule_before


@dataclass
class JobRun:
    """One job: where it is, and how it went."""

    name: str
    units: tuple[int, ...]
    needs: Mapping[str, int]
    start: float
    end: float = math.nan
    state: str = "pending"
    attempt: int = 1


@dataclass
class Course:
    """The jobs of a run as they start and end; seconds since it began.

    Examples
    --------
    >>> course = Course({"cores": 2})
    >>> course.start("a", "align", {"cores": 1}, 0.0)
    >>> course.start("b", "sort", {"cores": 1}, 0.5)
    >>> course.end("a", 2.0), course.end("b", 4.5)
    (2.0, 4.0)
    >>> course.no_schedule_before([])
    4.0
    """

    capacity: Mapping[str, int]
    cores: str = "cores"
    _runs: dict[Hashable, JobRun] = field(default_factory=dict)
    _free: list[int] = field(default_factory=list)
    _lanes: int = 0
    _running: dict[Hashable, None] = field(default_factory=dict)  # in the order of their starts

    def start(self, job: Hashable, name: str, needs: Mapping[str, int], now: float) -> None:
        """A job starts, on the free cores with the lowest numbers."""
        count = max(needs.get(self.cores, 1), 1)
        while len(self._free) < count:
            heapq.heappush(self._free, self._lanes)
            self._lanes += 1
        units = tuple(heapq.heappop(self._free) for _ in range(count))
        attempt = self._runs[job].attempt + 1 if job in self._runs else 1
        self._runs[job] = JobRun(name, units, needs, now, attempt=attempt)
        self._running[job] = None

    def end(self, job: Hashable, now: float, state: str = "completed") -> float:
        """A job has ended: its seconds."""
        run = self._runs[job]
        run.end, run.state = now, state
        del self._running[job]
        for unit in run.units:
            heapq.heappush(self._free, unit)
        return now - run.start

    @property
    def runs(self) -> Mapping[Hashable, JobRun]:
        """The last run of each job, in the order of the first starts."""
        return self._runs

    @property
    def running(self) -> list[Hashable]:
        """Jobs that have started and not ended."""
        return list(self._running)

    @property
    def took(self) -> float:
        """Seconds until the last end."""
        return max((run.end for run in self._runs.values() if not math.isnan(run.end)), default=0.0)

    @property
    def completed(self) -> list[Hashable]:
        """Jobs that completed, in the order of their starts."""
        return [job for job, run in self._runs.items() if run.state == "completed"]

    def no_schedule_before(self, edges: Collection[tuple[int, int]]) -> float:
        """Seconds before which no schedule of the jobs that completed ends: their times and needs
        as they were, on the same resources, with edges (before, after) by places in `completed`.
        """
        runs = [self._runs[job] for job in self.completed]
        seconds = np.array([run.end - run.start for run in runs])
        return no_schedule_before(seconds, [run.needs for run in runs], self.capacity, edges)
