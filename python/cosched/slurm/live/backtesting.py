"""Predict past start times and measure the coverage of the intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosched import io
from cosched.cluster.files.sacct.rows import require_text
from cosched.cluster.machine import Machine, machine_of
from cosched.core.arrays import integer, seed_of
from cosched.errors import InvalidInstance
from cosched.lazy import pd
from cosched.slurm.live.job_records import parse_history, spread_evenly
from cosched.slurm.live.model import Allocated, FinishedJob, SnapshotJob
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.live.start_accuracy import start_accuracy
from cosched.slurm.live.start_quantiles import MIN_INTERVAL_LENGTH
from cosched.slurm.live.starts import when
from cosched.slurm.requests.request import parse_gpus

#: The twin knows a cluster where so many of its starts are within so many seconds.
MIN_AGREEMENT, NEAR = 0.5, 300.0
_COVERAGE = 0.9
_HORIZONS = ((3600.0, "below 1 h"), (4 * 3600.0, "1 to 4 h"), (np.inf, "4 h and more"))


def backtest(
    history: str | PathLike[str],
    machine: Machine | str | PathLike[str],
    *,
    moments: int = 20,
    draws: int = 50,
    seed: int = 0,
    accounts: str | PathLike[str] | None = None,
    approximate: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    r"""Ask :func:`when` at random moments of the past, with what was known then.

    First the twin alone: with the real run times and submissions, are its starts the log's? Then
    bands, which the first half of the moments widens (or narrows) so that 90% of its starts are
    inside, and whose coverage is that of the second half (split conformal prediction). A log has
    neither priorities nor limits: jobs are in order of submission, and limits those of `accounts`.

    Parameters
    ----------
    history : path-like
        What ``sacct -P`` printed, as ``cosched snapshot --history`` asks for it.
    machine : Machine or path-like
        A slurm.conf, or a folder of ``scontrol show``: see :meth:`~cosched.cluster.Machine.read`.
    moments : int
        How often it is asked of the past.
    draws, seed : int
        Of each question.
    accounts : path-like, optional
        For a slurm.conf: see :meth:`~cosched.cluster.Machine.read`.
    approximate : bool
        Leave out settings that have no rule, see :meth:`~cosched.cluster.Machine.approximated`.
    progress : callable, optional
        Called with moments done and in all.

    Returns
    -------
    pandas.DataFrame
        One row per job and moment: ``moment, job, partition, horizon, true, p05, p25, p50, p75,
        p95, plan, twin``; ``plan`` is the start where all jobs run to their limits and nothing else
        is submitted, as the backfill scheduler plans it. ``frame.attrs``: ``knows`` (whether the
        simulator reproduces the log), ``agreement`` (of its starts within 5 minutes),
        ``coverage50, coverage90`` (as drawn), ``calibrated90`` (after widening, on moments that
        were not used for it), ``widen`` (widths), ``median_error``, ``accuracy`` (one mapping
        per class of true waits, then of all, as ``--backtest -o`` writes them).

    Raises
    ------
    InvalidInstance
        Not such a file, a setting that has no rule, or nobody waited at any of these moments.
    OSError
        A file that cannot be opened.

    Examples
    --------
    Jobs on one node, one after another: the twin knows that.

    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> conf = "SelectType=select/linear\nNodeName=n1\nPartitionName=a Nodes=ALL Default=YES\n"
    >>> _ = (folder / "slurm.conf").write_text(conf)
    >>> head = "JobID|User|Partition|State|Submit|Start|End|TimelimitRaw|NNodes|NCPUS|NodeList"
    >>> day = "2026-01-05T"
    >>> rows = [f"{k}|u|a|COMPLETED|{day}{k:02d}:00:00|{day}{k:02d}:30:01|{day}{k + 1:02d}:30:00"
    ...         "|120|1|1|n1" for k in range(1, 12)]
    >>> _ = (folder / "sacct.txt").write_text("\n".join([head, *rows]))
    >>> found = backtest(folder / "sacct.txt", folder / "slurm.conf", moments=6, draws=10)
    >>> found.attrs["knows"], found.attrs["moments"]
    (True, 6)
    """
    backtested_machine = machine_of(machine, accounts=accounts)
    backtested_machine = backtested_machine.approximated() if approximate else backtested_machine
    io.refuse_foreign_file(history)
    text = io.read_text(history)
    require_text(text, history)
    jobs = parse_history(text, name=str(history))
    if len(jobs) < 2:
        raise InvalidInstance(f"{history}: {len(jobs)} jobs that ended: expected a past")
    rng = np.random.default_rng(seed_of(seed))
    waiting_jobs = [job for job in jobs if job.start > job.eligible + 1]
    count = integer(moments, "moments", 2, 100_000)
    rows: list[dict[str, Any]] = []
    for number, time in enumerate(_draw_moments(waiting_jobs, count, rng)):
        rows += _ask_at(jobs, backtested_machine, time, draws, seed)
        if progress is not None:
            progress(number + 1, count)
    if not rows:
        raise InvalidInstance(f"{history}: nobody waited: expected a log with waits")
    frame = pd.DataFrame(rows)
    frame.attrs.update(_summary(frame))
    return frame


def _draw_moments(
    waiting_jobs: Sequence[FinishedJob], count: int, rng: np.random.Generator
) -> list[float]:
    """Return moments of the last three quarters of the log: of waits drawn at random one moment
    each."""
    if not waiting_jobs:
        return []
    later_jobs = waiting_jobs[len(waiting_jobs) // 4 :]
    chosen = (later_jobs[int(k)] for k in rng.integers(len(later_jobs), size=count))
    return sorted(float(rng.uniform(job.eligible, job.start)) for job in chosen)


def snapshot_of_past(jobs: Sequence[FinishedJob], machine: Machine, time: float) -> Snapshot:
    """Return the snapshot that a user would have taken then."""
    present_jobs = [_job_at(job, time) for job in jobs if job.eligible <= time < job.end]
    finished_jobs = [job for job in jobs if job.end <= time]
    return Snapshot(
        time=time,
        jobs=tuple(present_jobs),
        scontrol_texts={"config": "", "nodes": "", "partitions": ""},
        version=machine.slurm.version if machine.slurm else "",
        history=finished_jobs,
        given_machine=machine,
    )


def _job_at(job: FinishedJob, time: float) -> SnapshotJob:
    """Return a job of the log as a snapshot would have shown it then."""
    is_running = job.start <= time
    shared_fields = (
        "id",
        "user",
        "account",
        "partition",
        "qos",
        "submit",
        "eligible",
        "limit",
        "nodes",
        "cpus",
        "memory",
        "gpus",
    )
    return SnapshotJob(
        **{key: job[key] for key in shared_fields},
        state="RUNNING" if is_running else "PENDING",
        accrue=job.eligible,
        start=job.start if is_running else None,
        exact=(job.nodes or 1) > 1,
        holds=_allocations_of(job) if is_running else (),
    )


def _allocations_of(job: FinishedJob) -> tuple[Allocated, ...]:
    """Return what a job of the log had of its nodes: equal parts of its CPUs and GPUs, and the
    memory that it asked for."""
    allocations = spread_evenly(job.nodelist, job.allocated, f"job {job.id}")
    gpus = parse_gpus(job.gpus, by_node=False).number if job.gpus else 0
    gpus_of_node = -(-gpus // max(len(allocations), 1))
    return tuple(
        allocation._replace(memory=job.memory or 0.0, gpus=gpus_of_node)
        for allocation in allocations
    )


def _ask_at(
    jobs: Sequence[FinishedJob], machine: Machine, time: float, draws: int, seed: int
) -> list[dict[str, Any]]:
    """Return a row for each job that waited then: the answer of :func:`when`, and what happened."""
    snapshot = snapshot_of_past(jobs, machine, time)
    if not snapshot.pending:
        return []
    answer = when(snapshot, draws=draws, seed=seed)
    arrivals = [
        {**job, "job": job.id, "seconds": job.end - job.start, "submit": job.eligible}
        for job in jobs
        if job.eligible > time
    ]
    run_times = {job.id: job.end - job.start for job in jobs}
    twin = when(snapshot, draws=5, seed=seed, run_times=run_times, arrivals=arrivals)
    true_starts = {job.id: job.start - time for job in jobs}
    parts = {job.id: job.partition for job in snapshot.pending}
    return [
        {
            "moment": time,
            "job": row["job"],
            "partition": parts[row["job"]],
            "horizon": _horizon(row["p50"]),
            "true": true_starts[row["job"]],
            **{key: row[key] for key in ("p05", "p25", "p50", "p75", "p95")},
            "plan": row["limit_based_start"],
            "twin": simulated_start,
        }
        for row, simulated_start in zip(answer.to_dict("records"), twin["p50"], strict=True)
    ]


def _horizon(seconds: float) -> str:
    """Return the name of the horizon that a wait is in."""
    return next(
        (name for max_seconds, name in _HORIZONS if seconds < max_seconds), _HORIZONS[-1][1]
    )


def _summary(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the measures over all rows: agreement, coverage, error."""
    true = frame["true"].to_numpy()
    agreement = float(np.mean(np.abs(frame["twin"] - true) <= NEAR))
    cut = float(np.median(frame["moment"].unique()))
    fit, test = frame[frame["moment"] <= cut], frame[frame["moment"] > cut]
    widen = widening_of_bands(fit)
    covered = is_covered(test, widen)
    return {
        "knows": agreement >= MIN_AGREEMENT,
        "agreement": agreement,
        "coverage50": float(np.mean((frame["p25"] <= true) & (true <= frame["p75"]))),
        "coverage90": float(np.mean(is_covered(frame, 0.0))),
        "calibrated90": float(np.mean(covered)) if len(covered) else None,
        "widen": widen,
        "median_error": float(np.median(np.abs(frame["p50"] - true))),
        "accuracy": [accuracy.to_dict() for accuracy in start_accuracy(frame)],
        "jobs": len(frame),
        "moments": int(frame["moment"].nunique()),
    }


