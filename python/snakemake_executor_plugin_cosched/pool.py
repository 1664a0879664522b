"""The folder of ready jobs, and the allocations that work it off."""

import json
import logging
import math
import os
import re
import shlex
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from cosched.core.text import count_of
from cosched.execution.batches import runner
from snakemake_executor_plugin_cosched.allocations import (
    INTERRUPTED_STATES,
    Allocations,
    LocalAllocations,
    SlurmAllocations,
    environment_of_jobs,
)
from snakemake_executor_plugin_cosched.groups import Needs, NodeSize
from snakemake_executor_plugin_cosched.job_times import JobTimes
from snakemake_executor_plugin_cosched.leftovers import end_leftovers, name_of_folder
from snakemake_executor_plugin_cosched.refusals import Refusals, SubmissionRefused
from snakemake_executor_plugin_cosched.shape import AllocationShape

#: Seconds for which jobs are gathered before an allocation is asked for.
_GATHER = 1.0
#: Seconds between two questions for allocations that have ended, to Slurm and to this host.
_ASK_SLURM, _ASK_HOST = 5.0, 0.5
#: How often a job starts again whose allocation ended under it.
_MAX_RESTARTS = 2
#: So many allocations in a row that start nothing, though jobs wait, are the end of these jobs.
_MAX_IDLE_ALLOCATIONS = 3
#: A job that was cut off is expected to take so much more than it had.
_LONGER = 1.2
#: No job is expected to take more than this share of an allocation's time after a cut: it would
#: start nowhere.
_LATEST_SHARE = 0.75
#: A job that had this share of the longest possible time, and was cut off, needs a longer limit.
_FULL_SHARE = 0.8
#: Seconds that the end of Snakemake waits for a submission that is under way.
_END_OF_SUBMISSION = 10.0


class Ending(NamedTuple):
    """How a job has ended.

    Attributes
    ----------
    code : int
        Exit code; a negative number is a signal, or a job that did not run to its end.
    reason : str
        In words; empty for a job that succeeded.
    is_final : bool
        Snakemake must not repeat the job: it never started, and would not.
    """

    code: int
    reason: str = ""
    is_final: bool = False


