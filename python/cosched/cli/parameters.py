"""What commands ask for: the parameters of their functions, in the words of ``options.toml``.

Arguments of functions of the package are options in the words of those functions' docstrings: an
option that a function has is written once, and the command line cannot say something else.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import io
from cosched.cli.on_demand import COMMANDS, table
from cosched.cli.values import seed_of_text
from cosched.errors import InvalidInstance

_MAX_INTEGER = 10**6
#: Parameters of commands that are files to write; other paths are read.
_OUTPUTS = ("output", "picture", "as_json", "metrics")
_WORDS = table("options.toml")
#: Flags, how an argument or a value is called, and what it means.
_OPTION_TEXT = re.compile(r"((?:-\S+ )*)(?:<([^>]*)> )?(.*)")
#: An entry of a docstring's section: names, type, text.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*)\n((?: {4}.*\n?)*)", re.MULTILINE)


class Arguments:
    """Some keyword arguments of a function, or of a class.

    ``limit_factor: float | None = None`` is ``--limit-factor``, a number or ``none``; of texts
    (``Iterable[str]``) it may be there several times. A command has them as a parameter
    ``Annotated[dict, Arguments(run, "limit_factor")]``.
    """

    def __init__(self, function: Callable[..., Any], *names: str) -> None:
        known_parameters = inspect.signature(function).parameters
        self._own = [known_parameters[name] for name in names]
        self._explained = _explained(function)
        self.names = names

    def parameters(self) -> list[Parameter]:
        """What typer is to ask for."""
        return [_option(parameter, self._explained[parameter.name]) for parameter in self._own]

    def values(self, **option_values: Any) -> dict[str, Any]:
        """What the function takes, of what was typed."""
        return {
            parameter.name: _value(parameter, option_values[parameter.name])
            for parameter in self._own
        }


def _explained(function: Callable[..., Any]) -> dict[str, str]:
    """Name -> the first sentence that a docstring says of it, with the values it may have."""
    values = {}
    for names, type_, text in _ENTRY.findall(inspect.getdoc(function) or ""):
        words = re.sub(r":\w+:`|`", "", " ".join(text.split()))
        sentence = re.split(r"(?<=\.) ", words)[0]
        choices = ", ".join(re.findall(r"\w+", type_)) if type_.startswith("{") else ""
        for name in names.split(", "):
            values[name] = f"{choices}: {sentence}" if choices else sentence
    return values


def _kind(parameter: Parameter) -> str:
    """One of bool, int, float, path, list, str."""
    kind_of_part = {"PathLike": "path", "Iterable[str]": "list"}
    kinds = (kind for part, kind in kind_of_part.items() if part in _annotation(parameter))
    return next(kinds, _annotation(parameter).partition(" ")[0])


def _annotation(parameter: Parameter) -> str:
    written = parameter.annotation
    return written if isinstance(written, str) else inspect.formatannotation(written)


def _flag(parameter: Parameter) -> str:
    return f"--{parameter.name.replace('_', '-')}"


def _option(parameter: Parameter, text: str) -> Parameter:
    types: dict[str, Any] = {"bool": bool, "path": Path | None, "list": list[str] | None}
    type_: Any = types.get(_kind(parameter), str | None)
    written = parameter.default
    if _kind(parameter) == "list" or written is parameter.empty:
        written = None
    elif isinstance(written, (int, float)) and not isinstance(written, bool):
        written = f"{written:g}"
    declared: Any = Annotated[type_, typer.Option(_flag(parameter), help=text)]
    return Parameter(parameter.name, Parameter.KEYWORD_ONLY, default=written, annotation=declared)


def _value(parameter: Parameter, option_value: Any) -> Any:
    if _kind(parameter) == "list":
        return option_value or parameter.default
    none = "None" in _annotation(parameter)
    if option_value is None or (
        none and _kind(parameter) == "float" and option_value.lower() == "none"
    ):
        return None
    if parameter.name == "seed":
        return seed_of_text(option_value)
    if _kind(parameter) == "int":
        return io.parse_integer(option_value, _flag(parameter), 1, _MAX_INTEGER)
    if _kind(parameter) == "float":
        return io.parse_positive(
            option_value, _flag(parameter), "a positive number" + ", or 'none'" * none
        )
    return option_value


def _describe_option(parameter: Parameter, words: str) -> Parameter:
    """A parameter of a command's function, or a field of a group, as the table of words says."""
    option_text = {**_WORDS["any"], **_WORDS.get(words, {})}[parameter.name]
    flags, metavar, text = _OPTION_TEXT.fullmatch(option_text).groups()  # type: ignore[union-attr]
    if metavar is not None and not flags:
        declared: Any = typer.Argument(metavar=metavar or None, help=text)
    else:
        declared = typer.Option(*(flags.split() or [_flag(parameter)]), metavar=metavar, help=text)
    return parameter.replace(
        kind=parameter.KEYWORD_ONLY, annotation=Annotated[parameter.annotation, declared]
    )


