"""A run that was recorded: where and when each task ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cosched.core.arrays import integer_array, real_array
from cosched.errors import InvalidInstance, shorten


class Run(NamedTuple):
    """A run that was recorded: columns with an entry a task.

    Attributes
    ----------
    kind, unit : array of int, shape (n,)
        Resource type of each task, and its unit within the type.
    start, end : array of float, shape (n,)
        Seconds after the first start.

    Examples
    --------
    >>> Run(np.array([0]), np.array([2]), np.array([0.0]), np.array([1.5])).end.tolist()
    [1.5]
    """

    kind: np.ndarray
    unit: np.ndarray
    start: np.ndarray
    end: np.ndarray


def run_of(executed: Any, tasks: int) -> Run | None:
    """Columns as such, or as a mapping, with an entry a task; read-only. None: no run.

    Whether the machine has these units, and the run breaks no rule, is not asked here.
    """
    if executed is None:
        return None
    if isinstance(executed, Run):
        executed = executed._asdict()
    if not isinstance(executed, Mapping) or set(executed) != set(Run._fields):
        raise InvalidInstance(
            f"executed = {shorten(executed)}: expected columns {', '.join(Run._fields)}"
        )
    run = Run(
        *(integer_array(executed[name], f"executed.{name}", 1, 0) for name in ("kind", "unit")),
        *(real_array(executed[name], f"executed.{name}", 1) for name in ("start", "end")),
    )
    for name, column in run._asdict().items():
        if len(column) != tasks:
            raise InvalidInstance(
                f"executed.{name} has {len(column)} entries: expected one for each of the {tasks} "
                "tasks"
            )
        column.flags.writeable = False
    bad = np.flatnonzero(~((run.start >= 0) & (run.end >= run.start) & np.isfinite(run.end)))
    if len(bad):
        raise InvalidInstance(
            f"executed: task {bad[0]} runs from {run.start[bad[0]]:g} to {run.end[bad[0]]:g}: "
            "expected finite seconds, 0 <= start <= end"
        )
    return run
