"""What a caller says about a file of jobs: which part of it, and how it is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine


class PartOfLog(NamedTuple):
    """Which part of a log is wanted; None: all of it."""

    #: Number of a week, from 0.
    week: int | None = None
    #: Seconds from the first submission.
    begin: float | None = None
    #: Seconds from the first submission.
    until: float | None = None


#: All jobs of a log.
WHOLE_LOG = PartOfLog()


@dataclass(frozen=True)
class LogOptions:
    """How the log of a batch system is read."""

    #: The machine that the jobs ran on.
    machine: Machine
    #: Zone of dates, such as ``Europe/Stockholm``; None: they are taken as written.
    timezone: str | None = None
    #: Classes of jobs that are left out, such as ``too-wide``.
    drop: str | Iterable[str] | None = None
    #: Which part of the log is read.
    part: PartOfLog = WHOLE_LOG
    #: Whether jobs that run still are kept, until the end of the log.
    include_running: bool = False
    #: What stands between the fields of ``sacct -P``.
    delimiter: str = "|"


@dataclass(frozen=True)
class JobFileOptions:
    """What a caller says about a file of jobs of any kind; a reader refuses what is not for its
    kind."""

    #: Number of nodes, or of processors of a rigid log; None: the file says it.
    nodes: int | None = None
    #: ``dfrs`` or ``rigid``: what the numbers of an SWF log count; None: not given.
    convention: str | None = None
    #: Cores of a node of a dfrs log; None: its header says it.
    cores_per_node: int | None = None
    #: Memory of a node of a dfrs log, in KB or as ``2GB``; None: its header says it.
    memory_per_node: float | str | None = None
    #: Which part of a log is read.
    part: PartOfLog = WHOLE_LOG
    #: Classes of jobs that are left out, such as ``too-wide``.
    drop: str | Iterable[str] | None = None
    #: The machine that the jobs ran on; sacct output needs one.
    machine: Machine | None = None
    #: Zone of the dates of sacct output; None: not given.
    timezone: str | None = None
    #: Whether running jobs of sacct output are kept.
    include_running: bool = False
    #: Delimiter of sacct output; None: not given.
    delimiter: str | None = None