def widening_of_bands(frame: pd.DataFrame) -> float:
    """Return by how many of their widths bands must grow at both ends, so that 90% of the starts
    are in them (below 0: they may shrink)."""
    low, high, true = (frame[key].to_numpy(dtype=float) for key in ("p05", "p95", "true"))
    is_finite = np.isfinite(low) & np.isfinite(high)
    if not is_finite.any():
        return 0.0
    low, high, true = low[is_finite], high[is_finite], true[is_finite]
    scores = np.sort(
        np.maximum(low - true, true - high) / np.maximum(high - low, MIN_INTERVAL_LENGTH)
    )
    rank = min(int(np.ceil((len(scores) + 1) * _COVERAGE)), len(scores)) - 1
    return float(scores[rank])


def is_covered(frame: pd.DataFrame, widen: float) -> NDArray[np.bool_]:
    """True where a start is within its band, so widened."""
    low, high, true = (frame[key].to_numpy(dtype=float) for key in ("p05", "p95", "true"))
    with np.errstate(invalid="ignore"):
        grow = np.where(
            np.isfinite(high - low), widen * np.maximum(high - low, MIN_INTERVAL_LENGTH), 0.0
        )
    return (low - grow <= true) & (true <= high + grow)


def coverage_by(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """Coverage and error by ``partition`` or ``horizon``.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`backtest` returns.
    """
    true = frame["true"]
    judged_frame = frame.assign(
        in_90=is_covered(frame, 0.0),
        in_50=(frame["p25"] <= true) & (true <= frame["p75"]),
        error=(frame["p50"] - true).abs(),
    )
    grouped = judged_frame.groupby(key, sort=True)
    return grouped.agg(
        jobs=("job", "size"),
        coverage50=("in_50", "mean"),
        coverage90=("in_90", "mean"),
        median_error=("error", "median"),
    ).reset_index()