class Pool:
    """States are files, so that whoever dies loses nothing: ``new``, ``taken/PART``, ``ended``;
    ``lost/PART`` is what a dead allocation had, ``withdrawn`` what was never started."""

    def __init__(self, settings: Any, parent: Path, logger: logging.Logger) -> None:
        self._settings, self._logger = settings, logger
        is_local = settings.local
        self._shape = AllocationShape(settings)
        #: A local allocation has all cores of this host, so there is one at a time.
        self._max_allocations = 1 if is_local else settings.allocations
        self._times = JobTimes(settings.history)
        self._numbers: dict[str, int] = {}  # file -> number of its job
        self._waiting: dict[str, int] = {}  # file -> cores, until it has ended
        self._restarts: dict[str, int] = {}
        self._endings: dict[str, Ending] = {}
        self._parts = 0
        self._submit_times: dict[str, float] = {}  # part -> time of day
        self._idle_allocations = 0  # in a row
        self._first_waiting, self._asked = math.inf, 0.0
        self._refusals = Refusals(settings.submit_retries)
        self._error: Exception | None = None
        self._lock, self._closed = threading.Lock(), False
        parent.mkdir(parents=True, exist_ok=True)
        parent = parent.resolve()  # as processes that work there have it
        end_leftovers(parent)
        self._folder = parent / name_of_folder()
        for name in ("new", "taken", "ended", "lost", "withdrawn"):
            (self._folder / name).mkdir(parents=True)
        shutil.copyfile(runner.__file__, self._folder / "runner.py")
        self._allocations: Allocations = (
            LocalAllocations(self._folder, self._shape.limit)
            if is_local
            else SlurmAllocations(self._folder)
        )
        self._ask_interval = _ASK_HOST if is_local else _ASK_SLURM
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    @property
    def node(self) -> NodeSize:
        """What a node of an allocation has for jobs."""
        return self._shape.node

    def add(self, job: Any, needs: Needs, command: str, directory: str) -> str:
        """A job that is ready, and where its call starts: the name of its file, which sorts the
        longest first."""
        with self._lock:
            number = self._times.add(job, needs.limit)
            expected = float(self._times.expected()[number])
            file = f"{max(10**9 - round(1000 * expected), 0):010d}-{number:06d}.json"
            self._numbers[file] = number
            self._waiting[file] = needs.cores
            gigabytes = 0.0 if self.node.memory_mb is None else needs.memory_mb / 1000
            task = {
                "name": f"{number:06d}",
                "command": ["/bin/sh", "-c", command],
                "call": _call(command),
                "seconds": min(expected, 0.5 * self._shape.limit),
                "need": [float(needs.cores), gigabytes, 0.0],
                "shared": [],
                "node": 0,
                "directory": directory,
                "environment": environment_of_jobs(self._folder),
            }
            _write(self._folder / "new" / file, task)
            self._first_waiting = min(self._first_waiting, time.monotonic())
        return file

    def take_endings(self) -> dict[str, Ending]:
        """File -> how its job ended, of all that have ended; what was lost starts again."""
        if self._error is not None:
            raise self._error
        with self._lock:
            if not self._folder.exists():
                raise FileNotFoundError(f"{self._folder} is gone, and with it what jobs would tell")
            for path in (self._folder / "ended").glob("*.json"):
                report = json.loads(path.read_text())
                code = report["code"]
                if code == 0:
                    self._times.learn(self._numbers[path.name], report["seconds"])
                self._note_ending(path.name, Ending(code, _words_of_code(code)))
                path.unlink()
            return dict(self._endings)

    def outputs(self, file: str) -> list[str]:
        """Where what a job printed is."""
        name = f"{self._numbers[file]:06d}.out"
        return [str(path) for path in self._folder.glob(f"part-*.outputs/{name}")]

    def close(self) -> None:
        """End the allocations, keep the times."""
        if self._closed:
            return
        self._closed = True
        self._watcher.join(_END_OF_SUBMISSION)
        with self._lock:
            if self._folder.exists():
                self._withdraw_new()
            self._allocations.cancel()
            self._times.write()

    # --- in a thread beside Snakemake's --------------------------------------------------

    def _watch(self) -> None:
        """Notice allocations that end, ask for new ones: what Slurm makes wait keeps nobody else
        waiting."""
        try:
            while not self._closed:
                time.sleep(0.1)
                if not self._folder.exists():  # somebody removed it: Snakemake's thread tells
                    return
                if time.monotonic() - self._asked > self._ask_interval:
                    self._asked = time.monotonic()
                    self._notice_allocations()
                if self._needs_allocation():
                    self._ask_for_allocation()
        except Exception as error:  # whatever it is, Snakemake's thread raises it
            self._error = error

    def _notice_allocations(self) -> None:
        self._adopt_refused()
        for part, state in self._allocations.find_ended().items():
            with self._lock:
                self._refusals.allow_next_try(time.monotonic())
                self._recover_jobs(part, state)
                self._judge_allocation(part, state)

    def _adopt_refused(self) -> bool:
        """Whether a submission that failed has become an allocation all the same."""
        adopted = self._allocations.adopt_refused()
        for part, job in adopted:
            self._refusals.note_grant()
            self._logger.info(f"cosched: {part} is {job}, though sbatch failed")
        return bool(adopted)

    def _recover_jobs(self, part: str, state: str) -> None:
        """What an ended allocation had taken goes back, some times."""
        lost = self._folder / "lost" / part
        try:  # where the runner lives on, it takes no more
            (self._folder / "taken" / part).rename(lost)
        except FileNotFoundError:  # it did not come to begin
            return
        seconds_of_cut = self._seconds_of_cut(part)
        for path in lost.glob("*.json"):
            file = path.name
            if file in self._endings or (self._folder / "ended" / file).exists():
                continue
            number = self._numbers[file]
            had = 0.0
            if state not in INTERRUPTED_STATES:
                had = seconds_of_cut.get(f"{number:06d}", 0.0)
            restarts = self._restarts.get(file, 0) + 1
            self._restarts[file] = restarts
            limit = f"--cosched-time {self._settings.time}"
            if had >= _FULL_SHARE * self._shape.limit_of_jobs:
                reason = f"it ran for {had:.0f} s until its allocation ended: longer than {limit}"
            elif restarts > _MAX_RESTARTS:
                reason = (
                    f"{count_of(restarts, 'allocation')} ended while it ran, the last one {part}"
                )
                reason += f" ({state}); allocations have {limit}"
            else:
                self._logger.info(
                    f"cosched: {part} is gone ({state}): {self._times.name(number)} starts again"
                )
                self._restart(path, had)
                continue
            path.unlink()
            self._note_ending(file, Ending(-9, reason))

    def _restart(self, path: Path, had: float) -> None:
        """A lost job is ready again; after a cut only where it would have more time."""
        if had > 0:
            task = json.loads(path.read_text())
            longer = min(_LONGER * had, _LATEST_SHARE * self._shape.limit_of_jobs)
            task["seconds"] = max(task["seconds"], longer)
            _write(path, task)
        path.rename(self._folder / "new" / path.name)
        self._first_waiting = min(self._first_waiting, time.monotonic())

    def _seconds_of_cut(self, part: str) -> dict[str, float]:
        """Name of a task -> the seconds that it had when its allocation ended it."""
        journal = self._folder / f"{part}.journal.jsonl"
        if not journal.exists():
            return {}
        entries = runner.read_journal(journal)
        return {name: seconds for name, state, seconds in entries if state == "cut"}

    def _judge_allocation(self, part: str, state: str) -> None:
        """Allocations that start nothing, though jobs wait, must not follow each other for ever."""
        submitted = self._submit_times.pop(part, math.inf)
        journal = self._folder / f"{part}.journal.jsonl"
        entries = runner.read_journal(journal) if journal.exists() else ()
        if any(entry_state == "started" for _, entry_state, _ in entries):
            self._idle_allocations = 0
            return
        waits = any(_write_time(path) < submitted for path in self._new_files())
        if not waits:
            return
        self._idle_allocations += 1
        log = self._folder / f"{part}.log"
        words = f"{part} ended ({state}) and started no job; {_last_words(log)}"
        self._logger.warning(f"cosched: {words}")
        if self._idle_allocations >= _MAX_IDLE_ALLOCATIONS and not len(self._allocations):
            count = count_of(self._idle_allocations, "allocation")
            self._fail_new(f"no allocation starts it: {count} in a row did not, {words}")
            self._idle_allocations = 0

    def _needs_allocation(self) -> bool:
        with self._lock:
            new = sum(1 for _ in os.scandir(self._folder / "new"))
            if not new:
                self._first_waiting = math.inf
                return False
            now = time.monotonic()
            is_full = new >= self._shape.nodes * self.node.cores
            if not is_full and now - self._first_waiting < _GATHER:
                return False
            if not self._refusals.is_due(now) or len(self._allocations) >= self._max_allocations:
                return False
            return len(self._allocations) < self._wanted_allocations()

    def _wanted_allocations(self) -> int:
        """Allocations for the work that is known: one, and another for each grain of it."""
        if any((self._folder / "taken").iterdir()):
            self._times.note_start()
        seconds = self._times.expected()
        work = sum(
            cores * float(seconds[self._numbers[file]]) for file, cores in self._waiting.items()
        )
        grain = min(self._settings.grain, self._shape.limit) * self._shape.nodes * self.node.cores
        return min(max(math.ceil(work / grain), 1), self._max_allocations)

    def _ask_for_allocation(self) -> None:
        if self._adopt_refused():
            return
        self._parts += 1
        part = f"part-{self._parts:03d}"
        self._shape.write_part(self._folder, part)
        self._submit_times[part] = time.time()
        try:
            job = self._allocations.submit(part, lambda: self._closed)
        except SubmissionRefused as refusal:
            if not self._closed:
                self._note_refusal(part, refusal)
            return
        tries = self._refusals.count
        self._refusals.note_grant()
        after = f" after {count_of(tries, 'refusal')}" if tries else ""
        self._logger.info(f"cosched: {part} is {job}{after}")

    def _note_refusal(self, part: str, refusal: SubmissionRefused) -> None:
        """Jobs that run go on, those that wait do so until the next try, or are given up."""
        with self._lock:
            now = time.monotonic()
            live = len(self._allocations)
            pause = self._refusals.note_refusal(refusal, now, live)
            new = count_of(len(self._new_files()), "job")
            self._logger.warning(f"cosched: {part} is refused: {refusal}")
            if live or not self._refusals.has_given_up:
                others = f" ({count_of(live, 'allocation')} can take them)" if live else ""
                self._logger.info(
                    f"cosched: the next try is in {pause:.0f} s; until then {new} of this workflow "
                    f"wait{others}"
                )
                return
            count = count_of(self._refusals.count, "submission")
            seconds = self._refusals.seconds_since_first(now)
            self._fail_new(f"no allocation can take it: {refusal} ({count} in {seconds:.0f} s)")
            self._refusals.allow_next_try(now)

    def _fail_new(self, reason: str) -> None:
        """The jobs that nobody has taken end here; whoever renames a file has it."""
        for file in self._withdraw_new():
            self._note_ending(file, Ending(-1, reason, is_final=True))

    def _withdraw_new(self) -> list[str]:
        """Take back what no allocation has taken: the names of the files."""
        files = []
        for path in self._new_files():
            try:
                path.rename(self._folder / "withdrawn" / path.name)
            except FileNotFoundError:  # an allocation has it
                continue
            files.append(path.name)
        return files

    def _new_files(self) -> list[Path]:
        return [Path(entry.path) for entry in os.scandir(self._folder / "new")]

    def _note_ending(self, file: str, ending: Ending) -> None:
        self._endings[file] = ending
        self._waiting.pop(file, None)


def _write_time(path: Path) -> float:
    """The time of day at which a file was written; infinite of one that is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def _words_of_code(code: int) -> str:
    if code == 0:
        return ""
    if code > 0:
        return f"it ended with exit code {code}"
    return f"it ended with signal {-code}"


def _last_words(log: Path) -> str:
    """The last lines of a log, and where it is."""
    try:
        lines = log.read_text(errors="replace").split("\n")[-6:]
    except OSError:
        return f"it has no log ({log})"
    text = " / ".join(line.strip() for line in lines if line.strip())
    return f"the end of {log}: {text[-500:] or 'nothing'}"


def _call(command: str) -> list[str] | None:
    """The arguments of a command that is a call of Snakemake and nothing that a shell expands."""
    if re.search(r"[$`\\!*?\[\]{}~;&|<>()#\n]", command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:  # the shell will say what is wrong
        return None
    return words[3:] if words[:3] == [sys.executable, "-m", "snakemake"] else None


def _write(path: Path, data: Any) -> None:
    """Whole or not at all: others read it."""
    part = path.parent.parent / f"{path.name}.part"
    part.write_text(json.dumps(data))
    part.rename(path)
