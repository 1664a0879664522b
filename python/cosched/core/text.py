"""Texts of messages and labels that several rooms need."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from cosched.errors import InvalidInstance, shorten


def unknown_name(what: str, name: Any, known: Iterable[str]) -> str:
    """The message about a name that is not there: near ones, else the first of the known."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=5, cutoff=0.4)
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    hint = f"near: {', '.join(near)}" if near else f"known: {shown}"
    return f"unknown {what} {shorten(name)} ({hint})"


def labels(
    given: Sequence[str] | None, count: int, kind: str, what: str = "names"
) -> tuple[str, ...]:
    """The given labels of `count` things of a kind as texts; without any, "kind 0", "kind 1", ...

    An empty kind leaves the numbers.
    """
    if given is None:
        return tuple(f"{kind} {k}".lstrip() for k in range(count))
    if not isinstance(given, Iterable):
        raise InvalidInstance(f"{what} = {shorten(given)}: expected a text for each of {count}")
    texts = tuple(map(str, islice(given, count + 1)))  # what is given may have no end
    if len(texts) != count:
        if isinstance(given, (list, tuple)):
            size = str(len(given))
        else:
            size = f"more than {count}" if len(texts) > count else str(len(texts))
        raise InvalidInstance(f"{what} has {size} entries for {count} {kind}s")
    return texts


def texts(given: Any, what: str) -> list[str]:
    """Names that a caller lists; InvalidInstance for anything else than texts."""
    known = [given] if isinstance(given, str) else given
    if not isinstance(known, Iterable):
        raise InvalidInstance(f"{what} = {shorten(given)}: expected a list of texts")
    found = []
    for name in known:
        if not isinstance(name, str):
            raise InvalidInstance(f"{what}: {shorten(name)}: expected a text")
        found.append(name)
    return found


def not_read(what: str, names: Iterable[Any]) -> list[str]:
    """A note about columns or fields of a file that nothing reads; none where all have no name.

    Examples
    --------
    >>> not_read("columns", ["colour", ""])
    ["columns that are not read: 'colour'"]
    """
    shown = [shorten(str(name)) for name in names if str(name)]
    return [f"{what} that are not read: {', '.join(shown)}"] if shown else []


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def percent(share: float) -> str:
    """A gap: percent above the bound, or how many times the bound where it is far."""
    if math.isnan(share):
        return "-"
    if 1e-9 < share < 5e-5:
        return "<0.01%"
    return f"{100 * share:.2f}%" if share < 1 else f"{share + 1:,.1f} x"


def listed(names: Sequence[str], most: int = 6) -> str:
    """The first of some names, and how many more."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
