"""How much of a recorded run is decided within a second: an upper bound on what a twin can tell.

    python tests_py/bench/bench_twin_luck.py RECORDING.json ...

A line a run with exact starts, shares of jobs within 5 s on the same nodes. Of a hundred runs of
the twin with jobs as long as they were, to the second, that differ in where in its second each
ended and in the phase of the ticks: the mean and the best beside the real run, how alike two of
them are, and the one that is shown (`host.typical_run`). With the mean launch for all jobs:
one run. Last, where there are two: the second real run beside the first.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from bench_twin import apart

from cosched.slurm.recordings.agreement import RecordedRun, Recording, _twin_of, read_recording
from cosched.slurm.recordings.host import DRAWS, NEAR, lengths_of, typical_run
from cosched.slurm.twin.core_clocks import core_clocks


def good(recording: Recording, run: RecordedRun, outcome: dict, twin: object) -> int:
    """Jobs of a run of the twin within 5 s on the same nodes."""
    names = twin.settings.names
    nodes = [{names[k] for k in own} for own in twin.nodes_of(outcome)]
    same = np.array([own == set(real) for own, real in zip(nodes, run.nodes, strict=True)])
    start = np.asarray(outcome["start"])
    never = np.isnan(start) & np.isnan(run.start)
    near = never | (np.abs(start - run.start) <= NEAR)
    return int((near & same).sum())


def main(paths: list[str]) -> None:
    """Print the table and its sums."""
    sums: dict[str, Counter[str]] = {}
    print(f"{'recording':18} {'jobs':>5} {'mean launch':>12} {'mean':>7} {'best':>5} "
          f"{'alike':>7} {'shown':>6} {'real runs':>10}")  # fmt: skip
    for path in map(Path, paths):
        recording = read_recording(path)
        for number, run in enumerate(recording.runs):
            if not run.begins:
                continue
            twin, clocks = _twin_of(recording, run, recording.instance(run))
            bounds = lengths_of(recording, run)
            shown, alike = typical_run(twin, core_clocks(clocks), bounds)
            rng = np.random.default_rng(1)
            scores = []
            for _ in range(DRAWS):
                offset = rng.uniform(0, clocks["tick_period"])
                lengths = bounds[0] + (bounds[1] - bounds[0]) * rng.uniform(size=len(bounds[0]))
                clocks_of_run = core_clocks({**clocks, "tick_offset": offset})
                outcome = twin.run(clocks_of_run.replace(run_lengths=lengths.tolist()))
                scores.append(good(recording, run, outcome, twin))
            jobs = len(run.start)
            found = Counter(
                jobs=jobs, usual=good(recording, run, twin.run(clocks), twin),
                mean=float(np.mean(scores)), best=max(scores), alike=alike * jobs,
                shown=good(recording, run, twin.run(shown), twin),
            )  # fmt: skip
            other = apart(recording.runs[0], run).split("/")[1] if number else ""
            sums.setdefault("accounts" if run.samples else "production", Counter()).update(found)
            _line(f"{path.name.partition('.')[0]} {number + 1}", found, other)
    for kind, found in sums.items():
        _line(kind, found, "")


def _line(name: str, found: Counter, other: str) -> None:
    shares = [found[key] / found["jobs"] for key in ("usual", "mean", "best", "alike", "shown")]
    usual, mean, best, alike, shown = (f"{share:.1%}" for share in shares)
    print(f"{name:18} {found['jobs']:5} {usual:>12} {mean:>7} {best:>5} {alike:>7} {shown:>6} "
          f"{other:>10}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
