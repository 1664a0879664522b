"""How numbers and shares are written for readers; :mod:`cosched.units` writes durations."""

import math


def number(value: float) -> str:
    """Return a number with four digits; "-" for nan.

    >>> number(2.26736), number(12345.6)
    ('2.267', '12,346')
    """
    if math.isnan(value):
        return "-"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def share(value: float) -> str:
    """Return a fraction as percent; "-" for nan.

    >>> share(0.553), share(math.nan)
    ('55%', '-')
    """
    return "-" if math.isnan(value) else f"{100 * value:.0f}%"
