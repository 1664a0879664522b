"""With which chance an allocation ends in time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from cosched.execution.batches.problem import BatchProblem, Placed
from cosched.execution.batches.runner import start_in_order
from cosched.execution.interval import common_factors, noise_of
from cosched.execution.runs import MeasuredRun

#: Tasks that are simulated for one answer, and least and most futures of an allocation.
_WORK, _LEAST, _MOST = 40_000, 25, 200


@dataclass(frozen=True)
class Chance:
    """How times vary: factors of single tasks, and of all tasks of an allocation together."""

    #: Factors of the time of single tasks, of which each is as probable as another.
    task_factors: np.ndarray
    #: Factors of the time of all tasks of an allocation together.
    common_factors: np.ndarray
    #: The probability with which an allocation ends in its time.
    level: float
    #: Seed of the draws.
    seed: int = 0

    @classmethod
    def of(
        cls, runs: Sequence[MeasuredRun], limit: float, spread: float, level: float, seed: int
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
        return cls(np.exp(noise.run_factors), np.exp(common), level, seed)

    @property
    def certain(self) -> bool:
        """Whether times do not vary."""
        return len(self.task_factors) == 1 and len(self.common_factors) == 1

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithm of what the time of a task is multiplied by."""
        return float(np.sqrt(np.log(self.task_factors).var() + np.log(self.common_factors).var()))

    def alone(self) -> float:
        """What the time of one task is multiplied by to be kept with the chance."""
        return float(np.quantile(np.outer(self.task_factors, self.common_factors), self.level))

    def end(self, problem: BatchProblem, placed: Sequence[Placed]) -> float:
        """The end that is kept with the chance: the runner's rule in drawn futures."""
        planned = max((placement.end for placement in placed), default=0.0)
        if self.certain or not placed:
            return planned
        if len(self.task_factors) == 1:  # all stretch alike
            return planned * float(np.quantile(self.common_factors, self.level))
        draws = min(max(_WORK // len(placed), _LEAST), _MOST)
        random = np.random.default_rng(self.seed)
        factors = random.choice(self.task_factors, (draws, len(placed)))
        ends = [replay(problem, placed, row.tolist()) for row in factors]
        return float(np.quantile(np.outer(ends, self.common_factors), self.level))


def replay(problem: BatchProblem, placed: Sequence[Placed], factors: Sequence[float]) -> float:
    """The end of an allocation whose tasks, `placed` by planned start, take other times (`factors`
    = real / planned seconds), by the rule of the runner."""
    placed_tasks = {placement.task for placement in placed}
    open_edges = {
        k: sum(first in placed_tasks for first in problem.before[k]) for k in placed_tasks
    }
    waiting = [
        {
            "task": placement.task,
            "node": placement.node,
            "need": problem.needs[placement.task],
            "shared": problem.holds[placement.task],
            "seconds": problem.seconds[placement.task] * factor,
        }
        for placement, factor in zip(placed, factors, strict=True)
    ]
    room, now = problem.room(), 0.0
    running: list[tuple[float, int, int]] = []
    while waiting or running:
        started = list(
            start_in_order(room, waiting, lambda placement: not open_edges[placement["task"]])
        )
        for placement, node in started:
            waiting.remove(placement)
            heapq.heappush(running, (now + placement["seconds"], placement["task"], node))
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
