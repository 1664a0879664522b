"""Names and parameters of algorithms, as they are typed: ``--algorithms``, ``--option``."""

import ast
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from cosched.core import Family
from cosched.errors import InvalidInstance, shorten


def parse_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """Keyword arguments of texts ``KEY=VALUE``; a value is a Python literal, or a text."""
    parameters = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InvalidInstance(f"--option {shorten(text)}: expected KEY=VALUE")
        if value in ("true", "false"):  # as messages and TOML spell them
            value = value.capitalize()
        try:
            parameters[key.replace("-", "_")] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parameters[key.replace("-", "_")] = value
    return parameters


def require_name(option: str, names: Iterable[str]) -> NoReturn:
    """Refuse a command without an option that names one of some things."""
    raise InvalidInstance(f"{option} is missing: one of {', '.join(names)}")


def split_names(texts: Sequence[str], family: Family) -> list[str] | None:
    """The names of texts with commas between names; None: no text.

    A text that names an algorithm as it is, commas included, is one name.
    """
    known_names = set(family.algorithms)
    names: list[str] = []
    for text in texts:
        names += [text] if text in known_names else text.split(",")
    return names or None
