"""Rows of ``sacct -P`` as texts."""

from __future__ import annotations

import re
import shlex
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cosched import io
from cosched.cluster.files.sacct.alignment import NAMES, Aligner, Record
from cosched.cluster.files.sacct.broken_lines import Lines, Repaired, repair
from cosched.cluster.files.sbatch import BESIDE, Asked, options_of
from cosched.errors import InvalidInstance, shorten
from cosched.lazy import pd

if TYPE_CHECKING:
    from cosched.cluster.machine import Machine

_NEEDED = ("JobID", "State", "Submit", "Start")
_CPUS = ("NCPUS", "AllocCPUS", "ReqCPUS", "AllocTRES")
_FILE = Path(__file__).with_name("columns.toml")
_KNOWN: dict[str, str] = io.parse_toml(io.read_text(_FILE), str(_FILE))
_READ, _FEW = frozenset(_KNOWN["read"].split()), frozenset(_KNOWN["few"].split())
#: As sacct prints them, by names in lower case.
_NAMES = {name.lower(): name for name in (*_READ, "JobIDRaw")}
#: Of the CPU time, if TotalCPU does not say it.
_PARTS_OF_CPU_TIME = ("UserCPU", "SystemCPU")
#: Columns in which a quote is not part of the text: a table that was written as CSV has them.
_UNQUOTED = ("Constraints", "Licenses")


class Rows(NamedTuple):
    """What a file of sacct holds.

    Attributes
    ----------
    texts : pandas.DataFrame
        The columns that are looked at, and ``line``, where the row begins in the file.
    unaligned : numpy.ndarray
        Lines where rows begin whose columns cannot be told apart.
    repaired : numpy.ndarray
        Lines where rows begin that have a delimiter or a line end inside a text.
    assumed : list of int
        Lines of repaired rows whose delimiters are taken for those of ``Constraints``: a text
        beside it could have some.
    undecided : dict of str to list of int
        By column, lines of repaired rows whose text cannot be told from others; it is empty.
    notes : list of str
        How the file was read.
    """

    texts: pd.DataFrame
    unaligned: np.ndarray
    repaired: np.ndarray
    assumed: list[int]
    undecided: dict[str, list[int]]
    notes: list[str]


def read_rows(path: str | PathLike[str], delimiter: str, machine: Machine | None = None) -> Rows:
    """The rows of a file; `machine`: whose partitions and features its jobs ask for.

    A line with as many delimiters as the first is a row. What other lines are, the forms of the
    columns say: see :class:`~cosched.cluster.files.sacct.alignment.Aligner`.
    """
    text, notes = io.as_utf8(io.read_bytes(path, renamed=True), path)
    text, mark = _with_mark(text.replace(b"\r\n", b"\n"), delimiter)
    first = text.partition(b"\n")[0].decode()
    header = [_NAMES.get(name.lower(), name) for name in first.rstrip(mark).split(mark)]
    header, repeats = _with_repeats_renamed(header)
    if "JobID" not in header and "JobIDRaw" in header:
        header[header.index("JobIDRaw")] = "JobID"
        notes.append("assumed: JobIDRaw is taken for JobID, which is missing")
    _check(path, header, delimiter)
    lines = Lines(text, mark)
    read = [name for name in header if name in _READ]
    if "TotalCPU" in read:
        read = [name for name in read if name not in _PARTS_OF_CPU_TIME]
    closing = int(lines.marks[0]) + 1 - len(header)  # sacct -p ends lines with a delimiter
    columns = header + [f"_{k}" for k in range(closing)]
    texts = _frame(lines.rows(), columns, read, mark).assign(line=np.flatnonzero(lines.is_row) + 1)
    if repeats:
        _require_same(path, texts, _frame(lines.rows(), columns, list(repeats), mark), repeats)
        notes += [
            f"column {name} is there twice, with the same values" for name in repeats.values()
        ]
    has_no_number = texts["JobID"] == ""
    if has_no_number.any() and "JobIDRaw" in header:
        raw_numbers = _frame(lines.rows(), columns, ["JobIDRaw"], mark)["JobIDRaw"]
        texts["JobID"] = texts["JobID"].where(~has_no_number, raw_numbers)
        count = int(has_no_number.sum())
        notes.append(
            f"assumed: JobIDRaw is taken for JobID of {count} row{'' if count == 1 else 's'}"
        )
    if not lines.broken:
        nothing = np.zeros(0, dtype=np.int64)
        return Rows(texts, nothing, nothing, [], {}, notes)
    closed = closing > 0
    aligner = Aligner(
        columns[:-1] if closed else columns, mark, closed=closed,
        names=_names_in(texts, machine),
    )  # fmt: skip
    repaired = repair(lines, aligner)
    return Rows(
        _with_records(texts, repaired, read, delimiter, mark),
        np.array(repaired.unaligned, dtype=np.int64) + 1,
        np.array([number for number, _ in repaired.records], dtype=np.int64) + 1,
        [number + 1 for number, record in repaired.records if record.is_assumed],
        _undecided(repaired.records, read),
        notes,
    )


