"""Rejection sampling, for workloads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def sampled_inside(
    draw: Callable[[np.ndarray], np.ndarray],
    count: int,
    inside: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Values with ``inside(values)`` true everywhere: those outside are drawn again and again.

    ``draw(positions)`` gives a value for each of the positions, numbers in 0..count-1.
    """
    values = draw(np.arange(count))
    outside = np.flatnonzero(~inside(values))
    while len(outside):
        values[outside] = draw(outside)
        outside = outside[~inside(values[outside])]
    return values
