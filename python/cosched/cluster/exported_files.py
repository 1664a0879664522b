"""Results as other tools read them: evalys' ``jobs.csv``, and why jobs started."""

from __future__ import annotations

from os import PathLike

import numpy as np

from cosched import io
from cosched.cluster.result import Result
from cosched.cluster.schedule import Schedule
from cosched.core.arrays import ranges
from cosched.errors import InvalidInstance
from cosched.lazy import pd

#: The word of evalys and Batsim for a job that was ended at its limit.
_KILLED = "COMPLETED_WALLTIME_REACHED"


def jobs_table(result: Result) -> pd.DataFrame:
    """One row a job with the columns that evalys and Batsim use.

    Returns
    -------
    pandas.DataFrame
        ``job_id, workload_name, profile, submission_time, requested_number_of_resources,
        requested_time, success, final_state, starting_time, execution_time, finish_time,
        waiting_time, turnaround_time, stretch, allocated_resources``, then ours:
        ``bounded_stretch, preemptions, migrations``. Times are seconds.

    Notes
    -----
    ``submission_time`` is when a policy got the job: when it was eligible. As in these tools,
    ``execution_time`` is ``finish_time - starting_time`` (pauses included)
    and ``stretch`` is ``turnaround_time / execution_time``, empty for a job of no length.
    ``allocated_resources`` is an interval set such as ``0-3 7``; it exists for a job that
    kept its nodes from start to end, and is empty for one that was moved. A job that was ended at
    its limit is no success: its ``final_state`` is ``COMPLETED_WALLTIME_REACHED``.
    ``requested_time`` is -1 for a job without a time limit.

    Examples
    --------
    >>> jobs = {"submit": [0, 0], "tasks": [2, 1], "cpu": [1, 1], "memory": [1, 1],
    ...         "runtime": [20.0, 30.0]}
    >>> table = jobs_table(cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS"))
    >>> table[["waiting_time", "stretch", "allocated_resources"]].to_numpy().tolist()
    [[0.0, 1.0, '0-1'], [20.0, 1.6666666666666667, '0']]
    """
    Result.require(result)

    jobs_of_instance, jobs = result.instance.jobs, result.jobs
    submit = result.instance.column("eligible")
    start, end = jobs["start"].to_numpy(), jobs["end"].to_numpy()
    execution, turnaround = end - start, end - submit
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.where(execution > 0, turnaround / execution, np.nan)
    killed = result.outcome.get("at_limit", np.zeros(len(jobs_of_instance), dtype=bool))
    requested = (
        jobs_of_instance["estimate"]
        if "estimate" in jobs_of_instance
        else jobs_of_instance["runtime"]
    )
    return pd.DataFrame(
        {
            "job_id": jobs_of_instance["id"].to_numpy(),
            "workload_name": "cosched",
            "profile": "rigid",
            "submission_time": submit,
            "requested_number_of_resources": jobs_of_instance["tasks"].to_numpy(),
            "requested_time": np.where(np.isinf(requested), -1.0, requested),
            "success": np.where(killed, 0, 1),
            "final_state": np.where(killed, _KILLED, "COMPLETED_SUCCESSFULLY"),
            "starting_time": start,
            "execution_time": execution,
            "finish_time": end,
            "waiting_time": start - submit,
            "turnaround_time": turnaround,
            "stretch": stretch,
            "allocated_resources": _allocations(result, len(jobs_of_instance)),
            "bounded_stretch": jobs["stretch"].to_numpy(),
            "preemptions": jobs["preemptions"].to_numpy(),
            "migrations": jobs["migrations"].to_numpy(),
        }
    )


def write_jobs_csv(result: Result, path: str | PathLike[str]) -> None:
    """Write :func:`jobs_table` as evalys' ``jobs.csv``.

    Parameters
    ----------
    path : str or path-like
        Ends in .csv.

    Examples
    --------
    >>> jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [20.0]}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "jobs.csv"
    >>> write_jobs_csv(cs.cluster.solve(cs.cluster.Instance(jobs, nodes=2), "FCFS"), path)
    >>> path.read_text().splitlines()[0].split(",")[:4]
    ['job_id', 'workload_name', 'profile', 'submission_time']
    """
    io.write_frame(jobs_table(result), path, suffixes=(".csv",), exact=True)


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
    """Return the log; where nodes have names, with those that a job gets."""
    log, schedule = result.log, result.schedule
    hosts = schedule.hosts() if isinstance(schedule, Schedule) else None
    if hosts is None:
        return log
    got = dict(zip(zip(schedule.task, schedule.start, strict=True), hosts, strict=True))
    begins = log.action.isin(("start", "resume", "move"))
    nodes_of_rows = [
        " ".join(got.get(key, ())) if begin else ""
        for key, begin in zip(zip(log.job, log.time, strict=True), begins, strict=True)
    ]
    return log.assign(hosts=nodes_of_rows)


def interval_set(nodes: tuple[int, ...]) -> str:
    """Node numbers as an interval set.

    Examples
    --------
    >>> interval_set((3, 0, 1, 2, 2, 7))
    '0-3 7'
    """
    units = np.unique(np.asarray(nodes, dtype=np.int64))
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges(units))


def _allocations(result: Result, jobs: int) -> list[str]:
    """Return the interval set of each job that kept its nodes; empty text for the others."""
    node_lists: dict[int, tuple[int, ...]] = {}
    for row, job in enumerate(result.schedule.task.tolist()):
        nodes = result.schedule.units(row)
        node_lists[job] = (
            nodes if node_lists.get(job, nodes) == nodes else ()
        )  # which is that of no row
    return [interval_set(node_lists.get(job, ())) for job in range(jobs)]
