"""``cosched batch FOLDER --status``, ``--watch``, ``--wait``: what has become of its tasks."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from cosched.cli import report
from cosched.core.text import count_of, percent
from cosched.errors import printable
from cosched.execution import batches

#: Seconds between two looks at a folder, and in which a script that was just started begins.
_LOOK, _BEGIN = 2.0, 5.0


def show_folder(folder: Path, *, as_json: bool = False) -> None:
    """Print the state of each allocation, and of all tasks; exit code 1 where some are open."""
    rounds = batches.rounds(folder)
    if as_json:
        report.print_json(_rounds_record(rounds))
        if rounds.open_names:
            raise click.exceptions.Exit(1)
        return
    for state in rounds.states:
        counts = _counts(state)
        text = ", ".join(f"{len(names)} {what}" for what, names in counts.items() if names)
        activity = f"; {state.activity.text}" if state.activity.text else ""
        report.say(printable(f"{state.script}: {text}{activity}"))
        if state.started and state.activity.is_active is False:
            count = count_of(len(state.started), "task")
            report.say(
                f"  {count} started, and what ran them has gone: they count as not completed"
            )
        for what in ("failed", "cut off"):
            for name in counts[what]:
                completed_note = " (completed in another round)" if name in rounds.completed else ""
                report.say(printable(f"  {what}: {name}{completed_note}"))
    for note in rounds.notes:
        report.note(printable(note))
    if len({Path(state.script).parent for state in rounds.states}) > 1:
        report.say(f"all rounds: {_total(rounds)}")
    if not rounds.open_names:
        return
    command = shlex.join(["cosched", "batch", str(folder)])
    if rounds.is_active:
        report.say(f"it still runs, or waits in the queue: {command} --wait")
    else:
        report.say(f"the rest as new allocations: {command} --rest -o NEW")
    raise click.exceptions.Exit(1)


def watch_folder(folder: Path, *, says_progress: bool) -> None:
    """Look again and again until nothing runs and nothing waits in the queue.

    On a terminal a bar shows how many tasks have completed; with `says_progress` each change is a
    line elsewhere.
    """
    begun = time.monotonic()
    before = ""
    with report.progress(counted=True) as progress:
        bar = progress.add_task("tasks", total=None)
        while True:
            rounds = batches.rounds(folder)
            text = _progress(rounds)
            n_completed = len(rounds.names) - len(rounds.open_names)
            progress.update(bar, total=len(rounds.names), completed=n_completed, description=text)
            if says_progress and progress.disable and text != before:
                report.say(f"{time.strftime('%H:%M:%S')} {text}")
            before = text
            has_begun = any(state.waiting != _names(state) for state in rounds.states)
            is_over = has_begun or time.monotonic() - begun > _BEGIN
            if not rounds.open_names or (not rounds.is_active and is_over):
                return
            time.sleep(_LOOK)


def _rounds_record(rounds: batches.Rounds) -> dict[str, object]:
    """Return the state of a folder as JSON has it."""
    return {
        "tasks": len(rounds.names),
        "completed": len(rounds.names) - len(rounds.open_names),
        "is_active": rounds.is_active,
        "open": list(rounds.open_names),
        "allocations": [{"script": state.script, **_counts(state)} for state in rounds.states],
        "notes": list(rounds.notes),
    }


def _counts(state: batches.BatchState) -> dict[str, list[str]]:
    return {
        "completed": state.completed,
        "failed": state.failed,
        "cut off": state.cut,
        "started": state.started,
        "waiting": state.waiting,
    }


def _names(state: batches.BatchState) -> list[str]:
    return [name for names in _counts(state).values() for name in names]


def _total(rounds: batches.Rounds) -> str:
    n_completed = len(rounds.names) - len(rounds.open_names)
    return f"{n_completed:,} of {count_of(len(rounds.names), 'task')} completed"


def _progress(rounds: batches.Rounds) -> str:
    """Return tasks that completed, their share of the work, and what the others do."""
    work = sum(rounds.seconds.values())
    completed_seconds = sum(
        seconds for name, seconds in rounds.seconds.items() if name in rounds.completed
    )
    parts = [f"{_total(rounds)} ({percent(completed_seconds / work)} of the work)"]
    open_names = set(rounds.open_names)
    for what, names in (
        ("run", {name for state in rounds.states for name in state.started}),
        ("failed", {name for state in rounds.states for name in state.failed}),
        ("cut off", {name for state in rounds.states for name in state.cut}),
    ):
        if count := len(names & open_names):
            parts.append(f"{count:,} {what}")
    return ", ".join(parts)
