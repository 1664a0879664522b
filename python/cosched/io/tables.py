"""CSV files as text cells, and JSON; errors name line and column."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from os import PathLike
from typing import Any

from cosched.errors import InvalidInstance
from cosched.io.unpack import open_text, read_text


@dataclass(frozen=True)
class CsvTable:
    """A CSV file as text cells; ``rows`` are (line number, cells), all of the header's length."""

    path: str
    header: list[str]
    rows: list[tuple[int, list[str]]]

    def columns(self, *names: str) -> list[int]:
        """Positions of the named columns (case does not matter)."""
        lower = [name.strip().lower() for name in self.header]
        return [lower.index(name) for name in names]


def read_csv(path: str | PathLike[str]) -> CsvTable:
    """Read a CSV file with a header.

    Raises
    ------
    InvalidInstance
        Empty file, no data, a row that is longer or shorter than the header, bytes that are
        not UTF-8, or a cell longer than 128 KiB: one line with file and line number.
    """
    rows: list[tuple[int, list[str]]] = []
    with open_text(path) as file:
        reader = csv.reader(file)
        try:
            header = next(reader, None)
            if not header:
                raise InvalidInstance(f"{path}: line 1: empty: expected a header")
            if len(header) == 1 and (other := re.search("[;\\t]", header[0])):
                raise InvalidInstance(
                    f"{path}: line 1: cells are separated by {other[0]!r}: expected commas "
                    "(and points in numbers)"
                )
            for cells in reader:
                if not any(cell.strip() for cell in cells):
                    continue
                if len(cells) != len(header):
                    raise InvalidInstance(
                        f"{path}: line {reader.line_num}: {len(cells)} cells, the header has "
                        f"{len(header)}"
                    )
                rows.append((reader.line_num, cells))
        except csv.Error as error:
            raise InvalidInstance(f"{path}: line {reader.line_num}: {error}") from None
    if not rows:
        raise InvalidInstance(f"{path}: line 1: a header and no rows after it")
    return CsvTable(str(path), header, rows)


def read_rows(path: str | PathLike[str]) -> list[tuple[int, list[str]]]:
    """(line number, cells) of a CSV file without a header; lines without text are left out."""
    with open_text(path) as file:
        reader = csv.reader(file)
        try:
            return [
                (reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)
            ]
        except csv.Error as error:
            raise InvalidInstance(f"{path}: line {reader.line_num}: {error}") from None


def read_json(path: str | PathLike[str]) -> Any:
    """Read a JSON file; InvalidInstance with line and column where it is not JSON."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, where: str) -> Any:
    """A JSON text; InvalidInstance with `where`, line and column where it is not JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInstance(
            f"{where}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except (ValueError, RecursionError) as error:  # an integer of too many digits, ...
        raise InvalidInstance(f"{where}: {str(error).splitlines()[0][:120]}") from None
