"""Load, queue and waits by day, as a drawing that takes the colours of the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.page.differences import Spread, mean_waits
from cosched.cluster.page.runs import PLAIN, TWIN, Runs
from cosched.core.arrays import levels, means
from cosched.lazy import plt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cosched.cluster.result import Result

#: Stands for the colour of text, which light and dark pages choose.
INK = "#010203"
_STYLE: Any = {"font.size": 11, "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK,
                "xtick.color": INK, "ytick.color": INK, "font.family": "sans-serif"}  # fmt: skip
COLOURS = {"log": "#d95f02", PLAIN: "#4477cc", TWIN: "#4477cc"}
_MOST_SLICES = 400
_CENTURY = 100 * 365.25 * 86400
_ABOUT = "load, queue and waits by day"
_LONGEST_LABEL = 40


def picture(figure: plt.Figure | None, about: str = _ABOUT) -> str:
    """What :func:`draw` gave, as a part of a page, in its colours."""
    if figure is None:
        return "<p>Neither the log nor EASY has a result.</p>"
    import matplotlib

    drawing = StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "audit"}):
        figure.savefig(
            drawing, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    svg = drawing.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    return f'<figure role="img" aria-label="{about}">{svg}</figure>'


@contextmanager
def drawing(height: float, panels: int = 1) -> Iterator[tuple[Figure, Any]]:
    """A figure in the page's style, and its axes, without frames at the top and the right."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, height), layout="constrained")
        axes = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
        for ax in axes:
            ax.spines[["top", "right"]].set_visible(False)
        yield figure, axes if panels > 1 else axes[0]


def draw(runs: Runs) -> plt.Figure | None:
    """Three panels over time; None where neither the log nor EASY has a result."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    drawn = {name: result for name, result in (("log", runs.logged), (runs.counts, runs.attainable))
             if result is not None}  # fmt: skip
    if not drawn:
        return None
    instance = runs.instance
    edges = _edges(instance, max(result.outcome["end"].max() for result in drawn.values()))
    begins = instance.begins if edges[-1] < _CENTURY else None  # no axis has such dates
    dates = _dates(begins, edges)
    with drawing(5.2, 3) as (figure, axes):
        for name, result in drawn.items():
            for ax, level in zip(axes, _panels(result, edges), strict=True):
                ax.stairs(level, dates, label=name, color=COLOURS[name], linewidth=1.3)
        for ax, text in zip(axes, ("in use, %", "jobs in queue", "mean wait, h"), strict=True):
            ax.set_ylabel(text)
            ax.set_ylim(bottom=0)
        if begins is not None:
            place = AutoDateLocator()
            axes[2].xaxis.set_major_locator(place)
            axes[2].xaxis.set_major_formatter(ConciseDateFormatter(place))
        else:
            axes[2].set_xlabel("days since the log's begin")
        axes[0].legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    return figure


def beside(runs: Runs) -> str:
    """Mean waits as they are and in each what-if, with what 90% of the draws lie between."""
    named = [("as it is", runs.attainable), *((run.name, run.result) for run in runs.changes)]
    found = [(name, mean_waits(one) / 3600) for name, one in named if one is not None]
    known = [(name, Spread.of(waits, len(found[0][1]))) for name, waits in found]
    with drawing(0.9 + 0.35 * len(known)) as (figure, ax):
        for row, (_, wait) in enumerate(known):
            ax.plot([wait.low, wait.high], [row, row], color=COLOURS[runs.counts], linewidth=4)
            ax.plot([wait.mean], [row], "o", color=COLOURS["log"] if row else INK)
        if known:
            ax.axvline(known[0][1].mean, color=INK, linewidth=0.8, linestyle=":")
        ax.set_yticks(range(len(known)), [name[:_LONGEST_LABEL] for name, _ in known])
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel("mean wait, h")
    drawn = picture(figure, "mean waits as they are and in each what-if")
    return f'<div class="beside">{drawn}</div>'


def _edges(instance: Instance, end: float) -> np.ndarray:
    """Begins of days (hours, where there are few days; several days, where there are many)."""
    begin = float(instance.column("eligible").min())
    width = 86400.0 if end - begin > 4 * 86400 else 3600.0
    width *= max(1.0, np.ceil((end - begin) / width / _MOST_SLICES))
    first = begin
    if instance.begins is not None:  # from midnight, or the full hour, on
        date = instance.begins
        since = date.hour * 3600 + date.minute * 60 + date.second
        first = begin - (since + begin) % min(width, 86400.0)
    return first + width * np.arange(max(1, np.ceil((end - first) / width)) + 1)


def _dates(begins: datetime | None, edges: np.ndarray) -> Any:
    """Dates as matplotlib counts them; days where there are none."""
    if begins is None:
        return edges / 86400
    from matplotlib.dates import date2num

    begin = begins.replace(tzinfo=None)
    return date2num([begin + timedelta(seconds=time) for time in edges.tolist()])


def _panels(result: Result, edges: np.ndarray) -> tuple[np.ndarray, ...]:
    """Share in use (%), jobs in the queue, mean wait (h) of the jobs that came in each slice."""
    instance = result.instance
    came, start, end = (
        instance.column("eligible"), result.outcome["start"], result.outcome["end"]
    )  # fmt: skip
    needs = instance.column("tasks") * instance.column("cpu") / instance.nodes
    slices = np.clip(np.searchsorted(edges, came, side="right") - 1, 0, len(edges) - 2)
    many = np.bincount(slices, minlength=len(edges) - 1)
    waits = np.bincount(slices, weights=result.waits, minlength=len(edges) - 1)
    return (
        100 * means(*levels(start, end, needs), edges),
        means(*levels(came, start, np.ones(len(instance))), edges),
        np.where(many > 0, waits / np.maximum(many, 1) / 3600, np.nan),
    )
