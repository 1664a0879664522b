"""Groups of jobs whose mean wait differs most between two simulations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cosched.cluster.analysis.replications import Spread
from cosched.cluster.instance import Instance
from cosched.cluster.result.groups import keys_of, range_of

#: How jobs are grouped.
_GROUPINGS = ("partition", "account", "qos", "user", "size", "gpu")
#: Groups of fewer jobs say little.
_MIN_GROUP_JOBS = 5
#: Groups that are shown: those that change most.
MAX_GROUPS = 10


@dataclass(frozen=True)
class GroupChange:
    """How much longer a group of jobs waits in another simulation."""

    #: The grouping: ``partition``, ``user``, ...
    what: str
    #: Name of the group; of a grouping by size a range.
    name: str
    #: How many jobs the group has in the other simulation.
    jobs: int
    #: Mean wait of the other simulation minus that of the base (s).
    difference: Spread


@dataclass(frozen=True)
class JobWaits:
    """Jobs and how long they waited in each replication."""

    #: The jobs.
    instance: Instance
    #: Waits of the measured jobs (s), shape (replications, measured jobs).
    waits: np.ndarray


def largest_changes(base: JobWaits, other: JobWaits) -> list[GroupChange]:
    """Return the groups whose mean wait changes most, the largest difference first."""
    all_changes = (
        change for grouping in _GROUPINGS for change in _changes_by(grouping, base, other)
    )
    changes = [change for change in all_changes if change.difference != Spread(0.0, 0.0, 0.0)]
    changes.sort(key=lambda change: (-abs(change.difference.mean), change.what, change.name))
    return changes[:MAX_GROUPS]


def _changes_by(grouping: str, base: JobWaits, other: JobWaits) -> Iterator[GroupChange]:
    """Return the change of each group of one grouping, where both simulations have the group."""
    base_keys = _keys_of_measured_jobs(base.instance, grouping)
    other_keys = _keys_of_measured_jobs(other.instance, grouping)
    if base_keys is None or other_keys is None or len(set(base_keys.tolist())) < 2:
        return
    for key in dict.fromkeys(other_keys.tolist()):
        is_in_group, is_in_base_group = other_keys == key, base_keys == key
        if is_in_group.sum() < _MIN_GROUP_JOBS or not is_in_base_group.any():
            continue
        difference = _paired_differences(
            other.waits[:, is_in_group].mean(axis=1), base.waits[:, is_in_base_group].mean(axis=1)
        )
        name = range_of(key) if grouping == "size" else str(key)
        yield GroupChange(grouping, name, int(is_in_group.sum()), Spread.of(difference))


def _paired_differences(values: np.ndarray, base_values: np.ndarray) -> np.ndarray:
    """Return the differences replication by replication, as far as both have them: replications of
    one number share their random clocks."""
    count = min(len(values), len(base_values))
    return values[:count] - base_values[:count]


def _keys_of_measured_jobs(instance: Instance, grouping: str) -> np.ndarray | None:
    """Return the group of each measured job; None: the jobs do not tell."""
    keys = keys_of(instance, grouping)
    return None if keys is None else np.asarray(keys)[instance.measured]
