"""Planning the rest anew when a task's real time is off: with what was learned, in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import cosched  # cosched.moldable is imported when a rest is planned
from cosched.core.arrays import positive
from cosched.core.precedence import before_of
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.plans import Plan, PlanStep
from cosched.execution.tokens import fits

#: A task that is late is taken to need this times what it has had.
_OVERTIME_FACTOR = 1.5
#: Seconds that are never worth a plan.
_SLACK = 0.02
_ALGORITHMS = ("list-shelf", "dual-approximation", "list-lptf")
#: The same for tasks with an order; the second solves a programme, for so many tasks at most.
_IN_ORDER, _MAX_LP_TASKS = ("list-local", "list-lp"), 200


@dataclass(frozen=True)
class Situation:
    """A moment of a run: seconds since it began."""

    #: The plan in force.
    plan: Plan
    #: Seconds since the run began.
    now: float
    started: Mapping[int, float]  # task -> start, of what has started
    ended: Mapping[int, float]  # task -> end
    left_out: frozenset[int] = frozenset()  # will never start


@dataclass
class Replanner:
    """Says at each moment whether there is a better plan for the rest, and which."""

    #: The relative error of a planned time from which on the rest is planned anew.
    threshold: float
    #: Seconds of each task on 1..p processors.
    times: np.ndarray
    #: task -> real time that the last plan assumed.
    _assumed: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, codes: Codes, threshold: float) -> Replanner:
        """Refuses a plan that does not know its times, or is not of packs or moldable tasks."""
        share = positive(threshold, "replan", "a share such as 0.2")
        if plan.times is None or plan.family not in ("packs", "moldable"):
            raise InvalidInstance(
                "replan: the plan does not know the times of its tasks: expected packs or "
                "moldable, as `cosched plan -o` writes them"
            )
        procs = max(plan.procs or 0, plan.units_of(0))
        times = np.full((len(plan.times), procs), np.inf)
        width = min(procs, plan.times.shape[1])
        times[:, :width] = plan.times[:, :width]
        for step in plan.steps:
            counts = codes[step.name].counts
            if counts is not None:
                times[step.task, ~np.isin(np.arange(1, procs + 1), counts)] = np.inf
            for count in range(1, procs + 1) if plan.capacity or codes.capacity else ():
                if not fits(step, codes, plan, count):
                    times[step.task, count - 1] = np.inf
            times[step.task, len(step.units) - 1] = max(step.end - step.start, 1e-9)
        return cls(share, times)

    def __call__(self, moment: Situation, barrier: bool) -> Plan | None:
        """A plan with other placements of what has not started; None: go on as planned."""
        news = False
        expected_ends: dict[int, float] = {}
        for step in moment.plan.steps:
            if step.task not in moment.started:
                continue
            had = moment.ended.get(step.task, moment.now) - moment.started[step.task]
            expected = self._assumed.get(step.task, self.times[step.task, len(step.units) - 1])
            is_late = had > (1 + self.threshold) * expected + _SLACK
            is_early = step.task in moment.ended and had < (1 - self.threshold) * expected - _SLACK
            if is_late or is_early:
                news = True
                self._assumed[step.task] = (
                    had if step.task in moment.ended else _OVERTIME_FACTOR * had
                )
            if step.task not in moment.ended:
                length = max(self._assumed.get(step.task, expected), had)
                expected_ends[step.task] = moment.started[step.task] + length
        settled_tasks = {*moment.started, *moment.left_out}
        rest = [step for step in moment.plan.steps if step.task not in settled_tasks]
        if not news or not rest:
            return None
        return self._better(moment, barrier, expected_ends, rest)

    def _better(
        self,
        moment: Situation,
        barrier: bool,
        expected_ends: Mapping[int, float],
        rest: Sequence[PlanStep],
    ) -> Plan | None:
        ready = np.full(self.times.shape[1], moment.now)
        for step in moment.plan.steps:
            if step.task in expected_ends:
                ready[list(step.units)] = np.maximum(
                    ready[list(step.units)], expected_ends[step.task]
                )
        planned_end = _end_as_planned(moment, barrier, expected_ends)
        best: list[PlanStep] | None = None
        end = planned_end - max(_SLACK, 1e-3 * planned_end)
        edges = moment.plan.edges
        awaited = Awaited(before_of(edges), {**moment.ended, **expected_ends}) if edges else None
        for order, counts in self._candidates(rest, ready, moment.now, awaited):
            placed = _placed(order, counts, self.times, ready, awaited)
            last = max(step.end for step in placed)
            if last < end:
                best, end = placed, last
        if best is None:
            return None
        started_steps = [step for step in moment.plan.steps if step.task in moment.started]
        # Stable: what was placed later may wait for what was placed before.
        key = (lambda s: (s.start, s.end)) if awaited else (lambda s: (s.start, s.end, s.task))
        # At the end nothing waits for what will never start.
        never = [step for step in moment.plan.steps if step.task in moment.left_out]
        steps = (*started_steps, *sorted(best, key=key), *never)
        return replace(moment.plan, family="moldable", steps=steps)

    def _candidates(
        self, rest: Sequence[PlanStep], ready: np.ndarray, now: float, awaited: Awaited | None
    ) -> list[tuple[list[PlanStep], list[int]]]:
        """Return orders of the rest with a processor count each."""
        rows = [step.task for step in rest]
        candidates = [(list(rest), [len(step.units) for step in rest])]
        free = int((ready <= now).sum())
        links: dict[str, Any] = {} if awaited is None else awaited.among(rest, now)
        names: Sequence[str] = _ALGORITHMS
        if links:
            names = _IN_ORDER if len(rest) <= _MAX_LP_TASKS else _IN_ORDER[:1]
        for procs in {len(ready), free} - {0}:
            table = self.times[rows, :procs]
            if not np.isfinite(table).any(axis=1).all():
                continue
            inst = cosched.moldable.Instance(table, np.ones(len(rows)), machines=procs, **links)
            for name in names:
                result = cosched.moldable.solve(inst, name)
                assert isinstance(result, cosched.moldable.Result)
                counts = result.procs.tolist()
                by_start = np.lexsort((-(result.end - result.start), result.start)).tolist()
                by_length = np.argsort(-(result.end - result.start), kind="stable").tolist()
                orders = (by_start,) if links else (by_start, by_length)
                candidates.extend(
                    ([rest[k] for k in order], [counts[k] for k in order]) for order in orders
                )
        return candidates


@dataclass(frozen=True)
class Awaited:
    """What has to end before tasks may start."""

    before: Mapping[int, Sequence[int]]  # task -> its predecessors
    ends: Mapping[int, float]  # task -> end, of what has started: known or expected

    def among(self, rest: Sequence[PlanStep], now: float) -> dict[str, np.ndarray]:
        """Edges among the rest, and seconds from now until what runs lets each of them start."""
        place = {step.task: k for k, step in enumerate(rest)}
        pairs = [
            (place[b], k) for t, k in place.items() for b in self.before.get(t, ()) if b in place
        ]
        release = [self._until(step.task, now) - now for step in rest]
        return {
            "edges": np.array(pairs, dtype=np.int64).reshape(-1, 2),
            "release": np.array(release),
        }

    def _until(self, task: int, now: float) -> float:
        return max([now, *(self.ends[b] for b in self.before.get(task, ()) if b in self.ends)])


def _placed(
    order: Sequence[PlanStep],
    counts: Sequence[int],
    times: np.ndarray,
    ready: np.ndarray,
    awaited: Awaited | None,
) -> list[PlanStep]:
    """Place each task in turn on the processors that are free first."""
    free = ready.copy()
    ends = {} if awaited is None else dict(awaited.ends)
    placed = []
    for step, count in zip(order, counts, strict=True):
        units = np.sort(np.argsort(free, kind="stable")[:count])
        start = float(free[units].max())
        if awaited is not None:
            start = max([start, *(ends[b] for b in awaited.before.get(step.task, ()))])
        end = start + float(times[step.task, count - 1])
        ends[step.task] = end
        free[units] = end
        placed.append(replace(step, units=tuple(units.tolist()), start=start, end=end))
    return placed


def _end_as_planned(moment: Situation, barrier: bool, expected_ends: Mapping[int, float]) -> float:
    """Return the end if the plan is kept."""
    ends: list[float] = []
    waits = moment.plan.waits_for(barrier)
    for step, needed in zip(moment.plan.steps, waits, strict=True):
        if step.task in moment.left_out:
            ends.append(0.0)
        elif step.task in moment.ended:
            ends.append(moment.ended[step.task])
        elif step.task in expected_ends:
            ends.append(expected_ends[step.task])
        else:
            start = max([moment.now, *(ends[k] for k in needed)])
            ends.append(start + step.end - step.start)
    return max(ends)
