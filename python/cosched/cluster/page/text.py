"""Numbers, times and tables as the page shows them, and its style."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.files.window import later
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import used_of

#: Longer cells are broken.
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


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], *, counts: int | None = None) -> str:
    """A table; row number `counts` is the one that counts, a last head in () has words."""
    classes = [' class="words"' if head.startswith("(") else "" for head in heads]
    head = "".join(
        f"<th{kind}>{escape(name.strip('()'))}</th>"
        for kind, name in zip(classes, heads, strict=True)
    )
    body = "".join(
        f"<tr{' class=counts' * (number == counts)}>"
        + "".join(
            f"<td{kind or _long(cell)}>{escape(str(cell))}</td>"
            for kind, cell in zip(classes, row, strict=True)
        )
        + "</tr>"
        for number, row in enumerate(rows)
    )
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table>{inside}</table></div>'


def _long(cell: Any) -> str:
    """The class of a cell that may be broken anywhere: a name that would widen its table."""
    return ' class="long"' if len(str(cell)) > _LONGEST_WORD else ""


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
