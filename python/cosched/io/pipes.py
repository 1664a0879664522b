"""Pipes with a name: who opens one waits until somebody writes to it, and would wait for ever."""

import io
import os
import stat
import time
from typing import Any

from cosched import _core
from cosched.errors import InvalidInstance

#: Seconds for a writer to come, and between two looks.
PATIENCE, _PAUSE = 10.0, 0.05
_CHUNK = 1 << 16


def is_named_pipe(path: str) -> bool:
    """Whether a path is a pipe in a folder; those of ``<(command)`` have a writer already."""
    try:
        return stat.S_ISFIFO(os.stat(os.path.realpath(path)).st_mode)
    except (OSError, ValueError):  # not there: who opens it says so
        return False


class _Pipe(io.RawIOBase):
    """A pipe whose first bytes have been read already."""

    def __init__(self, descriptor: int, start: bytes) -> None:
        self._descriptor, self._start = descriptor, start

    def readinto(self, buffer: Any) -> int:
        part = self._start[: len(buffer)] or os.read(self._descriptor, len(buffer))
        self._start = self._start[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def opened_pipe(path: str) -> io.BufferedReader:
    """The bytes of a pipe, once somebody has opened it to write.

    Raises
    ------
    InvalidInstance
        Nobody does within `PATIENCE` seconds.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        start = _first_bytes(descriptor, path)
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return io.BufferedReader(_Pipe(descriptor, start))


def _first_bytes(descriptor: int, path: str) -> bytes:
    """What there is to read when a writer has come; nothing where it has not written yet."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        _core.check_interrupt()
        try:
            start = os.read(descriptor, _CHUNK)
        except BlockingIOError:  # there is a writer, which has not written
            return b""
        if start:
            return start
        time.sleep(_PAUSE)
    raise InvalidInstance(
        f"{path}: a pipe to which nobody writes: waited {PATIENCE:g} s for a writer: expected a "
        "file, or a program that writes to the pipe"
    )
