"""How long jobs run, of what they asked for: drawn from the past, given how long they have run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

#: Jobs of the wider group that weigh as one of the narrower.
_OWN = 5.0
#: Without a past: the part of its limit that a job runs is any.
_DEFAULT = np.linspace(0.02, 1.0, 50)
_DEFAULT_WEIGHT = 2.0


class RunTimes:
    """Ratios of run time to limit: of the user's own jobs, of the partition's, of all."""

    def __init__(self, history: Iterable[Mapping[str, Any]]) -> None:
        self._all: list[float] = []
        self._by_user: dict[str, list[float]] = {}
        self._by_part: dict[str, list[float]] = {}
        for job in history:
            if not job["limit"] or job["end"] <= job["start"]:
                continue
            ratio = min((job["end"] - job["start"]) / job["limit"], 1.0)
            self._all.append(ratio)
            self._by_user.setdefault(job["user"], []).append(ratio)
            self._by_part.setdefault(job["partition"], []).append(ratio)

    @property
    def known(self) -> bool:
        """There is a past."""
        return len(self._all) > 0

    def model_of(self, job: Mapping[str, Any]) -> str:
        """Where most of the job's draws come from, in words."""
        own = len(self._by_user.get(job["user"], ()))
        part = str(job["partition"]).split(",")[0]
        if own >= _OWN:
            return f"{own} jobs of user {job['user']}"
        if len(self._by_part.get(part, ())) >= _OWN:
            return f"{len(self._by_part[part])} jobs of partition {part}"
        if self._all:
            return f"{len(self._all)} jobs of all users"
        return "no history: any part of the limit"

    def _weighted(self, job: Mapping[str, Any], least: float) -> tuple[np.ndarray, np.ndarray]:
        """Ratios above `least`, and their probabilities."""
        part = str(job["partition"]).split(",")[0]
        groups = (self._by_user.get(job["user"], []), self._by_part.get(part, []), self._all)
        ratios = [_DEFAULT]
        weights = [np.full(len(_DEFAULT), _DEFAULT_WEIGHT / len(_DEFAULT))]
        # Each wider group weighs as much as a few jobs of the narrower one.
        for group, share in zip(groups, (1.0, _OWN, _OWN), strict=True):
            if group:
                total = len(group) if share == 1.0 else min(share, len(group))
                ratios.append(np.array(group))
                weights.append(np.full(len(group), total / len(group)))
        ratio, weight = np.concatenate(ratios), np.concatenate(weights)
        inside = ratio > least
        return ratio[inside], weight[inside]

    def draw(
        self, job: Mapping[str, Any], limit: float, elapsed: float, count: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Run times from the start (s), each longer than `elapsed`."""
        least = elapsed / limit
        ratio, weight = self._weighted(job, least)
        if not len(ratio):  # past its limit, or at it
            return np.full(count, max(elapsed + 1.0, limit))
        chosen = rng.choice(ratio, size=count, p=weight / weight.sum())
        # Between the values that were seen others are as likely.
        spread = chosen * np.exp(rng.normal(0.0, 0.1, count))
        chosen = np.where((spread > least) & (chosen < 1.0), np.minimum(spread, 1.0), chosen)
        return np.maximum(chosen * limit, elapsed + 1.0)
