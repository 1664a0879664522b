"""Texts of messages, labels of things and of tables that several rooms need."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from os import PathLike
from typing import Any

from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd


def unknown_name(what: str, name: Any, known: Iterable[str]) -> str:
    """The message about a name that is not there: near ones, else the first of the known."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=5, cutoff=0.4)
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    hint = f"near: {', '.join(near)}" if near else f"known: {shown}"
    return f"unknown {what} {shorten(name)} ({hint})"


def count_of(number: int, noun: str) -> str:
    """A number with its noun in the singular or plural.

    Examples
    --------
    >>> count_of(1, "job"), count_of(1200, "job")
    ('1 job', '1,200 jobs')
    """
    return f"{number:,} {noun if number == 1 else noun + 's'}"


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
    """A note about columns or fields of a file that nothing reads; none where all have no name."""
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


def require_columns(frame: pd.DataFrame, columns: tuple[str, ...], argument: str) -> None:
    """InvalidInstance unless `frame` is a table with these columns."""
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInstance(f"{argument}: expected a table, got {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InvalidInstance(
            f"{argument}: lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}"
        )


def rows_named(table: Any, names: Any) -> Any:
    """`names`; without any the index of a DataFrame, where it is more than pandas' numbering."""
    return _said(table, "index") if names is None else names


def columns_named(table: Any, names: Any) -> Any:
    """The same of its columns."""
    return _said(table, "columns") if names is None else names


def require_same_labels(table: Any, other: Any, name: str, other_name: str) -> None:
    """InvalidInstance where two DataFrames have labels, and not the same in the same order."""
    for axis in ("index", "columns"):
        one, two = _said(table, axis), _said(other, axis)
        if one is not None and two is not None and one != two:
            raise InvalidInstance(
                f"{other_name}: {axis} {shorten(two)}: expected those of {name}, {shorten(one)}"
            )


def require_labels(names: Any, tables: Mapping[str, Any]) -> None:
    """InvalidInstance where a series or table has labels, and not these names in their order."""
    for what, table in tables.items():
        said = _said(table, "index")
        if said is not None and isinstance(names, (list, tuple)) and said != tuple(names):
            raise InvalidInstance(
                f"{what}: index {shorten(said)}: expected the names in their order, "
                f"{shorten(tuple(names))}"
            )


def require_names_of_file(names: Sequence[str], path: str | PathLike[str]) -> None:
    """InvalidInstance where a file would not give the names back as they are."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInstance(f"{path}: the name {shorten(name)} is there twice")
        if name != name.strip() and not str(path).endswith(".json"):
            raise InvalidInstance(
                f"{path}: the name {shorten(name)} has blanks at an end: expected .json"
            )
        seen.add(name)


def _said(table: Any, axis: str) -> tuple[str, ...] | None:
    if not (hasattr(table, "iloc") and hasattr(table, axis)):
        return None
    labels = list(getattr(table, axis))
    return None if labels == [*range(len(labels))] else tuple(map(str, labels))
