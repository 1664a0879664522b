"""How near a value has to be to the paper's: intervals that say themselves, and why they are fair.

A rule gives the interval in which our value has to be, and the kind of what is compared; the
verdict follows from numbers alone (``verdict``), all of which stand in a row of the ledger.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

AGREES, ORDER, DIFFERS = "agrees", "agrees in order", "numbers differ"
FAILS, UNTESTED, NOT = "claim fails", "untested picture", "cannot be reproduced"
VERDICTS = (AGREES, ORDER, DIFFERS, FAILS, UNTESTED, NOT)

#: What a row compares: a printed number on the same data or on other draws of a model; a sentence
#: that is true or false; words about a curve, true or false; a curve without a word; nothing.
NUMBER, DRAWN, SENTENCE, CURVE, BARE, NOTHING = KINDS = (
    "number", "drawn number", "sentence", "curve", "bare curve", "nothing",
)  # fmt: skip

#: Rank correlation from which on the order of a set of cells is the paper's, and the least set.
#: Ranks are then off by an eighth of the set in the mean square (rho = 1 - 6 d^2 / (n^2 - 1)).
#: Chance gives it to 8 cells in one of 400 orders, to 18 in less than one of 10^5; three batch
#: queues above 17 other policies, which is all that a glance at Table 2 shows, give 0.4.
LEAST_RHO, LEAST_CELLS = 0.9, 8
#: A number farther from the paper's than this factor is another, whatever its rank.
FACTOR = 2.0
#: Relative rounding of a value that is at the end of its interval.
_ROUNDING = 1e-9
#: Shares of a gap from this on are an explanation.
HALF = 0.5


class Seen(NamedTuple):
    """Our value, and the interval in which another draw of the same traces would put it."""

    #: The value, and the ends of its interval.
    value: float
    low: float = math.nan
    high: float = math.nan


class Curve(NamedTuple):
    """A picture without numbers: its points in words, and the number of it that the text tells."""

    points: str
    value: float
    interval: tuple[float, float]
    #: The number as the text gives it.
    number_text: str


Interval = tuple[float, float]


@dataclass(frozen=True)
class Tolerance:
    """The interval in which our value agrees, of the paper's number and what we see.

    ``says`` is what is printed.
    """

    #: The rule as it is printed.
    says: str
    #: What is compared: a number, an order, a curve.
    kind: str
    #: ``interval(paper_value, seen)`` gives the ends between which our value agrees.
    interval: Callable[[float, Seen], Interval]


def verdict(
    kind: str,
    value: float,
    low: float,
    high: float,
    paper: float = math.nan,
    rho: float | None = None,
    n: int | None = None,
) -> str:
    """One of ``VERDICTS``, of the numbers of a row alone: decided here only.

    A drawn number outside its own interval differs, as no draw of ours would give it; one inside
    an interval so wide that it holds numbers a factor away, and a number on the same data, agree
    in order where their set of cells does.
    """
    if kind == NOTHING:
        return NOT
    if kind == BARE:
        return UNTESTED
    inside = low - _ROUNDING * max(1, abs(low)) <= value <= high + _ROUNDING * max(1, abs(high))
    if kind in (SENTENCE, CURVE):
        return AGREES if inside else FAILS
    close = within_factor(paper, value)
    if kind == DRAWN and not inside:
        return DIFFERS
    if inside and (kind == NUMBER or close):
        return AGREES
    ordered = rho is not None and rho >= LEAST_RHO and (n or 0) >= LEAST_CELLS
    return ORDER if ordered and (kind == DRAWN or close) else DIFFERS


def within_factor(paper: float, value: float) -> bool:
    """Whether two numbers are of one sign and within ``FACTOR``; a printed 0 is any small one."""
    if paper == 0:
        return True  # the interval decides
    return value / paper > 0 and 1 / FACTOR <= value / paper <= FACTOR


def explained(value: float, other: float, low: float, high: float, target: float) -> float | None:
    """The share of the gap to the paper that another reading closes, 0 to 1.

    The gap is to the paper's number, or to the nearer end of the interval of a sentence; a reading
    that overshoots leaves the rest of its own.
    """
    if math.isnan(target):
        gap, remaining_gap = (max(low - each, each - high, 0.0) for each in (value, other))
    else:
        gap, remaining_gap = abs(value - target), abs(other - target)
    if math.isnan(other) or not math.isfinite(gap) or not math.isfinite(remaining_gap) or gap == 0:
        return None
    return max(0.0, 1 - remaining_gap / gap)


def within(relative: float, why: str) -> Tolerance:
    """Within a share of the paper's number."""
    return Tolerance(
        f"within {100 * relative:g}% ({why})",
        NUMBER,
        lambda paper, _: _around(paper, relative * abs(paper)),
    )


def near(distance: float, why: str) -> Tolerance:
    """Within a distance, for shares that may be negative."""
    return Tolerance(
        f"within {distance:g} ({why})", NUMBER, lambda paper, _: _around(paper, distance)
    )


def exactly(why: str = "nothing is drawn or measured") -> Tolerance:
    """The same number."""
    return Tolerance(f"equal ({why})", NUMBER, lambda paper, _: _around(paper, 0.0))


def _around(paper: float, distance: float) -> Interval:
    return paper - distance, paper + distance


def drawn(why: str, slack: float = 0.0) -> Tolerance:
    """Another draw could have given the paper's number, and it is within a factor of ours.

    The interval of our value's ratio to another draw, turned to where our value may be. `slack`:
    half a unit of the last printed digit.
    """

    def interval(paper: float, seen: Seen) -> Interval:
        if not seen.low or not seen.value or math.isnan(seen.low):  # nothing varies, or is known
            return _around(paper, slack)
        low, high = seen.low / seen.value, seen.high / seen.value
        return (paper - slack) / high, (paper + slack) / low

    return Tolerance(f"in the interval of {why}, and within a factor {FACTOR:g}", DRAWN, interval)


def at_most(limit: float, why: str = "the paper's words") -> Tolerance:
    """A sentence that is true up to a limit."""
    return _sentence(f"at most {limit:g} ({why})", -math.inf, limit)


def at_least(limit: float, why: str = "the paper's words") -> Tolerance:
    """A sentence that is true from a limit on."""
    return _sentence(f"at least {limit:g} ({why})", limit, math.inf)


def between(low: float, high: float, why: str) -> Tolerance:
    """A sentence that is true in an interval."""
    return _sentence(f"{low:g} to {high:g} ({why})", low, high)


def _sentence(says: str, low: float, high: float) -> Tolerance:
    return Tolerance(says, SENTENCE, lambda *_: (low, high))


#: A ratio of which the paper says only on which side of 1 it is.
BELOW = at_most(1.0, "only the order is said")
ABOVE = at_least(1.0, "only the order is said")


def told(why: str) -> Tolerance:
    """A curve without numbers of which the text tells something; ``Curve`` has the interval."""
    return Tolerance(why, CURVE, lambda *_: (math.nan, math.nan))


#: A curve without numbers of which the text tells nothing.
UNSAID = Tolerance("no numbers, no words", BARE, lambda *_: (math.nan, math.nan))
