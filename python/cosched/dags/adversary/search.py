"""An adversary: small instances on which an algorithm is far from the best schedule known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Generic

import numpy as np

from cosched import _core
from cosched.core.arrays import integer, integer_array, seed_of
from cosched.core.limits import budget
from cosched.core.options import one_of
from cosched.dags.adversary.networks import NetworkSpace
from cosched.dags.adversary.spaces import Searched, SearchSpace, Space
from cosched.dags.arguments import sequence
from cosched.dags.family import FAMILY
from cosched.dags.instance import Instance
from cosched.dags.result import Result
from cosched.errors import InvalidInstance, TimeLimit

#: Instances that :func:`worst_case` evaluates by default: some seconds for ten tasks.
_WORK = 10_000
#: Steps of a round, a task.
_ROUND = 200
#: Of a round: drawn at random before the search begins; of all: left for making the worst smaller.
_DRAWN, _SMALLER = 0.3, 0.1
#: What a logarithm of a ratio may lose at a step, first and last.
_HOT, _COLD = 0.03, 0.001
#: Schedules of `hlp-best` for a reference on the way, and partial ones of `optimal`.
_LOOK = 200
#: Up to here `optimal` is asked, too.
_EXACT = 12


@dataclass(frozen=True, kw_only=True, repr=False)
class WorstCase:
    """An instance on which an algorithm did badly, and what is known of it.

    Attributes
    ----------
    algorithm, against : str
    instance : Instance
    result : Result
        Of the algorithm.
    best : Result
        The best schedule known; where `against` names an algorithm, that one's.
    proven : float
        The algorithm's value is at most so many times the optimum, by a theorem; nan: no theorem.
    evaluations : int
        Instances that were evaluated.
    stopped_by : str
        ``"work"`` or ``"time"``.
    seed : int

    Examples
    --------
    >>> found = cs.dags.worst_case("greedy", tasks=4, units=(2, 1), work=200)
    >>> 1 < found.ratio <= found.upper
    True
    """

    algorithm: str
    against: str
    instance: Instance
    result: Result
    best: Result
    proven: float
    evaluations: int
    stopped_by: str
    seed: int

    @property
    def ratio(self) -> float:
        """Value / best value known: the algorithm's worst ratio is at least that."""
        return _quotient(self.result.value, self.best.value)

    @property
    def upper(self) -> float:
        """Value / bound: on this instance the algorithm is at most so far from the optimum."""
        bound = self.best.bound if self.best.bound is not None else self.result.bound
        return math.nan if bound is None else _quotient(self.result.value, bound.value)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the instance.

        Parameters
        ----------
        path : str or path-like
            Ends in .json.
        """
        self.instance.write(path)

    def __repr__(self) -> str:
        return (
            f"<WorstCase of {self.algorithm} against {self.against}: {self.instance.tasks} tasks, "
            f"ratio {self.ratio:.4g}..{self.upper:.4g}>"
        )


def worst_case(
    algorithm: str,
    *,
    against: str = "best",
    tasks: int = 10,
    units: object = (4, 2),
    seconds: float | None = None,
    work: int | None = None,
    seed: int | None = 0,
    transfers: bool = False,
    machines: str = "types",
    method: str = "annealing",
    options: Mapping[str, object] | None = None,
) -> WorstCase:
    """Search for an instance on which an algorithm is as far as possible from the best.

    Simulated annealing over task graphs, times and data: a step changes the time of a task on a
    type, gives a task the times of another, adds or removes an edge, or changes the data of one.
    Times are between 0.01 and 1 s, so that ratios without limit stay finite. At the end tasks and
    edges are taken out while the ratio stays.
    ``ratio``, value / best schedule known: the algorithm's worst ratio is at least that. Value /
    optimum on this instance is between ``ratio`` and ``upper``, value / bound. ``proven`` is what a
    theorem allows. The same for the same work and seed.
    Reference: Coleman, Krishnamachari 2024 (PISA), who search for large ratios of two heuristics.

    Parameters
    ----------
    algorithm : str
        A key of ``ALGORITHMS``: also one's own, registered.
    against : str
        ``"best"``: the best schedule known (of ``optimal`` up to 12 tasks, and of ``hlp-best``);
        ``"bound"``: the search maximises value / bound; else an algorithm, whose value is what
        ``ratio`` refers to.
    tasks : int
        Of an instance, at most.
    units : sequence of int
        Units of each resource type.
    seconds : float, optional
        Time limit, which is used until it is over, or `work` is done.
    work : int, optional
        Instances to evaluate; by default, where there is no limit either, 10,000.
    transfers : bool
        Data move along the edges, 1 byte/s between memories, up to 1 byte an edge. No theorem
        holds then (``proven`` is nan).
    machines : {"types", "network"}
        ``"types"``: a task has a time of its own on each type. ``"network"``: PISA's instances.
        Each of the `units` is a node with a speed, any two nodes are joined by a link with a speed;
        a task takes cost / speed, its data size / speed. Costs, sizes and speeds are between 0.1
        and 1, and all change; data always move.
    method : {"annealing", "random"}
        ``"random"`` draws each instance anew: what the search has to beat.
    options : mapping, optional
        Options of the algorithm.

    Raises
    ------
    ValueError
        An unknown algorithm, or `method`.
    InvalidInstance
        The algorithm does not apply to such instances.
    TimeLimit
        The time was over before the first one.

    Examples
    --------
    >>> found = cs.dags.worst_case("heft", tasks=6, units=(2, 1), work=300)
    >>> found.ratio > cs.dags.worst_case("heft", tasks=6, units=(2, 1), work=300,
    ...                                  method="random").ratio
    True
    """
    for name in [algorithm] + [against] * (against not in ("best", "bound")):
        FAMILY.algorithm(name)
    one_of(method, "method", ("annealing", "random"))
    one_of(machines, "machines", ("types", "network"))
    counts = tuple(integer_array(sequence(units), "units", 1, 1).tolist())
    task_count = integer(tasks, "tasks", 1, 1000)
    space: SearchSpace[Any] = (
        NetworkSpace(task_count, sum(counts))
        if machines == "network"
        else Space(task_count, counts, bool(transfers))
    )
    seed_value = seed_of(seed)
    count, limit = budget(work, seconds, _WORK)
    if count < 1:
        raise InvalidInstance(f"work = {count}: expected at least 1 instance")
    with _core.time_limit(limit):
        search = _Search(space, algorithm, against, seed_value, dict(options or {}), count, limit)
        stopped_by = search.run(np.random.default_rng(seed_value), anneal=method == "annealing")
    if search.worst is None:
        raise TimeLimit("worst_case: the time was over before one instance was evaluated")
    worst = search.worst
    return WorstCase(
        algorithm=algorithm,
        against=against,
        instance=worst.result.instance,
        result=worst.result,
        best=worst.best,
        proven=math.nan if worst.result.ratio is None else worst.result.ratio,
        evaluations=search.done,
        stopped_by=stopped_by,
        seed=seed_value,
    )


@dataclass(frozen=True)
class _Evaluation(Generic[Searched]):
    candidate: Searched
    result: Result
    best: Result
    #: What the search maximises.
    score: float


@dataclass
class _Search(Generic[Searched]):
    """The budget of a search, and the worst instance that it has seen."""

    space: SearchSpace[Searched]
    algorithm: str
    against: str
    seed: int
    options: dict[str, Any]
    work: int
    seconds: float | None
    done: int = 0
    worst: _Evaluation[Searched] | None = None

    def run(self, rng: np.random.Generator, anneal: bool) -> str:
        """What ended it: ``"work"`` or ``"time"``."""
        stopped_by = "work"
        max_seconds = None if self.seconds is None else self.seconds * (1 - _SMALLER)
        try:
            with _core.time_limit(max_seconds):
                self._anneal(rng) if anneal else self._draw(rng, self.work)
        except TimeLimit:
            stopped_by = "time"
        try:
            self._shrink(anneal)
        except TimeLimit:
            return "time"
        return stopped_by

    def _judge(self, candidate: Searched, strong: bool = False) -> _Evaluation[Searched]:
        if _core.seconds_left() <= 0:
            raise TimeLimit("the time of worst_case is over")
        self.done += 1
        instance = candidate.instance()
        result = self._solve(instance, self.algorithm, self.options)
        best_reference = min(
            self._references(instance, result, strong), key=lambda reference: reference.value
        )
        below = best_reference.value
        if self.against == "bound":
            bound = best_reference.bound
            below = best_reference.value if bound is None else bound.value
        evaluation = _Evaluation(candidate, result, best_reference, _quotient(result.value, below))
        if self.worst is None or evaluation.score > self.worst.score:
            self.worst = evaluation
        return evaluation

    def _references(self, instance: Instance, result: Result, strong: bool) -> Iterator[Result]:
        """Yield schedules of which the best is the reference."""
        if self.against not in ("best", "bound"):
            yield self._solve(instance, self.against, {})
            return
        look = {} if strong else {"work": _LOOK}
        if instance.tasks <= _EXACT:
            yield self._solve(instance, "optimal", look)
        if instance.tasks > _EXACT or strong:
            yield self._solve(instance, "hlp-best", look)
        yield result  # the one that is judged may be better than what was found in little work

    def _solve(self, instance: Instance, name: str, options: Mapping[str, object]) -> Result:
        reference = FAMILY.solve(instance, name, seed=self.seed, **options)
        assert isinstance(reference, Result)
        return reference

    def _draw(self, rng: np.random.Generator, end: int) -> _Evaluation[Searched]:
        worst = self._judge(self.space.drawn(rng))
        while self.done < end:
            worst = max(
                worst, self._judge(self.space.drawn(rng)), key=lambda evaluation: evaluation.score
            )
        return worst

    def _anneal(self, rng: np.random.Generator) -> None:
        """Yield rounds, each from the worst of some random instances: one ends where another does
        not."""
        end = max(1, round(self.work * (1 - _SMALLER)))
        length = _ROUND * self.space.tasks
        rounds = max(1, round(end / length))
        while self.done < end:
            self._round(rng, min(end, self.done + max(length, -(-end // rounds))))

    def _round(self, rng: np.random.Generator, end: int) -> None:
        first, steps = self.done, end - self.done
        current = self._draw(rng, first + max(1, round(steps * _DRAWN)))
        while self.done < end:
            heat = _HOT * (_COLD / _HOT) ** ((self.done - first) / steps)
            neighbour = self._judge(self.space.moved(current.candidate, rng))
            loss = math.log(current.score) - math.log(neighbour.score)
            if loss <= 0 or rng.random() < math.exp(-loss / heat):
                current = neighbour

    def _shrink(self, anneal: bool) -> None:
        """Judge the worst instance with care, and take out what the ratio does not need."""
        if self.worst is None:
            return
        self.worst = self._judge(self.worst.candidate, strong=True)
        self.done -= 1  # the same instance
        smaller = anneal
        while smaller:
            smaller = False
            for without in self.worst.candidate.smaller():
                if self.done >= self.work:
                    return
                evaluation = self._judge(without, strong=True)
                if evaluation.score >= self.worst.score * (1 - 1e-12):
                    self.worst, smaller = evaluation, True
                    break


def _quotient(value: float, below: float) -> float:
    if below > 0:
        return max(value / below, 1.0) if value >= below * (1 - 1e-9) else value / below
    return 1.0 if value <= 0 else math.inf
