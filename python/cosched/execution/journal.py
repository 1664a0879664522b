"""Files that grow while codes run: what is appended is on the disk, whole, or not there at all.

The journal of a run has JSON lines, each synced before anything depends on it. Events: ``run`` (a
driver begins), ``starting`` and ``started`` (before and after a process is started), ``stopping``
(before it is sent a signal), ``ended``, ``lost`` (it ran when the driver died), ``cancelled`` (not
started: one before it failed), ``replanned``, ``closed``. A last line that is cut short, by a crash
while it was written, is taken away when the journal is opened again.
"""

from __future__ import annotations

import csv
import fcntl
import io as text_io
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core.arrays import flag, integer, real
from cosched.core.text import texts
from cosched.errors import InvalidInstance, no_folder_for, shorten
from cosched.execution.record import STATES
from cosched.io.limit import require_length


class AppendedFile:
    """A file of lines, open for appending by one process."""

    def __init__(self, path: str | PathLike[str]) -> None:
        require_length(path)
        self.path = Path(path)
        if not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(no_folder_for(self.path))
        if self.path.exists() and not self.path.is_file():
            raise InvalidInstance(f"{self.path}: no regular file: expected a name to append to")
        self._handle = self._opened()

    def _opened(self) -> int:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise InvalidInstance(f"{self.path}: another run is at work with it") from None
        return handle

    def cut(self, length: int) -> None:
        """Keep so many bytes: a crash cut short what follows."""
        if length < os.fstat(self._handle).st_size:
            with self._naming():
                os.ftruncate(self._handle, length)

    def append(self, data: bytes) -> None:
        """Append bytes that are on the disk when this returns; what fails is taken back."""
        before = os.fstat(self._handle).st_size
        try:
            with self._naming():
                left = memoryview(data)
                while left:
                    left = left[os.write(self._handle, left) :]
                os.fsync(self._handle)
        except OSError:
            with suppress(OSError):
                self.cut(before)
            raise

    def replace(self, data: bytes) -> None:
        """Have these bytes instead of all that is there; a crash leaves one or the other."""
        target = self.path.resolve()
        made = target.with_name(f".{target.name}.new")
        with self._naming():
            with open(made, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            shutil.copymode(target, made)
            os.replace(made, target)
        before, self._handle = self._handle, self._opened()
        os.close(before)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        os.close(self._handle)


class AppendedTable:
    """A CSV file with these columns, open for appending by one process.

    Files of earlier versions have the first columns alone, down to so many.
    """

    def __init__(
        self, path: str | PathLike[str], columns: Sequence[str], least: int | None = None
    ) -> None:
        self.columns = columns
        self._file = AppendedFile(path)
        self.path = self._file.path
        try:
            self.older = self.empty = False
            self._begin(len(columns) if least is None else least)
        except BaseException:
            self.close()
            raise

    def _begin(self, least: int) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        header = (content.splitlines() or [b""])[0].decode(errors="replace")
        wanted = ",".join(self.columns)
        older = {",".join(self.columns[:k]) for k in range(least, len(self.columns))}
        if header != wanted and (header not in older if whole else not wanted.startswith(header)):
            raise InvalidInstance(
                f"{self.path}: line 1: header {shorten(header)}: expected {wanted}"
            )
        self._file.cut(whole)  # a crash while a row was written
        if not whole:
            self.append([self.columns])
        self.older = bool(whole) and header in older
        self.empty = content.count(b"\n") <= 1

    def append(self, rows: Iterable[Sequence[object]]) -> None:
        """Rows that are on the disk when this returns."""
        self._file.append(_lines(rows))

    def replace(self, rows: Iterable[Sequence[object]]) -> None:
        """Have these rows, with all columns, instead of those that are there."""
        self._file.replace(_lines([self.columns, *rows]))

    def close(self) -> None:
        self._file.close()


def _lines(rows: Iterable[Sequence[object]]) -> bytes:
    text = text_io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


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
        cls, path: str | PathLike[str], resume: bool, plan: str, again: Sequence[int] | None = None
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
