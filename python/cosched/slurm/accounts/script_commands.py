"""Commands of sacctmgr in a script: a shell script, or lines for sacctmgr itself."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosched import io
from cosched.errors import InvalidInstance, shorten
from cosched.notes import Note, NoteKind
from cosched.slurm.accounts.shell_words import (
    Word,
    has_here_document,
    join_continued_lines,
    split_commands,
    without_comment,
)

_FILE = Path(__file__).with_name("sacctmgr_words.toml")
#: The words of sacctmgr by table; see the file.
WORDS: dict[str, Any] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))

_VERBS = {"create": "add", "update": "modify", "remove": "delete"}
_CALL = re.compile(r"(?:^|[\s;&|(/])(?:sacctmgr|\$\{?SACCTMGR\}?)(?=\s|$)", re.IGNORECASE)
#: A line for sacctmgr itself, or of a file of such lines, begins with options and a verb.
_BARE = re.compile(r"\s*(?:--?[A-Za-z][\w-]*\s+)*([A-Za-z]+)\s+(\S+)")
_SHORT_OPTIONS = "hionpPQrsvV"
_LONG_OPTIONS = (
    "associations", "help", "immediate", "json", "noheader", "oneliner", "parsable", "parsable2",
    "quiet", "readonly", "usage", "verbose", "version", "yaml",
)  # fmt: skip
#: Commands that change nothing which scheduling looks at.
_HARMLESS = ("show", "list", "help", "version", "ping", "exit", "quit", "dump", "archive", "rollup",
             "reconfigure", "shutdown", "verbose", "quiet", "oneliner", "associations",
             "readonly", "clear")  # fmt: skip


@dataclass(frozen=True)
class SacctmgrCommand:
    """One command that adds, modifies or deletes."""

    #: File and line, for messages.
    place: str
    #: ``add``, ``modify`` or ``delete``.
    verb: str
    #: ``account``, ``cluster``, ``qos``, ``user``, or one that says nothing about starts.
    entity: str
    #: Behind the entity, without sacctmgr's own options (``-i``).
    words: tuple[str, ...]


@dataclass(frozen=True)
class CommandOption:
    """A setting or a condition of a command: ``MaxJobs=4``, ``qos+=high``."""

    #: The column of ``sacctmgr show`` that the option sets or compares.
    column: str
    #: How the value is read, such as ``count``.
    kind: str
    #: ``+`` or ``-`` of ``+=`` and ``-=``, else empty.
    operator: str
    #: The text behind the equals sign.
    value: str
    #: The option as it was typed.
    word: str


@dataclass
class Script:
    """The commands of a script in their order, and lines that are not followed."""

    #: The commands in their order.
    commands: list[SacctmgrCommand] = field(default_factory=list)
    #: Lines that are not followed.
    notes: list[Note] = field(default_factory=list)


def read_script(lines: Iterable[tuple[str, str]]) -> Script:
    """Commands of lines that come with their places; other text has none.

    Raises
    ------
    InvalidInstance
        A line that sacctmgr refuses: an unknown entity or option of its own, an open quotation.
    """
    script = Script()
    unknown_lines: list[Note] = []
    for place, line in join_continued_lines(lines):
        if _CALL.search(without_comment(line)):
            for words in split_commands(line, place):
                _read_call(words, place, script, has_input=has_here_document(line))
        elif verb := _bare_verb(line):
            _read_bare(verb, line, place, script, unknown_lines)
    if script.commands:
        script.notes += unknown_lines
    return script


def _bare_verb(line: str) -> str:
    """Return the verb that a line begins with, behind options of sacctmgr; empty: none, or what
    follows is no word of a command."""
    parts = _BARE.match(line)
    return _verb_of(parts[1]) if parts else ""


def _note_unread(place: str, text: str) -> Note:
    """Return a note of a line that is not followed."""
    return Note(NoteKind.NOT_READ, f"not followed: {text}", subject="line").with_place(place)


def _read_bare(verb: str, line: str, place: str, script: Script, unknown_lines: list[Note]) -> None:
    parts = _BARE.match(line)
    assert parts is not None
    entity = _named(WORDS["entities"][verb], parts[2])
    if entity is not None:
        (words, *_) = split_commands(line, place)
        _add_command(words, place, script)
    elif parts[1].lower() in WORDS["verbs"] and parts[1].lower() != "update":
        text = f"{shorten(line.strip())}: no {verb} of sacctmgr"
        unknown_lines.append(_note_unread(place, text))


def _read_call(words: Sequence[Word], place: str, script: Script, *, has_input: bool) -> None:
    """Read a command of a shell script, if it calls sacctmgr; `has_input`: the lines below are
    read."""
    names = [word.text.rsplit("/", 1)[-1].strip("${}").lower() for word in words]
    if "sacctmgr" not in names:
        return
    position = names.index("sacctmgr")
    if names[0] in ("echo", "printf", "which", "type", "alias") or _is_lookup(words):
        return
    rest = words[position + 1 :]
    if not [word for word in rest if not word.text.startswith("-")]:
        if has_input:
            return
        script.notes.append(_note_unread(place, "sacctmgr is told its commands elsewhere"))
        return
    _add_command(rest, place, script)


def _is_lookup(words: Sequence[Word]) -> bool:
    """Return whether words are ``command -v NAME``, which prints where a command is."""
    return [word.text for word in words[:2]] in (["command", "-v"], ["command", "-V"])


def _add_command(words: Sequence[Word], place: str, script: Script) -> None:
    text = " ".join(word.text for word in words if not word.text.startswith("-"))
    if any(word.is_expanded for word in words):
        message = f"{shorten(text)}: expected words, and no shell variables"
        script.notes.append(_note_unread(place, message))
        return
    arguments = _without_options([word.text for word in words], place)
    if arguments is None:
        return
    verb = _verb_of(arguments[0])
    if not verb:
        if not any(_is_beginning(arguments[0], name, 2) for name in _HARMLESS):
            script.notes.append(_note_unread(place, shorten(text)))
        return
    entities = WORDS["entities"][verb]
    entity = _named(entities, arguments[1]) if len(arguments) > 1 else None
    if entity is None:
        names = ", ".join(name for name, *_ in entities)
        raise InvalidInstance(f"{place}: {shorten(text)}: expected {verb} and one of {names}")
    script.commands.append(SacctmgrCommand(place, verb, entity[2], tuple(arguments[2:])))


def _without_options(words: Sequence[str], place: str) -> list[str] | None:
    """Return words without sacctmgr's own options; None: it prints something instead of a
    change."""
    arguments: list[str] = []
    for number, word in enumerate(words):
        if word == "--":
            arguments += words[number + 1 :]
            break
        if not word.startswith("-") or word == "-":
            arguments.append(word)
            continue
        letters = word[1:]
        name = word[2:].partition("=")[0]
        if word.startswith("--"):
            long_names = [long for long in _LONG_OPTIONS if long.startswith(name)]
            if not long_names:
                raise InvalidInstance(f"{place}: {shorten(word)}: no option of sacctmgr")
            if long_names[0] in ("help", "usage", "version", "readonly"):
                return None
        elif not set(letters) <= set(_SHORT_OPTIONS):
            raise InvalidInstance(f"{place}: {shorten(word)}: no option of sacctmgr")
        elif {"h", "V", "r"} & set(letters):
            return None
    return arguments or None


def _verb_of(word: str) -> str:
    """Return ``add``, ``modify`` or ``delete``; empty: another command."""
    for name, letters in WORDS["verbs"].items():
        if _is_beginning(word, name, letters):
            return str(_VERBS.get(name, name))
    return ""


def _is_beginning(word: str, name: str, letters: int) -> bool:
    """Return whether sacctmgr takes a word for a name: `letters` of it at least."""
    return len(word) >= letters and name.lower().startswith(word.lower())


def _named(table: Sequence[Sequence[Any]], word: str) -> Sequence[Any] | None:
    """Return the first row of a table whose name a word abbreviates."""
    return next((row for row in table if _is_beginning(word, row[0], row[1])), None)


def command_option(word: str, tables: Sequence[Sequence[Sequence[object]]]) -> CommandOption | None:
    """Return the option that ``Name=value`` is in the first of these tables that has it.

    Examples
    --------
    >>> command_option("maxj=4", [WORDS["settings"]["qos"]])
    CommandOption(column='MaxJobsPU', kind='count', operator='', value='4', word='maxj=4')
    >>> command_option("maxj=4", [WORDS["conditions"]["qos"]]) is None
    True
    """
    name, _, value = word.partition("=")
    operator = name[-1:] if name[-1:] in ("+", "-") else ""
    name = name[: len(name) - len(operator)]
    for table in tables:
        row = _named(table, name)
        if row is not None:
            return CommandOption(row[2], row[3], operator, value, word)
    return None
