"""Processes of tasks: started pinned, waited for without polling, ended with all they started; and
what they used: peak memory of all of them, and how long they waited for a processor.

Memory is the sum of ``Pss`` over the processes of the tree, looked at again and again: ``Rss``
counts shared pages once a process. It does not see a spike between two looks, so the largest single
process, as the kernel has it (``VmHWM``, ``ru_maxrss``), is a least value. Looking costs at most a
twentieth of a core.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from cosched.errors import Terminated
from cosched.execution import watchdog
from cosched.execution.process_tree import ProcessTree, bytes_of_line, text_of, usage_written

#: Exit codes of shells, where a command cannot be started.
NOT_EXECUTABLE, NOT_FOUND = 126, 127


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A command ready to be started: what a launcher makes of a step."""

    #: The program and its arguments.
    command: tuple[str, ...]
    #: All variables of the environment.
    environment: Mapping[str, str]
    #: The working directory.
    directory: Path
    #: The folder is made before, where it is not there.
    makes_directory: bool = False
    #: It is pinned to these cores; None: to those of the driver.
    cores: frozenset[int] | None = None


@dataclass(frozen=True)
class EndedProcess:
    """How a process of a task ended, and what it used."""

    #: As given to :meth:`ProcessPool.start`.
    key: Any
    #: Below 0: the number of the signal that ended it.
    exit_code: int
    #: By the clock of time.monotonic (s).
    end: float
    #: ``"timeout"`` or ``"cancelled"``; None: it ended by itself.
    why: str | None
    #: Processor time of the process and of the children that it waited for (s).
    cpu_seconds: float = 0.0
    #: Largest resident memory of one of them (bytes).
    peak: float = 0.0


@dataclass
class _Running:
    key: Any
    process: subprocess.Popen
    handle: int  # pidfd
    deadline: float
    why: str | None = None
    kill_at: float = field(default=float("inf"))


class ProcessPool:
    """Running processes; a context, at whose end none is left.

    While it is open SIGINT and SIGTERM are counted (``interrupts``), not raised, where this is
    the main thread, and :meth:`wait` returns. A watchdog ends the processes if this process dies.
    """

    def __init__(self, run: str, *, grace: float = 5.0, ends_gracefully: bool = False) -> None:
        self.run = run
        self.grace = grace
        self.interrupts = 0
        self._last_signal = 0
        self._ends_gracefully = ends_gracefully
        self._running: dict[Any, _Running] = {}
        self._previous_handlers: list[tuple[int, Any]] = []
        self._wakeup = -1
        self._watchdog: subprocess.Popen | None = None

    def __enter__(self) -> ProcessPool:
        self._selector = selectors.DefaultSelector()
        self._wake = os.pipe()
        for end in self._wake:
            os.set_blocking(end, False)
        self._selector.register(self._wake[0], selectors.EVENT_READ, None)
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous_handlers.append((number, signal.signal(number, self._count)))
            self._wakeup = signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        grace = str(self.grace if self._ends_gracefully else 0.0)
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog.__file__, self.run, grace],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop(signal.SIGKILL, "cancelled")
            while self._running:
                self.wait(None)
            watchdog.end_all(self.run)  # what left its session
        finally:
            self._close()

    def _close(self) -> None:
        if self._previous_handlers:
            signal.set_wakeup_fd(self._wakeup)
            for number, handler in self._previous_handlers:
                signal.signal(number, handler)
        if self._watchdog is not None and self._watchdog.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._watchdog.stdin.write(b"q")
                self._watchdog.stdin.flush()
            with contextlib.suppress(BrokenPipeError):
                self._watchdog.stdin.close()
            self._watchdog.wait()
        self._selector.close()
        for end in self._wake:
            os.close(end)

    def _count(self, number: int, frame: FrameType | None) -> None:
        self.interrupts += 1
        self._last_signal = number

    def interruption(self, message: str = "") -> KeyboardInterrupt:
        """What the last signal that was counted would have raised."""
        return (Terminated if self._last_signal == signal.SIGTERM else KeyboardInterrupt)(message)

    def __len__(self) -> int:
        return len(self._running)

    def __contains__(self, key: object) -> bool:
        return key in self._running

    def start(self, key: object, launch: Launch, output: Path, timeout: float | None) -> float:
        """Start a process; its output goes to a file of its own. The moment before it started."""
        environment = {**launch.environment, "COSCHED_RUN": self.run}
        output.parent.mkdir(exist_ok=True)  # somebody tidied up
        if launch.makes_directory:
            launch.directory.mkdir(parents=True, exist_ok=True)
        with open(output, "ab") as file, _pinned(launch.cores):
            begin = time.monotonic()
            process = subprocess.Popen(
                launch.command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=launch.directory,
                start_new_session=True,
            )
        handle = os.pidfd_open(process.pid)
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        self._running[key] = _Running(key, process, handle, deadline)
        self._selector.register(handle, selectors.EVENT_READ, key)
        return begin

    def process_id(self, key: object) -> int:
        """Return the process ID of a key."""
        return self._running[key].process.pid

    def stop(self, number: int, why: str, keys: Iterable[object] | None = None) -> None:
        """Send a signal to processes and what they started; SIGKILL follows after the grace."""
        for key in list(self._running if keys is None else keys):
            process = self._running[key]
            process.why = process.why or why
            process.kill_at = min(process.kill_at, time.monotonic() + self.grace)
            self._signal(process, number)

    def wait(self, seconds: float | None) -> list[EndedProcess]:
        """Wait until a process ends, a signal comes or the time is over; processes that ended."""
        ended = self._collect(self._selector.select(self._patience(seconds)))
        now = time.monotonic()
        for process in self._running.values():
            if now >= process.kill_at:
                self._signal(process, signal.SIGKILL)
                process.kill_at = now + 1.0
            elif now >= process.deadline and process.why is None:
                self.stop(signal.SIGTERM, "timeout", [process.key])
        return ended

    def _patience(self, seconds: float | None) -> float | None:
        moments = [
            min(process.deadline if process.why is None else float("inf"), process.kill_at)
            for process in self._running.values()
        ]
        seconds_left = min(moments, default=float("inf")) - time.monotonic()
        patience = min(seconds_left, float("inf") if seconds is None else seconds)
        return None if patience == float("inf") else max(patience, 0.0)

    def _collect(self, events: list) -> list[EndedProcess]:
        ended = []
        for event, _ in events:
            if event.fd == self._wake[0]:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake[0], 4096)
                continue
            ended_process = self._running.pop(event.data)
            end = time.monotonic()
            # Before it is waited for: nobody else can have its number as a group yet.
            with contextlib.suppress(OSError):
                os.killpg(ended_process.process.pid, signal.SIGKILL)
            # As Popen.wait, which keeps nothing of what the process used.
            _, status, resources = os.wait4(ended_process.process.pid, 0)
            code = ended_process.process.returncode = os.waitstatus_to_exitcode(status)
            self._selector.unregister(ended_process.handle)
            os.close(ended_process.handle)
            cpu = resources.ru_utime + resources.ru_stime
            ended.append(
                EndedProcess(
                    ended_process.key,
                    code,
                    end,
                    ended_process.why,
                    cpu,
                    1024.0 * resources.ru_maxrss,
                )
            )
        return ended

    def _signal(self, process: _Running, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(process.process.pid, number)


@contextlib.contextmanager
def _pinned(cores: frozenset[int] | None) -> Iterator[None]:
    """What is started within has these cores from its first instruction on: it inherits them.

    A function of ours between fork and exec could set them too, but would make every start copy
    the page tables of this process: tens of milliseconds, where a start takes one.
    """
    if cores is None:
        yield
        return
    previous_cores = os.sched_getaffinity(0)  # of this thread
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, previous_cores)


