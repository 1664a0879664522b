"""Tables in which more processors help: time never rises, work never falls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import real_array


def monotone(times: Any) -> np.ndarray:
    """Repair a table so that time never rises and work q t(q) never falls with processors.

    First t(q+1) <= t(q), by never using more processors than the best so far; then
    t(q+1) is raised to q t(q) / (q+1) where the speed-up is super-linear. O(n p).

    Parameters
    ----------
    times : array_like, shape (n, p)
        Positive seconds.

    Returns
    -------
    numpy.ndarray, shape (n, p)

    Raises
    ------
    InvalidInstance
        Empty, ragged or non-numeric table; an entry that is NaN, infinite or <= 0.

    Examples
    --------
    >>> monotone([[8.0, 3.0, 5.0]]).tolist()
    [[8.0, 4.0, 3.0]]
    """
    return _core.packs.monotone(real_array(times, "times", 2))


def repaired(times: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    repaired = monotone(times)
    change = repaired / times - 1
    changed = np.abs(change) > 1e-9
    if not changed.any():
        return repaired, []
    row, column = map(int, np.unravel_index(np.argmax(np.abs(change)), change.shape))
    return repaired, [
        f"the monotone repair changed {int(changed.sum())} of {times.size} times, at most by "
        f"{100 * change[row, column]:+.1f}% ({names[row]} on {column + 1})"
    ]
