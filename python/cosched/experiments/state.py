"""The state folder of a campaign: what is done, in a form that survives any interruption.

``study.json`` says which plan the folder belongs to. Rows lie in ``part-NNNNNN.parquet``,
each written at once (a temporary file, renamed): a part is there in full or not at all. A row
is kept as JSON in the part: parts need no common columns, and numbers keep their last bit.
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

from cosched.errors import StudyError, optional
from cosched.experiments.plan import Plan
from cosched.experiments.worker import Outcome
from cosched.io import read_json, replacing, write_json

_FORMAT = 1


class State:
    """Outcomes by task number, on disk and in memory; made by :meth:`open`."""

    def __init__(self, folder: Path, plan: Plan, lock: int) -> None:
        self.folder = folder
        self.plan = plan
        self.outcomes: dict[int, Outcome] = {}
        self._lock = lock
        self._parts = 0
        self._buffer: list[Outcome] = []
        self._begun = self._flushed = time.monotonic()

    @classmethod
    def open(cls, folder: Path, plan: Plan, version: str, resume: bool) -> State:
        """Begin a state, or take one up. One without rows counts as none.

        Raises
        ------
        StudyError
            Another run is at work there; rows are there and `resume` is false; they are
            of another plan or version. One line that says what to do.
        """
        folder.mkdir(parents=True, exist_ok=True)
        lock = _lock(folder)
        try:
            state = cls(folder, plan, lock)
            manifest = {
                "format": _FORMAT,
                "study": plan.study,
                "quick": plan.quick,
                "tasks": len(plan.tasks),
                "plan": plan.digest,
                "version": version,
            }
            path = folder / "study.json"
            if any(folder.glob("part-*.parquet")):
                _check(read_json(path), manifest, folder)
                state._load()
                if not resume:
                    raise StudyError(
                        f"{folder.parent}: {len(state.outcomes)} of {len(plan.tasks)} rows of "
                        f"{plan.study} are there: add --resume to go on, choose another --out, "
                        f"or remove {folder}"
                    )
            else:
                write_json(manifest, path)
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
            for number in range(len(self.plan.tasks))
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
        pq = optional("pyarrow.parquet", extra="studies")

        columns: dict[str, list[Any]] = {
            "id": [self.plan.ids[outcome.number] for outcome in self._buffer]
        }
        for field in Outcome._fields:
            columns[field] = [getattr(outcome, field) for outcome in self._buffer]
        with replacing(self.folder / f"part-{self._parts + 1:06d}.parquet") as temporary:
            pq.write_table(pa.table(columns), temporary)
        self._parts += 1
        self._buffer = []

    def _keep(self, outcome: Outcome) -> bool:
        """The first outcome of a task counts, but a result replaces an error."""
        known = self.outcomes.get(outcome.number)
        if known is not None and (known.status != "error" or outcome.status == "error"):
            return False
        self.outcomes[outcome.number] = outcome
        return True

    def _load(self) -> None:
        pa = optional("pyarrow", extra="studies")
        pq = optional("pyarrow.parquet", extra="studies")

        for unfinished in self.folder.glob(".part-*"):  # a run that was killed while it wrote
            unfinished.unlink()
        numbers = {task_id: number for number, task_id in enumerate(self.plan.ids)}
        for path in sorted(self.folder.glob("part-*.parquet")):
            self._parts = max(self._parts, int(path.stem.removeprefix("part-")))
            try:
                rows = pq.read_table(path).to_pylist()
                found = [
                    Outcome(numbers[row["id"]], *(row[name] for name in Outcome._fields[1:]))
                    for row in rows
                ]
            except (pa.ArrowInvalid, OSError, KeyError) as error:
                line = str(error).splitlines()[0]
                print(f"note: {path}: unreadable ({line}); its tasks run again", file=sys.stderr)
                continue
            for outcome in found:
                self._keep(outcome)


def _lock(folder: Path) -> int:
    """An exclusive lock on the folder; the system frees it when this process ends."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise StudyError(f"{folder.parent}: another run is at work there") from None
    except OSError:  # a file system without locks: go on without
        pass
    return handle


def _check(found: Any, wanted: dict[str, Any], folder: Path) -> None:
    """Refuse a state that is not of this plan and this version."""
    remedy = f"choose another --out, or remove {folder}"
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise StudyError(f"{folder}: no state of this version of cosched: {remedy}")
    names = {"study": "study", "quick": "value of --quick", "version": "version of cosched"}
    for key, name in names.items():
        if found.get(key) != wanted[key]:
            raise StudyError(
                f"{folder.parent} was begun with another {name} ({json.dumps(found.get(key))}, "
                f"this is {json.dumps(wanted[key])}): {remedy}"
            )
    if found.get("plan") != wanted["plan"]:
        raise StudyError(
            f"{folder.parent} was begun with another plan ({found.get('tasks')} tasks, this has "
            f"{wanted['tasks']}): {remedy}"
        )
