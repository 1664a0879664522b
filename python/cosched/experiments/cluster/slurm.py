"""Slurm's scheduler under other parameters, beside what happened and other policies."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from typing import Any

import numpy as np

from cosched import cluster
from cosched.cluster import Instance
from cosched.errors import InvalidInstance
from cosched.experiments.study import Task, data_path
from cosched.lazy import pd, plt

#: Log -> file below COSCHED_DATA.
LOGS = {
    "HPC2N-2002": "pwa/HPC2N-2002-2.1-cln.swf.gz",
    "CTC-SP2-1996": "pwa/CTC-SP2-1996-3.1-cln.swf.gz",
}
#: Row -> (algorithm, options).
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "as-logged": ("as-logged", {}),
    "EASY requested": ("EASY", {"estimates": "requested", "kill": True}),
    "conservative requested": ("conservative", {"estimates": "requested", "kill": True}),
}
RESOLUTIONS, INTERVALS = (60, 300, 600), (10, 30, 60)
MEASURES = ("value", "mean_wait", "p95_wait")
_DAY = 86400.0
_DAYS, _QUICK_DAYS = 14.0, 2.0
_DRAWS, _QUICK_DRAWS = 20, 4


def plan(quick: bool) -> list[Task]:
    """Logs x (other policies, Slurm's parameters)."""
    days, draws = (_QUICK_DAYS, _QUICK_DRAWS) if quick else (_DAYS, _DRAWS)
    tasks: list[Task] = []
    for log in LOGS:
        tasks += [{"log": log, "policy": name, "days": days} for name in OTHERS]
        tasks += [
            {"log": log, "policy": "slurm-backfill", "days": days, "draws": draws,
             "bf_resolution": resolution, "bf_interval": interval}
            for resolution in RESOLUTIONS for interval in INTERVALS
        ]  # fmt: skip
    return tasks


def run(task: Task) -> dict[str, Any]:
    """One row: a policy, or Slurm under two parameters, always on the same draws of clocks."""
    instance = _instance(task["log"], task["days"])
    begin = time.perf_counter()
    if task["policy"] in OTHERS:
        name, options = OTHERS[task["policy"]]
    else:
        name = task["policy"]
        keys = ("draws", "bf_resolution", "bf_interval")
        options = {**{key: task[key] for key in keys}, "seed": 0}
    try:
        result = cluster.solve(instance, name, **options)
    except InvalidInstance as error:
        return {"jobs": len(instance), "says": str(error)}
    seconds = time.perf_counter() - begin
    metrics = result.metrics()
    bound = result.bound
    row = {"jobs": len(instance), "nodes": instance.nodes, "seconds": seconds, "says": ""}
    row |= {"bound": float("nan") if bound is None else bound.value}
    row |= {key: value for key, value in metrics.items() if key.startswith(MEASURES)}
    row["value"] = result.value
    draws = getattr(result, "draws", None)
    if draws is not None:
        row["waits"] = [round(wait, 3) for wait in draws.measures["mean_wait"].tolist()]
    return row


@lru_cache(maxsize=2)
def _instance(log: str, days: float) -> Instance:
    path = data_path(*LOGS[log].split("/"))
    whole = cluster.from_swf(path, convention="rigid", drop="too-wide")
    first = float(whole.column("submit").min())
    return cluster.from_swf(
        path, convention="rigid", begin=first, until=first + days * _DAY, drop="too-wide"
    )


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A table a log: medians with 5% and 95% quantiles, and what is noise."""
    return {str(log): _table(rows) for log, rows in frame.groupby("log", sort=False)}


def _table(rows: pd.DataFrame) -> pd.DataFrame:
    reference = None
    found = []
    for row in rows.to_dict("records"):
        line = {"policy": row["policy"]}
        line |= {key: _whole(row.get(key)) for key in ("bf_resolution", "bf_interval")}
        line |= {name.replace("_", " "): _spread(row, name) for name in MEASURES}
        line["bound"] = _number(row.get("bound"))
        waits = row.get("waits")
        if isinstance(waits, str):  # as a study keeps lists
            waits = json.loads(waits)
        if isinstance(waits, list):
            own = np.asarray(waits, dtype=float)
            if row["bf_resolution"] == RESOLUTIONS[0] and row["bf_interval"] == INTERVALS[1]:
                reference = own
            line["_waits"] = own
        line["says"] = row.get("says") or ""
        found.append(line)
    for line in found:
        own = line.pop("_waits", None)
        if own is not None and reference is not None and len(own) == len(reference):
            low, high = np.percentile(own - reference, [5, 95])
            change = f"{np.median(own - reference):+.4g} s"
            line["against 60, 30"] = change + (" (noise)" if low <= 0 <= high else "")
    return pd.DataFrame(found).fillna("")


def _whole(value: Any) -> str:
    return "" if value is None or np.isnan(value) else str(int(value))


def _number(value: Any) -> str:
    return "" if value is None or np.isnan(value) else f"{value:.5g}"


def _spread(row: dict[Any, Any], name: str) -> str:
    median = row.get(f"{name}_median")
    if median is None or np.isnan(median):
        return _number(row.get(name))
    return f"{median:.5g} ({row[f'{name}_p05']:.5g} to {row[f'{name}_p95']:.5g})"


def figures(frame: pd.DataFrame) -> dict[str, plt.Figure]:
    """Mean waits of each choice of parameters with their spread, a panel a log."""
    from matplotlib.figure import Figure as New

    logs = list(frame["log"].unique())
    figure = New(figsize=(9, 3.5 * len(logs)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(logs), 1))
    for ax, log in zip(axes, logs, strict=True):
        rows = frame[(frame["log"] == log) & (frame["policy"] == "slurm-backfill")]
        for resolution, own in rows.groupby("bf_resolution"):
            middle = own["mean_wait_median"]
            ax.errorbar(
                own["bf_interval"], middle, capsize=4, marker="o",
                yerr=[middle - own["mean_wait_p05"], own["mean_wait_p95"] - middle],
                label=f"bf_resolution {int(resolution)}",
            )  # fmt: skip
        ax.set_title(log)
        ax.set_xlabel("bf_interval (s)")
        ax.set_ylabel("mean wait (s)")
        ax.legend()
    return {"waits": figure}
