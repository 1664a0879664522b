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

from cosched.execution import guard
from cosched.execution.processes import Ended, Launch

#: Seconds between two looks: the first ones follow each other fast, for short runs.
_FIRST, _USUAL = 0.01, 0.1
#: A look may cost this share of a core.
_COST = 0.05
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
#: Joins the cgroup, then becomes the command.
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
        return [int(line) for line in _text(self.path / "cgroup.procs").split()]

    def look(self) -> None:
        stat = dict(line.split() for line in _text(self.path / "memory.stat").splitlines())
        held, cached = ("anon", "file") if self.v2 else ("total_rss", "total_cache")
        shared = float(stat.get("shmem" if self.v2 else "total_shmem", 0))
        self._held = max(self._held, float(stat.get(held, 0)) + shared)
        self._files = max(self._files, float(stat.get(cached, 0)) - shared)

    def peak(self) -> float:
        """Bytes: what was seen, and the kernel's own maximum without what it cached of files."""
        self.look()
        name = "memory.peak" if self.v2 else "memory.max_usage_in_bytes"
        return max(self._held, float(_text(self.path / name) or 0) - self._files)

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
    mounts = [line.split() for line in _text(Path("/proc/self/mountinfo")).splitlines()]
    for line in _text(Path("/proc/self/cgroup")).splitlines():
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


class Meter:
    """Looks at the processes of one run while it runs."""

    def __init__(self, run: str, group: Group | None) -> None:
        self.group = group
        self._run = run
        self._known: set[int] = set()
        self._own = _kilobytes(_text(Path("/proc/self/status")), "VmHWM")
        self._pss = self._largest = 0.0  # bytes
        self._shares: dict[tuple[int, int], tuple[float, float]] = {}  # thread -> ran, waited (s)
        self._searched = time.monotonic()
        self._pause = _FIRST
        self.load = os.getloadavg()[0]

    def begin(self, process: int) -> None:
        self._known = {process}

    def look(self) -> float:
        """One look; seconds until the next."""
        begin = time.thread_time()  # under load a look takes long, and costs no more
        for process in self._processes():
            self._waits(process)
            self._largest = max(self._largest, _kilobytes(_of(process, "status"), "VmHWM"))
        if self.group is not None:
            self.group.look()
        else:
            held = self._held()
            if held > self._pss:  # a fork between two readings shares pages that were counted whole
                self._pss = max(self._pss, min(held, self._held()))
        self._pause = min(2 * self._pause, _USUAL)
        return max(self._pause, (time.thread_time() - begin) / _COST)

    def _held(self) -> float:
        return sum(_kilobytes(_of(process, "smaps_rollup"), "Pss") for process in self._known)

    def _processes(self) -> list[int]:
        if self.group is not None:
            self._known = set(self.group.processes())
            return list(self._known)
        todo, now = list(self._known), time.monotonic()
        if now - self._searched >= _SEARCH:
            self._searched = now
            todo += guard.survivors(self._run)
        self._known = set()
        while todo:
            process = todo.pop()
            if process not in self._known and Path("/proc", str(process)).exists():
                self._known.add(process)
                todo += _children(process)
        return list(self._known)

    def _waits(self, process: int) -> None:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                fields = _text(Path(f"/proc/{process}/task/{thread}/schedstat")).split()
                if len(fields) >= 2:
                    ran, waited = (int(field) / 1e9 for field in fields[:2])
                    self._shares[process, int(thread)] = ran, waited

    def usage(self, ended: Ended, seconds: float, processors: int) -> Usage:
        """What the run used, now that it has ended."""
        # What started a process counts as its first memory: only more than ours is its own.
        single = max(self._largest, ended.peak if ended.peak > self._own else 0.0)
        whole = self._pss if self.group is None else self.group.peak()
        by = "pss" if self.group is None else "cgroup"
        if self.group is not None:
            self.group.remove()
        # The largest process counts programs and libraries too, which Pss shares out, and a cgroup
        # charges to who read them first.
        by = by if 1.1 * whole >= single else "rss"
        memory = max(whole, single)
        return Usage(
            cpu_seconds=ended.cpu_seconds,
            memory=memory / 1e9 if memory else math.nan,
            memory_by=by if memory else "",
            load=self.load,
            starved=self._starved(ended.cpu_seconds, seconds, processors),
        )

    def _starved(self, cpu_seconds: float, seconds: float, processors: int) -> bool:
        """Whether others had more than a tenth of its processors while it wanted them.

        What it has, and waits for, is that of its threads when they were last seen. A code that
        sleeps does not wait, and one that waits for its own threads has all of its processors.
        """
        ran = sum(one[0] for one in self._shares.values())
        waited = sum(one[1] for one in self._shares.values())
        return (
            cpu_seconds < ENOUGH * seconds * processors
            and waited > (1 - ENOUGH) * (ran + waited)
            and waited > max(_MATTERS * seconds, _MOMENT)
        )


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _of(process: int, name: str) -> str:
    return _text(Path(f"/proc/{process}/{name}"))


def _children(process: int) -> Iterable[int]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            yield from map(int, _of(process, f"task/{thread}/children").split())


def _kilobytes(text: str, key: str) -> float:
    """Bytes of a line ``key:  1234 kB``."""
    found = re.search(rf"^{key}:\s*(\d+) kB", text, re.MULTILINE)
    return 1024.0 * int(found[1]) if found else 0.0
