"""Whether the bands held: asked at moments of the past, compared with what happened then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from cosched import io
from cosched.cluster.files.sacct.rows import require_text
from cosched.cluster.machine import Machine, machine_of
from cosched.core.arrays import integer, seed_of
from cosched.errors import InvalidInstance
from cosched.lazy import pd
from cosched.slurm.live.model import Ended, Job
from cosched.slurm.live.records import history_of, spread
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.live.starts import when

#: The twin knows a cluster where so many of its starts are within so many seconds.
KNOWS, NEAR = 0.5, 300.0
_COVER = 0.9
_WIDTH = 60.0  # s: narrower bands count as this wide
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
        A slurm.conf, or a folder of ``scontrol show``: see :meth:`Machine.read`.
    moments : int
        How often it is asked of the past.
    draws, seed : int
        Of each question.
    accounts : path-like, optional
        For a slurm.conf: see :meth:`Machine.read`.
    approximate : bool
        Leave out settings that have no rule, see :meth:`Machine.approximated`.
    progress : callable, optional
        Called with moments done and in all.

    Returns
    -------
    pandas.DataFrame
        A row a job and moment: ``moment, job, partition, horizon, true, p05, p25, p50, p75, p95,
        twin``. ``frame.attrs``: ``knows`` (whether the twin reproduces the log), ``agreement`` (of
        its starts within 5 minutes), ``coverage50, coverage90`` (as drawn), ``calibrated90`` (after
        widening, on moments that were not used for it), ``widen`` (widths), ``median_error``.

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
    known = machine_of(machine, accounts=accounts)
    known = known.approximated() if approximate else known
    io.refuse_foreign_file(history)
    text = io.read_text(history)
    require_text(text, history)
    jobs = history_of(text, name=str(history))
    if len(jobs) < 2:
        raise InvalidInstance(f"{history}: {len(jobs)} jobs that ended: expected a past")
    rng = np.random.default_rng(seed_of(seed))
    waited = [job for job in jobs if job.start > job.eligible + 1]
    count = integer(moments, "moments", 2, 100_000)
    rows: list[dict[str, Any]] = []
    for number, time in enumerate(_moments(waited, count, rng)):
        rows += _asked(jobs, known, time, draws, seed)
        if progress is not None:
            progress(number + 1, count)
    if not rows:
        raise InvalidInstance(f"{history}: nobody waited: expected a log with waits")
    frame = pd.DataFrame(rows)
    frame.attrs.update(_measured(frame))
    return frame


def _moments(waited: Sequence[Ended], count: int, rng: np.random.Generator) -> list:
    """Of the last three quarters, when somebody waited: one moment of a wait drawn at random."""
    if not waited:
        return []
    late = waited[len(waited) // 4 :]
    chosen = (late[int(k)] for k in rng.integers(len(late), size=count))
    return sorted(float(rng.uniform(one.eligible, one.start)) for one in chosen)


def snapshot_at(jobs: Sequence[Ended], machine: Machine, time: float) -> Snapshot:
    """What was known then."""
    there = [_job(one, time) for one in jobs if one.eligible <= time < one.end]
    past = [one for one in jobs if one.end <= time]
    return Snapshot(
        taken=time,
        jobs=tuple(there),
        shown={"config": "", "nodes": "", "partitions": ""},
        version=machine.slurm.version if machine.slurm else "",
        history=past,
        given_machine=machine,
    )


def _job(one: Ended, time: float) -> Job:
    runs = one.start <= time
    same = (
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
    )
    return Job(
        **{key: one[key] for key in same},
        state="RUNNING" if runs else "PENDING",
        accrue=one.eligible,
        start=one.start if runs else None,
        exact=(one.nodes or 1) > 1,
        holds=tuple(spread(one.nodelist, one.allocated, f"job {one.id}")) if runs else (),
    )


def _asked(
    jobs: Sequence[Ended], machine: Machine, time: float, draws: int, seed: int
) -> list[dict[str, Any]]:
    snapshot = snapshot_at(jobs, machine, time)
    if not snapshot.pending:
        return []
    answer = when(snapshot, draws=draws, seed=seed)
    later = [
        {**one, "job": one.id, "seconds": one.end - one.start, "submit": one.eligible}
        for one in jobs
        if one.eligible > time
    ]
    exact = {one.id: one.end - one.start for one in jobs}
    twin = when(snapshot, draws=5, seed=seed, run_times=exact, arrivals=later)
    true = {one.id: one.start - time for one in jobs}
    parts = {job.id: job.partition for job in snapshot.pending}
    return [
        {
            "moment": time,
            "job": row["job"],
            "partition": parts[row["job"]],
            "horizon": _horizon(row["p50"]),
            "true": true[row["job"]],
            **{key: row[key] for key in ("p05", "p25", "p50", "p75", "p95")},
            "twin": own,
        }
        for row, own in zip(answer.to_dict("records"), twin["p50"], strict=True)
    ]


def _horizon(seconds: float) -> str:
    return next((name for most, name in _HORIZONS if seconds < most), _HORIZONS[-1][1])


def _measured(frame: pd.DataFrame) -> dict[str, Any]:
    true = frame["true"].to_numpy()
    agreement = float(np.mean(np.abs(frame["twin"] - true) <= NEAR))
    cut = float(np.median(frame["moment"].unique()))
    fit, test = frame[frame["moment"] <= cut], frame[frame["moment"] > cut]
    widen = conformal(fit)
    covered = inside(test, widen)
    return {
        "knows": agreement >= KNOWS,
        "agreement": agreement,
        "coverage50": float(np.mean((frame["p25"] <= true) & (true <= frame["p75"]))),
        "coverage90": float(np.mean(inside(frame, 0.0))),
        "calibrated90": float(np.mean(covered)) if len(covered) else None,
        "widen": widen,
        "median_error": float(np.median(np.abs(frame["p50"] - true))),
        "jobs": len(frame),
        "moments": int(frame["moment"].nunique()),
    }


def conformal(frame: pd.DataFrame) -> float:
    """By how many of their widths bands must grow at both ends, so that 90% of the starts are in
    them (below 0: they may shrink)."""
    low, high, true = (frame[key].to_numpy(dtype=float) for key in ("p05", "p95", "true"))
    finite = np.isfinite(low) & np.isfinite(high)
    if not finite.any():
        return 0.0
    low, high, true = low[finite], high[finite], true[finite]
    scores = np.sort(np.maximum(low - true, true - high) / np.maximum(high - low, _WIDTH))
    rank = min(int(np.ceil((len(scores) + 1) * _COVER)), len(scores)) - 1
    return float(scores[rank])


def inside(frame: pd.DataFrame, widen: float) -> np.ndarray:
    """Which starts are in the bands, so widened."""
    low, high, true = (frame[key].to_numpy(dtype=float) for key in ("p05", "p95", "true"))
    with np.errstate(invalid="ignore"):
        grow = np.where(np.isfinite(high - low), widen * np.maximum(high - low, _WIDTH), 0.0)
    return (low - grow <= true) & (true <= high + grow)


def by(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """Coverage and error by ``partition`` or ``horizon``.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`backtest` returns.
    """
    true = frame["true"]
    known = frame.assign(
        in_90=inside(frame, 0.0),
        in_50=(frame["p25"] <= true) & (true <= frame["p75"]),
        error=(frame["p50"] - true).abs(),
    )
    grouped = known.groupby(key, sort=True)
    return grouped.agg(
        jobs=("job", "size"),
        coverage50=("in_50", "mean"),
        coverage90=("in_90", "mean"),
        median_error=("error", "median"),
    ).reset_index()
