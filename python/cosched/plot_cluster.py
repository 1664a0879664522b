"""Pictures of the cluster family: load over time, the queue, who ran where, degradation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from cosched.cluster import Result

_HOUR = 3600.0


def _axes(ax: Axes | None, size: tuple[float, float] = (10, 4)) -> Axes:
    import matplotlib.pyplot as plt

    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def _steps(begin: np.ndarray, end: np.ndarray, amount: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum over time of `amount` on [begin, end): times, and the level from each time on."""
    times = np.concatenate([begin, end])
    change = np.concatenate([amount, -amount])
    instants, place = np.unique(times, return_inverse=True)
    level = np.cumsum(np.bincount(place, weights=change))
    return instants, np.maximum(level, 0.0)  # rounding may leave -1e-12


def utilisation(result: Result, ax: Axes | None = None) -> Axes:
    """Demand, capped demand and allocated CPU over time (Figure 2 of the paper).

    The demand D(t) is the sum of c_j |T_j| over the jobs in the system; min(P, D(t)) is what
    a machine could use at best, u(t) what the policy uses. The area between the two is the
    underutilisation.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = _axes(ax)
    jobs, nodes = result.instance.jobs, result.instance.nodes
    size = (jobs["cpu"] * jobs["tasks"]).to_numpy(dtype=float)
    t, demand = _steps(jobs["submit"].to_numpy(float), result.jobs["end"].to_numpy(float), size)
    rows = result.schedule.to_frame()
    used = size[rows["task"].to_numpy()] * rows["progress"].to_numpy(float)
    t_used, level = _steps(rows["start"].to_numpy(float), rows["end"].to_numpy(float), used)
    ax.step(t / _HOUR, demand, where="post", color="0.75", linewidth=0.8, label="demand D(t)")
    ax.step(
        t / _HOUR,
        np.minimum(demand, nodes),
        where="post",
        color="tab:orange",
        linewidth=1.0,
        label="min(P, D(t))",
    )
    ax.fill_between(
        t_used / _HOUR, level, step="post", color="tab:blue", alpha=0.5, label="allocated u(t)"
    )
    ax.axhline(nodes, color="black", linewidth=0.8, linestyle="--", label=f"P = {nodes} nodes")
    ax.set_ylim(0, 2.0 * nodes if demand.max() > 2 * nodes else None)
    ax.set_xlabel("time (h)")
    ax.set_ylabel("nodes' worth of CPU")
    ax.legend(fontsize=8, loc="upper right")
    return ax


def queue_length(result: Result, ax: Axes | None = None) -> Axes:
    """Jobs in the system that wait, and that run, over time (paused jobs wait)."""
    ax = _axes(ax)
    jobs = result.instance.jobs
    submit, end = jobs["submit"].to_numpy(float), result.jobs["end"].to_numpy(float)
    t, inside = _steps(submit, end, np.ones(len(jobs)))
    rows = result.schedule.to_frame()
    t_run, running = _steps(
        rows["start"].to_numpy(float), rows["end"].to_numpy(float), np.ones(len(rows))
    )
    running_at = np.concatenate([[0.0], running])[np.searchsorted(t_run, t, side="right")]
    ax.step(t / _HOUR, inside - running_at, where="post", color="tab:red", label="waiting")
    ax.step(t_run / _HOUR, running, where="post", color="tab:blue", alpha=0.6, label="running")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("time (h)")
    ax.set_ylabel("jobs")
    ax.legend(fontsize=8)
    return ax


def occupation(result: Result, ax: Axes | None = None) -> Axes:
    """Who ran where: a lane a node, a bar a job's stay, as tall as its CPU share there.

    Readable at thousands of jobs: one drawing call, no outlines. Jobs that share a node are
    stacked in the order in which they came to it.
    """
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection

    ax = _axes(ax, (11, 5))
    palette = np.array(colormaps["tab20"].colors)  # type: ignore[attr-defined]
    need = result.instance.jobs["cpu"].to_numpy(float)
    frame: Any = result.schedule.to_frame().sort_values(["start", "task"], kind="stable")
    corners, colors = [], []
    on_node: list[list[tuple[float, float, float]]] = [[] for _ in range(result.instance.nodes)]
    for row in frame.itertuples():
        share = max(float(row.yield_) * need[row.task], 0.04)
        for node, tasks in zip(*np.unique(row.nodes, return_counts=True), strict=True):
            stays = [stay for stay in on_node[node] if stay[0] > row.start]
            bottom = _lowest_gap(stays, share * tasks)
            stays.append((row.end, bottom, bottom + share * tasks))
            on_node[node] = stays
            low, high = node + bottom, node + min(bottom + share * tasks, 1.0)
            corners.append(
                [
                    (row.start / _HOUR, low),
                    (row.end / _HOUR, low),
                    (row.end / _HOUR, high),
                    (row.start / _HOUR, high),
                ]
            )
            colors.append(palette[row.task % len(palette)])
    ax.add_collection(PolyCollection(corners, facecolors=colors, edgecolors="none"))
    ax.set_xlim(frame["start"].min() / _HOUR, max(frame["end"].max() / _HOUR, 1e-9))
    ax.set_ylim(0, result.instance.nodes)
    ax.set_xlabel("time (h)")
    ax.set_ylabel("node")
    return ax


def _lowest_gap(stays: list[tuple[float, float, float]], height: float) -> float:
    """Lowest height at which a bar fits between the stays of a node (else on top, cut at 1)."""
    bottom = 0.0
    for _, low, high in sorted(stays, key=lambda stay: stay[1]):
        if low - bottom >= height - 1e-9:
            break
        bottom = max(bottom, high)
    return min(bottom, 1.0)


def degradation_against_load(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Mean degradation from the bound against the offered load (Figure 1 of the paper).

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``load, algorithm, degradation``, a row a (trace, policy).
    ax : matplotlib.axes.Axes, optional
    """
    ax = _axes(ax, (8, 4.5))
    means: Any = frame.groupby(["algorithm", "load"], sort=False)["degradation"].mean()
    for name, marker in zip(frame["algorithm"].unique(), "ov^<>sD*PXhd" * 10, strict=False):
        ax.plot(means[name].index, means[name].to_numpy(), marker=marker, label=name)
    ax.set_yscale("log")
    ax.set_xlabel("offered load")
    ax.set_ylabel("degradation from bound")
    ax.grid(alpha=0.3, which="both")
    ax.legend(fontsize=7)
    return ax
