"""One ended job of another batch system, in units that all systems share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class JobRecord:
    """One run of a job.

    Times are seconds since 1970 in UTC; nan where the log does not say them.
    """

    #: Line of the file on which the record begins, from 1.
    line: int
    #: Number of the job; of a task of an array ``NUMBER_INDEX``.
    number: str
    #: One of Slurm's states, such as COMPLETED; UNKNOWN: the log does not say how it ended.
    state: str
    #: When the job was submitted.
    submit: float
    #: When the job started; nan: it never did.
    start: float
    #: When the job ended.
    end: float
    #: Cores (slots) that the job had, else those that it asked for; 0: not known.
    cores: int
    #: When the job could have started first; nan: not known.
    eligible: float = math.nan
    #: Nodes that the job had; nan: not known.
    nodes: float = math.nan
    #: Time limit in seconds; infinite: none; nan: not known.
    limit: float = math.nan
    #: GB (2^30 bytes) that the whole job asked for; nan: not known.
    memory_gb: float = math.nan
    #: GPUs that the whole job asked for.
    gpus: int = 0
    #: GB at the peak of the whole job; nan: not known.
    used_memory_gb: float = math.nan
    #: Processor seconds that the whole job used; nan: not known.
    cpu_seconds: float = math.nan
    #: Who submitted the job; empty: not known.
    user: str = ""
    #: The Unix group of the user; empty: not known.
    group: str = ""
    #: The account or project that is charged; empty: not known.
    account: str = ""
    #: The queue.
    partition: str = ""
    #: The name that the user gave the job; empty: not known.
    name: str = ""
    #: Names of the nodes, joined by commas.
    hosts: str = ""


class LeftOut(NamedTuple):
    """A line of a log that is no ended job, or that cannot be read."""

    #: Line of the file, from 1.
    line: int
    #: Why the line is left out; lines of one reason are counted together.
    reason: str


#: What a reader of a log yields.
Records = Iterator[JobRecord | LeftOut]


def is_out_of_time(runtime: float, limit: float) -> bool:
    """Whether a job that was killed had reached its limit, within a minute of what systems allow.

    Examples
    --------
    >>> is_out_of_time(3605.0, 3600.0), is_out_of_time(1800.0, 3600.0)
    (True, False)
    """
    return limit < math.inf and runtime >= limit - 1
