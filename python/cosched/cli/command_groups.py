"""Commands with their options in groups, and groups whose commands are imported on demand.

Both are subclasses of click's own classes, in the places that click documents for that:
https://click.palletsprojects.com/en/stable/complex/#lazily-loading-subcommands and
https://click.palletsprojects.com/en/stable/extending-click/.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click
from click.core import ParameterSource

from cosched.cli import verbosity
from cosched.cli.option_types import OutputFile
from cosched.errors import CoschedError, InvalidInstance

#: The groups of options in the order of a help text.
OPTION_GROUPS = (
    "Workload",
    "Input",
    "Cluster",
    "Job",
    "Algorithm",
    "Analysis",
    "Execution",
    "Output",
    "General",
)


class GroupedOption(click.Option):
    """An option that stands in one of the groups of a help text."""

    def __init__(self, *declarations: Any, group: str = "General", **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        assert group in OPTION_GROUPS, group
        self.group = group


class Command(click.Command):
    """A command that has ``--quiet`` and ``--verbose``, and shows its options in groups."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.params = [*self.params, *_verbosity_options()]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group of options in a section of its own."""
        for group, options in self.options_by_group(ctx):
            records = [option.get_help_record(ctx) for option in options]
            with formatter.section(f"{group} options"):
                formatter.write_dl([record for record in records if record is not None])

    def options_by_group(self, ctx: click.Context) -> Iterator[tuple[str, list[click.Option]]]:
        """The groups that have visible options, in their order."""
        options = [
            parameter
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and not parameter.hidden
        ]
        for group in OPTION_GROUPS:
            members = [each for each in options if getattr(each, "group", "General") == group]
            if members:
                yield group, members

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of a command line; ``--out`` is an older name of ``--output``."""
        names = {name for parameter in self.params for name in parameter.opts}
        if "--output" in names and "--out" not in names:
            args = out_as_output(args)
        try:
            with options_in_messages(ctx):
                rest = super().parse_args(ctx, list(args))
            self._refuse_repeated_outputs(ctx, args)
            return rest
        except click.UsageError as error:
            file = file_behind_json(args)
            if not file:
                raise
            message = error.format_message().rstrip(".")
            raise click.UsageError(
                f"{message}: --json prints to the terminal, -o {file} writes a file", error.ctx
            ) from None

    def _refuse_repeated_outputs(self, ctx: click.Context, args: Sequence[str]) -> None:
        """Refuse an option that names one file to write, and was given twice.

        click would take the last file, and the others would not be written.
        """
        _, _, given_parameters = self.make_parser(ctx).parse_args(list(args))
        for parameter in self.params:
            is_repeated = given_parameters.count(parameter) > 1
            if is_repeated and isinstance(parameter.type, OutputFile) and not parameter.multiple:
                name = max(parameter.opts, key=len)
                raise click.UsageError(f"{name} is given twice: expected one file")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless it would write over a file that it reads."""
        require_separate_outputs(self.params, ctx.params)
        with options_in_messages(ctx):
            return super().invoke(ctx)


class ReportCommand(Command):
    """A command that writes one file per format; ``--json FILE`` is an older name of one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of a command line, those of earlier versions included."""
        return super().parse_args(ctx, json_files_as_outputs(args))


def out_as_output(words: Sequence[str]) -> list[str]:
    """``--out FILE`` as ``--output FILE``; words behind ``--`` are no options.

    Examples
    --------
    >>> out_as_output(["log.swf", "--out", "a.html", "--out=b.json", "--", "--out"])
    ['log.swf', '--output', 'a.html', '--output=b.json', '--', '--out']
    """
    end = words.index("--") if "--" in words else len(words)
    options = [
        f"--output{word.removeprefix('--out')}" if word.partition("=")[0] == "--out" else word
        for word in words[:end]
    ]
    return [*options, *words[end:]]


def json_files_as_outputs(words: Sequence[str]) -> list[str]:
    """``--json FILE.json`` as ``--output FILE.json``, which earlier versions called so.

    Examples
    --------
    >>> json_files_as_outputs(["log.swf", "--json", "a.json", "-o", "a.html"])
    ['log.swf', '--output', 'a.json', '-o', 'a.html']
    >>> json_files_as_outputs(["--json", "log.swf"])
    ['--json', 'log.swf']
    """
    followers = [*words[1:], ""]
    current_words = []
    for word, follower in zip(words, followers, strict=True):
        if word == "--json" and follower.endswith(".json"):
            current_words.append("--output")
        elif word.startswith("--json="):
            current_words.append(word.replace("--json=", "--output=", 1))
        else:
            current_words.append(word)
    return current_words


