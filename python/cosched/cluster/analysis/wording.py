"""Dates, units and resources of a log in words."""

from __future__ import annotations

from cosched.cluster.files.conventions import later
from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import used_of
from cosched.core.formats import share
from cosched.units import format_duration


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
    parts = [
        f"{share(part)} of the {what} they asked for"
        for part, what in ((time, "time"), (memory, "memory"))
        if part > 0
    ]
    return " and ".join(parts)
