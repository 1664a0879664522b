"""The only place that opens and unpacks files: plain, ``.gz``, and members of tar archives."""

import bz2
import difflib
import gzip
import io
import lzma
import os
import re
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

from cosched.errors import InvalidInstance, shorten
from cosched.io.encoding import first_wrong_byte, refuse_utf16
from cosched.io.limit import Unpacked, require_length, require_memory, require_size
from cosched.io.pipes import is_pipe, opened_pipe

_GZIP = b"\x1f\x8b"
#: What an archive's first bytes say of its packing.
_PACKINGS: dict[bytes, Callable[[Any], Any]] = {
    _GZIP: lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
#: Bytes that are unpacked without asking how many there are.
_UNASKED = 1 << 26
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
_ARCHIVE = re.compile(r"\.(tar|tar\.gz|tgz|tar\.bz2|tar\.xz)$")
_IN_ARCHIVE = re.compile(r"(.+?\.(?:tar\.gz|tgz|tar\.bz2|tar\.xz|tar)):(.*)", re.DOTALL)


@contextmanager
def naming(path: str | PathLike[str]) -> Iterator[None]:
    """A context in which errors about data say which file it is from.

    Raises
    ------
    InvalidInstance
        What was raised inside, with `path` before its message.

    Examples
    --------
    >>> with naming("times.csv"):
    ...     raise InvalidInstance("times[0, 1] = -2: expected a positive number")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: times.csv: times[0, 1] = -2: expected a positive number
    """
    try:
        yield
    except InvalidInstance as error:
        if str(error).startswith(f"{path}: "):
            raise
        raise InvalidInstance(f"{path}: {error}") from None


def read_bytes(path: str | PathLike[str], *, renamed: bool = False) -> bytes:
    """Content of a file; gzip is unpacked.

    Parameters
    ----------
    renamed : bool
        Go by the content alone: logs are unpacked and renamed on their way. Else a name that
        ends in ``.gz`` is a promise.

    Raises
    ------
    InvalidInstance
        A damaged or cut gzip file.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.gz"
    >>> _ = path.write_bytes(gzip.compress(b"1 0 5"))
    >>> read_bytes(path)
    b'1 0 5'
    """
    with _opened(path) as file:
        if not file.peek(2).startswith(_GZIP) and (renamed or not str(path).endswith(".gz")):
            require_size(path, _regular_size(file))
            return Unpacked(path, file).read()
        try:
            with gzip.GzipFile(fileobj=file) as stream:
                content = Unpacked(path, stream, file)
                unpacked = content.read(_UNASKED)
                if len(unpacked) == _UNASKED and stream.seekable():
                    del unpacked
                    content.pass_over()  # its trailer may lie, or be that of a last part
                    content.seek(0)
                    unpacked = content.read()
                else:
                    unpacked += content.read()
        except _DAMAGED:
            raise InvalidInstance(f"{path}: not a complete gzip file") from None
        require_memory(path, unpacked, _regular_size(file))
        return unpacked


def read_head(path: str | PathLike[str], size: int) -> bytes:
    """The first bytes of a file; gzip is unpacked, whatever the name.

    Fewer than `size` where the file is shorter, or damaged.

    Examples
    --------
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.txt"
    >>> _ = path.write_text("JobID|State")
    >>> read_head(path, 5)
    b'JobID'
    """
    with _opened(path) as file:
        if not file.peek(2).startswith(_GZIP):
            return file.read(size)
        try:
            return gzip.GzipFile(fileobj=file).read(size)
        except _DAMAGED:
            return b""


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[io.BufferedReader]:
    """Yield a context with the bytes of a file; of a pipe, while its writer writes."""
    require_length(path)
    name = os.fspath(path)  # a number would be a file of the process
    with opened_pipe(name) if is_pipe(name) else open(name, "rb") as file:
        yield file


def _regular_size(file: IO[bytes]) -> int:
    """Return bytes of a file on disk; 0 of a pipe."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def open_text(path: str | PathLike[str]) -> IO[str]:
    r"""Text of a file as a stream; .gz is unpacked, a byte-order mark is skipped.

    Returns
    -------
    text stream
        Line ends as in the file.

    Raises
    ------
    InvalidInstance
        A damaged or cut gzip file; not UTF-8.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("one\ntwo\n")
    >>> list(open_text(folder / "a.txt"))
    ['one\n', 'two\n']
    """
    data = read_bytes(path)
    _require_text(data, str(path))  # refused now, not at the line where it is met
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")


def read_text(path: str | PathLike[str]) -> str:
    """Text of a file, of a .gz file, or of ``archive.tar.gz:member``.

    A member may be given by its whole name, by its last part, or by that without suffix, as
    long as one file alone matches.

    Raises
    ------
    InvalidInstance
        Not gzip, not a tar archive, no such member (near names are listed), not UTF-8.

    Examples
    --------
    >>> import pathlib, tarfile, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("one")
    >>> with tarfile.open(folder / "graphs.tar.gz", "w:gz") as archive:
    ...     archive.add(folder / "a.txt", arcname="graphs/a.txt")
    >>> read_text(f"{folder}/graphs.tar.gz:a")
    'one'
    """
    require_length(path)
    if not Path(path).exists() and (match := _IN_ARCHIVE.fullmatch(str(path))):
        with _archive(match[1]) as archive:
            member = _member(archive, match[1], match[2])
            content = _content(archive, member, str(path))
        require_memory(path, content, os.stat(match[1]).st_size)
        return _decoded(content, str(path))
    if _ARCHIVE.search(str(path)) and Path(path).exists():
        member_names = ", ".join(archive_members(path)[:3])
        raise InvalidInstance(f"{path}: an archive: expected {path}:MEMBER, such as {member_names}")
    return _decoded(read_bytes(path), str(path))


def bare_name(path: str | PathLike[str]) -> str:
    """The name whose suffix tells the format: of the member, without .gz, in lower case.

    Parameters
    ----------
    path : str or path-like
        The file need not exist.

    Examples
    --------
    >>> bare_name("graphs.tar.gz:folder/Montage.JSON"), bare_name("trace.swf.gz")
    ('folder/montage.json', 'trace.swf')
    """
    name = str(path).lower()
    require_length(path)
    match = None if Path(path).exists() else _IN_ARCHIVE.fullmatch(name)
    return (match[2] if match else name).removesuffix(".gz")


def archive_members(path: str | PathLike[str]) -> list[str]:
    """Names of the files in a tar archive, in its order.

    Raises
    ------
    InvalidInstance
        Not a tar archive, or a damaged one.

    Examples
    --------
    >>> import pathlib, tarfile, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("one")
    >>> with tarfile.open(folder / "graphs.tar.gz", "w:gz") as archive:
    ...     archive.add(folder / "a.txt", arcname="graphs/a.txt")
    >>> archive_members(folder / "graphs.tar.gz")
    ['graphs/a.txt']
    """
    with _archive(path) as archive:
        return [member.name for member in archive if member.isfile()]


@contextmanager
def _archive(path: str | PathLike[str]) -> Iterator[tarfile.TarFile]:
    with _opened(path) as file:
        try:
            with tarfile.open(fileobj=_unpacking(path, file), mode="r:") as archive:
                yield archive
        except InvalidInstance:
            raise
        except (tarfile.TarError, *_DAMAGED, ValueError, OverflowError):
            raise InvalidInstance(f"{path}: not a complete tar archive") from None
        except OSError as error:
            if error.errno is not None:  # of the system; bz2 raises one without
                raise
            raise InvalidInstance(f"{path}: not a complete tar archive") from None


def _unpacking(path: str | PathLike[str], file: io.BufferedReader) -> Any:
    start = file.peek(8)
    for magic, unpack in _PACKINGS.items():
        if start.startswith(magic):
            return Unpacked(path, unpack(file), file)
    return Unpacked(path, file)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, where: str) -> bytes:
    require_size(where, member.size)  # holes of a sparse file are in no stream
    file = archive.extractfile(member)
    assert file is not None, "only regular files are asked for"
    with file:
        return file.read()


def _member(archive: tarfile.TarFile, path: str, member_name: str) -> tarfile.TarInfo:
    files = [member for member in archive if member.isfile()]
    member_name = member_name.removeprefix("./")
    for name_of in (
        lambda name: name.removeprefix("./"),
        lambda name: Path(name).name,
        lambda name: Path(name).stem,
    ):
        matching_members = [member for member in files if name_of(member.name) == member_name]
        if len(matching_members) == 1:
            return matching_members[0]
        if matching_members:
            several = ", ".join(member.name for member in matching_members)
            raise InvalidInstance(f"{path}: {shorten(member_name)} may be any of {several}")
    last_parts = {Path(member.name).name: member.name for member in files}
    near = difflib.get_close_matches(Path(member_name).name, last_parts, n=3, cutoff=0.4)
    names = [last_parts[name] for name in near] or [member.name for member in files[:3]]
    hint = f"; near names: {', '.join(names)}" if names else " (it is empty)"
    raise InvalidInstance(f"{path}: no member {shorten(member_name)}{hint}")


def _decoded(data: bytes, where: str) -> str:
    _require_text(data, where)
    return data.decode("utf-8-sig")


def _require_text(data: bytes, where: str) -> None:
    """Refuse what is not UTF-8."""
    refuse_utf16(data, where)
    place = first_wrong_byte(data)
    if place is not None:
        line = data.count(b"\n", 0, place) + 1
        raise InvalidInstance(f"{where}: line {line}: not UTF-8 text (byte 0x{data[place]:02x})")
