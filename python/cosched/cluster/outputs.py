"""Why jobs started, as a file."""

from __future__ import annotations

from os import PathLike

from cosched import io
from cosched.cluster.result import Result
from cosched.cluster.schedule import Schedule
from cosched.errors import InvalidInstance
from cosched.lazy import pd


def write_log_csv(result: Result, path: str | PathLike[str]) -> None:
    """Write the decision log of a result made with ``log=True``: ``time, job, id, action, reason``,
    and ``hosts``, separated by blanks, where slurm.conf names the nodes that a job gets.

    A row an event; ``job`` is the row of the job in the instance, from 0, ``id`` what its log
    calls it; actions are start, wait, pause, resume, move and finish.

    Parameters
    ----------
    path : str or path-like
        Ends in .csv.

    Raises
    ------
    InvalidInstance
        The result has no log, or another suffix.

    Examples
    --------
    >>> jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [20.0]}
    >>> result = cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS", log=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> write_log_csv(result, path)
    >>> path.read_text().splitlines()[0]
    'time,job,id,action,reason'
    """
    Result.require(result)
    if result.log is None:
        raise InvalidInstance("no decision log: solve(..., log=True) keeps one")
    io.write_frame(_with_hosts(result), path, suffixes=(".csv",), exact=True)


def _with_hosts(result: Result) -> pd.DataFrame:
    """The log; where nodes have names, with those that a job gets."""
    log, schedule = result.log, result.schedule
    hosts = schedule.hosts() if isinstance(schedule, Schedule) else None
    if hosts is None:
        return log
    got = dict(zip(zip(schedule.task, schedule.start, strict=True), hosts, strict=True))
    begins = log.action.isin(("start", "resume", "move"))
    own = [
        " ".join(got.get(key, ())) if begin else ""
        for key, begin in zip(zip(log.job, log.time, strict=True), begins, strict=True)
    ]
    return log.assign(hosts=own)
