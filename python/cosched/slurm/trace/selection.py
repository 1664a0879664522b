"""Which cycles and passes of a simulation are traced."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cosched import _core
from cosched.core.arrays import integer
from cosched.errors import InvalidInstance, shorten

#: Numbers of cycles are below this.
MAX_CYCLES = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class TraceSelection:
    """Cycles by number, cycles and passes by time, and the jobs of a queue; all hold together.

    Attributes
    ----------
    first_cycle, last_cycle : int
        Numbers of cycles, from 1.
    begin_time, end_time : float
        Seconds on the time base of the jobs.
    row : int or None
        The row of the only job whose part is kept; None: all jobs.
    with_passes : bool
        Passes of the main scheduler, too.
    """

    first_cycle: int = 1
    last_cycle: int = MAX_CYCLES
    begin_time: float = -math.inf
    end_time: float = math.inf
    row: int | None = None
    with_passes: bool = True

    def recorder(self) -> _core.slurm.TraceRecorder:
        """What the core's simulator writes the selected cycles and passes to."""
        return _core.slurm.TraceRecorder(
            first_cycle=self.first_cycle,
            last_cycle=self.last_cycle,
            begin_time=self.begin_time,
            end_time=self.end_time,
            job=-1 if self.row is None else self.row,
            with_passes=self.with_passes,
        )


def selection_of(trace: bool | int | range | TraceSelection) -> TraceSelection | None:
    """What the argument ``trace`` of an algorithm asks for; None: nothing.

    Raises
    ------
    InvalidInstance
        A range with gaps or without numbers, a number below 1, another type.
    """
    if isinstance(trace, TraceSelection):
        return trace
    if isinstance(trace, bool):
        return TraceSelection() if trace else None
    if isinstance(trace, range):
        if not trace or trace.step != 1 or trace[0] < 1:
            raise InvalidInstance(f"trace = {trace}: expected numbers of cycles, as range(1, 4)")
        last = min(trace[-1], MAX_CYCLES)
        return TraceSelection(first_cycle=trace[0], last_cycle=last, with_passes=False)
    try:
        number = integer(trace, "trace", 1, MAX_CYCLES)
    except InvalidInstance:
        raise InvalidInstance(
            f"trace = {shorten(trace)}: expected True, the number of a cycle (from 1), or a range"
        ) from None
    return TraceSelection(first_cycle=number, last_cycle=number, with_passes=False)
