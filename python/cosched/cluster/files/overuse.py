"""A log that uses more than the machine has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cosched.core.arrays import MOST, OFTEN, levels, share_above
from cosched.lazy import pd


def overuse(jobs: pd.DataFrame, nodes: int, cause: Callable[[], str]) -> list[str]:
    """A line where jobs hold 1% more nodes (cores) than there are for more than 1% of the time."""
    if "wait" not in jobs:
        return []
    start = (jobs["submit"] + jobs["wait"]).to_numpy()
    known = ~np.isnan(start)
    if not known.any():
        return []
    end = start + jobs["runtime"].to_numpy()
    held = (jobs["tasks"] * jobs["cpu"]).to_numpy(dtype=float)
    times, level = levels(start[known], end[known], held[known])
    if share_above(times, level, MOST * nodes) <= OFTEN:
        return []
    mean = float((level[:-1] * np.diff(times)).sum() / (times[-1] - times[0])) / nodes
    return [
        f"  the log uses more than the machine has, {mean:.0%} of it on average and up to "
        f"{level.max() / nodes:.0%}: likely {cause()}"
    ]
