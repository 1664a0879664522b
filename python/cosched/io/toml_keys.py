"""On which lines the keys of a TOML file stand: parsers do not tell."""

from __future__ import annotations

import re

from cosched.errors import CoschedError, InvalidInstance
from cosched.io.text_files import parse_toml

#: A part of a key: bare, in double quotes, in single quotes.
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
#: Blanks, line ends, comments.
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
#: Texts: of several lines first.
_TEXT = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!"")|""(?!"))*"{3,5}|\'\'\'(?:[^']|'(?!\'\')|\'\'(?!\'))*\'{3,5}'''
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""",
    re.DOTALL,
)
#: Numbers, dates and booleans.
_SCALAR = re.compile(r"[^,\]}\n#]*")

Path = tuple[str, ...]


def lines_of_keys(text: str) -> dict[Path, int]:
    """Path of each key and table -> its line, the first one of several.

    Parameters
    ----------
    text : str
        Valid TOML.

    Raises
    ------
    InvalidInstance
        The text is no TOML.

    Examples
    --------
    >>> lines_of_keys('procs = 4\\n[task.a]\\nmemory = { 1 = 2.5 }\\n')["task", "a", "memory"]
    3
    """
    scanner = _Scanner(text)
    try:
        return scanner.lines()
    except (CoschedError, IndexError, RecursionError, ValueError):
        raise InvalidInstance(f"text: not TOML in line {scanner.line()}") from None


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._lines: dict[Path, int] = {}
        #: Line ends before `_counted`.
        self._counted_until, self._line = 0, 1

    def lines(self) -> dict[Path, int]:
        section: Path = ()
        self._skip_space()
        while self._place < len(self._text):
            if self._text[self._place] == "[":
                self._place = _end_of_brackets(self._text, self._place)
                section = self._read_key(())
                self._place = self._text.index("]", self._place)
                self._place = _end_of_brackets(self._text, self._place)
            else:
                self._read_pair(section)
            self._skip_space()
        return self._lines

    def line(self) -> int:
        """The line that is being read."""
        return self._line_of(self._place)

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._place)
        assert match is not None
        self._place = match.end()

    def _read_key(self, table: Path) -> Path:
        """Return a dotted key; notes the line of each of its parts."""
        path = table
        while True:
            self._skip_space()
            match = _KEY.match(self._text, self._place)
            if match is None:
                raise ValueError(f"no key at {self._place}")
            path = (*path, _name_of(match[0]))
            self._lines.setdefault(path, self._line_of(match.start()))
            self._place = match.end()
            self._skip_space()
            if self._text[self._place] != ".":
                return path
            self._place += 1

    def _line_of(self, place: int) -> int:
        self._line += self._text.count("\n", self._counted_until, place)
        self._counted_until = place
        return self._line

    def _read_pair(self, table: Path) -> None:
        path = self._read_key(table)
        self._place = self._text.index("=", self._place) + 1
        self._read_value(path)

    def _read_value(self, path: Path) -> None:
        self._skip_space()
        start = self._text[self._place]
        if start in "[{":
            self._read_entries(path, "]" if start == "[" else "}")
            return
        match = (_TEXT if start in "\"'" else _SCALAR).match(self._text, self._place)
        if match is None:
            raise ValueError(f"no value at {self._place}")
        self._place = match.end()

    def _read_entries(self, path: Path, end: str) -> None:
        """Read the entries of an array or an inline table."""
        self._place += 1
        while True:
            self._skip_space()
            if self._text[self._place] == end:
                self._place += 1
                return
            if self._text[self._place] == ",":
                self._place += 1
            elif end == "]":
                self._read_value(path)
            else:
                self._read_pair(path)


def _end_of_brackets(text: str, place: int) -> int:
    while place < len(text) and text[place] in "[]":
        place += 1
    return place


def _name_of(text: str) -> str:
    if text.startswith("'"):
        return text[1:-1]
    if text.startswith('"'):
        return next(iter(parse_toml(f"{text} = 1", "")))
    return text
