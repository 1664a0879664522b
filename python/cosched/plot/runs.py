"""A run: the plan above what was real."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from cosched.core.arrays import ranges
from cosched.core.drawing import axes_or_new
from cosched.errors import InvalidInstance
from cosched.lazy import plt
from cosched.plot.charts import draw_rectangles, label_rectangles

Rectangle = tuple[float, float, float, float]


def execution(execution: Any, ax: plt.Axes | None = None) -> plt.Axes:
    """Gantt chart of two rows on one axis of time: planned above, real below.

    Parameters
    ----------
    execution : cosched.execution.Execution
        Or anything with its ``tasks``.

    Raises
    ------
    InvalidInstance
        An execution without tasks.

    Notes
    -----
    Real bars of tasks that did not complete are hatched.

    Examples
    --------
    >>> from cosched.execution import Execution, TaskRun
    >>> one = TaskRun(task=0, name="fem", kind=0, units=(0,), planned_start=0.0, planned_end=2.0,
    ...               start=0.1, end=2.3, state="completed", attempt=1)
    >>> run = Execution(family="moldable", launcher="local", barrier=True, tasks=(one,))
    >>> ax = cs.plot.execution(run, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['planned', 'real']
    """
    if not hasattr(execution, "tasks"):
        raise InvalidInstance(f"expected an Execution, got {type(execution).__name__}")
    if not execution.tasks:
        raise InvalidInstance("an execution without tasks: nothing to draw")
    ax = axes_or_new(ax, (10, 5))
    lanes: dict[tuple[int, int], int] = {
        lane: k
        for k, lane in enumerate(sorted({(t.kind, u) for t in execution.tasks for u in t.units}))
    }
    height = len(lanes) + 1  # a lane free between the two
    rectangles: list[Rectangle] = []
    owners: list[tuple[Any, bool]] = []
    for task in execution.tasks:
        mine = sorted(lanes[task.kind, unit] for unit in task.units)
        spans = [(task.planned_start, task.planned_end, 0, False)]
        if not math.isnan(task.start) and not math.isnan(task.end):
            spans.append((task.start, task.end, height, task.state != "completed"))
        for start, end, below, hatched in spans:
            for rectangle in _rectangles(start, end, (lane + below for lane in mine)):
                rectangles.append(rectangle)
                owners.append((task, hatched))
    from matplotlib import colormaps

    palette = colormaps["tab20"].colors  # type: ignore[attr-defined]
    colors = [palette[task.task % len(palette)] for task, _ in owners]
    many = len(rectangles) > 240
    draw_rectangles(ax, rectangles, colors, [hatched for _, hatched in owners], many)
    ax.set_xlim(0, max((rectangle[2] for rectangle in rectangles), default=0.0) or 1.0)
    ax.set_ylim(height + len(lanes) - 0.5, -0.5)
    ax.set_yticks([(len(lanes) - 1) / 2, height + (len(lanes) - 1) / 2])
    ax.set_yticklabels(["planned", "real"])
    ax.axhline(len(lanes), color="black", linewidth=0.8)
    for end, low, high in (
        (execution.planned_makespan, -0.5, len(lanes) - 0.5),
        (execution.makespan, height - 0.5, height + len(lanes) - 0.5),
    ):
        if not math.isnan(end):
            ax.vlines(end, low, high, color="black", linestyle="--", linewidth=1.0)
    ax.set_xlabel("time (s)")
    if not many:
        label_rectangles(ax, rectangles, [task.name for task, _ in owners])
    return ax


def _rectangles(start: float, end: float, lanes: Iterable[int]) -> list[Rectangle]:
    return [(start, low - 0.5, end, high + 0.5) for low, high in ranges(np.sort(list(lanes)))]
