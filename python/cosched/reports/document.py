"""A report: what a page, a JSON file and the terminal show alike.

A report holds the numbers as they were computed, with the kind of each column. The formats of
:mod:`cosched.reports.formats` turn them into text; nothing here computes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar

from cosched.notes import Note
from cosched.reports.formats import LEFT_ALIGNED_KINDS, format_value
from cosched.templates import render
from cosched.version import installed_version

#: Longer cells are broken at blanks, and anywhere where a word is as long.
_LONGEST_UNBROKEN_CELL = 18
#: The same of a word in a cell of words.
_LONGEST_UNBROKEN_WORD = 24
_TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class KeyFigure:
    """One number of the row above a report."""

    #: What the number is.
    label: str
    #: The number as it was computed; a text is shown as it is.
    value: Any
    #: A kind of :data:`cosched.reports.formats.FORMATS`.
    kind: str
    #: What the number is compared with, or of; may be empty.
    remark: str = ""

    @property
    def text(self) -> str:
        """The number as readers see it."""
        return format_value(self.value, self.kind)


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    #: The heading on the page.
    heading: str
    #: A kind of :data:`cosched.reports.formats.FORMATS`.
    kind: str = "text"
    #: The name of the column in JSON; the heading where it is empty.
    name: str = ""

    @property
    def is_left_aligned(self) -> bool:
        """Whether the column is of words."""
        return self.kind in LEFT_ALIGNED_KINDS


@dataclass(frozen=True)
class Cell:
    """A cell as a page shows it."""

    #: What the cell shows.
    text: str
    #: Classes of the style sheet; may be empty.
    css_class: str


@dataclass(frozen=True)
class Paragraph:
    """Sentences."""

    block: ClassVar[str] = "paragraph"
    #: The sentences.
    text: str
    #: Whether they are a remark in small type.
    is_small: bool = False
    #: Where the sentences lead, relative to the page; empty: nowhere.
    link: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of numbers and words."""

    block: ClassVar[str] = "table"
    #: The columns from left to right.
    columns: tuple[Column, ...]
    #: One value per column, as it was computed.
    rows: tuple[tuple[Any, ...], ...]
    #: The heading of the table; may be empty.
    title: str = ""
    #: What a reader needs to know to read the table.
    note: str = ""
    #: The number of the row that is emphasised.
    marked_row: int | None = None

    def cells(self) -> list[list[Cell]]:
        """The rows as a page shows them."""
        return [
            [_cell(value, column) for value, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def texts(self) -> list[list[str]]:
        """The rows as texts."""
        return [[cell.text for cell in row] for row in self.cells()]

    def records(self) -> list[dict[str, Any]]:
        """The rows as plain data, by the names of the columns."""
        names = [column.name or column.heading for column in self.columns]
        return [dict(zip(names, map(_plain, row), strict=True)) for row in self.rows]


def _cell(value: Any, column: Column) -> Cell:
    text = format_value(value, column.kind)
    if column.kind == "difference":
        return Cell(text, "difference")
    longest_word = max(map(len, text.split()), default=0)
    if column.is_left_aligned:
        return Cell(text, "words long" if longest_word > _LONGEST_UNBROKEN_WORD else "words")
    if len(text) <= _LONGEST_UNBROKEN_CELL:
        return Cell(text, "")
    return Cell(text, "long" if longest_word > _LONGEST_UNBROKEN_CELL else "phrase")


@dataclass(frozen=True)
class Lines:
    """Lines of a file, letter by letter."""

    block: ClassVar[str] = "lines"
    #: The lines with their line ends.
    text: str


@dataclass(frozen=True)
class Figure:
    """A drawing in SVG."""

    block: ClassVar[str] = "figure"
    #: The element ``svg`` with all that is in it.
    svg: str
    #: What the drawing shows.
    title: str
    #: Whether the drawing is left out on paper.
    is_for_screen: bool = False
    #: Whether the title stands above the drawing; else the drawing itself has it.
    has_caption: bool = True


@dataclass(frozen=True)
class StartBars:
    """Start times of jobs as bars on one logarithmic axis."""

    block: ClassVar[str] = "start_bars"
    #: One :class:`cosched.reports.when.StartRow` per pending job.
    rows: tuple[Any, ...]
    #: (text, position in percent)
    ticks: tuple[tuple[str, float], ...]
    #: Headings of the columns before the bars.
    columns: tuple[str, ...]


Block = Paragraph | Table | Lines | Figure | StartBars


@dataclass(frozen=True)
class Section:
    """A part of a report under a heading."""

    #: The heading; empty: the blocks belong to the section before.
    heading: str
    #: What the section shows, from top to bottom.
    blocks: tuple[Block, ...]
    #: Whether the blocks stand in two columns where there is room.
    has_two_columns: bool = False
    #: Class of the part in the style sheet.
    css_class: str = ""


@dataclass(frozen=True)
class Report:
    """A report, from its title to the notes on its data.

    Attributes
    ----------
    kind : str
        The command that makes such reports.
    title : str
        What the report is of.
    subtitle : str
        The time that it is about, and how large the machine is.
    lead : str
        The answer in one or two sentences.
    key_figures : tuple of KeyFigure
    sections : tuple of Section
    notes : tuple of Note
        What was ignored, and what was assumed.
    warning : str
        What readers have to know before anything else; may be empty.
    notes_heading : str
        The heading of the notes.
    version : str
        The version of cosched that wrote the report.
    """

    kind: str
    title: str
    subtitle: str = ""
    lead: str = ""
    key_figures: tuple[KeyFigure, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[Note, ...] = ()
    notes_heading: str = "Data notes: what was ignored, and what was assumed"
    warning: str = ""
    #: Seconds since 1970 of what the report is about; None: the subtitle has no moment.
    snapshot_time: float | None = None
    #: Names of files of the folder of templates: programs of the page.
    script_files: tuple[str, ...] = ()
    version: str = field(default_factory=installed_version)

    @property
    def snapshot_date(self) -> str:
        """The moment in UTC, as programs of a page read it; empty without one."""
        if self.snapshot_time is None:
            return ""
        date = datetime.fromtimestamp(math.floor(self.snapshot_time), tz=timezone.utc)
        return date.strftime("%Y-%m-%dT%H:%M:%SZ")

    def to_html(self) -> str:
        """The report as one page that needs no network."""
        return render("report.html.j2", _TEMPLATES, report=self)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data: seconds, and shares between 0 and 1; without drawings."""
        return {
            "kind": self.kind,
            "title": self.title,
            "subtitle": self.subtitle,
            "lead": self.lead,
            "key_figures": [
                {"label": figure.label, "value": _plain(figure.value), "text": figure.text}
                for figure in self.key_figures
            ],
            "tables": [
                {"title": table.title or section.heading, "rows": table.records()}
                for section in self.sections
                for table in section.blocks
                if isinstance(table, Table)
            ],
            "notes": [note.text for note in self.notes],
            "note_records": [note.record() for note in self.notes],
            "version": self.version,
        }

    def to_text(self) -> str:
        """The answer and the key figures as lines of a terminal."""
        width = max((len(figure.label) for figure in self.key_figures), default=0)
        lines = [self.title, self.subtitle, self.lead]
        for figure in self.key_figures:
            remark = f" ({figure.remark})" if figure.remark else ""
            lines.append(f"{figure.label:<{width}}  {figure.text}{remark}")
        return "\n".join(line for line in lines if line)


def _plain(value: Any) -> Any:
    """Return a value as plain data; a dataclass by its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {member.name: _plain(getattr(value, member.name)) for member in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    return value
