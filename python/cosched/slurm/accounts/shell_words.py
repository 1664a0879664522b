"""Words of the commands in a shell script, as a POSIX shell splits them; nothing is executed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cosched.errors import InvalidInstance, shorten

_OPERATORS = "|&;()"
_VARIABLE_STARTS = "$`"


@dataclass(frozen=True)
class Word:
    """One word of a command, without its quotes."""

    #: The word without its quotes.
    text: str
    #: A shell would put something else in its place: ``$user``, ``$(id -un)``.
    is_expanded: bool = False


def join_continued_lines(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    r"""Lines with their places; one that ends with a backslash goes on in the next.

    >>> list(join_continued_lines([("a:1", "add user x \\"), ("a:2", "account=y")]))
    [('a:1', 'add user x account=y')]
    """
    first_place, begun = "", ""
    for place, line in lines:
        first_place = first_place or place
        if line.endswith("\\"):
            begun += line[:-1]
            continue
        yield first_place, begun + line
        first_place, begun = "", ""
    if begun:
        yield first_place, begun


def split_commands(text: str, place: str) -> list[list[Word]]:
    """Words of each command of a line; comments and redirections are left out.

    Raises
    ------
    InvalidInstance
        A quotation that does not end on the line.

    Examples
    --------
    >>> [[word.text for word in command]
    ...  for command in split_commands("a 'b c' d=\\"e f\\" > log 2>&1 && g # h", "x.sh:1")]
    [['a', 'b c', 'd=e f'], ['g']]
    """
    return _Splitter(text, place).commands()


def without_comment(line: str) -> str:
    """Return a line up to a ``#`` that begins a word outside of quotes.

    >>> without_comment("echo 'step #2' # the second")
    "echo 'step #2' "
    """
    quote = ""
    is_word_start, is_escaped = True, False
    for place, character in enumerate(line):
        if is_escaped:
            is_escaped = False
        elif quote:
            is_escaped = character == "\\" and quote == '"'
            quote = "" if character == quote else quote
        elif character == "#" and is_word_start:
            return line[:place]
        elif character in "'\"":
            quote = character
        else:
            is_escaped = character == "\\"
        is_word_start = not quote and (character.isspace() or character in _OPERATORS)
    return line


def has_here_document(line: str) -> bool:
    """Whether the lines below are the input of a command (``<<EOF``); ``<<<`` takes a word."""
    return re.search(r"(?<!<)<<(?!<)", without_comment(line)) is not None


class _Splitter:
    """Reads one line from left to right."""

    def __init__(self, text: str, place: str) -> None:
        self._text, self._place, self._at = text, place, 0
        self._commands: list[list[Word]] = [[]]
        self._skips_next_word = False  # the file of a redirection

    def commands(self) -> list[list[Word]]:
        text = self._text
        while self._at < len(text):
            character = text[self._at]
            if character.isspace():
                self._at += 1
            elif character == "#":
                break
            elif character in _OPERATORS:
                self._commands.append([])
                self._skips_next_word = False
                self._at += 1
            elif character in "<>":
                self._redirection()
            else:
                self._word()
        return [command for command in self._commands if command]

    def _redirection(self) -> None:
        """Pass over a redirection, such as ``> file``, ``2>&1``, ``2>&-``, ``<<EOF``: it is no part
        of the command."""
        begin = self._at
        while self._at < len(self._text) and self._text[self._at] in "<>&-":
            self._at += 1
        closes_descriptor = self._text[begin : self._at].endswith("&-")
        self._skips_next_word = not closes_descriptor

    def _word(self) -> None:
        letters: list[str] = []
        is_expanded = False
        while self._at < len(self._text):
            character = self._text[self._at]
            if character.isspace() or character in _OPERATORS or character in "<>":
                break
            if character == "'":
                letters.append(self._quoted("'"))
            elif character == '"':
                quoted = self._quoted('"')
                is_expanded |= any(mark in quoted for mark in _VARIABLE_STARTS)
                letters.append(quoted)
            elif character == "\\":
                letters.append(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            else:
                is_expanded |= character in _VARIABLE_STARTS
                letters.append(character)
                self._at += 1
        word = Word("".join(letters), is_expanded)
        is_descriptor = word.text.isdigit() and self._text[self._at : self._at + 1] in ("<", ">")
        if self._skips_next_word:
            self._skips_next_word = False
        elif not is_descriptor:
            self._commands[-1].append(word)

    def _quoted(self, mark: str) -> str:
        """Return what stands between two quotation marks."""
        end = self._text.find(mark, self._at + 1)
        while mark == '"' and end > 0 and self._text[end - 1] == "\\":
            end = self._text.find(mark, end + 1)
        if end < 0:
            raise InvalidInstance(f"{self._place}: no closing quotation: {shorten(self._text)}")
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        return inner.replace('\\"', '"') if mark == '"' else inner
