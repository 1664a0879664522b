"""Bytes of texts that are not UTF-8: what a byte-order mark says, and Latin-1."""

import codecs
from os import PathLike

from cosched.errors import InvalidInstance, printable
from cosched.io.line_numbers import shown_lines
from cosched.notes import Note, NoteKind

#: The longer marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip
#: Bytes that are decoded at once: a text takes up to four times the memory of its bytes.
_CHUNK = 1 << 24


def as_utf8(data: bytes, path: str | PathLike[str]) -> tuple[bytes, list[Note]]:
    r"""The text of a log as UTF-8 without a byte-order mark, and what to say of the file.

    Lines that are not UTF-8 are read as Latin-1, in which every byte is a character: names that
    differ stay different.

    Parameters
    ----------
    data : bytes
        Content of the file.
    path : str or path-like
        For messages.

    Returns
    -------
    (bytes, list of Note)
        Line ends as in the file; no note where the file is UTF-8.

    Raises
    ------
    InvalidInstance
        A byte-order mark of UTF-16 or UTF-32.

    Examples
    --------
    >>> as_utf8(b"id,group\n1,dom\xe4nen\n", "jobs.csv")
    (b'id,group\n1,dom\xc3\xa4nen\n', ['jobs.csv: 1 line is not UTF-8, read as Latin-1 (line 2)'])
    """
    refuse_utf16(data, path)
    data = data.removeprefix(codecs.BOM_UTF8)
    if first_wrong_byte(data) is None:
        return data, []
    lines = data.split(b"\n")
    wrong_lines = []
    for number, line in enumerate(lines, 1):
        if line.isascii() or first_wrong_byte(line) is None:
            continue
        lines[number - 1] = line.decode("latin-1").encode()
        wrong_lines.append(number)
    verb = "line is" if len(wrong_lines) == 1 else "lines are"
    text = f"{len(wrong_lines):,} {verb} not UTF-8, read as Latin-1 ({shown_lines(wrong_lines)})"
    note = Note(NoteKind.READING, text, subject="encoding", count=len(wrong_lines))
    return b"\n".join(lines), [note.with_place(printable(path))]


def refuse_utf16(data: bytes, path: str | PathLike[str]) -> None:
    r"""InvalidInstance where a byte-order mark says that a text is UTF-16 or UTF-32.

    Examples
    --------
    >>> refuse_utf16("JobID".encode("utf-16"), "jobs.txt")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: jobs.txt: not UTF-8 text but UTF-16: iconv converts it
    """
    name = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    if name is not None:
        raise InvalidInstance(f"{path}: not UTF-8 text but {name}: iconv converts it")


def first_wrong_byte(data: bytes) -> int | None:
    r"""The place of the first byte that is not UTF-8.

    Line by line, some at a time.

    Examples
    --------
    >>> first_wrong_byte(b"a\xe4b"), first_wrong_byte(b"ab")
    (1, None)
    """
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + _CHUNK) + 1 or len(data)
        try:
            data[begin:end].decode()
        except UnicodeDecodeError as error:
            return begin + error.start
        begin = end
    return None
