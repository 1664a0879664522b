"""``cosched snapshot``, ``when``: a Slurm now, when jobs will start, how many nodes to ask for."""

from __future__ import annotations

import json
import math
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import cluster, io, plot
from cosched.cli import report
from cosched.cli.parameters import Arguments, adds
from cosched.cli.values import PICTURES, check_files
from cosched.cluster.machine.node_types import megabytes_of
from cosched.core.tails import enough, least_past
from cosched.errors import InvalidInstance, shorten
from cosched.execution import runs as run_files
from cosched.execution.plan_input import MARGIN
from cosched.execution.runs import current
from cosched.lazy import pd, plt
from cosched.slurm.conf.lines import seconds_of_limit
from cosched.slurm.live import Snapshot
from cosched.slurm.live.outputs import asked, collected, days_of
from cosched.slurm.live.page import page, prometheus
from cosched.slurm.live.past import by
from cosched.slurm.live.starts import finite

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
        texts, said = collected(folder)
    else:
        with report.working("asking Slurm"):
            texts, said = asked(days)
    if history is not None and days is None:
        texts["sacct.txt"] = io.read_text(history)
    found = Snapshot.of_texts(texts, str(folder or "Slurm"), said, timezone)
    (found.anonymised() if anonymise else found).write(output)
    for line in found.missing:
        report.say(f"note: {line}")
    report.say(
        f"wrote {output}: {len(found.running)} jobs run, {len(found.pending)} wait, "
        f"{len(found.history)} of the past"
    )


