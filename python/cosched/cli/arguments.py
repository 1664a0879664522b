"""Arguments of functions as options of commands: a signature declares them, its docstring explains.

So an option that a function has is written once, and the command line cannot say something else.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from cosched import io
from cosched.cli.values import seed_of_text

_MOST = 10**6
#: An entry of a docstring's section: names, type, text.
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*)\n((?: {4}.*\n?)*)", re.MULTILINE)


class Arguments:
    """Some keyword arguments of a function, or of a class, whose annotations are texts.

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
    told = (kind for part, kind in known.items() if part in of.annotation)
    return next(told, of.annotation.partition(" ")[0])


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
    none = "None" in of.annotation
    if typed is None or (none and _kind(of) == "float" and typed.lower() == "none"):
        return None
    if of.name == "seed":
        return seed_of_text(typed)
    if _kind(of) == "int":
        return io.parse_integer(typed, _flag(of), 1, _MOST)
    if _kind(of) == "float":
        return io.parse_positive(typed, _flag(of), "a positive number" + ", or 'none'" * none)
    return typed
