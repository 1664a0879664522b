"""How task durations vary, and by when an allocation ends with a given probability."""

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
from cosched.execution.runs_file import MeasuredRun

#: So many tasks are simulated for the quantile of one end: that many futures times tasks ...
_SIMULATED_TASKS = 40_000
#: ... but at least, and at most, so many futures.
_MIN_FUTURES, _MAX_FUTURES = 25, 200


@dataclass(frozen=True)
class DurationModel:
    """How real durations differ from planned ones: by a factor of each task, and by a factor of all
    tasks of an allocation together.

    Attributes
    ----------
    task_factors : numpy.ndarray
        Equally likely factors of the duration of a single task.
    common_factors : numpy.ndarray
        Equally likely factors of the durations of all tasks of an allocation.
    probability : float
        With which an allocation has to end in time, in (0, 1).
    seed : int
        Of the futures.
    """

    task_factors: np.ndarray
    common_factors: np.ndarray
    probability: float
    seed: int = 0

    @classmethod
    def of_runs(
        cls, runs: Sequence[MeasuredRun], limit: float, spread: float, probability: float, seed: int
    ) -> DurationModel:
        """Return the model of measured runs.

        Parameters
        ----------
        runs : sequence of MeasuredRun
            Those of tasks that were measured several times on one count tell how durations vary.
        limit : float
            Seconds for which an allocation may run: how much the host varies over such a time.
        spread : float
            Standard deviation of the logarithm of the common factor, where no task was measured
            twice; 0: durations are exact.
        probability : float
            With which an allocation has to end in time.
        seed : int
            Of the futures.
        """
        noise = noise_of(runs, limit)
        steps = (np.arange(_MAX_FUTURES) + 0.5) / _MAX_FUTURES
        if noise is None:
            if not spread:
                return cls(np.ones(1), np.ones(1), probability, seed)
            normal = [NormalDist().inv_cdf(step) for step in steps.tolist()]
            return cls(np.ones(1), np.exp(spread * np.array(normal)), probability, seed)
        random = np.random.default_rng(seed)
        common = common_factors(noise, (), np.zeros(_MAX_FUTURES), random)
        return cls(np.exp(noise.run_factors), np.exp(common), probability, seed)

    @property
    def is_exact(self) -> bool:
        """Whether durations do not vary."""
        return len(self.task_factors) == 1 and len(self.common_factors) == 1

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithm of a task's real over its planned duration."""
        return float(np.sqrt(np.log(self.task_factors).var() + np.log(self.common_factors).var()))

    def single_task_factor(self) -> float:
        """Return the factor of its planned duration that one task does not exceed, with the
        probability of the model."""
        return float(
            np.quantile(np.outer(self.task_factors, self.common_factors), self.probability)
        )

    def end_quantile(self, problem: BatchProblem, placed: Sequence[Placed]) -> float:
        """Return the end (s) that an allocation does not exceed, with the probability of the model.

        The allocation is simulated in drawn futures, by the rule of its runner.
        """
        planned = max((placement.end for placement in placed), default=0.0)
        if self.is_exact or not placed:
            return planned
        if len(self.task_factors) == 1:  # all tasks are longer by the same factor
            return planned * float(np.quantile(self.common_factors, self.probability))
        draws = min(max(_SIMULATED_TASKS // len(placed), _MIN_FUTURES), _MAX_FUTURES)
        random = np.random.default_rng(self.seed)
        factors = random.choice(self.task_factors, (draws, len(placed)))
        ends = [replay(problem, placed, row.tolist()) for row in factors]
        return float(np.quantile(np.outer(ends, self.common_factors), self.probability))


def replay(problem: BatchProblem, placed: Sequence[Placed], factors: Sequence[float]) -> float:
    """Return the end (s) of an allocation whose tasks take other times, by the rule of its runner.

    Parameters
    ----------
    placed : sequence of Placed
        The tasks in the order of their planned starts.
    factors : sequence of float
        Real over planned duration of each.

    Returns
    -------
    float
        Infinite: no task can start, though some are left.
    """
    placed_tasks = {placement.task for placement in placed}
    open_edges = {
        k: sum(first in placed_tasks for first in problem.before[k]) for k in placed_tasks
    }
    waiting = [
        {
            "task": placement.task,
            "node": placement.node,
            "need": problem.needs[placement.task],
            "shared": problem.shared_needs[placement.task],
            "seconds": problem.seconds[placement.task] * factor,
        }
        for placement, factor in zip(placed, factors, strict=True)
    ]
    capacity, now = problem.free_capacity(), 0.0
    running: list[tuple[float, int, int]] = []
    while waiting or running:
        started = list(
            start_in_order(capacity, waiting, lambda placement: not open_edges[placement["task"]])
        )
        for placement, node in started:
            waiting.remove(placement)
            heapq.heappush(running, (now + placement["seconds"], placement["task"], node))
        if not running:
            return math.inf
        now = running[0][0]
        while running and running[0][0] <= now:
            _, task, node = heapq.heappop(running)
            capacity.change(node, problem.needs[task], problem.shared_needs[task], 1)
            for k in problem.after[task]:
                if k in open_edges:
                    open_edges[k] -= 1
    return now
