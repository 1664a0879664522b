"""Planning the rest anew when a task's real time is off: with what was learned, in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cosched import moldable
from cosched.core.arrays import positive
from cosched.errors import InvalidInstance
from cosched.execution.codes import Codes
from cosched.execution.planned import Plan, Step
from cosched.execution.tokens import fits

#: A task that is late is taken to need this times what it has had.
_LATE = 1.5
#: Seconds that are never worth a plan.
_SLACK = 0.02
_ALGORITHMS = ("list-shelf", "dual-approximation", "list-lptf")


@dataclass(frozen=True)
class Situation:
    """A moment of a run: seconds since it began."""

    plan: Plan
    now: float
    started: Mapping[int, float]  # task -> start, of what has started
    ended: Mapping[int, float]  # task -> end


@dataclass
class Replanner:
    """Says at each moment whether there is a better plan for the rest, and which."""

    threshold: float
    times: np.ndarray
    #: task -> real time that the last plan assumed.
    _assumed: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, codes: Codes, threshold: float) -> Replanner:
        """Refuses a plan that does not know its times, or has a task graph."""
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
        busy: dict[int, float] = {}
        for step in moment.plan.steps:
            if step.task not in moment.started:
                continue
            had = moment.ended.get(step.task, moment.now) - moment.started[step.task]
            expected = self._assumed.get(step.task, self.times[step.task, len(step.units) - 1])
            late = had > (1 + self.threshold) * expected + _SLACK
            early = step.task in moment.ended and had < (1 - self.threshold) * expected - _SLACK
            if late or early:
                news = True
                self._assumed[step.task] = had if step.task in moment.ended else _LATE * had
            if step.task not in moment.ended:
                length = max(self._assumed.get(step.task, expected), had)
                busy[step.task] = moment.started[step.task] + length
        rest = [step for step in moment.plan.steps if step.task not in moment.started]
        if not news or not rest:
            return None
        return self._better(moment, barrier, busy, rest)

    def _better(
        self, moment: Situation, barrier: bool, busy: Mapping[int, float], rest: Sequence[Step]
    ) -> Plan | None:
        ready = np.full(self.times.shape[1], moment.now)
        for step in moment.plan.steps:
            if step.task in busy:
                ready[list(step.units)] = np.maximum(ready[list(step.units)], busy[step.task])
        as_planned = _as_planned(moment, barrier, busy)
        best: list[Step] | None = None
        end = as_planned - max(_SLACK, 1e-3 * as_planned)
        for order, counts in self._candidates(rest, ready, moment.now):
            placed = _placed(order, counts, self.times, ready)
            last = max(step.end for step in placed)
            if last < end:
                best, end = placed, last
        if best is None:
            return None
        kept = [step for step in moment.plan.steps if step.task in moment.started]
        steps = tuple(kept) + tuple(sorted(best, key=lambda s: (s.start, s.end, s.task)))
        return replace(moment.plan, family="moldable", steps=steps)

    def _candidates(
        self, rest: Sequence[Step], ready: np.ndarray, now: float
    ) -> list[tuple[list[Step], list[int]]]:
        """Orders of the rest with a processor count each."""
        rows = [step.task for step in rest]
        found = [(list(rest), [len(step.units) for step in rest])]
        free = int((ready <= now).sum())
        for procs in {len(ready), free} - {0}:
            table = self.times[rows, :procs]
            if not np.isfinite(table).any(axis=1).all():
                continue
            inst = moldable.Instance(table, np.ones(len(rows)), machines=procs)
            for name in _ALGORITHMS:
                result = moldable.solve(inst, name)
                assert isinstance(result, moldable.Result)
                counts = result.procs.tolist()
                by_start = np.lexsort((-(result.end - result.start), result.start)).tolist()
                by_length = np.argsort(-(result.end - result.start), kind="stable").tolist()
                for order in (by_start, by_length):
                    found.append(([rest[k] for k in order], [counts[k] for k in order]))
        return found


def _placed(
    order: Sequence[Step], counts: Sequence[int], times: np.ndarray, ready: np.ndarray
) -> list[Step]:
    """Each in turn on the processors that are free first."""
    free = ready.copy()
    placed = []
    for step, count in zip(order, counts, strict=True):
        units = np.sort(np.argsort(free, kind="stable")[:count])
        start = float(free[units].max())
        end = start + float(times[step.task, count - 1])
        free[units] = end
        placed.append(replace(step, units=tuple(units.tolist()), start=start, end=end))
    return placed


def _as_planned(moment: Situation, barrier: bool, busy: Mapping[int, float]) -> float:
    """The end if the plan is kept."""
    ends: list[float] = []
    waits = moment.plan.waits_for(barrier)
    for step, needed in zip(moment.plan.steps, waits, strict=True):
        if step.task in moment.ended:
            ends.append(moment.ended[step.task])
        elif step.task in busy:
            ends.append(busy[step.task])
        else:
            start = max([moment.now, *(ends[k] for k in needed)])
            ends.append(start + step.end - step.start)
    return max(ends)
