"""Tables in which more processors help: time never rises, work never falls."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched import _core
from cosched.core.arrays import real_array


def monotone(times: Any) -> np.ndarray:
    """Repair a table so that time never rises and work q t(q) never falls with processors.

    First t(q+1) <= t(q), by never using more processors than the best so far; then
    t(q+1) is raised to q t(q) / (q+1) where the speed-up is super-linear. O(n p). For workloads
    that are defined like that: nothing here needs it, and an instance keeps what it is given.

    Parameters
    ----------
    times : array_like, shape (n, p)
        Positive seconds; infinity where a task cannot run. Counts below the first on which it
        can stay infinite.

    Returns
    -------
    numpy.ndarray, shape (n, p)

    Raises
    ------
    InvalidInstance
        Empty, ragged or non-numeric table; an entry that is NaN or <= 0; a row without a finite
        entry.

    Examples
    --------
    >>> monotone([[8.0, 3.0, 5.0]]).tolist()
    [[8.0, 4.0, 3.0]]
    """
    return _core.packs.monotone(real_array(times, "times", 2))
