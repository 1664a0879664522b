"""How a report shows a value, by the kind of its column or key figure."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cosched.cluster.analysis.replications import Comparison, Spread
from cosched.core.formats import number, share
from cosched.units import (
    format_duration,
    format_exact_duration,
    format_gigabytes,
    format_signed_duration,
)


def _count(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.0f}"


def _fine_share(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}%"


def _tenth_of_percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f}%"


def difference_in_words(comparison: Comparison) -> str:
    """Return the difference of two means as they are shown, and whether it is clear.

    Examples
    --------
    >>> difference_in_words(Comparison(9, 100.0, 400.0, Spread(300.0, 240.0, 360.0), True, False))
    '+5 min 00 s (+4 min 00 s to +6 min 00 s)'
    """
    difference = comparison.difference
    if comparison.has_same_starts or difference == Spread(0.0, 0.0, 0.0):
        return "none"
    mean = format_signed_duration(
        _as_shown(comparison.mean_wait) - _as_shown(comparison.base_mean_wait)
    )
    if comparison.is_clear is None:
        return mean
    if comparison.replications == 1:
        return f"{mean}, one replication"
    interval = _interval(difference)
    return f"{mean} {interval}" if comparison.is_clear else f"{mean}, not clear {interval}"


def _interval(difference: Spread) -> str:
    """Return the prediction interval of a difference, in parentheses."""
    return (
        f"({format_signed_duration(difference.low)} to {format_signed_duration(difference.high)})"
    )


def _as_shown(seconds: float) -> float:
    """Return a wait rounded to what :func:`cosched.units.format_exact_duration` shows of it."""
    unit = 1 if abs(seconds) < 3599.5 else 60
    return float(round(seconds / unit) * unit)


def spread_in_words(difference: Spread) -> str:
    """Return a difference with its prediction interval."""
    if difference.low == difference.high:
        return format_signed_duration(difference.mean) if difference.mean else "none"
    interval = _interval(difference)
    if difference.includes_zero:
        return f"not clear {interval}"
    return f"{format_signed_duration(difference.mean)} {interval}"


def _seconds(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.4g} s"


def _difference(value: Comparison | Spread) -> str:
    return difference_in_words(value) if isinstance(value, Comparison) else spread_in_words(value)


#: Kind of a column -> format of its values. A text is shown as it is, whatever the kind.
FORMATS: dict[str, Callable[[Any], str]] = {
    "text": str,
    "name": str,
    "count": _count,
    "number": number,
    "share": share,
    "share with a decimal": _tenth_of_percent,
    "share with two decimals": _fine_share,
    "duration": format_duration,
    "exact duration": format_exact_duration,
    "seconds": _seconds,
    "gigabytes": format_gigabytes,
    "difference": _difference,
}
#: Columns of words.
LEFT_ALIGNED_KINDS = frozenset({"text"})


def format_value(value: Any, kind: str) -> str:
    """Return a value as readers see it; "-" for None.

    Examples
    --------
    >>> format_value(0.25, "share"), format_value(None, "count"), format_value("none", "count")
    ('25%', '-', 'none')
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return FORMATS[kind](value)
