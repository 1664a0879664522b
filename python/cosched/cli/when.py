"""``cosched snapshot``, ``when``: a Slurm now, when jobs will start, how many nodes to ask for."""

from __future__ import annotations

import json
import math
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io, plot
from cosched.cli import report
from cosched.cli.parameters import Arguments, adds
from cosched.cli.values import PICTURES, check_files
from cosched.core.tails import conformal_limit, min_sample_count
from cosched.core.text import count_of
from cosched.errors import CoschedError, InvalidInstance, shorten
from cosched.execution import runs as run_files
from cosched.execution.plan_input import MARGIN
from cosched.execution.runs import current
from cosched.lazy import pd, plt
from cosched.notes import note_records
from cosched.reports.when import when_page
from cosched.slurm.conf.lines import seconds_of_time
from cosched.slurm.live import Snapshot
from cosched.slurm.live.backtesting import coverage_by
from cosched.slurm.live.outputs import days_of, query_slurm, read_outputs
from cosched.slurm.live.prometheus import FailedReading, prometheus
from cosched.slurm.live.starts import DEPRECATED_COLUMNS, finite, no_jobs_wait
from cosched.slurm.live.times import dated, duration, limit_text
from cosched.units import parse_megabytes

_RISK = 0.05  # that a run of such a code is longer than its limit
_PAST = "14days"  # that the Slurm here is asked for


def snapshot(
    output: Path,
    folder: Path | None = None,
    history: str | None = None,
    anonymise: bool = False,
    timezone: str | None = None,
) -> None:
    check_files((output, (".json",)))
    days = days_of(history) if history is not None else None
    if folder is not None:
        texts, messages = read_outputs(folder)
    else:
        with report.working("asking Slurm"):
            texts, messages = query_slurm(days)
    if history is not None and days is None:
        texts["sacct.txt"] = io.read_text(history)
    snapshot = Snapshot.of_texts(texts, str(folder or "Slurm"), messages, timezone)
    (snapshot.anonymised() if anonymise else snapshot).write(output)
    for line in snapshot.missing:
        report.say(f"note: {line}")
    report.say(
        f"wrote {output}: {len(snapshot.running)} jobs run, {len(snapshot.pending)} wait, "
        f"{len(snapshot.history)} of the past"
    )


def when(
    snapshot: Path | None = None,
    jobs: list[str] | None = None,
    *,
    nodes: str | None = None,
    limit: str | None = None,
    cpus_per_task: int | None = None,
    mem: str | None = None,
    gpus: int | None = None,
    constraint: str | None = None,
    licenses: str | None = None,
    partition: str | None = None,
    account: str | None = None,
    user: str | None = None,
    qos: str | None = None,
    runs: Path | None = None,
    task: str | None = None,
    futures: Annotated[dict[str, Any], Arguments(cluster.when, "draws", "seed", "run_times")],
    backtest: Path | None = None,
    past: Annotated[
        dict[str, Any], Arguments(cluster.backtest, "machine", "accounts", "approximate", "moments")
    ],
    output: Path | None = None,
    calibration: Path | None = None,
    as_json: bool = False,
    picture: Path | None = None,
    dates: Annotated[dict[str, Any], Arguments(cluster.Snapshot.read, "timezone")],
    metrics: Path | None = None,
    watch: float | None = None,
) -> None:
    check_files((picture, PICTURES))
    check_files((output, (".json",) if backtest is not None else (".html",)))
    if watch is not None and not 0 < watch < math.inf:
        raise InvalidInstance(f"-w {watch:g}: expected seconds > 0")
    of_request = {
        "cpus_per_task": cpus_per_task, "mem": mem, "gpus": gpus, "constraint": constraint,
        "licenses": licenses, "partition": partition, "account": account, "user": user, "qos": qos,
    }  # fmt: skip
    _require_nodes(nodes, {**of_request, "time": limit, "runs": runs, "task": task})
    if backtest is not None:
        if past["machine"] is None:
            raise InvalidInstance("--backtest: expected --machine, a slurm.conf or a folder")
        if nodes is not None:
            raise InvalidInstance("--nodes: expected no request with --backtest")
        del futures["run_times"]
        _backtest({"history": backtest, **past, **futures}, output, as_json)
        return
    jobs = list(jobs or ())
    if snapshot is not None and snapshot.name.isdigit() and not snapshot.exists():
        jobs.insert(0, str(snapshot))
        snapshot = None
    known_errors = _calibration(calibration)
    of_request["mem"] = _megabytes(mem)
    requests = [{**of_request, **request} for request in _requests(nodes, limit, runs, task)]
    outputs = Outputs(as_json, output, metrics, picture)

    def read() -> cluster.Snapshot:
        if snapshot is not None:
            return cluster.Snapshot.read(snapshot, **dates)  # as the file is by now
        with report.working("asking Slurm"):
            return cluster.Snapshot.ask(_PAST)

    def answer(snapshot: cluster.Snapshot, job_ids: list[str] | None) -> pd.DataFrame:
        with _progress("futures", as_json) as progress:
            return cluster.when(
                snapshot, job_ids, requests, **futures, calibration=known_errors, progress=progress
            )

    if watch is None:
        outputs.write(answer(read(), jobs or None))
    else:
        keep_watching(read, answer, outputs, jobs, watch, of_requests=bool(requests))


