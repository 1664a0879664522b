"""Checks of tables that users pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosched.errors import InvalidInstance

if TYPE_CHECKING:
    import pandas as pd


def require_columns(frame: pd.DataFrame, columns: tuple[str, ...], argument: str) -> None:
    """InvalidInstance unless `frame` is a table with these columns."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise InvalidInstance(f"{argument}: expected a table, got {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InvalidInstance(
            f"{argument}: lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}"
        )
