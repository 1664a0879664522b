"""How near a value has to be to the paper's: rules that say themselves, and why they are fair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

AGREES, ORDER, DIFFERS = "agrees", "order only", "differs"


class Seen(NamedTuple):
    """Our value, and the interval in which another draw of the same traces would put it."""

    value: float
    low: float = math.nan
    high: float = math.nan


class Curve(NamedTuple):
    """What a picture without numbers draws, as ours is; whether it keeps the order of the text."""

    values: str
    holds: bool
    shown: str


@dataclass(frozen=True)
class Tolerance:
    """``judge(paper's number, what we see)`` gives the verdict; ``says`` is what is printed.

    ``says`` may name ``{low}`` and ``{high}``, the interval of what we see.
    """

    says: str
    judge: Callable[[float, Seen], str]

    def text(self, seen: Seen | None) -> str:
        """The rule in words, with the interval filled in."""
        if seen is None or math.isnan(seen.low) or "{low" not in self.says:
            return self.says.replace("{low} to {high}", "an interval that is not known")
        return self.says.format(low=f"{seen.low:.4g}", high=f"{seen.high:.4g}")


def _three(agrees: bool, order: bool) -> str:
    return AGREES if agrees else ORDER if order else DIFFERS


def _within_factor(paper: float, value: float, factor: float) -> bool:
    if paper == 0 or value == 0:
        return paper == value
    return value / paper > 0 and 1 / factor <= value / paper <= factor


def in_order(why: str) -> Tolerance:
    """A picture without numbers: the order that the text tells of it is kept, or not."""
    return Tolerance(
        f"no numbers to compare; order only: {why}",
        lambda _, seen: ORDER if seen.value == 1 else DIFFERS,
    )


def within(relative: float, why: str, factor: float = 2.0) -> Tolerance:
    """Within a share of the paper's number; the order is right within a factor."""
    return Tolerance(
        f"within {100 * relative:g}% ({why}); order only: within a factor {factor:g}",
        lambda paper, seen: _three(
            abs(seen.value - paper) <= relative * abs(paper) + 1e-12,
            _within_factor(paper, seen.value, factor),
        ),
    )


def near(distance: float, why: str) -> Tolerance:
    """Within a distance, for shares that may be negative; the order is right with the sign."""
    return Tolerance(
        f"within {distance:g} ({why}); order only: the same sign",
        lambda paper, seen: _three(
            abs(seen.value - paper) <= distance + 1e-12, paper * seen.value > 0
        ),
    )


def drawn(why: str, factor: float = 2.0, slack: float = 0.0) -> Tolerance:
    """The paper's number is one that another draw could have given, and within a factor.

    The factor is for heavy tails, where an interval says little. `slack`: half a unit of the last
    printed digit.
    """

    def judge(paper: float, seen: Seen) -> str:
        inside = seen.low - slack <= paper <= seen.high + slack
        close = _within_factor(paper, seen.value, factor) or abs(paper - seen.value) <= slack
        return _three(inside and close, inside or close)

    return Tolerance(
        f"the paper's in {{low}} to {{high}} ({why}), and within a factor {factor:g}; order only: "
        "one of the two",
        judge,
    )


def exactly(why: str = "nothing is drawn or measured") -> Tolerance:
    """The same number."""
    return Tolerance(
        f"equal ({why})",
        lambda paper, seen: AGREES if abs(seen.value - paper) <= 1e-9 else DIFFERS,
    )


def at_most(limit: float, why: str = "the paper's words", order: float | None = None) -> Tolerance:
    """Not above a limit; the order is right below the other limit."""
    return _bounded(limit, why, order, 1)


def at_least(limit: float, why: str = "the paper's words", order: float | None = None) -> Tolerance:
    """Not below a limit; the order is right above the other limit."""
    return _bounded(limit, why, order, -1)


def _bounded(limit: float, why: str, order: float | None, sign: int) -> Tolerance:
    words = "at most" if sign > 0 else "at least"
    says = f"{words} {limit:g} ({why})"
    if order is not None:
        says += f"; order only: {words} {order:g}"
    far = limit if order is None else order
    return Tolerance(
        says,
        lambda _, seen: _three(
            sign * (seen.value - limit) <= 1e-9, sign * (seen.value - far) <= 1e-9
        ),
    )


def between(
    low: float, high: float, why: str, order: tuple[float, float] | None = None
) -> Tolerance:
    """In an interval; the order is right in a wider one."""
    says = f"{low:g} to {high:g} ({why})"
    if order is not None:
        says += f"; order only: {order[0]:g} to {order[1]:g}"
    far = order or (low, high)
    return Tolerance(
        says,
        lambda _, seen: _three(low <= seen.value <= high, far[0] <= seen.value <= far[1]),
    )