def when(
    snapshot: Path | None = None,
    jobs: list[str] | None = None,
    *,
    nodes: str | None = None,
    limit: str | None = None,
    cpus_per_task: int = 1,
    mem: str | None = None,
    gpus: int | None = None,
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
    if backtest is not None:
        if past["machine"] is None:
            raise InvalidInstance("--backtest: expected --machine, a slurm.conf or a folder")
        del futures["run_times"]
        _backtest({"history": backtest, **past, **futures}, output, as_json)
        return
    jobs = list(jobs or ())
    if snapshot is not None and snapshot.name.isdigit() and not snapshot.exists():
        jobs.insert(0, str(snapshot))
        snapshot = None
    known_errors = _calibration(calibration)
    asked = _requests(nodes, limit, runs, task)
    common = {"cpus_per_task": cpus_per_task, "mem": _megabytes(mem), "gpus": gpus,
              "partition": partition, "account": account, "user": user, "qos": qos}  # fmt: skip
    while True:
        if snapshot is not None:
            known = cluster.Snapshot.read(snapshot, **dates)  # as the file is by now
        else:
            with report.working("asking Slurm"):
                known = cluster.Snapshot.ask(_PAST)
        with _progress("futures", as_json) as progress:
            frame = cluster.when(
                known, jobs or None, [{**common, **one} for one in asked], **futures,
                calibration=known_errors, progress=progress,
            )  # fmt: skip
        if as_json or output is None:
            _show(frame, as_json)
        if output is not None:
            io.write_text(page(frame), output)
        if metrics is not None:
            io.write_text(prometheus(frame), metrics)
        if picture is not None:
            _draw(frame, picture)
        if watch is None:
            return
        clock.sleep(watch)


@contextmanager
def _progress(what: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    if quiet:
        yield None
        return
    with report.progress(counted=True) as bar:
        line = bar.add_task(what)
        yield lambda done, total: bar.update(line, completed=done, total=total)


def _backtest(past: dict[str, Any], output: Path | None, as_json: bool) -> None:
    with _progress("moments", as_json) as progress:
        frame = cluster.backtest(**past, progress=progress)
    found = frame.attrs
    tables = {key: by(frame, key) for key in ("partition", "horizon")}
    rows = {key: io.plain(table.to_dict("records")) for key, table in tables.items()}
    data = {**found, "slurm_median_error": None, "by": rows}
    if output is not None:
        io.write_json(data, output)
    if as_json:
        typer.echo(json.dumps(io.plain(data), indent=1))
        return
    said = "knows this cluster" if found["knows"] else "does not know this cluster"
    report.say(
        f"the twin {said}: {found['agreement']:.0%} of {found['jobs']} starts within 5 minutes, "
        "with the real run times and submissions"
    )
    report.say(
        f"at {found['moments']} moments: 50% bands held {found['coverage50']:.0%}, 90% bands "
        f"{found['coverage90']:.0%}; median error {in_words(found['median_error'])}"
    )
    if found["calibrated90"] is not None:
        report.say(
            f"widened by {found['widen']:.2f} of their width: {found['calibrated90']:.0%} on "
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
        report.say(f"{path}: the twin does not know this cluster: its bands are not to be trusted")
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
        if limit is not None or runs is not None:
            raise InvalidInstance(
                "--time and --runs are of a job that is not submitted: give --nodes"
            )
        return []
    if limit is None:
        raise InvalidInstance("--time is missing: expected 2:00:00, or auto with --runs")
    counts = [io.parse_integer(text, "--nodes", 1, 10**7) for text in nodes.split(",")]
    measured = _measured(runs, task)
    found = []
    for count in counts:
        own = measured.get(count, [])
        if runs is not None and not own:
            raise InvalidInstance(f"{runs}: task {shorten(task)} has no runs on {count}")
        for text in limit.split(","):
            if text == "auto" and not own:
                raise InvalidInstance("--time auto: expected --runs and --task")
            seconds = _auto(own) if text == "auto" else seconds_of_limit(text, "--time")
            found.append({"nodes": count, "time": seconds, "runs": own})
    return found


def _auto(runs: list[float]) -> float:
    """What the next such run exceeds with a chance of 5% at most, in whole minutes; of too few runs
    as long as the longest, and a tenth more."""
    if len(runs) < least_past(_RISK):
        report.complain(
            f"--time auto: {len(runs)} runs are too few to promise that 95% end in time"
        )
    return math.ceil(enough(runs, _RISK, MARGIN) / 60) * 60.0


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
    found = megabytes_of(text)
    if not found:
        raise InvalidInstance(f"--mem: {shorten(text)}: expected as 4G")
    return max(1, round(found))


def _show(frame: pd.DataFrame, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(plain(frame), indent=1))
        return
    shown = frame.copy()
    for name in ("p05", "p25", "p50", "p75", "p95", "limits_only", "slurm", "time", "run_p50",
                 "end_p50", "end_p95"):  # fmt: skip
        if name in shown:
            shown[name] = [in_words(value) for value in frame[name]]
    shown["run times"] = [frame.attrs["model"][job] for job in frame["job"]]
    report.show_frame("when jobs start", shown)
    if frame.attrs["coverage"] is not None:
        report.say(f"of such 90% bands {frame.attrs['coverage']:.0%} held in the past")
    if not frame["calibrated"].all():
        report.say("uncalibrated: there is no past to draw run times and submissions from")
    report.say("limits_only: all run to their limits and nobody comes, a worst case without those")
    for line in frame.attrs["not_modelled"]:
        report.say(f"not modelled: {line}")
    if "advised" in frame and frame["advised"].any():
        chosen = frame[frame["advised"]].iloc[0]
        report.say(f"advised: {chosen['nodes']} nodes for {in_words(chosen['time'])}")


def in_words(seconds: float) -> str:
    """As ``3 h 05 min``."""
    if math.isnan(seconds):
        return ""
    if math.isinf(seconds):
        return "never"
    if round(seconds) < 0:
        return f"-{in_words(-seconds)}"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def plain(frame: pd.DataFrame) -> dict[str, Any]:
    """The answer as JSON has it; null: never, or not known."""
    rows = [
        {k: finite(v) if isinstance(v, float) else v for k, v in row.items()}
        for row in io.plain(frame.to_dict("records"))
    ]
    keys = ("taken", "not_modelled", "coverage")
    return {"taken": frame.attrs["taken"], "jobs": rows, **{k: frame.attrs[k] for k in keys[1:]}}


add = adds(snapshot=snapshot, when=when)
