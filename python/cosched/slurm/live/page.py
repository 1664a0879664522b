"""The answer of ``when`` as a page, as a picture, and as metrics that monitoring collects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.page.text import paragraph, render_aside, render_page
from cosched.core.arrays import real_array
from cosched.core.drawing import axes_or_new
from cosched.core.text import count_of, require_columns
from cosched.lazy import pd, plt
from cosched.slurm.live.times import dated, duration, local_date
from cosched.units import format_duration
from cosched.version import installed_version

#: Ticks of the axis that all bars share (s), which is logarithmic: the near is looked at closely.
_TICKS = {
    60: "1 min",
    600: "10 min",
    3600: "1 h",
    21_600: "6 h",
    86_400: "1 day",
    604_800: "7 days",
}
_QUANTILES = {"p05": "0.05", "p25": "0.25", "p50": "0.5", "p75": "0.75", "p95": "0.95"}
_NEXT = 3  # that the first sentence names
_STYLE, _SCRIPT = (
    "\n" + io.read_text(Path(__file__).with_suffix(suffix)) for suffix in (".css", ".js")
)


@dataclass(frozen=True)
class FailedReading:
    """A later reading of the cluster that failed, so that an answer is stale.

    Attributes
    ----------
    time : float
        When it failed (s since 1970).
    error : str
        What was wrong, in one line.
    """

    time: float
    error: str


def page(frame: pd.DataFrame, failed: FailedReading | None = None) -> str:
    """Return one file without a network: who is next, a band a job, one's own job by ``?job=4711``.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`when` gave. Without rows the page says that no job waits.
    failed : FailedReading, optional
        Marks the page as stale.
    """
    rows: list[Any] = frame.sort_values(["p50", "p95"], kind="stable").to_dict("records")
    axis = _Axis([row["p95"] for row in rows])
    body = "".join(_row(row, axis) for row in rows)
    head = (
        "<tr><th>job</th><th>half of the futures: by</th>"
        f'<th><div class="scale">{axis.ticks()}</div></th><th>waits for</th></tr>'
    )
    return render_page(
        "When jobs start",
        f"{_stale(frame, failed)}{paragraph(_lead(rows), 'lead')}\n{_snapshot_date(frame)}\n"
        '<p><label>Job: <input type="search" aria-label="Job"></label> <output></output></p>\n'
        f'<div class="scroll"><table class="bars"><thead>{head}</thead><tbody>{body}</tbody>'
        f"</table></div>\n{_notes(frame)}\n<script>{_SCRIPT}</script>",
        style=_STYLE,
    )


class _Axis:
    """Seconds from now as a share of the width."""

    def __init__(self, ends: list[float]) -> None:
        finite = [end for end in ends if math.isfinite(end)]
        self.last = max([600.0, *finite])

    def percent(self, seconds: float) -> float:
        """Return the place of a moment on the axis, in percent."""
        share = math.log1p(min(seconds, self.last) / 60) / math.log1p(self.last / 60)
        return 100 * share

    def place(self, low: float, high: float) -> str:
        """Return a bar in CSS."""
        return f"left:{self.percent(low):.1f}%;width:{self.percent(high) - self.percent(low):.1f}%"

    def ticks(self) -> str:
        """Return the labels of the axis as HTML."""
        labels = [("0", 0.0)]
        labels += [
            (text, self.percent(seconds))
            for seconds, text in _TICKS.items()
            if seconds < 0.6 * self.last
        ]
        labels.append((format_duration(self.last), 100.0))
        return "".join(
            f'<span style="left:{seconds:.1f}%">{text}</span>' for text, seconds in labels
        )


def _row(row: dict[str, Any], axis: _Axis) -> str:
    """Return the row of a job: its name, its band, its quantiles."""
    job = escape(str(row["job"]))
    middle = "never" if math.isinf(row["p50"]) else format_duration(row["p50"])
    return (
        f'<tr id="job-{job}" data-job="{job}"><td>{job}</td><td>{middle}</td>'
        f"<td>{_bar(row, axis)}</td><td class=words>{escape(str(row['reason']))}</td></tr>"
    )


def _bar(row: dict[str, Any], axis: _Axis) -> str:
    """Return the band of a job as CSS: 90% of the futures, 50%, the median."""
    if math.isinf(row["p05"]):
        return ""
    says = f"90%: {_words(row['p05'])} to {_words(row['p95'])}"
    parts = [
        f'<{tag} style="{axis.place(low, high)}"></{tag}>'
        for tag, low, high in (("i", row["p05"], row["p95"]), ("b", row["p25"], row["p75"]))
    ]
    if math.isfinite(row["p50"]):
        parts.append(f'<u style="left:{axis.percent(row["p50"]):.1f}%"></u>')
    return (
        f'<div class="track" role="img" title="{says}" aria-label="{says}">{"".join(parts)}</div>'
    )


def _words(seconds: float) -> str:
    return "never" if math.isinf(seconds) else format_duration(seconds)


def _stale(frame: pd.DataFrame, failed: FailedReading | None) -> str:
    """Return a warning that the answer is older than the page."""
    if failed is None:
        return ""
    age = duration(failed.time - frame.attrs["taken"])
    when_failed = dated(failed.time, frame.attrs.get("utc_offset", 0.0))
    text = f"Stale: this answer is {age} old. The reading of {when_failed} failed: {failed.error}"
    return f'<p class="stale" role="alert">{escape(text)}</p>\n'


def _lead(rows: list[dict[str, Any]]) -> str:
    """Return the first sentence of the page."""
    if not rows:
        return "No job waits."
    soon = [row for row in rows if math.isfinite(row["p50"])]
    if not soon:
        return f"{_jobs_wait(len(rows))}; none is expected to start."
    named = ", ".join(f"{row['job']} ({format_duration(row['p50'])})" for row in soon[:_NEXT])
    return f"{_jobs_wait(len(rows))}. Next, in half of the futures within: {named}."


def _jobs_wait(count: int) -> str:
    return "1 job waits" if count == 1 else f"{count} jobs wait"


def _snapshot_date(frame: pd.DataFrame) -> str:
    """Return the moment of the snapshot, in the cluster's zone; the script adds the reader's
    own."""
    snapshot_time = frame.attrs["taken"]
    date = dated(snapshot_time, frame.attrs.get("utc_offset", 0.0))
    iso = local_date(snapshot_time, 0.0).replace(" ", "T") + "Z"
    words = f'As of <time datetime="{iso}">{escape(date)}</time>; cosched '
    return f'<p class="small">{words}{escape(installed_version())}</p>'


def _notes(frame: pd.DataFrame) -> str:
    """Return how far the answer is to be trusted."""
    coverage = frame.attrs["coverage"]
    lines = [] if coverage is None else [f"Of such 90% bands {coverage:.0%} held in the past."]
    lines.append("Light: 90% of the futures; dark: half of them; the mark: the median.")
    if not frame["has_history"].all():
        lines.append("There is no history of jobs to draw run times from.")
    lines += [f"Not modelled: {line}" for line in frame.attrs["not_modelled"]]
    return render_aside("How sure", lines)


def prometheus(
    frame: pd.DataFrame, now: float | None = None, failed: FailedReading | None = None
) -> str:
    """Return the quantiles in the text format that Prometheus' node_exporter collects from a file.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`when` gave. ``+Inf``: never. Without rows the family has no samples.
    now : float, optional
        Seconds since 1970: adds the age of the snapshot, and whether the last reading failed.
    failed : FailedReading, optional
        The reading that failed since.
    """
    quantiles = [
        (f'{{job="{row["job"]}",quantile="{quantile}"}}', row[column])
        for row in frame.to_dict("records")
        for column, quantile in _QUANTILES.items()
    ]
    snapshot_time = frame.attrs["taken"]
    families = [
        (
            "cosched_start_seconds",
            "Seconds from the snapshot until the job starts, by share of the futures.",
            quantiles,
        ),
        (
            "cosched_snapshot_timestamp_seconds",
            "When the snapshot was taken.",
            [("", snapshot_time)],
        ),
    ]
    if now is not None:
        families += [
            (
                "cosched_snapshot_age_seconds",
                "Seconds from the snapshot until this was written.",
                [("", now - snapshot_time)],
            ),
            (
                "cosched_reading_failed",
                "1 where the last reading of the cluster failed.",
                [("", 0.0 if failed is None else 1.0)],
            ),
        ]
    lines = []
    for name, help_text, samples in families:
        lines += [f"# HELP {name} {help_text}", f"# TYPE {name} gauge"]
        lines += [f"{name}{labels} {_sample(value)}" for labels, value in samples]
    return "\n".join(lines) + "\n"


def _sample(value: float) -> str:
    return "+Inf" if math.isinf(value) else f"{value:.10g}"


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
