"""Tables that are whole on any screen: columns are stacked or wrapped, never cut."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosched.core.text import percent
from cosched.errors import printable
from cosched.lazy import pd
from cosched.units import format_duration

if TYPE_CHECKING:
    from rich.console import Console

#: A word of a column's name: the 95th percentile.
_PERCENTILE = re.compile(r"p[0-9]+")
#: So many blanks are between two cells.
_PAD = 3
#: Of a pipe or a file: there is no screen to fit.
_ENDLESS = 100_000


@dataclass(frozen=True)
class ScreenColumn:
    """A column of a table on the screen: its title and cells as text."""

    #: The heading.
    title: str
    #: One text per row.
    cells: Sequence[str]
    #: Whether the cells are aligned at their right end.
    right: bool = False

    @property
    def width(self) -> int:
        """Characters of the widest cell or title."""
        return max(map(len, (self.title, *self.cells)))

    @property
    def least(self) -> int:
        """The same with the title broken at its blanks."""
        return max(map(len, (*self.title.split(), *self.cells)))


def column(title: str, values: Sequence[Any]) -> ScreenColumn:
    """A column of values; numbers stand to the right."""
    right = all(isinstance(value, (int, float)) for value in values)
    return ScreenColumn(printable(title), [cell(title, value) for value in values], right)


def title_of(name: str) -> str:
    """The title of a column of a table: ``p95_wait`` is "P95 wait"."""
    words = name.split("_")
    return " ".join(word.upper() if _PERCENTILE.fullmatch(word) else word for word in words)


def columns_of(frame: pd.DataFrame) -> list[ScreenColumn]:
    """The columns of a table as text."""
    return [column(str(name), frame[name].tolist()) for name in frame.columns]


def cell(title: str, value: Any) -> str:
    """One value as text; nan is a dash."""
    if not isinstance(value, float):
        return printable(value)
    if math.isnan(value):
        return "-"
    if title.endswith("gap"):
        return percent(value)
    if title.endswith("wait"):
        return format_duration(value)
    return f"{value:.3g}" if title == "seconds" else f"{value:.6g}"


def console() -> Console:
    """Where tables go: as wide as the screen, or as ``COLUMNS`` says; a pipe has no end."""
    from rich.console import Console

    screen = Console()
    width = os.environ.get("COLUMNS", "")
    return screen if screen.is_terminal or width.isdecimal() else Console(width=_ENDLESS)


def show(
    title: str, columns: Sequence[ScreenColumn], *, keys: int = 1, ends: Sequence[int] = ()
) -> None:
    """Print a table; where the screen is too narrow, in several parts one below the other.

    The first `keys` columns stand in each part; texts are folded where they leave no room for one
    of the others. `ends` are the last rows of groups.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    screen = console()
    screen.print(Text(printable(title), style="bold"))
    for number, (part, fits) in enumerate(_parts(columns, keys, screen.width + _PAD)):
        if number:
            screen.print()
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for column, width in part:
            table.add_column(
                Text(column.title),
                width=width if fits or column.right else None,
                overflow="fold",
                justify="right" if column.right else "left",
            )
        for row in range(len(columns[0].cells)):
            cells = (Text(column.cells[row]) for column, _ in part)
            table.add_row(*cells, end_section=row in ends)
        screen.print(table)


def _parts(
    columns: Sequence[ScreenColumn], keys: int, room: int
) -> Iterator[tuple[list[tuple[ScreenColumn, int]], bool]]:
    """Yield columns with their widths, in as few parts as have room, keys in each; and if it
    has."""
    widths = [c.width for c in columns]
    if sum(widths) + _PAD * len(widths) > room:
        widths = [c.least for c in columns]
    sized = list(zip(columns, widths, strict=True))

    def size(part: list[tuple[ScreenColumn, int]]) -> int:
        return sum(width + _PAD for _, width in part)

    part = sized[:keys]
    for column in sized[keys:]:
        if len(part) > keys and size([*part, column]) > room:
            yield part, size(part) <= room
            part = sized[:keys]
        part = [*part, column]
    yield part, size(part) <= room
