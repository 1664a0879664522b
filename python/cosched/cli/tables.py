"""Tables that are whole on any screen: columns are stacked or wrapped, never cut."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosched.core.text import percent
from cosched.errors import printable
from cosched.lazy import pd

if TYPE_CHECKING:
    from rich.console import Console

#: So many blanks are between two cells.
_PAD = 3
#: No column is folded to less than this.
_LEAST = 8
#: Of a pipe or a file: there is no screen to fit.
_ENDLESS = 100_000


@dataclass(frozen=True)
class Column:
    """A column of a table on the screen: its title and cells as text."""

    title: str
    cells: Sequence[str]
    right: bool = False

    @property
    def width(self) -> int:
        """Characters of the widest cell or title."""
        return max(map(len, (self.title, *self.cells)))

    @property
    def least(self) -> int:
        """The same with the title broken at its blanks."""
        return max(map(len, (*self.title.split(), *self.cells)))


def column(title: str, values: Sequence[Any]) -> Column:
    """A column of values; numbers stand to the right."""
    right = all(isinstance(value, (int, float)) for value in values)
    return Column(printable(title), [cell(title, value) for value in values], right)


def columns_of(frame: pd.DataFrame) -> list[Column]:
    """The columns of a table as text."""
    return [column(str(name), frame[name].tolist()) for name in frame.columns]


def cell(title: str, value: Any) -> str:
    """One value as text; nan is a dash."""
    if not isinstance(value, float):
        return printable(value)
    if math.isnan(value):
        return "-"
    if title == "gap":
        return percent(value)
    return f"{value:.3g}" if title == "seconds" else f"{value:.6g}"


def console() -> Console:
    """Where tables go: as wide as the screen, or as ``COLUMNS`` says; a pipe has no end."""
    from rich.console import Console

    screen = Console()
    width = os.environ.get("COLUMNS", "")
    return screen if screen.is_terminal or width.isdecimal() else Console(width=_ENDLESS)


def show(title: str, columns: Sequence[Column], *, keys: int = 1, ends: Sequence[int] = ()) -> None:
    """Print a table; where the screen is too narrow, in several parts one below the other.

    The first `keys` columns stand in each part; where they leave no room for the others, the rows
    are numbered and the numbers do (after the first column). `ends` are the last rows of groups.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    screen = console()
    room = screen.width + _PAD  # the last column has no blanks after it
    screen.print(Text(printable(title), style="bold"))
    if keys > 1 and _with_widest([c.least + _PAD for c in columns], keys) > room:
        numbers = column("row", range(1, len(columns[0].cells) + 1))
        columns, keys = [columns[0], numbers, *columns[1:]], 2
    for number, part in enumerate(_parts(columns, keys, room)):
        if number:
            screen.print()
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for of_part, width in part:
            head = Text(of_part.title)
            table.add_column(head, width=width, overflow="fold")
            table.columns[-1].justify = "right" if of_part.right else "left"
        for row in range(len(columns[0].cells)):
            cells = (Text(of_part.cells[row]) for of_part, _ in part)
            table.add_row(*cells, end_section=row in ends)
        screen.print(table)


def _with_widest(widths: Sequence[int], keys: int) -> int:
    """Width of the keys and any one of the others."""
    return sum(widths[:keys]) + max(widths[keys:], default=0)


def _parts(columns: Sequence[Column], keys: int, room: int) -> list[list[tuple[Column, int]]]:
    """Columns with their widths, in parts that fit: as few as possible, keys in each."""
    natural = [c.width + _PAD for c in columns]
    if sum(natural) <= room:
        return [[(c, width - _PAD) for c, width in zip(columns, natural, strict=True)]]
    widths = [c.least + _PAD for c in columns]
    if sum(widths) > room:
        widths = _folded(columns, widths, keys, room)
    first = sum(widths[:keys])
    parts: list[list[int]] = [[]]
    used = first
    for place in range(keys, len(columns)):
        if parts[-1] and used + widths[place] > room:
            parts.append([])
            used = first
        parts[-1].append(place)
        used += widths[place]
    return [[(columns[c], widths[c] - _PAD) for c in (*range(keys), *part)] for part in parts]


def _folded(columns: Sequence[Column], widths: list[int], keys: int, room: int) -> list[int]:
    """Widths with which the keys and any one column fit: the widest texts are folded."""
    found = list(widths)
    while (over := _with_widest(found, keys) - room) > 0:
        widest = max(range(keys, len(found)), key=lambda place: found[place], default=0)
        texts = [place for place in {*range(keys), widest} if not columns[place].right]
        place = max(texts or [widest], key=lambda place: found[place])
        if found[place] <= _LEAST + _PAD:
            break
        found[place] = max(found[place] - over, _LEAST + _PAD)
    return found
