"""When pending jobs will start, as a distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from cosched.core.arrays import integer, seed_of
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd
from cosched.notes import Note, NoteKind
from cosched.slurm.live.futures import Futures
from cosched.slurm.live.model import FinishedJob, SnapshotJob, parse_records
from cosched.slurm.live.new_jobs import jobs_of_requests
from cosched.slurm.live.reasons import Reasons
from cosched.slurm.live.run_times import read_run_times
from cosched.slurm.live.simulation import Simulation
from cosched.slurm.live.snapshot import Snapshot

LEVELS = (5, 25, 50, 75, 95)
COLUMNS = (
    "job",
    *(f"p{level:02d}" for level in LEVELS),
    "limit_based_start",
    "slurm",
    "reason",
    "has_history",
)
#: Deprecated names of columns, which have the same values: they go with the next minor version.
DEPRECATED_COLUMNS = {"limits_only": "limit_based_start", "calibrated": "has_history"}
_OF_REQUESTS = ("nodes", "time", "run_p50", "end_p50", "end_p95", "advised")
#: As early as the earliest: a tenth later, or a minute.
_ABOUT, _MINUTE = 1.1, 60.0
#: What coarser steps cost is measured on so many jobs, in so many futures.
_FIRST, _FEW = 100, 2


def when(
    snapshot: Snapshot | str | PathLike[str],
    jobs: Iterable[int | str] | None = None,
    requests: Iterable[Mapping[str, object]] | None = None,
    draws: int = 200,
    seed: int = 0,
    run_times: Mapping[Any, float] | str | PathLike[str] | None = None,
    history: Sequence[Mapping[str, object]] | None = None,
    *,
    arrivals: Sequence[Mapping[str, object]] | None = None,
    calibration: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """When jobs that wait will start: quantiles over draws of what is not known.

    Each draw goes on from the state of the snapshot with Slurm's own rules (the simulator
    :func:`cosched.slurm.backfill`): with run times drawn from the past (the user's own jobs, then
    the partition's, then all: ratios of run time to limit above the part that a job has run
    already), with submissions drawn from the past by hour of the week, and with clocks of its own.

    Parameters
    ----------
    snapshot : Snapshot or path-like
        What :meth:`Snapshot.read` takes.
    jobs : iterable of int, optional
        Ids of pending jobs; default all.
    requests : iterable of mapping, optional
        Jobs that are not submitted yet: ``nodes, time`` (s; infinite: no limit), and optionally
        ``cpus_per_task, mem`` (MB of a node), ``gpus`` (of a node), ``constraint, licenses`` (as
        sbatch takes them), ``partition, account, user, qos, runs`` (measured run times, s). Each is
        simulated alone.
    draws : int
        Futures.
    run_times : mapping or path-like, optional
        Seconds from start to end by job (or a CSV ``job,seconds``), in place of drawn ones; then
        nothing is drawn but clocks, and nobody comes but `arrivals`.
    history : sequence of mapping, optional
        Jobs of the past, as ``Snapshot.history``; default the snapshot's.
    arrivals : sequence of mapping, optional
        Later submissions, in place of drawn ones: ``job, submit`` (Unix time), ``user, account,
        qos, partition, nodes, cpus, limit, seconds``.
    calibration : mapping, optional
        ``attrs`` of :func:`backtest`: the bands of 90% are widened by its ``widen``, and
        ``coverage`` is its ``calibrated90``.
    progress : callable, optional
        Called with draws done and in all.

    Returns
    -------
    pandas.DataFrame
        ``job, p05, p25, p50, p75, p95`` (s after the snapshot; infinite: never),
        ``limit_based_start`` (s; all jobs run to their limits and nobody else submits anything:
        what Slurm's own estimate assumes), ``slurm`` (its own estimate; nan: none, below 0: in the
        past), ``reason`` (in Slurm's words), ``has_history`` (run times were drawn from at least
        five jobs that have ended). ``limits_only`` and ``calibrated`` are deprecated names of
        ``limit_based_start`` and ``has_history``. The 90% interval goes from p05 to p95, the 50%
        interval from p25 to p75; their ranks among the draws are rounded outwards.
        Of requests also ``nodes, time``, and where they have ``runs`` (s, as measured) ``run_p50,
        end_p50, end_p95``; ``advised``: of those that end (without runs: start) about as early as
        any, the one that takes the fewest node seconds. ``frame.attrs``: ``taken`` (s since 1970),
        ``utc_offset`` (s to add to the cluster's local time to get UTC), ``not_modelled,
        coverage, model``, ``requests`` (``user, partition, nodes, cpus`` of each pending job).

    Raises
    ------
    InvalidInstance
        No job waits, a job that does not wait, a request that sbatch refuses (in its words), or a
        bad file.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> running = ("JobId=7 JobName=a\\n UserId=ann(1) Priority=9\\n JobState=RUNNING\\n"
    ...            " TimeLimit=01:00:00\\n SubmitTime=2026-01-05T08:00:00\\n"
    ...            " StartTime=2026-01-05T08:00:00\\n Partition=main\\n NodeList=n1\\n"
    ...            " NumNodes=1 NumCPUs=4\\n")
    >>> waiting = ("JobId=8 JobName=b\\n UserId=bob(2) Priority=8\\n JobState=PENDING\\n"
    ...            " TimeLimit=01:00:00\\n SubmitTime=2026-01-05T08:00:00\\n"
    ...            " Partition=main\\n NumNodes=1 NumCPUs=4\\n")
    >>> _ = (folder / "scontrol_job.txt").write_text(running + waiting)
    >>> answer = when(folder, draws=20)
    >>> answer.job.tolist(), bool(answer.p05[0] < answer.p95[0] < 3700)
    ([8], True)
    """
    cluster = snapshot if isinstance(snapshot, Snapshot) else Snapshot.read(snapshot)
    past = (
        cluster.history if history is None else parse_records(FinishedJob, list(history), "history")
    )
    exact_run_times = read_run_times(run_times)
    draw_count, seed_number = integer(draws, "draws", 1, 1_000_000), seed_of(seed)
    request_jobs = jobs_of_requests(cluster, requests or ())
    job_ids = [] if request_jobs and jobs is None else _waiting_jobs(cluster, jobs)
    if not job_ids and not request_jobs:
        raise InvalidInstance("no job waits: expected a pending job, or a request (--nodes)")

    def futures_of(count: int) -> Futures:
        return Futures(cluster, past, exact_run_times, arrivals, count, seed_number)

    futures = futures_of(draw_count)
    rows, notes = [], list(cluster.missing)
    if job_ids:
        simulation = Simulation(cluster)
        rows += _rows(futures, simulation, job_ids, progress)
        notes += simulation.not_modelled
    for request in request_jobs:
        simulation = Simulation(cluster, [request])
        (row,) = _rows(futures, simulation, [request.id], progress)
        ends = _end_quantiles(request, row["drawn"], seed_number)
        rows.append({**row, "nodes": request.nodes, "time": request.limit, **ends})
        notes += simulation.not_modelled
    if simulation.coarse and cluster.given_machine is None:  # a log tells what happened, anyway
        notes.append(_coarse_step_error(futures_of(_FEW)))
    if request_jobs:
        _mark_advised(rows)
    if calibration is not None:
        _widen(rows, float(calibration["widen"]))
    coverage = None if calibration is None else calibration["calibrated90"]
    return _answer(cluster, rows, notes, coverage, of_requests=bool(request_jobs))


def no_jobs_wait(snapshot: Snapshot) -> pd.DataFrame:
    """Return the answer of :func:`when` for a cluster where no job waits: no rows."""
    return _answer(snapshot, [], snapshot.missing, None, of_requests=False)


def _answer(
    snapshot: Snapshot,
    rows: Sequence[Mapping[str, object]],
    notes: Iterable[Note],
    coverage: float | None,
    *,
    of_requests: bool,
) -> pd.DataFrame:
    """Return the table of :func:`when`, with its notes in ``attrs``."""
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *(_OF_REQUESTS if of_requests else ())])
    for deprecated, column in DEPRECATED_COLUMNS.items():
        frame[deprecated] = frame[column]
    frame.attrs = {
        "taken": snapshot.taken,
        "utc_offset": snapshot.clocks.get("offset", 0.0),
        "not_modelled": list(dict.fromkeys(notes)),
        "coverage": coverage,
        "model": {row["job"]: row["model"] for row in rows},
        "requests": _requests_of_pending_jobs(snapshot),
    }
    return frame


def _requests_of_pending_jobs(snapshot: Snapshot) -> dict[int, dict[str, Any]]:
    """Return whose each pending job is, and what it requests."""
    return {
        job.id: {
            "user": job.user,
            "partition": job.partition,
            "nodes": job.nodes,
            "cpus": job.cpus,
        }
        for job in snapshot.pending
    }


def _coarse_step_error(futures: Futures) -> Note:
    """Return a note of how far starts in coarse steps are from those with all cycles.

    They are compared for some jobs, in a few futures.
    """
    coarse = Simulation(futures.snapshot)
    rows = [coarse.rows[job.id] for job in futures.snapshot.pending]
    starts = futures.starts(coarse, rows, None)
    first = np.argsort(np.median(starts, axis=0), kind="stable")[:_FIRST]
    all_steps = Simulation(futures.snapshot, coarse=False)
    fine = futures.starts(all_steps, [rows[k] for k in first], None)
    is_finite = np.isfinite(fine) & np.isfinite(starts[:, first])
    differences = np.abs(fine - starts[:, first])[is_finite] / _MINUTE
    if not len(differences):
        text = "starts in coarser steps could not be measured against those in all: none is known"
        return Note(NoteKind.PRECISION, text, subject="coarser steps")
    median_minutes, p95_minutes = np.quantile(differences, [0.5, 0.95])
    text = (
        f"in {futures.draws} futures with all its cycles, half of the {len(first)} jobs that start "
        f"first do so within {median_minutes:.3g} minutes of what coarser steps say, 95% within "
        f"{p95_minutes:.3g}"
    )
    return Note(NoteKind.PRECISION, text, subject="coarser steps", count=len(first))


def _widen(rows: list[dict[str, Any]], widths: float) -> None:
    """Widen the 90% bands as much as past errors say; the 50% bands stay within them."""
    for row in rows:
        if math.isfinite(row["p95"]):
            grow = widths * max(row["p95"] - row["p05"], _MINUTE)
            row["p05"] = min(max(row["p05"] - grow, 0.0), row["p25"])
            row["p95"] = max(row["p95"] + grow, row["p75"])


def _mark_advised(rows: list[dict[str, Any]]) -> None:
    """Mark the cheapest of the good choices."""
    request_rows = [row for row in rows if "nodes" in row]
    key = "end_p50" if all(math.isfinite(row["end_p50"]) for row in request_rows) else "p50"
    best = min(row[key] for row in request_rows)

    def cost(row: Mapping[str, Any]) -> tuple[float, float]:
        seconds = row["run_p50"] if key == "end_p50" else row["time"]
        return (row["nodes"] * seconds, row[key])

    good = [row for row in request_rows if row[key] <= max(best * _ABOUT, best + _MINUTE)]
    chosen = min(good, key=cost) if math.isfinite(best) else None
    for row in request_rows:
        row["advised"] = row is chosen


def _waiting_jobs(snapshot: Snapshot, jobs: Iterable[int | str] | None) -> list[int]:
    """Return numbers of these jobs, or of all that wait."""
    waiting = {str(job.id): job.id for job in snapshot.pending}
    if jobs is None:
        return list(waiting.values())
    numbers = []
    for job in jobs:
        if str(job) not in waiting:
            state = next(
                (
                    listed_job.state
                    for listed_job in snapshot.jobs
                    if str(listed_job.id) == str(job)
                ),
                "",
            )
            fact = f"it is {state}" if state else "the snapshot does not have it"
            raise InvalidInstance(f"job {shorten(job)}: {fact}: expected a job that waits")
        numbers.append(waiting[str(job)])
    return numbers


def _rows(
    futures: Futures,
    simulation: Simulation,
    jobs: list[int],
    progress: Callable[[int, int], None] | None,
) -> list[dict[str, Any]]:
    """Return one row for each of these jobs."""
    numbers = [simulation.rows[job] for job in jobs]
    starts = futures.starts(simulation, numbers, progress)
    at_limits = futures.starts_at_limits(simulation, numbers)
    reasons, rows = Reasons(simulation), []
    for column, (job_id, number) in enumerate(zip(jobs, numbers, strict=True)):
        job = simulation.jobs[number]
        estimate = job.start if job.state == "PENDING" and job.start else np.nan
        rows.append(
            {
                "job": job_id,
                **quantiles_of(np.maximum(starts[:, column], 0.0)),
                "limit_based_start": float(max(at_limits[column], 0.0)),
                "slurm": float(estimate) - futures.snapshot.taken,
                "reason": reasons.reason_of(number),
                "has_history": futures.has_history,
                "model": futures.run_times.model_of(job),
                "drawn": starts[:, column],
            }
        )
    return rows


def quantiles_of(starts: np.ndarray) -> dict[str, float]:
    """Return the columns p05 to p95 of one job's starts in all futures.

    Order statistics number i and j of n draws hold the next draw with probability (j - i) / (n + 1)
    (Wilks 1941): ranks are levels of n + 1 draws, rounded outwards.
    """
    ordered = np.sort(starts)
    count = len(ordered)
    columns = {}
    for level in LEVELS:
        scaled = level * (count + 1)  # percent
        rank = scaled // 100 if level < 50 else -(-scaled // 100)
        if level == 50:
            rank = -(-count // 2)
        columns[f"p{level:02d}"] = float(ordered[min(max(rank, 1), count) - 1])
    return columns


def _end_quantiles(request: SnapshotJob, starts: np.ndarray, seed: int) -> dict[str, float]:
    """Return when the work of a request is done, by the run times that were measured."""
    runs = np.array(request.measured, dtype=float)
    if not len(runs):
        return dict.fromkeys(("run_p50", "end_p50", "end_p95"), np.nan)
    rng = np.random.default_rng([seed, request.nodes or 1, 3])
    ends = np.maximum(starts, 0.0) + rng.choice(runs, size=len(starts))
    end_quantiles = [float(np.quantile(ends, q, method="inverted_cdf")) for q in (0.5, 0.95)]
    return {
        "run_p50": float(np.median(runs)),
        "end_p50": end_quantiles[0],
        "end_p95": end_quantiles[1],
    }


def finite(value: float) -> float | None:
    """None where it is none, as JSON has it."""
    return float(value) if math.isfinite(value) else None
