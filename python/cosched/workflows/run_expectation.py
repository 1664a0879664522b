"""What a run takes at best and as a list schedule; what started when, and how good that was."""

import graphlib
import heapq
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from cosched import moldable
from cosched.core.arrays import edge_pairs, real_array
from cosched.errors import InvalidInstance


class Paths:
    """Jobs by their height, the most edges on a path behind them.

    Parameters
    ----------
    after : sequence of sequences of int
        The jobs that wait for each job.

    Notes
    -----
    Built in O(n + e); a table of longest paths takes O(n + e) in as many array operations as there
    are heights.

    Examples
    --------
    >>> Paths([[1, 2], [2], []]).longest(np.array([1.0, 5.0, 2.0])).tolist()
    [8.0, 7.0, 2.0]
    """

    def __init__(self, after: Sequence[Sequence[int]]) -> None:
        heights = _heights(after)
        self._steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        with_edges = [job for job in range(len(after)) if after[job]]
        with_edges.sort(key=heights.__getitem__)
        for _, alike in groupby(with_edges, key=heights.__getitem__):
            jobs = list(alike)
            begins = np.cumsum([0] + [len(after[job]) for job in jobs[:-1]])
            targets = np.array([k for job in jobs for k in after[job]])
            self._steps.append((np.array(jobs), begins, targets))

    def longest(self, seconds: np.ndarray) -> np.ndarray:
        """Seconds of the longest path from the start of each job."""
        paths = seconds.copy()
        for jobs, begins, targets in self._steps:
            paths[jobs] += np.maximum.reduceat(paths[targets], begins)
        return paths


def _heights(after: Sequence[Sequence[int]]) -> list[int]:
    """The most edges on a path from each job."""
    heights = [0] * len(after)
    for job in graphlib.TopologicalSorter(dict(enumerate(after))).static_order():
        heights[job] = max((heights[k] + 1 for k in after[job]), default=0)
    return heights


#: More than this of a resource is no limit.
_NO_LIMIT = 2**31
#: A job takes some time (s).
_LEAST = 1e-6


def no_schedule_before(
    seconds: np.ndarray,
    needs: Sequence[Mapping[str, int]],
    capacity: Mapping[str, int],
    edges: Collection[tuple[int, int]],
) -> float:
    """Seconds before which no schedule of rigid jobs ends.

    The longest path, and for each resource the amount times seconds that the jobs need over what
    there is of it. O(n r + e).

    Parameters
    ----------
    seconds : (n,) array
    needs : sequence of dict
        Of each job, name to amount.
    capacity : dict
    edges : collection of (before, after)

    Raises
    ------
    InvalidInstance
        Seconds that are no numbers, or edges that are no pairs of jobs.

    Examples
    --------
    >>> needs = [{"cores": 1}] * 3
    >>> no_schedule_before(np.array([3.0, 3.0, 4.0]), needs, {"cores": 2}, [(0, 1)])
    6.0
    """
    seconds = real_array(seconds, "seconds", 1)
    pairs = _edges_between(edges, len(seconds))
    if not len(seconds):
        return 0.0
    after: list[list[int]] = [[] for _ in seconds]
    for job, other in pairs:
        after[job].append(other)
    longest = float(Paths(after).longest(seconds).max())
    areas = [
        float(np.dot(seconds, [need.get(name, 0) for need in needs])) / amount
        for name, amount in capacity.items()
        if amount > 0
    ]
    return max(longest, *areas)


def _edges_between(edges: Collection[tuple[int, int]], job_count: int) -> list[tuple[int, int]]:
    """The pairs of `edges`, refused where they are no pairs of jobs."""
    pairs = edge_pairs(edges if isinstance(edges, np.ndarray) else list(edges))
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < job_count):
        raise InvalidInstance(f"edges: expected pairs of jobs 0..{job_count - 1}")
    return [(job, other) for job, other in pairs.tolist()]


@dataclass(frozen=True)
class Plan:
    """What is expected of a run.

    Attributes
    ----------
    seconds : float
        The end of a list schedule by longest paths.
    bound : float
        No schedule ends before (s), if the times hold.
    spans : dict
        Job to planned start and end (s).
    """

    seconds: float
    bound: float
    spans: Mapping[Hashable, tuple[float, float]]


def plan(
    jobs: Sequence[Hashable],
    seconds: np.ndarray,
    needs: Sequence[Mapping[str, int]],
    capacity: Mapping[str, int],
    edges: Collection[tuple[int, int]],
    *,
    cores: str = "cores",
) -> Plan:
    """What is expected of jobs on what is free: a list schedule.

    Parameters
    ----------
    jobs : sequence
        The keys of the plan's spans.
    seconds : (n,) array
    needs : sequence of dict
        Of each job, name to amount.
    capacity : dict
    edges : collection of (before, after)
        By places.
    cores : str
        The resource that is processors.

    Raises
    ------
    InvalidInstance
        A job needs more than there is. Seconds are no numbers, or edges no pairs of jobs.

    Examples
    --------
    >>> needs = [{"cores": 1}] * 3
    >>> made = plan("abc", np.array([3.0, 3.0, 4.0]), needs, {"cores": 2}, [(0, 1)])
    >>> made.seconds, made.bound, made.spans["b"]
    (6.0, 6.0, (3.0, 6.0))
    """
    seconds = real_array(seconds, "seconds", 1)
    edges = _edges_between(edges, len(seconds))
    list_schedule = moldable.list_local(_instance(seconds, needs, capacity, edges, cores))
    spans = zip(list_schedule.start.tolist(), list_schedule.end.tolist(), strict=True)
    bound = no_schedule_before(seconds, needs, capacity, edges)
    return Plan(
        list_schedule.value, min(bound, list_schedule.value), dict(zip(jobs, spans, strict=True))
    )


def _instance(
    seconds: np.ndarray,
    needs: Sequence[Mapping[str, int]],
    capacity: Mapping[str, int],
    edges: Collection[tuple[int, int]],
    cores: str,
) -> moldable.Instance:
    """Rigid jobs: one finite count each. Where cores have no limit, one core of as many as jobs."""
    limited = capacity.get(cores, _NO_LIMIT) < _NO_LIMIT
    counts = np.array([max(need.get(cores, 1), 1) if limited else 1 for need in needs])
    times = np.full((len(needs), int(counts.max())), np.inf)
    times[np.arange(len(needs)), counts - 1] = np.maximum(seconds, _LEAST)
    shared = {
        name: [float(need.get(name, 0)) for need in needs]
        for name, amount in capacity.items()
        if name != cores and amount < _NO_LIMIT
    }
    return moldable.Instance(
        times,
        machines=capacity[cores] if limited else len(needs),
        edges=list(edges),
        resources=shared or None,
        capacity={name: float(capacity[name]) for name in shared} or None,
    )


@dataclass
class JobRun:
    """One job: where it is, and how it went."""

    #: The rule and what it makes.
    name: str
    #: Numbers of the cores that the job has, from 0.
    units: tuple[int, ...]
    #: How much it needs of each resource.
    needs: Mapping[str, int]
    #: When it started (s since the run began).
    start: float
    #: When it ended (s since the run began); nan: it has not ended.
    end: float = math.nan
    #: ``pending`` while it runs, then how it ended, such as ``completed``.
    state: str = "pending"
    #: Number of the attempt, from 1.
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

    #: How much there is of each resource.
    capacity: Mapping[str, int]
    #: The resource that is cores.
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
