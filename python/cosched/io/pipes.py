"""Pipes: a reader of one waits for its writer, and would wait for ever where none comes."""

import io
import os
import select
import stat
import time
from typing import Any

from cosched import _core
from cosched.errors import InvalidInstance

#: Seconds that a pipe with a name may have no writer, and that its writer may be silent.
WRITER_PATIENCE, SILENCE_PATIENCE = 10.0, 60.0
#: Seconds of all waits for the bytes of one pipe together: some bytes at a time may take no longer.
TOTAL_PATIENCE = 600.0
#: Seconds between two looks, at which an interrupt or a time limit ends the wait.
_PAUSE = 0.05
_CHUNK = 1 << 16


def is_pipe(path: str) -> bool:
    """Whether a path is a pipe: one in a folder, or one of ``<(command)``."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):  # it is not there: opening it says so
        return False


def _has_name(path: str) -> bool:
    """Return whether a pipe is in a folder; those of ``<(command)`` are descriptors of a
    process."""
    return os.path.exists(os.path.realpath(path))


class _Pipe(io.RawIOBase):
    """The bytes of a pipe; waits for them end at an interrupt, a time limit, or long silence."""

    def __init__(self, path: str) -> None:
        self._path, self._has_name = path, _has_name(path)
        #: -1: the pipe could not be opened.
        self._descriptor = -1
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        #: A pipe has a writer from its first byte on, and one of ``<(command)`` from the beginning.
        self._has_writer = not self._has_name
        #: Seconds of the waits that have ended.
        self._waited_seconds = 0.0

    def readinto(self, buffer: Any) -> int:
        begin = time.monotonic()
        while True:
            _core.check_interrupt()
            part = self._read_now(min(len(buffer), _CHUNK))
            seconds = time.monotonic() - begin
            if self._has_name and part != b"":
                self._require_patience(seconds, has_bytes=part is not None)
            if part is not None:
                self._waited_seconds += seconds
                buffer[: len(part)] = part
                return len(part)

    def _read_now(self, size: int) -> bytes | None:
        """Return what there is to read, empty at the end; None: nothing yet, after a pause."""
        try:
            part = os.read(self._descriptor, size)
        except BlockingIOError:  # there is a writer, which has not written
            self._has_writer = True
            select.select([self._descriptor], [], [], _PAUSE)
            return None
        if part:
            self._has_writer = True
        if self._has_writer:
            return part
        time.sleep(_PAUSE)  # without a writer a pipe looks as at its end
        return None

    def _require_patience(self, seconds: float, *, has_bytes: bool) -> None:
        """Refuse a pipe after so many seconds without a byte, or after too many in all waits."""
        if not self._has_writer:
            self._refuse_after(WRITER_PATIENCE, seconds, "without a writer", "a writer")
        if not has_bytes:
            self._refuse_after(SILENCE_PATIENCE, seconds, "whose writer is silent", "a byte")
        total = self._waited_seconds + seconds
        self._refuse_after(TOTAL_PATIENCE, total, "whose writer is slow", "its end")

    def _refuse_after(self, patience: float, seconds: float, problem: str, awaited: str) -> None:
        if seconds > patience:
            raise InvalidInstance(
                f"{self._path}: a pipe {problem}: waited {patience:g} s for {awaited}: expected a "
                "file, or a program that writes to the pipe (one that needs longer: <(program))"
            )

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if not self.closed and self._descriptor >= 0:
            os.close(self._descriptor)
        super().close()


def opened_pipe(path: str) -> io.BufferedReader:
    """The bytes of a pipe.

    Reading raises InvalidInstance where a pipe with a name has no writer within `WRITER_PATIENCE`
    seconds, its writer writes nothing for `SILENCE_PATIENCE` seconds, or all waits for its bytes
    together take more than `TOTAL_PATIENCE` seconds.
    """
    return io.BufferedReader(_Pipe(path))
