"""How much a file may hold, and how long it may take: no archive fills the memory, whatever its
header says, and a time limit around a reader ends it.

The limit of bytes is a context variable, not an argument: every reader of every family ends here,
and a person who reads one large file wants to say so once, around the call.
"""

import errno
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeVar

from cosched import _core
from cosched.errors import InvalidInstance, shorten
from cosched.units import parse_bytes

#: Bytes of a file, unpacked. The largest public job logs have a few hundred megabytes.
MOST_BYTES = 800_000_000
#: What a small packed file may become without a question, and how many times its size a larger
#: one: logs and workflows shrink to a thirtieth at best, a file of zeros to a thousandth.
ALWAYS_FINE = 16_000_000
MOST_RATIO = 200
#: Largest limit that can be asked for: all sizes below are exact.
_LARGEST = 2**62
_CHUNK = 1 << 20
#: Characters of a path and of each part: what systems take at most.
_LONGEST, _LONGEST_PART = 4095, 255

_REMEDY = "(--max-bytes 2GB, or cosched.io.max_bytes, sets another limit)"

#: Items between two looks at the clock: some milliseconds of a reader's work.
_STRIDE = 1024

#: Bytes of memory that what a file unpacks to may take in any case, and how many times the size of
#: the file. Readers hold a line of a log as some hundred bytes, and an empty list of JSON as sixty:
#: logs and workflows, which shrink to a thirtieth at best, stay below.
MEMORY_ALWAYS_FINE = 300_000_000
MOST_MEMORY_RATIO = 300
#: Bytes that a list, a table and another value of JSON take; a line of another file, and a cell.
_LIST, _TABLE, _VALUE, _LINE, _CELL = 88, 232, 40, 160, 20
#: UTF-8 begins a character with such a byte, of which a text then has two or four bytes for each.
_WIDE_CHARACTERS = ((0xF0, 4), (0xC4, 2))

Item = TypeVar("Item")

_requested_limit: ContextVar[int | None] = ContextVar("cosched_max_bytes", default=None)


@contextmanager
def max_bytes(size: int | str | None) -> Iterator[None]:
    """Read files of up to `size` bytes, unpacked, in this block (and thread).

    Parameters
    ----------
    size : int or str or None
        Bytes, as a number or as ``"2GB"``. What a file unpacks to is then not judged by its
        ratio either. None changes nothing.

    Examples
    --------
    >>> with max_bytes("4GB"):
    ...     pass  # cs.cluster.Instance.read("huge.swf.gz", nodes=5000)
    """
    if size is None:
        yield
        return
    token = _requested_limit.set(parse_size(size))
    try:
        yield
    finally:
        _requested_limit.reset(token)


def parse_size(size: int | str) -> int:
    """Bytes of ``"800MB"``, ``"1.5 GiB"``, ``"4000000000"``.

    Examples
    --------
    >>> parse_size("800MB"), parse_size("1.5 GiB"), parse_size(10)
    (800000000, 1610612736, 10)
    """
    is_number_or_text = isinstance(size, (int, str)) and not isinstance(size, bool)
    bytes_ = (parse_bytes(str(size)) if is_number_or_text else None) or 0.0
    if not 1 <= bytes_ <= _LARGEST:
        raise InvalidInstance(
            f"max_bytes = {shorten(size)}: expected a number of bytes, such as 2GB"
        )
    return int(bytes_)


