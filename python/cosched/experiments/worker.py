"""One task in a worker process, whichever engine started that process."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cosched.errors import StudyError, optional
from cosched.experiments.catalogue import find
from cosched.experiments.study import Study, Task
from cosched.registry import FAMILIES, family
from cosched.version import installed_version


class Outcome(NamedTuple):
    """What became of a task. ``row`` is JSON, so that it is the same however it travelled."""

    number: int
    status: str
    row: str
    seconds: float
    detail: str = ""  # a traceback, for the reader of errors.txt


@dataclass(frozen=True)
class Context:
    """What all tasks of a campaign share; `task_timeout` in seconds."""

    study: str
    version: str
    data: str = ""
    registered: bytes = b""
    task_timeout: float | None = None

    @classmethod
    def here(cls, study: str) -> Context:
        """For tasks that run in this very process: it has the data and the algorithms."""
        return cls(study, installed_version())

    @classmethod
    def shipped(cls, study: str, task_timeout: float | None = None) -> Context:
        """For other processes: with the place of the data and the user's own algorithms."""
        root = os.environ.get("COSCHED_DATA")
        data = os.path.abspath(root) if root else ""
        return cls(study, installed_version(), data, _pickled_algorithms(), task_timeout)


def execute(context: Context, number: int, task: Task) -> Outcome:
    """Run one task. An error that it raises becomes a row with status ``error``."""
    study = prepare(context)
    begin = time.perf_counter()
    try:
        row = study.run(dict(task))
        seconds = time.perf_counter() - begin
        if not isinstance(row, dict) or not all(isinstance(key, str) for key in row):
            raise TypeError("run() returned no dictionary with texts as keys")
        row = {"status": "ok", **row}
        return Outcome(number, str(row["status"]), json.dumps(row, default=_plain), seconds)
    except (Exception, SystemExit) as error:
        seconds = time.perf_counter() - begin
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return error_outcome(number, message, seconds, traceback.format_exc())


def error_outcome(number: int, message: str, seconds: float = 0.0, detail: str = "") -> Outcome:
    """The outcome of a task that has no result."""
    row = json.dumps({"status": "error", "message": message})
    return Outcome(number, "error", row, seconds, detail)


def prepare(context: Context) -> Study:
    """The study, once this process is known to fit the campaign; StudyError if it does not."""
    _adopt(context)
    try:
        return find(context.study)
    except ValueError as error:
        raise StudyError(f"a worker does not know the study: {error}") from None


@cache
def _adopt(context: Context) -> None:
    """Once a process: check its version, take over the user's algorithms."""
    if installed_version() != context.version:
        raise StudyError(
            f"a worker has cosched {installed_version()}, this is {context.version}: "
            "install the same"
        )
    if context.data:
        os.environ.setdefault("COSCHED_DATA", context.data)
    if context.registered:
        import pickle

        for family_name, name, function in pickle.loads(context.registered):
            family(family_name).register(name, function)


def _pickled_algorithms() -> bytes:
    """What the user registered, functions of a notebook or a script by value."""
    loaded = [name for name in FAMILIES if f"cosched.{name}" in sys.modules]
    own = [
        (name, algorithm, family(name).algorithms[algorithm])
        for name in loaded
        for algorithm in sorted(family(name).registered)
    ]
    if not own:
        return b""
    return optional("cloudpickle", extra="studies").dumps(own)


def _plain(value: Any) -> Any:
    """Numpy's values as Python's; numbers keep their last bit."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a row holds {type(value).__name__}: expected plain data")
