"""Times with units, as people type them: ``4h``, ``90m``, ``1h30m``."""

import re

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = r"([0-9]+(?:\.[0-9]+)?)([smhdw])"


def seconds_with_unit(text: str) -> float | None:
    """Seconds of numbers with units; None: the text is something else.

    Parameters
    ----------
    text : str
        One number with its unit (s, m, h, d, w), or several, as ``1h30m``.

    Examples
    --------
    >>> seconds_with_unit("4h"), seconds_with_unit("1h30m"), seconds_with_unit("4:00:00")
    (14400.0, 5400.0, None)
    """
    stripped = text.strip().lower()
    if not re.fullmatch(f"(?:{_PART})+", stripped):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, stripped))
