"""Pictures of the cluster family: load over time, the queue, who ran where."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from cosched.cluster.result import Result
from cosched.core.arrays import means, step_function
from cosched.core.drawing import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cosched.cluster.schedule import Schedule

#: Above this number of bars a picture of who ran where shows the load of the nodes instead.
MOST_BARS = 20_000
#: Slices of time that a picture can show side by side.
_BINS = 1200


def _rows(result: Result) -> Schedule:
    return cast("Schedule", result.schedule)


def _unit(result: Result) -> tuple[float, str]:
    """Return seconds of the time axis' unit, and its name."""
    span = result.span
    for seconds, name in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if span > 3 * seconds:
            return seconds, name
    return 1.0, "s"


def _time_axis(result: Result, ax: Axes) -> None:
    seconds, name = _unit(result)
    first = float(result.instance.column("eligible").min()) / seconds
    ax.set_xlim(first, max(float(result.outcome["end"].max()) / seconds, first + 1e-9))
    ax.set_xlabel(f"time ({name})")


def _legend_above(ax: Axes) -> None:
    ax.legend(fontsize=8, ncols=4, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0))


def _averaged(times: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a step function with more steps than can be seen, as its means over slices of time."""
    if len(times) <= 2 * _BINS:
        return times, level
    edges = np.linspace(times[0], times[-1], _BINS + 1)
    return edges, np.append(means(times, level, edges), 0.0)


def utilization(result: Result, ax: Axes | None = None) -> Axes:
    """Demand, capped demand and allocated CPU over time (Figure 2 of the paper).

    The demand D(t) is the sum of ``cpu`` times ``tasks`` over the jobs in the system; min(P,
    D(t)) is what a machine could use at best, u(t) what the policy uses (0 while a job pays a
    rescheduling penalty). The area between the two is the underutilization. Where there are
    more changes than pixels, all are means over slices of time.

    Examples
    --------
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(20, 8, seed=1), nodes=8)
    >>> ax = cs.plot.utilization(cs.cluster.solve(inst, "EASY"), ax=Figure().subplots())
    >>> ax.get_ylabel()
    "nodes' worth of CPU"
    """
    Result.require(result)
    ax = axes_or_new(ax, (10, 4))
    instance, nodes, schedule = result.instance, result.instance.nodes, _rows(result)
    seconds, _ = _unit(result)
    size = instance.column("cpu") * instance.column("tasks")
    t, demand = step_function(instance.column("eligible"), result.outcome["end"], size)
    t_used, mean_used = _averaged(
        *step_function(schedule.start, schedule.end, size[schedule.task] * schedule.progress)
    )
    t_could, could = _averaged(t, np.minimum(demand, nodes))
    ax.fill_between(
        t_could / seconds,
        could,
        step="post",
        color="tab:orange",
        alpha=0.45,
        linewidth=0,
        label="not used: min(P, D(t)) - u(t)",
    )
    ax.fill_between(
        t_used / seconds, mean_used, step="post", color="tab:blue", linewidth=0, label="used: u(t)"
    )
    t_demand, mean_demand = _averaged(t, demand)
    ax.step(
        t_demand / seconds,
        mean_demand,
        where="post",
        color="0.4",
        linewidth=0.7,
        label="demand D(t)",
    )
    ax.axhline(nodes, color="black", linewidth=0.8, linestyle="--", label=f"P = {nodes} nodes")
    axis_limit = min(float(demand.max()), 2.5 * nodes)  # a queue may demand any amount
    ax.set_ylim(0, 1.05 * axis_limit if axis_limit > 0 else nodes)
    _time_axis(result, ax)
    ax.set_ylabel("nodes' worth of CPU")
    _legend_above(ax)
    return ax


#: Older spelling of :func:`utilization`.
utilisation = utilization


def queue_length(result: Result, ax: Axes | None = None) -> Axes:
    """Jobs in the system that wait, and that run, over time (paused jobs wait).

    Examples
    --------
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(20, 8, seed=1), nodes=8)
    >>> ax = cs.plot.queue_length(cs.cluster.solve(inst, "EASY"), ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['waiting', 'running']
    """
    Result.require(result)
    ax = axes_or_new(ax, (10, 4))
    instance, schedule = result.instance, _rows(result)
    seconds, _ = _unit(result)
    t, jobs_in_system = step_function(
        instance.column("eligible"), result.outcome["end"], np.ones(len(instance))
    )
    t_run, running = step_function(schedule.start, schedule.end, np.ones(len(schedule.task)))
    times = np.union1d(t, t_run)
    inside_at = np.concatenate([[0.0], jobs_in_system])[np.searchsorted(t, times, side="right")]
    running_at = np.concatenate([[0.0], running])[np.searchsorted(t_run, times, side="right")]
    waiting = np.maximum(inside_at - running_at, 0.0)
    ax.step(times / seconds, waiting, where="post", color="tab:red", lw=0.9, label="waiting")
    ax.step(times / seconds, running_at, where="post", color="tab:blue", lw=0.9, label="running")
    ax.set_ylim(bottom=0)
    _time_axis(result, ax)
    ax.set_ylabel("jobs")
    _legend_above(ax)
    return ax


def occupation(result: Result, ax: Axes | None = None) -> Axes:
    """Who ran where: a lane a node, a bar a job's stay, as tall as its CPU share there.

    Jobs that share a node are stacked in the order in which they came to it. Where there are
    more than ``MOST_BARS`` bars the picture is of the nodes' load: the share of its CPU that
    each node gives to jobs, a column of pixels a slice of time.

    Examples
    --------
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(20, 8, seed=1), nodes=8)
    >>> ax = cs.plot.occupation(cs.cluster.solve(inst, "EASY"), ax=Figure().subplots())
    >>> ax.get_ylim() == (0, 8)
    True
    """
    Result.require(result)
    ax = axes_or_new(ax, (11, 5))
    schedule = _rows(result)
    bars = np.diff(schedule.unit_begin)
    row = np.repeat(np.arange(len(schedule.task)), bars)
    node = np.asarray(schedule.unit, dtype=np.int64)
    if len(row) <= MOST_BARS:
        _draw_bars(result, ax)
    else:
        _draw_load(result, ax, row, node)
    ax.set_ylim(0, result.instance.nodes)
    _time_axis(result, ax)
    ax.set_ylabel("node")
    return ax


def _draw_bars(result: Result, ax: Axes) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection

    palette = np.array(colormaps["tab20"].colors)  # type: ignore[attr-defined]
    schedule, need = _rows(result), result.instance.column("cpu")
    seconds, _ = _unit(result)
    corners, colors = [], []
    on_node: list[list[tuple[float, float, float]]] = [[] for _ in range(result.instance.nodes)]
    for row in np.lexsort([schedule.task, schedule.start]).tolist():
        job, start, end = int(schedule.task[row]), schedule.start[row], schedule.end[row]
        share = max(float(schedule.yield_[row]) * need[job], 0.04)  # thinner ones are not seen
        for node, tasks in zip(*np.unique(schedule.units(row), return_counts=True), strict=True):
            stays = [stay for stay in on_node[node] if stay[0] > start]
            bottom = _lowest_gap(stays, share * tasks)
            stays.append((end, bottom, bottom + share * tasks))
            on_node[node] = stays
            low, high = node + bottom, node + min(bottom + share * tasks, 1.0)
            start_seconds, end_seconds = start / seconds, end / seconds
            corners.append(
                [
                    (start_seconds, low),
                    (end_seconds, low),
                    (end_seconds, high),
                    (start_seconds, high),
                ]
            )
            colors.append(palette[job % len(palette)])
    # Without outlines, and without the pale seams that smoothing leaves between neighbours.
    ax.add_collection(
        PolyCollection(corners, facecolors=colors, edgecolors="none", antialiased=False)
    )


def _lowest_gap(stays: list[tuple[float, float, float]], height: float) -> float:
    """Return the lowest height at which a bar fits between the stays of a node (else on top, cut at
    1)."""
    bottom = 0.0
    for _, low, high in sorted(stays, key=lambda stay: stay[1]):
        if low - bottom >= height - 1e-9:
            break
        bottom = max(bottom, high)
    return min(bottom, 1.0)


def _draw_load(result: Result, ax: Axes, row: np.ndarray, node: np.ndarray) -> None:
    schedule, nodes = _rows(result), result.instance.nodes
    seconds, _ = _unit(result)
    first = float(result.instance.column("eligible").min())
    last = float(result.outcome["end"].max())
    share = (result.instance.column("cpu")[schedule.task] * schedule.yield_)[row]
    start, end = schedule.start[row], schedule.end[row]
    load = np.zeros((nodes, _BINS))
    order = np.argsort(node, kind="stable")
    for rows_of_node in np.split(order, np.flatnonzero(np.diff(node[order])) + 1):
        times = step_function(start[rows_of_node], end[rows_of_node], share[rows_of_node])
        load[node[rows_of_node[0]]] = means(*times, np.linspace(first, last, _BINS + 1))
    image = ax.imshow(
        load,
        extent=(first / seconds, last / seconds, 0, nodes),
        origin="lower",
        aspect="auto",
        cmap="Blues",
        vmin=0,
        vmax=1,
        interpolation="nearest",
    )
    ax.figure.colorbar(image, ax=ax, label="share of the CPU in use", pad=0.01)
