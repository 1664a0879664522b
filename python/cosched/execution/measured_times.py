"""What runs tell: times by count, the runs that count, and notes on runs that mean little."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import astuple, replace
from os import PathLike
from pathlib import Path

import numpy as np

from cosched import io
from cosched.core.text import listed
from cosched.errors import InvalidInstance, shorten
from cosched.execution.code import fingerprint, output_names, values_of_sweep
from cosched.execution.codes import Codes
from cosched.execution.runs_file import COLUMNS, MeasuredRun
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

#: A code that has no more processors at work than this, and takes no less than this share of its
#: time on fewer, ignores its count.
_MAX_SERIAL_CORES, _MIN_TIME_SHARE = 1.2, 0.9


def frame_of(runs: Sequence[MeasuredRun]) -> pd.DataFrame:
    """Runs as a table, with the columns of the file."""
    return pd.DataFrame([astuple(run) for run in runs], columns=list(COLUMNS))


def completed(runs: Iterable[MeasuredRun]) -> dict[str, dict[int, list[MeasuredRun]]]:
    """Task -> count -> runs that completed, starved ones where there is no other."""
    runs_of_counts: dict[str, dict[int, list[MeasuredRun]]] = {}
    for run in runs:
        completed_runs = runs_of_counts.setdefault(run.task, {}).setdefault(run.processors, [])
        if not math.isnan(run.seconds):
            completed_runs.append(run)
    return {
        task: {
            q: [run for run in completed_runs if not run.starved] or completed_runs
            for q, completed_runs in of_counts.items()
        }
        for task, of_counts in runs_of_counts.items()
    }


def seconds_of(runs: Iterable[MeasuredRun]) -> dict[str, dict[int, list[float]]]:
    """Task -> count -> seconds of the runs that completed; an empty list: none did."""
    return {
        task: {
            q: [run.seconds for run in completed_runs] for q, completed_runs in of_counts.items()
        }
        for task, of_counts in completed(runs).items()
    }


def last_words(runs: Sequence[MeasuredRun], path: str | PathLike[str]) -> str:
    """Status and last line of output of the last of some runs, which :func:`by_member` names."""
    last = runs[-1]
    name = output_names([last.task])[last.task]
    file = Path(path).with_suffix(".outputs") / f"{name}-{last.processors}.out"
    try:
        lines = io.read_bytes(file).decode(errors="replace").split("\n")
    except (OSError, InvalidInstance):
        lines = []
    last_line = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
    return f"{last.status} on {last.processors}: {shorten(last_line, 120)}"


def by_member(runs: Iterable[MeasuredRun], codes: Codes) -> list[MeasuredRun]:
    """Runs of a combination of a sweep under the name of its task, the others as they are."""
    members = {
        (code.profile_name, values_of_sweep(code)): code.name
        for code in codes.values()
        if code.parameters
    }
    named_runs = ((run, members.get((run.task, run.parameters))) for run in runs)
    return [run if name is None else replace(run, task=name) for run, name in named_runs]


def starved_note(runs: Sequence[MeasuredRun]) -> tuple[Note, ...]:
    """How many were measured under load, and how many of them are left out of medians."""
    starved = [run for run in runs if run.starved]
    if not starved:
        return ()
    completed_runs = completed(runs)
    starved_pairs = [
        f"{task} on {q}"
        for task, of_counts in completed_runs.items()
        for q, runs_of_count in of_counts.items()
        if runs_of_count and runs_of_count[0].starved
    ]
    left_out = sum(not math.isnan(run.seconds) for run in starved)
    left_out -= sum(
        run.starved
        for of_counts in completed_runs.values()
        for runs_of_count in of_counts.values()
        for run in runs_of_count
    )
    text = f"{len(starved)} of {len(runs)} runs were starved: others had more than a tenth of "
    text += f"their processors; {left_out} of them are left out of all times"
    if starved_pairs:
        text += (
            f"; nothing else is known of {listed(starved_pairs)}: measure again when it is quieter"
        )
    return (Note(NoteKind.UNUSUAL, text, subject="runs under load", count=len(starved)),)


def note_of_unlimited(resources: Sequence[str]) -> Note:
    """A note of resources that codes need, and of which the codes file has no capacity."""
    text = f"no [capacity] for {listed(resources)}: no limit"
    return Note(NoteKind.ASSUMED, text, subject=", ".join(resources), count=len(resources))


def notes_of(runs: Sequence[MeasuredRun], codes: Codes | None = None) -> tuple[Note, ...]:
    """What is to be said of measurements: those under load, and codes that ignore their count."""
    profiles = {} if codes is None else codes.profiles()
    asked_names = {name for name, (code, *_) in profiles.items() if code.fills("procs")}
    return (*starved_note(runs), *_notes_of_ignored_counts(runs, asked_names))


def _notes_of_ignored_counts(
    runs: Sequence[MeasuredRun], asked_names: Container[str]
) -> list[Note]:
    """Codes that use one processor, and take one time, whatever their count.

    The commands of `asked_names` hold {procs} already.
    """
    notes = []
    for task, of_counts in completed(runs).items():
        undisturbed_runs = {
            q: runs_of_count
            for q, runs_of_count in of_counts.items()
            if runs_of_count
            and not runs_of_count[0].starved
            and not math.isnan(runs_of_count[0].cpu_seconds)
        }
        if len(undisturbed_runs) < 2:
            continue
        fewest_procs, most_procs = min(undisturbed_runs), max(undisturbed_runs)
        cores_used = max(
            np.median([run.cpu_seconds / run.seconds for run in undisturbed_runs[q]])
            for q in (fewest_procs, most_procs)
        )
        seconds_on_fewest, seconds_on_most = (
            float(np.median([run.seconds for run in undisturbed_runs[q]]))
            for q in (fewest_procs, most_procs)
        )
        is_faster = seconds_on_most <= _MIN_TIME_SHARE * seconds_on_fewest
        if cores_used > _MAX_SERIAL_CORES or is_faster:
            continue
        change = "{procs} in its command"
        if task in asked_names:
            change = "a code that heeds the {procs} of its command"
        text = (
            f"{task} ignores its count: {seconds_on_fewest:.3g} s on {fewest_procs}, "
            f"{seconds_on_most:.3g} s on {most_procs}, with {cores_used:.1f} processors at work: "
            f"expected {change}, or counts = [{fewest_procs}]"
        )
        notes.append(Note(NoteKind.UNUSUAL, text, subject=task))
    return notes


def table_of(
    seconds: dict[str, dict[int, list[float]]], names: Sequence[str], procs: int
) -> np.ndarray:
    """Medians, (n, p): nan where nothing was tried, infinity where no run completed."""
    table = np.full((len(names), procs), np.nan)
    for row, name in enumerate(names):
        for count, times in seconds.get(name, {}).items():
            if count <= procs:
                table[row, count - 1] = np.median(times) if times else np.inf
    return table


def runs_of_current_codes(
    runs: Sequence[MeasuredRun], codes: Codes | None
) -> tuple[list[MeasuredRun], tuple[Note, ...]]:
    """The runs of the commands as they are now, and a note about the others.

    A run that does not say its command counts. Without codes the last run of a name says it.
    """
    profiles = {} if codes is None else codes.profiles()
    current_commands = {run.task: run.command for run in runs if run.command}
    current_commands |= {
        name: fingerprint(codes_of_profile[0]) for name, codes_of_profile in profiles.items()
    }
    current_values = {
        name: {"", *map(values_of_sweep, codes_of_profile)}
        for name, codes_of_profile in profiles.items()
    }

    def is_current(run: MeasuredRun) -> bool:
        values = current_values.get(run.task, {run.parameters})
        return run.command in ("", current_commands.get(run.task)) and run.parameters in values

    current_runs = [run for run in runs if is_current(run)]
    if len(current_runs) == len(runs):
        return current_runs, ()
    changed_names = list(dict.fromkeys(run.task for run in runs if not is_current(run)))
    count = len(runs) - len(current_runs)
    text = (
        f"{count} runs do not count: the command of {listed(changed_names)}, or the values of its "
        "sweep, have changed since"
    )
    note = Note(NoteKind.DROPPED, text, subject="runs of changed commands", count=count)
    return current_runs, (note,)
