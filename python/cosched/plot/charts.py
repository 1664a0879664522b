"""The Gantt chart of any schedule, that of a run, and files of figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import io
from cosched.core.arrays import ranges
from cosched.core.drawing import axes_or_new, literal
from cosched.core.result import Result
from cosched.core.schedule import Schedule
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, printable, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Above this number of placements, bars carry no outline and no text.
_MOST_LABELLED = 120
#: Above this number, transfers are not drawn: they would hide the tasks.
_MOST_ARCS = 400


def gantt(
    schedule: Schedule | Result,
    ax: Axes | None = None,
    *,
    labels: Sequence[str] | None = None,
    color_by: Sequence[str] | None = None,
) -> Axes:
    """Gantt chart: time across, a lane for each unit of each resource type.

    Bars whose duration is a model's and no measurement (``instance.origin``) are hatched. Transfers
    that take time (dags) are thin arcs from the end of a task to the arrival at the next one's
    unit, up to 400 of them.

    Parameters
    ----------
    schedule : Schedule or Result
        Of a result, its schedule.
    labels : sequence of str, optional
        A text a task; None takes the instance's names. Drawn where there is room.
    color_by : sequence of str, optional
        A group a task (a kernel, an application): tasks of a group share a colour, and the
        groups a legend. None takes the instance's kernels; without them neighbouring tasks get
        different colours.

    Raises
    ------
    InvalidInstance
        A schedule without placements.

    Examples
    --------
    >>> inst = cs.workloads.cholesky(3, units=(2, 1))
    >>> ax = cs.plot.gantt(cs.dags.heft(inst).schedule, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['CPU', 'GPU']
    """
    schedule = schedule.schedule if isinstance(schedule, Result) else schedule
    if not isinstance(schedule, Schedule):
        raise InvalidInstance(f"expected a schedule or a result, got {type(schedule).__name__}")
    ax = axes_or_new(ax, (10, 4.5))
    texts = _per_task(schedule, labels, "names", "labels")
    groups = _per_task(schedule, color_by, "kernels", "color_by")
    colors = _colors(schedule, groups, ax)
    lanes, ticks = _lanes(schedule)
    has_many_tasks = len(schedule) > _MOST_LABELLED
    hatched = _estimated(schedule)
    rectangles, owners = [], []
    for row in range(len(schedule)):
        for low, high in ranges(
            np.sort([lanes[int(schedule.kind[row])] + u for u in schedule.units(row)])
        ):
            rectangles.append((schedule.start[row], low - 0.5, schedule.end[row], high + 0.5))
            owners.append(row)
    draw_rectangles(
        ax,
        rectangles,
        [colors[row] for row in owners],
        [hatched[row] for row in owners],
        has_many_tasks,
    )
    ax.set_xlim(0, max(schedule.makespan, 1e-300))
    ax.set_ylim(ticks[-1][0] + ticks[-1][2] - 0.5, -0.5)
    ax.set_yticks(
        [first + (count - 1) / 2 for first, _, count in ticks]
        if len(ticks) > 1
        else np.arange(0, ticks[0][2], _step(ticks[0][2]))
    )
    if len(ticks) > 1:
        ax.set_yticklabels([literal(name) for _, name, _ in ticks])
        for first, _, _ in ticks[1:]:
            ax.axhline(first - 0.5, color="black", linewidth=0.8)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("unit" if len(ticks) > 1 else "processor")
    _draw_transfers(ax, schedule, lanes)
    if not has_many_tasks and texts is not None:
        label_rectangles(ax, rectangles, [texts[int(schedule.task[row])] for row in owners])
    if any(hatched) and groups is None:
        _add_legend_of_hatching(ax)
    return ax


def _add_legend_of_hatching(ax: Axes) -> None:
    """Explain what a hatched bar is."""
    from matplotlib.patches import Patch

    patch = Patch(
        facecolor="white", edgecolor="black", hatch="//", label="run time of a model, not measured"
    )
    ax.legend(handles=[patch], fontsize=8, loc="upper right", framealpha=0.9)


def _step(count: int) -> int:
    """Return the step from one tick to the next, so that there are at most nine: 1, 2, 5, 10, 20,
    ..."""
    steps = (factor * 10**power for power in range(19) for factor in (1, 2, 5))
    return int(next(step for step in steps if count <= 9 * step))


def save(ax_or_figure: Axes | Figure, path: str | PathLike[str]) -> None:
    """Write a figure by the suffix of `path`, as a whole or not at all.

    The same figure gives the same bytes: no dates, no random identifiers.

    Parameters
    ----------
    ax_or_figure : matplotlib.axes.Axes or matplotlib.figure.Figure
        The figure, or axes of it.
    path : str or path-like
        Ends in .png, .svg or .pdf.

    Examples
    --------
    >>> inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])
    >>> ax = cs.plot.gantt(cs.packs.sequential(inst).schedule, ax=Figure().subplots())
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "plan.svg"
    >>> cs.plot.save(ax, path)
    >>> path.stat().st_size > 0
    True
    """
    import matplotlib

    suffix = io.check_suffix(path, (".png", ".svg", ".pdf"))
    date = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}[suffix]
    figure: Any = getattr(ax_or_figure, "figure", ax_or_figure)
    with io.replacing(path) as temporary, matplotlib.rc_context({"svg.hashsalt": "cosched"}):
        figure.savefig(temporary, dpi=150, metadata=date)


def _lanes(schedule: Schedule) -> tuple[dict[int, int], list[tuple[int, str, int]]]:
    """Return the first lane of each resource type, and (first lane, name, lanes) for the axis."""
    counts = _unit_counts(schedule)
    names = getattr(schedule.instance, "kind_names", None)
    first, lanes, ticks = 0, {}, []
    for kind, count in enumerate(counts):
        lanes[kind] = first
        ticks.append((first, names[kind] if names else f"type {kind}", count))
        first += count
    return lanes, ticks


def _draw_transfers(ax: Axes, schedule: Schedule, lanes: dict[int, int]) -> None:
    graph: Any = schedule.instance
    seconds_of = getattr(graph, "transfer_times", None)
    if seconds_of is None or graph.data is None or len(schedule) != graph.tasks:
        return
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    row = np.argsort(schedule.task, kind="stable")
    kinds, units = schedule.kind[row], schedule.unit[schedule.unit_begin[:-1]][row]
    seconds = seconds_of(kinds, units)
    moving = np.flatnonzero(seconds > 0)
    if not 0 < len(moving) <= _MOST_ARCS:
        return
    lane = np.array([lanes[kind] for kind in kinds.tolist()]) + units
    paths = []
    for edge in moving.tolist():
        before, after = graph.edges[edge].tolist()
        begin = float(schedule.end[row][before])
        end = begin + float(seconds[edge])
        ends = (begin, lane[before]), (end, lane[after])
        middle = ((begin + end) / 2, lane[before]), ((begin + end) / 2, lane[after])
        codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
        paths.append(Path([ends[0], *middle, ends[1]], codes))
    ax.add_collection(
        PathCollection(
            paths, facecolors="none", edgecolors="black", linewidths=0.5, alpha=0.6, zorder=3
        ),
        autolim=False,
    )


def _unit_counts(schedule: Schedule) -> list[int]:
    if not len(schedule):
        raise InvalidInstance("an empty schedule: nothing to draw")
    unit_counts = getattr(schedule.instance, "unit_counts", None)
    if unit_counts is not None:
        return list(unit_counts)
    owner = np.repeat(schedule.kind, np.diff(schedule.unit_begin))
    return [
        int(schedule.unit[owner == kind].max(initial=0)) + 1
        for kind in range(int(schedule.kind.max()) + 1)
    ]


def _per_task(
    schedule: Schedule, texts: Sequence[str] | None, attribute: str, argument: str
) -> Sequence[str] | None:
    """Return what was given for each task, else what the instance has."""
    if texts is None:
        return getattr(schedule.instance, attribute, None) or None
    if not isinstance(texts, (list, tuple, np.ndarray)) or np.ndim(texts) != 1:
        raise InvalidInstance(f"{argument} = {shorten(texts)}: expected a list, a text a task")
    text_of_tasks = [str(text) for text in texts]
    needed = int(schedule.task.max(initial=-1)) + 1
    if len(text_of_tasks) < needed:
        raise InvalidInstance(
            f"{argument} has {len(text_of_tasks)} entries: expected {needed}, one a task"
        )
    return text_of_tasks


def _colors(schedule: Schedule, color_by: Sequence[str] | None, ax: Axes) -> list[Any]:
    from matplotlib import colormaps
    from matplotlib.patches import Patch

    palette = colormaps["tab20"].colors  # type: ignore[attr-defined]
    if color_by is None:
        return [palette[int(task) % len(palette)] for task in schedule.task]
    groups = list(dict.fromkeys(color_by))
    if len(groups) <= 10:  # farther apart
        palette = colormaps["tab10"].colors  # type: ignore[attr-defined]
    color = {group: palette[k % len(palette)] for k, group in enumerate(groups)}
    if len(groups) <= 12:
        ax.legend(
            handles=[Patch(color=color[group], label=literal(group)) for group in groups],
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            frameon=False,
            fontsize=8,
        )
    return [color[color_by[int(task)]] for task in schedule.task]


def _estimated(schedule: Schedule) -> np.ndarray:
    origin = getattr(schedule.instance, "origin", None)
    if origin is None:
        return np.zeros(len(schedule), dtype=bool)
    is_estimated: np.ndarray = origin[schedule.task, np.diff(schedule.unit_begin) - 1] != 0
    return is_estimated


def draw_rectangles(
    ax: Axes, rectangles: list[Any], colors: list[Any], hatched: list[Any], has_many: bool
) -> None:
    from matplotlib.collections import PolyCollection

    for with_hatch in (False, True):
        chosen = [k for k, mark in enumerate(hatched) if bool(mark) == with_hatch]
        if not chosen:
            continue
        corners = [
            [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
            for x0, y0, x1, y1 in (rectangles[k] for k in chosen)
        ]
        ax.add_collection(
            PolyCollection(
                corners,
                facecolors=[colors[k] for k in chosen],
                edgecolors="none" if has_many else "black",
                linewidths=0.6,
                hatch="/" if with_hatch else None,
                alpha=0.9,
            )
        )


def label_rectangles(ax: Axes, rectangles: list[Any], texts: Sequence[str]) -> None:
    """A text in each box that has room for it, cut to fit its width."""
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    width_inches = figure.get_size_inches()[0] * ax.get_position().width
    characters = width_inches * 72 / 4.2 / max(ax.get_xlim()[1], 1e-300)  # per second, font size 7
    for (x0, y0, x1, y1), text in zip(rectangles, texts, strict=True):
        room = int((x1 - x0) * characters)
        if room >= 3:
            label = printable(text)
            label = label if len(label) <= room else label[: room - 1] + "…"
            ax.text(
                (x0 + x1) / 2,
                (y0 + y1) / 2,
                literal(label),
                ha="center",
                va="center",
                fontsize=7,
                clip_on=True,
                bbox={"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 1},
            )


Rectangle = tuple[float, float, float, float]


def execution(execution: Any, ax: Axes | None = None) -> Axes:
    """Gantt chart of two rows on one axis of time: planned above, measured below.

    Each row names its makespan. Measured bars of tasks that did not complete are hatched.

    Parameters
    ----------
    execution : cosched.execution.Execution
        Or anything with its ``tasks``.

    Raises
    ------
    InvalidInstance
        An execution without tasks.

    Examples
    --------
    >>> from cosched.execution import Execution, TaskRun
    >>> one = TaskRun(task=0, name="fem", kind=0, units=(0,), planned_start=0.0, planned_end=2.0,
    ...               start=0.1, end=2.3, state="completed", attempt=1)
    >>> run = Execution(family="moldable", launcher="local", barrier=True, tasks=(one,))
    >>> ax = cs.plot.execution(run, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['planned\\n2 s', 'measured\\n2.3 s']
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
        lanes_of_task = sorted(lanes[task.kind, unit] for unit in task.units)
        spans = [(task.planned_start, task.planned_end, 0, False)]
        if not math.isnan(task.start) and not math.isnan(task.end):
            spans.append((task.start, task.end, height, task.state != "completed"))
        for start, end, below, hatched in spans:
            for first, last in ranges(np.array(lanes_of_task) + below):
                rectangles.append((start, first - 0.5, end, last + 0.5))
                owners.append((task, hatched))
    from matplotlib import colormaps

    palette = colormaps["tab20"].colors  # type: ignore[attr-defined]
    colors = [palette[task.task % len(palette)] for task, _ in owners]
    has_many = len(rectangles) > 240
    draw_rectangles(ax, rectangles, colors, [hatched for _, hatched in owners], has_many)
    ax.set_xlim(0, max((rectangle[2] for rectangle in rectangles), default=0.0) or 1.0)
    ax.set_ylim(height + len(lanes), -1)
    ax.set_yticks([(len(lanes) - 1) / 2, height + (len(lanes) - 1) / 2])
    makespans = (execution.planned_makespan, execution.makespan)
    ax.set_yticklabels(
        [_with_makespan(*row) for row in zip(("planned", "measured"), makespans, strict=True)]
    )
    ax.axhline(len(lanes), color="black", linewidth=0.8)
    for end, low, high in (
        (execution.planned_makespan, -0.5, len(lanes) - 0.5),
        (execution.makespan, height - 0.5, height + len(lanes) - 0.5),
    ):
        if not math.isnan(end):
            ax.vlines(end, low, high, color="black", linestyle="--", linewidth=1.0)
    size = f"{count_of(len(execution.tasks), 'task')} on {count_of(len(lanes), 'unit')}"
    ax.set_title(f"{size}: plan and measured run", fontsize=10)
    ax.set_xlabel(f"time (s); one lane for each of {count_of(len(lanes), 'unit')}")
    if not has_many:
        label_rectangles(ax, rectangles, [task.name for task, _ in owners])
    return ax


def _with_makespan(name: str, makespan: float) -> str:
    return name if math.isnan(makespan) else f"{name}\n{makespan:,.4g} s"
