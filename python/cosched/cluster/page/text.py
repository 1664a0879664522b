"""Numbers, times, tables and drawings as the page shows them, and its style."""

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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cosched.cluster.result import Result

#: Longer cells may be broken anywhere: they would widen the table.
_LONGEST_WORD = 18
#: One sheet for the screen, light and dark, a phone, and two pages of A4.
STYLE = "\n" + io.read_text(Path(__file__).with_name("page.css"))


def document(
    title: str, head: str, parts: Iterable[tuple[str, str]] = (), foot: str = "", style: str = ""
) -> str:
    """A page that needs nothing but itself: `parts` that say something under their headings, or
    without one; `style`: beside that of all pages."""
    said = ((f"<h2>{escape(name)}</h2>\n" * bool(name), text) for name, text in parts if text)
    body = "\n".join([head, *map("".join, said), foot])
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def box(title: str, lines: Iterable[str]) -> str:
    """What is to be said beside; empty without any."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<aside><h2>{escape(title)}</h2><ul>{items}</ul></aside>" if items else ""


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], *, marked_row: int | None = None
) -> str:
    """A table; row number `marked_row` is set off, a last head in () has words."""
    classes = [' class="words"' if head.startswith("(") else "" for head in heads]
    head = "".join(
        f"<th{kind}>{escape(name.strip('()'))}</th>"
        for kind, name in zip(classes, heads, strict=True)
    )
    body = "".join(
        f"<tr{' class=counts' * (number == marked_row)}>"
        + "".join(
            f"<td{kind or ' class=long' * (len(cell) > _LONGEST_WORD)}>{escape(cell)}</td>"
            for kind, cell in zip(classes, map(str, row), strict=True)
        )
        + "</tr>"
        for number, row in enumerate(rows)
    )
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table>{inside}</table></div>'


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{f' class={kind}' * bool(kind)}>{escape(text)}</p>" if text else ""


def number(value: float) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def share(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.0f}%"


def span(seconds: float) -> str:
    """A duration in two units at most."""
    if np.isnan(seconds):
        return "-"
    if seconds <= -59.5:
        return f"-{span(-seconds)}"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02}" if hours < 72 else f"{hours / 24:,.1f} days"


def exact_span(seconds: float) -> str:
    """A duration that differences can be taken of: to the second below an hour, else to the
    minute."""
    if np.isnan(seconds):
        return "-"
    if abs(seconds) < 59.5 or abs(seconds) >= 3599.5:
        return span(seconds)
    minutes, rest = divmod(round(abs(seconds)), 60)
    sign = "-" if seconds < 0 else ""
    return f"{sign}{minutes} min {rest:02} s"


def signed_span(seconds: float) -> str:
    """A difference of durations, with its sign."""
    shown_difference = exact_span(seconds)
    return f"+{shown_difference}" if seconds >= 0.5 else shown_difference


def clock(instance: Instance, seconds: float) -> str:
    """A date and time, or the day and time since the log's begin where no date is known."""
    if instance.begins is not None:
        try:
            return f"{later(instance.begins, seconds):%Y-%m-%d %H:%M}"
        except OverflowError:  # a log of thousands of years: no date
            pass
    days, rest = divmod(int(seconds), 86400)
    return f"day {days} {rest // 3600:02}:{rest // 60 % 60:02}"


def _day(instance: Instance, seconds: float) -> str:
    try:
        date = later(instance.begins, seconds) if instance.begins else None
    except OverflowError:
        date = None
    return f"{date.day} {date:%B %Y}" if date else f"day {seconds / 86400:,.0f}"


def period(instance: Instance, begin: float, end: float) -> str:
    """From when to when."""
    if instance.begins is None:
        return f"In {span(end - begin)}"
    first, last = (_day(instance, time) for time in (begin, end))
    return f"On {first}" if first == last else f"From {first} to {last}"


def units(instance: Instance) -> str:
    return "nodes" if instance.machine is None else "cores"


def shown(name: str) -> str:
    """A resource in words."""
    kind, _, of = name.partition(":")
    return {"memory_gb": "memory", "gpus": "GPUs"}.get(kind, kind) + (f" {of}" if of else "")


def used_in_words(instance: Instance) -> str:
    """How much of the time and memory that jobs asked for they used."""
    time, memory = used_of(instance)
    parts = [f"{share(part)} of the {what} they asked for"
             for part, what in ((time, "time"), (memory, "memory")) if part > 0]  # fmt: skip
    return " and ".join(parts)


#: Stands for the colour of text, which light and dark pages choose.
INK = "#010203"
_STYLE: Any = {"font.size": 11, "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK,
                "xtick.color": INK, "ytick.color": INK, "font.family": "sans-serif"}  # fmt: skip
COLOURS = {"log": "#d95f02", EASY: "#4477cc", SIMULATOR: "#4477cc"}


def colour_of(name: str) -> str:
    """The colour of the log, or of a policy."""
    return COLOURS.get(name, COLOURS[EASY])


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


def beside(runs: Runs) -> str:
    """Mean waits as they are and in each what-if, with the middle 90% of the replications.

    Of a what-if with other jobs, over the jobs that both have: a bar is their mean as it is.
    """
    known: list[tuple[str, np.ndarray]] = []
    means_as_they_are: list[float | None] = []
    base = runs.base.result
    for run in runs.rows:
        if base is None or run.result is None:
            continue
        common = CommonJobs.of(base.instance, run.result.instance)
        known.append((run.name, mean_waits(run.result, common.in_other) / 3600))
        mean = float(mean_waits(base, common.in_base).mean() / 3600)
        means_as_they_are.append(None if common.are_all else mean)
    with drawing(0.9 + 0.35 * len(known)) as (figure, ax):
        for row, (_, values) in enumerate(known):
            if means_as_they_are[row] is not None:
                ax.plot([means_as_they_are[row]], [row], "|", color=INK, markersize=12)
            low, high = np.percentile(values, [5, 95]).tolist()
            colour = colour_of(runs.reference_policy)
            ax.plot([low, high], [row, row], color=colour, linewidth=4)
            ax.plot([values.mean()], [row], "o", color=COLOURS["log"] if row else INK)
        if known:
            ax.axvline(known[0][1].mean(), color=INK, linewidth=0.8, linestyle=":")
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
        100 * means(*step_function(start, end, needs), edges),
        means(*step_function(came, start, np.ones(len(instance))), edges),
        np.where(many > 0, waits / np.maximum(many, 1) / 3600, np.nan),
    )
