"""Small moldable instances of every kind, and their optimum by complete enumeration.

The enumeration shares no code and no idea with the solvers: it tries every order of the jobs that
respects the edges, with every count of each job, and puts each job at its earliest fit in what is
placed already. Some optimal schedule is one of these, for both criteria.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import cosched as cs

#: Every combination of release dates, precedence and resources.
KINDS = tuple(itertools.product((False, True), repeat=3))


def name_of(kind: tuple[bool, bool, bool]) -> str:
    """What jobs have besides times and weights, for tables."""
    words = ("releases", "precedence", "resources")
    return " + ".join(word for word, has in zip(words, kind, strict=True) if has) or "times alone"


def random_instance(
    random: np.random.Generator, kind: tuple[bool, bool, bool], jobs: int, machines: int
) -> cs.moldable.Instance:
    """Times of any shape, half of the instances in whole seconds, so that ties are frequent."""
    releases, precedence, resources = kind
    has_whole_numbers = random.random() < 0.5
    times = _times(random, jobs, machines, has_whole_numbers)
    extra_arguments: dict[str, Any] = {
        "weights": random.integers(0 if has_whole_numbers else 1, 5, jobs).astype(float)
    }
    if releases:
        latest = times[np.isfinite(times)].mean() * random.choice([0.5, 1.5, 3.0])
        release = random.uniform(0, latest, jobs)
        extra_arguments["release"] = np.round(release) if has_whole_numbers else release
        extra_arguments["release"][random.random(jobs) < 0.3] = 0.0
    if precedence:
        order, density = random.permutation(jobs), random.uniform(0.15, 0.6)
        pairs = itertools.combinations(order.tolist(), 2)
        edges = [pair for pair in pairs if random.random() < density]
        extra_arguments["edges"] = edges or [(int(order[0]), int(order[-1]))]
    if resources:
        extra_arguments |= _resources(random, jobs, machines, has_whole_numbers)
    return cs.moldable.Instance(times, machines=machines, **extra_arguments)


def _times(
    random: np.random.Generator, jobs: int, machines: int, has_whole_numbers: bool
) -> np.ndarray:
    shrink = random.uniform(0.4, 1.1, (jobs, machines))
    shrink[:, 0] = random.uniform(1, 12, jobs)
    times = np.cumprod(shrink, axis=1)
    if has_whole_numbers:
        times = np.maximum(1.0, np.round(times))
    times[random.random(times.shape) < 0.15] = np.inf
    times[np.isinf(times).all(axis=1), 0] = 3.0
    return times


def _resources(
    random: np.random.Generator, jobs: int, machines: int, has_whole_numbers: bool
) -> dict[str, dict[str, Any]]:
    needs: dict[str, np.ndarray] = {"memory": random.uniform(0, 5, jobs)}
    if random.random() < 0.5:  # on each count
        needs["memory"] = random.uniform(0, 5, (jobs, machines))
    if random.random() < 0.5:
        needs["licences"] = random.integers(0, 3, jobs).astype(float)
    if has_whole_numbers:
        needs["memory"] = np.round(needs["memory"])
    largest = {name: float(need.max()) for name, need in needs.items()}
    capacity = {
        name: max(1.0, largest_need * random.uniform(1, 1.8))
        for name, largest_need in largest.items()
    }
    return {"resources": needs, "capacity": capacity}


class Enumeration:
    """The least value of one criterion, or `known` where nothing is less."""

    def __init__(self, instance: cs.moldable.Instance, objective: str, upper_bound: float) -> None:
        jobs, machines = instance.jobs, instance.machines
        self.shortest = objective == "makespan"
        self.jobs = jobs
        self.weights = instance.weights.tolist()
        self.release = instance.release.tolist()
        self.before: list[set[int]] = [set() for _ in range(jobs)]
        for first, second in instance.edges.tolist():
            self.before[second].add(first)
        #: Of each measure: the capacity; processors first.
        self.capacity = [float(machines)]
        needs = [np.broadcast_to(np.arange(1.0, machines + 1), (jobs, machines))]
        for name, need in instance.resources.items():
            self.capacity.append(instance.capacity[name])
            needs.append(np.broadcast_to(np.reshape(need, (jobs, -1)), (jobs, machines)))
        #: Of each job: seconds and needs of each count, the fastest first.
        self.counts: list[list[tuple[float, list[float]]]] = []
        for job in range(jobs):
            counts = [
                (instance.time(job, count), [float(need[job, count - 1]) for need in needs])
                for count in range(1, machines + 1)
                if np.isfinite(instance.time(job, count))
            ]
            fitting = [
                (seconds, need) for seconds, need in counts
                if all(a <= c * (1 + 1e-9) for a, c in zip(need, self.capacity, strict=True))
            ]  # fmt: skip
            self.counts.append(sorted(fitting))
        self.least_seconds = [counts[0][0] for counts in self.counts]
        self.best = upper_bound

    def run(self) -> float:
        self._extend({}, 0.0)
        return float(self.best)

    def _extend(self, placed: dict[int, tuple[float, float, list[float]]], value: float) -> None:
        if len(placed) == self.jobs:
            self.best = min(self.best, value)
            return
        waiting = [job for job in range(self.jobs) if job not in placed]
        ready = {
            job: max([self.release[job], *(placed[k][1] for k in self.before[job] if k in placed)])
            for job in waiting
        }
        if self._least(waiting, ready, value) >= self.best * (1 - 1e-10):
            return
        for job in waiting:
            if not all(k in placed for k in self.before[job]):
                continue
            for seconds, need in self.counts[job]:
                start = self._earliest(placed, ready[job], seconds, need)
                end = start + seconds
                now = max(value, end) if self.shortest else value + self.weights[job] * end
                if now < self.best:
                    self._extend({**placed, job: (start, end, need)}, now)

    def _least(self, waiting: list[int], ready: dict[int, float], value: float) -> float:
        ends = [ready[job] + self.least_seconds[job] for job in waiting]
        if self.shortest:
            return max(value, *ends)
        return value + sum(self.weights[job] * end for job, end in zip(waiting, ends, strict=True))

    def _earliest(
        self,
        placed: dict[int, tuple[float, float, list[float]]],
        ready: float,
        seconds: float,
        need: list[float],
    ) -> float:
        runs = list(placed.values())
        for start in sorted({ready, *(end for _, end, _ in runs if end > ready)}):
            moments = [start, *(begin for begin, _, _ in runs if start < begin < start + seconds)]
            if all(self._fits(runs, moment, need) for moment in moments):
                return start
        raise AssertionError("nothing runs after the last end")

    def _fits(
        self, runs: list[tuple[float, float, list[float]]], moment: float, need: list[float]
    ) -> bool:
        concurrent_runs = [other for begin, end, other in runs if begin <= moment < end]
        return all(
            amount + sum(other[measure] for other in concurrent_runs) <= capacity * (1 + 1e-9)
            for measure, (amount, capacity) in enumerate(zip(need, self.capacity, strict=True))
        )


def optimum(instance: cs.moldable.Instance, objective: str, upper_bound: float = np.inf) -> float:
    """The least makespan, or the least sum w C.

    `known` is the value of a valid schedule: the enumeration looks for anything less.
    """
    return Enumeration(instance, objective, upper_bound).run()


def value_of(result: cs.moldable.Result, objective: str) -> float:
    return result.makespan if objective == "makespan" else result.weighted_completion
