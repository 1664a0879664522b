"""Worst cases of the maximum stretch without knowledge of run times (paper 3, Section 3.2)."""

from __future__ import annotations

import numpy as np

from cosched.core.arrays import integer, positive, real
from cosched.errors import InvalidInstance
from cosched.lazy import pd

_LONGEST = 1e200  # s: what is multiplied stays finite


def unknown_times_worst(
    jobs: int = 8, factor: float = 1000.0, unit: float = 100.0, *, seed: int | None = None
) -> pd.DataFrame:
    """Jobs of lengths 1, f, f^2, ... at once, on one node (Theorem 3).

    Whatever does not know run times can be made to serve the shortest as late as EquiPartition
    does, at n times its length; by increasing length the stretch is at most f / (f - 1).

    Parameters
    ----------
    jobs : int
        2..64.
    factor : float
        f, > 1.
    unit : float
        Length of the shortest (s), at least the threshold of the bounded stretch.

    Returns
    -------
    DataFrame
        Columns ``submit, tasks, cpu, memory, runtime``.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Theorem 3.

    Examples
    --------
    >>> unknown_times_worst(3, factor=10.0).runtime.tolist()
    [100.0, 1000.0, 10000.0]
    """
    count = integer(jobs, "jobs", 2, 64)
    ratio = 1 + positive(real(factor, "factor") - 1, "factor - 1")
    if (count - 1) * np.log10(ratio) > 100:
        raise InvalidInstance(
            f"factor = {factor:g}: expected a longest of {count} jobs of at most 1e100 units"
        )
    return _table(np.zeros(count), ratio ** np.arange(count), positive(unit, "unit"))


def equal_shares_worst(
    jobs: int = 8, unit: float = 100.0, *, seed: int | None = None
) -> pd.DataFrame:
    """Jobs that EquiPartition ends all at once, on one node (Theorem 4).

    Jobs 1 and 2 are n - 1 long and come at 0; job i >= 3 is (n - 1) / (i - 1) long and comes as
    many after job i - 1 as that is long. EquiPartition ends all n after the last has come, which is
    1 long; one after the other, only the first waits.

    Parameters
    ----------
    jobs : int
        n, 2..100000.
    unit : float
        Length of the shortest (s), at least the threshold of the bounded stretch.

    Returns
    -------
    DataFrame
        Columns ``submit, tasks, cpu, memory, runtime``.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Theorem 4.

    Examples
    --------
    >>> equal_shares_worst(3, unit=10.0)[["submit", "runtime"]].to_numpy().tolist()
    [[0.0, 20.0], [0.0, 20.0], [20.0, 10.0]]
    """
    count = integer(jobs, "jobs", 2, 100_000)
    length = (count - 1) / np.maximum(np.arange(count), 1)
    submit = np.concatenate([[0.0], np.cumsum(length[1:]) - length[1:]])
    return _table(submit, length, positive(unit, "unit"))


def _table(submit: np.ndarray, length: np.ndarray, unit: float) -> pd.DataFrame:
    if unit > _LONGEST:
        raise InvalidInstance(f"unit = {unit:g}: expected at most {_LONGEST:g} s")
    return pd.DataFrame(
        {
            "submit": submit * unit,
            "tasks": 1,
            "cpu": 1.0,
            "memory": 1 / (2 * len(submit)),
            "runtime": length * unit,
        }
    )
