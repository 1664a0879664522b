"""Pictures of the moldable family. Every function takes axes or makes them, and returns them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import numpy as np

from cosched.core.drawing import MARKERS, axes_or_new, literal
from cosched.core.frames import require_columns
from cosched.errors import InvalidInstance
from cosched.lazy import pd, plt
from cosched.moldable.result import Result


def pareto(
    result: Result, ax: plt.Axes | None = None, *, others: Mapping[str, Result] | None = None
) -> plt.Axes:
    """The front of makespan and minsum that ``demt-best`` saw, its choice, and the bounds.

    Parameters
    ----------
    result : Result
        Of ``demt-best`` (on an instance without release dates).
    others : mapping of str to Result, optional
        Further schedules of the same instance, by label.

    Raises
    ------
    InvalidInstance
        The result has no front.

    Examples
    --------
    >>> times = [[8.0, 4.4, 3.1], [6.0, 3.2, 2.5], [2.0, 1.2, 0.9]]
    >>> inst = cs.moldable.Instance(times, weights=[1, 2, 4])
    >>> best = cs.moldable.demt_best(inst, work=10_000)
    >>> ax = cs.plot.pareto(best, ax=Figure().subplots(), others={"gang": cs.moldable.gang(inst)})
    >>> ax.get_xlabel()
    'makespan (s)'
    """
    Result.require(result)
    front = result.pareto_front
    if front is None:
        raise InvalidInstance(f"{result.algorithm}: no Pareto front; only demt-best returns one")
    ax = axes_or_new(ax)
    # What the front dominates lies above the steps.
    ax.step(front[:, 0], front[:, 1], where="post", color="tab:blue", linewidth=1)
    ax.plot(front[:, 0], front[:, 1], "o", color="tab:blue", markersize=4, label="Pareto front")
    ax.plot(
        result.makespan,
        result.weighted_completion,
        "*",
        color="tab:red",
        markersize=14,
        label=literal(result.algorithm),
    )
    for (name, other), marker in zip((others or {}).items(), cycle(MARKERS), strict=False):
        ax.plot(
            other.makespan, other.weighted_completion, marker, markersize=7, label=literal(name)
        )
    if result.bound is not None:
        ax.axvline(result.bound.value, color="gray", linestyle=":", label="lower bounds")
    ax.axhline(float(result.minsum_bound), color="gray", linestyle=":")
    ax.set_xlabel("makespan (s)")
    ax.set_ylabel("minsum, sum of weight x completion (s)")
    ax.legend(fontsize=8)
    return ax


#: Greatest ratio shown, the same for all workloads, as in the paper; Gang and Sequential leave it.
_TOP = {"minsum": 6.0, "makespan": 3.5}


def moldable_quality(ratios: pd.DataFrame, kind: str, axes: np.ndarray | None = None) -> np.ndarray:
    """Figure 3, 4, 5 or 6: both criteria against the number of jobs, for one workload.

    A line an algorithm: the mean ratio to the bound, with the least and greatest as bars.

    Parameters
    ----------
    ratios : pandas.DataFrame
        Of the ratios table of the study ``moldable-fig3-6``: columns ``kind, jobs, algorithm,
        criterion, mean, least, greatest``.
    kind : str
        The workload.
    axes : numpy.ndarray of two axes, optional
        Where to draw; None makes a new figure.

    Returns
    -------
    numpy.ndarray of matplotlib.axes.Axes
        For minsum and makespan.

    Raises
    ------
    InvalidInstance
        No rows of that workload.

    Examples
    --------
    >>> ratios = pd.DataFrame({"kind": "mixed", "jobs": [25, 50] * 2, "algorithm": "demt",
    ...                        "criterion": ["minsum"] * 2 + ["makespan"] * 2,
    ...                        "mean": 1.5, "least": 1.4, "greatest": 1.7})
    >>> axes = cs.plot.moldable_quality(ratios, "mixed", axes=Figure().subplots(1, 2))
    >>> [ax.get_ylabel() for ax in axes]
    ['minsum / lower bound', 'makespan / lower bound']
    """
    require_columns(ratios, ("kind",), "ratios")

    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    rows = ratios[ratios.kind == kind]
    if rows.empty:
        raise InvalidInstance(f"no ratios of the workload {kind!r}")
    for ax, criterion in zip(axes, ("minsum", "makespan"), strict=True):
        for number, name in enumerate(rows.algorithm.unique()):
            line = rows[(rows.algorithm == name) & (rows.criterion == criterion)]
            bars = np.array([line["mean"] - line["least"], line["greatest"] - line["mean"]])
            ax.errorbar(
                # Next to each other, so that the bars can be told apart.
                line.jobs * (1 + 0.015 * (number - 3)),
                line["mean"],
                yerr=np.maximum(bars, 0),
                marker=MARKERS[number % len(MARKERS)],
                markersize=5,
                capsize=2,
                linewidth=1.2,
                elinewidth=0.7,
                label=literal(name),
            )
        ax.set_ylim(0.9, _TOP[criterion])
        ax.set_xscale("log")
        sizes = sorted(rows.jobs.unique())
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        ax.set_xlabel("number of jobs")
        ax.set_ylabel(f"{criterion} / lower bound")
        ax.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    axes[0].figure.suptitle(f"{kind} jobs: mean, least and greatest ratio")
    return axes


def moldable_run_time(
    frame: pd.DataFrame, ax: plt.Axes | None = None, *, algorithm: str = "demt"
) -> plt.Axes:
    """Figure 7: seconds of an algorithm against the number of jobs, a line a workload.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``kind, jobs, algorithm, seconds``: of the study ``moldable-fig7``.
    algorithm : str
        Whose rows are drawn.

    Examples
    --------
    >>> frame = pd.DataFrame({"kind": "mixed", "jobs": [25, 400], "algorithm": "demt",
    ...                       "seconds": [0.001, 0.02]})
    >>> cs.plot.moldable_run_time(frame, ax=Figure().subplots()).get_ylabel()
    'demt: time (s)'
    """
    require_columns(frame, ("algorithm", "kind", "jobs", "seconds"), "frame")
    ax = axes_or_new(ax, (6, 4))
    rows = frame[frame.algorithm == algorithm]
    for (kind, group), marker in zip(rows.groupby("kind", sort=False), MARKERS, strict=False):
        seconds = group.groupby("jobs").seconds
        mean = seconds.mean()
        bars = np.array([mean - seconds.min(), seconds.max() - mean])
        ax.errorbar(mean.index, mean, yerr=bars, marker=marker, capsize=2, label=literal(kind))
    ax.set_yscale("log")
    ax.axhline(2, color="gray", linestyle=":", label="the paper: less than 2 s")
    ax.set_xlabel("number of jobs")
    ax.set_ylabel(f"{algorithm}: time (s)")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    return ax
