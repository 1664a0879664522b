"""Texts that a shell reads: a word that is quoted, and the places of a command that quotes hide."""

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

#: A name in braces that a value replaces; after a dollar sign it is a variable of the shell.
PLACE = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)\}")
#: A value that means itself wherever it stands in a command.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_HERE_DOCUMENT = re.compile(r"<<(-?)[ \t]*(['\"]?)([A-Za-z0-9_.-]+)\2")
_BEFORE_COMMENT = " \t\n;|&()"

SINGLE_QUOTES, DOUBLE_QUOTES = "single quotes", "double quotes"
#: What a quoted value means itself in: the commands of a shell, and those of $( ).
COMMANDS = "commands"
COMMENT = "a comment"
_BACKQUOTES, _ARITHMETIC = "backquotes", "$(( ))"
_HERE, _BACKSLASH = "a here-document", "a word behind a backslash"


def quote_word(text: str) -> str:
    r"""A text as one word of bash that stands on one line, whatever characters it holds.

    Examples
    --------
    >>> print(quote_word("a b"), quote_word("$(date)"), quote_word("two\nlines"))
    'a b' '$(date)' $'two\x0alines'
    """
    if text.isprintable():
        return shlex.quote(text)
    escaped = (
        character
        if character.isprintable() and character not in "\\'"
        else "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
        for character in text
    )
    return f"$'{''.join(escaped)}'"


def is_plain_word(text: str) -> bool:
    """Whether a text means itself in any place of a command: in quotes, arithmetic, comments.

    Examples
    --------
    >>> is_plain_word("case-1.nc"), is_plain_word("case 1.nc")
    (True, False)
    """
    return bool(_PLAIN_WORD.fullmatch(text))


class ShellPlace(NamedTuple):
    """A place of a command that a value fills, and what it stands in."""

    name: str
    context: str


def places_of_command(command: str) -> list[ShellPlace]:
    """The places of a command for the shell, each with what it stands in.

    Examples
    --------
    >>> places_of_command('cat {file} > "$(basename {file}).out"; echo "{file}"')
    ... # doctest: +NORMALIZE_WHITESPACE
    [ShellPlace(name='file', context='commands'), ShellPlace(name='file', context='commands'),
     ShellPlace(name='file', context='double quotes')]
    """
    return list(_Scanner(command).places())


class _Scanner:
    """Follows the quotes of a command from its first character to its last."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._position = 0
        #: What has been opened and not closed, the innermost last; each with what closes it.
        self._open: list[tuple[str, str]] = [(COMMANDS, "")]
        #: Here-documents whose text begins after the end of this line: tabs stripped, end word.
        self._documents: list[tuple[bool, str]] = []

    def places(self) -> Iterator[ShellPlace]:
        while self._position < len(self._command):
            match = PLACE.match(self._command, self._position)
            if match:
                yield ShellPlace(match[1], self._open[-1][0])
                self._position = match.end()
                continue
            context, closing = self._open[-1]
            if context == SINGLE_QUOTES:
                self._pass_single_quotes()
            elif context == DOUBLE_QUOTES:
                yield from self._pass_double_quotes()
            else:
                yield from self._pass_commands(closing)

    def _pass_single_quotes(self) -> None:
        if self._command[self._position] == "'":
            self._open.pop()
        self._position += 1

    def _pass_double_quotes(self) -> Iterator[ShellPlace]:
        character = self._command[self._position]
        if character == '"':
            self._open.pop()
            self._position += 1
        elif character == "\\":
            yield from self._pass_backslash()
        elif not self._open_substitution():
            self._position += 1

    def _pass_commands(self, closing: str) -> Iterator[ShellPlace]:
        character = self._command[self._position]
        if closing and self._command.startswith(closing, self._position):
            self._open.pop()
            self._position += len(closing)
        elif character == "\\":
            yield from self._pass_backslash()
        elif character == "'":
            self._enter(SINGLE_QUOTES, "'", 1)
        elif character == '"':
            self._enter(DOUBLE_QUOTES, '"', 1)
        elif character == "#" and self._begins_comment():
            end = self._command.find("\n", self._position)
            yield from self._pass_text(COMMENT, len(self._command) if end < 0 else end)
        elif character == "\n":
            self._position += 1
            yield from self._pass_documents()
        elif not (self._open_substitution() or self._announce_document()):
            if character == "(":
                self._enter(self._open[-1][0], ")", 1)
            else:
                self._position += 1

    def _enter(self, context: str, closing: str, length: int) -> None:
        self._open.append((context, closing))
        self._position += length

    def _open_substitution(self) -> bool:
        """Enter $( ), $(( )) or backquotes, where one begins here."""
        inside = self._open[-1][0]
        # What backquotes hold is read twice: nothing in them is safe.
        commands = _BACKQUOTES if inside == _BACKQUOTES else COMMANDS
        if self._command.startswith("$((", self._position):
            self._enter(_ARITHMETIC, "))", 3)
        elif self._command.startswith("$(", self._position):
            self._enter(commands, ")", 2)
        elif self._command[self._position] == "`":
            self._enter(_BACKQUOTES, "`", 1)
        else:
            return False
        return True

    def _begins_comment(self) -> bool:
        is_first = self._position == 0
        return is_first or self._command[self._position - 1] in _BEFORE_COMMENT

    def _pass_backslash(self) -> Iterator[ShellPlace]:
        match = PLACE.match(self._command, self._position + 1)
        if match:
            inside = self._open[-1][0]
            yield ShellPlace(match[1], inside if inside == DOUBLE_QUOTES else _BACKSLASH)
            self._position = match.end()
        else:
            self._position += 2

    def _announce_document(self) -> bool:
        if self._command.startswith("<<<", self._position):  # a word, no document
            self._position += 3
            return True
        match = _HERE_DOCUMENT.match(self._command, self._position)
        if match is None:
            return False
        self._documents.append((bool(match[1]), match[3]))
        self._position = match.end()
        return True

    def _pass_documents(self) -> Iterator[ShellPlace]:
        """Yield the texts of the here-documents that the line before has announced."""
        documents, self._documents = self._documents, []
        for has_tabs, end_word in documents:
            while self._position < len(self._command):
                end = self._command.find("\n", self._position)
                end = len(self._command) if end < 0 else end
                line = self._command[self._position : end]
                yield from self._pass_text(_HERE, end)
                self._position = min(end + 1, len(self._command))
                if (line.lstrip("\t") if has_tabs else line) == end_word:
                    break

    def _pass_text(self, context: str, end: int) -> Iterator[ShellPlace]:
        for match in PLACE.finditer(self._command, self._position, end):
            yield ShellPlace(match[1], context)
        self._position = end
