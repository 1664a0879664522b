"""CSV files as text cells, the numbers in them, JSON and TOML; errors name line and column."""

import csv
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from cosched import _core
from cosched.errors import InvalidInstance, shorten
from cosched.io.foreign_formats import (
    refuse_foreign_file,
    refuse_foreign_json,
    refuse_foreign_text,
)
from cosched.io.limit import polled
from cosched.io.unpack import open_text, read_text

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")


def parse_integer(text: str, where: str, low: int, high: int) -> int:
    """An integer written in digits.

    Parameters
    ----------
    low, high : int
        Least and largest value.

    Examples
    --------
    >>> parse_integer(" 16 ", "jobs.csv: line 2", 1, 128)
    16
    >>> parse_integer("1.5", "jobs.csv: line 2", 1, 128)
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: jobs.csv: line 2: '1.5': expected an integer in 1..128
    """
    if not _INTEGER.fullmatch(text.strip()):
        what = "empty cell" if not text.strip() else shorten(text.strip())
        raise InvalidInstance(f"{where}: {what}: expected an integer in {low}..{high}")
    value = int(text)
    if not low <= value <= high:
        raise InvalidInstance(f"{where}: {value}: expected an integer in {low}..{high}")
    return value


def parse_positive(text: str, where: str, what: str = "a positive number of seconds") -> float:
    """A positive finite number.

    Examples
    --------
    >>> parse_positive("2.5e3", "times.csv: line 2")
    2500.0
    >>> parse_positive("-1", "times.csv: line 2")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: times.csv: line 2: '-1': expected a positive number of seconds
    """
    return _parsed(text, where, what, lambda value: 0 < value < math.inf)


def parse_nonnegative(text: str, where: str, what: str = "a number >= 0") -> float:
    """A finite number >= 0.

    Examples
    --------
    >>> parse_nonnegative("0", "times.csv: line 2")
    0.0
    """
    return _parsed(text, where, what, lambda value: 0 <= value < math.inf)


def parse_number(text: str, where: str, what: str = "a number") -> float:
    """A finite number of any sign.

    Examples
    --------
    >>> parse_number("-1.5", "jobs.csv: line 2")
    -1.5
    >>> parse_number("1_0", "jobs.csv: line 2")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: jobs.csv: line 2: '1_0': expected a number
    """
    return _parsed(text, where, what, math.isfinite)


def is_number(text: str) -> bool:
    """Whether a text is a number in decimal digits, blanks around it aside.

    Examples
    --------
    >>> is_number(" 1.5e3"), is_number("1_0"), is_number("nan")
    (True, False, False)
    """
    return bool(_NUMBER.fullmatch(text.strip()))


def _parsed(text: str, where: str, what: str, good: Callable[[float], bool]) -> float:
    stripped = text.strip()
    value = float(stripped) if _NUMBER.fullmatch(stripped) else math.nan
    if not good(value):
        seen = shorten(stripped) if stripped else "empty cell"
        raise InvalidInstance(f"{where}: {seen}: expected {what}")
    return value


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class CsvTable:
    """A CSV file as text cells.

    Attributes
    ----------
    path : str
        For messages.
    header : list of str
    rows : list of (int, list of str)
        Line number in the file and cells, as many as the header has.

    Examples
    --------
    >>> table = CsvTable("times.csv", ["task", "seconds"], [(2, ["solver", "8.0"])])
    >>> [(line, cells[0]) for line, cells in table.rows]
    [(2, 'solver')]
    """

    path: str
    header: list[str]
    rows: list[tuple[int, list[str]]]

    def columns(self, *names: str) -> list[int]:
        """Positions of the named columns.

        From 0, a position a name.

        Parameters
        ----------
        *names : str
            Case and blanks around do not matter.

        Raises
        ------
        ValueError
            A name that the header lacks.
        """
        lower = [name.strip().lower() for name in self.header]
        return [lower.index(name) for name in names]


def read_csv(path: str | PathLike[str]) -> CsvTable:
    r"""Read a CSV file with a header.

    Parameters
    ----------
    path : str or path-like
        Plain or ``.gz``.

    Raises
    ------
    InvalidInstance
        Empty file, no data, a column that is there twice, a row that is longer or shorter than
        the header, bytes that are not UTF-8, or a cell longer than 128 KiB: one line with file
        and line number.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "times.csv").write_text("task,seconds\nsolver,8.0\n")
    >>> read_csv(folder / "times.csv").rows
    [(2, ['solver', '8.0'])]
    """
    refuse_foreign_file(path)
    with open_text(path) as file:
        return _table(file, str(path))


def parse_csv(text: str, name: str) -> CsvTable:
    r"""What :func:`read_csv` makes of a file with this text.

    Parameters
    ----------
    name : str
        For messages.

    Raises
    ------
    InvalidInstance
        As :func:`read_csv`.

    Examples
    --------
    >>> parse_csv("from,to\na,b\n", "edges.csv").rows
    [(2, ['a', 'b'])]
    """
    refuse_foreign_text(text, name)
    return _table(io.StringIO(text), name)


def _table(file: Iterable[str], path: str) -> CsvTable:
    rows: list[tuple[int, list[str]]] = []
    reader = csv.reader(file)
    try:
        header = next(reader, None)
        if not header:
            raise InvalidInstance(f"{path}: line 1: empty: expected a header")
        if len(header) == 1 and (other := re.search("[;|\\t]", header[0])):
            raise InvalidInstance(
                f"{path}: line 1: cells are separated by {other[0]!r}: expected commas "
                "(and points in numbers)"
            )
        _require_unique(header, path)
        for cells in polled(reader):
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                noun = "cell" if len(cells) == 1 else "cells"
                raise InvalidInstance(
                    f"{path}: line {reader.line_num}: {len(cells)} {noun}, the header has "
                    f"{len(header)}"
                )
            rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise InvalidInstance(f"{path}: line {reader.line_num}: {error}") from None
    if not rows:
        raise InvalidInstance(f"{path}: line 1: a header and no rows after it")
    return CsvTable(path, header, rows)


