"""A generated graph on the machine that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
