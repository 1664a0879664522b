"""The tasks of a log, or of a folder of logs, whichever program wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timezone, tzinfo
from os import PathLike
from pathlib import Path

from cosched.core.text import count_of
from cosched.errors import InvalidInstance
from cosched.io.streaming import text_stream
from cosched.notes import Note, NoteKind
from cosched.profiles.task_logs.hyperfine import read_hyperfine
from cosched.profiles.task_logs.nextflow import read_nextflow_history, read_nextflow_trace
from cosched.profiles.task_logs.parallel import read_parallel_joblog
from cosched.profiles.task_logs.recognition import (
    TaskLogFormat,
    format_of_file,
    task_log_files,
)
from cosched.profiles.task_logs.snakemake import (
    read_snakemake_benchmark,
    read_snakemake_efficiency,
)
from cosched.profiles.task_logs.task import LoggedTask, SkippedLine, Tasks

_READERS: dict[TaskLogFormat, Callable[..., Tasks]] = {
    TaskLogFormat.NEXTFLOW_TRACE: read_nextflow_trace,
    TaskLogFormat.NEXTFLOW_HISTORY: read_nextflow_history,
    TaskLogFormat.PARALLEL: read_parallel_joblog,
    TaskLogFormat.SNAKEMAKE_EFFICIENCY: read_snakemake_efficiency,
}


@dataclass
class TaskLogSummary:
    """What a reader counts while it yields tasks.

    Attributes
    ----------
    skipped : dict of str to list of int
        By reason, lines that are no task; through all files of a folder.
    files : int
        Files that were read.
    other_files : int
        Files of a folder that are of another format.
    """

    skipped: dict[str, list[int]] = field(default_factory=dict)
    files: int = 0
    other_files: int = 0

    def notes(self) -> list[Note]:
        """How many files of a folder were read, and how many were not."""
        notes = []
        if self.files > 1:
            text = f"{self.files} files of the folder, by name; lines are counted through all"
            notes.append(Note(NoteKind.READING, text, subject="files", count=self.files))
        if self.other_files:
            text = f"{count_of(self.other_files, 'file')} of the folder not read: another format"
            notes.append(
                Note(NoteKind.NOT_READ, text, subject="other files", count=self.other_files)
            )
        return notes

    def reasons(self) -> str:
        """Why lines were skipped, in one line; empty: none was."""
        return "; ".join(
            f"{count_of(len(lines), 'line')}: {reason}" for reason, lines in self.skipped.items()
        )


def tasks_of_log(
    path: str | PathLike[str],
    log_format: TaskLogFormat,
    summary: TaskLogSummary,
    zone: tzinfo = timezone.utc,
) -> Iterator[LoggedTask]:
    """The tasks of a file, or of all files of a folder that have this format.

    Parameters
    ----------
    path : path-like
        The log or folder.
    log_format : TaskLogFormat
        What :func:`recognize_task_log` said of it.
    summary : TaskLogSummary
        Is filled while the tasks are read.
    zone : tzinfo
        Of times that a log writes as those of a clock.

    Raises
    ------
    InvalidInstance
        A damaged file: file, line, field, and what was expected; or a log without any task.
    """
    lines_before, count = 0, 0
    for file in task_log_files(path):
        if file != Path(path) and format_of_file(file) is not log_format:
            summary.other_files += 1
            continue
        summary.files += 1
        last_line = 0
        for task in _tasks_of_file(file, Path(path), log_format, zone):
            last_line = max(last_line, task.line)
            line = task.line + lines_before
            if isinstance(task, SkippedLine):
                summary.skipped.setdefault(task.reason, []).append(line)
            else:
                count += 1
                yield task if not lines_before else replace(task, line=line)
        lines_before += last_line
    if not count:
        raise InvalidInstance(
            f"{path}: no task that has ended: {summary.reasons() or 'the log has none'}"
        )


def _tasks_of_file(file: Path, log: Path, log_format: TaskLogFormat, zone: tzinfo) -> Tasks:
    if log_format is TaskLogFormat.HYPERFINE:
        yield from read_hyperfine(file, str(file))
        return
    with text_stream(file) as stream:
        if log_format is TaskLogFormat.SNAKEMAKE_BENCHMARK:
            yield from read_snakemake_benchmark(stream.numbered_lines(), file, _label(file, log))
        else:
            yield from _READERS[log_format](stream.numbered_lines(), file, zone)


def _label(file: Path, log: Path) -> str:
    """The name of a benchmark file without its suffix, with its folders below the log's."""
    relative = file.relative_to(log) if file != log else Path(file.name)
    name = relative.as_posix()
    for suffix in (".gz", ".xz", ".tsv", ".txt", ".jsonl", ".csv", ".benchmark"):
        name = name.removesuffix(suffix)
    return name
