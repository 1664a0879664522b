"""Allocations of Slurm, or of this host: ask for one, notice which have ended, cancel them."""

import contextlib
import getpass
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from cosched.execution.squeue import ask_squeue
from snakemake_executor_plugin_cosched.refusals import SubmissionRefused

#: States of squeue in which a job still has its nodes, or will have them.
_LIVE_STATES = ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED")
#: States of an allocation that somebody else has ended: its time limit is not the reason.
INTERRUPTED_STATES = ("CANCELLED", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL")
#: The line with which `sbatch --parsable` answers; a site may print others.
_JOB_OF_SBATCH = re.compile(r"\s*\d+(;\S+)?\s*$")
#: Seconds for an answer of squeue where Snakemake waits for it to end.
_ANSWER = 10.0
#: Seconds before its limit at which a local allocation is told to end: its jobs then have five
#: seconds before they are killed.
_END_BEFORE_LIMIT = 5.0
#: Seconds that what a dead runner has left has to end by itself.
_GRACE = 15.0


class Allocations(Protocol):
    """What the pool asks of a batch system."""

    def __len__(self) -> int:
        """Allocations that are queued or run."""

    def submit(self, part: str, is_cancelled: Callable[[], bool]) -> str:
        """Ask for an allocation that runs ``PART.sh``: the name of its job, for messages.

        Raises
        ------
        SubmissionRefused
            There is none.
        """

    def find_ended(self) -> dict[str, str]:
        """Part -> state of the allocations that have ended since the last call."""

    def adopt_refused(self) -> list[tuple[str, str]]:
        """(part, job) of refused submissions that have become allocations all the same."""

    def cancel(self) -> None:
        """End all of them."""


class SlurmAllocations:
    """Jobs of Slurm.

    Attributes
    ----------
    jobs : dict of str to str
        Part to the number of its job, of those that have not ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.jobs: dict[str, str] = {}
        self._refused_parts: list[str] = []  # sbatch failed, but the job may be there

    def __len__(self) -> int:
        return len(self.jobs)

    def submit(self, part: str, is_cancelled: Callable[[], bool]) -> str:
        self._refused_parts.append(part)
        command = ["sbatch", "--parsable", f"{part}.sh"]
        try:
            process = subprocess.Popen(
                command, cwd=self._folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise SubmissionRefused(f"sbatch: {error}", is_lasting=True) from error
        output, errors = _communicate(process, is_cancelled)
        numbers = [line for line in output.split("\n") if _JOB_OF_SBATCH.match(line)]
        if process.returncode or not numbers:
            words = " ".join(f"{errors} {output}".split())
            raise SubmissionRefused(words or f"sbatch: exit code {process.returncode}")
        job = numbers[-1].strip().partition(";")[0]
        self._note_job(part, job)
        return f"job {job}"

    def _note_job(self, part: str, job: str) -> None:
        self._refused_parts.remove(part)
        self.jobs[part] = job
        with open(self._folder / "jobs", "a") as file:  # for a Snakemake that finds them later
            file.write(f"{job}\n")

    def find_ended(self) -> dict[str, str]:
        if not self.jobs:
            return {}
        states = _states_of(list(self.jobs.values()))
        if states is None:
            return {}
        ended = {
            part: states.get(job, "gone")
            for part, job in self.jobs.items()
            if states.get(job) not in _LIVE_STATES
        }
        for part in ended:
            del self.jobs[part]
        return ended

    def adopt_refused(self) -> list[tuple[str, str]]:
        """Found by their name and folder, in case that only the answer to sbatch was lost."""
        if not self._refused_parts:
            return []
        names = ",".join(self._refused_parts)
        options = (f"--name={names}", f"--user={getpass.getuser()}")
        rows = ask_squeue("%i|%j|%Z", *options, patience=_ANSWER)
        if rows is None:
            return []
        adopted = []
        for job, part, folder in rows:
            if folder == str(self._folder) and part in self._refused_parts:
                self._note_job(part, job)
                adopted.append((part, f"job {job}"))
        for part in self._refused_parts:  # Slurm answers, and does not know them
            for suffix in ("sh", "json"):
                (self._folder / f"{part}.{suffix}").unlink(missing_ok=True)
        self._refused_parts.clear()
        return adopted

    def cancel(self) -> None:
        self.adopt_refused()
        cancel_jobs(list(self.jobs.values()))


def _communicate(
    process: subprocess.Popen[str], is_cancelled: Callable[[], bool]
) -> tuple[str, str]:
    """What a program prints until it ends; it is ended when nobody waits for it any more."""
    while True:
        try:
            return process.communicate(timeout=0.2)
        except subprocess.TimeoutExpired:
            if is_cancelled():
                process.terminate()


def _states_of(jobs: Sequence[str]) -> dict[str, str] | None:
    """Number of a job -> its state, of those that Slurm knows; None: it does not answer."""
    rows = ask_squeue("%i|%T", f"--jobs={','.join(jobs)}", patience=_ANSWER)
    return None if rows is None else dict(rows)


def cancel_jobs(jobs: Sequence[str]) -> None:
    """Tell Slurm to end jobs."""
    if jobs:
        subprocess.run(["scancel", *jobs], capture_output=True, check=False)


def live_jobs(jobs: Sequence[str]) -> list[str]:
    """Those of some jobs that still have nodes, or will have them; all where nothing is known."""
    if not jobs:
        return []
    states = _states_of(jobs)
    if states is None:
        return list(jobs)
    return [job for job in jobs if states.get(job) in _LIVE_STATES]


class _LocalAllocation(NamedTuple):
    process: subprocess.Popen[bytes]
    begin: float  # of the monotonic clock


class LocalAllocations:
    """Runners on this host, which keep the time limit that Slurm would keep for them.

    Parameters
    ----------
    folder : pathlib.Path
    limit : float
        Seconds of an allocation.
    """

    def __init__(self, folder: Path, limit: float) -> None:
        self._folder, self._limit = folder, limit
        self._running: dict[str, _LocalAllocation] = {}
        self._runner_ends: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._running)

    def submit(self, part: str, is_cancelled: Callable[[], bool]) -> str:
        del is_cancelled  # a start takes no time
        try:
            with open(self._folder / f"{part}.log", "ab") as log:
                process = subprocess.Popen(
                    ["bash", f"{part}.sh"],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            raise SubmissionRefused(f"bash: {error}") from error
        self._running[part] = _LocalAllocation(process, time.monotonic())
        with open(self._folder / "processes", "a") as file:
            file.write(f"{process.pid}\n")
        return f"process {process.pid}"

    def find_ended(self) -> dict[str, str]:
        """Those whose runner has ended. Jobs that it lost start again only when none of its
        processes is left, so that a job never runs beside its first start: they end by themselves,
        or are killed after some seconds."""
        ended = {}
        for part, allocation in list(self._running.items()):
            if allocation.process.poll() is None:
                self._keep_limit(allocation)
                continue
            runner_end = self._runner_ends.setdefault(part, time.monotonic())
            has_lost_jobs = any((self._folder / "taken" / part).glob("*.json"))
            remaining = list(processes_of(self._folder)) if has_lost_jobs else []
            if remaining and time.monotonic() < runner_end + _GRACE:
                continue
            for pid in remaining:
                send_signal(pid, signal.SIGKILL)
            del self._running[part], self._runner_ends[part]
            ended[part] = f"exit code {allocation.process.returncode}"
        return ended

    def _keep_limit(self, allocation: _LocalAllocation) -> None:
        """Tell an allocation to end before its limit, and kill what does not end."""
        age = time.monotonic() - allocation.begin
        if age > self._limit + _GRACE:
            send_signal(allocation.process.pid, signal.SIGKILL)
        elif age > self._limit - min(_END_BEFORE_LIMIT, 0.1 * self._limit):
            allocation.process.terminate()

    def adopt_refused(self) -> list[tuple[str, str]]:
        return []

    def cancel(self) -> None:
        """End the runners, and wait until they have ended their jobs."""
        for allocation in self._running.values():
            allocation.process.terminate()
        deadline = time.monotonic() + _GRACE
        for allocation in self._running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                allocation.process.wait(max(deadline - time.monotonic(), 0.0))


#: The variable of a job's environment that names the folder from which it was started.
_FOLDER_VARIABLE = "COSCHED_SPOOL"


def environment_of_jobs(folder: Path) -> dict[str, str]:
    """Variables by which :func:`processes_of` finds the jobs of a folder."""
    return {_FOLDER_VARIABLE: str(folder)}


def processes_of(folder: Path) -> Iterator[int]:
    """Agents that a runner of this folder has started on this host, and their jobs.

    An agent, and the jobs that are forks of it, have the folder's runner in their command; what a
    job executes has the name of the folder in its environment.
    """
    marks = {
        "cmdline": os.fsencode(f"{folder}/runner.py"),
        "environ": os.fsencode(f"{_FOLDER_VARIABLE}={folder}\0"),
    }
    for process in Path("/proc").glob("[0-9]*"):
        for file, mark in marks.items():
            try:
                is_of_folder = mark in (process / file).read_bytes()
            except OSError:  # it has ended, or belongs to another user
                is_of_folder = False
            if is_of_folder:
                yield int(process.name)
                break


def send_signal(pid: int, number: int) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
