"""Start times of EASY and conservative backfilling, compared with pyss on the same jobs.

`python tests_py/bench/bench_pyss.py PYSS LOG.swf.gz [JOBS]`: PYSS is a clone of
https://github.com/dinesh121991/pyss, a simulator in Python 2. The script converts the four files
that it needs: print statements, tabs, `cmp`, and an assertion that pyss calls too slow. JOBS is the
number of jobs from the beginning of the log, 2,000 by default.

pyss takes events one by one, submissions before completions, and plans after each event. Two
variants change that alone: completions first, and one pass per instant (all completions, then all
submissions, then one plan), as cosched does.
"""

import contextlib
import gzip
import heapq
import importlib
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cosched as cs

#: Files of pyss, in the order in which they import each other.
_FILES = (
    "base/simple_heap.py", "base/event_queue.py", "base/prototype.py", "base/workload_parser.py",
    "schedulers/common.py", "schedulers/easy_scheduler.py", "schedulers/conservative_scheduler.py",
)  # fmt: skip
_SCHEDULERS = {
    "EASY": ("easy_scheduler", "EasyBackfillScheduler"),
    "conservative": ("conservative_scheduler", "ConservativeScheduler"),
}
_COMPLETION, _SUBMISSION, _START = range(3)


def converted(source: str) -> str:
    """Return source of pyss for Python 3."""
    text = source.expandtabs(8).replace("sys.maxint", "sys.maxsize")
    text = re.sub(r"^.*slow assert.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)print *$", r"\1print()", text, flags=re.MULTILINE)
    return re.sub(r"^( *)print (?!\()(.*?),? *$", r"\1print(\2)", text, flags=re.MULTILINE)


