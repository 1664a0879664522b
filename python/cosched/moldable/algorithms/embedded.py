"""What to start now, for a loop that asks again and again: a plan within some milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cosched import _core, core
from cosched.core.arrays import integer, real, real_array
from cosched.errors import InvalidInstance, shorten
from cosched.moldable.instance import Instance


@dataclass(frozen=True)
class Step:
    """The jobs to start now, and how good the plan is whose begin they are.

    Attributes
    ----------
    start : tuple of (int, tuple of int)
        Row of the ready job, and the processors that it gets.
    makespan : float
        Seconds from now until the plan of the ready jobs ends. What runs now is decided already,
        and does not count.
    bound : float
        No plan of these jobs ends sooner, on processors that become free as they do.
    state : float
        For the next call.

    Examples
    --------
    >>> found = cs.moldable.step([[4.0, 2.0]], machine=2)
    >>> found.start, found.makespan, found.gap
    (((0, (0, 1)),), 2.0, 0.0)
    """

    start: tuple[tuple[int, tuple[int, ...]], ...]
    makespan: float
    bound: float
    state: float

    @property
    def gap(self) -> float:
        """How far from the best possible plan of these jobs at most, relative."""
        return self.makespan / self.bound - 1 if self.bound > 0 else 0.0


def step(
    ready: object, machine: int | Sequence[float], budget: float = 0.05, state: float | None = None
) -> Step:
    """Which of the ready jobs start now, on which processors, decided within `budget` seconds.

    Parameters
    ----------
    ready : array_like of float, shape (n, k), or Instance
        Seconds of each ready job on 1..k processors, infinity where it cannot run. An instance
        without edges, release dates and resources is read faster. Without any job nothing starts.
    machine : int or sequence of float, shape (m,)
        Processors, all free; or the seconds until each is free, 0 where it is.
    budget : float
        Seconds, > 0. What is found first is returned where it is too short.
    state : float, optional
        Of the last call of the same loop: the search begins where that one ended.

    Raises
    ------
    InvalidInstance
        Edges, release dates or resources; a wait that is no number of seconds.

    Notes
    -----
    On a free machine the plan's makespan is within 2 (1 + 1%) of the optimum: counts that end
    within a guess d at the least work, listed by decreasing time. O(n log m log n + m log m) a
    guess; some six guesses, then counts of single jobs until the budget is used: how many that are
    is the machine's speed, so that two calls may differ where the gap is not 0.

    References
    ----------
    Turek, Wolf, Yu 1992 (the list).

    Examples
    --------
    Two processors are free and the third in two seconds; the long job starts on both:

    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> found = cs.moldable.step(times, machine=[0.0, 0.0, 2.0])
    >>> sorted(unit for _, units in found.start for unit in units)
    [0, 1]
    >>> found.gap < 0.5
    True
    >>> cs.moldable.step([], machine=3).start
    ()
    """
    part_instance = ready if isinstance(ready, Instance) else None
    many = integer(machine, "machine", 1) if np.ndim(machine) == 0 else None
    if many is None:
        free = real_array(machine, "machine", 1)
    else:
        free = np.zeros(many)
    if not len(free):
        raise InvalidInstance("machine: expected at least one processor")
    ratio = 0.0 if state is None else real(state, "state")
    seconds = real(budget, "budget")
    if not seconds > 0:
        raise InvalidInstance(f"budget = {shorten(budget)}: expected seconds > 0")
    if part_instance is None:
        if isinstance(ready, core.Instance):
            raise InvalidInstance(f"ready = {shorten(ready)}: expected seconds, or one of moldable")
        if hasattr(ready, "__len__") and len(ready) == 0:
            _core.moldable.check_step(free, seconds, ratio)
            return Step((), 0.0, 0.0, ratio)
        part_instance = Instance(ready, machines=len(free))
    if part_instance.machines != len(free):
        raise InvalidInstance(
            f"machine: {len(free)} processors: expected {part_instance.machines}, as the instance "
            "has"
        )
    owner, makespan, bound, is_kept = _core.moldable.step(part_instance._core, free, seconds, ratio)
    units: dict[int, list[int]] = {}
    for processor, job in enumerate(owner.tolist()):
        if job >= 0:
            units.setdefault(job, []).append(processor)
    start = tuple((job, tuple(units_of_job)) for job, units_of_job in sorted(units.items()))
    return Step(start, makespan, bound, is_kept)
