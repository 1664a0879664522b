"""Instances from the logs of batch systems."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

from cosched.cluster.instance import Instance


def from_swf(
    path: str | PathLike[str],
    nodes: int | None = None,
    convention: str = "dfrs",
    *,
    cores_per_node: int | None = None,
    memory_per_node: float | str | None = None,
    week: int | None = None,
    begin: float | None = None,
    until: float | None = None,
    drop: str | Iterable[str] | None = None,
) -> Instance:
    r"""Instance of a log in Standard Workload Format.

    Parameters
    ----------
    path : str or path-like
        The log, plain or gzip.
    nodes : int, optional
        ``"dfrs"``: nodes of the machine; None takes a known archive log's (HPC2N: 120), else the
        header's MaxNodes. ``"rigid"``: processors; None takes the header's MaxProcs.
    convention : {"dfrs", "rigid"}
        ``"dfrs"``: the paper's reading of HPC2N, tasks on nodes with needs of CPU and memory
        (:func:`cosched.workloads.dfrs_jobs`). ``"rigid"``: a job takes its processors whole
        (:func:`cosched.workloads.rigid_jobs`).
    cores_per_node : int, optional
        For ``"dfrs"``; None: the header's MaxProcs / nodes, where that is whole.
    memory_per_node : float or str, optional
        For ``"dfrs"``: KB, or a text such as ``"2GB"``; None: the header's MaxMemory, or that of
        a known archive log.
    week : int, optional
        Only the jobs with floor(submit / 604800 s) = `week`; times count from its begin.
    begin, until : float, optional
        Only this part of the log (s); times count from `begin`. Jobs that the log runs at `begin`
        come first, with the rest of their run time; those that wait then are submitted then.
    drop : str or iterable of str, optional
        Jobs to leave out (a list, or ``"too-wide,cancelled"``): ``too-wide`` (more tasks than
        nodes), ``cancelled, failed, partial, unknown-status``, ``run-0, no-estimate, no-wait``.
        None: nothing is left out.

    Returns
    -------
    Instance
        Its ``notes`` say what was dropped, repaired and assumed. ``jobs`` has the log's own ``id``.

    Raises
    ------
    InvalidInstance
        No usable job, an unknown convention, missing nodes, cores or memory (the message says what
        to pass), a week or part without a job, or another `drop`.
    OSError
        The file is not there or cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.swf"
    >>> _ = path.write_text(
    ...     "; MaxProcs: 8\n"
    ...     "1 0 5 60 4 -1 -1 4 120 -1 1 1 1 1 1 1 -1 -1\n"
    ...     "2 9 0 30 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n"
    ... )
    >>> inst = from_swf(path, convention="rigid")
    >>> inst
    <cluster.Instance: 2 jobs, 8 nodes>
    >>> inst.jobs[["id", "submit", "tasks", "runtime", "wait"]].to_numpy().tolist()
    [[1.0, 0.0, 4.0, 60.0, 5.0], [2.0, 9.0, 2.0, 30.0, 0.0]]
    """
    return Instance.read(
        path, nodes, convention=convention, cores_per_node=cores_per_node,
        memory_per_node=memory_per_node, week=week, begin=begin, until=until, drop=drop,
    )  # fmt: skip
