"""The journal of a run: what happened to each task, from which an interrupted run goes on.

The journal has JSON lines, each on the disk before anything depends on it
(:class:`cosched.io.append_only.AppendOnlyFile`). Events: ``run`` (a driver begins), ``starting``
and ``started`` (before and after a process is started), ``stopping`` (before it is sent a signal),
``ended``, ``lost`` (it ran when the driver died), ``cancelled`` (not started: a task before it
failed), ``replanned``, ``closed``.
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
from cosched.execution.record import STATES
from cosched.io.append_only import AppendOnlyFile

#: Every line begins with this.
_BEGINNING = b'{"event": "'
FORMAT, VERSION = "cosched-journal", 1
_OVER = ("completed", "failed", "timeout")


@dataclass
class Attempt:
    """The last attempt of a task, as the journal knows it."""

    #: Number of the attempt, from 1; 0: the task was never started.
    attempt: int = 0
    state: str = "pending"  # or running, lost, completed, failed, timeout, cancelled
    #: When it started (s since the run began).
    start: float = float("nan")
    #: When it ended (s since the run began); nan: it has not ended.
    end: float = float("nan")
    #: Exit code of the process; None: it has none.
    exit_code: int | None = None
    #: Processors that the task ran on; None: not known.
    units: tuple[int, ...] | None = None
    #: Processor seconds of the task; None: not known.
    cpu_seconds: float | None = None
    driver: int = 0  # of the drivers of the run: the one that started it


@dataclass
class Past:
    """What a journal says so far."""

    #: Digest of the plan that was run; None: the journal does not say it.
    plan: str | None = None
    #: Whether packs wait for each other; None: the journal does not say it.
    barrier: bool | None = None
    begun: float | None = None  # seconds since the epoch
    elapsed: float = 0.0  # seconds of the run, up to the last line
    drivers: int = 0  # of the run, one after the other
    at_work: set[int] = field(default_factory=set)  # those of them that started a task
    #: Names of the runs that the journal has.
    runs: list[str] = field(default_factory=list)
    #: The last attempt of each task, by its number in the plan.
    tasks: dict[int, Attempt] = field(default_factory=dict)
    #: The placements of the last plan that replaced another; None: none did.
    replanned: list[dict[str, Any]] | None = None

    def of(self, task: int) -> Attempt:
        return self.tasks.setdefault(task, Attempt())

    def started_tasks(self) -> set[int]:
        """Tasks that the last driver started, without those that completed before it began."""
        return {task for task, attempt in self.tasks.items() if attempt.driver == self.drivers}

    def apply(self, event: Mapping[str, Any]) -> None:
        """Apply the event of one more line."""
        kind = event["event"]
        if kind == "run":
            if flag(event.get("again", False), "again"):
                self._begin_again()
            self.drivers += 1
            self.plan, self.barrier = event["plan"], flag(event["barrier"], "barrier")
            self.begun = real(event["begun"], "begun")
            self.runs += texts([event["run"]], "run")
        elif kind == "replanned":
            self.replanned = [_placement(row) for row in event["placements"]]
        elif kind == "cancelled":
            task = integer(event["task"], "task")
            self.tasks[task] = Attempt(self.of(task).attempt, "cancelled")
        elif kind in ("starting", "started", "ended", "lost"):
            task, time = integer(event["task"], "task"), real(event["time"], "time")
            attempt_of_task = self.of(task)
            if kind == "starting":
                self.at_work.add(self.drivers)
                attempt = integer(event["attempt"], "attempt")
                units = _units(event)
                self.tasks[task] = Attempt(
                    attempt, "running", time, units=units, driver=self.drivers
                )
            elif kind == "started":
                attempt_of_task.start = time
            elif kind == "lost":
                attempt_of_task.state = "lost"
            else:
                if event["state"] not in STATES:
                    raise InvalidInstance(f"state = {shorten(event['state'])}")
                attempt_of_task.state, attempt_of_task.end = event["state"], time
                attempt_of_task.exit_code = integer(event["exit_code"], "exit_code", -(2**31))
                cpu = event.get("cpu_seconds")
                attempt_of_task.cpu_seconds = None if cpu is None else real(cpu, "cpu_seconds")
        if "time" in event:
            self.elapsed = max(self.elapsed, real(event["time"], "time"))

    def _begin_again(self) -> None:
        """Forget how the tasks ended, not how often they were tried."""
        self.tasks = {task: Attempt(last.attempt) for task, last in self.tasks.items()}
        self.replanned, self.elapsed, self.drivers, self.at_work = None, 0.0, 0, set()


def _units(row: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(integer(unit, "units") for unit in row["units"])


def _placement(row: Mapping[str, object]) -> dict[str, Any]:
    times = {key: real(row[key], key) for key in ("start", "end")}
    return {"task": integer(row["task"], "task"), "units": _units(row), **times}


class Journal:
    """A journal, open for one driver."""

    def __init__(self, file: AppendOnlyFile, past: Past) -> None:
        self.path = file.path
        self.past = past
        self._file = file

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        resume: bool,
        plan: str,
        tasks_to_repeat: Sequence[int] | None = None,
    ) -> Journal:
        """Begin a journal, or take one up: to go on, or to run all `tasks_to_repeat` once more."""
        file = AppendOnlyFile(path)
        name = file.path
        try:
            past, length = _replayed(name, name.read_bytes())
            if past.runs and not resume and tasks_to_repeat is None:
                raise InvalidInstance(
                    f"{name}: a run is there: add --resume to go on, --again to run a finished "
                    "plan once more, choose another --journal, or remove it"
                )
            if past.runs and past.plan != plan:
                raise InvalidInstance(f"{name}: the journal of another plan")
            unfinished = sum(past.of(task).state not in _OVER for task in tasks_to_repeat or ())
            if past.runs and tasks_to_repeat is not None and unfinished:
                raise InvalidInstance(
                    f"{name}: {unfinished} of {len(tasks_to_repeat)} tasks are not done: "
                    "expected --resume, or a finished plan"
                )
            file.truncate(length)
        except BaseException:
            file.close()
            raise
        return cls(file, past)

    def write(self, event: str, **fields: object) -> None:
        """Append a line; it is on the disk when this returns."""
        self.write_all([(event, fields)])

    def write_all(self, events: Sequence[tuple[str, Mapping[str, object]]]) -> None:
        """Append several lines; all are on the disk when this returns."""
        lines = [{"event": event, **io.plain(dict(fields))} for event, fields in events]
        if lines:
            self._file.append(b"".join((json.dumps(x) + "\n").encode() for x in lines))
        for line in lines:
            self.past.apply(line)

    def close(self) -> None:
        self._file.close()


def read_past(path: str | PathLike[str]) -> Past:
    """What a journal says, without opening it for a driver."""
    return _replayed(Path(path), Path(path).read_bytes())[0]


def _replayed(path: Path, content: bytes) -> tuple[Past, int]:
    """Return what the lines of a journal say, and the bytes of its complete lines."""
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
            past.apply(event)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInstance(
                f"{path}: line {number}: {shorten(line.decode(errors='replace'))}: expected a line "
                f"of a journal ({error})"
            ) from None
    return past, length
