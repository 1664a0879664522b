"""Does the twin of Slurm know this cluster? Its starts beside those of a log."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from cosched.cluster.instance.usage import logged_starts, numbers_of, texts_of
from cosched.cluster.result.groups import nearness, starts_of
from cosched.cluster.result.result import Result
from cosched.errors import InvalidInstance
from cosched.lazy import pd

#: Below this share of starts within five minutes, a what-if says so first.
LEAST_FIT = 0.5


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
        starts). With draws: their means, ``within_300_p05``, ``within_300_p95``, and what two runs
        of the twin have in common (``twins_60``, ``twins_300``: shares of starts, the mean of all
        pairs of draws): what is luck, no simulator can know.

    Raises
    ------
    InvalidInstance
        The log does not say when its jobs started.

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
    table["partition"] = texts_of(instance, "partition")
    began = numbers_of(instance, "running") > 0
    table = table[~np.isnan(recorded) & instance.measured & ~began]
    if not len(table):
        raise InvalidInstance("the log has no start of a job that it saw waiting")
    own = table.groupby("partition") if table.partition.nunique() > 1 else ()
    parts = [("all", table), *own]
    return pd.DataFrame([{"partition": name, **_row(rows, starts)} for name, rows in parts])


def unfit(table: pd.DataFrame) -> str:
    """That the twin does not know the cluster of :func:`fit`'s table, or that most of it is luck,
    so that nobody could; empty where it does."""
    share = table.within_300[0]
    most = table.twins_300[0] if "twins_300" in table else 1.0
    if not share < LEAST_FIT:
        return ""
    near = f"{share:.0%} of the starts are within five minutes of the log's"
    if most < 1:
        near += f", {most:.0%} of those of two runs of the twin are of each other's"
    if share < LEAST_FIT * most:
        return f"the twin does not know this cluster: {near} (a what-if needs {LEAST_FIT:.0%})"
    return f"starts are luck here: {near}; ask what-ifs for means of draws"


def _row(rows: pd.DataFrame, starts: np.ndarray) -> dict[Hashable, Any]:
    """Of some jobs, in one run or in the mean of many."""
    own = starts[:, rows.row.to_numpy()]
    near: Any = nearness(own, rows.recorded.to_numpy())
    found = {"jobs": len(rows), **near.mean().to_dict()}
    if len(starts) == 1:
        return found
    low, high = np.percentile(near.within_300, (5, 95)).tolist()
    found |= {"within_300_p05": low, "within_300_p95": high}
    pairs = [np.abs(own[k + 1 :] - one) for k, one in enumerate(own)][:-1]
    apart = {most: np.concatenate([(p <= most).mean(axis=1) for p in pairs]) for most in (60, 300)}
    return found | {f"twins_{most}": float(share.mean()) for most, share in apart.items()}


def fit_of(result: Result) -> pd.DataFrame | None:
    """What :func:`fit` says of the first run, partitions (also a single one) in the log's order;
    None where the log tells of no start."""
    try:
        found = fit(replace(result, draws=None))
    except InvalidInstance:
        return None
    instance = result.instance
    if "partition" not in instance.known:
        return found
    counted = instance.measured & ~np.isnan(logged_starts(instance))
    names = list(dict.fromkeys(instance.column("partition").astype(str)[counted].tolist()))
    parts = found[1:] if len(found) > 1 else found.assign(partition=names[0])
    parts = parts.sort_values("partition", key=lambda of: of.map(names.index))
    return pd.concat([found[:1], parts], ignore_index=True)


def enough(found: pd.DataFrame) -> bool:
    """Whether what-ifs of the twin are about this cluster."""
    return bool(found.within_300[0] >= LEAST_FIT)


def plain(found: pd.DataFrame | None) -> dict[str, Any] | None:
    """As JSON has it."""
    if found is None:
        return None
    names = {"within_60": "within_minute", "within_300": "within_five"}
    whole, *parts = found.rename(columns=names).to_dict("records")
    keys = (*names.values(), "rank_correlation")
    rows = [{key: row[key] for key in ("partition", "jobs", *keys[:2])} for row in parts]
    return {key: whole[key] for key in keys} | {"partitions": rows}
