"""What a run used: peak memory of all its processes, and how long they waited for a processor.

Memory is that of a cgroup of its own where one can be made (v2 or v1); else the sum of ``Pss``
over the processes of the tree, looked at again and again: ``Rss`` counts shared pages once a
process. Neither sees a spike between two looks, so the largest single process, as the kernel has
it (``VmHWM``, ``ru_maxrss``), is a least value. Looking costs at most a twentieth of a core.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cosched.execution import watchdog
from cosched.execution.process_tree import ProcessTree, kilobytes, text_of, usage_written
from cosched.execution.processes import Ended, Launch

#: Seconds between two searches for processes that left their parent.
_SEARCH = 1.0
#: A run that had less than this share of the processor time that it could have used is starved.
ENOUGH = 0.9
#: Waiting for less than this share of its seconds, or for less seconds than that, is no matter:
#: a run of a few milliseconds waits once, or not at all.
_MATTERS, _MOMENT = 0.05, 0.15
#: Seconds that processes which were killed have to leave their group.
_LEAVE = 2.0
_NUMBERS = itertools.count()
#: A shell runs this: it joins the cgroup, then becomes the command.
_JOIN = 'echo 0 >"$0" 2>/dev/null; exec "$@"'


@dataclass(frozen=True)
class Usage:
    """What a run used, as ``runs.csv`` has it."""

    cpu_seconds: float = math.nan
    memory: float = math.nan  # GB
    memory_by: str = ""  # "cgroup", "pss", "rss"
    load: float = math.nan
    starved: bool = False


class Group:
    """A cgroup for one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.v2 = (path / "memory.current").exists()
        self._held = self._files = 0.0  # bytes: largest that were seen

    def joined(self, launch: Launch) -> Launch:
        """A command that starts in the group; one that cannot be started as it is."""
        program, path = launch.command[0], launch.environment.get("PATH")
        if "/" in program:
            found = os.access(launch.directory / program, os.X_OK)
        else:
            found = shutil.which(program, path=path) is not None
        if not found:
            return launch  # the error is that of the command
        command = ("/bin/sh", "-c", _JOIN, str(self.path / "cgroup.procs"), *launch.command)
        return replace(launch, command=command)

    def processes(self) -> list[int]:
        return [int(line) for line in text_of(self.path / "cgroup.procs").split()]

    def look(self) -> None:
        stat = dict(line.split() for line in text_of(self.path / "memory.stat").splitlines())
        held, cached = ("anon", "file") if self.v2 else ("total_rss", "total_cache")
        shared = float(stat.get("shmem" if self.v2 else "total_shmem", 0))
        self._held = max(self._held, float(stat.get(held, 0)) + shared)
        self._files = max(self._files, float(stat.get(cached, 0)) - shared)

    def peak(self) -> float:
        """Bytes: what was seen, and the kernel's own maximum without what it cached of files."""
        self.look()
        name = "memory.peak" if self.v2 else "memory.max_usage_in_bytes"
        return max(self._held, float(text_of(self.path / name) or 0) - self._files)

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            self.path.rmdir()


class Groups:
    """Makes cgroups beside or below this process's own, where that is allowed."""

    def __init__(self) -> None:
        self._made: list[Group] = []
        self._base = next((base for base in _bases() if self._works(base)), None)

    def new(self) -> Group | None:
        """A new group; None where there can be none."""
        return None if self._base is None else self._group(self._base)

    def close(self) -> None:
        """Remove them; what was killed a moment ago may still be on its way out."""
        deadline = time.monotonic() + _LEAVE
        for group in self._made:
            group.remove()
            while group.path.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
                group.remove()

    def _group(self, base: Path) -> Group | None:
        path = base / f"cosched-{os.getpid()}-{next(_NUMBERS)}"
        try:
            path.mkdir()
        except OSError:
            return None
        self._made.append(Group(path))
        return self._made[-1]

    def _works(self, base: Path) -> bool:
        """Whether a process can be put into a group there, and its memory is counted."""
        _tidy(base)
        group = self._group(base)
        if group is None:
            return False
        try:
            if not (group.path / "memory.stat").exists():
                return False
            join = ["/bin/sh", "-c", 'echo 0 >"$0"', str(group.path / "cgroup.procs")]
            return not subprocess.run(join, capture_output=True).returncode
        finally:
            group.remove()


def _bases() -> Iterator[Path]:
    """Where groups may be made: at this process's own, or beside it."""
    mounts = [line.split() for line in text_of(Path("/proc/self/mountinfo")).splitlines()]
    for line in text_of(Path("/proc/self/cgroup")).splitlines():
        number, controllers, mine = line.split(":", 2)
        if controllers not in ("", "memory") or (number == "0") != (controllers == ""):
            continue
        for fields in mounts:
            kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
            if kind == "cgroup2" if number == "0" else kind == "cgroup" and "memory" in options:
                own = Path(fields[4]) / mine.lstrip("/")
                yield from (own, own.parent) if mine != "/" else (own,)


def _tidy(base: Path) -> None:
    """Remove groups that processes left which died."""
    for path in base.glob("cosched-*-*"):
        found = re.fullmatch(r"cosched-(\d+)-\d+", path.name)
        if found and not Path("/proc", found[1]).exists():
            with contextlib.suppress(OSError):
                path.rmdir()


class Meter(ProcessTree):
    """Looks at the processes of one run on this host while it runs."""

    def __init__(self, run: str, group: Group | None) -> None:
        super().__init__()
        self.group = group
        self._run = run
        self._own = kilobytes(text_of("/proc/self/status"), "VmHWM")
        self._searched = time.monotonic()

    def hold(self) -> None:
        if self.group is None:
            super().hold()
        else:
            self.group.look()

    def processes(self, more: Iterable[int] = ()) -> set[int]:
        if self.group is not None:
            return set(self.group.processes())
        now = time.monotonic()
        if now - self._searched < _SEARCH:
            return super().processes(more)
        self._searched = now
        return super().processes([*more, *watchdog.survivors(self._run)])

    def usage(self, ended: Ended, seconds: float, processors: int) -> Usage:
        """What the run used, now that it has ended."""
        # What started a process counts as its first memory: only more than ours is its own.
        single = max(self.largest, ended.peak if ended.peak > self._own else 0.0)
        whole = self.pss if self.group is None else self.group.peak()
        by = "pss" if self.group is None else "cgroup"
        if self.group is not None:
            self.group.remove()
        return Usage(
            cpu_seconds=ended.cpu_seconds,
            load=self.load,
            starved=is_starved(ended.cpu_seconds, self.ran, self.waited, seconds, processors),
            **_memory(whole, single, by),
        )


def _memory(whole: float, single: float, by: str) -> dict[str, Any]:
    """The larger of what all processes held together, and of what one of them held."""
    # The largest process counts programs and libraries too, which Pss shares out, and a cgroup
    # charges to who read them first.
    memory, by = max(whole, single), by if 1.1 * whole >= single else "rss"
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
        **_memory(found["pss"], max(found["peak"], found["largest"]), "pss"),
    )
