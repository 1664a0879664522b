"""The twin of Slurm beside recordings of real ones: starts, plans, factors and priorities.

    python tests_py/bench/bench_twin.py tests_py/fixtures/slurm/*.json.gz

A line a run: jobs off by more than 60 s and jobs within 5 s on the same nodes, with the two numbers
and with recorded clocks; planned reservations that are equal; fair-share factors and priorities of
samples that differ. Where a recording has two runs: the second against the first, as a measure of
what two runs of one trace are apart.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from cosched.slurm.recordings.agreement import (
    FAR,
    NEAR,
    RecordedRun,
    agreement,
    read_recording,
    samples_off,
)


def apart(first: RecordedRun, second: RecordedRun) -> str:
    """The second run against the first."""
    start = first.start - second.start
    never = np.isnan(first.start) & np.isnan(second.start)
    start = np.where(never, 0, np.nan_to_num(start, nan=np.inf))
    same = np.array([set(a) == set(b) for a, b in zip(first.nodes, second.nodes, strict=True)])
    good = int(((np.abs(start) <= NEAR) & same).sum())
    return f"{int((np.abs(start) > FAR).sum())}/{good}"


def main(paths: list[str]) -> None:
    """Print the table, and sums by kind of recording."""
    sums: dict[str, Counter[str]] = {}
    print(f"{'recording':22} {'jobs':>5} {'two: off good':>14} {'replay: off good':>17} "
          f"{'plans':>11} {'factors':>9} {'priorities':>11} {'run 1 off/good':>15}")  # fmt: skip
    for path in map(Path, paths):
        recording = read_recording(path)
        for number, run in enumerate(recording.runs):
            kind = "accounts" if run.samples else "production" if run.begins else "plain"
            found = Counter(jobs=len(run.start))
            for name in ("two", "replay"):
                if name == "two" or run.cycles:
                    mine = agreement(recording, run, replay=name == "replay")
                    found[f"{name}_off"], found[f"{name}_good"] = mine.off_by_60, mine.good
            found["plans"], found["equal"] = mine.planned
            names = ("factors", "other_factors", "priorities", "other_priorities")
            found.update(dict(zip(names, samples_off(recording, run), strict=True)))
            sums.setdefault(kind, Counter()).update(found)
            self = apart(recording.runs[0], run) if number else ""
            _line(f"{path.name.partition('.')[0]} {number + 1}", found, self)
    for kind, found in sums.items():
        _line(kind, found, "")


def _line(name: str, found: Mapping[str, int], self: str) -> None:
    plans = f"{found['equal']}/{found['plans']}" if found["plans"] else ""
    factors = f"{found['other_factors']}/{found['factors']}" if found["factors"] else ""
    rest = f"{found['other_priorities']}/{found['priorities']}" if found["priorities"] else ""
    jobs = found["jobs"]
    shares = f"{found['two_good'] / jobs:.1%} {found['replay_good'] / jobs:.1%}"
    print(
        f"{name:22} {jobs:5} {found['two_off']:8} {found['two_good']:5} "
        f"{found['replay_off']:11} {found['replay_good']:5} {plans:>11} {factors:>9} {rest:>11} "
        f"{self:>15}  {shares}",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