#: Seconds between two searches for processes that left their parent.
_SEARCH = 1.0
#: A run that had less than this share of the processor time that it could have used is starved.
ENOUGH = 0.9
#: Waiting for less than this share of its seconds, or for less seconds than that, is no matter:
#: a run of a few milliseconds waits once, or not at all.
_MATTERS, _MOMENT = 0.05, 0.15


@dataclass(frozen=True)
class RunUsage:
    """What a run used, as ``runs.csv`` has it."""

    #: Processor seconds of all its processes; nan: not known.
    cpu_seconds: float = math.nan
    memory: float = math.nan  # GB
    memory_by: str = ""  # "pss", "rss"
    #: Load of the machine when the run began; nan: not known.
    load: float = math.nan
    #: Whether others had the processors of the run.
    starved: bool = False


class Meter(ProcessTree):
    """Looks at the processes of one run on this host while it runs."""

    def __init__(self, run: str) -> None:
        super().__init__()
        self._run = run
        self._own_peak = bytes_of_line(text_of("/proc/self/status"), "VmHWM")
        self._searched = time.monotonic()

    def processes(self, more: Iterable[int] = ()) -> set[int]:
        now = time.monotonic()
        if now - self._searched < _SEARCH:
            return super().processes(more)
        self._searched = now
        return super().processes([*more, *watchdog.survivors(self._run)])

    def usage(self, ended: EndedProcess, seconds: float, processors: int) -> RunUsage:
        """What the run used, now that it has ended."""
        # What started a process counts as its first memory: only more than ours is its own.
        largest_process = max(self.largest, ended.peak if ended.peak > self._own_peak else 0.0)
        return RunUsage(
            cpu_seconds=ended.cpu_seconds,
            load=self.load,
            starved=is_starved(
                ended.cpu_seconds, self.cpu_seconds, self.waited, seconds, processors
            ),
            **_memory(self.pss, largest_process),
        )


def _memory(sum_of_processes: float, largest_process: float) -> dict[str, Any]:
    """Return the larger of what all processes held together, and of what one of them held."""
    # The largest process counts programs and libraries too, which Pss shares out.
    memory, source = (
        max(sum_of_processes, largest_process),
        "pss" if 1.1 * sum_of_processes >= largest_process else "rss",
    )
    return {"memory": memory / 1e9, "memory_by": source} if memory else {}


def is_starved(
    cpu_seconds: float, ran_seconds: float, waited_seconds: float, seconds: float, processors: int
) -> bool:
    """Whether others had more than a tenth of a run's processors while it wanted them.

    What it has, and waits for, is that of its threads when they were last seen. A code that
    sleeps does not wait, and one that waits for its own threads has all of its processors.
    """
    return (
        cpu_seconds < ENOUGH * seconds * processors
        and waited_seconds > (1 - ENOUGH) * (ran_seconds + waited_seconds)
        and waited_seconds > max(_MATTERS * seconds, _MOMENT)
    )


def usage_of_step(notes: Path, ranks: int, seconds: float, processors: int) -> RunUsage:
    """What a step used, as its ranks wrote it; see :mod:`cosched.execution.process_tree`."""
    usage = usage_written(notes, ranks)
    if usage is None:
        return RunUsage()
    cpu = usage["cpu_seconds"]
    return RunUsage(
        cpu_seconds=cpu,
        load=usage["load"],
        starved=is_starved(cpu, usage["ran"], usage["waited"], seconds, processors),
        **_memory(usage["pss"], max(usage["peak"], usage["largest"])),
    )
