"""Types of options: what a help text calls a value, and how it is read.

An error is one line that names the option. What reads a value is imported when there is a value, so
that a help text needs no import.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

import click

from cosched.errors import InvalidInstance, no_folder_for, printable, shorten

#: The largest integer of options that count something.
MAX_COUNT = 10**6
#: The largest seed: that of a signed integer of 64 bits.
MAX_SEED = 2**63 - 1

#: Words that stand for themselves in what a help text calls a value.
_LITERAL_WORDS = ("auto", "best", "bound", "host", "none", "unit")

ValueType = TypeVar("ValueType")


def option_name(parameter: click.Parameter | None) -> str:
    """How messages call a parameter: its longest name, such as ``--seed``."""
    if parameter is None:
        return "value"
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    return max(parameter.opts, key=len)


class TextType(click.ParamType, Generic[ValueType]):
    """The root of our types: reads a text; a default that is no text is the value itself."""

    @abstractmethod
    def read(self, text: str, name: str) -> ValueType:
        """Return the value of a text, which the option of this name has."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """What a help text calls the value: ``TIME|auto``, with kinds in capital letters."""
        del param, ctx
        words = self.name.split("|")
        return "|".join(word if word in _LITERAL_WORDS else word.upper() for word in words)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> ValueType:
        return self.read(value, option_name(param)) if isinstance(value, str) else value


class Integer(TextType[int]):
    """An integer in a range."""

    name = "integer"

    def __init__(self, minimum: int = 1, maximum: int = MAX_COUNT) -> None:
        self.minimum, self.maximum = minimum, maximum

    def read(self, text: str, name: str) -> int:
        from cosched import io

        return io.parse_integer(text, name, self.minimum, self.maximum)


class AnyInteger(TextType[int]):
    """An integer whose range the library checks, with a message of its own."""

    name = "integer"

    def read(self, text: str, name: str) -> int:
        from cosched import io

        try:
            if io.is_number(text):
                return int(text)
        except ValueError:
            pass
        raise InvalidInstance(f"{name} {shorten(text)}: expected an integer")


class Number(TextType[float]):
    """A number; with `low` and `high` one between them, `high` excluded, and `low` as well
    unless `includes_low`."""

    name = "number"

    def __init__(
        self, low: float = -math.inf, high: float = math.inf, *, includes_low: bool = False
    ) -> None:
        self.low, self.high = low, high
        self.includes_low = includes_low

    @property
    def expected(self) -> str:
        """What a message expects."""
        if math.isfinite(self.high):
            return f"a number between {self.low:g} and {self.high:g}"
        if self.includes_low:
            return f"a number >= {self.low:g}"
        return "a positive number" if self.low == 0 else "a number"

    def read(self, text: str, name: str) -> float:
        from cosched import io

        value = io.parse_number(text, name, self.expected)
        is_large_enough = value >= self.low if self.includes_low else value > self.low
        if not (is_large_enough and value < self.high):
            raise InvalidInstance(f"{name}: {shorten(text)}: expected {self.expected}")
        return value


class NumberOrNone(TextType["float | None"]):
    """A positive number, or the word ``none``."""

    name = "number|none"

    def read(self, text: str, name: str) -> float | None:
        from cosched import io

        if text.lower() == "none":
            return None
        return io.parse_positive(text, name, "a positive number, or 'none'")


class Seconds(TextType["float | None"]):
    """A time: a number of seconds, or one with units as ``5m`` and ``1h30m``.

    Where `allows_none`, the word ``none`` stands for a time without a limit.
    """

    name = "seconds"

    def __init__(
        self, *, allows_none: bool = False, allows_zero: bool = False, allows_negative: bool = False
    ) -> None:
        self.allows_none = allows_none
        self.minimum = -math.inf if allows_negative else 0.0
        self.is_minimum_allowed = allows_zero

    def read(self, text: str, name: str) -> float | None:
        from cosched import io
        from cosched.units import parse_duration

        if self.allows_none and text.lower() == "none":
            return None
        seconds = parse_duration(text)
        if seconds is None:
            seconds = io.parse_number(text, name, self.expected)
        if not self._is_allowed(seconds):
            raise InvalidInstance(f"{name}: {shorten(text)}: expected {self.expected}")
        return seconds

    def _is_allowed(self, seconds: float) -> bool:
        return seconds > self.minimum or (self.is_minimum_allowed and seconds == self.minimum)

    @property
    def expected(self) -> str:
        """What a message expects."""
        if self.is_minimum_allowed:
            return "a number >= 0 of seconds, or 5m"
        sign = "" if self.minimum < 0 else "positive "
        return f"a {sign}number of seconds, 5m" + (", or 'none'" if self.allows_none else "")


class CommaList(TextType["list[Any]"]):
    """Values of another type with commas between them."""

    def __init__(self, item_type: TextType[Any]) -> None:
        self.item_type = item_type
        self.name = f"{item_type.name},..."

    def read(self, text: str, name: str) -> list[Any]:
        return [self.item_type.read(part, name) for part in text.split(",")]


class Text(TextType[str]):
    """A text, in lists of texts; `name` is what a help text calls it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, text: str, name: str) -> str:
        return text


