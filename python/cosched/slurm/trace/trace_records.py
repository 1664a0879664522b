"""The records of a trace; times are seconds on the time base of the jobs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class QueuedJob:
    """An entry of the queue of a cycle or pass: a job in one of its partitions."""

    #: The number of the job; of an array, of a task.
    job: str
    #: The partition of this entry.
    partition: str
    #: Slurm's priority of the job.
    priority: float


@dataclass(frozen=True)
class JobTest:
    """One test of a job in a backfill cycle: on which nodes it can begin, and when."""

    #: From when on the job may begin.
    from_time: float
    #: When more nodes of the node space are available; infinite: at no time.
    later_start: float
    #: Nodes that the node space and advance reservations leave the job from then on.
    avail_nodes: tuple[str, ...]
    #: When the job can begin on the selected nodes; infinite: there are too few.
    begin: float
    #: The nodes that were selected; empty: there are too few.
    select_nodes: tuple[str, ...]
    #: ``none``: the test decides. ``at_later_start``: the job would begin after `later_start`, and
    #: is tested again from then on. ``after_overlap``: a record of the node space lacks a selected
    #: node, and the job is tested again from its begin on.
    next: str


@dataclass(frozen=True)
class TracedJob:
    """What a cycle or pass did with an entry of its queue."""

    #: The number of the job; of an array, of a task.
    job: str
    #: The partition of this entry.
    partition: str
    #: Slurm's priority of the job.
    priority: float
    #: Second of the controller in which the job was taken from the queue.
    now: float
    #: The tests of the job, one after the other.
    tests: tuple[JobTest, ...]
    #: ``started``, ``reserved``, or why neither (``docs/howto/trace-a-cycle.md`` has the list).
    verdict: str
    #: The limit in the way, as squeue names it; empty: none.
    limit: str
    #: The job that started or has the reservation: of an array, maybe another task; empty: none.
    started_job: str
    #: Begin and end of the start or reservation; not a number: there is none.
    begin: float
    #: The end of the start or reservation (s); not a number: there is none.
    end: float
    #: Nodes of the start or reservation; empty: there is none.
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class NodeSpaceRecord:
    """A record of the node space: nodes that no pending job has reserved from begin to end."""

    #: From when on (s).
    begin: float
    #: Until when (s).
    end: float
    #: The nodes that are not reserved.
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class LockYield:
    """A cycle gives its locks back for a while, and goes on later."""

    #: When the cycle gave its locks back (s).
    time: float
    #: When it went on (s).
    resume_time: float
    #: Jobs that the cycle had examined by then.
    jobs_examined: int


@dataclass(frozen=True)
class Cycle:
    """One backfill cycle.

    Attributes
    ----------
    number : int
        From 1, over all cycles of the simulation.
    begin_time, end_time : float
    window_end : float
        The end of the node space: bf_window after the begin, rounded down to bf_resolution.
    job_test_count : int
        Jobs that count for bf_max_job_test.
    end : str
        Why the cycle ended: ``end_of_queue, max_job_test, max_time, max_job_start,
        node_space_size, gave_up``.
    queue : tuple of QueuedJob
        In the order in which jobs are tried, with the priorities at the begin.
    jobs : tuple of TracedJob
        What the cycle came to.
    yields : tuple of LockYield
    node_space : tuple of NodeSpaceRecord
        At the end of the cycle.
    """

    number: int
    begin_time: float
    end_time: float
    window_end: float
    job_test_count: int
    end: str
    queue: tuple[QueuedJob, ...]
    jobs: tuple[TracedJob, ...]
    yields: tuple[LockYield, ...]
    node_space: tuple[NodeSpaceRecord, ...]

    @property
    def starts(self) -> tuple[TracedJob, ...]:
        """Jobs that the cycle started."""
        return _with_verdict(self.jobs, "started")

    @property
    def reservations(self) -> tuple[TracedJob, ...]:
        """Jobs that got a reservation in the node space."""
        return _with_verdict(self.jobs, "reserved")


@dataclass(frozen=True)
class MainPass:
    """One pass of the main scheduler.

    Attributes
    ----------
    time : float
    is_full : bool
        Over the whole queue, not only over default_queue_depth jobs.
    queue : tuple of QueuedJob
    jobs : tuple of TracedJob
        What the pass came to, without tests. A job behind another one that waits for nodes of the
        same partition is named only where it could change something.
    """

    time: float
    is_full: bool
    queue: tuple[QueuedJob, ...]
    jobs: tuple[TracedJob, ...]

    @property
    def starts(self) -> tuple[TracedJob, ...]:
        """Jobs that the pass started."""
        return _with_verdict(self.jobs, "started")


def _with_verdict(jobs: tuple[TracedJob, ...], verdict: str) -> tuple[TracedJob, ...]:
    return tuple(job for job in jobs if job.verdict == verdict)


@dataclass(frozen=True)
class Trace:
    """What the cycles and passes of a simulation did.

    Attributes
    ----------
    cycles : tuple of Cycle
        Those that were asked for.
    passes : tuple of MainPass
    cycle_count : int
        How many cycles the simulation had.
    epoch : float
        Unix time of second 0; not a number: not known.

    Examples
    --------
    >>> jobs = {"submit": [0, 5], "tasks": [2, 2], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [600, 60], "estimate": [600, 60]}
    >>> inst = cs.cluster.Instance(jobs, nodes=2)
    >>> run = cs.slurm.backfill(inst, controller_start=-100, epoch=0, trace=3)
    >>> [(cycle.number, cycle.end) for cycle in run.trace.cycles]
    [(3, 'end_of_queue')]
    >>> [(job.job, job.verdict, job.begin) for job in run.trace.cycles[0].jobs]
    [('1', 'reserved', 600.0)]
    """

    cycles: tuple[Cycle, ...]
    passes: tuple[MainPass, ...]
    cycle_count: int
    epoch: float

    def to_dict(self) -> dict[str, Any]:
        """The records as JSON has them: infinite times and those that are no numbers are None."""
        plain_fields = _plain(asdict(self))
        assert isinstance(plain_fields, dict)
        return plain_fields


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
