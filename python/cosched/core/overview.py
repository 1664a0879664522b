"""The first rows of a schedule as a person reads them: names, spans of units, in order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cosched.core.arrays import ranges
from cosched.core.schedule import Schedule
from cosched.core.text import listed
from cosched.lazy import pd

#: Spans and names that one cell shows; the rest is counted.
IN_A_CELL = 12


@dataclass(frozen=True)
class Overview:
    """The first rows of a plan.

    Attributes
    ----------
    what : str
        What a row is, in the plural: packs, placements, ...
    frame : pandas.DataFrame
        The rows that are shown, in order of time.
    total : int
        How many rows there are in all.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]], names=["fft", "lu"])
    >>> found = cs.packs.solve(inst, "sequential").overview()
    >>> found.total, found.what
    (2, 'packs')
    >>> print(found.frame.to_string(index=False))
     pack  start  end tasks on processors
        0    0.0  2.0            fft on 2
        1    2.0  4.0             lu on 2
    """

    what: str
    frame: pd.DataFrame
    total: int


def spans(numbers: np.ndarray) -> str:
    """Numbers of units as spans.

    Examples
    --------
    >>> spans(np.array([4, 0, 1, 2, 7, 8]))
    '0-2, 4, 7-8'
    """
    parts = [f"{a}" if a == b else f"{a}-{b}" for a, b in ranges(np.unique(numbers))]
    return listed(parts, IN_A_CELL)


def placements(schedule: Schedule, most: int) -> Overview:
    """The placements that start first; equal starts by task."""
    chosen = np.lexsort((schedule.task, schedule.start))[:most]
    names = schedule.instance.names
    columns: dict[str, list] = {"task": [names[task] for task in schedule.task[chosen].tolist()]}
    kinds = getattr(schedule.instance, "kind_names", ())
    if len(kinds) > 1:
        columns["on"] = [kinds[kind] for kind in schedule.kind[chosen].tolist()]
    columns["units"] = [spans(np.array(schedule.units(row))) for row in chosen.tolist()]
    columns |= {"start": schedule.start[chosen].tolist(), "end": schedule.end[chosen].tolist()}
    return Overview("placements", pd.DataFrame(columns), len(schedule))
