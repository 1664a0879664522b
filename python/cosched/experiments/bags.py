"""Table 1 and figure 3 of Li et al. 2016, and the sweep over gamma on any bag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from cosched.bags import FAMILY, Instance
from cosched.core.compare import compare_rows
from cosched.workloads import bags_random

if TYPE_CHECKING:
    import pandas as pd

#: gamma = price / least cost of energy, in the paper's table 1.
GAMMAS = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
#: q of the paper's figure 3: 150 q tasks.
QS = tuple(range(1, 26))
_NAMES = ("tms", "ttb")


def gamma_sweep(
    instance: Instance,
    gammas: Iterable[float] = GAMMAS,
    names: Sequence[str] = ("tms", "ttb", "ttb-exact", "ttb-best"),
    *,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """Every algorithm at every price.

    Parameters
    ----------
    instance : Instance
        Its own price is not used.
    gammas : iterable of float
        Prices as multiples of the least cost of energy.
    names : sequence of str
        Algorithms.
    time_limit : float, optional
        Seconds for each.

    Returns
    -------
    pandas.DataFrame
        A row a (gamma, algorithm): ``value`` (profit rate), ``bound``, ``gap``, ``makespan``,
        ``energy`` and the other columns of ``compare``.
    """
    import pandas as pd

    rows = [
        {"gamma": gamma, **row}
        for gamma in gammas
        for row, _ in compare_rows(
            FAMILY, instance.with_price(gamma=gamma), names, time_limit=time_limit
        )
    ]
    return pd.DataFrame(rows)


def table_1(
    path: str | PathLike[str],
    gammas: Iterable[float] = GAMMAS,
    names: Sequence[str] = _NAMES,
    *,
    counts: int | Sequence[int] = 12_000,
    machines: int | Sequence[int] = 40,
    missing: str = "drop",
) -> pd.DataFrame:
    """The paper's table 1: profit rate of each algorithm against gamma on the i7-3770K benchmark.

    Five programs on nine machine types. The paper does not say how the 12,000 tasks are
    divided, nor how much work a task is where the benchmark reports a rate, so its absolute
    figures cannot be repeated: here the types have equal numbers, and the work is that of the
    data of Tarplee et al. What can be compared is one algorithm with the other.

    Parameters
    ----------
    path : path
        The table that openbenchmarking.org exports (1204229-SU-CPUMONITO81).
    gammas : iterable of float
    names : sequence of str
        Algorithms, a column each.
    counts, machines, missing
        As in ``Instance.read``.

    Returns
    -------
    pandas.DataFrame
        Index gamma; a column an algorithm, and ``bound``.
    """
    instance = Instance.read(path, gamma=1.0, counts=counts, machines=machines, missing=missing)
    return _wide(gamma_sweep(instance, gammas, names), "gamma")


def figure_3(
    qs: Iterable[int] = QS,
    names: Sequence[str] = _NAMES,
    *,
    gamma: float = 1.2,
    seed: int = 0,
) -> pd.DataFrame:
    """The paper's figure 3: random times and powers, 150 q tasks.

    Parameters
    ----------
    qs : iterable of int
    names : sequence of str
        Algorithms, a column each.
    gamma : float
    seed : int
        The q-th experiment draws with seed + q.

    Returns
    -------
    pandas.DataFrame
        Index q; a column an algorithm, and ``bound``.
    """
    import pandas as pd

    rows = [
        {"q": q, **row}
        for q in qs
        for row, _ in compare_rows(
            FAMILY, bags_random(q, gamma=gamma, seed=seed + q), names, time_limit=None
        )
    ]
    return _wide(pd.DataFrame(rows), "q")


def advantage(frame: pd.DataFrame, of: str = "ttb", over: str = "tms") -> float:
    """Mean of value(of) / value(over) - 1 over the rows where both earn a profit."""
    both = frame[(frame[of] > 0) & (frame[over] > 0)]
    return float((both[of] / both[over] - 1).mean()) if len(both) else np.nan


def _wide(frame: pd.DataFrame, index: str) -> pd.DataFrame:
    """A column an algorithm, and the bound."""
    values = frame.pivot(index=index, columns="algorithm", values="value")
    return values[list(dict.fromkeys(frame.algorithm))].assign(
        bound=frame.groupby(index)["bound"].first()
    )
