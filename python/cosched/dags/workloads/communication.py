"""How much moves along the edges of generated graphs."""

from __future__ import annotations

import numpy as np

from cosched.core.arrays import nonnegative, positive

#: Bytes that a task of DAGGEN makes: uniform between these.
DAGGEN = (2048.0, 11264.0)


def data_of_tasks(
    random: np.random.Generator,
    times: np.ndarray,
    edges: np.ndarray,
    ccr: float | None,
    bandwidth: float,
) -> np.ndarray | None:
    """(e,) bytes: each task makes one datum of random size, and sends it to all its successors.

    Scaled so that data / bandwidth is on average (over edges) `ccr` times the mean time of a task
    (over the types that can run it, then over tasks). None where `ccr` is None.
    """
    if ccr is None:
        return None
    made = random.uniform(*DAGGEN, len(times))
    return scaled(made[edges[:, 0]], times, ccr, bandwidth)


def scaled(weights: np.ndarray, times: np.ndarray, ccr: float, bandwidth: float) -> np.ndarray:
    """Weights of edges as bytes of the given ratio of communication to computation."""
    ratio, rate = nonnegative(ccr, "ccr"), positive(bandwidth, "bandwidth")
    if not len(weights):
        return weights
    finite = np.isfinite(times)
    means = np.where(finite, times, 0).sum(axis=1) / finite.sum(axis=1)
    return weights * (ratio * means.mean() * rate / weights.mean())
