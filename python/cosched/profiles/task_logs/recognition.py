"""Which workflow system or task runner wrote a log, by its content, whatever its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from os import PathLike
from pathlib import Path

from cosched.io.limit import require_length
from cosched.io.pipes import is_pipe
from cosched.io.streaming import text_stream
from cosched.io.task_log_formats import (
    is_hyperfine_head,
    is_nextflow_history,
    is_nextflow_trace,
    is_parallel_joblog,
    is_snakemake_benchmark,
    is_snakemake_efficiency,
)

_HEAD_CHARACTERS = 1 << 14
_HEAD_LINES = 20


class TaskLogFormat(Enum):
    """A log of tasks.

    The value is what a file of it is called.
    """

    NEXTFLOW_TRACE = "a trace of Nextflow"
    NEXTFLOW_HISTORY = "a history of Nextflow"
    SNAKEMAKE_BENCHMARK = "a benchmark file of Snakemake"
    SNAKEMAKE_EFFICIENCY = "an efficiency report of Snakemake's Slurm plugin"
    PARALLEL = "a job log of GNU parallel"
    HYPERFINE = "hyperfine --export-json"


_TEXT_FORMATS: tuple[tuple[TaskLogFormat, Callable[[Sequence[str]], bool]], ...] = (
    (TaskLogFormat.PARALLEL, is_parallel_joblog),
    (TaskLogFormat.SNAKEMAKE_BENCHMARK, is_snakemake_benchmark),
    (TaskLogFormat.SNAKEMAKE_EFFICIENCY, is_snakemake_efficiency),
    (TaskLogFormat.NEXTFLOW_TRACE, is_nextflow_trace),
    (TaskLogFormat.NEXTFLOW_HISTORY, is_nextflow_history),
)


def task_log_files(path: str | PathLike[str]) -> list[Path]:
    """The file itself, or the files of a folder and its folders by name, hidden ones aside."""
    require_length(path)
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    return sorted(
        entry
        for entry in folder.rglob("*")
        if entry.is_file()
        and not any(part.startswith(".") for part in entry.relative_to(folder).parts)
    )


def recognize_task_log(path: str | PathLike[str]) -> TaskLogFormat | None:
    """The format of a file, or of the first file of a folder that has one; None: none of these.

    Pipes are not looked at: what is read of them is gone.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trace.txt"
    >>> _ = path.write_text("name\\tstatus\\trealtime\\tpeak_rss\\n")
    >>> recognize_task_log(path)
    <TaskLogFormat.NEXTFLOW_TRACE: 'a trace of Nextflow'>
    """
    for file in task_log_files(path):
        log_format = format_of_file(file)
        if log_format is not None:
            return log_format
    return None


def format_of_file(file: Path) -> TaskLogFormat | None:
    """The format of one file; None: none of these, or no regular file."""
    if not file.is_file() or is_pipe(str(file)):
        return None
    with text_stream(file) as stream:
        head = stream.read(_HEAD_CHARACTERS)
    lines = [line for line in head.splitlines() if line.strip()][:_HEAD_LINES]
    if not lines:
        return None
    for log_format, matches in _TEXT_FORMATS:
        if matches(lines):
            return log_format
    return TaskLogFormat.HYPERFINE if is_hyperfine_head(head) else None
