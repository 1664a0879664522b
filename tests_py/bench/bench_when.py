"""How good `cosched when` is on snapshots of real Slurms of which the future is known.

    python tests_py/bench/bench_when.py FOLDER [draws]
    python tests_py/bench/bench_when.py speed [draws [waiting nodes]]

FOLDER holds series of snapshots (``live_fs/t01800``, ...), each with a ``truth.json``: the
unpacked archives of tests_py/fixtures/slurm/snapshots. Printed for drawn futures, by snapshot and
series: how many true starts are in the 90% and the 50% intervals, how many are before and behind
that of 90%, and the median error; for all beside Slurm's own. With exact run times the share of
starts within a minute, of jobs that started before the next submission; with exact submissions,
too, of all that waited. ``speed``: how long an answer takes, by default for 1,000 jobs that wait on
500 nodes.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

import cosched as cs

DRAWS = 100


def asked(moment: Path, jobs: dict, draws: int) -> list[tuple]:
    """(true start, drawn answer, with exact run times, with submissions, before the next)."""
    snapshot = cs.slurm.Snapshot.read(moment)
    if not snapshot.pending:
        return []
    exact = {int(k): t["end"] - t["start"] for k, t in jobs.items() if t.get("start")}
    later = [
        {**{key: t[key] for key in ("submit", "user", "account", "qos", "partition", "nodes",
                                    "limit")},
         "job": int(k), "cpus": t["nodes"], "seconds": exact.get(int(k), 1.0)}
        for k, t in jobs.items() if t["submit"] > snapshot.time
    ]  # fmt: skip
    following = min((one["submit"] for one in later), default=np.inf)
    answers = [
        cs.slurm.when(snapshot, draws=draws, **more).to_dict("records")
        for more in ({}, {"run_times": exact}, {"run_times": exact, "arrivals": later})
    ]
    found = []
    for drawn, alone, both in zip(*answers, strict=True):
        start = jobs[str(drawn["job"])].get("start")
        if start:
            found.append((start - snapshot.time, drawn, alone, both, start < following))
    return found


def main(folder: Path, draws: int) -> None:
    rows = []
    print(f"{'snapshots':20s} waits  in 90%  in 50%  before  behind  median error")
    for series in sorted(folder.glob("live_*")):
        jobs = cs.io.read_json(series / "truth.json")["jobs"]
        rows_of_series = []
        for moment in sorted(series.glob("t0*")):
            rows_of_moment = asked(moment, jobs, draws)
            if rows_of_moment:
                print(coverage(f"{series.name} {moment.name}", rows_of_moment), flush=True)
            rows_of_series += rows_of_moment
        print(coverage(series.name, rows_of_series), flush=True)
        rows += rows_of_series
    print(coverage("all", rows))
    print(told(rows))


def coverage(name: str, rows: list[tuple]) -> str:
    """How many true starts are inside the intervals, and before and behind that of 90%."""
    true = np.array([row[0] for row in rows])
    p05, p25, p50, p75, p95 = (
        np.array([row[1][column] for row in rows]) for column in ("p05", "p25", "p50", "p75", "p95")
    )
    before, behind = true < p05 - 1, true > p95 + 1
    inside = np.mean(~before & ~behind)
    half = np.mean((p25 - 1 <= true) & (true <= p75 + 1))
    return (
        f"{name:20s} {len(rows):5d}  {inside:6.1%}  {half:6.1%}  {np.mean(before):6.1%}  "
        f"{np.mean(behind):6.1%}  {np.median(np.abs(p50 - true)):6.0f} s"
    )


def busy(waiting: int = 1000, nodes: int = 500) -> cs.slurm.Snapshot:
    """A cluster that is full, made up: shared nodes, fair-share, a past of two weeks."""
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


def speed(draws: int, waiting: int, nodes: int) -> None:
    snapshot = busy(waiting, nodes)
    begin, used = time.perf_counter(), time.process_time()
    frame = cs.slurm.when(snapshot, draws=draws)
    print(
        f"{len(snapshot.pending)} jobs wait on {snapshot.machine.node_count} nodes, {draws} draws: "
        f"{time.perf_counter() - begin:.1f} s, {time.process_time() - used:.1f} s of processors; "
        f"median start {np.median(frame['p50']) / 3600:.1f} h\n{frame.attrs['not_modelled'][-1]}"
    )


def told(rows: list[tuple]) -> str:
    true = np.array([row[0] for row in rows])
    drawn, alone, both = (
        {key: np.array([row[k][key] for row in rows]) for key in
         ("p05", "p25", "p50", "p75", "p95", "slurm")} for k in (1, 2, 3)
    )  # fmt: skip
    before = np.array([row[4] for row in rows])
    near = [np.abs(one["p50"] - true) <= 60 for one in (alone, both)]
    return (
        f"{len(rows)} waits: median error {np.median(np.abs(drawn['p50'] - true)):.0f} s, of Slurm "
        f"{np.nanmedian(np.abs(drawn['slurm'] - true)):.0f} s; in 90% bands "
        f"{np.mean((drawn['p05'] - 1 <= true) & (true <= drawn['p95'] + 1)):.1%}, in 50% bands "
        f"{np.mean((drawn['p25'] - 1 <= true) & (true <= drawn['p75'] + 1)):.1%}; within 60 s "
        f"with run times {near[0][before].mean() if before.any() else np.nan:.1%} of "
        f"{before.sum()} before the next submission, with submissions {near[1].mean():.1%} of all"
    )


if __name__ == "__main__":
    given = list(map(int, sys.argv[2:]))
    if sys.argv[1] == "speed":
        speed(*[*given, *(200, 1000, 500)[len(given) :]])
    else:
        main(Path(sys.argv[1]), *given or [DRAWS])
