"""Format numbers, times, tables and figures for HTML pages; the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cosched import io
from cosched.cluster.files.conventions import later
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import used_of
from cosched.cluster.judgement.judge import SIMULATOR
from cosched.cluster.page.replications import CommonJobs, mean_waits
from cosched.cluster.page.runs import EASY, Runs
from cosched.core.arrays import means, step_function
from cosched.lazy import plt
from cosched.units import format_duration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cosched.cluster.result import Result

#: Longer cells may be broken anywhere: they would widen the table.
_LONGEST_UNBROKEN_CELL = 18
#: One sheet for the screen, light and dark, a phone, and two pages of A4.
STYLE = "\n" + io.read_text(Path(__file__).with_name("page.css"))


def render_page(
    title: str, head: str, parts: Iterable[tuple[str, str]] = (), foot: str = "", style: str = ""
) -> str:
    """Return a self-contained HTML page.

    `parts` are (heading, HTML) pairs; a part without HTML is left out, a heading may be empty.
    `style` is appended to the style sheet of all pages.
    """
    sections = []
    for heading, html in parts:
        if not html:
            continue
        sections.append(f"<h2>{escape(heading)}</h2>\n{html}" if heading else html)
    body = "\n".join([head, *sections, foot])
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def render_aside(title: str, lines: Iterable[str]) -> str:
    """Return an aside with a list of lines; empty without lines."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<aside><h2>{escape(title)}</h2><ul>{items}</ul></aside>" if items else ""


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], *, marked_row: int | None = None
) -> str:
    """Return an HTML table; row number `marked_row` is highlighted, heads in () are of text."""
    classes = [' class="words"' if head.startswith("(") else "" for head in heads]
    head = "".join(
        f"<th{kind}>{escape(name.strip('()'))}</th>"
        for kind, name in zip(classes, heads, strict=True)
    )
    body_rows = []
    for number, row in enumerate(rows):
        cells = []
        for kind, cell in zip(classes, map(str, row), strict=True):
            is_long = len(cell) > _LONGEST_UNBROKEN_CELL
            attribute = kind or (" class=long" if is_long else "")
            cells.append(f"<td{attribute}>{escape(cell)}</td>")
        attribute = " class=counts" if number == marked_row else ""
        body_rows.append(f"<tr{attribute}>{''.join(cells)}</tr>")
    body = "".join(body_rows)
    rows_html = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table>{rows_html}</table></div>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of the CSS class `kind`; empty without text."""
    if not text:
        return ""
    attribute = f" class={kind}" if kind else ""
    return f"<p{attribute}>{escape(text)}</p>"


def number(value: float) -> str:
    """Return a number with four digits; "-" for nan."""
    if np.isnan(value):
        return "-"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def share(value: float) -> str:
    """Return a fraction as percent; "-" for nan."""
    return "-" if np.isnan(value) else f"{100 * value:.0f}%"


def clock(instance: Instance, seconds: float) -> str:
    """Return a date and time, or the day and time since the log's begin without a date."""
    if instance.begins is not None:
        try:
            return f"{later(instance.begins, seconds):%Y-%m-%d %H:%M}"
        except OverflowError:  # a log of thousands of years: no date
            pass
    days, seconds_left = divmod(int(seconds), 86400)
    return f"day {days} {seconds_left // 3600:02}:{seconds_left // 60 % 60:02}"


def _day(instance: Instance, seconds: float) -> str:
    try:
        date = later(instance.begins, seconds) if instance.begins else None
    except OverflowError:
        date = None
    return f"{date.day} {date:%B %Y}" if date else f"day {seconds / 86400:,.0f}"


def period(instance: Instance, begin: float, end: float) -> str:
    """Return the time range of the log, as the begin of a sentence."""
    if instance.begins is None:
        return f"In {format_duration(end - begin)}"
    first_day, last_day = (_day(instance, time) for time in (begin, end))
    return f"On {first_day}" if first_day == last_day else f"From {first_day} to {last_day}"


def units(instance: Instance) -> str:
    return "nodes" if instance.machine is None else "cores"


def display_name(name: str) -> str:
    """Return the name of a resource for readers."""
    kind, _, type_name = name.partition(":")
    return {"memory_gb": "memory", "gpus": "GPUs"}.get(kind, kind) + (
        f" {type_name}" if type_name else ""
    )


def used_in_words(instance: Instance) -> str:
    """Return a clause on the used share of requested time and memory; empty if unknown."""
    time, memory = used_of(instance)
    parts = [f"{share(part)} of the {what} they asked for"
             for part, what in ((time, "time"), (memory, "memory")) if part > 0]  # fmt: skip
    return " and ".join(parts)


#: A placeholder for the colour of text, which light and dark pages choose.
TEXT_COLOR = "#010203"
_STYLE: Any = {
    "font.size": 11,
    "font.family": "sans-serif",
    "text.color": TEXT_COLOR,
    "axes.edgecolor": TEXT_COLOR,
    "axes.labelcolor": TEXT_COLOR,
    "xtick.color": TEXT_COLOR,
    "ytick.color": TEXT_COLOR,
}
COLOURS = {"log": "#d95f02", EASY: "#4477cc", SIMULATOR: "#4477cc"}


