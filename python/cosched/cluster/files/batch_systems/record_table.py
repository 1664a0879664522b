"""Records of jobs as the columns that logs of all systems become."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cosched.cluster.files.batch_systems.flux import read_flux, read_flux_archive
from cosched.cluster.files.batch_systems.grid_engine import read_grid_engine
from cosched.cluster.files.batch_systems.job_record import JobRecord, LeftOut, Records
from cosched.cluster.files.batch_systems.json_stream import Member, stream_members
from cosched.cluster.files.batch_systems.lsf import read_lsf
from cosched.cluster.files.batch_systems.pbs import read_pbs
from cosched.cluster.files.batch_systems.recognition import LogFormat, log_files
from cosched.cluster.files.batch_systems.sacct_json import COLUMNS, sacct_rows
from cosched.core.text import count_of
from cosched.io.line_numbers import shown_lines
from cosched.io.streaming import text_stream
from cosched.lazy import pd
from cosched.notes import Note, NoteKind

if TYPE_CHECKING:
    import pandas

_READERS = {
    LogFormat.PBS: read_pbs,
    LogFormat.GRID_ENGINE: read_grid_engine,
    LogFormat.LSF: read_lsf,
}
#: Fields of a record that are numbers, and those that are texts.
_NUMBERS = ("submit", "eligible", "start", "end", "cores", "nodes", "limit", "memory_gb", "gpus",
            "used_memory_gb", "cpu_seconds")  # fmt: skip
_TEXTS = ("state", "user", "group", "account", "partition", "name", "hosts")


class RecordTable(NamedTuple):
    """The records of a log.

    Attributes
    ----------
    jobs : pandas.DataFrame
        A row for each record, columns by the names of :class:`JobRecord`.
    left_out : dict of str to list of int
        By reason, lines that are no job.
    notes : list of Note
        How the log was read.
    """

    jobs: pandas.DataFrame
    left_out: dict[str, list[int]]
    notes: list[Note]


def read_record_table(path: str | PathLike[str], log_format: LogFormat) -> RecordTable:
    """The jobs of a log in one pass; memory grows with the jobs, not with the text.

    Raises
    ------
    InvalidInstance
        A damaged file.
    """
    files = log_files(path)
    notes = _notes_of_files(path, files)
    return table_of_records(_records_of_files(files, log_format), notes)


def table_of_records(records: Records, notes: list[Note]) -> RecordTable:
    """The records of any log as columns, with the notes of how it was read."""
    columns = {name: array("d") for name in _NUMBERS}
    texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
    numbers: list[str] = []
    lines = array("q")
    left_out: dict[str, list[int]] = {}
    for record in records:
        if isinstance(record, LeftOut):
            left_out.setdefault(record.reason, []).append(record.line)
            continue
        numbers.append(record.number)
        lines.append(record.line)
        for name, column in columns.items():
            column.append(getattr(record, name))
        for name, values in texts.items():
            values.append(intern(getattr(record, name)))
    frame = pd.DataFrame(
        {
            "number": numbers,
            "line": np.array(lines, dtype=np.int64),
            **{name: np.array(column, dtype=float) for name, column in columns.items()},
            **{name: pd.Categorical(values) for name, values in texts.items()},
        }
    )
    return RecordTable(frame, left_out, notes)


def read_sacct_table(path: str | PathLike[str]) -> RecordTable:
    """The rows of ``sacct --json`` as texts in the columns of ``sacct -P``, and ``line``."""
    files = log_files(path)
    columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
    lines = array("q")
    left_out: dict[str, list[int]] = {}
    repaired_lines: list[int] = []
    for row in sacct_rows(_members_of_files(files)):
        if isinstance(row, int):
            left_out.setdefault("no job of Slurm", []).append(row)
            continue
        lines.append(row.line)
        if row.has_repaired_start:
            repaired_lines.append(row.line)
        for name, text in zip(COLUMNS, row.texts, strict=True):
            columns[name].append(intern(text))
    frame = pd.DataFrame(
        {
            **{
                name: pd.Categorical(values) if name != "JobID" else values
                for name, values in columns.items()
            },
            "line": np.array(lines, dtype=np.int64),
        }
    )
    notes = [*_notes_of_files(path, files), *_notes_of_starts(repaired_lines)]
    return RecordTable(frame, left_out, notes)


def _notes_of_starts(lines: list[int]) -> list[Note]:
    """A note of the jobs whose start is computed from their end."""
    if not lines:
        return []
    statement = (
        f"  {count_of(len(lines), 'job')}: start = end - elapsed - suspended, since the start is "
        f"the eligible time, as data parser 0.0.37 writes it ({shown_lines(lines)})"
    )
    return [
        Note(
            NoteKind.REPAIRED,
            statement,
            subject="start",
            count=len(lines),
            where=shown_lines(lines),
        )
    ]


def _notes_of_files(path: str | PathLike[str], files: list[Path]) -> list[Note]:
    """Return a note of how many files a folder has; none where the path is a file."""
    if files == [Path(path)]:
        return []
    text = f"{len(files)} files of the folder, by name; lines are counted through all of them"
    return [Note(NoteKind.READING, text, subject="files", count=len(files))]


def _records_of_files(files: list[Path], log_format: LogFormat) -> Records:
    if log_format is LogFormat.FLUX_ARCHIVE:
        for file in files:
            yield from read_flux_archive(str(file))
    elif log_format is LogFormat.FLUX:
        yield from read_flux(_members_of_files(files))
    else:
        yield from _READERS[log_format](_lines_of_files(files))


def _members_of_files(files: list[Path]) -> Iterator[Member]:
    """Yield the jobs of JSON files, their lines numbered through all files."""
    lines_before = 0
    for file in files:
        with text_stream(file) as stream:
            for member in stream_members(stream, str(file), "jobs"):
                yield member._replace(line=member.line + lines_before)
        lines_before += stream.line_ends


def _lines_of_files(files: list[Path]) -> Iterator[tuple[int, str]]:
    """Yield the lines of all files, numbered through."""
    last_number = 0
    for file in files:
        lines_before = last_number
        with text_stream(file) as stream:
            for number, text in stream.numbered_lines():
                last_number = lines_before + number
                yield last_number, text


__all__ = ["JobRecord", "RecordTable", "read_record_table", "read_sacct_table"]