@contextmanager
def options_in_messages(ctx: click.Context) -> Iterator[None]:
    """Messages of the library begin with the name of an argument: say the option that was typed.

    ``log.csv: min_runtime = -3: expected seconds >= 0`` becomes ``log.csv: --min-runtime: -3:
    expected seconds >= 0`` where the command line has that option. A name that stands elsewhere in
    a message belongs to a file.
    """
    try:
        yield
    except CoschedError as error:
        text = str(error)
        path = next((path for path in _paths_of(ctx) if text.startswith(f"{path}: ")), None)
        begin = 0 if path is None else len(f"{path}: ")
        argument = re.match(r"([a-z_]+)( = | is for )", text[begin:])
        option = None if argument is None else _typed_options(ctx).get(argument[1])
        if argument is not None and option is not None:
            link = ": " if argument[2] == " = " else argument[2]
            rest = text[begin + argument.end() :]
            error.args = (f"{text[:begin]}{option}{link}{rest}",)
        raise


def _typed_options(ctx: click.Context) -> dict[str, str]:
    """Return the names of parameters that the command line has -> their options."""
    return {
        parameter.name: max(parameter.opts, key=len)
        for parameter in ctx.command.params
        if isinstance(parameter, click.Option)
        and parameter.name is not None
        and ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }


def _paths_of(ctx: click.Context) -> list[Path]:
    return [value for value in ctx.params.values() if isinstance(value, Path)]


def file_behind_json(words: Sequence[str]) -> str | None:
    """The first word behind ``--json`` that looks like a file to write; None: there is no such.

    Examples
    --------
    >>> file_behind_json(["runs.csv", "--json", "plan.json"]), file_behind_json(["--json", "-v"])
    ('plan.json', None)
    """
    for word, follower in itertools.pairwise([*words, ""]):
        if word.startswith("--json="):
            return word.removeprefix("--json=")
        if word == "--json" and follower.endswith(".json"):
            return follower
    return None


def _verbosity_options() -> list[click.Option]:
    return [
        GroupedOption(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=verbosity.set_quiet,
            help="Print results only: no notes, no progress, no hints.",
        ),
        GroupedOption(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            callback=verbosity.set_verbose,
            help="Print the time of each step, and the traceback of an error.",
        ),
    ]


def require_separate_outputs(
    parameters: Sequence[click.Parameter], values: Mapping[str, Any]
) -> None:
    """Refuse a file to write that the command reads, or that it writes twice.

    Parameters
    ----------
    parameters : sequence of click.Parameter
        Those whose type is :class:`OutputFile` name files to write; other paths are read.
    values : mapping
        Name of a parameter -> its value.
    """
    outputs: list[Path] = []
    inputs: list[Path] = []
    for parameter in parameters:
        value = values.get(parameter.name or "")
        paths = value if isinstance(value, tuple) else (value,)
        is_output = isinstance(parameter.type, OutputFile)
        (outputs if is_output else inputs).extend(p for p in paths if isinstance(p, Path))
    for number, path in enumerate(outputs):
        for other in outputs[:number]:
            if _are_same_file(path, other):
                _refuse_output(other, "writes this file twice")
        for other in inputs:
            if _are_same_file(path, other):
                _refuse_output(other, "reads this file")


def _refuse_output(path: Path, use: str) -> NoReturn:
    raise InvalidInstance(f"{path}: the command {use}: expected another file to write")


def _are_same_file(first: Path, second: Path) -> bool:
    """Return whether two paths name one file; a device or a pipe may be there twice."""
    try:
        if first.exists() and second.exists():
            return first.is_file() and first.samefile(second)
        return first.absolute() == second.absolute()
    except (OSError, ValueError):  # a name that no file can have: opening it says so
        return False


@click.pass_context
def require_subcommand(context: click.Context) -> None:
    """Show the list of commands, and refuse, where none of them is given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        raise click.UsageError("expected one of the commands above")


class CommandGroup(click.Group):
    """A group that lists its commands in their own order, and knows names that are near."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        attributes.setdefault("callback", require_subcommand)
        attributes["invoke_without_command"] = True  # the callback then shows the list
        super().__init__(*arguments, **attributes)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            _refuse_name(args[0], names)
        return super().resolve_command(ctx, args)


def _refuse_name(name: str, known_names: Sequence[str]) -> NoReturn:
    """Refuse a name that no command has, with the names that are near to it, or with all."""
    near_names = get_close_matches(name, known_names)
    if near_names:
        expected = f"Did you mean {' or '.join(map(repr, near_names))}?"
        raise click.UsageError(f"No such command {name!r}. {expected}")
    raise click.UsageError(f"No such command {name!r}: expected one of {', '.join(known_names)}")


class LazyCommand(NamedTuple):
    """Where a command is (``module:name``), and its line in the list of commands."""

    place: str
    about: str


class LazyGroup(CommandGroup):
    """A group that imports a command when somebody asks for it.

    The list of commands needs no import: `sections` has a line for each, under a title.
    """

    def __init__(
        self, *arguments: Any, sections: Mapping[str, Mapping[str, LazyCommand]], **attributes: Any
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.sections = sections
        self.lazy_commands = {
            name: command for section in sections.values() for name, command in section.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy_commands:
            return None
        module, _, attribute = self.lazy_commands[cmd_name].place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, command.about) for name, command in commands.items()])
