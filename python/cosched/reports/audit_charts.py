"""Figures of an audit: load, queue and waits over time, and the mean waits of what-ifs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched.cluster.analysis.load import Load
from cosched.cluster.analysis.scenario_rows import ScenarioRow
from cosched.reports.charts import OBSERVED_COLOR, SIMULATED_COLOR, TEXT_COLOR, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CENTURY = 100 * 365.25 * 86400
_LONGEST_LABEL = 40
#: Inches of a row of the what-ifs.
_ROW_HEIGHT = 0.4
_DAY = 86400.0


def draw_load(load: Load, begins: datetime | None, title: str) -> Figure:
    """Draw utilization, queue and mean wait over time.

    Parameters
    ----------
    begins : datetime, optional
        The date of second 0 of the log; without it the axis has days.
    title : str
        Whose load it is.
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    first_date = begins if load.edges[-1] < _CENTURY else None  # no axis has such dates
    positions = _positions(first_date, load.edges)
    with drawing(6.4, 3) as (figure, axes):
        for name, series in load.series.items():
            is_observed = name == "log"
            color = OBSERVED_COLOR if is_observed else SIMULATED_COLOR
            label = "observed" if is_observed else f"simulated ({name})"
            panels = (100 * series.utilization, series.queued_jobs, series.mean_wait / 3600)
            for ax, level in zip(axes, panels, strict=True):
                if is_observed:
                    ax.stairs(level, positions, fill=True, color=color, alpha=0.3, label=label)
                else:
                    ax.stairs(level, positions, label=label, color=color, linewidth=1.6)
        axes[0].axhline(100, color=TEXT_COLOR, linewidth=0.8, linestyle=":")
        labels = ("Core utilization (%)", "Jobs in queue", "Mean wait (h)")
        for ax, text in zip(axes, labels, strict=True):
            ax.set_ylabel(text)
            ax.set_ylim(bottom=0)
            _mark_drain(ax, load, first_date)
        if first_date is not None:
            locator = AutoDateLocator()
            axes[2].xaxis.set_major_locator(locator)
            axes[2].xaxis.set_major_formatter(ConciseDateFormatter(locator))
        else:
            axes[2].set_xlabel("days since the begin of the log")
        axes[0].legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1.0))
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _mark_drain(ax: Any, load: Load, begins: datetime | None) -> None:
    """Shade the time after the last submission, in which the machine drains."""
    begin, end = _positions(begins, np.array([load.last_submission, load.edges[-1]]))
    if load.edges[-1] - load.last_submission > load.width:
        ax.axvspan(
            begin, end, color=TEXT_COLOR, alpha=0.07, linewidth=0, label="after the last submission"
        )
    ax.set_xlim(_positions(begins, load.edges[:1])[0], end)


def _positions(begins: datetime | None, times: np.ndarray) -> Any:
    """Return times as matplotlib's dates; as days without a date."""
    if begins is None:
        return times / _DAY
    from matplotlib.dates import date2num

    first = begins.replace(tzinfo=None)
    return date2num([first + timedelta(seconds=time) for time in times.tolist()])


def draw_scenarios(rows: Sequence[ScenarioRow]) -> Figure | None:
    """Draw the mean wait of each what-if with the middle 90% of its replications, and the mean
    wait of the same jobs in the current configuration; None without a row that has numbers."""
    drawn_rows = [row for row in rows if row.waits is not None]
    if not drawn_rows:
        return None
    with drawing(1.5 + _ROW_HEIGHT * len(drawn_rows)) as (figure, ax):
        for position, row in enumerate(drawn_rows):
            assert row.waits is not None
            is_baseline = row.scenario_class is None
            color = TEXT_COLOR if is_baseline else SIMULATED_COLOR
            ax.plot(
                [row.waits.p05 / 3600, row.waits.p95 / 3600],
                [position, position],
                color=color,
                linewidth=5,
                alpha=0.4,
                label=_once("90% of replications", position),
            )
            ax.plot(
                [row.waits.mean / 3600],
                [position],
                "o",
                color=color,
                label=_once("mean", position),
            )
            if row.has_other_jobs:
                ax.plot(
                    [row.waits.base_mean / 3600], [position], "|", color=TEXT_COLOR, markersize=14
                )
        baseline = drawn_rows[0].waits
        assert baseline is not None
        ax.axvline(baseline.mean / 3600, color=TEXT_COLOR, linewidth=0.8, linestyle=":")
        if any(row.has_other_jobs for row in drawn_rows):
            ax.plot(
                [],
                [],
                "|",
                color=TEXT_COLOR,
                markersize=14,
                linestyle="none",
                label="same jobs, current configuration",
            )
        ax.set_yticks(range(len(drawn_rows)), [_label(row) for row in drawn_rows])
        ax.set_ylim(len(drawn_rows) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.set_xlabel("Mean wait (h)")
        ax.legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
    return figure


def _once(label: str, position: int) -> str:
    """Return a label for the first row; matplotlib leaves out the others in the legend."""
    return label if position == 0 else f"_{label}"


def _label(row: ScenarioRow) -> str:
    if row.scenario_class is None:
        return "current configuration"
    return row.name[:_LONGEST_LABEL]