def rows_of_text(text: str) -> tuple[list[tuple[int, dict[str, str]]], list[int]]:
    """The rows of what ``sacct -P`` printed, all columns as texts, by their line from 1; and the
    lines of those whose columns cannot be told apart. The header has a ``JobID``."""
    lines = Lines(text.replace("\r\n", "\n").encode("utf-8", "replace"), "|")
    header = lines[0].rstrip("|").split("|")
    closed = lines.marks[0] >= len(header)
    rows = {
        number: dict(zip(header, lines[number].split("|"), strict=False))
        for number in np.flatnonzero(lines.is_row).tolist()
    }
    names = {name: {row[name] for row in rows.values()} - {""} for name in NAMES if name in header}
    repaired = repair(lines, Aligner(header, "|", closed=closed, names=names))
    for number in repaired.replaced:
        rows.pop(number)
    for number, record in repaired.records:
        rows[number] = {name: record.cells.get(name, "") for name in header}
    known = [(number + 1, rows[number]) for number in sorted(rows)]
    return known, [number + 1 for number in repaired.unaligned]


def _with_repeats_renamed(header: list[str]) -> tuple[list[str], dict[str, str]]:
    """A header in which no name is there twice, and the names of repeats by those that they get."""
    renamed: list[str] = []
    repeats: dict[str, str] = {}
    for name in header:
        other = name
        while other in renamed:
            other += "_"
        if other != name:
            repeats[other] = name
        renamed.append(other)
    return renamed, {other: name for other, name in repeats.items() if name in _READ}


def _require_same(
    path: str | PathLike[str], texts: pd.DataFrame, again: pd.DataFrame, repeats: dict[str, str]
) -> None:
    """sacct prints a column twice when it is asked for twice: both say the same in each row."""
    for other, name in repeats.items():
        if name not in texts:
            continue
        differs = np.flatnonzero(texts[name].astype(str) != again[other].astype(str))
        if len(differs):
            first = differs[0]
            raise InvalidInstance(
                f"{path}: line {texts['line'].iloc[first]}: 2 columns {name!r} with "
                f"{shorten(texts[name].iloc[first])} and {shorten(again[other].iloc[first])}: "
                "expected one"
            )


def _frame(text: bytes, columns: list[str], read: list[str], mark: str) -> pd.DataFrame:
    """The columns `read` of rows that have as many fields as there are columns."""
    kinds = {name: "category" if name in _FEW else str for name in read}
    if not text:
        return pd.DataFrame({name: [] for name in read}).astype(kinds)
    return pd.read_csv(
        BytesIO(text), sep=mark, header=None, names=columns, usecols=read, quoting=3, dtype=kinds,
        keep_default_na=False, na_filter=False, index_col=False,
        lineterminator="\n",  # a carriage return may stand in a name
    )  # fmt: skip


def _names_in(texts: pd.DataFrame, machine: Machine | None) -> dict[str, set[str]]:
    """Names of users, accounts, ... in the rows that need no repair, and those of the machine."""
    known: dict[str, set[str]] = {
        name: set(texts[name].cat.categories) - {""} for name in NAMES if name in texts
    }
    if machine is not None:
        if "Partition" in known:
            known["Partition"].update(part.name for part in machine.partitions)
        known["Constraints"] = {name for kind in machine.nodes for name in kind.features}
    return known


