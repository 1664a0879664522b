"""Sums over time of what intervals hold."""

from __future__ import annotations

import numpy as np

#: So much more than there is, for so much of the time, is no rounding of clocks.
MOST, OFTEN = 1.01, 0.01


def levels(begin: np.ndarray, end: np.ndarray, amount: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum over time of `amount` on [begin, end): times, and the level from each time on."""
    times = np.concatenate([begin, end])
    change = np.concatenate([amount, -amount])
    instants, place = np.unique(times, return_inverse=True)
    level = np.cumsum(np.bincount(place.reshape(-1), weights=change))
    return instants, np.maximum(level, 0.0)  # rounding may leave -1e-12


def means(times: np.ndarray, level: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Mean of the level in each slice of time between `edges`."""
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(times))])
    return np.diff(np.interp(edges, times, area)) / np.diff(edges)


def share_above(times: np.ndarray, level: np.ndarray, most: float) -> float:
    """Share of the time from the first to the last of `times` with a level above `most`."""
    span = times[-1] - times[0]
    return float(np.diff(times)[level[:-1] > most].sum() / span) if span > 0 else 0.0
