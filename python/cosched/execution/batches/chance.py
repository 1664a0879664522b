"""With which chance an allocation ends in time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from cosched.execution.batches.problem import Placed, Problem
from cosched.execution.batches.runner import start_in_order
from cosched.execution.interval import common_factors, noise_of
from cosched.execution.runs import Run

#: Tasks that are simulated for one answer, and least and most futures of an allocation.
_WORK, _LEAST, _MOST = 40_000, 25, 200


@dataclass(frozen=True)
class Chance:
    """How times vary: factors of single tasks, and of all tasks of an allocation together."""

    own: np.ndarray
    common: np.ndarray
    level: float
    seed: int = 0

    @classmethod
    def of(
        cls, runs: Sequence[Run], limit: float, spread: float, level: float, seed: int
    ) -> Chance:
        """From runs on counts that were measured twice; where none was, all times may be off
        together by `spread`, as the standard deviation of their logarithm.
        """
        noise = noise_of(runs, limit)
        steps = (np.arange(_MOST) + 0.5) / _MOST
        if noise is None:
            if not spread:
                return cls(np.ones(1), np.ones(1), level, seed)
            normal = [NormalDist().inv_cdf(step) for step in steps.tolist()]
            return cls(np.ones(1), np.exp(spread * np.array(normal)), level, seed)
        random = np.random.default_rng(seed)
        common = common_factors(noise, (), np.zeros(_MOST), random)
        return cls(np.exp(noise.own), np.exp(common), level, seed)

    @property
    def certain(self) -> bool:
        """Whether times do not vary."""
        return len(self.own) == 1 and len(self.common) == 1

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithm of what the time of a task is multiplied by."""
        return float(np.sqrt(np.log(self.own).var() + np.log(self.common).var()))

    def alone(self) -> float:
        """What the time of one task is multiplied by to be kept with the chance."""
        return float(np.quantile(np.outer(self.own, self.common), self.level))

    def end(self, problem: Problem, placed: Sequence[Placed]) -> float:
        """The end that is kept with the chance: the runner's rule in drawn futures."""
        planned = max((one.end for one in placed), default=0.0)
        if self.certain or not placed:
            return planned
        if len(self.own) == 1:  # all stretch alike
            return planned * float(np.quantile(self.common, self.level))
        draws = min(max(_WORK // len(placed), _LEAST), _MOST)
        random = np.random.default_rng(self.seed)
        factors = random.choice(self.own, (draws, len(placed)))
        ends = [replay(problem, placed, row.tolist()) for row in factors]
        return float(np.quantile(np.outer(ends, self.common), self.level))


def replay(problem: Problem, placed: Sequence[Placed], factors: Sequence[float]) -> float:
    """The end of an allocation whose tasks, `placed` by planned start, take other times (`factors`
    = real / planned seconds), by the rule of the runner."""
    mine = {one.task for one in placed}
    open_edges = {k: sum(first in mine for first in problem.before[k]) for k in mine}
    waiting = [
        {
            "task": one.task,
            "node": one.node,
            "need": problem.needs[one.task],
            "shared": problem.holds[one.task],
            "seconds": problem.seconds[one.task] * factor,
        }
        for one, factor in zip(placed, factors, strict=True)
    ]
    room, now = problem.room(), 0.0
    running: list[tuple[float, int, int]] = []
    while waiting or running:
        started = list(start_in_order(room, waiting, lambda one: not open_edges[one["task"]]))
        for one, node in started:
            waiting.remove(one)
            heapq.heappush(running, (now + one["seconds"], one["task"], node))
        if not running:
            return math.inf
        now = running[0][0]
        while running and running[0][0] <= now:
            _, task, node = heapq.heappop(running)
            room.change(node, problem.needs[task], problem.holds[task], 1)
            for k in problem.after[task]:
                if k in open_edges:
                    open_edges[k] -= 1
    return now
