"""Jobs that wait although the machine has room for them."""

from __future__ import annotations

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import resources
from cosched.cluster.result.compare_waits import AT_ONCE
from cosched.cluster.result.groups import Capacity
from cosched.core.arrays import step_function

#: A job waits on an idle machine if there is room for it during so large a part of its wait.
IDLE_PART = 0.5
#: So many different requests are examined, the most frequent first.
MAX_REQUESTS = 1000
#: Relative rounding error of sums of memory.
_ROUNDING = 1e-9


def has_idle_wait(instance: Instance, start: np.ndarray) -> np.ndarray:
    """Which jobs wait more than a minute although the machine has room most of the time.

    A machine has room for a job while the nodes that the job may use have enough idle cores, memory
    and GPUs in sum, whoever else may use these nodes. How they lie on single nodes is not examined.

    Parameters
    ----------
    instance : Instance
    start : numpy.ndarray, shape (n,)
        When each job starts (s).

    Returns
    -------
    numpy.ndarray of bool, shape (n,)
        True for these jobs.

    Notes
    -----
    O(q n log n) for q different requests, at most :data:`MAX_REQUESTS`.
    """
    eligible = instance.column("eligible")
    is_waiting = start - eligible > AT_ONCE
    waits_idle = np.zeros(len(instance), dtype=bool)
    if not is_waiting.any():
        return waits_idle
    cells, allowed, _ = instance.partition_layout
    masks = allowed if len(cells) else np.ones(len(instance), dtype=np.uint64)
    amounts = {name: amount for name, _, amount in resources(instance)}
    requests = np.column_stack([masks.astype(float), *amounts.values()])[is_waiting]
    different_requests, request_number, counts = np.unique(
        requests, axis=0, return_inverse=True, return_counts=True
    )
    most_frequent = np.argsort(-counts, kind="stable")[:MAX_REQUESTS].tolist()
    waiting_jobs = np.flatnonzero(is_waiting)
    idle_capacity = _IdleCapacity(instance, start, masks, amounts)
    for number in most_frequent:
        jobs = waiting_jobs[request_number.reshape(-1) == number]
        needs = dict(zip(amounts, different_requests[number, 1:].tolist(), strict=True))
        mask = int(masks[jobs[0]])
        idle_seconds = idle_capacity.seconds(mask, needs, eligible[jobs], start[jobs])
        waits_idle[jobs] = idle_seconds >= IDLE_PART * (start[jobs] - eligible[jobs])
    return waits_idle


class _IdleCapacity:
    """How long parts of the machine have enough idle resources for a request."""

    def __init__(
        self,
        instance: Instance,
        start: np.ndarray,
        masks: np.ndarray,
        amounts: dict[str, np.ndarray],
    ) -> None:
        self._start, self._end = start, start + instance.column("runtime")
        self._times = np.unique(np.concatenate([self._start, self._end]))
        self._masks, self._amounts = masks, amounts
        self._capacity = Capacity(instance)
        self._levels: dict[tuple[str, int], np.ndarray] = {}

    def seconds(
        self, mask: int, needs: dict[str, float], begin: np.ndarray, end: np.ndarray
    ) -> np.ndarray:
        """Seconds of each interval [begin, end) in which the parts of `mask` can hold a request."""
        can_hold = np.ones(len(self._times), dtype=bool)
        for name, need in needs.items():
            capacity = self._capacity.of(name, mask)
            if need > 0 and capacity > 0:
                can_hold &= self._level(name, mask) + need <= capacity * (1 + _ROUNDING)
        idle_time = np.concatenate([[0.0], np.cumsum(can_hold[:-1] * np.diff(self._times))])
        # No job runs before the first start of the log.
        first_start = self._times[0]
        seconds_before_log = np.minimum(end, first_start) - np.minimum(begin, first_start)
        until_end, until_begin = (np.interp(time, self._times, idle_time) for time in (end, begin))
        return seconds_before_log + until_end - until_begin

    def _level(self, name: str, mask: int) -> np.ndarray:
        """Return the amount of a resource in use at each time, by jobs that may use these parts."""
        if (name, mask) not in self._levels:
            may_use_parts = (self._masks & np.uint64(mask)) != 0
            jobs = np.flatnonzero(may_use_parts & (self._amounts[name] > 0))
            times, level = step_function(
                self._start[jobs], self._end[jobs], self._amounts[name][jobs]
            )
            place = np.searchsorted(times, self._times, side="right") - 1
            padded = np.append(level, 0.0)  # place -1: before the first of these jobs
            self._levels[name, mask] = padded[place]
        return self._levels[name, mask]