@contextlib.contextmanager
def pyss_modules(pyss: Path) -> Iterator[None]:
    """Let modules of pyss be imported, converted to Python 3."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in _FILES:
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(converted((pyss / "src" / file).read_text()))
        (folder / "base" / "__init__.py").write_text("")
        sys.path[:0] = [str(folder), str(folder / "base"), str(folder / "schedulers")]
        event_type = importlib.import_module("base.prototype").JobEvent
        event_type.__lt__ = lambda event, other: event._cmp_tuple < other._cmp_tuple
        yield


def log_lines(log: Path) -> tuple[int, list[str]]:
    """Return the number of processors in the header of a log, and the lines of its jobs."""
    opened = gzip.open if log.suffix == ".gz" else open
    with opened(log, "rt") as file:
        lines = file.read().splitlines()
    (processors,) = (int(line.split(":")[1]) for line in lines if line.startswith("; MaxProcs:"))
    return processors, [line for line in lines if line.strip() and not line.startswith(";")]


def jobs_of_pyss(lines: Iterable[str], processors: int) -> list[Any]:
    """Return the jobs as pyss reads them."""
    prototype = importlib.import_module("base.prototype")
    parse = importlib.import_module("base.workload_parser").parse_lines
    return list(prototype._job_inputs_to_jobs(parse(lines), processors))


def simulate_events(
    jobs: list[Any], scheduler: Any, processors: int, order: tuple[str, ...]
) -> None:
    """Let pyss plan after each event; at one instant the events come in this order."""
    prototype = importlib.import_module("base.prototype")
    prototype.JobEvent.EVENTS_ORDER = [getattr(prototype, name) for name in order]
    queue = importlib.import_module("base.event_queue").EventQueue()
    prototype.ValidatingMachine(num_processors=processors, event_queue=queue)

    def add_events(events: Iterable[Any]) -> None:
        for event in events:
            queue.add_event(event)

    def submit(event: Any) -> None:
        add_events(scheduler.new_events_on_job_submission(event.job, event.timestamp))

    def complete(event: Any) -> None:
        add_events(scheduler.new_events_on_job_termination(event.job, event.timestamp))

    queue.add_handler(prototype.JobSubmissionEvent, submit)
    queue.add_handler(prototype.JobTerminationEvent, complete)
    add_events(prototype.JobSubmissionEvent(job.submit_time, job) for job in jobs)
    while not queue.is_empty:
        queue.advance()


def simulate_instants(jobs: list[Any], scheduler: Any, policy: str) -> None:
    """Let pyss plan once per instant, after all completions and all submissions."""
    events = [(job.submit_time, _SUBMISSION, k) for k, job in enumerate(jobs)]
    heapq.heapify(events)
    running = set()
    while events:
        now = events[0][0]
        at_once: tuple[list[int], list[int], list[int]] = ([], [], [])
        while events and events[0][0] == now:
            _, kind, k = heapq.heappop(events)
            at_once[kind].append(k)
        scheduler.cpu_snapshot.archive_old_slices(now)
        for k in at_once[_COMPLETION]:
            scheduler.cpu_snapshot.delTailofJobFromCpuSlices(jobs[k])
        if policy == "EASY":
            scheduler.unscheduled_jobs += [jobs[k] for k in at_once[_SUBMISSION]]
            starts = [(now, job) for job in scheduler._schedule_jobs(now)]
        else:
            for k in at_once[_COMPLETION]:
                scheduler.unfinished_jobs_by_submit_time.remove(jobs[k])
            moved = scheduler._reschedule_jobs(now) if at_once[_COMPLETION] else []
            starts = [(event.timestamp, event.job) for event in moved]
            for k in at_once[_SUBMISSION]:
                scheduler.unfinished_jobs_by_submit_time.append(jobs[k])
                scheduler.cpu_snapshot.assignJobEarliest(jobs[k], now)
                starts.append((jobs[k].start_to_run_at_time, jobs[k]))
        begun = [k for k in at_once[_START] if jobs[k].start_to_run_at_time == now]
        for start, job in starts:
            if start == now:
                begun.append(job.position)
            else:
                heapq.heappush(events, (start, _START, job.position))
        for k in begun:
            if k not in running:
                running.add(k)
                heapq.heappush(events, (now + jobs[k].actual_run_time, _COMPLETION, k))


def starts_of_pyss(lines: list[str], processors: int, policy: str, variant: str) -> np.ndarray:
    """Return the start of each job by pyss, or by a variant of it."""
    jobs = jobs_of_pyss(lines, processors)
    for position, job in enumerate(jobs):
        job.position = position
    module, name = _SCHEDULERS[policy]
    scheduler = getattr(importlib.import_module(module), name)(processors)
    if variant == "one pass per instant":
        simulate_instants(jobs, scheduler, policy)
    else:
        order = ("JobPredictionIsOverEvent", "JobSubmissionEvent", "JobTerminationEvent")
        if variant == "completions first":
            order = ("JobPredictionIsOverEvent", "JobTerminationEvent", "JobSubmissionEvent")
        simulate_events(jobs, scheduler, processors, (*order, "JobStartEvent"))
    return np.array([job.start_to_run_at_time for job in jobs], dtype=float)


def starts_of_cosched(lines: list[str], processors: int, policy: str) -> np.ndarray:
    """Return the start of each job by cosched, on the same jobs."""
    jobs = jobs_of_pyss(lines, processors)
    table = {
        "submit": [job.submit_time for job in jobs],
        "tasks": [job.num_required_processors for job in jobs],
        "cpu": [1.0] * len(jobs),
        "memory": [1.0] * len(jobs),
        "runtime": [float(job.actual_run_time) for job in jobs],
        "estimate": [float(job.user_estimated_run_time) for job in jobs],
    }
    result = cs.cluster.solve(cs.cluster.Instance(table, processors), policy, estimates="requested")
    return result.jobs["start"].to_numpy()


def main() -> None:
    if len(sys.argv) < 3:
        print("bench_pyss: without a clone of pyss and a log nothing is compared")
        return
    pyss, log = Path(sys.argv[1]), Path(sys.argv[2])
    n_jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    processors, lines = log_lines(log)
    lines = lines[:n_jobs]
    with pyss_modules(pyss):
        submissions = np.array([job.submit_time for job in jobs_of_pyss(lines, processors)])
        print(f"{log.name}: the first {len(lines):,} jobs on {processors} processors")
        for policy in _SCHEDULERS:
            our_starts = starts_of_cosched(lines, processors, policy)
            print(f"{policy}: mean wait of cosched {(our_starts - submissions).mean():,.0f} s")
            for variant in ("unchanged", "completions first", "one pass per instant"):
                begin = time.process_time()
                their_starts = starts_of_pyss(lines, processors, policy, variant)
                equal = int((their_starts == our_starts).sum())
                print(
                    f"  pyss, {variant}: {equal:,} equal starts, mean wait "
                    f"{(their_starts - submissions).mean():,.0f} s "
                    f"({time.process_time() - begin:.0f} s of processor time)",
                    flush=True,
                )


if __name__ == "__main__":
    main()
