"""How good `cosched when` is on snapshots of real Slurms of which the future is known.

    python tests_py/bench/bench_when.py FOLDER [draws]

FOLDER holds series of snapshots (``live_fs/t01800``, ...), each with a ``truth.json.gz``. Printed:
for drawn futures the median error beside Slurm's own, and how many true starts are in the
bands; with exact run times the share of starts within a minute, of jobs that started before the
next submission; with exact submissions, too, of all that waited.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np

import cosched as cs

DRAWS = 100


def asked(moment: Path, jobs: dict, draws: int) -> list[tuple]:
    """(true start, drawn answer, with exact run times, with submissions, before the next)."""
    snapshot = cs.cluster.Snapshot.read(moment)
    if not snapshot.pending:
        return []
    exact = {int(k): t["end"] - t["start"] for k, t in jobs.items() if t.get("start")}
    later = [
        {**{key: t[key] for key in ("submit", "user", "account", "qos", "partition", "nodes",
                                    "limit")},
         "job": int(k), "cpus": t["nodes"], "seconds": exact.get(int(k), 1.0)}
        for k, t in jobs.items() if t["submit"] > snapshot.taken
    ]  # fmt: skip
    following = min((one["submit"] for one in later), default=np.inf)
    answers = [
        cs.cluster.when(snapshot, draws=draws, **more).to_dict("records")
        for more in ({}, {"run_times": exact}, {"run_times": exact, "arrivals": later})
    ]
    found = []
    for drawn, alone, both in zip(*answers, strict=True):
        start = jobs[str(drawn["job"])].get("start")
        if start:
            found.append((start - snapshot.taken, drawn, alone, both, start < following))
    return found


def main(folder: Path, draws: int) -> None:
    rows = []
    for series in sorted(folder.glob("live_*")):
        jobs = json.loads(gzip.decompress((series / "truth.json.gz").read_bytes()))["jobs"]
        own = [row for one in sorted(series.glob("t0*")) for row in asked(one, jobs, draws)]
        print(series.name, told(own), flush=True)
        rows += own
    print("all", told(rows))


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
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else DRAWS)
