"""The date at which a log's clock is 0."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from cosched import io
from cosched.cluster.files.conventions import WEEK


def date_of(seconds: float, zone: tzinfo | None = None) -> datetime | None:
    """Seconds since 1970 (in UTC where there is a `zone`) as its date; None: no clock says that."""
    try:
        date = datetime(1970, 1, 1, tzinfo=zone and timezone.utc) + timedelta(seconds=seconds)
        return date.astimezone(zone) if zone else date
    except (OverflowError, ValueError):
        return None


def date_of_header(header: Mapping[str, str]) -> datetime | None:
    """When a log in Standard Workload Format begins, where its header says it."""
    text = header.get("UnixStartTime", "").strip()
    if not io.is_number(text) or not float(text) > 0:
        return None
    return date_of(float(text), _zone_of_header(header))


def _zone_of_header(header: Mapping[str, str]) -> tzinfo:
    zone = zone_of(header.get("TimeZoneString", "").strip())
    if zone is not None:
        return zone
    offset = header.get("TimeZone", "").strip()
    known = io.is_number(offset) and abs(float(offset)) < 86400
    return timezone(timedelta(seconds=float(offset))) if known else timezone.utc


def zone_of(name: str | None) -> tzinfo | None:
    """A zone by its name; None: no such zone here."""
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, KeyError):  # a folder, an odd name, no such zone
        return None


def begin_of_part(whole: datetime | None, week: int | None, begin: float | None) -> datetime | None:
    """When a part of a log begins."""
    return None if whole is None else later(whole, (week or 0) * WEEK + (begin or 0.0))


def later(date: datetime, seconds: float) -> datetime:
    """So many seconds later, across changes of clocks."""
    if date.tzinfo is None:
        return date + timedelta(seconds=seconds)
    return (date.astimezone(timezone.utc) + timedelta(seconds=seconds)).astimezone(date.tzinfo)