class VariantValues(tuple[tuple[str, Any], ...]):
    """Values of an option, each behind its text; ``compare`` makes one instance of each."""


class Variants(TextType[VariantValues]):
    """Values of another type with commas between them."""

    def __init__(self, item_type: TextType[Any]) -> None:
        self.item_type = item_type
        self.name = f"{item_type.name},..."

    def read(self, text: str, name: str) -> VariantValues:
        return VariantValues((part, self.item_type.read(part, name)) for part in text.split(","))


class Words(click.Choice):
    """One of some words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            expected = ", ".join(map(str, self.choices))
            near_words = get_close_matches(str(value), self.choices)
            near = f" (near: {', '.join(near_words)})" if near_words else ""
            raise InvalidInstance(
                f"{option_name(param)} {shorten(value)}: expected one of {expected}{near}"
            )
        return str(value)


class ParsedByLibrary(TextType[Any]):
    """A text that a function of the package reads.

    Parameters
    ----------
    name : str
        What a help text calls the value, such as ``cpus,gpus``.
    place : str
        ``module:function``; imported when there is a value.
    """

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place

    def read(self, text: str, name: str) -> Any:
        module, _, function_name = self.place.partition(":")
        parse: Callable[[str], Any] = getattr(import_module(module), function_name)
        try:
            return parse(text)
        except InvalidInstance as error:
            raise InvalidInstance(f"{name} {text}: {error}") from None
        except ValueError:
            raise InvalidInstance(f"{name} {shorten(text)}: expected another form") from None


class InputPath(TextType[Path]):
    """A file or a folder to read; `name` says which."""

    def __init__(self, name: str = "file") -> None:
        self.name = name

    def read(self, text: str, name: str) -> Path:
        return Path(text)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class OutputFile(InputPath):
    """A file to write, whose name has one of some endings.

    A bad name is refused before the work, not after it.
    """

    def __init__(self, *suffixes: str) -> None:
        super().__init__("file")
        self.suffixes = suffixes

    def read(self, text: str, name: str) -> Path:
        path = Path(text)
        if self.suffixes:
            check_output(path, self.suffixes, name)
        return path


class OutputFolder(OutputFile):
    """A folder to write into, or to make."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "folder"


def check_output(path: Path, suffixes: Sequence[str], name: str = "-o") -> None:
    """Refuse the name of a file that could not be written, or whose format is not known.

    Parameters
    ----------
    path : Path
        As somebody gave it.
    suffixes : sequence of str
        The endings of the formats that can be written.
    name : str
        How the message calls the option.
    """
    from cosched.io.limit import require_length

    require_length(path)
    if path.suffix not in suffixes:
        raise InvalidInstance(
            f"{name} {printable(path)}: unsupported format (use {' or '.join(suffixes)})"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{printable(path)}: is a folder: expected the name of a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(no_folder_for(path))
