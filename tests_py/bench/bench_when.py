"""How accurate `cosched when` is, on snapshots of which it is known what happened afterwards.

    python tests_py/bench/bench_when.py recorded FOLDER [--draws 100] [--oracles]
    COSCHED_DATA=DATA python tests_py/bench/bench_when.py week [--every 1] [--draws 20] [--oracles]
    python tests_py/bench/bench_when.py speed [--draws 200] [--waiting 1000] [--nodes 500]

``recorded``: snapshots of real Slurms. FOLDER holds the unpacked archives of
tests_py/fixtures/slurm/snapshots: series with a ``truth.json`` (``live_fs/t01800``), and moments of
recordings (``gpu_a.1/900.*``), whose true starts are in tests_py/fixtures/slurm/gpu_a.json.gz.

``week``: a snapshot every so many hours of the public week of a university cluster (ubhpc in the
folder that COSCHED_DATA names), as the simulator of Slurm runs it with the true run times.

Printed are, by wait class, the shares of starts that were predicted within 1 and 10 minutes,
errors, coverage, and the same of the starts that Slurm's backfill scheduler planned. Then the
coverage of 90% intervals on the later half of the moments, after they were widened by what the
earlier half needed. ``--oracles``: also with exact run times, with exact submissions, and with
both, which shows what the error is due to. ``--from-hour``, ``--to-hour``: a part of the week.

``speed``: how long an answer takes, by default for 1,000 jobs that wait on 500 nodes.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from archives import DATA
from simulated_snapshots import SimulatedHistory

import cosched as cs
from cosched.cli import report
from cosched.lazy import pd
from cosched.slurm.live.backtesting import is_covered, widening_of_bands
from cosched.slurm.live.start_accuracy import accuracy_table, plan_table, start_accuracy
from cosched.slurm.recordings.agreement import read_recording

RECORDINGS = Path(__file__).parents[1] / "fixtures" / "slurm"
WEEK = Path("ubhpc", "medium_cluster.tar.xz")
QUANTILES = ("p05", "p25", "p50", "p75", "p95")
#: A snapshot is of the recorded run if the jobs that run in it started within so many seconds of
#: the recorded starts.
SAME_START = 2.0
ORACLE_DRAWS = 5


@dataclass(frozen=True)
class KnownMoment:
    """A snapshot, and what happened afterwards."""

    #: Of which cluster or recording it is, and its name there.
    series: str
    name: str
    snapshot: cs.slurm.Snapshot
    #: Seconds from the snapshot to the start, by job; jobs that never started are not there.
    true_starts: Mapping[int, float]
    #: Run times (s) by job, and what was submitted afterwards: for the oracles alone.
    run_times: Mapping[int, float]
    later_submissions: Sequence[Mapping[str, Any]]


def moments_of_series(folder: Path) -> Iterator[KnownMoment]:
    """Yield the snapshots of a folder of real clusters with a ``truth.json``."""
    for series in sorted(folder.glob("live_*")):
        jobs = cs.io.read_json(series / "truth.json")["jobs"]
        started_jobs = {int(job): truth for job, truth in jobs.items() if truth.get("start")}
        run_times = {job: truth["end"] - truth["start"] for job, truth in started_jobs.items()}
        names = ("submit", "user", "account", "qos", "partition", "nodes", "limit")
        for moment in sorted(series.glob("t0*")):
            snapshot = cs.slurm.Snapshot.read(moment)
            later_submissions = [
                {
                    **{name: truth[name] for name in names},
                    "job": int(job),
                    "cpus": truth["nodes"],
                    "seconds": run_times.get(int(job), 1.0),
                }
                for job, truth in jobs.items()
                if truth["submit"] > snapshot.time
            ]
            true_starts = {
                job: truth["start"] - snapshot.time for job, truth in started_jobs.items()
            }
            yield KnownMoment(
                series.name, moment.name, snapshot, true_starts, run_times, later_submissions
            )


def moments_of_recordings(folder: Path) -> Iterator[KnownMoment]:
    """Yield the snapshots of recordings, without those of another run than the recorded one.

    There is no history of jobs, and what was submitted later is not told by user and account.
    """
    for series in sorted(folder.glob("*.1")):
        recording = read_recording(RECORDINGS / f"{series.stem}.json.gz")
        run = recording.runs[0]
        starts = dict(enumerate((run.start + run.epoch).tolist(), 1))
        prefixes = {path.name.partition(".")[0] for path in series.iterdir()}
        for prefix in sorted(prefixes, key=int):
            snapshot = cs.slurm.Snapshot.read(series / prefix)
            differences = [
                abs((job.start or 0.0) - starts.get(job.id, np.inf)) for job in snapshot.running
            ]
            if max(differences, default=0.0) > SAME_START:
                print(f"{series.name} {prefix}: left out, it is of another run")
                continue
            true_starts = {
                job: start - snapshot.time for job, start in starts.items() if np.isfinite(start)
            }
            yield KnownMoment(series.name, prefix, snapshot, true_starts, {}, ())


def moments_of_week(hours: Sequence[float]) -> Iterator[KnownMoment]:
    """Yield snapshots of the public week at these hours."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(DATA / WEEK) as archive:
            archive.extractall(folder, filter="data")
        machine = cs.cluster.Machine.read(
            folder / "etc/slurm.conf",
            slurm_version="22.05",
            accounts=folder / "etc/sacctmgr.script",
        )
        path = folder / "job_traces/workload_week.events"
        instance = cs.cluster.Instance.read(path, machine=machine)
    history = SimulatedHistory(instance, machine)
    seconds = [3600.0 * hour for hour in hours]
    run_times = history.run_times()
    for hour, snapshot in zip(hours, history.snapshots(seconds), strict=True):
        yield KnownMoment(
            "week",
            f"hour {hour:g}",
            snapshot,
            history.true_starts(snapshot),
            run_times,
            history.later_submissions(snapshot),
        )


