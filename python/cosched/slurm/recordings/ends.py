"""When in its second each job of a recorded run ended: recorded passes tell."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

#: A pass follows what asks for it after batch_sched_delay and a tick, at the latest (s).
_REACH = 4.5
#: Before a pass, or the end of a second: that is how far ends stay away (s).
_GAP = 0.005


@dataclass
class _End:
    """A job's end: within [low, high), best at `guess`; all as its last message has come."""

    row: int
    low: float
    high: float
    guess: float
    windows: list[int] = field(default_factory=list)


def ends_in_windows(
    own: Sequence[tuple[int, float, float, float]],
    others: Sequence[float],
    passes: Sequence[tuple[float, bool]],
    *,
    at_once: bool,
) -> dict[int, float]:
    """When the last message of each job came.

    `own`: (row, earliest, latest, most likely); `others`: whatever else asks for a pass. A pass
    that is not a full one has a cause since the one before it: where nothing else can be, it is
    an end. After each end a pass follows soon. `at_once`: where one can, it followed at once.

    Examples
    --------
    >>> own = [(0, 10.2, 11.2, 10.3), (1, 10.2, 11.2, 10.3)]
    >>> ends_in_windows(own, [], [(10.5, False), (13.5, False)], at_once=False)
    {0: 10.3, 1: 10.505}
    """
    times = [time for time, _ in passes]
    ends = [_End(*one) for one in own]
    caused = {bisect_left(times, time) for time in others}
    for end in ends:
        end.windows = _windows(end, times)
        if len(end.windows) == 1:
            caused.add(end.windows[0])
    wanting = [k for k, (_, full) in enumerate(passes) if not full and k not in caused]
    for _ in range(2):  # first those that one end alone can explain
        for k in wanting:
            near = [end for end in ends if k in end.windows]
            if k in caused or not near or (len(near) > 1 and _ == 0):
                continue
            best = min(near, key=lambda end: abs(_within(end, k, times) - end.guess))
            best.windows = [k]
            caused.add(k)
    found = {}
    for end in ends:
        k = min(end.windows, key=lambda k: abs(_within(end, k, times) - end.guess))
        asked = at_once and k < len(times) and times[k] < end.high
        found[end.row] = times[k] - _GAP if asked else _within(end, k, times)
    return found


def _windows(end: _End, times: Sequence[float]) -> list[int]:
    """Numbers of the passes before which it can have ended."""
    first, last = bisect_left(times, end.low), bisect_left(times, end.high)
    near = [k for k in range(first, last) if times[k] - end.low > _GAP]
    if last == len(times) or times[last] - end.high < _REACH or not near:
        near.append(last)
    return near


def _within(end: _End, k: int, times: Sequence[float]) -> float:
    """The likeliest moment before pass k and after the one before it."""
    low = max(end.low, times[k - 1] + _GAP if k else -np.inf)
    high = min(end.high, times[k] if k < len(times) else np.inf) - _GAP
    return min(max(end.guess, low), max(high, low))


@dataclass(frozen=True)
class Placed:
    """A job of a recorded run: its exact start, the second of its end, and what it had."""

    begin: float
    end: float
    guess: float  # when it ended, as far as its run time tells
    nodes: frozenset[str]
    filled: bool = False  # it left nothing of them to others
    after: tuple[int, ...] = ()  # rows that have to be over before it starts


def latest_by_starts(
    jobs: Mapping[int, Placed],
    limits: Sequence[tuple[int, Sequence[int]]],
    decisions: Sequence[float],
) -> dict[int, float]:
    """By which pass or cycle jobs were over, by row: it gave their nodes to others, and nobody
    starts where somebody is completing. `limits`: (at once, rows) of arrays that let so many tasks
    run.

    Examples
    --------
    >>> first = Placed(3.0, 85.0, 85.2, frozenset(["n1"]))
    >>> second = Placed(86.4, 99.0, 99.1, frozenset(["n1"]))
    >>> latest_by_starts({0: first, 1: second}, [], [83.0, 86.3, 88.0])
    {0: 86.3}
    """
    found: dict[int, float] = {}
    for row in sorted(jobs, key=lambda row: jobs[row].begin):
        at = bisect_right(decisions, jobs[row].begin)
        moment = decisions[at - 1] if at else jobs[row].begin
        over = _over_where(row, jobs, moment)
        for most, tasks in limits:
            if row in tasks:
                over += _over_of_array(row, most, {task: jobs[task] for task in tasks}, moment)
        for other in over:
            found[other] = min(found.get(other, np.inf), moment)
    return found


def _over_where(row: int, jobs: Mapping[int, Placed], moment: float) -> list[int]:
    """Jobs that were over by then, because another one started on their nodes, or after them."""
    own = jobs[row]
    return [
        other for other, job in jobs.items()
        if job.begin < own.begin and job.end <= moment and (
            other in own.after or (not job.nodes.isdisjoint(own.nodes) and (
                job.filled or own.filled or min(job.end + 1, job.guess) <= moment)))
    ]  # fmt: skip


def _over_of_array(row: int, most: int, tasks: Mapping[int, Placed], moment: float) -> list[int]:
    """Tasks that were over by then, because one more could start."""
    running = [
        task for task, own in tasks.items()
        if task != row and own.begin <= tasks[row].begin and own.end + 1 > moment
    ]  # fmt: skip
    perhaps = [task for task in running if tasks[task].end <= moment]
    perhaps.sort(key=lambda task: tasks[task].guess)
    return perhaps[: max(0, len(running) - most + 1)]
