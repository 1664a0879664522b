"""The report of ``when``: when each pending job starts, with prediction intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cosched.core.text import count_of
from cosched.lazy import pd
from cosched.notes import Note
from cosched.reports.document import KeyFigure, Report, Section, StartBars
from cosched.reports.sentences import notes_of_report
from cosched.slurm.live.prometheus import FailedReading
from cosched.slurm.live.start_summary import summarise_starts
from cosched.slurm.live.time_texts import dated, duration
from cosched.units import format_duration

#: Ticks of the axis that all bars share (s), which is logarithmic: soon is looked at closely.
_TICKS = {
    60: "1 min",
    600: "10 min",
    3600: "1 h",
    21_600: "6 h",
    86_400: "1 day",
    604_800: "7 days",
}
#: Percent of the axis between two ticks: their labels would touch each other.
_MIN_TICK_DISTANCE = 12.0
_SHORTEST_AXIS = 600.0
#: Jobs that the first sentence names.
_NAMED_JOBS = 3


@dataclass(frozen=True)
class Bar:
    """A part of the bar of a job, in percent of the axis."""

    #: The element of the page, which has a colour in the style sheet.
    tag: str
    #: Where the part begins.
    left: float
    #: None: a mark.
    width: float | None


@dataclass(frozen=True)
class StartRow:
    """One pending job, as the page shows it."""

    #: The number of the job.
    job: str
    #: Cells between the job and its median start: those of :attr:`StartBars.columns`.
    details: tuple[str, ...]
    #: The median start time, as the page shows it.
    median: str
    #: The 90% prediction interval in words.
    interval: str
    #: The prediction intervals and the median, on the axis of the page.
    bars: tuple[Bar, ...]
    #: Why the job waits.
    reason: str


class _Axis:
    """Seconds from now as a share of the width."""

    def __init__(self, ends: list[float]) -> None:
        finite_ends = [end for end in ends if math.isfinite(end)]
        self.last = max([_SHORTEST_AXIS, *finite_ends])

    def percent(self, seconds: float) -> float:
        """Return the position of a moment on the axis, in percent."""
        share = math.log1p(min(seconds, self.last) / 60) / math.log1p(self.last / 60)
        return 100 * share

    def bar(self, tag: str, low: float, high: float) -> Bar:
        """Return a bar from one moment to another."""
        left = self.percent(low)
        return Bar(tag, left, self.percent(high) - left)

    def ticks(self) -> tuple[tuple[str, float], ...]:
        """Return the labels of the axis and their positions; labels keep a distance."""
        labels = [("0", 0.0)]
        for seconds, text in _TICKS.items():
            position = self.percent(seconds)
            has_room_before = position - labels[-1][1] >= _MIN_TICK_DISTANCE
            if has_room_before and position < 100 - 1.5 * _MIN_TICK_DISTANCE:
                labels.append((text, position))
        labels.append((format_duration(self.last), 100.0))
        return tuple(labels)


def when_page(frame: pd.DataFrame, failed: FailedReading | None = None) -> str:
    """Return the report as one page that needs no network; ``?job=4711`` shows one job.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`cosched.slurm.when` returned. Without rows the page says that no job waits.
    failed : FailedReading, optional
        Marks the page as stale.
    """
    return when_report(frame, failed).to_html()


def when_report(frame: pd.DataFrame, failed: FailedReading | None = None) -> Report:
    """Return the report; the parameters are those of :func:`when_page`."""
    rows: list[Any] = frame.sort_values(["p50", "p95"], kind="stable").to_dict("records")
    axis = _Axis([row["p95"] for row in rows])
    has_requests, has_estimates = "nodes" in frame, "slurm" in frame
    requests: Mapping[Any, Mapping[str, Any]] = frame.attrs.get("requests", {})
    bars = StartBars(
        rows=tuple(_start_row(row, axis, requests) for row in rows),
        ticks=axis.ticks(),
        columns=_columns(
            has_owners=bool(requests), has_requests=has_requests, has_estimates=has_estimates
        ),
    )
    snapshot_time = frame.attrs["taken"]
    date = dated(snapshot_time, frame.attrs.get("utc_offset", 0.0))
    return Report(
        kind="when",
        title="Start times of pending jobs",
        subtitle=f"Snapshot of {date}",
        lead=_lead(rows),
        key_figures=_key_figures(frame),
        sections=(Section("", (bars,)),),
        notes=_notes(frame),
        notes_heading="Accuracy of the predictions",
        warning=_stale_warning(frame, failed),
        script_files=("when.js",),
        snapshot_time=snapshot_time,
    )


def _columns(*, has_owners: bool, has_requests: bool, has_estimates: bool) -> tuple[str, ...]:
    """Return the headings of the columns before the bars."""
    columns = ["job"]
    if has_owners:
        columns += ["user", "partition", "cores"]
    if has_requests:
        columns.append("request")
    if has_estimates:
        columns.append("Slurm's estimate")
    return (*columns, "median start")


def _key_figures(frame: pd.DataFrame) -> tuple[KeyFigure, ...]:
    summary = summarise_starts(frame)
    if not summary.pending_jobs:
        return ()
    return (
        KeyFigure("pending jobs", summary.pending_jobs, "count"),
        KeyFigure("start within 1 h", summary.within_hour, "count", "by the median"),
        KeyFigure("start within 24 h", summary.within_day, "count", "by the median"),
        KeyFigure("never start", summary.never, "count", "by the median"),
    )


def _start_row(
    row: dict[str, Any], axis: _Axis, requests: Mapping[Any, Mapping[str, Any]]
) -> StartRow:
    """Return the row of a job: its name, its bars and its quantiles."""
    details = []
    if requests:
        request = requests.get(row["job"], {})
        details += [str(request.get(name, "-")) for name in ("user", "partition", "cpus")]
    if "nodes" in row:
        details.append(_request(row))
    if "slurm" in row:
        details.append(_slurm_estimate(row["slurm"]))
    return StartRow(
        job=str(row["job"]),
        details=tuple(details),
        median=_start(row["p50"]),
        interval=f"90%: {_start(row['p05'])} to {_start(row['p95'])}",
        bars=_bars(row, axis),
        reason=str(row["reason"]),
    )


def _request(row: dict[str, Any]) -> str:
    """Return what a job that is not submitted yet requests; "-" for a job of the queue."""
    if math.isnan(row["nodes"]):
        return "-"
    limit = "no limit" if math.isinf(row["time"]) else format_duration(row["time"])
    return f"{count_of(int(row['nodes']), 'node')}, {limit}"


def _slurm_estimate(seconds: float) -> str:
    if math.isnan(seconds):
        return "-"
    return "overdue" if seconds < 0 else format_duration(seconds)


def _bars(row: dict[str, Any], axis: _Axis) -> tuple[Bar, ...]:
    """Return the bars of a job: the 90% and the 50% prediction interval, and the median."""
    if math.isinf(row["p05"]):
        return ()
    bars = [axis.bar("i", row["p05"], row["p95"]), axis.bar("b", row["p25"], row["p75"])]
    if math.isfinite(row["p50"]):
        bars.append(Bar("u", axis.percent(row["p50"]), None))
    return tuple(bars)


def _start(seconds: float) -> str:
    return "never" if math.isinf(seconds) else format_duration(seconds)


def _stale_warning(frame: pd.DataFrame, failed: FailedReading | None) -> str:
    """Return a warning that the answer is older than the page."""
    if failed is None:
        return ""
    age = duration(failed.time - frame.attrs["taken"])
    when_failed = dated(failed.time, frame.attrs.get("utc_offset", 0.0))
    return f"Stale: this answer is {age} old. The reading of {when_failed} failed: {failed.error}"


def _lead(rows: list[dict[str, Any]]) -> str:
    """Return the first sentence of the report."""
    if not rows:
        return "No job waits."
    waiting = "1 job waits" if len(rows) == 1 else f"{len(rows)} jobs wait"
    expected = [row for row in rows if math.isfinite(row["p50"])]
    if not expected:
        return f"{waiting}; none is expected to start."
    named = ", ".join(
        f"{row['job']} ({format_duration(row['p50'])})" for row in expected[:_NAMED_JOBS]
    )
    return f"{waiting}. Next, with the median time until they start: {named}."


def _notes(frame: pd.DataFrame) -> tuple[Note, ...]:
    """Return how far the answer is to be trusted."""
    coverage = frame.attrs["coverage"]
    notes: list[str] = []
    if coverage is not None:
        notes.append(f"Of such 90% prediction intervals {coverage:.0%} held in the job history.")
    if not frame["has_history"].all():
        notes.append("There is no job history to sample run times from.")
    notes += [Note.of(text).with_prefix("Not modelled: ") for text in frame.attrs["not_modelled"]]
    return notes_of_report(notes)
