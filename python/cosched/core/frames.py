"""Checks of tables that users pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd


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
