"""Pictures of packs: quality against the pack size."""

from __future__ import annotations

from itertools import cycle

from cosched.core.drawing import MARKERS, literal
from cosched.core.frames import require_columns
from cosched.lazy import pd, plt

#: The paper's three measures and what an axis calls them.
MEASURES = {
    "relative_cost": "relative cost",
    "packing_ratio": "packing ratio",
    "relative_response_time": "relative response time",
}


def pack_quality(frame: pd.DataFrame, title: str = "") -> plt.Figure:
    """Figures 2 (or 5a), 3 and 4: a panel a measure, a line a heuristic, the mean over draws.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``algorithm, max_tasks, relative_cost, packing_ratio, relative_response_time``.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> frame = pd.DataFrame({"algorithm": "pack-approx", "max_tasks": [2, 4],
    ...                       "relative_cost": [0.8, 0.6], "packing_ratio": [0.7, 0.8],
    ...                       "relative_response_time": [1.1, 1.2]})
    >>> figure = cs.plot.pack_quality(frame, title="Workload-II")
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['relative cost', 'packing ratio', 'relative response time']
    >>> plt.close(figure)
    """
    require_columns(frame, ("algorithm", "max_tasks", *MEASURES), "frame")

    figure, axes = plt.subplots(1, 3, figsize=(14, 3.8), layout="constrained")
    means = frame.groupby(["algorithm", "max_tasks"], sort=False)[list(MEASURES)].mean()
    for ax, (column, label) in zip(axes, MEASURES.items(), strict=True):
        for name, marker in zip(frame.algorithm.unique(), cycle(MARKERS), strict=False):
            line = means.loc[name]
            ax.plot(line.index, line[column], marker=marker, label=literal(name))
        ax.set_xlabel("pack size k")
        ax.set_ylabel(label)
        ax.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.suptitle(title)
    return figure
