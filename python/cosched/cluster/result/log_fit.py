"""How near the starts of a result are to those of the log."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from cosched.cluster.instance.usage import logged_starts, numbers_of, texts_of
from cosched.cluster.result.compare_waits import compare_waits, mean_of
from cosched.cluster.result.groups import nearness, starts_of
from cosched.cluster.result.result import Result
from cosched.errors import InvalidInstance
from cosched.lazy import pd


def fit(result: Result) -> pd.DataFrame:
    """How many of the result's starts are near the log's own, of all jobs and by partition.

    Parameters
    ----------
    result : Result
        Of ``slurm-backfill``, on a log that has waits.

    Returns
    -------
    pandas.DataFrame
        Rows ``all`` and each partition; ``jobs``, ``within_60`` and ``within_300`` (shares of
        starts that are off by a minute or five at most), ``rank_correlation`` (Spearman's, of the
        starts), ``waiting_jobs`` (jobs that wait more than a minute in the log or in the result)
        and ``waiting_within_300`` (the share of these that start within five minutes of the log).
        With draws: their means, ``within_300_p05``, ``within_300_p95``, and what two runs of the
        simulator have in common (``twins_60``, ``twins_300``: shares of starts, the mean of all
        pairs of draws): no simulator can agree more with a log.

    Raises
    ------
    InvalidInstance
        The log does not say when its jobs started.

    See Also
    --------
    judge_log : Whether that is enough.

    Examples
    --------
    >>> jobs = {"submit": [0, 0, 0], "tasks": [1, 2, 1], "cpu": [1, 1, 1],
    ...         "memory": [1, 1, 1], "runtime": [60.0, 60.0, 30.0], "wait": [0.0, 62.0, 430.0]}
    >>> result = cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS")
    >>> fit(result).within_300.round(2).tolist()
    [0.67]
    """
    if not isinstance(result, Result):
        raise InvalidInstance(f"expected a Result of cluster, got {type(result).__name__}")
    instance = result.instance
    recorded = logged_starts(instance)
    starts = starts_of(result)
    table = pd.DataFrame({"row": np.arange(len(recorded)), "recorded": recorded})
    table["eligible"] = instance.column("eligible")
    table["partition"] = texts_of(instance, "partition")
    table = table[is_judged(result)]
    if not len(table):
        raise InvalidInstance("the log has no start of a job that it saw waiting")
    by_partition = table.groupby("partition") if table.partition.nunique() > 1 else ()
    parts = [("all", table), *by_partition]
    return pd.DataFrame([{"partition": name, **_row(rows, starts)} for name, rows in parts])


def is_judged(result: Result) -> np.ndarray:
    """Which jobs are compared with the log: those that are measured, whose starts it tells, and
    that did not run at the begin; shape (n,)."""
    instance = result.instance
    ran_before = numbers_of(instance, "running") > 0
    return ~np.isnan(logged_starts(instance)) & instance.measured & ~ran_before


def _row(rows: pd.DataFrame, starts: np.ndarray) -> dict[Hashable, Any]:
    """Return the row of some jobs, in one run or in the mean of many."""
    runs = starts[:, rows.row.to_numpy()]
    recorded, eligible = rows.recorded.to_numpy(), rows.eligible.to_numpy()
    near: Any = nearness(runs, recorded)
    waiting = mean_of([compare_waits(recorded - eligible, run - eligible) for run in runs])
    row = {
        "jobs": len(rows),
        **near.mean().to_dict(),
        "waiting_jobs": waiting.jobs,
        "waiting_within_300": waiting.near_300,
    }
    if len(starts) == 1:
        return row
    low, high = np.percentile(near.within_300, (5, 95)).tolist()
    row |= {"within_300_p05": low, "within_300_p95": high}
    pairs = [np.abs(runs[k + 1 :] - run) for k, run in enumerate(runs)][:-1]
    differences = {
        seconds: np.concatenate([(pair <= seconds).mean(axis=1) for pair in pairs])
        for seconds in (60, 300)
    }
    return row | {f"twins_{seconds}": float(share.mean()) for seconds, share in differences.items()}


def fit_by_partition(result: Result) -> pd.DataFrame:
    """What :func:`fit` says, partitions (also a single one) in the log's order."""
    table = fit(result)
    instance = result.instance
    if "partition" not in instance.column_names:
        return table
    names = list(
        dict.fromkeys(instance.column("partition").astype(str)[is_judged(result)].tolist())
    )
    parts = table[1:] if len(table) > 1 else table.assign(partition=names[0])
    parts = parts.sort_values("partition", key=lambda column: column.map(names.index))
    return pd.concat([table[:1], parts], ignore_index=True)


def to_records(table: pd.DataFrame | None) -> dict[str, Any] | None:
    """As JSON has it."""
    if table is None:
        return None
    names = {"within_60": "within_minute", "within_300": "within_five"}
    total, *parts = table.rename(columns=names).to_dict("records")
    keys = (*names.values(), "rank_correlation")
    columns = ("partition", "jobs", *names.values(), "waiting_jobs", "waiting_within_300")
    rows = [{key: row[key] for key in columns} for row in parts]
    return {key: total[key] for key in keys} | {"partitions": rows}
