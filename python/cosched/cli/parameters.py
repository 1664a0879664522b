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

_MOST = 10**6
#: Parameters of commands that are files to write; other paths are read.
_OUTPUTS = ("output", "picture", "as_json", "metrics")
_WORDS = table("options.toml")
#: Flags, how an argument or a value is called, and what it means.
_SAID = re.compile(r"((?:-\S+ )*)(?:<([^>]*)> )?(.*)")
#: An entry of a docstring's section: names, type, text.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*)\n((?: {4}.*\n?)*)", re.MULTILINE)


class Arguments:
    """Some keyword arguments of a function, or of a class.

    ``limit_factor: float | None = None`` is ``--limit-factor``, a number or ``none``; of texts
    (``Iterable[str]``) it may be there several times. A command has them as a parameter
    ``Annotated[dict, Arguments(run, "limit_factor")]``.
    """

    def __init__(self, function: Callable[..., Any], *names: str) -> None:
        known = inspect.signature(function).parameters
        self._own = [known[name] for name in names]
        self._explained = _explained(function)
        self.names = names

    def parameters(self) -> list[Parameter]:
        """What typer is to ask for."""
        return [_option(of, self._explained[of.name]) for of in self._own]

    def values(self, **typed: Any) -> dict[str, Any]:
        """What the function takes, of what was typed."""
        return {of.name: _value(of, typed[of.name]) for of in self._own}


def _explained(function: Callable[..., Any]) -> dict[str, str]:
    """Name -> the first sentence that a docstring says of it, with the values it may have."""
    found = {}
    for names, type_, text in _ENTRY.findall(inspect.getdoc(function) or ""):
        words = re.sub(r":\w+:`|`", "", " ".join(text.split()))
        sentence = re.split(r"(?<=\.) ", words)[0]
        choices = ", ".join(re.findall(r"\w+", type_)) if type_.startswith("{") else ""
        for name in names.split(", "):
            found[name] = f"{choices}: {sentence}" if choices else sentence
    return found


def _kind(of: Parameter) -> str:
    """One of bool, int, float, path, list, str."""
    known = {"PathLike": "path", "Iterable[str]": "list"}
    told = (kind for part, kind in known.items() if part in _annotation(of))
    return next(told, _annotation(of).partition(" ")[0])


def _annotation(of: Parameter) -> str:
    written = of.annotation
    return written if isinstance(written, str) else inspect.formatannotation(written)


def _flag(of: Parameter) -> str:
    return f"--{of.name.replace('_', '-')}"


def _option(of: Parameter, text: str) -> Parameter:
    types: dict[str, Any] = {"bool": bool, "path": Path | None, "list": list[str] | None}
    type_: Any = types.get(_kind(of), str | None)
    written = of.default
    if _kind(of) == "list" or written is of.empty:
        written = None
    elif isinstance(written, (int, float)) and not isinstance(written, bool):
        written = f"{written:g}"
    declared: Any = Annotated[type_, typer.Option(_flag(of), help=text)]
    return Parameter(of.name, Parameter.KEYWORD_ONLY, default=written, annotation=declared)


def _value(of: Parameter, typed: Any) -> Any:
    if _kind(of) == "list":
        return typed or of.default
    none = "None" in _annotation(of)
    if typed is None or (none and _kind(of) == "float" and typed.lower() == "none"):
        return None
    if of.name == "seed":
        return seed_of_text(typed)
    if _kind(of) == "int":
        return io.parse_integer(typed, _flag(of), 1, _MOST)
    if _kind(of) == "float":
        return io.parse_positive(typed, _flag(of), "a positive number" + ", or 'none'" * none)
    return typed


def _own(of: Parameter, words: str) -> Parameter:
    """A parameter of a command's function, or a field of a group, as the table of words says."""
    said = {**_WORDS["any"], **_WORDS.get(words, {})}[of.name]
    flags, called, text = _SAID.fullmatch(said).groups()  # type: ignore[union-attr]
    if called is not None and not flags:
        declared: Any = typer.Argument(metavar=called or None, help=text)
    else:
        declared = typer.Option(*(flags.split() or [_flag(of)]), metavar=called, help=text)
    return of.replace(kind=of.KEYWORD_ONLY, annotation=Annotated[of.annotation, declared])


def in_groups(run: Callable[..., None], *known: str) -> Callable[..., None]:
    """`run` as typer takes it; a dataclass, and arguments of a function, are given as one value.

    `known`: parameters that are nobody's options.
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    words = getattr(run, "func", run).__name__
    for of in inspect.signature(run, eval_str=True).parameters.values():
        group: Any = of.annotation
        (metadata,) = getattr(group, "__metadata__", (None,))
        if of.name in known:
            continue
        if isinstance(metadata, Arguments):
            fields, group = metadata.parameters(), metadata.values
        elif isinstance(group, type) and is_dataclass(group):
            own = inspect.signature(group, eval_str=True).parameters.values()
            fields = [_own(each, group.__name__) for each in own]
        else:
            parameters.append(_own(of, words))
            continue
        groups[of.name] = (group, [each.name for each in fields])
        parameters += fields

    def command(**given: Any) -> None:
        require_separate_outputs(given)
        made = {
            name: group(**{key: given.pop(key) for key in keys})
            for name, (group, keys) in groups.items()
        }
        run(**given, **made)

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

    made = {name: in_groups(run) for name, run in commands.items()}

    def add(app: typer.Typer, verb: str) -> None:
        group = typer.Typer(help=COMMANDS[verb].help, no_args_is_help=True)
        for name, run in made.items():
            group.command(name, help=COMMANDS[f"{verb} {name}"].help)(run)
        app.add_typer(group, name=verb)

    return add