def _require_nodes(nodes: str | None, options: dict[str, Any]) -> None:
    """Options of a job that is not submitted yet say nothing without --nodes."""
    names = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if nodes is None and names:
        verb = "is" if len(names) == 1 else "are"
        raise InvalidInstance(
            f"{', '.join(names)} {verb} of a job that is not submitted: expected --nodes, too"
        )


@dataclass(frozen=True)
class Outputs:
    """Where an answer goes: the terminal, a page, metrics, a picture."""

    as_json: bool
    page: Path | None
    metrics: Path | None
    picture: Path | None

    def write(self, frame: pd.DataFrame, failed: FailedReading | None = None) -> None:
        """Write an answer everywhere; after a reading that failed, the old one marked as stale."""
        if failed is None and (self.as_json or self.page is None):
            _show(frame, self.as_json)
        if self.page is not None:
            io.write_text(when_page(frame, failed), self.page)
        if self.metrics is not None:
            time_read = clock.time() if failed is None else failed.time
            io.write_text(prometheus(frame, time_read, failed), self.metrics)
        if self.picture is not None and failed is None and len(frame):
            _draw(frame, self.picture)


def keep_watching(
    read: Callable[[], cluster.Snapshot],
    answer: Callable[[cluster.Snapshot, list[str] | None], pd.DataFrame],
    outputs: Outputs,
    jobs: list[str],
    seconds: float,
    *,
    of_requests: bool,
) -> None:
    """Answer again and again until Ctrl-C.

    The first reading has to succeed: a wrong name is no outage. Of a later one that fails there is
    a warning, and the outputs show the last answer as stale. It goes on where no job waits.
    """
    frame = None
    while True:
        try:
            frame = _answer_now(read(), answer, jobs, of_requests=of_requests)
        except (CoschedError, OSError) as error:
            if frame is None:
                raise
            failed = FailedReading(clock.time(), str(error))
            age = duration(failed.time - frame.attrs["taken"])
            report.complain(f"warning: {error}; the last answer is {age} old")
            outputs.write(frame, failed)
        else:
            outputs.write(frame)
        clock.sleep(seconds)


def _answer_now(
    snapshot: cluster.Snapshot,
    answer: Callable[[cluster.Snapshot, list[str] | None], pd.DataFrame],
    jobs: list[str],
    *,
    of_requests: bool,
) -> pd.DataFrame:
    """The answer for those of the jobs that still wait; one without rows where none does."""
    waiting = {str(job.id) for job in snapshot.pending}
    waiting_jobs = [job for job in jobs if job in waiting] if jobs else None
    if jobs and len(waiting_jobs or ()) < len(jobs):
        states = {str(job.id): job.state for job in snapshot.jobs}
        for job in jobs:
            if job not in waiting:
                report.complain(f"job {job} does not wait: {states.get(job, 'it has left')}")
    is_empty = not waiting_jobs if jobs else not waiting
    if is_empty and not of_requests:
        return no_jobs_wait(snapshot)
    return answer(snapshot, waiting_jobs or None)


