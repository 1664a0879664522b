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


#: Of the paper's number and what we see, whether something holds.
Test = Callable[[float, Seen], bool]


@dataclass(frozen=True)
class Tolerance:
    """When a value agrees, and when its order is right; ``says`` is what is printed.

    ``says`` may name ``{low}`` and ``{high}``, the interval of what we see.
    """

    says: str
    agrees: Test
    in_order: Test

    def judge(self, paper: float, seen: Seen) -> str:
        """The verdict."""
        if self.agrees(paper, seen):
            return AGREES
        return ORDER if self.in_order(paper, seen) else DIFFERS

    def text(self, seen: Seen | None) -> str:
        """The rule in words, with the interval filled in."""
        if seen is None or math.isnan(seen.low) or "{low" not in self.says:
            return self.says.replace("{low} to {high}", "an interval that is not known")
        return self.says.format(low=f"{seen.low:.4g}", high=f"{seen.high:.4g}")


def _within_factor(paper: float, value: float, factor: float) -> bool:
    if paper == 0 or value == 0:
        return paper == value
    return value / paper > 0 and 1 / factor <= value / paper <= factor


def _never(paper: float, seen: Seen) -> bool:
    return False


def in_order(why: str) -> Tolerance:
    """A picture without numbers: the order that the text tells of it is kept, or not."""
    says = f"no numbers to compare; order only: {why}"
    return Tolerance(says, _never, lambda _, seen: seen.value == 1)


def within(relative: float, why: str, factor: float = 2.0) -> Tolerance:
    """Within a share of the paper's number; the order is right within a factor."""
    return Tolerance(
        f"within {100 * relative:g}% ({why}); order only: within a factor {factor:g}",
        lambda paper, seen: abs(seen.value - paper) <= relative * abs(paper) + 1e-12,
        lambda paper, seen: _within_factor(paper, seen.value, factor),
    )


def near(distance: float, why: str) -> Tolerance:
    """Within a distance, for shares that may be negative; the order is right with the sign."""
    return Tolerance(
        f"within {distance:g} ({why}); order only: the same sign",
        lambda paper, seen: abs(seen.value - paper) <= distance + 1e-12,
        lambda paper, seen: paper * seen.value > 0,
    )


def drawn(why: str, factor: float = 2.0, slack: float = 0.0) -> Tolerance:
    """The paper's number is one that another draw could have given, and within a factor.

    The factor is for heavy tails, where an interval says little. `slack`: half a unit of the last
    printed digit.
    """

    def inside(paper: float, seen: Seen) -> bool:
        return seen.low - slack <= paper <= seen.high + slack

    def close(paper: float, seen: Seen) -> bool:
        return _within_factor(paper, seen.value, factor) or abs(paper - seen.value) <= slack

    return Tolerance(
        f"the paper's in {{low}} to {{high}} ({why}), and within a factor {factor:g}; order only: "
        "one of the two",
        lambda *both: inside(*both) and close(*both),
        lambda *both: inside(*both) or close(*both),
    )


def exactly(why: str = "nothing is drawn or measured") -> Tolerance:
    """The same number."""
    return Tolerance(f"equal ({why})", lambda paper, seen: abs(seen.value - paper) <= 1e-9, _never)


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
        lambda _, seen: sign * (seen.value - limit) <= 1e-9,
        lambda _, seen: sign * (seen.value - far) <= 1e-9,
    )


#: A ratio of which the paper says only on which side of 1 it is.
BELOW = at_most(1.0, "only the order is said")
ABOVE = at_least(1.0, "only the order is said")


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
        lambda _, seen: low <= seen.value <= high,
        lambda _, seen: far[0] <= seen.value <= far[1],
    )
