"""Which text belongs to which column, in records with a delimiter or a line end inside a text.

``sacct -P`` quotes nothing: a job name ``a|b`` makes one field too many, and a submit line of two
lines ends its row too early. Most columns have a form that tells them apart: a date, a state, a job
number, an amount. :class:`Aligner` finds all ways to give the fields to the columns, so that each
column has its form, and says where two ways differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosched import io

_FILE = Path(__file__).with_name("forms.toml")
_TABLES: dict[str, Any] = io.parse_toml(_FILE.read_text("utf-8"), str(_FILE))
_FORMS = {name: re.compile(form, re.DOTALL) for name, form in _TABLES["forms"].items()}
_FORM_OF = {
    column.lower(): _FORMS[form]
    for form, columns in _TABLES["columns"].items()
    for column in columns.split()
}
#: Columns in which users write what they want.
_FREE = frozenset(name.lower() for name in _TABLES["free"])
#: How texts of columns usually look, if that is less than what they may be.
_USUAL = {
    name.lower(): _FORMS[form] for name, form in {**_TABLES["usual"], **_TABLES["free"]}.items()
}
#: Columns that are empty for no job.
_FILLED = frozenset(_TABLES["filled"].lower().split())
#: Columns of names: those of a log repeat.
NAMES = tuple(_TABLES["names"].split())
#: What stands between the features of an expression.
_BETWEEN_FEATURES = re.compile(r"\*[0-9]+|[^\w.:/@%+=-]+")
_BLANK = re.compile(r"\s")
#: More fields than these in one record are no row of a log: the time would grow without end. With
#: more than so many of which nobody knows where they belong, several ways stay several.
_MAX_FIELDS, _MAX_USUAL = 2000, 40
#: After so many groups of lines that are no row a file is none of sacct's: its rows have one line.
_MAX_FAILURES = 20_000

#: Of a column its number, and what it may have: the fields [begin, end).
_Spans = list[set[tuple[int, int]]]


@dataclass(frozen=True)
class AlignedRecord:
    """The texts of one row by column.

    Attributes
    ----------
    cells : dict of str to str
        The columns that can be told.
    undecided : frozenset of str
        Free texts that end in one place or another: both make sense.
    is_assumed : bool
        Delimiters are those of a feature expression, as far as it has features of the machine, and
        not of the text beside it.
    """

    cells: dict[str, str]
    undecided: frozenset[str] = frozenset()
    is_assumed: bool = False

    def without(self, column: str) -> AlignedRecord:
        """The same without the text of a column, which cannot be told."""
        cells = {name: text for name, text in self.cells.items() if name != column}
        return AlignedRecord(cells, self.undecided | {column})


@dataclass(frozen=True)
class _Column:
    """What the texts of a column look like."""

    name: str
    form: re.Pattern[str]
    usual: re.Pattern[str]
    is_free: bool
    is_filled: bool
    names: frozenset[str]  # the only ones where several ways are left; empty: any

    @property
    def may_break(self) -> bool:
        """Whether a line end may be in its texts."""
        return self.form is _FORMS["any"]

    def has_form(self, text: str) -> bool:
        """Whether a cell may have this text; of free ones ``|`` stands for the delimiter."""
        if not self.form.fullmatch(text):
            return False
        return self.form is not _FORMS["features"] or _is_balanced(text)

    def is_usual(self, text: str, of_job: bool) -> bool:
        """Whether it looks as cells of the column do; `of_job`: in a job's row, no step's."""
        if not (self.has_form(text) and self.usual.fullmatch(text)):
            return False
        if not text:
            return not (of_job and self.is_filled)
        if not self.names:
            return True
        parts = _BETWEEN_FEATURES.split(text) if self.is_free else [text]
        return all(not part or part in self.names for part in parts)

    def is_likely(self, text: str) -> bool:
        """Whether a text has no delimiter, or may be an expression of known features."""
        return "|" not in text or not self.is_free or bool(self.names)


def _is_balanced(text: str) -> bool:
    """Return whether each parenthesis and bracket of a feature expression is closed."""
    open_brackets = ""
    for sign in text:
        if sign in "([":
            open_brackets += sign
        elif sign in ")]":
            if not open_brackets or open_brackets[-1] + sign not in ("()", "[]"):
                return False
            open_brackets = open_brackets[:-1]
    return not open_brackets


def _column(name: str, names: Iterable[str]) -> _Column:
    key = name.lower()
    form = _FORM_OF.get(key, _FORMS["any" if key in _FREE else "name"])
    return _Column(
        name, form, _USUAL.get(key, form), key in _FREE, key in _FILLED, frozenset(names)
    )


class Aligner:
    """Gives the fields of records to the columns of a header.

    Parameters
    ----------
    header : sequence of str
        Names of the columns, as sacct prints them; ``JobID`` is one of them.
    mark : str
        The delimiter.
    closed : bool
        A delimiter ends each record, as ``sacct -p`` prints them.
    names : mapping of str to set of str
        Names that other rows have in the columns :data:`NAMES`, and features in ``Constraints``.
        They decide where the forms of the columns leave several ways.
    """

    def __init__(
        self,
        header: Sequence[str],
        mark: str,
        *,
        closed: bool,
        names: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self._mark, self._closed = mark, closed
        self._failures = 0
        self._columns = [_column(name, (names or {}).get(name, ())) for name in header]
        self._breaking = [place for place, column in enumerate(self._columns) if column.may_break]
        self._features = [
            place
            for place, column in enumerate(self._columns)
            if column.form is _FORMS["features"] and column.names
        ]
        self._job = list(header).index("JobID")
        self._required_places = {
            list(header).index(name) for name in ("JobID", "State") if name in header
        }

    @property
    def number_column(self) -> str:
        """Name of the column with the job number."""
        return self._columns[self._job].name

    def job_number(self, line: str) -> str:
        """The job number of a line that is a row."""
        return line.split(self._mark)[self._job]

    @property
    def first_column(self) -> str:
        """Name of the first column."""
        return self._columns[0].name

    @property
    def last_column(self) -> str:
        """Name of the last column."""
        return self._columns[-1].name

    @property
    def begins_with_text(self) -> bool:
        """Whether a line end may be in the first column."""
        return self._columns[0].may_break

    @property
    def ends_in_text(self) -> bool:
        """Whether a line end may be in the last column, and a line have all delimiters before."""
        return self._columns[-1].may_break and not self._closed

    def has_first_columns(self, line: str) -> bool:
        """Whether a row may begin with this line: it goes on until a column in which a line may
        end, or is the row; the fields before the first free text have the forms of their
        columns."""
        fields = line.split(self._mark)
        field_count = self._breaking[0] + 1 if self._breaking else len(self._columns)
        count = next((k for k, column in enumerate(self._columns) if column.is_free), field_count)
        return len(fields) >= field_count and self._have_forms(self._columns[:count], fields)

    def has_last_columns(self, line: str) -> bool:
        """Whether a row may end with this line: the same from its end."""
        fields = line.split(self._mark)
        closing = fields.pop() if self._closed else ""
        columns = self._columns[::-1]
        field_count = len(columns) - self._breaking[-1] if self._breaking else len(columns)
        count = next((k for k, column in enumerate(columns) if column.is_free), field_count)
        if closing.strip() or len(fields) < field_count:
            return False
        return self._have_forms(columns[:count], fields[::-1])

    @staticmethod
    def _have_forms(columns: Sequence[_Column], fields: Sequence[str]) -> bool:
        pairs = zip(columns, fields, strict=False)
        return all(column.has_form(field) for column, field in pairs)

    def is_row(self, line: str, odd_cells: int = 0) -> bool:
        """Whether a line with as many delimiters as the header is a row: each cell has the form of
        its column, but for so many beside the job number and the state."""
        fields = line.split(self._mark)
        odd = [
            place
            for place, (column, field) in enumerate(zip(self._columns, fields, strict=False))
            if not column.has_form(field)
        ]
        return len(odd) <= odd_cells and not set(odd) & self._required_places

    def can_begin(self, line: str) -> bool:
        """Whether this line looks like the begin of a row: some way to give out its fields has the
        forms of the columns up to the first free text behind the job number."""
        fields = line.split(self._mark)
        if len(self._columns) > 1:
            fields.pop()  # a line end may cut it
        places = {0}
        for column in self._columns[: self._job]:
            if not column.is_free:
                places = {k + 1 for k in places if k < len(fields) and column.has_form(fields[k])}
            elif places:
                places = set(range(min(places) + 1, len(fields) + 1))
        behind = self._columns[self._job :]
        count = next((k for k, column in enumerate(behind) if column.is_free), len(behind))
        return any(
            self._have_forms(behind[:count], fields[place:])
            for place in places
            if place < len(fields)
        )

    def align(self, lines: Sequence[str]) -> AlignedRecord | None:
        """The record that these lines are; None: they are none, or columns cannot be told apart."""
        if self._failures >= _MAX_FAILURES and len(lines) > 1:
            return None
        fields = "\n".join(lines).split(self._mark)
        closing = fields.pop() if self._closed else ""
        if closing.strip() or not len(self._columns) <= len(fields) <= _MAX_FIELDS:
            return None
        spans = self._spans(fields, _Column.has_form)
        if not all(spans):
            self._failures += len(lines) > 1
            return None
        certain = {
            column.name
            for place, column in enumerate(self._columns)
            if not self._is_open(place, spans, fields)
        }
        if len(certain) == len(self._columns) or len(fields) - len(certain) > _MAX_USUAL:
            return self._record(spans, fields)
        of_job = not any("." in fields[begin] for begin, _ in spans[self._job])

        def is_usual(column: _Column, text: str) -> bool:
            if column.name in certain:
                return column.has_form(text)
            return column.is_usual(text, of_job)

        def is_likely(column: _Column, text: str) -> bool:
            return is_usual(column, text) and (column.name in certain or column.is_likely(text))

        usual = self._spans(fields, is_usual)
        # Where no way looks usual, one of them is right, and nobody can tell which.
        spans = usual if all(usual) else spans
        if any(self._is_open(place, spans, fields) for place in self._features):
            likely = self._spans(fields, is_likely)
            if all(len(places) == 1 for places in likely):
                return self._record(likely, fields, is_assumed=True)
        return self._record(spans, fields)

    def _is_open(self, place: int, spans: _Spans, fields: Sequence[str]) -> bool:
        """Return whether a column may have one text or another."""
        return len({self._mark.join(fields[begin:end]) for begin, end in spans[place]}) > 1

    def _record(
        self, spans: _Spans, fields: Sequence[str], is_assumed: bool = False
    ) -> AlignedRecord | None:
        """Return texts by column; None: a column without free text may have one or another."""
        cells, undecided = {}, set()
        for place, column in enumerate(self._columns):
            if not self._is_open(place, spans, fields):
                begin, end = next(iter(spans[place]))
                cells[column.name] = self._mark.join(fields[begin:end])
            elif column.is_free:
                undecided.add(column.name)
            else:
                return None
        return AlignedRecord(cells, frozenset(undecided), is_assumed)

    def _spans(self, fields: Sequence[str], fits: Callable[[_Column, str], bool]) -> _Spans:
        """Return, for each column, the fields that it has in some way to give out all, in which
        each text `fits` its column."""
        count = len(fields)
        ways: list[dict[int, list[int]]] = []  # by column: begin -> ends
        begins = {0}
        for place, column in enumerate(self._columns):
            latest_end = count - (len(self._columns) - place - 1)
            ends_of = {
                begin: self._ends(column, begin, latest_end, fields, fits) for begin in begins
            }
            ways.append(ends_of)
            begins = {end for ends in ends_of.values() for end in ends}
        spans: _Spans = []
        reachable_begins = {count}
        for ends_of in reversed(ways):
            spans.append(
                {
                    (begin, end)
                    for begin, ends in ends_of.items()
                    for end in ends
                    if end in reachable_begins
                }
            )
            reachable_begins = {begin for begin, _ in spans[-1]}
        return spans[::-1]

    @staticmethod
    def _ends(
        column: _Column,
        begin: int,
        latest_end: int,
        fields: Sequence[str],
        fits: Callable[[_Column, str], bool],
    ) -> list[int]:
        """Return where a column may end that begins with a field."""
        if not column.is_free:
            return [begin + 1] if begin < latest_end and fits(column, fields[begin]) else []
        ends = range(begin + 1, latest_end + 1)
        if fits is _Column.has_form and column.may_break:
            return list(ends)
        if not column.may_break:  # no part of an expression has a blank
            blank = next((end for end in ends if _BLANK.search(fields[end - 1])), latest_end + 1)
            ends = range(begin + 1, blank)
        return [end for end in ends if fits(column, "|".join(fields[begin:end]))]
