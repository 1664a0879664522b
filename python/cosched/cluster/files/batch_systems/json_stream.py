"""The members of a list in a JSON text, one by one, in bounded memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from cosched.errors import InvalidInstance

_CHUNK = 1 << 18
_SPACE = re.compile(r"[ \t\r\n]*")
#: Characters of one value; a longer one is not waited for.
_MAX_VALUE = 1 << 26


class TextSource(Protocol):
    """What text is read from, such as a file or :class:`cosched.io.streaming.TextStream`."""

    def read(self, size: int = ..., /) -> str:
        """Some text; empty at the end."""


class Member(NamedTuple):
    """A value of the text.

    ``key`` is the name of a value of the outermost object; empty for a member of the list.
    """

    line: int
    key: str
    value: Any


class _Reader:
    """A text of which only the part that is being read is kept."""

    def __init__(self, file: TextSource, path: str) -> None:
        self._file = file
        self._path = path
        self._text = ""
        self._place = 0
        self._is_at_end = False
        self._line = 1
        self._decoder = json.JSONDecoder()

    @property
    def line(self) -> int:
        """The line of the next character, from 1."""
        return self._line

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            end = _SPACE.match(self._text, self._place).end()  # type: ignore[union-attr]
            self._pass_to(end)
            if self._place < len(self._text) or not self._fill():
                return self._text[self._place : self._place + 1]

    def expect(self, character: str) -> None:
        """Pass over one character.

        Raises
        ------
        InvalidInstance
            Another one stands there.
        """
        if self.peek() != character:
            self.refuse(f"expected {character!r}")
        self._pass_to(self._place + 1)

    def value(self) -> Any:
        """The next whole value."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                too_long = len(self._text) - self._place > _MAX_VALUE
                if isinstance(error, RecursionError) or too_long or not self._fill():
                    self.refuse("expected a JSON value")
                continue
            if end == len(self._text) and self._fill():
                continue  # a number may go on
            self._pass_to(end)
            return value

    def refuse(self, expectation: str) -> None:
        next_text = self._text[self._place : self._place + 20]
        position_text = f"{next_text!r}" if next_text else "the end of the file"
        raise InvalidInstance(f"{self._path}: line {self._line}: {position_text}: {expectation}")

    def _pass_to(self, place: int) -> None:
        self._line += self._text.count("\n", self._place, place)
        self._place = place
        if self._place > _CHUNK:
            self._text = self._text[self._place :]
            self._place = 0

    def _fill(self) -> bool:
        """Read more; False at the end. The part grows with what is there, so that a long value is
        not scanned once for each chunk."""
        if self._is_at_end:
            return False
        more = self._file.read(max(_CHUNK, len(self._text) - self._place))
        self._is_at_end = not more
        self._text = self._text[self._place :] + more
        self._place = 0
        return bool(more)


def stream_members(file: TextSource, path: str, key: str) -> Iterator[Member]:
    """The values of a JSON text whose outermost value is an object with the list `key`, or a list.

    Parameters
    ----------
    file : text stream
        Of the JSON text.
    path : str
        For messages.
    key : str
        Whose list is given member by member; other values of the object come whole.

    Yields
    ------
    Member

    Raises
    ------
    InvalidInstance
        No JSON.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO('{"meta": {"a": 1}, "jobs": [{"id": 1},\\n {"id": 2}]}')
    >>> [(member.line, member.key, member.value) for member in stream_members(text, "x", "jobs")]
    [(1, 'meta', {'a': 1}), (1, '', {'id': 1}), (2, '', {'id': 2})]
    """
    reader = _Reader(file, path)
    opening = reader.peek()
    if opening == "[":
        yield from _members_of_list(reader)
    elif opening == "{":
        reader.expect("{")
        while reader.peek() != "}":
            line = reader.line
            name = reader.value()
            if not isinstance(name, str):
                reader.refuse("expected a name before the colon")
            reader.expect(":")
            if name == key and reader.peek() == "[":
                yield from _members_of_list(reader)
            else:
                yield Member(line, name, reader.value())
            _pass_comma(reader, "}")
        reader.expect("}")
    else:
        reader.refuse("expected a JSON object or list")
    if reader.peek():
        reader.refuse("expected the end of the file")


def _members_of_list(reader: _Reader) -> Iterator[Member]:
    reader.expect("[")
    while reader.peek() != "]":
        line = reader.line
        yield Member(line, "", reader.value())
        _pass_comma(reader, "]")
    reader.expect("]")


def _pass_comma(reader: _Reader, closing: str) -> None:
    """Pass over the comma between two members; the last one has none."""
    if reader.peek() == ",":
        reader.expect(",")
        if reader.peek() == closing:
            reader.refuse("expected a value behind the comma")
    elif reader.peek() != closing:
        reader.refuse(f"expected ',' or {closing!r}")


def object_at(value: Mapping[str, object], *keys: str) -> Mapping[str, Any]:
    """The object under these names, one inside the other; empty where there is none."""
    for key in keys:
        inner = value.get(key)
        value = inner if isinstance(inner, Mapping) else {}
    return value
