"""What a plan is made of: tasks, their times and needs, by measurements and codes."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from cosched import profiles
from cosched.core.precedence import before_of
from cosched.core.tails import conformal_limit, min_sample_count, risk_of
from cosched.core.text import listed, unknown_name
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import Code, memory_at
from cosched.execution.codes import Codes
from cosched.execution.measured_times import (
    by_member,
    completed,
    last_words,
    note_of_unlimited,
    runs_of_current_codes,
    seconds_of,
)
from cosched.execution.runs_file import MeasuredRun, read_runs
from cosched.notes import Note, NoteKind

#: Of the longest run, and of the largest, where runs are too few to promise anything.
MARGIN = 1.1


def peaks_of(
    measured_runs: Sequence[MeasuredRun], risk: float, margin: float
) -> dict[str, dict[int, float]]:
    """GB of each task on each count that it was measured on: what the next run exceeds with `risk`
    where there are enough runs; of fewer the largest, times `margin`."""
    measured: dict[str, dict[int, list[float]]] = {}
    for run in measured_runs:
        if not math.isnan(run.memory):
            measured.setdefault(run.task, {}).setdefault(run.processors, []).append(run.memory)
    return {
        task: {count: conformal_limit(values, risk, margin) for count, values in of.items()}
        for task, of in measured.items()
    }


def toml_of(path: str | PathLike[str], risk: float) -> str:
    """``timeout`` and ``memory`` of the tasks of a ``runs.csv``, as lines of ``codes.toml``.

    `risk`, below 1: that a run is ended for one of the two; each has half, where both were
    measured.
    """
    measured_runs = runs_of_current_codes(read_runs(path), None)[0]
    times = {task: of for task, of in completed(measured_runs).items() if any(of.values())}
    if not times:
        raise InvalidInstance(f"{path}: no run completed: expected what `cosched profile` wrote")
    chance = risk_of(risk)
    judged = 2 if any(not math.isnan(run.memory) for run in measured_runs) else 1
    peaks = peaks_of(measured_runs, chance / judged, MARGIN)
    lines = [
        f"# ends at most {100 * chance:g}% of such runs, of {min_sample_count(chance / judged)} "
        f"runs on a count or more; of fewer: {MARGIN:g} times the most"
    ]
    for task, of in times.items():
        runs = {
            count: [run.seconds for run in runs_of_count]
            for count, runs_of_count in of.items()
            if runs_of_count
        }
        lines += _lines(task, runs, peaks.get(task, {}), chance / judged)
    return "\n".join(lines) + "\n"


def _lines(
    task: str, runs: dict[int, list[float]], peaks: dict[int, float], risk: float
) -> Iterator[str]:
    plain = re.fullmatch(r"[A-Za-z0-9_-]+", task)
    yield f"\n[task.{task if plain else json.dumps(task, ensure_ascii=False)}]"
    longest = max(conformal_limit(values, risk, MARGIN) for values in runs.values())
    counts = ", ".join(f"{len(values)} on {count}" for count, values in sorted(runs.items()))
    yield f"timeout = {math.ceil(longest / 60) * 60}  # runs: {counts}"
    if peaks:
        amounts = ", ".join(
            f"{count} = {math.ceil(100 * gb - 1e-6) / 100:g}" for count, gb in sorted(peaks.items())
        )
        yield f"memory = {{ {amounts} }}  # GB"


#: That a run needs more memory than what was measured says, where enough was measured.
_RISK = 0.01


@dataclass(frozen=True)
class Tasks:
    """The tasks of a plan: their names, the profiles that they share, and what was measured."""

    #: The name of each task.
    names: list[str]
    #: The profile of each task, which tasks of one sweep share.
    profiles: list[str]
    #: Under which name the times of each task were measured: its own, or that of its sweep.
    timed_name_of_task: list[str]
    #: Timed name -> count -> seconds.
    seconds: dict[str, dict[int, list[float]]]
    #: What was assumed about the measurements.
    notes: tuple[Note, ...]


def tasks_of(
    measured_runs: Sequence[MeasuredRun],
    codes: Codes | None,
    runs: str | PathLike[str],
    strict: bool,
) -> Tasks:
    """What can be planned; notes about what cannot."""
    seconds = seconds_of(measured_runs)
    tasks_of_name = {name: [name] for name in seconds}
    profile_of = {name: name for name in seconds}
    foreign: list[str] = []
    measured = list(measured_runs) if codes is None else by_member(measured_runs, codes)
    if codes is not None:
        measured_tasks = {run.task for run in measured}
        foreign = [name for name in seconds if name not in codes.profiles()]
        tasks_of_name, profile_of = {}, {}
        for profile, members in codes.profiles().items():
            has_own_times = all(code.name in measured_tasks for code in members)
            for code in members:
                timed_name = code.name if has_own_times else profile
                tasks_of_name.setdefault(timed_name, []).append(code.name)
                profile_of[timed_name] = profile
        of_members = seconds_of(measured)
        seconds |= {
            timed_name: of_members[timed_name]
            for timed_name in tasks_of_name
            if timed_name in measured_tasks
        }
    never = [timed_name for timed_name in tasks_of_name if timed_name not in seconds]
    for name in foreign:
        if "near: " in (message := unknown_name("task", name, never)):
            raise InvalidInstance(
                f"{runs}: {message}: expected the name that it was measured under"
            )
    failed = [
        timed_name
        for timed_name in tasks_of_name
        if timed_name in seconds and not any(seconds[timed_name].values())
    ]
    timed_names = [
        timed_name
        for timed_name in tasks_of_name
        if timed_name in seconds and timed_name not in failed
    ]
    notes = []
    for timed_name in failed:
        own_runs = [
            run
            for run, of_profile in zip(measured, measured_runs, strict=True)
            if timed_name in (run.task, of_profile.task)
        ]
        text = f"{timed_name} failed on all counts: {last_words(own_runs, runs)}"
        notes.append(Note(NoteKind.FAILED, text, subject=timed_name))
    if never:
        text = f"not measured: {listed(never)} (`cosched profile` goes on with its file)"
        notes.append(Note(NoteKind.UNKNOWN, text, subject="tasks without times", count=len(never)))
    if strict and notes:
        raise InvalidInstance(f"{runs}: {notes[0]}")
    tasks = [(task, timed_name) for timed_name in timed_names for task in tasks_of_name[timed_name]]
    if codes is not None and (never or failed):
        behind = _behind(
            codes, {task for timed_name in (*never, *failed) for task in tasks_of_name[timed_name]}
        )
        tasks = [(task, timed_name) for task, timed_name in tasks if task not in behind]
        timed_names = list(dict.fromkeys(timed_name for _, timed_name in tasks))
        if behind:
            text = f"left out, because they come after what is: {listed(behind)}"
            notes.append(Note(NoteKind.DROPPED, text, subject="dependent tasks", count=len(behind)))
    if not timed_names:
        reason = notes[0] if notes else "no runs"
        raise InvalidInstance(f"{runs}: nothing to plan: {reason}")
    if never or failed:
        missing = [*failed, *never]
        text = f"planned without {listed(missing)}; --strict refuses that"
        notes.append(Note(NoteKind.DROPPED, text, subject="tasks", count=len(missing)))
    for timed_name in timed_names:
        if (many := len(tasks_of_name[timed_name])) > 1:
            tried = len(
                {
                    run.parameters
                    for run in measured_runs
                    if run.task == timed_name and run.parameters
                }
            )
            text = f"the {many} tasks of the sweep {timed_name} are planned with the same times"
            if tried:
                text += f", measured on {tried} of their combinations"
            notes.append(Note(NoteKind.ASSUMED, text, subject=f"sweep {timed_name}", count=many))
    if foreign:
        text = f"measured, and not among the codes: {listed(foreign)}"
        notes.append(Note(NoteKind.NOT_USED, text, subject="other tasks", count=len(foreign)))
    return Tasks(
        names=[task for task, _ in tasks],
        profiles=[profile_of[timed_name] for _, timed_name in tasks],
        timed_name_of_task=[timed_name for _, timed_name in tasks],
        seconds={timed_name: seconds[timed_name] for timed_name in timed_names},
        notes=tuple(notes),
    )


def _behind(codes: Codes, missing: set[str]) -> list[str]:
    """Return tasks that come after missing ones, those after them, and so on; in the order of the
    file."""
    names = list(codes)
    followers = before_of((after, before) for before, after in codes.edges(names))
    todo = [place for place, name in enumerate(names) if name in missing]
    reached_places = set(todo)
    while todo:
        new = set(followers.get(todo.pop(), ())) - reached_places
        reached_places |= new
        todo += new
    return [
        name for place, name in enumerate(names) if place in reached_places and name not in missing
    ]


@dataclass(frozen=True)
class Tables:
    """Times on 1..p, (n, p), and what is known of them."""

    #: Seconds of each task on 1..p processors; infinite: not allowed.
    times: np.ndarray
    #: Where each time comes from: MEASURED, INTERPOLATED or EXTRAPOLATED.
    origin: np.ndarray
    #: (largest - smallest) / median of repeated measurements; None: there are none.
    spread: np.ndarray | None
    #: Whether a task may run on a count.
    allowed: np.ndarray


def tables_of(tasks: Tasks, p: int, codes: Codes | None, counts: str, where: str) -> Tables:
    """Each profile only between its smallest and largest measured count; a row a task."""
    runs: dict[str, dict[int, list[float] | float]] = {}
    allowed = np.ones((len(tasks.seconds), p), dtype=bool)
    place = {name: row for row, name in enumerate(tasks.seconds)}
    first: dict[str, Code] = {}
    if codes is not None:
        first = {
            name: seconds_by_count[0] for name, seconds_by_count in codes.profiles().items()
        } | dict(codes)
    for name, seconds in tasks.seconds.items():
        seconds_by_count: dict[int, list[float] | float] = {
            q: t if t else np.inf for q, t in seconds.items()
        }
        for q in {*range(1, min(seconds_by_count)), *range(max(seconds_by_count) + 1, p + 1)}:
            seconds_by_count[q] = np.inf
        runs[name] = seconds_by_count
        may = first[name].counts if name in first else None
        if may is not None:
            allowed[place[name]] = np.isin(np.arange(1, p + 1), may)
    completion = profiles.complete(runs, p, counts=counts)
    times = np.where(allowed, completion.times, np.inf)
    for name, row in place.items():
        if not np.isfinite(times[row]).any():
            raise InvalidInstance(
                f"{where}: task {shorten(name)} was measured on none of the counts that it may "
                f"run on, of 1..{p}: expected one"
            )
    rows = [place[timed_name] for timed_name in tasks.timed_name_of_task]
    return Tables(
        times[rows],
        np.where(allowed, completion.origin, 0)[rows],
        None if completion.spread is None else completion.spread[rows],
        allowed[rows],
    )


def shared_of(
    tasks: Tasks,
    tables: Tables,
    measured_runs: Sequence[MeasuredRun],
    codes: Codes | None,
    margin: float = MARGIN,
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Arguments of instances: what tasks need of what the machine has."""
    if codes is None:
        return {}, ()
    peaks = peaks_of(measured_runs, _RISK, margin)
    counts = range(1, tables.times.shape[1] + 1)
    needs: dict[str, np.ndarray] = {}
    unknown = []
    for row, (task, name) in enumerate(zip(tasks.names, tasks.profiles, strict=True)):
        code = codes[task]
        if "memory" in codes.capacity and not code.memory and name not in peaks:
            unknown.append(name)
        for count in counts:
            declared = code.needs(count)
            if not code.memory and name in peaks:
                declared["memory"] = memory_at(peaks[name], count)
            for what in declared.keys() & codes.capacity.keys():
                if what not in needs:
                    needs[what] = np.zeros(tables.times.shape)
                needs[what][row, count - 1] = declared[what]
    declared_of = {what for code in codes.values() for what in code.needs(1)}
    notes = []
    if unlimited := sorted(declared_of - codes.capacity.keys()):
        notes.append(note_of_unlimited(unlimited))
    if unknown:
        names = list(dict.fromkeys(unknown))
        text = f"memory of {listed(names)} is not known, and counts as none"
        notes.append(Note(NoteKind.MEMORY_UNKNOWN, text, subject="memory", count=len(names)))
    if not needs:
        return {}, tuple(notes)
    tidy = {k: v[:, 0] if (v == v[:, :1]).all() else v for k, v in needs.items()}
    return {"resources": tidy, "capacity": dict(codes.capacity)}, tuple(notes)
