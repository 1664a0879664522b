"""How the jobs of a log become tasks on nodes, and the weeks of a log (paper 3, Section 5)."""

from __future__ import annotations

import numpy as np

from cosched.core.arrays import fraction, integer, positive
from cosched.core.text import require_columns
from cosched.lazy import pd

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
    table: pd.DataFrame,
    memory_kb: float = 2097152,
    *,
    cores: int = 2,
    least_memory: float | None = None,
) -> pd.DataFrame:
    """Jobs of a log on nodes of several cores, as paper 3 reads HPC2N (two).

    The memory need of a processor is max(requested, used) / `memory_kb`, at least
    `least_memory` (also where the log knows neither). A job that fills whole nodes (its processors
    are a multiple of `cores`, its need is below 1 / `cores`) becomes a task a node: CPU need 100%,
    memory need x `cores`. Any other job becomes a task a processor, CPU need 1 / `cores`. With two
    cores this is the paper's rule: even processors and a need below 50%.

    A need above 100% cannot be met by any node: it is cut to 100%. How often that and the
    default for unknown memory were applied is in ``jobs.attrs["repaired"]`` (reason -> count).

    Parameters
    ----------
    table : DataFrame
        From :func:`read_swf`.
    memory_kb : float
        Memory of a node, > 0. The default is the 2 GB of HPC2N.
    cores : int
        Processors of a node, >= 1.
    least_memory : float, optional
        Least need of a processor, in (0, 1]; by default 10%, and not more than 20% of a node for
        a job that fills it.

    Returns
    -------
    DataFrame
        Columns ``job, submit, tasks, cpu, memory, runtime, estimate`` in the order of `table`;
        ``estimate`` is the requested time, NaN where it is unknown (or not positive).

    Raises
    ------
    InvalidInstance
        A column is missing, or a memory outside its range.

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
    require_columns(table, _NEEDED, "table")
    node = positive(memory_kb, "memory_kb", "a positive number of KB")
    width = integer(cores, "cores", 1)
    usual = min(0.1, 0.2 / width)
    least = usual if least_memory is None else fraction(least_memory, "least_memory")

    known = table[["requested_memory", "used_memory"]].max(axis=1).to_numpy(dtype=float) / node
    unknown = np.isnan(known)
    share = np.clip(np.where(unknown, least, known), least, 1.0)
    processors = table["processors"].to_numpy(dtype=np.int64)
    filling = (processors % width == 0) & (share < 1 / width)
    jobs = _jobs(
        table,
        np.where(filling, processors // width, processors),
        np.where(filling, 1.0, 1 / width),
        np.where(filling, width * share, share),
    )
    jobs.attrs["repaired"] = {
        f"memory unknown: {least:g} taken": int(unknown.sum()),
        "memory above that of a node: 1 taken": int((known > 1).sum()),
    }
    return jobs


def rigid_jobs(table: pd.DataFrame) -> pd.DataFrame:
    """Jobs of a log on single-processor nodes: a task a processor, CPU and memory need 100%.

    Parameters
    ----------
    table : DataFrame
        From :func:`read_swf`; a node is a processor.

    Returns
    -------
    DataFrame
        Columns ``job, submit, tasks, cpu, memory, runtime, estimate`` as :func:`dfrs_jobs`.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "job": [1.0], "submit": [0.0], "run": [60.0], "requested_time": [100.0],
    ...     "processors": [4]})
    >>> rigid_jobs(table).iloc[0].tolist()
    [1.0, 0.0, 4.0, 1.0, 1.0, 60.0, 100.0]
    """
    require_columns(table, ("job", "submit", "run", "requested_time", "processors"), "table")
    return _jobs(table, table["processors"].to_numpy(dtype=np.int64), 1.0, 1.0)


def week_of(jobs: pd.DataFrame, week: int) -> pd.DataFrame:
    """The jobs with floor(submit / 604800) = `week`; submissions count from its begin.

    Parameters
    ----------
    jobs : DataFrame
        With ``submit`` (s); other columns are kept.
    week : int
        From 0.

    Returns
    -------
    DataFrame
        Empty for a week without jobs.

    Raises
    ------
    InvalidInstance
        No column ``submit``, or a week that is no integer >= 0.

    Examples
    --------
    >>> jobs = pd.DataFrame({"submit": [5.0, 604800.0, 604807.0]})
    >>> week_of(jobs, 1)["submit"].tolist()
    [0.0, 7.0]
    """
    require_columns(jobs, ("submit",), "jobs")
    number = integer(week, "week", 0)
    mine = jobs[np.floor(jobs["submit"] / WEEK) == number].reset_index(drop=True)
    mine.attrs = {}  # counts of the whole log, not of this week
    times = [name for name in ("submit", "eligible") if name in mine]
    return mine.assign(**{name: mine[name] - number * WEEK for name in times})


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
