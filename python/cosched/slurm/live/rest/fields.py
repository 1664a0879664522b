"""Values of REST answers of any version, as Slurm's commands print them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from cosched.slurm.live.job_records import number
from cosched.units import format_elapsed_time

UNLIMITED = "UNLIMITED"


def value_at(record: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as ``limits/max/jobs``; None where there is none.

    Examples
    --------
    >>> value_at({"limits": {"grace_time": 30}}, "limits/grace_time")
    30
    """
    value: Any = record
    for key in path.split("/"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def first_value(record: Mapping[str, Any], paths: Iterable[str]) -> Any:
    """The first value that is there, of the paths of several versions."""
    values = (value_at(record, path) for path in paths)
    return next((value for value in values if value is not None), None)


def texts_of(value: object) -> list[str]:
    """Texts of a list, or of a text that commas part."""
    if isinstance(value, str):
        return [part for part in value.split(",") if part]
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def count_text(value: object) -> str:
    """A whole number; ``UNLIMITED`` of -1 and infinity; empty where it is not set.

    Examples
    --------
    >>> count_text(4), count_text(-1), count_text({"set": False, "number": 0}), count_text(None)
    ('4', 'UNLIMITED', '', '')
    """
    if value in (-1, 0xFFFFFFFF):
        return UNLIMITED
    parsed = number(value)
    if parsed is None:
        return ""
    return UNLIMITED if parsed == math.inf else str(int(parsed))


def limit_text(value: object) -> str:
    """A limit of accounts or QOS: empty where there is none."""
    text = count_text(value)
    return "" if text == UNLIMITED else text


def duration_text(value: object, unit: float = 60.0) -> str:
    """``1-00:00:00`` of minutes (`unit`: seconds of one); empty where it is not set.

    Examples
    --------
    >>> duration_text(1440), duration_text({"set": True, "infinite": False, "number": 30}, 1)
    ('1-00:00:00', '00:00:30')
    """
    text = limit_text(value)
    return format_elapsed_time(int(int(text) * unit)) if text else ""


def decimal_text(value: object) -> str:
    """A number with six digits; empty where it is not set."""
    parsed = number(value)
    return "" if parsed is None or math.isinf(parsed) else f"{parsed:.6f}"


def date_text(value: object, offset: float) -> str:
    """A date of seconds since 1970; `offset`: seconds to subtract for local time."""
    parsed = number(value)
    if not parsed or not 0 < parsed < 1e11:
        return "Unknown"
    date = datetime.fromtimestamp(parsed - offset, timezone.utc)
    return date.strftime("%Y-%m-%dT%H:%M:%S")


def tres_text(entries: object) -> str:
    """``cpu=8,mem=100G,gres/gpu=2``, as sacctmgr writes amounts of resources.

    Examples
    --------
    >>> tres_text([{"type": "cpu", "name": None, "count": 8},
    ...            {"type": "mem", "name": "", "count": 102400}])
    'cpu=8,mem=100G'
    """
    amounts = []
    for entry in entries if isinstance(entries, list) else []:
        kind, count = value_at(entry, "type"), limit_text(value_at(entry, "count"))
        name = value_at(entry, "name")
        if isinstance(kind, str) and kind and count:
            amount = memory_text(int(count)) if kind == "mem" else count
            amounts.append(f"{kind}/{name}={amount}" if name else f"{kind}={amount}")
    return ",".join(amounts)


def memory_text(megabytes: int) -> str:
    """In the largest unit of which it is a whole number.

    Examples
    --------
    >>> memory_text(102400), memory_text(500), memory_text(0)
    ('100G', '500M', '0')
    """
    if not megabytes:
        return "0"
    unit = 0
    while megabytes % 1024 == 0 and unit < 3:
        megabytes //= 1024
        unit += 1
    return f"{megabytes}{'MGTP'[unit]}"


def cell(text: str) -> str:
    """A text in a table whose columns are parted by bars."""
    return " ".join(text.replace("|", " ").split())
