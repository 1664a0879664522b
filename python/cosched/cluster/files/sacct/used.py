"""What jobs used: memory and processor time of their steps, GPUs of jobstats' summaries."""

from __future__ import annotations

import base64
import gzip
import json
from functools import partial
from typing import Any

import numpy as np

from cosched.cluster.files.sacct.holds import SIZE
from cosched.cluster.files.sacct.texts import each
from cosched.cluster.files.sacct.times import durations, times_of
from cosched.lazy import pd

#: GB (2^30 bytes) of the units of what was used; without one: bytes.
_GB = {unit: 2.0 ** (10 * power - 30) for power, unit in enumerate(["", *"KMGTPE"])}
#: Steps that are there as long as their job is.
_WHOLE = r"\.(?:batch|extern|interactive)$"
_SUMMARY = "JS1:"


def used(
    path: Any, rows: pd.DataFrame, steps: pd.DataFrame, cpus: np.ndarray, nodes: np.ndarray,
    runtime: np.ndarray, timezone: str | None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """``used_memory_gb, cpu_seconds, cpu_efficiency, gpu_efficiency`` of each job, where a column
    says it; nan where its cell does not. A zero says that nobody looked."""
    if not len(rows):
        return {}
    job = _job_of(rows, steps)
    steps, job = steps[job >= 0], job[job >= 0]
    found = {}
    if len(steps) and {"MaxRSS", "TRESUsageInTot", "TRESUsageInMax"} & set(steps):
        found["used_memory_gb"] = _memory(path, steps, job, nodes, timezone)
    if "TotalCPU" in rows:
        own = durations(rows["TotalCPU"]).to_numpy()
        of_steps = np.bincount(job, np.nan_to_num(durations(steps["TotalCPU"])), len(rows))
        seconds = _known(np.where(own > 0, own, of_steps))
        found["cpu_seconds"] = seconds
        found["cpu_efficiency"] = np.minimum(seconds / _known(cpus * runtime), 1.0)
    if "AdminComment" in rows:
        found["gpu_efficiency"] = each(rows["AdminComment"], lambda t: t.map(_of_summary))
    return {name: column for name, column in found.items() if not np.isnan(column).all()}


def _known(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, np.nan)


def _job_of(rows: pd.DataFrame, steps: pd.DataFrame) -> np.ndarray:
    """The row of each step's job, else -1: of the runs of a requeued job that above the step."""
    if not len(steps):
        return np.full(len(steps), -1)
    names, ids = steps["JobID"].str.partition(".")[0].to_numpy(), rows["JobID"].to_numpy()
    above = np.maximum(np.searchsorted(rows["line"], steps["line"]) - 1, 0)
    last = pd.Series(np.arange(len(ids)), index=ids)
    last = last[~last.index.duplicated(keep="last")]
    return np.where(ids[above] == names, above, last.index.get_indexer(pd.Index(names)))


def _memory(
    path: Any, steps: pd.DataFrame, job: np.ndarray, nodes: np.ndarray, timezone: str | None
) -> np.ndarray:
    """Peak GB of each job, as it is asked for: equal parts on each node. The steps that run at one
    time count together."""
    largest = _gigabytes(steps, "MaxRSS", "TRESUsageInMax")
    tasks = each(steps["NTasks"], _number) if "NTasks" in steps else np.ones(len(steps))
    total = _gigabytes(steps, "TRESUsageInTot")
    total = np.where(total > 0, total, largest * np.fmax(tasks, 1.0))
    # Of a job on several nodes one may have the largest task: all parts are as large as its.
    on = np.fmax(nodes, 1.0)[job]
    peak = np.where(on > 1, np.fmax(total, on * np.nan_to_num(largest)), total)
    said = peak > 0
    steps, job, peak = steps[said], job[said], peak[said]
    whole = steps["JobID"].str.contains(_WHOLE).to_numpy()
    begin, end = np.full((2, len(job)), [[-np.inf], [np.inf]])
    several = ~whole & (np.bincount(job[~whole], minlength=len(nodes))[job] > 1)
    if several.any() and {"Start", "Elapsed"} <= set(steps):
        some = steps[several]
        start = times_of(path, some, ("Start",), timezone)[0][0]
        length = durations(some["Elapsed"])
        known = (start.notna() & length.notna()).to_numpy()
        begin[several] = np.where(known, start, -np.inf)
        # Of a step that was over within its second the peak counts, too.
        end[several] = np.where(known, start + np.fmax(length, 0.5), np.inf)
    return _known(_at_once(job, begin, end, peak, len(nodes)))


def _at_once(
    job: np.ndarray, begin: np.ndarray, end: np.ndarray, amount: np.ndarray, jobs: int
) -> np.ndarray:
    """The largest sum of what is there at one time, by job; at one instant ends come first."""
    who, change = np.concatenate([job, job]), np.concatenate([amount, -amount])
    order = np.lexsort((change, np.concatenate([begin, end]), who))
    level = np.cumsum(change[order])  # back at 0 after each job
    found = np.zeros(jobs)
    np.maximum.at(found, who[order], level)
    return found


def _gigabytes(steps: pd.DataFrame, *names: str) -> np.ndarray:
    """Of the first of these columns that says it, nan: none does."""
    found = np.full(len(steps), np.nan)
    for name in (name for name in names if name in steps):
        begin = r"(?:^|,)mem=" if name.startswith("TRES") else "^"
        size = each(steps[name], partial(_size, begin))
        found = np.where(found > 0, found, size)
    return found


def _size(begin: str, texts: pd.Series) -> np.ndarray:
    parts = texts.str.extract(f"{begin}{SIZE}(?:,|$)")
    return _number(parts[0]) * parts[1].map(_GB).to_numpy(dtype=float)


def _number(texts: pd.Series) -> np.ndarray:
    found = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    return np.where(found < np.inf, found, np.nan)


def _of_summary(text: str) -> float:
    """Mean use of a job's GPUs, 0..1, of a summary of jobstats: gzip in base64."""
    if not text.startswith(_SUMMARY):
        return np.nan
    try:
        nodes = json.loads(gzip.decompress(base64.b64decode(text[len(_SUMMARY) :])))["nodes"]
        percent = [p for node in nodes.values() for p in node["gpu_utilization"].values()]
        return float(np.clip(np.mean(percent) / 100, 0.0, 1.0)) if percent else np.nan
    except (ValueError, KeyError, AttributeError, TypeError, OSError, EOFError):
        return np.nan  # "JS1:Short", cut off by the width of a column, or without GPUs
