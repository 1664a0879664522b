"""The state of a campaign at work: what is done, in a form that survives any interruption.

Each part and the list are written at once (a temporary file, renamed): they are there in full
or not at all. A row is kept as JSON in its part: parts need no common columns, and numbers keep
their last bit. What is found damaged is said, put aside, and run again.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cosched.errors import StudyError, optional, printable
from cosched.experiments.design import Design
from cosched.experiments.seal import MISSING
from cosched.experiments.stored import (
    LIST,
    CheckedFile,
    Owner,
    Stored,
    part_number,
    read_stored,
    write_list,
    write_part,
)
from cosched.experiments.worker import Outcome
from cosched.io.writing import UNFINISHED

_FORMAT = 2
#: Where a run that was killed while it wrote leaves what it had begun.
_FOLDERS = ("state", ".", "tables", "figures")


class State:
    """Outcomes by task number, on disk and in memory; made by :meth:`open`."""

    def __init__(self, folder: Path, design: Design, owner: Owner, lock: int) -> None:
        self.folder = folder
        self.design = design
        self.outcomes: dict[int, Outcome] = {}
        self._owner = owner
        self._lock = lock
        self._parts: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self._number = 0
        self._buffer: list[Outcome] = []
        self._begun = self._flushed = time.monotonic()

    @classmethod
    def open(cls, folder: Path, design: Design, version: str, resume: bool) -> State:
        """Begin a state in a study's folder, or take one up. One without rows counts as none."""
        (folder / "state").mkdir(parents=True, exist_ok=True)
        owner = {
            "format": _FORMAT,
            "study": design.study,
            "quick": design.quick,
            "tasks": len(design.tasks),
            "plan": design.digest,
            "version": version,
        }
        lock = _lock(folder)
        try:
            state = cls(folder, design, owner, lock)
            state._take_up(read_stored(folder), resume)
        except BaseException:
            os.close(lock)
            raise
        return state

    def close(self) -> None:
        """Write what is not written yet; let others at the folder."""
        try:
            self.flush()
        finally:
            os.close(self._lock)

    @property
    def kept(self) -> int:
        """How many tasks have a row on disk."""
        return len(self.outcomes) - len({outcome.number for outcome in self._buffer})

    def pending(self) -> list[int]:
        """Numbers of the tasks that have no row, or one with an error."""
        return [
            number
            for number in range(len(self.design.tasks))
            if number not in self.outcomes or self.outcomes[number].status == "error"
        ]

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Keep outcomes. One that is there already changes nothing."""
        self._buffer += [outcome for outcome in outcomes if self._keep(outcome)]
        # Often enough to lose little, seldom enough that long campaigns have few parts.
        now = time.monotonic()
        pause = min(max((now - self._begun) / 200, 1.0), 30.0)
        if now - self._flushed >= pause:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are in memory only."""
        self._flushed = time.monotonic()
        if not self._buffer:
            return
        pa = optional("pyarrow", extra="studies")
        columns: dict[str, list[Any]] = {
            "id": [self.design.ids[outcome.number] for outcome in self._buffer]
        }
        for field in Outcome._fields:
            columns[field] = [getattr(outcome, field) for outcome in self._buffer]
        name, digest = write_part(self.folder, self._number + 1, self._owner, pa.table(columns))
        self._parts[name] = digest
        self._number += 1
        self._buffer = []
        self._write_list()

    def record(self, results: dict[str, str]) -> None:
        """Note the digests of the finished results; none while they are being written."""
        self._results = results
        self._write_list()

    def _write_list(self) -> None:
        write_list(self.folder, self._owner, self._parts, self._results)

    def _keep(self, outcome: Outcome) -> bool:
        """The first outcome of a task counts, but a result replaces an error."""
        known = self.outcomes.get(outcome.number)
        if known is not None and (known.status != "error" or outcome.status == "error"):
            return False
        self.outcomes[outcome.number] = outcome
        return True

    def _take_up(self, stored: Stored, resume: bool) -> None:
        """Begin with what is there: refuse what is not of this plan, say what is damaged."""
        parts = [file for file in stored.files if part_number(Path(file.name).name)]
        if parts:
            _check(stored, self._owner, self.folder)
        numbers = {task_id: number for number, task_id in enumerate(self.design.ids)}
        for row in stored.rows:
            fields = (row[name] for name in Outcome._fields[1:])
            self._keep(Outcome(numbers[row["id"]], *fields))
        if self.outcomes and not resume:
            raise StudyError(
                f"{self.folder}: {len(self.outcomes)} of {len(self.design.tasks)} rows of "
                f"{self.design.study} are there: add --resume to go on, choose another --out, "
                f"or remove {self.folder / 'state'}"
            )
        for name in _FOLDERS:
            for unfinished in (self.folder / name).glob(UNFINISHED):
                unfinished.unlink()
        for file in stored.files:
            if file.damage:
                _note(self._put_aside(file))
        self._number = max((part_number(Path(file.name).name) for file in parts), default=0)
        self._parts = stored.parts
        self._results = stored.results if self.outcomes else {}
        self._write_list()

    def _put_aside(self, file: CheckedFile) -> str:
        """Make room for what replaces a damaged file; the line that says so."""
        path = self.folder / file.name
        line = f"{path}: damaged ({file.damage}); "
        if not part_number(path.name):
            return line + "written anew" + ("" if file.name == LIST else " at the end")
        if path.exists():
            aside = path.parent / "damaged"
            aside.mkdir(exist_ok=True)
            path.replace(aside / path.name)
            line += f"moved to {aside}, "
        return line + "its tasks run again"


def _lock(folder: Path) -> int:
    """An exclusive lock on the folder; the system frees it when this process ends."""
    handle = os.open(folder / "state" / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise StudyError(
            f"{folder}: another run is at work there: wait for it, or choose another --out"
        ) from None
    except OSError:
        _note(f"{folder}: its file system has no locks: let no other run write there")
    return handle


def _note(text: str) -> None:
    print(printable(f"note: {text}"), file=sys.stderr)


def _check(stored: Stored, wanted: Owner, folder: Path) -> None:
    """Refuse a state that is not of this plan and this version."""
    remedy = f"choose another --out, or remove {folder / 'state'}"
    damage = stored.files[0].damage
    if damage == MISSING:
        raise StudyError(
            f"{folder / LIST} is missing, which says what the rows beside it belong to: "
            f"put it back, {remedy}"
        )
    found = stored.owner
    if found is None:  # neither the list nor any part is whole: there is nothing to go on with
        return
    if found.get("format") != wanted["format"]:
        raise StudyError(f"{folder / 'state'}: no state of this version of cosched: {remedy}")
    names = {"study": "study", "quick": "value of --quick", "version": "version of cosched"}
    for key, name in names.items():
        if found.get(key) != wanted[key]:
            raise StudyError(
                f"{folder} was begun with another {name} ({json.dumps(found.get(key))}, "
                f"this is {json.dumps(wanted[key])}): {remedy}"
            )
    if found.get("plan") != wanted["plan"]:
        raise StudyError(
            f"{folder} was begun with another plan ({found.get('tasks')} tasks, this has "
            f"{wanted['tasks']}): {remedy}"
        )
