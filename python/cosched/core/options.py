"""What functions take as options, and what families offer on the command line."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosched.errors import InvalidInstance, shorten


def by_name(module: object, names: str) -> dict[str, Callable[..., Any]]:
    """Public names -> functions of a module, which are called so with underscores."""
    return {name: getattr(module, name.replace("-", "_")) for name in names.split()}


@dataclass(frozen=True)
class Output:
    """A file of the family's own that ``cosched solve`` writes on request.

    Attributes
    ----------
    flag, keyword : str
        As typed (``--jobs``), and as a Python name (``jobs``).
    help : str
        One line for ``--help``.
    write : callable
        ``write(result, path)``.
    suffixes : tuple of str
        What the file's name may end in.
    options : mapping
        What the algorithm needs to be told for it, e.g. ``{"log": True}``.

    Examples
    --------
    >>> from cosched.registry import presentation
    >>> [output.flag for output in presentation("cluster").outputs]
    ['--log', '--jobs']
    """

    flag: str
    keyword: str
    help: str
    write: Callable[[Any, Path], None]
    suffixes: tuple[str, ...] = (".csv",)
    options: Mapping[str, Any] = field(default_factory=dict)


def accepted_options(function: Callable[..., object]) -> set[str] | None:
    """Parameters after the instance; None where the function takes any keyword.

    One that takes certain keywords beyond those of its signature names them as ``keywords``.
    """
    parameters = list(inspect.signature(function).parameters.values())[1:]
    keywords = getattr(function, "keywords", None)
    if any(p.kind is p.VAR_KEYWORD for p in parameters) and not isinstance(keywords, frozenset):
        return None
    return set(keywords if isinstance(keywords, frozenset) else ()) | {
        p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
    }


def named(value: object, name: str, values: Any) -> Any:
    """The entry of the core's list `values` that is called `value`."""
    members = values.__members__
    return members[one_of(value, name, members)]


def one_of(value: object, name: str, valid_values: Iterable[str]) -> str:
    """`value`, which is one of these words."""
    if not isinstance(value, str) or value not in valid_values:
        raise InvalidInstance(
            f"{name} = {shorten(value)}: expected one of {', '.join(valid_values)}"
        )
    return value
