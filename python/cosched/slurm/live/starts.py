"""``slurm.when``: when pending jobs will start, as a distribution over simulated futures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from cosched.slurm.live.run_times import read_run_times
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.live.snapshot_simulation import Simulation
from cosched.slurm.live.start_quantiles import LEVELS, start_quantiles, widened
from cosched.slurm.live.wait_reasons import Reasons

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
_REQUEST_COLUMNS = ("nodes", "time", "run_p50", "end_p50", "end_p95", "advised")
#: A request is about as early as the earliest if it needs at most so many times as long ...
_SIMILAR_RATIO = 1.1
#: ... or at most so many seconds more.
_SIMILAR_SECONDS = 60.0
#: The error of coarser steps is measured on so many jobs, those that start first ...
_MAX_COMPARED_JOBS = 100
#: ... in so many futures.
_COMPARED_FUTURES = 2


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
    """Predict when pending jobs start: quantiles over simulated futures.

    Each future goes on from the state of the snapshot with Slurm's own rules (the simulator
    :func:`cosched.slurm.backfill`). Run times are drawn from the past: from jobs of the user, then
    of the partition, then of all, as ratios of run time to limit above the part that a job has run
    already. Submissions are drawn from the past by hour of the week, and each future has clocks of
    its own.

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
        Number of futures.
    seed : int
        Of what is drawn.
    run_times : mapping or path-like, optional
        Seconds from start to end by job (or a CSV ``job,seconds``), in place of drawn ones. Then
        nothing is drawn but the clocks, and nothing is submitted but `arrivals`.
    history : sequence of mapping, optional
        Jobs of the past, as ``Snapshot.history``; default: the snapshot's.
    arrivals : sequence of mapping, optional
        Later submissions, in place of drawn ones: ``job, submit`` (Unix time), ``user, account,
        qos, partition, nodes, cpus, limit, seconds``.
    calibration : mapping, optional
        ``attrs`` of :func:`backtest`: the 90% intervals are widened by its ``widen``, and
        ``coverage`` is its ``calibrated90``.
    progress : callable, optional
        Called with the finished futures and their total.

    Returns
    -------
    pandas.DataFrame
        One row per job, then one per request:

        - ``job``; ``p05, p25, p50, p75, p95`` (s after the snapshot; infinite: never). The 90%
          interval goes from p05 to p95, the 50% interval from p25 to p75; their ranks among the
          futures are rounded outwards.
        - ``limit_based_start`` (s): all jobs run to their limits and nothing else is submitted,
          which is what Slurm's own estimate assumes.
        - ``slurm`` (s): Slurm's own estimate; nan: none, below 0: in the past.
        - ``reason``: in Slurm's words.
        - ``has_history``: run times were drawn from at least five jobs that have ended.
        - ``limits_only, calibrated``: deprecated names of ``limit_based_start, has_history``.
        - of requests ``nodes, time``, and where they have ``runs`` the quantiles of run time and
          end ``run_p50, end_p50, end_p95`` (s); ``advised``: of the requests that end (without
          runs: start) about as early as any, the one that takes the fewest node-seconds.

        ``frame.attrs``: ``taken`` (Unix time), ``utc_offset`` (s to add to the cluster's local time
        to get UTC), ``not_modelled``, ``coverage``, ``model``, ``requests`` (``user, partition,
        nodes, cpus`` of each pending job).

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
    past_jobs = (
        cluster.history if history is None else parse_records(FinishedJob, list(history), "history")
    )
    exact_run_times = read_run_times(run_times)
    draw_count, seed_number = integer(draws, "draws", 1, 1_000_000), seed_of(seed)
    request_jobs = jobs_of_requests(cluster, requests or ())
    job_ids = [] if request_jobs and jobs is None else _pending_ids(cluster, jobs)
    if not job_ids and not request_jobs:
        raise InvalidInstance("no job waits: expected a pending job, or a request (--nodes)")

    def draw_futures(count: int) -> Futures:
        return Futures(cluster, past_jobs, exact_run_times, arrivals, count, seed_number)

    futures = draw_futures(draw_count)
    predictions: list[_Prediction] = []
    notes = list(cluster.missing)
    if job_ids:
        simulation = Simulation(cluster)
        predictions += _predict(futures, simulation, job_ids, progress)
        notes += simulation.not_modelled
    rows = [prediction.columns() for prediction in predictions]
    request_rows = []
    for request in request_jobs:
        simulation = Simulation(cluster, [request])
        (prediction,) = _predict(futures, simulation, [request.id], progress)
        predictions.append(prediction)
        request_rows.append(
            {
                **prediction.columns(),
                "nodes": request.nodes,
                "time": request.limit,
                **_end_quantiles(request, prediction.starts, seed_number),
            }
        )
        notes += simulation.not_modelled
    # A snapshot made of a log tells what happened: nobody plans with its starts.
    if simulation.coarse and cluster.given_machine is None:
        notes.append(_coarse_step_error(draw_futures(_COMPARED_FUTURES)))
    if request_rows:
        rows += _with_advice(request_rows)
    coverage = None
    if calibration is not None:
        rows = [widened(row, float(calibration["widen"])) for row in rows]
        coverage = calibration["calibrated90"]
    frame = _make_frame(cluster, rows, notes, coverage, has_requests=bool(request_jobs))
    frame.attrs["model"] = {prediction.job_id: prediction.model for prediction in predictions}
    return frame


