"""Files that grow while codes run: what is appended is on the disk, whole, or not there at all."""

import csv
import fcntl
import io as text_io
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from cosched.errors import InvalidInstance, shorten


class AppendedFile:
    """A file of lines, open for appending by one process."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.absolute().parent.is_dir():
            raise FileNotFoundError(
                f"{self.path.parent}: no such folder to write {self.path.name} into"
            )
        if self.path.exists() and not self.path.is_file():
            raise InvalidInstance(f"{self.path}: no regular file: expected a name to append to")
        self._handle = self._opened()

    def _opened(self) -> int:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise InvalidInstance(f"{self.path}: another run is at work with it") from None
        return handle

    def cut(self, length: int) -> None:
        """Keep so many bytes: a crash cut short what follows."""
        if length < os.fstat(self._handle).st_size:
            with self._naming():
                os.ftruncate(self._handle, length)

    def append(self, data: bytes) -> None:
        """Append bytes that are on the disk when this returns; what fails is taken back."""
        before = os.fstat(self._handle).st_size
        try:
            with self._naming():
                left = memoryview(data)
                while left:
                    left = left[os.write(self._handle, left) :]
                os.fsync(self._handle)
        except OSError:
            with suppress(OSError):
                self.cut(before)
            raise

    def replace(self, data: bytes) -> None:
        """Have these bytes instead of all that is there; a crash leaves one or the other."""
        target = self.path.resolve()
        made = target.with_name(f".{target.name}.new")
        with self._naming():
            with open(made, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            shutil.copymode(target, made)
            os.replace(made, target)
        before, self._handle = self._handle, self._opened()
        os.close(before)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        os.close(self._handle)


class AppendedTable:
    """A CSV file with these columns, open for appending by one process.

    Files of earlier versions have the first columns alone, down to so many.
    """

    def __init__(
        self, path: str | PathLike[str], columns: Sequence[str], least: int | None = None
    ) -> None:
        self.columns = columns
        self._file = AppendedFile(path)
        self.path = self._file.path
        try:
            self.older = self.empty = False
            self._begin(len(columns) if least is None else least)
        except BaseException:
            self.close()
            raise

    def _begin(self, least: int) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        header = (content.splitlines() or [b""])[0].decode(errors="replace")
        wanted = ",".join(self.columns)
        older = {",".join(self.columns[:k]) for k in range(least, len(self.columns))}
        if header != wanted and (header not in older if whole else not wanted.startswith(header)):
            raise InvalidInstance(
                f"{self.path}: line 1: header {shorten(header)}: expected {wanted}"
            )
        self._file.cut(whole)  # a crash while a row was written
        if not whole:
            self.append([self.columns])
        self.older = bool(whole) and header in older
        self.empty = content.count(b"\n") <= 1

    def append(self, rows: Iterable[Sequence[object]]) -> None:
        """Rows that are on the disk when this returns."""
        self._file.append(_lines(rows))

    def replace(self, rows: Iterable[Sequence[object]]) -> None:
        """Have these rows, with all columns, instead of those that are there."""
        self._file.replace(_lines([self.columns, *rows]))

    def close(self) -> None:
        self._file.close()


def _lines(rows: Iterable[Sequence[object]]) -> bytes:
    text = text_io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
