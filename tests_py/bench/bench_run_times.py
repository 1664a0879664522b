"""Whether drawn run times hold on public logs: what the constants of live/run_times.py rest on.

    python tests_py/bench/bench_run_times.py LOG.swf.gz ... [--weights 2,5,10] [--places 0,0.7]

LOG are logs of the Parallel Workloads Archive with requested times (CTC SP2 1996, HPC2N 2002, LLNL
Atlas 2006). At random moments, the jobs that ended before are a past of 10 or 100 jobs. Printed for
each weight of the groups and each probability of a shared place: how many run times of the next 15
jobs are inside their 90% and 50% intervals, the continuous ranked probability score of their parts
of the limits, the same of jobs that run, and how many true means of these 15 jobs are inside the
intervals of the mean.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cosched.slurm.live import run_times
from cosched.slurm.live.model import FinishedJob, SnapshotJob

MOMENTS, DRAWS, NEXT_JOBS, MAX_JOBS = 40, 100, 15, 60_000
#: Numbers of the columns of the Standard Workload Format.
SUBMIT, WAIT, RUN, REQUESTED, USER = 1, 2, 3, 8, 11


class Log(NamedTuple):
    """Columns of a log, one entry a job; times in seconds."""

    submit: np.ndarray
    start: np.ndarray
    end: np.ndarray
    limit: np.ndarray
    user: np.ndarray


def read_log(path: Path) -> Log:
    """Jobs with a run time and a requested time."""
    rows = []
    with gzip.open(path, "rt") as file:
        for line in file:
            cells = line.split()
            if not line.startswith(";") and float(cells[RUN]) > 0 and float(cells[REQUESTED]) > 0:
                rows.append([float(cells[k]) for k in (SUBMIT, WAIT, RUN, REQUESTED, USER)])
            if len(rows) == MAX_JOBS:
                break
    submit, wait, run, requested, user = np.array(rows).T
    start = submit + np.maximum(wait, 0.0)
    return Log(submit, start, start + run, np.maximum(requested, run), user)


def job_of(log: Log, row: int, **fields: object) -> SnapshotJob:
    return SnapshotJob(id=int(row) + 1, user=str(int(log.user[row])), partition="p", **fields)


def moments(log: Log, past: int) -> Iterator[tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
    """(moment, rows that ended, rows that run, rows that are submitted next)."""
    rng = np.random.default_rng(0)
    for _ in range(MOMENTS):
        now = float(np.quantile(log.start, rng.uniform(0.1, 0.95)))
        ended = np.flatnonzero(log.end <= now)
        ended = ended[np.argsort(log.end[ended])][-past:]
        running = np.flatnonzero((log.start <= now) & (log.end > now))[-NEXT_JOBS:]
        yield now, ended, running, np.flatnonzero(log.submit > now)[:NEXT_JOBS]


def place_of(drawn: np.ndarray, true: float, rng: np.random.Generator) -> float:
    """Share of the draws below the true value, ties by lot."""
    same = np.abs(drawn - true) <= 1e-9
    return float(np.mean((drawn < true) & ~same) + rng.uniform() * np.mean(same))


def inside(places: list[float]) -> str:
    values = np.array(places)
    return " ".join(
        f"{np.mean((values >= (1 - level) / 2) & (values <= (1 + level) / 2)):4.0%}"
        for level in (0.9, 0.5)
    )


def measure(log: Log, past: int) -> str:
    rng = np.random.default_rng(1)
    waiting, active, means, scores = [], [], [], []
    for seed, (now, ended, running, following) in enumerate(moments(log, past)):
        history = [
            FinishedJob(id=int(row) + 1, user=str(int(log.user[row])), partition="p",
                  start=log.start[row], end=log.end[row], limit=log.limit[row])
            for row in ended
        ]  # fmt: skip
        jobs = [
            job_of(log, row, state="RUNNING", start=log.start[row], limit=log.limit[row])
            for row in running
        ]
        model = run_times.RunTimes(history, DRAWS, seed, jobs, now)
        parts, true_parts = [], []
        for row in following:
            row_generator = np.random.default_rng([seed, int(row)])
            drawn = (
                model.draw(job_of(log, row), log.limit[row], 0.0, row_generator) / log.limit[row]
            )
            true = (log.end[row] - log.start[row]) / log.limit[row]
            waiting.append(place_of(drawn, true, rng))
            spread = np.abs(drawn[:, None] - drawn).mean()
            scores.append(np.abs(drawn - true).mean() - spread / 2)
            parts.append(drawn)
            true_parts.append(true)
        means.append(place_of(np.mean(parts, axis=0), float(np.mean(true_parts)), rng))
        for row, job in zip(running, jobs, strict=True):
            row_generator = np.random.default_rng([seed, int(row), 1])
            drawn = model.draw(job, log.limit[row], now - log.start[row], row_generator)
            active.append(place_of(drawn, log.end[row] - log.start[row], rng))
    return (
        f"next jobs {inside(waiting)}, score {np.mean(scores):.4f}; running {inside(active)}; "
        f"mean of {NEXT_JOBS} jobs {inside(means)}"
    )


def main(paths: list[Path], weights: list[float], places: list[float]) -> None:
    print("inside the intervals of 90% and of 50%:")
    for path in paths:
        log = read_log(path)
        for past in (10, 100):
            for weight in weights:
                for place in places:
                    run_times._GROUP_WEIGHT, run_times._SHARED_PLACE = weight, place
                    print(f"{path.name.partition('.')[0]}, past of {past} jobs, weight {weight:g}, "
                          f"shared place {place:g}: {measure(log, past)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    script_arguments = sys.argv[1:]
    options = {"--weights": "2", "--places": "0,0.7"}
    while len(script_arguments) > 1 and script_arguments[-2] in options:
        options[script_arguments[-2]] = script_arguments[-1]
        del script_arguments[-2:]
    values = [[float(text) for text in text_list.split(",")] for text_list in options.values()]
    main([Path(name) for name in script_arguments], *values)
