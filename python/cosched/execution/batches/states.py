"""What has become of the tasks of a folder and of its later rounds, and what is left to do."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core.arrays import positive
from cosched.core.text import count_of
from cosched.errors import InvalidInstance, shorten
from cosched.execution.batches import runner
from cosched.execution.batches.activity import (
    Activity,
    activity_of,
    ask_queue,
    has_entries,
    read_submitted,
    runners_of,
)
from cosched.execution.batches.allocation_limits import RESERVE, limit_of, time_of
from cosched.execution.batches.duration_model import DurationModel
from cosched.execution.batches.folder import FORMAT, VERSION
from cosched.execution.batches.task_list import BatchTask, TaskList
from cosched.notes import Note, NoteKind

_OURS = "what `cosched batch` wrote"
#: A task that was cut off is planned with so much more than it had.
_LONGER = 1.2


@dataclass(frozen=True)
class BatchState:
    """What the journal of an allocation says of its tasks, by their names.

    Attributes
    ----------
    script : str
        Of a later round with its folder.
    completed, failed, cut, started, waiting : list of str
        `started` have started and not ended: they run, or their runner died.
    activity : Activity
        Whether the allocation runs, or waits in the queue.
    """

    script: str
    completed: list[str]
    failed: list[str]
    cut: list[str]
    started: list[str]
    waiting: list[str]
    activity: Activity = field(default_factory=lambda: Activity(False))


@dataclass(frozen=True)
class _Part:
    """An allocation of one of the rounds."""

    script: str
    #: Whether it is of the folder itself, and not of a later round.
    is_own: bool
    tasks: list[BatchTask]
    #: Task -> what happened to it last.
    last: Mapping[str, str]
    #: Task -> seconds that it had when it was cut off.
    seconds_had: Mapping[str, float]
    #: Tasks that the limit cut off.
    limited: frozenset[str]
    activity: Activity
    #: Whether nothing was ever started: no entry in the journal, and no submitted job.
    is_unstarted: bool
    #: Whether the script is there: one that was deleted cannot be started any more.
    has_script: bool

    def state(self) -> BatchState:
        kinds: dict[str, list[str]] = {
            kind: [] for kind in ("completed", "failed", "cut", "started", "waiting")
        }
        for task in self.tasks:
            kinds[self.last.get(task.name, "waiting")].append(task.name)
        return BatchState(self.script, activity=self.activity, **kinds)


@dataclass(frozen=True)
class Rounds:
    """A folder with its later rounds.

    Attributes
    ----------
    states : list of BatchState
        Of each allocation, those of the folder itself first.
    names : list of str
        All tasks of the folder itself.
    completed : frozenset of str
        Those that completed in any round.
    seconds : mapping of str to float
        Cores x planned seconds of each task.
    notes : tuple of Note
        Rounds that are not there any more.
    """

    states: list[BatchState]
    names: list[str]
    completed: frozenset[str]
    seconds: Mapping[str, float]
    notes: tuple[Note, ...]

    @property
    def open_names(self) -> list[str]:
        """Tasks that have completed in no round."""
        return [name for name in self.names if name not in self.completed]

    @property
    def is_active(self) -> bool:
        """Whether anything runs, or waits in the queue, as far as anybody knows."""
        return any(state.activity.is_active is not False for state in self.states)


def status(folder: str | PathLike[str]) -> list[BatchState]:
    """What has become of each allocation of a folder, and of its later rounds.

    `started` have started and not ended: they run, or their runner died.

    Raises
    ------
    InvalidInstance
        The folder is none of :func:`write`.
    """
    return rounds(folder).states


def rounds(folder: str | PathLike[str]) -> Rounds:
    """A folder with its later rounds: :func:`rest` knows of these.

    Raises
    ------
    InvalidInstance
        The folder is none of :func:`write`.
    """
    place = Path(folder)
    parts, _, notes = _read_rounds(place)
    tasks = [task for part in parts if part.is_own for task in part.tasks]
    completed = {name for part in parts for name, last in part.last.items() if last == "completed"}
    return Rounds(
        [part.state() for part in parts],
        [task.name for task in tasks],
        frozenset(completed),
        {task.name: cores * s for task in tasks for cores, s in task.seconds.items()},
        notes,
    )


@contextmanager
def _written(path: Path) -> Iterator[Any]:
    """Yield the data of a file; what is not there, or of another kind, is refused by the file's
    name."""
    data = io.read_json(path)
    try:
        yield data
    except KeyError as error:
        raise InvalidInstance(f"{path}: no {error}: expected {_OURS}") from None
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        raise InvalidInstance(f"{path}: {error}: expected {_OURS}") from None


def _read_rounds(place: Path) -> tuple[list[_Part], dict[str, Any], tuple[Note, ...]]:
    """Return the allocations of all rounds, the shape of the first one, and notes."""
    _read_plan(place)  # before rounds are looked for: the folder may be something else
    missing: list[str] = []
    with _written_rounds(place):
        folders = runner.rounds_of(str(place), missing.append)
    folders_of_parts = [(Path(folder), *_read_plan(Path(folder))) for folder in folders]
    jobs = {folder: read_submitted(folder) for folder, _, _ in folders_of_parts}
    asked = {job for of_parts in jobs.values() for numbers in of_parts.values() for job in numbers}
    for folder, scripts, _ in folders_of_parts:
        for script in scripts:
            runners = runners_of((folder / script).with_suffix(".journal.jsonl"))
            asked |= {job for job, is_over in runners.items() if not is_over}
    queue = ask_queue(sorted(asked))
    parts = []
    for folder, scripts, shape in folders_of_parts:
        is_own = folder == folders_of_parts[0][0]
        for script in scripts:
            label = script if is_own else os.path.relpath(folder / script)
            submitted = jobs[folder].get(Path(script).stem, [])
            journal = (folder / script).with_suffix(".journal.jsonl")
            typed_folder = place if is_own else folder  # as it was typed, for messages
            parts.append(
                _Part(
                    label,
                    is_own,
                    _read_tasks(typed_folder, script, shape["licences"]),
                    *_read_states(journal),
                    activity_of(journal, submitted, queue),
                    is_unstarted=not submitted and not has_entries(journal),
                    has_script=(folder / script).exists(),
                )
            )
    missing_rounds = tuple(
        Note(
            NoteKind.UNKNOWN,
            f"{name} is not there any more: what completed in it is not known",
            subject=name,
        )
        for name in missing
    )
    return parts, folders_of_parts[0][2], missing_rounds


@contextmanager
def _written_rounds(place: Path) -> Iterator[None]:
    """Refuse damaged files that name the later rounds."""
    try:
        yield
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidInstance(f"{place / 'rest.json'}: {error!r}: expected {_OURS}") from None


def _read_plan(place: Path) -> tuple[list[str], dict[str, Any]]:
    """Return the scripts of a folder, and the arguments of `batch` for their shape."""
    if not (place / "batch.json").exists():
        raise InvalidInstance(f"{place}: no batch.json there: expected {_OURS}")
    with _written(place / "batch.json") as data:
        if (data["format"], data["version"]) != (FORMAT, VERSION):
            raise ValueError(f"not {FORMAT}, version {VERSION}")
        first, node = data["allocations"][0], data["node"]
        return [str(allocation["script"]) for allocation in data["allocations"]], {
            "nodes": int(first["nodes"]),
            "limit": float(first["limit"]),
            "cores": int(node["cores"]),
            "memory": math.inf if node["memory"] is None else float(node["memory"]),
            "gpus": int(node["gpus"]),
            "licences": {name: float(have) for name, have in data["licences"].items()},
            "chance": float(data["chance"]),
            "spread": float(data["spread"]),
        }


def _read_tasks(place: Path, script: str, licences: Iterable[str]) -> list[BatchTask]:
    """Return the tasks of an allocation, as they were planned."""
    with _written((place / script).with_suffix(".json")) as data:
        return [_task(task, licences) for task in data["tasks"]]


def _task(task: dict[str, Any], licences: Iterable[str]) -> BatchTask:
    cores, memory, gpus = map(float, task["need"])
    return BatchTask(
        name=str(task["name"]),
        seconds={int(cores): positive(task["seconds"], "seconds")},
        commands={int(cores): tuple(map(str, task["command"]))},
        memory={int(cores): memory},
        gpus=int(gpus),
        licences={k: float(v) for k, v in zip(licences, task["shared"], strict=True) if v},
        after=tuple(map(str, task["after"])),
        directory=str(task["directory"]),
        environment=dict(task["environment"]),
    )


def _read_states(journal: Path) -> tuple[dict[str, str], dict[str, float], frozenset[str]]:
    """Return, for tasks, what happened last, the seconds of those cut off, and those that the limit
    cut."""
    last: dict[str, str] = {}
    seconds_had: dict[str, float] = {}
    limited: set[str] = set()
    is_limit = False
    for entry in runner.read_entries(journal) if journal.exists() else ():
        if "begin" in entry:
            is_limit = False
        elif "stop" in entry:
            is_limit = entry["stop"] == "limit"
        state = runner.state_of(entry)
        if state is None:
            continue
        name, kind, seconds = state
        if last.get(name) != "completed":
            last[name] = kind
        if kind == "cut":
            seconds_had[name] = max(seconds, seconds_had.get(name, 0.0))
            if is_limit:
                limited.add(name)
    return last, seconds_had, frozenset(limited)


def rest(
    folder: str | PathLike[str], *, limit: float | None = None
) -> tuple[TaskList, dict[str, Any]]:
    """The tasks of a folder that completed in no round, and the arguments of `batch` for them.

    One that was cut off is planned with a fifth more than it had, if that is longer; where the
    limit cut it off and is too short for that, the limit is longer, too. What runs, or waits in the
    queue, is left out, and so are the tasks of a later round that has not started, and what waits
    for either. A note names each such allocation.

    Parameters
    ----------
    limit : float, optional
        Seconds that tasks may take in an allocation; by default as in the folder, or longer.

    Raises
    ------
    InvalidInstance
        The folder is none of :func:`write`, or nothing is left.
    """
    parts, shape, notes = _read_rounds(Path(folder))
    completed = {name for part in parts for name, last in part.last.items() if last == "completed"}
    seconds_had: dict[str, float] = {}
    for part in parts:
        for name, seconds in part.seconds_had.items():
            seconds_had[name] = max(seconds, seconds_had.get(name, 0.0))
    unfinished_tasks = [
        _unfinished_part(task, seconds_had, completed)
        for part in parts
        if part.is_own
        for task in part.tasks
        if task.name not in completed
    ]
    if not unfinished_tasks:
        raise InvalidInstance(f"{folder}: all tasks have completed: nothing is left")
    todo, more = _without_planned(unfinished_tasks, parts)
    if not todo:
        raise InvalidInstance(f"{folder}: nothing is left to plan: {'; '.join(more)}")
    limited = {name for part in parts for name in part.limited}
    shape["limit"], longer = _limit_for(todo, limited, shape, limit)
    return TaskList(tuple(todo), notes=(*notes, *more, *longer)), shape


def _unfinished_part(
    task: BatchTask, seconds_had: Mapping[str, float], completed: set[str]
) -> BatchTask:
    longer = _LONGER * seconds_had.get(task.name, 0.0)
    return replace(
        task,
        seconds={cores: max(seconds, longer) for cores, seconds in task.seconds.items()},
        after=tuple(name for name in task.after if name not in completed),
    )


def _without_planned(
    tasks: Sequence[BatchTask], parts: Sequence[_Part]
) -> tuple[list[BatchTask], list[Note]]:
    """Return tasks that no other allocation runs or will run, and that wait for none of those;
    notes."""
    notes: list[Note] = []
    planned: set[str] = set()
    open_names = {task.name for task in tasks}
    for part in parts:
        names = {task.name for task in part.tasks} & open_names
        if not names:
            continue
        note, is_left_out = _note_of(part, names)
        if note is not None:
            notes.append(note)
        if is_left_out:
            planned |= names
    dependents = _dependents_of(planned, tasks)
    if dependents:
        count = count_of(len(dependents), "task")
        text = f"{count} left out, too: expected to start after these"
        notes.append(Note(NoteKind.DROPPED, text, subject="dependent tasks", count=len(dependents)))
    left_out = planned | dependents
    return [task for task in tasks if task.name not in left_out], notes


def _note_of(part: _Part, names: set[str]) -> tuple[Note | None, bool]:
    """Return what is said of an allocation with these open tasks; whether they are left out.

    A later round that has not started keeps its tasks: two folders would run them twice. The folder
    itself may be planned anew before it has started, in another shape.
    """
    tasks = count_of(len(names), "open task")

    def note(kind: NoteKind, text: str) -> Note:
        return Note(kind, text, subject=part.script, count=len(names))

    if part.activity.is_active is None:
        text = f"{part.script} {part.activity.text}: its tasks may run twice"
        return note(NoteKind.UNKNOWN, text), False
    if part.activity.is_active:
        text = f"{part.script} {part.activity.text}: its {tasks} left out"
        return note(NoteKind.DROPPED, text), True
    if not part.is_unstarted or not part.has_script:
        return None, False
    if part.is_own:
        text = f"{part.script} has not started and has these {tasks}, too: start one of both"
        return note(NoteKind.UNUSUAL, text), False
    text = (
        f"{part.script} has not started: its {tasks} left out (start it, or delete it to plan them "
        "again)"
    )
    return note(NoteKind.DROPPED, text), True


def _dependents_of(names: set[str], tasks: Sequence[BatchTask]) -> set[str]:
    """Return other tasks that wait for one of these, or for one that does."""
    dependents: set[str] = set()
    is_growing = bool(names)
    while is_growing:
        awaited = names | dependents
        more = {
            task.name
            for task in tasks
            if task.name not in awaited and awaited.intersection(task.after)
        }
        dependents |= more
        is_growing = bool(more)
    return dependents


def _limit_for(
    tasks: Sequence[BatchTask], limited: set[str], shape: Mapping[str, Any], typed: float | None
) -> tuple[float, list[Note]]:
    """Return seconds for tasks of an allocation: more where the limit cut off one that needs
    more."""
    if typed is not None:
        return typed, []
    before = shape["limit"]
    durations = DurationModel.of_runs((), before, shape["spread"], shape["chance"], 0)
    needs = {
        task.name: max(task.seconds.values()) * durations.single_task_factor()
        for task in tasks
        if task.name in limited
    }
    longest = max(needs, key=needs.__getitem__, default=None)
    if longest is None or needs[longest] <= before:
        return before, []
    time = time_of(needs[longest])
    count = sum(need > before for need in needs.values())
    text = (
        f"the limit cut off {count_of(count, 'task')}: allocations last {time / 60:.0f} min "
        f"instead of {time_of(before) / 60:.0f} ({shorten(longest)} needs {needs[longest]:.4g} s "
        f"and {RESERVE:.0f} s to end)"
    )
    return limit_of(time), [Note(NoteKind.REPAIRED, text, subject="limit", count=count)]
