"""Files that grow while codes run: what is appended is on the disk, whole, or not there at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from cosched.errors import InvalidInstance


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
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise InvalidInstance(f"{self.path}: another run is at work with it") from None

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

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def close(self) -> None:
        os.close(self._handle)