def no_jobs_wait(snapshot: Snapshot) -> pd.DataFrame:
    """Return the answer of :func:`when` for a cluster where no job waits: no rows."""
    return _make_frame(snapshot, [], snapshot.missing, None, has_requests=False)


@dataclass(frozen=True, eq=False)
class _Prediction:
    """When one job starts, in all futures."""

    #: Id of the job.
    job_id: int
    #: Seconds after the snapshot, one per future; infinite: never.
    starts: np.ndarray
    #: The start (s after the snapshot) if all jobs run to their limits and nothing is submitted.
    limit_based_start: float
    #: Slurm's own estimate (s after the snapshot); nan: none.
    slurm_estimate: float
    #: Why the job waits, in Slurm's words.
    reason: str
    #: Whether run times were drawn from jobs that have ended.
    has_history: bool
    #: From which jobs its run time was drawn.
    model: Any

    def columns(self) -> dict[str, Any]:
        """Return the columns of the job in the table of :func:`when`."""
        return {
            "job": self.job_id,
            **start_quantiles(np.maximum(self.starts, 0.0)),
            "limit_based_start": float(max(self.limit_based_start, 0.0)),
            "slurm": self.slurm_estimate,
            "reason": self.reason,
            "has_history": self.has_history,
        }


def _predict(
    futures: Futures,
    simulation: Simulation,
    job_ids: Sequence[int],
    progress: Callable[[int, int], None] | None,
) -> list[_Prediction]:
    """Simulate all futures, and return when these jobs start."""
    rows = [simulation.rows[job_id] for job_id in job_ids]
    starts = futures.starts(simulation, rows, progress)
    limit_based_starts = futures.starts_at_limits(simulation, rows)
    reasons = Reasons(simulation)
    predictions = []
    for column, (job_id, row) in enumerate(zip(job_ids, rows, strict=True)):
        job = simulation.jobs[row]
        estimate = job.start if job.state == "PENDING" and job.start else math.nan
        predictions.append(
            _Prediction(
                job_id=job_id,
                starts=starts[:, column],
                limit_based_start=limit_based_starts[column],
                slurm_estimate=float(estimate) - futures.snapshot.time,
                reason=reasons.reason_of(row),
                has_history=futures.has_history,
                model=futures.run_times.model_of(job),
            )
        )
    return predictions


