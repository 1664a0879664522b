"""A changed cluster beside the one that is: on common clocks, so that luck cancels out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.result import Result
from cosched.cluster.result.groups import keys_of, range_of, starts_of

_GROUPS = ("partition", "account", "user", "size", "gpu")
#: Groups of fewer jobs say little.
_FEWEST = 5
#: Draws that say how far they lie from each other.
_LEAST = 4
#: Groups that are shown: those that change most.
MOST = 10


@dataclass(frozen=True)
class Spread:
    """A number over the draws: its mean, and what 90% of the draws lie between."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray, whole: int = 1) -> Spread:
        """Of fewer draws than the `whole` they only foretell what 90% of all lie between: an
        interval of prediction, with Student's quantile."""
        mean = float(values.mean())
        if 1 < len(values) < whole:
            half = float(_beyond(values, 0.95))
            return cls(mean, mean - half, mean + half)
        return cls(mean, *np.percentile(values, [5, 95]).tolist())

    @property
    def noise(self) -> bool:
        """Whether it may as well be nothing: zero lies inside."""
        return self.low <= 0 <= self.high


def _beyond(values: np.ndarray, share: float) -> float:
    """How far above their mean a further draw is with this chance at most."""
    from scipy.stats import t

    count = len(values)
    return float(t.ppf(share, count - 1) * values.std(ddof=1) * np.sqrt(1 + 1 / count))


def clear(differences: np.ndarray, whole: int) -> bool:
    """Whether it is clear, before all draws are there, on which side of zero 90% of them lie.

    On both, as soon as so many are on each that the others cannot change it; on one where hardly
    any further draw is on the other: one in two hundred, by Student's quantile.
    """
    beyond = int(np.ceil(0.05 * (whole - 1))) + 1
    if min((differences <= 0).sum(), (differences >= 0).sum()) >= beyond:
        return True
    mean = abs(float(differences.mean()))
    return len(differences) >= _LEAST and mean > _beyond(differences, 0.995)


@dataclass(frozen=True)
class GroupChange:
    """How much longer a group of jobs waits (s)."""

    what: str
    name: str
    jobs: int
    difference: Spread


def waits(result: Result) -> np.ndarray:
    """Seconds that each measured job waits in each draw, a row a draw; one row without draws."""
    instance = result.instance
    waited = starts_of(result) - instance.column("eligible")
    return waited[:, instance.measured]


def mean_waits(result: Result) -> np.ndarray:
    """Of each draw (s)."""
    return waits(result).mean(axis=1)


def row_of(what: str, policy: str, base: Result, other: Result) -> dict[str, Any]:
    """A row of the audit's JSON; seconds."""
    own, now = waits(other), mean_waits(base)
    # The draws that it did not need would have been as those of what is.
    as_usual = now.mean() - now[: len(own)].mean()
    mean = Spread.of(own.mean(axis=1) + as_usual, len(now))
    p95 = Spread.of(np.percentile(own, 95, axis=1), len(now))
    difference = Spread.of(_paired(own.mean(axis=1), now), len(now))
    return {
        "what_if": what,
        "policy": policy,
        "mean_wait": mean.mean,
        "p95_wait": p95.mean,
        "mean_wait_p05": mean.low,
        "mean_wait_p95": mean.high,
        "difference": difference.mean,
        "difference_p05": difference.low,
        "difference_p95": difference.high,
        "noise": difference.noise,
        "draws": len(own),
    }


def _paired(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Draw by draw, as far as both have them: they have the same clocks."""
    count = min(len(one), len(other))
    return one[:count] - other[:count]


def groups_between(
    base: tuple[Instance, np.ndarray], other: tuple[Instance, np.ndarray]
) -> list[GroupChange]:
    """The groups whose jobs gain or lose most, the largest difference first; of jobs, and how long
    those that are measured wait (a row a draw, s)."""
    every = (change for what in _GROUPS for change in _of(what, base, other))
    found = [one for one in every if one.difference != Spread(0.0, 0.0, 0.0)]
    found.sort(key=lambda change: (-abs(change.difference.mean), change.what, change.name))
    return found[:MOST]


def _of(
    what: str, base: tuple[Instance, np.ndarray], other: tuple[Instance, np.ndarray]
) -> Iterator[GroupChange]:
    (was, old), (is_, new) = base, other
    before, after = _keys(was, what), _keys(is_, what)
    if before is None or after is None or len(set(before.tolist())) < 2:
        return
    for key in dict.fromkeys(after.tolist()):
        ours, theirs = after == key, before == key
        if ours.sum() >= _FEWEST and theirs.any():
            means = new[:, ours].mean(axis=1), old[:, theirs].mean(axis=1)
            name = range_of(key) if what == "size" else str(key)
            yield GroupChange(what, name, int(ours.sum()), Spread.of(_paired(*means), len(old)))


def _keys(instance: Instance, what: str) -> np.ndarray | None:
    keys = keys_of(instance, what)
    return None if keys is None else np.asarray(keys)[instance.measured]
