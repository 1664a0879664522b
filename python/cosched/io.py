"""Files in and out: CSV and JSON with errors that name line and column; atomic writing."""

from __future__ import annotations

import csv
import gzip
import json
import math
import operator
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from cosched.errors import InvalidInstance, shorten

if TYPE_CHECKING:
    import pandas as pd

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")


# --- reading --------------------------------------------------------------------------------


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


def open_text(path: str | PathLike[str]) -> IO[str]:
    """Open a text file for reading; .gz is unpacked, a byte-order mark is skipped."""
    if str(path).endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


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
        except UnicodeDecodeError:
            raise InvalidInstance(f"{path}: not UTF-8 text") from None
        except (EOFError, gzip.BadGzipFile):
            raise InvalidInstance(f"{path}: not a complete gzip file") from None
    if not rows:
        raise InvalidInstance(f"{path}: line 1: a header and no rows after it")
    return CsvTable(str(path), header, rows)


def parse_integer(text: str, where: str, low: int, high: int) -> int:
    """An integer in [low, high] written in digits; raises InvalidInstance at `where`."""
    if not _INTEGER.fullmatch(text.strip()):
        what = "empty cell" if not text.strip() else shorten(text.strip())
        raise InvalidInstance(f"{where}: {what}: expected an integer in {low}..{high}")
    value = int(text)
    if not low <= value <= high:
        raise InvalidInstance(f"{where}: {value}: expected an integer in {low}..{high}")
    return value


def parse_positive(text: str, where: str, what: str = "a positive number of seconds") -> float:
    """A positive finite number; raises InvalidInstance at `where`."""
    value = _parse_number(text, where, what)
    if not 0 < value < math.inf:
        raise InvalidInstance(f"{where}: {shorten(text.strip())}: expected {what}")
    return value


def parse_nonnegative(text: str, where: str, what: str = "a number >= 0") -> float:
    """A finite number >= 0; raises InvalidInstance at `where`."""
    value = _parse_number(text, where, what)
    if not 0 <= value < math.inf:
        raise InvalidInstance(f"{where}: {shorten(text.strip())}: expected {what}")
    return value


def _parse_number(text: str, where: str, what: str) -> float:
    stripped = text.strip()
    if not stripped:
        raise InvalidInstance(f"{where}: empty cell: expected {what}")
    return float(stripped) if _NUMBER.fullmatch(stripped) else math.nan


def read_json(path: str | PathLike[str]) -> Any:
    """Read a JSON file; InvalidInstance with line and column where it is not JSON."""
    with open_text(path) as file:
        try:
            return json.load(file)
        except json.JSONDecodeError as error:
            raise InvalidInstance(
                f"{path}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
            ) from None
        except UnicodeDecodeError:
            raise InvalidInstance(f"{path}: not UTF-8 text") from None
        except (ValueError, RecursionError) as error:  # an integer of too many digits, ...
            raise InvalidInstance(f"{path}: {str(error).splitlines()[0][:120]}") from None


# --- writing --------------------------------------------------------------------------------


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary name beside `path`; renamed to it at the end, removed on an error.

    So that an interrupted or failed command leaves nothing half-written.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder to write {target.name} into")
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix
    )
    os.close(handle)
    try:
        yield Path(name)
        # mkstemp makes private files; give the result the rights of a new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(text: str, path: str | PathLike[str]) -> None:
    """Write text atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(data: Any, path: str | PathLike[str]) -> None:
    """Write plain data atomically; nan and infinities become null."""
    parts = json.JSONEncoder(indent=1, allow_nan=False).iterencode(plain(data))
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.writelines(parts)  # never the whole text in memory
        file.write("\n")


def plain(data: Any) -> Any:
    """Numpy values as Python's, tuples as lists, numbers that JSON lacks as None.

    What is plain already is returned itself, not copied: a schedule may have millions of rows.
    """
    if isinstance(data, dict):
        made = {str(key): plain(value) for key, value in data.items()}
        return data if all(made.get(key, made) is value for key, value in data.items()) else made
    if isinstance(data, (list, tuple)):
        parts = [plain(value) for value in data]
        same = isinstance(data, list) and all(map(operator.is_, parts, data))
        return data if same else parts
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def check_suffix(path: str | PathLike[str], suffixes: tuple[str, ...]) -> str:
    """The suffix of an output file, one of `suffixes`."""
    suffix = Path(path).suffix
    if suffix not in suffixes:
        raise InvalidInstance(f"{path}: expected a name that ends in {', '.join(suffixes)}")
    return suffix


def write_frame(
    frame: pd.DataFrame,
    path: str | PathLike[str],
    suffixes: tuple[str, ...] = (".csv", ".json", ".md"),
) -> None:
    """Write a table by the suffix of `path`."""
    suffix = check_suffix(path, suffixes)
    if suffix == ".json":
        write_json(frame.to_dict(orient="records"), path)
    elif suffix == ".csv":
        write_text(frame.to_csv(index=False), path)
    else:
        write_text(frame.to_markdown(index=False) + "\n", path)
