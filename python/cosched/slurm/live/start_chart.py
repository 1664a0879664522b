"""The answer of ``when`` as a figure."""

from __future__ import annotations

import numpy as np

from cosched.core.arrays import real_array
from cosched.core.drawing import axes_or_new
from cosched.core.text import count_of, require_columns
from cosched.lazy import pd, plt

_HOUR = 3600.0
_QUANTILE_COLUMNS = ("p05", "p25", "p50", "p75", "p95", "slurm")


def starts(frame: pd.DataFrame, ax: plt.Axes | None = None) -> plt.Axes:
    """Return a fan a job: when it starts in 50% and in 90% of the futures, and Slurm's own
    estimate.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`cosched.cluster.when` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new one by default.

    Examples
    --------
    >>> row = {"job": 7, "p05": 0.0, "p25": 60.0, "p50": 600.0, "p75": 900.0, "p95": 3600.0,
    ...        "limit_based_start": 7200.0, "slurm": 5400.0}
    >>> starts(pd.DataFrame([row])).get_xlabel()
    'hours from now'
    """
    require_columns(frame, ("job", *_QUANTILE_COLUMNS), "frame")
    axes = axes_or_new(ax, (8, 4))
    places = np.arange(len(frame))
    columns = {name: real_array(frame[name], name, 1) / _HOUR for name in _QUANTILE_COLUMNS}
    finite = [values[np.isfinite(values)] for values in columns.values()]
    last = max((float(column.max()) for column in finite if len(column)), default=1.0) * 1.05 or 1.0
    cut = {
        name: np.where(np.isinf(quantiles), last, quantiles) for name, quantiles in columns.items()
    }
    axes.barh(
        places,
        cut["p95"] - cut["p05"],
        left=cut["p05"],
        height=0.7,
        color="tab:blue",
        alpha=0.3,
        label="90% of futures",
    )
    axes.barh(
        places,
        cut["p75"] - cut["p25"],
        left=cut["p25"],
        height=0.7,
        color="tab:blue",
        alpha=0.6,
        label="50%",
    )
    axes.plot(cut["p50"], places, "k|", markersize=12, label="median")
    axes.plot(cut["slurm"], places, "x", color="tab:red", label="Slurm's own estimate")
    if "nodes" in frame:
        names = [
            str(job) if np.isnan(count) else _request_label(int(count), limit)
            for job, count, limit in zip(frame["job"], frame["nodes"], frame["time"], strict=True)
        ]
        ends = frame["end_p50"].to_numpy(dtype=float) / _HOUR
        axes.plot(ends, places, "o", color="tab:green", label="ends (median)")
    else:
        names = [str(job) for job in frame["job"]]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("hours from now")
    axes.legend(fontsize=8)
    return axes


def _request_label(nodes: int, limit: float) -> str:
    """Return nodes and time limit (s) of a request."""
    time = "UNLIMITED" if limit == np.inf else f"{limit / _HOUR:.3g} h"
    return f"{count_of(nodes, 'node')}, {time}"
