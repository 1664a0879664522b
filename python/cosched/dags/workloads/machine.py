"""What generated graphs run on, and the data that moves along their edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosched.core.arrays import nonnegative, positive
from cosched.dags.instance import Instance

Units = Sequence[int] | None


def on_machine(
    times: np.ndarray,
    edges: np.ndarray,
    units: Units,
    *,
    names: Sequence[str] | None = None,
    kernels: Sequence[str] | None = None,
    data: np.ndarray | None = None,
    **links: Any,
) -> Instance:
    """By default 16 CPUs and 4 units of each further type; `links` where data moves."""
    counts = (16,) + (4,) * (times.shape[1] - 1) if units is None else units
    moving = {} if data is None else {"data": data, **links}
    return Instance(times, edges, counts, names, kernels=kernels, **moving)


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
