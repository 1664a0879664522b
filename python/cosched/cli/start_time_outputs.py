"""Predicted start times on the terminal, in files, and again and again."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosched import io, plot, slurm
from cosched.cli import report
from cosched.core.text import count_of
from cosched.errors import CoschedError, InvalidInstance
from cosched.lazy import pd, plt
from cosched.notes import note_records
from cosched.reports.when import when_page
from cosched.slurm.live.backtesting import coverage_by
from cosched.slurm.live.prometheus import FailedReading, prometheus
from cosched.slurm.live.start_accuracy import accuracy_table, plan_table, start_accuracy
from cosched.slurm.live.starts import DEPRECATED_COLUMNS, finite, no_jobs_wait
from cosched.slurm.live.time_texts import dated, duration, limit_text


@dataclass(frozen=True)
class Outputs:
    """Where an answer goes: the terminal, a page, metrics, a picture."""

    #: Whether the answer is printed as JSON.
    as_json: bool
    #: The HTML report; None: none is written.
    page: Path | None
    #: The file of the numbers that ``--json`` prints; None: none is written.
    numbers: Path | None
    #: The file of metrics for Prometheus; None: none is written.
    metrics: Path | None
    #: The figure (.png, .svg or .pdf); None: none is drawn.
    picture: Path | None

    def write(self, frame: pd.DataFrame, failed: FailedReading | None = None) -> None:
        """Write an answer everywhere; after a reading that failed, the old one marked as stale."""
        if failed is None and (self.as_json or self.page is None):
            _show(frame, self.as_json)
        if self.page is not None:
            io.write_text(when_page(frame, failed), self.page)
            if failed is None and not self.as_json:
                _say_summary(frame)
                report.hint(f"wrote {self.page}")
        if self.numbers is not None and failed is None:
            io.write_json(to_record(frame), self.numbers)
            if not self.as_json:
                report.hint(f"wrote {self.numbers}")
        if self.metrics is not None:
            time_read = clock.time() if failed is None else failed.time
            io.write_text(prometheus(frame, time_read, failed), self.metrics)
        if self.picture is not None and failed is None and len(frame):
            _draw(frame, self.picture)


def keep_watching(
    read: Callable[[], slurm.Snapshot],
    answer: Callable[[slurm.Snapshot, list[str] | None], pd.DataFrame],
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
    snapshot: slurm.Snapshot,
    answer: Callable[[slurm.Snapshot, list[str] | None], pd.DataFrame],
    jobs: list[str],
    *,
    of_requests: bool,
) -> pd.DataFrame:
    """Return the answer for those of the jobs that still wait; one without rows where none does."""
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
def scenario_progress(what: str, *, is_hidden: bool) -> Iterator[Callable[[int, int], None] | None]:
    """What is called with the number of finished scenarios, and of all; None: nobody looks."""
    if is_hidden:
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


def show_backtest(options: dict[str, Any], output: Path | None, *, as_json: bool) -> None:
    """Ask in the past, and print how often the intervals were right."""
    with scenario_progress("moments", is_hidden=as_json) as progress:
        frame = slurm.backtest(**options, progress=progress)
    attributes = frame.attrs
    tables = {key: coverage_by(frame, key) for key in ("partition", "horizon")}
    rows = {key: io.plain(table.to_dict("records")) for key, table in tables.items()}
    data = {**attributes, "slurm_median_error": None, "by": rows}
    if output is not None:
        io.write_json(data, output)
    if as_json:
        report.print_json(data)
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
    accuracies = start_accuracy(frame)
    report.show_frame("by true wait", accuracy_table(accuracies))
    report.show_frame(
        "plans with time limits, as squeue --start would show them, and predictions for the same "
        "jobs",
        plan_table(accuracies),
    )
    for key, table in tables.items():
        report.show_frame(f"by {key}", table)


def read_calibration(path: Path | None) -> dict[str, Any] | None:
    """What ``--backtest -o`` wrote; None without a file."""
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


def _say_summary(frame: pd.DataFrame) -> None:
    """Print when the next job and the last one are expected to start."""
    medians = frame["p50"].dropna().tolist() if len(frame) else []
    if not medians:
        report.say(f"no job waits, as of {_as_of(frame)}")
        return
    report.say(
        f"{count_of(len(frame), 'job')}, as of {_as_of(frame)}: median start of the next in "
        f"{duration(min(medians))}, of the last in "
        f"{duration(max(medians))}"
    )


def _show(frame: pd.DataFrame, as_json: bool) -> None:
    if as_json:
        report.print_json(to_record(frame))
        return
    if not len(frame):
        report.say(f"no job waits, as of {_as_of(frame)}")
        return
    listed = frame.drop(columns=list(DEPRECATED_COLUMNS)).sort_values("p50", kind="stable")
    frame = frame.loc[listed.index]
    for name in (
        "p05",
        "p25",
        "p50",
        "p75",
        "p95",
        "limit_based_start",
        "slurm",
        "run_p50",
        "end_p50",
        "end_p95",
    ):
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
        "taken": frame.attrs["taken"],
        "as_of": _as_of(frame),
        "jobs": rows,
        **{key: frame.attrs[key] for key in keys},
        "note_records": note_records(frame.attrs["not_modelled"]),
    }