def _require_unique(header: Sequence[str], path: str) -> None:
    """Check that no name is there twice; case and blanks around do not matter, nor do columns
    without one."""
    folded = [name.strip().lower() for name in header]
    for name in repeated_names(folded):
        first = header[folded.index(name)].strip()
        raise InvalidInstance(
            f"{path}: line 1: {folded.count(name)} columns {shorten(first)}: expected one"
        )


def repeated_names(names: Iterable[str]) -> list[str]:
    """Names that are there more than once, each once; the empty name is none.

    Examples
    --------
    >>> repeated_names(["task", "seconds", "", "seconds", ""])
    ['seconds']
    """
    counts = Counter(names)
    return [name for name, count in counts.items() if count > 1 and name]


def unique_cells(header: Sequence[str], cells: Sequence[str], place: str) -> dict[str, str]:
    """Cells of a row by column; a column that is there twice has one value in the row.

    Raises
    ------
    InvalidInstance
        The row has different values under the same name.

    Examples
    --------
    >>> unique_cells(["User", "User", "Share"], ["ann", "ann", "3"], "a.txt:2")
    {'User': 'ann', 'Share': '3'}
    >>> unique_cells(["User", "User"], ["ann", "bob"], "a.txt:2")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: a.txt:2: 2 columns 'User' with 'ann' and 'bob': expected one
    """
    row: dict[str, str] = {}
    for name, cell in zip(header, cells, strict=True):
        if row.setdefault(name, cell) != cell:
            raise InvalidInstance(
                f"{place}: {list(header).count(name)} columns {shorten(name)} with "
                f"{shorten(row[name])} and {shorten(cell)}: expected one"
            )
    return row


def read_rows(path: str | PathLike[str]) -> list[tuple[int, list[str]]]:
    r"""Rows of a CSV file without a header; lines without text are left out.

    Line number and cells of each.

    Parameters
    ----------
    path : str or path-like
        Plain or ``.gz``.

    Raises
    ------
    InvalidInstance
        Bytes that are not UTF-8, or a cell longer than 128 KiB.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "ETC.csv").write_text("10,5\n\n8,12\n")
    >>> read_rows(folder / "ETC.csv")
    [(1, ['10', '5']), (3, ['8', '12'])]
    """
    refuse_foreign_file(path)
    with open_text(path) as file:
        reader = csv.reader(file)
        try:
            return [
                (reader.line_num, cells)
                for cells in polled(reader)
                if any(cell.strip() for cell in cells)
            ]
        except csv.Error as error:
            raise InvalidInstance(f"{path}: line {reader.line_num}: {error}") from None


def read_json(path: str | PathLike[str]) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path : str or path-like
        Plain or ``.gz``, or ``archive.tar.gz:member``.

    Examples
    --------
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "bag.json").write_text('{"price": 9000}')
    >>> read_json(folder / "bag.json")
    {'price': 9000}
    """
    value = parse_json(read_text(path), str(path))
    refuse_foreign_json(value, path)
    return value


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text; a time limit is looked at before and after.

    Examples
    --------
    >>> parse_json("[1, 2]", "x.json")
    [1, 2]
    >>> parse_json("[1, 2", "x.json")
    Traceback (most recent call last):
        ...
    cosched.errors.InvalidInstance: x.json: line 1, column 6: not JSON (Expecting ',' delimiter)
    """
    try:
        _core.check_interrupt()
        value = json.loads(text, object_pairs_hook=_object)
        _core.check_interrupt()
        return value
    except json.JSONDecodeError as error:
        raise InvalidInstance(
            f"{where}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except (ValueError, RecursionError) as error:  # an integer of too many digits, ...
        raise InvalidInstance(f"{where}: {str(error).splitlines()[0][:120]}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    cells = dict(pairs)
    if len(cells) < len(pairs):
        keys = Counter(key for key, _ in pairs)
        raise ValueError(
            f"the key {shorten(keys.most_common(1)[0][0])} is there twice in an object"
        )
    return cells


#: Parts of a dotted key of TOML: its reader takes time with the square of their number.
_MOST_PARTS = 100
_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(
    rf"(?:^|[\[{{,])[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{_MOST_PARTS},}}", re.MULTILINE
)


def _require_short_keys(text: str, where: str) -> None:
    """Refuse keys of many parts, which a reader of TOML takes minutes for."""
    match = _LONG_KEY.search(text) if text.count(".") >= _MOST_PARTS else None
    if match is not None:
        line = text.count("\n", 0, match.start()) + 1
        raise InvalidInstance(
            f"{where}: line {line}: a key of more than {_MOST_PARTS} parts: expected fewer"
        )


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Examples
    --------
    >>> parse_toml("procs = 4", "codes.toml")
    {'procs': 4}
    """
    _require_short_keys(text, where)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.fullmatch(r"(.*) \(at (line \d+, column \d+)\)", str(error))
        message, place = match.groups() if match else (str(error), "end of file")
        message = message.removesuffix(" (at end of document)")
        raise InvalidInstance(f"{where}: {place}: not TOML ({message})") from None
    except (ValueError, RecursionError) as error:  # as for JSON
        raise InvalidInstance(f"{where}: {str(error).splitlines()[0][:120]}") from None
