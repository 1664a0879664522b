"""Text of a file in parts: what is read is never in memory as a whole."""

import codecs
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from cosched import _core
from cosched.errors import InvalidInstance
from cosched.io.limit import Unpacked
from cosched.io.pipes import is_pipe, opened_pipe

_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_CHUNK = 1 << 18
#: How often a loop over lines asks whether it should end.
_LINES_BETWEEN_POLLS = 4096


class TextStream:
    """Text that is unpacked and decoded while it is read.

    Bytes that are no UTF-8 become U+FFFD.
    """

    def __init__(self, path: str | PathLike[str], stream: Any) -> None:
        self._path = path
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._is_at_end = False
        #: Line ends of what has been read.
        self.line_ends = 0

    def read(self, size: int = _CHUNK) -> str:
        """Some text, about `size` characters; empty at the end.

        Raises
        ------
        InvalidInstance
            What is packed is damaged or cut.
        """
        while not self._is_at_end:
            try:
                data = self._stream.read(size)
            except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError):
                raise InvalidInstance(
                    f"{self._path}: damaged or cut: expected a complete .gz or .xz file"
                ) from None
            self._is_at_end = not data
            text = self._decoder.decode(data, final=self._is_at_end)
            if text:
                self.line_ends += text.count("\n")
                return text
        return ""

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Numbers from 1, and texts with their line ends; only a newline ends a line."""
        number, rest = 0, ""
        while text := self.read():
            *lines, rest = (rest + text).split("\n")
            for line in lines:
                number += 1
                if number % _LINES_BETWEEN_POLLS == 0:
                    _core.check_interrupt()
                yield number, line + "\n"
        if rest:
            yield number + 1, rest


@contextmanager
def text_stream(path: str | PathLike[str]) -> Iterator[TextStream]:
    """A context with the text of a file; .gz and .xz are unpacked, whatever the name.

    Raises
    ------
    InvalidInstance
        More bytes than :func:`cosched.io.max_bytes` admits.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log"
    >>> _ = path.write_text("one\\ntwo\\n")
    >>> with text_stream(path) as stream:
    ...     list(stream.numbered_lines())
    [(1, 'one\\n'), (2, 'two\\n')]
    """
    name = os.fspath(path)
    with opened_pipe(name) if is_pipe(name) else open(name, "rb") as file:
        head = file.peek(len(_XZ))
        if head.startswith(_GZIP):
            with gzip.GzipFile(fileobj=file) as packed:
                yield TextStream(path, Unpacked(path, packed, file))
        elif head.startswith(_XZ):
            with lzma.LZMAFile(file) as packed:
                yield TextStream(path, Unpacked(path, packed, file))
        else:
            yield TextStream(path, Unpacked(path, file))
