"""Commands that are made when they are asked for: most of what a short one costs are imports."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from cosched import io
from cosched.cli.process import exit_code


class Verb(NamedTuple):
    """What ``--help`` says of a command, and the module here whose ``add(app, verb)`` makes it."""

    about: str
    example: str = ""
    more: str = ""
    module: str = ""

    @property
    def help(self) -> str:
        help_text = f"{self.about}\n\n{self.more}".strip()
        return f"{help_text}\n\nExample: {self.example}" if self.example else help_text


def table(name: str) -> dict[str, Any]:
    """A table of words beside this file."""
    path = Path(__file__).with_name(name)
    return io.parse_toml(io.read_text(path), str(path))


#: All commands, those of a group behind its name.
COMMANDS = {name: Verb(**fields) for name, fields in table("verbs.toml").items()}
VERBS = {name: spec for name, spec in COMMANDS.items() if " " not in name}


def made_on_demand(
    names: Collection[str],
    add: Callable[[str, typer.Typer], None],
    about: Mapping[str, str] | None = None,
) -> type[TyperGroup]:
    """A group of these commands, of which ``add(name, app)`` makes one when it is asked for; with
    `about`, a line each, the list of them makes none."""

    class OnDemand(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return list(names)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            if about is not None:
                self.rich_markup_mode = None  # rich asks each command for its line
            super().format_help(ctx, formatter)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            if about is None:
                return super().format_commands(ctx, formatter)
            with formatter.section("Commands"):
                formatter.write_dl([(name, about[name]) for name in names])

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name in names and cmd_name not in self.commands:
                app = typer.Typer()
                add(cmd_name, app)
                self.commands.update(get_group(app).commands)
            return super().get_command(ctx, cmd_name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            if args[0] in names:
                return super().resolve_command(ctx, args)
            if not get_close_matches(args[0], names):
                ctx.fail(f"No such command {args[0]!r}: expected one of {', '.join(names)}")
            commands = self.commands
            try:  # the message lists near names: none of them has to be made for that
                self.commands = {name: TyperCommand(name) for name in names}
                return super().resolve_command(ctx, args)
            finally:
                self.commands = commands

        def make_context(self, *arguments: Any, **more: Any) -> Any:
            with _interruptible():
                return super().make_context(*arguments, **more)

        def invoke(self, ctx: Any) -> Any:
            with _interruptible():
                return super().invoke(ctx)

    return OnDemand


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the command with their codes and a word: typer would end it with 130,
    and without one."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise typer.Exit(exit_code(stop)) from None
