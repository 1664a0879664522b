"""Words, texts and marks of the DOT language, one after the other."""

from __future__ import annotations

import re

from cosched.errors import InvalidInstance, shorten

#: Graphviz has no dots in bare names; other writers do.
_TOKEN = re.compile(
    r"""(?P<skip>[\s\ufeff]+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<mark>->|--|[][{};,=:+])
      | (?P<quoted>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<word>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)|[\w.\u0080-\U0010ffff]+)
      | (?P<html><)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_LONG_WORD = re.compile(r"[\w.\u0080-\U0010ffff]+")
_ANGLE = re.compile("[<>]")
_KEYWORDS = {"node", "edge", "graph", "digraph", "subgraph", "strict"}


class Tokens:
    """Tokens of a text one by one; `kind` and `value` are of the one that comes next."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.place = self._next = 0
        self._line, self._line_at = 1, 0
        self.kind = self.value = ""
        self.advance()

    def advance(self) -> None:
        found = None
        while self._next < len(self.text):
            found = _TOKEN.match(self.text, self._next)
            if found is None or found.lastgroup != "skip":
                break
            self._next = found.end()
        self.place = self._next
        if self._next >= len(self.text):
            self.kind, self.value = "end", "the end of the file"
            return
        if found is None:
            self.kind, self.value = "", self.text[self.place : self.place + 12]
            raise self.error("a name, or an end of the text or comment")
        self.kind, self.value = str(found.lastgroup), found[0]
        self._next = found.end()
        if self.kind == "word" and (longer := _LONG_WORD.match(self.text, found.end())):
            self.value += longer[0]  # 1e5, 2nd: not of Graphviz, but clear
            self._next = longer.end()
        elif self.kind == "html":
            self._next = self._end_of_html()
            self.value = self.text[self.place : self._next]

    def _end_of_html(self) -> int:
        depth = 0
        for found in _ANGLE.finditer(self.text, self.place):
            depth += 1 if found[0] == "<" else -1
            if depth == 0:
                return found.end()
        raise self.error("a > for each <")

    def take(self, mark: str) -> bool:
        """Pass over a mark if it comes next."""
        if not self.is_mark(mark):
            return False
        self.advance()
        return True

    def line(self) -> int:
        """Of the token that comes next, from 1."""
        self._line += self.text.count("\n", self._line_at, self.place)
        self._line_at = self.place
        return self._line

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.value == mark

    def keyword(self) -> str:
        """The keyword that comes next, in lower case; "" where it is none."""
        word = self.value.lower() if self.kind == "word" else ""
        return word if word in _KEYWORDS else ""

    def is_name(self) -> bool:
        return self.kind in ("word", "quoted", "html") and not self.keyword()

    def name(self, expected: str) -> str:
        """The name, number or text that comes next, unquoted."""
        if self.kind != "quoted":
            if self.kind not in ("word", "html"):
                raise self.error(expected)
            value = self.value
            self.advance()
            return value
        parts = []
        while self.kind == "quoted":
            parts.append(self.value[1:-1].replace("\\\n", "").replace('\\"', '"'))
            self.advance()
            if not self.take("+"):
                break
        return "".join(parts)

    def error(self, expected: str) -> InvalidInstance:
        column = self.place - self.text.rfind("\n", 0, self.place)
        what = self.value if self.kind == "end" else shorten(self.value)
        where = f"{self.path}: line {self.line()}, column {column}"
        return InvalidInstance(f"{where}: not DOT: {what}: expected {expected}")
