"""Rows of sacct that go over several lines, or that have a delimiter inside a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cosched.cluster.files.sacct.alignment import Aligner, Record

#: Lines that one row may have, and how many shorter rows are tried where all lines make none.
_MAX_LINES, _MAX_SHORTER = 1000, 20
#: Without these texts a job is another one: where they cannot be told, its row is dropped.
_REQUESTS = frozenset({"Constraints", "Licenses"})


class Lines:
    """The lines of a table, by their number from 0; the first is the header.

    Parameters
    ----------
    text : bytes
        UTF-8, at least one line.
    mark : str
        The delimiter, one byte.

    Attributes
    ----------
    is_row : numpy.ndarray of bool
        Lines with as many delimiters as the header, without it.
    is_empty : numpy.ndarray of bool
    marks_in_header : int
        How many delimiters the header has.
    """

    def __init__(self, text: bytes, mark: str) -> None:
        self._text = text if text.endswith(b"\n") else text + b"\n"
        raw = np.frombuffer(self._text, dtype=np.uint8)
        # One more than lines.
        self._begin = np.concatenate([[0], np.flatnonzero(raw == ord("\n")) + 1])
        marks = np.flatnonzero(raw == ord(mark))
        count = np.diff(np.searchsorted(marks, self._begin))
        self.marks_in_header = int(count[0])
        self.is_empty = np.diff(self._begin) == 1
        self.is_row = (count == count[0]) & ~self.is_empty
        self.is_row[0] = False

    @property
    def broken(self) -> list[int]:
        """Lines with more or fewer delimiters than the header."""
        is_broken = ~self.is_row & ~self.is_empty
        is_broken[0] = False
        return np.flatnonzero(is_broken).tolist()

    def __len__(self) -> int:
        return len(self.is_row)

    def __getitem__(self, number: int) -> str:
        return self._text[self._begin[number] : self._begin[number + 1] - 1].decode()

    def rows(self) -> bytes:
        """The text of the rows alone."""
        # Runs of rows at once: a mask of all bytes would be as large as the file.
        others = np.concatenate([np.flatnonzero(~self.is_row), [len(self)]])
        spans = zip(
            self._begin[others[:-1] + 1].tolist(), self._begin[others[1:]].tolist(), strict=True
        )
        return b"".join(self._text[first:last] for first, last in spans)


@dataclass
class Repaired:
    """What became of the lines that are no rows by themselves; all numbers are from 0.

    Attributes
    ----------
    records : list of (int, Record)
        The first line of each row that was put together, and its texts.
    replaced : list of int
        Lines that looked like rows, and are parts of others.
    unaligned : list of int
        Lines where rows begin whose columns cannot be told apart.
    """

    records: list[tuple[int, Record]] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    unaligned: list[int] = field(default_factory=list)


def repair(lines: Lines, aligner: Aligner) -> Repaired:
    """Rows out of the broken lines."""
    repaired = Repaired()
    for group in _groups(lines, lines.broken, aligner):
        texts = [lines[number] for number in group]
        begins_with_row = bool(lines.is_row[group[0]])
        count, record = _longest_row(texts, aligner, 1 if begins_with_row else 0)
        if record is not None and not record.undecided & _REQUESTS:
            repaired.records.append((group[0], record))
        elif record is not None:
            count = 0
        is_untouched = begins_with_row and record is None
        repaired.replaced += [k for k in group[int(is_untouched) :] if lines.is_row[k]]
        behind = [number for number in group[count:] if texts[number - group[0]].strip()]
        # A row that cannot be told is one, however many lines it has.
        repaired.unaligned += behind[:1]
        repaired.unaligned += [number for number in behind[1:] if lines.is_row[number]]
    return repaired


def _longest_row(texts: list[str], aligner: Aligner, least: int) -> tuple[int, Record | None]:
    """How many of the lines are one row, and that row; `least` and None where none are."""
    shorter = range(min(len(texts) - 1, _MAX_SHORTER), least, -1)
    for count in (len(texts), *shorter):
        if count > least and (record := aligner.align(texts[:count])) is not None:
            return count, record
    return least, None


def _groups(lines: Lines, broken: Sequence[int], aligner: Aligner) -> Iterator[range]:
    """Lines that may be one row: one with which a row may begin, and those behind it."""
    end = 1  # of what is in a group
    for number in broken:
        if number < end:
            continue
        first = number
        if aligner.ends_in_text and not _begins_row(lines, number, aligner):
            first = _row_before(lines, number, end)
        groups, end = _groups_from(first, number, lines, aligner)
        yield from groups


def _groups_from(
    first: int, broken: int, lines: Lines, aligner: Aligner
) -> tuple[list[range], int]:
    """The groups up to the next line that is a row by itself, and that line; the first group begins
    at `first` and has the line `broken`."""
    groups = []
    last = broken
    for number in range(broken + 1, len(lines)):
        if lines.is_empty[number]:
            continue
        if not _begins_row(lines, number, aligner):
            last = number
            continue
        groups.append(range(first, min(last + 1, first + _MAX_LINES)))
        first = last = number
        if lines.is_row[number]:
            return groups, number
    groups.append(range(first, min(last + 1, first + _MAX_LINES)))
    return groups, len(lines)


def _row_before(lines: Lines, number: int, least: int) -> int:
    """The row before a line, whose last text may go on in it; without one the line itself."""
    before = number - 1
    while before >= least and lines.is_empty[before]:
        before -= 1
    return before if before >= least and lines.is_row[before] else number


def _begins_row(lines: Lines, number: int, aligner: Aligner) -> bool:
    """Whether a line begins a row: of one that has its delimiters the job number and the state
    decide, so that one odd cell does not make it a part of the row before."""
    line = lines[number]
    return aligner.can_begin(line) or (lines.is_row[number] and aligner.is_row(line))
