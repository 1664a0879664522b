"""Logs as jobs of the cluster family: conversions, week segments, offered load (paper 3)."""

from __future__ import annotations

from os import PathLike

import numpy as np
import pandas as pd

from cosched.core.arrays import integer, real, real_array
from cosched.errors import InvalidInstance
from cosched.workloads.swf import read_swf

WEEK = 604800.0
_NEEDED = (
    "job",
    "submit",
    "run",
    "requested_time",
    "used_memory",
    "requested_memory",
    "processors",
)


def dfrs_jobs(
    table: pd.DataFrame, memory_kb: float = 2097152, *, least_memory: float = 0.1
) -> pd.DataFrame:
    """Jobs of a log on dual-processor nodes, as paper 3 reads HPC2N.

    The memory need of a processor is max(requested, used) / `memory_kb`, at least
    `least_memory` (also where the log knows neither). A job with an even number of processors
    and a need below 50% becomes processors / 2 tasks of two processors each: CPU need 100%,
    memory need doubled. Any other job becomes a task a processor, CPU need 50%.

    A need above 100% cannot be met by any node: it is cut to 100%. How often that and the
    default for unknown memory were applied is in ``jobs.attrs["repaired"]`` (reason -> count).

    Parameters
    ----------
    table : DataFrame
        From :func:`read_swf`.
    memory_kb : float
        Memory of a node, > 0. The default is the 2 GB of HPC2N.
    least_memory : float
        Least need, in (0, 1].

    Returns
    -------
    DataFrame
        Columns ``job, submit, tasks, cpu, memory, runtime, estimate`` in the order of `table`;
        ``estimate`` is the requested time, NaN where it is unknown (or not positive).

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 5 (real-world workload).

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "job": [1.0, 2.0], "submit": [0.0, 5.0], "run": [60.0, 70.0],
    ...     "requested_time": [100.0, np.nan], "used_memory": [419430.4, np.nan],
    ...     "requested_memory": np.nan, "processors": [4, 3]})
    >>> dfrs_jobs(table)[["tasks", "cpu", "memory"]].to_numpy().tolist()
    [[2.0, 1.0, 0.4], [3.0, 0.5, 0.1]]
    """
    _need(table, _NEEDED, "table")
    node = real(memory_kb, "memory_kb")
    if not 0 < node < np.inf:
        raise InvalidInstance(f"memory_kb = {node:g}: expected a positive number of KB")
    least = real(least_memory, "least_memory")
    if not 0 < least <= 1:
        raise InvalidInstance(f"least_memory = {least:g}: expected a fraction in (0, 1]")

    known = table[["requested_memory", "used_memory"]].max(axis=1).to_numpy(dtype=float) / node
    unknown = np.isnan(known)
    share = np.clip(np.where(unknown, least, known), least, 1.0)
    processors = table["processors"].to_numpy(dtype=np.int64)
    paired = (processors % 2 == 0) & (share < 0.5)
    jobs = _jobs(
        table,
        np.where(paired, processors // 2, processors),
        np.where(paired, 1.0, 0.5),
        np.where(paired, 2 * share, share),
    )
    jobs.attrs["repaired"] = {
        f"memory unknown: {least:g} taken": int(unknown.sum()),
        "memory above that of a node: 1 taken": int((known > 1).sum()),
    }
    return jobs


def rigid_jobs(table: pd.DataFrame) -> pd.DataFrame:
    """Jobs of a log on single-processor nodes: a task a processor, CPU and memory need 100%.

    Parameters and columns as :func:`dfrs_jobs`; a node is then a processor.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "job": [1.0], "submit": [0.0], "run": [60.0], "requested_time": [100.0],
    ...     "processors": [4]})
    >>> rigid_jobs(table).iloc[0].tolist()
    [1.0, 0.0, 4.0, 1.0, 1.0, 60.0, 100.0]
    """
    _need(table, ("job", "submit", "run", "requested_time", "processors"), "table")
    return _jobs(table, table["processors"].to_numpy(dtype=np.int64), 1.0, 1.0)


def hpc2n_weeks(path: str | PathLike[str], memory_kb: float = 2097152) -> list[pd.DataFrame]:
    """The week-long segments of a log as DFRS jobs; HPC2N 2002-2006 has 182.

    Week w holds the jobs with floor(submit / 604800) = w; their ``submit`` counts from the
    start of that week (not from its first job). A week without a job is an empty table, so
    that the position in the list is the number of the week.

    Parameters
    ----------
    path : str or path-like
        The log (``cosched fetch HPC2N-2002``).
    memory_kb : float
        As :func:`dfrs_jobs`.

    Returns
    -------
    list of DataFrame
    """
    jobs = dfrs_jobs(read_swf(path)[0], memory_kb)
    last = np.floor(jobs["submit"].max() / WEEK) if len(jobs) else -1.0
    if last >= 10_000:
        raise InvalidInstance(f"{path}: submit = {jobs['submit'].max():g}: beyond 10,000 weeks")
    return [week_of(jobs, week) for week in range(int(last) + 1)]


def week_of(jobs: pd.DataFrame, week: int) -> pd.DataFrame:
    """The jobs with floor(submit / 604800) = `week`; submissions count from its begin.

    Examples
    --------
    >>> jobs = pd.DataFrame({"submit": [5.0, 604800.0, 604807.0]})
    >>> week_of(jobs, 1)["submit"].tolist()
    [0.0, 7.0]
    """
    _need(jobs, ("submit",), "jobs")
    number = integer(week, "week", 0)
    mine = jobs[np.floor(jobs["submit"] / WEEK) == number].reset_index(drop=True)
    mine.attrs = {}  # counts of the whole log, not of this week
    return mine.assign(submit=mine["submit"] - number * WEEK)


def rescale_load(jobs: pd.DataFrame, nodes: int, load: float) -> pd.DataFrame:
    """Stretch the inter-arrival times so that the offered load is `load`.

    Load = sum of runtime x tasks / (nodes x span of the submissions), as in Section 5 of the
    paper; the first submission stays where it is.

    Parameters
    ----------
    jobs : DataFrame
        With ``submit``, ``tasks``, ``runtime``; other columns are kept.
    nodes : int
        Size of the machine, >= 1.
    load : float
        The load wanted, > 0.

    Returns
    -------
    DataFrame
        A copy with other submissions.

    Raises
    ------
    InvalidInstance
        No work, or all jobs submitted at once: no stretching gives the load.

    Examples
    --------
    >>> jobs = pd.DataFrame({"submit": [0.0, 10.0], "tasks": [1, 2], "runtime": [10.0, 5.0]})
    >>> rescale_load(jobs, nodes=4, load=0.5)["submit"].tolist()
    [0.0, 10.0]
    >>> rescale_load(jobs, nodes=4, load=0.25)["submit"].tolist()
    [0.0, 20.0]
    """
    _need(jobs, ("submit", "tasks", "runtime"), "jobs")
    machine = integer(nodes, "nodes", 1)
    target = real(load, "load")
    if not 0 < target < np.inf:
        raise InvalidInstance(f"load = {target:g}: expected a positive number")
    columns = {name: real_array(jobs[name], name, 1) for name in ("submit", "tasks", "runtime")}
    for name, column in columns.items():
        wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
        if len(wrong):
            where = f"jobs[{int(wrong[0])}, {name!r}] = {column[wrong[0]]:g}"
            raise InvalidInstance(f"{where}: expected a number >= 0")
    submit = columns["submit"]
    first, span = (submit.min(), np.ptp(submit)) if len(submit) else (0.0, 0.0)
    if not span > 0:
        raise InvalidInstance("jobs: submitted at one time: expected a span of submissions > 0")
    work = float(columns["runtime"] @ columns["tasks"])
    if not work > 0:
        raise InvalidInstance("jobs: no work: expected a runtime > 0")
    wanted = work / (machine * target)
    if not 0 < wanted < np.inf:
        raise InvalidInstance(f"load = {target:g}: the span would be {wanted:g} s")
    return jobs.assign(submit=first + (submit - first) * (wanted / span))


def _jobs(table: pd.DataFrame, tasks, cpu, memory) -> pd.DataFrame:
    requested = table["requested_time"].to_numpy(dtype=float)
    return pd.DataFrame(
        {
            "job": table["job"].to_numpy(),
            "submit": table["submit"].to_numpy(dtype=float),
            "tasks": tasks,
            "cpu": cpu,
            "memory": memory,
            "runtime": table["run"].to_numpy(dtype=float),
            "estimate": np.where(requested > 0, requested, np.nan),
        }
    )


def _need(frame: pd.DataFrame, columns: tuple[str, ...], argument: str) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInstance(f"{argument}: expected a table, got {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InvalidInstance(
            f"{argument}: lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}"
        )
