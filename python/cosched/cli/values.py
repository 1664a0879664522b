"""What is typed after a verb: its types, and text as values; one clear line where it is wrong."""

import ast
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from cosched import io
from cosched.core import Argument, Presentation
from cosched.errors import InvalidInstance, no_folder_for, printable, shorten
from cosched.units import parse_duration

RESULTS = (".json", ".csv", ".md")
#: A schedule may be written as a trace, too.
SCHEDULES = (*RESULTS, ".paje")
PICTURES = (".png", ".svg", ".pdf")


def parse(argument: Argument, text: str) -> Any:
    try:
        if argument.parse in (int, float) and not io.is_number(text):
            raise ValueError  # Python takes 1_0, nan and digits of other alphabets too
        return argument.parse(text)
    except InvalidInstance as error:
        raise InvalidInstance(f"{argument.flag} {text}: {error}") from None
    except ValueError:
        kind = {"int": "an integer", "float": "a number"}.get(
            argument.parse.__name__, "another form"
        )
        raise InvalidInstance(f"{argument.flag} {shorten(text)}: expected {kind}") from None


def read(of: Presentation, file: Path, arguments: dict[str, Any]) -> Any:
    """The one instance that file and arguments describe."""
    values = {}
    for argument in of.arguments:
        value = arguments.get(argument.keyword)
        if value is not None and value is not False:  # what is not given keeps its default
            values[argument.keyword] = value if isinstance(value, bool) else parse(argument, value)
    return of.family.instance_type.read(file, **values)  # type: ignore[attr-defined]


def read_all(
    of: Presentation, file: Path, arguments: dict[str, Any]
) -> list[tuple[dict[str, Any], Any]]:
    """Instances for every combination of comma-separated values: ({keyword: value}, instance)."""
    varied = {
        argument.keyword: arguments[argument.keyword].split(",")
        for argument in of.arguments
        if argument.vary and arguments.get(argument.keyword) and "," in arguments[argument.keyword]
    }
    option_errors = []
    for values in product(*varied.values()):
        chosen = dict(zip(varied, values, strict=True))
        option_errors.append((chosen, read(of, file, {**arguments, **chosen})))
    return option_errors


def parse_options(option_texts: Sequence[str] | None) -> dict[str, Any]:
    options = {}
    for text in option_texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InvalidInstance(f"--option {shorten(text)}: expected KEY=VALUE")
        if value in ("true", "false"):  # as messages and TOML spell them
            value = value.capitalize()
        try:
            options[key.replace("-", "_")] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[key.replace("-", "_")] = value
    return options


def seed_of_text(text: str) -> int:
    return io.parse_integer(text, "--seed", 0, 2**63 - 1)


def required(flag: str, names: Any) -> str:
    raise InvalidInstance(f"{flag} is missing: one of {', '.join(names)}")


def time_limit_of_text(text: str) -> float | None:
    if text.lower() == "none":
        return None
    seconds = parse_duration(text)
    if seconds:
        return seconds
    return io.parse_positive(text, "--time-limit", "a positive number of seconds, 5m, or 'none'")


def check_files(*files: tuple[Path | None, tuple[str, ...]]) -> None:
    """Refuse a bad output name before the work, not after it."""
    for path, suffixes in files:
        if path is None:
            continue
        io.check_suffix(path, suffixes)
        if path.is_dir():
            raise IsADirectoryError(f"{printable(path)}: is a folder: expected the name of a file")
        if not path.parent.is_dir():
            raise FileNotFoundError(no_folder_for(path))
