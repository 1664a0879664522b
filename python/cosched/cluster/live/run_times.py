"""How long jobs run, of what they asked for: drawn from the past, given how long they have run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

#: Jobs of the wider group that weigh as one of the narrower.
_OWN = 5.0
#: Where little is known, the part of its limit that a job runs is u^k: u is any, and so is k, from
#: draw to draw, between these.
_EXPONENTS = (0.5, 4.0)
_POINTS = (np.arange(20) + 0.5) / 20
#: As many jobs of the past as that weighs.
_DEFAULT_WEIGHT = 2.0
#: Only the latest jobs count.
_MOST = 500


class RunTimes:
    """Ratios of run time to limit: of the user's own jobs, of the partition's, of all.

    What the past says is itself uncertain, and the same for all jobs of a draw: each draw weighs
    the jobs of the past anew (a Bayesian bootstrap).
    """

    def __init__(self, history: Iterable[Mapping[str, Any]], draws: int, seed: int) -> None:
        known = [job for job in history if job["limit"] and job["end"] > job["start"]][-_MOST:]
        ratio = [min((job["end"] - job["start"]) / job["limit"], 1.0) for job in known]
        self._ratio = np.array(ratio, dtype=float)
        self._user = np.array([job["user"] for job in known], dtype=object)
        self._part = np.array([job["partition"] for job in known], dtype=object)
        rng = np.random.default_rng([seed, 0])
        low, high = np.log(_EXPONENTS)
        self._default = _POINTS ** np.exp(rng.uniform(low, high, (draws, 1)))
        self._weight = rng.exponential(size=(draws, len(known)))
        self.draws = draws

    def _groups(self, job: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Which jobs of the past are of the same user, and of the same partition."""
        part = str(job["partition"]).split(",")[0]
        return self._user == job["user"], self._part == part

    def model_of(self, job: Mapping[str, Any]) -> str:
        """Where most of the job's draws come from, in words."""
        own, part = (int(one.sum()) for one in self._groups(job))
        if own >= _OWN:
            return f"{own} jobs of user {job['user']}"
        if part >= _OWN:
            return f"{part} jobs of partition {str(job['partition']).split(',')[0]}"
        if len(self._ratio):
            return f"{len(self._ratio)} jobs of all users"
        return "no history: any part of the limit"

    def draw(
        self,
        job: Mapping[str, Any],
        limit: float,
        elapsed: float,
        rng: np.random.Generator,
        number: int | None = None,
    ) -> np.ndarray:
        """Run times from the start (s), each longer than `elapsed`, one for each draw; or for the
        draw of that number only."""
        rows = slice(None) if number is None else slice(number, number + 1)
        default = self._default[rows]
        least = elapsed / limit
        # Each wider group weighs as much as a few jobs of the narrower one.
        own, part = self._groups(job)
        weight = own.astype(float)
        for group in (part, np.ones(len(self._ratio), dtype=bool)):
            if group.any():
                weight += group * min(_OWN, group.sum()) / group.sum()
        weights = np.hstack([
            self._weight[rows] * (weight * (self._ratio > least)),
            (default > least) * (_DEFAULT_WEIGHT / len(_POINTS)),
        ])  # fmt: skip
        total = np.cumsum(weights, axis=1)
        chosen = (total < rng.uniform(size=(len(total), 1)) * total[:, -1:]).sum(axis=1)
        chosen = np.minimum(chosen, weights.shape[1] - 1)
        seen = chosen < len(self._ratio)
        ratio = np.empty(len(total))
        ratio[seen] = self._ratio[chosen[seen]]
        ratio[~seen] = default[~seen, chosen[~seen] - len(self._ratio)]
        ratio = np.where(total[:, -1] > 0, ratio, 1.0)
        # Between the values that were seen others are as likely.
        spread = ratio * np.exp(rng.normal(0.0, 0.1, len(ratio)))
        ratio = np.where((spread > least) & (ratio < 1.0), np.minimum(spread, 1.0), ratio)
        return np.maximum(ratio * limit, elapsed + 1.0)
