"""Standard output and error as the commands use them: one that is closed, or that nobody reads any
more, ends what is said and not the work.
"""

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


class _Pipe(io.FileIO):
    """Drops what it cannot pass on, after one error; a reader that left is none."""

    lost = False

    def write(self, data) -> int:
        if not self.lost:
            try:
                return super().write(data)
            except OSError as error:
                self.lost = True
                if not isinstance(error, BrokenPipeError):
                    raise
        return memoryview(data).nbytes


@contextmanager
def patient() -> Iterator[None]:
    """In this block everything may be printed, whoever listens."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_patient, before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        sys.stdout, sys.stderr = before


def _patient(stream: TextIO | None) -> TextIO:
    if stream is None:  # closed by who started this
        return open(os.devnull, "w", encoding="utf-8")
    own = stream in (sys.__stdout__, sys.__stderr__)
    if not own or not isinstance(stream, io.TextIOWrapper):  # of a test, a notebook
        return stream
    # Names that the terminal's character set lacks are shown as Python writes them.
    foreign = codecs.lookup(stream.encoding).name != "utf-8"
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace" if foreign else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
