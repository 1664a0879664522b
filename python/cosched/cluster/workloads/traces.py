"""Weeks of a log and offered load: the traces of paper 3."""

from __future__ import annotations

from os import PathLike

import numpy as np

from cosched.cluster.files import WEEK, dfrs_jobs, read_swf, week_of
from cosched.core.arrays import integer, positive, real_array
from cosched.core.text import require_columns
from cosched.errors import InvalidInstance
from cosched.lazy import pd


def hpc2n_weeks(path: str | PathLike[str], memory_kb: float = 2097152) -> list[pd.DataFrame]:
    r"""The week-long segments of a log as DFRS jobs; HPC2N 2002-2006 has 182.

    Week w holds the jobs with floor(submit / 604800) = w; their ``submit`` counts from the
    start of that week (not from its first job). A week without a job is an empty table, so
    that the position in the list is the number of the week.

    Parameters
    ----------
    path : str or path-like
        The log (``cosched fetch HPC2N-2002``).
    memory_kb : float
        Memory of a node (KB), as :func:`dfrs_jobs`.

    Returns
    -------
    list of DataFrame
        Columns as :func:`dfrs_jobs`.

    Raises
    ------
    InvalidInstance
        A file without a job, a memory that is not positive, or more than 10,000 weeks.

    References
    ----------
    Casanova, Stillwell, Vivien 2011, Section 5 (real-world workload).

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.swf"
    >>> _ = path.write_text(
    ...     "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    ...     "2 604900 0 30 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n"
    ... )
    >>> [week["submit"].tolist() for week in hpc2n_weeks(path)]
    [[0.0], [100.0]]
    """
    jobs = dfrs_jobs(read_swf(path)[0], memory_kb)
    last = np.floor(jobs["submit"].max() / WEEK) if len(jobs) else -1.0
    if last >= 10_000:
        raise InvalidInstance(f"{path}: submit = {jobs['submit'].max():g}: beyond 10,000 weeks")
    return [week_of(jobs, week) for week in range(int(last) + 1)]


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
    require_columns(jobs, ("submit", "tasks", "runtime"), "jobs")
    machine = integer(nodes, "nodes", 1)
    target = positive(load, "load")
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
    scaled = first + (submit - first) * (wanted / span)
    blocked = {"eligible": scaled + (jobs["eligible"] - submit)} if "eligible" in jobs else {}
    return jobs.assign(submit=scaled, **blocked)
