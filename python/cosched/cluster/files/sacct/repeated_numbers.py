"""Jobs of a log with the same number: runs of a requeued job, sizes of a resized one, or numbers
that came again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cosched.lazy import pd

#: A job that has ended can be requeued until slurmctld forgets it (MinJobAge, five minutes unless
#: configured): after a day the number is that of another job.
_LATEST_REQUEUE = 86400.0


class RepeatedNumbers(NamedTuple):
    """What each job is, whose number another job has that started before it.

    Attributes
    ----------
    is_requeued : numpy.ndarray of bool
        A further run of the same job.
    is_resized : numpy.ndarray of bool
        A further size of the same job, which went on (``RESIZING`` is the state of the size
        before).
    is_reused : numpy.ndarray of bool
        Another job: its number was given out again.
    overlaps : numpy.ndarray of bool
        It started before the other had ended: which of the two cases holds is unknown.
    previous_end : numpy.ndarray
        When the run or size before it ended, of those that are requeued or resized; else -inf.
    """

    is_requeued: np.ndarray
    is_resized: np.ndarray
    is_reused: np.ndarray
    overlaps: np.ndarray
    previous_end: np.ndarray


def repeated_numbers(jobs: pd.DataFrame) -> RepeatedNumbers:
    """Of jobs with ``id, submit, start, runtime, status`` and, where known, ``user``."""
    count = len(jobs)
    is_requeued, is_resized, is_reused, overlaps = np.zeros((4, count), dtype=bool)
    previous_end = np.full(count, -np.inf)
    if not jobs["id"].duplicated().any():
        return RepeatedNumbers(is_requeued, is_resized, is_reused, overlaps, previous_end)
    start, submit = jobs["start"].to_numpy(), jobs["submit"].to_numpy()
    end = start + jobs["runtime"].to_numpy()
    number = pd.factorize(jobs["id"])[0]
    order = np.lexsort((end, start, number))
    same = number[order][1:] == number[order][:-1]
    later, earlier = order[1:][same], order[:-1][same]
    is_early = start[later] < end[earlier]
    is_same_job = submit[later] <= end[earlier] + _LATEST_REQUEUE
    if "user" in jobs:
        user = jobs["user"].to_numpy()
        is_same_job &= user[later] == user[earlier]
    overlaps[later] = is_early
    changes_size = jobs["status"].to_numpy()[earlier] == "resizing"
    is_requeued[later] = is_same_job & ~is_early & ~changes_size
    is_resized[later] = is_same_job & ~is_early & changes_size
    is_reused[later] = ~is_same_job & ~is_early
    previous_end[later] = np.where(is_same_job & ~is_early, end[earlier], -np.inf)
    return RepeatedNumbers(is_requeued, is_resized, is_reused, overlaps, previous_end)
