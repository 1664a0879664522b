"""All commands of the command line, for tests that look at each."""

from functools import cache

import click

from cosched.cli import cosched


@cache
def every_command() -> dict[str, click.Command]:
    """Path of a command, such as ``study run`` -> the command; groups are left out."""
    commands: dict[str, click.Command] = {}

    def visit(command: click.Command, path: str, context: click.Context) -> None:
        if not isinstance(command, click.Group):
            commands[path] = command
            return
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            visit(subcommand, f"{path} {name}".strip(), context)

    visit(cosched, "", click.Context(cosched, info_name="cosched"))
    return commands
