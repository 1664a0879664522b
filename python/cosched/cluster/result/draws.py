"""Many schedules that the same jobs can get: the spread that clocks make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cosched.lazy import pd

_QUANTILES = {"p05": 5.0, "median": 50.0, "p95": 95.0}


@dataclass(frozen=True)
class Draws:
    """K schedules of n jobs under K draws of what no user sees.

    Attributes
    ----------
    ids : numpy.ndarray, shape (n,)
    submit : numpy.ndarray, shape (n,)
        Seconds.
    starts : numpy.ndarray, shape (K, n)
        Seconds.
    values : numpy.ndarray, shape (K,)
        Maximum bounded stretch of each schedule.
    measured : numpy.ndarray of bool, shape (n,)
        Jobs that count in waits.
    controller_start, epoch : numpy.ndarray, shape (K,)
        The clocks of each draw.

    Examples
    --------
    >>> jobs = {"submit": [0, 0], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [20, 30], "estimate": [60, 60]}
    >>> draws = cs.cluster.slurm_backfill(cs.cluster.Instance(jobs, nodes=2), draws=5).draws
    >>> draws.starts.shape, list(draws.summary)
    ((5, 2), ['value', 'mean_wait', 'median_wait', 'p95_wait'])
    """

    ids: np.ndarray
    submit: np.ndarray
    starts: np.ndarray
    values: np.ndarray
    measured: np.ndarray
    controller_start: np.ndarray
    epoch: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def jobs(self) -> pd.DataFrame:
        """A row a job in input order: ``id, start_p05, start_median, start_p95, wait_median``."""
        spread = {
            f"start_{name}": np.percentile(self.starts, share, axis=0)
            for name, share in _QUANTILES.items()
        }
        wait = spread["start_median"] - self.submit
        return pd.DataFrame({"id": self.ids, **spread, "wait_median": wait})

    @property
    def measures(self) -> pd.DataFrame:
        """A row a draw: ``controller_start, epoch, value, mean_wait, median_wait, p95_wait``."""
        waits = (self.starts - self.submit)[:, self.measured]
        return pd.DataFrame(
            {
                "controller_start": self.controller_start,
                "epoch": self.epoch,
                "value": self.values,
                "mean_wait": waits.mean(axis=1),
                "median_wait": np.median(waits, axis=1),
                "p95_wait": np.percentile(waits, 95, axis=1),
            }
        )

    @property
    def summary(self) -> dict[str, dict[str, float]]:
        """Of the value and of waits (s): ``p05, median, p95`` over the draws."""
        table = self.measures.drop(columns=["controller_start", "epoch"])
        return {
            str(name): {q: float(np.percentile(column, share)) for q, share in _QUANTILES.items()}
            for name, column in table.items()
        }

    def metrics(self) -> dict[str, float]:
        """:attr:`summary` in one row.

        Returns
        -------
        dict of str to float
            ``draws``, and ``value_p05, value_median, value_p95``, ``mean_wait_p05``, ...

        Examples
        --------
        >>> jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [20]}
        >>> inst = cs.cluster.Instance(jobs, nodes=1)
        >>> cs.cluster.slurm_backfill(inst, draws=5).draws.metrics()["draws"]
        5
        """
        flat: dict[str, float] = {"draws": len(self)}
        for name, spread in self.summary.items():
            flat |= {f"{name}_{quantile}": value for quantile, value in spread.items()}
        return flat
