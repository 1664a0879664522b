"""Which text belongs to which column, in records with a delimiter or a line end inside a text.

``sacct -P`` quotes nothing: a job name ``a|b`` makes one field too many, and a submit line of two
lines ends its row too early. Most columns have a form that tells them apart: a date, a state, a job
number, an amount. :class:`Aligner` finds all ways to give the fields to the columns, so that each
column has its form, and says where two ways differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cosched import io

_FILE = Path(__file__).with_name("forms.toml")
_FORMS: dict[str, Any] = io.parse_toml(io.read_text(_FILE), str(_FILE))
_FORM_OF = {
    column.lower(): re.compile(_FORMS["forms"][form], re.DOTALL)
    for form, columns in _FORMS["columns"].items()
    for column in columns.split()
}
_ANY = re.compile(_FORMS["forms"]["name"])
#: Columns in which users write what they want, and how their texts usually look.
_FREE = {name.lower(): re.compile(usual, re.DOTALL) for name, usual in _FORMS["free"].items()}
#: Columns of names: those of a log repeat.
NAMES = tuple(_FORMS["names"].split())
#: More fields than these in one record are no row of a log: the time would grow without end. With
#: so many more than columns, several ways to read a row stay several.
_MAX_FIELDS, _MAX_USUAL = 2000, 100


@dataclass(frozen=True)
class Record:
    """The texts of one row by column.

    Attributes
    ----------
    cells : dict of str to str
        The columns that can be told.
    undecided : frozenset of str
        Free texts that end in one place or another: both make sense.
    """

    cells: dict[str, str]
    undecided: frozenset[str] = frozenset()


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
        Names that other rows have in the columns :data:`NAMES`. They decide where the forms of the
        columns leave several ways.
    """

    def __init__(
        self,
        header: Sequence[str],
        mark: str,
        *,
        closed: bool,
        names: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self._header, self._mark, self._closed = list(header), mark, closed
        self._forms = [_FORM_OF.get(name.lower(), _ANY) for name in self._header]
        self._usual = [_FREE.get(name.lower()) for name in self._header]
        self._names = {name: frozenset(known) for name, known in (names or {}).items() if known}
        self._job = self._header.index("JobID")

    @property
    def ends_in_text(self) -> bool:
        """Whether a line end may be in the last column without the row having too few fields."""
        return self._usual[-1] is not None and not self._closed

    def is_row(self, line: str) -> bool:
        """Whether a line with as many delimiters as the header has a job number and a state."""
        fields = line.split(self._mark)
        places = [self._header.index(name) for name in ("JobID", "State") if name in self._header]
        return all(self._forms[place].fullmatch(fields[place]) is not None for place in places)

    def can_begin(self, line: str) -> bool:
        """Whether a record may begin with this line: some way to give out its fields has the forms
        of the columns up to the first free text behind the job number."""
        fields = line.split(self._mark)
        if len(self._header) > 1:
            fields.pop()  # a line end may cut it
        places = {0}
        for column in range(self._job):
            if self._usual[column] is None:
                form = self._forms[column]
                places = {k + 1 for k in places if k < len(fields) and form.fullmatch(fields[k])}
            elif places:
                places = set(range(min(places) + 1, len(fields) + 1))
        return any(self._has_forms(fields[place:]) for place in places if place < len(fields))

    def _has_forms(self, fields: Sequence[str]) -> bool:
        """Whether these fields may be those from the job number on."""
        columns = zip(self._forms[self._job :], self._usual[self._job :], strict=True)
        for field, (form, usual) in zip(fields, columns, strict=False):
            if usual is not None:
                return True
            if not form.fullmatch(field):
                return False
        return True

    def align(self, lines: Sequence[str]) -> Record | None:
        """The record that these lines are; None: they are none, or columns cannot be told apart."""
        fields = "\n".join(lines).split(self._mark)
        closing = fields.pop() if self._closed else ""
        if closing.strip():
            return None
        if not len(self._header) <= len(fields) <= _MAX_FIELDS:
            return None
        spans = self._spans(fields)
        is_short = len(fields) - len(self._header) <= _MAX_USUAL
        if is_short and any(len(places) > 1 for places in spans):
            of_names = self._spans(fields, usual=True, names=self._names)
            of_texts = of_names if all(of_names) else self._spans(fields, usual=True)
            spans = of_texts if all(of_texts) else spans
        if not all(spans):
            return None
        cells, undecided = {}, set()
        for name, usual, places in zip(self._header, self._usual, spans, strict=True):
            texts = {self._mark.join(fields[begin:end]) for begin, end in places}
            if len(texts) == 1:
                cells[name] = texts.pop()
            elif usual is None:
                return None
            else:
                undecided.add(name)
        return Record(cells, frozenset(undecided))

    def _spans(
        self,
        fields: Sequence[str],
        *,
        usual: bool = False,
        names: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> list[set[tuple[int, int]]]:
        """For each column the fields [begin, end) that it has in some way to give out all.

        `usual`: free texts look as they usually do; `names`: the only ones of these columns.
        """
        columns, count = len(self._header), len(fields)
        # Behind a free text nobody knows yet which field is the job number.
        before_texts = not any(form is not None for form in self._usual[: self._job])
        is_job = before_texts and "." not in fields[self._job]
        ways: list[dict[int, list[int]]] = [{} for _ in range(columns)]  # begin -> ends
        begins = {0}
        for column in range(columns):
            longest = count - (columns - column - 1)
            for begin in begins:
                ends = range(begin + 1, longest + 1 if self._usual[column] else begin + 2)
                ways[column][begin] = [
                    end
                    for end in ends
                    if end <= longest
                    and self._fits(column, fields[begin:end], usual, names, is_job)
                ]
            begins = {end for ends in ways[column].values() for end in ends}
        spans: list[set[tuple[int, int]]] = [set() for _ in range(columns)]
        wanted = {count}
        for column in reversed(range(columns)):
            spans[column] = {
                (begin, end)
                for begin, ends in ways[column].items()
                for end in ends
                if end in wanted
            }
            wanted = {begin for begin, _ in spans[column]}
        return spans

    def _fits(
        self,
        column: int,
        fields: Sequence[str],
        usual: bool,
        names: Mapping[str, frozenset[str]],
        is_job: bool,
    ) -> bool:
        """Whether the column may have these fields; `is_job`: the row is a job's, not a step's."""
        usual_form = self._usual[column]
        if usual_form is not None:
            return not usual or usual_form.fullmatch("|".join(fields)) is not None
        text = fields[0]
        if not self._forms[column].fullmatch(text):
            return False
        known = names.get(self._header[column])
        return known is None or text in known or (not text and not is_job)
