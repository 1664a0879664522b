"""The folder of ready jobs, and the allocations that work it off."""

import json
import logging
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from socket import gethostname
from typing import Any

import numpy as np

from cosched.errors import InvalidInstance
from cosched.execution.batches import runner
from cosched.execution.batches.folder import script_of
from cosched.execution.slurm_words import amount_of, mebibytes, option_lines
from cosched.slurm.conf.lines import seconds_of_limit
from cosched.workflows import History
from cosched.workflows.times import ExpectedTimes
from snakemake_scheduler_plugin_cosched import jobs

#: Seconds for which jobs are gathered before an allocation is asked for.
_GATHER = 1.0
#: Seconds between questions to the batch system, and how often a lost job starts again.
_ASK, _AGAIN = 5.0, 2
#: Seconds that an allocation waits for further jobs: ends have to be seen, inputs to appear.
_IDLE = 4.0
#: An allocation is over so long before its limit, for what ends it.
_BEFORE = 10.0
#: Seconds for a runner that is left over to end its jobs.
_END = 15.0


class Pool:
    """States are files, so that whoever dies loses nothing: ``new``, ``taken/PART``, ``ended``;
    ``lost/PART`` is what a dead allocation had."""

    def __init__(self, settings: Any, parent: Path, logger: logging.Logger) -> None:
        self._settings, self._logger = settings, logger
        self._limit = _seconds(settings.time)
        local = settings.local
        cores = settings.cores or (len(os.sched_getaffinity(0)) if local else _cores_of_node())
        gigabytes = 1e300 if settings.memory is None else amount_of(settings.memory, "memory")
        self._node = [float(cores), gigabytes, 0.0]
        asked = {"partition": settings.partition, "account": settings.account}
        self._options = list(
            option_lines({name: value for name, value in asked.items() if value is not None})
        )
        self._history = History.read(settings.history)
        self._times = ExpectedTimes()
        self._unknown: set[int] = set()  # jobs of which there is a limit at most
        self._begun = math.inf  # when the first allocation took jobs
        self._known: dict[str, tuple[int, str, str]] = {}  # file -> number, rule, name
        self._waiting: dict[str, int] = {}  # file -> cores, until it has ended
        self._parts: dict[str, Any] = {}  # part -> job of the batch system, or process
        self._lost: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._first, self._asked = math.inf, 0.0
        self._lock, self._closed = threading.Lock(), False
        for old in parent.glob("*"):
            if not _lives(old):  # the jobs of a Snakemake that died are to run again
                _end(old)
                shutil.rmtree(old, ignore_errors=True)
        self._folder = parent / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}@{gethostname()}"
        for name in ("new", "taken", "ended", "lost"):
            (self._folder / name).mkdir(parents=True)
        shutil.copyfile(runner.__file__, self._folder / "runner.py")
        threading.Thread(target=self._gather, daemon=True).start()

    def add(self, job: Any, command: str, directory: str) -> str:
        """A job that is ready, and where its call starts: the name of its file, which sorts the
        longest first.

        Raises
        ------
        InvalidInstance
            It is larger than a node.
        """
        rule, name = jobs.rule(job), jobs.name(job)
        before = jobs.benchmark(job) or self._history.seconds(rule, name)
        needs = jobs.needs(job.resources)
        need = [float(job.threads), needs.get("mem_mb", 0) / 1000, 0.0]
        if need[0] > self._node[0] or need[1] > self._node[1]:
            raise InvalidInstance(
                f"{name} needs {need[0]:.0f} cores and {need[1]:g} GB, a node has "
                f"{self._node[0]:.0f} (--cosched-cores, or --max-threads)"
                + (f" and {self._node[1]:g}" if self._settings.memory is not None else "")
            )
        with self._lock:
            limit = before is None
            known = jobs.runtime(job) if limit else before
            number = self._times.add(rule, known, limit, jobs.subjects(job))
            if limit and not self._times.learned:
                self._unknown.add(number)
            seconds = float(self._expected()[number])
            file = f"{max(10**9 - round(1000 * seconds), 0):010d}-{number:06d}.json"
            self._known[file] = (number, rule, name)
            self._waiting[file] = int(need[0])
            task = {
                "name": f"{number:06d}",
                "command": ["/bin/sh", "-c", command],
                "call": _call(command),
                "seconds": min(seconds, 0.5 * self._limit),
                "need": need if self._settings.memory is not None else [need[0], 0.0, 0.0],
                "shared": [],
                "node": 0,
                "directory": directory,
            }
            _write(self._folder / "new" / file, task)
            self._first = min(self._first, time.monotonic())
        return file

    def look(self) -> dict[str, int]:
        """File -> exit code of what has ended; lost ones start again."""
        with self._lock:
            if not self._folder.exists():
                raise FileNotFoundError(f"{self._folder} is gone, and with it what jobs would tell")
            for path in (self._folder / "ended").glob("*.json"):
                how = json.loads(path.read_text())
                self._note(path.name, how["code"], how["seconds"])
                path.unlink()
            if time.monotonic() - self._asked > _ASK:
                self._asked = time.monotonic()
                self._notice_dead()
            return self._ended

    def outputs(self, file: str) -> list[str]:
        """Where what a job printed is."""
        number, _, _ = self._known[file]
        return [str(path) for path in self._folder.glob(f"part-*.outputs/{number:06d}.out")]

    def _note(self, file: str, code: int, seconds: float) -> None:
        self._ended[file] = code
        self._waiting.pop(file, None)
        number, rule, name = self._known[file]
        if code == 0:
            self._times.learn(number, seconds)
            self._history.learn(rule, name, seconds)

    def _notice_dead(self) -> None:
        """Of allocations that are gone, the jobs that they had taken go back, some times."""
        for part in self._over():
            del self._parts[part]
            lost = self._folder / "lost" / part
            try:  # where the runner lives on, it takes no more
                (self._folder / "taken" / part).rename(lost)
            except FileNotFoundError:  # it did not come to begin
                continue
            for path in lost.glob("*.json"):
                if (self._folder / "ended" / path.name).exists():
                    continue
                again = self._lost.get(path.name, 0) + 1
                self._lost[path.name] = again
                if again > _AGAIN:
                    self._note(path.name, -9, 0.0)
                    path.unlink()
                else:
                    self._logger.info(f"cosched: {part} is gone: {path.stem} starts again")
                    path.rename(self._folder / "new" / path.name)
                    self._first = min(self._first, time.monotonic())

    def _over(self) -> list[str]:
        if not self._parts:
            return []
        if self._settings.local:
            return [part for part, process in self._parts.items() if process.poll() is not None]
        ids = ",".join(self._parts.values())
        asked = subprocess.run(
            ["squeue", "--noheader", "--format=%i %T", "--states=all", f"--jobs={ids}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if asked.returncode and "Invalid job id" not in asked.stderr:
            return []  # it does not answer: nothing is known
        live = {
            job
            for job, state in (line.split() for line in asked.stdout.splitlines())
            if state in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED")
        }
        return [part for part, job in self._parts.items() if job not in live]

    def _gather(self) -> None:
        """Beside Snakemake: ask for allocations when jobs have been gathered."""
        while not self._closed:
            time.sleep(0.1)
            with self._lock:
                try:
                    new = sum(1 for _ in os.scandir(self._folder / "new"))
                except FileNotFoundError:  # somebody removed it: the next look tells
                    return
                full = new >= self._settings.nodes * self._node[0]
                if not new or (not full and time.monotonic() - self._first < _GATHER):
                    continue
                self._first = math.inf if not new else self._first
                while not self._closed and len(self._parts) < self._wanted():
                    if not self._submit():
                        break

    def _wanted(self) -> int:
        """Allocations for the work that is known: one, and another for each grain of it."""
        seconds = self._expected()
        work = sum(
            cores * float(seconds[self._known[file][0]]) for file, cores in self._waiting.items()
        )
        grain = min(self._settings.grain, self._limit) * self._settings.nodes * self._node[0]
        return min(max(math.ceil(work / grain), 1), self._settings.allocations)

    def _expected(self) -> np.ndarray:
        """Seconds of jobs. While nothing has ended limits say too much: as long as the first run.

        Examples are limits of ten minutes on jobs of seconds: they are no reason to ask for more.
        """
        seconds = self._times.seconds()
        if self._unknown and not self._times.learned:
            if self._begun == math.inf and any((self._folder / "taken").iterdir()):
                self._begun = time.monotonic()
            unknown = list(self._unknown)
            so_far = max(time.monotonic() - self._begun, 1.0)
            seconds[unknown] = np.minimum(seconds[unknown], so_far)
        return seconds

    def _submit(self) -> bool:
        part = f"part-{1 + sum(1 for _ in self._folder.glob('part-*.sh')):03d}"
        settings = self._settings
        _write(
            self._folder / f"{part}.json",
            {
                "nodes": settings.nodes,
                "limit": self._limit - _BEFORE,
                "node": self._node,
                "shared": [],
                "tasks": [],
                "spool": str(self._folder),
                "idle": _IDLE,
                "module": "snakemake_executor_plugin_cosched.call",
            },
        )
        # Begun again it would not know of what it had taken: a lost one is noticed, and its jobs
        # go to another.
        options = ["--no-requeue", *self._options]
        if settings.memory is not None:
            options.append(f"--mem={mebibytes(settings.memory)}M")
        cores = int(self._node[0])
        text = script_of(part, settings.nodes, cores, self._limit, options, python=sys.executable)
        (self._folder / f"{part}.sh").write_text(text)
        if settings.local:
            self._parts[part] = subprocess.Popen(
                ["bash", f"{part}.sh"], cwd=self._folder, start_new_session=True
            )
            self._remember(self._parts[part].pid)
            return True
        command = ["sbatch", "--parsable", f"{part}.sh"]
        sent = subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False
        )
        if sent.returncode:
            self._logger.error(f"cosched: sbatch: {' '.join(sent.stderr.split())}")
            for file in self._waiting:
                self._ended.setdefault(file, -1)
            return False
        self._parts[part] = sent.stdout.strip().partition(";")[0]
        self._remember(self._parts[part])
        self._logger.info(f"cosched: {part} is job {self._parts[part]}")
        return True

    def _remember(self, job: int | str) -> None:
        """For a Snakemake that finds what this one has left."""
        with open(self._folder / ("processes" if self._settings.local else "jobs"), "a") as known:
            known.write(f"{job}\n")

    def close(self) -> None:
        """End the allocations, keep the times."""
        if self._closed:
            return
        self._closed = True
        with self._lock:
            if self._settings.local:
                for process in self._parts.values():
                    process.terminate()
            else:
                _cancel(list(self._parts.values()))
            self._history.write()


def _call(command: str) -> list[str] | None:
    """The arguments of a command that is a call of Snakemake and nothing that a shell expands."""
    if re.search(r"[$`\\!*?\[\]{}~;&|<>()#\n]", command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:  # the shell will say what is wrong
        return None
    return words[3:] if words[:3] == [sys.executable, "-m", "snakemake"] else None


def _lives(folder: Path) -> bool:
    """Whether the Snakemake that made it is another process of this host."""
    made, _, host = folder.name.partition("@")
    pid = made.rpartition("-")[2]
    if host != gethostname() or pid == str(os.getpid()):
        return False
    try:
        return b"snakemake" in Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return False


def _end(folder: Path) -> None:
    """What a Snakemake has left: allocations, and runners on this host with their jobs."""
    kept = {name: folder / name for name in ("jobs", "processes")}
    left = {name: path.read_text().split() if path.exists() else [] for name, path in kept.items()}
    _cancel(left["jobs"])
    runners = [pid for pid in left["processes"] if _works_in(pid, folder)]
    for pid in runners:
        os.kill(int(pid), signal.SIGTERM)
    deadline = time.monotonic() + _END
    while any(_works_in(pid, folder) for pid in runners) and time.monotonic() < deadline:
        time.sleep(0.1)


def _works_in(pid: str, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(folder)
    except OSError:
        return False


def _write(path: Path, what: Any) -> None:
    """Whole or not at all: others read it."""
    part = path.parent.parent / f"{path.name}.part"
    part.write_text(json.dumps(what))
    part.rename(path)


def _cancel(ids: list[str]) -> None:
    if ids:
        subprocess.run(["scancel", *ids], capture_output=True, check=False)


def _seconds(text: str) -> float:
    short = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if short:
        return float(short[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[short[2]]
    return seconds_of_limit(text, "--cosched-time")


def _cores_of_node() -> int:
    """The fewest cores of a node of the batch system."""
    shown = subprocess.run(["sinfo", "-h", "-o", "%c"], capture_output=True, text=True, check=False)
    counts = [int(count.rstrip("+")) for count in shown.stdout.split()]
    if not counts:
        raise InvalidInstance("sinfo says nothing of nodes: expected --cosched-cores")
    return min(counts)