def predictions_at(moment: KnownMoment, draws: int, **known: Any) -> list[dict[str, Any]]:
    """Return one row per job that waits and starts later, as `start_accuracy` takes them.

    `known`: ``run_times`` and ``arrivals`` of an oracle.
    """
    if not any(job.id in moment.true_starts for job in moment.snapshot.pending):
        return []
    answer = cs.slurm.when(moment.snapshot, draws=draws, **known)
    return [
        {
            "series": moment.series,
            "moment": moment.snapshot.time,
            "job": row["job"],
            "true": moment.true_starts[row["job"]],
            **{name: row[name] for name in QUANTILES},
            "plan": row["slurm"],
        }
        for row in answer.to_dict("records")
        if row["job"] in moment.true_starts
    ]


def oracles_of(moment: KnownMoment) -> dict[str, dict[str, Any]]:
    """Return what each oracle knows at a moment, by its name."""
    if not moment.run_times:
        return {}
    run_times, submissions = dict(moment.run_times), list(moment.later_submissions)
    return {
        "exact submissions": {"arrivals": submissions},
        "exact run times, no later submissions": {"run_times": run_times},
        "exact run times and submissions": {"run_times": run_times, "arrivals": submissions},
    }


def evaluate(moments: Iterator[KnownMoment], draws: int, *, with_oracles: bool) -> None:
    """Predict at all moments, and print how accurate that was."""
    rows: list[dict[str, Any]] = []
    oracle_rows: dict[str, list[dict[str, Any]]] = {}
    begin = time.process_time()
    for moment in moments:
        rows_of_moment = predictions_at(moment, draws)
        rows += rows_of_moment
        if rows_of_moment:
            print(_line(f"{moment.series} {moment.name}", pd.DataFrame(rows_of_moment)), flush=True)
        if with_oracles:
            for name, known in oracles_of(moment).items():
                oracle_draws = draws if name == "exact submissions" else ORACLE_DRAWS
                oracle_rows.setdefault(name, []).extend(
                    predictions_at(moment, oracle_draws, **known)
                )
    frame = pd.DataFrame(rows)
    for series, of_series in frame.groupby("series"):
        print(_line(str(series), of_series))
    accuracies = start_accuracy(frame)
    report.show_frame(f"{len(frame)} predictions, by true wait", accuracy_table(accuracies))
    report.show_frame(
        "starts that Slurm planned, and predictions for the same jobs", plan_table(accuracies)
    )
    print(_calibrated(frame))
    for name, rows_of_oracle in oracle_rows.items():
        print(_line(name, pd.DataFrame(rows_of_oracle)))
    print(f"{draws} draws, {time.process_time() - begin:.0f} s of processors")


def _line(name: str, frame: pd.DataFrame) -> str:
    """Return the accuracy of all rows as one line."""
    accuracy = start_accuracy(frame)[-1]
    predicted, plan, same_jobs = accuracy.predicted, accuracy.plan, accuracy.predicted_with_plan
    line = (
        f"{name:26s} {predicted.jobs:6d} waits, median error {predicted.median_error:8.0f} s, mean "
        f"{predicted.mean_error:8.0f} s, within 10 min {predicted.within_10_minutes:6.1%}, in 50% "
        f"{accuracy.coverage50:6.1%}, in 90% {accuracy.coverage90:6.1%}"
    )
    if plan is None or same_jobs is None:
        return line
    return (
        f"{line}; of {plan.jobs} with a plan: median {same_jobs.median_error:.0f} s, of the plan "
        f"{plan.median_error:.0f} s, {accuracy.improvement:.2f} times"
    )


def _calibrated(frame: pd.DataFrame) -> str:
    """Return how 90% intervals hold on the later moments after widening on the earlier ones."""
    cut = float(np.median(frame["moment"].unique()))
    is_earlier = frame["moment"] <= cut
    if is_earlier.all():
        return "one moment alone: intervals cannot be widened on earlier ones"
    widths = widening_of_bands(frame[is_earlier])
    later = frame[~is_earlier]
    return (
        f"90% intervals of the later half of the moments: {is_covered(later, 0.0).mean():.1%} as "
        f"sampled, {is_covered(later, widths).mean():.1%} widened by {widths:.2f} of their length, "
        "as the earlier half needs"
    )