def colour_of(name: str) -> str:
    """The colour of the log, or of a policy."""
    return COLOURS.get(name, COLOURS[EASY])


_MAX_SLICES = 400
_CENTURY = 100 * 365.25 * 86400
_ABOUT = "load, queue and waits by day"
_LONGEST_LABEL = 40


def picture(figure: plt.Figure | None, about: str = _ABOUT) -> str:
    """Return a figure as SVG for a page, in the page's colours."""
    if figure is None:
        return "<p>Neither the log nor EASY has a result.</p>"
    import matplotlib

    drawing = StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "audit"}):
        figure.savefig(
            drawing, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    svg = drawing.getvalue()
    svg = svg[svg.index("<svg") :].replace(TEXT_COLOR, "currentColor")
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
    """Draw load, queue and waits over time; None where neither the log nor EASY has a result."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    results = {"log": runs.logged, runs.reference_policy: runs.reference_result}
    drawn = {name: result for name, result in results.items() if result is not None}
    if not drawn:
        return None
    instance = runs.instance
    edges = _edges(instance, max(result.outcome["end"].max() for result in drawn.values()))
    begins = instance.begins if edges[-1] < _CENTURY else None  # no axis has such dates
    dates = _dates(begins, edges)
    with drawing(5.2, 3) as (figure, axes):
        for name, result in drawn.items():
            for ax, level in zip(axes, _panels(result, edges), strict=True):
                ax.stairs(level, dates, label=name, color=colour_of(name), linewidth=1.3)
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


def what_if_bars(runs: Runs) -> str:
    """Draw the mean waits of each scenario, with the middle 90% of the replications.

    A scenario with other jobs is compared over the jobs in common: a bar is their mean wait on the
    machine as it is.
    """
    replication_waits: list[tuple[str, np.ndarray]] = []
    means_as_they_are: list[float | None] = []
    base = runs.base.result
    for run in runs.rows:
        if base is None or run.result is None:
            continue
        common = CommonJobs.of(base.instance, run.result.instance)
        replication_waits.append((run.name, mean_waits(run.result, common.in_other) / 3600))
        mean = float(mean_waits(base, common.in_base).mean() / 3600)
        means_as_they_are.append(None if common.are_all else mean)
    with drawing(0.9 + 0.35 * len(replication_waits)) as (figure, ax):
        for row, (_, values) in enumerate(replication_waits):
            if means_as_they_are[row] is not None:
                ax.plot([means_as_they_are[row]], [row], "|", color=TEXT_COLOR, markersize=12)
            low, high = np.percentile(values, [5, 95]).tolist()
            colour = colour_of(runs.reference_policy)
            ax.plot([low, high], [row, row], color=colour, linewidth=4)
            ax.plot([values.mean()], [row], "o", color=COLOURS["log"] if row else TEXT_COLOR)
        if replication_waits:
            ax.axvline(
                replication_waits[0][1].mean(), color=TEXT_COLOR, linewidth=0.8, linestyle=":"
            )
        ax.set_yticks(
            range(len(replication_waits)), [name[:_LONGEST_LABEL] for name, _ in replication_waits]
        )
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel("mean wait, h")
    drawn = picture(figure, "mean waits as they are and in each what-if")
    return f'<div class="beside">{drawn}</div>'


def _edges(instance: Instance, end: float) -> np.ndarray:
    """Return the begins of days, of hours in a short log, or of several days in a long one."""
    begin = float(instance.column("eligible").min())
    width = 86400.0 if end - begin > 4 * 86400 else 3600.0
    width *= max(1.0, np.ceil((end - begin) / width / _MAX_SLICES))
    first_edge = begin
    if instance.begins is not None:  # from midnight, or the full hour, on
        date = instance.begins
        seconds_of_day = date.hour * 3600 + date.minute * 60 + date.second
        first_edge = begin - (seconds_of_day + begin) % min(width, 86400.0)
    return first_edge + width * np.arange(max(1, np.ceil((end - first_edge) / width)) + 1)


def _dates(begins: datetime | None, edges: np.ndarray) -> Any:
    """Return the dates in matplotlib's units; days without dates."""
    if begins is None:
        return edges / 86400
    from matplotlib.dates import date2num

    begin = begins.replace(tzinfo=None)
    return date2num([begin + timedelta(seconds=time) for time in edges.tolist()])


def _panels(result: Result, edges: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the use (%), jobs in the queue, and mean wait (h) of the jobs of each time slice."""
    instance = result.instance
    eligible_times, start, end = (
        instance.column("eligible"), result.outcome["start"], result.outcome["end"]
    )  # fmt: skip
    needs = instance.column("tasks") * instance.column("cpu") / instance.nodes
    slices = np.clip(np.searchsorted(edges, eligible_times, side="right") - 1, 0, len(edges) - 2)
    jobs_of_slice = np.bincount(slices, minlength=len(edges) - 1)
    waits = np.bincount(slices, weights=result.waits, minlength=len(edges) - 1)
    return (
        100 * means(*step_function(start, end, needs), edges),
        means(*step_function(eligible_times, start, np.ones(len(instance))), edges),
        np.where(jobs_of_slice > 0, waits / np.maximum(jobs_of_slice, 1) / 3600, np.nan),
    )
