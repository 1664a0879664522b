"""Audit a log: simulate, analyse, and have the report written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING

from cosched import io
from cosched.cluster.analysis.audit import analyse_runs
from cosched.cluster.analysis.simulate_audit import simulate_audit
from cosched.cluster.analysis.what_if import scenario_of
from cosched.cluster.instance import Instance
from cosched.cluster.judgement import LogJudgement
from cosched.core.arrays import integer, time_limit_of
from cosched.core.installed import call_report_writer
from cosched.core.text import texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def audit(
    instance: Instance,
    path: str | PathLike[str],
    *,
    time_limit: float | None = 15.0,
    what_if: Iterable[str] = (),
    rightsize: str | PathLike[str] | None = None,
    draws: int | None = None,
    json: str | PathLike[str] | None = None,
    reference: str | None = None,
    judgement: LogJudgement | None = None,
    anonymise: bool = False,
    say: Callable[[str], object] | None = None,
) -> Figure | None:
    """Write a self-contained report on a log, for operators and managers.

    It begins with the cluster, the period, the answer in three sentences, and a row of key figures:
    jobs, core-hours, utilization, median and 95th-percentile wait, and how much of their requests
    jobs used. Then follow load, queue and waits over time; the observed schedule (``as-logged``),
    other policies and the lower bound; what-if scenarios; use of cores, memory and GPUs, and which
    of them was short; waits by partition, account, size and user; the longest waits of different
    users and what blocked them; data notes. It prints on A4.

    Parameters
    ----------
    path : str or path-like
        Ends in .html. Replaced as a whole or not at all.
    time_limit : float or None
        Seconds for the bound, and for each policy but ``slurm-backfill``; a policy that takes
        longer is left out, with a remark. ``slurm-backfill`` stops after the replications that the
        time has room for. However long they take, it has at least two, and those that judge a log
        with waits: 60 for up to 1,000 jobs, 20 for up to 5,000, else 8. Under a change it is left
        out where it takes four times as long as on the machine as it is, and longer for what runs
        beside it.
    what_if : iterable of str
        Changes of the machine, a row each with the same jobs: ``"nodes=+20"`` (or ``-20``, or
        ``200``; of the type with the most nodes, ``nodes.TYPE=`` of another),
        ``"partition.NAME.max_time=12:00:00"`` (longer jobs end there),
        ``"partition.NAME.priority=5"``, ``"partition.NAME.nodes=0-63"`` (also as Slurm has them);
        several changes of one row with commas between them; where the machine is a slurm.conf also
        ``"slurm.conf=new.conf"``, ``"PriorityWeightAge=5000"``, ``"bf_interval=60"``,
        ``"qos.high.MaxTRESPU=cpu=512"``, ``"account.physics.Fairshare=200"``,
        ``"partition.gpu.KEY=value"``, ``"nodes.g[1-4]=+4"``,
        ``"reservation=2026-12-01T08:00/12h/ALL"``; and ``"users.ada=-50%"``: fewer of somebody's
        jobs. Each row has a class: simulated, unchanged, no effect, or not modelled (without
        numbers), with its reason.
    draws : int, optional
        Replications of ``slurm-backfill``, each with other hidden clocks; default 20, fewer where
        `time_limit` has no room. All rows have the same ones. A difference is clear when zero lies
        outside the 95% prediction interval of one more replication.
    json : path-like, optional
        Write fit and what-ifs as numbers, too: ``{"fit": ..., "judgement": ..., "reference": ...,
        "rows": [...], "report": ...}`` (s), with ``class``, ``reason`` and ``remarks``; a row
        without a simulation has null for numbers. ``report`` has the key figures and the tables of
        the page.
    reference : str, optional
        The policy of what-ifs: ``slurm-backfill``, ``EASY``, ``conservative``, ``FCFS``. Default:
        ``slurm-backfill`` where it explains the log (:func:`judge_log`), else ``EASY``.
    judgement : LogJudgement, optional
        What :func:`judge_log` said of the log; default: of `instance`.
    say : callable, optional
        Called with each line of the answer, of the key figures and of the judgement, and with the
        name and remark of each row that has one.
    anonymise : bool
        Replace the names of users, accounts and groups in the report and in `json`.
    rightsize : str or path-like, optional
        The page that :meth:`RightSize.write` wrote of the log, to which this one links.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure of load, queue and waits, for :func:`cosched.plot.save`; None where
        neither the log nor EASY has a result.

    Raises
    ------
    InvalidInstance
        A change that is none, or asks for what the machine does not have; another suffix.

    Notes
    -----
    DFRS policies are left out where they have no meaning: tasks that need whole nodes, partitions.

    Examples
    --------
    >>> inst = cs.cluster.Instance(cs.workloads.lublin(60, 8, seed=1), nodes=8)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "audit.html"
    >>> figure = cs.cluster.audit(inst, path, what_if=["nodes=+4"])
    >>> "conservative" in path.read_text()
    True
    """
    Instance.require(instance)
    io.check_suffix(path, (".html",))
    count = None if draws is None else integer(draws, "draws", 1, 1_000_000)
    limit = time_limit_of(time_limit)
    scenario_texts = texts(what_if, "what_if")
    scenarios = [scenario_of(instance, text) for text in scenario_texts]
    runs = simulate_audit(instance, scenarios, limit, count, reference or "", judgement)
    return call_report_writer(
        "audit",
        analyse_runs(runs),
        path,
        rightsize=rightsize,
        json=json,
        anonymise=anonymise,
        say=say,
    )
