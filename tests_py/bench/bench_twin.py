"""The Slurm simulator beside recordings of real ones: starts, plans, factors, priorities, waits.

    python tests_py/bench/bench_twin.py tests_py/fixtures/slurm/*.json.gz

First table, one line per run: jobs off by more than 60 s and jobs within 5 s on the same nodes,
with the start of the controller and the Unix time, and with all recorded clocks (replay); planned
reservations that are equal; fair-share factors and priorities of samples that differ. Where a
recording has two runs: the second against the first, as a measure of what two runs of one trace are
apart.

Second table, in the terms of other simulators: the mean absolute percentage error of the mean wait
by day of submission (a recording that is shorter than a day is one window) and by ten minutes; the
deviation of the makespan. Both again with the two numbers, with replay, and of the second real run
from the first. Its last lines are means over all windows, and the largest deviation.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from cosched.slurm.recordings.wait_errors import DAY, TEN_MINUTES, makespans, windowed_waits

#: Who is compared with a recorded run.
COMPARED = ("two numbers", "replay", "first real run")


@dataclass
class Errors:
    """Errors of mean waits, one for each window of a run, and of makespans, as shares."""

    daily: list[float] = field(default_factory=list)
    ten_minutes: list[float] = field(default_factory=list)
    makespan: list[float] = field(default_factory=list)

    def add(self, run: RecordedRun, start: np.ndarray, end: np.ndarray) -> None:
        """Add those of other starts and ends of the jobs of a run."""
        self.daily += windowed_waits(run.submit, run.start, start, DAY).percentage_errors.tolist()
        waits = windowed_waits(run.submit, run.start, start, TEN_MINUTES)
        self.ten_minutes += waits.percentage_errors.tolist()
        self.makespan.append(makespans(run.submit, ends_of(run), end).deviation)

    def extend(self, other: Errors) -> None:
        """Add those of another run."""
        self.daily += other.daily
        self.ten_minutes += other.ten_minutes
        self.makespan += other.makespan

    def cells(self) -> str:
        """Means of the windows, and the largest deviation."""
        if not self.makespan:
            return f"{'':8} {'':8} {'':8}"
        means = [np.mean(self.daily), np.mean(self.ten_minutes)]
        return " ".join(f"{share:8.2%}" for share in (*means, max(self.makespan, key=abs)))


def ends_of(run: RecordedRun) -> np.ndarray:
    """The ends of the jobs of a run that started."""
    return np.where(np.isnan(run.start), np.nan, run.end)


def apart(first: RecordedRun, second: RecordedRun) -> str:
    """The second run against the first."""
    start = first.start - second.start
    never = np.isnan(first.start) & np.isnan(second.start)
    start = np.where(never, 0, np.nan_to_num(start, nan=np.inf))
    same = np.array([set(a) == set(b) for a, b in zip(first.nodes, second.nodes, strict=True)])
    good = int(((np.abs(start) <= NEAR) & same).sum())
    return f"{int((np.abs(start) > FAR).sum())}/{good}"


def main(paths: list[str]) -> None:
    """Print both tables, and sums by kind of recording."""
    sums: dict[str, Counter[str]] = {}
    errors: dict[str, dict[str, Errors]] = {}
    print(f"{'recording':22} {'jobs':>5} {'two: off good':>14} {'replay: off good':>17} "
          f"{'plans':>11} {'factors':>9} {'priorities':>11} {'run 1 off/good':>15}")  # fmt: skip
    for path in map(Path, paths):
        recording = read_recording(path)
        for number, run in enumerate(recording.runs):
            name = f"{path.name.partition('.')[0]} {number + 1}"
            kind = "accounts" if run.samples else "production" if run.begins else "plain"
            counts = Counter(jobs=len(run.start))
            errors[name] = {compared: Errors() for compared in COMPARED}
            for clocks in ("two", "replay"):
                if clocks == "two" or run.cycles:
                    simulated = agreement(recording, run, replay=clocks == "replay")
                    counts[f"{clocks}_off"] = simulated.off_by_60
                    counts[f"{clocks}_good"] = simulated.good
                    compared = "replay" if clocks == "replay" else "two numbers"
                    errors[name][compared].add(run, simulated.start, simulated.end)
                    counts["plans"], counts["equal"] = simulated.planned
            samples = ("factors", "other_factors", "priorities", "other_priorities")
            counts.update(dict(zip(samples, samples_off(recording, run), strict=True)))
            sums.setdefault(kind, Counter()).update(counts)
            other_run = ""
            if number:
                first = recording.runs[0]
                other_run = apart(first, run)
                # Each run counts from its own second 0.
                later = np.nanmin(run.submit) - np.nanmin(first.submit)
                start = first.start - first.submit + run.submit
                errors[name]["first real run"].add(run, start, ends_of(first) + later)
            _line(name, counts, other_run)
    for kind, counts in sums.items():
        _line(kind, counts, "")
    _print_errors(errors)


def _line(name: str, counts: Mapping[str, int], other_run: str) -> None:
    plans = f"{counts['equal']}/{counts['plans']}" if counts["plans"] else ""
    factors = f"{counts['other_factors']}/{counts['factors']}" if counts["factors"] else ""
    rest = f"{counts['other_priorities']}/{counts['priorities']}" if counts["priorities"] else ""
    jobs = counts["jobs"]
    shares = f"{counts['two_good'] / jobs:.1%} {counts['replay_good'] / jobs:.1%}"
    print(
        f"{name:22} {jobs:5} {counts['two_off']:8} {counts['two_good']:5} "
        f"{counts['replay_off']:11} {counts['replay_good']:5} {plans:>11} {factors:>9} {rest:>11} "
        f"{other_run:>15}  {shares}",
        flush=True,
    )


def _print_errors(errors: Mapping[str, Mapping[str, Errors]]) -> None:
    """Print the second table."""
    print()
    print(f"{'':22}" + "".join(f"  {compared:^26}" for compared in COMPARED))
    columns = f"{'day':>8} {'10 min':>8} {'makespan':>8}"
    print(f"{'recording':22}" + f"  {columns}" * len(COMPARED))
    for name, by_compared in errors.items():
        _print_cells(name, [by_compared[compared] for compared in COMPARED])
    totals = [Errors() for _ in COMPARED]
    for by_compared in errors.values():
        for total, compared in zip(totals, COMPARED, strict=True):
            total.extend(by_compared[compared])
    _print_cells("all", totals)


def _print_cells(name: str, cells: Sequence[Errors]) -> None:
    print(f"{name:22}" + "".join(f"  {errors.cells()}" for errors in cells), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
