"""The journal of a run: JSON lines, each synced before anything depends on it.

Events: ``run`` (a driver begins), ``starting`` and ``started`` (before and after a process is
started), ``stopping`` (before it is sent a signal), ``ended``, ``lost`` (it ran when the driver
died), ``cancelled`` (not started: one before it failed), ``replanned``, ``closed``. A last line
that is cut short, by a crash while it was written, is taken away when the journal is opened again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core.arrays import flag, integer, real
from cosched.core.text import texts
from cosched.errors import InvalidInstance, shorten
from cosched.execution.appended import AppendedFile
from cosched.execution.record import STATES

#: Every line begins with this.
_BEGINNING = b'{"event": "'
FORMAT, VERSION = "cosched-journal", 1
_OVER = ("completed", "failed", "timeout")


@dataclass
class Attempt:
    """The last attempt of a task, as the journal knows it."""

    attempt: int = 0
    state: str = "pending"  # or running, lost, completed, failed, timeout, cancelled
    start: float = float("nan")
    end: float = float("nan")
    exit_code: int | None = None
    units: tuple[int, ...] | None = None
    cpu_seconds: float | None = None
    driver: int = 0  # of the drivers of the run: the one that started it


@dataclass
class Past:
    """What a journal says so far."""

    plan: str | None = None
    barrier: bool | None = None
    begun: float | None = None  # seconds since the epoch
    elapsed: float = 0.0  # seconds of the run, up to the last line
    drivers: int = 0  # of the run, one after the other
    at_work: set[int] = field(default_factory=set)  # those of them that started a task
    runs: list[str] = field(default_factory=list)
    tasks: dict[int, Attempt] = field(default_factory=dict)
    replanned: list[dict[str, Any]] | None = None

    def of(self, task: int) -> Attempt:
        return self.tasks.setdefault(task, Attempt())

    def ran(self) -> set[int]:
        """Tasks that the last driver started: what completed before it is not among them."""
        return {task for task, one in self.tasks.items() if one.driver == self.drivers}

    def take(self, event: Mapping[str, Any]) -> None:
        """One more line."""
        what = event["event"]
        if what == "run":
            if flag(event.get("again", False), "again"):
                self._begin_again()
            self.drivers += 1
            self.plan, self.barrier = event["plan"], flag(event["barrier"], "barrier")
            self.begun = real(event["begun"], "begun")
            self.runs += texts([event["run"]], "run")
        elif what == "replanned":
            self.replanned = [_placement(row) for row in event["placements"]]
        elif what == "cancelled":
            task = integer(event["task"], "task")
            self.tasks[task] = Attempt(self.of(task).attempt, "cancelled")
        elif what in ("starting", "started", "ended", "lost"):
            task, time = integer(event["task"], "task"), real(event["time"], "time")
            one = self.of(task)
            if what == "starting":
                self.at_work.add(self.drivers)
                attempt = integer(event["attempt"], "attempt")
                units = _units(event)
                self.tasks[task] = Attempt(
                    attempt, "running", time, units=units, driver=self.drivers
                )
            elif what == "started":
                one.start = time
            elif what == "lost":
                one.state = "lost"
            else:
                if event["state"] not in STATES:
                    raise InvalidInstance(f"state = {shorten(event['state'])}")
                one.state, one.end = event["state"], time
                one.exit_code = integer(event["exit_code"], "exit_code", -(2**31))
                cpu = event.get("cpu_seconds")
                one.cpu_seconds = None if cpu is None else real(cpu, "cpu_seconds")
        if "time" in event:
            self.elapsed = max(self.elapsed, real(event["time"], "time"))

    def _begin_again(self) -> None:
        """Forget how the tasks ended, not how often they were tried."""
        self.tasks = {task: Attempt(one.attempt) for task, one in self.tasks.items()}
        self.replanned, self.elapsed, self.drivers, self.at_work = None, 0.0, 0, set()


def _units(row: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(integer(unit, "units") for unit in row["units"])


def _placement(row: Mapping[str, Any]) -> dict[str, Any]:
    times = {key: real(row[key], key) for key in ("start", "end")}
    return {"task": integer(row["task"], "task"), "units": _units(row), **times}


class Journal:
    """A journal, open for one driver."""

    def __init__(self, file: AppendedFile, past: Past) -> None:
        self.path = file.path
        self.past = past
        self._file = file

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        resume: bool,
        plan: str,
        again: Sequence[int] | None = None,
    ) -> Journal:
        """Begin a journal, or take one up: to go on, or to run all tasks `again`."""
        file = AppendedFile(path)
        name = file.path
        try:
            past, length = _taken(name, name.read_bytes())
            if past.runs and not resume and again is None:
                raise InvalidInstance(
                    f"{name}: a run is there: add --resume to go on, --again to run a finished "
                    "plan once more, choose another --journal, or remove it"
                )
            if past.runs and past.plan != plan:
                raise InvalidInstance(f"{name}: the journal of another plan")
            left = sum(past.of(task).state not in _OVER for task in again or ())
            if past.runs and again is not None and left:
                raise InvalidInstance(
                    f"{name}: {left} of {len(again)} tasks are not done: expected --resume, "
                    "or a finished plan"
                )
            file.cut(length)
        except BaseException:
            file.close()
            raise
        return cls(file, past)

    def write(self, event: str, **fields: Any) -> None:
        """Append a line; it is on the disk when this returns."""
        self.write_all([(event, fields)])

    def write_all(self, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Append several lines; all are on the disk when this returns."""
        lines = [{"event": event, **io.plain(dict(fields))} for event, fields in events]
        if lines:
            self._file.append(b"".join((json.dumps(x) + "\n").encode() for x in lines))
        for line in lines:
            self.past.take(line)

    def close(self) -> None:
        self._file.close()


def read_past(path: str | PathLike[str]) -> Past:
    """What a journal says, without opening it for a driver."""
    return _taken(Path(path), Path(path).read_bytes())[0]


def _taken(path: Path, content: bytes) -> tuple[Past, int]:
    past = Past()
    length = content.rfind(b"\n") + 1
    lines = content[:length].splitlines()
    if content[length : length + len(_BEGINNING)] != _BEGINNING[: len(content) - length]:
        lines.append(content[length:])  # no line that was cut short
    for number, line in enumerate(lines, start=1):
        try:
            event = io.parse_json(line.decode(), "not JSON")
            if number == 1 and event.get("format") != FORMAT:
                raise KeyError("format")
            if event["event"] == "run" and event.get("version") != VERSION:
                raise KeyError("version")
            past.take(event)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInstance(
                f"{path}: line {number}: {shorten(line.decode(errors='replace'))}: expected a line "
                f"of a journal ({error})"
            ) from None
    return past, length