def busy_snapshot(waiting: int, nodes: int) -> cs.slurm.Snapshot:
    """Return a synthetic full cluster: shared nodes, fair-share, a history of two weeks."""
    rng = np.random.default_rng(0)
    now, cores = 1_800_000_000, 32
    users = [f"u{k}" for k in range(40)]
    node = "\n".join(
        f"NodeName=n{k} CPUTot={cores} CPUAlloc={cores} RealMemory=128000 State=ALLOCATED "
        "Partitions=main" for k in range(nodes)
    )  # fmt: skip
    jobs = []
    for k in range(nodes + waiting):
        runs, limit = k < nodes, 3600 * int(rng.integers(1, 24))
        state = f"JobState=RUNNING NodeList=n{k} NumNodes=1" if runs else "JobState=PENDING"
        begun = _date(now - 3600) if runs else "Unknown"
        size = cores if runs else int(rng.choice([1, 4, 32, 64, 256]))
        jobs.append(
            f"JobId={k + 1} JobName=j\n UserId={rng.choice(users)}(1) Priority={k + 1} "
            f"Account=a QOS=normal\n {state}\n TimeLimit={limit // 3600:02d}:00:00\n "
            f"SubmitTime={_date(now - 7200 - k)} StartTime={begun}"
            f"\n Partition=main\n {'' if runs else f'NumNodes={-(-size // cores)} '}NumCPUs={size} "
            "OverSubscribe=OK\n"
        )
    past = "JobID|User|Account|QOS|Partition|State|Submit|Start|End|TimelimitRaw|NNodes|NCPUS\n"
    for k in range(5000):
        submit, limit = now - 14 * 86400 + k * 240, 60 * int(rng.integers(1, 24))
        end = submit + 3600 + 60 * limit * rng.beta(0.6, 1.4)
        past += (
            f"{k}|{rng.choice(users)}|a|normal|main|COMPLETED|{_date(submit)}|"
            f"{_date(submit + 3600)}|{_date(end)}|{limit}|1|32\n"
        )
    texts = {
        "scontrol_job.txt": "\n".join(jobs), "scontrol_node.txt": node, "sacct.txt": past,
        "scontrol_partition.txt": (
            f"PartitionName=main Default=YES Nodes=n[0-{nodes - 1}] State=UP\n"
        ),
        "times.json": json.dumps({"scontrol_job.txt": [now, now]}),
    }  # fmt: skip
    return cs.slurm.Snapshot.of_texts(texts, "made up")


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")


def measure_speed(draws: int, waiting: int, nodes: int) -> None:
    """Print how long one answer takes."""
    snapshot = busy_snapshot(waiting, nodes)
    begin, used = time.perf_counter(), time.process_time()
    frame = cs.slurm.when(snapshot, draws=draws)
    print(
        f"{len(snapshot.pending)} jobs wait on {snapshot.machine.node_count} nodes, {draws} draws: "
        f"{time.perf_counter() - begin:.1f} s, {time.process_time() - used:.1f} s of processors; "
        f"median start {np.median(frame['p50']) / 3600:.1f} h\n{frame.attrs['not_modelled'][-1]}"
    )


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    benchmarks = parser.add_subparsers(dest="benchmark", required=True)
    recorded = benchmarks.add_parser("recorded")
    recorded.add_argument("folder", type=Path)
    recorded.add_argument("--draws", type=int, default=100)
    recorded.add_argument("--oracles", action="store_true")
    week = benchmarks.add_parser("week")
    week.add_argument("--every", type=float, default=1.0, help="hours between snapshots")
    week.add_argument("--from-hour", type=float, default=1.0)
    week.add_argument("--to-hour", type=float, default=166.0)
    week.add_argument("--draws", type=int, default=20)
    week.add_argument("--oracles", action="store_true")
    speed = benchmarks.add_parser("speed")
    speed.add_argument("--draws", type=int, default=200)
    speed.add_argument("--waiting", type=int, default=1000)
    speed.add_argument("--nodes", type=int, default=500)
    args = parser.parse_args()
    if args.benchmark == "speed":
        measure_speed(args.draws, args.waiting, args.nodes)
    elif args.benchmark == "recorded":
        moments = [*moments_of_series(args.folder), *moments_of_recordings(args.folder)]
        evaluate(iter(moments), args.draws, with_oracles=args.oracles)
    elif not (DATA / WEEK).is_file():
        parser.error(f"{DATA / WEEK} is not there: COSCHED_DATA names the folder of the archives")
    else:
        hours = np.arange(args.from_hour, args.to_hour + 1e-9, args.every).tolist()
        evaluate(moments_of_week(hours), args.draws, with_oracles=args.oracles)


if __name__ == "__main__":
    main()
