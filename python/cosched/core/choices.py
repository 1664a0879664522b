"""Options that are names of a list in the core."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cosched.errors import InvalidInstance, shorten


def named(value: Any, name: str, values: Any) -> Any:
    """The entry of the core's list `values` that is called `value`."""
    known = values.__members__
    return known[one_of(value, name, known)]


def one_of(value: Any, name: str, known: Iterable[str]) -> str:
    """`value`, which is one of these words."""
    if not isinstance(value, str) or value not in known:
        raise InvalidInstance(f"{name} = {shorten(value)}: expected one of {', '.join(known)}")
    return value
