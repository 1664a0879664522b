"""The state of a campaign at work: what is done, in a form that survives any interruption.

The file of the rows is written at once (a temporary file, renamed): it is there in full or not at
all. A row is kept as JSON: numbers keep their last bit. What is found damaged is said, put aside,
and run again.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from cosched.errors import StudyError, printable
from cosched.experiments.stored import (
    ROWS,
    Owner,
    Stored,
    digests_of,
    read_stored,
    sealed,
    write_rows,
)
from cosched.experiments.study import Design
from cosched.experiments.worker import Outcome
from cosched.io.writing import UNFINISHED

_FORMAT = 3
#: What earlier versions wrote beside their rows.
_OLD_LIST = "state/study.json"
#: Where a run that was killed while it wrote leaves what it had begun.
_FOLDERS = ("state", ".", "tables", "figures")


class State:
    """Outcomes by task number, on disk and in memory; made by :meth:`open`."""

    def __init__(self, folder: Path, design: Design, owner: Owner, lock: int) -> None:
        self.folder = folder
        self.design = design
        self.outcomes: dict[int, Outcome] = {}
        self.kept = 0  # how many tasks have a row on disk
        self._owner = owner
        self._lock = lock
        self._lines: dict[int, str] = {}
        self._digests: dict[str, str] = {}
        self._unwritten = False
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

    def pending(self) -> list[int]:
        """Numbers of the tasks that have no row, or one with an error."""
        return [
            number
            for number in range(len(self.design.tasks))
            if number not in self.outcomes or self.outcomes[number].status == "error"
        ]

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Keep outcomes. One that is there already changes nothing."""
        for outcome in outcomes:
            self._keep(outcome)
        # Often enough to lose little, seldom enough that writing takes no time worth the name.
        now = time.monotonic()
        pause = min(max((now - self._begun) / 200, 1.0), 30.0)
        if now - self._flushed >= pause:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are in memory only."""
        self._flushed = time.monotonic()
        if self._unwritten:
            self._write()

    def record(self, names: Iterable[str]) -> None:
        """Note the digests of finished files; none while they are being written."""
        self._digests = digests_of(self.folder, names)
        self._write()

    def _write(self) -> None:
        write_rows(self.folder, self._owner, self._lines.values(), self._digests)
        self.kept = len(self._lines)
        self._unwritten = False

    def _keep(self, outcome: Outcome) -> None:
        """The first outcome of a task counts, but a result replaces an error."""
        known = self.outcomes.get(outcome.number)
        if known is not None and (known.status != "error" or outcome.status == "error"):
            return
        self.outcomes[outcome.number] = outcome
        task = self.design.ids[outcome.number]
        self._lines[outcome.number] = sealed({"id": task, **outcome._asdict()})
        self._unwritten = True

    def _take_up(self, stored: Stored, resume: bool) -> None:
        """Begin with what is there: refuse what is not of this plan, say what is damaged."""
        if (self.folder / _OLD_LIST).exists():
            _check({}, self._owner, self.folder)
        if stored.rows and stored.owner is not None:
            _check(stored.owner, self._owner, self.folder)
        numbers = {task_id: number for number, task_id in enumerate(self.design.ids)}
        for row in stored.rows:
            if (number := numbers.get(row.pop("id"))) is not None:
                self._keep(Outcome(**{**row, "number": number}))
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
                path = self.folder / file.name
                what = self._put_aside(path) if file.name == ROWS else "written anew at the end"
                _note(f"{path}: damaged ({file.damage}); {what}")
        self._digests = stored.digests if self.outcomes else {}
        self._write()

    def _put_aside(self, path: Path) -> str:
        """Make room for the rows that are whole; what is said of it."""
        lost = f"{len(self.design.tasks) - len(self.outcomes)} tasks have no row and run again"
        if not path.exists():
            return lost
        aside = path.with_suffix(".damaged")
        path.replace(aside)
        return f"moved to {aside}, {lost}"


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


def _check(found: Owner, wanted: Owner, folder: Path) -> None:
    """Refuse a state that is not of this plan and this version."""
    remedy = f"choose another --out, or remove {folder / 'state'}"
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
