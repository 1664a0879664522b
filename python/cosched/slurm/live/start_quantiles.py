"""Quantiles of simulated start times, and their calibration by past errors."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Levels of the quantiles (percent): the ends of the 90% and 50% intervals, and the median.
LEVELS = (5, 25, 50, 75, 95)
#: An interval is widened as if it were at least so long (s).
MIN_INTERVAL_LENGTH = 60.0


def start_quantiles(starts: np.ndarray) -> dict[str, float]:
    """Return the columns p05 to p95 of one job's starts in all futures.

    Order statistics number i and j of n draws hold the next draw with probability (j - i) / (n + 1)
    (Wilks 1941): ranks are levels of n + 1 draws, rounded outwards.

    Parameters
    ----------
    starts : numpy.ndarray, shape (futures,)
        Seconds; infinite: the job never starts.
    """
    ordered = np.sort(starts)
    count = len(ordered)
    columns = {}
    for level in LEVELS:
        scaled_rank = level * (count + 1)  # percent
        if level < 50:
            rank = scaled_rank // 100
        elif level > 50:
            rank = math.ceil(scaled_rank / 100)
        else:
            rank = math.ceil(count / 2)
        columns[f"p{level:02d}"] = float(ordered[min(max(rank, 1), count) - 1])
    return columns


def widened(row: Mapping[str, Any], widths: float) -> dict[str, Any]:
    """Return a row with its 90% interval longer by `widths` times its length at both ends.

    The interval stays above 0, and around the 50% interval; where it is infinite, it stays.
    """
    if not math.isfinite(row["p95"]):
        return dict(row)
    extension = widths * max(row["p95"] - row["p05"], MIN_INTERVAL_LENGTH)
    return {
        **row,
        "p05": min(max(row["p05"] - extension, 0.0), row["p25"]),
        "p95": max(row["p95"] + extension, row["p75"]),
    }
