"""The answer of ``when`` as a figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from cosched.core.arrays import real_array
from cosched.core.drawing import axes_or_new
from cosched.core.text import count_of, require_columns
from cosched.lazy import pd
from cosched.slurm.live.time_texts import dated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HOUR = 3600.0
_QUANTILE_COLUMNS = ("p05", "p25", "p50", "p75", "p95", "slurm")


#: Colours of the intervals, those of the page.
_INTERVAL_90_COLOR, _INTERVAL_50_COLOR = "#7aa6d6", "#2f6db3"
#: Up to this time the axis is linear, from there on logarithmic: one late job would squeeze all
#: others (h).
_LINEAR_HOURS = 1.0
_TICKS = {
    0.0: "now",
    0.5: "30 min",
    1.0: "1 h",
    2.0: "2 h",
    6.0: "6 h",
    12.0: "12 h",
    24.0: "1 day",
    72.0: "3 days",
    168.0: "7 days",
    720.0: "30 days",
}


def starts(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Return the 50% and 90% prediction intervals of start times, one row per job, with the median
    and Slurm's own estimate.

    Pending jobs come in the order of their median start; requests keep their order.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`cosched.slurm.when` returns.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new one by default.

    Examples
    --------
    >>> row = {"job": 7, "p05": 0.0, "p25": 60.0, "p50": 600.0, "p75": 900.0, "p95": 3600.0,
    ...        "limit_based_start": 7200.0, "slurm": 5400.0}
    >>> starts(pd.DataFrame([row])).get_xlabel()
    'time from now until the start'
    """
    require_columns(frame, ("job", *_QUANTILE_COLUMNS), "frame")
    has_requests = "nodes" in frame
    if not has_requests:
        frame = frame.sort_values(["p50", "p95"], kind="stable")
    axes = axes_or_new(ax, (8, 4))
    positions = np.arange(len(frame))
    columns = {name: real_array(frame[name], name, 1) / _HOUR for name in _QUANTILE_COLUMNS}
    last = _last_finite(columns.values())
    cut = {
        name: np.where(np.isinf(quantiles), last, quantiles) for name, quantiles in columns.items()
    }
    for low, high, height, color, label in (
        ("p05", "p95", 0.7, _INTERVAL_90_COLOR, "90% prediction interval"),
        ("p25", "p75", 0.7, _INTERVAL_50_COLOR, "50% prediction interval"),
    ):
        axes.barh(
            positions, cut[high] - cut[low], left=cut[low], height=height, color=color, label=label
        )
    axes.plot(cut["p50"], positions, "k|", markersize=12, label="median")
    axes.plot(cut["slurm"], positions, "x", color="0.45", label="Slurm's own estimate")
    if has_requests:
        names = [
            str(job) if np.isnan(count) else _request_label(int(count), limit)
            for job, count, limit in zip(frame["job"], frame["nodes"], frame["time"], strict=True)
        ]
        ends = frame["end_p50"].to_numpy(dtype=float) / _HOUR
        axes.plot(ends, positions, "o", color="tab:green", label="end (median)")
    else:
        names = [str(job) for job in frame["job"]]
    axes.set_yticks(positions, names)
    axes.set_ylim(len(frame) - 0.4, -0.6)
    axes.set_ylabel("request" if has_requests else "job")
    _set_time_axis(axes, last)
    axes.set_xlabel("time from now until the start")
    axes.set_title(_title(frame), loc="left", fontsize=11)
    axes.legend(fontsize=8, frameon=False, ncols=5, loc="upper left", bbox_to_anchor=(0, -0.12))
    return axes


def _last_finite(columns: Iterable[np.ndarray]) -> float:
    """Return the end of the axis: a little after the last finite time (h)."""
    finite = [float(values[np.isfinite(values)].max(initial=0.0)) for values in columns]
    return max(finite, default=0.0) * 1.05 or 1.0


def _set_time_axis(axes: Axes, last: float) -> None:
    """Make the axis logarithmic where it is long, with ticks in words."""
    if last > 4 * _LINEAR_HOURS:
        axes.set_xscale("symlog", linthresh=_LINEAR_HOURS)
        ticks = [hours for hours in _TICKS if hours <= last]
        axes.set_xticks(ticks, [_TICKS[hours] for hours in ticks])
        axes.minorticks_off()
    else:
        axes.xaxis.set_major_formatter(lambda hours, _: f"{60 * hours:.0f} min")
    axes.set_xlim(right=last * 1.02)


def _title(frame: pd.DataFrame) -> str:
    snapshot_time = frame.attrs.get("taken")
    if snapshot_time is None:
        return "Start times"
    return f"Start times, snapshot of {dated(snapshot_time, frame.attrs.get('utc_offset', 0.0))}"


def _request_label(nodes: int, limit: float) -> str:
    """Return nodes and time limit (s) of a request."""
    time = "UNLIMITED" if limit == np.inf else f"{limit / _HOUR:.3g} h"
    return f"{count_of(nodes, 'node')}, {time}"
