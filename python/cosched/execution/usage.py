"""What a run used: peak memory of all its processes, and how long they waited for a processor.

Memory is the sum of ``Pss`` over the processes of the tree, looked at again and again: ``Rss``
counts shared pages once a process. It does not see a spike between two looks, so the largest single
process, as the kernel has it (``VmHWM``, ``ru_maxrss``), is a least value. Looking costs at most a
twentieth of a core.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cosched.execution import watchdog
from cosched.execution.processes import Ended

#: Seconds between two looks: the first ones follow each other fast, for short runs.
_FIRST, _USUAL = 0.01, 0.1
#: Looking at processes, and at what they hold together, may each cost this share of a core.
_COST = 0.025
#: Seconds between two searches for processes that left their parent.
_SEARCH = 1.0
#: A run that had less than this share of the processor time that it could have used is starved.
ENOUGH = 0.9
#: Waiting for less than this share of its seconds, or for less seconds than that, is no matter:
#: a run of a few milliseconds waits once, or not at all.
_MATTERS, _MOMENT = 0.05, 0.15


@dataclass(frozen=True)
class Usage:
    """What a run used, as ``runs.csv`` has it."""

    cpu_seconds: float = math.nan
    memory: float = math.nan  # GB
    memory_by: str = ""  # "pss", "rss"
    load: float = math.nan
    starved: bool = False


class Meter:
    """Looks at the processes of one run on this host while it runs."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._own = kilobytes(text_of("/proc/self/status"), "VmHWM")
        self._searched = time.monotonic()
        self.known: set[int] = set()
        self.pss = self.largest = 0.0  # bytes: of all together, of one process
        self._shares: dict[tuple[int, int], tuple[float, float]] = {}  # thread -> ran, waited (s)
        self._pause = _FIRST
        self._next_hold = 0.0
        self.load = os.getloadavg()[0]

    @property
    def ran(self) -> float:
        """Seconds that threads had a processor, when they were last seen."""
        return sum(ran for ran, _ in self._shares.values())

    @property
    def waited(self) -> float:
        """Seconds that threads waited for one."""
        return sum(waited for _, waited in self._shares.values())

    def begin(self, process: int) -> None:
        self.known = {process}

    def look(self) -> float:
        """One look; seconds until the next."""
        begin = time.thread_time()  # under load a look takes long, and costs no more
        self.known = self.processes()
        for process in self.known:
            self._waits(process)
            self.largest = max(self.largest, kilobytes(_of(process, "status"), "VmHWM"))
        looked = time.thread_time()
        # The kernel walks all pages for it: of large processes more seldom than it tells VmHWM.
        if time.monotonic() >= self._next_hold:
            self.hold()
            self._next_hold = time.monotonic() + (time.thread_time() - looked) / _COST
        self._pause = min(2 * self._pause, _USUAL)
        return max(self._pause, (looked - begin) / _COST)

    def hold(self) -> None:
        """Look at the memory of all together."""
        held = self._held()
        if held > self.pss:  # a fork between two readings shares pages that were counted whole
            self.pss = max(self.pss, min(held, self._held()))

    def _held(self) -> float:
        return sum(kilobytes(_of(process, "smaps_rollup"), "Pss") for process in self.known)

    def processes(self) -> set[int]:
        """Those that were known, with all that they started; now and then those that left."""
        todo, found = list(self.known), set()
        if time.monotonic() - self._searched >= _SEARCH:
            self._searched = time.monotonic()
            todo += watchdog.survivors(self._run)
        while todo:
            process = todo.pop()
            if process not in found and os.path.exists(f"/proc/{process}"):
                found.add(process)
                todo += _children(process)
        return found

    def _waits(self, process: int) -> None:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                fields = text_of(f"/proc/{process}/task/{thread}/schedstat").split()
                if len(fields) >= 2:
                    ran, waited = (int(field) / 1e9 for field in fields[:2])
                    self._shares[process, int(thread)] = ran, waited

    def usage(self, ended: Ended, seconds: float, processors: int) -> Usage:
        """What the run used, now that it has ended."""
        # What started a process counts as its first memory: only more than ours is its own.
        single = max(self.largest, ended.peak if ended.peak > self._own else 0.0)
        return Usage(
            cpu_seconds=ended.cpu_seconds,
            load=self.load,
            starved=is_starved(ended.cpu_seconds, self.ran, self.waited, seconds, processors),
            **_memory(self.pss, single),
        )


def _memory(whole: float, single: float) -> dict[str, Any]:
    """The larger of what all processes held together, and of what one of them held."""
    # The largest process counts programs and libraries too, which Pss shares out.
    memory, by = max(whole, single), "pss" if 1.1 * whole >= single else "rss"
    return {"memory": memory / 1e9, "memory_by": by} if memory else {}


def is_starved(
    cpu_seconds: float, ran: float, waited: float, seconds: float, processors: int
) -> bool:
    """Whether others had more than a tenth of a run's processors while it wanted them.

    What it has, and waits for, is that of its threads when they were last seen. A code that
    sleeps does not wait, and one that waits for its own threads has all of its processors.
    """
    return (
        cpu_seconds < ENOUGH * seconds * processors
        and waited > (1 - ENOUGH) * (ran + waited)
        and waited > max(_MATTERS * seconds, _MOMENT)
    )


def text_of(path: str | os.PathLike[str]) -> str:
    """A file of the kernel; empty where it is not there any more."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _of(process: int, name: str) -> str:
    return text_of(f"/proc/{process}/{name}")


def _children(process: int) -> Iterable[int]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            yield from map(int, _of(process, f"task/{thread}/children").split())


def kilobytes(text: str, key: str) -> float:
    """Bytes of a line ``key:  1234 kB``."""
    found = re.search(rf"^{key}:\s*(\d+) kB", text, re.MULTILINE)
    return 1024.0 * int(found[1]) if found else 0.0
