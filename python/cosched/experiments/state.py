"""The state of a campaign at work: what is done, in an SQLite database that survives a kill.

A row is kept as JSON: numbers keep their last bit.
"""

from __future__ import annotations

import errno
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cosched.errors import StudyError
from cosched.experiments.study import Design
from cosched.experiments.worker import Outcome
from cosched.io.writing import UNFINISHED

ROWS = "state/rows.sqlite"
#: What earlier versions of cosched kept their rows in.
_OLD = ("rows.jsonl", "study.json")
_TABLES = """CREATE TABLE IF NOT EXISTS owner (said TEXT);
CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, status, row, seconds, detail);"""
#: Where a run that was killed while it wrote leaves what it had begun.
_FOLDERS = (".", "tables", "figures")


class State:
    """Outcomes by task number, on disk and in memory; made by :meth:`open`."""

    def __init__(self, folder: Path, design: Design, database: sqlite3.Connection) -> None:
        self.folder = folder
        self.design = design
        self.outcomes: dict[int, Outcome] = {}
        self.kept = 0  # how many tasks have a row on disk
        self._database = database
        self._unwritten: dict[int, Outcome] = {}
        self._begun = self._flushed = time.monotonic()

    @classmethod
    def open(cls, folder: Path, design: Design, version: str, resume: bool) -> State:
        """Begin a state in a study's folder, or take one up. One without rows counts as none."""
        (folder / "state").mkdir(parents=True, exist_ok=True)
        owner = {
            "study": design.study,
            "quick": design.quick,
            "tasks": len(design.tasks),
            "plan": design.digest,
            "version": version,
        }
        with _explained(folder):
            database = sqlite3.connect(folder / ROWS, timeout=0, isolation_level=None)
        try:
            state = cls(folder, design, database)
            with _explained(folder):
                # The lock is held until the connection is closed, or this process ends.
                database.execute("PRAGMA locking_mode = EXCLUSIVE")
                database.executescript(f"BEGIN EXCLUSIVE; {_TABLES} COMMIT")
                state._take_up(owner, resume)
        except BaseException:
            database.close()
            raise
        return state

    def close(self) -> None:
        """Write what is not written yet; let others at the folder."""
        try:
            self.flush()
        finally:
            self._database.close()

    def pending(self) -> list[int]:
        """Numbers of the tasks that have no row, or one with an error."""
        return [
            number
            for number in range(len(self.design.tasks))
            if number not in self.outcomes or self.outcomes[number].status == "error"
        ]

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Keep outcomes: the first one of a task counts, but a result replaces an error."""
        for outcome in outcomes:
            known = self.outcomes.get(outcome.number)
            if known is None or (known.status == "error" and outcome.status != "error"):
                self.outcomes[outcome.number] = self._unwritten[outcome.number] = outcome
        # Often enough to lose little, seldom enough that writing takes no time worth the name.
        now = time.monotonic()
        pause = min(max((now - self._begun) / 200, 1.0), 30.0)
        if now - self._flushed >= pause:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are in memory only: all of them or none."""
        self._flushed = time.monotonic()
        if self._unwritten:
            with _explained(self.folder):
                self._database.execute("BEGIN")
                self._database.executemany(
                    "REPLACE INTO rows VALUES (?, ?, ?, ?, ?)", self._unwritten.values()
                )
                self._database.execute("COMMIT")
            self._unwritten.clear()
            self.kept = len(self.outcomes)

    def _take_up(self, owner: dict[str, Any], resume: bool) -> None:
        """Begin with what is there; refuse what is not of this plan and this version."""
        rows = self._database.execute("SELECT * FROM rows").fetchall()
        if rows:
            ((said,),) = self._database.execute("SELECT said FROM owner")
            _check(json.loads(said), owner, self.folder)
            if not resume:
                raise StudyError(
                    f"{self.folder}: {len(rows)} of {len(self.design.tasks)} rows of "
                    f"{self.design.study} are there: add --resume to go on, choose another --out, "
                    f"or remove {self.folder / 'state'}"
                )
        elif any((self.folder / "state" / name).exists() for name in _OLD):
            where = self.folder / "state"
            raise StudyError(
                f"{where}: no state of this version of cosched: {_remedy(self.folder)}"
            )
        self._database.execute("DELETE FROM owner")
        self._database.execute("INSERT INTO owner VALUES (?)", [json.dumps(owner)])
        self.outcomes = {row[0]: Outcome(*row) for row in rows}
        self.kept = len(rows)
        for name in _FOLDERS:
            for unfinished in (self.folder / name).glob(UNFINISHED):
                unfinished.unlink()


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """SQLite's errors in words; a transaction that failed has changed nothing."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "locked" in str(error):
            raise StudyError(
                f"{folder}: another run is at work there: wait for it, or choose another --out"
            ) from None
        if "full" in str(error) or "disk I/O" in str(error):
            raise OSError(errno.ENOSPC, str(error)) from None
        raise StudyError(f"{folder / ROWS}: {error}: {_remedy(folder)}") from None


def _remedy(folder: Path) -> str:
    return f"choose another --out, or remove {folder / 'state'}"


def _check(found: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    """Refuse a state that is not of this plan and this version."""
    names = {"study": "study", "quick": "value of --quick", "version": "version of cosched"}
    for key, name in names.items():
        if found[key] != wanted[key]:
            raise StudyError(
                f"{folder} was begun with another {name} ({json.dumps(found[key])}, "
                f"this is {json.dumps(wanted[key])}): {_remedy(folder)}"
            )
    if found["plan"] != wanted["plan"]:
        raise StudyError(
            f"{folder} was begun with another plan ({found['tasks']} tasks, this has "
            f"{wanted['tasks']}): {_remedy(folder)}"
        )
