"""What becomes of the jobs of a folder: the lock of their journals, and what squeue says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from cosched import io
from cosched.execution.batches import runner
from cosched.execution.batches.scripts import SUBMITTED
from cosched.execution.squeue import ask_squeue

#: Seconds for an answer of squeue.
_PATIENCE = 20.0
#: States of a job that is over.
_OVER = frozenset(
    ("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
     "PREEMPTED", "REVOKED", "TIMEOUT")
)  # fmt: skip

#: Job -> state and reason, as squeue has them.
Queue = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Activity:
    """Whether a part runs, or will run.

    Attributes
    ----------
    is_active : bool or None
        It runs, or waits in the queue; None: nobody knows.
    text : str
        In words; empty: there is nothing to say.
    """

    is_active: bool | None
    text: str = ""


def read_submitted(folder: Path) -> dict[str, list[str]]:
    """Name of a part -> its jobs, as ``submit.sh`` wrote them down."""
    jobs: dict[str, list[str]] = {}
    path = folder / SUBMITTED
    text = io.read_bytes(path).decode(errors="replace") if path.exists() else ""
    for line in text.splitlines():
        name, _, job = line.partition(" ")
        if job.isdigit():
            jobs.setdefault(name, []).append(job)
    return jobs


def ask_queue(jobs: Collection[str]) -> Queue | None:
    """The jobs that squeue knows; None: it does not answer."""
    if not jobs:
        return {}
    rows = ask_squeue("%i|%T|%r", f"--jobs={','.join(jobs)}", patience=_PATIENCE)
    return None if rows is None else {job: (state, reason) for job, state, reason in rows}


def runners_of(journal: Path) -> dict[str, bool]:
    """Jobs whose runners a journal knows -> whether they have ended."""
    runners: dict[str, bool] = {}
    for entry in runner.read_entries(journal) if journal.exists() else ():
        if "begin" in entry:
            # Without Slurm a runner has its process for a number.
            if str(entry["begin"]) != str(entry.get("pid", entry["begin"])):
                runners[str(entry["begin"])] = False
        elif "over" in entry and str(entry["over"]) in runners:
            runners[str(entry["over"])] = True
    return runners


def has_entries(journal: Path) -> bool:
    """Whether anything was ever started: a runner writes that it begins before it does anything."""
    return journal.exists() and next(iter(runner.read_entries(journal)), None) is not None


def activity_of(journal: Path, submitted: Collection[str], queue: Queue | None) -> Activity:
    """Whether a part runs or waits.

    Parameters
    ----------
    submitted : collection of str
        Its jobs, as ``submit.sh`` wrote them down.
    queue : mapping or None
        What :func:`ask_queue` says of all jobs.
    """
    if runner.is_locked(str(journal)):
        return Activity(True, f"runs ({runner.owner_of(str(journal))})")
    runners = runners_of(journal)
    open_jobs = [job for job in {*submitted, *runners} if not runners.get(job, False)]
    if not open_jobs:
        return Activity(False)
    if queue is None:
        listed = ", ".join(sorted(open_jobs, key=int))
        return Activity(None, f"may run or wait as job {listed}: squeue does not answer")
    last = Activity(False)
    for job in sorted(open_jobs, key=int):
        state, reason = queue.get(job, ("", ""))
        if state == "PENDING" and reason == "DependencyNeverSatisfied":
            last = Activity(False, f"job {job} waits for ever: a part before it failed")
        elif state and state not in _OVER:
            doing = "waits in the queue" if state == "PENDING" else "runs"
            more = f": {reason}" if state == "PENDING" and reason != "None" else ""
            return Activity(True, f"{doing} (job {job}{more})")
        elif job in runners:
            last = Activity(False, f"job {job} has ended before its runner did")
        else:
            how = state.lower() or "left the queue"
            last = Activity(False, f"job {job} {how} before it began")
    return last
