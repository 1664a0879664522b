"""Jobs that wait although the machine has room for them."""

from __future__ import annotations

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import resources
from cosched.cluster.result.compare_waits import AT_ONCE
from cosched.cluster.result.groups import Capacity
from cosched.core.arrays import levels

#: A job waits on an idle machine if there is room for it during so large a part of its wait.
IDLE_PART = 0.5
#: So many different requests are looked at, the most frequent first.
MAX_REQUESTS = 1000
#: Room for rounding of sums of memory.
_ROUNDING = 1e-9


def has_idle_wait(instance: Instance, start: np.ndarray) -> np.ndarray:
    """Which jobs wait more than a minute although the machine has room most of the time.

    A machine has room for a job while the nodes that the job may use have enough idle cores, memory
    and GPUs in sum, whoever else may use these nodes. On which nodes they are is not looked at.

    Parameters
    ----------
    instance : Instance
    start : numpy.ndarray, shape (n,)
        When each job starts (s).

    Returns
    -------
    numpy.ndarray of bool, shape (n,)
        O(q n log n) for q different requests, 1,000 at most.
    """
    eligible = instance.column("eligible")
    waits = start - eligible > AT_ONCE
    found = np.zeros(len(instance), dtype=bool)
    if not waits.any():
        return found
    cells, allowed, _ = instance.layout
    masks = allowed if len(cells) else np.ones(len(instance), dtype=np.uint64)
    amounts = {name: amount for name, _, amount in resources(instance)}
    requests = np.column_stack([masks.astype(float), *amounts.values()])[waits]
    different, request, counts = np.unique(
        requests, axis=0, return_inverse=True, return_counts=True
    )
    frequent = np.argsort(-counts, kind="stable")[:MAX_REQUESTS].tolist()
    waiting = np.flatnonzero(waits)
    room = _Room(instance, start, masks, amounts)
    for number in frequent:
        jobs = waiting[request.reshape(-1) == number]
        needs = dict(zip(amounts, different[number, 1:].tolist(), strict=True))
        idle = room.seconds(int(masks[jobs[0]]), needs, eligible[jobs], start[jobs])
        found[jobs] = idle >= IDLE_PART * (start[jobs] - eligible[jobs])
    return found


class _Room:
    """How long parts of the machine have room for a request."""

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
        """Seconds of each interval with room for a request on the parts of `mask`."""
        has_room = np.ones(len(self._times), dtype=bool)
        for name, need in needs.items():
            there = self._capacity.of(name, mask)
            if need > 0 and there > 0:
                has_room &= self._level(name, mask) + need <= there * (1 + _ROUNDING)
        area = np.concatenate([[0.0], np.cumsum(has_room[:-1] * np.diff(self._times))])
        # Before the first start of the log nothing runs.
        before = np.minimum(end, self._times[0]) - np.minimum(begin, self._times[0])
        until_end, until_begin = (np.interp(time, self._times, area) for time in (end, begin))
        return before + until_end - until_begin

    def _level(self, name: str, mask: int) -> np.ndarray:
        """What is used of a resource from each time on by jobs that may use these parts."""
        if (name, mask) not in self._levels:
            shares = (self._masks & np.uint64(mask)) != 0
            holds = shares & (self._amounts[name] > 0)
            times, level = levels(self._start[holds], self._end[holds], self._amounts[name][holds])
            place = np.searchsorted(times, self._times, side="right") - 1
            padded = np.append(level, 0.0)  # place -1: before the first of these jobs
            self._levels[name, mask] = padded[place]
        return self._levels[name, mask]
