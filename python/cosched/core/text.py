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
from cosched.notes import Note, NoteKind


def unknown_name(what: str, name: object, valid_names: Iterable[str]) -> str:
    """The message about a name that is not there: near ones, else the first of the known."""
    names = list(valid_names)
    near = difflib.get_close_matches(str(name), names, n=5, cutoff=0.4)
    listed_names = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    hint = f"near: {', '.join(near)}" if near else f"known: {listed_names}"
    return f"unknown {what} {shorten(name)} ({hint})"


def count_of(number: int, noun: str) -> str:
    """A number with its noun in the singular or plural.

    Examples
    --------
    >>> count_of(1, "job"), count_of(1200, "job")
    ('1 job', '1,200 jobs')
    """
    return f"{number:,} {noun_for(number, noun)}"


def noun_for(number: int, noun: str) -> str:
    """Return a noun in the singular for one thing, else in the plural."""
    return noun if number == 1 else f"{noun}s"


def labels(
    names: Sequence[str] | None, count: int, kind: str, what: str = "names"
) -> tuple[str, ...]:
    """The given labels of `count` things of a kind as texts; without any, "kind 0", "kind 1", ...

    An empty kind leaves the numbers.
    """
    if names is None:
        return tuple(f"{kind} {k}".lstrip() for k in range(count))
    if not isinstance(names, Iterable):
        raise InvalidInstance(f"{what} = {shorten(names)}: expected a text for each of {count}")
    texts = tuple(map(str, islice(names, count + 1)))  # what is given may have no end
    if len(texts) != count:
        if isinstance(names, (list, tuple)):
            size = str(len(names))
        else:
            size = f"more than {count}" if len(texts) > count else str(len(texts))
        raise InvalidInstance(f"{what} has {size} entries for {count} {kind}s")
    return texts


def texts(names: object, what: str) -> list[str]:
    """Names that a caller lists; InvalidInstance for anything else than texts."""
    name_list = [names] if isinstance(names, str) else names
    if not isinstance(name_list, Iterable):
        raise InvalidInstance(f"{what} = {shorten(names)}: expected a list of texts")
    checked_names = []
    for name in name_list:
        if not isinstance(name, str):
            raise InvalidInstance(f"{what}: {shorten(name)}: expected a text")
        checked_names.append(name)
    return checked_names


def not_read(what: str, names: Iterable[object]) -> list[Note]:
    """A note about columns or fields of a file that nothing reads; none where all have no name."""
    names_shown = [shorten(str(name)) for name in names if str(name)]
    if not names_shown:
        return []
    text = f"{what} that are not read: {', '.join(names_shown)}"
    subject = ", ".join(str(name) for name in names if str(name))
    return [Note(NoteKind.NOT_READ, text, subject=subject, count=len(names_shown))]


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def percent(share: float) -> str:
    """A gap (value / bound - 1) or another share in percent; "-" where it is not known.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 1e-6, 0.0123, 2.5, 10.46, math.inf, math.nan)]
    ['0.00%', '<0.01%', '1.23%', '250%', '1,046%', 'inf', '-']
    """
    if math.isnan(share):
        return "-"
    if math.isinf(share):
        return "inf"
    if 1e-9 < share < 5e-5:
        return "<0.01%"
    return f"{100 * share:.2f}%" if share < 1 else f"{100 * share:,.0f}%"


def listed(names: Sequence[str], most: int = 6) -> str:
    """The first of some names, and how many more."""
    rest_words = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest_words


def require_columns(frame: pd.DataFrame, columns: tuple[str, ...], argument: str) -> None:
    """InvalidInstance unless `frame` is a table with these columns."""
    if not isinstance(frame, pd.DataFrame):
        raise InvalidInstance(f"{argument}: expected a table, got {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InvalidInstance(
            f"{argument}: lacks the {noun_for(len(missing), 'column')} {', '.join(missing)}"
        )


def rows_named(table: object, names: object) -> Any:
    """`names`; without any the index of a DataFrame, where it is more than pandas' numbering."""
    return _axis_labels(table, "index") if names is None else names


def columns_named(table: object, names: object) -> Any:
    """The same of its columns."""
    return _axis_labels(table, "columns") if names is None else names


def require_same_labels(table: object, other: object, name: str, other_name: str) -> None:
    """InvalidInstance where two DataFrames have labels, and not the same in the same order."""
    for axis in ("index", "columns"):
        labels_of_table, labels_of_other = _axis_labels(table, axis), _axis_labels(other, axis)
        if (
            labels_of_table is not None
            and labels_of_other is not None
            and labels_of_table != labels_of_other
        ):
            raise InvalidInstance(
                f"{other_name}: {axis} {shorten(labels_of_other)}: expected those of {name}, "
                f"{shorten(labels_of_table)}"
            )


def require_labels(names: object, tables: Mapping[str, object]) -> None:
    """InvalidInstance where a series or table has labels, and not these names in their order."""
    for what, table in tables.items():
        axis_labels = _axis_labels(table, "index")
        if (
            axis_labels is not None
            and isinstance(names, (list, tuple))
            and axis_labels != tuple(names)
        ):
            raise InvalidInstance(
                f"{what}: index {shorten(axis_labels)}: expected the names in their order, "
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


def _axis_labels(table: object, axis: str) -> tuple[str, ...] | None:
    if not (hasattr(table, "iloc") and hasattr(table, axis)):
        return None
    labels = list(getattr(table, axis))
    return None if labels == [*range(len(labels))] else tuple(map(str, labels))