def _make_frame(
    snapshot: Snapshot,
    rows: Sequence[Mapping[str, object]],
    notes: Iterable[Note],
    coverage: float | None,
    *,
    has_requests: bool,
) -> pd.DataFrame:
    """Return the table of :func:`when`, with its notes in ``attrs``."""
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *(_REQUEST_COLUMNS if has_requests else ())])
    for deprecated, column in DEPRECATED_COLUMNS.items():
        frame[deprecated] = frame[column]
    frame.attrs = {
        "taken": snapshot.time,
        "utc_offset": snapshot.clocks.get("offset", 0.0),
        "not_modelled": list(dict.fromkeys(notes)),
        "coverage": coverage,
        "model": {},
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
    """Return a note of how far starts in coarser steps are from those with all cycles.

    In coarser steps backfill cycles are at least 30 minutes apart; those between are left out. The
    starts are compared in these few futures, for the jobs that start first.
    """
    coarse_simulation = Simulation(futures.snapshot)
    rows = [coarse_simulation.rows[job.id] for job in futures.snapshot.pending]
    all_coarse_starts = futures.starts(coarse_simulation, rows, None)
    order_of_starts = np.argsort(np.median(all_coarse_starts, axis=0), kind="stable")
    compared = order_of_starts[:_MAX_COMPARED_JOBS]
    exact_simulation = Simulation(futures.snapshot, coarse=False)
    exact_starts = futures.starts(exact_simulation, [rows[k] for k in compared], None)
    coarse_starts = all_coarse_starts[:, compared]
    is_finite = np.isfinite(exact_starts) & np.isfinite(coarse_starts)
    minutes = np.abs(exact_starts - coarse_starts)[is_finite] / 60
    if not len(minutes):
        text = "starts in coarser steps could not be measured against those in all: none is known"
        return Note(NoteKind.PRECISION, text, subject="coarser steps")
    median_minutes, p95_minutes = np.quantile(minutes, [0.5, 0.95])
    text = (
        f"in {futures.draws} futures with all its cycles, half of the {len(compared)} jobs that "
        f"start first do so within {median_minutes:.3g} minutes of what coarser steps say, 95% "
        f"within {p95_minutes:.3g}"
    )
    return Note(NoteKind.PRECISION, text, subject="coarser steps", count=len(compared))


def _with_advice(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of requests with the column ``advised``: one of them is.

    It takes the fewest node-seconds of those that end about as early as the earliest. Where some
    have no measured run times, they are compared by their starts.
    """
    has_ends = all(math.isfinite(row["end_p50"]) for row in rows)
    moment = "end_p50" if has_ends else "p50"
    earliest = min(row[moment] for row in rows)

    def cost(row: Mapping[str, Any]) -> tuple[float, float]:
        seconds = row["run_p50"] if has_ends else row["time"]
        return row["nodes"] * seconds, row[moment]

    latest = max(earliest * _SIMILAR_RATIO, earliest + _SIMILAR_SECONDS)
    early_rows = [row for row in rows if row[moment] <= latest]
    advised_row = min(early_rows, key=cost) if math.isfinite(earliest) else None
    return [{**row, "advised": row is advised_row} for row in rows]


def _pending_ids(snapshot: Snapshot, jobs: Iterable[int | str] | None) -> list[int]:
    """Return the ids of these pending jobs, or of all.

    Raises
    ------
    InvalidInstance
        A job that does not wait.
    """
    id_by_text = {str(job.id): job.id for job in snapshot.pending}
    if jobs is None:
        return list(id_by_text.values())
    state_by_text = {str(job.id): job.state for job in reversed(snapshot.jobs)}
    ids = []
    for job in jobs:
        if str(job) not in id_by_text:
            state = state_by_text.get(str(job), "")
            fact = f"it is {state}" if state else "the snapshot does not have it"
            raise InvalidInstance(f"job {shorten(job)}: {fact}: expected a job that waits")
        ids.append(id_by_text[str(job)])
    return ids


def _end_quantiles(request: SnapshotJob, starts: np.ndarray, seed: int) -> dict[str, float]:
    """Return the median run time of a request, and the median and 95th percentile of its end (s),
    by the run times that were measured; nan: none were."""
    runs = np.array(request.measured, dtype=float)
    if not len(runs):
        return dict.fromkeys(("run_p50", "end_p50", "end_p95"), np.nan)
    rng = np.random.default_rng([seed, request.nodes or 1, 3])
    ends = np.maximum(starts, 0.0) + rng.choice(runs, size=len(starts))
    return {
        "run_p50": float(np.median(runs)),
        "end_p50": float(np.quantile(ends, 0.5, method="inverted_cdf")),
        "end_p95": float(np.quantile(ends, 0.95, method="inverted_cdf")),
    }


def finite(value: float) -> float | None:
    """Return a number as JSON has it: None where it is not finite."""
    return float(value) if math.isfinite(value) else None
