"""How many pending jobs start soon, by their median start times."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cosched.lazy import pd


@dataclass(frozen=True)
class StartSummary:
    """Counts of pending jobs, by their median start times."""

    #: How many jobs wait.
    pending_jobs: int
    #: How many of them start within an hour, by the median.
    within_hour: int
    #: How many of them start within 24 hours, by the median.
    within_day: int
    #: Jobs that start in no more than half of the samples.
    never: int


def summarise_starts(frame: pd.DataFrame) -> StartSummary:
    """Return the counts of what :func:`cosched.slurm.when` returned."""
    medians = frame["p50"].tolist()
    return StartSummary(
        pending_jobs=len(medians),
        within_hour=sum(median <= 3600 for median in medians),
        within_day=sum(median <= 86400 for median in medians),
        never=sum(map(math.isinf, medians)),
    )
