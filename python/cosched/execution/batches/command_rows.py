"""Rows of a list of commands: what a cell or a line says, before it is a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from cosched import io
from cosched.core.text import count_of, unknown_name
from cosched.errors import InvalidInstance, printable, shorten
from cosched.execution.runs_file import header_of
from cosched.notes import Note, NoteKind
from cosched.profiles.task_logs.reading import TaskLogSummary, tasks_of_log
from cosched.profiles.task_logs.recognition import recognize_task_log
from cosched.profiles.task_logs.task import LoggedTask

#: Of a run of a log that resolves milliseconds.
_MIN_SECONDS = 0.001
#: States of runs whose seconds count.
_COMPLETED = ("COMPLETED", "UNKNOWN")
_BYTES_OF_GB = 1e9
COLUMNS = ("command", "seconds", "cores", "memory", "after", "name")


@dataclass(frozen=True)
class Times:
    """Where the seconds of tasks come from that have none of their own."""

    #: Seconds of a task with no measured time, one value per run; empty: not known.
    seconds: tuple[float, ...]
    #: Measured seconds by the name of a code and its cores; None: nothing was measured.
    measured: Mapping[str, Mapping[int, Sequence[float]]] | None
    #: The file of the measured times, for messages.
    path: str | PathLike[str] | None

    @property
    def are_given(self) -> bool:
        return bool(self.seconds) or self.measured is not None

    def of(self, names: Sequence[str], cores: int, where: str) -> Sequence[float]:
        """Seconds of a task that the runs know under one of these names."""
        for name in names:
            if times := (self.measured or {}).get(name, {}).get(cores):
                return times
        if self.seconds:
            return self.seconds
        if self.measured is None:
            raise InvalidInstance(f"{where}, column 'seconds': empty cell: expected seconds")
        tried = " or ".join(shorten(name) for name in names)
        raise InvalidInstance(
            f"{where}: {self.path} has no completed run of {tried} on {cores}: expected one, or "
            "--seconds"
        )


def is_plain_list(text: str) -> bool:
    """Whether the first line of a text names no column of a table of commands."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return not {cell.strip().lower() for cell in first.split(",")} & set(COLUMNS)


def rows_of_list(
    text: str, where: str
) -> tuple[list[tuple[int, dict[str, str]]], tuple[Note, ...]]:
    """Line and cells of each command of a plain list, and a note about comments."""
    rows: list[tuple[int, dict[str, str]]] = []
    comments = 0
    for number, line in enumerate(text.splitlines(), start=1):
        command = line.strip()
        if command.startswith("#"):
            comments += 1
        elif command:
            rows.append((number, {"command": command}))
    if not rows:
        raise InvalidInstance(f"{where}: no commands: expected one in a line")
    if not comments:
        return rows, ()
    text = f"{count_of(comments, 'comment')} left out: lines that begin with #"
    note = Note(NoteKind.DROPPED, text, subject="comments", count=comments)
    return rows, (note.with_place(printable(where)),)


def rows_of_table(
    text: str, where: str, may_lack_seconds: bool
) -> list[tuple[int, dict[str, str]]]:
    """Line and cells of each row of a table of commands."""
    table = io.parse_csv(text, where)
    needed, others = COLUMNS[:2], COLUMNS[2:]
    expected = f"{','.join(needed)}[,{','.join(others)}]"
    header = header_of(table, needed[:1] if may_lack_seconds else needed, expected)
    for name in header:
        if name not in COLUMNS:
            raise InvalidInstance(f"{where}: line 1: {unknown_name('column', name, COLUMNS)}")
    return [
        (line, dict(zip(header, (cell.strip() for cell in cells), strict=False)))
        for line, cells in table.rows
    ]


def rows_of_task_log(
    path: str | PathLike[str], are_times_given: bool
) -> tuple[list[tuple[int, dict[str, str]]], tuple[Note, ...]] | None:
    """Line and cells of each command of a log that has commands; None: the file is no log of tasks.

    Runs that failed, or were ended, have no seconds of their own: commands without any other run
    are left out, unless times are given.

    Raises
    ------
    InvalidInstance
        A log of tasks without command lines, or of commands that never completed.
    """
    log_format = recognize_task_log(path)
    if log_format is None:
        return None
    summary = TaskLogSummary()
    runs: dict[tuple[str, int], list[LoggedTask]] = {}
    for task in tasks_of_log(path, log_format, summary):
        runs.setdefault((task.command, max(task.cores, 1)), []).append(task)
    if any(not command for command, _ in runs):
        raise InvalidInstance(
            f"{path}: this is {log_format.value}, which has no command lines: expected a list of "
            "commands, and this log as --runs"
        )
    rows: list[tuple[int, dict[str, str]]] = []
    timeless_lines: list[int] = []
    for (command, cores), tasks in runs.items():
        seconds = [
            str(max(task.seconds, _MIN_SECONDS)) for task in tasks if task.state in _COMPLETED
        ]
        if not seconds and not are_times_given:
            timeless_lines.append(tasks[0].line)
            continue
        cells = {"command": command, "cores": str(cores), "seconds": " ".join(seconds)}
        peaks = [task.used_memory for task in tasks if task.used_memory > 0]
        if peaks:
            cells["memory"] = repr(max(peaks) / _BYTES_OF_GB)
        rows.append((tasks[0].line, cells))
    notes = [Note(NoteKind.READING, f"read as {log_format.value}", subject="format")]
    notes += summary.notes()
    if timeless_lines:
        summary.skipped["commands that never completed (--seconds keeps them)"] = timeless_lines
    if not rows:
        raise InvalidInstance(f"{path}: no command completed: expected --seconds")
    notes += [
        Note(
            NoteKind.DROPPED,
            f"dropped {count_of(len(lines), 'line')}: {reason}",
            subject=reason,
            count=len(lines),
        )
        for reason, lines in summary.skipped.items()
    ]
    return rows, tuple(notes)


class Names:
    """Names of tasks, some of which have blanks: ``task 1``."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = set(names)
        self._longest = max((len(name.split()) for name in names), default=1)

    def read(self, text: str, where: str) -> tuple[str, ...]:
        """Those that a text has with blanks between; it has to be clear which."""
        words = text.split()
        if self._longest == 1:
            return tuple(words)
        # From the end: in how many ways the words from there on are names, and the first name.
        ways, lengths = [0] * len(words) + [1], [0] * len(words)
        for place in range(len(words) - 1, -1, -1):
            for length in range(1, min(self._longest, len(words) - place) + 1):
                name = " ".join(words[place : place + length])
                if name in self._names and ways[place + length]:
                    ways[place] = min(ways[place] + ways[place + length], 2)
                    lengths[place] = length
        if ways[0] > 1:
            raise InvalidInstance(
                f"{where}, column 'after': {shorten(text)}: these are names in more than one way: "
                "expected names without blanks"
            )
        if ways[0] == 0:  # the message about the order of tasks names the first unknown one
            return tuple(words)
        task_names, place = [], 0
        while place < len(words):
            task_names.append(" ".join(words[place : place + lengths[place]]))
            place += lengths[place]
        return tuple(task_names)
