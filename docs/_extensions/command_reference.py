"""The reference of commands: ``.. command-reference:: audit`` documents a command, and those below.

All texts come from the program when the site is built, so the pages have every command and every
option. ``.. command-table::`` lists the commands with what each does. Both write
reStructuredText, so the pages are of this kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from cosched.cli import COMMANDS, cosched

_EXAMPLE = re.compile(r"\s*\x08?\s*Example: (?P<line>cosched .*?)(?=\n\n|\Z)", re.DOTALL)
#: Options that every command has.
_COMMON_OPTIONS = ("-h", "--help")


def command_of(name: str) -> tuple[click.Command, click.Context]:
    """The command of a name, as the program makes it."""
    context = click.Context(cosched, info_name="cosched")
    command = cosched.get_command(context, name)
    assert command is not None, name
    return command, click.Context(command, info_name=name, parent=context)


def subcommands(command: Any, context: click.Context) -> Iterator[tuple[Any, click.Context]]:
    """A command, and those below it, depth first."""
    yield command, context
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        below = command.get_command(context, name)
        yield from subcommands(below, click.Context(below, info_name=name, parent=context))


def escaped(text: str) -> str:
    """Text for a cell of a list-table: on one line, without markup."""
    return re.sub(r"([\\*`_|])", r"\\\1", " ".join(text.split()))


def described(text: str) -> Iterator[str]:
    """The paragraphs of a help text, its example as code."""
    example = _EXAMPLE.search(text)
    for paragraph in _EXAMPLE.sub("", text).split("\n\n"):
        if paragraph.strip():
            yield from (escaped(paragraph), "")
    if example:
        yield from (".. code-block:: sh", "", f"   {' '.join(example['line'].split())}", "")


def parameter_rows(command: Any, context: click.Context) -> Iterator[str]:
    """A list-table with one row per argument and option, the options by their groups."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 36 64", "")
    yield from ("   * - argument or option", "     - meaning")
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Argument):
            yield from parameter_row(parameter, context)
    groups = command.options_by_group(context) if hasattr(command, "options_by_group") else ()
    for group, options in groups:
        yield from (f"   * - **{group} options**", "     -")
        for option in options:
            if option.opts[0] not in _COMMON_OPTIONS:
                yield from parameter_row(option, context)
    yield ""


def parameter_row(parameter: Any, context: click.Context) -> Iterator[str]:
    """The name of a parameter, as a help text writes it, and its meaning."""
    name, meaning = parameter.get_help_record(context)
    repeats = " May be repeated." if getattr(parameter, "multiple", False) else ""
    yield f"   * - ``{' '.join(name.split())}``"
    yield f"     - {escaped(meaning)}{repeats}"


def section(command: Any, context: click.Context, depth: int) -> Iterator[str]:
    """The usage, the help text and the parameters of one command."""
    if depth:
        yield from (f".. rubric:: {context.command_path}", "")
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (".. code-block:: text", "", f"   {context.command_path} {usage}", "")
    yield from described(command.help or "")
    if not isinstance(command, click.Group):
        yield from parameter_rows(command, context)


class CommandReference(SphinxDirective):
    """A command and its subcommands: usage, text, parameters."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        command, context = command_of(self.arguments[0])
        lines: list[str] = []
        for depth, (each, each_context) in enumerate(subcommands(command, context)):
            lines += section(each, each_context, depth)
        return self.parse_text_to_nodes("\n".join(lines))


class CommandTable(SphinxDirective):
    """One row per command: its name and what it does."""

    def run(self) -> list[nodes.Node]:
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 20 80", ""]
        lines += ["   * - command", "     - what it does"]
        for name, entry in COMMANDS.items():
            lines += [f"   * - :doc:`cosched {name} <{name}>`", f"     - {escaped(entry.about)}"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("command-reference", CommandReference)
    app.add_directive("command-table", CommandTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
