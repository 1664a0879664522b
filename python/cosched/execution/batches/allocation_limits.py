"""The limit of an allocation, and the part of it that its tasks may take.

The runner ends its tasks ``runner.END_MARGIN`` seconds before Slurm ends the job, and Slurm counts
from before the script begins. Both together are :data:`RESERVE`.
"""

import math

#: Seconds of an allocation's limit that are not for its tasks.
RESERVE = 30.0
#: Slurm counts limits in minutes.
_MINUTE = 60.0


def time_of(limit: float) -> float:
    """Seconds that Slurm is asked for, so that tasks may take `limit` of them: whole minutes.

    Examples
    --------
    >>> time_of(90.0), time_of(91.0)
    (120.0, 180.0)
    """
    return _MINUTE * math.ceil(round((limit + RESERVE) / _MINUTE, 9))


def limit_of(time: float) -> float:
    """Seconds that tasks may take of an allocation of `time`, which Slurm rounds up to minutes.

    Examples
    --------
    >>> limit_of(120.0), limit_of(45.0), limit_of(5.0)
    (90.0, 30.0, 5.0)
    """
    return min(time, _MINUTE * math.ceil(round(time / _MINUTE, 9)) - RESERVE)