def _with_records(
    texts: pd.DataFrame, repaired: Repaired, read: list[str], delimiter: str, mark: str
) -> pd.DataFrame:
    """The rows with those that were repaired in their places."""
    texts = texts[~texts["line"].isin(np.array(repaired.replaced, dtype=np.int64) + 1)]
    if not repaired.records:
        return texts
    table: dict[str, list[Any]] = {
        name: [record.cells.get(name, "") for _, record in repaired.records] for name in read
    }
    for name in _UNQUOTED:
        if name in table:
            table[name] = [_unquoted(cell) for cell in table[name]]
    if mark != delimiter:
        table = {name: [cell.replace(mark, delimiter) for cell in table[name]] for name in read}
    table["line"] = [number + 1 for number, _ in repaired.records]
    joined = pd.concat([texts.astype(dict.fromkeys(read, str)), pd.DataFrame(table)])
    kinds = {name: "category" if name in _FEW else str for name in read}
    return joined.astype(kinds).sort_values("line", kind="stable").reset_index(drop=True)


def _unquoted(cell: str) -> str:
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _undecided(records: list[tuple[int, Record]], read: list[str]) -> dict[str, list[int]]:
    """Lines from 1 by the columns whose texts cannot be told."""
    found: dict[str, list[int]] = {}
    for number, record in records:
        for name in sorted(record.undecided & set(read)):
            found.setdefault(name, []).append(number + 1)
    return found


def _with_mark(text: bytes, delimiter: str) -> tuple[bytes, str]:
    """The text with one byte between fields."""
    if not isinstance(delimiter, str) or not delimiter or set(delimiter) & set("\n\r"):
        raise InvalidInstance(f"delimiter = {shorten(delimiter)}: expected what sacct was given")
    if len(delimiter.encode()) == 1:
        return text, delimiter
    return text.replace(delimiter.encode(), b"\x1f"), "\x1f"


def _check(path: str | PathLike[str], header: list[str], delimiter: str) -> None:
    missing = [name for name in _NEEDED if name not in header]
    if not missing and not {"Elapsed", "ElapsedRaw"} & set(header):
        missing = ["Elapsed"]
    if not missing and not set(_CPUS) & set(header):
        missing = ["NCPUS"]
    if not set(_NEEDED) & set(header) and re.match("[0-9]+[_.|+]?", header[0]):
        raise InvalidInstance(f"{path}: line 1: no header: sacct -P prints one without -n")
    if missing:
        other = "" if delimiter == "|" else f" with --delimiter {delimiter!r}"
        raise InvalidInstance(
            f"{path}: line 1: no column {missing[0]!r}: expected sacct -P output{other}"
        )


#: Columns that it brings, empty where it says nothing.
ASKED = ("constraint", "memory_per", *BESIDE, "name")
_SAYS = r"\s(?:--(?:constraint|mem|exclusive|licenses|dependency|nodelist|exclude|nice)|-[CLdwx])"


def of_lines(rows: pd.DataFrame) -> tuple[dict[str, np.ndarray], list[str]]:
    """Texts by the names of :data:`ASKED`, where a line has any; notes of what is not followed."""
    if "SubmitLine" not in rows:
        return {}, []
    found = {name: np.full(len(rows), "", dtype=object) for name in ASKED}
    codes, lines = pd.factorize(rows["SubmitLine"])
    says = pd.Series(lines, dtype=str).str.contains(_SAYS).to_numpy(dtype=bool)
    asked = Asked()
    told = {code: _of_line(lines[code], asked) for code in np.flatnonzero(says).tolist()}
    for row in np.flatnonzero(says[codes]).tolist():
        for name, text in told[codes[row]].items():
            found[name][row] = text
    return {name: texts for name, texts in found.items() if (texts != "").any()}, asked.notes()


def _of_line(line: str, asked: Asked) -> dict[str, str]:
    try:
        given = options_of(shlex.split(line)[1:], "SubmitLine")
    except (ValueError, InvalidInstance):
        asked.left["SubmitLine that cannot be read"] += 1
        return {}
    own = asked.beside(given)
    if "constraint" in given:
        own["constraint"] = given["constraint"]
    if "singleton" in own.get("dependency", ""):
        own["name"] = given.get("job-name", "")
    if given.get("mem") == "0":
        own["memory_per"] = "all"
    elif "mem-per-cpu" in given:
        own["memory_per"] = "core"
    return own
