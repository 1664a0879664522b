"""Rejection sampling, for workloads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cosched.errors import InvalidInstance

#: Draws of a value before its range counts as out of reach.
_MOST_ROUNDS = 10_000


def sampled_inside(
    draw: Callable[[np.ndarray], np.ndarray],
    count: int,
    inside: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Values with ``inside(values)`` true everywhere: those outside are drawn again and again.

    ``draw(positions)`` gives a value for each of the positions, numbers in 0..count-1.  A range
    that the draws do not reach is refused.
    """
    values = draw(np.arange(count))
    outside = np.flatnonzero(~inside(values))
    for _ in range(_MOST_ROUNDS):
        if not len(outside):
            return values
        values[outside] = draw(outside)
        outside = outside[~inside(values[outside])]
    raise InvalidInstance(
        f"{_MOST_ROUNDS} random draws like {values[outside[0]]:.3g} are all outside the range that "
        "is asked for: expected means and deviations that reach it"
    )
