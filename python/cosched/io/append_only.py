"""Files that only grow: what is appended is on the disk as a whole, or not at all.

One process at a time appends to a file: it holds a lock. A last line that a crash cut short is
dropped when the file is opened again. The journals of `run` and of `tune` and the tables of
measured runs are such files. (`batch` copies its runner into the folder of a batch, where cosched
may not be installed: that file writes the journal of an allocation alone.)
"""

from __future__ import annotations

import csv
import fcntl
import io as text_io
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from cosched.errors import InvalidInstance, no_folder_for, shorten
from cosched.io.limit import require_length


class AppendOnlyFile:
    """A file of lines, open for appending by one process."""

    def __init__(self, path: str | PathLike[str]) -> None:
        require_length(path)
        self.path = Path(path)
        if not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(no_folder_for(self.path))
        if self.path.exists() and not self.path.is_file():
            raise InvalidInstance(f"{self.path}: no regular file: expected a name to append to")
        self._handle = self._open()

    def _open(self) -> int:
        """Return a handle for appending, with the lock of this file."""
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                raise InvalidInstance(f"{self.path}: another run is at work with it") from None
            if self._is_current(handle):
                return handle
            os.close(handle)  # another process replaced the file before this one had the lock

    def _is_current(self, handle: int) -> bool:
        """Return whether the path still leads to the file of this handle."""
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self.path))
        except FileNotFoundError:
            return False

    def truncate(self, length: int) -> None:
        """Keep this many bytes: a crash cut short what follows."""
        if length < os.fstat(self._handle).st_size:
            with self._naming_path():
                os.ftruncate(self._handle, length)

    def append(self, data: bytes) -> None:
        """Append bytes that are on the disk when this returns; what fails is taken back."""
        before = os.fstat(self._handle).st_size
        try:
            with self._naming_path():
                remaining = memoryview(data)
                while remaining:
                    remaining = remaining[os.write(self._handle, remaining) :]
                os.fsync(self._handle)
        except OSError:
            with suppress(OSError):
                self.truncate(before)
            raise

    def replace(self, data: bytes) -> None:
        """Replace the content by these bytes; a crash leaves the former content or the new one."""
        target = self.path.resolve()
        new_file = target.with_name(f".{target.name}.new")
        with self._naming_path():
            with open(new_file, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            shutil.copymode(target, new_file)
            os.replace(new_file, target)
        former_handle = self._handle
        self._handle = self._open()
        os.close(former_handle)

    @contextmanager
    def _naming_path(self) -> Iterator[None]:
        """Put the path into the message of an OSError."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        os.close(self._handle)


class AppendOnlyTable:
    """A CSV file with these columns, open for appending by one process.

    A file of an earlier version may have only the first columns, at least `min_columns` of them.
    """

    def __init__(
        self, path: str | PathLike[str], columns: Sequence[str], min_columns: int | None = None
    ) -> None:
        self.columns = columns
        self._file = AppendOnlyFile(path)
        self.path = self._file.path
        try:
            #: Whether the file has the columns of an earlier version, and whether it has no row.
            self.is_older_format = self.is_empty = False
            self._read_header(len(columns) if min_columns is None else min_columns)
        except BaseException:
            self.close()
            raise

    def _read_header(self, min_columns: int) -> None:
        """Check the header, or write it; drop a row that a crash cut short."""
        content = self.path.read_bytes()
        end_of_rows = content.rfind(b"\n") + 1
        header = (content.splitlines() or [b""])[0].decode(errors="replace")
        expected_header = ",".join(self.columns)
        older_headers = {",".join(self.columns[:k]) for k in range(min_columns, len(self.columns))}
        if end_of_rows:
            is_expected = header == expected_header or header in older_headers
        else:  # nothing, or a header that a crash cut short
            is_expected = expected_header.startswith(header)
        if not is_expected:
            raise InvalidInstance(
                f"{self.path}: line 1: header {shorten(header)}: expected {expected_header}"
            )
        self._file.truncate(end_of_rows)  # a crash while a row was written
        if not end_of_rows:
            self.append([self.columns])
        self.is_older_format = bool(end_of_rows) and header in older_headers
        self.is_empty = content.count(b"\n") <= 1

    def append(self, rows: Iterable[Sequence[object]]) -> None:
        """Append rows, which are on the disk when this returns."""
        self._file.append(_csv_bytes(rows))

    def replace(self, rows: Iterable[Sequence[object]]) -> None:
        """Replace all rows by these, which have all columns."""
        self._file.replace(_csv_bytes([self.columns, *rows]))

    def close(self) -> None:
        self._file.close()


def _csv_bytes(rows: Iterable[Sequence[object]]) -> bytes:
    text = text_io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