def in_groups(run: Callable[..., None], *group_names: str) -> Callable[..., None]:
    """`run` as typer takes it; a dataclass, and arguments of a function, are given as one value.

    `known`: parameters that are nobody's options.
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    words = getattr(run, "func", run).__name__
    for parameter in inspect.signature(run, eval_str=True).parameters.values():
        group: Any = parameter.annotation
        (metadata,) = getattr(group, "__metadata__", (None,))
        if parameter.name in group_names:
            continue
        if isinstance(metadata, Arguments):
            fields, group = metadata.parameters(), metadata.values
        elif isinstance(group, type) and is_dataclass(group):
            group_parameters = inspect.signature(group, eval_str=True).parameters.values()
            fields = [_describe_option(parameter, group.__name__) for parameter in group_parameters]
        else:
            parameters.append(_describe_option(parameter, words))
            continue
        groups[parameter.name] = (group, [each.name for each in fields])
        parameters += fields

    def command(**arguments: Any) -> None:
        require_separate_outputs(arguments)
        groups_made = {
            name: group(**{key: arguments.pop(key) for key in keys})
            for name, (group, keys) in groups.items()
        }
        run(**arguments, **groups_made)

    return asking_for(parameters, command)


def require_separate_outputs(typed: Mapping[str, Any], outputs: Sequence[str] = _OUTPUTS) -> None:
    """Refuse a file to write that the command reads, or that it writes twice.

    Parameters
    ----------
    typed : mapping
        Parameter -> what was typed.
    outputs : sequence of str
        Parameters of files to write.
    """
    paths = {name: path for name, path in typed.items() if isinstance(path, Path)}
    for name in outputs:
        if name not in paths:
            continue
        for other, path in paths.items():
            if other != name and _are_same_file(paths[name], path):
                use = "writes this file twice" if other in outputs else "reads this file"
                raise InvalidInstance(f"{path}: the command {use}: expected another file to write")


def _are_same_file(first: Path, second: Path) -> bool:
    """Whether two paths name one file; a device or a pipe may be there twice."""
    try:
        if first.exists() and second.exists():
            return first.is_file() and first.samefile(second)
        return first.absolute() == second.absolute()
    except (OSError, ValueError):  # a name that no file can have: opening it says so
        return False


def asking_for(
    parameters: Sequence[Parameter], command: Callable[..., None]
) -> Callable[..., None]:
    """typer reads parameters off a signature, and has no public way to add one."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def adds(**commands: Callable[..., None]) -> Callable[[typer.Typer, str], None]:
    """``add(app, verb)`` of a module that has these verbs, with what the table says of each."""

    def add(app: typer.Typer, verb: str) -> None:
        app.command(verb, help=COMMANDS[verb].help)(in_groups(commands[verb]))

    return add


def adds_group(**commands: Callable[..., None]) -> Callable[[typer.Typer, str], None]:
    """The same of a module whose verb is a group of these commands."""

    flat_commands = {name: in_groups(run) for name, run in commands.items()}

    def add(app: typer.Typer, verb: str) -> None:
        group = typer.Typer(help=COMMANDS[verb].help, no_args_is_help=True)
        for name, run in flat_commands.items():
            group.command(name, help=COMMANDS[f"{verb} {name}"].help)(run)
        app.add_typer(group, name=verb)

    return add
