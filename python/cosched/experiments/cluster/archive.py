"""Archive logs: what happened beside what policies would have given."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from cosched import cluster
from cosched.cluster import Instance
from cosched.errors import InvalidInstance
from cosched.experiments.study import Task, data_path
from cosched.lazy import pd

#: Log -> file below COSCHED_DATA.
LOGS = {
    "HPC2N-2002": "pwa/HPC2N-2002-2.1-cln.swf.gz",
    "CTC-SP2-1996": "pwa/CTC-SP2-1996-3.1-cln.swf.gz",
    "NASA-iPSC-1993": "pwa/NASA-iPSC-1993-3.1-cln.swf.gz",
    "LLNL-Atlas-2006": "pwa/LLNL-Atlas-2006-2.1-cln.swf.gz",
}
#: Log -> memory of a node, where no known source has it: the logs do not say what jobs need
#: either, so that it changes nothing.
_MEMORY = {"CTC-SP2-1996": "128MB", "NASA-iPSC-1993": "8MB"}
#: Row of the tables -> (algorithm, options, how jobs become tasks).
POLICIES: dict[str, tuple[str, dict[str, Any], str]] = {
    "as-logged": ("as-logged", {}, "rigid"),
    "FCFS": ("FCFS", {}, "rigid"),
    "EASY": ("EASY", {"estimates": "perfect"}, "rigid"),
    "EASY requested": ("EASY", {"estimates": "requested"}, "rigid"),
    "conservative": ("conservative", {"estimates": "perfect"}, "rigid"),
    "GreedyPM */per/opt=min/minvt=600": ("GreedyPM */per/opt=min/minvt=600", {}, "dfrs"),
    "GreedyPM *": ("GreedyPM *", {}, "dfrs"),
}
_DAY = 86400.0
#: What is told of a policy.
MEASURES = (
    "value", "bound", "gap", "mean_wait", "median_wait", "p95_wait", "mean_bounded_slowdown",
    "utilisation", "overcommitted_hours", "median", "p95", "within_minute", "rank_correlation",
)  # fmt: skip


def plan(quick: bool) -> list[Task]:
    """Logs x policies; DFRS policies on their first weeks, all others on the whole log."""
    days = {"dfrs": 56.0}  # all of a log, where the policy is another
    return [
        {"log": log, "policy": policy, "days": 7.0 if quick else days.get(POLICIES[policy][2])}
        for log in LOGS
        for policy in POLICIES
    ]


def run(task: Task) -> dict[str, Any]:
    """One policy on one log; a log that does not say enough for it is a row without numbers."""
    name, options, convention = POLICIES[task["policy"]]
    instance = _instance(task["log"], convention, task["days"])
    begin = time.perf_counter()
    try:
        result = cluster.solve(instance, name, **options)
    except InvalidInstance as error:
        return {"jobs": len(instance), "says": str(error)}
    seconds = time.perf_counter() - begin
    metrics = result.metrics()
    row = {"jobs": len(instance), "nodes": instance.nodes, "value": result.value, "says": ""}
    bound = result.bound
    assert bound is not None
    row |= {"bound": bound.value, "gap": result.gap, "seconds": seconds}
    row |= {key: metrics[key] for key in MEASURES if key in metrics}
    try:
        return row | result.calibration()  # type: ignore[attr-defined]
    except InvalidInstance:
        return row


@lru_cache(maxsize=2)
def _instance(log: str, convention: str, days: float | None) -> Instance:
    path = data_path(*LOGS[log].split("/"))
    options: dict[str, Any] = {"convention": convention, "drop": "too-wide"}
    if convention == "dfrs":
        options["memory_per_node"] = _MEMORY.get(log)
    whole_log = cluster.from_swf(path, **options)
    if days is None:
        return whole_log
    first = float(whole_log.column("submit").min())
    return cluster.from_swf(path, begin=first, until=first + days * _DAY, **options)


def tables(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A table a log."""
    columns = ["policy", "days", "jobs", *(name for name in MEASURES if name in frame), "says"]
    tables_by_name = {}
    for log, rows in frame.groupby("log", sort=False):
        table = rows.reindex(columns=columns).rename(
            columns={"median": "calibration median", "p95": "calibration p95"}
        )
        tables_by_name[str(log)] = table.reset_index(drop=True)
    return tables_by_name
