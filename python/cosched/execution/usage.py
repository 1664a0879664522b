"""What a run used: peak memory of all its processes, and how long they waited for a processor.

Memory is the sum of ``Pss`` over the processes of the tree, looked at again and again: ``Rss``
counts shared pages once a process. It does not see a spike between two looks, so the largest single
process, as the kernel has it (``VmHWM``, ``ru_maxrss``), is a least value. Looking costs at most a
twentieth of a core.
"""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosched.execution import watchdog
from cosched.execution.process_tree import ProcessTree, kilobytes, text_of, usage_written
from cosched.execution.processes import Ended

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


class Meter(ProcessTree):
    """Looks at the processes of one run on this host while it runs."""

    def __init__(self, run: str) -> None:
        super().__init__()
        self._run = run
        self._own = kilobytes(text_of("/proc/self/status"), "VmHWM")
        self._searched = time.monotonic()

    def processes(self, more: Iterable[int] = ()) -> set[int]:
        now = time.monotonic()
        if now - self._searched < _SEARCH:
            return super().processes(more)
        self._searched = now
        return super().processes([*more, *watchdog.survivors(self._run)])

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


def usage_of_step(notes: Path, ranks: int, seconds: float, processors: int) -> Usage:
    """What a step used, as its ranks wrote it; see :mod:`cosched.execution.process_tree`."""
    found = usage_written(notes, ranks)
    if found is None:
        return Usage()
    cpu = found["cpu_seconds"]
    return Usage(
        cpu_seconds=cpu,
        load=found["load"],
        starved=is_starved(cpu, found["ran"], found["waited"], seconds, processors),
        **_memory(found["pss"], max(found["peak"], found["largest"])),
    )