class Unpacked(io.RawIOBase):
    """Bytes of a stream that ends with an error at the limit, however they are read.

    Messages name `path`; `stream` is a file, or what unpacks `packed`.
    """

    def __init__(
        self, path: str | PathLike[str], stream: Any, packed: IO[bytes] | None = None
    ) -> None:
        self._path = path
        self._stream = stream
        self._packed = packed if packed is not None and packed.seekable() else None

    def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes; never more at a time than has been judged."""
        byte_count = -1 if size is None else size
        content = io.BytesIO()
        while byte_count < 0 or content.tell() < byte_count:
            part = self._stream.read(
                _CHUNK if byte_count < 0 else min(_CHUNK, byte_count - content.tell())
            )
            if not part:
                break
            _core.check_interrupt()
            content.write(part)
            # A pipe has no position, a device one that stays.
            self._judge(max(content.tell(), self._stream.tell() if self.seekable() else 0))
        return content.getvalue()

    def pass_over(self) -> None:
        """Read to the end and keep nothing: for the errors on the way."""
        while self.read(_CHUNK):
            pass

    def seekable(self) -> bool:
        return bool(self._stream.seekable())

    def tell(self) -> int:
        return int(self._stream.tell())

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        """Absolute positions only; what is passed over is judged too."""
        assert whence == io.SEEK_SET
        if position < self._stream.tell():
            return int(self._stream.seek(position))
        require_size(self._path, position)
        while self._stream.tell() < position:
            if not self.read(min(_CHUNK, position - self._stream.tell())):
                break
        return int(self._stream.tell())

    def _judge(self, total: int) -> None:
        require_size(self._path, total)
        if _requested_limit.get() is not None or self._packed is None or total <= ALWAYS_FINE:
            return
        if total > MOST_RATIO * self._packed.tell():
            raise InvalidInstance(
                f"{self._path}: unpacks to more than {MOST_RATIO} times its size, as a bomb does: "
                f"expected a log or an instance {_REMEDY}"
            )


def memory_of_content(content: bytes) -> int:
    """Bytes of memory that readers take at most for the content of a file, about.

    Parameters
    ----------
    content : bytes
        Of JSON, which begins with a bracket, or of lines.

    Examples
    --------
    >>> memory_of_content(b"[[], [], []]"), memory_of_content(b"task,seconds\\n")
    (456, 206)
    """
    first = content.lstrip()[:1] if len(content) < _CHUNK else content[:_CHUNK].lstrip()[:1]
    highest = max(_used_bytes(content), default=0)
    width = next((width for least, width in _WIDE_CHARACTERS if highest >= least), 1)
    text = (1 + width) * len(content)
    if first in (b"[", b"{"):
        lists, tables = content.count(b"["), content.count(b"{")
        return text + _LIST * lists + _TABLE * tables + _VALUE * content.count(b",")
    cells = sum(content.count(mark) for mark in (b",", b"|", b";", b"\t", b" "))
    return text + _LINE * content.count(b"\n") + _CELL * cells


def _used_bytes(content: bytes) -> set[int]:
    """Return the values of the bytes, of ASCII at most one."""
    return {0} if content.isascii() else set(content)


def require_memory(path: str | PathLike[str], content: bytes, packed_size: int) -> None:
    """InvalidInstance where a small file unpacks to what takes the memory of a large one.

    Parameters
    ----------
    content : bytes
        Unpacked.
    packed_size : int
        Bytes of the file on disk.
    """
    if _requested_limit.get() is not None or _LINE * len(content) < MEMORY_ALWAYS_FINE:
        return
    needed = memory_of_content(content)
    if needed > max(MEMORY_ALWAYS_FINE, MOST_MEMORY_RATIO * packed_size):
        raise InvalidInstance(
            f"{path}: unpacks to what takes some {needed / 1e6:,.0f} MB of memory, "
            f"{needed / max(packed_size, 1):,.0f} times its size: expected a log or an instance "
            f"{_REMEDY}"
        )


def polled(items: Iterable[Item]) -> Iterator[Item]:
    """The items, one by one, until a time limit around the caller has passed.

    Parameters
    ----------
    items : iterable
        Lines, rows, tasks of a file.

    Yields
    ------
    object
        Each of `items`.

    Raises
    ------
    TimeLimit
        See :func:`cosched.time_limit`.

    Examples
    --------
    >>> sum(polled(range(5)))
    10
    """
    for k, item in enumerate(items):
        if k % _STRIDE == 0:
            _core.check_interrupt()
        yield item


def most_bytes() -> int:
    """Bytes of a file that may be read here and now."""
    requested_limit = _requested_limit.get()
    return MOST_BYTES if requested_limit is None else requested_limit


def require_length(path: str | PathLike[str]) -> None:
    """OSError where no file can have this name: the system's own would repeat all of it."""
    name = os.fspath(path)
    if len(name) > _LONGEST or any(len(part) > _LONGEST_PART for part in Path(name).parts):
        raise OSError(errno.ENAMETOOLONG, "File name too long", f"{name[:40]}...")


def require_size(path: str | PathLike[str], total: int) -> None:
    """InvalidInstance where `total` bytes are more than may be read."""
    most = most_bytes()
    if total > most:
        raise InvalidInstance(
            f"{path}: more than {most:,} bytes, unpacked: expected a smaller file {_REMEDY}"
        )
