"""Instances from the logs of batch systems."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from cosched import io
from cosched.cluster import files
from cosched.cluster.instance import Instance
from cosched.cluster.machine import Machine, machine_of


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
    wait_from: str = "eligible",
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
    wait_from : {"eligible", "submit"}
        From when waits and stretches count and policies get a job: when it is eligible, at the end
        of the job in field 17 + the think time in field 18 where the log has them; or from its
        submission.

    Returns
    -------
    Instance
        Its ``notes`` say what was dropped, repaired and assumed. ``jobs`` has the log's own ``id``.

    Raises
    ------
    InvalidInstance
        No usable job, an unknown convention, missing nodes, cores or memory (the message says what
        to pass), a week or part without a job, or another `drop`.

    Examples
    --------
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
        path,
        nodes,
        convention=convention,
        cores_per_node=cores_per_node,
        memory_per_node=memory_per_node,
        week=week,
        begin=begin,
        until=until,
        drop=drop,
        wait_from=wait_from,
    )


def from_sacct(
    path: str | PathLike[str],
    machine: Machine | str | PathLike[str],
    *,
    timezone: str | None = None,
    week: int | None = None,
    begin: float | None = None,
    until: float | None = None,
    drop: str | Iterable[str] | None = None,
    min_runtime: float = 0.0,
    wait_from: str = "eligible",
    include_running: bool = False,
    delimiter: str = "|",
    slurm_version: str | None = None,
    accounts: str | PathLike[str] | None = None,
) -> Instance:
    r"""Instance of what ``sacct -P`` or ``sacct --json`` printed: each job takes its cores whole.

    ``sacct -a -D -P -S 2026-01-01 --format=JobID,User,Group,Partition,State,Submit,Eligible,``
    ``Start,Elapsed,Timelimit,NNodes,NCPUS,ReqMem,ReqTRES,AllocTRES,NodeList`` prints what is read;
    more columns do no harm, fewer say less.

    Parameters
    ----------
    path : str or path-like
        The output, plain or gzip.
    machine : Machine or path-like
        The machine, or its ``machine.toml``, ``slurm.conf``, or folder of ``scontrol show``.
    timezone : str, optional
        Where the times were printed, such as ``"Europe/Stockholm"``. None: as written, so that a
        change of clocks shifts the rest by an hour.
    week, begin, until
        Only this part, counted from the first submission; see :func:`from_swf`.
    drop : str or iterable of str, optional
        Jobs to leave out; see :func:`from_swf`.
    min_runtime : float
        Values, bounds and metrics are of jobs with this run time or more (s).
    wait_from : {"eligible", "submit"}
        From when waits and stretches count and policies get a job: when it was eligible (no
        dependency, begin time, hold or array limit kept it), or from its submission.
    include_running : bool
        Jobs that run still are in it, until the end of the log.
    delimiter : str
        What ``sacct --delimiter`` was given.
    slurm_version, accounts
        See :meth:`Machine.read`.

    Returns
    -------
    Instance
        Times count from the first submission. Steps are passed over; jobs that have not ended or
        never started, and rows that cannot be read, are named by line in its ``notes``. Each run of
        a requeued job is a job, eligible when the run before had ended. Tasks are cores: sacct's
        CPUs are converted where the machine says that they are threads. ``jobs`` has
        ``memory_gb, gpus, gpu_type, threads`` of each job where the columns say them, and of its
        steps (without ``-X``; ``MaxRSS, NTasks, TotalCPU, TRESUsageInTot``; GPUs: jobstats' summary
        in ``AdminComment``) ``used_memory_gb, cpu_seconds, cpu_efficiency, gpu_efficiency``: nan
        where a row does not say it, or says more CPU time than there was. A job that was suspended
        holds its nodes until its End: ``suspended`` has these seconds, which are in its run time
        and in its estimate. ``UNLIMITED`` is an infinite estimate,
        ``Partition_Limit`` the partition's DefaultTime, else its MaxTime.

    Raises
    ------
    InvalidInstance
        Not such output, no usable job, or an unknown time zone.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "machine.toml").write_text("[[nodes]]\ncount = 4\ncores = 2\n")
    >>> _ = (folder / "jobs.txt").write_text(
    ...     "JobID|State|Submit|Start|Elapsed|Timelimit|NCPUS\n"
    ...     "7|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:05|00:01:00|00:05:00|4\n"
    ...     "7.batch|COMPLETED|2026-03-01T10:00:05|2026-03-01T10:00:05|00:01:00||4\n"
    ...     "8_1|TIMEOUT|2026-03-01T10:00:09|2026-03-01T10:01:05|00:02:01|00:02:00|2\n"
    ... )
    >>> inst = from_sacct(folder / "jobs.txt", folder / "machine.toml")
    >>> inst.jobs[["id", "submit", "tasks", "runtime", "wait"]].to_numpy().tolist()
    [['7', 0.0, 4, 60.0, 5.0], ['8_1', 9.0, 2, 121.0, 56.0]]
    """
    checked_machine = machine_of(machine, slurm_version=slurm_version, accounts=accounts)
    options = files.LogOptions(
        machine=checked_machine,
        timezone=timezone,
        drop=drop,
        part=files.PartOfLog(week, begin, until),
        include_running=include_running,
        delimiter=delimiter,
    )
    if files.recognize_log(path) is files.LogFormat.SACCT_JSON:
        jobs, notes, begins = files.read_batch_log(path, files.LogFormat.SACCT_JSON, options)
    else:
        io.refuse_foreign_file(path)
        jobs, notes, begins = files.read_sacct(path, options)
    jobs, unmet = files.without_unmet_constraints(jobs, checked_machine)
    jobs, wait_notes = files.apply_wait_origin(jobs, wait_from, of_log=True)
    jobs, assumed = files.with_default_accounts(jobs, checked_machine)
    return Instance(
        jobs,
        checked_machine.cores,
        notes=(*notes, *unmet, *wait_notes, *assumed),
        source=Path(path).name,
        min_runtime=min_runtime,
        machine=checked_machine,
        begins=begins,
    )
