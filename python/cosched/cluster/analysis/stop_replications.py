"""When the simulator of Slurm has run enough replications."""

import time
from collections.abc import Callable

import numpy as np

#: So many replications run however long they take: a single one does not show how they differ.
MIN_REPLICATIONS = 2

#: Asked after each few replications with their waits (s), shape (replications, jobs): no more?
ShouldStop = Callable[[np.ndarray], bool]


def stop_when_late(seconds: float | None, min_replications: int = MIN_REPLICATIONS) -> ShouldStop:
    """Return a test whether `seconds` from now have passed and there are enough replications.

    `seconds` None: they never pass.
    """
    deadline = np.inf if seconds is None else time.monotonic() + seconds
    return lambda waits: len(waits) >= min_replications and time.monotonic() > deadline


def stop_at_count(count: int, seconds: float | None) -> ShouldStop:
    """Return a test whether there are `count` replications, or `seconds` have passed."""
    is_late = stop_when_late(seconds)
    return lambda waits: len(waits) >= count or is_late(waits)
