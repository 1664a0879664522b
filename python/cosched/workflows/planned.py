"""What a run will take at best, and as a list schedule."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cosched.workflows.paths import Paths

#: More cores than any table of times has columns for: no limit.
_UNLIMITED = 4096


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

    Examples
    --------
    >>> needs = [{"cores": 1}] * 3
    >>> no_schedule_before(np.array([3.0, 3.0, 4.0]), needs, {"cores": 2}, [(0, 1)])
    6.0
    """
    if not len(seconds):
        return 0.0
    after: list[list[int]] = [[] for _ in seconds]
    for job, other in edges:
        after[job].append(other)
    longest = float(Paths(after).longest(seconds).max())
    areas = [
        float(np.dot(seconds, [need.get(name, 0) for need in needs])) / amount
        for name, amount in capacity.items()
        if amount > 0
    ]
    return max(longest, *areas)


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
    cores: str = "_cores",
) -> Plan:
    bound = no_schedule_before(seconds, needs, capacity, edges)
    return Plan(bound, bound, {})
