"""Figures 2 to 5 of Aupy et al. 2013: quality of the heuristics against the pack size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cosched.core.compare import compare_rows
from cosched.packs import FAMILY, Instance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: The paper's seven heuristics, and ours.
HEURISTICS = (
    "random-pack-1",
    "random-pack-9",
    "random-proc-1",
    "random-proc-9",
    "pack-approx",
    "pack-by-pack-1",
    "pack-by-pack-9",
    "local-search",
)
_MEASURES = {
    "relative_cost": "relative cost",
    "packing_ratio": "packing ratio",
    "relative_response_time": "relative response time",
}


def quality(
    instances: Iterable[Instance],
    pack_sizes: Sequence[int],
    names: Sequence[str] = HEURISTICS,
    *,
    seed: int = 0,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """The paper's three measures of each heuristic at each pack size.

    Parameters
    ----------
    instances : iterable of Instance
        Draws of one workload; their own pack size is not used.
    pack_sizes : sequence of int
        Values of k.
    names : sequence of str
        Algorithms.
    seed : int
        Given to each algorithm.
    time_limit : float, optional
        Seconds for each algorithm.

    Returns
    -------
    pandas.DataFrame
        A row a (draw, max_tasks, algorithm): ``relative_cost, packing_ratio,
        relative_response_time, gap, seconds`` and the other columns of ``compare``.
    """
    import pandas as pd

    rows = [
        {"draw": draw, "max_tasks": k, **row}
        for draw, instance in enumerate(instances)
        for k in pack_sizes
        for row, _ in compare_rows(FAMILY, instance.with_max_tasks(k), names, seed, time_limit)
    ]
    return pd.DataFrame(rows)


def plot_quality(frame: pd.DataFrame, title: str = "") -> Figure:
    """Figures 2 (or 5a), 3 and 4: a panel a measure, a line a heuristic, the mean over draws."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    means = frame.groupby(["algorithm", "max_tasks"], sort=False)[list(_MEASURES)].mean()
    for ax, (column, label) in zip(axes, _MEASURES.items(), strict=True):
        for name, marker in zip(frame.algorithm.unique(), "ov^<>sD*PX", strict=False):
            ax.plot(means.loc[name].index, means.loc[name][column], marker=marker, label=name)
        ax.set_xlabel("pack size k")
        ax.set_ylabel(label)
        ax.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    figure.suptitle(title)
    return figure
