"""Which batch system wrote a log, by its content, whatever its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from enum import Enum
from os import PathLike
from pathlib import Path

from cosched.errors import InvalidInstance
from cosched.io.foreign_formats import (
    is_grid_engine_accounting,
    is_lsf_accounting,
    is_pbs_accounting,
)
from cosched.io.limit import require_length
from cosched.io.streaming import text_stream

_HEAD_CHARACTERS = 1 << 16
_HEAD_LINES = 20
_SQLITE = "SQLite format 3\x00"


class LogFormat(Enum):
    """A log of a batch system that is read into jobs.

    The value is what a file of it is called.
    """

    SACCT_JSON = "sacct --json"
    PBS = "a PBS accounting log"
    GRID_ENGINE = "an accounting file of Grid Engine"
    LSF = "lsb.acct of LSF"
    FLUX = "flux jobs --json"
    FLUX_ARCHIVE = "a job archive of Flux"


def log_files(path: str | PathLike[str]) -> list[Path]:
    """The files of a log: itself, or the files of a folder by name (daily files have such names).

    Raises
    ------
    InvalidInstance
        A folder without files.
    OSError
        No file can have this name.
    """
    require_length(path)
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    files = sorted(
        entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith(".")
    )
    if not files:
        raise InvalidInstance(f"{path}: a folder without files: expected daily files of a log")
    return files


def recognize_log(path: str | PathLike[str]) -> LogFormat | None:
    """The format of a log by the first lines of its first file that has any; None: none of these.

    Pipes are not looked at: what is read of them is gone.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "20250627"
    >>> _ = path.write_text("06/27/2025 00:01:10;Q;1001.pbs;queue=workq\\n")
    >>> recognize_log(path)
    <LogFormat.PBS: 'a PBS accounting log'>
    """
    for file in log_files(path):
        if not file.is_file():
            return None
        with text_stream(file) as stream:
            head = stream.read(_HEAD_CHARACTERS)
        if head.strip():
            return _format_of_head(head)
    return None


def _format_of_head(head: str) -> LogFormat | None:
    if head.startswith(_SQLITE):
        return LogFormat.FLUX_ARCHIVE
    lines = [line for line in head.splitlines() if line.strip()][:_HEAD_LINES]
    if head.lstrip()[0] in "[{":
        return _format_of_json(head, lines)
    return next((log_format for log_format, matches in _TEXT_FORMATS if matches(lines)), None)


def _format_of_json(head: str, lines: Sequence[str]) -> LogFormat | None:
    """Return the format that the names in the first part of the text tell, which may be cut
    anywhere."""
    if '"job_number"' in lines[0] and _is_object(lines[0]):
        return LogFormat.GRID_ENGINE
    if '"job_id"' in head and '"time"' in head and '"submission"' in head:
        return LogFormat.SACCT_JSON
    if '"t_submit"' in head:
        return LogFormat.FLUX
    return None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


_TEXT_FORMATS: tuple[tuple[LogFormat, Callable[[Sequence[str]], bool]], ...] = (
    (LogFormat.PBS, is_pbs_accounting),
    (LogFormat.LSF, is_lsf_accounting),
    (LogFormat.GRID_ENGINE, is_grid_engine_accounting),
)
