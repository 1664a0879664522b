"""Durations and dates in words."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone

from cosched.units import format_exact_duration


def duration(seconds: float) -> str:
    """Return a duration as ``3 h 05 min``; one in the past as ``11 min 40 s ago``; infinite:
    never."""
    if math.isnan(seconds):
        return ""
    if math.isinf(seconds):
        return "never"
    if round(seconds) < 0:
        return f"{duration(-seconds)} ago"
    return format_exact_duration(seconds)


def limit_text(seconds: float | None) -> str:
    """Return a time limit in words; none, or an infinite one: ``UNLIMITED``, as Slurm has it."""
    return "UNLIMITED" if seconds is None or math.isinf(seconds) else duration(seconds)


def local_date(seconds: float, offset: float) -> str:
    """Return a date in the zone of a cluster: ``2026-11-23 01:33:00``.

    Parameters
    ----------
    seconds : float
        Since 1970.
    offset : float
        Seconds to add to local times of the cluster to get UTC.
    """
    try:
        date = datetime(1970, 1, 1) + timedelta(seconds=math.floor(seconds - offset))
    except OverflowError:
        return "never"
    return date.strftime("%Y-%m-%d %H:%M:%S")


def zone_name(offset: float) -> str:
    """Return the zone of a cluster: ``UTC``, or ``UTC+01:00``; `offset` as in
    :func:`local_date`."""
    return str(timezone(timedelta(seconds=-round(offset / 60) * 60)))


def dated(seconds: float, offset: float) -> str:
    """Return a date with its zone: ``2026-11-23 01:33:00 UTC+01:00 (time zone of the cluster)``."""
    whose = "" if round(offset / 60) == 0 else " (time zone of the cluster)"
    return f"{local_date(seconds, offset)} {zone_name(offset)}{whose}"
