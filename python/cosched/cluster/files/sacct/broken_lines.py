"""Rows of sacct that go over several lines, or that have a delimiter inside a text."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from cosched.cluster.files.sacct.alignment import AlignedRecord, Aligner

#: Lines that one row may have, and lines beside a row with which it is tried whether it is longer.
_MAX_LINES, _MAX_TRIED = 200, 20
#: Lines of no row that are tried as the end of a row which has other rows in a text.
_MAX_ENDS = 5
#: Without these texts a job is another one: where they cannot be told, its row is dropped.
_REQUESTS = frozenset({"Constraints", "Licenses"})
#: Bytes of a text that are looked at, or handed out, at a time.
_BLOCK = 1 << 24


class DelimitedLines:
    """The lines of a table, by their number from 0; the first is the header.

    Parameters
    ----------
    text : bytes
        UTF-8, at least one line.
    mark : str
        The delimiter, one byte.

    Attributes
    ----------
    marks : numpy.ndarray
        How many delimiters each line has.
    is_row : numpy.ndarray of bool
        Lines with as many delimiters as the header, without it.
    is_empty : numpy.ndarray of bool
    """

    def __init__(self, text: bytes, mark: str) -> None:
        self._text = text if text.endswith(b"\n") else text + b"\n"
        # One more than lines.
        self._begin, self.marks = _begins_and_marks(self._text, ord(mark))
        self.is_empty = np.diff(self._begin) == 1
        self.is_row = (self.marks == self.marks[0]) & ~self.is_empty
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

    def row_blocks(self) -> Iterator[bytes]:
        """The text of the rows alone, some at a time: never all of them once more."""
        # Runs of rows at once: a mask of all bytes would be as large as the file.
        others = np.concatenate([np.flatnonzero(~self.is_row), [len(self)]])
        firsts, lasts = others[:-1] + 1, others[1:]
        parts: list[bytes] = []
        size = 0
        for begin, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            first = begin
            while first < last:
                room = self._begin[first] + _BLOCK - size
                stop = max(int(np.searchsorted(self._begin, room, side="right")) - 1, first + 1)
                stop = min(stop, last)
                parts.append(self._text[self._begin[first] : self._begin[stop]])
                size += len(parts[-1])
                first = stop
                if size >= _BLOCK // 2:
                    yield b"".join(parts)
                    parts, size = [], 0
        if parts:
            yield b"".join(parts)


def _begins_and_marks(text: bytes, mark: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each line begins, and the end of the last; how many delimiters each line has."""
    raw = np.frombuffer(text, dtype=np.uint8)
    begins, marks_before = [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    marks_so_far = 0
    for offset in range(0, len(raw), _BLOCK):
        block = raw[offset : offset + _BLOCK]
        line_ends = np.flatnonzero(block == ord("\n"))
        marks = np.flatnonzero(block == mark)
        begins.append(line_ends + (offset + 1))
        marks_before.append(np.searchsorted(marks, line_ends) + marks_so_far)
        marks_so_far += len(marks)
    return np.concatenate(begins), np.diff(np.concatenate(marks_before))


@dataclass
class Repaired:
    """What became of the lines that are no rows by themselves; all numbers are from 0.

    Attributes
    ----------
    records : list of (int, AlignedRecord)
        The first line of each row that was put together, and its texts.
    replaced : list of int
        Lines that have the delimiters of a row, and are none.
    unaligned : list of int
        Lines where rows begin whose columns cannot be told apart.
    rowless : list of int
        All lines that are part of no row.
    enclosed : list of int
        Lines that have the form of a row, and are part of a text of the row around them.
    """

    records: list[tuple[int, AlignedRecord]] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    unaligned: list[int] = field(default_factory=list)
    rowless: list[int] = field(default_factory=list)
    enclosed: list[int] = field(default_factory=list)


@dataclass
class _Row:
    """Lines [first, last] that are one row, and no part of them is one."""

    first: int
    last: int
    record: AlignedRecord | None  # None: the line stays as it is
    is_doubtful: bool = False  # another row would have some of its lines, too


def repair(lines: DelimitedLines, aligner: Aligner) -> Repaired:
    """Rows out of the broken lines and those beside them.

    A row is the fewest lines in which each column has its form. What stands between two rows is
    more of the text at the end of the first or at the begin of the second, or no part of any.
    """
    repaired = Repaired()
    for numbers in _regions(lines, aligner):
        _Region(numbers, lines, aligner).repair(repaired)
    _join_around_rows(lines, aligner, repaired)
    return repaired


@dataclass
class _EnclosingRow:
    """Lines [first, last] that are one row if the rows between them are part of its text."""

    first: int
    last: int
    record: AlignedRecord


def _join_around_rows(lines: DelimitedLines, aligner: Aligner, repaired: Repaired) -> None:
    """Keep a row around other rows where each of these has the number of another row.

    A job name can hold a line end and whole rows. The lines before and behind such rows are
    one row with them, or the rests of two rows. Where the rows between repeat numbers of other
    rows, they are text; else they stay rows, and the lines around them are counted as unaligned.
    """
    candidates = _enclosing_rows(lines, aligner, repaired)
    if not candidates:
        return
    number_of_line = _job_numbers(lines, aligner, repaired)
    line_count = Counter(number_of_line.values())
    enclosing_rows: list[_EnclosingRow] = []
    for candidate in candidates:
        inner_lines = [k for k in range(candidate.first, candidate.last) if k in number_of_line]
        inner_count = Counter(number_of_line[k] for k in inner_lines)
        outer_number = candidate.record.cells.get(aligner.number_column, "")
        is_repeated = all(
            number == outer_number or line_count[number] > count
            for number, count in inner_count.items()
        )
        if not inner_lines or not is_repeated:
            continue
        enclosing_rows.append(candidate)
        repaired.enclosed += inner_lines
        line_count.subtract(inner_count)
        line_count[outer_number] += 1
    _put_enclosing_rows(enclosing_rows, lines, repaired)


def _put_enclosing_rows(
    enclosing_rows: list[_EnclosingRow], lines: DelimitedLines, repaired: Repaired
) -> None:
    """Make each of these a row, and nothing else of its lines."""
    spans = [range(row.first, row.last + 1) for row in enclosing_rows]
    is_inside = np.zeros(len(lines), dtype=bool)
    for span in spans:
        is_inside[span.start : span.stop] = True
    records = [pair for pair in repaired.records if not is_inside[pair[0]]]
    records += [(row.first, row.record) for row in enclosing_rows]
    repaired.records = sorted(records, key=lambda pair: pair[0])
    repaired.unaligned = [number for number in repaired.unaligned if not is_inside[number]]
    repaired.replaced = [number for number in repaired.replaced if not is_inside[number]]
    repaired.replaced += np.flatnonzero(is_inside & lines.is_row).tolist()


def _enclosing_rows(
    lines: DelimitedLines, aligner: Aligner, repaired: Repaired
) -> list[_EnclosingRow]:
    """Return rows that begin and end with lines of no row, and have the form of a row as a
    whole."""
    candidates: list[_EnclosingRow] = []
    numbers = [number for number in sorted(repaired.rowless) if not lines.is_row[number]]
    last_lines = [number for number in numbers if aligner.has_last_columns(lines[number])]
    end = 0
    for first in numbers:
        if first < end or not aligner.has_first_columns(lines[first]):
            continue
        place = bisect_right(last_lines, first)
        for last in last_lines[place : place + _MAX_ENDS]:
            if last - first >= _MAX_LINES:
                break
            record = aligner.align([lines[k] for k in range(first, last + 1)])
            if record is not None and not record.undecided & _REQUESTS:
                candidates.append(_EnclosingRow(first, last, record))
                end = last + 1
                break
    return candidates


def _job_numbers(lines: DelimitedLines, aligner: Aligner, repaired: Repaired) -> dict[int, str]:
    """Return the job number of each row, by its first line."""
    replaced = set(repaired.replaced)
    number_of_line = {
        number: aligner.job_number(lines[number])
        for number in np.flatnonzero(lines.is_row).tolist()
        if number not in replaced
    }
    for number, record in repaired.records:
        number_of_line[number] = record.cells.get(aligner.number_column, "")
    return number_of_line


def _regions(lines: DelimitedLines, aligner: Aligner) -> Iterator[range]:
    """Yield broken lines that follow each other, with the sound row before them and the one
    behind."""
    end = 1  # what is before it belongs to a region, or needs none
    for number in lines.broken:
        if number < end:
            continue
        first = number
        while first > end and not _is_sound(first, lines, aligner):
            first -= 1
        last = number + 1
        while last < len(lines) and not (
            _is_sound(last, lines, aligner) and _is_row_next(last, lines)
        ):
            last += 1
        end = min(last + 1, len(lines))
        yield range(first, end)


def _is_sound(number: int, lines: DelimitedLines, aligner: Aligner) -> bool:
    """Return whether a line is a row by itself."""
    return bool(lines.is_row[number]) and aligner.is_row(lines[number])


def _is_row_next(number: int, lines: DelimitedLines) -> bool:
    behind = number + 1
    while behind < len(lines) and lines.is_empty[behind]:
        behind += 1
    return behind == len(lines) or bool(lines.is_row[behind])


class _Region:
    """Some lines that follow each other."""

    def __init__(self, numbers: range, lines: DelimitedLines, aligner: Aligner) -> None:
        self._numbers, self._lines, self._aligner = numbers, lines, aligner
        self._rows: list[_Row] = []

    def repair(self, repaired: Repaired) -> None:
        """Add what becomes of the lines."""
        for number in self._numbers:
            if not self._lines.is_empty[number]:
                self._end_row(number)
        neighbours = [None, *self._rows, None]
        begin = self._numbers.start
        for before, after in pairwise(neighbours):
            end = self._numbers.stop if after is None else after.first
            lost_lines, cut_rows = self._give_out(range(begin, end), before, after)
            repaired.rowless += lost_lines
            repaired.unaligned += [
                k
                for k in lost_lines
                if k == lost_lines[0] or k in cut_rows or self._lines.is_row[k]
            ]
            begin = end if after is None else after.last + 1
        kept_lines = set()
        for row in self._rows:
            if row.is_doubtful or (row.record is not None and row.record.undecided & _REQUESTS):
                repaired.unaligned.append(row.first)
            elif row.record is not None:
                repaired.records.append((row.first, row.record))
            else:
                kept_lines.add(row.first)
        is_row = self._lines.is_row
        repaired.replaced += [k for k in self._numbers if is_row[k] and k not in kept_lines]

    def _end_row(self, last: int) -> None:
        """Add the shortest row that ends with a line, if there is one."""
        lines, aligner, rows = self._lines, self._aligner, self._rows
        if _is_sound(last, lines, aligner):
            rows.append(_Row(last, last, None))
            return
        row = self._shortest_row(last) if aligner.has_last_columns(lines[last]) else None
        # One odd cell makes a row no part of another, unless it is one with the lines before it.
        if row is None and lines.is_row[last] and aligner.is_row(lines[last], odd_cells=1):
            row = _Row(last, last, None)
        if row is None:
            return
        if rows and row.first <= rows[-1].last:
            row.is_doubtful = rows[-1].is_doubtful = True
        rows.append(row)

    def _shortest_row(self, last: int) -> _Row | None:
        """Return the fewest lines that are a row and end with this one."""
        lines, aligner, rows = self._lines, self._aligner, self._rows
        # What has another row in it is none.
        first_line = max(rows[-1].first + 1 if rows else self._numbers.start, last - _MAX_LINES)
        marks = 0
        for first in range(last, first_line - 1, -1):
            marks += int(lines.marks[first])
            if marks >= lines.marks[0] and aligner.has_first_columns(lines[first]):
                record = self._align(first, last)
                if record is not None:
                    return _Row(first, last, record)
            if aligner.can_begin(lines[first]):
                return None  # what looks like the begin of a row is in no other
        return None

    def _align(self, first: int, last: int) -> AlignedRecord | None:
        if last - first >= _MAX_LINES:
            return None
        return self._aligner.align([self._lines[k] for k in range(first, last + 1)])

    def _give_out(
        self, between: range, before: _Row | None, after: _Row | None
    ) -> tuple[list[int], set[int]]:
        """Add the lines between two rows to the texts of one of them.

        Returned are the lines that are part of no row, and those that look like begins of rows.
        """
        lines, aligner = self._lines, self._aligner
        numbers = [number for number in between if not lines.is_empty[number]]
        if not numbers:
            return [], set()
        cut_rows = {number for number in numbers if aligner.can_begin(lines[number])}
        first_cut = min(cut_rows, default=len(lines))
        texts = [number for number in numbers if number < first_cut]
        of_before = of_after = None
        if texts and before is not None and aligner.ends_in_text:
            of_before = self._longer(before, before.first, texts[-1], aligner.last_column)
        if not cut_rows and after is not None and aligner.begins_with_text:
            of_after = self._longer(after, texts[0], after.last, aligner.first_column)
        if before is not None and of_before is not None:
            before.record = of_before
        if after is not None and of_after is not None:
            after.record, after.first = of_after, texts[0]
        if before is not None and after is not None and of_before and of_after:
            # Nobody can tell whose text it is.
            before.record = of_before.without(aligner.last_column)
            after.record = of_after.without(aligner.first_column)
        if of_before is None and of_after is None:
            self._doubt(before, after, texts, bool(cut_rows))
            texts = []
        return numbers[len(texts) :], cut_rows

    def _longer(self, row: _Row, first: int, last: int, column: str) -> AlignedRecord | None:
        """Return a row with more lines, all of which are text of one column; None: they are not."""
        longer, shorter = self._align(first, last), row.record or self._align(row.first, row.last)
        if longer is None or shorter is None:
            return None
        return longer if longer.without(column) == shorter.without(column) else None

    def _doubt(
        self, before: _Row | None, after: _Row | None, texts: list[int], is_cut: bool
    ) -> None:
        """Mark rows of several lines, or with a delimiter in a text, that could have some of these
        lines in another way."""
        if before is not None and before.record is not None:
            ends = texts[:_MAX_TRIED]
            before.is_doubtful |= any(self._align(before.first, k) is not None for k in ends)
        if after is not None and after.record is not None and not is_cut:
            begins = texts[-_MAX_TRIED:]
            after.is_doubtful |= any(self._align(k, after.last) is not None for k in begins)
