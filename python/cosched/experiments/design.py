"""The tasks of a study, numbered and fingerprinted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from cosched.errors import StudyError
from cosched.experiments.study import Study, Task

#: Columns of the results that a task must not claim.
_RESERVED = ("task", "status", "message")


@dataclass(frozen=True)
class Design:
    """Tasks in order; a task's number is its place.

    ``ids`` fingerprint the single tasks, ``digest`` all of them.
    """

    study: str
    quick: bool
    tasks: tuple[Task, ...]
    ids: tuple[str, ...]
    digest: str


def make_design(study: Study, name: str, quick: bool) -> Design:
    """The tasks of a study that was asked for by `name`."""
    tasks = []
    ids: dict[str, int] = {}
    for number, given in enumerate(study.plan(quick)):
        text = _canonical(given, f"plan of {name}, task {number}")
        task_id = hashlib.sha256(text.encode()).hexdigest()[:16]
        if task_id in ids:
            raise StudyError(f"plan of {name}: tasks {ids[task_id]} and {number} are the same")
        ids[task_id] = number
        # Through JSON once, so that run() sees the same data here and on another machine.
        tasks.append(json.loads(json.dumps(given)))
    if not tasks:
        raise StudyError(f"plan of {name}: no tasks")
    whole = "\n".join([name, *ids])
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return Design(name, quick, tuple(tasks), tuple(ids), digest)


def is_timing(key: str) -> bool:
    """Whether a key of a row is a measured time, which no two runs have in common."""
    return key == "seconds" or key.startswith("seconds_")


def _canonical(task: Task, where: str) -> str:
    if not isinstance(task, dict) or not all(isinstance(key, str) for key in task):
        raise StudyError(f"{where}: expected a dictionary with texts as keys")
    for key in task:
        if key in _RESERVED or is_timing(key):
            raise StudyError(f"{where}: the key {key!r} is reserved")
    try:
        return json.dumps(task, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StudyError(f"{where}: not plain data ({error})") from None