@contextmanager
def _progress(what: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    if quiet:
        yield None
        return
    with report.progress(counted=True) as bar:
        line = bar.add_task(what)
        yield lambda done, total: bar.update(line, completed=done, total=total)


#: What follows where the simulator starts fewer jobs near the log than its intervals need.
_TOO_FEW_STARTS = (
    "fewer than half of the starts are near the log's, even with the real run times: do not trust "
    "the intervals"
)


def _backtest(past: dict[str, Any], output: Path | None, as_json: bool) -> None:
    with _progress("moments", as_json) as progress:
        frame = cluster.backtest(**past, progress=progress)
    attributes = frame.attrs
    tables = {key: coverage_by(frame, key) for key in ("partition", "horizon")}
    rows = {key: io.plain(table.to_dict("records")) for key, table in tables.items()}
    data = {**attributes, "slurm_median_error": None, "by": rows}
    if output is not None:
        io.write_json(data, output)
    if as_json:
        typer.echo(json.dumps(io.plain(data), indent=1))
        return
    trust = "" if attributes["knows"] else f"; {_TOO_FEW_STARTS}"
    report.say(
        f"with the real run times and submissions the simulator of Slurm starts "
        f"{attributes['agreement']:.0%} of {attributes['jobs']} jobs within 5 minutes of the "
        f"log{trust}"
    )
    report.say(
        f"at {attributes['moments']} moments: 50% bands held {attributes['coverage50']:.0%}, 90% "
        "bands "
        f"{attributes['coverage90']:.0%}; median error {duration(attributes['median_error'])}"
    )
    if attributes["calibrated90"] is not None:
        report.say(
            f"widened by {attributes['widen']:.2f} of their width: "
            f"{attributes['calibrated90']:.0%} on "
            "moments that were not used for it"
        )
    for key, table in tables.items():
        report.show_frame(f"by {key}", table)


def _calibration(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    data = io.read_json(path)
    if not isinstance(data, dict) or not {"widen", "calibrated90"} <= set(data):
        raise InvalidInstance(f"{path}: expected what when --backtest -o wrote")
    if not data.get("knows", True):
        report.say(f"{path}: {_TOO_FEW_STARTS}")
    return data


def _draw(frame: pd.DataFrame, path: Path) -> None:
    report.without_screen()
    figure, ax = plt.subplots(figsize=(9, 1.5 + 0.3 * min(len(frame), 60)), layout="constrained")
    plot.save(plot.starts(frame, ax), path)
    plt.close(figure)


def _requests(
    nodes: str | None, limit: str | None, runs: Path | None, task: str | None
) -> list[dict[str, Any]]:
    """One for each number of nodes, and each limit."""
    if nodes is None:
        return []
    if limit is None:
        raise InvalidInstance("--time is missing: expected 2:00:00, or auto with --runs")
    counts = [io.parse_integer(text, "--nodes", 1, 10**7) for text in nodes.split(",")]
    measured = _measured(runs, task)
    agreements = []
    for count in counts:
        measured_waits = measured.get(count, [])
        if runs is not None and not measured_waits:
            raise InvalidInstance(f"{runs}: task {shorten(task)} has no runs on {count}")
        for text in limit.split(","):
            if text == "auto" and not measured_waits:
                raise InvalidInstance("--time auto: expected --runs and --task")
            seconds = _auto(measured_waits) if text == "auto" else seconds_of_time(text, "--time")
            if seconds == 0:  # sbatch: no limit
                seconds = math.inf
            agreements.append({"nodes": count, "time": seconds, "runs": measured_waits})
    return agreements


def _auto(runs: list[float]) -> float:
    """What the next such run exceeds with a chance of 5% at most, in whole minutes; of too few runs
    as long as the longest, and a tenth more."""
    if len(runs) < min_sample_count(_RISK):
        report.complain(
            f"--time auto: {len(runs)} runs are too few to promise that 95% end in time"
        )
    return math.ceil(conformal_limit(runs, _RISK, MARGIN) / 60) * 60.0


def _measured(runs: Path | None, task: str | None) -> dict[int, list[float]]:
    if runs is None:
        return {}
    of_tasks = run_files.seconds_of(current(run_files.read_runs(runs), None)[0])
    if task not in of_tasks:
        raise InvalidInstance(f"--task {shorten(task)}: {runs} has {', '.join(sorted(of_tasks))}")
    return {count: times for count, times in of_tasks[task].items() if times}


def _megabytes(text: str | None) -> int | None:
    if text is None:
        return None
    megabytes = parse_megabytes(text)
    if not megabytes:
        raise InvalidInstance(f"--mem: {shorten(text)}: expected as 4G")
    return max(1, round(megabytes))


def _show(frame: pd.DataFrame, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(to_record(frame), indent=1))
        return
    if not len(frame):
        report.say(f"no job waits, as of {_as_of(frame)}")
        return
    listed = frame.drop(columns=list(DEPRECATED_COLUMNS))
    for name in ("p05", "p25", "p50", "p75", "p95", "limit_based_start", "slurm", "run_p50",
                 "end_p50", "end_p95"):  # fmt: skip
        if name in listed:
            listed[name] = [duration(value) for value in frame[name]]
    if "time" in listed:
        listed["time"] = list(map(limit_text, frame["time"]))
    listed["run times"] = [frame.attrs["model"][job] for job in frame["job"]]
    report.show_frame(f"when jobs start, as of {_as_of(frame)}", listed)
    if frame.attrs["coverage"] is not None:
        report.say(f"of such 90% bands {frame.attrs['coverage']:.0%} held in the past")
    if not frame["has_history"].all():
        report.say("has_history False: there is no history of jobs to draw run times from")
    report.say(
        "limit_based_start: all jobs run to their limits and nobody else submits anything; "
        "neither the earliest nor the latest start"
    )
    for line in frame.attrs["not_modelled"]:
        report.say(f"not modelled: {line}")
    # Jobs that are asked for together with requests have NaN there.
    advised = frame[frame["advised"].eq(True)] if "advised" in frame else frame.head(0)
    if len(advised):
        chosen = advised.iloc[0]
        nodes = count_of(int(chosen["nodes"]), "node")
        report.say(f"advised: {nodes} for {limit_text(chosen['time'])}")


def _as_of(frame: pd.DataFrame) -> str:
    return dated(frame.attrs["taken"], frame.attrs["utc_offset"])


def to_record(frame: pd.DataFrame) -> dict[str, Any]:
    """The answer as JSON has it; null: never, or not known."""
    rows = [
        {k: finite(v) if isinstance(v, float) else v for k, v in row.items()}
        for row in io.plain(frame.to_dict("records"))
    ]
    keys = ("not_modelled", "coverage")
    return {
        "taken": frame.attrs["taken"], "as_of": _as_of(frame), "jobs": rows,
        **{key: frame.attrs[key] for key in keys},
        "note_records": note_records(frame.attrs["not_modelled"]),
    }  # fmt: skip


add = adds(snapshot=snapshot, when=when)
