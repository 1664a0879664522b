"""The state of a campaign at work: what is done, in an SQLite database that survives a kill.

A row is kept as JSON: numbers keep their last bit. SQLite sees damage to the structure of its
pages, not to a number in a row: each row, and each finished file, has a digest beside it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from cosched.errors import StudyError
from cosched.experiments.engines import Outcome
from cosched.experiments.study import Design
from cosched.io.writing import UNFINISHED

ROWS = "state/rows.sqlite"
#: What earlier versions of cosched kept their rows in.
_OLD = ("rows.jsonl", "study.json")
_TABLES = """CREATE TABLE IF NOT EXISTS owner (said TEXT);
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, digest);
CREATE TABLE IF NOT EXISTS rows (
    number INTEGER PRIMARY KEY, status, row, seconds, detail, digest
);"""
#: Where a run that was killed while it wrote leaves what it had begun.
_FOLDERS = (".", "tables", "figures")


class StudyState:
    """Outcomes by task number, on disk and in memory; made by :meth:`open`."""

    def __init__(self, folder: Path, design: Design, database: sqlite3.Connection) -> None:
        self.folder = folder
        self.design = design
        self.outcomes: dict[int, Outcome] = {}
        self.saved_rows = 0  # how many tasks have a row on disk
        self._database = database
        self._unwritten: dict[int, Outcome] = {}
        self._begun = self._flushed = time.monotonic()

    @classmethod
    def open(cls, folder: Path, design: Design, version: str, resume: bool) -> StudyState:
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
            database = _connected(folder)
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
            known_outcome = self.outcomes.get(outcome.number)
            if known_outcome is None or (
                known_outcome.status == "error" and outcome.status != "error"
            ):
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
                    "REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?)",
                    [(*row, _digest(row)) for row in self._unwritten.values()],
                )
                self._database.execute("COMMIT")
            self._unwritten.clear()
            self.saved_rows = len(self.outcomes)

    def record(self, names: Iterable[str]) -> None:
        """Keep the digests of finished files (relative to the folder) in place of those before."""
        files = [(name, _digest_of_file(self.folder / name)) for name in names]
        with _explained(self.folder):
            self._database.execute("BEGIN")
            self._database.execute("DELETE FROM files")
            self._database.executemany("INSERT INTO files VALUES (?, ?)", files)
            self._database.execute("COMMIT")

    def _take_up(self, owner: dict[str, Any], resume: bool) -> None:
        """Begin with what is there; refuse what is not of this plan and this version."""
        rows = self._database.execute("SELECT * FROM rows").fetchall()
        if rows:
            _check(_owner(self._database), owner, self.folder)
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
        self.outcomes = {row[0]: Outcome(*row[:-1]) for row in rows if _is_whole(row)}
        self.saved_rows = len(self.outcomes)
        if len(rows) > self.saved_rows:
            print(
                f"{self.folder / ROWS}: {len(rows) - self.saved_rows} of {len(rows)} rows "
                "are damaged: their tasks run again",
                file=sys.stderr,
            )
        for name in _FOLDERS:
            for unfinished in (self.folder / name).glob(UNFINISHED):
                unfinished.unlink()


def verify(folder: str | PathLike[str]) -> dict[str, str]:
    """Compare a study's files with the digests that were kept of them.

    By file, relative to `folder`: what is wrong with it, or nothing.

    Parameters
    ----------
    folder : str or path-like
        The `out` of a study.

    Raises
    ------
    StudyError
        It is no folder of a study, its state is no database, or a run is at work there.

    Examples
    --------
    >>> from cosched import experiments
    >>> experiments.verify("packs")  # doctest: +SKIP
    {'state/rows.sqlite': '', 'results.parquet': '', 'timings.parquet': 'is another'}
    """
    folder = Path(folder)
    if not (folder / ROWS).is_file():
        raise StudyError(f"{folder}: no study: it has no {ROWS}")
    with _explained(folder), closing(_connected(folder)) as database:
        rows = database.execute("SELECT * FROM rows").fetchall()
        files = database.execute("SELECT * FROM files").fetchall()
        ((pages,),) = database.execute("PRAGMA integrity_check(1)").fetchall()
        tasks = _owner(database)["tasks"]
    broken = sum(not _is_whole(row) for row in rows)
    if pages == "ok" and len(rows) < tasks and files:
        pages = f"{len(rows)} rows of {tasks} tasks"
    findings = {ROWS: f"{broken} of {len(rows)} rows" if broken else "" if pages == "ok" else pages}
    for name, digest in files:
        path = folder / str(name)
        if not path.is_file():
            findings[str(name)] = "is missing"
        else:
            findings[str(name)] = "" if _digest_of_file(path) == digest else "is another"
    return findings


def _connected(folder: Path) -> sqlite3.Connection:
    database = sqlite3.connect(folder / ROWS, timeout=0, isolation_level=None)
    # Text that is none is damage, which the digest of its row tells.
    database.text_factory = lambda text: text.decode(errors="replace")
    return database


def _digest(row: Iterable[object]) -> str:
    return hashlib.sha256(repr(tuple(row)).encode()).hexdigest()


def _digest_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_whole(row: tuple[object, ...]) -> bool:
    return _digest(row[:-1]) == row[-1]


def _owner(database: sqlite3.Connection) -> dict[str, Any]:
    """Return whose the rows are."""
    try:
        ((stored_owner,),) = database.execute("SELECT said FROM owner")
        return {
            key: json.loads(stored_owner)[key]
            for key in ("study", "quick", "tasks", "plan", "version")
        }
    except (ValueError, TypeError, KeyError):
        raise sqlite3.DatabaseError("whose the rows are is damaged") from None


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Put SQLite's errors in words; a transaction that failed has changed nothing."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also of names of columns
        if "locked" in str(error):
            raise StudyError(
                f"{folder}: another run is at work there: wait for it, or choose another --out"
            ) from None
        if "full" in str(error) or "disk I/O" in str(error):
            raise OSError(errno.ENOSPC, str(error)) from None
        raise StudyError(f"{folder / ROWS}: {error}: {_remedy(folder)}") from None


def _remedy(folder: Path) -> str:
    return f"choose another --out, or remove {folder / 'state'}"


def _check(stored_owner: dict[str, Any], expected_owner: dict[str, Any], folder: Path) -> None:
    """Refuse a state that is not of this plan and this version."""
    names = {"study": "study", "quick": "value of --quick", "version": "version of cosched"}
    for key, name in names.items():
        if stored_owner[key] != expected_owner[key]:
            raise StudyError(
                f"{folder} was begun with another {name} ({json.dumps(stored_owner[key])}, "
                f"this is {json.dumps(expected_owner[key])}): {_remedy(folder)}"
            )
    if stored_owner["plan"] != expected_owner["plan"]:
        raise StudyError(
            f"{folder} was begun with another plan ({stored_owner['tasks']} tasks, this has "
            f"{expected_owner['tasks']}): {_remedy(folder)}"
        )
